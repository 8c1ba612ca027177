//! What the tests of functions share: calls through the table, as a host makes them.
#![expect(unsafe_code, reason = "calls functions of the table")]
use crate::buffer::Buffer;
use crate::handle::get;
use crate::table::table;
use hlo::Module;
use pjrt::compile_options::{CompileOptionsProto, ExecutableBuildOptionsProto};
use pjrt::sys::*;
use prost::Message;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The number of a type in the C API.
pub(crate) const S32: i32 = 4;

/// Calls a function of the table.
pub(crate) fn call<A: Arguments>(arguments: A) -> A {
    try_call(arguments).unwrap_or_else(|message| panic!("{}: {message}", A::FUNCTION))
}

/// Calls a function of the table, and returns the message of its error.
pub(crate) fn try_call<A: Arguments>(arguments: A) -> Result<A, String> {
    // SAFETY: the pointers in the structs of the tests are valid.
    let outcome = unsafe { Api::new(table().cast_mut()).unwrap().call(arguments) };
    outcome.map_err(|error| match error {
        CallError::Missing => "missing".to_owned(),
        // SAFETY: the error is one of the plugin's.
        CallError::Error(error) => {
            let error = unsafe { get::<crate::raw_error::RawError>(error.as_ptr()) };
            error.map_or_else(|failure| failure.message, |error| error.failure.message.clone())
        }
    })
}

/// Returns a client with a number of devices, and these.
pub(crate) fn client(devices: i64) -> (*mut c_void, Vec<*mut c_void>) {
    let option = NamedValue {
        header: Header::of::<NamedValue>(),
        name: c"device_count".as_ptr(),
        name_size: 12,
        kind: 1,
        value: NamedValueData { int64: devices },
        value_size: 1,
    };
    let create =
        ClientCreate { create_options: &raw const option, num_options: 1, ..Default::default() };
    let client = call(create).client;
    let devices = call(ClientDevices { client, ..Default::default() });
    // SAFETY: the list is the client's.
    let devices = unsafe { std::slice::from_raw_parts(devices.devices, devices.num_devices) };
    (client, devices.to_vec())
}

/// Runs a function on a program and its options, both as the host passes them.
pub(crate) fn with_program<T>(
    text: &str,
    replicas: i64,
    run: impl FnOnce(*const Program, &[u8]) -> T,
) -> T {
    let code = hlo::proto::encode(&Module::parse(text).unwrap()).unwrap();
    let build = ExecutableBuildOptionsProto {
        device_ordinal: -1,
        num_replicas: replicas,
        num_partitions: 1,
        ..Default::default()
    };
    let options =
        CompileOptionsProto { executable_build_options: Some(build), ..Default::default() };
    let program = Program {
        header: Header::of::<Program>(),
        code: code.as_ptr().cast(),
        code_size: code.len(),
        format: c"hlo".as_ptr(),
        format_size: 3,
    };
    run(&raw const program, &options.encode_to_vec())
}

/// Compiles a program for a client.
pub(crate) fn compile(client: *mut c_void, text: &str, replicas: i64) -> *mut c_void {
    with_program(text, replicas, |program, options| {
        call(ClientCompile {
            client,
            program,
            options: options.as_ptr().cast(),
            options_size: options.len(),
            ..Default::default()
        })
        .executable
    })
}

/// Returns the buffer of numbers on a device, or the first one.
pub(crate) fn buffer(
    client: *mut c_void,
    device: *mut c_void,
    numbers: &[i32],
    dims: &[i64],
) -> *mut c_void {
    call(ClientBufferFromHostBuffer {
        client,
        data: numbers.as_ptr().cast(),
        ty: S32,
        dims: dims.as_ptr(),
        num_dims: dims.len(),
        device,
        ..Default::default()
    })
    .buffer
}

/// Launches a program of one argument and one result, on one device if it is not null.
pub(crate) fn launch(
    executable: *mut c_void,
    device: *mut c_void,
    argument: *mut c_void,
) -> *mut c_void {
    let arguments = [argument];
    let argument_lists = [arguments.as_ptr()];
    let mut outputs = [null_mut()];
    let output_lists = [outputs.as_mut_ptr()];
    call(LoadedExecutableExecute {
        executable,
        argument_lists: argument_lists.as_ptr(),
        num_devices: 1,
        num_args: 1,
        output_lists: output_lists.as_ptr(),
        execute_device: device,
        ..Default::default()
    });
    outputs[0]
}

/// Returns the value of a buffer, or the message of its failure.
pub(crate) fn value(buffer: *mut c_void) -> Result<String, String> {
    // SAFETY: the buffer is one of the plugin's.
    let buffer = unsafe { get::<Buffer>(buffer) }.unwrap_or_else(|_| panic!("null"));
    let value = buffer.value().and_then(|promise| promise.wait());
    value.map(|value| value.to_string()).map_err(|failure| failure.message)
}
