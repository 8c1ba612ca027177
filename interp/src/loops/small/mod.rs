//! Loops over small arrays, as flat programs over one block of memory.
//!
//! A machine takes about 200 ns for a step: it looks up frames and slots, charges memory, and polls limits. Where the arrays of
//! a loop have a few elements, that is nearly all of its time. Here each value of the loop has a fixed place, decided when the
//! module is compiled, and an operation is a function of places. Computations that are called, loops inside, and branches
//! are part of the program.
//!
//! Large arrays that the loop carries, such as the inputs and outputs of a scan, keep their own memory. The loop may slice
//! them, pass them to kernels, and update them in place.
mod arrays;
mod build;
#[cfg(feature = "jit")]
mod code;
#[cfg(not(feature = "jit"))]
#[path = "no_code.rs"]
mod code;
#[cfg(feature = "jit")]
mod emit;
mod heat;
mod memory;
mod operation;

use crate::Result;
use crate::context::RunContext;
use crate::value::{Value, not_done};
pub(crate) use build::compile;
use heat::Heat;
use hlo::{Array, ArrayShape};
use memory::Place;
use operation::{KernelCall, Operation, Run, no_array};
use std::fmt;
use std::sync::Arc;

/// A loop whose operations have fixed places for their operands and results.
pub(crate) struct SmallLoop {
    repeat: Repeat,
    /// The leaves of the value that it carries.
    carried: Vec<Leaf>,
    /// The block of memory before the first round: constants have their values.
    image: Vec<u8>,
    large: Vec<Large>,
    kernels: Vec<KernelCall>,
    /// Bytes that it takes beside the large arrays and its results.
    bytes: usize,
    /// Where generated code counts steps.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
    counter: Place,
    heat: Heat,
}

/// A leaf of the value that a loop carries.
#[derive(Debug, Clone)]
enum Leaf {
    Small(Place, Arc<ArrayShape>),
    /// One of the large arrays.
    Large(usize, Arc<ArrayShape>),
    Token,
}

/// An array with memory of its own.
#[derive(Debug)]
struct Large {
    shape: Arc<ArrayShape>,
    /// The value of a constant.
    value: Option<Array>,
    is_updated: bool,
}

/// Operations in order.
#[derive(Debug, Default)]
struct Block {
    operations: Vec<Operation>,
    /// Steps that are charged for one execution.
    fuel: u64,
}

/// A loop inside a program.
#[derive(Debug)]
struct Repeat {
    condition: Block,
    /// The value of the condition.
    test: Place,
    /// Ends with the copies that make its results the next values.
    body: Block,
}

impl fmt::Debug for SmallLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmallLoop").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl SmallLoop {
    /// Bytes that it takes beside its operands and its results.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the leaves that the loop ends with.
    ///
    /// # Errors
    /// Those of its operations, each with its place.
    pub(crate) fn run(&self, context: &RunContext, carried: Vec<Value>) -> Result<Vec<Value>> {
        let _reservation = context.reserve(self.bytes)?;
        let mut run = Run::new(context, self);
        for (leaf, value) in self.carried.iter().zip(carried) {
            match (leaf, value) {
                (Leaf::Small(place, _), Value::Array(array)) => {
                    run.memory.write(*place, array.bytes());
                }
                (Leaf::Large(number, shape), Value::Array(mut array)) => {
                    if self.large[*number].is_updated && !array.is_unique() {
                        let mut own = context.budget().array(shape)?;
                        own.bytes_mut().copy_from_slice(array.bytes());
                        array = own;
                    }
                    run.large[*number] = array;
                }
                (Leaf::Token, _) => {}
                (_, Value::Tuple(_) | Value::Token | Value::Async(_)) => return Err(not_done()),
            }
        }
        self.rounds(&mut run)?;
        run.spend()?;
        self.carried.iter().map(|leaf| result(leaf, &mut run)).collect()
    }
}

impl SmallLoop {
    /// Runs all rounds: as operations, and as machine code from when that is worth it.
    fn rounds(&self, run: &mut Run<'_>) -> Result<()> {
        let cold = self.heat.rounds_left();
        if let Some(left) = run.rounds(&self.repeat, cold)? {
            self.heat.set(left);
            return Ok(());
        }
        self.heat.set(0);
        if let Some(code) = self.heat.code(|| code::compile(self)) {
            return code::run(code, self, run);
        }
        run.rounds(&self.repeat, u64::MAX).map(drop)
    }
}

/// Returns the value of a leaf after the last round.
fn result(leaf: &Leaf, run: &mut Run<'_>) -> Result<Value> {
    Ok(match leaf {
        Leaf::Small(place, shape) => {
            let mut array = run.context.budget().array(shape)?;
            array.bytes_mut().copy_from_slice(run.memory.read(*place));
            Value::Array(array)
        }
        // Each large array is carried once.
        Leaf::Large(number, _) => {
            Value::Array(std::mem::replace(&mut run.large[*number], no_array()))
        }
        Leaf::Token => Value::Token,
    })
}
