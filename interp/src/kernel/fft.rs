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
use super::{fill, writes_with};
use crate::index::{offset_list, saturating_count, strides, to_i64, to_usize};
use crate::num::complex_of::{ComplexOf, Field};
use crate::num::double_double::{DoubleDouble, Real};
use crate::num::fourier::{self, Plan};
use crate::plan::Kernel;
use hlo::op::Fft;
use hlo::op::value::FftType;
use hlo::{ArrayShape, Dims, ElementType, Literal};

pub(super) fn kernel(op: &Fft, operand: &ArrayShape, result: &ArrayShape) -> Box<dyn Kernel> {
    let op = op.clone();
    let wide = result.ty.component() == ElementType::F64;
    // The numbers before and after the last step, which may change how many there are; a line before and after its
    // transform; the offsets of lines; and the plan of the transform.
    let numbers = saturating_count(&operand.dims).saturating_add(saturating_count(&result.dims));
    let lengths = op.fft_length.iter().map(|&n| to_usize(n));
    let longest = lengths.clone().max().unwrap_or(0);
    let lines =
        saturating_count(&operand.dims) / lengths.clone().filter(|&n| n > 0).min().unwrap_or(1);
    let plan = lengths.map(|n| fourier::plan_bytes(n, wide)).max().unwrap_or(0);
    let scratch = numbers
        .saturating_add(longest.saturating_mul(2))
        .saturating_mul(fourier::number_bytes(wide))
        .saturating_add(lines.saturating_mul(size_of::<usize>()))
        .saturating_add(plan);
    writes_with(scratch, move |_, inputs, outputs| {
        if wide {
            run::<DoubleDouble>(&op, inputs[0], &mut outputs[0]);
        } else {
            run::<f64>(&op, inputs[0], &mut outputs[0]);
        }
        Ok(())
    })
}

fn run<R: Real + Field>(op: &Fft, operand: &Literal, result: &mut Literal) {
    let dims = operand.array_shape().expect("verified: an array").dims.clone();
    let numbers = (0..operand.len()).map(|i| ComplexOf::of(operand.get(i))).collect();
    let rank = dims.len();
    let mut array = Numbers::<R> { dims, numbers };
    let last = rank - 1;
    // The last dimension first; on the way back to real numbers last, when the lines before it are whole again.
    let others = (rank - op.fft_length.len()..last).rev();
    let n = op.fft_length.last().map_or(0, |&n| to_usize(n));
    match op.fft_type {
        FftType::Fft => others.chain([last]).for_each(|d| array.each(d, false)),
        FftType::Ifft => others.chain([last]).for_each(|d| array.each(d, true)),
        FftType::Rfft => {
            array.halves();
            others.for_each(|d| array.each(d, false));
        }
        FftType::Irfft => {
            others.for_each(|d| array.each(d, true));
            array.wholes(n);
        }
    }
    let real = op.fft_type == FftType::Irfft;
    fill(result, |i| {
        let z = array.numbers[i];
        if real { z.re.element() } else { z.element() }
    });
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
        let mut sizes = self.dims.clone();
        sizes[dim] = sizes[dim].min(1);
        let transform = Transform::new(n, back);
        let mut result = vec![ComplexOf::ZERO; n];
        for start in offset_list(&sizes, &strides(&self.dims)) {
            let line: Vec<_> = (0..n).map(|i| self.numbers[start + i * stride]).collect();
            transform.run(line, &mut result);
            for (i, &x) in result.iter().enumerate() {
                self.numbers[start + i * stride] = x;
            }
        }
    }

    /// Transforms the lines of the last dimension, of real numbers, and keeps the first half.
    fn halves(&mut self) {
        let last = self.dims.len() - 1;
        let n = self.size(last);
        let transform = Transform::new(n, false);
        let mut result = vec![ComplexOf::ZERO; n];
        let mut halves = Vec::with_capacity(self.numbers.len() / n.max(1) * (n / 2 + 1));
        for line in self.numbers.chunks_exact(n.max(1)) {
            transform.run(line.to_vec(), &mut result);
            // Rounding leaves a little of what is 0 by symmetry: the mean with the conjugate takes it out.
            halves.extend((0..=n / 2).map(|k| {
                let sum = result[k] + result[(n - k) % n].conj();
                ComplexOf { re: sum.re.scaled(-1), im: sum.im.scaled(-1) }
            }));
        }
        self.numbers = halves;
        self.dims[last] = if n == 0 { 0 } else { to_i64(n / 2 + 1) };
    }

    /// Fills the lines of the last dimension up to `n` numbers, each the conjugate of one that is there, and transforms
    /// them back.
    fn wholes(&mut self, n: usize) {
        let last = self.dims.len() - 1;
        let transform = Transform::new(n, true);
        let mut result = vec![ComplexOf::ZERO; n];
        let mut wholes = Vec::with_capacity(self.numbers.len() / self.size(last).max(1) * n);
        for half in self.numbers.chunks_exact(self.size(last).max(1)) {
            let line = (0..n).map(|k| match k {
                k if k == 0 || 2 * k == n => ComplexOf { re: half[k].re, im: R::ZERO },
                k if 2 * k < n => half[k],
                k => half[n - k].conj(),
            });
            transform.run(line.collect(), &mut result);
            wholes.extend_from_slice(&result);
        }
        self.numbers = wholes;
        self.dims[last] = to_i64(n);
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
    fn run(&self, mut line: Vec<ComplexOf<R>>, result: &mut [ComplexOf<R>]) {
        let Some(count) = self.count else {
            return self.plan.transform(&line, result);
        };
        // The way back is the conjugate of the way there, of conjugates.
        for x in &mut line {
            *x = x.conj();
        }
        self.plan.transform(&line, result);
        for x in result {
            *x = x.conj().over(count);
        }
    }
}
