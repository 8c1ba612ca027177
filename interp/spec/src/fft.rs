//! `fft`: the discrete Fourier transform of the last dimensions
//!
//! `result[.., k] = sum over j of operand[.., j] * e^(-2 pi i j k / n)` along each dimension for
//! which `fft_length` states a size n: the last one, two or three. All others are batch dimensions.
//!
//! - `FFT`: complex to complex, by the formula, not scaled.
//! - `IFFT`: its inverse. The exponent has the other sign, and the result is divided by the product
//!   of the sizes.
//! - `RFFT`: real to complex. The last dimension, transformed first, keeps elements 0 to n/2 of its
//!   n: the others are conjugates of these. Imaginary parts that are 0 by symmetry are exactly 0.
//! - `IRFFT`: its inverse, to n real elements from n/2+1 complex ones. The last dimension is
//!   transformed last. Imaginary parts that symmetry forbids, those of element 0 and for even n of
//!   element n/2, are ignored.
//!
//! Sizes are arbitrary. An infinity or NaN makes every element of its line infinite or NaN; which
//! of the two is not defined. All is computed in complex numbers of [`Real`] and rounded once: f64,
//! or twice its precision for f64 and c128.
//!
//! Source: StableHLO, `fft`.
use super::{Operand, build, indices};
use hlo::op::Fft;
use hlo::op::value::FftType;
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};
use num::clock::Stop;
use num::complex_of::{ComplexOf, Field};
use num::double_double::{DoubleDouble, Real};
use num::index::{strides, to_i64, to_usize};
use num::twiddle::turns;
use rayon::prelude::*;

pub(super) fn fft(op: &Fft, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    if shape.ty.component() == ElementType::F64 {
        transform::<DoubleDouble>(op, operand, shape)
    } else {
        transform::<f64>(op, operand, shape)
    }
}

fn transform<R: Real + Field>(op: &Fft, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Fft { fft_type, fft_length } = op;
    let last = shape.rank() - 1;
    let others = (shape.rank() - fft_length.len()..last).rev();
    let mut array = ComplexGrid::<R>::of(operand);
    match fft_type {
        FftType::Fft => {
            for dim in others.chain([last]) {
                array = array.along(dim, forward);
            }
        }
        FftType::Ifft => {
            for dim in others.chain([last]) {
                array = array.along(dim, inverse);
            }
        }
        FftType::Rfft => {
            array = array.along(last, forward_of_real);
            for dim in others {
                array = array.along(dim, forward);
            }
        }
        FftType::Irfft => {
            for dim in others {
                array = array.along(dim, inverse);
            }
            let n = to_usize(shape.dims[last]);
            array = array.along(last, |line| inverse_to_real(line, n));
        }
    }
    build(shape, |index| {
        let number = array.at(index);
        if shape.ty.is_complex() { number.element() } else { number.re.element() }
    })
}

type Line<R> = Vec<ComplexOf<R>>;

/// Returns `result[k] = sum over j of line[j] * e^(-2 pi i j k / n)`.
fn forward<R: Real + Field>(line: &Line<R>) -> Line<R> {
    let n = line.len();
    let stop = Stop::current();
    let turns = turns::<R>(n, &stop);
    let sum = |k: usize| {
        if stop.is_set() {
            return ComplexOf::ZERO;
        }
        let terms = line.iter().enumerate().map(|(j, &x)| x * turns[j * k % n]);
        terms.fold(ComplexOf::ZERO, |sum, term| sum + term)
    };
    (0..n).map(sum).collect()
}

/// Returns the inverse: the conjugate of the transform of the conjugates, divided by n.
fn inverse<R: Real + Field>(line: &Line<R>) -> Line<R> {
    let n: R = Scalar::Signed(to_i64(line.len())).as_f64().into();
    let conjugates = line.iter().map(|x| x.conj()).collect();
    forward(&conjugates).into_iter().map(|x| x.conj().over(n)).collect()
}

fn forward_of_real<R: Real + Field>(line: &Line<R>) -> Line<R> {
    let n = line.len();
    if n == 0 {
        return Vec::new();
    }
    let whole = forward(line);
    // Averaging with the conjugate of the mirrored element removes rounding errors of a part that
    // is 0 by symmetry.
    let mean = |k: usize| {
        let sum = whole[k] + whole[(n - k) % n].conj();
        ComplexOf { re: sum.re.scaled(-1), im: sum.im.scaled(-1) }
    };
    (0..=n / 2).map(mean).collect()
}

fn inverse_to_real<R: Real + Field>(half: &Line<R>, n: usize) -> Line<R> {
    let whole = (0..n).map(|k| match k {
        k if k == 0 || 2 * k == n => ComplexOf { re: half[k].re, im: R::ZERO },
        k if 2 * k < n => half[k],
        k => half[n - k].conj(),
    });
    inverse(&whole.collect())
}

/// An array of complex numbers.
struct ComplexGrid<R> {
    dims: Dims,
    numbers: Line<R>,
}

impl<R: Real + Field> ComplexGrid<R> {
    fn of(operand: &Operand<'_>) -> Self {
        let dims = operand.shape.dims.clone();
        let numbers = indices(&dims).map(|index| ComplexOf::of(operand.at(&index))).collect();
        Self { dims, numbers }
    }
    fn at(&self, index: &[i64]) -> ComplexOf<R> {
        let offset: i64 = index.iter().zip(strides(&self.dims)).map(|(i, stride)| i * stride).sum();
        // The others were not read because the run is to stop.
        self.numbers.get(to_usize(offset)).copied().unwrap_or(ComplexOf::ZERO)
    }
    /// Returns the array with each line along `dim` replaced by its `transform`.
    fn along(&self, dim: usize, transform: impl Fn(&Line<R>) -> Line<R> + Sync) -> Self {
        let mut lines = self.dims.clone();
        lines[dim] = 1.min(lines[dim]);
        let starts: Vec<Dims> = indices(&lines).collect();
        let line = |start: &Dims| {
            let mut index = start.clone();
            let line = (0..self.dims[dim]).map(|i| {
                index[dim] = i;
                self.at(&index)
            });
            transform(&line.collect())
        };
        let stop = Stop::current();
        let lines_of = starts.par_iter().map_init(|| stop.enter(), |_, start| line(start));
        let transformed: Vec<Line<R>> = lines_of.collect();
        let mut dims = self.dims.clone();
        dims[dim] = transformed.first().map_or(0, |line| to_i64(line.len()));
        // Line l of the lines in row-major order starts at `starts[l]`.
        let strides = strides(&lines);
        let numbers = indices(&dims).map(|index| {
            let of_line = |d: usize| if d == dim { 0 } else { index[d] * strides[d] };
            let line: i64 = (0..index.len()).map(of_line).sum();
            transformed[to_usize(line)][to_usize(index[dim])]
        });
        let numbers = numbers.collect();
        Self { dims, numbers }
    }
}
