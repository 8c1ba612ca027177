//! Arithmetic on booleans. Addition is `or` and multiplication `and`, so a sum of products is an
//! `or` of `and`s.

#[inline]
pub(super) fn not(x: bool) -> bool {
    !x
}
#[inline]
pub(super) fn or(a: bool, b: bool) -> bool {
    a | b
}
#[inline]
pub(super) fn and(a: bool, b: bool) -> bool {
    a & b
}
#[inline]
pub(super) fn xor(a: bool, b: bool) -> bool {
    a ^ b
}
pub(super) use {and as min, and as mul, or as add, or as max};

#[cfg(test)]
mod tests {
    use crate::{binary, unary};
    use hlo::op::{Binary, Unary};
    use hlo::{ElementType, Scalar};

    #[test]
    fn sums_are_or_and_products_are_and() {
        let of = |op, a, b| binary(op, ElementType::Pred, Scalar::Pred(a), Scalar::Pred(b));
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            for op in [Binary::Add, Binary::Maximum, Binary::Or] {
                assert_eq!(of(op, a, b), Scalar::Pred(a || b), "{op:?}");
            }
            for op in [Binary::Multiply, Binary::Minimum, Binary::And] {
                assert_eq!(of(op, a, b), Scalar::Pred(a && b), "{op:?}");
            }
            assert_eq!(of(Binary::Xor, a, b), Scalar::Pred(a != b));
        }
        let not = unary(Unary::Not, ElementType::Pred, Scalar::Pred(false));
        assert_eq!(not, Scalar::Pred(true));
    }
}
