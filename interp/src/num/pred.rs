//! Arithmetic on truth values.
use hlo::op::{Binary, Unary};

/// One operand.
#[inline]
pub(super) fn unary(op: Unary, x: bool) -> bool {
    match op {
        Unary::Not => !x,
        Unary::Abs
        | Unary::Acos
        | Unary::Acosh
        | Unary::Asin
        | Unary::Asinh
        | Unary::Atanh
        | Unary::Cbrt
        | Unary::Ceil
        | Unary::CountLeadingZeros
        | Unary::Cosine
        | Unary::Cosh
        | Unary::Erf
        | Unary::Exponential
        | Unary::ExponentialMinusOne
        | Unary::Floor
        | Unary::Imag
        | Unary::IsFinite
        | Unary::Log
        | Unary::LogPlusOne
        | Unary::Logistic
        | Unary::Negate
        | Unary::Popcnt
        | Unary::Real
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven
        | Unary::Rsqrt
        | Unary::Sign
        | Unary::Sine
        | Unary::Sinh
        | Unary::Sqrt
        | Unary::Tan
        | Unary::Tanh => unreachable!("the verifier lets no pred into {op:?}"),
    }
}

/// Two operands. Addition is `or` and multiplication `and`, which makes a sum of products an or of ands.
#[inline]
pub(super) fn binary(op: Binary, a: bool, b: bool) -> bool {
    match op {
        Binary::Add | Binary::Maximum | Binary::Or => a | b,
        Binary::Multiply | Binary::Minimum | Binary::And => a & b,
        Binary::Xor => a ^ b,
        Binary::Atan2
        | Binary::Complex
        | Binary::Divide
        | Binary::Mulhi
        | Binary::Power
        | Binary::Remainder
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Subtract => unreachable!("the verifier lets no pred into {op:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_or_and_products_are_and() {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            for op in [Binary::Add, Binary::Maximum, Binary::Or] {
                assert_eq!(binary(op, a, b), a || b, "{op:?}");
            }
            for op in [Binary::Multiply, Binary::Minimum, Binary::And] {
                assert_eq!(binary(op, a, b), a && b, "{op:?}");
            }
            assert_eq!(binary(Binary::Xor, a, b), a != b);
        }
        assert!(unary(Unary::Not, false));
    }
}
