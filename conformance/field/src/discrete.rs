//! Discrete logarithms: the exponents of squares modulo the first prime, which are numbers modulo
//! the second.
use crate::tower::{PRIMES, multiply_at, power_at};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A generator of the squares.
const GENERATOR: u32 = 4;

/// The number of powers that are kept: a logarithm takes about the order of the squares divided by
/// this many products.
const KEPT: u32 = 1 << 20;

/// The exponents of powers of the generator, by the power.
static EXPONENTS: LazyLock<FxHashMap<u32, u32>> = LazyLock::new(|| {
    let powers = std::iter::successors(Some(1), |power| Some(multiply_at(*power, GENERATOR, 0)));
    powers.zip(0..KEPT).collect()
});

/// Returns the exponent by which the generator is a square.
fn exponent(square: u32) -> Option<u32> {
    let step = power_at(power_at(GENERATOR, KEPT, 0), PRIMES[0] - 2, 0);
    let mut rest = square;
    for giant in 0..=PRIMES[1] / KEPT {
        if let Some(exponent) = EXPONENTS.get(&rest) {
            let whole = u64::from(giant) * u64::from(KEPT) + u64::from(*exponent);
            return u32::try_from(whole % u64::from(PRIMES[1])).ok();
        }
        rest = multiply_at(rest, step, 0);
    }
    None
}

/// Returns half of the exponent by which a base is the square of a number: the logarithm of a product
/// is the sum of the logarithms, and that of a power of the base its exponent.
pub(crate) fn logarithm(x: u32, base: u32) -> Option<u32> {
    let of_square = exponent(multiply_at(x, x, 0))?;
    let of_base = exponent(multiply_at(base, base, 0))?;
    Some(multiply_at(of_square, power_at(of_base, PRIMES[1] - 2, 1), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithm_is_the_exponent() {
        let base = multiply_at(12_345, 12_345, 0);
        let of = |x: u32| logarithm(x, base).unwrap();
        for x in [1, 2, 77, 123_456_789, PRIMES[1] - 1] {
            assert_eq!(of(power_at(base, x, 0)), x);
        }
        let (a, b) = (98_765, 1_234_567_890);
        let sum = (u64::from(of(a)) + u64::from(of(b))) % u64::from(PRIMES[1]);
        assert_eq!(u64::from(of(multiply_at(a, b, 0))), sum);
    }
}
