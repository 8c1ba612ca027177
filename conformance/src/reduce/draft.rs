//! A module and its arguments while they are edited.
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::{Constant, Parameter};
use hlo::{Literal, Module, Op, Shape};
use std::collections::HashSet;

/// An instruction of an edited module.
pub(crate) type At = (ComputationId, InstructionId);

/// A module and its arguments while they are edited. Ids stay valid.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) rewriter: ModuleRewriter,
    /// The arguments of each device, or a single list for all devices.
    pub(crate) arguments: Vec<Vec<Literal>>,
}

/// An edit; returns whether it changed something.
pub(super) type Edit = Box<dyn Fn(&mut Draft) -> bool>;

impl Draft {
    pub(crate) fn new(module: &Module, arguments: &[Vec<Literal>]) -> Self {
        Self { rewriter: ModuleRewriter::new(module), arguments: arguments.to_vec() }
    }
    pub(super) fn entry(&self) -> &ComputationRewriter {
        self.rewriter.computation(self.rewriter.entry())
    }
    pub(crate) fn entry_mut(&mut self) -> &mut ComputationRewriter {
        let entry = self.rewriter.entry();
        self.rewriter.computation_mut(entry)
    }
    /// Returns the instruction, unless it was removed.
    pub(super) fn get(&self, (computation, id): At) -> Option<&Instruction> {
        self.rewriter.get(computation)?.get(id)
    }
    /// Returns every instruction, callees first.
    pub(super) fn all(&self) -> Vec<At> {
        let of =
            |c: ComputationId| self.rewriter.computation(c).ids().into_iter().map(move |i| (c, i));
        self.rewriter.computation_ids().into_iter().flat_map(of).collect()
    }
    /// Replaces every use of a value by another value of the same computation, and removes its
    /// instruction.
    pub(super) fn substitute(&mut self, (computation, old): At, new: InstructionId) {
        let computation = self.rewriter.computation_mut(computation);
        computation.replace_uses(old, new);
        computation.remove(old);
    }
    /// Returns the instructions that the result of their computation does not depend on; parameters
    /// are counted in the entry.
    pub(super) fn dead(&self) -> HashSet<At> {
        let mut dead = HashSet::new();
        for id in self.rewriter.computation_ids() {
            let computation = self.rewriter.computation(id);
            let live = self.live(id, &[]);
            dead.extend(
                computation.ids().into_iter().filter(|i| !live[i.index()]).map(|i| (id, i)),
            );
        }
        dead
    }
    /// Removes what edits made unused, and arguments with their parameters; instructions in `kept`
    /// stay, with their operands.
    pub(crate) fn sweep(&mut self, kept: &HashSet<At>) {
        for id in self.rewriter.computation_ids() {
            let computation = self.rewriter.computation(id);
            let all = computation.ids();
            let roots: Vec<_> = all.iter().copied().filter(|&i| kept.contains(&(id, i))).collect();
            let live = self.live(id, &roots);
            for unused in all.into_iter().filter(|i| !live[i.index()]) {
                if id != self.rewriter.entry() || !self.remove_parameter(unused) {
                    self.rewriter.computation_mut(id).remove(unused);
                }
            }
        }
        self.rewriter.remove_unused_computations();
    }
    /// Returns for each id whether the root or one of `roots` needs the instruction. A computation
    /// that is called needs its parameters.
    fn live(&self, id: ComputationId, roots: &[InstructionId]) -> Vec<bool> {
        let computation = self.rewriter.computation(id);
        let ids = computation.ids();
        let mut live = vec![false; ids.last().map_or(0, |id| id.index() + 1)];
        let mut open: Vec<InstructionId> = computation.root().into_iter().collect();
        open.extend_from_slice(roots);
        if id != self.rewriter.entry() {
            open.extend(computation.parameters());
        }
        while let Some(id) = open.pop() {
            let Some(instruction) = computation.get(id) else { continue };
            if !std::mem::replace(&mut live[id.index()], true) {
                open.extend(instruction.operands.iter().copied());
            }
        }
        live
    }
    /// Replaces an instruction of the entry by a new parameter with these arguments, one for each
    /// device.
    pub(crate) fn replace_by_parameter(&mut self, id: InstructionId, values: &[Literal]) -> bool {
        let Some(instruction) = self.entry().get(id) else { return false };
        let shape = instruction.shape.clone();
        let number = self.entry().parameters().len();
        if self.arguments.len() < values.len() {
            let [all] = self.arguments.as_slice() else { return false };
            self.arguments = vec![all.clone(); values.len()];
        }
        // A single value is that of all devices.
        for (arguments, value) in self.arguments.iter_mut().zip(values.iter().cycle()) {
            arguments.push(value.clone());
        }
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let entry = self.entry_mut();
        // Common attributes describe the replaced instruction.
        entry.instruction_mut(id).common = None;
        entry.replace(id, Instruction::new(Parameter { number }, shape, []));
        true
    }
    /// Removes a parameter of the entry and its argument.
    pub(super) fn remove_parameter(&mut self, id: InstructionId) -> bool {
        let Some(Op::Parameter(parameter)) = self.entry().get(id).map(|i| &i.op) else {
            return false;
        };
        let Ok(number) = usize::try_from(parameter.number) else { return false };
        self.entry_mut().remove_parameter(id);
        self.arguments.iter_mut().filter(|list| number < list.len()).for_each(|list| {
            list.remove(number);
        });
        true
    }
}

/// Returns a constant of this value.
pub(super) fn constant(value: Literal) -> Instruction {
    let shape = value.shape();
    Instruction::new(Constant { value: Box::new(ConstantValue::Literal(value)) }, shape, [])
}

/// Returns whether values of this shape can be arguments: static arrays, and tuples of them.
pub(crate) fn has_values(shape: &Shape) -> bool {
    shape.leaves().iter().all(|leaf| leaf.array().is_some_and(|array| array.dynamic.is_none()))
}
