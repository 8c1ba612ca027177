//! Arithmetic modulo three primes at once.
//!
//! The primes form a tower: each is twice the next, plus one. So the squares modulo the first are
//! a group of which the order is the second, and `4^x` modulo the first is determined by x modulo
//! the second: an exponential that keeps `exp(x) * exp(y) = exp(x + y)`. Modulo the first prime, -1
//! is no square, and 2, 3, 5 and all primes to 47 are: of a number and its negative exactly one is
//! a square, which counts as positive, and small positive numbers are positive.

/// The primes: p = 2 q + 1, q = 2 r + 1.
pub(crate) const PRIMES: [u32; 3] = [2_069_461_679, 1_034_730_839, 517_365_419];

/// A number modulo each of the primes.
pub(crate) type Residues = [u32; 3];

fn reduced(x: u64, level: usize) -> u32 {
    u32::try_from(x % u64::from(PRIMES[level])).expect("a prime has 31 bits")
}

fn each(f: impl Fn(usize) -> u32) -> Residues {
    [f(0), f(1), f(2)]
}

pub(crate) fn of_integer(x: i128) -> Residues {
    each(|level| {
        let residue = x.rem_euclid(i128::from(PRIMES[level]));
        u32::try_from(residue).expect("a prime has 31 bits")
    })
}

pub(crate) fn add(x: Residues, y: Residues) -> Residues {
    each(|i| reduced(u64::from(x[i]) + u64::from(y[i]), i))
}

pub(crate) fn negate(x: Residues) -> Residues {
    each(|i| reduced(u64::from(PRIMES[i] - x[i]), i))
}

pub(crate) fn multiply(x: Residues, y: Residues) -> Residues {
    each(|i| multiply_at(x[i], y[i], i))
}

/// Returns the inverse; that of 0 is 0.
pub(crate) fn invert(x: Residues) -> Residues {
    each(|i| power_at(x[i], PRIMES[i] - 2, i))
}

/// Returns the product modulo one of the primes.
pub(crate) fn multiply_at(x: u32, y: u32, level: usize) -> u32 {
    reduced(u64::from(x) * u64::from(y), level)
}

/// Returns a power modulo one of the primes.
pub(crate) fn power_at(x: u32, mut exponent: u32, level: usize) -> u32 {
    let (mut square, mut result) = (x, 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply_at(result, square, level);
        }
        square = multiply_at(square, square, level);
        exponent >>= 1;
    }
    result
}

/// Returns whether a number other than 0 is a square modulo the first prime: the Jacobi symbol.
pub(crate) fn is_square(x: u32) -> bool {
    let (mut a, mut n, mut sign) = (x % PRIMES[0], PRIMES[0], true);
    while a != 0 {
        let twos = a.trailing_zeros();
        a >>= twos;
        if twos % 2 == 1 && matches!(n % 8, 3 | 5) {
            sign = !sign;
        }
        if a % 4 == 3 && n % 4 == 3 {
            sign = !sign;
        }
        (a, n) = (n % a, a);
    }
    sign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primes_are_a_tower() {
        for (level, prime) in PRIMES.into_iter().enumerate() {
            let divisors = (2u32..).take_while(|d| d.saturating_mul(*d) <= prime);
            assert!(divisors.into_iter().all(|d| prime % d != 0), "{prime}");
            assert_eq!(power_at(5, prime - 1, level), 1);
        }
        assert_eq!(PRIMES[0], 2 * PRIMES[1] + 1);
        assert_eq!(PRIMES[1], 2 * PRIMES[2] + 1);
        assert_eq!(power_at(4, PRIMES[1], 0), 1);
        assert_eq!(power_at(4, PRIMES[2], 1), 1);
    }

    #[test]
    fn one_of_a_number_and_its_negative_is_a_square() {
        for x in [1, 2, 3, 5, 7, 11, 13, 17, 47, 123_456_789] {
            let root = power_at(x, (PRIMES[0] - 1) / 2, 0);
            assert_eq!(is_square(x), root == 1, "{x}");
            assert_ne!(is_square(x), is_square(PRIMES[0] - x), "{x}");
        }
        assert!((1..=47).all(is_square));
    }
}
