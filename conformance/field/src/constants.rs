//! Values that a compiler may compute: functions of constants, in floats as it does.
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::{Binary, Unary};
use hlo::{Literal, Op, Scalar};
use num::clock::Stop;
use num::scalar_program::ScalarProgram;
use num::{Error, Result, Scope};
use std::collections::BTreeMap;

/// Larger arrays are not computed by compilers either.
const MOST: usize = 4096;

/// The values of a computation that are constant.
pub(crate) struct Constants {
    values: BTreeMap<InstructionId, (Literal, bool)>,
}

impl Constants {
    pub(crate) fn of(computation: &Computation) -> Self {
        let mut values: BTreeMap<InstructionId, (Literal, bool)> = BTreeMap::new();
        for (id, instruction) in computation.instructions.iter() {
            let operands: Option<Vec<&(Literal, bool)>> =
                instruction.operands.iter().map(|operand| values.get(operand)).collect();
            let Some(operands) = operands else { continue };
            let was_rounded = operands.iter().any(|(_, is_rounded)| *is_rounded);
            let literals: Vec<&Literal> = operands.into_iter().map(|(value, _)| value).collect();
            let Some(value) = value(instruction, &literals) else { continue };
            values.insert(id, (value, was_rounded || rounds(computation, instruction)));
        }
        Self { values }
    }
    /// Returns the value of an instruction that is a function of constants, or computes with one.
    pub(crate) fn rounded(&self, id: InstructionId) -> Option<&Literal> {
        self.values.get(&id).filter(|(_, is_rounded)| *is_rounded).map(|(value, _)| value)
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other ops are not computed")]
fn value(instruction: &Instruction, operands: &[&Literal]) -> Option<Literal> {
    let shape = instruction.shape.array().filter(|shape| shape.dynamic.is_none())?;
    if num::index::saturating_count(&shape.dims) > MOST {
        return None;
    }
    match &instruction.op {
        Op::Constant(op) => match &*op.value {
            ConstantValue::Literal(value) => Some(value.clone()),
            ConstantValue::Elided(_) => None,
        },
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Broadcast(_)
        | Op::Clamp(_)
        | Op::Compare(_)
        | Op::Concatenate(_)
        | Op::Convert(_)
        | Op::Iota(_)
        | Op::Reshape(_)
        | Op::ReducePrecision(_)
        | Op::Select(_)
        | Op::Slice(_)
        | Op::Transpose(_) => spec::evaluate(instruction, operands, &NoRun, &String::new).ok(),
        _ => None,
    }
}

/// Returns whether an op has a result that is an oracle over the field, or is rounded on purpose.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops are exact over the field")]
fn rounds(computation: &Computation, instruction: &Instruction) -> bool {
    let ty = |id: InstructionId| computation.instructions[id].shape.element_type();
    let of_float = || {
        let mut types = instruction.operands.iter().map(|&id| ty(id));
        types.any(|ty| ty.is_some_and(hlo::ElementType::is_float))
    };
    match &instruction.op {
        Op::Unary(op) => {
            of_float() && !matches!(op, Unary::Negate | Unary::Abs | Unary::Sign | Unary::IsFinite)
        }
        Op::Binary(op) => {
            of_float() && matches!(op, Binary::Power | Binary::Atan2 | Binary::Remainder)
        }
        Op::Convert(_) | Op::ReducePrecision(_) | Op::Iota(_) => true,
        _ => false,
    }
}

/// No run: constants need no computation and no limit.
#[derive(Debug)]
struct NoRun;

impl Scope for NoRun {
    fn check_time(&self) -> Result<()> {
        Ok(())
    }
    fn stop(&self) -> Stop {
        Stop::current()
    }
    fn spend(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn scalar_program(&self, _: hlo::ir::ComputationId) -> Result<&ScalarProgram> {
        Err(Error::unsupported("a constant calls no computation".to_owned()))
    }
    fn call(&self, _: hlo::ir::ComputationId, _: &[Scalar], _: &mut [Scalar]) -> Result<()> {
        Err(Error::unsupported("a constant calls no computation".to_owned()))
    }
}
