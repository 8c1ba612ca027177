//! Detection of the first instruction that returns a NaN or an infinity for finite operands.
use crate::observe::op_name;
use crate::plan::SliceBounds;
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::{Array, Scalar};
use num::error::Code;
use num::index::{strides, to_i64, to_usize};
use std::fmt::Write as _;

/// Fails if one of the outputs has a NaN or an infinity, and none of the operands has. `part` is
/// the part of the instruction's value that the outputs are.
pub(crate) fn check(
    instruction: &Instruction,
    operands: &[Array],
    outputs: &[Array],
    part: Option<&SliceBounds>,
) -> Result<()> {
    // Padding is not checked.
    if operands.iter().chain(outputs).any(|x| x.dynamic_sizes().is_some()) {
        let to_static = |arrays: &[Array]| arrays.iter().map(Array::to_static).collect::<Vec<_>>();
        return check(instruction, &to_static(operands), &to_static(outputs), part);
    }
    // An instruction without operands (a constant) did not compute its value.
    if operands.is_empty() || operands.iter().any(|o| first_in(o).is_some()) {
        return Ok(());
    }
    let first = outputs.iter().find_map(|output| Some((output, first_in(output)?)));
    let Some((output, at)) = first else { return Ok(()) };
    let mut message = format!(
        "`{}` computes {} at {} from finite operands",
        instruction.opcode(),
        shown(output, at),
        place(output, at, part)
    );
    for (i, operand) in operands.iter().enumerate() {
        describe(&mut message, i, operand, output, at);
    }
    let error = Error::from(Code::NotFinite { message });
    Err(match op_name(instruction) {
        Some(name) => error.with_help(format!("the op_name of the instruction is `{name}`")),
        None => error,
    })
}

/// Returns the place of the first NaN or infinity in an array.
fn first_in(array: &Array) -> Option<usize> {
    let ty = array.shape().ty;
    if !ty.is_float() && !ty.is_complex() {
        return None;
    }
    (0..array.len()).find(|&i| match array.get(i) {
        Scalar::Float(x) => !x.is_finite(),
        Scalar::Complex(re, im) => !re.is_finite() || !im.is_finite(),
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => false,
    })
}

/// Appends the element of operand `i` at the index of the result, or the range of its values.
fn describe(message: &mut String, i: usize, operand: &Array, result: &Array, at: usize) {
    let same = result.shape().dims == operand.shape().dims;
    let written = if operand.len() == 1 {
        write!(message, "; operand {i} is {}", shown(operand, 0))
    } else if same {
        write!(message, "; operand {i} is {} there", shown(operand, at))
    } else {
        let values = (0..operand.len()).map(|k| operand.get(k).as_f64());
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return;
        }
        write!(message, "; operand {i} lies between {low} and {high}")
    };
    written.expect("writing to a string does not fail");
}

fn place(array: &Array, at: usize, part: Option<&SliceBounds>) -> String {
    let steps = strides(&array.shape().dims);
    let mut rest = at;
    let index: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(d, &step)| {
            let step = to_usize(step);
            let i = to_i64(rest / step);
            rest %= step;
            let (start, step) = part.map_or((0, 1), |part| part[d]);
            (start + i * step).to_string()
        })
        .collect();
    format!("[{}]", index.join(","))
}

/// Returns an element as text, with the digits of its type.
fn shown(array: &Array, at: usize) -> String {
    let element = array.get(at);
    if let Scalar::Float(x) = element
        && x.is_nan()
    {
        return "NaN".to_owned();
    }
    let text = Array::scalar(array.shape().ty, element).to_string();
    text.split_once(' ').map_or(text.clone(), |(_, value)| value.to_owned())
}
