//! What can be told of a size before a run: how large it can be, and whether it is known altogether.
use crate::state::Open;
use crate::{Code, Result, Value};
use hlo::ir::{Instruction, InstructionId};
use hlo::op::Binary;
use hlo::{ConstantValue, Op};

/// What can be told of the number that a value is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The largest number it can be.
    pub(crate) most: Option<i64>,
    /// Whether it is never negative.
    natural: bool,
    /// Whether it depends on anything that is known only at run time.
    pub(crate) dynamic: bool,
}

impl Known {
    const NOTHING: Self = Self { most: None, natural: false, dynamic: true };

    pub(crate) fn of(value: Value<'_>) -> Result<Self> {
        let (mark, root) = value.mark().zip(value.id()).ok_or(Code::Invalid {})?;
        let state = value.builder().state.borrow();
        let open = state.marked(mark).ok_or(Code::Invalid {})?;
        let mut reached = vec![false; root.index() + 1];
        reached[root.index()] = true;
        for id in open.instructions.ids().rev().skip_while(|id| id.index() > root.index()) {
            if reached[id.index()] {
                let operands = &open.instructions[id].operands;
                operands.iter().for_each(|operand| reached[operand.index()] = true);
            }
        }
        // Operands stand before what is made of them: each instruction is looked at once.
        let mut facts = Vec::with_capacity(reached.len());
        for (id, instruction) in open.instructions.iter().take(reached.len()) {
            let fact = match reached[id.index()] {
                true => Facts { open, of: &facts }.fact(instruction),
                false => Self::NOTHING,
            };
            facts.push(fact);
        }
        Ok(facts.pop().unwrap_or(Self::NOTHING))
    }
}

/// What is known of the instructions so far.
struct Facts<'s> {
    open: &'s Open,
    of: &'s [Known],
}

impl Facts<'_> {
    fn fact(&self, instruction: &Instruction) -> Known {
        let all: Vec<Known> = instruction.operands.iter().map(|o| self.of[o.index()]).collect();
        let most = self.most(instruction, &all);
        // Larger numbers may have wrapped.
        let held = most.is_some_and(|most| i32::try_from(most).is_ok());
        let natural = match &instruction.op {
            Op::Constant(_) => constant(instruction).is_some_and(|n| n >= 0),
            Op::GetDimensionSize(_) => true,
            Op::Reshape(_) | Op::Copy(_) => all[0].natural,
            Op::Convert(_) => held && all[0].natural,
            Op::Clamp(_) => all[2].natural && (all[0].natural || all[1].natural),
            Op::Binary(Binary::Maximum) => all[0].natural || all[1].natural,
            Op::Binary(Binary::Minimum) => all[0].natural && all[1].natural,
            Op::Binary(Binary::Add | Binary::Multiply) => held && all[0].natural && all[1].natural,
            _ => false,
        };
        Known { most, natural, dynamic: self.dynamic(instruction) }
    }

    fn most(&self, instruction: &Instruction, all: &[Known]) -> Option<i64> {
        match &instruction.op {
            Op::Constant(_) => constant(instruction),
            Op::GetDimensionSize(of) => {
                self.operand(instruction, 0)?.shape.array()?.dim(*of.dimensions.first()?)
            }
            Op::Reshape(_) | Op::Copy(_) => all[0].most,
            // A narrower type could wrap.
            Op::Convert(_) if instruction.shape.array()?.ty.bits() >= 32 => all[0].most,
            Op::Clamp(_) => all[2].most,
            Op::Binary(Binary::Minimum) => match (all[0].most, all[1].most) {
                (Some(a), Some(c)) => Some(a.min(c)),
                (a, c) => a.or(c),
            },
            Op::Binary(Binary::Maximum) => Some(all[0].most?.max(all[1].most?)),
            Op::Binary(Binary::Add) => Some(all[0].most?.saturating_add(all[1].most?)),
            Op::Binary(Binary::Subtract) => {
                let less = constant(self.operand(instruction, 1)?).filter(|n| *n >= 0)?;
                Some(all[0].most?.saturating_sub(less))
            }
            Op::Binary(Binary::Multiply) if all.iter().all(|o| o.natural) => {
                Some(all[0].most?.saturating_mul(all[1].most?))
            }
            _ => None,
        }
    }

    fn dynamic(&self, instruction: &Instruction) -> bool {
        let any = |of: &[InstructionId]| of.iter().any(|o| self.of[o.index()].dynamic);
        match &instruction.op {
            Op::Constant(_) | Op::Iota(_) => false,
            Op::GetDimensionSize(of) => {
                let dim = of.dimensions.first().and_then(|&dim| usize::try_from(dim).ok());
                let shape = self.operand(instruction, 0).and_then(|x| x.shape.array());
                shape.zip(dim).is_none_or(|(shape, dim)| shape.is_dynamic(dim))
            }
            Op::Slice(slice) if slice.ranges.0.len() == 1 => {
                let range = slice.ranges.0[0];
                match self.operand(instruction, 0) {
                    Some(vector) if matches!(vector.op, Op::Concatenate(_)) => {
                        any(&self.parts(vector, range.start, range.limit))
                    }
                    _ => any(&instruction.operands),
                }
            }
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Clamp(_)
            | Op::Select(_)
            | Op::Compare(_)
            | Op::Convert(_)
            | Op::Reshape(_)
            | Op::Broadcast(_)
            | Op::Concatenate(_)
            | Op::Copy(_)
            | Op::Slice(_)
            | Op::Transpose(_) => any(&instruction.operands),
            _ => true,
        }
    }

    fn operand(&self, instruction: &Instruction, i: usize) -> Option<&Instruction> {
        instruction.operands.get(i).map(|&id| &self.open.instructions[id])
    }
    /// Those parts of a vector put together of several that a range meets.
    fn parts(&self, vector: &Instruction, start: i64, limit: i64) -> Vec<InstructionId> {
        let mut end = 0;
        let mut met = Vec::new();
        for &part in &vector.operands {
            let begin = end;
            end += self.open.instructions[part].shape.array().and_then(|a| a.dim(0)).unwrap_or(0);
            if begin < limit && start < end {
                met.push(part);
            }
        }
        met
    }
}

/// The element of a constant of one element.
fn constant(instruction: &Instruction) -> Option<i64> {
    let Op::Constant(constant) = &instruction.op else { return None };
    match &*constant.value {
        ConstantValue::Literal(literal) if literal.len() == 1 => literal.get(0).as_i64(),
        _ => None,
    }
}
