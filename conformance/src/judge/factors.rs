//! Factorizations by custom calls, of which several results are legal: signs and phases of columns,
//! bases of equal eigenvalues, pivots of equal size.
//!
//! Each element of a factor has a number, its origin, that goes with it through ops that move it.
//! Where the result of the module has the elements of a factor, those of the backend are read there,
//! and checked by the identities that define the factorization. If these hold, they are the only
//! legal values for what is computed from them; without them, an element is bounded by what any
//! legal factor has.
use super::Stop;
use super::custom::Attributes;
use super::elimination::eliminated;
use super::evaluate::{Evaluator, Leaves, arrays};
use super::factor_checks::{CONSTANT, Matrix};
use super::interval::Interval;
use super::modes::smallest_normal;
use super::range::{Cause, CauseKind, Range, converted, floats, is_whole};
use super::runner::Form;
use super::seen::{Factor, Factorization, Factors, Kind, float, number};
use super::site::Site;
use super::spectrum;
use crate::error_model::roundoff;
use hlo::op::{CustomCall, Kind as OpKind};
use hlo::{ArrayShape, ElementType, Literal, Module, Op};

/// The most products of a factorization that is checked.
const MOST: usize = 1 << 30;

/// Returns the factors of a custom call; none if it is none.
pub(super) fn evaluate<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &CustomCall,
    operands: &[&Leaves],
) -> Result<Option<Leaves>, Stop> {
    let Some(routine) = routine(op) else { return Ok(None) };
    let attributes = Attributes::of(site);
    let operand = arrays(site, operands)?[0];
    let Some(given) = Given::of(site, operand) else { return Ok(None) };
    match routine {
        "orgqr" => basis(ev, site, &given, operands),
        "geqrf" => Ok(Some(orthogonal(ev, site, given, false))),
        "geqp3" => {
            let columns = arrays(site, operands)?.get(1).copied();
            // Columns of other numbers come first.
            let free = columns.is_some_and(|columns| {
                columns.is_point() && columns.lo.bytes().iter().all(|&byte| byte == 0)
            });
            Ok(free.then(|| orthogonal(ev, site, given, true)))
        }
        "geev" => Ok(Some(spectrum::general(ev, site, given, &attributes))),
        "gees" => Ok(Some(spectrum::schur(ev, site, given, &attributes))),
        "getrf" => Ok(Some(eliminated(ev, site, given, 1))),
        "lu" => Ok(Some(eliminated(ev, site, given, 0))),
        "syevd" => {
            let lower = attributes.is_first("uplo", ['L', 'U']).map(|lower| (lower, 0.0));
            let rotations = rotations(site, op);
            let Some((lower, tolerance)) = lower.or(rotations) else { return Ok(None) };
            let vectors = rotations.is_some() || attributes.letter("mode") == Some('V');
            let values = ev.runner.run(
                ev.module,
                &site.key(Form::Stated),
                std::slice::from_ref(&given.middle),
            )?;
            Ok(Some(eigen(ev, site, given.hermitian(lower), vectors, &values, tolerance)))
        }
        _ => {
            let vectors = attributes.letter("mode").is_some_and(|mode| mode != 'N');
            let values = ev.runner.run(
                ev.module,
                &site.key(Form::Stated),
                std::slice::from_ref(&given.middle),
            )?;
            Ok(Some(singular(ev, site, given, vectors, &values)))
        }
    }
}

fn routine(op: &CustomCall) -> Option<&str> {
    let target = op.custom_call_target.0.as_str();
    let name = match target {
        "Qr" => "geqrf",
        "Eigh" => "syevd",
        "LuDecomposition" => "lu",
        "ProductOfElementaryHouseholderReflectors" => "orgqr",
        _ => {
            let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
            match name.strip_prefix(['s', 'd', 'c', 'z'])? {
                "ungqr" => "orgqr",
                "heevd" => "syevd",
                "gesvd" => "gesdd",
                routine => routine,
            }
        }
    };
    let known = ["geqrf", "geqp3", "orgqr", "syevd", "getrf", "lu", "gesdd", "geev", "gees"];
    known.into_iter().find(|own| *own == name)
}

/// Returns whether `Eigh` reads the lower triangle, and its tolerance, if eigenvalues are sorted.
fn rotations(site: Site<'_>, op: &CustomCall) -> Option<(bool, f64)> {
    let config = site.instruction().common.as_deref().and_then(|c| c.backend_config.as_ref());
    let text = config
        .map(|config| config.0.as_str())
        .or(op.opaque.as_ref().map(|text| text.0.as_str()))?;
    let parts: Vec<&str> = text.trim_matches('"').split(',').map(str::trim).collect();
    let [lower, "1", _, tolerance] = parts.as_slice() else { return None };
    let tolerance = tolerance.parse::<f64>().ok().filter(|x| (0.0..1.0).contains(x))?;
    Some((*lower == "1", tolerance))
}

/// Returns whether a module has such a call, or random numbers.
pub(super) fn any(module: &Module) -> bool {
    let mut all = module.instructions();
    all.any(|instruction| {
        let is_random = instruction.opcode().kind() == OpKind::Random;
        is_random || matches!(&instruction.op, Op::CustomCall(op) if routine(op).is_some())
    })
}

/// The matrices of an operand.
pub(super) struct Given {
    pub(super) ty: ElementType,
    middle: Literal,
    pub(super) matrices: Vec<(Matrix, [f64; 2])>,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Given {
    fn of(site: Site<'_>, operand: &Range) -> Option<Self> {
        let shape = site.operand(0).array()?;
        let ty = shape.ty;
        let [.., rows, columns] = shape.dims.as_slice() else { return None };
        let (rows, columns) = (usize::try_from(*rows).ok()?, usize::try_from(*columns).ok()?);
        let each = rows.checked_mul(columns).filter(|&each| each > 0)?;
        let intervals: Vec<Interval> = operand.intervals().collect();
        let finite = |x: &Interval| x.lo.is_finite() && x.hi.is_finite();
        let work = operand.lo.len().checked_mul(rows.max(columns))?;
        if operand.shape().is_none() || !intervals.iter().all(finite) || work > MOST {
            return None;
        }
        let parts = if ty.is_complex() { 2 } else { 1 };
        let number = |x: &[Interval]| {
            let middle = |x: Interval| if x.is_point() { x.lo } else { x.mid() };
            [middle(x[0]), x.get(1).map_or(0.0, |&im| middle(im))]
        };
        let radius = |x: &Interval| if x.is_point() { 0.0 } else { (x.hi - x.lo) / 2.0 };
        let matrix = |of: &[Interval]| {
            let all: Vec<&[Interval]> = of.chunks(parts).collect();
            let middle = Matrix::of(rows, columns, |i, j| number(all[i * columns + j]));
            let radii = Matrix::of(rows, columns, |i, j| {
                let x = all[i * columns + j];
                [radius(&x[0]), x.get(1).map_or(0.0, radius)]
            });
            let largest = radii.data.iter().flatten().fold(0.0, |most: f64, &x| most.max(x));
            (middle, [radii.norm(), 2.0 * largest])
        };
        let middle = converted(&operand.mids(), ty);
        let matrices = intervals.chunks(each * parts).map(matrix).collect();
        Some(Self { ty, middle, matrices, rows, columns })
    }
    fn hermitian(mut self, lower: bool) -> Self {
        for (matrix, unknown) in &mut self.matrices {
            let own = matrix.clone();
            *matrix = Matrix::of(own.rows, own.columns, |i, j| match (i.cmp(&j), lower) {
                (std::cmp::Ordering::Equal, _) => [own[(i, i)][0], 0.0],
                (std::cmp::Ordering::Greater, true) | (std::cmp::Ordering::Less, false) => {
                    own[(i, j)]
                }
                (..) => [own[(j, i)][0], -own[(j, i)][1]],
            });
            unknown[0] *= 2.0;
        }
        self
    }
    pub(super) fn factorization(self, site: Site<'_>, kind: Kind, tolerance: f64) -> Factorization {
        let part = self.ty.component();
        let size = float(self.rows.max(self.columns));
        let complex = if self.ty.is_complex() { 2.0 } else { 1.0 };
        let unit = roundoff(part);
        Factorization {
            kind,
            path: site.computation.path(site.at),
            matrices: self.matrices,
            relative: CONSTANT * complex * size * unit + tolerance,
            unit,
            least: size * size * smallest_normal(part),
            factors: Vec::new(),
        }
    }
}

/// Returns the shapes of the results, if they are arrays.
pub(super) fn results(site: Site<'_>) -> Vec<Option<&ArrayShape>> {
    let shape = &site.instruction().shape;
    shape.leaves().into_iter().map(hlo::Shape::array).collect()
}

/// Bounds that have the size of the elements.
pub(super) fn loose(site: Site<'_>) -> Cause {
    Cause { kind: CauseKind::Loose, ..site.cause() }
}

pub(super) fn about(size: f64) -> Interval {
    Interval::open(-size, size)
}

pub(super) fn sizes(shape: &ArrayShape) -> [usize; 2] {
    let size = |from_last: usize| {
        let at = shape.rank().checked_sub(from_last);
        at.and_then(|at| usize::try_from(shape.dims[at]).ok()).unwrap_or(1)
    };
    [size(2), size(1)]
}

/// Returns a value for what is in no factor.
pub(super) fn rest(site: Site<'_>, shape: Option<&ArrayShape>) -> Range {
    shape.map_or_else(Range::nothing, |shape| match is_whole(shape.ty) {
        true => Range::exact(&Literal::zeros(shape.clone())),
        false => Range::any(shape).because(Some(site.cause())),
    })
}

fn orthogonal(ev: &mut Evaluator<'_>, site: Site<'_>, given: Given, pivoted: bool) -> Leaves {
    let (rank, columns) = (given.rows.min(given.columns), given.columns);
    let mut own = given.factorization(site, Kind::Orthogonal, 0.0);
    let norms: Vec<f64> = (0..own.matrices.len())
        .map(|batch| own.factored(batch).error + own.matrices[batch].0.norm())
        .collect();
    let cause = loose(site);
    let mut leaves = Leaves::new();
    let shapes = results(site);
    // The order of columns is the second result, and the third factor.
    let order: &[usize] = if pivoted { &[0, 2, 1] } else { &[0, 1] };
    for (leaf, &result) in order.iter().enumerate() {
        let shape = shapes.get(result).copied().flatten();
        leaves.push(match (leaf, shape) {
            // A vector has 1 as its first element, and the factor of its reflection is at most 2.
            (0, Some(shape)) => {
                own.push(&mut ev.factors, shape, sizes(shape), Some(&cause), |batch, i, j| {
                    if i <= j { about(norms[batch]) } else { about(f64::from(f32::MAX)) }
                })
            }
            (1, Some(shape)) => {
                let size = 2.0 + own.relative;
                own.push(&mut ev.factors, shape, [1, rank], Some(&cause), |_, _, _| about(size))
            }
            (2, Some(shape)) => {
                let all = 0..own.matrices.len();
                let orders: Vec<_> = all.map(|batch| own.factored(batch).longest_first()).collect();
                own.push(&mut ev.factors, shape, [1, columns], None, |batch, _, i| {
                    match &orders[batch] {
                        Some(order) => Interval::point(float(order[i]) + 1.0),
                        None => Interval { lo: 1.0, hi: float(columns) },
                    }
                })
            }
            (_, shape) => rest(site, shape),
        });
    }
    match pivoted {
        true => leaves.swap(1, 2),
        false => own.factors.push(Factor::NONE),
    }
    ev.factors.add(own);
    leaves
}

/// Returns Q: that of a factorization, or the product of the reflections that are given.
fn basis(
    ev: &mut Evaluator<'_>,
    site: Site<'_>,
    given: &Given,
    operands: &[&Leaves],
) -> Result<Option<Leaves>, Stop> {
    let all = arrays(site, operands)?;
    let (Some(&reflections), Some(&lengths)) = (all.first(), all.get(1)) else { return Ok(None) };
    let shape = site.shape()?;
    let [rows, columns] = sizes(&shape);
    let count = sizes(site.operand(1).array().unwrap_or(&shape))[1];
    let mut found = None;
    if let (Some(packed), Some(taus)) = (&reflections.origin, &lengths.origin) {
        found = ev.factors.all.iter().position(|own| {
            let [Factor { .. }, tau, ..] = own.factors.as_slice() else { return false };
            let vectors = own.factors[0];
            own.kind == Kind::Orthogonal
                && own.factors.len() == 3
                && vectors.rows == rows
                && tau.columns == count
                && (0..own.matrices.len()).all(|batch| {
                    let at = |i: usize, j: usize| (batch * rows + i) * columns + j;
                    (0..count).all(|j| {
                        number(taus, batch * count + j) == Some(tau.number(batch, 0, j))
                            && (j + 1..rows).all(|i| {
                                number(packed, at(i, j)) == Some(vectors.number(batch, i, j))
                            })
                    })
                })
        });
    }
    if let Some(found) = found {
        let mut own = ev.factors.all.swap_remove(found);
        let size = 1.0 + own.relative;
        let range =
            own.push(&mut ev.factors, &shape, [rows, columns], Some(&loose(site)), |_, _, _| {
                about(size)
            });
        ev.factors.all.push(own);
        let last = ev.factors.all.len() - 1;
        ev.factors.all.swap(found, last);
        return Ok(Some(vec![range]));
    }
    // Of reflections that are known, Q is known: errors grow as much as the reflections do.
    let ty = given.ty;
    let known = [reflections.value(ty), lengths.value(ty)];
    let [Some(vectors), Some(taus)] = known else { return Ok(None) };
    let numbers = floats(&lengths.lo);
    if !numbers.iter().all(|x| x.is_finite()) {
        return Ok(None);
    }
    let parts = if ty.is_complex() { 2 } else { 1 };
    let growth = |batch: usize| {
        let (matrix, _) = &given.matrices[batch];
        (0..count).fold(1.0, |growth: f64, j| {
            let below = (j + 1..rows).map(|i| {
                let x = matrix[(i, j)];
                x[0] * x[0] + x[1] * x[1]
            });
            let square = 1.0 + below.sum::<f64>();
            let at = parts * (batch * count + j);
            let im = if parts == 2 { numbers[at + 1] } else { 0.0 };
            let norm = numbers[at].mul_add(-square, 1.0).hypot(im * square);
            // The terms of a step may be larger than its result.
            growth * norm.max(1.0) * (1.0 + roundoff(ty.component()) * square)
        })
    };
    let result = ev.runner.run(ev.module, &site.key(Form::Stated), &[vectors, taus])?;
    let size = float(rows.max(count));
    let lost = CONSTANT * 2.0 * size * roundoff(ty.component());
    let widened: Vec<Interval> = Range::exact(&result)
        .intervals()
        .enumerate()
        .map(|(at, x)| x.widened(lost * growth(at / (parts * rows * columns))))
        .collect();
    Ok(Some(vec![Range::of(&shape, &widened)]))
}

fn eigen(
    ev: &mut Evaluator<'_>,
    site: Site<'_>,
    given: Given,
    vectors: bool,
    values: &Literal,
    tolerance: f64,
) -> Leaves {
    let n = given.rows;
    let mut own = given.factorization(site, Kind::Eigen, tolerance);
    let shapes = results(site);
    let found = values.leaves();
    let (cause, size) = (loose(site), 1.0 + own.relative);
    let mut leaves = Leaves::new();
    for (leaf, shape) in shapes.into_iter().enumerate() {
        leaves.push(match (leaf, shape) {
            (0, Some(shape)) if vectors => {
                own.push(&mut ev.factors, shape, [n, n], Some(&cause), |_, _, _| about(size))
            }
            (0, shape) => {
                own.factors.push(Factor::NONE);
                rest(site, shape)
            }
            (1, Some(shape)) => own.values(&mut ev.factors, shape, n, found[1]),
            (_, shape) => rest(site, shape),
        });
    }
    ev.factors.add(own);
    leaves
}

impl Factorization {
    /// Adds eigenvalues or singular values, of which each is as wrong as the matrix.
    fn values(
        &mut self,
        factors: &mut Factors,
        shape: &ArrayShape,
        count: usize,
        found: &Literal,
    ) -> Range {
        let errors: Vec<f64> =
            (0..self.matrices.len()).map(|batch| self.factored(batch).error).collect();
        self.push(factors, shape, [1, count], None, |batch, _, j| {
            let value = Interval::point(found.get(batch * count + j).as_f64());
            value.widened(errors[batch])
        })
    }
}

fn singular(
    ev: &mut Evaluator<'_>,
    site: Site<'_>,
    given: Given,
    vectors: bool,
    values: &Literal,
) -> Leaves {
    let rank = given.rows.min(given.columns);
    let mut own = given.factorization(site, Kind::Singular, 0.0);
    let found = values.leaves();
    let (cause, size) = (loose(site), 1.0 + own.relative);
    let mut leaves = Leaves::new();
    for (leaf, shape) in results(site).into_iter().enumerate() {
        leaves.push(match (leaf, shape) {
            (1, Some(shape)) => own.values(&mut ev.factors, shape, rank, found[1]),
            (2 | 3, Some(shape)) if vectors => {
                own.push(&mut ev.factors, shape, sizes(shape), Some(&cause), |_, _, _| about(size))
            }
            (_, shape) => rest(site, shape),
        });
    }
    ev.factors.add(own);
    leaves
}
