//! `constant`: a value in the text of the program
//!
//! `result = value`
//!
//! - An elided value, `constant({...})`, is not replaced by any other: using it is `E0403`.
//!
//! Source: StableHLO, `constant`.
use super::with_layout;
use hlo::literal::ConstantValue;
use hlo::op::Constant;
use hlo::{Literal, Shape};
use num::error::Code;
use num::{Error, Result};

pub(super) fn constant(op: &Constant, name: &dyn Fn() -> String, shape: &Shape) -> Result<Literal> {
    let Constant { value } = op;
    match &**value {
        ConstantValue::Literal(value) => Ok(with_layout(value, shape)),
        ConstantValue::Elided(_) => Err(Error::from(Code::Elided { name: name() })
            .with_help("dump the module with large constants printed, or give `--elided SEED` for random values")),
    }
}
