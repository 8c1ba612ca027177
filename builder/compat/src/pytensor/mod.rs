//! PyTensor's `elemwise` module: scalar operations on arrays, dimensions shuffled, reductions, with
//! their derivatives and their C code.
//!
//! The names are PyTensor's. An operation is a value ([`Elemwise`], [`DimShuffle`], [`CAReduce`]);
//! applied to values it adds instructions to their builder. Types follow NumPy's promotion, with
//! PyTensor's exceptions. What PyTensor does at run time that instructions cannot (raise an error
//! for an integer divided by 0) has a value here, which is documented with the operation.
//!
//! ```
//! use builder::Builder;
//! use builder_compat::pytensor::{CAReduce, ScalarOp, scalar_elemwise};
//! let b = Builder::new("logsumexp");
//! let x = b.parameter(0, "f32[2,3]", "x");
//! let sum = CAReduce::new(ScalarOp::Add)?.axis(1).apply(scalar_elemwise("exp")?.apply(&b, &[x]));
//! let y = scalar_elemwise("log")?.apply(&b, &[sum]);
//! assert_eq!(y.shape()?.to_string(), "f32[2]{0}");
//! # Ok::<(), builder::Error>(())
//! ```
mod axes;
mod c_code;
mod careduce;
mod careduce_gradient;
mod cotangent;
mod dimshuffle;
mod op;
mod op_gradient;
mod scalar;
mod tensor;
mod types;

pub use axes::{Axes, get_normalized_batch_axes};
pub use careduce::CAReduce;
pub use cotangent::Cotangent;
pub use dimshuffle::{Axis, DimShuffle};
pub use op::{Elemwise, OutputInfo};
pub use scalar::ScalarOp;
pub use tensor::Tensor;

use builder::{Builder, Code, Error, Result};
use std::panic::Location;

/// Returns the [`Elemwise`] of a scalar operation, by PyTensor's name for it: `add`, `true_div`,
/// `convert_to_int8`.
///
/// # Errors
/// `E0801` for a name that is none, and for the `_inplace` names PyTensor once had.
#[track_caller]
pub fn scalar_elemwise(symbol: &str) -> Result<Elemwise> {
    let here = Location::caller();
    if symbol.ends_with("_inplace") {
        let message = format!("`{symbol}`: in-place operations have no names");
        let help = "use `inplace_pattern([(0, 0)])`";
        return Err(Error::argument(message).with_help(help).at(here));
    }
    ScalarOp::from_name(symbol)
        .map(|op| Elemwise::new(op).name(symbol))
        .ok_or_else(|| Error::argument(format!("there is no scalar operation `{symbol}`")).at(here))
}

/// Runs a call by the user whose errors are returned, not kept by the builder.
#[track_caller]
fn immediately<'b, T>(b: &'b Builder, make: impl FnOnce(&'b Builder) -> Result<T>) -> Result<T> {
    let here = Location::caller();
    let mut failed = Error::from(Code::Invalid {});
    let made = b.record_or(None, |b| match make(b) {
        Ok(made) => Ok(Some(made)),
        Err(error) => {
            failed = error;
            Ok(None)
        }
    });
    made.ok_or_else(|| failed.at(here))
}
