//! Executables: what the host asks about a compiled program.
#![expect(unsafe_code, reason = "hands executables to a host")]
use crate::call::calls;
use crate::client::Client;
use crate::device::MEMORY_KIND;
use crate::extension::Layouts;
use crate::failure::{Failure, Result};
use crate::handle::{destroy, get, give, list, text};
use crate::program::{Program, Source};
use hlo::{ArrayShape, Shape};
use interp::cost::Costs;
use pjrt::buffer_type::{TOKEN, buffer_type};
use pjrt::sys::{Header, LogicalDeviceIds, NamedValue, NamedValueData};
use prost::Message;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The object of an executable, loaded or not: a program, and lists that the host reads in place.
pub(crate) struct Executable {
    pub(crate) program: Arc<Program>,
    pub(crate) is_deleted: AtomicBool,
    devices: Vec<*mut c_void>,
    logical_ids: Vec<LogicalDeviceIds>,
    output_types: Vec<c_int>,
    output_dims: Vec<i64>,
    output_ranks: Vec<usize>,
    memory_kinds: Vec<*const c_char>,
    memory_kind_sizes: Vec<usize>,
    parameter_kinds: Vec<*const c_char>,
    parameter_kind_sizes: Vec<usize>,
    costs: Vec<NamedValue>,
    pub(crate) output_layouts: Layouts,
    pub(crate) parameter_layouts: Layouts,
}

impl Executable {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        let placement = &program.placement;
        let handle = |&device: &usize| program.client.devices[device].handle();
        let int = |n: usize| c_int::try_from(n).unwrap_or(c_int::MAX);
        let logical = |number: usize| LogicalDeviceIds {
            replica: int(number / placement.partitions),
            partition: int(number % placement.partitions),
        };
        let array = |shape: &Shape| shape.array().cloned();
        let outputs: Vec<Option<ArrayShape>> = program.outputs.iter().map(array).collect();
        let dims =
            |shape: &Option<ArrayShape>| shape.as_ref().map_or(Vec::new(), |s| s.dims.to_vec());
        let kinds = |count: usize| vec![MEMORY_KIND.as_ptr().cast(); count];
        let (results, parameters) = (outputs.len(), program.arguments.len());
        Self {
            devices: placement.devices.iter().map(handle).collect(),
            logical_ids: (0..placement.devices.len()).map(logical).collect(),
            output_types: (outputs.iter())
                .map(|shape| shape.as_ref().map_or(TOKEN, |shape| buffer_type(shape.ty)))
                .collect(),
            output_dims: outputs.iter().flat_map(dims).collect(),
            output_ranks: outputs.iter().map(|shape| dims(shape).len()).collect(),
            memory_kinds: kinds(results),
            memory_kind_sizes: vec![MEMORY_KIND.len(); results],
            parameter_kinds: kinds(parameters),
            parameter_kind_sizes: vec![MEMORY_KIND.len(); parameters],
            costs: costs(&program),
            output_layouts: Layouts::of(&program.outputs),
            parameter_layouts: Layouts::of(&program.arguments),
            is_deleted: AtomicBool::new(false),
            program,
        }
    }
}

/// Returns the arithmetic operations and the bytes that a run moves, by the names that XLA gives them.
fn costs(program: &Program) -> Vec<NamedValue> {
    let total = Costs::of(program.module()).total();
    let property = |name: &'static str, value: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::as_conversions,
            reason = "the API has f32"
        )]
        let float = value as f32;
        NamedValue {
            header: Header::of::<NamedValue>(),
            name: name.as_ptr().cast(),
            name_size: name.len(),
            kind: 3,
            value: NamedValueData { float },
            value_size: 1,
        }
    };
    vec![property("flops", total.flops), property("bytes accessed", total.bytes)]
}

/// Returns the program of an executable.
///
/// # Safety
/// The pointer is null or an executable of this plugin that is alive.
unsafe fn program<'a>(executable: *const c_void) -> Result<&'a Program> {
    // SAFETY: the caller vouches for the pointer.
    Ok(&unsafe { get::<Executable>(executable) }?.program)
}

/// Drops bytes that the host owned.
pub(crate) unsafe extern "C" fn delete_bytes(bytes: *mut c_void) {
    // SAFETY: the host passes what it got with the bytes, once.
    unsafe { destroy::<Vec<u8>>(bytes) };
}

/// Returns the start of bytes, their number, and the object that owns them.
pub(crate) fn give_bytes(bytes: Vec<u8>) -> (*const c_char, usize, *mut c_void) {
    let (start, size) = (bytes.as_ptr().cast(), bytes.len());
    (start, size, give(bytes))
}

/// Returns a program of the host.
///
/// # Safety
/// The pointer is null or a valid program.
pub(crate) unsafe fn source(program: *const pjrt::sys::Program, options: &[u8]) -> Result<Source> {
    // SAFETY: the caller vouches for the program, and for what it points to.
    unsafe {
        let program = get::<pjrt::sys::Program>(program.cast())?;
        Ok(Source {
            format: text(program.format, program.format_size).into_owned(),
            code: list(program.code.cast::<u8>(), program.code_size).to_vec(),
            options: options.to_vec(),
        })
    }
}

/// Returns the total bytes of shapes.
fn bytes_of(shapes: &[Shape]) -> i64 {
    let arrays = shapes.iter().filter_map(Shape::array);
    let total: usize = arrays.filter_map(ArrayShape::byte_count).sum();
    i64::try_from(total).unwrap_or(i64::MAX)
}

calls! {
    ClientCompile(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let source = source(a.program, list(a.options.cast::<u8>(), a.options_size))?;
        a.executable = give(Executable::new(Arc::new(Program::compile(client, source)?)));
        Ok(())
    }
    // What was compiled for a topology, or another client, is compiled again for this one.
    ClientLoad(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let mut source = program(a.executable)?.source.clone();
        let options = list(a.options.cast::<u8>(), a.options_size);
        if !options.is_empty() {
            source.options = options.to_vec();
        }
        a.loaded_executable = give(Executable::new(Arc::new(Program::compile(client, source)?)));
        Ok(())
    }
    ExecutableDestroy(a) {
        destroy::<Executable>(a.executable);
        Ok(())
    }
    ExecutableName(a) {
        let name = program(a.executable)?.name();
        (a.name, a.name_size) = (name.as_ptr().cast(), name.len());
        Ok(())
    }
    ExecutableNumReplicas(a) { a.num_replicas = program(a.executable)?.placement.replicas; Ok(()) }
    ExecutableNumPartitions(a) { a.num_partitions = program(a.executable)?.placement.partitions; Ok(()) }
    ExecutableNumOutputs(a) { a.num_outputs = program(a.executable)?.outputs.len(); Ok(()) }
    // Programs are plans, not code.
    ExecutableSizeOfGeneratedCodeInBytes(a) { a.size_in_bytes = 0; Ok(()) }
    ExecutableGetCostAnalysis(a) {
        let costs = &get::<Executable>(a.executable)?.costs;
        (a.num_properties, a.properties) = (costs.len(), costs.as_ptr());
        Ok(())
    }
    ExecutableOutputElementTypes(a) {
        let types = &get::<Executable>(a.executable)?.output_types;
        (a.types, a.num_types) = (types.as_ptr(), types.len());
        Ok(())
    }
    ExecutableOutputDimensions(a) {
        let executable = get::<Executable>(a.executable)?;
        a.num_outputs = executable.output_ranks.len();
        (a.dims, a.dim_sizes) = (executable.output_dims.as_ptr(), executable.output_ranks.as_ptr());
        Ok(())
    }
    ExecutableOutputMemoryKinds(a) {
        let executable = get::<Executable>(a.executable)?;
        a.num_outputs = executable.memory_kinds.len();
        a.memory_kinds = executable.memory_kinds.as_ptr();
        a.memory_kind_sizes = executable.memory_kind_sizes.as_ptr();
        Ok(())
    }
    ExecutableParameterMemoryKinds(a) {
        let executable = get::<Executable>(a.executable)?;
        a.num_parameters = executable.parameter_kinds.len();
        a.memory_kinds = executable.parameter_kinds.as_ptr();
        a.memory_kind_sizes = executable.parameter_kind_sizes.as_ptr();
        Ok(())
    }
    ExecutableFingerprint(a) {
        let fingerprint = &program(a.executable)?.fingerprint;
        (a.fingerprint, a.fingerprint_size) = (fingerprint.as_ptr().cast(), fingerprint.len());
        Ok(())
    }
    LoadedExecutableFingerprint(a) {
        let fingerprint = &program(a.executable)?.fingerprint;
        (a.fingerprint, a.fingerprint_size) = (fingerprint.as_ptr().cast(), fingerprint.len());
        Ok(())
    }
    ExecutableGetCompiledMemoryStats(a) {
        let program = program(a.executable)?;
        let session = &program.session;
        a.arguments = bytes_of(&program.arguments);
        a.outputs = bytes_of(&program.outputs);
        let planned = session.planned_bytes().unwrap_or(0) / program.placement.devices.len();
        let planned = i64::try_from(planned).unwrap_or(i64::MAX);
        a.temporaries = (planned - a.arguments - a.outputs).max(0);
        a.aliases = 0;
        a.generated_code = 0;
        (a.host_generated_code, a.host_arguments, a.host_outputs) = (0, 0, 0);
        (a.host_aliases, a.host_temporaries) = (0, 0);
        a.peak = a.arguments + a.outputs + a.temporaries;
        a.total = a.peak;
        Ok(())
    }
    ExecutableOptimizedProgram(a) {
        let program = program(a.executable)?;
        let out = a.program.as_mut().ok_or_else(|| Failure::invalid("there is no place for the program"))?;
        let bytes = crate::optimized::program(program)?;
        let format = crate::optimized::FORMAT;
        (out.format, out.format_size) = (format.as_ptr().cast(), format.len());
        if out.code.is_null() {
            out.code_size = bytes.len();
            return Ok(());
        }
        if out.code_size < bytes.len() {
            return Err(Failure::invalid(format!("the program has {} bytes, the host has room for {}", bytes.len(), out.code_size)));
        }
        out.code_size = bytes.len();
        bytes.as_ptr().copy_to_nonoverlapping(out.code.cast_mut().cast(), bytes.len());
        Ok(())
    }
    ExecutableSerialize(a) {
        let source = &program(a.executable)?.source;
        (a.bytes, a.bytes_size, a.owner) = give_bytes(source.encode_to_vec());
        a.deleter = Some(delete_bytes);
        Ok(())
    }
    ExecutableDeserializeAndLoad(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let source = Source::decode(list(a.bytes.cast::<u8>(), a.bytes_size))
            .map_err(|error| Failure::invalid(format!("the serialized executable is malformed: {error}")))?;
        a.executable = give(Executable::new(Arc::new(Program::compile(client, source)?)));
        Ok(())
    }
    ExecutableGetCompileOptions(a) {
        (a.bytes, a.bytes_size, a.owner) = give_bytes(program(a.executable)?.source.options.clone());
        a.deleter = Some(delete_bytes);
        Ok(())
    }
    LoadedExecutableDestroy(a) {
        destroy::<Executable>(a.executable);
        Ok(())
    }
    LoadedExecutableGetExecutable(a) {
        let program = &get::<Executable>(a.loaded_executable)?.program;
        a.executable = give(Executable::new(Arc::clone(program)));
        Ok(())
    }
    LoadedExecutableAddressableDevices(a) {
        let devices = &get::<Executable>(a.executable)?.devices;
        (a.devices, a.num_devices) = (devices.as_ptr(), devices.len());
        Ok(())
    }
    LoadedExecutableAddressableDeviceLogicalIds(a) {
        let ids = &get::<Executable>(a.executable)?.logical_ids;
        (a.ids, a.num_ids) = (ids.as_ptr(), ids.len());
        Ok(())
    }
    LoadedExecutableGetDeviceAssignment(a) {
        (a.bytes, a.bytes_size, a.owner) = give_bytes(program(a.executable)?.placement.assignment());
        a.deleter = Some(delete_bytes);
        Ok(())
    }
    LoadedExecutableDelete(a) {
        get::<Executable>(a.executable)?.is_deleted.store(true, Ordering::Relaxed);
        Ok(())
    }
    LoadedExecutableIsDeleted(a) {
        a.is_deleted = get::<Executable>(a.executable)?.is_deleted.load(Ordering::Relaxed);
        Ok(())
    }
}
