//! `fft`: `result[k] = sum of operand[j] * e^(-2 pi i jk/n)` over each of the last dimensions, of
//! size n
//!
//! `fft_length` lists the sizes of the one to three last dimensions that are transformed; the
//! others are batches. `fft_type` says how:
//!
//! - `FFT`: complex to complex, by the formula, not scaled.
//! - `IFFT`: the way back. The exponent has the other sign, and the result is divided by the
//!   product of the sizes.
//! - `RFFT`: f32 or f64 to complex. The last dimension keeps numbers 0 to n/2 of its n: the others
//!   are conjugates of these. The imaginary parts that are 0 by symmetry are exactly 0.
//! - `IRFFT`: its way back, to n real numbers from n/2+1 complex ones. Imaginary parts that
//!   symmetry forbids, those of number 0 and for even n of number n/2 of each line of the last
//!   dimension, are ignored.
//!
//! Sizes may be any, prime or 0; of no numbers there are no numbers. An infinity or NaN spreads
//! over its line, mostly as NaN, and which of the two is not defined. Sizes other than the
//! operand's are refused.
//!
//! All is computed in f64 (twice that for f64 and c128), and each element is rounded once. XLA:CPU
//! computes in the type itself, and so does the engine `fast`.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use crate::Kernel;
use crate::function::writes_in;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use bytemuck::{Pod, Zeroable};
use hlo::op::Fft;
use hlo::op::value::FftType;
use hlo::{ArrayShape, ElementType};
use num::Arithmetic;
use num::clock::Stop;
use num::complex_of::{ComplexOf, Field};
use num::double_double::{DoubleDouble, Real};
use num::fourier::{LaneNumber, Lanes};
use num::index::{binary_digits, saturating_count, strides, to_i64, to_usize};
use num::loops::instruction_set;
use num::loops::instruction_set::Task;
use num::parallel::{parts_with, threads};
use num::scalar_program::ScalarPrograms;
use num::single::Single;
use num::single::to_f32;
use std::marker::PhantomData;
use transform::{FftKind, Transform};

#[cfg(feature = "rustfft")]
mod by_rustfft;
mod transform;

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
        let number = match to.ty.component() == ElementType::F64 {
            true => size_of::<ComplexOf<DoubleDouble>>(),
            false => size_of::<ComplexOf<f64>>(),
        };
        // The numbers before and after a step, as one array and as lines, and the lines in work.
        let longest = lengths.max().unwrap_or(0);
        let scratch = (from.max(saturating_count(&to.dims)).saturating_mul(3))
            .saturating_add(longest.saturating_mul(4 * threads()))
            .saturating_mul(number)
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
    let Fft { fft_type: _, fft_length: _ } = op; // Read by `stages`.
    match (arithmetic, result.ty.component() == ElementType::F64) {
        (Arithmetic::Exact, true) => Transforms::<f64, DoubleDouble>::kernel(op, operand, result),
        (Arithmetic::Exact, false) => Transforms::<f32, f64>::kernel(op, operand, result),
        #[cfg(feature = "rustfft")]
        (Arithmetic::Fast, true) => by_rustfft::kernel::<f64>(op, operand),
        #[cfg(feature = "rustfft")]
        (Arithmetic::Fast, false) => by_rustfft::kernel::<f32>(op, operand),
        #[cfg(not(feature = "rustfft"))]
        (Arithmetic::Fast, true) => Transforms::<f64, f64>::kernel(op, operand, result),
        #[cfg(not(feature = "rustfft"))]
        (Arithmetic::Fast, false) => Transforms::<f32, Single>::kernel(op, operand, result),
    }
}

/// A real element, or a part of a complex one, that is transformed in numbers of type `R`.
trait ComplexPart<R>: Pod + Send + Sync {
    /// The lines that are transformed at once, each in a lane of vectors.
    const LANES: usize;
    fn wide(self) -> R;
    fn narrow(x: R) -> Self;
}
macro_rules! part {
    ($part:ty, $number:ty, $lanes:literal, $wide:expr, $narrow:expr) => {
        impl ComplexPart<$number> for $part {
            const LANES: usize = $lanes;
            #[inline(always)]
            fn wide(self) -> $number {
                ($wide)(self)
            }
            #[inline(always)]
            fn narrow(x: $number) -> Self {
                ($narrow)(x)
            }
        }
    };
}
part!(f32, f64, 8, f64::from, to_f32);
part!(f32, Single, 16, Single, |x: Single| x.0);
part!(f64, f64, 8, |x| x, |x| x);
part!(f64, DoubleDouble, 8, DoubleDouble::from, DoubleDouble::nearest_f64);

/// A number of a line, real or complex.
trait FftElement<R>: Copy + Send + Sync {
    fn read(self) -> ComplexOf<R>;
    fn of(x: ComplexOf<R>) -> Self;
}
/// A real element.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
struct RealElement<P>(P);
/// A complex element.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
struct ComplexElement<P>([P; 2]);

impl<R: LaneNumber, P: ComplexPart<R>> FftElement<R> for RealElement<P> {
    #[inline(always)]
    fn read(self) -> ComplexOf<R> {
        ComplexOf { re: self.0.wide(), im: R::ZERO }
    }
    #[inline(always)]
    fn of(x: ComplexOf<R>) -> Self {
        Self(P::narrow(x.re))
    }
}
impl<R: LaneNumber, P: ComplexPart<R>> FftElement<R> for ComplexElement<P> {
    #[inline(always)]
    fn read(self) -> ComplexOf<R> {
        ComplexOf { re: self.0[0].wide(), im: self.0[1].wide() }
    }
    #[inline(always)]
    fn of(x: ComplexOf<R>) -> Self {
        Self([P::narrow(x.re), P::narrow(x.im)])
    }
}
/// A number between two transforms, which has not been rounded.
impl<R: Real> FftElement<R> for ComplexOf<R> {
    #[inline(always)]
    fn read(self) -> Self {
        self
    }
    #[inline(always)]
    fn of(x: Self) -> Self {
        x
    }
}

/// The transforms of some dimensions, in their order, of elements of type `P` in numbers of type
/// `R`.
struct Transforms<P, R: LaneNumber> {
    stages: Vec<Stage<R>>,
    /// Whether the operand is complex, and the result.
    is_complex: [bool; 2],
    element: PhantomData<fn(P)>,
}

/// The transforms of all lines of one dimension.
struct Stage<R: LaneNumber> {
    transform: Transform<R>,
    /// The distance of the numbers of a line.
    stride: usize,
    /// How many lines there are.
    lines: usize,
}

/// The lines of one dimension.
struct StageOf {
    kind: FftKind,
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
            FftKind::There | FftKind::Back => (self.n, self.n),
            FftKind::Half => (self.n, half),
            FftKind::Whole => (half, self.n),
        }
    }
    /// Returns the number of results.
    fn results(&self) -> usize {
        self.lines.saturating_mul(self.lengths().1)
    }
}

/// Returns the transforms of the dimensions, in the order in which they are made.
fn stages(op: &Fft, operand: &ArrayShape) -> Vec<StageOf> {
    let rank = operand.rank();
    let last = rank - 1;
    // The last dimension first; on the way back to real numbers last, when the lines before it are
    // whole again.
    let others = (rank - op.fft_length.len()..last).rev();
    let order: Vec<(usize, FftKind)> = match op.fft_type {
        FftType::Fft => others.chain([last]).map(|d| (d, FftKind::There)).collect(),
        FftType::Ifft => others.chain([last]).map(|d| (d, FftKind::Back)).collect(),
        FftType::Rfft => {
            let others = others.map(|d| (d, FftKind::There));
            std::iter::once((last, FftKind::Half)).chain(others).collect()
        }
        FftType::Irfft => {
            others.map(|d| (d, FftKind::Back)).chain([(last, FftKind::Whole)]).collect()
        }
    };
    let mut dims = operand.dims.clone();
    let mut stages = Vec::new();
    for (d, kind) in order {
        let n = match kind {
            FftKind::There | FftKind::Back => to_usize(dims[d]),
            FftKind::Half | FftKind::Whole => op.fft_length.last().map_or(0, |&n| to_usize(n)),
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

impl<P: ComplexPart<R>, R: LaneNumber> Transforms<P, R> {
    fn kernel(op: &Fft, operand: &ArrayShape, result: &ArrayShape) -> Box<dyn Kernel> {
        let stages = stages(op, operand);
        let numbers = stages.iter().map(StageOf::results).max().unwrap_or(0);
        let stage = |StageOf { kind, n, stride, lines }| {
            let transform = Transform::new(kind, n, lines <= P::LANES / 4);
            Stage { transform, stride, lines }
        };
        let stages: Vec<Stage<R>> = stages.into_iter().map(stage).collect();
        let scratch = Self::scratch(&stages, numbers);
        let is_complex = [operand, result].map(|shape| shape.ty.is_complex());
        let is_native = size_of::<P>() == size_of::<R>();
        let arithmetic = if is_native { Arithmetic::Fast } else { Arithmetic::Exact };
        let transforms = Self { stages, is_complex, element: PhantomData };
        writes_in(arithmetic, scratch, move |_, inputs, outputs| {
            transforms.run(inputs[0].bytes(), outputs[0].bytes_mut());
            Ok(())
        })
    }

    /// Returns the bytes of the numbers between two transforms, and of what each thread and each
    /// plan needs.
    fn scratch(stages: &[Stage<R>], numbers: usize) -> usize {
        let number = size_of::<ComplexOf<R>>();
        let between = numbers.saturating_mul(stages.len().saturating_sub(1).min(2));
        let of_stage = |stage: &Stage<R>| {
            let lanes = stage.lanes::<P>();
            let at_once = threads().min(stage.lines.div_ceil(lanes));
            let each = stage.transform.thread_bytes().saturating_mul(lanes * at_once);
            each.saturating_add(stage.transform.plan_bytes())
        };
        let stages = stages.iter().map(of_stage).fold(0, usize::saturating_add);
        between.saturating_mul(number).saturating_add(stages)
    }

    /// Runs all stages but the last on numbers that are not rounded between them.
    fn all<A: FftElement<R>, B: FftElement<R>>(&self, from: &[A], to: &mut [B]) {
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

    fn run(&self, from: &[u8], to: &mut [u8]) {
        let from_complex = || bytemuck::cast_slice::<u8, ComplexElement<P>>(from);
        // Real elements are those of the first stage or of the last.
        let has_pairs = self.stages.iter().any(|stage| stage.transform.has_pairs());
        match self.is_complex {
            [true, false] if has_pairs => self.all(from_complex(), complex_mut::<P>(to)),
            [true, false] => {
                let to = bytemuck::cast_slice_mut::<u8, RealElement<P>>(to);
                self.all(from_complex(), to);
            }
            [true, true] => self.all(from_complex(), complex_mut::<P>(to)),
            [false, _] if has_pairs => self.all(from_complex(), complex_mut::<P>(to)),
            [false, _] => {
                self.all(bytemuck::cast_slice::<u8, RealElement<P>>(from), complex_mut::<P>(to));
            }
        }
    }
}

fn complex_mut<P: Pod>(to: &mut [u8]) -> &mut [ComplexElement<P>] {
    bytemuck::cast_slice_mut(to)
}

impl<R: LaneNumber> Stage<R> {
    /// Returns the number of results.
    fn results(&self) -> usize {
        self.lines * self.transform.lengths().1
    }
    /// Returns the lines that are transformed at once, each in a lane of vectors.
    fn lanes<P: ComplexPart<R>>(&self) -> usize {
        if self.lines > 1 && !self.transform.shares_lines() { P::LANES } else { 1 }
    }
    /// Transforms all lines.
    fn run<P: ComplexPart<R>, A: FftElement<R>, B: FftElement<R>>(&self, from: &[A], to: &mut [B]) {
        match self.lanes::<P>() {
            16 => self.run_lanes::<A, B, 16>(from, to),
            8 => self.run_lanes::<A, B, 8>(from, to),
            _ => self.run_lanes::<A, B, 1>(from, to),
        }
    }
    fn run_lanes<A: FftElement<R>, B: FftElement<R>, const N: usize>(
        &self,
        from: &[A],
        to: &mut [B],
    ) {
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
                    instruction_set::run(WidenLines { from, to: &mut lines.before[..before] });
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
struct WidenLines<'a, A, R: LaneNumber, const N: usize> {
    from: Strided<'a, A>,
    to: &'a mut [Lanes<R, N>],
}

impl<A: FftElement<R>, R: LaneNumber, const N: usize> Task for WidenLines<'_, A, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Strided { from, line, step, lanes } = self.from;
        for block in (0..self.to.len()).step_by(BLOCK) {
            let end = (block + BLOCK).min(self.to.len());
            for lane in 0..lanes {
                for k in block..end {
                    self.to[k].put(lane, from[lane * line + k * step].read());
                }
            }
        }
    }
}

/// Rounds the numbers of each lane to elements of a line.
struct Write<'a, R: LaneNumber, B, const N: usize> {
    from: &'a [Lanes<R, N>],
    to: StridedMut<'a, B>,
}

impl<R: LaneNumber, B: FftElement<R>, const N: usize> Task for Write<'_, R, B, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let StridedMut { to, line, step, lanes } = self.to;
        for block in (0..self.from.len()).step_by(BLOCK) {
            let end = (block + BLOCK).min(self.from.len());
            for lane in 0..lanes {
                for k in block..end {
                    to[lane * line + k * step] = B::of(self.from[k].at(lane));
                }
            }
        }
    }
}
