//! Differences between engines that are only in the bits of NaNs, which HLO leaves open.
//!
//! A NaN that an op computes may have any sign and payload, and a few ops show them:
//! `bitcast-convert`, `topk`, a comparison in the total order. Where two engines differ, both run
//! the module once more, with the same NaN in place of every one that an op of another result type
//! reads. If they then agree, or differ within the bound, nothing but the bits of NaNs differed.
use super::bits;
use super::recorder::Recorder;
use crate::Subject;
use crate::results::{Record, Verdict};
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::value::Direction;
use hlo::op::{Binary, Select, Unary};
use hlo::{ArrayShape, Module, Op, Scalar, Shape};
use std::sync::Arc;

/// The reason of a record whose difference is only in the bits of NaNs.
const REASON: &str = "the module shows the bits of a NaN, which are not specified: with one NaN everywhere both agree, or differ within the bound";

/// Marks a difference as undefined if it is only in the bits of NaNs.
pub(super) fn explain(
    record: &mut Record,
    subject: &Subject,
    reference: &mut Recorder<'_>,
    backend: &mut Recorder<'_>,
) {
    if record.verdict != Verdict::Differs {
        return;
    }
    let Some(module) = with_one_nan(subject.module.module()) else { return };
    let subject = Subject { module: Arc::new(module), ..subject.clone() };
    if matches!(
        bits::conform(&subject, reference, backend).verdict,
        Verdict::Agrees | Verdict::WithinBound | Verdict::NotTested
    ) {
        record.verdict = Verdict::Undefined;
        REASON.clone_into(&mut record.reason);
    }
}

/// Returns the module in which every op whose result has another type than its operand reads one
/// NaN.
fn with_one_nan(module: &Module) -> Option<hlo::Verified> {
    let mut rewriter = ModuleRewriter::new(module);
    // The computation of an asynchronous op has no other op: its operands are replaced instead.
    let instructions = module.instructions();
    let wrapped: Vec<ComputationId> = instructions
        .filter_map(|one| if let Op::AsyncStart(op) = &one.op { Some(op.calls) } else { None })
        .collect();
    for computation in rewriter.computation_ids() {
        if wrapped.contains(&computation) {
            continue;
        }
        let computation = rewriter.computation_mut(computation);
        for id in computation.ids() {
            let operands = computation.instruction(id).operands.clone();
            for (i, operand) in operands.into_iter().enumerate() {
                if shows(computation, operand, id)
                    && let Some(replaced) = replaced(computation, operand, id)
                {
                    computation.instruction_mut(id).operands[i] = replaced;
                }
            }
        }
    }
    rewriter.finish().ok()?.verify().ok()
}

/// Returns whether an operand of a static shape has NaNs, and the result of its user has another
/// type.
fn shows(computation: &ComputationRewriter, operand: InstructionId, user: InstructionId) -> bool {
    let Some(array) = computation.instruction(operand).shape.array() else { return false };
    let result = &computation.instruction(user).shape;
    let differs = |leaf: &Shape| leaf.element_type().is_some_and(|ty| ty != array.ty);
    array.dynamic.is_none()
        && (array.ty.is_float() || array.ty.is_complex())
        && result.leaves().into_iter().any(differs)
}

/// Adds the operand with one NaN in place of all, before its user.
fn replaced(
    computation: &mut ComputationRewriter,
    operand: InstructionId,
    user: InstructionId,
) -> Option<InstructionId> {
    let shape = computation.instruction(operand).shape.array()?.clone();
    if !shape.ty.is_complex() {
        return Some(with_nan(computation, operand, user, &shape));
    }
    let part = shape.with_type(shape.ty.component());
    let mut parts = Vec::new();
    for op in [Unary::Real, Unary::Imag] {
        let one = computation.add(user, Instruction::new(Op::from(op), part.clone(), [operand]));
        parts.push(with_nan(computation, one, user, &part));
    }
    Some(computation.add(user, Instruction::new(Op::from(Binary::Complex), shape, parts)))
}

fn with_nan(
    computation: &mut ComputationRewriter,
    x: InstructionId,
    user: InstructionId,
    shape: &ArrayShape,
) -> InstructionId {
    let nan = computation.add_filled(user, shape, Scalar::Float(f64::NAN).round_to(shape.ty));
    let is_nan = computation.add_compare(user, Direction::Ne, [x, x]);
    computation.add(user, Instruction::new(Select {}, shape.clone(), [is_nan, nan, x]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::EngineBackend;
    use crate::fuzz::bits;
    use crate::{Engine, FileTest};

    /// Returns the verdict on a module in both engines, by the bits of its results.
    fn verdict(text: &str) -> Record {
        let file = FileTest::new("nan.hlo".as_ref(), text.to_owned()).unwrap();
        let subject = file.cases[0].subject().unwrap().unwrap();
        let [mut exact, mut reference] = [Engine::Exact, Engine::Reference].map(EngineBackend);
        let (mut exact, mut reference) = (Recorder::new(&mut exact), Recorder::new(&mut reference));
        let mut record = bits::conform(&subject, &mut reference, &mut exact);
        explain(&mut record, &subject, &mut reference, &mut exact);
        record
    }

    #[test]
    fn the_bits_of_a_computed_nan_are_undefined() {
        let text = "HloModule m
ENTRY e { x = f16[40] parameter(0) y = f16[40] logistic(x) ROOT r = u16[40] bitcast-convert(y) }
// in: f16[40] {nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13), nan(0x13)}
";
        let record = verdict(text);
        assert!(!record.verdict.is_bad(), "{}", record.reason);
    }

    #[test]
    fn a_module_with_one_nan_is_valid_and_has_the_same_other_values() {
        let text = "HloModule m
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e { x = f32[3] parameter(0) c = c64[3] complex(x, x) s = f32[3] sort(x), dimensions={0}, to_apply=less
  b = s32[3] bitcast-convert(s) f = f32[3] convert(c) t = (f32[2], s32[2]) topk(f), k=2, largest=true
  ROOT r = (s32[3], f32[3], (f32[2], s32[2])) tuple(b, f, t) }
";
        let module = Module::parse(text).unwrap().verify().unwrap();
        let rewritten = with_one_nan(module.module()).unwrap();
        let count =
            |m: &Module| m.computations.iter().map(|(_, c)| c.instructions.len()).sum::<usize>();
        assert!(count(rewritten.module()) > count(module.module()) + 10);
        let x = hlo::Literal::from_slice(&[3], &[2f32, -1.0, 0.5]);
        let run = |module: hlo::Verified| {
            let options = interp::CompileOptions::default();
            let executable = interp::Executable::compile(module, &options).unwrap();
            executable.execute(std::slice::from_ref(&x), &interp::RunOptions::default()).unwrap()
        };
        assert_eq!(run(rewritten), run(module));
    }
}
