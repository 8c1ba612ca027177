//! What is known of a computation before it runs: last uses, and what each instruction allocates.
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::{Arena, Op, Shape};
use smallvec::SmallVec;

/// One entry for each instruction of a computation.
#[derive(Debug)]
pub(crate) struct Table {
    /// The values that are not used after the instruction.
    pub(crate) dead: Vec<SmallVec<[InstructionId; 2]>>,
    /// The bytes its result takes; `None` if they cannot be counted.
    pub(crate) bytes: Vec<Option<usize>>,
}

impl Table {
    pub(crate) fn of(computation: &Computation) -> Self {
        let instructions = &computation.instructions;
        Self {
            dead: last_uses(instructions, computation.root),
            bytes: instructions.iter().map(|(_, instruction)| allocates(instruction)).collect(),
        }
    }
    /// Whether `value` is not used after instruction `user`.
    pub(crate) fn is_last_use(&self, value: InstructionId, user: InstructionId) -> bool {
        self.dead[user.index()].contains(&value)
    }
}

/// For each instruction the values that are not used after it.
fn last_uses(
    instructions: &Arena<Instruction>,
    root: InstructionId,
) -> Vec<SmallVec<[InstructionId; 2]>> {
    let mut last: Vec<usize> = (0..instructions.len()).collect();
    for (id, instruction) in instructions.iter() {
        for operand in &instruction.operands {
            last[operand.index()] = id.index();
        }
    }
    let mut dead = vec![SmallVec::new(); instructions.len()];
    for (value, &user) in last.iter().enumerate() {
        if value != root.index() {
            dead[user].push(InstructionId::new(value));
        }
    }
    dead
}

/// Bytes of the arrays of a shape; `None` if they cannot be counted or addressed.
pub(crate) fn bytes_of(shape: &Shape) -> Option<usize> {
    let mut bytes = 0usize;
    for leaf in shape.leaves() {
        if let Shape::Array(array) = leaf {
            let size = array.byte_count().filter(|&b| isize::try_from(b).is_ok())?;
            bytes = bytes.checked_add(size)?;
        }
    }
    Some(bytes)
}

/// Bytes of the arrays an instruction makes; nothing if it hands on what exists, or others make its result.
fn allocates(instruction: &Instruction) -> Option<usize> {
    let shares = matches!(
        instruction.op,
        Op::Parameter(_)
            | Op::Constant(_)
            | Op::Tuple(_)
            | Op::GetTupleElement(_)
            | Op::Call(_)
            | Op::Fusion(_)
            | Op::While(_)
            | Op::Conditional(_)
            | Op::Copy(_)
            | Op::Reshape(_)
            | Op::OptBarrier(_)
            | Op::AddDependency(_)
            | Op::Domain(_)
    );
    bytes_of(&instruction.shape).map(|bytes| if shares { 0 } else { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_die_at_their_last_use_and_the_root_never() {
        let text = "ENTRY e { a = f32[4] parameter(0) b = f32[4] add(a, a) unused = f32[4] add(a, b) ROOT t = (f32[4]) tuple(b) }";
        let module = hlo::Module::parse(text).unwrap().verify().unwrap();
        let table = Table::of(module.module().entry());
        let dead: Vec<Vec<usize>> =
            table.dead.iter().map(|d| d.iter().map(|i| i.index()).collect()).collect();
        assert_eq!(dead, [vec![], vec![], vec![0, 2], vec![1]]);
        assert_eq!(table.bytes, [Some(0), Some(16), Some(16), Some(0)]);
    }
}
