//! Ranges of sums: reductions, windows, scatters, dot products and convolutions.
//!
//! [`Sum`] bounds them, whatever the order of the terms.
#![expect(clippy::wildcard_enum_match_arm, reason = "computations without a rule are folded")]
use super::elementwise::magnitudes;
use super::evaluate::{Evaluator, Leaves, Site, arrays, unknown};
use super::interval::Interval;
use super::range::is_whole;
use super::range::{Range, array, floats};
use super::runner::Form;
use super::sum::{Signs, Sum, quantum};
use super::{Stop, fold};
use crate::error_model::roundoff;
use hlo::ir::{Computation, ComputationId, InstructionId};
use hlo::op::{Binary, Reduce, ReduceWindow, Scatter};
use hlo::{ElementType, Literal, Module, Op};

/// What a computation of two scalars does with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combine {
    /// An op of both, computed in this type.
    Op(Binary, ElementType),
    /// It returns the second one.
    Second,
    Other,
}

impl Combine {
    pub(super) fn of(module: &Module, id: ComputationId) -> Self {
        let computation = &module.computations[id];
        let root = source(computation, computation.root);
        let instruction = &computation.instructions[root];
        let number =
            |id: &InstructionId| match &computation.instructions[source(computation, *id)].op {
                Op::Parameter(parameter) => Some(parameter.number),
                _ => None,
            };
        match &instruction.op {
            Op::Parameter(parameter) if parameter.number == 1 => Self::Second,
            Op::Binary(op) => {
                let numbers: Vec<_> = instruction.operands.iter().map(number).collect();
                let both = numbers == [Some(0), Some(1)] || numbers == [Some(1), Some(0)];
                match instruction.shape.element_type() {
                    Some(ty) if both => Self::Op(*op, ty),
                    Some(_) | None => Self::Other,
                }
            }
            _ => Self::Other,
        }
    }
}

/// The instruction of which this one is a conversion.
fn source(computation: &Computation, mut id: InstructionId) -> InstructionId {
    while let Op::Convert(_) = &computation.instructions[id].op {
        id = computation.instructions[id].operands[0];
    }
    id
}

/// The coarser of two types of floats.
fn coarser(a: ElementType, b: ElementType) -> ElementType {
    if roundoff(a) > roundoff(b) { a } else { b }
}

impl<'m> Evaluator<'m> {
    /// Runs an instruction on `f64` with a computation of one op in place of the one that it calls.
    fn folded(
        &mut self,
        site: Site<'m>,
        op: Binary,
        operands: &[Literal],
    ) -> Result<Literal, Stop> {
        self.runner.run(self.module, &site.key(Form::Fold(op)), operands)
    }
    /// An op that is monotone in all operands, applied to both ends.
    fn monotone(
        &mut self,
        site: Site<'m>,
        op: Binary,
        operands: &[&Range],
    ) -> Result<Leaves, Stop> {
        let key = site.key(Form::Fold(op));
        let lo: Vec<Literal> = operands.iter().map(|range| range.lo.clone()).collect();
        let lo = self.runner.run(self.module, &key, &lo)?;
        let hi = if operands.iter().all(|range| range.is_point()) {
            lo.clone()
        } else {
            let hi: Vec<Literal> = operands.iter().map(|range| range.hi.clone()).collect();
            self.runner.run(self.module, &key, &hi)?
        };
        let cause = operands.iter().find_map(|range| range.cause.clone());
        let result = Range { lo, hi, cause: cause.clone() };
        if result.is_point() {
            return Ok(vec![result]);
        }
        // An unknown operand may be NaN, which the other end does not show.
        let unknown = operands.iter().any(|range| range.intervals().any(Interval::is_any));
        let each = |x: Interval| match unknown && !x.is_finite() {
            true => Interval::ANY,
            false => Interval::closed(x.lo, x.hi),
        };
        let parts: Vec<_> = result.intervals().map(each).collect();
        Ok(vec![Range::of(&site.shape()?, &parts).because(cause)])
    }
}

fn is_real(site: Site<'_>) -> bool {
    site.instruction().shape.element_type().is_some_and(ElementType::is_float)
}

pub(super) fn all_points(operands: &[&Range]) -> bool {
    operands.iter().all(|range| range.is_point())
}

/// The terms of the sum of one element.
pub(super) fn terms(site: Site<'_>) -> f64 {
    let shapes: Vec<_> = (0..site.instruction().operands.len()).map(|i| site.operand(i)).collect();
    let terms = site.instruction().op.terms(&shapes);
    f64::from(u32::try_from(terms).unwrap_or(u32::MAX))
}

pub(super) fn reduce<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Reduce,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    if site.lanes.is_some() {
        return Err(site.unsupported("a reduction for each element"));
    }
    match Combine::of(ev.module, op.to_apply) {
        Combine::Op(combine, ty) if is_real(site) && operands.len() == 2 => match combine {
            Binary::Add => total(ev, site, ty, &operands, terms(site)),
            Binary::Maximum | Binary::Minimum => ev.monotone(site, combine, &operands),
            _ => fold::reduce(ev, site, op, &operands),
        },
        Combine::Op(..) | Combine::Second | Combine::Other => {
            let exact = |range: &&Range| range.shape().is_some_and(|s| is_whole(s.ty));
            if operands.iter().all(exact) && all_points(&operands) {
                return ev.stated(site, &operands);
            }
            fold::reduce(ev, site, op, &operands)
        }
    }
}

pub(super) fn reduce_window<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &ReduceWindow,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    match Combine::of(ev.module, op.to_apply) {
        Combine::Op(Binary::Add, ty) if is_real(site) && operands.len() == 2 => {
            total(ev, site, ty, &operands, terms(site))
        }
        Combine::Op(combine @ (Binary::Maximum | Binary::Minimum), _)
            if is_real(site) && operands.len() == 2 =>
        {
            ev.monotone(site, combine, &operands)
        }
        Combine::Op(..) | Combine::Second | Combine::Other => {
            let exact = |range: &&Range| range.shape().is_some_and(|s| is_whole(s.ty));
            if operands.iter().all(exact) && all_points(&operands) {
                return ev.stated(site, &operands);
            }
            fold::reduce_window(ev, site, op, &operands)
        }
    }
}

/// An op without a rule for what it calls: one legal result of integers, none of floats.
fn by_value<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    let rounds = operands.iter().any(|range| range.shape().is_some_and(|s| !is_whole(s.ty)));
    if rounds {
        return Err(site.unsupported("the computation that it calls"));
    }
    ev.stated(site, operands)
}

/// The sum of operands, the initial values included: `roundings` of them.
fn total<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    ty: ElementType,
    operands: &[&Range],
    roundings: f64,
) -> Result<Leaves, Stop> {
    let shape = site.shape()?;
    let numeric = |range: &&Range| !range.shape().is_some_and(|s| is_whole(s.ty));
    let ends = |end: fn(&Range) -> &Literal| -> Vec<Literal> {
        operands.iter().map(|range| end(range).clone()).collect()
    };
    let lo = ev.folded(site, Binary::Add, &ends(|range| &range.lo))?;
    let hi = match all_points(operands) {
        true => lo.clone(),
        false => ev.folded(site, Binary::Add, &ends(|range| &range.hi))?,
    };
    let absolute: Vec<Literal> = operands
        .iter()
        .map(|range| if numeric(range) { magnitudes(range) } else { range.lo.clone() })
        .collect();
    let magnitudes = ev.folded(site, Binary::Add, &absolute)?;
    let exponents: Option<Vec<i32>> =
        operands.iter().filter(|range| numeric(range)).map(|range| quantum(range)).collect();
    let quantum = exponents.and_then(|exponents| exponents.into_iter().min());
    let accumulator = coarser(ty, shape.ty);
    let cause = operands.iter().find_map(|range| range.cause.clone());
    let signs = Signs::of(operands.iter().copied().filter(numeric));
    let sum = Sum { lo, hi, magnitudes, roundings, products: 0.0, accumulator, quantum, signs };
    Ok(vec![sum.range(ev, &shape).because(cause)])
}

pub(super) fn scatter<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Scatter,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let [target, indices, updates] = operands.as_slice() else {
        return by_value(ev, site, &operands);
    };
    if !indices.is_point() {
        return Ok(unknown(site, indices.cause.clone()));
    }
    if !is_real(site) {
        return by_value(ev, site, &operands);
    }
    let apply = |ev: &mut Evaluator<'m>, form: Form, target: Literal, updates: Literal| {
        let operands = [target, indices.lo.clone(), updates];
        ev.runner.run(ev.module, &site.key(form), &operands)
    };
    match Combine::of(ev.module, op.to_apply) {
        Combine::Op(Binary::Add, ty) => {
            // The updates of the element that has most.
            let zeros = filled(target, 0.0);
            let counts = apply(ev, Form::Fold(Binary::Add), zeros, filled(updates, 1.0))?;
            let most = floats(&counts).iter().copied().fold(0.0, f64::max);
            total(ev, site, ty, &operands, most)
        }
        Combine::Op(combine @ (Binary::Maximum | Binary::Minimum), _) => {
            ev.monotone(site, combine, &operands)
        }
        Combine::Second => {
            let lo = apply(ev, Form::Replace, target.lo.clone(), updates.lo.clone())?;
            let hi = apply(ev, Form::Replace, target.hi.clone(), updates.hi.clone())?;
            let cause = operands.iter().find_map(|range| range.cause.clone());
            Ok(vec![Range { lo, hi, cause }])
        }
        Combine::Op(..) | Combine::Other => by_value(ev, site, &operands),
    }
}

fn filled(like: &Range, x: f64) -> Literal {
    let Some(shape) = like.shape() else { return like.lo.clone() };
    let shape = shape.with_type(ElementType::F64);
    let count = shape.element_count().unwrap_or(0);
    array(&shape, std::iter::repeat_n(x, count))
}

/// The gradient of pooling: the elements are selected by comparisons, and the sources are added.
pub(super) fn select_and_scatter<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let Op::SelectAndScatter(op) = &site.instruction().op else {
        return Err(site.unsupported("this op"));
    };
    let adds = matches!(Combine::of(ev.module, op.scatter), Combine::Op(Binary::Add, _));
    if !is_real(site) || !adds {
        return by_value(ev, site, &operands);
    }
    if !operands[0].is_point() {
        return Ok(unknown(site, operands[0].cause.clone().or_else(|| Some(site.cause()))));
    }
    let key = site.key(Form::Wide);
    let shape = site.shape()?;
    let run = |ev: &mut Evaluator<'m>, source: Literal, initial: Literal| {
        ev.runner.run(ev.module, &key, &[operands[0].lo.clone(), source, initial])
    };
    let lo = run(ev, operands[1].lo.clone(), operands[2].lo.clone())?;
    let hi = run(ev, operands[1].hi.clone(), operands[2].hi.clone())?;
    let magnitudes = run(ev, magnitudes(operands[1]), magnitudes(operands[2]))?;
    let quantum = quantum(operands[1]).zip(quantum(operands[2])).map(|(a, b)| a.min(b));
    let cause = operands.iter().find_map(|range| range.cause.clone());
    let (roundings, accumulator) = (terms(site), shape.ty);
    let signs = Signs::of(operands[1..].iter().copied());
    let sum = Sum { lo, hi, magnitudes, roundings, products: 0.0, accumulator, quantum, signs };
    Ok(vec![sum.range(ev, &shape).because(cause)])
}
