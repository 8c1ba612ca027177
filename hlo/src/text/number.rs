//! Parses numbers, and prints them as XLA does.
use super::word::{is_word, shorten};
use crate::elem::Class;
use crate::{ElementType, Scalar};
use std::fmt::Write;

/// A number as written in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// Digits only.
    Int { negative: bool, magnitude: u64 },
    /// With a decimal point or an exponent.
    Decimal(f64),
    /// `inf`, `-inf`
    Inf { negative: bool },
    /// `nan`, `-nan(0x1)`
    Nan { negative: bool, payload: Option<u64> },
}

impl Number {
    /// Parses a number at the start of `text`, and returns its length; `None` if there is none.
    pub(crate) fn scan(text: &str) -> Result<Option<(Self, usize)>, String> {
        let bytes = text.as_bytes();
        let negative = bytes.first() == Some(&b'-');
        let start = usize::from(negative);
        match bytes.get(start) {
            Some(b'0'..=b'9' | b'.') => Self::digits(text, start, negative),
            Some(b'i') if word(text, start) == "inf" => {
                Ok(Some((Self::Inf { negative }, start + 3)))
            }
            Some(b'n') if word(text, start) == "nan" => Self::nan(text, start + 3, negative),
            _ => Ok(None),
        }
    }

    fn digits(text: &str, start: usize, negative: bool) -> Result<Option<(Self, usize)>, String> {
        let bytes = text.as_bytes();
        let run = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let whole = run(start);
        let mut end = whole;
        if bytes.get(end) == Some(&b'.') {
            end = run(end + 1);
        }
        if end == whole + 1 && whole == start {
            return Ok(None);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let digits = end + 1 + sign;
            end = if run(digits) > digits { run(digits) } else { end };
        }
        if end > whole {
            let value: f64 =
                text[..end].parse().map_err(|_| format!("`{}` is not a number", &text[..end]))?;
            if value.is_infinite() {
                return Err(format!("`{}` does not fit in an f64", shorten(&text[..end])));
            }
            return Ok(Some((Self::Decimal(value), end)));
        }
        let too_large = || format!("`{}` does not fit in 64 bits", shorten(&text[..end]));
        let mut magnitude = 0u64;
        for digit in &bytes[start..end] {
            let next =
                magnitude.checked_mul(10).and_then(|m| m.checked_add(u64::from(digit - b'0')));
            magnitude = next.ok_or_else(too_large)?;
        }
        if negative && magnitude > 1 << 63 {
            return Err(too_large());
        }
        Ok(Some((Self::Int { negative, magnitude }, end)))
    }

    fn nan(text: &str, end: usize, negative: bool) -> Result<Option<(Self, usize)>, String> {
        let Some(rest) = text[end..].strip_prefix('(') else {
            return Ok(Some((Self::Nan { negative, payload: None }, end)));
        };
        let payload = rest.split_once(')').and_then(|(inner, _)| {
            let digits = inner.strip_prefix("0x")?;
            let value = u64::from_str_radix(digits, 16).ok()?;
            (value != 0 && value >> 52 == 0).then_some((value, inner.len()))
        });
        match payload {
            Some((value, length)) => {
                Ok(Some((Self::Nan { negative, payload: Some(value) }, end + length + 2)))
            }
            None => Err("write the payload of a NaN as (0x...): not 0, at most 52 bits".to_owned()),
        }
    }

    /// Returns the nearest f64.
    pub(crate) fn to_f64(self) -> f64 {
        let sign = |negative: bool, x: f64| if negative { -x } else { x };
        match self {
            Self::Int { negative, magnitude } => {
                sign(negative, crate::scalar::u64_to_f64(magnitude))
            }
            Self::Decimal(x) => x,
            Self::Inf { negative } => sign(negative, f64::INFINITY),
            Self::Nan { negative, .. } => sign(negative, f64::NAN),
        }
    }
}

/// Returns the letters and digits at `start`.
fn word(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    let end = rest.bytes().position(|b| !is_word(b)).unwrap_or(rest.len());
    &rest[..end]
}

/// Writes `x` as C's `printf("%.{digits}g")` does.
pub(crate) fn general(out: &mut String, x: f64, digits: usize) {
    if x.is_nan() {
        out.push_str(if x.is_sign_negative() { "-nan" } else { "nan" });
        return;
    }
    if x.is_infinite() {
        out.push_str(if x < 0.0 { "-inf" } else { "inf" });
        return;
    }
    if x == 0.0 {
        out.push_str(if x.is_sign_negative() { "-0" } else { "0" });
        return;
    }
    // Integers of few digits have a fast path.
    if x.fract() == 0.0 && x.abs() < 1e5 && digits >= 5 {
        let _ = write!(out, "{x}");
        return;
    }
    let start = out.len();
    let _ = write!(out, "{x:.*e}", digits - 1);
    let text = &out[start..];
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let fits = i32::try_from(digits).is_ok_and(|digits| (-4..digits).contains(&exponent));
    if fits {
        let places =
            usize::try_from(i32::try_from(digits).unwrap_or(0) - 1 - exponent).unwrap_or(0);
        out.truncate(start);
        let _ = write!(out, "{x:.places$}");
        trim_zeros(out, start);
        return;
    }
    let mut mantissa = mantissa.to_owned();
    trim_zeros(&mut mantissa, 0);
    out.truncate(start);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.abs());
}

/// Removes trailing zeros after the decimal point, and the point if nothing follows it.
fn trim_zeros(out: &mut String, start: usize) {
    if out[start..].contains('.') {
        let kept = out.trim_end_matches('0').trim_end_matches('.').len();
        out.truncate(kept);
    }
}

/// Appends `n` in decimal; shapes are mostly numbers, and this is faster than `write!`.
#[inline]
pub(crate) fn push_int(out: &mut String, n: i64) {
    // Most numbers in a shape are one digit or two.
    if let Ok(small) = u8::try_from(n) {
        if small < 10 {
            return out.push(char::from(b'0' + small));
        }
        if small < 100 {
            out.push(char::from(b'0' + small / 10));
            return out.push(char::from(b'0' + small % 10));
        }
    }
    push_long(out, n);
}

fn push_long(out: &mut String, n: i64) {
    const LONGEST: usize = 20;
    let mut digits = [b'0'; LONGEST];
    let mut first = LONGEST;
    let mut left = n.unsigned_abs();
    while left > 0 || first == LONGEST {
        first -= 1;
        digits[first] += u8::try_from(left % 10).unwrap_or(0);
        left /= 10;
    }
    if n < 0 {
        out.push('-');
    }
    out.extend(digits[first..].iter().copied().map(char::from));
}

/// Appends the numbers, separated by commas without blanks.
pub(crate) fn push_ints(out: &mut String, numbers: &[i64]) {
    for (i, &n) in numbers.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        push_int(out, n);
    }
}

/// Writes an element as XLA does in a constant; `inside` an array, where booleans are 0 and 1.
pub(crate) fn element(out: &mut String, ty: ElementType, bytes: &[u8], inside: bool) {
    match (ty.class(), Scalar::read(ty, bytes)) {
        (_, Scalar::Pred(x)) if inside => out.push(if x { '1' } else { '0' }),
        (_, Scalar::Pred(x)) => out.push_str(if x { "true" } else { "false" }),
        (_, Scalar::Signed(x)) => push_int(out, x),
        (_, Scalar::Unsigned(x)) => {
            let _ = write!(out, "{x}");
        }
        (Class::Complex, _) => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            out.push('(');
            element(out, ty.component(), re, inside);
            out.push_str(", ");
            element(out, ty.component(), im, inside);
            out.push(')');
        }
        (_, scalar) => float(out, ty, scalar.as_f64(), Scalar::bits(ty, bytes)),
    }
}

fn float(out: &mut String, ty: ElementType, x: f64, bits: u128) {
    let format = ty.float_format().expect("the type is a float");
    let code = u64::try_from(bits).unwrap_or(0);
    if let Some((negative, payload)) = format.nan_parts(code) {
        out.push_str(if negative { "-nan" } else { "nan" });
        if let Some(payload) = payload {
            let _ = write!(out, "(0x{payload:x})");
        }
        return;
    }
    let digits = ty.print_digits();
    let start = out.len();
    general(out, x, digits);
    // f32 and f64 take more digits if the first attempt does not round-trip.
    let more = match ty.bits() {
        32 => 9,
        64 => 17,
        _ => return,
    };
    let back: f64 = out[start..].parse().unwrap_or(x);
    if format.encode(back) != code {
        out.truncate(start);
        general(out, x, more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_c_does() {
        let g = |x: f64, digits: usize| {
            let mut out = String::new();
            general(&mut out, x, digits);
            out
        };
        assert_eq!(g(0.1, 6), "0.1");
        assert_eq!(g(1e6, 6), "1e+06");
        assert_eq!(g(123_456.0, 6), "123456");
        assert_eq!(g(999_999.5, 6), "1e+06");
        assert_eq!(g(0.0001, 6), "0.0001");
        assert_eq!(g(0.00001, 6), "1e-05");
        assert_eq!(g(256.0, 2), "2.6e+02");
        assert_eq!(g(0.125, 2), "0.12");
        assert_eq!(g(1e6, 15), "1000000");
        assert_eq!(g(-0.0, 6), "-0");
        assert_eq!(g(5e-324, 15), "4.94065645841247e-324");
        assert_eq!(g(100_000.0, 5), "1e+05");
    }

    #[test]
    fn reads_every_form() {
        let scan = |text: &str| Number::scan(text).unwrap();
        assert_eq!(scan("-12,"), Some((Number::Int { negative: true, magnitude: 12 }, 3)));
        assert_eq!(scan("1.5e-3 "), Some((Number::Decimal(1.5e-3), 6)));
        assert_eq!(scan("-.5"), Some((Number::Decimal(-0.5), 3)));
        assert_eq!(scan("1e"), Some((Number::Int { negative: false, magnitude: 1 }, 1)));
        assert_eq!(scan("-inf"), Some((Number::Inf { negative: true }, 4)));
        assert_eq!(scan("nan(0x1)"), Some((Number::Nan { negative: false, payload: Some(1) }, 8)));
        assert_eq!(scan("infinity"), None);
        assert_eq!(scan("-"), None);
        assert!(Number::scan("18446744073709551616").is_err());
        assert!(Number::scan("-9223372036854775809").is_err());
        assert!(Number::scan("1e400").is_err());
        assert!(Number::scan("nan(1)").is_err());
        assert_eq!(scan("1e-400"), Some((Number::Decimal(0.0), 6)));
    }
}
