//! Events: the host waits for them, or leaves a function to call.
#![expect(unsafe_code, reason = "calls functions of the host")]
use crate::call::calls;
use crate::failure::{Failure, Result};
use crate::handle::{destroy, get, give};
use crate::placeholder::stated;
use pjrt::sys::OnReady;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The outcome of asynchronous work, once it is known. The object of an event is an `Arc<Signal>`.
#[derive(Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    outcome: Option<Result<()>>,
    waiting: Vec<Then>,
    /// Threads that wait, which are woken by a call of the system.
    sleepers: usize,
}

/// What is called with the outcome.
type Then = Box<dyn FnOnce(Result<()>) + Send>;

impl Signal {
    /// Returns the event of work that is done.
    pub(crate) fn done(outcome: Result<()>) -> Arc<Self> {
        let state = State { outcome: Some(outcome), ..State::default() };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Sets the outcome, unless there is one, and calls the functions that wait for it.
    pub(crate) fn set(&self, outcome: &Result<()>) {
        let mut state = self.lock();
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome.clone());
        let (waiting, sleepers) = (std::mem::take(&mut state.waiting), state.sleepers);
        drop(state);
        if sleepers > 0 {
            self.changed.notify_all();
        }
        for then in waiting {
            then(outcome.clone());
        }
    }
    pub(crate) fn outcome(&self) -> Option<Result<()>> {
        self.lock().outcome.clone()
    }
    /// Waits for the outcome.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = &state.outcome {
                return outcome.clone();
            }
            state.sleepers += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
    /// Calls a function with the outcome: now, or on the thread that sets it.
    pub(crate) fn then(&self, then: impl FnOnce(Result<()>) + Send + 'static) {
        let mut state = self.lock();
        match &state.outcome {
            None => state.waiting.push(Box::new(then)),
            Some(outcome) => {
                let outcome = outcome.clone();
                drop(state);
                then(outcome);
            }
        }
    }
}

/// Returns the object of an event.
pub(crate) fn event(signal: &Arc<Signal>) -> *mut c_void {
    give(Arc::clone(signal))
}

/// A function of the host, with its argument.
struct Callback {
    function: OnReady,
    argument: *mut c_void,
}

// SAFETY: the C API lets a plugin call the function on any thread.
unsafe impl Send for Callback {}

impl Callback {
    fn call(self, outcome: Result<()>) {
        let error = outcome.err().map_or(null_mut(), Failure::into_raw);
        // SAFETY: the host vouches for its function, which takes over the error.
        unsafe { (self.function)(error, self.argument) };
    }
}

calls! {
    EventDestroy(a) {
        destroy::<Arc<Signal>>(a.event);
        Ok(())
    }
    EventCreate(a) { a.event = event(&Arc::default()); Ok(()) }
    EventSet(a) {
        let outcome = stated(a.code, a.message, a.message_size);
        get::<Arc<Signal>>(a.event)?.set(&outcome);
        Ok(())
    }
    EventIsReady(a) {
        a.is_ready = get::<Arc<Signal>>(a.event)?.outcome().is_some();
        Ok(())
    }
    EventError(a) { get::<Arc<Signal>>(a.event)?.outcome().unwrap_or(Ok(())) }
    EventAwait(a) { get::<Arc<Signal>>(a.event)?.wait() }
    EventOnReady(a) {
        let function = a.callback.ok_or_else(|| Failure::invalid("the callback is null"))?;
        let callback = Callback { function, argument: a.user_arg };
        get::<Arc<Signal>>(a.event)?.then(move |outcome| callback.call(outcome));
        Ok(())
    }
}
