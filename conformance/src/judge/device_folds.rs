//! Elements that the devices of each group combine, other than sums and the greatest or the least
//! of real numbers.
use super::Stop;
use super::combine::Combine;
use super::devices::Operands;
use super::evaluate::{Evaluator, Leaves, unknown};
use super::fold::{Fold, lanes_of, picked, reshaped, stacked};
use super::product::product;
use super::range::{Range, is_whole};
use super::site::Site;
use super::sums::coarser;
use collectives::Groups;
use hlo::ir::ComputationId;
use hlo::op::Binary;
use hlo::{ArrayShape, IndexSpace, Op};
use interp::DeviceGrid;

/// Returns the result of each device, whatever the order of the devices.
pub(super) fn folded<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    (body, combine): (ComputationId, Combine),
    operands: &Operands<'_>,
) -> Result<Vec<Leaves>, Stop> {
    let grid = DeviceGrid::of(&ev.module.config);
    let groups = Groups::of(&site.instruction().op, grid).and_then(Result::ok);
    let groups = groups.ok_or_else(|| site.unsupported("these groups"))?;
    let mut results = vec![Leaves::new(); operands.len()];
    for members in &groups.groups {
        let own = members.iter().map(|&device| operands.get(device)?.first().copied());
        let own: Option<Vec<&Range>> = own.collect();
        let own = own.ok_or_else(|| site.unsupported("these groups"))?;
        let is_open = combine.has_a_tree() || combine == Combine::Second;
        let all = if is_open && own.len() > 1 {
            let any = own[0].shape().map(Range::any);
            any.unwrap_or_else(Range::nothing).because(Some(site.cause()))
        } else {
            combined(ev, site, (body, combine), &own)?
        };
        for (place, &device) in members.iter().enumerate() {
            results[device] = vec![block(site, &all, (place, members.len()))];
        }
    }
    // The specification does not say what a device of no group has.
    let filled = |leaves: Leaves| match leaves.is_empty() {
        true => unknown(site, Some(site.cause())),
        false => leaves,
    };
    Ok(results.into_iter().map(filled).collect())
}

/// Returns the combination of the arrays of a group.
fn combined<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    (body, combine): (ComputationId, Combine),
    own: &[&Range],
) -> Result<Range, Stop> {
    let first = own[0];
    let shape = first.shape().ok_or_else(|| site.unsupported("a tuple"))?.clone();
    let ty = site.operand(0).element_type().unwrap_or(shape.ty);
    let lanes = lanes_of(&shape);
    let vector = ArrayShape::new(shape.ty, [lanes].as_slice());
    let vectors: Vec<Range> = own.iter().map(|range| reshaped(range, &vector)).collect();
    let count = i64::try_from(own.len()).unwrap_or(0);
    let source = stacked(&ArrayShape::new(shape.ty, [count, lanes].as_slice()), 0, &vectors);
    let width = usize::try_from(lanes).unwrap_or(0);
    let step = |member: usize| (0..width).map(|lane| Some(member * width + lane)).collect();
    let fold = Fold {
        initial: vec![vectors[0].clone()],
        sources: vec![&source],
        lanes,
        steps: (1..own.len()).map(step).collect(),
    };
    let cause = own.iter().find_map(|range| range.cause.clone());
    let result = match combine {
        Combine::Op(Binary::Multiply, computed) if !is_whole(ty) => {
            product(ev, &fold, 0, coarser(computed, ty), ty)
        }
        Combine::Op(..)
        | Combine::Selects
        | Combine::Less(_)
        | Combine::Other
        | Combine::Second => {
            let state = fold.run(ev, body, own.len() > 1)?;
            state.into_iter().next().unwrap_or_else(Range::nothing)
        }
    };
    Ok(reshaped(&result, &shape).because(cause))
}

/// Returns the part of a result that a device keeps, by its place in the group.
fn block(site: Site<'_>, all: &Range, (place, members): (usize, usize)) -> Range {
    let (Op::ReduceScatter(op), Some(shape)) = (&site.instruction().op, all.shape()) else {
        return all.clone();
    };
    let dim = op.dimensions.first().and_then(|&d| usize::try_from(d).ok()).unwrap_or(0);
    let mut part = shape.clone();
    let members = i64::try_from(members).unwrap_or(1).max(1);
    part.dims[dim] /= members;
    let first = i64::try_from(place).unwrap_or(0) * part.dims[dim];
    let position = |mut index: hlo::Dims| {
        index[dim] += first;
        shape.dims.position(&index)
    };
    let positions: Vec<usize> = part.dims.indices().map(position).collect();
    reshaped(&picked(all, lanes_of(&part), positions.into_iter()), &part)
}
