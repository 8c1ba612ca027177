//! Intervals that elements are drawn from.
use conformance::random::Sequence;
use hlo::{Class, ElementType};

/// The numbers that elements are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Interval {
    /// Floats from -1 to 1, integers from 0 to 3.
    Default,
    /// From the first to the second, also as integers if they are.
    Of(f64, f64, Option<(i128, i128)>),
}

impl Interval {
    /// Parses `LO:HI`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (low, high) = text.split_once(':')?;
        let float = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
        let (least, most) = (float(low)?, float(high)?);
        let integers = || Some((integer(low)?, integer(high)?));
        (least <= most).then(|| Self::Of(least, most, integers()))
    }
    /// Fails if integers of the type cannot be drawn from it.
    pub(crate) fn check(self, ty: ElementType) -> Result<(), String> {
        let Self::Of(low, high, integers) = self else { return Ok(()) };
        let (least, most) = match ty.class() {
            Class::Float | Class::Complex => return Ok(()),
            Class::Pred => (0, 1),
            Class::Signed => (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1),
            Class::Unsigned => (0, (1i128 << ty.bits()) - 1),
        };
        match integers {
            Some((low, high)) if least <= low && high <= most => Ok(()),
            Some(_) => Err(format!("{low}:{high} is not within {least}:{most}, the range of {ty}")),
            None => Err(format!(
                "{low}:{high} is not a range of integers, as {ty} requires; floats={low}:{high} is one of the floats only"
            )),
        }
    }
    pub(crate) fn float(self, sequence: &mut Sequence) -> f64 {
        match self {
            Self::Default => 2.0 * sequence.unit() - 1.0,
            // Two products, because the difference may overflow.
            Self::Of(low, high, _) => {
                let share = sequence.unit();
                (low * (1.0 - share) + high * share).clamp(low, high)
            }
        }
    }
    /// Draws an integer, if the interval states integers.
    pub(crate) fn integer(self, sequence: &mut Sequence) -> Option<i128> {
        let Self::Of(_, _, Some((low, high))) = self else { return None };
        let count = u128::try_from(high - low).unwrap_or(0) + 1;
        let drawn = (u128::from(sequence.bits()) * count) >> 64;
        Some(low + i128::try_from(drawn).unwrap_or(0))
    }
}

/// Parses an integer, which may have an exponent: `-1e4`.
fn integer(text: &str) -> Option<i128> {
    /// Every integer up to this one is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = || text.parse().ok().filter(|x: &f64| x.fract() == 0.0 && x.abs() <= EXACT);
    text.parse().ok().or_else(|| format!("{:.0}", exact()?).parse().ok())
}
