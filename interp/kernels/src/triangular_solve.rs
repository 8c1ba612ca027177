//! `triangular-solve`: `x[i] = (b[i] - sum of a[i,k] * x[k]) / a[i,i]` over the k of the triangle,
//! for each column of b
//!
//! Solves `op(a) x = b` (with `left_side`) or `x op(a) = b` (without) for each pair of matrices of
//! a batch, by substitution. Any float or complex type.
//!
//! - `transpose_a`: `op(a)` is a itself, its transpose, or its adjoint (transposed and conjugated).
//! - `lower`: which triangle of a is read, before it is transposed. The other is ignored, NaN
//!   included.
//! - `unit_diagonal`: the diagonal is taken to be 1, and not read.
//!
//! Zero on the diagonal divides by zero: an infinity, or NaN where the numerator is 0 too, and what
//! depends on it follows. Nothing is reported. Matrices of size 0 and batches of none have empty
//! solutions.
//!
//! All is computed in f64 (twice that for f64 and c128), and each element is rounded once. XLA:CPU
//! solves block by block with inverses of the blocks, and rounds every step; where a matrix is
//! singular, it may have NaN instead of an infinity. The engine `fast` computes in the type itself,
//! or in f32 for narrower ones.
use crate::Kernel;
use crate::conversion::{converted, is_narrow, number_bytes, numbers, store, store_numbers};
use crate::function::{writes_in, writes_with};
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use crate::side_by_side::{LARGEST, MATRICES, SideBySide};
use crate::triangle::{FactorType, Panels};
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;
use hlo::{Array, ArrayShape, ElementType};
use num::Arithmetic;
use num::clock::Stop;
use num::complex_of::{Field, InField, in_field};
use num::double_double::DoubleDouble;
use num::index::{saturating_count, to_usize};
use num::parallel::{parts, threads};
use num::scalar_program::ScalarPrograms;

impl ArrayOp for TriangularSolve {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { left_side: _, lower: _, unit_diagonal: _, transpose_a: _ } = self; // Read by `Solve`.
        Some(kernel(self, site.operands, site.arithmetic))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let (a, b) = (site.operands[0], site.operands[1]);
        let n = a.dims.last().map_or(1, |&n| to_usize(n));
        Cost {
            steps: saturating_count(&b.dims).saturating_mul(n),
            scratch: n.saturating_mul(2 * size_of::<DoubleDouble>()),
        }
    }
    needs_whole_operands!();
}

fn kernel(
    op: &TriangularSolve,
    operands: &[&ArrayShape],
    arithmetic: Arithmetic,
) -> Box<dyn Kernel> {
    let ty = operands[1].ty;
    match (arithmetic, is_narrow(ty)) {
        (Arithmetic::Exact, true) => in_tiles::<f64>(op, operands, arithmetic),
        (Arithmetic::Fast, true) => in_tiles::<f32>(op, operands, arithmetic),
        (Arithmetic::Fast, false) if ty == ElementType::C64 => {
            in_tiles::<[f32; 2]>(op, operands, arithmetic)
        }
        (Arithmetic::Fast, false) if ty == ElementType::C128 => {
            in_tiles::<[f64; 2]>(op, operands, arithmetic)
        }
        (Arithmetic::Fast, false) => in_tiles::<f64>(op, operands, arithmetic),
        (Arithmetic::Exact, false) => {
            let side = operands[0].dims.last().copied().unwrap_or(0);
            let right = saturating_count(&operands[1].dims);
            let numbers = [right, right, saturating_count(&operands[0].dims)];
            let numbers = numbers.into_iter().fold(to_usize(side), usize::saturating_add);
            let numbers = numbers.saturating_add(saturating_count(&[side, side]));
            let (op, scratch) = (op.clone(), numbers.saturating_mul(number_bytes(ty)));
            writes_with(scratch, move |_, inputs, outputs| {
                let result = &mut outputs[0];
                in_field(ty, Solve { op: &op, a: inputs[0], b: inputs[1], result });
                Ok(())
            })
        }
    }
}

/// Returns the kernel of systems of which the solutions are computed in a type of the processor.
fn in_tiles<R: FactorType>(
    op: &TriangularSolve,
    operands: &[&ArrayShape],
    arithmetic: Arithmetic,
) -> Box<dyn Kernel> {
    let (op, ty) = (op.clone(), operands[1].ty);
    let n = operands[0].dims.last().map_or(0, |&n| to_usize(n));
    let all = saturating_count(&operands[1].dims);
    // The elements, as they are read and rounded; the solutions of a batch, and the factors of the
    // tiles.
    let elements = saturating_count(&operands[0].dims).saturating_add(all.saturating_mul(2));
    let copies = if ty == R::TYPE { 0 } else { size_of::<R>() };
    let systems = all.checked_div(n).unwrap_or(0);
    let own = Panels::<R>::bytes(n, systems).saturating_add(Panels::<R>::solve_bytes(n));
    let lanes = if n <= LARGEST { SideBySide::<R>::bytes(n, n + LARGEST) } else { 0 };
    let own = own.max(lanes.saturating_mul(threads()));
    let scratch = elements.saturating_mul(copies).saturating_add(own);
    writes_in(arithmetic, scratch, move |_, inputs, outputs| {
        let (triangles, from) = (converted::<R>(inputs[0]), converted::<R>(inputs[1]));
        let dims = &inputs[1].shape().dims;
        let sides = (to_usize(dims[dims.len() - 2]), to_usize(dims[dims.len() - 1]));
        if ty == R::TYPE {
            let to = bytemuck::cast_slice_mut(outputs[0].bytes_mut());
            solutions(&op, sides, (&triangles, &from), to);
        } else {
            let mut to = vec![R::ZERO; from.len()];
            solutions(&op, sides, (&triangles, &from), &mut to);
            store(&to, &mut outputs[0]);
        }
        Ok(())
    })
}

/// Computes the solutions of all systems. The sizes are the rows and columns of matrices of right
/// sides.
fn solutions<R: FactorType>(
    op: &TriangularSolve,
    (rows, columns): (usize, usize),
    (triangles, from): (&[R], &[R]),
    to: &mut [R],
) {
    // From the right, the rows of b are the columns of the transposed system.
    let (n, systems) = if op.left_side { (rows, columns) } else { (columns, rows) };
    let (transposed, from_below) = orientation(op);
    let conjugated = op.transpose_a == Transpose::Adjoint;
    // An upper triangle is a lower one, upside down.
    let row = |i: usize| if from_below { n - 1 - i } else { i };
    let place = |i: usize, system: usize| match op.left_side {
        true => row(i) * columns + system,
        false => system * n + row(i),
    };
    let factor = |triangle: &[R], i: usize, k: usize| {
        let (i, k) = (row(i), row(k));
        let x = triangle[if transposed { k * n + i } else { i * n + k }];
        if conjugated { x.conj() } else { x }
    };
    let (all, size) = (rows * columns, n * n);
    if triangles.len() / size.max(1) >= MATRICES / 4 && n <= LARGEST && systems <= LARGEST {
        parts(to, (all * MATRICES, 1), |number, to| {
            let (first, count) = (number * MATRICES, to.len() / all);
            // What is on a diagonal of ones is not read.
            let last = usize::from(!op.unit_diagonal);
            let a = SideBySide::new(count, [n, n], |matrix, i, k| match k < i + last {
                true => factor(&triangles[(first + matrix) * size..], i, k),
                false => R::ZERO,
            });
            let mut x = SideBySide::new(count, [n, systems], |matrix, i, s| {
                from[(first + matrix) * all + place(i, s)]
            });
            x.solve(&a, op.unit_diagonal);
            for (lane, to) in to.chunks_exact_mut(all).enumerate() {
                for i in 0..n {
                    (0..systems).for_each(|s| to[place(i, s)] = x.at(lane, (i, s)));
                }
            }
        });
        return;
    }
    let batches = to.chunks_exact_mut(all).zip(from.chunks_exact(all));
    let (problems, stop) = (batches.zip(triangles.chunks_exact(size)), Stop::current());
    for ((to, from), triangle) in problems.take_while(|_| !stop.is_set()) {
        let mut x = Panels::new(n, systems, |i, system| from[place(i, system)]);
        x.solve(n, op.unit_diagonal, |i, k| factor(triangle, i, k));
        for i in 0..n {
            for system in 0..systems {
                to[place(i, system)] = x.at(i, system);
            }
        }
    }
}

/// Returns whether the rows of the triangle that is solved are columns of `a`, and whether it is an
/// upper one.
fn orientation(op: &TriangularSolve) -> (bool, bool) {
    let is_turned = match op.transpose_a {
        Transpose::None | Transpose::Invalid => false,
        Transpose::Transpose | Transpose::Adjoint => true,
    };
    let transposed = is_turned == op.left_side;
    (transposed, op.lower == transposed)
}

/// The solutions of all systems, in wider numbers.
struct Solve<'a> {
    op: &'a TriangularSolve,
    a: &'a Array,
    b: &'a Array,
    result: &'a mut Array,
}

impl InField for Solve<'_> {
    type Output = ();
    fn run<F: Field>(self) {
        let dims = &self.b.shape().dims;
        let (rows, columns) = (to_usize(dims[dims.len() - 2]), to_usize(dims[dims.len() - 1]));
        // From the right, the rows of b are the columns of the transposed system.
        let (n, systems) = if self.op.left_side { (rows, columns) } else { (columns, rows) };
        let (triangles, right) = (numbers::<F>(self.a), numbers::<F>(self.b));
        let mut solutions = vec![F::ZERO; right.len()];
        let mut x = vec![F::ZERO; n];
        let stop = Stop::current();
        let batches = self.b.len() / (rows * columns).max(1);
        for batch in (0..batches).take_while(|_| !stop.is_set()) {
            let (triangle, from_below) = self.triangle(&triangles[batch * n * n..], n);
            let start = batch * rows * columns;
            for system in (0..systems).take_while(|_| !stop.is_set()) {
                let place = |i: usize| {
                    let i = if from_below { n - 1 - i } else { i };
                    start + if self.op.left_side { i * columns + system } else { system * n + i }
                };
                for i in 0..n {
                    let row = &triangle[i * n..=i * n + i];
                    let rest = right[place(i)] - F::dot(&row[..i], &x[..i]);
                    x[i] = if self.op.unit_diagonal { rest } else { rest.quotient(row[i]) };
                }
                for (i, &x) in x.iter().enumerate() {
                    solutions[place(i)] = x;
                }
            }
        }
        store_numbers(self.result, |i| solutions[i]);
    }
}

impl Solve<'_> {
    /// Returns the rows of the lower triangle that is to be solved, and whether it is an upper one
    /// turned upside down.
    fn triangle<F: Field>(&self, matrix: &[F], n: usize) -> (Vec<F>, bool) {
        let conjugated = self.op.transpose_a == Transpose::Adjoint;
        let (transposed, from_below) = orientation(self.op);
        let mut rows = vec![F::ZERO; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (r, c) = if from_below { (n - 1 - i, n - 1 - j) } else { (i, j) };
                let (r, c) = if transposed { (c, r) } else { (r, c) };
                let element = matrix[r * n + c];
                rows[i * n + j] = if conjugated { element.conj() } else { element };
            }
        }
        (rows, from_below)
    }
}
