//! `after-all`, `add-dependency`, `opt-barrier`, `domain`: unchanged values and ordering
//!
//! ```text
//! after-all(t0, t1, ...)    = a token
//! add-dependency(x, token)  = x
//! opt-barrier(x)            = x
//! domain(x)                 = x
//! ```
//!
//! - A token has no value: an instruction that uses it runs after the instructions that produce it.
//!
//! Source: StableHLO, `after_all` and `optimization_barrier`; XLA operation semantics,
//! `OptimizationBarrier`.
use hlo::Literal;
use hlo::op::{AddDependency, AfterAll, Domain, OptBarrier};

pub(super) fn after_all(op: &AfterAll) -> Literal {
    let AfterAll {} = op;
    Literal::token()
}

pub(super) fn add_dependency(op: &AddDependency, operand: &Literal) -> Literal {
    let AddDependency {} = op;
    operand.clone()
}

pub(super) fn opt_barrier(op: &OptBarrier, operand: &Literal) -> Literal {
    let OptBarrier {} = op;
    operand.clone()
}

pub(super) fn domain(op: &Domain, operand: &Literal) -> Literal {
    let Domain { domain: _ } = op; // Shardings determine placement, not values.
    operand.clone()
}
