//! The run state of `rng` and `rng-get-and-update-state`; the numbers of `rng` are those of its
//! function in `spec`
//!
//! **`rng-get-and-update-state`**: `result = state; state = state + delta`. The state is one
//! 128-bit number for each instruction, given as low and high half. It starts at 117515157 and
//! wraps. It lasts as long as a run: XLA:CPU keeps it from one execution to the next.
//!
//! Neither runs in a computation that is called for each element (`reduce`, `map`, `sort` and the
//! like): those may be called in any order, so `E0402`.
use crate::context::RunContext;
use crate::state::Site;
use crate::{Error, Result};
use hlo::op::{Rng, RngGetAndUpdateState};
use hlo::{ArrayShape, ElementType, Literal, Opcode};
use spec::Operand;

/// Where `rng-get-and-update-state` starts in XLA.
const FIRST_STATE: u128 = 0x0701_2395;

/// Returns the count of the instruction, and adds `count` to it.
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
    Ok(streams.advance(site, first, count))
}

pub(crate) fn get_and_update_state(
    site: Site,
    op: &RngGetAndUpdateState,
    context: &RunContext,
) -> Result<Literal> {
    // Signed, so that a negative delta decreases the state.
    let delta = i128::from(op.delta).cast_unsigned();
    let state =
        advance(site, Opcode::RngGetAndUpdateState, context, FIRST_STATE, delta)?.to_le_bytes();
    let shape = ArrayShape::new(ElementType::U64, [2].as_slice());
    Ok(Literal::from_bytes(shape, &state).expect("two words of 64 bits"))
}

pub(crate) fn rng(
    site: Site,
    op: &Rng,
    operands: &[&Literal],
    shape: &ArrayShape,
    context: &RunContext,
) -> Result<Literal> {
    let [a, b] = [0, 1].map(|i| Operand::of(operands[i]));
    let elements = u128::try_from(num::index::count(&shape.dims)).unwrap_or(u128::MAX);
    let drawn = advance(site, Opcode::Rng, context, 0, elements)?;
    // More than 2^64 numbers are never drawn.
    let drawn = u64::try_from(drawn).unwrap_or(u64::MAX);
    spec::rng::rng(op, &a, &b, shape, key(site, context), drawn)
}

/// Returns the key of an instruction: the seed, and who it is.
fn key(site: Site, context: &RunContext) -> u64 {
    let computation = &context.module().computations[site.computation];
    let names = [&computation.name, computation.name(site.instruction)];
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
        let [low, high, ..] = num::random::philox(key, 2, 0);
        let bits = u64::from(high) << 32 | u64::from(low);
        let wanted = spec::rng::fraction(bits);
        assert!((numbers.get(2).as_f64() - wanted).abs() < 1e-7, "{numbers:?} {wanted}");
    }
}
