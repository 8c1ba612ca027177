//! `fft`: `result[k] = sum of operand[j] * e^(-2 pi i jk/n)` over each of the last dimensions, of size n
//!
//! `fft_length` lists the sizes of the one to three last dimensions that are transformed; the others are batches.
//! `fft_type` says how:
//!
//! - `FFT`: complex to complex, by the formula, not scaled.
//! - `IFFT`: the way back. The exponent has the other sign, and the result is divided by the product of the sizes.
//! - `RFFT`: f32 or f64 to complex. The last dimension keeps numbers 0 to n/2 of its n: the others are conjugates of these.
//!   The imaginary parts that are 0 by symmetry are exactly 0.
//! - `IRFFT`: its way back, to n real numbers from n/2+1 complex ones. Imaginary parts that symmetry forbids, those of
//!   number 0 and for even n of number n/2 of each line of the last dimension, are ignored.
//!
//! Sizes may be any, prime or 0; of no numbers there are no numbers. An infinity or NaN spreads over its line, mostly as
//! NaN, and which of the two is not defined. Sizes other than the operand's are refused.
//!
//! All is computed in f64 (twice that for f64 and c128), and each element is rounded once. XLA:CPU computes in the type
//! itself, and so does the engine `fast` (`own_type`).
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use crate::function::given;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use crate::{Kernel, Reuse};
use bytemuck::Pod;
use hlo::op::Fft;
use hlo::op::value::FftType;
use hlo::{Array, ArrayShape, ElementType};
use num::clock::Stop;
use num::complex_of::{ComplexOf, Field};
use num::double_double::{DoubleDouble, Real};
use num::float::to_f32;
use num::fourier::{self, Lanes};
use num::index::{binary_digits, saturating_count, strides, to_i64, to_usize};
use num::loops::instruction_set;
use num::loops::instruction_set::Task;
use num::parallel::{parts_with, threads};
use num::scalar_program::ScalarPrograms;
use num::{Arithmetic, Result, Scope};
use transform::{Kind, Transform};

mod own_type;
mod transform;

/// Lines of f64 that are transformed at once.
const LANES: usize = 8;
/// Numbers of a line that are read or written before those of the next one.
const BLOCK: usize = 16;

impl ArrayOp for Fft {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site.operands[0], site.result(), site.arithmetic))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let (from, to) = (saturating_count(&site.operands[0].dims), site.result());
        let lengths = self.fft_length.iter().map(|&n| to_usize(n));
        let steps = lengths.clone().map(|n| from.saturating_mul(binary_digits(n)));
        // The numbers before and after a step, as one array and as lines, and the lines in work.
        let longest = lengths.max().unwrap_or(0);
        let scratch = (from.max(saturating_count(&to.dims)).saturating_mul(3))
            .saturating_add(longest.saturating_mul(4 * threads()))
            .saturating_mul(fourier::number_bytes(to.ty.component() == ElementType::F64))
            .saturating_add(
                (from / longest.max(1) + 1).saturating_mul(4 * size_of::<Vec<()>>() * 2),
            );
        Cost { steps: steps.fold(0, usize::saturating_add), scratch }
    }
    needs_whole_operands!();
}

fn kernel(
    op: &Fft,
    operand: &ArrayShape,
    result: &ArrayShape,
    arithmetic: Arithmetic,
) -> Box<dyn Kernel> {
    let Fft { fft_type, fft_length: _ } = op; // The lengths are read by `stages`.
    match (arithmetic, result.ty.component() == ElementType::F64) {
        (Arithmetic::Exact, true) => Box::new(Transforms::<f64>::new(op, operand, result)),
        (Arithmetic::Exact, false) => Box::new(Transforms::<f32>::new(op, operand, result)),
        (Arithmetic::Fast, true) => {
            Box::new(own_type::Transforms::<f64>::new(*fft_type, stages(op, operand)))
        }
        (Arithmetic::Fast, false) => {
            Box::new(own_type::Transforms::<f32>::new(*fft_type, stages(op, operand)))
        }
    }
}

/// A part of a number in an operand or result.
trait Part: Pod + Send + Sync {
    /// The numbers in which it is transformed.
    type Wide: Real + Field;
    /// Whether the numbers are those of a vector.
    const HAS_LANES: bool;
    fn wide(self) -> Self::Wide;
    fn narrow(x: Self::Wide) -> Self;
}
impl Part for f32 {
    type Wide = f64;
    const HAS_LANES: bool = true;
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn narrow(x: f64) -> Self {
        to_f32(x)
    }
}
impl Part for f64 {
    type Wide = DoubleDouble;
    const HAS_LANES: bool = false;
    fn wide(self) -> DoubleDouble {
        self.into()
    }
    fn narrow(x: DoubleDouble) -> Self {
        x.rounded()
    }
}

/// An element of an array, real or complex.
trait Element<R>: Copy + Send + Sync {
    fn read(self) -> ComplexOf<R>;
    fn of(x: ComplexOf<R>) -> Self;
}
/// A real one.
impl<P: Part> Element<P::Wide> for P {
    #[inline(always)]
    fn read(self) -> ComplexOf<P::Wide> {
        ComplexOf { re: self.wide(), im: P::Wide::ZERO }
    }
    #[inline(always)]
    fn of(x: ComplexOf<P::Wide>) -> Self {
        P::narrow(x.re)
    }
}
impl<P: Part> Element<P::Wide> for [P; 2] {
    #[inline(always)]
    fn read(self) -> ComplexOf<P::Wide> {
        ComplexOf { re: self[0].wide(), im: self[1].wide() }
    }
    #[inline(always)]
    fn of(x: ComplexOf<P::Wide>) -> Self {
        [P::narrow(x.re), P::narrow(x.im)]
    }
}
/// One between two transforms, which has not been rounded.
impl<R: Real> Element<R> for ComplexOf<R> {
    #[inline(always)]
    fn read(self) -> Self {
        self
    }
    #[inline(always)]
    fn of(x: Self) -> Self {
        x
    }
}

/// The transforms of some dimensions, in their order.
struct Transforms<P: Part> {
    stages: Vec<Stage<P::Wide>>,
    /// Whether the operand is complex, and the result.
    is_complex: [bool; 2],
    scratch: usize,
}

/// The transforms of all lines of one dimension.
struct Stage<R> {
    transform: Transform<R>,
    /// The distance of the numbers of a line.
    stride: usize,
    /// How many lines there are.
    lines: usize,
}

/// The lines of one dimension.
struct StageOf {
    kind: Kind,
    /// The numbers of a line: real ones, where there are real ones.
    n: usize,
    /// The distance of the numbers of a line.
    stride: usize,
    /// How many lines there are.
    lines: usize,
}

impl StageOf {
    /// Elements of a line before and after.
    fn lengths(&self) -> (usize, usize) {
        let half = self.n / 2 + 1;
        match self.kind {
            Kind::There | Kind::Back => (self.n, self.n),
            Kind::Half => (self.n, half),
            Kind::Whole => (half, self.n),
        }
    }
    /// The number of results.
    fn results(&self) -> usize {
        self.lines.saturating_mul(self.lengths().1)
    }
}

/// The transforms of the dimensions, in the order in which they are made.
fn stages(op: &Fft, operand: &ArrayShape) -> Vec<StageOf> {
    let rank = operand.rank();
    let last = rank - 1;
    // The last dimension first; on the way back to real numbers last, when the lines before it are whole again.
    let others = (rank - op.fft_length.len()..last).rev();
    let order: Vec<(usize, Kind)> = match op.fft_type {
        FftType::Fft => others.chain([last]).map(|d| (d, Kind::There)).collect(),
        FftType::Ifft => others.chain([last]).map(|d| (d, Kind::Back)).collect(),
        FftType::Rfft => {
            let others = others.map(|d| (d, Kind::There));
            std::iter::once((last, Kind::Half)).chain(others).collect()
        }
        FftType::Irfft => others.map(|d| (d, Kind::Back)).chain([(last, Kind::Whole)]).collect(),
    };
    let mut dims = operand.dims.clone();
    let mut stages = Vec::new();
    for (d, kind) in order {
        let n = match kind {
            Kind::There | Kind::Back => to_usize(dims[d]),
            Kind::Half | Kind::Whole => op.fft_length.last().map_or(0, |&n| to_usize(n)),
        };
        let mut stage = StageOf { kind, n, stride: 1, lines: 0 };
        let after = stage.lengths().1;
        dims[d] = to_i64(after);
        stage.stride = to_usize(strides(&dims)[d]);
        stage.lines = saturating_count(&dims) / after.max(1);
        stages.push(stage);
    }
    stages
}

impl<P: Part> Transforms<P> {
    fn new(op: &Fft, operand: &ArrayShape, result: &ArrayShape) -> Self {
        let stages = stages(op, operand);
        let numbers = stages.iter().map(StageOf::results).max().unwrap_or(0);
        let stage = |StageOf { kind, n, stride, lines }| {
            let transform = Transform::new(kind, n);
            Stage { transform, stride, lines }
        };
        let stages: Vec<Stage<P::Wide>> = stages.into_iter().map(stage).collect();
        let scratch = Self::scratch(&stages, numbers);
        let is_complex = [operand, result].map(|shape| shape.ty.is_complex());
        Self { stages, is_complex, scratch }
    }

    /// Bytes of the numbers between two transforms, and of what each thread and each plan needs.
    fn scratch(stages: &[Stage<P::Wide>], numbers: usize) -> usize {
        let number = size_of::<ComplexOf<P::Wide>>();
        let between = numbers.saturating_mul(stages.len().saturating_sub(1).min(2));
        let of_stage = |stage: &Stage<P::Wide>| {
            let lanes = if stage.has_lanes::<P>() { LANES } else { 1 };
            let at_once = threads().min(stage.lines.div_ceil(lanes));
            let each = stage.transform.thread_bytes().saturating_mul(lanes * at_once);
            each.saturating_add(stage.transform.plan_bytes())
        };
        let stages = stages.iter().map(of_stage).fold(0, usize::saturating_add);
        between.saturating_mul(number).saturating_add(stages)
    }

    /// Runs all stages but the last on numbers that are not rounded between them.
    fn all<A: Element<P::Wide>, B: Element<P::Wide>>(&self, from: &[A], to: &mut [B]) {
        let [before @ .., last] = &*self.stages else { return };
        let Some((first, between)) = before.split_first() else {
            return last.run::<P, _, _>(from, to);
        };
        let mut numbers = vec![ComplexOf::ZERO; first.results()];
        first.run::<P, _, _>(from, &mut numbers);
        for stage in between {
            let mut results = vec![ComplexOf::ZERO; stage.results()];
            stage.run::<P, _, _>(&numbers, &mut results);
            numbers = results;
        }
        last.run::<P, _, _>(&numbers, to);
    }
}

impl<P: Part> Kernel for Transforms<P> {
    fn run(
        &self,
        _context: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let inputs = given(inputs);
        let (from, to) = (inputs[0].bytes(), outputs[0].bytes_mut());
        let (real, complex) = (bytemuck::cast_slice::<u8, P>, bytemuck::cast_slice::<u8, [P; 2]>);
        match self.is_complex {
            [true, true] => self.all(complex(from), bytemuck::cast_slice_mut::<u8, [P; 2]>(to)),
            [true, false] => self.all(complex(from), bytemuck::cast_slice_mut::<u8, P>(to)),
            [false, _]
                if self.stages.first().is_some_and(|stage| stage.transform.reads_pairs()) =>
            {
                self.all(complex(from), bytemuck::cast_slice_mut::<u8, [P; 2]>(to));
            }
            [false, _] => self.all(real(from), bytemuck::cast_slice_mut::<u8, [P; 2]>(to)),
        }
        Ok(())
    }
    fn reuse(&self) -> Reuse {
        Reuse::None
    }
    fn scratch(&self) -> usize {
        self.scratch
    }
}

impl<R: Real + Field> Stage<R> {
    /// The number of results.
    fn results(&self) -> usize {
        self.lines * self.transform.lengths().1
    }
    /// Whether several lines are transformed at once, each in a lane of vectors.
    fn has_lanes<P: Part<Wide = R>>(&self) -> bool {
        P::HAS_LANES && self.lines > 1 && !self.transform.shares_lines()
    }
    /// Transforms all lines.
    fn run<P: Part<Wide = R>, A: Element<R>, B: Element<R>>(&self, from: &[A], to: &mut [B]) {
        match self.has_lanes::<P>() {
            true => self.run_lanes::<A, B, LANES>(from, to),
            false => self.run_lanes::<A, B, 1>(from, to),
        }
    }
    fn run_lanes<A: Element<R>, B: Element<R>, const N: usize>(&self, from: &[A], to: &mut [B]) {
        let stop = Stop::current();
        let (before, after) = self.transform.lengths();
        // Lines whose numbers take turns are in one block.
        let each = if self.stride == 1 { N } else { self.stride };
        let Some(plan) = self.transform.plan(&stop) else { return };
        parts_with(
            to,
            (each * after, 1),
            || self.transform.lines::<N>(),
            |lines, number, to| {
                let count = to.len() / after;
                let from = &from[number * each * before..];
                let turns = |length| if self.stride == 1 { (length, 1) } else { (1, self.stride) };
                for first in (0..count).step_by(N).take_while(|_| !stop.is_set()) {
                    let lanes = N.min(count - first);
                    let (line, step) = turns(before);
                    let from = Strided { from: &from[first * line..], line, step, lanes };
                    instruction_set::run(Read { from, to: &mut lines.before[..before] });
                    plan.run(lines, &stop);
                    let (line, step) = turns(after);
                    let to = StridedMut { to: &mut to[first * line..], line, step, lanes };
                    instruction_set::run(Write { from: &lines.after[..after], to });
                }
            },
        );
    }
}

/// Elements of `lanes` lines: those of a line are `step` apart, the lines `line`.
struct Strided<'a, A> {
    from: &'a [A],
    line: usize,
    step: usize,
    lanes: usize,
}
/// As [`Strided`], to be written.
struct StridedMut<'a, B> {
    to: &'a mut [B],
    line: usize,
    step: usize,
    lanes: usize,
}

/// Widens elements, each line into a lane.
struct Read<'a, A, R, const N: usize> {
    from: Strided<'a, A>,
    to: &'a mut [Lanes<R, N>],
}

impl<A: Element<R>, R: Real, const N: usize> Task for Read<'_, A, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Strided { from, line, step, lanes } = self.from;
        for block in (0..self.to.len()).step_by(BLOCK) {
            let end = (block + BLOCK).min(self.to.len());
            for lane in 0..lanes {
                for k in block..end {
                    let x = from[lane * line + k * step].read();
                    (self.to[k].re[lane], self.to[k].im[lane]) = (x.re, x.im);
                }
            }
        }
    }
}

/// Rounds the numbers of each lane to elements of a line.
struct Write<'a, R, B, const N: usize> {
    from: &'a [Lanes<R, N>],
    to: StridedMut<'a, B>,
}

impl<R: Real, B: Element<R>, const N: usize> Task for Write<'_, R, B, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let StridedMut { to, line, step, lanes } = self.to;
        for block in (0..self.from.len()).step_by(BLOCK) {
            let end = (block + BLOCK).min(self.from.len());
            for lane in 0..lanes {
                for k in block..end {
                    let x = ComplexOf { re: self.from[k].re[lane], im: self.from[k].im[lane] };
                    to[lane * line + k * step] = B::of(x);
                }
            }
        }
    }
}
