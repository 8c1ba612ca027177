//! What a program may reach outside of itself: custom calls, infeed and outfeed queues, and who looks on.
use crate::Result;
use crate::custom::Library;
use crate::observe::{Event, Observer};
use crossbeam_channel::{Receiver, Sender};
use hlo::ir::BackendConfig;
use hlo::op::CustomCall;
use hlo::{Literal, Module, Shape};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// One call of a custom-call target.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The instruction's attributes: target, layouts and the rest.
    pub op: &'a CustomCall,
    /// Its `backend_config`, as written in the text.
    pub backend_config: Option<&'a BackendConfig>,
    /// The module, for the computations the call names.
    pub module: &'a Module,
    /// The operands' values.
    pub operands: &'a [&'a Literal],
    /// The result the module states.
    pub shape: &'a Shape,
}

type Target = Arc<dyn Fn(&Call<'_>) -> Result<Literal> + Send + Sync>;

/// What a program may reach outside of itself.
///
/// ```
/// use hlo::{Literal, Module};
/// let text = "HloModule m\nENTRY e { p = s32[] parameter(0) ROOT c = s32[] custom-call(p), custom_call_target=\"same\" }";
/// let verified = Module::parse(text).unwrap().verify().unwrap();
/// let hooks = interp::Hooks::new().custom_call("same", |call| Ok(call.operands[0].clone()));
/// let executable = interp::Executable::compile(verified, &interp::CompileOptions::default()).unwrap();
/// let options = interp::RunOptions::default().hooks(hooks);
/// let result = executable.execute(&["s32[] 7".parse().unwrap()], &options).unwrap();
/// assert_eq!(result.to_string(), "s32[] 7");
/// ```
#[derive(Clone, Default)]
pub struct Hooks {
    targets: BTreeMap<String, Target>,
    libraries: Vec<Arc<Library>>,
    pub(crate) infeed: Option<Receiver<Literal>>,
    pub(crate) outfeed: Option<Sender<Literal>>,
    pub(crate) from_host: BTreeMap<Option<i64>, Receiver<Literal>>,
    pub(crate) to_host: BTreeMap<Option<i64>, Sender<Literal>>,
    pub(crate) observer: Option<Observer>,
}

impl Hooks {
    /// Only what is built in.
    pub fn new() -> Self {
        Self::default()
    }
    /// Runs `function` for custom calls of `target`; it replaces a built-in target of that name.
    #[must_use]
    pub fn custom_call(
        mut self,
        target: impl Into<String>,
        function: impl Fn(&Call<'_>) -> Result<Literal> + Send + Sync + 'static,
    ) -> Self {
        self.targets.insert(target.into(), Arc::new(function));
        self
    }
    /// Runs custom calls of any target that the shared library at `path` has a C function for,
    /// `void target(void* out, const void** in)`; they go before targets that are built in, and libraries named first go
    /// first. What such a function must keep to is described in `docs/custom-calls.md`.
    ///
    /// The code of the library runs as part of this process: nothing can be checked of what it does.
    ///
    /// # Errors
    /// `E0410` if the library cannot be loaded.
    pub fn library(mut self, path: impl AsRef<Path>) -> Result<Self> {
        self.libraries.push(Arc::new(Library::open(path.as_ref())?));
        Ok(self)
    }
    /// Where `infeed` takes its values from, in order.
    #[must_use]
    pub fn infeed(mut self, queue: Receiver<Literal>) -> Self {
        self.infeed = Some(queue);
        self
    }
    /// Where `outfeed` puts its values, in order.
    #[must_use]
    pub fn outfeed(mut self, queue: Sender<Literal>) -> Self {
        self.outfeed = Some(queue);
        self
    }
    /// Where a `recv` from the host on this channel takes its values from, in order.
    #[must_use]
    pub fn from_host(mut self, channel_id: Option<i64>, queue: Receiver<Literal>) -> Self {
        self.from_host.insert(channel_id, queue);
        self
    }
    /// Where a `send` to the host on this channel puts its values, in order.
    #[must_use]
    pub fn to_host(mut self, channel_id: Option<i64>, queue: Sender<Literal>) -> Self {
        self.to_host.insert(channel_id, queue);
        self
    }
    /// Calls `observer` with each instruction that ends.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// let text = "HloModule m\nENTRY e { a = s32[] constant(2) ROOT b = s32[] add(a, a) }";
    /// let verified = hlo::Module::parse(text).unwrap().verify().unwrap();
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let names = Arc::clone(&seen);
    /// let hooks = interp::Hooks::new().observe(move |event| names.lock().unwrap().push(event.name().to_owned()));
    /// let executable = interp::Executable::compile(verified, &interp::CompileOptions::default()).unwrap();
    /// executable.execute(&[], &interp::RunOptions::default().hooks(hooks)).unwrap();
    /// assert_eq!(*seen.lock().unwrap(), ["b"]); // a constant has its value before the run
    /// ```
    #[must_use]
    pub fn observe(mut self, observer: impl FnMut(&Event<'_>) + Send + 'static) -> Self {
        self.observer = Some(Arc::new(Mutex::new(observer)));
        self
    }
    /// The function registered for `target`.
    pub(crate) fn custom_call_target(&self, target: &str) -> Option<&Target> {
        self.targets.get(target)
    }
    /// The libraries, in the order they were named.
    pub(crate) fn libraries(&self) -> &[Arc<Library>] {
        &self.libraries
    }
    /// Names of the registered targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &str> {
        self.targets.keys().map(String::as_str)
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let targets: Vec<_> = self.targets().collect();
        f.debug_struct("Hooks").field("targets", &targets).finish_non_exhaustive()
    }
}
