//! Constants: decimal literals read as the rational numbers that they mean, and rational numbers
//! recognized among elements.
use crate::element::Element;
use crate::tower::{self, PRIMES};
use hlo::ElementType;

/// The largest numerator and denominator that are recognized.
const LARGEST: u64 = 1 << 30;

/// Returns the rational number that a literal of a type means: an integer itself, the simplest
/// fraction within two units in the last place if it is far simpler than the literal.
pub(crate) fn meant(x: f64, ty: ElementType) -> Option<(i64, i64)> {
    if x.fract().abs() <= 0.0 && x.abs() <= 9e15 {
        return Some((whole(x)?, 1));
    }
    let digits = ty.float_format().map_or(53, |format| format.mantissa_bits + 1);
    let unit = x.abs() * f64::powi(2.0, 2 - i32::try_from(digits).ok()?);
    let (n, d) = simplest(x.abs() - unit, x.abs() + unit)?;
    let is_simple = (n * d).checked_mul(64)? < 1i128.checked_shl(digits)?;
    let signed = if x < 0.0 { -n } else { n };
    is_simple.then_some((i64::try_from(signed).ok()?, i64::try_from(d).ok()?))
}

#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "checked")]
fn whole(x: f64) -> Option<i64> {
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

/// Returns the element of a fraction.
pub(crate) fn element((n, d): (i64, i64)) -> Element {
    let of = |x: i64| tower::of_integer(i128::from(x));
    Element::constant(tower::multiply(of(n), tower::invert(of(d))))
}

/// Returns the element of exactly this number, m * 2^e.
pub(crate) fn exactly(x: f64) -> Element {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let exponent = i32::try_from(exponent.max(1)).expect("eleven bits") - 1075;
    let two = if exponent < 0 { tower::invert([2; 3]) } else { [2; 3] };
    let power = std::array::from_fn(|i| tower::power_at(two[i], exponent.unsigned_abs(), i));
    let signed = i128::from(mantissa) * if x < 0.0 { -1 } else { 1 };
    Element::constant(tower::multiply(tower::of_integer(signed), power))
}

/// Returns the fraction that an element is, if it is one of small numbers.
pub(crate) fn recognized(x: &Element) -> Option<(i64, i64)> {
    if !x.is_exact() {
        return None;
    }
    let [p, q, r] = PRIMES.map(u64::from);
    let [a, b, _] = x.residues.map(u64::from);
    // The number modulo p * q, which has 61 bits: a + p * ((b - a) / p mod q).
    let inverse = u64::from(tower::power_at(u32::try_from(p % q).ok()?, PRIMES[1] - 2, 1));
    let step = (b + q - a % q) % q * inverse % q;
    let (modulus, value) = (p * q, a + p * step);
    let (mut old, mut new) = ((modulus, 0i64), (value, 1i64));
    while new.0 > LARGEST {
        let quotient = old.0 / new.0;
        let coefficient = i64::try_from(quotient).ok()?.checked_mul(new.1)?;
        (old, new) = (new, (old.0 % new.0, old.1.checked_sub(coefficient)?));
    }
    let (n, d) = (i64::try_from(new.0).ok()?, new.1);
    let (n, d) = if d < 0 { (-n, -d) } else { (n, d) };
    let denominator = u64::try_from(d).ok().filter(|d| (1..=LARGEST).contains(d))?;
    // The third prime says whether it is one by chance.
    let left = u64::from(x.residues[2]) * (denominator % r) % r;
    (left == u64::from(tower::of_integer(i128::from(n))[2])).then_some((n, d))
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
        assert_eq!(meant(0.333_984_375, ElementType::Bf16), Some((1, 3)));
    }

    #[test]
    fn fractions_are_recognized() {
        for fraction in [(0, 1), (1, 1), (-7, 3), (1, 1000), (1_000_000_007, 1), (-1, 999_999_937)]
        {
            assert_eq!(recognized(&element(fraction)), Some(fraction));
        }
        assert_eq!(recognized(&exactly(0.375)), Some((3, 8)));
        assert_eq!(recognized(&exactly(-1e9)), Some((-1_000_000_000, 1)));
        let random = Element::constant([123_456_789, 987_654_321, 55_555]);
        assert_eq!(recognized(&random), None);
    }
}
