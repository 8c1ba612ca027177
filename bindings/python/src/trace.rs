//! Runs that are watched: every instruction, or those that make a NaN.
use crate::error::{Failure, Kind, exception};
use crate::interrupt;
use crate::program::{Options, Program};
use crate::source::Source;
use crate::value::{Value, literals, owned};
use etalon_pjrt_plugin::with_python_callbacks;
use hlo::ir::InstructionId;
use interp::Hooks;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An instruction that was executed.
#[pyclass(frozen, get_all, module = "etalon._etalon")]
pub(crate) struct Event {
    name: String,
    computation: String,
    opcode: &'static str,
    shape: String,
    op_name: String,
    source: Option<Source>,
    depth: usize,
    /// Seconds since the start of the run.
    start: f64,
    seconds: f64,
    own_seconds: f64,
    bytes: usize,
    outputs: Vec<Py<Value>>,
}

/// What an observer collects, without Python.
struct Seen {
    id: InstructionId,
    event: Event,
    outputs: Vec<hlo::Literal>,
}

/// Runs a program; returns the result of each device, and the instructions in the order in which they end.
#[pyfunction]
pub(crate) fn trace(
    py: Python<'_>,
    program: &Program,
    arguments: Vec<Vec<PyRef<'_, Value>>>,
    options: Options,
    values: bool,
) -> PyResult<(Vec<Value>, Vec<Event>)> {
    let inner = Arc::clone(&program.0);
    let arguments = literals(arguments);
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let collected = Arc::clone(&seen);
    let results = interrupt::run(py, move |flag| {
        let run = options.run(flag)?.start_clock();
        let session = inner.session(options.engine()?, &run)?;
        let hooks = with_python_callbacks(Hooks::new()).observe(move |event| {
            let outputs = if values { event.outputs } else { &[] };
            let outputs = outputs.iter().cloned().map(hlo::Literal::from).collect();
            let seen = Seen { id: event.id, event: of_event(event), outputs };
            collected.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        });
        let output = session.run(&arguments, &run.hooks(hooks));
        drop(arguments);
        let output = output.map_err(|error| exception(&[inner.failure(&error)]))?;
        Ok::<_, PyErr>(output.results.into_iter().map(|result| Value(owned(result))).collect())
    })??;
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    let module = program.0.module();
    let computations = module.computations.iter();
    let computations: HashMap<&str, _> =
        computations.map(|(_, one)| (one.name.as_str(), &one.instructions)).collect();
    let event = |Seen { id, event, outputs }| {
        let found = computations.get(event.computation.as_str()).and_then(|all| all.get(id));
        let source = found.and_then(|instruction| Source::of(module, instruction));
        let outputs = outputs.into_iter().map(|output| Py::new(py, Value(owned(output))));
        let outputs = outputs.collect::<PyResult<_>>()?;
        Ok(Event { source, outputs, ..event })
    };
    let events = seen.into_iter().map(event).collect::<PyResult<_>>()?;
    Ok((results, events))
}

fn of_event(event: &interp::Event<'_>) -> Event {
    Event {
        name: event.name().to_owned(),
        computation: event.computation.name.to_string(),
        opcode: event.opcode().name(),
        shape: format!("{:#}", event.instruction().shape),
        op_name: event.op_name().unwrap_or_default().to_owned(),
        source: None,
        depth: event.depth,
        start: event.start.as_secs_f64(),
        seconds: event.total.as_secs_f64(),
        own_seconds: event.own.as_secs_f64(),
        bytes: event.bytes,
        outputs: Vec::new(),
    }
}

/// Runs a program; returns the result of each device, and the parts of the error of each instruction that makes a NaN or an
/// infinity from finite operands, with its text and how often that happened.
#[pyfunction]
pub(crate) fn check_nan<'py>(
    py: Python<'py>,
    program: &Program,
    arguments: Vec<Vec<PyRef<'_, Value>>>,
    options: Options,
) -> PyResult<(Vec<Value>, Vec<Bound<'py, PyDict>>)> {
    let inner = Arc::clone(&program.0);
    let arguments = literals(arguments);
    let found: Arc<Mutex<Vec<(interp::Error, usize)>>> = Arc::default();
    let collected = Arc::clone(&found);
    let results = interrupt::run(py, move |flag| {
        let run = options.run(flag)?.start_clock();
        let session = inner.session(options.engine()?, &run)?;
        let hooks = with_python_callbacks(Hooks::new()).not_finite(move |error| {
            let mut found = collected.lock().unwrap_or_else(PoisonError::into_inner);
            match found.iter_mut().find(|(known, _)| known.instruction() == error.instruction()) {
                Some((_, count)) => *count += 1,
                None => found.push((error, 1)),
            }
        });
        let run = options.run(flag)?.check_nan(true).hooks(hooks);
        let output = session.run(&arguments, &run);
        drop(arguments);
        let output = output.map_err(|error| exception(&[inner.failure(&error)]))?;
        Ok::<_, PyErr>(output.results.into_iter().map(|result| Value(owned(result))).collect())
    })??;
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    let part = |(error, count): (interp::Error, usize)| {
        let source = program.0.place(error.instruction());
        let failure = Failure::new(Kind::Run, error.diagnostic(), source, program.0.source());
        let parts = failure.parts(py)?;
        parts.set_item("drawn", failure.drawn())?;
        parts.set_item("count", count)?;
        Ok(parts)
    };
    let found = found.into_iter().map(part).collect::<PyResult<_>>()?;
    Ok((results, found))
}
