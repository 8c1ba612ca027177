//! Custom calls of functions in shared libraries.
//!
//! The function is `void target(void* out, const void** in)`, XLA's `API_VERSION_ORIGINAL`. `in`
//! has one pointer for each operand and `out` is the result. A pointer to an array points to its
//! elements, in the order of the layout that the module states: `operand_layout_constraints` for
//! operands, row-major if there are none; the layout of the instruction's shape for the result. A
//! tuple is an array of pointers, one for each element, as deep as it is nested. Elements are
//! little-endian and as wide as their type, `pred` a byte of 0 or 1. Types narrower than a byte,
//! tokens, tiled and padded layouts, and dynamic sizes are rejected.
use super::Call;
use crate::{Error, Result};
use hlo::op::value::ApiVersion;
use hlo::{ArrayShape, Literal, Shape};
use num::array::with_layouts;
use std::sync::Arc;

/// A shared library whose functions are targets of custom calls.
///
/// [`Library`](crate::Library) runs them in this process. `conformance::IsolatedLibrary` runs them
/// in a process of its own, so that a crash is an error of the call.
pub trait CustomCallLibrary: Send + Sync {
    /// Returns whether the library itself defines a function of this name.
    fn defines(&self, target: &str) -> bool;
    /// Calls the function of that name; returns a value of the shape `call.result`.
    ///
    /// # Errors
    /// `E0413` if the function does not return a result.
    fn call(&self, call: &LibraryCall<'_>) -> Result<Literal>;
}

/// A call of a function in a shared library.
#[derive(Debug, Clone)]
pub struct LibraryCall<'a> {
    /// The name of the function.
    pub target: &'a str,
    /// The operands, in the layouts that the function expects.
    pub operands: Vec<Literal>,
    /// The shape of the result, with the layout in which the function returns it.
    pub result: Shape,
}

/// Runs the call if one of the libraries has a function of its name.
pub(crate) fn in_libraries(
    call: &Call<'_>,
    libraries: &[Arc<dyn CustomCallLibrary>],
) -> Option<Result<Literal>> {
    let target = call.op.custom_call_target.0.as_str();
    let library = libraries.iter().find(|library| library.defines(target))?;
    Some(library_call(call, target).and_then(|call| library.call(&call)))
}

fn library_call<'a>(call: &Call<'a>, target: &'a str) -> Result<LibraryCall<'a>> {
    if call.op.api_version != ApiVersion::Original {
        return Err(Error::unsupported(format!(
            "custom call `{target}` of a library requires API_VERSION_ORIGINAL: the other versions need functions of XLA"
        )));
    }
    let constraints = call.op.operand_layout_constraints.as_deref().unwrap_or_default();
    let mut operands = Vec::with_capacity(call.operands.len());
    for (i, &operand) in call.operands.iter().enumerate() {
        let shape = match constraints {
            [] => row_major(&operand.shape()),
            stated => stated.get(i).cloned().unwrap_or_else(|| operand.shape()),
        };
        check(target, &shape)?;
        operands.push(with_layouts(operand.clone(), &shape));
    }
    check(target, call.shape)?;
    Ok(LibraryCall { target, operands, result: call.shape.clone() })
}

/// Returns the shape with all arrays in row-major order.
fn row_major(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(array) if array.dynamic.is_none() => {
            Shape::Array(ArrayShape::new(array.ty, array.dims.clone()))
        }
        Shape::Tuple(shapes) => Shape::Tuple(shapes.iter().map(row_major).collect()),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

/// Fails if a function in C cannot take values of this shape.
fn check(target: &str, shape: &Shape) -> Result<()> {
    let fits = shape.leaves().into_iter().all(|leaf| {
        leaf.array().is_some_and(|array| {
            let is_flat = array.layout.tail.is_none() && array.layout.is_permutation(array.rank());
            is_flat && array.dynamic.is_none() && array.ty.bits() >= 8
        })
    });
    if fits {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "custom call `{target}` of a library cannot take a value of shape {shape}"
    )))
}
