//! `select`: one of two values, chosen element by element
//!
//! `result[i] = pred[i] ? on_true[i] : on_false[i]`
//!
//! - A scalar `pred` chooses a whole operand, of any shape, with its dynamic sizes.
//! - Elements keep their bits: the operand that is not chosen has no effect.
//!
//! Source: StableHLO, `select`.
use super::{Operand, build, with_layout};
use hlo::op::Select;
use hlo::{Literal, Scalar, Shape};

pub(super) fn select(
    op: &Select,
    pred: &Operand<'_>,
    on_true: &Literal,
    on_false: &Literal,
    shape: &Shape,
) -> Literal {
    let Select {} = op;
    let chooses_true = |index: &[i64]| pred.at(index) == Scalar::Pred(true);
    if pred.rank() == 0 {
        return with_layout(if chooses_true(&[]) { on_true } else { on_false }, shape);
    }
    let shape = shape.array().expect("verified: an array of predicates selects between arrays");
    let (on_true, on_false) = (Operand::of(on_true), Operand::of(on_false));
    build(shape, |index| if chooses_true(index) { on_true.at(index) } else { on_false.at(index) })
}
