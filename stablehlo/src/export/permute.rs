//! `collective-permute`, of whole arrays and of slices.
use super::collective::{channel, results};
use super::exporter::{At, Draft, Exporter, Leaves, array};
use super::instruction::element;
use super::structured::shape_of;
use crate::attributes::{list, matrix};
use crate::error::Result;
use crate::ir::{Attribute, ValueId};
use hlo::op::CollectivePermute;
use hlo::{ElementType, Shape};

impl Exporter<'_> {
    pub(super) fn collective_permute(
        &mut self,
        at: At<'_, '_>,
        op: &CollectivePermute,
    ) -> Result<Leaves> {
        let CollectivePermute { channel_id, source_target_pairs, slice_sizes } = op;
        let pairs = source_target_pairs.0.iter().map(|&(from, to)| vec![from, to]);
        let mut set = vec![("source_target_pairs", matrix(&pairs.collect::<Vec<_>>(), 2))];
        set.extend(channel(*channel_id));
        if slice_sizes.is_empty() && at.operands().len() == results(at).len() {
            return self.each(at, "stablehlo.collective_permute", &set, |_, _| Ok(None));
        }
        self.permuted_slices(at, op, &set)
    }
    /// Converts the form whose operands are arrays, others of their shapes, and for both the
    /// offsets of slices: the slices of the former move into the latter, on devices that are
    /// targets.
    fn permuted_slices(
        &mut self,
        at: At<'_, '_>,
        op: &CollectivePermute,
        set: &[(&'static str, Attribute)],
    ) -> Result<Leaves> {
        at.refuse(at.instruction.operands.len() != 4, "of other than four operands")?;
        let (inputs, outputs) = (at.leaves(0).clone(), at.leaves(1).clone());
        let mut sizes = op.slice_sizes.iter().cycle();
        let mut all = Leaves::new();
        for (i, (&input, &output)) in inputs.iter().zip(&outputs).enumerate() {
            let (shape, target) = (array(self.shape(input))?.clone(), self.shape(output).clone());
            at.refuse(shape.dynamic.is_some(), "of a slice of a dynamic size")?;
            let offsets = |operand: usize| match at.shape(0).tuple() {
                Some(_) => element(at.shape(operand), at.leaves(operand), i),
                None => at.leaves(operand).clone(),
            };
            let (from, to) = (offsets(2), offsets(3));
            let rank = shape.rank().max(1);
            let mut updated = output;
            for (from, to) in from.chunks(rank).zip(to.chunks(rank)) {
                let Some(sizes) = sizes.next() else { break };
                let part = shape_of(shape.ty, sizes.iter().copied());
                let operands = std::iter::once(input).chain(from.iter().copied());
                let draft = Draft::new("stablehlo.dynamic_slice", operands)
                    .set("slice_sizes", list(sizes.as_slice()));
                let slice = self.emit_one(draft, part.clone())?;
                let draft = Draft::new("stablehlo.collective_permute", [slice])
                    .set_all(set.iter().cloned());
                let moved = self.emit_one(draft, part)?;
                let operands = [updated, moved].into_iter().chain(to.iter().copied());
                let draft = Draft::new("stablehlo.dynamic_update_slice", operands);
                updated = self.emit_one(draft, target.clone())?;
            }
            all.extend(self.where_target(op, updated, output)?);
        }
        Ok(all)
    }
    /// Selects one of two arrays: the first on devices that are targets.
    fn where_target(
        &mut self,
        op: &CollectivePermute,
        on_target: ValueId,
        elsewhere: ValueId,
    ) -> Result<Leaves> {
        let is_partition = op.channel_id.is_some_and(|id| id > 0);
        let name = if is_partition { "stablehlo.partition_id" } else { "stablehlo.replica_id" };
        let id = self.emit_one(Draft::new(name, []), Shape::scalar(ElementType::U32))?;
        let targets = op.source_target_pairs.0.iter().map(|&(_, target)| target);
        let targets: Vec<u32> = targets.filter_map(|target| u32::try_from(target).ok()).collect();
        let operands = [id, on_target, elsewhere].into_iter().collect();
        self.expansion(&operands, |x| {
            let is_target = x[0].builder().constant(targets).eq(x[0]).any();
            is_target.select(x[1], x[2])
        })
    }
}
