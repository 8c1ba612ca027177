//! Counterparts of instructions in another module.
use super::nodes::{Node, Value};
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Returns the counterpart in the first list of each node of the second: one that computes the same
/// by the same instructions, or one with the same opcode, shape and name, or the same name of the
/// frontend's op if that is unique. Results are counterparts of each other.
pub(super) fn matches([before, after]: [&[Node]; 2], roots: [&Value; 2]) -> Vec<Option<usize>> {
    let mut found = vec![None; after.len()];
    let mut taken = vec![false; before.len()];
    by_key([before, after], &mut found, &mut taken, |node| Some(node.hash));
    by_key([before, after], &mut found, &mut taken, |node| {
        Some((node.name.clone(), node.opcode, node.shape.to_string()))
    });
    by_key([before, after], &mut found, &mut taken, |node| {
        let key = (node.op_name.clone(), node.opcode, node.shape.to_string());
        Some(key).filter(|_| !node.op_name.is_empty())
    });
    let [mut first, mut second] = [Vec::new(), Vec::new()];
    roots[0].nodes(&mut first);
    roots[1].nodes(&mut second);
    if first.len() == second.len() {
        for (before_root, after_root) in first.into_iter().zip(second) {
            if before[before_root].shape.compatible(&after[after_root].shape) {
                found[after_root] = Some(before_root);
            }
        }
    }
    found
}

/// Matches the operands without a counterpart of instructions with one, from the last on: those at
/// the same place, of the same shape.
pub(super) fn by_user([before, after]: [&[Node]; 2], found: &mut [Option<usize>]) {
    let mut taken = vec![false; before.len()];
    found.iter().flatten().for_each(|&number| taken[number] = true);
    for number in (0..after.len()).rev() {
        let Some(other) = found[number] else { continue };
        let operands = [&before[other].operands, &after[number].operands];
        if before[other].opcode != after[number].opcode || operands[0].len() != operands[1].len() {
            continue;
        }
        for (&first, &second) in operands[0].iter().zip(operands[1]) {
            if found[second].is_none()
                && !taken[first]
                && before[first].shape.compatible(&after[second].shape)
            {
                found[second] = Some(first);
                taken[first] = true;
            }
        }
    }
}

/// Matches the nodes without a counterpart that are the only ones with their key on both sides.
fn by_key<K: Hash + Eq>(
    [before, after]: [&[Node]; 2],
    found: &mut [Option<usize>],
    taken: &mut [bool],
    key: impl Fn(&Node) -> Option<K>,
) {
    let mut keyed: HashMap<K, [Vec<usize>; 2]> = HashMap::new();
    for (side, list) in [before, after].into_iter().enumerate() {
        for (number, node) in list.iter().enumerate() {
            let is_free = if side == 0 { !taken[number] } else { found[number].is_none() };
            if let Some(key) = key(node).filter(|_| is_free) {
                keyed.entry(key).or_default()[side].push(number);
            }
        }
    }
    for [first, second] in keyed.into_values() {
        if let ([before_node], [after_node]) = (first.as_slice(), second.as_slice())
            && before[*before_node].shape.compatible(&after[*after_node].shape)
        {
            found[*after_node] = Some(*before_node);
            taken[*before_node] = true;
        }
    }
}

/// Returns the nearest nodes with counterparts that a node is computed from, and the nodes between.
pub(super) fn nearest_matched(
    list: &[Node],
    counterparts: &[Option<usize>],
    node: usize,
) -> (Vec<usize>, Vec<usize>) {
    let (mut matched, mut between) = (BTreeSet::new(), BTreeSet::new());
    let mut open = list[node].operands.clone();
    while let Some(operand) = open.pop() {
        if counterparts[operand].is_some() {
            matched.insert(operand);
        } else if between.insert(operand) {
            open.extend(&list[operand].operands);
        }
    }
    (matched.into_iter().collect(), between.into_iter().collect())
}
