//! Functions of shared libraries as custom calls; the only module that calls foreign code.
//!
//! The function is `void target(void* out, const void** in)`, XLA's `API_VERSION_ORIGINAL`. `in` has one pointer for each
//! operand and `out` is the result. A pointer to an array points to its elements, in the order of the layout that the
//! module states: `operand_layout_constraints` for operands, row-major if there are none; the layout of the
//! instruction's shape for the result. A tuple is an array of pointers, one for each element, as deep as it is nested.
//! Elements are little-endian and as wide as their type, `pred` a byte of 0 or 1. Types narrower than a byte, tokens,
//! tiled and padded layouts, and dynamic sizes are rejected.
#![expect(unsafe_code, reason = "calls foreign functions")]
use crate::error::Code;
use crate::hooks::Call;
use crate::index::{self, offset_list, to_usize};
use crate::{Error, Result};
use hlo::op::value::ApiVersion;
use hlo::{ArrayShape, Dims, Literal, Shape};
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

/// A loaded library.
#[derive(Debug)]
pub(crate) struct Library(libloading::Library);

type Function = unsafe extern "C" fn(*mut c_void, *const *const c_void);

impl Library {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        // SAFETY: loading runs the initializers of the library. The user named the library; that it may run in this
        // process is a documented requirement of `Hooks::library`.
        let library = unsafe { libloading::Library::new(path) };
        library.map(Self).map_err(|e| {
            let path = path.display().to_string();
            Error::from(Code::Library { path, message: e.to_string() })
        })
    }
    fn function(&self, target: &str) -> Option<libloading::Symbol<'_, Function>> {
        // SAFETY: `Hooks::library` requires that a function of the target's name has this type. The
        // symbol borrows the library, which keeps it loaded during the call.
        unsafe { self.0.get(target.as_bytes()).ok() }
    }
}

/// Runs the call if one of the libraries has a function of its name.
pub(crate) fn in_libraries(call: &Call<'_>, libraries: &[Arc<Library>]) -> Option<Result<Literal>> {
    let target = call.op.custom_call_target.0.as_str();
    let function = libraries.iter().find_map(|library| library.function(target))?;
    Some(run(call, &function))
}

fn run(call: &Call<'_>, function: &Function) -> Result<Literal> {
    let target = &call.op.custom_call_target.0;
    if call.op.api_version != ApiVersion::Original {
        return Err(Error::unsupported(format!(
            "custom call `{target}` of a library requires API_VERSION_ORIGINAL: the other versions need functions of XLA"
        )));
    }
    let constraints = call.op.operand_layout_constraints.as_deref().unwrap_or_default();
    let mut operands = Vec::with_capacity(call.operands.len());
    for (i, operand) in call.operands.iter().enumerate() {
        let row_major = operand.shape();
        let shape = constraints.get(i).unwrap_or(&row_major);
        operands.push(Buffer::of(target, shape, Some(operand), constraints.is_empty())?);
    }
    let mut result = Buffer::of(target, call.shape, None, false)?;
    let operand_pointers: Vec<*const c_void> =
        operands.iter_mut().map(|operand| operand.pointer().cast_const()).collect();
    let out = result.pointer();
    // SAFETY: every pointer refers to memory that is as large as its array, aligned to 16 bytes, and borrowed by
    // nothing else until the call returns. `Hooks::library` requires that the function stays within these sizes.
    unsafe { function(out, operand_pointers.as_ptr()) };
    Ok(result.literal())
}

/// The memory of a value in the form that the function expects.
enum Buffer {
    /// Elements in the order of the layout, in 16-byte words so that they are aligned for every type.
    Array(ArrayShape, Vec<u128>),
    /// The elements, and pointers to them.
    Tuple(Vec<Buffer>, Vec<*mut c_void>),
}

impl Buffer {
    /// Returns memory of this shape that holds the value; `row_major` overrides the layouts of the shape.
    fn of(target: &str, shape: &Shape, value: Option<&Literal>, row_major: bool) -> Result<Self> {
        match shape {
            Shape::Array(array) => {
                let mut array = array.clone();
                if row_major {
                    array = ArrayShape::new(array.ty, array.dims);
                }
                let flat = array.layout.tail.is_none() && array.layout.is_permutation(array.rank());
                if !flat || array.dynamic.is_some() || array.ty.bits() < 8 {
                    return Err(Error::unsupported(format!(
                        "custom call `{target}` of a library cannot take a value of shape {shape}"
                    )));
                }
                let bytes = crate::value::checked_bytes(&array)?;
                let mut words = vec![0; bytes.div_ceil(size_of::<u128>()).max(1)];
                if let Some(value) = value {
                    let width = array.ty.storage_bytes();
                    let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
                    for (i, &at) in offsets(&array).iter().enumerate() {
                        memory[at * width..][..width]
                            .copy_from_slice(&value.bytes()[i * width..][..width]);
                    }
                }
                Ok(Self::Array(array, words))
            }
            Shape::Tuple(shapes) => {
                let part = |i: usize| value.and_then(|v| v.elements()?.get(i));
                let buffers: Result<Vec<Self>> = (shapes.iter().enumerate())
                    .map(|(i, shape)| Self::of(target, shape, part(i), row_major))
                    .collect();
                Ok(Self::Tuple(buffers?, Vec::new()))
            }
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => Err(Error::unsupported(format!(
                "custom call `{target}` of a library cannot take a value of shape {shape}"
            ))),
        }
    }
    fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::Array(_, words) => words.as_mut_ptr().cast(),
            Self::Tuple(buffers, pointers) => {
                *pointers = buffers.iter_mut().map(Self::pointer).collect();
                pointers.as_mut_ptr().cast()
            }
        }
    }
    /// Returns the value that the memory holds.
    fn literal(self) -> Literal {
        match self {
            Self::Array(shape, words) => {
                let width = shape.ty.storage_bytes();
                let memory: &[u8] = bytemuck::cast_slice(&words);
                let offsets = offsets(&shape);
                let mut result = Literal::zeros(shape);
                for (to, &at) in result.bytes_mut().chunks_exact_mut(width).zip(&offsets) {
                    to.copy_from_slice(&memory[at * width..][..width]);
                }
                result
            }
            Self::Tuple(buffers, _) => {
                Literal::tuple(buffers.into_iter().map(Self::literal).collect())
            }
        }
    }
}

/// Returns the memory offset of each element under the layout, in row-major order of the elements.
fn offsets(shape: &ArrayShape) -> Vec<usize> {
    let order: Vec<usize> =
        shape.layout.minor_to_major.iter().rev().map(|&d| to_usize(d)).collect();
    let sizes: Dims = order.iter().map(|&d| shape.dims[d]).collect();
    let mut strides: Dims = shape.dims.clone();
    for (&d, &stride) in order.iter().zip(&index::strides(&sizes)) {
        strides[d] = stride;
    }
    offset_list(&shape.dims, &strides)
}
