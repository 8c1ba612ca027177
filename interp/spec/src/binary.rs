//! The elementwise ops of two operands: one function of two elements, at every index
//!
//! `result[i] = op(lhs[i], rhs[i])`
//!
//! The function is `num::binary`: correctly rounded for real floats, modulo 2^n for integers of n
//! bits, with a stated bound for complex numbers (docs/numerics.md). Both operands have the
//! dimensions of the result: nothing is broadcast.
//!
//! | op | result | edges |
//! |---|---|---|
//! | `add` `multiply` `subtract` | of `pred`: or, and | an infinite complex product stays infinite, as in C99 |
//! | `and` `or` `xor` | bit by bit | |
//! | `atan2` | angle of the point (rhs, lhs) | signs of zeros and infinities choose the quadrant, as in C |
//! | `complex` | lhs + rhs i | |
//! | `divide` | integers: toward zero | x / 0 is all one bits; the smallest / -1 is the smallest |
//! | `maximum` `minimum` | of `pred`: or, and; of complex numbers by real part, then imaginary part | NaN propagates; -0 < +0 |
//! | `mulhi` | the high n bits of the product of 2n bits | |
//! | `power` | lhs^rhs; of integers by all bits of the exponent | x^0 and 1^y are 1, also for NaN; integers to a negative power: 0 except for the bases 1 and -1 |
//! | `remainder` | lhs - rhs * trunc(lhs / rhs), exact | the sign of lhs; integers: x by 0 is x; floats: NaN |
//! | `shift-left` `shift-right-logical` | rhs is unsigned, whatever its type | n and more: 0 |
//! | `shift-right-arithmetic` | the highest bit is repeated, of unsigned integers too | n and more: all bits are that bit |
//!
//! Source: StableHLO, the op of each name; XLA operation semantics,
//! `Element-wise binary arithmetic operations`.
use super::{Operand, build};

use hlo::op::Binary;
use hlo::{ArrayShape, Literal};

pub(super) fn binary(
    op: Binary,
    lhs: &Operand<'_>,
    rhs: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    build(shape, |index| num::binary(op, lhs.shape.ty, lhs.at(index), rhs.at(index)))
}
