//! Which instructions are checked, and where the values of their operands are.
use crate::program::{Values, checkable_alone, is_done, rebuilt};
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::{Literal, Op, Shape};
use std::collections::{BTreeSet, HashMap};

/// A computation and its arguments on each device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'a> {
    pub(super) computation: &'a Computation,
    pub(super) arguments: &'a [Vec<Literal>],
}

/// Where the value of an instruction is.
enum Source {
    Parameter(usize),
    /// A tuple of its operands.
    Tuple,
    /// An element of its operand.
    Element(usize),
    /// The result of a run.
    Recorded,
}

/// Values of instructions in a run.
pub(super) type Recorded = HashMap<InstructionId, Values>;

impl Source {
    fn of(instruction: &Instruction) -> Self {
        let index = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
        if let Op::Parameter(op) = &instruction.op {
            Self::Parameter(index(op.number))
        } else if let Op::Tuple(_) = &instruction.op {
            Self::Tuple
        } else if let Op::GetTupleElement(op) = &instruction.op {
            Self::Element(index(op.index))
        } else {
            Self::Recorded
        }
    }
}

/// Returns whether the value of the instruction can be a result and an argument: arrays of static
/// sizes.
fn has_value(instruction: &Instruction) -> bool {
    let is_fed = |leaf: &&Shape| match leaf {
        Shape::Array(array) => array.dynamic.is_none(),
        Shape::Token => true,
        Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => false,
    };
    let leaves = instruction.shape.leaves();
    is_done(instruction)
        && leaves.iter().all(is_fed)
        && leaves.iter().any(|leaf| leaf.array().is_some())
}

impl Region<'_> {
    fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.computation.instructions[id]
    }
    /// Returns the instructions to check, in text order: those that the result depends on, except
    /// what only renames values. `left_out` gets those that cannot be checked.
    pub(super) fn checked(&self, left_out: &mut Vec<InstructionId>) -> Vec<InstructionId> {
        let mut live = BTreeSet::new();
        let mut open = vec![self.computation.root];
        while let Some(id) = open.pop() {
            if live.insert(id.index()) {
                open.extend(self.instruction(id).operands.iter().copied());
            }
        }
        let mut checked = Vec::new();
        for (id, instruction) in self.computation.instructions.iter() {
            let Source::Recorded = Source::of(instruction) else { continue };
            if !live.contains(&id.index()) {
                continue;
            }
            if has_value(instruction) && checkable_alone(instruction) {
                checked.push(id);
            } else if !checkable_alone(instruction)
                || instruction.shape.array().is_some_and(|array| array.dynamic.is_some())
            {
                left_out.push(id);
            }
        }
        checked
    }
    /// Adds the instructions whose recorded values the value of this one is made of.
    fn needs(&self, id: InstructionId, out: &mut BTreeSet<InstructionId>) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let instruction = self.instruction(id);
            match Source::of(instruction) {
                Source::Parameter(_) => {}
                Source::Tuple | Source::Element(_) => open.extend(instruction.operands.iter()),
                Source::Recorded if has_value(instruction) => {
                    out.insert(id);
                }
                // It is copied, so its operands are needed.
                Source::Recorded => open.extend(instruction.operands.iter()),
            }
        }
    }
    /// Splits the instructions into slices of which the values and the operands take at most
    /// `limit` bytes; a slice has at least one instruction.
    pub(super) fn slices(
        &self,
        checked: &[InstructionId],
        limit: usize,
    ) -> Vec<Vec<InstructionId>> {
        let bytes = |id: &InstructionId| {
            let arrays = self.instruction(*id).shape.leaves().into_iter().filter_map(Shape::array);
            arrays
                .map(|array| array.byte_count().unwrap_or(usize::MAX))
                .fold(0, usize::saturating_add)
        };
        let mut slices: Vec<Vec<InstructionId>> = Vec::new();
        let mut watched = BTreeSet::new();
        for &id in checked {
            let mut with = watched.clone();
            with.extend(self.watched(&[id]));
            let total = with.iter().map(bytes).fold(0, usize::saturating_add);
            match slices.last_mut().filter(|_| total <= limit) {
                Some(slice) => {
                    slice.push(id);
                    watched = with;
                }
                None => {
                    watched = self.watched(&[id]).into_iter().collect();
                    slices.push(vec![id]);
                }
            }
        }
        slices
    }
    /// Returns the instructions to record for these: themselves and what their operands are made
    /// of.
    pub(super) fn watched(&self, checked: &[InstructionId]) -> Vec<InstructionId> {
        let mut watched: BTreeSet<InstructionId> = checked.iter().copied().collect();
        for &id in checked {
            for &operand in &self.instruction(id).operands {
                self.needs(operand, &mut watched);
            }
        }
        watched.into_iter().collect()
    }
    /// Returns the values of `watched` from the arrays of each device, and the arrays that follow.
    pub(super) fn recorded(
        &self,
        watched: &[InstructionId],
        results: &[Literal],
    ) -> Option<(Recorded, Vec<Vec<Literal>>)> {
        let mut devices: Vec<_> =
            results.iter().map(|result| crate::program::arrays(result).into_iter()).collect();
        let mut recorded = Recorded::new();
        for &id in watched {
            let shape = &self.instruction(id).shape;
            let values: Option<Values> =
                devices.iter_mut().map(|arrays| rebuilt(shape, arrays)).collect();
            recorded.insert(id, values?);
        }
        Some((recorded, devices.into_iter().map(Iterator::collect).collect()))
    }
    /// Returns the value of an instruction on each device.
    pub(super) fn value(&self, id: InstructionId, recorded: &Recorded) -> Option<Values> {
        let instruction = self.instruction(id);
        match Source::of(instruction) {
            Source::Parameter(number) => {
                self.arguments.iter().map(|list| list.get(number).cloned()).collect()
            }
            Source::Tuple => {
                let parts = instruction.operands.iter().map(|&part| self.value(part, recorded));
                let parts: Vec<Values> = parts.collect::<Option<_>>()?;
                let tuple = |device: usize| {
                    Literal::tuple(parts.iter().map(|part| part[device].clone()).collect())
                };
                Some((0..self.arguments.len()).map(tuple).collect())
            }
            Source::Element(index) => {
                let tuples = self.value(instruction.operands[0], recorded)?;
                tuples.iter().map(|tuple| tuple.elements()?.get(index).cloned()).collect()
            }
            Source::Recorded => recorded.get(&id).cloned(),
        }
    }
}
