//! Counterparts: the instructions of two modules that are the same, and what has changed of the
//! others. Nothing runs: what they compute is not compared.
mod list;
mod matching;

use hlo::ir::{CommonAttrs, ComputationId, Instruction, InstructionId};
use hlo::{Module, Opcode};
use list::{List, Node};
use matching::Matching;
use std::collections::{HashMap, VecDeque};

/// A place in a module.
type At = (ComputationId, InstructionId);

/// An instruction of one module, or of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterpart {
    /// Its place in the first module.
    pub before: Option<(ComputationId, InstructionId)>,
    /// Its place in the second one.
    pub after: Option<(ComputationId, InstructionId)>,
    /// How they differ.
    pub difference: Difference,
    /// Whether it only names a value that another instruction computes: a parameter of a fusion, or
    /// an element of a tuple.
    pub renames: bool,
}

/// How an instruction differs from its counterpart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// In nothing but its name and its metadata.
    None,
    /// It is the same in another computation.
    Moved,
    /// In these respects.
    Changed(Vec<&'static str>),
    /// The second module has none.
    Removed,
    /// The first module has none.
    Added,
}

/// Matches the instructions of two modules, also inside of calls and fusions. The list is in the
/// order in which they run.
///
/// 1. Those that compute the same by the same instructions.
/// 2. Those of the same name, opcode and shape, those of the same `op_name`, opcode and shape, and
///    results.
/// 3. What counterparts take at the same place, and what takes counterparts.
///
/// ```
/// use conformance::{Difference, counterparts};
/// let before = hlo::Module::parse("HloModule m\nENTRY e { x = f32[2] parameter(0) y = f32[2] negate(x) ROOT r = f32[2] add(y, x) }")?;
/// let after = hlo::Module::parse("HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] add(x, x) }")?;
/// let found: Vec<Difference> = counterparts(&before, &after).into_iter().map(|one| one.difference).collect();
/// assert_eq!(found, [Difference::None, Difference::Removed, Difference::Changed(vec!["operands"])]);
/// # Ok::<(), hlo::diag::Errors>(())
/// ```
pub fn counterparts(before: &Module, after: &Module) -> Vec<Counterpart> {
    let modules = [before, after];
    let mut lists = modules.map(List::new);
    let mut others: [Vec<Option<usize>>; 2] = [Vec::new(), Vec::new()];
    // The computations that are counterparts.
    let mut computations: HashMap<ComputationId, ComputationId> = HashMap::new();
    let mut open = VecDeque::from([[before.entry, after.entry]]);
    let mut by_name = names(modules).into_iter().rev();
    // What matched instructions call comes first, then what has the same name, callers first.
    while let Some(ids) = open.pop_front().or_else(|| by_name.next()) {
        if [0, 1].iter().any(|&side: &usize| lists[side].has(ids[side])) {
            continue;
        }
        let [first, second] = &mut lists;
        let ranges = [first.add(ids[0]), second.add(ids[1])];
        let roots = [first.root(ids[0]), second.root(ids[1])];
        computations.insert(ids[1], ids[0]);
        for side in 0..2 {
            others[side].resize(lists[side].nodes.len(), None);
        }
        let nodes = [lists[0].nodes.as_slice(), lists[1].nodes.as_slice()];
        let mut matching = Matching::new(nodes, others, ranges.clone());
        matching.run(roots);
        matching.renamings();
        for pair in parameters(&lists, &matching, &mut computations, &ranges[1]) {
            matching.put_free(pair);
        }
        others = matching.others;
        for number in ranges[1].clone() {
            let Some(other) = others[1][number] else { continue };
            let callees = [(0, other), (1, number)].map(|(side, number): (usize, usize)| {
                callees(modules[side], lists[side].nodes[number].at)
            });
            open.extend(
                callees[0].iter().zip(&callees[1]).map(|(&first, &second)| [first, second]),
            );
        }
    }
    for (side, module) in modules.into_iter().enumerate() {
        for (id, _) in module.computations.iter() {
            if !lists[side].has(id) {
                lists[side].add(id);
            }
        }
        others[side].resize(lists[side].nodes.len(), None);
    }
    in_order(&lists, &others, &computations)
}

/// Returns the computations that have the same name in both modules.
fn names(modules: [&Module; 2]) -> Vec<[ComputationId; 2]> {
    let first = modules[0].computations.iter();
    let first: HashMap<&str, ComputationId> =
        first.map(|(id, computation)| (computation.name.as_str(), id)).collect();
    let second = modules[1].computations.iter();
    second
        .filter_map(|(id, computation)| Some([*first.get(computation.name.as_str())?, id]))
        .collect()
}

fn instruction(module: &Module, (computation, id): At) -> &Instruction {
    &module.computations[computation].instructions[id]
}

fn callees(module: &Module, at: At) -> Vec<ComputationId> {
    let mut callees = Vec::new();
    instruction(module, at).op.each_callee(&mut |id| callees.push(id));
    callees
}

/// Notes what calls and fusions that are counterparts call, and returns the parameters of these.
fn parameters(
    lists: &[List<'_>; 2],
    matching: &Matching<'_>,
    computations: &mut HashMap<ComputationId, ComputationId>,
    range: &std::ops::Range<usize>,
) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for number in range.clone() {
        let Some(other) = matching.others[1][number] else { continue };
        let called = [(0, other), (1, number)].map(|(side, number): (usize, usize)| {
            let list = &lists[side];
            instruction(list.module, list.nodes[number].at).op.called_once()
        });
        let [Some(first), Some(second)] = called else { continue };
        if computations.insert(second, first) == Some(first) {
            continue;
        }
        let numbers = [(0, first), (1, second)].map(|(side, id): (usize, _)| {
            let list = &lists[side];
            let known = list.computations.get(&id);
            let parameters = list.module.computations[id].parameters();
            let number = |&id: &InstructionId| known.and_then(|numbers| numbers.get(id.index()));
            parameters.iter().filter_map(number).copied().collect::<Vec<usize>>()
        });
        pairs.extend(numbers[0].iter().zip(&numbers[1]).map(|(&first, &second)| [first, second]));
    }
    pairs
}

/// Lists the instructions of both modules in the order of the second; what it lacks comes behind what
/// was before it.
fn in_order(
    lists: &[List<'_>; 2],
    others: &[Vec<Option<usize>>; 2],
    computations: &HashMap<ComputationId, ComputationId>,
) -> Vec<Counterpart> {
    let copies = [copies(&lists[1].nodes), copies(&lists[0].nodes)];
    let copied = |side: usize, number: usize| {
        let node: &Node = &lists[side].nodes[number];
        copies[side].get(&node.hash).copied().filter(|_| node.is_constant)
    };
    let mut found: Vec<(usize, usize, Counterpart)> = Vec::new();
    let mut last = 0;
    for (number, other) in others[0].iter().enumerate() {
        match other.or_else(|| copied(0, number)) {
            Some(_) => last = other.unwrap_or(last),
            None => {
                let node = &lists[0].nodes[number];
                found.push((
                    last,
                    number + 1,
                    Counterpart {
                        before: Some(node.at),
                        after: None,
                        difference: Difference::Removed,
                        renames: renames(number, node),
                    },
                ));
            }
        }
    }
    for (number, other) in others[1].iter().enumerate() {
        let node = &lists[1].nodes[number];
        let (other, difference) = match (other, copied(1, number)) {
            (&Some(other), _) => {
                (Some(other), difference(lists, others, computations, [other, number]))
            }
            (None, Some(other)) => (Some(other), Difference::Moved),
            (None, None) => (None, Difference::Added),
        };
        found.push((
            number,
            0,
            Counterpart {
                before: other.map(|other| lists[0].nodes[other].at),
                after: Some(node.at),
                difference,
                renames: renames(number, node),
            },
        ));
    }
    found.sort_by_key(|(at, behind, _)| (*at, *behind));
    found.into_iter().map(|(_, _, one)| one).collect()
}

/// Returns the first of the nodes of each hash that are computed from constants only.
fn copies(nodes: &[Node]) -> HashMap<u64, usize> {
    let mut found = HashMap::new();
    for (number, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_constant) {
        found.entry(node.hash).or_insert(number);
    }
    found
}

/// Returns whether a node only names a value; a call or a fusion is more.
fn renames(number: usize, node: &Node) -> bool {
    node.source != number && matches!(node.opcode, Opcode::Parameter | Opcode::GetTupleElement)
}

fn difference(
    lists: &[List<'_>; 2],
    others: &[Vec<Option<usize>>; 2],
    computations: &HashMap<ComputationId, ComputationId>,
    pair: [usize; 2],
) -> Difference {
    let nodes = [0, 1].map(|side: usize| &lists[side].nodes[pair[side]]);
    let instructions = [0, 1].map(|side: usize| instruction(lists[side].module, nodes[side].at));
    let is_renaming = [0, 1].map(|side: usize| renames(pair[side], nodes[side])) == [true; 2];
    let source = |side: usize, number: usize| lists[side].nodes[number].source;
    let mut found = Vec::new();
    if nodes[0].opcode != nodes[1].opcode {
        found.push("opcode");
    } else if nodes[0].own != nodes[1].own && !is_renaming {
        found.push(if nodes[0].opcode == Opcode::Constant { "value" } else { "attributes" });
    }
    if nodes[0].shape != nodes[1].shape {
        found.push("shape");
    } else if instructions[0].shape.to_string() != instructions[1].shape.to_string() {
        found.push("layout");
    }
    let is_taken = |(&first, &second): (&usize, &usize)| {
        let [first, second] = [source(0, first), source(1, second)];
        others[0][first] == Some(second)
            || lists[0].nodes[first].hash == lists[1].nodes[second].hash
    };
    let operands = nodes[0].operands.iter().zip(&nodes[1].operands);
    let has_same = nodes[0].operands.len() == nodes[1].operands.len();
    let takes_same = has_same && operands.into_iter().all(is_taken);
    if !is_renaming && !takes_same {
        found.push("operands");
    }
    found.extend(other_attributes(instructions.map(|one| one.common.as_deref())));
    let is_here = computations.get(&nodes[1].at.0) == Some(&nodes[0].at.0);
    match (found.is_empty(), is_here) {
        (false, _) => Difference::Changed(found),
        (true, true) => Difference::None,
        (true, false) => Difference::Moved,
    }
}

/// Names the attributes of every opcode that differ. What says where an instruction comes from does
/// not count.
fn other_attributes(common: [Option<&CommonAttrs>; 2]) -> Vec<&'static str> {
    let none = CommonAttrs::default();
    let [first, second] = common.map(|common| common.unwrap_or(&none));
    let config = |of: &CommonAttrs| of.backend_config.as_ref().map(|config| format!("{config:?}"));
    let all = [
        ("sharding", first.sharding != second.sharding),
        ("frontend attributes", first.frontend_attributes != second.frontend_attributes),
        ("accuracy", first.result_accuracy != second.result_accuracy),
        ("backend config", config(first) != config(second)),
        ("other attributes", first.unknown != second.unknown),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests;
