//! Ops in which several devices take part. Those of several arrays become an op for each: only
//! newer readers know ops of several.
use super::expand;
use super::exporter::{At, Draft, Exporter, Leaves, array, leaf_shapes};
use crate::attributes::{integer, matrix, named};
use crate::error::Result;
use crate::ir::{Attribute, Region};
use hlo::ir::ComputationId;
use hlo::op::value::ReplicaGroups;
use hlo::op::{
    AllGather, AllReduce, AllToAll, Binary, CollectiveBroadcast, RaggedAllToAll, ReduceScatter,
};
use hlo::{ElementType, Literal, Shape};

/// Attributes of an op.
type Set = Vec<(&'static str, Attribute)>;

/// The most ids that are listed, many more than there are devices.
const MOST_IDS: i64 = 1 << 20;
const TOO_MANY: &str = "of more than a million devices";

impl Exporter<'_> {
    /// Adds an op for each operand.
    pub(super) fn each(
        &mut self,
        at: At<'_, '_>,
        name: &str,
        attributes: &[(&'static str, Attribute)],
        mut region: impl FnMut(&mut Self, ElementType) -> Result<Option<Region>>,
    ) -> Result<Leaves> {
        let results = results(at);
        let operands = at.operands();
        let mut all = Leaves::new();
        for (operand, result) in operands.into_iter().zip(results) {
            let ty = array(self.shape(operand))?.ty;
            let mut draft = Draft::new(name, [operand]).set_all(attributes.iter().cloned());
            draft.regions.extend(region(self, ty)?);
            let draft = draft.with_common(self);
            all.extend(self.emit(draft, &[result])?);
        }
        Ok(all)
    }
    /// Returns the groups as lists; none are one of all partitions, replicas, or pairs of both.
    fn listed(
        &self,
        at: At<'_, '_>,
        groups: &ReplicaGroups,
        (partitions, replicas): (bool, bool),
    ) -> Result<Vec<Vec<i64>>> {
        let config = &self.module.config;
        let all = if partitions { config.num_partitions } else { 1 };
        let all = all.saturating_mul(if replicas { config.replica_count } else { 1 });
        let count = if groups.is_empty() { Some(all) } else { groups.counted() };
        at.refuse(count.is_some_and(|count| count > MOST_IDS), TOO_MANY)?;
        Ok(if groups.is_empty() { vec![(0..all).collect()] } else { groups.expand() })
    }
    /// Returns the groups and the channel of an op whose groups list replicas, or partitions if it
    /// has a channel.
    fn groups(
        &self,
        at: At<'_, '_>,
        groups: &ReplicaGroups,
        channel_id: Option<i64>,
    ) -> Result<(Vec<Vec<i64>>, Set)> {
        let partitions = channel_id.is_some_and(|id| id > 0);
        let groups = self.listed(at, groups, (partitions, !partitions))?;
        let mut set = vec![("replica_groups", rows(&groups))];
        set.extend(channel(channel_id));
        Ok((groups, set))
    }
    /// Returns the groups and the channel of an op whose groups list replicas, which stand for all
    /// their partitions if it has a channel, or else devices.
    fn device_groups(
        &self,
        at: At<'_, '_>,
        groups: &ReplicaGroups,
        channel_id: Option<i64>,
        is_global: bool,
    ) -> Result<Set> {
        let mut listed = self.listed(at, groups, (is_global, true))?;
        let partitions = self.module.config.num_partitions;
        let crosses = channel_id.is_some() && !is_global && partitions > 1;
        let is_global = is_global || (crosses && self.module.config.replica_count > 1);
        if is_global && crosses {
            // Of the members of a group, StableHLO has the partitions first, and HLO the replicas.
            let count: usize = listed.iter().map(Vec::len).sum();
            let count = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(partitions);
            at.refuse(count > MOST_IDS, TOO_MANY)?;
            let devices = |replica: i64| (0..partitions).map(move |p| replica * partitions + p);
            for group in &mut listed {
                *group = group.iter().flat_map(|&replica| devices(replica)).collect();
            }
        }
        let mut set = vec![("replica_groups", rows(&listed))];
        set.extend(channel(channel_id));
        set.extend(is_global.then_some(("use_global_device_ids", Attribute::Unit)));
        Ok(set)
    }

    pub(super) fn all_gather(&mut self, at: At<'_, '_>, op: &AllGather) -> Result<Leaves> {
        let AllGather {
            channel_id,
            replica_groups,
            constrain_layout: _, // Arrays of StableHLO have no layouts.
            dimensions,
            use_global_device_ids,
        } = op;
        let dim = dimensions.first().copied().unwrap_or(0);
        if has_no_size(at, dim) {
            return self.nothing(at);
        }
        let mut set =
            self.device_groups(at, replica_groups, *channel_id, *use_global_device_ids)?;
        set.push(("all_gather_dim", integer(dim)));
        self.each(at, "stablehlo.all_gather", &set, |_, _| Ok(None))
    }
    /// Returns results that have no elements: no device waits for them.
    fn nothing(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let mut all = Leaves::new();
        for shape in results(at) {
            all.extend(self.constant(&Literal::zeros(array(&shape)?.clone()))?);
        }
        Ok(all)
    }
    pub(super) fn all_reduce(&mut self, at: At<'_, '_>, op: &AllReduce) -> Result<Leaves> {
        let AllReduce {
            channel_id,
            replica_groups,
            constrain_layout: _, // Arrays of StableHLO have no layouts.
            use_global_device_ids,
            mode: _,
            barrier: _,
            to_apply,
        } = op;
        let set = self.device_groups(at, replica_groups, *channel_id, *use_global_device_ids)?;
        self.each(at, "stablehlo.all_reduce", &set, |exporter, ty| match to_apply.0 {
            Some(to_apply) => exporter.reducer(at, to_apply, ty).map(Some),
            None => exporter.sum(ty).map(Some),
        })
    }
    /// Returns the region that adds.
    fn sum(&mut self, ty: ElementType) -> Result<Region> {
        let scalar = Shape::scalar(ty);
        self.region_of(&[scalar.clone(), scalar.clone()], |exporter, arguments| {
            let name = format!("stablehlo.{}", Binary::Add.opcode().name());
            exporter.emit(Draft::new(name, arguments.iter().copied()), &[scalar])
        })
    }
    pub(super) fn reduce_scatter(&mut self, at: At<'_, '_>, op: &ReduceScatter) -> Result<Leaves> {
        let ReduceScatter {
            channel_id,
            replica_groups,
            constrain_layout: _, // Arrays of StableHLO have no layouts.
            use_global_device_ids,
            dimensions,
            to_apply,
        } = op;
        let dim = dimensions.first().copied().unwrap_or(0);
        if has_no_size(at, dim) {
            return self.nothing(at);
        }
        let mut set =
            self.device_groups(at, replica_groups, *channel_id, *use_global_device_ids)?;
        set.push(("scatter_dimension", integer(dim)));
        self.each(at, "stablehlo.reduce_scatter", &set, |exporter, ty| {
            exporter.reducer(at, *to_apply, ty).map(Some)
        })
    }
    /// Returns the region of a computation of two elements.
    fn reducer(&mut self, at: At<'_, '_>, id: ComputationId, ty: ElementType) -> Result<Region> {
        let scalar = Shape::scalar(ty);
        self.applied(at, id, &[scalar.clone(), scalar.clone()], &[scalar])
    }
    pub(super) fn collective_broadcast(
        &mut self,
        at: At<'_, '_>,
        op: &CollectiveBroadcast,
    ) -> Result<Leaves> {
        let CollectiveBroadcast { channel_id, replica_groups, has_dynamic_root } = op;
        let (_, mut set) = self.groups(at, replica_groups, *channel_id)?;
        if *has_dynamic_root {
            // The last operand has a root for each of the others.
            set.push(("has_dynamic_root", Attribute::Unit));
            return self.named(at, "stablehlo.collective_broadcast", set);
        }
        self.each(at, "stablehlo.collective_broadcast", &set, |_, _| Ok(None))
    }
    pub(super) fn all_to_all(&mut self, at: At<'_, '_>, op: &AllToAll) -> Result<Leaves> {
        let AllToAll { channel_id, replica_groups, dimensions, constrain_layout: _ } = op;
        let (groups, mut set) = self.groups(at, replica_groups, *channel_id)?;
        let count = i64::try_from(groups.first().map_or(1, Vec::len)).unwrap_or(1);
        let dim = dimensions.first().copied().unwrap_or(0);
        set.extend([
            ("concat_dimension", integer(dim)),
            ("split_count", integer(count)),
            ("split_dimension", integer(dim)),
        ]);
        if !dimensions.is_empty() {
            return self.each(at, "stablehlo.all_to_all", &set, |_, _| Ok(None));
        }
        // An array for each device: they are the rows of one.
        let operands = at.operands();
        let part = array(self.shape(operands[0]))?.clone();
        let stacked = self.expansion(&at.operands(), expand::stack)?;
        let shape = self.shape(stacked[0]).clone();
        let draft = Draft::new("stablehlo.all_to_all", stacked).set_all(set).with_common(self);
        let exchanged = self.emit(draft, &[shape])?;
        self.expansion(&exchanged, |x| expand::unstack(x[0], &part))
    }
    /// Converts `ragged-all-to-all`: a custom call that XLA knows.
    pub(super) fn ragged_all_to_all(
        &mut self,
        at: At<'_, '_>,
        op: &RaggedAllToAll,
    ) -> Result<Leaves> {
        let RaggedAllToAll { channel_id, replica_groups, dimensions: _ } = op;
        let (groups, _) = self.groups(at, replica_groups, *channel_id)?;
        let mut config = vec![("replica_groups".into(), rows(&groups))];
        config.push(("channel_id".into(), integer(channel_id.unwrap_or(0))));
        let mut config = crate::ir::Attributes(config);
        crate::normal::sort(&mut config);
        self.named(
            at,
            "stablehlo.custom_call",
            [
                ("call_target_name", crate::attributes::string("ragged_all_to_all")),
                ("api_version", crate::attributes::integer32(4)),
                ("backend_config", Attribute::Dictionary(config)),
            ],
        )
    }
}

/// Returns the shapes of the results; a start returns them after its operands.
pub(super) fn results(at: At<'_, '_>) -> Vec<Shape> {
    let shape = &at.instruction.shape;
    let is_start = at.instruction.opcode().name().ends_with("-start");
    match shape.tuple() {
        Some([_, results, ..])
            if is_start && at.instruction.opcode() != hlo::Opcode::AllReduceStart =>
        {
            leaf_shapes(results)
        }
        _ => leaf_shapes(shape),
    }
}
/// Returns whether an operand has size 0 in a dimension, which StableHLO does not gather or scatter.
fn has_no_size(at: At<'_, '_>, dim: i64) -> bool {
    let size = |i| at.array(i).ok()?.dims.get(usize::try_from(dim).ok()?).copied();
    (0..at.instruction.operands.len()).any(|i| size(i) == Some(0))
}
/// Returns the channel, which a positive number has.
pub(super) fn channel(id: Option<i64>) -> Option<(&'static str, Attribute)> {
    let fields = named([("handle", integer(id?)), ("type", integer(0))]);
    Some(("channel_handle", Attribute::Dialect("stablehlo.channel_handle".into(), fields)))
}
/// Returns groups as the rows of an array; -1 fills those that are shorter than others.
fn rows(groups: &[Vec<i64>]) -> Attribute {
    let width = groups.iter().map(Vec::len).max().unwrap_or(0);
    let full = |group: &Vec<i64>| {
        let mut group = group.clone();
        group.resize(width, -1);
        group
    };
    matrix(&groups.iter().map(full).collect::<Vec<_>>(), width)
}
