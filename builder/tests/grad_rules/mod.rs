//! Rules of ops, tried on instructions made by hand.
use crate::{Builder, Value};
use hlo::{Op, Shape};

mod calls;
mod contraction;
mod convolution;
#[path = "../all/support/gradient.rs"]
#[expect(unreachable_pub, reason = "shared with other tests")]
mod gradient;
mod indexing;
mod linear_algebra;
mod loops;
#[path = "../all/support/module.rs"]
#[expect(unreachable_pub, reason = "shared with other tests")]
mod module;
mod movement;
mod order;
mod windows;

use module::evaluate_on;

/// The instruction of an op; its shape is stated as text unless it is empty.
#[track_caller]
fn make<'b>(op: impl Into<Op>, operands: &[Value<'b>], shape: &str) -> Value<'b> {
    let b = operands.first().expect("ops of tests have operands").builder();
    b.record(|b| {
        let shape: Option<Shape> = (!shape.is_empty()).then(|| shape.parse().expect("a shape"));
        b.emit(op, operands, shape)
    })
}
