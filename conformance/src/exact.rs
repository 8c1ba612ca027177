//! Two modules in exact arithmetic: whether they are the same function of every float argument, and
//! whether a difference of their results is one of rounding.
use crate::program::scheduled;
use collectives::Session;
use field::{Answer, Difference, Options, equal, equal_apart};
use hlo::{Literal, Module, Op, Scalar, Shape, Verified};
use interp::cost::Costs;
use interp::{CompileOptions, DeviceGrid, RunOptions};
use serde::Serialize;
use std::collections::BTreeMap;

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
        /// Whether floats decide something, as a comparison or a conversion to integers does: that is
        /// tested by the draws.
        decides: bool,
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
/// The most operations of a run of a small module, and how often its integers are drawn.
const FEW: f64 = 4e3;
const MORE_DRAWS: u32 = 48;

/// Compares two modules on arguments that are drawn, as [`field::equal`] does; large ones are open.
/// Returns the difference, if there is one. A run takes at most `fuel` steps, and 50 million.
///
/// ```
/// use conformance::exact::{Proof, proof};
/// let module = |op: &str| {
///     let text = format!("ENTRY e {{ x = f32[4] parameter(0) ROOT r = f32[4] {op} }}");
///     hlo::Module::parse(&text).unwrap().verify().unwrap()
/// };
/// let [one, two] = ["add(x, x)", "multiply(x, x)"].map(module);
/// assert!(matches!(proof([&one, &one], 4, None).0, Proof::Proved { .. }));
/// assert!(matches!(proof([&one, &two], 4, None), (Proof::Different { .. }, Some(_))));
/// ```
pub fn proof(
    modules: [&Verified; 2],
    draws: u32,
    fuel: Option<u64>,
) -> (Proof, Option<Difference>) {
    let draws = at_least(modules, draws);
    match compared(modules, (0, draws), None, fuel) {
        Ok(Answer::Equal(evidence)) if !evidence.has_floats => {
            let reason = "no argument is a float: others are tested with the values that are drawn";
            (Proof::Open { reason: reason.to_owned() }, None)
        }
        Ok(Answer::Equal(evidence)) => {
            let decides = evidence.comparisons.all > 0 || evidence.has_cuts;
            (Proof::Proved { draws, probability: evidence.probability(), decides }, None)
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

/// Returns the next difference of two modules, from the draw with this seed on.
pub(crate) fn difference_from(
    modules: [&Verified; 2],
    seed: u64,
    draws: u32,
    fuel: Option<u64>,
) -> Option<Difference> {
    match compared(modules, (seed, at_least(modules, draws)), None, fuel) {
        Ok(Answer::Different(found)) => Some(found),
        Ok(Answer::Equal(_) | Answer::Open(_)) | Err(_) => None,
    }
}

/// Returns how often arguments are drawn for small modules that take integers, of which each draw
/// has a few values: more often than asked for.
pub(crate) fn at_least(modules: [&Verified; 2], draws: u32) -> u32 {
    let program = modules[0].module().entry().program_shape();
    let types = program.parameters.iter().flat_map(|shape| shape.leaves());
    let mut types = types.filter_map(Shape::element_type);
    let has_integers = types.any(|ty| !ty.is_float() && !ty.is_complex());
    let is_small = modules.iter().all(|module| operations(module.module()) <= FEW);
    if has_integers && is_small && draws > 0 { draws.max(MORE_DRAWS) } else { draws }
}

/// Returns whether a difference of two results is nothing but rounding: all values are finite, in exact
/// arithmetic the modules agree on these arguments, and the second rounds nowhere to fewer digits
/// than the first.
pub(crate) fn is_rounding(
    modules: [&Verified; 2],
    arguments: &[Literal],
    [expected, actual]: [&[Literal]; 2],
) -> bool {
    !narrows(modules)
        && modules.into_iter().all(|module| stays_finite(module, arguments))
        && expected.iter().zip(actual).all(|(expected, actual)| are_finite(expected, actual))
        && matches!(compared(modules, (0, 2), Some(arguments.to_vec()), None), Ok(Answer::Equal(_)))
}

fn compared(
    [first, second]: [&Verified; 2],
    (seed, draws): (u64, u32),
    arguments: Option<Vec<Literal>>,
    fuel: Option<u64>,
) -> Result<Answer, String> {
    let fits = |modules: [&Verified; 2]| {
        modules.into_iter().all(|module| {
            let devices = DeviceGrid::of(&module.module().config).len();
            let devices = f64::from(u32::try_from(devices).unwrap_or(u32::MAX));
            operations(module.module()) * devices <= MOST.0
        })
    };
    let are_given = arguments.is_some();
    let limits = RunOptions::default().fuel(fuel.unwrap_or(MOST.1).min(MOST.1));
    let limits = [first, second].into_iter().fold(limits, |limits, of| scheduled(of, limits));
    // Of the many steps of a compilation the draws are enough.
    let options =
        Options { seed, seeds: draws, limits, arguments, ties: false, ..Options::default() };
    if fits([first, second]) {
        return equal(first, second, &options).map_err(|failure| failure.to_string());
    }
    // What a pass changes is small, though.
    let apart = (!are_given).then(|| equal_apart([first, second], &options, fits)).flatten();
    apart.map(Answer::Equal).ok_or_else(|| "the modules are too large for the field".to_owned())
}

/// Returns the operations on elements of a run, as far as they are known.
fn operations(module: &Module) -> f64 {
    let rows = Costs::of(module).rows;
    rows.iter().map(|row| row.count * (row.cost.flops + row.cost.bytes / 4.0)).sum()
}

/// Returns whether the second module rounds to fewer digits, or by a conversion, more often than the
/// first.
pub fn narrows([first, second]: [&Verified; 2]) -> bool {
    let shapes = |module: &Module| {
        let all = module.instructions();
        all.flat_map(|instruction| instruction.shape.leaves()).filter_map(digits).max()
    };
    let widest = shapes(first.module()).unwrap_or_default();
    let known = roundings(first.module(), widest);
    let own = roundings(second.module(), widest);
    own.iter().any(|(kind, count)| known.get(kind).is_none_or(|known| known < count))
}

/// Returns the digits of the floats of an array.
fn digits(shape: &Shape) -> Option<u32> {
    let ty = shape.element_type()?;
    let part = if ty.is_complex() { ty.component() } else { ty };
    part.float_format().map(|format| format.mantissa_bits)
}

/// Returns how often a module rounds in each way, beyond arithmetic of `widest` digits.
#[expect(clippy::wildcard_enum_match_arm, reason = "what only moves elements does not round")]
fn roundings(module: &Module, widest: u32) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (_, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            let shape = &instruction.shape;
            let operands = instruction.operands.iter();
            let operands: Vec<&Shape> =
                operands.map(|&id| &computation.instructions[id].shape).collect();
            let name = instruction.opcode().name();
            let mut types: Vec<_> = operands.iter().map(|operand| operand.element_type()).collect();
            types.push(shape.element_type());
            let own = digits(shape);
            let is_narrow = own.is_some_and(|own| own < widest);
            let is_cut = operands.iter().filter_map(|operand| digits(operand)).max() > own;
            let kind = match &instruction.op {
                Op::ReducePrecision(op) => {
                    format!("{name} {} {}", op.exponent_bits, op.mantissa_bits)
                }
                Op::Convert(_) if is_cut || operands.iter().any(|from| digits(from).is_none()) => {
                    format!("{name} {types:?}")
                }
                Op::Dot(op) => format!("{name} {types:?} {:?}", op.algorithm),
                Op::Convolution(op) => format!("{name} {types:?} {:?}", op.algorithm),
                Op::Unary(_) | Op::Binary(_) | Op::Reduce(_) | Op::ReduceWindow(_)
                    if is_narrow || is_cut =>
                {
                    format!("arithmetic {types:?}")
                }
                _ if own.is_some() && is_cut => format!("{name} {types:?}"),
                _ => continue,
            };
            // Products in the widest type round as sums do, whatever their number.
            let is_plain = kind.contains("Unset") && !is_narrow && !is_cut;
            if !is_plain {
                *found.entry(kind).or_default() += 1;
            }
        }
    }
    found
}

/// Returns whether no instruction makes an infinity or a NaN of finite numbers.
fn stays_finite(module: &Verified, arguments: &[Literal]) -> bool {
    let compiled = Session::compile(module.clone(), &CompileOptions::default());
    let mut options = RunOptions::default().fuel(MOST.1);
    options.check_nan = true;
    compiled.is_ok_and(|session| session.run(&[arguments.to_vec()], &options).is_ok())
}

/// Returns whether floats that differ are finite, and not zero.
fn are_finite(expected: &Literal, actual: &Literal) -> bool {
    let is_number = |x: f64, y: f64| {
        x.to_bits() == y.to_bits()
            || x.is_nan() && y.is_nan()
            || x.is_finite() && y.is_finite() && x != 0.0 && y != 0.0
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
