//! Ops in which several devices take part.
use super::attrs::{FromAttribute, integers_of};
use super::emit::{broadcast_to, literal_constant};
use super::scope::Scope;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Dense, Dim, Op};
use hlo::diag::quantity;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::value::{Direction, Pairs, ReplicaGroups};
use hlo::op::{
    AllGather, AllReduce, AllToAll, Binary, CollectiveBroadcast, CollectivePermute, Compare,
    PartitionId, ReduceScatter, ReplicaId, Reshape, Select, Transpose,
};
use hlo::{ArrayShape, Dims, ElementType, Literal, Shape};

/// Returns the rows of an array of integers; negative ids pad a row.
pub(super) fn rows(
    scope: &Scope<'_, '_>,
    op: &Op,
    name: &str,
    dense: &Dense,
) -> Result<Vec<Vec<i64>>> {
    let width = match &*dense.ty.dims {
        [_, Dim::Static(width)] => usize::try_from(*width).ok(),
        _ => None,
    };
    let (Some(width), Some(ids)) = (width, integers_of(dense)) else {
        let message = format!("`{name}` of `{}` must be a matrix of integers", op.name);
        return Err(scope.malformed(op, message));
    };
    if width == 0 {
        return Ok(Vec::new());
    }
    let row = |row: &[i64]| row.iter().copied().filter(|&id| id >= 0).collect();
    Ok(ids.chunks_exact(width).map(row).collect())
}

/// Returns the groups: a list, or the axes of a mesh.
fn groups(scope: &Scope<'_, '_>, op: &Op) -> Result<ReplicaGroups> {
    const NAME: &str = "replica_groups";
    match op.attributes.get(NAME) {
        Some(Attribute::Dense(dense)) => {
            let rows = rows(scope, op, NAME, dense)?;
            Ok(ReplicaGroups::List(rows.into_iter().filter(|row| !row.is_empty()).collect()))
        }
        None => Ok(ReplicaGroups::default()),
        Some(_) => {
            let fields: &Attributes = scope.required(op, NAME)?;
            let groups = super::sharding::groups(&scope.cx.meshes, fields);
            groups.map_err(|error| scope.cx.placed(op, error))
        }
    }
}
/// Returns the groups, and whether they list devices, not replicas. Of the members of a group of
/// replicas in all partitions, StableHLO has the partitions first and HLO the replicas, so that
/// such groups become groups of devices.
fn ordered_groups(scope: &Scope<'_, '_>, op: &Op) -> Result<(ReplicaGroups, bool)> {
    let (groups, is_global) = (groups(scope, op)?, scope.flag(op, "use_global_device_ids")?);
    let count =
        |name| scope.cx.program.attributes.get(name).and_then(i64::from_attribute).unwrap_or(1);
    let (replicas, partitions) = (count("mhlo.num_replicas"), count("mhlo.num_partitions"));
    let in_order = is_global || replicas <= 1 || partitions <= 1 || partitions > 1 << 16;
    if in_order || channel_id(scope, op)?.is_none() {
        return Ok((groups, is_global));
    }
    let mut groups = groups.expand();
    if groups.is_empty() {
        groups.push((0..replicas.min(1 << 16)).collect());
    }
    let device =
        |replica: i64, partition| replica.saturating_mul(partitions).saturating_add(partition);
    let devices = |group: Vec<i64>| -> Vec<i64> {
        (0..partitions)
            .flat_map(|p| group.iter().map(move |&r| device(r, p)).collect::<Vec<_>>())
            .collect()
    };
    Ok((groups.into_iter().map(devices).collect::<Vec<_>>().into(), true))
}
/// Returns the channel, of which HLO has none with the number 0.
fn channel_id(scope: &Scope<'_, '_>, op: &Op) -> Result<Option<i64>> {
    Ok(scope.channel(op)?.filter(|&id| id > 0))
}
/// Returns the shapes of all results: one, or a tuple.
fn results(scope: &Scope<'_, '_>, op: &Op) -> Result<Shape> {
    let mut shapes =
        (0..op.results.len()).map(|i| scope.stated(op, i)).collect::<Result<Vec<_>>>()?;
    Ok(if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) })
}

/// Converts `stablehlo.all_gather`.
pub(crate) fn all_gather(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let mut made = AllGather::new(vec![scope.required(op, "all_gather_dim")?]);
    made.channel_id = channel_id(scope, op)?;
    (made.replica_groups, made.use_global_device_ids) = ordered_groups(scope, op)?;
    let shape = results(scope, op)?;
    let id = scope.emit_as(op, made, &operands, shape)?;
    scope.bind_all(op, id)
}
/// Converts `stablehlo.all_reduce`.
pub(crate) fn all_reduce<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let to_apply = scope.applied(op, 0)?;
    let id = all_reduce_with(scope, op, to_apply)?;
    scope.bind_all(op, id)
}
fn all_reduce_with(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    to_apply: ComputationId,
) -> Result<InstructionId> {
    let operands = scope.operands(op)?;
    let mut made = AllReduce::default();
    made.to_apply.0 = Some(to_apply);
    made.channel_id = channel_id(scope, op)?;
    made.replica_groups = groups(scope, op)?;
    made.use_global_device_ids = scope.flag(op, "use_global_device_ids")?;
    let shape = results(scope, op)?;
    scope.emit_as(op, made, &operands, shape)
}
/// Converts `stablehlo.collective_reduce`: an `all_reduce` whose result the first device of each
/// group keeps; the others get zeros.
pub(crate) fn collective_reduce<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    if scope.flag(op, "has_dynamic_root")? {
        return Err(scope
            .unsupported(op, "`stablehlo.collective_reduce` with roots known only at run time"));
    }
    let to_apply = scope.applied(op, 0)?;
    let reduced = all_reduce_with(scope, op, to_apply)?;
    let groups = groups(scope, op)?.expand();
    let roots = groups.iter().filter_map(|group| group.first()).copied();
    let roots: Vec<i64> = if groups.is_empty() { vec![0] } else { roots.collect() };
    let own = match channel_id(scope, op)? {
        Some(_) => scope.emit(op, PartitionId {}, &[])?,
        None => scope.emit(op, ReplicaId {}, &[])?,
    };
    let word = ArrayShape::new(ElementType::U32, Dims::new());
    let mut is_root = scope.full(op, &word.with_type(ElementType::Pred), 0.0)?;
    for root in roots {
        let bytes = u32::try_from(root).unwrap_or(u32::MAX).to_le_bytes();
        let root = Literal::from_bytes(word.clone(), &bytes).expect("four bytes");
        let root = literal_constant(scope, op, root)?;
        let equal = scope.emit(op, Compare::new(Direction::Eq), &[own, root])?;
        is_root = scope.emit(op, Binary::Or, &[is_root, equal])?;
    }
    for (i, result) in op.results.iter().enumerate() {
        let all = if op.results.len() == 1 { reduced } else { scope.element(op, reduced, i)? };
        let shape = scope.array(op, all)?;
        let which = broadcast_to(scope, op, is_root, &[], &shape.with_type(ElementType::Pred))?;
        let zeros = scope.full(op, &shape, 0.0)?;
        let id = scope.emit(op, Select {}, &[which, all, zeros])?;
        scope.define(result.id, id);
    }
    Ok(())
}
/// Converts `stablehlo.cross-replica-sum`: an `all_reduce` that adds.
pub(crate) fn cross_replica_sum(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let ty = scope.stated_array(op, 0)?.ty;
    let to_apply = scope.binary(op, Binary::Add, ty)?;
    let id = all_reduce_with(scope, op, to_apply)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.reduce_scatter`.
pub(crate) fn reduce_scatter<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dimensions = vec![scope.required(op, "scatter_dimension")?];
    let to_apply = scope.applied(op, 0)?;
    let mut made = ReduceScatter::new(dimensions, to_apply);
    made.channel_id = channel_id(scope, op)?;
    (made.replica_groups, made.use_global_device_ids) = ordered_groups(scope, op)?;
    let shape = results(scope, op)?;
    let id = scope.emit_as(op, made, &operands, shape)?;
    scope.bind_all(op, id)
}
/// Converts `stablehlo.collective_broadcast`.
pub(crate) fn collective_broadcast(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let made = CollectiveBroadcast {
        channel_id: channel_id(scope, op)?,
        replica_groups: groups(scope, op)?,
        has_dynamic_root: scope.flag(op, "has_dynamic_root")?,
    };
    let shape = results(scope, op)?;
    let id = scope.emit_as(op, made, &operands, shape)?;
    scope.bind_all(op, id)
}
/// Converts `stablehlo.collective_permute`.
pub(crate) fn collective_permute(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let pairs = rows(scope, op, "source_target_pairs", scope.required(op, "source_target_pairs")?)?;
    let pair = |row: &Vec<i64>| match row.as_slice() {
        &[source, target] => Ok((source, target)),
        _ => Err(scope.malformed(op, "`source_target_pairs` must be pairs of ids")),
    };
    let pairs = pairs.iter().map(pair).collect::<Result<_>>()?;
    let mut made = CollectivePermute::new(Pairs(pairs));
    made.channel_id = channel_id(scope, op)?;
    let shape = results(scope, op)?;
    let id = scope.emit_as(op, made, &operands, shape)?;
    scope.bind_all(op, id)
}

/// Converts `stablehlo.all_to_all`: each operand by itself.
pub(crate) fn all_to_all(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let split: i64 = scope.required(op, "split_dimension")?;
    let concat: i64 = scope.required(op, "concat_dimension")?;
    let count: i64 = scope.required(op, "split_count")?;
    for (i, x) in operands.into_iter().enumerate() {
        let made = AllToAll {
            channel_id: channel_id(scope, op)?,
            replica_groups: groups(scope, op)?,
            dimensions: vec![split],
            constrain_layout: false,
        };
        let shape = scope.shape(x).clone();
        let mut id = scope.emit_as(op, made, &[x], shape)?;
        if split != concat {
            let result = scope.stated(op, i)?;
            id = concatenate_parts(scope, op, id, [split, concat, count], result)?;
        }
        match op.results.as_slice() {
            [_] => scope.bind(op, id)?,
            results => match results.get(i) {
                Some(result) => scope.define(result.id, id),
                None => {
                    return Err(
                        scope.malformed(op, "an operand of `stablehlo.all_to_all` has no result")
                    );
                }
            },
        }
    }
    Ok(())
}
/// Moves the parts of dimension `split` to dimension `concat`, as its slower part.
fn concatenate_parts(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    x: InstructionId,
    [split, concat, count]: [i64; 3],
    result: Shape,
) -> Result<InstructionId> {
    let shape = scope.array(op, x)?;
    let (mut sizes, mut order) = (Dims::new(), Vec::new());
    for (dim, &size) in (0i64..).zip(&shape.dims) {
        if dim == split {
            if count < 1 || size % count != 0 {
                let message = format!("`split_count` is {count}, which does not divide {size}");
                return Err(scope.malformed(op, message));
            }
            sizes.extend([count, size / count]);
        } else {
            sizes.push(size);
        }
        if dim == concat {
            order.push(split);
        }
        order.push(if dim >= split { dim + 1 } else { dim });
    }
    let x = scope.emit_as(op, Reshape::default(), &[x], ArrayShape::new(shape.ty, sizes))?;
    let x = scope.emit(op, Transpose { dimensions: order }, &[x])?;
    scope.emit_as(op, Reshape::default(), &[x], result)
}

/// Converts `stablehlo.async_start`: the op of its region runs here, as the specification allows.
pub(crate) fn async_start<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let region = scope.region(op, 0)?;
    let results = scope.inline(op, region, &operands)?;
    let id = match results.as_slice() {
        [one] => *one,
        _ => scope.tuple(op, &results)?,
    };
    if let [result] = op.results.as_slice() {
        scope.define(result.id, id);
    }
    Ok(())
}
/// Converts `stablehlo.async_done`.
pub(crate) fn async_done(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [started] = scope.exactly(op)?;
    scope.bind_all(op, started)
}

impl<'p> Scope<'_, 'p> {
    /// Adds a computation that applies an op to two scalars.
    pub(super) fn binary(
        &mut self,
        op: &Op,
        binary: Binary,
        ty: ElementType,
    ) -> Result<ComputationId> {
        let name = format!("region_{}", self.cx.regions);
        self.cx.regions += 1;
        let mut inner = Scope::new(self.cx, name);
        let x = inner.parameter(0, Shape::scalar(ty), "Arg_0");
        let y = inner.parameter(1, Shape::scalar(ty), "Arg_1");
        let root = inner.emit(op, binary, &[x, y])?;
        let mut computation = inner.computation;
        computation.root = root;
        Ok(self.cx.finish(computation))
    }
    /// Converts the ops of a region in place; returns what it returns.
    pub(super) fn inline(
        &mut self,
        op: &'p Op,
        region: &'p crate::ir::Region,
        arguments: &[InstructionId],
    ) -> Result<Vec<InstructionId>> {
        if arguments.len() != region.arguments.len() {
            let (found, expected) = (arguments.len(), region.arguments.len());
            let message = format!(
                "a region of `{}` takes {expected}, found {found}",
                op.name,
                expected = quantity(expected, "argument")
            );
            return Err(self.malformed(op, message));
        }
        for (argument, &id) in region.arguments.iter().zip(arguments) {
            self.define(argument.id, id);
        }
        self.cx.enter_region(op)?;
        let end = self.ops(&region.ops)?;
        self.cx.active.pop();
        let common = self.cx.common(op);
        self.set_common(common);
        let end = end.ok_or_else(|| {
            self.malformed(op, format!("a region of `{}` has no `return`", op.name))
        })?;
        self.operands(end)
    }
}
