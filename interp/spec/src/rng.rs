//! `rng`: numbers of a distribution
//!
//! Element i in row-major order is drawn from the blocks `philox(key, drawn + i, attempt)`,
//! attempt = 0, 1, .., where `drawn` is the number of elements that the instruction has drawn
//! before in this run. The key mixes the seed of the run with the names of the computation and the
//! instruction. So a module draws the same numbers for the same seed on every machine, two
//! instructions draw different ones, and a loop draws new ones in each iteration. A block is two
//! words of 64 bits, u and v; f(u) is the multiple `floor(u / 2^11) / 2^53` in [0, 1).
//!
//! - `rng_uniform` with operands a and b, floats: `a + (b - a) * f(u)` in f64, rounded once. A
//!   number that rounds to b is drawn again with the next attempt, so that b is never returned. If
//!   a = b it is a; if a > b it lies in (b, a].
//! - `rng_uniform`, integers: `a + floor(w * (b - a) / 2^128)` for `w = u + v * 2^64`, so the
//!   numbers in [a, b) are equally frequent up to 1 in 2^64; `pred` counts as 0 and 1. If there is
//!   no integer in [a, b) it is `E0408`. (XLA:CPU returns an arbitrary number.)
//! - `rng_normal` with operands mean and deviation:
//!   `mean + deviation * sqrt(-2 ln(1 - f(u))) * cos(2 pi f(v))` (Box and Muller) in f64, rounded
//!   once.
//!
//! HLO fixes only the distribution; XLA's backends give different numbers. XLA:CPU draws f32 in
//! steps of 2^-23 of the range and may return b where that rounds up.
//!
//! Source: StableHLO, `rng`; XLA operation semantics, `RngUniform`, `RngNormal`.
use super::{Operand, build, position};
use hlo::op::value::RandomDistribution;
use hlo::op::{Rng, Unary};
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar};
use num::error::Code;
use num::random::{join, philox};
use num::{Result, unary};
use std::f64::consts::TAU;

/// The limit of attempts before the lower bound is returned: each attempt succeeds with a
/// probability of at least 1/2.
const ATTEMPTS: u64 = 64;

/// `drawn` is the number of elements drawn before.
pub fn rng(
    op: &Rng,
    a: &Operand<'_>,
    b: &Operand<'_>,
    shape: &ArrayShape,
    key: u64,
    drawn: u64,
) -> Result<Literal> {
    let Rng { distribution } = op;
    let draw = Distribution::new(*distribution, shape.ty, a.at(&[]), b.at(&[]))?;
    Ok(build(shape, |index| {
        let counter = drawn.wrapping_add(position(&shape.dims, index).cast_unsigned());
        draw.element(|attempt| {
            let [a, b, c, d] = philox(key, counter, attempt);
            [join([a, b]), join([c, d])]
        })
    }))
}

/// A distribution.
enum Distribution {
    /// Floats of a type from the first bound up to the second.
    Floats(ElementType, f64, f64),
    /// Integers: the first, and their number.
    Integers(Scalar, u128),
    /// Floats of this mean and deviation.
    Normal(f64, f64),
}

impl Distribution {
    fn new(kind: RandomDistribution, ty: ElementType, a: Scalar, b: Scalar) -> Result<Self> {
        let integers = matches!(ty.class(), Class::Pred | Class::Signed | Class::Unsigned);
        match kind {
            RandomDistribution::Normal => Ok(Self::Normal(a.as_f64(), b.as_f64())),
            RandomDistribution::Uniform if integers => {
                let (low, high) = (integer(a), integer(b));
                match u128::try_from(high - low) {
                    Ok(count) if count > 0 => Ok(Self::Integers(a, count)),
                    _ => {
                        let message = format!("there is no {ty} in the range [{low}, {high})");
                        Err(Code::Trap { message }.into())
                    }
                }
            }
            RandomDistribution::Uniform => Ok(Self::Floats(ty, a.as_f64(), b.as_f64())),
        }
    }

    /// Returns one number; `bits` returns the words of an attempt.
    fn element(&self, bits: impl Fn(u64) -> [u64; 2]) -> Scalar {
        match *self {
            Self::Floats(ty, a, b) => {
                let fits = |x: &f64| a >= b || (a..b).contains(x) || x.is_nan();
                let draw = |attempt| {
                    let x = between(a, b, fraction(bits(attempt)[0]));
                    Scalar::Float(x).round_to(ty).as_f64()
                };
                Scalar::Float((0..ATTEMPTS).map(draw).find(fits).unwrap_or(a))
            }
            Self::Integers(first, count) => {
                let [low, high] = bits(0).map(u128::from);
                // The high part of the 256-bit product of the bits and the count.
                let step = (high * count + ((low * count) >> 64)) >> 64;
                let step = u64::try_from(step).expect("less than the count").cast_signed();
                match first {
                    Scalar::Signed(x) => Scalar::Signed(x.wrapping_add(step)),
                    Scalar::Unsigned(x) => Scalar::Unsigned(x.wrapping_add_signed(step)),
                    Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => first,
                }
            }
            Self::Normal(mean, deviation) => {
                let [u, v] = bits(0).map(fraction);
                // 1 - u is never 0, so the logarithm is finite.
                let radius = (-2.0 * function(Unary::Log, 1.0 - u)).sqrt();
                Scalar::Float(mean + deviation * (radius * function(Unary::Cosine, TAU * v)))
            }
        }
    }
}

fn integer(x: Scalar) -> i128 {
    if let Scalar::Unsigned(x) = x { i128::from(x) } else { i128::from(x.as_wrapping()) }
}

/// Returns `a + (b - a) * v`, also if `b - a` overflows.
fn between(a: f64, b: f64, v: f64) -> f64 {
    let width = b - a;
    if width.is_finite() { a + width * v } else { a * (1.0 - v) + b * v }
}

/// Returns a multiple of 2^-53 in [0, 1).
pub fn fraction(bits: u64) -> f64 {
    Scalar::Unsigned(bits >> 11).as_f64() / 9_007_199_254_740_992.0
}

fn function(op: Unary, x: f64) -> f64 {
    unary(op, ElementType::F64, Scalar::Float(x)).as_f64()
}
