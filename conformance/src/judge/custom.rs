//! Ranges of custom calls: annotations, and ops under another name.
use super::Stop;
use super::evaluate::{Evaluator, Leaves};
use super::factors;
use super::integers;
use super::linear;
use super::range::Range;
use super::regions;
use super::site::Site;
use super::topk;
use hlo::ir::BackendConfig;
use hlo::op::value::{Direction, Transpose};
use hlo::op::{Cholesky, CustomCall, TopK, TriangularSolve};
use hlo::{Op, Scalar, Shape};

/// Returns the value of an annotation: its operand, or all of them.
pub(super) fn annotated(site: Site<'_>, op: &CustomCall, operands: &[&Leaves]) -> Option<Leaves> {
    let target = op.custom_call_target.0.as_str();
    if !interp::is_annotation(target) && target != "SetBound" {
        return None;
    }
    let result = site.instruction().shape.leaves();
    if result.is_empty() {
        return Some(Leaves::new());
    }
    // One that partitions has not been partitioned yet.
    let all = (0..operands.len()).flat_map(|i| site.operand(i).leaves());
    let alike = all.clone().count() == result.len()
        && all.zip(result).all(|(operand, result): (&Shape, &Shape)| operand.compatible(result));
    alike.then(|| operands.iter().flat_map(|&leaves| leaves.clone()).collect())
}

/// Returns whether a target computes with floats, where it may flush denormals.
pub(super) fn computes(op: &CustomCall) -> bool {
    routine(op).is_some()
}

/// Returns the legal values of a call that is an op under another name; none of other calls.
pub(super) fn evaluate<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &CustomCall,
    operands: &[&Leaves],
) -> Result<Option<Leaves>, Stop> {
    if let Some(value) = regions::evaluate(ev, site, op, operands)? {
        return Ok(Some(value));
    }
    let (call, attributes) = (routine(op), Attributes::of(site));
    let found = match (op.custom_call_target.0.as_str(), call) {
        ("TopK", _) => {
            let largest = largest(ev, op).ok_or_else(|| site.unsupported("this comparison"))?;
            let values = site.instruction().shape.leaves().first().and_then(|leaf| leaf.array());
            let k = values.and_then(|values| values.dims.last().copied()).unwrap_or(0);
            let op = TopK { k, largest, is_stable: true };
            topk::topk(ev, site, &op, operands)?
        }
        (_, Some("potrf")) => {
            let op = attributes.cholesky().ok_or_else(|| site.unsupported("these attributes"))?;
            let mut factor = linear::cholesky(ev, site, &op, operands)?;
            factor.truncate(1);
            let [factor] = factor.as_slice() else { return Ok(None) };
            factored(site, &op, factor, &operands[0][0])?
        }
        (_, Some("trsm")) => {
            let op = attributes.solve().ok_or_else(|| site.unsupported("these attributes"))?;
            linear::triangular_solve(ev, site, &op, operands)?
        }
        (_, _) => return factors::evaluate(ev, site, op, operands),
    };
    Ok(Some(found))
}

/// Returns the name of a routine of LAPACK that is an op.
fn routine(op: &CustomCall) -> Option<&str> {
    let name = op.custom_call_target.0.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    let routine = name.strip_prefix(['s', 'd', 'c', 'z'])?;
    ["potrf", "trsm"].contains(&routine).then_some(routine)
}

/// Returns whether `TopK` takes the largest elements; `None` if its computation is of no known
/// form.
fn largest(ev: &Evaluator<'_>, op: &CustomCall) -> Option<bool> {
    let Some(&id) = op.called_computations.iter().chain(&op.to_apply).next() else {
        return Some(true);
    };
    let computation = &ev.module.computations[id];
    let Op::Compare(compare) = &computation.instructions[computation.root].op else { return None };
    match compare.direction {
        Direction::Gt => Some(true),
        Direction::Lt => Some(false),
        Direction::Eq | Direction::Ne | Direction::Ge | Direction::Le => None,
    }
}

/// Returns the results of `potrf`: the other triangle of the factor is that of the operand.
fn factored(
    site: Site<'_>,
    op: &Cholesky,
    factor: &Range,
    operand: &Range,
) -> Result<Leaves, Stop> {
    let shape = site.operand(0).array().ok_or_else(|| site.unsupported("a tuple"))?;
    let n = shape.dims.last().and_then(|&n| usize::try_from(n).ok()).unwrap_or(1).max(1);
    let parts = if shape.ty.is_complex() { 2 } else { 1 };
    let diagonal = factor.intervals().step_by(n * n * parts);
    // Of a matrix that may not be positive definite, nothing is known.
    let known: Vec<bool> = diagonal.map(|x| !x.is_any()).collect();
    let inside = |i: usize| {
        let (row, column) = (i / n % n, i % n);
        !known[i / (n * n)] || if op.lower { column <= row } else { row <= column }
    };
    let mut results = vec![factor.where_else(operand, inside)];
    if let Some(info) = site.instruction().shape.leaves().get(1).and_then(|leaf| leaf.array()) {
        let number = |known: &bool| {
            let most = if *known { 0 } else { i64::try_from(n).unwrap_or(0) };
            (Scalar::Signed(0), Scalar::Signed(most))
        };
        let cause = known.contains(&false).then(|| site.cause());
        results.push(integers::range(info, known.iter().map(number)).because(cause));
    }
    Ok(results)
}

/// The attributes of a call of XLA's typed interface: letters by their character code.
pub(super) struct Attributes<'m>(Vec<(&'m str, &'m str)>);

impl<'m> Attributes<'m> {
    pub(super) fn of(site: Site<'m>) -> Self {
        let config = site.instruction().common.as_deref().and_then(|c| c.backend_config.as_ref());
        Self(config.and_then(|config| BackendConfig::entries(&config.0)).unwrap_or_default())
    }
    pub(super) fn letter(&self, name: &str) -> Option<char> {
        let (_, text) = self.0.iter().find(|(own, _)| *own == name)?;
        let number = text.split(':').next()?.trim();
        Some(char::from(number.parse::<u8>().ok()?))
    }
    /// Returns whether an attribute is the first letter, not the second one.
    pub(super) fn is_first(&self, name: &str, [first, second]: [char; 2]) -> Option<bool> {
        let letter = self.letter(name)?;
        [first, second].contains(&letter).then_some(letter == first)
    }
    fn cholesky(&self) -> Option<Cholesky> {
        Some(Cholesky { lower: self.is_first("uplo", ['L', 'U'])? })
    }
    fn solve(&self) -> Option<TriangularSolve> {
        Some(TriangularSolve {
            left_side: self.is_first("side", ['L', 'R'])?,
            lower: self.is_first("uplo", ['L', 'U'])?,
            unit_diagonal: self.is_first("diag", ['U', 'N'])?,
            transpose_a: match self.letter("trans_x")? {
                'N' => Transpose::None,
                'T' => Transpose::Transpose,
                'C' => Transpose::Adjoint,
                _ => return None,
            },
        })
    }
}
