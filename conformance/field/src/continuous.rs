//! Modules that are equal for all arguments if they are for nearly all.
//!
//! Values that become arguments may have been of a special kind: equal to each other, zero or infinite
//! for many of the former arguments. Where two functions are continuous, that makes no difference:
//! if they agree nearly everywhere, they agree everywhere. Floats show what they make of infinities
//! and NaN, and of zeros that they divide by.
use crate::kernels::is_number;
use crate::run::run_in_floats;
use hlo::op::{Binary, Unary};
use hlo::{Array, ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape, Verified};
use interp::RunOptions;

/// How often special floats are drawn.
const DRAWS: u32 = 4;

/// The floats that are drawn.
const FLOATS: [f64; 10] =
    [0.0, 0.0, 1.0, -1.0, 0.75, -2.5, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// How a value depends on the parameters of the entry computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Nothing,
    /// Each element is one of a parameter, or a constant.
    Moved,
    Computed,
}

/// Returns whether the results of a module are continuous functions of its arguments, but where an
/// element of an argument itself is zero, negative or infinite.
#[expect(clippy::wildcard_enum_match_arm, reason = "others than the named ops decide something")]
pub(crate) fn is_continuous(module: &Module) -> bool {
    module.computations.iter().all(|(id, computation)| {
        let mut from: Vec<From> = Vec::with_capacity(computation.instructions.len());
        computation.instructions.iter().all(|(_, instruction)| {
            let operand = |i: usize| instruction.operands.get(i).map(|id| from[id.index()]);
            let all = || instruction.operands.iter().map(|id| from[id.index()]);
            let is_constant = all().all(|from| from == From::Nothing);
            let is_moved = all().all(|from| from != From::Computed);
            let ty = |shape: &Shape| shape.element_type();
            let of = instruction.operands.first().map(|&id| &computation.instructions[id].shape);
            let is_of_numbers = of.and_then(ty).is_some_and(is_number);
            let has_numbers = ty(&instruction.shape).is_some_and(is_number);
            let (is_fit, moves) = match &instruction.op {
                Op::Parameter(_) => (true, true),
                Op::Constant(_)
                | Op::Iota(_)
                | Op::Broadcast(_)
                | Op::Reshape(_)
                | Op::Transpose(_)
                | Op::Slice(_)
                | Op::Concatenate(_)
                | Op::Reverse(_)
                | Op::Pad(_)
                | Op::Copy(_)
                | Op::Tuple(_)
                | Op::GetTupleElement(_)
                | Op::OptBarrier(_) => (true, true),
                Op::Bitcast(_) => (of.and_then(ty) == ty(&instruction.shape), true),
                Op::Select(_) | Op::Clamp(_) | Op::Call(_) | Op::Fusion(_) => (true, false),
                Op::Convert(_) | Op::ReducePrecision(_) => (has_numbers || !is_of_numbers, false),
                Op::Dot(_) | Op::Convolution(_) | Op::Fft(_) => (has_numbers, false),
                Op::Reduce(_) | Op::ReduceWindow(_) => (true, false),
                Op::Unary(op) => {
                    (is_entire(*op) || is_constant || is_moved && is_of_numbers, false)
                }
                Op::Binary(op) => {
                    // What an argument is divided by is looked at in floats.
                    let is_known = operand(1).is_some_and(|by| by != From::Computed);
                    let divides = matches!(op, Binary::Divide | Binary::Power) && is_of_numbers;
                    (is_ring(*op) || is_constant || divides && is_known, false)
                }
                _ => (is_constant, false),
            };
            // Of a computation that is called, the arguments may be anything.
            let is_argument = matches!(instruction.op, Op::Parameter(_));
            from.push(match is_moved && moves {
                true if is_argument && id == module.entry => From::Moved,
                true if is_argument => From::Computed,
                true if is_constant => From::Nothing,
                true => From::Moved,
                false if is_constant => From::Nothing,
                false => From::Computed,
            });
            is_fit
        })
    })
}

/// Returns whether a function is continuous everywhere.
fn is_entire(op: Unary) -> bool {
    matches!(
        op,
        Unary::Abs
            | Unary::Cosh
            | Unary::Cosine
            | Unary::Erf
            | Unary::Exponential
            | Unary::ExponentialMinusOne
            | Unary::Imag
            | Unary::Logistic
            | Unary::Negate
            | Unary::Not
            | Unary::Real
            | Unary::Sine
            | Unary::Sinh
            | Unary::Tanh
    )
}

fn is_ring(op: Binary) -> bool {
    matches!(
        op,
        Binary::Add
            | Binary::And
            | Binary::Complex
            | Binary::Maximum
            | Binary::Minimum
            | Binary::Multiply
            | Binary::Or
            | Binary::Subtract
            | Binary::Xor
    )
}

/// Returns whether two modules have infinities and NaN in the same elements, in floats, where
/// arguments have some.
pub(crate) fn agree_on_special(modules: [&Verified; 2], seed: u64, limits: &RunOptions) -> bool {
    let mut random = fastrand::Rng::with_seed(seed);
    let shapes = modules[0].module().entry().program_shape().parameters;
    (0..DRAWS).all(|_| {
        let arguments: Vec<Literal> =
            shapes.iter().map(|shape| special(shape, &mut random)).collect();
        let run = |module| run_in_floats(module, &arguments, limits);
        let [Some(first), Some(second)] = modules.map(run) else { return false };
        first.leaves().into_iter().zip(second.leaves()).all(|(a, b)| {
            let (Some(a), Some(b)) = (a.array(), b.array()) else { return true };
            (0..a.len()).all(|i| is_of_kind(a.get(i), b.get(i)))
        })
    })
}

/// Returns an argument with zeros, infinities and NaN.
fn special(shape: &Shape, random: &mut fastrand::Rng) -> Literal {
    if let Shape::Tuple(parts) = shape {
        return Literal::tuple(parts.iter().map(|part| special(part, random)).collect());
    }
    let shape =
        shape.array().cloned().unwrap_or_else(|| ArrayShape::new(ElementType::Pred, vec![]));
    let (ty, mut array) = (shape.ty, Array::zeros(shape));
    for i in 0..array.len() {
        let mut float = || FLOATS[random.usize(0..FLOATS.len())];
        let x = match ty.class() {
            Class::Float => Scalar::Float(float()).convert(ElementType::F64, ty),
            Class::Complex => Scalar::Complex(float(), float()).convert(ElementType::C128, ty),
            Class::Pred => Scalar::Pred(random.bool()),
            Class::Signed | Class::Unsigned => {
                Scalar::Signed(random.i64(-2..8)).convert(ElementType::S64, ty)
            }
        };
        array.set(i, x);
    }
    Literal::from(array)
}

/// Returns whether both numbers are finite, the same infinity, or NaN; other values are of one kind.
fn is_of_kind(x: Scalar, y: Scalar) -> bool {
    let is_same = |x: f64, y: f64| match x.is_finite() && y.is_finite() {
        true => true,
        false => x.is_nan() && y.is_nan() || x.total_cmp(&y).is_eq(),
    };
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) => is_same(x, y),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => is_same(a, c) && is_same(b, d),
        (Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_), _) => x == y,
        (Scalar::Float(_) | Scalar::Complex(..), _) => false,
    }
}
