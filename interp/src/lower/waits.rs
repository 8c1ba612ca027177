//! Waits of steps: where a device may [run ahead](crate::machine) of a step that waits, two steps
//! are computed as one only if nothing then waits for more than before.
//!
//! A step waits for those whose values it reads, and for those that come before it by control
//! dependencies, tokens and barriers. Steps that depend on the same ones of the steps that may wait
//! are of one class.
use super::unallocated::{ArrayId, UnallocatedPlan, UnallocatedStep};
use crate::effects::Effects;
use crate::plan::Action;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::{Module, Op};
use kernels::Fusion;
use num::index::to_usize;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The limit of words of all sets of a plan. Classes beyond are those of one step each.
const MOST_WORDS: usize = 1 << 22;

/// The number of a class; 0 is that of the steps that depend on none that may wait.
type Class = usize;

/// The waits of the steps of a plan.
#[derive(Debug)]
pub(super) struct Waits {
    /// The class of each array.
    classes: Vec<Class>,
    /// How often steps and the result read each array.
    uses: Vec<usize>,
    /// Whether steps may wait for an array that they do not read.
    is_awaited: Vec<bool>,
}

/// Returns whether a device may run ahead of steps of a module.
pub(super) fn may_run_ahead(module: &Module) -> bool {
    let communicates = |(_, instruction): (_, &Instruction)| instruction.op.communicates();
    !module.config.is_scheduled
        && module.computations.iter().any(|(_, it)| it.instructions.iter().any(communicates))
}

impl Waits {
    /// Finds what steps wait for; nothing if none of them may wait.
    pub(super) fn of(plan: &UnallocatedPlan, module: &Module, effects: &Effects) -> Option<Self> {
        let waits: Vec<bool> =
            plan.steps.iter().map(|step| may_wait(step, module, effects)).collect();
        if !waits.contains(&true) {
            return None;
        }
        let computation = &module.computations[plan.computation];
        let mut steps = vec![None; computation.instructions.len()];
        for (number, step) in plan.steps.iter().enumerate() {
            if step.site.computation == plan.computation {
                steps[step.site.instruction.index()] = Some(number);
            }
        }
        let mut uses = vec![0; plan.arrays.len()];
        let read = plan.steps.iter().flat_map(|step| &step.inputs).chain(&plan.results);
        read.for_each(|&array| uses[array] += 1);
        let mut is_awaited = vec![false; plan.arrays.len()];
        let awaited = awaited(plan, computation, &steps);
        for step in plan.steps.iter().filter(|it| it.site.computation == plan.computation) {
            for &array in step.outputs.iter().filter(|_| awaited[step.site.instruction.index()]) {
                is_awaited[array] = true;
            }
        }
        let classes = leaf_classes(plan, computation, &steps, &waits);
        Some(Self { classes, uses, is_awaited })
    }

    /// Returns whether steps that are computed together, the last of which depends on all that the
    /// others depend on, may be computed together with a step that reads their values: all are of
    /// its class, or only these steps wait for them.
    pub(super) fn may_join<'a>(
        &self,
        members: impl DoubleEndedIterator<Item = &'a UnallocatedStep> + Clone,
        step: &'a UnallocatedStep,
    ) -> bool {
        let class = |step: &UnallocatedStep| step.outputs.first().map(|&array| self.classes[array]);
        if members.clone().next_back().and_then(class) == class(step) {
            return true;
        }
        let mut inner: FxHashMap<ArrayId, usize> = FxHashMap::default();
        for array in members.clone().chain([step]).flat_map(|step| &step.inputs) {
            *inner.entry(*array).or_default() += 1;
        }
        let mut outputs = members.flat_map(|step| &step.outputs);
        outputs.all(|array| {
            !self.is_awaited[*array] && inner.get(array).copied() == Some(self.uses[*array])
        })
    }
}

/// Returns whether a step may wait, or come after one that waits because both have effects.
fn may_wait(step: &UnallocatedStep, module: &Module, effects: &Effects) -> bool {
    match step.action {
        Action::Kernel(_) | Action::Steps(_) | Action::Bitcast => false,
        Action::AsyncStart { .. } | Action::AsyncUpdate | Action::AsyncDone => true,
        Action::Function(_)
        | Action::Call(_)
        | Action::While { .. }
        | Action::Branch(_)
        | Action::Scan(_)
        | Action::Communicate(_)
        | Action::Start(_)
        | Action::Done => effects.has(step.site.of(module)),
    }
}

/// Returns the instructions for which steps may wait although they do not read their values.
/// `steps` are those of instructions.
fn awaited(
    plan: &UnallocatedPlan,
    computation: &Computation,
    steps: &[Option<usize>],
) -> Vec<bool> {
    let instructions = &computation.instructions;
    let mut open: Vec<InstructionId> = Vec::new();
    for (id, instruction) in instructions.iter() {
        open.extend(before(instruction));
        if steps[id.index()].is_none() && !passes_each(computation, instruction) {
            open.extend(&instruction.operands);
        }
    }
    let mut found = vec![false; steps.len()];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut found[id.index()], true) {
            continue;
        }
        let step = steps[id.index()].map(|number| &plan.steps[number]);
        if step.is_none_or(may_vanish) {
            open.extend(before(&instructions[id]));
            open.extend(&instructions[id].operands);
        }
    }
    found
}

/// Returns whether those that read an instruction without a step wait only for what they read
/// through it.
fn passes_each(computation: &Computation, instruction: &Instruction) -> bool {
    let is_tuple = |instruction: &Instruction| matches!(instruction.op, Op::Tuple(_));
    if let Op::GetTupleElement(_) = instruction.op {
        return is_tuple(&computation.instructions[instruction.operands[0]]);
    }
    let is_array = instruction.shape.array().is_some();
    let is_other_name = instruction.opcode().aliases_operand() && is_array;
    is_tuple(instruction) || is_other_name && instruction.operands.len() == 1
}

/// Returns whether a step may be left out, as others read its operand in place of its result.
fn may_vanish(step: &UnallocatedStep) -> bool {
    if let Action::Kernel(kernel) = &step.action {
        return matches!(kernel.fusion(), Fusion::Walk(_) | Fusion::Widen(_));
    }
    matches!(step.action, Action::Bitcast)
}

/// Returns the control predecessors of an instruction.
fn before(instruction: &Instruction) -> &[InstructionId] {
    instruction.common.as_ref().map_or(&[], |common| common.control_predecessors())
}

/// Returns the class of each array.
fn leaf_classes(
    plan: &UnallocatedPlan,
    computation: &Computation,
    steps: &[Option<usize>],
    waits: &[bool],
) -> Vec<Class> {
    let mut sets = Sets::new();
    let mut arrays = vec![0; plan.arrays.len()];
    // The classes of the steps at which a search ends that begins at an instruction and passes
    // those without a step.
    let mut found: Vec<Class> = vec![0; steps.len()];
    let (mut next, mut count) = (0, 0);
    for (step, waits) in plan.steps.iter().zip(waits) {
        let mut class = 0;
        for &array in &step.inputs {
            class = sets.union(class, arrays[array]);
        }
        let at = step.site.instruction;
        let is_own = step.site.computation == plan.computation;
        if is_own {
            for index in next..at.index() {
                if steps[index].is_none() {
                    let id = InstructionId::new(index);
                    found[index] = reached(computation, id, &found, &mut sets);
                }
            }
            next = next.max(at.index());
            let before = reached(computation, at, &found, &mut sets);
            class = sets.union(class, before);
        }
        if *waits {
            let own = sets.of_one(count);
            class = sets.union(class, own);
            count += 1;
        }
        step.outputs.iter().for_each(|&array| arrays[array] = class);
        if is_own {
            found[at.index()] = sets.union(found[at.index()], class);
        }
    }
    arrays
}

/// Returns the union of the classes of what an instruction comes after.
fn reached(
    computation: &Computation,
    id: InstructionId,
    found: &[Class],
    sets: &mut Sets,
) -> Class {
    let instruction = &computation.instructions[id];
    let mut class = 0;
    for &id in before(instruction) {
        class = sets.union(class, found[id.index()]);
    }
    if let Op::GetTupleElement(op) = &instruction.op
        && let tuple = &computation.instructions[instruction.operands[0]]
        && let Op::Tuple(_) = tuple.op
    {
        return sets.union(class, found[tuple.operands[to_usize(op.index)].index()]);
    }
    for &id in &instruction.operands {
        class = sets.union(class, found[id.index()]);
    }
    class
}

/// The sets of the classes, each once.
struct Sets {
    /// A bit for each step that may wait, without words of zeros at the end; nothing for the class
    /// of one step.
    bits: Vec<Option<Rc<[u64]>>>,
    classes: FxHashMap<Rc<[u64]>, Class>,
    /// The unions so far.
    unions: FxHashMap<(Class, Class), Class>,
    words: usize,
}

impl Sets {
    fn new() -> Self {
        let empty: Rc<[u64]> = Rc::new([]);
        Self {
            bits: vec![Some(Rc::clone(&empty))],
            classes: [(empty, 0)].into_iter().collect(),
            unions: FxHashMap::default(),
            words: 0,
        }
    }
    fn of_one(&mut self, bit: usize) -> Class {
        let mut set = vec![0; bit / 64 + 1];
        set[bit / 64] = 1 << (bit % 64);
        self.add(set)
    }
    fn union(&mut self, a: Class, b: Class) -> Class {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a == 0 {
            return b;
        }
        if let Some(&union) = self.unions.get(&(a, b)) {
            return union;
        }
        let union = match (&self.bits[a], &self.bits[b]) {
            (Some(one), Some(other)) => {
                let (long, short) =
                    if one.len() < other.len() { (other, one) } else { (one, other) };
                let mut set = long.to_vec();
                set.iter_mut().zip(short.iter()).for_each(|(word, more)| *word |= more);
                self.add(set)
            }
            (Some(_) | None, None) | (None, Some(_)) => self.push(None),
        };
        self.unions.insert((a, b), union);
        union
    }
    fn add(&mut self, set: Vec<u64>) -> Class {
        if let Some(&class) = self.classes.get(set.as_slice()) {
            return class;
        }
        self.words = self.words.saturating_add(set.len());
        if self.words > MOST_WORDS {
            return self.push(None);
        }
        let set: Rc<[u64]> = set.into();
        self.classes.insert(Rc::clone(&set), self.bits.len());
        self.push(Some(set))
    }
    fn push(&mut self, set: Option<Rc<[u64]>>) -> Class {
        self.bits.push(set);
        self.bits.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable};

    /// Returns the plan of a module after this attribute, in which the sum over devices comes
    /// before the product with it.
    fn plan(attribute: &str, results: &str) -> String {
        let sum = "sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }";
        let text = format!(
            "HloModule m, {attribute}\n{sum} ENTRY e {{ x = f32[4] parameter(0)
             r = f32[4] all-reduce(x), replica_groups={{}}, to_apply=sum
             a = f32[4] add(x, x) b = f32[4] multiply(a, r) {results} }}"
        );
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
        executable.plan().to_string()
    }

    #[test]
    fn steps_are_fused_unless_others_need_them_before() {
        let both = "ROOT t = (f32[4], f32[4]) tuple(a, b)";
        assert!(!plan("replica_count=2", both).contains("fuses"));
        assert!(plan("replica_count=2, is_scheduled=true", both).contains("fuses a"));
        assert!(plan("replica_count=2", "ROOT c = f32[4] negate(b)").contains("fuses a b"));
        let ordered = "ROOT c = f32[4] negate(b), control-predecessors={a}";
        assert!(!plan("replica_count=2", ordered).contains("fuses a"));
    }
}
