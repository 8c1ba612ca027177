//! Machine code: its memory, calls into it, and calls from it.
#![expect(unsafe_code, reason = "calls code that was generated, which calls back with addresses")]
use super::control::{self, Generated};
use super::emit::CALL_WORDS;
use super::functions::{self, Binary32, Binary64, Unary32, Unary64};
use super::word::{Word, from_word, to_word};
use cranelift_jit::JITModule;
use hlo::{ElementType, Scalar};
use num::scalar_program::RegisterProgram;
use num::scalar_program::step::ScalarStep;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// The signature of generated functions: the words of their values, and a number of rounds.
type Entry = unsafe extern "C" fn(*mut Word, u64) -> u64;

/// A generated function and its memory.
pub(crate) struct Code {
    entry: Entry,
    /// The number of words that the function reads or writes.
    words: usize,
    /// The function has the addresses of these.
    _calls: Vec<Arc<StepCall>>,
    memory: Memory,
}

/// The module whose memory holds a function; only its `drop` uses it.
struct Memory(Option<JITModule>);

// SAFETY: no method reaches the module through a shared reference. Machine code is read only once it is final.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the function is called through `Code` alone, which owns this memory, and returns before it is dropped.
            unsafe { module.free_memory() };
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("words", &self.words).finish_non_exhaustive()
    }
}

impl Code {
    /// Compiles a loop, or, without a condition, one evaluation of `body`. `None` if that is not possible on this machine.
    pub(in crate::loops) fn compile(
        condition: Option<&RegisterProgram>,
        body: &RegisterProgram,
        parameters: usize,
    ) -> Option<Self> {
        let generated = control::generate(condition, body, parameters)?;
        Some(Self::of(generated, parameters.max(body.results.len())))
    }

    /// Returns a function that reads and writes this many words.
    pub(crate) fn of(generated: Generated, words: usize) -> Self {
        let address = generated.module.get_finalized_function(generated.function);
        // SAFETY: the function was generated with this signature and the calling convention of C.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Self { entry, words, _calls: generated.calls, memory: Memory(Some(generated.module)) }
    }

    /// Runs the function on words, at least as many as it has values.
    pub(crate) fn call(&self, words: &mut [Word], rounds: u64) -> u64 {
        assert!(words.len() >= self.words && self.memory.0.is_some(), "the function has memory");
        // SAFETY: the function reads and writes the first `self.words` words, its own stack, and memory at addresses that the
        // caller has put into words for it; the memory of its code and of what it calls belongs to `self`.
        unsafe { (self.entry)(words.as_mut_ptr(), rounds) }
    }
}

/// A step that generated code calls; its operands are numbered from 0.
pub(crate) struct StepCall {
    pub(super) step: ScalarStep,
    pub(super) types: SmallVec<[ElementType; CALL_WORDS]>,
    pub(super) result: ElementType,
}

impl StepCall {
    fn apply(&self, words: &mut [Word; CALL_WORDS]) {
        let operands: SmallVec<[Scalar; CALL_WORDS]> =
            self.types.iter().zip(&*words).map(|(&ty, &word)| from_word(ty, word)).collect();
        words[0] = to_word(self.result, self.step.apply(|operand| operands[operand]));
    }
}

/// Applies a step to values on the stack of generated code.
unsafe extern "C" fn call_step(call: *const StepCall, words: *mut [Word; CALL_WORDS]) {
    // SAFETY: generated code passes the address of a call that its `Code` owns, and that of its stack slot, which has this
    // size, is aligned, and is not used until this returns.
    let (call, words) = unsafe { (&*call, &mut *words) };
    call.apply(words);
}

/// Returns the address that code has as a constant.
#[expect(clippy::as_conversions, reason = "a function or a place in memory becomes a number")]
mod address {
    pub(super) fn of<T: ?Sized>(place: *const T) -> i64 {
        (place.cast::<u8>() as usize).cast_signed() as i64
    }
}

pub(super) fn address_of(call: &Arc<StepCall>) -> i64 {
    address::of(Arc::as_ptr(call))
}
macro_rules! function_address {
    ($($name:ident $ty:ty;)*) => {
        $(#[expect(clippy::as_conversions, reason = "a function has an address")]
        pub(super) fn $name(function: $ty) -> i64 {
            address::of(function as *const ())
        })*
    };
}
function_address! {
    address_of_unary_f32 Unary32;
    address_of_unary_f64 Unary64;
    address_of_binary_f32 Binary32;
    address_of_binary_f64 Binary64;
}
#[expect(clippy::as_conversions, reason = "a function has an address")]
pub(super) fn round_to_address() -> i64 {
    address::of(functions::round_to as *const ())
}
#[expect(clippy::as_conversions, reason = "a function has an address")]
pub(super) fn call_step_address() -> i64 {
    address::of(call_step as *const ())
}
