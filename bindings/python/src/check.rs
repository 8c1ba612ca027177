//! Comparison with another backend: the instructions that it computes wrong, with the lines of the program.
use crate::backend::PythonBackend;
use crate::callback::{Given, given};
use crate::error::{Failure, Kind, misuse};
use crate::interrupt;
use crate::program::Program;
use crate::source::Source;
use crate::value::{Value, literals};
use conformance::backend::{
    About, Backend, BackendError, Backends, Capabilities, EngineBackend, LoadedModule, Plugin,
    PluginOptions,
};
use conformance::blame::{Finding, Options, blame};
use conformance::on_large_stack;
use hlo::{Module, Verified};
use interp::{DeviceGrid, Engine};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The limits of a search.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Limits {
    findings: usize,
    rounds: usize,
    fuel: u64,
}

/// Searches for the instructions that a backend computes wrong. `backend` is the name of an engine, the path of a PJRT plugin, or an
/// adapter of the package; `record` returns the values of callbacks. Returns the report as JSON, its text, and the parts of each finding.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    program: &Program,
    arguments: Vec<PyRef<'_, Value>>,
    backend: Bound<'py, PyAny>,
    host: Vec<String>,
    limits: Limits,
    record: Option<&Bound<'py, PyAny>>,
) -> PyResult<(String, String, Vec<Bound<'py, PyDict>>)> {
    let arguments = literals(vec![arguments]).concat();
    let Given { module: verified, arguments, not_checked } =
        given(program.0.verified()?, arguments, record)?;
    let arguments = [arguments];
    let options = Options {
        findings: limits.findings,
        rounds: limits.rounds,
        fuel: limits.fuel,
        ..Options::default()
    };
    let name: Option<String> = backend.extract().ok();
    let adapter = Arc::new(backend.unbind());
    let module = Arc::clone(&verified);
    let mut found = interrupt::run_with_calls(py, move |caller| {
        let backend: Box<dyn Backend> = match name {
            Some(name) => Box::new(Interruptible {
                backend: named(&name, &host)?,
                flag: Arc::clone(caller.flag()),
            }),
            None => Box::new(PythonBackend {
                name: "Python".to_owned(),
                adapter,
                caller: Arc::new(caller),
                whole: Arc::clone(&module),
            }),
        };
        let backends = Backends::one(backend);
        let found = on_large_stack(|| blame(&module, &arguments, &backends, &options));
        Ok::<_, PyErr>(found)
    })??;
    found.not_checked.extend(not_checked);
    let parts = found.findings.iter().map(|finding| parts(py, program, verified.module(), finding));
    let parts = parts.collect::<PyResult<_>>()?;
    Ok((found.to_json(), found.footer(), parts))
}

/// A backend of Rust in a search that Ctrl-C ends.
struct Interruptible {
    backend: Box<dyn Backend>,
    flag: Arc<AtomicBool>,
}

impl Backend for Interruptible {
    fn name(&self) -> String {
        self.backend.name()
    }
    fn about(&self) -> About {
        self.backend.about()
    }
    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }
    fn interrupt(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.flag))
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        self.backend.compile(module, grid)
    }
}

/// Returns an engine, or a plugin in a process that the command `host` starts.
fn named(name: &str, host: &[String]) -> PyResult<Box<dyn Backend>> {
    if let Some(engine) = Engine::ALL.into_iter().find(|engine| engine.name() == name) {
        return Ok(Box::new(EngineBackend(engine)));
    }
    let [program, arguments @ ..] = host else { return Err(misuse("no host of plugins")) };
    let mut command = Command::new(program);
    command.args(arguments);
    let plugin = Plugin::isolated(name.as_ref(), command, PluginOptions::default());
    Ok(Box::new(plugin.map_err(|error| misuse(error.to_string()))?))
}

/// Returns what the JSON of a finding lacks: its place, its text, and the instruction alone as a program with arguments.
fn parts<'py>(
    py: Python<'py>,
    program: &Program,
    module: &Module,
    finding: &Finding,
) -> PyResult<Bound<'py, PyDict>> {
    let instruction = &module.computations[finding.computation].instructions[finding.instruction];
    let source = Source::of(module, instruction);
    let diagnostic = finding.diagnostic(module);
    let failure = Failure::new(Kind::Run, diagnostic, source, program.0.source());
    let parts = failure.parts(py)?;
    parts.set_item("drawn", failure.drawn())?;
    parts.set_item("details", finding.to_string())?;
    let alone = Program::of_verified(Arc::clone(&finding.program.module));
    parts.set_item("program", alone)?;
    let arguments = finding.program.arguments.first().cloned().unwrap_or_default();
    let arguments: Vec<Value> = arguments.into_iter().map(Value).collect();
    parts.set_item("arguments", arguments)?;
    let test = conformance::reduce::file_test(
        &finding.program.module,
        &finding.program.arguments,
        Some(1 << 32),
    );
    parts.set_item("test", test)?;
    Ok(parts)
}
