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
//! itself.
use super::writes_with;
use crate::index::{saturating_count, strides, to_i64, to_usize};
use crate::lower::scratch::threads;
use crate::num::complex_of::{ComplexOf, Field};
use crate::num::double_double::{DoubleDouble, Real};
use crate::num::fourier::{self, Plan};
use crate::num::loops::convert_loop;
use crate::plan::Kernel;
use hlo::op::Fft;
use hlo::op::value::FftType;
use hlo::{ArrayShape, Dims, ElementType, Literal};
use rayon::prelude::*;

pub(super) fn kernel(op: &Fft, operand: &ArrayShape, result: &ArrayShape) -> Box<dyn Kernel> {
    let op = op.clone();
    let wide = result.ty.component() == ElementType::F64;
    // The numbers before and after the last step, which may change how many there are; lines before and after their
    // transforms; and the plan of the transform.
    let numbers = saturating_count(&operand.dims).saturating_add(saturating_count(&result.dims));
    let lengths = op.fft_length.iter().map(|&n| to_usize(n));
    let longest = lengths.clone().max().unwrap_or(0);
    let plan = lengths.clone().map(|n| fourier::plan_bytes(n, wide)).max().unwrap_or(0);
    let chirps = lengths.map(|n| fourier::thread_bytes(n, wide)).max().unwrap_or(0);
    let scratch = numbers
        .saturating_add(longest.saturating_mul(2 * threads() + 2))
        .saturating_mul(fourier::number_bytes(wide))
        .saturating_add(plan)
        .saturating_add(chirps.saturating_mul(threads()));
    writes_with(scratch, move |_, inputs, outputs| {
        if wide {
            run::<DoubleDouble>(&op, inputs[0], &mut outputs[0]);
        } else {
            run::<f64>(&op, inputs[0], &mut outputs[0]);
        }
        Ok(())
    })
}

/// The parts of an array of real or complex numbers.
#[derive(Clone, Copy)]
enum Parts<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

impl<'a> Parts<'a> {
    fn of(literal: &'a Literal) -> Self {
        let ty = literal.array_shape().expect("verified: an array").ty;
        match ty.component() == ElementType::F64 {
            true => Self::Double(bytemuck::cast_slice(literal.bytes())),
            false => Self::Single(bytemuck::cast_slice(literal.bytes())),
        }
    }
    #[inline]
    fn get<R: Real>(&self, i: usize) -> R {
        match self {
            Self::Single(parts) => f64::from(parts[i]).into(),
            Self::Double(parts) => parts[i].into(),
        }
    }
    /// Returns the number of two parts.
    #[inline]
    fn pair<R: Real>(&self, i: usize) -> ComplexOf<R> {
        ComplexOf { re: self.get(2 * i), im: self.get(2 * i + 1) }
    }
}

fn run<R: Real + Field>(op: &Fft, operand: &Literal, result: &mut Literal) {
    let dims = operand.array_shape().expect("verified: an array").dims.clone();
    let parts = Parts::of(operand);
    let rank = dims.len();
    let last = rank - 1;
    // The last dimension first; on the way back to real numbers last, when the lines before it are whole again.
    let others = (rank - op.fft_length.len()..last).rev();
    let n = op.fft_length.last().map_or(0, |&n| to_usize(n));
    let numbers = || -> Vec<ComplexOf<R>> {
        (0..operand.len()).into_par_iter().map(|i| parts.pair(i)).collect()
    };
    let array = match op.fft_type {
        FftType::Fft | FftType::Ifft => {
            let mut array = Numbers { numbers: numbers(), dims };
            let is_back = op.fft_type == FftType::Ifft;
            others.chain([last]).for_each(|d| array.each(d, is_back));
            array
        }
        FftType::Rfft => {
            let mut array = Numbers::halves(parts, dims);
            others.for_each(|d| array.each(d, false));
            array
        }
        FftType::Irfft => {
            let mut array = Numbers { numbers: numbers(), dims };
            others.for_each(|d| array.each(d, true));
            array.wholes(n);
            array
        }
    };
    array.store(op.fft_type == FftType::Irfft, result);
}

/// An array of complex numbers.
struct Numbers<R> {
    dims: Dims,
    numbers: Vec<ComplexOf<R>>,
}

impl<R: Real + Field> Numbers<R> {
    fn size(&self, dim: usize) -> usize {
        to_usize(self.dims[dim])
    }

    /// Transforms all lines of a dimension, there or back.
    fn each(&mut self, dim: usize, back: bool) {
        let (n, stride) = (self.size(dim), to_usize(strides(&self.dims)[dim]));
        let transform = Transform::new(n, back);
        let blocks = self.numbers.par_chunks_mut((n * stride).max(1));
        blocks.for_each_init(
            || Lines::new(n),
            |lines, block| {
                for start in 0..stride.min(block.len()) {
                    let elements = block.iter().skip(start).step_by(stride);
                    lines.line.iter_mut().zip(elements).for_each(|(to, &x)| *to = x);
                    transform.run(lines);
                    let elements = block.iter_mut().skip(start).step_by(stride);
                    elements.zip(&lines.result).for_each(|(to, &x)| *to = x);
                }
            },
        );
    }

    /// Transforms the lines of the last dimension, of real numbers, and keeps the first half.
    fn halves(parts: Parts<'_>, mut dims: Dims) -> Self {
        let n = dims.last().map_or(1, |&n| to_usize(n));
        let count = if n == 0 { 0 } else { n / 2 + 1 };
        let lines = dims[..dims.len() - 1].iter().map(|&d| to_usize(d)).product::<usize>();
        let mut numbers = vec![ComplexOf::ZERO; lines * count];
        let transform = HalfTransform::new(n);
        numbers.par_chunks_exact_mut(count.max(1)).enumerate().for_each_init(
            || Lines::new(transform.length()),
            |lines, (i, result)| transform.run(|j| parts.get(i * n + j), lines, result),
        );
        if let Some(last) = dims.last_mut() {
            *last = to_i64(count);
        }
        Self { dims, numbers }
    }

    /// Fills the lines of the last dimension up to `n` numbers, each the conjugate of one that is there, and transforms
    /// them back.
    fn wholes(&mut self, n: usize) {
        let last = self.dims.len() - 1;
        let transform = Transform::new(n, true);
        let half = self.size(last).max(1);
        let mut wholes = vec![ComplexOf::ZERO; self.numbers.len() / half * n];
        let lines = self.numbers.par_chunks_exact(half).zip(wholes.par_chunks_exact_mut(n.max(1)));
        lines.for_each_init(
            || Lines::new(n),
            |lines, (half, whole)| {
                for (k, number) in lines.line.iter_mut().enumerate() {
                    *number = match k {
                        k if k == 0 || 2 * k == n => ComplexOf { re: half[k].re, im: R::ZERO },
                        k if 2 * k < n => half[k],
                        k => half[n - k].conj(),
                    };
                }
                transform.run(lines);
                whole.copy_from_slice(&lines.result);
            },
        );
        self.numbers = wholes;
        self.dims[last] = to_i64(n);
    }

    /// Rounds each number, or only the real parts, into the result.
    fn store(&self, real: bool, result: &mut Literal) {
        let ty = result.array_shape().expect("a kernel computes arrays").ty;
        let round = convert_loop(ElementType::F64, ty.component());
        let width = ty.storage_bytes();
        let blocks = result.bytes_mut().par_chunks_mut(BLOCK * width);
        blocks.zip(self.numbers.par_chunks(BLOCK)).for_each(|(to, numbers)| {
            let mut parts = [0.0; 2 * BLOCK];
            let count = if real { 1 } else { 2 };
            for (parts, number) in parts.chunks_exact_mut(count).zip(numbers) {
                parts[0] = number.re.rounded();
                parts[1..].fill(number.im.rounded());
            }
            let parts: &[u8] = bytemuck::cast_slice(&parts[..numbers.len() * count]);
            match &round {
                Some(round) => round(&[parts], to),
                None => to.copy_from_slice(parts),
            }
        });
    }
}

/// Numbers that are rounded at once.
const BLOCK: usize = 128;

/// A line before and after its transform.
struct Lines<R> {
    line: Vec<ComplexOf<R>>,
    result: Vec<ComplexOf<R>>,
}

impl<R: Real + Field> Lines<R> {
    fn new(n: usize) -> Self {
        Self { line: vec![ComplexOf::ZERO; n], result: vec![ComplexOf::ZERO; n] }
    }
}

/// A transform of lines of `n` real numbers, of which the first half is kept.
///
/// The numbers of even and of odd index are the parts of a line of half the length.
struct HalfTransform<R> {
    n: usize,
    plan: Plan<R>,
    /// The turns of `n`, if it is even.
    turns: Vec<ComplexOf<R>>,
}

impl<R: Real + Field> HalfTransform<R> {
    fn new(n: usize) -> Self {
        let is_even = n.is_multiple_of(2);
        let turns = if is_even { fourier::turns(n) } else { Vec::new() };
        Self { n, plan: Plan::new(if is_even { n / 2 } else { n }), turns }
    }
    /// The length of the complex lines.
    fn length(&self) -> usize {
        if self.n.is_multiple_of(2) { self.n / 2 } else { self.n }
    }
    fn run(&self, number: impl Fn(usize) -> R, lines: &mut Lines<R>, result: &mut [ComplexOf<R>]) {
        let (n, length) = (self.n, self.length());
        let halved = |z: ComplexOf<R>| ComplexOf { re: z.re.scaled(-1), im: z.im.scaled(-1) };
        for (k, z) in lines.line.iter_mut().enumerate() {
            *z = match n.is_multiple_of(2) {
                true => ComplexOf { re: number(2 * k), im: number(2 * k + 1) },
                false => ComplexOf { re: number(k), im: R::ZERO },
            };
        }
        self.plan.transform(&lines.line, &mut lines.result);
        let found = &lines.result;
        for (k, slot) in result.iter_mut().enumerate() {
            // A line of real numbers has a symmetric transform, an imaginary one an antisymmetric one.
            let (z, mirror) = (found[k % length], found[(n - k) % length].conj());
            if !n.is_multiple_of(2) {
                *slot = halved(z + mirror);
                continue;
            }
            let (even, odd) = (halved(z + mirror), halved(z - mirror));
            let odd = odd.times_i();
            *slot = match k {
                0 => ComplexOf { re: z.re + z.im, im: R::ZERO },
                k if k == length => ComplexOf { re: z.re - z.im, im: R::ZERO },
                k => even - odd * self.turns[k],
            };
        }
    }
}

/// A transform of lines of one length, there or back.
struct Transform<R> {
    plan: Plan<R>,
    /// The number of terms, by which the way back divides.
    count: Option<R>,
}

impl<R: Real + Field> Transform<R> {
    fn new(n: usize, back: bool) -> Self {
        let count = hlo::Scalar::Signed(to_i64(n)).as_f64();
        Self { plan: Plan::new(n), count: back.then_some(count.into()) }
    }
    fn run(&self, lines: &mut Lines<R>) {
        let Lines { line, result } = lines;
        let Some(count) = self.count else {
            return self.plan.transform(line, result);
        };
        // The way back is the conjugate of the way there, of conjugates.
        for x in &mut *line {
            *x = x.conj();
        }
        self.plan.transform(line, result);
        for x in result {
            *x = x.conj().over(count);
        }
    }
}
