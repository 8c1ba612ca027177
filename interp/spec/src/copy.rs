//! `copy`, `copy-start`, `copy-done`: the operand, in other memory
//!
//! ```text
//! copy(x)       = x
//! copy-start(x) = (x, x, 0)    destination, source, scope
//! copy-done(s)  = s[0]
//! ```
//!
//! - The layout of the result may differ; layouts do not change values.
//!
//! Source: XLA operation semantics, `Copy`; `copy-start` and `copy-done` are inserted by XLA's
//! compilers.
use super::with_layout;
use hlo::op::{Copy, CopyDone, CopyStart};
use hlo::{ElementType, Literal, Scalar, Shape};

pub(super) fn copy(op: &Copy, operand: &Literal, shape: &Shape) -> Literal {
    let Copy {} = op;
    with_layout(operand, shape)
}

pub(super) fn copy_start(op: &CopyStart, operand: &Literal, shape: &Shape) -> Literal {
    // Both attributes are scheduling hints.
    let CopyStart { cross_program_prefetch_index: _, is_cross_program_prefetch: _ } = op;
    let scope = Literal::scalar(ElementType::U32, Scalar::Unsigned(0));
    with_layout(&Literal::tuple(vec![operand.clone(), operand.clone(), scope]), shape)
}

pub(super) fn copy_done(op: &CopyDone, started: &Literal, shape: &Shape) -> Literal {
    let CopyDone {} = op;
    with_layout(&started.elements().expect("verified: a tuple")[0], shape)
}
