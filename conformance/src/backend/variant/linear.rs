//! Factors and solutions of small matrices, whose sums are rounded step by step.
use super::edit::{Edit, Span};
use super::sums::tree;
use hlo::ir::InstructionId;
use hlo::op::value::Transpose;
use hlo::op::{Binary, Broadcast, Concatenate, Unary};
use hlo::{ArrayShape, Op};

/// The largest matrices.
const MOST_ROWS: i64 = 5;

/// Returns the rank and the sizes of square matrices of floats that are small.
fn square(shape: &ArrayShape) -> Option<(i64, i64)> {
    let rank = i64::try_from(shape.rank()).ok()?;
    let [.., rows, columns] = shape.dims[..] else { return None };
    let small = rows == columns && (1..=MOST_ROWS).contains(&rows) && !shape.dims.contains(&0);
    (small && shape.ty.is_float()).then_some((rank, rows))
}

/// Returns the spans of one element of each matrix.
fn element(rank: i64, row: i64, column: i64) -> [Span; 2] {
    [(rank - 2, row, row + 1), (rank - 1, column, column + 1)]
}

/// Subtracts products from a number, one by one or their sum.
fn rest(edit: &mut Edit<'_>, x: InstructionId, mut products: Vec<InstructionId>) -> InstructionId {
    if products.is_empty() {
        return x;
    }
    if edit.random.bool() {
        let sum = tree(edit, Binary::Add, products);
        return edit.binary(Binary::Subtract, x, sum);
    }
    edit.random.shuffle(&mut products);
    products.into_iter().fold(x, |x, product| edit.binary(Binary::Subtract, x, product))
}

fn concatenated(edit: &mut Edit<'_>, parts: Vec<InstructionId>, dim: i64) -> InstructionId {
    let mut shape = edit.shape(parts[0]);
    let at = usize::try_from(dim).expect("a dimension");
    shape.dims[at] = parts.iter().map(|&part| edit.shape(part).dims[at]).sum();
    let shape = ArrayShape::new(shape.ty, shape.dims);
    edit.add(Concatenate { dimensions: vec![dim] }, shape, parts)
}

/// Computes the factors of small matrices row by row.
pub(super) fn cholesky(edit: &mut Edit<'_>) -> bool {
    let Op::Cholesky(op) = edit.op() else { return false };
    let Some((rank, n)) = edit.arrays().as_ref().and_then(square) else { return false };
    let a = edit.operands()[0];
    // The upper factor is the transposed lower one.
    let place = |i: i64, j: i64| if op.lower { (i, j) } else { (j, i) };
    let mut factor: Vec<Vec<InstructionId>> = Vec::new();
    for i in 0..n {
        let mut row: Vec<InstructionId> = Vec::new();
        for j in 0..=i {
            let (r, c) = place(i, j);
            let x = edit.slice(a, &element(rank, r, c));
            let other = if j < i { factor[row.len()].clone() } else { row.clone() };
            let pairs = row.iter().zip(&other);
            let products = pairs.map(|(&x, &y)| edit.binary(Binary::Multiply, x, y)).collect();
            let x = rest(edit, x, products);
            row.push(match other.get(row.len()) {
                Some(&diagonal) => edit.binary(Binary::Divide, x, diagonal),
                None => edit.unary(Unary::Sqrt, x),
            });
        }
        factor.push(row);
    }
    let zero = edit.filled(factor[0][0], 0.0);
    let size = factor.len();
    let at = |r: usize, c: usize| {
        let (i, j) = if op.lower { (r, c) } else { (c, r) };
        factor[i].get(j).copied().unwrap_or(zero)
    };
    let rows = (0..size).map(|r| {
        let row = (0..size).map(|c| at(r, c)).collect();
        concatenated(edit, row, rank - 1)
    });
    let rows = rows.collect();
    let value = concatenated(edit, rows, rank - 2);
    edit.set(value)
}

/// Solves small triangular systems row by row.
pub(super) fn triangular_solve(edit: &mut Edit<'_>) -> bool {
    let Op::TriangularSolve(op) = edit.op() else { return false };
    let [a, b] = edit.operands()[..] else { return false };
    let Some((rank, n)) = edit.arrays().and_then(|_| square(&edit.shape(a))) else { return false };
    if edit.shape(b).dims.contains(&0) || edit.ty(a) != edit.ty(b) {
        return false;
    }
    let transposed = match op.transpose_a {
        Transpose::None | Transpose::Invalid => false,
        Transpose::Transpose | Transpose::Adjoint => true,
    };
    // A system on the right is a transposed one on the left.
    let transposed = transposed == op.left_side;
    let lower = op.lower != transposed;
    let along = if op.left_side { rank - 2 } else { rank - 1 };
    let mut solved: Vec<(i64, InstructionId)> = Vec::new();
    for step in 0..n {
        let i = if lower { step } else { n - 1 - step };
        let x = edit.slice(b, &[(along, i, i + 1)]);
        let coefficient = |edit: &mut Edit<'_>, k: i64| {
            let (r, c) = if transposed { (k, i) } else { (i, k) };
            let one = edit.slice(a, &element(rank, r, c));
            let batch = edit.shape(one).dims[..edit.shape(one).rank() - 2].into();
            let one = edit.reshape(one, &batch);
            let shape = ArrayShape::new(edit.ty(x), edit.shape(x).dims);
            edit.add(Broadcast { dimensions: (0..rank - 2).collect() }, shape, [one])
        };
        let mut products = Vec::new();
        for &(k, other) in &solved {
            let factor = coefficient(edit, k);
            products.push(edit.binary(Binary::Multiply, factor, other));
        }
        let mut x = rest(edit, x, products);
        if !op.unit_diagonal {
            let diagonal = coefficient(edit, i);
            x = edit.binary(Binary::Divide, x, diagonal);
        }
        solved.push((i, x));
    }
    solved.sort_unstable();
    let rows = solved.into_iter().map(|(_, x)| x).collect();
    let value = concatenated(edit, rows, along);
    edit.set(value)
}
