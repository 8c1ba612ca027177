//! Elimination with partial pivots. Where no rounding error changes a pivot, the factors are known
//! within a bound each, also where no result shows them: solutions, inverses and determinants are
//! computed from them.
//!
//! Legal factors are the exact ones of `P A + E`, with `|E|` within the backward error of each
//! element. They differ from those of `P A` by at most `|L| stril(M)` and `triu(M) |U|`, where
//! `M = G (I - G)^-1` and `G = |L^-1| |E| |U^-1|` (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, theorem 9.15).
use super::evaluate::{Evaluator, Leaves};
use super::factor_checks::{Factored, Matrix, Number, minus, over, size, times};
use super::factors::{Given, about, loose, rest, results, sizes};
use super::interval::Interval;
use super::seen::{Factor, Kind, float};
use super::site::Site;
use hlo::ArrayShape;

/// The most products of the eliminations of a call whose factors are bounded one by one.
const MOST: usize = 1 << 25;

/// The factors of a matrix whose pivots are certain.
struct Certain {
    lu: Matrix,
    /// The largest error of each element, in each part.
    errors: Matrix,
    /// The row of the matrix that is each row of the factors.
    order: Vec<usize>,
    pivots: Vec<usize>,
}

pub(super) fn eliminated(
    ev: &mut Evaluator<'_>,
    site: Site<'_>,
    given: Given,
    first: i64,
) -> Leaves {
    let (rows, rank) = (given.rows, given.rows.min(given.columns));
    let size = given.rows.max(given.columns);
    let work = size.pow(2).checked_mul(size).and_then(|w| w.checked_mul(given.matrices.len()));
    let mut own = given.factorization(site, Kind::Elimination(first), 0.0);
    let certain: Vec<Option<Certain>> = (0..own.matrices.len())
        .map(|batch| {
            work.filter(|&work| work <= MOST)?;
            Certain::of(&own.factored(batch))
        })
        .collect();
    let certain = |batch: usize| certain[batch].as_ref();
    let largest = |(a, [_, unknown]): &(Matrix, [f64; 2])| {
        a.data.iter().flatten().fold(*unknown, |most, x| most.max(2.0 * x.abs()))
    };
    let largest: Vec<f64> = own.matrices.iter().map(largest).collect();
    let (from, rows_end, rank_end) = (float(first), float(rows), float(rank));
    let is_info = |shape: &ArrayShape| {
        shape.rank() + 2 == site.operand(0).array().map_or(0, ArrayShape::rank)
    };
    let whole = |known: Option<usize>, lo: f64, hi: f64| match known {
        Some(x) => Interval::point(float(x) + lo),
        None => Interval { lo, hi },
    };
    let is_complex = site.operand(0).array().is_some_and(|shape| shape.ty.is_complex());
    let all_certain = (0..own.matrices.len()).all(|batch| certain(batch).is_some());
    let cause = (!all_certain).then(|| loose(site));
    let mut leaves = Leaves::new();
    for (leaf, shape) in results(site).into_iter().enumerate() {
        let factors = &mut ev.factors;
        leaves.push(match (leaf, shape) {
            (0, Some(shape)) => {
                own.push_parts(factors, shape, sizes(shape), cause.as_ref(), |batch, i, j| {
                    if let Some(known) = certain(batch) {
                        let error = known.errors[(i, j)][0];
                        let im = if is_complex { error } else { 0.0 };
                        let [x, y] = known.lu[(i, j)].map(Interval::point);
                        return [x.widened(error), y.widened(im)];
                    }
                    // Each step may double an element of U.
                    let steps = i32::try_from(i.min(900)).unwrap_or(0);
                    [about(if i > j { 1.5 } else { largest[batch] * 2f64.powi(steps) }); 2]
                })
            }
            (1, Some(shape)) => {
                own.push(factors, shape, [1, rank], None, |batch, _, i| match certain(batch) {
                    Some(known) => Interval::point(float(known.pivots[i]) + from),
                    None => Interval { lo: float(i) + from, hi: rows_end - 1.0 + from },
                })
            }
            (_, Some(shape)) if is_info(shape) => {
                own.factors.resize(3, Factor::NONE);
                own.push(factors, shape, [1, 1], None, |batch, _, _| {
                    whole(certain(batch).map(|_| 0), 0.0, rank_end)
                })
            }
            (2, Some(shape)) => own.push(factors, shape, [1, rows], None, |batch, _, i| {
                whole(certain(batch).map(|known| known.order[i]), 0.0, rows_end - 1.0)
            }),
            (_, shape) => rest(site, shape),
        });
    }
    own.factors.resize(4, Factor::NONE);
    ev.factors.add(own);
    leaves
}

impl Certain {
    /// Returns the factors of a matrix; none if rounding errors may choose another pivot.
    fn of(given: &Factored<'_>) -> Option<Self> {
        let (rows, columns) = (given.a.rows, given.a.columns);
        let rank = rows.min(columns);
        let mut lu = given.a.clone();
        let mut order: Vec<usize> = (0..rows).collect();
        let mut pivots = Vec::with_capacity(rank);
        for k in 0..rank {
            let pivot = (k..rows).max_by(|&i, &j| size(lu[(i, k)]).total_cmp(&size(lu[(j, k)])))?;
            pivots.push(pivot);
            order.swap(k, pivot);
            for j in 0..columns {
                let (x, y) = (lu[(k, j)], lu[(pivot, j)]);
                (lu[(k, j)], lu[(pivot, j)]) = (y, x);
            }
            if size(lu[(k, k)]) == 0.0 {
                return None;
            }
            for i in k + 1..rows {
                let factor = over(lu[(i, k)], lu[(k, k)]);
                lu[(i, k)] = factor;
                for j in k + 1..columns {
                    lu[(i, j)] = minus(lu[(i, j)], times(factor, lu[(k, j)]));
                }
            }
        }
        let (change_l, change_u) = Self::changes(given, &lu, &order)?;
        let lower = |i: usize, j: usize| i > j;
        let errors = Matrix::of(rows, columns, |i, j| {
            if lower(i, j) { change_l[(i, j)] } else { change_u[(i, j)] }
        });
        // Complex numbers may be compared by the sum of their parts, too.
        let sum = |x: Number| x[0].abs() + x[1].abs();
        let is_certain = (0..rank).all(|k| {
            let pivot = lu[(k, k)];
            let below = (k + 1..rows).all(|i| {
                let of_sums = sum(times(lu[(i, k)], pivot)) / sum(pivot);
                let slack = 4.0f64.mul_add(errors[(i, k)][0], 32.0 * given.unit);
                size(lu[(i, k)]).max(of_sums) + slack < 1.0
            });
            below && errors[(k, k)][0] < size(pivot)
        });
        is_certain.then_some(Self { lu, errors, order, pivots })
    }

    /// Returns how far elements of L and of U may be from these; none if that has no bound.
    fn changes(given: &Factored<'_>, lu: &Matrix, order: &[usize]) -> Option<(Matrix, Matrix)> {
        let rank = lu.rows.min(lu.columns);
        let n = lu.rows.max(lu.columns);
        let complex = lu.data.iter().any(|x| x[1] != 0.0);
        let unit = |i: usize, j: usize| [if i == j { 1.0 } else { 0.0 }, 0.0];
        // Rows or columns of the unit matrix make the matrix square.
        let square = |x: &Matrix| {
            Matrix::of(n, n, |i, j| match i < x.rows && j < x.columns {
                true => x[(i, j)],
                false => unit(i, j),
            })
        };
        let (lower, upper) = (square(&lu.unit_lower()), square(&lu.upper()));
        let terms = lower.sizes().times(&upper.sizes());
        let lost = Matrix::of(n, n, |i, j| {
            if i >= lu.rows || j >= lu.columns {
                return [0.0; 2];
            }
            // The factors here are computed, too.
            let element = size(given.a[(order[i], j)]);
            [2.0 * given.lost(rank, complex, terms[(i, j)][0], element), 0.0]
        });
        let inverse_l = lower.lower_inverse().sizes();
        let inverse_u = upper.transposed().lower_inverse().transposed().sizes();
        let g = inverse_l.times(&lost).times(&inverse_u);
        let norm = g.row_norm();
        if norm.is_nan() || norm > 0.25 {
            return None;
        }
        let later = norm * norm / (1.0 - norm);
        let of = |keep: fn(usize, usize) -> bool| {
            let more = |i, j| [if keep(i, j) { g[(i, j)][0] + later } else { 0.0 }, 0.0];
            Matrix::of(n, n, more)
        };
        let below = of(|i, j| i > j);
        let above = of(|i, j| i <= j);
        Some((lower.sizes().times(&below), above.times(&upper.sizes())))
    }
}
