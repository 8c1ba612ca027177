//! The interfaces of a program to the outside: custom calls, host queues, and the observer.
use crate::custom::{Call, CustomCallLibrary, Library};
use crate::observe::{Event, NotFinite, Observer, Progress};
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender};
use hlo::Literal;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

type Target = Arc<dyn Fn(&Call<'_>) -> Result<Literal> + Send + Sync>;

/// The interfaces of a program to the outside.
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
    libraries: Vec<Arc<dyn CustomCallLibrary>>,
    pub(crate) infeed: Option<Receiver<Literal>>,
    pub(crate) outfeed: Option<Sender<Literal>>,
    pub(crate) from_host: BTreeMap<Option<i64>, Receiver<Literal>>,
    pub(crate) to_host: BTreeMap<Option<i64>, Sender<Literal>>,
    pub(crate) observer: Option<Observer>,
    pub(crate) not_finite: Option<NotFinite>,
    pub(crate) progress: Option<Arc<Progress>>,
}

impl Hooks {
    /// Returns hooks without custom calls, queues and observer.
    pub fn new() -> Self {
        Self::default()
    }
    /// Returns its functions of custom calls, which computations without a device call, too.
    pub(crate) fn functions(&self) -> Self {
        let (targets, libraries) = (self.targets.clone(), self.libraries.clone());
        Self { targets, libraries, ..Self::default() }
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
    /// Runs custom calls of every target for which the shared library at `path` defines a C
    /// function `void target(void* out, const void** in)`; they take precedence over built-in
    /// targets, and earlier libraries over later ones. `docs/custom-calls.md` states the
    /// requirements on such a function.
    ///
    /// The code of the library runs as part of this process, which it can damage or end.
    /// [`Hooks::custom_call_library`] takes a library that runs elsewhere.
    ///
    /// # Errors
    /// `E0410` if the library cannot be loaded.
    pub fn library(self, path: impl AsRef<Path>) -> Result<Self> {
        Ok(self.custom_call_library(Arc::new(Library::open(path.as_ref())?)))
    }
    /// As [`Hooks::library`], for a library that is open.
    #[must_use]
    pub fn custom_call_library(mut self, library: Arc<dyn CustomCallLibrary>) -> Self {
        self.libraries.push(library);
        self
    }
    /// Sets the queue from which `infeed` takes its values, in order.
    #[must_use]
    pub fn infeed(mut self, queue: Receiver<Literal>) -> Self {
        self.infeed = Some(queue);
        self
    }
    /// Sets the queue to which `outfeed` appends its values, in order.
    #[must_use]
    pub fn outfeed(mut self, queue: Sender<Literal>) -> Self {
        self.outfeed = Some(queue);
        self
    }
    /// Sets the queue from which a `recv` from the host on this channel takes its values, in order.
    #[must_use]
    pub fn from_host(mut self, channel_id: Option<i64>, queue: Receiver<Literal>) -> Self {
        self.from_host.insert(channel_id, queue);
        self
    }
    /// Sets the queue to which a `send` to the host on this channel appends its values, in order.
    #[must_use]
    pub fn to_host(mut self, channel_id: Option<i64>, queue: Sender<Literal>) -> Self {
        self.to_host.insert(channel_id, queue);
        self
    }
    /// Calls `observer` with each completed instruction.
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
    /// Calls `report` with the error of each instruction at which a run with
    /// [`check_nan`](crate::RunOptions::check_nan) would stop; the run goes on.
    #[must_use]
    pub fn not_finite(mut self, report: impl FnMut(Error) + Send + 'static) -> Self {
        self.not_finite = Some(NotFinite::new(report));
        self
    }
    /// Writes to `progress` where the run is.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }
    /// Returns whether a run with these hooks has a function for a target: one that is registered,
    /// that a library defines, or that is built in.
    pub fn runs_custom_call(&self, target: &str) -> bool {
        self.replaces(target)
            || crate::custom::targets().binary_search_by(|name| (**name).cmp(target)).is_ok()
    }
    /// Returns whether it has a function for a target, which then replaces what is built in.
    pub(crate) fn replaces(&self, target: &str) -> bool {
        self.targets.contains_key(target)
            || self.libraries.iter().any(|library| library.defines(target))
    }
    /// Returns whether it has any function of custom calls.
    pub(crate) fn has_functions(&self) -> bool {
        !self.targets.is_empty() || !self.libraries.is_empty()
    }
    /// Returns the function registered for `target`.
    pub(crate) fn custom_call_target(&self, target: &str) -> Option<&Target> {
        self.targets.get(target)
    }
    /// Returns the libraries, in the order in which they were added.
    pub(crate) fn libraries(&self) -> &[Arc<dyn CustomCallLibrary>] {
        &self.libraries
    }
    /// Returns the names of the registered targets.
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
