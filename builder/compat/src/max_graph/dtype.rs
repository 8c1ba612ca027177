//! Type promotion, derived from the values that each type can represent.
use builder::{Code, Error, Result};
use hlo::ElementType;
use hlo::elem::{Class, FloatFormat, Special};

/// The numbers of a type.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Numbers {
    Bool,
    Whole { least: i128, most: i128 },
    Float(FloatFormat),
}

#[cold]
fn refused(message: String, help: impl Into<String>) -> Error {
    Error::from(Code::Promotion { message }).with_help(help)
}

/// Returns the numbers of a type that MAX Graph has.
fn numbers(ty: ElementType) -> Result<Numbers> {
    let whole = |signed: bool| {
        if ty.bits() < 8 {
            let message =
                format!("MAX Graph has no promotion for {ty}: its integers have 8 to 64 bits");
            return Err(refused(message, "cast it to s8 or u8 first"));
        }
        let most = 1i128 << (ty.bits() - u32::from(signed));
        Ok(Numbers::Whole { least: if signed { -most } else { 0 }, most: most - 1 })
    };
    match ty.class() {
        Class::Pred => Ok(Numbers::Bool),
        Class::Unsigned => whole(false),
        Class::Signed => whole(true),
        Class::Float => ty.float_format().map(Numbers::Float).ok_or_else(|| complex(ty)),
        Class::Complex => Err(complex(ty)),
    }
}

fn complex(ty: ElementType) -> Error {
    let message = format!(
        "MAX Graph has no promotion for {ty}: its categories are bool < unsigned < signed < float"
    );
    refused(message, "compute with `x.real()` and `x.imag()`")
}

/// Returns category and bit width, both growing. A `bool` needs one bit, whatever it is stored in.
fn rank(ty: ElementType, numbers: Numbers) -> (u8, u32) {
    match numbers {
        Numbers::Bool => (0, 1),
        Numbers::Whole { least: 0.., .. } => (1, ty.bits()),
        Numbers::Whole { .. } => (2, ty.bits()),
        Numbers::Float(_) => (3, ty.bits()),
    }
}

/// Returns the type two types promote to: the higher category of `bool < unsigned < signed < float`
/// and the larger bit width.
///
/// Source: "`DType` Promotion Rules". A `bool` counts as 1 bit wide.
///
/// # Errors
/// `E0810` if the candidate cannot represent every value of both types (`u32` with `s32`, `s32`
/// with `f32`), if both types are of one category and width but of different format (`f16` with
/// `bf16`), and of types that MAX Graph does not have: complex ones, and integers of less than 8
/// bits.
///
/// ```
/// use builder_compat::max_graph::promote;
/// use hlo::ElementType::{F16, F32, S8, S32, U8};
/// assert_eq!(promote(U8, S32)?, S32);
/// assert_eq!(promote(S8, F16)?, F16);
/// let error = promote(S32, F32).unwrap_err();
/// assert!(error.to_string().contains("s32 holds 16777217, which f32 cannot represent"));
/// # Ok::<(), builder::Error>(())
/// ```
pub fn promote(lhs: ElementType, rhs: ElementType) -> Result<ElementType> {
    let (left, right) = (numbers(lhs)?, numbers(rhs)?);
    if lhs == rhs {
        return Ok(lhs);
    }
    let (l, r) = (rank(lhs, left), rank(rhs, right));
    if l == r {
        let message =
            format!("{lhs} and {rhs} do not promote: they have one width, and different formats");
        return Err(refused(message, CAST));
    }
    let expected = (l.0.max(r.0), l.1.max(r.1));
    // Of floats several share a width. Where neither operand is the candidate it is a float as
    // narrow as the other, an integer, and no float holds all integers of its width: naming one of
    // them is enough.
    let mut types = [lhs, rhs].into_iter().chain(ElementType::ALL.iter().copied());
    let candidate = types.find_map(|ty| {
        let numbers = numbers(ty).ok()?;
        (rank(ty, numbers) == expected).then_some((ty, numbers))
    });
    let (candidate, held) = candidate.ok_or_else(|| {
        let message = format!("{lhs} and {rhs} do not promote: no type has {} bits", expected.1);
        refused(message, CAST)
    })?;
    for (ty, own) in [(lhs, left), (rhs, right)] {
        if let Some(value) = lost(own, held) {
            let message = format!(
                "{lhs} and {rhs} do not promote: {ty} holds {value}, which {candidate} cannot represent"
            );
            return Err(refused(message, CAST));
        }
    }
    Ok(candidate)
}

const CAST: &str = "cast one of them to the type you want first: `x.convert_element_type(...)`";

/// Returns a value of `from` that `to` does not hold.
fn lost(from: Numbers, to: Numbers) -> Option<String> {
    match (from, to) {
        (_, Numbers::Float(FloatFormat { special: Special::PowerOfTwo, .. })) if from != to => {
            Some("0".to_owned())
        }
        (Numbers::Bool, _) => None,
        (Numbers::Whole { .. }, Numbers::Bool) => Some("2".to_owned()),
        (Numbers::Float(_), Numbers::Bool | Numbers::Whole { .. }) => Some("0.5".to_owned()),
        (Numbers::Whole { least, most }, Numbers::Whole { least: low, most: high }) => {
            let beyond =
                if most > high { Some(high + 1) } else { (least < low).then_some(low - 1) };
            beyond.map(|n| n.to_string())
        }
        (Numbers::Whole { least, most }, Numbers::Float(format)) => {
            let gap = first_gap(format);
            let beyond = if most >= gap { Some(gap) } else { (least <= -gap).then_some(-gap) };
            beyond.map(|n| n.to_string())
        }
        (Numbers::Float(from), Numbers::Float(to)) => lost_float(from, to),
    }
}

/// Returns the least positive integer that a format with a zero does not hold.
fn first_gap(format: FloatFormat) -> i128 {
    let FloatFormat { mantissa_bits, bias, .. } = format;
    let largest = format.largest();
    let exponent = i64::try_from(largest >> mantissa_bits).unwrap_or(0) - i64::from(bias);
    let significand = i128::from(largest & ((1 << mantissa_bits) - 1)) | 1 << mantissa_bits;
    match u32::try_from(i64::from(mantissa_bits) - exponent) {
        // The largest value has a part below 1: every integer up to it is held.
        Ok(fraction) => (significand >> fraction) + 1,
        Err(_) => (1 << (mantissa_bits + 1)) + 1,
    }
}

/// Returns a value of one float format that another, which has a zero, does not hold.
fn lost_float(from: FloatFormat, to: FloatFormat) -> Option<String> {
    let has = |format: FloatFormat| {
        let nan = format.special != Special::Finite;
        let minus_zero = !matches!(format.special, Special::Fnuz | Special::PowerOfTwo);
        [("NaN", nan), ("inf", format.special == Special::Ieee), ("-0", minus_zero)]
    };
    let special = has(from).into_iter().zip(has(to));
    if let Some(((name, _), _)) = special.into_iter().find(|&((_, from), (_, to))| from && !to) {
        return Some(name.to_owned());
    }
    let (largest, one) = (from.max_finite(), from.decode(from.encode(1.0)));
    if largest > to.max_finite() {
        return Some(format!("{largest:e}"));
    }
    let least = |format: FloatFormat| match format.special {
        // A code of 0 is a power of two.
        Special::PowerOfTwo => format.decode(0),
        Special::Ieee | Special::Fn | Special::Fnuz | Special::Finite => format.decode(1),
    };
    if least(from) < least(to) {
        return Some(format!("{:e}", least(from)));
    }
    // The next after 1 has a last bit.
    (from.mantissa_bits > to.mantissa_bits)
        .then(|| format!("{:e}", from.decode(from.encode(one) + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::{F32, F64, Pred, S8, S16, U8, U16};

    fn formats() -> impl Iterator<Item = (ElementType, FloatFormat)> {
        ElementType::ALL.iter().filter_map(|&ty| Some((ty, ty.float_format()?)))
    }
    fn holds(format: FloatFormat, x: f64) -> bool {
        let kept = format.decode(format.encode(x));
        kept.to_bits() == x.to_bits() || (kept.is_nan() && x.is_nan())
    }

    /// The facts of the formats agree with trying every value of those that have few.
    #[test]
    fn floats_are_held_as_their_codes_say() {
        for (from_ty, from) in formats().filter(|(ty, _)| ty.bits() <= 16) {
            for (to_ty, to) in formats() {
                let codes = 0..1u64 << from_ty.bits();
                let all = codes.map(|code| from.decode(code)).all(|x| holds(to, x));
                let said = lost(Numbers::Float(from), Numbers::Float(to));
                assert_eq!(said.is_none(), all, "{from_ty} in {to_ty}: {said:?}");
            }
        }
        let of = |ty| numbers(ty).unwrap();
        assert_eq!(lost(of(F32), of(F64)), None);
        assert_eq!(lost(of(F64), of(F32)).as_deref(), Some("1.7976931348623157e308"));
    }
    /// The same of integers, up to 16 bits.
    #[test]
    fn whole_numbers_are_held_as_the_codes_say() {
        for (ty, format) in formats() {
            for whole in [Pred, U8, S8, U16, S16] {
                let range = match numbers(whole).unwrap() {
                    Numbers::Whole { least, most } => least..=most,
                    Numbers::Bool | Numbers::Float(_) => 0..=1,
                };
                let mut values = range.map(|n| f64::from(i32::try_from(n).unwrap()));
                let all = values.all(|x| holds(format, x));
                let said = lost(numbers(whole).unwrap(), Numbers::Float(format));
                assert_eq!(said.is_none(), all, "{whole} in {ty}: {said:?}");
            }
        }
    }
}
