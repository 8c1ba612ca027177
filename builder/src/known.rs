//! Bounds of sizes: what is known of an integer value before a run.
use crate::constants::follows_from_operands;
use crate::state::Open;
use crate::{Code, Result, Value};
use hlo::ir::{Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::{Op, Opcode};

/// The facts known of an integer value before a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownInteger {
    /// An upper bound.
    pub(crate) most: Option<i64>,
    /// Whether it is never negative.
    natural: bool,
    /// Whether it depends on anything known only at run time.
    pub(crate) dynamic: bool,
}

impl KnownInteger {
    const NOTHING: Self = Self { most: None, natural: false, dynamic: true };

    pub(crate) fn of(value: Value<'_>) -> Result<Self> {
        let (mark, root) = value.mark().zip(value.id()).ok_or_else(|| value.builder().failure())?;
        let state = value.builder().state.borrow();
        let open = state.marked(mark).ok_or(Code::Invalid {})?;
        let reached = open.reached(root, |_| false);
        // Operands precede their users, so one pass is enough.
        let mut facts = Vec::with_capacity(reached.len());
        for (id, instruction) in open.instructions.iter().take(reached.len()) {
            let fact = match reached[id.index()] {
                true => InstructionFacts { open, of: &facts }.fact(instruction),
                false => Self::NOTHING,
            };
            facts.push(fact);
        }
        Ok(facts.pop().unwrap_or(Self::NOTHING))
    }
}

/// The facts known of the instructions so far.
struct InstructionFacts<'s> {
    open: &'s Open,
    of: &'s [KnownInteger],
}

impl InstructionFacts<'_> {
    fn fact(&self, instruction: &Instruction) -> KnownInteger {
        let dynamic = self.dynamic(instruction);
        let (most, natural) = self.range(instruction).unwrap_or((None, false));
        KnownInteger { most, natural, dynamic }
    }

    /// Returns the largest number the instruction can be, and whether it is never negative.
    fn range(&self, instruction: &Instruction) -> Option<(Option<i64>, bool)> {
        let all: Vec<KnownInteger> =
            instruction.operands.iter().map(|o| self.of[o.index()]).collect();
        let both = |f: fn(i64, i64) -> i64| Some(f(all[0].most?, all[1].most?));
        // Larger numbers may have wrapped.
        let held = |most: Option<i64>| most.is_some_and(|most| i32::try_from(most).is_ok());
        let naturals = all.iter().all(|operand| operand.natural);
        if let Op::GetDimensionSize(of) = &instruction.op {
            let shape = self.operand(instruction, 0)?.shape.array()?;
            return Some((shape.dim(*of.dimensions.first()?), true));
        }
        let op = instruction.opcode();
        Some(if op == Opcode::Constant {
            let number = constant(instruction);
            (number, number.is_some_and(|n| n >= 0))
        } else if op == Opcode::Reshape || op == Opcode::Copy {
            (all[0].most, all[0].natural)
        } else if op == Opcode::Convert {
            // A narrower type could wrap.
            let most = all[0].most.filter(|_| element_bits(instruction) >= 32);
            (most, held(most) && all[0].natural)
        } else if op == Opcode::Clamp {
            (all[2].most, all[2].natural && (all[0].natural || all[1].natural))
        } else if op == Opcode::Minimum {
            (both(i64::min).or(all[0].most).or(all[1].most), naturals)
        } else if op == Opcode::Maximum {
            (both(i64::max), all[0].natural || all[1].natural)
        } else if op == Opcode::Add {
            let most = both(i64::saturating_add);
            (most, held(most) && naturals)
        } else if op == Opcode::Subtract {
            let less = constant(self.operand(instruction, 1)?).filter(|n| *n >= 0)?;
            (all[0].most.map(|most| most.saturating_sub(less)), false)
        } else if op == Opcode::Multiply {
            let most = both(i64::saturating_mul).filter(|_| naturals);
            (most, held(most) && naturals)
        } else {
            return None;
        })
    }

    fn dynamic(&self, instruction: &Instruction) -> bool {
        let any = |of: &[InstructionId]| of.iter().any(|o| self.of[o.index()].dynamic);
        let operand = self.operand(instruction, 0);
        if let Op::GetDimensionSize(of) = &instruction.op {
            let dim = of.dimensions.first().and_then(|&dim| usize::try_from(dim).ok());
            let shape = operand.and_then(|x| x.shape.array());
            return shape.zip(dim).is_none_or(|(shape, dim)| shape.is_dynamic(dim));
        }
        if let (Op::Slice(slice), Some(vector)) = (&instruction.op, operand)
            && let [range] = slice.ranges.0.as_slice()
            && vector.opcode() == Opcode::Concatenate
        {
            return any(&self.parts(vector, range.start, range.limit));
        }
        !follows_from_operands(instruction) || any(&instruction.operands)
    }

    fn operand(&self, instruction: &Instruction, i: usize) -> Option<&Instruction> {
        instruction.operands.get(i).map(|&id| &self.open.instructions[id])
    }
    /// Returns the operands of a concatenation that a range overlaps.
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

/// Returns the element of a constant of one element.
fn constant(instruction: &Instruction) -> Option<i64> {
    let Op::Constant(constant) = &instruction.op else { return None };
    let ConstantValue::Literal(literal) = &*constant.value else { return None };
    if literal.len() == 1 { literal.get(0).as_i64() } else { None }
}
fn element_bits(instruction: &Instruction) -> u32 {
    instruction.shape.element_type().map_or(0, hlo::ElementType::bits)
}
