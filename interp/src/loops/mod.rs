//! Loops over scalars and small arrays, as programs over one block of memory.
//!
//! A machine takes about 200 ns for a step: it looks up frames and slots, charges memory, and polls
//! limits. Where the arrays of a loop have a few elements, that is nearly all of its time. Here
//! each value of the loop has a fixed place, decided when the module is compiled, and an operation
//! is a function of places. Computations that are called, loops inside, and branches are part of
//! the program.
//!
//! Large arrays that the loop carries, such as the inputs and outputs of a scan, keep their own
//! memory. The loop may slice them, pass them to kernels, and update them in place.
//!
//! Steps on small arrays that are in no loop are a program of one round.
//!
//! A program that has run often becomes machine code, with scalars in registers. So do the scalar
//! programs that ops apply to elements.
mod arrays;
mod build;
mod chain;
#[cfg(feature = "jit")]
mod code;
#[cfg(not(feature = "jit"))]
#[path = "no_code.rs"]
mod code;
mod fuse;
mod invariants;
mod memory;
mod operation;
mod sharing;
mod steps;

use crate::context::RunContext;
use crate::value::{Value, not_done};
use crate::{Code as ErrorCode, Result};
use build::Leaf;
pub(crate) use build::compile;
pub(crate) use code::compiler;
use hlo::{Array, ArrayShape};
use memory::{Image, Memory, Place};
use num::tier_up::TierUp;
use operation::{KernelArrays, KernelCall, LoopRun, Operation, Source, no_array};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};
pub(crate) use steps::{Member, SmallArray, of_steps};

/// A loop, or the condition of one, whose operations have fixed places for their operands and
/// results.
pub(crate) struct LoopProgram {
    /// What the loop computes alike in each round.
    before: Block,
    condition: Condition,
    /// `None` if only the condition is a program.
    body: Option<Block>,
    /// The leaves of the value that the loop carries; those of steps are their operands, and then
    /// their results.
    carried: Vec<Leaf>,
    image: Image,
    large: Vec<Large>,
    kernels: Vec<KernelCall>,
    /// Bytes that it takes beside the large arrays and its results.
    bytes: usize,
    tier_up: TierUp<code::Code>,
    /// Whether a run leaves its memory to the next one.
    is_kept: bool,
    /// What the last run has left.
    spare: Mutex<Option<Spare>>,
}

/// The memory of a run, and the arrays of its kernels.
type Spare = (Memory, KernelArrays);

/// The bytes that a run leaves to the next one: to make fewer takes no longer.
const KEPT: RangeInclusive<usize> = 1 << 9..=1 << 17;

/// An array with memory of its own.
#[derive(Debug)]
struct Large {
    shape: Arc<ArrayShape>,
    /// The value of a constant.
    value: Option<Array>,
    is_updated: bool,
}

/// Operations in order.
#[derive(Default)]
struct Block {
    operations: Vec<Operation>,
    /// Steps that are charged for one execution.
    fuel: u64,
}

/// The condition of a loop.
struct Condition {
    block: Block,
    value: Place,
}

/// A loop inside a program.
struct Repeat {
    condition: Condition,
    /// Ends with the copies that make its results the next values.
    body: Block,
}

/// The leaves of a loop's value after a run.
pub(crate) enum LoopEnd {
    Done(Vec<Value>),
    /// Those that it began with: frames find the instruction at which the fuel ends.
    OutOfFuel(Vec<Value>),
}

impl fmt::Debug for LoopProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopProgram").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl LoopProgram {
    /// Returns memory and arrays for a run.
    fn take_spare(&self) -> Spare {
        if self.is_kept
            && let Some((mut memory, arrays)) =
                self.spare.try_lock().ok().and_then(|mut s| s.take())
        {
            if cfg!(debug_assertions) {
                memory.check_spare(&self.image);
            }
            return (memory, arrays);
        }
        let zeros = |shape: &Arc<ArrayShape>| Array::zeros(Arc::clone(shape));
        let operand = |(source, shape): &(Source, _)| match source {
            Source::Small(_) => zeros(shape),
            Source::Large(_) => no_array(),
        };
        let arrays = self.kernels.iter().map(|call| {
            if call.computes() {
                return (Vec::new(), Vec::new());
            }
            let results = call.results.iter().map(|(_, shape)| zeros(shape));
            (call.operands.iter().map(operand).collect(), results.collect())
        });
        (Memory::new(&self.image), arrays.collect())
    }
    fn leave_spare(&self, spare: Spare) {
        if self.is_kept
            && let Ok(mut kept) = self.spare.try_lock()
        {
            *kept = Some(spare);
        }
    }

    /// Returns the bytes that a loop takes beside its operands and its results; `None` if only its
    /// condition is a program.
    pub(crate) fn bytes(&self) -> Option<usize> {
        self.body.is_some().then_some(self.bytes)
    }

    /// Runs the loop on its leaves.
    ///
    /// # Errors
    /// Those of its operations, each with its place.
    pub(crate) fn run(&self, context: &RunContext, carried: Vec<Value>) -> Result<LoopEnd> {
        if context.options().fuel.is_none() {
            return self.run_to_end(context, carried).map(LoopEnd::Done);
        }
        let first = carried.clone();
        let done = unless_out_of_fuel(context, || self.run_to_end(context, carried))?;
        Ok(done.map_or(LoopEnd::OutOfFuel(first), LoopEnd::Done))
    }

    fn run_to_end(&self, context: &RunContext, carried: Vec<Value>) -> Result<Vec<Value>> {
        let _reservation = context.reserve(self.bytes)?;
        let mut run = LoopRun::new(context, self);
        for (leaf, value) in self.carried.iter().zip(carried) {
            match (leaf, value) {
                (Leaf::Small(place, ..), Value::Array(array)) => {
                    run.memory.write(*place, array.bytes());
                }
                (Leaf::Large { array: number, shape, .. }, Value::Array(mut array)) => {
                    if self.large[*number].is_updated && !array.is_unique() {
                        let mut own = context.budget().array(shape)?;
                        own.bytes_mut().copy_from_slice(array.bytes());
                        array = own;
                    }
                    run.large[*number] = array;
                }
                (Leaf::Token, _) | (Leaf::Empty(_), Value::Array(_)) => {}
                (_, Value::Tuple(_) | Value::Token | Value::Async(_)) => return Err(not_done()),
            }
        }
        run.block(&self.before)?;
        self.iterate(&mut run)?;
        run.spend()?;
        self.carried.iter().map(|leaf| result(leaf, &mut run)).collect()
    }

    /// Computes the results of steps.
    ///
    /// # Errors
    /// Those of its operations, each with its place.
    pub(crate) fn apply(
        &self,
        context: &RunContext,
        operands: &[Option<&Array>],
        results: &mut [Array],
    ) -> Result<()> {
        let mut run = LoopRun::new(context, self);
        let (read, written) = self.carried.split_at(operands.len());
        for (leaf, array) in read.iter().zip(operands.iter().flatten()) {
            match leaf {
                Leaf::Small(place, ..) => run.memory.write(*place, array.bytes()),
                Leaf::Large { array: number, .. } => run.large[*number] = (*array).clone(),
                Leaf::Empty(_) | Leaf::Token => {}
            }
        }
        run.memory.write(self.condition.value, &[1]);
        // Code begins with the constants of the program: it runs all of the round, or nothing of it.
        match self.tier_up.code(|| code::compile(self)) {
            Some(code) => code.run(self, &mut run)?,
            None => {
                let body = self.body.as_ref().ok_or_else(not_done)?;
                run.repeat(&self.condition, body, u64::MAX)?;
                self.tier_up.count(run.steps());
            }
        }
        run.spend()?;
        for (leaf, result) in written.iter().zip(results) {
            if let Leaf::Small(place, ..) = leaf {
                result.bytes_mut().copy_from_slice(run.memory.read(*place));
            }
        }
        Ok(())
    }

    /// Runs all iterations: as operations, and as machine code from when that is worth it.
    fn iterate(&self, run: &mut LoopRun<'_>) -> Result<()> {
        let body = self.body.as_ref().ok_or_else(not_done)?;
        let has_ended = run.repeat(&self.condition, body, self.tier_up.steps_left())?;
        self.tier_up.count(run.steps());
        if has_ended {
            return Ok(());
        }
        match self.tier_up.code(|| code::compile(self)) {
            Some(code) => code.run(self, run),
            None => run.repeat(&self.condition, body, u64::MAX).map(drop),
        }
    }

    /// Evaluates the condition on the leaves of the loop's value; `None` if one that it reads is
    /// not an array, or where the fuel ends: a frame finds the instruction.
    pub(crate) fn is_true(&self, context: &RunContext, carried: &[Value]) -> Result<Option<bool>> {
        let mut run = LoopRun::new(context, self);
        for (leaf, value) in self.carried.iter().zip(carried) {
            match (leaf, value) {
                (Leaf::Small(place, ..), Value::Array(array)) => {
                    run.memory.write(*place, array.bytes());
                }
                (Leaf::Token | Leaf::Empty(_), _) => {}
                (Leaf::Small(..) | Leaf::Large { .. }, _) => return Ok(None),
            }
        }
        unless_out_of_fuel(context, || {
            let is_true = run.is_true(&self.condition)?;
            run.spend()?;
            Ok(is_true)
        })
    }
}

/// Runs a part of a program; returns `None`, and takes back its steps, where the fuel ends.
fn unless_out_of_fuel<T>(
    context: &RunContext,
    run: impl FnOnce() -> Result<T>,
) -> Result<Option<T>> {
    let steps = context.steps();
    match run() {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.code(), ErrorCode::OutOfFuel { .. }) => {
            context.refund(context.steps() - steps);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns the value of a leaf after the last iteration.
fn result(leaf: &Leaf, run: &mut LoopRun<'_>) -> Result<Value> {
    Ok(match leaf {
        Leaf::Small(place, shape, _) => {
            let mut array = run.context.budget().array(shape)?;
            array.bytes_mut().copy_from_slice(run.memory.read(*place));
            Value::Array(array)
        }
        // Each large array is carried once.
        Leaf::Large { array, .. } => {
            Value::Array(std::mem::replace(&mut run.large[*array], no_array()))
        }
        Leaf::Empty(shape) => Value::Array(run.context.budget().array(shape)?),
        Leaf::Token => Value::Token,
    })
}
