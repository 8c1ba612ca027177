//! The frame of a call.
#![expect(unsafe_code, reason = "calls handlers")]
use super::api::{FfiError, api};
use super::attributes::{Attributes, Attrs};
use super::data_type::{TOKEN, data_type};
use super::handler;
use hlo::Literal;
use interp::{Call, Code, Error};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// `XLA_FFI_ExecutionStage_EXECUTE`.
const EXECUTE: c_int = 3;

/// `XLA_FFI_Buffer`.
#[repr(C)]
struct Buffer {
    size: usize,
    extension: *mut c_void,
    ty: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}
/// `XLA_FFI_Args`, and `XLA_FFI_Rets`, which is alike.
#[repr(C)]
struct List {
    header_size: usize,
    extension: *mut c_void,
    size: i64,
    types: *const c_int,
    values: *const *const Buffer,
}
/// `XLA_FFI_CallFrame`.
#[repr(C)]
struct Frame {
    size: usize,
    extension: *mut c_void,
    api: *const c_void,
    context: *mut c_void,
    stage: c_int,
    arguments: List,
    results: List,
    attributes: Attrs,
    future: *mut c_void,
}

fn buffer(literal: &Literal, data: *mut c_void) -> Buffer {
    let (ty, rank, dims) = match literal.array_shape() {
        Some(shape) => (data_type(shape.ty), shape.rank(), shape.dims.as_ptr()),
        None => (TOKEN, 0, std::ptr::null()),
    };
    let rank = i64::try_from(rank).unwrap_or(0);
    Buffer { size: size_of::<Buffer>(), extension: null_mut(), ty, data, rank, dims }
}

fn list(pointers: &[*const Buffer], types: &[c_int]) -> List {
    List {
        header_size: size_of::<List>(),
        extension: null_mut(),
        size: i64::try_from(pointers.len()).unwrap_or(0),
        types: types.as_ptr(),
        values: pointers.as_ptr(),
    }
}

fn failed(target: &str, message: String) -> Error {
    Code::CustomCallFailed { target: target.into(), message }.into()
}

/// Runs the handler of a call.
pub(crate) fn run(call: &Call<'_>) -> Result<Literal, Error> {
    let target = call.op.custom_call_target.0.as_str();
    let handler = handler(target);
    let handler = handler.ok_or_else(|| failed(target, "the handler was removed".to_owned()))?;
    let config = call.backend_config.map_or("", |config| config.0.as_str());
    let attributes = Attributes::read(config).map_err(|message| failed(target, message))?;
    let mut values: Vec<Literal> = (call.shape.leaves().into_iter())
        .map(|leaf| leaf.array().map_or_else(Literal::token, |shape| Literal::zeros(shape.clone())))
        .collect();
    let outputs: Vec<*mut u8> =
        values.iter_mut().map(|value| value.bytes_mut().as_mut_ptr()).collect();
    let mut inputs: Vec<*mut u8> =
        call.operands.iter().map(|operand| operand.bytes().as_ptr().cast_mut()).collect();
    for alias in &call.op.output_to_operand_aliasing.0 {
        let output = alias.output_index.0.first().map_or(0, |&i| usize::try_from(i).unwrap_or(0));
        let operand = usize::try_from(alias.operand).unwrap_or(usize::MAX);
        let (Some(value), Some(given)) = (values.get_mut(output), call.operands.get(operand))
        else {
            continue;
        };
        if value.bytes().len() == given.bytes().len() {
            // An operand in the memory of a result: the handler may update it in place.
            value.bytes_mut().copy_from_slice(given.bytes());
            inputs[operand] = outputs[output];
        }
    }
    let arguments: Vec<Buffer> = call
        .operands
        .iter()
        .zip(inputs)
        .map(|(operand, data)| buffer(operand, data.cast()))
        .collect();
    let results: Vec<Buffer> =
        values.iter().zip(outputs).map(|(value, data)| buffer(value, data.cast())).collect();
    let pointers = |buffers: &[Buffer]| buffers.iter().map(|b| &raw const *b).collect::<Vec<_>>();
    let (argument_pointers, result_pointers) = (pointers(&arguments), pointers(&results));
    // 1: a buffer.
    let types = vec![1; arguments.len().max(results.len())];
    let mut frame = Frame {
        // Handlers expect exactly this size: the last field is newer than the check.
        size: std::mem::offset_of!(Frame, future),
        extension: null_mut(),
        api: api(),
        context: null_mut(),
        stage: EXECUTE,
        arguments: list(&argument_pointers, &types),
        results: list(&result_pointers, &types),
        attributes: attributes.attrs(),
        future: null_mut(),
    };
    // SAFETY: the frame and what it points to live until the call returns; the user vouches for the handler.
    let error = unsafe { handler((&raw mut frame).cast()) };
    if !error.is_null() {
        // SAFETY: a handler returns errors of our table only, and passes their ownership.
        let error = unsafe { Box::from_raw(error.cast::<FfiError>()) };
        return Err(failed(target, format!("{} (status {})", error.message(), error.code)));
    }
    if !frame.future.is_null() {
        return Err(failed(target, "asynchronous handlers are not supported".to_owned()));
    }
    Ok(if call.shape.tuple().is_some() { Literal::tuple(values) } else { values.swap_remove(0) })
}
