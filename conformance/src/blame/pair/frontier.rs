//! The instructions at which two modules still have the same values, just before they differ.
use super::nodes::{Node, Value};
use crate::judge::Anchors;
use crate::program::At;
use hlo::Module;
use hlo::ir::ComputationId;
use std::collections::{BTreeSet, HashMap};

/// Returns the values of the first module at the frontier: of the nodes with the same bits in both
/// that what differs in the second module is computed from.
///
/// Both results are functions of these values alone, so they are exact for both. Others with the
/// same bits are not: the second module may compute its result without them.
pub(super) fn anchors(
    module: &Module,
    [before, after]: [&[Node]; 2],
    counterparts: &[Option<usize>],
    root: &Value,
) -> Anchors {
    let mut found = BTreeSet::new();
    let (mut open, mut seen) = (Vec::new(), BTreeSet::new());
    root.nodes(&mut open);
    while let Some(number) = open.pop() {
        if !seen.insert(number) {
            continue;
        }
        let node = &after[number];
        let same = counterparts[number]
            .filter(|&other| !node.value.is_empty() && before[other].value == node.value);
        match same {
            Some(other) => {
                found.insert(other);
            }
            None => open.extend(&node.operands),
        }
    }
    let mut counts: HashMap<At, usize> = HashMap::new();
    for node in before {
        *counts.entry((node.computation, node.id)).or_default() += 1;
    }
    let runs = runs(module);
    // An instruction that runs several times has several values.
    let once = |at: &At| counts[at] == 1 && runs[&at.0] == 1;
    let values = found.into_iter().filter_map(|number| {
        let node = &before[number];
        let at = (node.computation, node.id);
        let [value] = node.value.as_slice() else { return None };
        once(&at).then(|| (at, value.clone()))
    });
    values.collect()
}

/// Returns how often each computation is called on all ways from the entry, whatever the elements
/// and rounds of a call.
fn runs(module: &Module) -> HashMap<ComputationId, usize> {
    let mut callers: HashMap<ComputationId, Vec<ComputationId>> = HashMap::new();
    for (caller, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            instruction.op.each_callee(&mut |id| callers.entry(id).or_default().push(caller));
        }
    }
    let mut runs = HashMap::from([(module.entry, 1)]);
    for (id, _) in module.computations.iter() {
        count(id, &callers, &mut runs);
    }
    runs
}

fn count(
    id: ComputationId,
    callers: &HashMap<ComputationId, Vec<ComputationId>>,
    runs: &mut HashMap<ComputationId, usize>,
) -> usize {
    if let Some(&known) = runs.get(&id) {
        return known;
    }
    let own = callers.get(&id).into_iter().flatten();
    let sum = own.fold(0usize, |sum, &caller| sum.saturating_add(count(caller, callers, runs)));
    runs.insert(id, sum);
    sum
}
