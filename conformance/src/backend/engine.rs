//! Etalon's engines as backends.
use super::{Backend, BackendError, Capabilities, Code, LoadedModule, Result};
use collectives::{RunError, Session};
use hlo::{Literal, Verified};
use interp::{CompileOptions, DeviceGrid, Engine, RunOptions};
use std::sync::Arc;

/// An engine of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineBackend(pub Engine);

impl Backend for EngineBackend {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: None, isolated: false }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        let options = CompileOptions::default().engine(self.0);
        let session = Session::compile_for(Arc::clone(module), grid, &options);
        let rejected = |message| Code::Rejected { message };
        Ok(Box::new(session.map_err(|error| converted(&error, rejected))?))
    }
}

impl LoadedModule for Session {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let output = self.run(arguments, &RunOptions::default());
        let failed = |message| Code::Failed { message };
        Ok(output.map_err(|error| converted(&error, failed))?.results)
    }
}

fn converted(error: &RunError, other: impl FnOnce(String) -> Code) -> BackendError {
    let message = error.to_string();
    let code = if error.is_unsupported() { Code::Unsupported { message } } else { other(message) };
    code.into()
}
