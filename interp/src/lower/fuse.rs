//! Fusion: elementwise steps over one index space become one step, which holds the values between them in tiles.
//!
//! Steps are visited in order. One joins the groups that compute its operands, and the group's step stands where its last
//! member stood. So a group is closed to further steps as soon as a step outside it reads one of its values.
use super::build::{Draft, DraftStep, Leaf};
use crate::kernel::{Fused, Part, Read, Register, fusible, walk};
use crate::num::loops::Loop;
use crate::plan::{Action, Kernel};
use hlo::ir::Computation;
use hlo::{ArrayShape, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The limit of members of a group. With more, registers do not stay in the first cache.
const MOST_MEMBERS: usize = 48;

/// An operand that a member reads from outside its group.
type Outer = (Leaf, Read);

/// Steps that are computed together.
#[derive(Default)]
struct Group {
    members: Vec<Member>,
    /// Elements of its values.
    count: usize,
    is_closed: bool,
}

struct Member {
    step: usize,
    /// `None` if the result has the bytes of the operand.
    function: Option<Loop>,
}

/// The groups of a draft.
struct Groups<'a> {
    draft: &'a Draft,
    computation: &'a Computation,
    all: Vec<Group>,
    /// The group of each leaf that a member computes.
    of_leaf: FxHashMap<Leaf, usize>,
    /// How to read the results of broadcasts and slices from their operands.
    reads: FxHashMap<Leaf, Outer>,
}

impl Draft {
    /// Returns the draft with each group of elementwise steps as one step.
    pub(super) fn fused(mut self, module: &Module) -> Self {
        let computation = &module.computations[self.computation];
        let mut groups = Groups {
            draft: &self,
            computation,
            all: Vec::new(),
            of_leaf: FxHashMap::default(),
            reads: FxHashMap::default(),
        };
        (0..self.steps.len()).for_each(|number| groups.visit(number));
        let (groups, reads) = groups.found();
        let mut uses: FxHashMap<Leaf, usize> = FxHashMap::default();
        let read = self.steps.iter().flat_map(|step| &step.inputs).chain(&self.results);
        read.for_each(|&leaf| *uses.entry(leaf).or_default() += 1);
        let mut steps: Vec<Option<DraftStep>> =
            std::mem::take(&mut self.steps).into_iter().map(Some).collect();
        for group in groups {
            let last = group.members.last().map_or(0, |member| member.step);
            let count = group.count;
            let members = group.members.into_iter().map(|member| {
                (steps[member.step].take().expect("a step is in one group"), member.function)
            });
            steps[last] = Some(fuse(&self, count, members.collect(), &reads, &uses));
        }
        self.steps.extend(steps.into_iter().flatten());
        self
    }
}

impl Groups<'_> {
    fn visit(&mut self, number: usize) {
        let step = &self.draft.steps[number];
        let op = &self.computation.instructions[step.instruction].op;
        let operands = step.inputs.iter().map(|&leaf| self.draft.array(leaf));
        let operands: Option<SmallVec<[&ArrayShape; 3]>> = operands.collect();
        let result = step.outputs.first().and_then(|&leaf| self.draft.array(leaf));
        let (Some(operands), Some(result)) = (operands, result) else {
            return self.close(&step.inputs);
        };
        match &step.action {
            Action::Relabel => self.relabel(number, step),
            Action::Kernel(_) => {
                let is_whole = step.part.is_none();
                let from = operands.first().filter(|_| is_whole);
                if let Some(walk) = from.and_then(|from| walk(op, from, result)) {
                    self.reads.insert(step.outputs[0], (step.inputs[0], Read::of(walk)));
                    return self.close(&step.inputs);
                }
                match fusible(op, &operands, result) {
                    Some(function) => {
                        let count = result.element_count().unwrap_or(0);
                        self.join(Member { step: number, function: Some(function) }, count);
                    }
                    None => self.close(&step.inputs),
                }
            }
            _ => self.close(&step.inputs),
        }
    }

    /// Adds a step that changes only the shape, where its operand has a place already.
    fn relabel(&mut self, number: usize, step: &DraftStep) {
        let (from, to) = (step.inputs[0], step.outputs[0]);
        if let Some(read) = self.reads.get(&from) {
            self.reads.insert(to, read.clone());
        }
        match self.open(from) {
            Some(group) => {
                let count = self.all[group].count;
                self.join(Member { step: number, function: None }, count);
            }
            None => self.close(&[from]),
        }
    }

    /// Returns the group that computes a leaf, if it is open.
    fn open(&self, leaf: Leaf) -> Option<usize> {
        self.of_leaf.get(&leaf).copied().filter(|&group| !self.all[group].is_closed)
    }
    fn close(&mut self, leaves: &[Leaf]) {
        for leaf in leaves {
            if let Some(&group) = self.of_leaf.get(leaf) {
                self.all[group].is_closed = true;
            }
        }
    }

    /// Adds a step to the groups that compute its operands, which become one.
    fn join(&mut self, member: Member, count: usize) {
        let step = &self.draft.steps[member.step];
        let mut joined: SmallVec<[usize; 3]> =
            step.inputs.iter().filter_map(|&leaf| self.open(leaf)).collect();
        joined.sort_unstable();
        joined.dedup();
        let fits = |group: &usize| self.all[*group].count == count;
        let (mut joined, other): (SmallVec<[usize; 3]>, SmallVec<[usize; 3]>) =
            joined.into_iter().partition(fits);
        other.iter().for_each(|&group| self.all[group].is_closed = true);
        let members: usize = joined.iter().map(|&group| self.all[group].members.len()).sum();
        if members >= MOST_MEMBERS {
            joined.drain(..).for_each(|group| self.all[group].is_closed = true);
        }
        let mut all = Group { count, ..Group::default() };
        for group in joined {
            all.members.append(&mut self.all[group].members);
        }
        all.members.push(member);
        all.members.sort_unstable_by_key(|member| member.step);
        let leaves = all.members.iter().map(|member| self.draft.steps[member.step].outputs[0]);
        self.of_leaf.extend(leaves.map(|leaf| (leaf, self.all.len())));
        self.all.push(all);
    }

    /// Returns the groups that gain, and how to read the results of broadcasts and slices.
    fn found(self) -> (Vec<Group>, FxHashMap<Leaf, Outer>) {
        let Self { draft, all, reads, .. } = self;
        let mut groups = all;
        groups.retain(|group| match group.members.as_slice() {
            [] => false,
            [one] => draft.steps[one.step].inputs.iter().any(|leaf| reads.contains_key(leaf)),
            _ => true,
        });
        (groups, reads)
    }
}

/// Returns one step for the steps of a group.
fn fuse(
    draft: &Draft,
    count: usize,
    members: Vec<(DraftStep, Option<Loop>)>,
    reads: &FxHashMap<Leaf, Outer>,
    uses: &FxHashMap<Leaf, usize>,
) -> DraftStep {
    let inner: FxHashSet<Leaf> = members.iter().map(|(step, _)| step.outputs[0]).collect();
    let of = |step: &DraftStep, k: usize| outer(draft, step, k, reads);
    let mut outers: Vec<(Outer, usize)> = Vec::new();
    for (step, _) in &members {
        for (k, _) in step.inputs.iter().enumerate().filter(|(_, leaf)| !inner.contains(leaf)) {
            let (outer, width) = of(step, k);
            if !outers.iter().any(|(other, _)| *other == outer) {
                outers.push((outer, width));
            }
        }
    }
    outers.sort_by_key(|((_, read), _)| *read != Read::Array);
    let mut parts: Vec<Part> = Vec::new();
    let mut registers: FxHashMap<Leaf, Register> = FxHashMap::default();
    let mut inner_uses: FxHashMap<Leaf, usize> = FxHashMap::default();
    let mut outputs = Vec::new();
    let (mut fuel, mut fuses) = (0u64, Vec::new());
    for (step, function) in members {
        let operands = step.inputs.iter().enumerate().map(|(k, leaf)| match registers.get(leaf) {
            Some(&register) => {
                *inner_uses.entry(*leaf).or_default() += 1;
                register
            }
            None => {
                let (outer, _) = of(&step, k);
                let found = outers.iter().position(|(other, _)| *other == outer);
                found.expect("the operands from outside were listed")
            }
        });
        let operands: SmallVec<[Register; 3]> = operands.collect();
        let register = match function {
            Some(function) => {
                parts.push(Part { function, operands, width: width(draft, step.outputs[0]) });
                outers.len() + parts.len() - 1
            }
            None => operands[0],
        };
        registers.insert(step.outputs[0], register);
        outputs.push(step.outputs[0]);
        fuel = fuel.saturating_add(step.fuel);
        fuses.push(step.instruction);
    }
    outputs.retain(|leaf| uses.get(leaf) > inner_uses.get(leaf));
    let results: Vec<Register> = outputs.iter().map(|leaf| registers[leaf]).collect();
    let inputs = outers.iter().map(|((leaf, _), _)| *leaf).collect();
    let reads = outers.into_iter().map(|((_, read), width)| (read, width)).collect();
    let fused = Fused::new(count, reads, parts, &results);
    let scratch = fused.scratch();
    DraftStep {
        instruction: fuses.pop().expect("a group has members"),
        fuses,
        action: Action::Kernel(Box::new(fused)),
        inputs,
        outputs,
        bytes: None,
        scratch,
        applies: SmallVec::new(),
        fuel,
        part: None,
    }
}

/// Returns how a step reads operand `k` from outside its group, and the bytes of an element of it.
fn outer(
    draft: &Draft,
    step: &DraftStep,
    k: usize,
    reads: &FxHashMap<Leaf, Outer>,
) -> (Outer, usize) {
    let leaf = step.inputs[k];
    let rank = |leaf| draft.array(leaf).map(ArrayShape::rank);
    let outer = match reads.get(&leaf) {
        Some(read) => read.clone(),
        None if rank(leaf) < rank(step.outputs[0]) => (leaf, Read::Scalar),
        None => (leaf, Read::Array),
    };
    (outer, width(draft, leaf))
}

/// Returns the bytes of an element.
fn width(draft: &Draft, leaf: Leaf) -> usize {
    draft.array(leaf).expect("a fused step computes arrays from arrays").ty.storage_bytes()
}
