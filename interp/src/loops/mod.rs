//! Loops over scalars and small arrays, run without frames of their own.
mod condition;
#[cfg(feature = "jit")]
pub(crate) mod jit;
#[cfg(not(feature = "jit"))]
#[path = "no_jit.rs"]
mod jit;
mod register_loop;
mod scalar_loop;
pub(crate) mod small;

pub(crate) use condition::ScalarCondition;
pub(crate) use jit::compiler;
use register_loop::RegisterLoop;
pub(crate) use scalar_loop::ScalarLoop;
