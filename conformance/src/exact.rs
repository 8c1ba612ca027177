//! Two modules in exact arithmetic: whether they are the same function of every float argument, and
//! whether a difference of their results is one of rounding.
use field::{Answer, Difference};
use hlo::{Literal, Module, Op, Scalar, Shape, Verified};
use interp::cost::Costs;
use interp::{DeviceGrid, RunOptions};
use serde::Serialize;

/// What is known of two modules in exact arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Proof {
    /// Both are the same function of every float argument.
    Proved {
        /// How often arguments were drawn.
        draws: u32,
        /// The probability that it is so by chance.
        probability: f64,
    },
    /// Both differ for the arguments of a draw.
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

/// Compares two modules on arguments that are drawn, as [`field::equal`] does; large ones are open.
/// Returns the difference, if there is one.
///
/// ```
/// use conformance::exact::{Proof, proof};
/// let module = |op: &str| {
///     let text = format!("ENTRY e {{ x = f32[4] parameter(0) ROOT r = f32[4] {op} }}");
///     hlo::Module::parse(&text).unwrap().verify().unwrap()
/// };
/// let [one, two] = ["add(x, x)", "multiply(x, x)"].map(module);
/// assert!(matches!(proof([&one, &one], 4).0, Proof::Proved { .. }));
/// assert!(matches!(proof([&one, &two], 4), (Proof::Different { .. }, Some(_))));
/// ```
pub fn proof(modules: [&Verified; 2], draws: u32) -> (Proof, Option<Difference>) {
    match compared(modules, draws, None) {
        Ok(Answer::Equal(evidence)) => {
            (Proof::Proved { draws, probability: evidence.probability() }, None)
        }
        Ok(Answer::Different(found)) => (Proof::Different { seed: found.seed }, Some(found)),
        Ok(Answer::Open(open)) => {
            let separator = if open.instruction.is_empty() { "" } else { ": " };
            (
                Proof::Open { reason: format!("{}{separator}{}", open.instruction, open.reason) },
                None,
            )
        }
        Err(reason) => (Proof::Open { reason }, None),
    }
}

/// Returns whether a difference of two results is nothing but rounding: both are finite, and in exact
/// arithmetic the modules agree on these arguments, the second in no fewer digits than the first.
pub(crate) fn is_rounding(
    modules: [&Verified; 2],
    arguments: &[Literal],
    [expected, actual]: [&[Literal]; 2],
) -> bool {
    let [before, after] = modules.map(|module| digits(module.module()));
    after >= before
        && expected.iter().zip(actual).all(|(expected, actual)| are_finite(expected, actual))
        && matches!(compared(modules, 2, Some(arguments.to_vec())), Ok(Answer::Equal(_)))
}

fn compared(
    [first, second]: [&Verified; 2],
    draws: u32,
    arguments: Option<Vec<Literal>>,
) -> Result<Answer, String> {
    let counts = [first, second].map(|module| {
        let devices = DeviceGrid::of(&module.module().config).len();
        operations(module.module()) * f64::from(u32::try_from(devices).unwrap_or(u32::MAX))
    });
    if counts.into_iter().any(|count| count > MOST.0) {
        return Err("the modules are too large for the field".to_owned());
    }
    let limits = RunOptions::default().fuel(MOST.1);
    let options = field::Options { seed: 0, seeds: draws, limits, arguments };
    field::equal(first, second, &options).map_err(|failure| failure.to_string())
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
