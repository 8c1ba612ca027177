//! States in exact arithmetic: whether a step keeps the function for every float argument, and
//! whether a difference is one of rounding.
use super::state::State;
use field::{Answer, Difference};
use hlo::{Literal, Module, Op, Scalar, Shape};
use interp::RunOptions;
use interp::cost::Costs;
use serde::Serialize;

/// What is known of a step in exact arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Proof {
    /// Both states are the same function of every float argument.
    Proved {
        /// How often arguments were drawn.
        draws: u32,
        /// The probability that it is so by chance.
        probability: f64,
    },
    /// Both states differ for the arguments of a draw.
    Different {
        /// The seed of the draw.
        seed: u64,
    },
    /// Neither is known.
    Open {
        /// Why.
        reason: String,
    },
}

/// The most operations of one run, and the most steps: a loop may have any number of them.
const MOST: (f64, u64) = (4e6, 50_000_000);

/// Compares two states of the same parameters and results on arguments that are drawn.
pub(super) fn proof(states: [&State; 2], draws: u32) -> (Proof, Option<Difference>) {
    match compared(states, draws, None) {
        Ok(Answer::Equal(evidence)) => {
            (Proof::Proved { draws, probability: evidence.probability() }, None)
        }
        Ok(Answer::Different(found)) => (Proof::Different { seed: found.seed }, Some(found)),
        Ok(Answer::Open(open)) => {
            let separator = if open.instruction.is_empty() { "" } else { ": " };
            (Proof::Open { reason: format!("{}{separator}{}", open.instruction, open.reason) }, None)
        }
        Err(reason) => (Proof::Open { reason }, None),
    }
}

/// Returns whether a difference of two results is nothing but rounding: both are finite, and in exact
/// arithmetic the states agree on these arguments, none of them in fewer digits than the first.
pub(super) fn is_rounding(
    states: [&State; 2],
    arguments: &[Literal],
    [expected, actual]: [&[Literal]; 2],
) -> bool {
    let [before, after] = states.map(|state| digits(state.module.module()));
    after >= before
        && expected.iter().zip(actual).all(|(expected, actual)| are_finite(expected, actual))
        && matches!(compared(states, 2, Some(arguments.to_vec())), Ok(Answer::Equal(_)))
}

fn compared(
    states: [&State; 2],
    draws: u32,
    arguments: Option<Vec<Literal>>,
) -> Result<Answer, String> {
    let operations = states.map(|state| operations(state.module.module()));
    if operations.into_iter().any(|count| count > MOST.0) {
        return Err("the states are too large for the field".to_owned());
    }
    let limits = RunOptions::default().fuel(MOST.1);
    let options = field::Options { seed: 0, seeds: draws, limits, arguments };
    let [before, after] = states.map(|state| &state.module);
    let answer = field::equal(before, after, &options).map_err(|failure| failure.to_string())?;
    Ok(answer)
}

/// Returns the operations on elements of a run, as far as they are known.
fn operations(module: &Module) -> f64 {
    let rows = Costs::of(module).rows;
    rows.iter().map(|row| row.count * (row.cost.flops + row.cost.bytes / 4.0)).sum()
}

/// Returns the fewest binary digits to which a module rounds.
fn digits(module: &Module) -> u32 {
    let all = module.computations.iter().flat_map(|(_, of)| of.instructions.iter());
    let of_type = |shape: &Shape| {
        let ty = shape.element_type()?;
        let part = if ty.is_complex() { ty.component() } else { ty };
        part.float_format().map(|format| format.mantissa_bits)
    };
    let of_instruction = |instruction: &hlo::ir::Instruction| {
        let of_shape = instruction.shape.leaves().into_iter().filter_map(of_type);
        let Op::ReducePrecision(op) = &instruction.op else { return of_shape.min() };
        let stated = u32::try_from(op.mantissa_bits).ok();
        of_shape.chain(stated).min()
    };
    all.filter_map(|(_, instruction)| of_instruction(instruction)).min().unwrap_or(u32::MAX)
}

/// Returns whether floats that differ are finite, and more than two zeros.
fn are_finite(expected: &Literal, actual: &Literal) -> bool {
    let is_number = |x: f64, y: f64| {
        x.to_bits() == y.to_bits()
            || x.is_nan() && y.is_nan()
            || x.is_finite() && y.is_finite() && (x != 0.0 || y != 0.0)
    };
    let leaves = expected.leaves().into_iter().zip(actual.leaves());
    leaves.filter_map(|(x, y)| Some((x.array()?, y.array()?))).all(|(x, y)| {
        (0..x.len().min(y.len())).all(|i| match (x.get(i), y.get(i)) {
            (Scalar::Float(x), Scalar::Float(y)) => is_number(x, y),
            (Scalar::Complex(a, b), Scalar::Complex(c, d)) => is_number(a, c) && is_number(b, d),
            // Integers and booleans that differ follow from floats here, or the field says so.
            (x, y) => std::mem::discriminant(&x) == std::mem::discriminant(&y),
        })
    })
}
