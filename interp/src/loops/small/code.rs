//! Machine code of loops over small arrays: what it is given, and what it calls.
//!
//! The code takes the address of a list: the addresses of the memory, of the run, and of each large array. Operations that it
//! has no instructions for are calls of [`execute`].
#![expect(unsafe_code, reason = "generated code calls back with addresses")]
use super::SmallLoop;
use super::emit::LoopEmitter;
use super::operation::{Operation, Run};
use crate::loops::jit::{Generated, Word};
use crate::{Error, Result};
use hlo::Array;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) use crate::loops::jit::Code;

/// Addresses that come before those of large arrays.
pub(super) const FIRST_LARGE: usize = 2;

/// Generates the code of a loop; `None` if that is not possible on this machine.
pub(super) fn compile(program: &SmallLoop) -> Option<Code> {
    let generated = Generated::of(|emitter, list, _| LoopEmitter::emit(emitter, program, list))?;
    Some(Code::of(generated, words(program)))
}

/// The words of the list.
fn words(program: &SmallLoop) -> usize {
    (FIRST_LARGE + program.large.len()).div_ceil(2)
}

/// Runs the code of a loop to its end.
pub(super) fn run(code: &Code, program: &SmallLoop, run: &mut Run<'_>) -> Result<()> {
    let mut list: Vec<Word> = vec![[0; 2]; words(program)];
    let mut set = |i: usize, address: usize| list[i / 2][i % 2] = to_u64(address);
    set(0, run.memory.bytes_mut().as_mut_ptr().expose_provenance());
    for (i, (array, large)) in run.large.iter_mut().zip(&program.large).enumerate() {
        set(FIRST_LARGE + i, address(array, large.is_updated));
    }
    set(1, std::ptr::from_mut(run).expose_provenance());
    let status = code.call(&mut list, 0);
    run.unspent += run.take_count();
    if status == 0 { Ok(()) } else { Err(run.failed.take().unwrap_or_else(lost)) }
}

/// Returns the address of the elements. They stay where they are: nothing else holds an array that is updated.
fn address(array: &mut Array, is_updated: bool) -> usize {
    if is_updated {
        array.bytes_mut().as_mut_ptr().expose_provenance()
    } else {
        array.bytes().as_ptr().expose_provenance()
    }
}

fn to_u64(address: usize) -> u64 {
    u64::try_from(address).expect("an address has 64 bits")
}

fn lost() -> Error {
    Error::internal("generated code has failed without an error")
}

/// Executes an operation; returns 0, or 1 if it has failed.
pub(super) extern "C" fn execute(run: *mut Run<'_>, operation: *const Operation) -> u64 {
    // SAFETY: the code passes the run that it was given, which nothing else uses until this returns, and an operation of the
    // program, which outlives its code.
    let (run, operation) = unsafe { (&mut *run, &*operation) };
    status(run, |run| run.execute(operation))
}

/// Checks the limits of the run; returns 0, or 1 if it has to end.
pub(super) extern "C" fn check(run: *mut Run<'_>) -> u64 {
    // SAFETY: as above.
    let run = unsafe { &mut *run };
    status(run, |run| {
        run.unspent += run.take_count();
        run.spend()
    })
}

fn status(run: &mut Run<'_>, execute: impl FnOnce(&mut Run<'_>) -> Result<()>) -> u64 {
    // A panic cannot pass through generated code.
    let result = catch_unwind(AssertUnwindSafe(|| execute(run)));
    match result.unwrap_or_else(|_| Err(Error::internal("an operation of a loop panics"))) {
        Ok(()) => 0,
        Err(error) => {
            run.failed = Some(error);
            1
        }
    }
}

/// Returns the addresses that code has as constants.
#[expect(clippy::as_conversions, reason = "a function has an address")]
pub(super) fn address_of_execute() -> i64 {
    number((execute as *const ()).expose_provenance())
}
#[expect(clippy::as_conversions, reason = "a function has an address")]
pub(super) fn address_of_check() -> i64 {
    number((check as *const ()).expose_provenance())
}
pub(super) fn address_of_operation(operation: &Operation) -> i64 {
    number(std::ptr::from_ref(operation).expose_provenance())
}
fn number(address: usize) -> i64 {
    to_u64(address).cast_signed()
}
