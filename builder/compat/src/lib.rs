//! Operators under the rules of other systems: their broadcasting, their promotion, their names.
//!
//! | module | system | contents |
//! |---|---|---|
//! | [`max_graph`] | MAX Graph | elementwise functions with promotion and broadcasting |
//! | [`onnx`] | ONNX | the operators that broadcast, multidirectionally or unidirectionally |
//! | [`pytensor`] | PyTensor | `Elemwise`, `DimShuffle` and `CAReduce` of `pytensor.tensor.elemwise` |
//!
//! An operator follows the rules of the function it was called as; the methods of [`Value`] follow
//! XLA's. `PyTorch`'s `gather`, `scatter` and `index_select` are functions of XLA's library:
//! [`Value::torch_gather`] and its siblings. `docs/broadcasting.md` compares the rules side by
//! side.
mod align;
pub mod max_graph;
pub mod onnx;
pub mod pytensor;

use builder::{Result, Value};
use hlo::ElementType;

/// Returns a count as HLO's sizes are written.
fn size(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts the elements unless they are of this type.
fn cast(value: Value<'_>, ty: ElementType) -> Result<Value<'_>> {
    Ok(if value.element_type()? == ty { value } else { value.convert_element_type(ty) })
}

/// The programs of the guide, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/broadcasting.md")]
struct Broadcasting;
