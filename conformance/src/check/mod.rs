//! Tests in MLIR: functions that check their own values.
//!
//! ```text
//! func.func @doubles() {
//!   %x = stablehlo.constant dense<[1, 127]> : tensor<2xi8>
//!   %y = stablehlo.add %x, %x : tensor<2xi8>
//!   check.expect_eq_const %y, dense<[2, -2]> : tensor<2xi8>
//!   return
//! }
//! ```
//! Each function without arguments that no other function names is a test. It passes if every check
//! that it reaches holds. `// -----` separates modules, as in file tests of HLO.
mod calls;
mod compare;
mod grid;

use crate::case::run_failure;
use crate::file::ParseError;
use crate::recorded::files;
use crate::report::{Failed, Failure};
use crate::{Comparison, Engine, Outcome, Report};
use calls::{Findings, Functions};
use collectives::Session;
use hlo::Module;
use interp::{CompileOptions, RunOptions};
use load::Format;
use stablehlo::testing::TestProgram;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the HLO text of a program in failures.
const CONVERTED: &str = "converted to HLO";

/// Prints the line of an `interpreter.print`.
pub type PrintLine = Arc<dyn Fn(&str) + Send + Sync>;

/// A file of programs that check their own values.
#[derive(Debug, Clone)]
pub struct CheckFile {
    /// The functions, in the order of the text.
    pub cases: Vec<CheckCase>,
    has_checks: bool,
    is_source: bool,
}

/// A function that checks its own values.
#[derive(Debug, Clone)]
pub struct CheckCase {
    /// `<file>::<function>`.
    pub name: String,
    file: String,
    /// The text of the module. Preceding modules are replaced by empty lines, which keeps line
    /// numbers.
    text: Arc<str>,
    /// Whether the commands of the file change its text before it runs.
    is_source: bool,
    kind: CaseKind,
}

#[derive(Debug, Clone)]
enum CaseKind {
    /// A function of a program.
    Function(Arc<TestProgram>, String),
    /// One that is not run, and why.
    Skipped(String),
    /// A module that cannot be read.
    Unreadable(stablehlo::Error),
}

/// How the functions of a file run.
#[derive(Clone)]
pub struct CheckOptions {
    /// The engines, in each of which a function runs.
    pub engines: Vec<Engine>,
    /// The options of each run; a time limit is that of all engines together.
    pub run: RunOptions,
    /// Prints what a function prints, in the first engine alone.
    pub print: PrintLine,
}

/// Finds the programs of MLIR text in a folder and its subfolders, sorted by path; `root` may also
/// be a single file.
///
/// # Errors
/// If a folder cannot be read.
pub fn find(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    files(root, "mlir")
}

impl CheckFile {
    /// Reads a file. None if it is no StableHLO program.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(path: &Path) -> Result<Option<Self>, ParseError> {
        let load::File { bytes, format, .. } = load::read(path, None)?;
        Ok((format == Format::StableHlo).then(|| Self::new(&path.display().to_string(), &bytes)))
    }
    /// Reads the contents of the file of this name.
    pub fn new(file: &str, bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes);
        let is_source = text.is_ok_and(is_source);
        let mut found = Self { cases: Vec::new(), has_checks: false, is_source };
        let Ok(text) = text else {
            found.program(file, "", bytes, None);
            return found;
        };
        let expects_failure = expects_failure(text);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut start = 0;
        for part in lines.split(|line| line.trim() == "// -----") {
            let text = format!("{}{}", "\n".repeat(start), part.concat());
            start += part.len() + 1;
            let is_empty = |line: &&str| line.trim().is_empty() || line.trim().starts_with("//");
            if part.iter().all(is_empty) {
                continue;
            }
            let skipped = match part.iter().any(|line| line.contains("expected-error")) {
                true => Some("it expects errors of another tool: `expected-error`"),
                false => expects_failure,
            };
            found.program(file, &text, text.as_bytes(), skipped);
        }
        found
    }
    /// Adds the functions of a program.
    fn program(&mut self, file: &str, text: &str, bytes: &[u8], skipped: Option<&str>) {
        let text: Arc<str> = text.into();
        let program = match TestProgram::read(bytes, file) {
            Ok(program) => Arc::new(program),
            Err(error) => {
                self.has_checks |= text.contains("check.");
                let kind = match skipped {
                    Some(reason) => CaseKind::Skipped(reason.to_owned()),
                    None => CaseKind::Unreadable(error),
                };
                return self.push(file, "module", &text, kind);
            }
        };
        self.has_checks |= program.has_checks();
        for function in program.functions() {
            if function.is_named || function.is_declaration {
                continue;
            }
            let kind = match skipped {
                Some(reason) => CaseKind::Skipped(reason.to_owned()),
                None if function.arguments > 0 => {
                    let plural = if function.arguments == 1 { "" } else { "s" };
                    let count = function.arguments;
                    CaseKind::Skipped(format!("it takes {count} argument{plural}"))
                }
                None => CaseKind::Function(Arc::clone(&program), function.name.clone()),
            };
            self.push(file, &function.name, &text, kind);
        }
    }
    fn push(&mut self, file: &str, name: &str, text: &Arc<str>, kind: CaseKind) {
        let name = format!("{file}::{name}");
        let is_same = |case: &&CheckCase| {
            let rest = case.name.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
        };
        let name = match self.cases.iter().filter(is_same).count() {
            0 => name,
            before => format!("{name}#{}", before + 1),
        };
        let (file, text, is_source) = (file.to_owned(), Arc::clone(text), self.is_source);
        self.cases.push(CheckCase { name, file, text, is_source, kind });
    }
    /// Returns whether some function checks a value. A file without one is a plain program.
    pub fn has_checks(&self) -> bool {
        self.has_checks
    }
}

/// Returns why a file whose commands are all expected to fail is no test here.
fn expects_failure(text: &str) -> Option<&'static str> {
    let commands = text.lines().filter_map(|line| line.trim().strip_prefix("// RUN:"));
    let mut commands = commands.map(str::trim).peekable();
    commands.peek()?;
    commands
        .all(|command| command.starts_with("not "))
        .then_some("its `RUN:` lines expect that another tool fails")
}

/// Returns whether the commands of a file are those of tools that make another program of it.
fn is_source(text: &str) -> bool {
    let mut commands = text.lines().filter_map(|line| line.trim().strip_prefix("// RUN:"));
    let runs = |command: &str| command.contains("--interpret") && command.contains("%s");
    commands.clone().next().is_some() && !commands.any(runs)
}

impl CheckCase {
    /// Runs the function in each engine.
    pub fn run(&self, options: &CheckOptions) -> Report {
        let options = CheckOptions { run: options.run.clone().start_clock(), ..options.clone() };
        Report::run(&self.name, &self.file, || {
            self.outcome(&options).map_err(|failed| self.as_source(failed))
        })
    }
    /// Returns a failure; that of a text which has no HLO yet is none of the program.
    fn as_source(&self, failed: Box<Failed>) -> Box<Failed> {
        let Failed { treatment, mut outcome } = *failed;
        if let Outcome::Failed(failure) = &mut outcome
            && self.is_source
            && failure.diagnostics.iter().any(|found| found.code.starts_with("E09"))
        {
            let reason = "the `RUN:` lines make another program of this text".to_owned();
            outcome = Outcome::Unsupported(Failure { reason, ..std::mem::take(failure) });
        }
        Box::new(Failed { treatment, outcome })
    }
    fn outcome(&self, options: &CheckOptions) -> Result<Outcome, Box<Failed>> {
        let (program, function) = match &self.kind {
            CaseKind::Function(program, function) => (program, function),
            CaseKind::Skipped(reason) => return Ok(Outcome::Skipped(reason.clone())),
            CaseKind::Unreadable(error) => return Err(unconverted(&self.text, error)),
        };
        let module = program.module(function).map_err(|error| unconverted(&self.text, &error))?;
        let mut all = (0, Comparison::default());
        for (number, &engine) in options.engines.iter().enumerate() {
            let print = (number == 0).then(|| Arc::clone(&options.print));
            let findings = Self::run_in(engine, &module, program, options, print)?;
            let treatment = format!("engine {}", engine.name());
            let (checks, comparison) = findings.verdict(&treatment, function)?;
            if number == 0 {
                all = (checks, comparison);
            }
        }
        Ok(match all {
            (0, _) => Outcome::Skipped("it runs, and checks no value".to_owned()),
            (_, comparison) => Outcome::Agree(comparison),
        })
    }
    /// Runs the function in an engine.
    fn run_in(
        engine: Engine,
        module: &Module,
        program: &Arc<TestProgram>,
        options: &CheckOptions,
        print: Option<PrintLine>,
    ) -> Result<Findings, Box<Failed>> {
        let treatment = format!("engine {}", engine.name());
        let findings = Arc::new(Mutex::new(Findings::default()));
        let (outfeed, _values) = crossbeam_channel::unbounded();
        let functions = Functions {
            program: Arc::clone(program),
            engine,
            run: options.run.clone(),
            print,
            findings: Arc::clone(&findings),
            depth: 0,
            queue: Vec::new(),
            outfeed,
        };
        let failed = run_module(module.clone(), &functions, &treatment, &[Vec::new()]).err();
        let findings =
            std::mem::take(&mut *findings.lock().unwrap_or_else(PoisonError::into_inner));
        match failed {
            // A failure of the programs on several devices is more than that of their call.
            Some(failed) => Err(findings.failure.unwrap_or(failed)),
            None => Ok(findings),
        }
    }
}

/// Runs a module with the functions of tests; returns the results of its devices.
fn run_module(
    module: Module,
    functions: &Functions,
    treatment: &str,
    arguments: &[Vec<hlo::Literal>],
) -> Result<Vec<hlo::Literal>, Box<Failed>> {
    let (module, text) = module.with_text();
    let in_module = |outcome: Outcome| Failed::new(treatment, outcome.named(CONVERTED));
    let verified = module
        .verify()
        .map_err(|errors| in_module(Outcome::Failed(Failure::new(&text, errors.diagnostics()))))?;
    let compile = CompileOptions::default().engine(functions.engine);
    let session = Session::compile(verified, &compile)
        .map_err(|error| in_module(run_failure(&text, &error)))?;
    let hooks = functions.hooks();
    let output = session
        .run(arguments, &functions.run.clone().hooks(hooks).buffered_sends(true))
        .map_err(|error| in_module(run_failure(&text, &error)))?;
    Ok(output.results)
}

/// Returns the failure of a program that has no HLO.
fn unconverted(text: &str, error: &stablehlo::Error) -> Box<Failed> {
    let failure = Failure::new(text, vec![error.diagnostic()]);
    Failed::new(
        "",
        match error.code().is_unsupported() {
            true => Outcome::Unsupported(failure),
            false => Outcome::Failed(failure),
        },
    )
}

#[cfg(test)]
mod tests;
