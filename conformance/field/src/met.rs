//! Which elements of the results the draws compare.
use crate::element::Element;

/// What the draws so far say of an element of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Met {
    /// Nothing.
    #[default]
    Unseen,
    /// It had this value in both modules, which is no function of an argument.
    Constant(f64),
    /// It was infinite or NaN in one module or in both, but for constants at most.
    Missed,
    /// It was a function of arguments in both modules, or two constants.
    Compared,
}

impl Met {
    /// Adds an element of both modules.
    pub(crate) fn add(&mut self, x: &Element, y: &Element) {
        let is_finite = x.is_finite() && y.is_finite();
        // An overflow is no constant.
        let is_sure = x.is_sure() && y.is_sure();
        let is_constant = x.is_constant() && y.is_constant() && x.is(y) && is_sure;
        *self = match *self {
            Self::Compared => Self::Compared,
            _ if is_finite && !is_constant => Self::Compared,
            Self::Unseen if is_constant => Self::Constant(x.real),
            Self::Constant(known) if is_constant && known.total_cmp(&x.real).is_eq() => *self,
            Self::Constant(known) if is_constant && is_finite && known.is_finite() => {
                Self::Compared
            }
            Self::Unseen | Self::Constant(_) | Self::Missed => Self::Missed,
        };
    }
}

/// Returns whether so many elements of an array are missed in so many draws that no function that is
/// undefined for half of the arguments explains it.
pub(crate) fn are_too_many(met: &[Met], draws: u32) -> bool {
    let missed = met.iter().filter(|met| **met == Met::Missed).count();
    let explained = met.len().checked_shr(draws.saturating_sub(2)).unwrap_or(0);
    missed > explained
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_met_where_it_is_a_number() {
        let met = |pairs: &[(Element, Element)]| {
            let mut met = Met::default();
            for (x, y) in pairs {
                met.add(x, y);
            }
            met
        };
        let infinite = Element::special(f64::INFINITY).stated();
        let overflow = Element::special(f64::INFINITY);
        let one = Element::ONE;
        let x = Element { degree: 1.0, ..one };
        assert_eq!(met(&[(x, x), (Element::NAN, one)]), Met::Compared);
        assert_eq!(met(&[(Element::NAN, Element::NAN), (one, one)]), Met::Missed);
        assert_eq!(met(&[(infinite, infinite), (one, one)]), Met::Missed);
        assert_eq!(met(&[(infinite, infinite); 2]), Met::Constant(f64::INFINITY));
        let nan = Element::NAN.stated();
        assert!(matches!(met(&[(nan, nan); 2]), Met::Constant(x) if x.is_nan()));
        assert_eq!(met(&[(overflow, overflow); 2]), Met::Missed);
        assert_eq!(met(&[(one, one), (Element::ZERO, Element::ZERO)]), Met::Compared);
        assert!(are_too_many(&[Met::Missed, Met::Compared], 12));
        assert!(!are_too_many(&[Met::Missed, Met::Compared, Met::Compared, Met::Compared], 4));
    }
}
