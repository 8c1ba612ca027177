//! `cholesky`: `result[i,j] = (a[i,j] - sum of result[i,k] * conj(result[j,k])) / d[j]` over k < j,
//! for j <= i, with `d[j] = sqrt(re(a[j,j] - sum of |result[j,k]|^2))`
//!
//! The factor of each matrix of a batch: with `lower`, the lower triangle L with `a = L L^H`;
//! without, the upper triangle U with `a = U^H U`. Any float or complex type.
//!
//! - Only the triangle that is named is read; the other is ignored, NaN included. The other
//!   triangle of the result is 0.
//! - A matrix that is not positive definite, which shows as a `d[j]^2` that is not above 0, or not
//!   finite, gives NaN in all of its elements, as the real part of complex ones. The other matrices
//!   of the batch stay as they are.
//! - A complex diagonal should be real. If it is not, its imaginary part is divided like the rest
//!   of the column.
//! - Matrices of size 0 have factors of size 0.
//!
//! XLA:CPU does not see a last `d[j]^2` that is 0, nor an infinite one, and has NaN or 0 in single
//! elements there; ours is the rule for all others. And it rounds every step: here all is computed
//! in f64 (twice that for f64 and c128), and each element is rounded once. The engine `fast`
//! computes elements of up to 32 bits, and parts of c64, in f32.
use crate::Kernel;
use crate::conversion::{converted, is_narrow, number_bytes, numbers, store, store_numbers};
use crate::function::{writes_in, writes_with};
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use crate::side_by_side::{LARGEST, MATRICES, SideBySide};
use crate::triangle::{FactorType, Panels};
use hlo::op::Cholesky;
use hlo::{Array, ArrayShape, ElementType};
use num::Arithmetic;
use num::clock::Stop;
use num::complex_of::{Field, InField, in_field};
use num::double_double::Real;
use num::index::{saturating_count, to_usize};
use num::parallel::{parts, threads};
use num::scalar_program::ScalarPrograms;

impl ArrayOp for Cholesky {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site.operands[0], site.arithmetic))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let a = site.operands[0];
        let n = a.dims.last().map_or(1, |&n| to_usize(n));
        // A factor, and its columns in work.
        let number = 2 * size_of::<f64>() * if a.ty.is_complex() { 2 } else { 1 };
        Cost {
            steps: saturating_count(&a.dims).saturating_mul(n),
            scratch: n.saturating_add(2).saturating_mul(n).saturating_mul(number),
        }
    }
    needs_whole_operands!();
}

fn kernel(op: &Cholesky, a: &ArrayShape, arithmetic: Arithmetic) -> Box<dyn Kernel> {
    let (&Cholesky { lower }, ty) = (op, a.ty);
    match (arithmetic, is_narrow(ty)) {
        (Arithmetic::Exact, true) => in_tiles::<f64>(lower, a, arithmetic),
        (Arithmetic::Fast, true) => in_tiles::<f32>(lower, a, arithmetic),
        (Arithmetic::Fast, false) if ty == ElementType::C64 => {
            in_tiles::<[f32; 2]>(lower, a, arithmetic)
        }
        (Arithmetic::Exact | Arithmetic::Fast, false) => {
            let side = a.dims.last().copied().unwrap_or(0);
            // The elements and the factors; the columns of one in work.
            let numbers = saturating_count(&a.dims)
                .saturating_mul(2)
                .saturating_add(saturating_count(&[side, side, 2]));
            let scratch = numbers.saturating_mul(number_bytes(ty));
            writes_with(scratch, move |_, inputs, outputs| {
                in_field(ty, Factor { lower, a: inputs[0], result: &mut outputs[0] });
                Ok(())
            })
        }
    }
}

/// Returns the kernel of matrices of which the factors are computed in a type of the processor.
fn in_tiles<R: FactorType>(lower: bool, a: &ArrayShape, arithmetic: Arithmetic) -> Box<dyn Kernel> {
    let n = a.dims.last().map_or(0, |&n| to_usize(n));
    // The elements, as they are read and rounded; the factors, and those of a row of tiles.
    let own = Panels::<R>::bytes(n, n).saturating_add(Panels::<R>::bytes(n, 4));
    let own = own.max(if n <= LARGEST { SideBySide::<R>::bytes(n, n) } else { 0 });
    let copies = if a.ty == R::TYPE { 0 } else { 2 * size_of::<R>() };
    let scratch = saturating_count(&a.dims).saturating_mul(copies);
    let scratch = scratch.saturating_add(own.saturating_mul(threads()));
    let ty = a.ty;
    writes_in(arithmetic, scratch, move |_, inputs, outputs| {
        let from = converted::<R>(inputs[0]);
        if ty == R::TYPE {
            factors(n, lower, &from, bytemuck::cast_slice_mut(outputs[0].bytes_mut()));
        } else {
            let mut to = vec![R::ZERO; from.len()];
            factors(n, lower, &from, &mut to);
            store(&to, &mut outputs[0]);
        }
        Ok(())
    })
}

/// Computes the factors of matrices of `n` rows.
fn factors<R: FactorType>(n: usize, lower: bool, from: &[R], to: &mut [R]) {
    let size = n * n;
    let lanes = if n <= LARGEST { MATRICES } else { 1 };
    parts(to, (size * lanes, 1), |number, to| {
        let from = &from[number * lanes * size..][..to.len()];
        if to.len() / size >= MATRICES / 4 && lanes > 1 {
            factors_in_lanes(n, lower, from, to);
        } else {
            let problems = to.chunks_exact_mut(size).zip(from.chunks_exact(size));
            problems.for_each(|(to, from)| factor_alone(n, lower, from, to));
        }
    });
}

/// Returns whether a pivot is accepted.
fn accepts<R: FactorType>(pivot: R) -> bool {
    pivot.re() > 0.0 && pivot.re().is_finite()
}

/// Computes the factors of up to as many matrices as there are lanes.
fn factors_in_lanes<R: FactorType>(n: usize, lower: bool, from: &[R], to: &mut [R]) {
    let (size, turned) = (n * n, |x: R| if lower { x.conj() } else { x });
    let place = |i: usize, j: usize| if lower { j * n + i } else { i * n + j };
    let mut lanes = SideBySide::new(from.len() / size, [n, n], |matrix, i, j| match i <= j {
        true => turned(from[matrix * size + place(i, j)]),
        false => R::ZERO,
    });
    let pivots = lanes.factor();
    for (lane, to) in to.chunks_exact_mut(size).enumerate() {
        if !pivots.all(lane, accepts) {
            to.fill(R::NAN);
            continue;
        }
        to.fill(R::ZERO);
        for i in 0..n {
            (i..n).for_each(|j| to[place(i, j)] = turned(lanes.at(lane, (i, j))));
        }
    }
}

fn factor_alone<R: FactorType>(n: usize, lower: bool, from: &[R], to: &mut [R]) {
    // The upper triangle is the adjoint of a lower one.
    let place = |i: usize, j: usize| if lower { j * n + i } else { i * n + j };
    let turned = |x: R| if lower { x.conj() } else { x };
    let mut factor = Panels::upper(n, |i, j| turned(from[place(i, j)]));
    if factor.factor(n, accepts).is_err() {
        return to.fill(R::NAN);
    }
    to.fill(R::ZERO);
    factor.for_upper(n, n, |i, j, x| to[place(i, j)] = turned(x));
}

/// The factors of all matrices of `a`, in wider numbers.
struct Factor<'a> {
    lower: bool,
    a: &'a Array,
    result: &'a mut Array,
}

impl InField for Factor<'_> {
    type Output = ();
    fn run<F: Field>(self) {
        let shape = self.a.shape();
        let n = shape.dims.last().map_or(0, |&n| to_usize(n));
        let from = numbers::<F>(self.a);
        let mut factors = Vec::with_capacity(from.len());
        let (batches, stop) = (self.a.len() / (n * n).max(1), Stop::current());
        for batch in (0..batches).take_while(|_| !stop.is_set()) {
            let start = batch * n * n;
            // The upper triangle is the adjoint of a lower one.
            let read = |i: usize, j: usize| match self.lower {
                true => from[start + i * n + j],
                false => from[start + j * n + i].conj(),
            };
            let factor = lower_factor(n, read).unwrap_or_else(|| vec![F::nan(); n * n]);
            match self.lower {
                true => factors.extend(factor),
                false => factors
                    .extend((0..n * n).map(|at| (at % n) * n + at / n).map(|at| factor[at].conj())),
            }
        }
        store_numbers(self.result, |i| factors[i]);
    }
}

/// Returns the lower factor, row by row; none if the matrix is not positive definite.
fn lower_factor<F: Field>(n: usize, read: impl Fn(usize, usize) -> F) -> Option<Vec<F>> {
    let mut factor = vec![F::ZERO; n * n];
    // Conjugates of the rows, so that sums of products need none.
    let mut conjugates = factor.clone();
    let mut roots = Vec::with_capacity(n);
    let stop = Stop::current();
    for i in 0..n {
        if stop.is_set() {
            return None;
        }
        for j in 0..=i {
            let products = F::dot(&factor[i * n..i * n + j], &conjugates[j * n..j * n + j]);
            let rest = read(i, j) - products;
            if i == j {
                let square = rest.re();
                if !(square.rounded() > 0.0 && square.rounded().is_finite()) {
                    return None;
                }
                roots.push(square.sqrt());
            }
            let element = rest.over(roots[j]);
            factor[i * n + j] = element;
            conjugates[i * n + j] = element.conj();
        }
    }
    Some(factor)
}
