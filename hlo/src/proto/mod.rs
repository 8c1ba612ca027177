//! `HloModuleProto`: modules as XLA stores them.
//!
//! The fields of an instruction follow from the declarations of the attributes, which also give the
//! parser and the printer.
mod common;
mod decode;
mod encode;
mod field;
mod file;
mod literal;
mod mesh;
pub(crate) mod message;
mod metadata;
mod shape;
mod sharding;
mod values;
mod wire;

pub use decode::decode;
pub use encode::encode;
pub(crate) use field::{Enum, ProtoField};
pub(crate) use file::with_spans;
pub use file::{Contents, is_message, open};

pub(crate) use literal::is_elided;

use crate::diag::Code;
use crate::{Error, Result, Shape};

/// Returns a sharding as the bytes of an `OpSharding`.
///
/// ```
/// use hlo::ir::{Placement, Sharding};
/// let sharding = Sharding::One(Placement::Replicated.into());
/// assert!(hlo::proto::encode_sharding(&sharding).is_ok());
/// ```
///
/// # Errors
/// `E0112` if a number does not fit its field.
pub fn encode_sharding(sharding: &crate::ir::Sharding) -> Result<Vec<u8>> {
    use prost::Message as _;
    Ok(sharding::encode(sharding)?.encode_to_vec())
}

/// Returns the error that a message is not a valid module.
#[cold]
pub(crate) fn bad(message: impl Into<String>) -> Error {
    Code::Proto { message: message.into() }.into()
}

/// Adds the path of a field to errors about its value.
pub(crate) fn in_field(path: &'static str) -> impl Fn(Error) -> Error {
    move |error| {
        let Code::Proto { message } = error.code() else { return error };
        if path == "instruction" {
            return error;
        }
        let help = error.help().map(str::to_owned);
        let error = bad(format!("`{path}`: {message}"));
        help.into_iter().fold(error, Error::with_help)
    }
}

/// Returns a number that is stored in 32 bits.
pub(crate) fn limit(number: i64) -> Result<i32> {
    i32::try_from(number).map_err(|_| {
        let message =
            format!("{number} does not fit the 32 bits of its field in an HloModuleProto");
        Code::NumberRange { message }.into()
    })
}

/// Returns the shape of an instruction.
pub(crate) fn shape_of(proto: &message::Instruction) -> Result<Shape> {
    let shape = proto.shape.as_ref().ok_or_else(|| bad("the instruction has no shape"))?;
    shape::decode(shape).map_err(in_field("shape"))
}
