//! Which computations call which: in order, and what is found in them.
use super::marker;
use hlo::ir::ComputationId;
use hlo::op::Op;
use hlo::{Module, SecondaryMap, ir::Computation};

/// The computations that an op calls.
pub(super) fn callees(op: &Op) -> Vec<ComputationId> {
    let mut found = Vec::new();
    op.each_callee(&mut |id| found.push(id));
    found
}

/// All computations that are reached from `roots`, the callees before their callers.
pub(super) fn reached(
    roots: impl IntoIterator<Item = ComputationId>,
    called: impl Fn(ComputationId) -> Vec<ComputationId>,
) -> Vec<ComputationId> {
    let mut order = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for root in roots {
        let mut open = vec![(root, None)];
        while let Some((id, rest)) = open.last_mut() {
            if rest.is_none() && !known.insert(id.index()) {
                open.pop();
                continue;
            }
            let id = *id;
            match rest.get_or_insert_with(|| called(id).into_iter()).next() {
                Some(callee) => open.push((callee, None)),
                None => {
                    order.push(id);
                    open.pop();
                }
            }
        }
    }
    order
}

/// The computations that the instructions of one call.
pub(super) fn called(computation: &Computation) -> Vec<ComputationId> {
    computation.instructions.iter().flat_map(|(_, i)| callees(&i.op)).collect()
}

/// What is found in a computation and in those it calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    /// Ops whose value is a device's own, or in which devices take part.
    pub(super) devices: bool,
    /// Markers of manual regions.
    pub(super) markers: bool,
    /// Markers that give another shape than they take.
    pub(super) divides: bool,
}

/// Whether an op's value is a device's own whatever its operands are.
pub(super) fn is_own(op: &Op) -> bool {
    matches!(op, Op::PartitionId(_) | Op::ReplicaId(_))
        || op.groups().is_some()
        || op.pairs().is_some()
}

/// What is found in each computation of a module.
pub(super) fn found(module: &Module) -> SecondaryMap<Computation, Found> {
    let mut all = SecondaryMap::filled(module.computations.len(), Found::default());
    let order = reached(module.computations.ids(), |id| called(&module.computations[id]));
    for id in order {
        let mut here = Found::default();
        for (_, instruction) in module.computations[id].instructions.iter() {
            here.devices |= is_own(&instruction.op);
            if marker::kind(&instruction.op).is_some() {
                here.markers = true;
                here.divides |= !marker::keeps(&module.computations[id], instruction);
            }
            for callee in callees(&instruction.op) {
                here.devices |= all[callee].devices;
                here.markers |= all[callee].markers;
                here.divides |= all[callee].divides;
            }
        }
        all[id] = here;
    }
    all
}
