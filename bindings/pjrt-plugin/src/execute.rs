//! Executions: a launch checks the arguments and returns buffers at once; the queue computes them.
#![expect(unsafe_code, reason = "reads the lists of the host")]
use crate::buffer::Buffer;
use crate::call::{calls, panicked};
use crate::callback;
use crate::device::place;
use crate::event::{Signal, event};
use crate::executable::Executable;
use crate::failure::{Code, Failure, Result};
use crate::handle::{get, list};
use crate::program::Program;
use crate::promise::Promise;
use hlo::diag::quantity;
use hlo::{Literal, Shape};
use interp::num::parallel::threads;
use pjrt::sys::LoadedExecutableExecute;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A program runs on the thread of the host, alone, if its last run took less than this: to hand it to another thread and back takes a
/// fifth.
const BRIEF: Duration = Duration::from_micros(300);
/// It stays there as long as it takes less than this: two threads may take less time than one.
const BRIEF_ALONE: Duration = Duration::from_micros(400);

/// What each device has computed.
type Computed = Result<Vec<Vec<Literal>>>;

/// What one device does in a launch: the values that it takes, and what it sets.
pub(crate) struct Part {
    arguments: Vec<Arc<Promise>>,
    results: Vec<Arc<Promise>>,
    done: Arc<Signal>,
}

impl Part {
    /// Sets the reason why there are no results.
    pub(crate) fn fail(&self, failure: &Failure) {
        fail(&self.results, &self.done, failure);
    }
}

fn fail(results: &[Arc<Promise>], done: &Signal, failure: &Failure) {
    for result in results {
        result.set(Err(failure.clone()));
    }
    done.set(&Err(failure.clone()));
}

/// Queues a run of the program on the devices of the parts: all, or one that runs alone.
///
/// # Errors
/// If the system has no thread left.
pub(crate) fn queue(program: &Arc<Program>, parts: Vec<Part>) -> Result<()> {
    let is_known = |argument: &Arc<Promise>| argument.signal().outcome().is_some();
    let is_brief = program.stays
        && program.is_brief.load(Ordering::Relaxed)
        && parts.iter().flat_map(|part| &part.arguments).all(is_known);
    let split = |part: Part| (part.arguments, (part.results, part.done));
    let (arguments, targets): (Vec<_>, Vec<_>) = parts.into_iter().map(split).unzip();
    let of_run = Arc::clone(program);
    let compute = move || run(&of_run, arguments);
    let publish = move |computed| publish(&computed, &targets);
    program.client.queue.push(is_brief, compute, publish)
}

/// Runs the program on arguments that may have to be waited for.
fn run(program: &Program, arguments: Vec<Vec<Arc<Promise>>>) -> Computed {
    let name = || format!("program `{}`", program.name());
    let computed = catch_unwind(AssertUnwindSafe(|| compute(program, arguments)));
    computed.unwrap_or_else(|panic| Err(panicked(&name(), &*panic)))
}

/// Sets the results of each device.
fn publish(computed: &Computed, targets: &[(Vec<Arc<Promise>>, Arc<Signal>)]) {
    for (device, (results, done)) in targets.iter().enumerate() {
        match computed {
            Ok(values) => {
                for (result, value) in results.iter().zip(&values[device]) {
                    result.set(Ok(value.clone()));
                }
                done.set(&Ok(()));
            }
            Err(failure) => fail(results, done, failure),
        }
    }
}

/// Waits for the arguments and runs the program.
fn compute(program: &Program, arguments: Vec<Vec<Arc<Promise>>>) -> Computed {
    let expected = (arguments.len(), program.outputs.len());
    let wait = |list: Vec<Arc<Promise>>| {
        let shapes = &program.arguments;
        let value = |(value, shape): (Arc<Promise>, &Shape)| match shape {
            Shape::Token => value.wait().map(|_| Literal::token()),
            // A donated array is then held by nothing else, unless the host reads it.
            Shape::Array(_) | Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => value.take(),
        };
        list.into_iter().zip(shapes).map(value).collect()
    };
    let arguments: Vec<Vec<Literal>> = arguments.into_iter().map(wait).collect::<Result<_>>()?;
    let address = |value: &Literal| value.bytes().as_ptr().addr();
    let given: HashSet<usize> = arguments.iter().flatten().map(address).collect();
    let (start, calls_before) = (Instant::now(), callback::calls());
    let mut results = program.run(arguments)?;
    let limit = if threads() == 1 { BRIEF_ALONE } else { BRIEF };
    let is_brief = start.elapsed() < limit && callback::calls() == calls_before;
    program.is_brief.store(is_brief, Ordering::Relaxed);
    // A result has memory of its own, also where the program returns an argument: hosts compare addresses.
    for value in results.iter_mut().flatten().filter(|value| given.contains(&address(value))) {
        value.bytes_mut();
    }
    if results.len() != expected.0 || results.iter().any(|list| list.len() != expected.1) {
        return Err(Failure::new(
            Code::INTERNAL,
            "internal error: the results do not have the shape of the program",
        ));
    }
    Ok(results)
}

/// Checks the shape of an argument.
fn check(program: &Program, number: usize, buffer: &Buffer) -> Result<()> {
    let expected = &program.arguments[number];
    let fits = match (&buffer.shape, expected) {
        (Some(found), Shape::Array(expected)) => {
            found.ty == expected.ty && found.dims == expected.dims
        }
        (None, Shape::Token) => true,
        // JAX passes its tokens as arrays without elements.
        (Some(found), Shape::Token) => found.dims.contains(&0),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let found = buffer.shape.as_ref().map_or_else(|| "a token".to_owned(), |s| format!("{s:#}"));
    let name = program.name();
    Err(Failure::invalid(format!(
        "argument {number} of `{name}` is {found}, expected {expected:#}"
    )))
}

/// Returns the buffers of the arguments of each device, checked.
///
/// # Safety
/// The lists have the lengths that the struct states.
unsafe fn arguments<'a>(
    a: &LoadedExecutableExecute,
    program: &Program,
) -> Result<Vec<Vec<&'a Buffer>>> {
    let devices = match a.execute_device.is_null() {
        true => program.placement.devices.len(),
        false => 1,
    };
    let expected = (devices, program.arguments.len());
    if (a.num_devices, a.num_args) != expected {
        let (devices, count) = (a.num_devices, a.num_args);
        return Err(Failure::invalid(format!(
            "`{}` was launched on {devices} with {count} each, expected {} and {}",
            program.name(),
            expected.0,
            expected.1,
            devices = quantity(devices, "device"),
            count = quantity(count, "argument")
        )));
    }
    let mut all = Vec::with_capacity(a.num_devices);
    // SAFETY: the caller vouches for the lists, and for the buffers in them.
    unsafe {
        for &handles in list(a.argument_lists, a.num_devices) {
            let mut buffers = Vec::with_capacity(a.num_args);
            for (number, &handle) in list(handles, a.num_args).iter().enumerate() {
                let buffer = get::<Buffer>(handle)?;
                check(program, number, buffer)?;
                buffers.push(buffer);
            }
            all.push(buffers);
        }
    }
    Ok(all)
}

calls! {
    LoadedExecutableExecute(a) {
        let executable = get::<Executable>(a.executable)?;
        if executable.is_deleted.load(Ordering::Relaxed) {
            return Err(Failure::invalid("the executable was deleted"));
        }
        let program = &executable.program;
        let buffers = arguments(a, program)?;
        let kept = match a.options.as_ref() {
            Some(options) => {
                if options.num_send_ops > 0 || options.num_recv_ops > 0 {
                    return Err(Failure::unimplemented("send and receive callbacks of the host are not supported"));
                }
                list(options.non_donatable_input_indices, options.num_non_donatable_input_indices)
            }
            None => &[],
        };
        let keeps = |number: &usize| i64::try_from(*number).is_ok_and(|number| kept.contains(&number));
        let is_donated = |number: &usize| program.donated.contains(number) && !keeps(number);
        // Before the first is donated: a launch that fails leaves all buffers as they were.
        for buffer in buffers.iter().flatten() {
            buffer.value()?;
        }
        let value = |(number, buffer): (usize, &&Buffer)| match is_donated(&number) {
            true => buffer.donate(),
            false => buffer.value(),
        };
        let given: Vec<Vec<Arc<Promise>>> =
            buffers.iter().map(|list| list.iter().enumerate().map(value).collect()).collect::<Result<_>>()?;
        let mut parts = Vec::with_capacity(a.num_devices);
        for (number, arguments) in given.into_iter().enumerate() {
            let device = match a.execute_device.is_null() {
                true => program.placement.devices[number],
                false => place(a.execute_device, std::ptr::null_mut())?,
            };
            let results: Vec<Arc<Promise>> = program.outputs.iter().map(|_| Arc::default()).collect();
            let done: Arc<Signal> = Arc::default();
            let outputs = *a.output_lists.add(number);
            for (i, (promise, shape)) in results.iter().zip(&program.outputs).enumerate() {
                let buffer = Buffer::new(&program.client, device, shape, Arc::clone(promise));
                outputs.add(i).write(buffer.into_raw());
            }
            if !a.device_complete_events.is_null() {
                a.device_complete_events.add(number).write(event(&done));
            }
            parts.push((device, Part { arguments, results, done }));
        }
        program.client.streams.launch(program, parts)
    }
}
