//! `rng`: numbers of a distribution, from a seed; `rng-get-and-update-state`: `result = state; state = state + delta`
//!
//! **`rng`**: each element is drawn for itself, from one block of Philox. The key mixes the seed of the run
//! ([`Options::seed`](crate::Options::seed)) with the names of the computation and the instruction; the counter is the
//! number of elements the instruction has drawn before in this run. So a module gives the same numbers for the same
//! seed on every machine and any number of threads, two instructions give different ones, and a loop new ones each time.
//!
//! - `rng_uniform` with operands a and b: floats `a + (b - a) * v`, with v a multiple of 2^-53 in [0, 1), computed in f64
//!   and rounded once. A number that rounds to b is drawn again, so that b itself never comes. If a = b it is a; if a > b
//!   it lies in (b, a]. Integers lie in [a, b), each as often as the others up to 1 in 2^64; `pred` counts as 0 and 1. If
//!   there is no integer in [a, b) the run stops with `E0408` (XLA:CPU gives any number).
//! - `rng_normal` with operands mean and deviation: `mean + deviation * z` for z of Box and Muller, in f64, rounded once.
//!
//! HLO fixes only the distribution, and XLA's backends give other numbers than each other and than Etalon. XLA:CPU draws
//! f32 in steps of 2^-23 of the range and may give b itself where that rounds up.
//!
//! **`rng-get-and-update-state`**: the state is one 128-bit number for each instruction, given as low and high half. It
//! starts at 117515157 and wraps. It lasts as long as a run: XLA:CPU keeps it from one execution to the next.
//!
//! Neither runs in a computation that is called for each element (`reduce`, `map`, `sort` and the like): those may be
//! called in any order, so `E0402`.
use crate::context::RunContext;
use crate::error::Code;
use crate::index::to_i64;
use crate::lower::Site;
use crate::num::random::{join, philox};
use crate::num::unary;
use crate::{Error, Result};
use hlo::op::value::RandomDistribution;
use hlo::op::{Rng, RngGetAndUpdateState, Unary};
use hlo::{ArrayShape, Class, ElementType, Literal, Opcode, Scalar};
use rayon::prelude::*;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Fewer elements are not worth another thread.
const BLOCK: usize = 1024;
/// Times an element is drawn again before the lower bound is taken: each time at least half of all numbers fit.
const ATTEMPTS: u64 = 64;
/// Where `rng-get-and-update-state` starts in XLA.
const FIRST_STATE: u128 = 0x0701_2395;

/// How far each instruction that draws has come.
#[derive(Debug, Default)]
pub(crate) struct Streams(HashMap<Site, u128>);

/// What the instruction has counted to; `count` is then added.
fn advance(
    site: Site,
    opcode: Opcode,
    context: &RunContext,
    first: u128,
    count: u128,
) -> Result<u128> {
    let Some(mut streams) = context.streams() else {
        let message = format!("`{opcode}` in a computation that is called for each element");
        return Err(Error::unsupported(message));
    };
    let state = streams.0.entry(site).or_insert(first);
    let old = *state;
    *state = old.wrapping_add(count);
    Ok(old)
}

pub(super) fn get_and_update_state(
    site: Site,
    op: &RngGetAndUpdateState,
    context: &RunContext,
) -> Result<Literal> {
    // Signed, so that a negative delta goes back.
    let delta = i128::from(op.delta).cast_unsigned();
    let state =
        advance(site, Opcode::RngGetAndUpdateState, context, FIRST_STATE, delta)?.to_le_bytes();
    let shape = ArrayShape::new(ElementType::U64, [2].as_slice());
    Ok(Literal::from_bytes(shape, &state).expect("two words of 64 bits"))
}

pub(super) fn rng(
    site: Site,
    op: &Rng,
    operands: &[&Literal],
    shape: &ArrayShape,
    context: &RunContext,
) -> Result<Literal> {
    let ty = shape.ty;
    let (a, b) = (operands[0].get(0), operands[1].get(0));
    let draw = Distribution::new(op.distribution, ty, a, b)?;
    let mut result = Literal::zeros(crate::value::static_shape(shape));
    let elements = u128::try_from(result.len()).unwrap_or(u128::MAX);
    let first = advance(site, Opcode::Rng, context, 0, elements)?;
    // More than 2^64 numbers are never drawn.
    let first = u64::try_from(first).unwrap_or(u64::MAX);
    let key = key(site, context);
    let width = ty.storage_bytes();
    let slots = result.bytes_mut().par_chunks_exact_mut(width).with_min_len(BLOCK).enumerate();
    slots.for_each(|(i, slot)| {
        let at = first.wrapping_add(to_i64(i).cast_unsigned());
        let bits = |attempt| {
            let [a, b, c, d] = philox(key, at, attempt);
            [join([a, b]), join([c, d])]
        };
        draw.element(bits).write(ty, slot);
    });
    Ok(result)
}

/// The key of an instruction: the seed, and who it is.
fn key(site: Site, context: &RunContext) -> u64 {
    let computation = &context.module().computations[site.computation];
    let names = [&computation.name, &computation.names[site.instruction]];
    let mut key = mixed(context.options().seed);
    for name in names {
        for byte in name.bytes().chain([0]) {
            key = mixed(key ^ u64::from(byte));
        }
    }
    key
}

/// Another number, one for each; near numbers become far ones.
const fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// What is drawn.
enum Distribution {
    /// Floats of a type from the first bound up to the second.
    Floats(ElementType, f64, f64),
    /// Whole numbers: the first, and how many there are.
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
                        let message = format!(
                            "no number of {ty} lies from {low} up to, not including, {high}"
                        );
                        Err(Code::Trap { message }.into())
                    }
                }
            }
            RandomDistribution::Uniform => Ok(Self::Floats(ty, a.as_f64(), b.as_f64())),
        }
    }

    /// One number; `bits` gives new bits for each attempt.
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
                    other => other,
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
    match x {
        Scalar::Unsigned(x) => i128::from(x),
        other => i128::from(other.as_wrapping()),
    }
}

/// `a + (b - a) * v`, also where `b - a` overflows.
fn between(a: f64, b: f64, v: f64) -> f64 {
    let width = b - a;
    if width.is_finite() { a + width * v } else { a * (1.0 - v) + b * v }
}

/// A multiple of 2^-53 in [0, 1).
fn fraction(bits: u64) -> f64 {
    Scalar::Unsigned(bits >> 11).as_f64() / 9_007_199_254_740_992.0
}

fn function(op: Unary, x: f64) -> f64 {
    unary(op, ElementType::F64, Scalar::Float(x)).as_f64()
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable, RunOptions};
    use hlo::Literal;

    const TEXT: &str = "ENTRY e { a = f32[] constant(0) b = f32[] constant(1) ROOT r = f32[3000] rng(a, b), distribution=rng_uniform }";

    fn drawn(seed: u64, threads: usize) -> Literal {
        let verified = hlo::Module::parse(TEXT).unwrap().verify().unwrap();
        let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
        let run = || executable.execute(&[], &RunOptions::default().seed(seed));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(run).unwrap()
    }

    /// The first numbers are those of Philox under the key of this seed and these names.
    #[test]
    fn numbers_come_from_the_seed_alone() {
        let numbers = drawn(0, 1);
        assert_eq!(numbers, drawn(0, 3));
        assert_ne!(numbers, drawn(1, 1));
        let key = b"e\0r\0".iter().fold(super::mixed(0), |k, &b| super::mixed(k ^ u64::from(b)));
        let [low, high, ..] = super::philox(key, 2, 0);
        let bits = u64::from(high) << 32 | u64::from(low);
        let wanted = super::fraction(bits);
        assert!((numbers.get(2).as_f64() - wanted).abs() < 1e-7, "{numbers:?} {wanted}");
    }
}
