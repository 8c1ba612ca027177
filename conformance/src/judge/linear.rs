//! Ranges of `cholesky` and `triangular-solve`, of real numbers.
//!
//! Elements are computed one after the other from the ranges of those before, each sum widened as a
//! sum in any order is. A backend may also multiply with inverted blocks, so the sizes of the terms
//! are those that remain if nothing cancels. Both grow with the condition of the matrix: of an
//! ill-conditioned one, nothing is known.
use super::Stop;
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::functions;
use super::interval::Interval;
use super::modes::{Mode, least_subnormal};
use super::precision::computed_in;
use super::range::Range;
use super::site::Site;
use crate::error_model::roundoff;
use hlo::op::value::Transpose;
use hlo::op::{Cholesky, TriangularSolve, Unary};
use hlo::{ArrayShape, ElementType};

/// A value, and its size if nothing cancels.
#[derive(Clone, Copy)]
struct Term {
    value: Interval,
    size: f64,
}

impl Term {
    fn of(value: Interval) -> Self {
        Self { value, size: value.max_abs() }
    }
    fn less(self, a: Self, b: Self) -> Self {
        Self { value: self.value - a.value * b.value, size: b.size.mul_add(a.size, self.size) }
    }
}

/// The allowed error of an operation, relative and below the normal numbers.
struct Lost {
    relative: f64,
    least: f64,
}

impl Lost {
    fn of(ev: &Evaluator<'_>, ty: ElementType, terms: usize) -> Self {
        let terms = f64::from(u32::try_from(terms).unwrap_or(u32::MAX)) + 2.0;
        let least = ev.modes.flushed_below(ty);
        match ev.modes.has(Mode::SummationOrder) {
            true => Self {
                relative: 2.0 * terms * roundoff(ty),
                least: terms * least.max(least_subnormal(ty)),
            },
            false => Self { relative: 0.0, least: terms * least },
        }
    }
    fn rounded(&self, x: Term) -> Interval {
        x.value.widened(self.relative.mul_add(x.size, self.least))
    }
    /// Returns the stored form of a value: the sign of a zero depends on the order of the terms.
    fn stored(ev: &Evaluator<'_>, ty: ElementType, x: Interval) -> Interval {
        if x.is_point() && x.lo == 0.0 { Interval::ZEROS } else { ev.modes.store(ty, x, false) }
    }
    fn quotient(&self, x: Term, y: Interval) -> Term {
        let least = if y.lo > 0.0 || y.hi < 0.0 { y.lo.abs().min(y.hi.abs()) } else { 0.0 };
        Term { value: self.rounded(x) / y, size: x.size / least }
    }
}

/// Returns the sizes of the matrices of a batch.
fn sizes(site: Site<'_>, shape: &ArrayShape) -> Result<[usize; 2], Stop> {
    let size = |d: usize| usize::try_from(*shape.dims.get(d)?).ok().filter(|&size| size > 0);
    let found =
        shape.rank().checked_sub(2).and_then(|first| Some([size(first)?, size(first + 1)?]));
    match found {
        Some(sizes) if shape.ty.is_float() => Ok(sizes),
        Some(_) | None => Err(site.unsupported("these elements")),
    }
}

pub(super) fn cholesky<'m>(
    ev: &Evaluator<'m>,
    site: Site<'m>,
    op: &Cholesky,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operand = arrays(site, operands)?[0];
    let shape = site.shape()?;
    let [n, _] = sizes(site, &shape)?;
    let lost = Lost::of(ev, computed_in(ev.modes, shape.ty), n);
    let a: Vec<Interval> = operand.intervals().collect();
    let mut parts = vec![Interval::ANY; a.len()];
    for (batch, result) in a.chunks(n * n).zip(parts.chunks_mut(n * n)) {
        let at = |i: usize, j: usize| if op.lower { i * n + j } else { j * n + i };
        let Some(factor) = lower_factor(&lost, n, |i, j| batch[at(i, j)]) else { continue };
        // What is in the other triangle is implementation-defined.
        for (i, row) in factor.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                result[at(i, j)] = Lost::stored(ev, shape.ty, x.value);
            }
        }
    }
    Ok(vec![Range::of(&shape, &parts).because(operand.cause.clone())])
}

/// Returns the rows of the lower triangle; none if the matrix may not be positive definite.
fn lower_factor(
    lost: &Lost,
    n: usize,
    a: impl Fn(usize, usize) -> Interval,
) -> Option<Vec<Vec<Term>>> {
    let mut l: Vec<Vec<Term>> = Vec::with_capacity(n);
    for i in 0..n {
        let mut row: Vec<Term> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let other = l.get(j).unwrap_or(&row);
            let rest = (0..j).fold(Term::of(a(i, j)), |rest, k| rest.less(row[k], other[k]));
            let next = if j < i {
                lost.quotient(rest, l[j][j].value)
            } else {
                let square = lost.rounded(rest);
                if !(square.lo > 0.0 && square.is_finite()) {
                    return None;
                }
                Term::of(functions::unary(Unary::Sqrt, square))
            };
            // The quotient and the root are rounded, too.
            let value = lost.rounded(Term::of(next.value));
            row.push(Term { value, ..next });
        }
        l.push(row);
    }
    Some(l)
}

pub(super) fn triangular_solve<'m>(
    ev: &Evaluator<'m>,
    site: Site<'m>,
    op: &TriangularSolve,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let [a, b] = operands.as_slice() else { return Err(site.unsupported("this op")) };
    let shape = site.shape()?;
    let [rows, columns] = sizes(site, &shape)?;
    let (n, systems) = if op.left_side { (rows, columns) } else { (columns, rows) };
    let lost = Lost::of(ev, computed_in(ev.modes, shape.ty), n);
    let transposed = match op.transpose_a {
        Transpose::None | Transpose::Invalid => false,
        Transpose::Transpose | Transpose::Adjoint => true,
    };
    // On the right the system is transposed.
    let transposed = transposed == op.left_side;
    let lower = op.lower != transposed;
    let (a, b): (Vec<Interval>, Vec<Interval>) = (a.intervals().collect(), b.intervals().collect());
    if a.len() / (n * n) != b.len() / (rows * columns) {
        return Ok(unknown(site, Some(site.cause())));
    }
    let mut parts = vec![Interval::ANY; b.len()];
    for (batch, a) in a.chunks(n * n).enumerate() {
        let t = |i: usize, k: usize| a[if transposed { k * n + i } else { i * n + k }];
        for system in 0..systems {
            let place = |i: usize| {
                let at = if op.left_side { i * columns + system } else { system * columns + i };
                batch * rows * columns + at
            };
            let row = |step: usize| if lower { step } else { n - 1 - step };
            let mut x: Vec<Term> = Vec::with_capacity(n);
            for i in (0..n).map(row) {
                let solved = x.iter().enumerate();
                let rest = solved.fold(Term::of(b[place(i)]), |rest, (k, &x)| {
                    rest.less(Term::of(t(i, row(k))), x)
                });
                let next = match op.unit_diagonal {
                    true => Term { value: lost.rounded(rest), ..rest },
                    false => lost.quotient(rest, t(i, i)),
                };
                let value = lost.rounded(Term { value: next.value, size: next.size });
                parts[place(i)] = Lost::stored(ev, shape.ty, value);
                x.push(Term { value, ..next });
            }
        }
    }
    let cause = operands.iter().find_map(|range| range.cause.clone());
    Ok(vec![Range::of(&shape, &parts).because(cause)])
}
