//! Values that a type does not have: zeros, negative numbers, infinities, NaN.
use super::evaluate::Leaves;
use super::interval::Interval;
use super::range::Range;
use super::site::Site;
use hlo::ElementType;
use hlo::elem::Special;

/// Removes what is known of zeros and negative numbers in a type that has none, and of infinities
/// and NaN: each backend has another number for them. A zero of a type without -0 is 0.
pub(super) fn unrepresentable(site: Site<'_>, value: &mut Leaves) {
    let leaves = site.instruction().shape.leaves();
    for (range, leaf) in value.iter_mut().zip(leaves) {
        let format = leaf.element_type().and_then(ElementType::float_format);
        if format.is_some_and(|format| format.special == Special::Fnuz) {
            range.make_zeros_positive();
        }
        let has = |x: Interval| match format.map(|format| format.special) {
            Some(Special::PowerOfTwo) => x.lo > 0.0 || x.is_nan(),
            Some(Special::Finite) => x.is_finite(),
            Some(Special::Ieee | Special::Fn | Special::Fnuz) | None => true,
        };
        if !range.intervals().all(has) {
            let known = |x: Interval| if has(x) { x } else { Interval::ANY };
            let each = |range: &Range| match range.shape() {
                Some(shape) => {
                    Range::given(shape, &range.intervals().map(known).collect::<Vec<_>>())
                }
                None => range.clone(),
            };
            let all: Vec<Range> = range.candidates().iter().map(each).collect();
            let cause = range.cause.clone().or_else(|| Some(site.cause()));
            *range = Range::any_of(&all).because(cause);
        }
    }
}
