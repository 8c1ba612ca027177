//! The two sides: the backend and Etalon.
use super::program::Program;
use crate::backend::{Backend, BackendError, LoadedModule};
use collectives::Session;
use hlo::{Literal, Module};
use interp::{CompileOptions, DeviceGrid, RunOptions};

/// Runs modules on both sides.
pub(super) struct Sides<'a> {
    backend: &'a mut dyn Backend,
    grid: DeviceGrid,
    fuel: u64,
}

/// A module that both sides compiled.
pub(super) struct Loaded {
    etalon: Session,
    backend: Box<dyn LoadedModule>,
    fuel: u64,
}

impl<'a> Sides<'a> {
    pub(super) fn new(backend: &'a mut dyn Backend, module: &Module, fuel: u64) -> Self {
        Self { backend, grid: DeviceGrid::of(&module.config), fuel }
    }
    pub(super) fn backend(&mut self, program: &Program) -> Result<Vec<Literal>, BackendError> {
        self.backend.compile(&program.module, self.grid)?.execute(&program.arguments)
    }
    pub(super) fn etalon(&self, program: &Program) -> Result<Vec<Literal>, String> {
        etalon(program, self.grid, self.fuel)
    }
    pub(super) fn load(&mut self, program: &Program) -> Result<Loaded, String> {
        let etalon = compile(program, self.grid)?;
        let backend = self.backend.compile(&program.module, self.grid);
        let backend = backend.map_err(|error| error.to_string())?;
        Ok(Loaded { etalon, backend, fuel: self.fuel })
    }
}

impl Loaded {
    /// Returns the results of Etalon and of the backend.
    pub(super) fn run(&mut self, arguments: &[Vec<Literal>]) -> Result<[Vec<Literal>; 2], String> {
        let options = RunOptions::default().fuel(self.fuel);
        let expected = self.etalon.run(arguments, &options).map_err(|error| error.to_string())?;
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
    let session = compile(program, grid)?;
    let output = session.run(&program.arguments, &RunOptions::default().fuel(fuel));
    output.map(|output| output.results).map_err(|error| error.to_string())
}
