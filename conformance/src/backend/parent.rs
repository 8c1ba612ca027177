//! The parent of a process that compiles and executes modules: starts it, asks it, and replaces it
//! after a death.
use super::channel::NoReply;
use super::{BackendError, Code, Death, LoadedModule, Result};
use hlo::Literal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A process, and the messages to and from it.
pub(super) trait Peer: Sized + Send {
    /// What starts the process.
    type Start: Send;
    /// What it says of itself.
    type Hello;
    type Module: PeerModule;

    fn open(start: &mut Self::Start) -> std::io::Result<Self>;
    /// Waits until it can compile.
    fn hello(&mut self, start: &Self::Start, limit: Duration) -> Result<Self::Hello, Trouble>;
    /// Compiles a module under a number.
    fn compile(
        &mut self,
        number: u64,
        module: &Self::Module,
        limit: Duration,
    ) -> Result<(), Trouble>;
    /// Executes the module of a number; returns the result of each device.
    fn execute(
        &mut self,
        number: u64,
        module: &Self::Module,
        arguments: &[Vec<Literal>],
        limit: Duration,
    ) -> Result<Vec<Literal>, Trouble>;
    /// Forgets a module. A process that has died needs not to.
    fn release(&self, number: u64);
    /// Returns the memory that the process holds; `None` where the system does not tell.
    fn resident_bytes(&self) -> Option<usize>;
    /// Returns what reports call it, as in `the plugin: it did not ...`.
    fn name(start: &Self::Start) -> String;
}

/// A module that a process takes.
pub(super) trait PeerModule: Send {
    /// Returns the name of the module.
    fn name(&self) -> &str;
}

/// Why there is no reply, or not the one asked for.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The process died, or violated the protocol: how, and a message.
    Died(Death, String),
    /// The process did not answer; the last lines of its stderr.
    TimedOut(String),
    /// There is no result.
    Error(BackendError),
}

impl Trouble {
    /// Returns the trouble with a process that does not reply; `unexpected` says that it wrote
    /// something else.
    pub(super) fn of(no_reply: NoReply, process: &str, unexpected: &str) -> Self {
        match no_reply {
            NoReply::Died { death, stderr } => {
                let (how, hint) = (&death.how, death.hint());
                let message = format!("{process} died: {how}{hint}{stderr}");
                Self::Died(death, message)
            }
            NoReply::Unexpected(message) => {
                Self::Died(Death::other(unexpected, ""), format!("{unexpected}: {message}"))
            }
            NoReply::TimedOut(stderr) => Self::TimedOut(stderr),
        }
    }
}

/// What a process may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessLimits {
    /// The most time for one compilation or one execution.
    pub(super) time: Duration,
    /// The most time until it can compile.
    pub(super) start: Duration,
    /// The number of modules after which it is replaced by a new one, which bounds leaks.
    pub(super) modules: usize,
    /// The resident memory from which it is replaced before the next module.
    pub(super) bytes: usize,
}

/// The parent of a process.
#[derive(Debug)]
pub(super) struct Parent<P: Peer> {
    start: P::Start,
    limits: ProcessLimits,
    child: Option<Child<P>>,
    /// Numbers processes and programs.
    next: u64,
    warnings: Vec<String>,
}

/// A process that can compile.
#[derive(Debug)]
struct Child<P> {
    number: u64,
    peer: P,
    /// The number of modules it has compiled.
    modules: usize,
}

/// A program in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IsolatedProgram {
    process: u64,
    program: u64,
}

impl<P: Peer> Parent<P> {
    pub(super) fn new(start: P::Start, limits: ProcessLimits) -> Self {
        Self { start, limits, child: None, next: 0, warnings: Vec::new() }
    }
    /// Starts the process; returns what it says of itself.
    pub(super) fn start(&mut self) -> Result<P::Hello> {
        let not_started = |message| BackendError::from(Code::NotStarted { message });
        let (number, limit) = (self.number(), self.limits.start);
        let name = P::name(&self.start);
        let mut peer = P::open(&mut self.start)
            .map_err(|e| not_started(format!("the process of {name} cannot be started: {e}")))?;
        let hello = peer.hello(&self.start, limit).map_err(|trouble| match trouble {
            Trouble::Error(error) => error,
            Trouble::Died(_, message) => not_started(message),
            Trouble::TimedOut(stderr) => not_started(format!(
                "{name}: it was not ready within {} seconds{stderr}",
                limit.as_secs_f64()
            )),
        })?;
        self.child = Some(Child { number, peer, modules: 0 });
        Ok(hello)
    }
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
    /// Returns the process, which is started if there is none.
    fn child(&mut self) -> Result<&mut Child<P>> {
        if self.child.is_none() {
            self.start()?;
        }
        Ok(self.child.as_mut().expect("`start` sets it"))
    }

    /// Compiles and executes a module; without arguments, it is only compiled. If the process dies
    /// and may have been damaged by another module, the module runs again, alone in a new process.
    fn run(
        &mut self,
        module: &P::Module,
        loaded: &mut Option<IsolatedProgram>,
        arguments: Option<&[Vec<Literal>]>,
    ) -> Result<Vec<Literal>> {
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
                module.name()
            ));
        }
        self.finish(second)
    }

    /// Returns whether a new process takes the place of this one, which may leak.
    fn is_used_up(&self, child: &Child<P>) -> bool {
        // A process without a module may be as large.
        let has_grown =
            || child.peer.resident_bytes().is_some_and(|bytes| bytes >= self.limits.bytes);
        child.modules >= self.limits.modules || child.modules > 0 && has_grown()
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
                Code::TimedOut { seconds: self.limits.time.as_secs_f64(), stderr }
            }
        };
        self.child = None;
        Err(code.into())
    }

    fn attempt(
        &mut self,
        module: &P::Module,
        loaded: &mut Option<IsolatedProgram>,
        arguments: Option<&[Vec<Literal>]>,
    ) -> Result<Vec<Literal>, Trouble> {
        let (limit, number) = (self.limits.time, self.number());
        let child = self.child().map_err(Trouble::Error)?;
        let program = match *loaded {
            Some(loaded) if loaded.process == child.number => loaded.program,
            _ => {
                let compiled = child.peer.compile(number, module, limit);
                child.modules += usize::from(!matches!(compiled, Err(Trouble::Died(..))));
                compiled?;
                *loaded = Some(IsolatedProgram { process: child.number, program: number });
                number
            }
        };
        arguments.map_or(Ok(Vec::new()), |arguments| {
            child.peer.execute(program, module, arguments, limit)
        })
    }
}

/// A module in a process of its own. It is compiled again if that process was replaced.
pub(super) struct IsolatedModule<P: Peer> {
    parent: Arc<Mutex<Parent<P>>>,
    module: P::Module,
    loaded: Option<IsolatedProgram>,
}

impl<P: Peer> IsolatedModule<P> {
    pub(super) fn compile(parent: &Arc<Mutex<Parent<P>>>, module: P::Module) -> Result<Self> {
        let mut module = Self { parent: Arc::clone(parent), module, loaded: None };
        lock(parent).run(&module.module, &mut module.loaded, None)?;
        Ok(module)
    }
}

pub(super) fn lock<P: Peer>(parent: &Mutex<Parent<P>>) -> MutexGuard<'_, Parent<P>> {
    parent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Peer> LoadedModule for IsolatedModule<P> {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        lock(&self.parent).run(&self.module, &mut self.loaded, Some(arguments))
    }
}

impl<P: Peer> Drop for IsolatedModule<P> {
    fn drop(&mut self) {
        let parent = lock(&self.parent);
        if let (Some(child), Some(loaded)) = (&parent.child, self.loaded)
            && child.number == loaded.process
        {
            child.peer.release(loaded.program);
        }
    }
}
