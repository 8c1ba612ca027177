//! Ranges of modules for several devices: all devices take each instruction together.
//!
//! The reference moves and adds the ends of the ranges between devices, so groups and channels mean
//! what they mean there. In a loop or branch in which devices communicate, all must decide alike.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops move elements")]
use super::alone::alone;
use super::combine::Combine;
use super::elementwise::finite_magnitudes;
use super::evaluate::{Evaluator, Leaves, unknown, with_token};
use super::needed::is_started;
use super::range::{Cause, Range, is_whole};
use super::runner::Form;
use super::site::Site;
use super::sum::{Sum, Terms};
use super::sums::{between_ends, coarser};
use super::transfers::received;
use super::unrepresentable::unrepresentable;
use super::{Stop, complex, control, device_folds, scan};
use crate::error_model::roundoff;
use collectives::Groups;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::{Binary, Kind, Op};
use hlo::{ArrayShape, ElementType, Literal, Module, Scalar, Shape};
use interp::DeviceGrid;

/// Returns the legal values of a computation's result on each device.
pub(super) fn call(
    ev: &mut Evaluator<'_>,
    id: ComputationId,
    arguments: &[Vec<Leaves>],
) -> Result<Vec<Leaves>, Stop> {
    let computation = &ev.module.computations[id];
    let devices = arguments.len();
    let mut values: Vec<Vec<Leaves>> = Vec::with_capacity(computation.instructions.len());
    let needed = ev.needed(id, None);
    for (at, instruction) in computation.instructions.iter() {
        let site = Site { computation, id, at, lanes: None };
        if !needed[at.index()] {
            values.push(vec![site.nothing(); devices]);
            continue;
        }
        if let Some(from) = received(ev.module, computation, at) {
            let sent = &values[from.sent.index()];
            let data = |device| Some(with_token(site, sent.get(from.source(device)?)?));
            let received: Option<Vec<Leaves>> = (0..devices).map(data).collect();
            let received = received.ok_or_else(|| site.unsupported("what no device sends"));
            values.push(or_any(site, &vec![Vec::new(); devices], received)?);
            continue;
        }
        let operands = |device: usize| -> Vec<&Leaves> {
            instruction.operands.iter().map(|id| &values[id.index()][device]).collect()
        };
        let result = match (&instruction.op, instruction.opcode().kind()) {
            (Op::Parameter(parameter), _) => {
                let number = usize::try_from(parameter.number).unwrap_or(usize::MAX);
                let argument = |list: &Vec<Leaves>| list.get(number).cloned();
                let found: Option<Vec<Leaves>> = arguments.iter().map(argument).collect();
                let found = found.ok_or_else(|| site.unsupported("a parameter"));
                or_any(site, &vec![Vec::new(); devices], found)?
            }
            (op, Kind::Collective) if !is_started(op) => {
                let all: Vec<Vec<&Leaves>> = (0..devices).map(operands).collect();
                let results = communicated(ev, site, &all);
                let results = written(ev, site, or_any(site, &all, results)?);
                results.into_iter().map(|result| site.started(result)).collect()
            }
            (op, _) if calls(ev.module, op) => {
                let all: Vec<Vec<&Leaves>> = (0..devices).map(operands).collect();
                let own: Vec<Vec<Leaves>> = all
                    .iter()
                    .map(|list| list.iter().map(|&leaves| leaves.clone()).collect())
                    .collect();
                let results = controlled(ev, site, &own);
                or_any(site, &all, results)?
            }
            _ => {
                let mut each = Vec::with_capacity(devices);
                for device in 0..devices {
                    ev.device = Some(device);
                    let value = ev.evaluated(site, &operands(device))?;
                    let of = |id: InstructionId| values.get(id.index())?.get(device);
                    each.push(ev.in_either_form(site, value, &of));
                }
                each
            }
        };
        values.push(result);
    }
    Ok(values.swap_remove(computation.root.index()))
}

/// Returns the values of the instruction on all devices: any, if it has no rule.
fn or_any(
    site: Site<'_>,
    operands: &[Vec<&Leaves>],
    values: Result<Vec<Leaves>, Stop>,
) -> Result<Vec<Leaves>, Stop> {
    let Err(stop) = values else { return values };
    let each = |own: &Vec<&Leaves>| site.or_any(own, Err(stop.clone()));
    operands.iter().map(each).collect()
}

/// Returns the results of loops, branches and calls in which the devices communicate.
fn controlled<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[Vec<Leaves>],
) -> Result<Vec<Leaves>, Stop> {
    let open = |cause: Cause| vec![unknown(site, Some(cause)); operands.len()];
    match &site.instruction().op {
        Op::AsyncStart(op) => {
            let results = call(ev, op.calls, operands)?;
            Ok(results.into_iter().map(|result| site.started(result)).collect())
        }
        Op::Call(op) => call(ev, op.to_apply, operands),
        Op::Fusion(op) => call(ev, op.calls, operands),
        Op::Conditional(op) => {
            let selectors: Vec<&Range> = operands.iter().map(|list| &list[0][0]).collect();
            let Some(selector) = agreed(site, &selectors)? else {
                return Ok(open(opened(site, &selectors)));
            };
            let branch = control::chosen(selector, op.branches.len());
            let argument = |list: &Vec<Leaves>| vec![list[branch + 1].clone()];
            let arguments: Vec<Vec<Leaves>> = operands.iter().map(argument).collect();
            call(ev, op.branches[branch], &arguments)
        }
        Op::While(op) => {
            let mut states: Vec<Vec<Leaves>> = operands.to_vec();
            loop {
                let decisions = call(ev, op.condition, &states)?;
                let decisions: Vec<&Range> = decisions.iter().map(|leaves| &leaves[0]).collect();
                match agreed(site, &decisions)? {
                    None => return Ok(open(opened(site, &decisions))),
                    Some(Scalar::Pred(false)) => break,
                    Some(_) => {}
                }
                let next = call(ev, op.body, &states)?;
                states = next.into_iter().map(|state| vec![state]).collect();
            }
            Ok(states.into_iter().flatten().collect())
        }
        Op::Scan(op) => {
            let own: Vec<Vec<&Leaves>> =
                operands.iter().map(|list| list.iter().collect()).collect();
            scan::scan(ev, site, op, &own, |ev, each| call(ev, op.to_apply, &each))
        }
        op => Err(site.unsupported(&format!("`{}` of several devices", op.opcode()))),
    }
}

/// Returns the decision of all devices; `None` if rounding errors decide.
fn agreed(site: Site<'_>, decisions: &[&Range]) -> Result<Option<Scalar>, Stop> {
    if !decisions.iter().all(|range| range.is_point()) {
        return Ok(None);
    }
    let alike = decisions.windows(2).all(|pair| pair[0].lo.bytes() == pair[1].lo.bytes());
    match decisions.first() {
        Some(first) if alike => Ok(Some(first.lo.get(0))),
        Some(_) | None => Err(site.unsupported("devices that decide differently")),
    }
}

fn opened(site: Site<'_>, decisions: &[&Range]) -> Cause {
    let cause = decisions.iter().find_map(|range| range.cause.clone());
    cause.unwrap_or_else(|| site.cause())
}

fn written<'m>(ev: &Evaluator<'m>, site: Site<'m>, mut results: Vec<Leaves>) -> Vec<Leaves> {
    for leaves in &mut results {
        ev.written(site, leaves);
        unrepresentable(site, leaves);
    }
    results
}

/// Returns whether other devices take part in a computation, or in one that it calls.
pub(super) fn exchange(module: &Module, id: ComputationId) -> bool {
    has(module, id, &|kind| matches!(kind, Kind::Collective | Kind::Transfer))
}

/// Returns whether a computation depends on the devices: they exchange values, or their numbers are
/// asked for.
pub(super) fn depend_on_devices(module: &Module, id: ComputationId) -> bool {
    has(module, id, &|kind| matches!(kind, Kind::Collective | Kind::Device | Kind::Transfer))
}

fn has(module: &Module, id: ComputationId, is_one: &dyn Fn(Kind) -> bool) -> bool {
    module.computations[id].instructions.iter().any(|(_, instruction)| {
        let op = &instruction.op;
        let mut found = is_one(instruction.opcode().kind()) && !is_started(op);
        op.each_callee(&mut |callee| found |= has(module, callee, is_one));
        found
    })
}

/// Returns whether an op calls a computation in which other devices take part.
fn calls(module: &Module, op: &Op) -> bool {
    let mut found = false;
    op.each_callee(&mut |callee| found |= exchange(module, callee));
    found
}

/// The operands of all devices.
pub(super) type Operands<'a> = Vec<Vec<&'a Range>>;

fn communicated<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[Vec<&Leaves>],
) -> Result<Vec<Leaves>, Stop> {
    let array = |leaves: &&Leaves| match leaves.as_slice() {
        [range] if range.shape().is_some() => Some(range.clone()),
        _ => None,
    };
    let owned: Option<Vec<Vec<Range>>> =
        operands.iter().map(|list| list.iter().map(array).collect()).collect();
    let owned = owned.ok_or_else(|| site.unsupported("a tuple"))?;
    if let (Op::AllReduce(_) | Op::ReduceScatter(_), Some(shapes)) =
        (&site.instruction().op, site.instruction().shape.tuple())
    {
        return each_array(ev, site, shapes, &owned);
    }
    let operands: Operands<'_> = owned.iter().map(|list| list.iter().collect()).collect();
    match &site.instruction().op {
        Op::AllReduce(op) => combined(ev, site, op.to_apply.0, &operands),
        Op::AllReduceStart(op) => combined(ev, site, op.to_apply.0, &operands),
        Op::ReduceScatter(op) => combined(ev, site, Some(op.to_apply), &operands),
        op if op.opcode().moves_data() => {
            let count = owned.iter().flatten().map(|range| range.candidates().len()).max();
            let each = |k: usize| {
                let chosen: Operands<'_> = owned
                    .iter()
                    .map(|list| list.iter().map(|r| r.candidate(k)).collect())
                    .collect();
                ends(ev, site, &Form::Wide, &chosen)
            };
            let all: Vec<Vec<Leaves>> =
                (0..count.unwrap_or(1)).map(each).collect::<Result<_, _>>()?;
            let device = |d: usize| {
                let results: Vec<Leaves> = all.iter().map(|devices| devices[d].clone()).collect();
                control::any_of(&results)
            };
            let cause = owned.iter().flatten().find_map(|range| range.cause.clone());
            Ok(caused((0..operands.len()).map(device).collect(), cause.as_ref()))
        }
        op => Err(site.unsupported(&format!("`{}`", op.opcode()))),
    }
}

/// Returns the results of an op that combines several arrays, each on its own.
fn each_array<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    shapes: &[Shape],
    operands: &[Vec<Range>],
) -> Result<Vec<Leaves>, Stop> {
    let mut results = vec![Leaves::new(); operands.len()];
    for (i, shape) in shapes.iter().enumerate() {
        let own = std::slice::from_ref(site.operand(i));
        let (module, id) = alone(ev.module, site, own, shape.clone());
        let of = |list: &Vec<Range>| vec![vec![list[i].clone()]];
        let arguments: Vec<Vec<Leaves>> = operands.iter().map(of).collect();
        let each = ev.in_module(&module, None, |inner| call(inner, id, &arguments))?;
        results.iter_mut().zip(each).for_each(|(all, leaves)| all.extend(leaves));
    }
    Ok(results)
}

fn caused(results: Vec<Leaves>, cause: Option<&Cause>) -> Vec<Leaves> {
    let because = |range: Range| range.because(cause.cloned());
    results.into_iter().map(|leaves| leaves.into_iter().map(because).collect()).collect()
}

/// Returns the result of an op applied to both ends, on all devices.
fn ends<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    form: &Form,
    operands: &Operands<'_>,
) -> Result<Vec<Leaves>, Stop> {
    let mut run = |end: fn(&Range) -> &Literal| {
        let of = |list: &Vec<&Range>| list.iter().map(|range| end(range).clone()).collect();
        let operands: Vec<Vec<Literal>> = operands.iter().map(of).collect();
        ev.runner.run_all(ev.module, &site.key(form.clone()), &operands)
    };
    let (lo, hi) = (run(|range| &range.lo)?, run(|range| &range.hi)?);
    let device = |(lo, hi): (&Literal, &Literal)| {
        let leaves = lo.leaves().into_iter().zip(hi.leaves());
        leaves.map(|(lo, hi)| Range::new(lo.clone(), hi.clone(), None)).collect()
    };
    Ok(lo.iter().zip(&hi).map(device).collect())
}

/// Returns what the devices of each group combine, in any order.
fn combined<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    body: Option<ComputationId>,
    operands: &Operands<'_>,
) -> Result<Vec<Leaves>, Stop> {
    let shape = site.shape()?;
    let all: Vec<&Range> = operands.iter().flatten().copied().collect();
    let combine = match body {
        Some(body) => Combine::of(ev.module, body).first().copied().unwrap_or(Combine::Other),
        None => Combine::Op(Binary::Add, shape.ty),
    };
    let cause = all.iter().find_map(|range| range.cause.clone());
    let known = all.iter().all(|range| range.is_point());
    let results = match combine {
        Combine::Op(Binary::Add, ty) if !is_whole(shape.ty) => {
            let grid = DeviceGrid::of(&ev.module.config);
            let groups = Groups::of(&site.instruction().op, grid).and_then(Result::ok);
            let most = groups.and_then(|groups| groups.groups.iter().map(Vec::len).max());
            sums(ev, site, ty, operands, most.unwrap_or(operands.len()))?
        }
        Combine::Op(op @ (Binary::Maximum | Binary::Minimum), ty)
            if shape.ty.is_float() && coarser(ty, shape.ty) == shape.ty =>
        {
            let results = ends(ev, site, &Form::Fold(op, 0), operands)?;
            let closed = |range: Range| between_ends(&shape, range, &all);
            results.into_iter().map(|leaves| leaves.into_iter().map(closed).collect()).collect()
        }
        Combine::Op(op, ty) if is_whole(shape.ty) && known && op.opcode().associates(ty) => {
            ends(ev, site, &Form::Stated, operands)?
        }
        Combine::Op(..)
        | Combine::Second
        | Combine::Selects
        | Combine::Less(_)
        | Combine::Other => {
            let body = body.ok_or_else(|| site.unsupported("no computation"))?;
            device_folds::folded(ev, site, (body, combine), operands)?
        }
    };
    Ok(caused(results, cause.as_ref()))
}

/// Returns sums, of complex numbers part by part.
fn sums<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    ty: ElementType,
    operands: &Operands<'_>,
    members: usize,
) -> Result<Vec<Leaves>, Stop> {
    let shape = site.shape()?;
    if !shape.ty.is_complex() {
        return real_sums(ev, site, (ty, &shape), operands, members);
    }
    let part = shape.with_type(shape.ty.component());
    let mut sum = |k: usize| {
        let parts = operands.iter().map(|list| list.iter().map(|range| range.part(k)).collect());
        let parts: Vec<Vec<Range>> = parts.collect();
        let parts: Operands<'_> = parts.iter().map(|list| list.iter().collect()).collect();
        real_sums(ev, site, (ty.component(), &part), &parts, members)
    };
    let (re, im) = (sum(0)?, sum(1)?);
    let joined = |(re, im): (&Leaves, &Leaves)| vec![complex::joined(&shape, &re[0], &im[0])];
    Ok(re.iter().zip(&im).map(joined).collect())
}

fn real_sums<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    (ty, shape): (ElementType, &ArrayShape),
    operands: &Operands<'_>,
    members: usize,
) -> Result<Vec<Leaves>, Stop> {
    let form = Form::Fold(Binary::Add, 0);
    let results = ends(ev, site, &form, operands)?;
    let absolute = |list: &Vec<&Range>| list.iter().map(|range| finite_magnitudes(range)).collect();
    let absolute: Vec<Vec<Literal>> = operands.iter().map(absolute).collect();
    let magnitudes = ev.runner.run_all(ev.module, &site.key(form), &absolute)?;
    let all = || operands.iter().flatten().copied();
    let roundings = f64::from(u32::try_from(members.saturating_sub(1)).unwrap_or(u32::MAX));
    let range = |(leaves, magnitudes): (Leaves, Literal)| {
        let Range { lo, hi, .. } = leaves.into_iter().next().unwrap_or_else(Range::nothing);
        let accumulator = coarser(ty, shape.ty);
        let (terms, roundings) = (vec![Terms::of(all())], vec![roundings]);
        let (products, unit) = (false, roundoff(accumulator));
        let sum = Sum {
            lo,
            hi,
            magnitudes,
            specials: None,
            roundings,
            products,
            accumulator,
            unit,
            terms,
        };
        vec![sum.range(ev, site, shape)]
    };
    Ok(results.into_iter().zip(magnitudes).map(range).collect())
}
