//! Arithmetic modulo two primes at once.
//!
//! The first is twice the second, plus one. So the squares modulo the first are a group of which the
//! order is the second, and the power of a square by x modulo the second is an exponential that
//! keeps `exp(x) * exp(y) = exp(x + y)`. Modulo each, -1 is no square, and each is one less than a
//! multiple of 30720, the order of the roots of unity. The small primes are squares modulo each, so
//! that the root of `49 * x` is 7 times that of `x`.

/// The primes: p = 2 q + 1.
pub(crate) const PRIMES: [u32; LEVELS] = [1_994_711_039, 997_355_519];

/// The number of primes.
pub(crate) const LEVELS: usize = 2;

/// A number modulo each of the primes; or one of the plane, see [`plane`].
pub(crate) type Residues = [u32; LEVELS];

/// Returns the remainder by one of the primes, a constant of each case, so that no division is needed.
#[inline]
fn reduced(x: u64, level: usize) -> u32 {
    let rest = if level == 0 { x % u64::from(PRIMES[0]) } else { x % u64::from(PRIMES[1]) };
    u32::try_from(rest).expect("a prime has 31 bits")
}

fn each(f: impl Fn(usize) -> u32) -> Residues {
    [f(0), f(1)]
}

pub(crate) fn of_integer(x: i128) -> Residues {
    each(|level| {
        let residue = x.rem_euclid(i128::from(PRIMES[level]));
        u32::try_from(residue).expect("a prime has 31 bits")
    })
}

pub(crate) fn add(x: Residues, y: Residues) -> Residues {
    each(|i| add_at(x[i], y[i], i))
}

fn add_at(x: u32, y: u32, level: usize) -> u32 {
    reduced(u64::from(x) + u64::from(y), level)
}

pub(crate) fn negate(x: Residues) -> Residues {
    each(|i| reduced(u64::from(PRIMES[i] - x[i]), i))
}

pub(crate) fn multiply(x: Residues, y: Residues) -> Residues {
    each(|i| multiply_at(x[i], y[i], i))
}

/// Returns the square of random residues, or its negative.
pub(crate) fn signed_square(mut random: impl FnMut(u32) -> u32, is_negative: bool) -> Residues {
    let root = PRIMES.map(&mut random);
    let square = multiply(root, root);
    if is_negative { negate(square) } else { square }
}

/// Returns the inverse; that of 0 is 0.
pub(crate) fn invert(x: Residues) -> Residues {
    each(|i| invert_at(x[i], i))
}

/// Returns the inverse modulo one of the primes, by Euclid's algorithm: of small numbers it takes few
/// steps. That of 0 is 0.
fn invert_at(x: u32, level: usize) -> u32 {
    let prime = PRIMES[level];
    let (mut old, mut new) = ((prime, 0i64), (x, 1i64));
    while new.0 > 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 % new.0, old.1 - i64::from(quotient) * new.1));
    }
    u32::try_from(old.1.rem_euclid(i64::from(prime))).expect("a prime has 31 bits")
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

/// Returns the roots of squares; of another number, those of its negative. The root of a product is
/// the product of the roots.
pub(crate) fn root(x: Residues) -> Residues {
    each(|i| power_at(x[i], PRIMES[i] / 4 + 1, i))
}

/// Arithmetic of the numbers `a + b * i` modulo the first prime, which hold a root of each number
/// without `i`: of it, or of its negative.
pub(crate) mod plane {
    use super::{PRIMES, Residues, add_at, invert_at, multiply_at, power_at};

    pub(crate) fn add(x: Residues, y: Residues) -> Residues {
        [add_at(x[0], y[0], 0), add_at(x[1], y[1], 0)]
    }
    pub(crate) fn negate(x: Residues) -> Residues {
        x.map(minus)
    }
    pub(crate) fn multiply([a, b]: Residues, [c, d]: Residues) -> Residues {
        let by = |x, y| multiply_at(x, y, 0);
        match (b, d) {
            (0, 0) => [by(a, c), 0],
            _ => [add_at(by(a, c), minus(by(b, d)), 0), add_at(by(a, d), by(b, c), 0)],
        }
    }
    /// Returns the inverse; that of 0 is 0.
    pub(crate) fn invert([a, b]: Residues) -> Residues {
        let norm = add_at(multiply_at(a, a, 0), multiply_at(b, b, 0), 0);
        let inverse = invert_at(norm, 0);
        [multiply_at(a, inverse, 0), multiply_at(minus(b), inverse, 0)]
    }
    /// Returns one of the roots; `None` if there is none.
    pub(crate) fn root([a, b]: Residues) -> Option<Residues> {
        let by = |x, y| multiply_at(x, y, 0);
        let root = |x: u32| power_at(x, PRIMES[0] / 4 + 1, 0);
        let is_root = |root: u32, of: u32| by(root, root) == of;
        if b == 0 {
            let root = root(a);
            return Some(if is_root(root, a) { [root, 0] } else { [0, root] });
        }
        // The real part: the root of half of the sum of a and the size, or of the difference.
        let norm = add_at(by(a, a), by(b, b), 0);
        let size = root(norm);
        if !is_root(size, norm) {
            return None;
        }
        let half = PRIMES[0] / 2 + 1;
        let halves = [size, minus(size)].map(|size| by(add_at(a, size, 0), half));
        let real = halves.into_iter().find(|&x| x != 0 && is_root(root(x), x)).map(root)?;
        let inverse = invert_at(add_at(real, real, 0), 0);
        Some([real, by(b, inverse)])
    }
    fn minus(x: u32) -> u32 {
        if x == 0 { 0 } else { PRIMES[0] - x }
    }
}

/// Returns ten bits that identify a divisor by its residue.
pub(crate) fn hash(residue: u32) -> u32 {
    residue.wrapping_mul(0x9e37_79b1) >> 22
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
            assert_eq!(prime % 4, 3);
            for square in [2, 3, 5, 7, 11, 13] {
                assert_eq!(power_at(square, prime / 2, level), 1);
            }
        }
        assert_eq!(PRIMES[0], 2 * PRIMES[1] + 1);
        assert_eq!(power_at(4, PRIMES[1], 0), 1);
    }

    #[test]
    fn a_number_times_its_inverse_is_one() {
        assert_eq!(invert([0; LEVELS]), [0; LEVELS]);
        for x in [1, 2, 3, 1 << 24, 123_456_789, PRIMES[1] - 1] {
            assert_eq!(multiply([x; LEVELS], invert([x; LEVELS])), [1; LEVELS], "{x}");
        }
    }

    #[test]
    fn roots_are_those_of_squares() {
        for x in [1, 2, 3, 53, 123_456_789] {
            let square = multiply([x; LEVELS], [x; LEVELS]);
            let found = root(square);
            for (level, found) in found.into_iter().enumerate() {
                assert!(found == x || found == PRIMES[level] - x, "{x}");
            }
            let found = root(negate(square));
            assert_eq!(multiply(found, found), square);
        }
    }

    #[test]
    fn the_plane_is_a_field_with_roots() {
        for (a, b) in [(2, 0), (PRIMES[0] - 2, 0), (3, 5), (123_456_789, 987_654_321)] {
            let x = [a, b];
            assert_eq!(plane::multiply(x, plane::invert(x)), [1, 0]);
            let square = plane::multiply(x, x);
            let found = plane::root(square).unwrap();
            assert_eq!(plane::multiply(found, found), square);
            assert_eq!(plane::add(x, plane::negate(x)), [0, 0]);
            let roots = [x, plane::negate(x)].map(|x| plane::root(x).is_some());
            assert!(roots == [true; 2] || b != 0 && roots == [false; 2], "{x:?}");
        }
    }
}
