//! `after-all`, `add-dependency`, `opt-barrier`, `domain`: values as they are, and an order of instructions
//!
//! ```text
//! after-all(t0, t1, ...)    = a token
//! add-dependency(x, token)  = x
//! opt-barrier(x)            = x
//! domain(x)                 = x
//! ```
//!
//! - A token has no value: an instruction that uses it runs after all that its token comes from.
//!
//! Source: StableHLO, `after_all` and `optimization_barrier`; XLA operation semantics, `OptimizationBarrier`.
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
    let Domain { domain: _ } = op; // How the value is sharded on both sides: where it lies, not what it is.
    operand.clone()
}
