//! Machine code of programs: its memory, calls into it, and calls from it.
//!
//! The code computes the same bits as the operations of the program: what a processor defines as
//! `num` does are instructions, functions are calls of the function in `num`, and what the emitter
//! does not know is a call of the operation itself.
//!
//! The code takes the address of the block of memory, and that of a list of addresses: of the run,
//! and of each large array.
#![expect(unsafe_code, reason = "calls code that was generated, which calls back with addresses")]
mod chains;
mod convert;
mod elements;
mod emit;
mod emitter;
mod float;
mod functions;
mod generate;
mod integer;
mod kind;
mod registers;
mod scalars;
mod step;
#[cfg(test)]
mod tests;
mod variables;
mod vectors;

use super::memory::Place;
use super::operation::{Elementwise, KernelCall, LoopRun, Operation};
use super::{Block, LoopProgram};
use crate::{Error, Result};
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use emitter::{Emitter, VECTOR};
use generate::generate;
use hlo::Array;
pub(crate) use scalars::compiler;
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vectors::MOST_BYTES;

/// The signature of generated functions: the memory of a program, and a list of addresses.
type Entry = unsafe extern "C" fn(*mut u8, *const u64) -> u64;

/// What code returns when its run has failed; otherwise the steps that it has not charged.
const FAILED: u64 = u64::MAX;

/// Addresses in the list before those of large arrays.
const FIRST_LARGE: usize = 1;

/// A generated function and its memory.
pub(super) struct Code {
    entry: Entry,
    memory: CodeMemory,
}

/// The module whose memory holds a function; only its `drop` uses it.
struct CodeMemory(Option<JITModule>);

// SAFETY: no method reaches the module through a shared reference. Machine code is read only once
// it is final.
unsafe impl Sync for CodeMemory {}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the function is called through `Code` alone, which owns this memory, and
            // returns before it is dropped.
            unsafe { module.free_memory() };
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").finish_non_exhaustive()
    }
}

/// The size of the largest code, which takes about a quarter of a second to generate, and that of an
/// operation on scalars.
const LARGEST: usize = 100_000;
const OF_SCALAR: usize = 5;

/// Returns the number of operations on scalars whose code takes as long to generate as that of a loop;
/// `None` if that is too long.
pub(super) fn work(blocks: [&Block; 2], kernels: &[KernelCall]) -> Option<usize> {
    let size = blocks.into_iter().map(|block| size(block, kernels)).sum::<usize>();
    (size <= LARGEST).then_some(size / OF_SCALAR)
}

/// Returns about how many instructions a block becomes, by what it reads and writes.
fn size(block: &Block, kernels: &[KernelCall]) -> usize {
    let of_place = |place: &Place| match place.bytes {
        // Elements and vectors; larger places are passed to calls.
        bytes @ ..=32 => bytes.div_ceil(4),
        bytes @ ..=MOST_BYTES => bytes.div_ceil(VECTOR),
        _ => 1,
    };
    let of_operation = |operation: &Operation| match operation {
        Operation::Formula { formula, .. } => formula.steps(),
        Operation::Fused(call) => call.chain.as_ref().map_or(1, chains::size) + 2,
        Operation::Repeat(repeat) => {
            size(&repeat.condition.block, kernels) + size(&repeat.body, kernels)
        }
        Operation::Branch { branches, .. } => {
            branches.iter().map(|branch| size(branch, kernels)).sum()
        }
        Operation::Elementwise(_)
        | Operation::Move(_)
        | Operation::Choose { .. }
        | Operation::Product { .. }
        | Operation::Kernel(_)
        | Operation::Compute(_) => {
            let (read, written) = operation.places(kernels);
            2 + read.iter().chain(&written).map(of_place).sum::<usize>()
        }
    };
    block.operations.iter().map(of_operation).sum()
}

/// Generates the code of a loop; `None` if that is not possible on this machine.
pub(super) fn compile(program: &LoopProgram) -> Option<Code> {
    let body = program.body.as_ref()?;
    generate(|frame| Emitter::emit_loop(frame, program, body)).map(|((), code)| code)
}

impl Code {
    fn new(module: JITModule, function: FuncId) -> Self {
        let address = module.get_finalized_function(function);
        // SAFETY: the function was generated with this signature and the calling convention of C.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Self { entry, memory: CodeMemory(Some(module)) }
    }

    /// Runs the function of a scalar program, which has been generated for this many words.
    fn apply(&self, memory: &mut [u128], words: usize) {
        assert!(memory.len() >= words, "each register has a word");
        // SAFETY: the function reads and writes the first `words` words.
        unsafe { self.call(memory.as_mut_ptr().cast(), &[]) };
    }

    /// Runs the function.
    ///
    /// # Safety
    /// `memory` has the places that the function was generated for, and `list` its addresses;
    /// nothing else uses what these lead to, but for calls from the function.
    unsafe fn call(&self, memory: *mut u8, list: &[u64]) -> u64 {
        assert!(self.memory.0.is_some(), "the function has memory");
        // SAFETY: by the caller.
        unsafe { (self.entry)(memory, list.as_ptr()) }
    }

    /// Runs the code of a loop to its end.
    pub(super) fn run(&self, program: &LoopProgram, run: &mut LoopRun<'_>) -> Result<()> {
        let mut list: SmallVec<[u64; 8]> = smallvec![0];
        for (array, large) in run.large.iter_mut().zip(&program.large) {
            list.push(to_u64(address_of_elements(array, large.is_updated)));
        }
        let memory = run.memory.bytes_mut().as_mut_ptr();
        list[0] = to_u64(std::ptr::from_mut(run).expose_provenance());
        // SAFETY: the run has the memory of its program, which the code was generated for, and its
        // large arrays.
        let steps = unsafe { self.call(memory, &list) };
        if steps == FAILED {
            return Err(run.failed.take().unwrap_or_else(lost));
        }
        run.unspent += steps;
        Ok(())
    }
}

/// Returns the address of the elements. They stay where they are: nothing else holds an array that
/// is updated.
fn address_of_elements(array: &mut Array, is_updated: bool) -> usize {
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

/// Applies an elementwise operation to places in the first bytes of this memory.
unsafe extern "C" fn apply(operation: *const Elementwise, memory: *mut u8, bytes: usize) {
    // SAFETY: the code passes an operation of its program, which outlives the code.
    let operation = unsafe { &*operation };
    // SAFETY: the code passes its own memory, which nothing else uses until this returns, and the
    // end of the last of the operation's places, which it has.
    let memory = unsafe { std::slice::from_raw_parts_mut(memory, bytes) };
    operation.apply(memory);
}

/// Executes an operation; returns 0, or 1 if it has failed.
unsafe extern "C" fn execute(run: *mut LoopRun<'_>, operation: *const Operation) -> u64 {
    // SAFETY: the code passes the run that it was given, which nothing else uses until this
    // returns, and an operation of the program, which outlives its code.
    let (run, operation) = unsafe { (&mut *run, &*operation) };
    status(run, |run| run.execute(operation))
}

/// Charges steps and checks the limits of the run; returns 0, or 1 if it has to end.
unsafe extern "C" fn charge(run: *mut LoopRun<'_>, steps: u64) -> u64 {
    // SAFETY: as above.
    let run = unsafe { &mut *run };
    status(run, |run| {
        run.unspent += steps;
        run.spend()
    })
}

fn status(run: &mut LoopRun<'_>, execute: impl FnOnce(&mut LoopRun<'_>) -> Result<()>) -> u64 {
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

/// Addresses that code has as constants.
mod address {
    use super::{Elementwise, Operation, functions};

    pub(super) fn number(address: usize) -> i64 {
        super::to_u64(address).cast_signed()
    }
    pub(super) fn of_operation(operation: &Operation) -> i64 {
        number(std::ptr::from_ref(operation).expose_provenance())
    }
    pub(super) fn of_elementwise(operation: &Elementwise) -> i64 {
        number(std::ptr::from_ref(operation).expose_provenance())
    }
    macro_rules! of_functions {
        ($($name:ident $function:expr;)*) => {
            $(#[expect(clippy::as_conversions, reason = "a function has an address")]
            pub(super) fn $name() -> i64 {
                number(($function as *const ()).expose_provenance())
            })*
        };
    }
    of_functions! {
        of_round_to functions::round_to;
        of_widened functions::widened;
        of_narrowed functions::narrowed;
        of_apply super::apply;
        of_execute super::execute;
        of_charge super::charge;
    }
}
