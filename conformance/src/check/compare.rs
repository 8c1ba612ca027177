//! The rules of the ops of `check`.
//!
//! | op | actual and expected agree |
//! |---|---|
//! | `expect_eq`, `expect_eq_const` | if they are equal: NaN is unequal to itself, and -0 is 0; in IREE's form, if they have the same bits |
//! | `expect_almost_eq`, `expect_almost_eq_const` | if they are equal or both NaN, or finite and no more than `tolerance` apart; in IREE's form `atol + rtol * abs(expected)` |
//! | `expect_close` | if they are equal or both NaN, or finite and from `min_ulp_difference` to `max_ulp_difference` values of the type apart |
//! | `expect_true`, `expect_all_true`, `expect_false` | if an element is not 0; if it is 0 |
//!
//! Parts of complex numbers are compared each.
use crate::compare::ulps;
use crate::{Comparison, Tolerance, Worst, compare};
use hlo::{ElementType, IndexSpace, Literal, Scalar};
use stablehlo::ir::{Attribute, Attributes};

/// When two values agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// They are equal, and not NaN.
    Equal,
    /// They have the same bits.
    Bits,
    /// They are at most this far apart: absolutely, and relative to the expected value.
    Near(f64, f64),
    /// They are this number of values of the type apart, at least and at most.
    Ulps(u64, u64),
    /// The value is not 0.
    True,
    /// It is 0.
    False,
}

impl Rule {
    /// Returns the rule of an op, or of a custom call of its name, which has no attributes; none if
    /// it is no check of values.
    pub(super) fn of(target: &str, attributes: &Attributes) -> Option<Self> {
        let float = |name| match attributes.get(name) {
            Some(Attribute::Float(value, _)) => Some(*value),
            _ => None,
        };
        let count = |name| match attributes.get(name) {
            Some(Attribute::Integer(value, _)) => u64::try_from(*value).ok(),
            _ => None,
        };
        Some(match target {
            "check.eq" => Self::Near(1e-4, 0.0),
            "check.expect_eq" | "check.expect_eq_const" => match attributes.get("numpy") {
                Some(_) => Self::Bits,
                None => Self::Equal,
            },
            "check.expect_almost_eq" | "check.expect_almost_eq_const" => {
                match (float("tolerance"), float("atol"), float("rtol")) {
                    (Some(tolerance), ..) => Self::Near(tolerance, 0.0),
                    (None, None, None) => Self::Near(1e-3, 0.0),
                    (None, absolute, relative) => {
                        Self::Near(absolute.unwrap_or(0.0), relative.unwrap_or(0.0))
                    }
                }
            }
            "check.expect_close" => {
                let least = count("min_ulp_difference").unwrap_or(0);
                Self::Ulps(least, count("max_ulp_difference").unwrap_or(3))
            }
            "check.expect_true" | "check.expect_all_true" => Self::True,
            "check.expect_false" => Self::False,
            _ => return None,
        })
    }
    /// Returns the number of values that are compared.
    pub(super) fn operands(self) -> usize {
        match self {
            Self::Equal | Self::Bits | Self::Near(..) | Self::Ulps(..) => 2,
            Self::True | Self::False => 1,
        }
    }

    /// Compares values.
    ///
    /// # Errors
    /// If their shapes differ.
    pub(super) fn compare(self, operands: &[&Literal]) -> Result<Comparison, String> {
        let (actual, expected) = match operands {
            [actual, expected] if self.operands() == 2 => (*actual, *expected),
            [actual] if self.operands() == 1 => return Ok(self.truth(actual)),
            other => {
                return Err(format!("it takes {} values, found {}", self.operands(), other.len()));
            }
        };
        let tolerance = match self {
            Self::Bits => Tolerance::EXACT,
            Self::Near(absolute, relative) => Tolerance::stated(absolute, relative, 0),
            Self::Ulps(_, most) => Tolerance::stated(0.0, 0.0, most),
            Self::Equal | Self::True | Self::False => Tolerance::stated(0.0, 0.0, 0),
        };
        let mut found = compare(actual, expected, &tolerance).map_err(|error| error.to_string())?;
        let least = match self {
            Self::Ulps(least, _) => least,
            Self::Equal | Self::Bits | Self::Near(..) | Self::True | Self::False => 0,
        };
        let fails: &dyn Fn(ElementType, f64, f64) -> bool = match self {
            Self::Equal => &|_, actual, expected| actual.is_nan() && expected.is_nan(),
            Self::Ulps(1.., _) => &|ty, actual, expected| {
                let both_nan = actual.is_nan() && expected.is_nan();
                let distance = if both_nan { 0 } else { ulps(ty, actual, expected) };
                distance < least
            },
            Self::Bits | Self::Near(..) | Self::Ulps(..) | Self::True | Self::False => {
                return Ok(found);
            }
        };
        each_part(actual, expected, fails, &mut found);
        Ok(found)
    }
    fn truth(self, actual: &Literal) -> Comparison {
        let is_zero = |value: Scalar| match value {
            Scalar::Pred(value) => !value,
            Scalar::Signed(value) => value == 0,
            Scalar::Unsigned(value) => value == 0,
            Scalar::Float(value) => value == 0.0,
            Scalar::Complex(re, im) => re == 0.0 && im == 0.0,
        };
        let mut found = Comparison { elements: actual.len(), ..Comparison::default() };
        for i in (0..actual.len()).filter(|&i| is_zero(actual.get(i)) == (self == Self::True)) {
            found.add_wrong(actual, i, Scalar::Signed(i64::from(self == Self::True)));
        }
        found
    }
}

/// Adds the elements with a part for which a condition holds.
fn each_part(
    actual: &Literal,
    expected: &Literal,
    fails: &dyn Fn(ElementType, f64, f64) -> bool,
    into: &mut Comparison,
) {
    let Some(ty) = actual.array_shape().map(|shape| shape.ty.component()) else { return };
    if !ty.is_float() {
        return;
    }
    let parts = |value: Scalar| match value {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [value.as_f64(); 2]
        }
    };
    for i in 0..actual.len() {
        let pairs = parts(actual.get(i)).into_iter().zip(parts(expected.get(i)));
        if pairs.into_iter().any(|(actual, expected)| fails(ty, actual, expected)) {
            into.add_wrong(actual, i, expected.get(i));
        }
    }
}

impl Comparison {
    /// Adds an element that is wrong whatever its distance.
    fn add_wrong(&mut self, actual: &Literal, i: usize, expected: Scalar) {
        self.wrong += 1;
        let Some(shape) = actual.array_shape() else { return };
        if self.worst.as_ref().is_none_or(|worst| worst.share.is_finite()) {
            self.worst = Some(Worst {
                device: None,
                leaf: 0,
                index: shape.dims.as_slice().index_of(i).to_vec(),
                ty: shape.ty,
                actual: actual.get(i),
                expected,
                share: f64::INFINITY,
            });
        }
    }
}
