//! The operations of a loop over small arrays, and how they run.
use super::memory::{Copy, Memory, Place};
use super::{Block, Repeat, SmallLoop};
use crate::Result;
use crate::context::RunContext;
use crate::machine::Position;
use crate::machine::choose;
use crate::state::Site;
use hlo::{Array, ArrayShape, ElementType, Scalar};
use kernels::{Kernel, Reuse, short_product};
use num::Arithmetic;
use num::index::to_usize;
use num::loops::VectorLoop;
use num::scalar_program::step::ScalarStep;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// Steps after which the limits of the run are checked.
pub(super) const BETWEEN_CHECKS: u64 = 1 << 14;

/// One operation. Its result has a place behind those of its operands.
pub(super) enum Operation {
    /// A function of each index.
    Elementwise {
        function: VectorLoop,
        operands: SmallVec<[Place; 3]>,
        result: Place,
        #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
        step: Option<ElementStep>,
    },
    /// Data that moves the same way each time.
    Copy(Vec<Copy>),
    /// Copies the first value if the predicate is true, otherwise the second.
    Choose {
        predicate: usize,
        values: [usize; 2],
        result: Place,
    },
    /// Reads a box of an array.
    Slice {
        array: Source,
        window: Window,
        result: Place,
    },
    /// Replaces a box of an array.
    Update {
        array: Source,
        window: Window,
        update: Place,
    },
    /// The product of two short vectors of f32; that of a kernel where it is open.
    Product {
        operands: [Place; 2],
        result: Place,
        arithmetic: Arithmetic,
        kernel: usize,
    },
    /// One of the kernels.
    Kernel(usize),
    Repeat(Box<Repeat>),
    Branch {
        selector: Place,
        ty: ElementType,
        branches: Vec<Block>,
    },
}

/// The step of one element: its operands are numbered from 0.
#[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
pub(super) struct ElementStep {
    pub(super) step: ScalarStep,
    pub(super) operands: SmallVec<[ElementType; 3]>,
    pub(super) result: ElementType,
}

/// An array.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Small(Place),
    /// One of the large ones.
    Large(usize),
}

/// A box whose place in an array follows from values.
#[derive(Debug)]
pub(super) struct Window {
    /// The type of the array's elements.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
    pub(super) ty: ElementType,
    pub(super) beyond: Beyond,
    /// For each dimension: the start index, its largest value, and the distance of indices in bytes.
    pub(super) starts: Vec<(Start, i64, usize)>,
    /// The rows of the box in memory: how far each is from the box's first element, in bytes.
    pub(super) rows: Vec<usize>,
    /// Bytes of each row.
    pub(super) bytes: usize,
}

/// What happens to a box that is partly outside of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// It is moved inside.
    Clamp,
    /// It is left out.
    Skip,
}

/// A start index: a scalar of this type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) place: Place,
    pub(super) ty: ElementType,
}

/// Returns the array that stands where there is none.
pub(super) fn no_array() -> Array {
    Array::zeros(ArrayShape::new(ElementType::U8, [0].as_slice()))
}

/// A kernel, with the places of its operands and results.
pub(super) struct KernelCall {
    pub(super) kernel: Box<dyn Kernel>,
    pub(super) site: Site,
    pub(super) operands: Vec<(Source, Arc<ArrayShape>)>,
    pub(super) results: Vec<(Place, Arc<ArrayShape>)>,
}

impl KernelCall {
    /// Bytes of its arrays and of what it works in.
    pub(super) fn bytes(&self) -> usize {
        let small = self.operands.iter().filter_map(|(source, _)| match source {
            Source::Small(place) => Some(place.bytes),
            Source::Large(_) => None,
        });
        let results = self.results.iter().map(|(place, _)| place.bytes);
        small.chain(results).sum::<usize>().saturating_add(self.kernel.scratch())
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elementwise { .. } => "elementwise",
            Self::Copy(_) => "copy",
            Self::Choose { .. } => "choose",
            Self::Slice { .. } => "slice",
            Self::Update { .. } => "update",
            Self::Product { .. } => "product",
            Self::Kernel(_) => "kernel",
            Self::Repeat(_) => "repeat",
            Self::Branch { .. } => "branch",
        })
    }
}

/// A run of a loop.
pub(super) struct Run<'a> {
    pub(super) context: &'a RunContext,
    program: &'a SmallLoop,
    pub(super) memory: Memory,
    pub(super) large: Vec<Array>,
    /// The operands of each kernel that are small, and its results.
    arrays: Vec<(Vec<Array>, Vec<Array>)>,
    /// Steps that are not charged yet.
    pub(super) unspent: u64,
    /// The error with which generated code has ended.
    #[cfg(feature = "jit")]
    pub(super) failed: Option<crate::Error>,
}

impl<'a> Run<'a> {
    pub(super) fn new(context: &'a RunContext, program: &'a SmallLoop) -> Self {
        let zeros = |shape: &Arc<ArrayShape>| Array::zeros(Arc::clone(shape));
        let operand = |(source, shape): &(Source, _)| match source {
            Source::Small(_) => zeros(shape),
            Source::Large(_) => no_array(),
        };
        let arrays = program.kernels.iter().map(|call| {
            let results = call.results.iter().map(|(_, shape)| zeros(shape));
            (call.operands.iter().map(operand).collect(), results.collect())
        });
        let constant = |large: &super::Large| large.value.clone().unwrap_or_else(no_array);
        Self {
            context,
            program,
            memory: Memory::new(&program.image),
            large: program.large.iter().map(constant).collect(),
            arrays: arrays.collect(),
            unspent: 0,
            #[cfg(feature = "jit")]
            failed: None,
        }
    }
    /// Returns the steps that generated code has counted, and sets its counter to 0.
    #[cfg(feature = "jit")]
    pub(super) fn take_count(&mut self) -> u64 {
        let place = self.program.counter;
        let count = u64::from_le_bytes(self.memory.read(place).try_into().expect("it has 8 bytes"));
        self.memory.write(place, &0u64.to_le_bytes());
        count
    }

    /// Charges the steps so far.
    pub(super) fn spend(&mut self) -> Result<()> {
        self.context.spend(std::mem::take(&mut self.unspent))
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<()> {
        self.rounds(repeat, u64::MAX).map(drop)
    }
    /// Runs a loop for at most `rounds` rounds; returns how many are left, if it has ended.
    pub(super) fn rounds(&mut self, repeat: &Repeat, rounds: u64) -> Result<Option<u64>> {
        for done in 0..rounds {
            self.block(&repeat.condition)?;
            if self.memory.bytes()[repeat.test.start] == 0 {
                return Ok(Some(rounds - done));
            }
            self.block(&repeat.body)?;
            if self.unspent >= BETWEEN_CHECKS {
                self.spend()?;
            }
        }
        Ok(None)
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        self.unspent += block.fuel;
        block.operations.iter().try_for_each(|operation| self.execute(operation))
    }

    pub(super) fn execute(&mut self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Elementwise { function, operands, result, step: _ } => {
                let (before, result) = self.memory.split(*result);
                let of = |place: Place| &before[place.start..place.end()];
                match *operands.as_slice() {
                    [a] => function(&[of(a)], result),
                    [a, b] => function(&[of(a), of(b)], result),
                    [a, b, c] => function(&[of(a), of(b), of(c)], result),
                    _ => unreachable!("an elementwise op has one to three operands"),
                }
            }
            Operation::Copy(copies) => self.memory.copy(copies),
            Operation::Choose { predicate, values, result } => {
                let from = values[usize::from(self.memory.bytes()[*predicate] == 0)];
                self.memory.copy(&[Copy { from, to: result.start, bytes: result.bytes }]);
            }
            Operation::Slice { array, window, result } => self.slice(*array, window, *result),
            Operation::Update { array, window, update } => self.update(*array, window, *update),
            Operation::Product { operands, result, arithmetic, kernel } => {
                let [a, b] = operands.map(|place| bytemuck::cast_slice(self.memory.read(place)));
                match short_product(a, b, *arithmetic) {
                    Some(product) => self.memory.write(*result, bytemuck::bytes_of(&product)),
                    None => self.kernel(*kernel)?,
                }
            }
            Operation::Kernel(number) => self.kernel(*number)?,
            Operation::Repeat(repeat) => self.repeat(repeat)?,
            Operation::Branch { selector, ty, branches } => {
                let selector = Scalar::read(*ty, self.memory.read(*selector));
                self.block(&branches[choose(selector, branches.len())])?;
            }
        }
        Ok(())
    }

    fn slice(&mut self, array: Source, window: &Window, result: Place) {
        let Some(base) = window.base(&self.memory) else { return };
        let (before, result) = self.memory.split(result);
        let array = match array {
            Source::Small(place) => &before[place.start..place.end()],
            Source::Large(number) => self.large[number].bytes(),
        };
        for (row, result) in window.rows.iter().zip(result.chunks_exact_mut(window.bytes)) {
            let at = base + row;
            result.copy_from_slice(&array[at..at + window.bytes]);
        }
    }

    fn update(&mut self, array: Source, window: &Window, update: Place) {
        let Some(base) = window.base(&self.memory) else { return };
        match array {
            Source::Small(place) => {
                let rows = window.rows.iter().zip((update.start..).step_by(window.bytes));
                for (row, from) in rows {
                    let to = place.start + base + row;
                    self.memory.copy(&[Copy { from, to, bytes: window.bytes }]);
                }
            }
            Source::Large(number) => {
                let array = self.large[number].bytes_mut();
                let update = self.memory.read(update).chunks_exact(window.bytes);
                for (row, update) in window.rows.iter().zip(update) {
                    let at = base + row;
                    array[at..at + window.bytes].copy_from_slice(update);
                }
            }
        }
    }

    fn kernel(&mut self, number: usize) -> Result<()> {
        let call = &self.program.kernels[number];
        let (operands, results) = &mut self.arrays[number];
        let is_update = call.kernel.reuse() == Reuse::Update;
        for (k, (operand, (source, _))) in operands.iter_mut().zip(&call.operands).enumerate() {
            if let Source::Small(place) = source {
                let to = if is_update && k == 0 { &mut results[0] } else { operand };
                to.bytes_mut().copy_from_slice(self.memory.read(*place));
            }
        }
        let inputs = operands.iter().zip(&call.operands).enumerate();
        let inputs: SmallVec<[Option<&Array>; 4]> = inputs
            .map(|(k, (operand, (source, _)))| match source {
                _ if is_update && k == 0 => None,
                Source::Small(_) => Some(operand),
                Source::Large(number) => Some(&self.large[*number]),
            })
            .collect();
        let Site { computation, instruction } = call.site;
        let position = Position { computation, instruction, depth: 0 };
        let located = |error| position.locate(error, self.context.module());
        call.kernel.run(self.context, &inputs, results).map_err(located)?;
        for (result, (place, _)) in results.iter().zip(&call.results) {
            self.memory.write(*place, result.bytes());
        }
        Ok(())
    }
}

impl Window {
    /// Returns the first byte of the box; `None` if it is left out.
    fn base(&self, memory: &Memory) -> Option<usize> {
        let mut base = 0;
        for (start, last, stride) in &self.starts {
            let index = match Scalar::read(start.ty, memory.read(start.place)) {
                Scalar::Signed(index) => index,
                // An unsigned index beyond i64 is beyond every array.
                Scalar::Unsigned(index) => i64::try_from(index).unwrap_or(i64::MAX),
                Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => 0,
            };
            let inside = index.clamp(0, *last);
            if self.beyond == Beyond::Skip && inside != index {
                return None;
            }
            base += to_usize(inside) * stride;
        }
        Some(base)
    }
}
