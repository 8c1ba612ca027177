//! The value of a buffer, which an execution may still have to compute.
use crate::event::Signal;
use crate::failure::Result;
use hlo::Literal;
use std::sync::{Arc, OnceLock};

/// A value that is known when its signal is set.
#[derive(Default)]
pub(crate) struct Promise {
    signal: Arc<Signal>,
    value: OnceLock<Literal>,
}

impl Promise {
    /// Returns the promise of a value that is known.
    pub(crate) fn of(value: Literal) -> Self {
        Self { signal: Signal::done(Ok(())), value: value.into() }
    }
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }
    /// Sets the value or the reason why there is none.
    pub(crate) fn set(&self, value: Result<Literal>) {
        let outcome = value.map(|value| {
            // A second value would be a second outcome, which the signal ignores as well.
            let _ = self.value.set(value);
        });
        self.signal.set(&outcome);
    }
    /// Gets the value of another promise, or why it has none, when that is known.
    pub(crate) fn follow(self: Arc<Self>, other: &Arc<Self>) {
        let known = Arc::clone(other);
        other.signal.then(move |outcome| self.set(outcome.and_then(|()| known.wait())));
    }
    /// Waits for the value.
    pub(crate) fn wait(&self) -> Result<Literal> {
        self.signal.wait()?;
        Ok(self.value.get().expect("the value is set before its signal").clone())
    }
    /// Waits for the value, and takes it if nothing else holds the promise.
    pub(crate) fn take(self: Arc<Self>) -> Result<Literal> {
        self.signal.wait()?;
        match Arc::try_unwrap(self) {
            Ok(own) => Ok(own.value.into_inner().expect("the value is set before its signal")),
            Err(shared) => shared.wait(),
        }
    }
}
