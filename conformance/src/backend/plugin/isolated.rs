//! The parent of a process that runs a plugin: starts it, asks it, and replaces it after a death.
use super::connection::{Connection, Trouble};
use super::module::Prepared;
use super::{BackendError, Code, LoadedModule, PluginOptions, Result};
use hlo::Literal;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The parent of a plugin's process.
#[derive(Debug)]
pub(super) struct Parent {
    path: String,
    host: Command,
    options: PluginOptions,
    child: Option<Connection>,
    /// Numbers processes and programs.
    next: u64,
    warnings: Vec<String>,
}

/// A program in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IsolatedProgram {
    process: u64,
    program: u64,
}

impl Parent {
    pub(super) fn new(path: &Path, host: Command, options: PluginOptions) -> Self {
        let path = path.display().to_string();
        Self { path, host, options, child: None, next: 0, warnings: Vec::new() }
    }
    /// Starts the process; returns the platform and the number of devices.
    pub(super) fn start(&mut self) -> Result<(String, usize)> {
        let not_started = |message| BackendError::from(Code::NotStarted { message });
        let number = self.number();
        let limit = self.options.start_limit;
        let mut child = Connection::open(&mut self.host, number)
            .map_err(|e| not_started(format!("the host of the plugin cannot be started: {e}")))?;
        let (path, options) = (self.path.clone(), self.options.client.clone());
        let started = child.start(path, options, limit).map_err(|trouble| match trouble {
            Trouble::Error(error) => error,
            Trouble::Died(_, message) => not_started(message),
            Trouble::TimedOut(stderr) => not_started(format!(
                "{}: it did not load and create a client within {} seconds{stderr}",
                self.path,
                limit.as_secs_f64()
            )),
        })?;
        self.child = Some(child);
        Ok(started)
    }
    #[cfg(test)]
    pub(super) fn limit(&mut self, modules: usize, bytes: usize) {
        self.options.modules_per_process = modules;
        self.options.bytes_per_process = bytes;
    }
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
    /// Returns the process, which is started if there is none.
    fn child(&mut self) -> Result<&mut Connection> {
        if self.child.is_none() {
            self.start()?;
        }
        Ok(self.child.as_mut().expect("`start` sets it"))
    }
    /// Compiles and executes a module; without arguments, it is only compiled. If the process dies
    /// and may have been damaged by another module, the module runs again, alone in a new process.
    fn run(
        &mut self,
        module: &Prepared,
        loaded: &mut Option<IsolatedProgram>,
        arguments: Option<&[Vec<Literal>]>,
    ) -> Result<Vec<Vec<Literal>>> {
        let may_replace = loaded.is_none();
        if may_replace && self.child.as_ref().is_some_and(|child| self.is_used_up(child)) {
            self.child = None;
        }
        let first = match self.attempt(module, loaded, arguments) {
            Err(Trouble::Died(_, message)) if !self.was_alone(*loaded) => message,
            other => return self.finish(other),
        };
        self.child = None;
        let second = self.attempt(module, loaded, arguments);
        if !matches!(second, Err(Trouble::Died(..))) {
            self.warnings.push(format!(
                "`{}` ended the process, but not when it ran alone: an earlier module may be the cause; {first}",
                module.name
            ));
        }
        self.finish(second)
    }
    /// Returns whether a new process takes the place of this one, which may leak.
    fn is_used_up(&self, child: &Connection) -> bool {
        let PluginOptions { modules_per_process, bytes_per_process, .. } = self.options;
        // A client without a module may be as large.
        let has_grown = || child.resident_bytes().is_some_and(|bytes| bytes >= bytes_per_process);
        child.modules >= modules_per_process || child.modules > 0 && has_grown()
    }
    /// Returns whether the process ran no other module.
    fn was_alone(&self, loaded: Option<IsolatedProgram>) -> bool {
        self.child.as_ref().is_some_and(|child| {
            let own = loaded.is_some_and(|loaded| loaded.process == child.number);
            child.modules == usize::from(own)
        })
    }
    fn finish<T>(&mut self, result: Result<T, Trouble>) -> Result<T> {
        let code = match result {
            Ok(value) => return Ok(value),
            Err(Trouble::Error(error)) => return Err(error),
            Err(Trouble::Died(death, message)) => Code::Crashed { message, death },
            Err(Trouble::TimedOut(stderr)) => {
                Code::TimedOut { seconds: self.options.time_limit.as_secs_f64(), stderr }
            }
        };
        self.child = None;
        Err(code.into())
    }
    fn attempt(
        &mut self,
        module: &Prepared,
        loaded: &mut Option<IsolatedProgram>,
        arguments: Option<&[Vec<Literal>]>,
    ) -> Result<Vec<Vec<Literal>>, Trouble> {
        let (limit, number) = (self.options.time_limit, self.number());
        let child = self.child().map_err(Trouble::Error)?;
        let program = match *loaded {
            Some(loaded) if loaded.process == child.number => loaded.program,
            _ => {
                child.compile(number, module, limit)?;
                *loaded = Some(IsolatedProgram { process: child.number, program: number });
                number
            }
        };
        arguments.map_or(Ok(Vec::new()), |arguments| child.execute(program, arguments, limit))
    }
}

/// A module in a process of its own. It is compiled again if that process was replaced.
pub(super) struct IsolatedModule {
    parent: Arc<Mutex<Parent>>,
    prepared: Prepared,
    loaded: Option<IsolatedProgram>,
}

impl IsolatedModule {
    pub(super) fn compile(parent: &Arc<Mutex<Parent>>, prepared: Prepared) -> Result<Self> {
        let mut module = Self { parent: Arc::clone(parent), prepared, loaded: None };
        lock(parent).run(&module.prepared, &mut module.loaded, None)?;
        Ok(module)
    }
}

fn lock(parent: &Mutex<Parent>) -> MutexGuard<'_, Parent> {
    parent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LoadedModule for IsolatedModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let arguments = self.prepared.arguments(arguments)?;
        let results = lock(&self.parent).run(&self.prepared, &mut self.loaded, Some(&arguments))?;
        self.prepared.results(results)
    }
}

impl Drop for IsolatedModule {
    fn drop(&mut self) {
        let parent = lock(&self.parent);
        if let (Some(child), Some(loaded)) = (&parent.child, self.loaded)
            && child.number == loaded.process
        {
            child.release(loaded.program);
        }
    }
}
