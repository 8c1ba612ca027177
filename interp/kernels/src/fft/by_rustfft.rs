//! Transforms of the engine `fast` by `rustfft`, line by line, in the type of the elements.
//!
//! `rustfft` and `realfft` transform contiguous lines. Lines along other dimensions are gathered,
//! transformed, and transposed into the result. A line is one task, so the bits do not depend on
//! the number of threads.
use super::transform::FftKind;
use super::{StageOf, stages};
use crate::Kernel;
use crate::function::writes_in;
use bytemuck::Pod;
use hlo::ArrayShape;
use hlo::op::value::FftType;
use num::Arithmetic;
use num::clock::Stop;
use num::fourier::has_prime_above;
use num::parallel::{parts, parts_with, threads};
use num_complex::Complex;
use realfft::num_traits::{FromPrimitive, Zero};
use realfft::{ComplexToReal, FftNum, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};
use std::array::from_fn;
use std::sync::{Arc, OnceLock};

/// Numbers that a task gathers, at least: short lines are transformed several at a time.
const AT_ONCE: usize = 4096;
/// Lines that are gathered together, and rows that are written together: those that share lines of
/// a cache.
const TOGETHER: usize = 8;

/// Returns the kernel of elements of type `T`, or of complex numbers of two.
pub(super) fn kernel<T: FftNum + Pod>(op: &hlo::op::Fft, operand: &ArrayShape) -> Box<dyn Kernel>
where
    Complex<T>: Pod,
{
    let transforms = Transforms::<T>::new(op.fft_type, stages(op, operand));
    writes_in(Arithmetic::Fast, transforms.scratch, move |_, inputs, outputs| {
        transforms.run(inputs[0].bytes(), outputs[0].bytes_mut());
        Ok(())
    })
}

/// The transforms of some dimensions, in their order.
struct Transforms<T: FftNum> {
    kind: FftType,
    stages: Vec<Stage<T>>,
    scratch: usize,
}

/// The transforms of all lines of one dimension.
struct Stage<T: FftNum> {
    of: StageOf,
    /// Made in the first run, and kept: a compiled module stays as small as its text.
    plan: OnceLock<Plan<T>>,
}

/// A transform of lines of one length.
enum Plan<T> {
    Complex(Arc<dyn Fft<T>>),
    Half(Arc<dyn RealToComplex<T>>),
    Whole(Arc<dyn ComplexToReal<T>>),
}

impl<T: FftNum> Plan<T> {
    fn new(kind: FftKind, n: usize) -> Self {
        match kind {
            FftKind::There => Self::Complex(FftPlanner::new().plan_fft_forward(n)),
            FftKind::Back => Self::Complex(FftPlanner::new().plan_fft_inverse(n)),
            FftKind::Half => Self::Half(RealFftPlanner::new().plan_fft_forward(n)),
            FftKind::Whole => Self::Whole(RealFftPlanner::new().plan_fft_inverse(n)),
        }
    }
    /// Numbers that a thread works in.
    fn work(&self) -> usize {
        match self {
            Self::Complex(plan) => plan.get_inplace_scratch_len(),
            Self::Half(plan) => plan.get_scratch_len(),
            Self::Whole(plan) => plan.get_scratch_len(),
        }
    }
}

/// The largest prime factor of lines that `rustfft` splits without a convolution, with each
/// instruction set.
const LARGEST_FACTOR: usize = 11;

/// Returns the most numbers that a plan for lines of `n` numbers holds, and that a thread works in.
/// A large prime factor makes a line a convolution of more than twice its length.
fn numbers(n: usize) -> (usize, usize) {
    let (plan, work) = if has_prime_above(n, LARGEST_FACTOR) { (20, 10) } else { (4, 3) };
    (n.saturating_mul(plan), n.saturating_mul(work))
}

impl<T: FftNum + Pod> Transforms<T> {
    fn new(kind: FftType, stages: Vec<StageOf>) -> Self {
        let results = stages.iter().map(StageOf::results).max().unwrap_or(0);
        // What is between two stages, and the lines of a stage before they are transposed.
        let is_transposed = stages.iter().any(|stage| stage.stride > 1);
        let copies = (stages.len() - 1).min(2) + usize::from(is_transposed);
        let each = stages.iter().map(|stage| {
            let (plan, work) = numbers(stage.n);
            let own = work.saturating_add(stage.n.max(AT_ONCE).saturating_add(stage.n));
            plan.saturating_add(own.saturating_mul(threads()))
        });
        let numbers = each.fold(results.saturating_mul(copies), usize::saturating_add);
        let scratch = numbers.saturating_mul(size_of::<Complex<T>>());
        let stages = stages.into_iter().map(|of| Stage { of, plan: OnceLock::new() }).collect();
        Self { kind, stages, scratch }
    }
}

impl<T: FftNum + Pod> Transforms<T>
where
    Complex<T>: Pod,
{
    fn run(&self, from: &[u8], to: &mut [u8]) {
        let (complex, complex_mut) = (bytemuck::cast_slice, bytemuck::cast_slice_mut);
        match (self.kind, &*self.stages) {
            (_, []) => {}
            (FftType::Fft | FftType::Ifft, stages) => {
                chain(stages, complex(from), complex_mut(to));
            }
            (FftType::Rfft, [first]) => first.half(bytemuck::cast_slice(from), complex_mut(to)),
            (FftType::Rfft, [first, others @ ..]) => {
                let mut numbers = vec![Complex::zero(); first.of.results()];
                first.half(bytemuck::cast_slice(from), &mut numbers);
                chain(others, &numbers, complex_mut(to));
            }
            (FftType::Irfft, [last]) => last.whole(complex(from), bytemuck::cast_slice_mut(to)),
            (FftType::Irfft, [others @ .., last]) => {
                let count = others.last().map_or(0, |stage| stage.of.results());
                let mut numbers = vec![Complex::zero(); count];
                chain(others, complex(from), &mut numbers);
                last.whole(&numbers, bytemuck::cast_slice_mut(to));
            }
        }
    }
}

/// Runs stages of complex numbers one after another.
fn chain<T: FftNum>(stages: &[Stage<T>], from: &[Complex<T>], to: &mut [Complex<T>]) {
    match stages {
        [] => {}
        [last] => last.complex(from, to),
        [first, others @ ..] => {
            let mut numbers = vec![Complex::zero(); first.of.results()];
            first.complex(from, &mut numbers);
            chain(others, &numbers, to);
        }
    }
}

/// The factor of the way back.
fn one_over<T: FftNum>(n: usize) -> T {
    let n: T = FromPrimitive::from_usize(n).expect("a float holds each size");
    T::one() / n
}

impl<T: FftNum> Stage<T> {
    fn plan(&self) -> &Plan<T> {
        self.plan.get_or_init(|| Plan::new(self.of.kind, self.of.n))
    }
    fn zeros(count: usize) -> Vec<Complex<T>> {
        vec![Complex::zero(); count]
    }

    /// Transforms lines of complex numbers.
    fn complex(&self, from: &[Complex<T>], to: &mut [Complex<T>]) {
        let plan = self.plan();
        let Plan::Complex(fft) = plan else { unreachable!("a stage of complex numbers") };
        let count = one_over::<T>(self.of.n);
        let work = || Self::zeros(plan.work());
        self.lines(from, to, work, |work, lines, to| {
            lines.gather(to);
            fft.process_with_scratch(to, work);
            if self.of.kind == FftKind::Back {
                for x in to {
                    *x = x.scale(count);
                }
            }
        });
    }

    /// Transforms lines of real numbers.
    fn half(&self, from: &[T], to: &mut [Complex<T>]) {
        let plan = self.plan();
        let Plan::Half(fft) = plan else { unreachable!("a stage of real numbers") };
        let (before, after) = self.of.lengths();
        let work = || (Vec::new(), Self::zeros(plan.work()));
        self.lines(from, to, work, |(real, work), lines, to| {
            real.resize(lines.count * before, T::zero());
            lines.gather(real);
            for (line, to) in real.chunks_exact_mut(before).zip(to.chunks_exact_mut(after)) {
                fft.process_with_scratch(line, to, work).expect("lengths of the plan");
                to[0].im = T::zero();
            }
        });
    }

    /// Transforms halves of lines back to real numbers.
    fn whole(&self, from: &[Complex<T>], to: &mut [T]) {
        let plan = self.plan();
        let Plan::Whole(fft) = plan else { unreachable!("a stage of halves") };
        let ((before, after), count) = (self.of.lengths(), one_over::<T>(self.of.n));
        let work = || (Vec::new(), Self::zeros(plan.work()));
        self.lines(from, to, work, |(halves, work), lines, to| {
            halves.resize(lines.count * before, Complex::zero());
            lines.gather(halves);
            for (line, to) in halves.chunks_exact_mut(before).zip(to.chunks_exact_mut(after)) {
                // What symmetry forbids is ignored.
                line[0].im = T::zero();
                if after.is_multiple_of(2) {
                    line[after / 2].im = T::zero();
                }
                fft.process_with_scratch(line, to, work).expect("lengths of the plan");
                for x in to {
                    *x = *x * count;
                }
            }
        });
    }

    /// Calls `each` for groups of lines, in parallel, with memory that a thread keeps, and the place
    /// of the results, line after line.
    fn lines<A: Sync, B: Copy + Zero + Send + Sync, W>(
        &self,
        from: &[A],
        to: &mut [B],
        work: impl Fn() -> W + Sync + Send,
        each: impl Fn(&mut W, Lines<'_, A>, &mut [B]) + Sync + Send,
    ) {
        let stop = Stop::current();
        let (before, after) = self.of.lengths();
        let stride = self.of.stride;
        let least = if stride == 1 { 1 } else { TOGETHER };
        let group = (AT_ONCE / self.of.n.max(1)).max(least);
        let transform = |to: &mut [B]| {
            parts_with(to, (group * after, 1), &work, |work, number, to| {
                let (first, count) = (number * group, to.len() / after);
                each(work, Lines { from, first, count, length: before, stride }, to);
            });
        };
        if stride == 1 {
            return transform(to);
        }
        let mut lines = vec![B::zero(); to.len()];
        transform(&mut lines);
        // A row has one number of each of `stride` lines.
        parts(to, (TOGETHER * stride, 1), |number, rows| {
            let first = |row: usize| row / after * stride * after + row % after;
            let first: [usize; TOGETHER] = from_fn(|row| first(number * TOGETHER + row));
            for lane in (0..stride).take_while(|_| !stop.is_set()) {
                for (to, first) in rows.chunks_exact_mut(stride).zip(first) {
                    to[lane] = lines[first + lane * after];
                }
            }
        });
    }
}

/// Some lines of an array.
struct Lines<'a, A> {
    from: &'a [A],
    first: usize,
    count: usize,
    length: usize,
    stride: usize,
}

impl<A: Copy> Lines<'_, A> {
    /// Copies the lines one after another.
    fn gather(&self, to: &mut [A]) {
        let Self { from, first, count, length, stride } = *self;
        if stride == 1 {
            return to.copy_from_slice(&from[first * length..(first + count) * length]);
        }
        for start in (0..count).step_by(TOGETHER) {
            let place = |line: usize| line / stride * length * stride + line % stride;
            let places: [usize; TOGETHER] = from_fn(|lane| place(first + start + lane));
            let to = &mut to[start * length..(start + TOGETHER).min(count) * length];
            for k in 0..length {
                for (to, place) in to.chunks_exact_mut(length).zip(places) {
                    to[k] = from[place + k * stride];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_work_in_what_is_claimed() {
        let lengths = (1..3000).chain([4096, 4099, 65_536, 65_537, 40_009, 2 * 40_009]);
        for n in lengths {
            for kind in [FftKind::There, FftKind::Back, FftKind::Half, FftKind::Whole] {
                let (single, double) = (Plan::<f32>::new(kind, n), Plan::<f64>::new(kind, n));
                let (work, most) = (single.work().max(double.work()), numbers(n).1 + 64);
                assert!(work <= most, "{kind:?} {n}: {work}, {most} are claimed");
            }
        }
    }
}
