//! Ranges of loops and branches: where a decision is open, of each state or branch that it may lead
//! to.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops may have several results")]
use super::Stop;
use super::elementwise::is_elementwise;
use super::evaluate::{Evaluator, Leaves, unknown};
use super::moved::data_operands;
use super::range::{Range, is_whole};
use super::runner::Form;
use super::site::Site;
use hlo::ir::ComputationId;
use hlo::op::{Binary, While};
use hlo::{Literal, Module, Op, Scalar, Shape};

/// Rounds after which a loop may end or not: after more of them the states are widened.
const UNDECIDED_ROUNDS: usize = 50;
/// Rounds in which the widened states may become an invariant: of a loop with more, nothing is known.
const WIDENED_ROUNDS: usize = 30;
/// Rounds after each of which the states are widened.
const WIDENED_AFTER: usize = 5;

/// Returns the legal values of a loop: where rounding errors decide whether it ends, the result may
/// be the state before or after each such round. A state that is one of those of an earlier round
/// adds none to them.
pub(super) fn looped<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &While,
    mut state: Leaves,
) -> Result<Leaves, Stop> {
    if let Some(result) = of_whole_numbers(ev, site, op, &state)? {
        return Ok(result);
    }
    let mut ends: Vec<Leaves> = Vec::new();
    loop {
        let decision = ev.call(op.condition, vec![state.clone()], None)?;
        let [decision] = decision.as_slice() else { return Err(site.unsupported("`while`")) };
        match (decision.is_point(), decision.lo.bytes()) {
            (true, [0]) => break,
            (true, [_]) => {}
            (false, [_]) if ends.len() < UNDECIDED_ROUNDS + WIDENED_ROUNDS => {
                let cause = decision.cause.clone().or_else(|| Some(site.cause()));
                if ends.iter().any(|earlier| is_within(&state, earlier)) {
                    return Ok(ev.decisions.decided(any_of(&ends), &ends.into(), None));
                }
                let more = ends.len().checked_sub(UNDECIDED_ROUNDS);
                if let (Some(0), Some(last)) = (more.map(|n| n % WIDENED_AFTER), ends.last()) {
                    state = state.iter().zip(last).map(|(range, last)| range.grown(last)).collect();
                }
                let here = state.iter().cloned().map(|range| range.because(cause.clone()));
                ends.push(here.collect());
            }
            (true | false, _) => {
                return Ok(unknown(site, decision.cause.clone().or_else(|| Some(site.cause()))));
            }
        }
        state = ev.call(op.body, vec![state], None)?;
    }
    ends.push(state);
    Ok(ev.decisions.decided(any_of(&ends), &ends.into(), None))
}

/// Returns the only result of a loop over known whole numbers in which no float is computed, and
/// nothing that may have several results; `None` of another one.
fn of_whole_numbers<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &While,
    state: &Leaves,
) -> Result<Option<Leaves>, Stop> {
    let is_exact = |id| computes_exactly(ev.module, id);
    if site.lanes.is_some() || !is_exact(op.condition) || !is_exact(op.body) {
        return Ok(None);
    }
    let value = |range: &Range| range.value(range.shape()?.ty).filter(|_| range.origin.is_none());
    let Some(values) = state.iter().map(value).collect::<Option<Vec<Literal>>>() else {
        return Ok(None);
    };
    let result = ev.runner.run(ev.module, &site.key(Form::Stated), &[Literal::tuple(values)])?;
    Ok(Some(result.leaves().into_iter().map(Range::exact).collect()))
}

/// Returns whether a computation has whole numbers alone, of which each op has one result.
fn computes_exactly(module: &Module, id: ComputationId) -> bool {
    let all = module.computations[id].instructions.iter();
    let mut ops = all.map(|(_, instruction)| instruction);
    ops.all(|instruction| {
        let op = &instruction.op;
        let is_array = |shape: &Shape| shape.element_type().is_some_and(is_whole);
        let is_whole = match &instruction.shape {
            Shape::Tuple(shapes) => shapes.iter().all(is_array),
            shape => is_array(shape),
        };
        let divides = matches!(op, Op::Binary(Binary::Divide | Binary::Remainder | Binary::Power));
        let mut callees = true;
        op.each_callee(&mut |callee| callees &= computes_exactly(module, callee));
        let is_exact = match op {
            Op::Parameter(_) | Op::Constant(_) | Op::Iota(_) => true,
            Op::Tuple(_) | Op::GetTupleElement(_) | Op::While(_) | Op::Call(_) => true,
            _ => is_elementwise(op) || data_operands(op).is_some(),
        };
        is_whole && is_exact && callees && !divides
    })
}

/// Returns whether each value of a state is one of another state.
fn is_within(state: &Leaves, other: &Leaves) -> bool {
    state.iter().zip(other).all(|(range, other)| other.encloses(range))
}

/// Returns the legal values of a choice of a branch, or of each that may be chosen.
pub(super) fn conditional<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    branches: &[ComputationId],
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let selector = &operands[0][0];
    let mut results = Vec::new();
    for (branch, &computation) in branches.iter().enumerate() {
        let may_choose = |range: &Range| may_choose(range, branch, branches.len());
        if selector.candidates().iter().any(may_choose) {
            results.push(ev.call(computation, vec![operands[branch + 1].clone()], None)?);
        }
    }
    if selector.is_point() {
        return Ok(any_of(&results));
    }
    let cause = selector.cause.clone().or_else(|| Some(site.cause()));
    let any = any_of(&results).into_iter().map(|range| range.because(cause.clone()));
    Ok(ev.decisions.decided(any.collect(), &results.into(), None))
}

/// Returns whether a selector may choose a branch: numbers below 0 choose the last one, as those above
/// it do.
fn may_choose(selector: &Range, branch: usize, branches: usize) -> bool {
    let (lo, hi) = selector.ends(0);
    let number = |x: Scalar| x.as_i64().unwrap_or(i64::MAX);
    match (lo, usize::try_from(number(lo))) {
        (Scalar::Pred(_), _) => [lo, hi].iter().any(|&end| chosen(end, branches) == branch),
        (_, Err(_)) if branch + 1 == branches => true,
        _ => {
            let first = usize::try_from(number(lo)).unwrap_or(0);
            let last = usize::try_from(number(hi)).ok();
            last.is_some_and(|last| {
                first.min(branches - 1) <= branch && branch <= last.min(branches - 1)
            })
        }
    }
}

/// Returns the branch that a selector chooses: numbers out of range choose the last one.
pub(super) fn chosen(selector: Scalar, branches: usize) -> usize {
    match selector {
        Scalar::Pred(first) => usize::from(!first),
        Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) | Scalar::Complex(..) => {
            let index = selector.as_i64().and_then(|i| usize::try_from(i).ok());
            index.filter(|&i| i < branches).unwrap_or(branches - 1)
        }
    }
}

/// Returns the values of any of these results.
pub(super) fn any_of(results: &[Leaves]) -> Leaves {
    let leaves = results.first().map_or(0, Vec::len);
    let leaf = |i: usize| {
        let ranges: Vec<Range> = results.iter().map(|result| result[i].clone()).collect();
        Range::any_of(&ranges)
    };
    (0..leaves).map(leaf).collect()
}
