//! The call graph, and the ops of interest in each computation.
use super::marker;
use hlo::id::SecondaryMap;
use hlo::ir::ComputationId;
use hlo::op::{Kind, Op};
use hlo::{Module, ir::Computation};

/// Returns the computations that an op calls.
pub(super) fn callees(op: &Op) -> Vec<ComputationId> {
    let mut found = Vec::new();
    op.each_callee(&mut |id| found.push(id));
    found
}

/// Returns all computations that `roots` reach, callees before callers.
fn reached(
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

/// Returns the computations that the instructions of one call.
fn called(computation: &Computation) -> Vec<ComputationId> {
    computation.instructions.iter().flat_map(|(_, i)| callees(&i.op)).collect()
}

/// The ops of interest in a computation and in those that it calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    /// Ops with a value per device, or that communicate.
    pub(super) devices: bool,
    /// Markers of manual regions.
    pub(super) markers: bool,
    /// Markers whose result has another shape than their operand, or that sum the values of the
    /// devices.
    pub(super) divides: bool,
}

/// Returns whether an op has a value per device whatever its operands are.
pub(super) fn is_per_device(op: &Op) -> bool {
    op.opcode().kind() == Kind::Device || op.groups().is_some() || op.pairs().is_some()
}

/// Finds the ops of interest in each computation of a module.
pub(super) fn found(module: &Module) -> SecondaryMap<Computation, Found> {
    let mut all = SecondaryMap::filled(module.computations.len(), Found::default());
    let order = reached(module.computations.ids(), |id| called(&module.computations[id]));
    for id in order {
        let mut here = Found::default();
        for (_, instruction) in module.computations[id].instructions.iter() {
            here.devices |= is_per_device(&instruction.op);
            here.divides |= marker::states_sums(instruction);
            if marker::kind(&instruction.op).is_some() {
                here.markers = true;
                here.divides |= !marker::keeps_shapes(&module.computations[id], instruction);
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
