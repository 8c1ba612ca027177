//! Factors read with fewer bits, and wider types.
#![expect(clippy::wildcard_enum_match_arm, reason = "only sums of products have a precision")]
use super::edit::Edit;
use hlo::ir::InstructionId;
use hlo::op::Binary;
use hlo::op::value::{DotAlgorithm, Precision};
use hlo::{ElementType, Op};

/// Returns the precision of both factors, if the op adds products as its backend likes.
fn requested(op: &Op) -> Option<[Precision; 2]> {
    let (algorithm, requested) = match op {
        Op::Dot(op) => (op.algorithm, &op.operand_precision),
        Op::Convolution(op) if op.sparsity_config.is_none() => {
            (op.algorithm, &op.operand_precision)
        }
        _ => return None,
    };
    let of = |i: usize| requested.0.get(i).copied().unwrap_or_default();
    (algorithm == DotAlgorithm::Unset).then(|| [of(0), of(1)])
}

/// Reads `f32` factors as TF32, or as one or two `bf16`, as their precision permits.
pub(super) fn in_passes(edit: &mut Edit<'_>) -> bool {
    let Some(requested) = requested(&edit.instruction().op) else { return false };
    let single = |&x: &InstructionId| edit.ty(x) == ElementType::F32;
    let Some(shape) = edit.arrays().filter(|_| edit.operands().iter().all(single)) else {
        return false;
    };
    if requested.contains(&Precision::Highest) {
        return false;
    }
    let [x, y] = edit.operands()[..] else { return false };
    let op = edit.op();
    let one_pass = requested == [Precision::Default; 2];
    match edit.random.u8(..if one_pass { 3 } else { 2 }) {
        0 => {
            for (i, x) in [x, y].into_iter().enumerate() {
                let read = tf32(edit, x);
                edit.computation.instruction_mut(edit.at).operands[i] = read;
            }
            true
        }
        1 => {
            let [(high_x, low_x), (high_y, low_y)] = [x, y].map(|x| halves(edit, x));
            let pairs = [[high_x, high_y], [high_x, low_y], [low_x, high_y]];
            let [high, one, other] = pairs.map(|pair| edit.add(op.clone(), shape.clone(), pair));
            let low = edit.binary(Binary::Add, one, other);
            let sum = edit.binary(Binary::Add, low, high);
            let finite = edit.is_finite(high);
            let sum = edit.select(finite, sum, high);
            edit.set(sum)
        }
        _ => {
            for (i, x) in [x, y].into_iter().enumerate() {
                let read = edit.rounded(x, 7);
                edit.computation.instruction_mut(edit.at).operands[i] = read;
            }
            true
        }
    }
}

/// Returns a number with 11 bits, rounded or truncated.
fn tf32(edit: &mut Edit<'_>, x: InstructionId) -> InstructionId {
    if edit.random.bool() {
        return edit.rounded(x, 10);
    }
    let bits = edit.bits(x);
    let mask = edit.integers(bits, &[-1 << 13]);
    let kept = edit.binary(Binary::And, bits, mask);
    let truncated = edit.of_bits(kept, ElementType::F32);
    let finite = edit.is_finite(x);
    edit.select(finite, truncated, x)
}

/// Returns the two `bf16` of which a number is nearly the sum; the second one of an infinity is 0.
fn halves(edit: &mut Edit<'_>, x: InstructionId) -> (InstructionId, InstructionId) {
    let high = edit.rounded(x, 7);
    let rest = edit.binary(Binary::Subtract, x, high);
    let low = edit.rounded(rest, 7);
    let finite = edit.is_finite(high);
    let zero = edit.filled(x, 0.0);
    let low = edit.select(finite, low, zero);
    (high, low)
}

/// Returns the type in which a float or complex type is computed more precisely.
pub(super) fn wider(ty: ElementType) -> Option<ElementType> {
    if ty == ElementType::F32 {
        Some(ElementType::F64)
    } else if ty == ElementType::C64 {
        Some(ElementType::C128)
    } else if ty == ElementType::Bf16 || ty == ElementType::F16 {
        Some(ElementType::F32)
    } else {
        None
    }
}
