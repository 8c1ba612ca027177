//! The two sides: the backend and Etalon.
use crate::backend::{Backend, BackendError, Backends, LoadedModule};
use crate::judge::JudgeOptions;
use crate::pool::Queue;
use crate::program::{Program, scheduled};
use collectives::Session;
use hlo::{Literal, Module};
use interp::{CompileOptions, DeviceGrid, RunOptions};
use std::sync::Arc;

/// Runs modules on both sides.
pub(super) struct Sides<'a> {
    backends: &'a Backends,
    grid: DeviceGrid,
    options: RunOptions,
}

/// Etalon, and a backend that others work beside.
pub(super) struct OneSide<'b> {
    backend: &'b mut dyn Backend,
    grid: DeviceGrid,
    options: RunOptions,
    judging: JudgeOptions,
}

/// A module that both sides compiled.
pub(super) struct Loaded {
    etalon: Session,
    backend: Box<dyn LoadedModule>,
    options: RunOptions,
}

impl<'a> Sides<'a> {
    pub(super) fn new(backends: &'a Backends, module: &Module, fuel: u64) -> Self {
        let options = RunOptions::default().fuel(fuel);
        let options =
            backends.interrupt().cloned().into_iter().fold(options, RunOptions::interrupt);
        Self { backends, grid: DeviceGrid::of(&module.config), options }
    }
    /// Returns whether the caller ends the search.
    pub(super) fn is_interrupted(&self) -> bool {
        self.backends.is_interrupted()
    }
    /// Returns what is known of the backend.
    pub(super) fn judging(&self) -> &'a JudgeOptions {
        self.backends.judging()
    }
    pub(super) fn backend(&self, program: &Program) -> Result<Vec<Literal>, BackendError> {
        let (program, grid) = (program.clone(), self.grid);
        self.backends.run(move |backend| program.run(backend, grid))
    }
    pub(super) fn etalon(&self, program: &Program) -> Result<Vec<Literal>, String> {
        run(program, self.grid, &self.options)
    }
    pub(super) fn load(&self, program: &Program) -> Result<Loaded, String> {
        let etalon = compile(program, self.grid)?;
        let (module, grid) = (Arc::clone(&program.module), self.grid);
        let backend = self.backends.run(move |backend| backend.compile(&module, grid));
        let backend = backend.map_err(|error| error.to_string())?;
        Ok(Loaded { etalon, backend, options: self.options.clone() })
    }
    /// Returns a queue of work that each backend does beside the others.
    pub(super) fn queue<I: Send + 'static, R: Send + 'static>(
        &self,
        work: impl Fn(&mut OneSide<'_>, I) -> R + Send + Sync + 'static,
    ) -> Queue<'a, I, R> {
        let (grid, options, judging) = (self.grid, self.options.clone(), self.judging().clone());
        self.backends.queue(1, move |backend, item| {
            let (options, judging) = (options.clone(), judging.clone());
            work(&mut OneSide { backend, grid, options, judging }, item)
        })
    }
}

impl OneSide<'_> {
    /// Returns what is known of the backend.
    pub(super) fn judging(&self) -> &JudgeOptions {
        &self.judging
    }
    pub(super) fn backend(&mut self, program: &Program) -> Result<Vec<Literal>, BackendError> {
        program.run(self.backend, self.grid)
    }
    pub(super) fn etalon(&self, program: &Program) -> Result<Vec<Literal>, String> {
        run(program, self.grid, &self.options)
    }
}

impl Loaded {
    /// Returns the results of Etalon and of the backend.
    pub(super) fn run(&mut self, arguments: &[Vec<Literal>]) -> Result<[Vec<Literal>; 2], String> {
        let expected =
            self.etalon.run(arguments, &self.options).map_err(|error| error.to_string())?;
        let actual = self.backend.execute(arguments).map_err(|error| error.to_string())?;
        Ok([expected.results, actual])
    }
}

fn compile(program: &Program, grid: DeviceGrid) -> Result<Session, String> {
    let module = program.module.clone();
    Session::compile_for(module, grid, &CompileOptions::default()).map_err(|e| e.to_string())
}

/// Runs a program on the exact engine.
pub(super) fn etalon(
    program: &Program,
    grid: DeviceGrid,
    fuel: u64,
) -> Result<Vec<Literal>, String> {
    run(program, grid, &RunOptions::default().fuel(fuel))
}

fn run(program: &Program, grid: DeviceGrid, options: &RunOptions) -> Result<Vec<Literal>, String> {
    let options = scheduled(&program.module, options.clone());
    let output = compile(program, grid)?.run(&program.arguments, &options);
    output.map(|output| output.results).map_err(|error| error.to_string())
}
