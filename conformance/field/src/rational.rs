//! Constants: decimal literals read as the rational numbers that they mean, and rational numbers
//! recognized among elements.
use crate::element::{Element, approximate};
use crate::tower::{self, LEVELS, PRIMES};
use hlo::ElementType;

/// The largest numerator and denominator that are recognized.
const LARGEST: u64 = 1 << 24;

/// Returns the rational number that a literal of a type means: an integer itself, else the simplest
/// fraction within two units in the last place if it is far simpler than the literal and no other
/// number of the type. One that is not so simple, as 355/113, must be nearest to the literal. A type
/// of fewer digits than f32 has too few of them to tell a fraction from a number nearby.
pub(crate) fn meant(x: f64, ty: ElementType) -> Option<(i64, i64)> {
    /// The largest ratio of what chance explains and what the digits can tell.
    const SIMPLE: i128 = 1 << 6;
    const VERY_SIMPLE: i128 = 1 << 12;
    if x.fract().abs() <= 0.0 && x.abs() <= 9e15 {
        return Some((whole(x)?, 1));
    }
    if is_narrow(ty) {
        return None;
    }
    let near = 2.0 * unit(x, ty);
    let (n, d) = simplest(x.abs() - near, x.abs() + near)?;
    let is_simple = |by: i128| {
        let product = (n * d).checked_mul(by);
        product.is_some_and(|product| product < 1i128 << digits(ty).min(120))
    };
    if !is_simple(SIMPLE) {
        return None;
    }
    let signed = if x < 0.0 { -n } else { n };
    let fraction = (i64::try_from(signed).ok()?, i64::try_from(d).ok()?);
    let nearest =
        crate::arithmetic::rounded_to(approximate(fraction.0) / approximate(fraction.1), ty);
    let is_nearest = nearest.total_cmp(&x).is_eq();
    let is_of_type = d & (d - 1) == 0;
    (is_nearest || !is_of_type && is_simple(VERY_SIMPLE)).then_some(fraction)
}

/// Returns whether a type has too few digits for literals to mean anything else than themselves.
pub(crate) fn is_narrow(ty: ElementType) -> bool {
    digits(ty) < 24
}

/// Returns whether a number has so few binary digits that a literal is exactly it.
pub(crate) fn has_few_bits(x: f64) -> bool {
    const ROUNDED: u64 = (1 << 40) - 1;
    x.to_bits() & ROUNDED == 0
}

/// Returns the number of binary digits of a type.
pub(crate) fn digits(ty: ElementType) -> u32 {
    ty.float_format().map_or(53, |format| format.mantissa_bits + 1)
}

/// Returns a unit in the last place of a number of a type, or up to twice as much.
pub(crate) fn unit(x: f64, ty: ElementType) -> f64 {
    x.abs() * f64::powi(2.0, 1 - i32::try_from(digits(ty)).unwrap_or(53))
}

/// Returns a whole number of at most 53 bits without its fraction.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "checked")]
pub(crate) fn whole(x: f64) -> Option<i64> {
    (x.abs() <= 9e15).then_some(x as i64)
}

/// Returns the fraction with the smallest denominator in an interval of positive numbers.
fn simplest(low: f64, high: f64) -> Option<(i128, i128)> {
    let (mut low, mut high) = (low, high);
    // Convergents: h/k with the one before.
    let (mut h, mut k) = ((0i128, 1i128), (1i128, 0i128));
    for _ in 0..40 {
        let first = low.floor();
        let is_whole = low <= first;
        let is_last = first + 1.0 <= high || is_whole;
        let digit = first + f64::from(u8::from(is_last && !is_whole));
        let digit = i128::from(whole(digit)?);
        h = (h.1, digit.checked_mul(h.1)?.checked_add(h.0)?);
        k = (k.1, digit.checked_mul(k.1)?.checked_add(k.0)?);
        if is_last {
            return Some((h.1, k.1));
        }
        (low, high) = (1.0 / (high - first), 1.0 / (low - first));
    }
    None
}

/// Returns the simplest fraction that is a number but for a part of it.
pub(crate) fn near(x: f64, part: f64) -> Option<(i64, i64)> {
    let (n, d) = simplest(x * (1.0 - part), x * (1.0 + part))?;
    Some((i64::try_from(n).ok()?, i64::try_from(d).ok()?))
}

/// Returns the element of a fraction.
pub(crate) fn element((n, d): (i64, i64)) -> Element {
    let of = |x: i64| tower::of_integer(i128::from(x));
    let residues = tower::multiply(of(n), tower::invert(of(d)));
    Element::constant(residues, approximate(n) / approximate(d))
}

/// Returns the element of exactly this number, m * 2^e.
pub(crate) fn exactly(x: f64) -> Element {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let exponent = i32::try_from(exponent.max(1)).expect("eleven bits") - 1075;
    let two = if exponent < 0 { tower::invert([2; LEVELS]) } else { [2; LEVELS] };
    let power = std::array::from_fn(|i| tower::power_at(two[i], exponent.unsigned_abs(), i));
    let signed = i128::from(mantissa) * if x < 0.0 { -1 } else { 1 };
    Element::constant(tower::multiply(tower::of_integer(signed), power), x)
}

/// Returns the whole number that an element is, if it is one of at most 40 bits.
pub(crate) fn whole_of(x: &Element) -> Option<i64> {
    let value = joined(x)?;
    let modulus = u64::from(PRIMES[0]) * u64::from(PRIMES[1]);
    let value = match value > modulus / 2 {
        true => -i64::try_from(modulus - value).ok()?,
        false => i64::try_from(value).ok()?,
    };
    let is_near = (approximate(value) - x.real).abs() <= 1e-8 * x.real.abs();
    (value.unsigned_abs() < 1 << 40 && is_near).then_some(value)
}

/// Returns the number modulo the product of both primes, which has 61 bits: a + p * ((b - a) mod q),
/// since p = 1 mod q.
fn joined(x: &Element) -> Option<u64> {
    if !x.is_finite() || !x.is_deep {
        return None;
    }
    let [p, q] = PRIMES.map(u64::from);
    let [a, b] = x.residues.map(u64::from);
    Some(a + p * ((b + q - a % q) % q))
}

/// Returns the fraction that an element is, if it is one of small numbers.
pub(crate) fn recognized(x: &Element) -> Option<(i64, i64)> {
    if let Some(whole) = whole_of(x) {
        return Some((whole, 1));
    }
    let modulus = u64::from(PRIMES[0]) * u64::from(PRIMES[1]);
    let (mut old, mut new) = ((modulus, 0i64), (joined(x)?, 1i64));
    while new.0 > LARGEST {
        let quotient = old.0 / new.0;
        let coefficient = i64::try_from(quotient).ok()?.checked_mul(new.1)?;
        (old, new) = (new, (old.0 % new.0, old.1.checked_sub(coefficient)?));
    }
    let (n, d) = (i64::try_from(new.0).ok()?, new.1);
    let (n, d) = if d < 0 { (-n, -d) } else { (n, d) };
    // The real number says whether it is one by chance.
    let real = approximate(n) / approximate(d);
    let is_near = (real - x.real).abs() <= 1e-8 * real.abs();
    let is_small = d.unsigned_abs() <= LARGEST;
    (is_near && is_small && d > 0).then_some((n, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_means_a_simple_fraction() {
        let f32_of = |x: f32| meant(f64::from(x), ElementType::F32);
        assert_eq!(f32_of(0.111_111_11), Some((1, 9)));
        assert_eq!(f32_of(0.005_555_555_7), Some((1, 180)));
        assert_eq!(f32_of(-0.5), Some((-1, 2)));
        assert_eq!(f32_of(127.0), Some((127, 1)));
        assert_eq!(f32_of(1e-5), Some((1, 100_000)));
        assert_eq!(f32_of(1e-6), None);
        assert_eq!(f32_of(0.797_884_6), None);
        assert_eq!(meant(0.333_984_375, ElementType::Bf16), None);
    }

    #[test]
    fn a_literal_is_no_other_number_nearby() {
        let f32_of = |x: f32| meant(f64::from(x), ElementType::F32);
        assert_eq!(f32_of(0.999_999_9), None);
        assert_eq!(f32_of(2.000_000_2), None);
        assert_eq!(f32_of(std::f32::consts::PI), None);
        assert_eq!(f32_of(355.0 / 113.0), Some((355, 113)));
        // What is left of 1 - 0.9.
        assert_eq!(f32_of(0.100_000_024), Some((1, 10)));
        assert_eq!(meant(std::f64::consts::PI, ElementType::F64), None);
        assert_eq!(meant(0.1 + 0.2, ElementType::F64), Some((3, 10)));
        for ty in [ElementType::Bf16, ElementType::F16, ElementType::F8E4M3Fn] {
            assert_eq!(meant(0.992_187_5, ty), None);
            assert_eq!(meant(2.0, ty), Some((2, 1)));
        }
    }

    #[test]
    fn fractions_are_recognized() {
        for fraction in [(0, 1), (1, 1), (-7, 3), (1, 1000), (1_000_000_007, 1), (-1, 9_999_937)] {
            assert_eq!(recognized(&element(fraction)), Some(fraction));
        }
        assert_eq!(recognized(&exactly(0.375)), Some((3, 8)));
        assert_eq!(recognized(&exactly(-1e9)), Some((-1_000_000_000, 1)));
        let random = Element::constant([123_456_789, 787_654_321], 0.7);
        assert_eq!(recognized(&random), None);
    }
}
