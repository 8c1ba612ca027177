//! The choice of a `conditional`.
use hlo::Scalar;

/// Returns the branch that a selector chooses: true is the first of two; an index out of range is
/// the last.
pub(crate) fn choose(selector: Scalar, branches: usize) -> usize {
    let last = branches.saturating_sub(1);
    match selector {
        Scalar::Pred(on) => usize::from(!on),
        Scalar::Signed(index) => usize::try_from(index).map_or(last, |i| i.min(last)),
        Scalar::Unsigned(_) | Scalar::Float(_) | Scalar::Complex(..) => last,
    }
}
