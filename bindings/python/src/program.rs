//! A module as Python holds it: verified once, compiled once for each engine.
use crate::error::{Failure, Kind, exception, misuse, unread};
use crate::interrupt;
use crate::source::Source;
use crate::value::{Value, literals, owned};
use collectives::{RunError, Session};
use hlo::diag::{self, SourceFile, render};
use hlo::text::Style;
use hlo::{Literal, Module, Shape, Verified};
use interp::{CompileOptions, DeviceGrid, Engine, RunOptions, Spill};
use load::{Input, Loaded};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A module with its text.
#[pyclass(frozen, module = "etalon._etalon")]
#[derive(Clone)]
pub(crate) struct Program(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    /// The file that it was read from.
    file: Option<SourceFile>,
    /// The text of a program that was made from another one.
    printed: OnceLock<String>,
    module: Module,
    verified: OnceLock<Arc<Verified>>,
    arguments: Vec<Vec<Literal>>,
    warnings: Vec<String>,
    sessions: Mutex<Vec<(Engine, Session)>>,
}

/// The options of a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    engine: String,
    fuel: Option<u64>,
    max_memory: Option<usize>,
    time_limit: Option<f64>,
    check_nan: bool,
    seed: u64,
    spill: Option<PathBuf>,
    spill_from: Option<usize>,
}

impl Options {
    pub(crate) fn engine(&self) -> PyResult<Engine> {
        let found = Engine::ALL.into_iter().find(|engine| engine.name() == self.engine);
        let wrong =
            || misuse(format!("`{}` is not an engine: exact, fast or reference", self.engine));
        found.ok_or_else(wrong)
    }
    pub(crate) fn run(&self, flag: &Arc<AtomicBool>) -> PyResult<RunOptions> {
        let mut options = RunOptions::default().check_nan(self.check_nan).seed(self.seed);
        options.fuel = self.fuel;
        options.max_memory = self.max_memory;
        if let Some(seconds) = self.time_limit {
            let limit = Duration::try_from_secs_f64(seconds)
                .map_err(|_| misuse(format!("time_limit={seconds} is not a number of seconds")))?;
            options = options.time_limit(limit);
        }
        if let Some(directory) = &self.spill {
            let least = self.spill_from.unwrap_or(Spill::DEFAULT);
            let spill = Spill::open(directory, least)
                .map_err(|error| misuse(format!("spill={}: {error}", directory.display())))?;
            options = options.spill(spill);
        }
        Ok(options.interrupt(Arc::clone(flag)))
    }
}

impl Program {
    fn of_input(input: Input<'_>, options: &load::Options) -> PyResult<Self> {
        let loaded = load::load(input, options).map_err(unread)?;
        let Loaded { file, module, arguments, warnings, format: _ } = loaded;
        let draw = |warning| render(warning, Some(file.source()), false).trim_end().to_owned();
        let warnings = warnings.iter().map(draw).collect();
        Ok(Self(Arc::new(Inner {
            file: Some(file),
            printed: OnceLock::new(),
            module,
            verified: OnceLock::new(),
            arguments,
            warnings,
            sessions: Mutex::default(),
        })))
    }
    /// Returns a program that was made from another one.
    pub(crate) fn of_verified(verified: Arc<Verified>) -> Self {
        Self(Arc::new(Inner {
            file: None,
            printed: OnceLock::new(),
            module: verified.module().clone(),
            verified: verified.into(),
            arguments: Vec::new(),
            warnings: Vec::new(),
            sessions: Mutex::default(),
        }))
    }
}

impl Inner {
    pub(crate) fn source(&self) -> Option<diag::Source<'_>> {
        self.file.as_ref().map(SourceFile::source)
    }
    fn text(&self) -> &str {
        match &self.file {
            Some(file) => &file.text,
            None => self.printed.get_or_init(|| self.module.print(Style::Default)),
        }
    }
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }
    /// Returns the module if it breaks no rule; an exception with every broken one otherwise.
    pub(crate) fn verified(&self) -> PyResult<Arc<Verified>> {
        if let Some(verified) = self.verified.get() {
            return Ok(Arc::clone(verified));
        }
        let verified = self.module.clone().verify().map_err(|errors| {
            let failure = |error: &hlo::Error| {
                let source = self.place(error.instruction());
                Failure::new(Kind::Invalid, error.diagnostic(), source, self.source())
            };
            exception(&errors.0.iter().map(failure).collect::<Vec<_>>())
        })?;
        Ok(Arc::clone(self.verified.get_or_init(|| Arc::new(verified))))
    }
    pub(crate) fn place(&self, instruction: Option<&str>) -> Option<Source> {
        Source::of_path(&self.module, instruction?)
    }
    /// Returns the program that the module is compiled to, within the limits of a run.
    pub(crate) fn session(&self, engine: Engine, run: &RunOptions) -> PyResult<Session> {
        let known = |sessions: &Vec<(Engine, Session)>| {
            sessions.iter().find(|(of, _)| *of == engine).map(|(_, session)| session.clone())
        };
        if let Some(session) = known(&self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
        {
            return Ok(session);
        }
        let options = CompileOptions::default().engine(engine).limits_of(run);
        let compiled = Session::compile(self.verified()?, &options);
        let session = compiled.map_err(|error| exception(&[self.failure(&error)]))?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push((engine, session.clone()));
        Ok(session)
    }
    fn graph(&self, format: &str, computation: Option<&str>, devices: bool) -> PyResult<String> {
        let verified = self.verified()?;
        if devices {
            let graph = graph::devices::Graph::of(&verified)
                .map_err(|error| exception(&[self.failure(&error.into())]))?;
            return match format {
                "svg" => Ok(graph::devices::svg(&graph)),
                "dot" => Ok(graph::devices::dot(&graph)),
                _ => Err(misuse(format!("`{format}` is not a format for devices: svg or dot"))),
            };
        }
        let model = graph::Model::of(&verified, self.text());
        let find = |name: &str| {
            let unknown = || misuse(format!("there is no computation `{name}`"));
            model.find(name.trim_start_matches('%')).ok_or_else(unknown)
        };
        let found = computation.map(find).transpose()?;
        match format {
            "html" | "model-explorer" if found.is_some() => {
                Err(misuse("a page has all computations: `computation` is for svg and dot"))
            }
            "html" => Ok(graph::html(&model, &graph::Measured::default())),
            "model-explorer" => Ok(graph::model_explorer(&model, &graph::Measured::default())),
            "svg" => Ok(graph::svg(&model, found)),
            "dot" => Ok(graph::dot(&model, found)),
            _ => {
                Err(misuse(format!("`{format}` is not a format: html, svg, dot or model-explorer")))
            }
        }
    }
    /// Returns the error of a run with its place.
    pub(crate) fn failure(&self, error: &RunError) -> Failure {
        let kind = match error.device_error().map(interp::Error::code) {
            _ if error.is_unsupported() => Kind::Unsupported,
            Some(interp::Code::Internal { .. }) => Kind::Internal,
            _ => Kind::Run,
        };
        let mut diagnostic = error.diagnostic();
        if let Some(help) = &mut diagnostic.help {
            *help = help.replace("`--time-limit`", "`time_limit`");
        }
        let source = self.place(diagnostic.instruction.as_deref());
        Failure::new(kind, diagnostic, source, self.source())
    }
}

/// Returns what a caller states of the arguments of a program.
fn stated(shapes: Vec<String>) -> PyResult<Vec<load::Argument>> {
    shapes.into_iter().map(|shape| shape.parse().map_err(misuse)).collect()
}

#[pymethods]
impl Program {
    /// Reads a module; `name` is shown in errors.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        name: String,
        bytes: &[u8],
        lenient: bool,
        module: Option<u32>,
        function: Option<String>,
        shapes: Vec<String>,
    ) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let arguments = stated(shapes)?;
        let options = load::Options { lenient, module, function, arguments, most_bytes: None };
        interrupt::run(py, move |_| Self::of_input(Input::Bytes(&name, bytes.into()), &options))?
    }
    /// Reads the module of a file.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        lenient: bool,
        module: Option<u32>,
        function: Option<String>,
        shapes: Vec<String>,
    ) -> PyResult<Self> {
        let arguments = stated(shapes)?;
        let options = load::Options { lenient, module, function, arguments, most_bytes: None };
        interrupt::run(py, move |_| Self::of_input(path.as_path().into(), &options))?
    }
    /// The name of the module.
    #[getter]
    fn name(&self) -> &str {
        &self.0.module.name
    }
    /// The text that errors show: as it was read, or as HLO text if it was no HLO text.
    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }
    /// Warnings from reading it.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }
    /// The module as HLO text.
    fn print(&self, style: &str) -> PyResult<String> {
        let style = match style {
            "default" => Style::Default,
            "short" => Style::Short,
            "full" => Style::Full,
            _ => return Err(misuse(format!("`{style}` is not a style: default, short or full"))),
        };
        Ok(self.0.module.print(style))
    }
    /// The module as an `HloModuleProto`.
    fn proto<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = hlo::proto::encode(&self.0.module).map_err(|error| {
            exception(&[Failure::new(Kind::Invalid, error.diagnostic(), None, None)])
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
    /// The module as a StableHLO program.
    fn stablehlo(&self, chlo: &str, generic: bool) -> PyResult<String> {
        let chlo = match chlo {
            "keep" => Chlo::Keep,
            "expand" => Chlo::Expand,
            _ => return Err(misuse(format!("`{chlo}` is neither keep nor expand"))),
        };
        let verified = self.0.verified()?;
        let program = stablehlo::from_hlo(&verified, &ExportOptions { chlo }).map_err(|error| {
            let source = self.0.place(error.instruction());
            let kind =
                if error.code().is_unsupported() { Kind::Unsupported } else { Kind::Invalid };
            exception(&[Failure::new(kind, error.diagnostic(), source, self.0.source())])
        })?;
        Ok(program.to_text(if generic { TextStyle::Generic } else { TextStyle::Pretty }))
    }
    /// The parameters: name and shape.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let entry = self.0.module.entry();
        let one = |&id: &_| {
            let shape = describe(py, &entry.instructions[id].shape)?;
            Ok((entry.name(id).to_string(), shape))
        };
        entry.parameters().iter().map(one).collect()
    }
    /// The shape of the result.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        describe(py, self.0.module.entry().result_shape())
    }
    /// The number of replicas and of partitions.
    #[getter]
    fn grid(&self) -> (usize, usize) {
        let DeviceGrid { replicas, partitions } = DeviceGrid::of(&self.0.module.config);
        (replicas, partitions)
    }
    /// The arguments in the file that it was read from.
    fn arguments(&self) -> Vec<Vec<Value>> {
        let list = |values: &Vec<Literal>| values.iter().cloned().map(Value).collect();
        self.0.arguments.iter().map(list).collect()
    }
    /// Draws the dataflow of the program, or of one computation; or the communication between its
    /// devices.
    fn graph(
        &self,
        py: Python<'_>,
        format: String,
        computation: Option<String>,
        devices: bool,
    ) -> PyResult<String> {
        let inner = Arc::clone(&self.0);
        interrupt::run(py, move |_| inner.graph(&format, computation.as_deref(), devices))?
    }
    /// Raises an exception with every rule that the module breaks.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let inner = Arc::clone(&self.0);
        interrupt::run(py, move |_| inner.verified().map(drop))?
    }
    /// Runs the program; returns the result of each device.
    fn run(
        &self,
        py: Python<'_>,
        arguments: Vec<Vec<PyRef<'_, Value>>>,
        options: Options,
    ) -> PyResult<Vec<Value>> {
        let (inner, arguments) = (Arc::clone(&self.0), literals(arguments));
        interrupt::run(py, move |flag| {
            // Compilation takes of the time of the run.
            let run = options.run(flag)?.start_clock();
            let session = inner.session(options.engine()?, &run)?;
            let output = session.run(&arguments, &run);
            drop(arguments);
            let output = output.map_err(|error| exception(&[inner.failure(&error)]))?;
            Ok(output.results.into_iter().map(|result| Value(owned(result))).collect())
        })?
    }
}

/// Returns a shape as Python gets it: a tuple of element type and sizes, a list of shapes, or none
/// for a token.
fn describe<'py>(py: Python<'py>, shape: &Shape) -> PyResult<Bound<'py, PyAny>> {
    match shape {
        Shape::Array(array) => {
            let dims = array.dims.to_vec();
            Ok((array.ty.name(), dims).into_pyobject(py)?.into_any())
        }
        Shape::Tuple(parts) => {
            let parts: Vec<_> =
                parts.iter().map(|part| describe(py, part)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, parts)?.into_any())
        }
        Shape::Token => Ok(py.None().into_bound(py)),
        Shape::Opaque | Shape::Buffer(_) => Err(misuse(format!("{shape} has no values in Python"))),
    }
}
