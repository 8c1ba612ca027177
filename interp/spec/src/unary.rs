//! The elementwise ops of one operand: one function of an element, at every index
//!
//! `result[i] = op(operand[i])`
//!
//! The function is `num::unary`: correctly rounded for real floats, modulo 2^n for integers of n
//! bits, with a stated bound for complex numbers (docs/numerics.md). NaN gives NaN except in
//! `is-finite`.
//!
//! | op | result | edges |
//! |---|---|---|
//! | `abs` | absolute value; of a complex number, as a real one | the smallest signed integer is unchanged; infinity if a part is infinite |
//! | `acos` `asin` `acosh` `asinh` `atanh` | inverse functions, principal values | NaN outside the domain; `atanh` of ±1 is ±infinity |
//! | `cbrt` | the real cube root | negative for negative numbers |
//! | `ceil` `floor` | the nearest integer that is not smaller, not larger | `ceil` of -0.5 is -0 |
//! | `count-leading-zeros` | zero bits above the highest one bit | n for 0, modulo 2^n |
//! | `cosine` `sine` `tan` | of an angle in radians | `sine`, `tan` keep -0 |
//! | `cosh` `sinh` `tanh` | hyperbolic cosine, sine and tangent | `sinh`, `tanh` keep -0 |
//! | `erf` | error function | keeps -0 |
//! | `exponential` `exponential-minus-one` | e^x, e^x - 1 without cancellation | `exponential-minus-one` keeps -0 |
//! | `imag` `real` | a part of a complex number, as a real one | of a float: 0, and the float |
//! | `is-finite` | `pred`: neither infinite nor NaN | |
//! | `log` `log-plus-one` | ln x, ln(1 + x) without cancellation | of 0 and of -1: -infinity; below: NaN, or complex |
//! | `logistic` | 1 / (1 + e^-x) | rounded once |
//! | `negate` | -x | modulo 2^n, for unsigned integers too |
//! | `not` | each bit inverted | of `pred` the logical not |
//! | `popcnt` | number of one bits | modulo 2^n |
//! | `round-nearest-afz` `round-nearest-even` | nearest integer; ties away from zero, to even | -0.5 gives -1, -0 |
//! | `rsqrt` `sqrt` | x^(-1/2), x^(1/2), principal values | `sqrt` of -0 is -0, `rsqrt` of ±0 is ±infinity |
//! | `sign` | -1, 0 or 1; of a complex number z / abs(z) | ±0 is unchanged |
//!
//! Source: StableHLO, the op of each name; XLA operation semantics, `Element-wise unary functions`.
use super::{Operand, build};

use hlo::op::Unary;
use hlo::{ArrayShape, Literal};

pub(super) fn unary(op: Unary, operand: &Operand<'_>, shape: &ArrayShape) -> Literal {
    build(shape, |index| num::unary(op, operand.shape.ty, operand.at(index)))
}
