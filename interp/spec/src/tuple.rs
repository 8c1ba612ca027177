//! `tuple`, `get-tuple-element`: several values as one, and one of them
//!
//! ```text
//! tuple(x0, x1, ...)       = (x0, x1, ...)
//! get-tuple-element(t)     = t[index]
//! ```
//!
//! - A tuple may be empty, and its elements may be tuples.
//!
//! Source: StableHLO, `tuple` and `get_tuple_element`.
use hlo::Literal;
use hlo::op::{GetTupleElement, Tuple};
use num::index::to_usize;

pub(super) fn tuple(op: &Tuple, operands: &[&Literal]) -> Literal {
    let Tuple {} = op;
    Literal::tuple(operands.iter().map(|&operand| operand.clone()).collect())
}

pub(super) fn get_tuple_element(op: &GetTupleElement, operand: &Literal) -> Literal {
    let GetTupleElement { index } = op;
    operand.elements().expect("verified: a tuple")[to_usize(*index)].clone()
}
