//! Derivatives of the scalar operations, on inputs of one size.
//!
//! Of complex numbers the convention is that of PyTensor's `mul` and `abs`: the cotangent of
//! `x + iy` is the one by `x` plus `i` times the one by `y`.
use super::ScalarOp;
use super::build::{build, full};
use crate::cast;
use crate::pytensor::types::is_discrete;
use builder::{Code, Error, Result, Value};
use hlo::{ElementType, Scalar};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

/// A cotangent of an input, sized like the output; not yet of the input's type.
#[derive(Debug, Clone)]
pub(crate) enum Partial<'b> {
    /// The derivative times the cotangent of the output.
    Value(Value<'b>),
    /// The output is a step function of the input.
    Zero,
    /// The output does not depend on the input.
    Disconnected,
    /// Not known here, and why.
    Unknown(String),
}
use Partial::{Disconnected, Unknown, Zero};

/// Returns the cotangents of the inputs `x` from that of the output `z`, which is `g` and has the
/// type of `z`.
pub(crate) fn pull<'b>(
    op: ScalarOp,
    x: &[Value<'b>],
    z: Value<'b>,
    g: Value<'b>,
) -> Result<Vec<Partial<'b>>> {
    let out = z.element_type()?;
    if is_discrete(out) {
        let mut partials = vec![Zero; x.len()];
        if op == ScalarOp::Second {
            partials[0] = Disconnected;
        }
        return Ok(partials);
    }
    let types: Result<Vec<ElementType>> = x.iter().map(|x| x.element_type()).collect();
    let complex = out.is_complex() || types?.iter().any(|ty| ty.is_complex());
    if complex {
        return pull_complex(op, x, z, g);
    }
    let inputs: Result<Vec<Value<'b>>> = match op {
        // The condition is looked at as it is.
        ScalarOp::Switch => Ok(x.to_vec()),
        _ => x.iter().map(|&x| cast(x, out)).collect(),
    };
    Ok(match inputs?[..] {
        [x] => vec![unary(op, x, z, g)?],
        [x, y] if op.nin().is_some() => binary(op, x, y, g)?.to_vec(),
        [x, y, w] if op.nin().is_some() => ternary(op, x, y, w, g)?.to_vec(),
        ref x => many(op, x, g),
    })
}

/// Returns the cotangents of a sum or product of any number of inputs.
fn many<'b>(op: ScalarOp, x: &[Value<'b>], g: Value<'b>) -> Vec<Partial<'b>> {
    let others = |i: usize| {
        let others = x.iter().enumerate().filter(move |(j, _)| *j != i);
        others.fold(g, |product, (_, &x)| product.mul(x))
    };
    (0..x.len()).map(|i| Partial::Value(if op == ScalarOp::Mul { others(i) } else { g })).collect()
}

/// Returns a number where a boolean holds, otherwise 0.
fn masked<'b>(truth: Value<'b>, g: Value<'b>) -> Partial<'b> {
    Partial::Value(truth.select(g, 0.0))
}

fn unary<'b>(op: ScalarOp, x: Value<'b>, z: Value<'b>, g: Value<'b>) -> Result<Partial<'b>> {
    let one = || x.scalar_like(1.0);
    let square = x.mul(x);
    Ok(Partial::Value(match op {
        ScalarOp::Abs => g * x.sign(),
        ScalarOp::ArcCos => g.neg() / one().sub(square).sqrt(),
        ScalarOp::ArcCosh => g / (square - 1.0).sqrt(),
        ScalarOp::ArcSin => g / one().sub(square).sqrt(),
        ScalarOp::ArcSinh => g / (square + 1.0).sqrt(),
        ScalarOp::ArcTan => g / (square + 1.0),
        ScalarOp::ArcTanh => g / one().sub(square),
        ScalarOp::Cos => g.neg() * x.sin(),
        ScalarOp::Cosh => g * x.sinh(),
        ScalarOp::Erf => g * square.neg().exp() * FRAC_2_SQRT_PI,
        ScalarOp::Exp => g * z,
        ScalarOp::Exp2 => g * z * LN_2,
        ScalarOp::Expm1 => g * x.exp(),
        ScalarOp::Log => g / x,
        ScalarOp::Log10 => g / (x * LN_10),
        ScalarOp::Log1p => g / (x + 1.0),
        ScalarOp::Log2 => g / (x * LN_2),
        ScalarOp::Neg => g.neg(),
        ScalarOp::Reciprocal => g.neg() / square,
        ScalarOp::Sigmoid => g * z * one().sub(z),
        ScalarOp::Sin => g * x.cos(),
        ScalarOp::Sinh => g * x.cosh(),
        ScalarOp::Softplus => g * x.logistic(),
        ScalarOp::Sqr => g * x * 2.0,
        ScalarOp::Sqrt => g * 0.5 / z,
        ScalarOp::Tan => {
            let cos = x.cos();
            g / (cos * cos)
        }
        ScalarOp::Tanh => g * one().sub(z * z),
        ScalarOp::Add
        | ScalarOp::Mul
        | ScalarOp::Cast(_)
        | ScalarOp::Conj
        | ScalarOp::Identity
        | ScalarOp::Real => g,
        // Steps, or always 0.
        ScalarOp::Ceil
        | ScalarOp::Floor
        | ScalarOp::Imag
        | ScalarOp::RoundHalfAwayFromZero
        | ScalarOp::RoundHalfToEven
        | ScalarOp::Sign
        | ScalarOp::Trunc => return Ok(Zero),
        other => return Err(misfit(other)),
    }))
}

fn binary<'b>(op: ScalarOp, x: Value<'b>, y: Value<'b>, g: Value<'b>) -> Result<[Partial<'b>; 2]> {
    let both = |x, y| Ok([Partial::Value(x), Partial::Value(y)]);
    match op {
        ScalarOp::ArcTan2 => {
            let norm = x * x + y * y;
            both(g * y / norm, g.neg() * x / norm)
        }
        ScalarOp::IntDiv => Ok([Zero, Zero]),
        // Of equal operands the first has it all.
        ScalarOp::Maximum | ScalarOp::Minimum => {
            let first = if op == ScalarOp::Maximum { x.ge(y) } else { x.le(y) };
            Ok([masked(first, g), masked(first.not(), g)])
        }
        ScalarOp::Mod => {
            let whole = build(ScalarOp::IntDiv, &[x, y], x.element_type()?)?;
            both(g, whole.neg() * g)
        }
        ScalarOp::Pow => {
            let by_exponent = g * x.log() * x.pow(y);
            let zeros = full(x, x.element_type()?, Scalar::Float(0.0))?;
            both(g * y * x.pow(y - 1.0), x.eq(0.0).select(zeros, by_exponent))
        }
        ScalarOp::Second => Ok([Disconnected, Partial::Value(g)]),
        ScalarOp::Sub => both(g, g.neg()),
        ScalarOp::TrueDiv => both(g / y, g.mul(x).neg() / (y * y)),
        other => Err(misfit(other)),
    }
}

fn ternary<'b>(
    op: ScalarOp,
    x: Value<'b>,
    y: Value<'b>,
    z: Value<'b>,
    g: Value<'b>,
) -> Result<[Partial<'b>; 3]> {
    match op {
        ScalarOp::Switch => {
            let truth = build(ScalarOp::Cast(ElementType::Pred), &[x], ElementType::Pred)?;
            Ok([Zero, masked(truth, g), masked(truth.not(), g)])
        }
        ScalarOp::Clip => {
            Ok([masked(x.ge(y).and(x.le(z)), g), masked(x.lt(y), g), masked(x.gt(z), g)])
        }
        other => Err(misfit(other)),
    }
}

/// Returns the cotangents of inputs or an output that are complex.
fn pull_complex<'b>(
    op: ScalarOp,
    x: &[Value<'b>],
    z: Value<'b>,
    g: Value<'b>,
) -> Result<Vec<Partial<'b>>> {
    let b = z.builder();
    let zero = |like: Value<'b>| full(like, like.element_type()?, Scalar::Float(0.0));
    Ok(match (op, x) {
        (ScalarOp::Mul, x) => {
            let ty = z.element_type()?;
            let factors: Result<Vec<_>> = x.iter().map(|&x| Ok(cast(x, ty)?.conj())).collect();
            many(op, &factors?, g)
        }
        (ScalarOp::Add, x) => vec![Partial::Value(g); x.len()],
        (ScalarOp::Sub, _) => vec![Partial::Value(g), Partial::Value(g.neg())],
        (ScalarOp::Neg, _) => vec![Partial::Value(g.neg())],
        (ScalarOp::Identity | ScalarOp::Cast(_), _) => vec![Partial::Value(g)],
        (ScalarOp::Second, _) => vec![Disconnected, Partial::Value(g)],
        (ScalarOp::Switch, &[x, y, w]) => {
            let _ = (y, w);
            let truth = build(ScalarOp::Cast(ElementType::Pred), &[x], ElementType::Pred)?;
            vec![Zero, masked(truth, g), masked(truth.not(), g)]
        }
        (ScalarOp::Conj, _) => vec![Partial::Value(g.conj())],
        (ScalarOp::Real, _) => vec![Partial::Value(g.complex(zero(g)?))],
        (ScalarOp::Imag, _) => vec![Partial::Value(zero(g)?.complex(g))],
        (ScalarOp::Complex, _) => vec![Partial::Value(g.real()), Partial::Value(g.imag())],
        (ScalarOp::Abs, &[x]) => {
            let direction = cast(g, x.element_type()?)? * x / cast(z, x.element_type()?)?;
            vec![Partial::Value(direction)]
        }
        _ => {
            b.owns(z)?;
            let why = format!("the derivative of `{op}` is not known for complex numbers");
            vec![Unknown(why); x.len()]
        }
    })
}

/// Returns the error of an impossible case: the operation has another number of inputs, or an
/// output that is discrete; both are distinguished before.
#[cold]
fn misfit(op: ScalarOp) -> Error {
    let message = format!("`{op}` has no derivative");
    Code::NotDifferentiable { message }.into()
}
