//! Factors of matrices, and solutions of triangular systems.
use crate::arithmetic::Field;
use crate::element::Element;
use crate::kernels::{Number, Operands};
use hlo::op::value::Transpose;
use hlo::op::{Binary, Cholesky, TriangularSolve};
use hlo::{ArrayShape, Literal};
use num::index::{count, to_usize};

/// Returns the first index of each matrix of a batch, its rows and its columns.
fn matrices(shape: &ArrayShape) -> impl Iterator<Item = (usize, usize, usize)> {
    let rank = shape.dims.len();
    let (rows, columns) = (to_usize(shape.dims[rank - 2]), to_usize(shape.dims[rank - 1]));
    (0..count(&shape.dims[..rank - 2])).map(move |i| (i * rows * columns, rows, columns))
}

/// Returns the lower factor of each matrix, or the transpose of that of its transpose, which is the
/// upper one.
pub(crate) fn cholesky<N: Number>(
    field: &Field,
    op: &Cholesky,
    with: &Operands<'_>,
) -> Option<Literal> {
    let a = with.numbers::<N>(field, 0);
    let mut result = vec![N::ZERO; a.len()];
    for (base, n, _) in matrices(with.shape(0)) {
        // Only the triangle that `lower` names is read and written, of the diagonal the real part.
        let at = |i: usize, j: usize| base + if op.lower { i * n + j } else { j * n + i };
        for i in 0..n {
            for j in 0..=i {
                let term = |k| result[at(i, k)].product(field, result[at(j, k)].conjugate());
                let rest = (0..j).map(term).fold(a[at(i, j)], N::difference);
                result[at(i, j)] = match i == j {
                    true => N::of_element(field.root(rest.real_part())),
                    false => N::binary(field, Binary::Divide, rest, result[at(j, j)])?,
                };
            }
        }
        // Of other matrices than those with positive pivots nothing is specified.
        let pivot = |i: usize| result[at(i, i)].real_part();
        if (0..n).map(pivot).any(|pivot| pivot.is_zero() || !pivot.is_finite()) {
            result[base..base + n * n].fill(N::of_element(Element::NAN));
        }
    }
    Some(with.of_numbers(result))
}

pub(crate) fn solve<N: Number>(
    field: &Field,
    op: &TriangularSolve,
    with: &Operands<'_>,
) -> Option<Literal> {
    let (a, mut x) = (with.numbers::<N>(field, 0), with.numbers::<N>(field, 1));
    let (is_transposed, is_conjugated) = match op.transpose_a {
        Transpose::None | Transpose::Invalid => (false, false),
        Transpose::Transpose => (true, false),
        Transpose::Adjoint => (true, true),
    };
    let batch = matrices(with.shape(0)).zip(matrices(with.shape(1)));
    for ((first, n, _), (base, rows, columns)) in batch {
        // The matrix m of m * x = b: of x * a = b it is the transpose.
        let is_flipped = is_transposed == op.left_side;
        let m = |i: usize, j: usize| {
            let element = a[first + if is_flipped { j * n + i } else { i * n + j }];
            if is_conjugated { element.conjugate() } else { element }
        };
        let is_lower = op.lower != is_flipped;
        let others = if op.left_side { columns } else { rows };
        let at = |i: usize, other: usize| match op.left_side {
            true => base + i * columns + other,
            false => base + other * columns + i,
        };
        for other in 0..others {
            for step in 0..n {
                let i = if is_lower { step } else { n - 1 - step };
                let solved = if is_lower { 0..i } else { i + 1..n };
                let term = |j| m(i, j).product(field, x[at(j, other)]);
                let rest = solved.map(term).fold(x[at(i, other)], N::difference);
                x[at(i, other)] = match op.unit_diagonal {
                    true => rest,
                    false => N::binary(field, Binary::Divide, rest, m(i, i))?,
                };
            }
        }
    }
    Some(with.of_numbers(x))
}
