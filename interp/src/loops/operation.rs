//! The operations of a program, and how they run.
use super::memory::{LoopCopy, Memory, Place, split};
use super::{Block, Condition, LoopProgram, Repeat};
use crate::Result;
use crate::branch::choose;
use crate::context::RunContext;
use crate::position::Position;
use crate::state::Site;
use hlo::{Array, ArrayShape, ElementType, Scalar};
use kernels::{Kernel, Reuse, short_product};
use num::Arithmetic;
use num::index::to_usize;
use num::loops::VectorLoop;
use num::scalar_program::step::ElementStep;
use smallvec::SmallVec;
use std::sync::Arc;

/// Steps after which the limits of the run are checked.
pub(super) const BETWEEN_CHECKS: u64 = 1 << 14;

/// One operation. Its result has a place behind those of its operands.
pub(super) enum Operation {
    /// A function of each index.
    Elementwise(Elementwise),
    /// Data that moves.
    Move(Move),
    /// Copies the first value if the predicate is true, otherwise the second.
    Choose {
        predicate: usize,
        values: [usize; 2],
        result: Place,
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

impl Operation {
    /// Returns the operation that copies the same way each time.
    pub(super) fn copies(copies: Vec<LoopCopy>) -> Self {
        Self::Move(Move { copies, ..Move::default() })
    }
    pub(super) fn copy(from: Place, to: Place) -> Self {
        Self::copies(vec![LoopCopy { from: from.start, to: to.start, bytes: to.bytes }])
    }
}

/// A function of the elements at each index.
pub(super) struct Elementwise {
    pub(super) function: VectorLoop,
    /// The step of each element; `None` if the function approximates it.
    pub(super) step: Option<ElementStep>,
    pub(super) operands: SmallVec<[Place; 3]>,
    pub(super) result: Place,
}

impl Elementwise {
    /// Returns the operation of a step.
    pub(super) fn new(step: ElementStep, operands: SmallVec<[Place; 3]>, result: Place) -> Self {
        Self { function: step.in_loop(Arithmetic::Exact), step: Some(step), operands, result }
    }
    /// Applies it to places of this memory.
    pub(super) fn apply(&self, memory: &mut [u8]) {
        let (before, result) = split(memory, self.result);
        let of = |place: Place| &before[place.start..place.end()];
        match *self.operands.as_slice() {
            [a] => (self.function)(&[of(a)], result),
            [a, b] => (self.function)(&[of(a), of(b)], result),
            [a, b, c] => (self.function)(&[of(a), of(b), of(c)], result),
            _ => unreachable!("an elementwise op has one to three operands"),
        }
    }
}

/// An array.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Small(Place),
    /// One of the large ones.
    Large(usize),
}

impl Source {
    /// Returns the place of a small array.
    pub(super) fn small(self) -> Option<Place> {
        match self {
            Self::Small(place) => Some(place),
            Self::Large(_) => None,
        }
    }
}

/// Data that moves: in order, each part to or from the same place each time, or a box of an array.
#[derive(Debug, Default)]
pub(super) struct Move {
    pub(super) copies: Vec<LoopCopy>,
    /// The box that is read, if `copies` count from its first byte.
    pub(super) from: Option<Window>,
    /// The box that is replaced, likewise.
    pub(super) to: Option<Window>,
}

/// A box whose place in an array follows from values.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) array: Source,
    /// The type of the array's elements.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
    pub(super) ty: ElementType,
    pub(super) beyond: Beyond,
    /// For each dimension: the start index, its largest value, and the distance of indices in
    /// bytes.
    pub(super) starts: Vec<(Start, i64, usize)>,
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
        let small = self.operands.iter().filter_map(|(source, _)| source.small());
        let small = small.map(|place| place.bytes);
        let results = self.results.iter().map(|(place, _)| place.bytes);
        small.chain(results).sum::<usize>().saturating_add(self.kernel.scratch())
    }
}

#[cfg(feature = "jit")]
impl Operation {
    /// Returns the places that it reads and those that it writes; the operations inside of it have
    /// their own.
    pub(super) fn places(&self, kernels: &[KernelCall]) -> (Vec<Place>, Vec<Place>) {
        match self {
            Self::Elementwise(Elementwise { operands, result, .. }) => {
                (operands.to_vec(), vec![*result])
            }
            Self::Move(Move { copies, from, to }) => {
                let place = |start, bytes| Place { start, bytes };
                let array = |window: &Option<Window>| match window {
                    Some(window) => window.array.small().into_iter().collect(),
                    None => Vec::new(),
                };
                let (mut read, mut written) = (array(from), array(to));
                // The rest of an array stays.
                read.extend(&written);
                for window in from.iter().chain(to) {
                    read.extend(window.starts.iter().map(|(start, ..)| start.place));
                }
                if from.is_none() {
                    read.extend(copies.iter().map(|copy| place(copy.from, copy.bytes)));
                }
                if to.is_none() {
                    written.extend(copies.iter().map(|copy| place(copy.to, copy.bytes)));
                }
                (read, written)
            }
            Self::Choose { predicate, values, result } => {
                let value = |&start| Place { start, bytes: result.bytes };
                let mut read: Vec<Place> = values.iter().map(value).collect();
                read.push(Place { start: *predicate, bytes: 1 });
                (read, vec![*result])
            }
            Self::Product { operands, result, .. } => (operands.to_vec(), vec![*result]),
            Self::Kernel(number) => {
                let KernelCall { operands, results, .. } = &kernels[*number];
                let operands = operands.iter().filter_map(|(source, _)| source.small());
                (operands.collect(), results.iter().map(|(place, _)| *place).collect())
            }
            Self::Repeat(_) | Self::Branch { .. } => (Vec::new(), Vec::new()),
        }
    }
}

/// A run of a program.
pub(super) struct LoopRun<'a> {
    pub(super) context: &'a RunContext,
    program: &'a LoopProgram,
    pub(super) memory: Memory,
    pub(super) large: Vec<Array>,
    /// The operands of each kernel that are small, and its results.
    arrays: Vec<(Vec<Array>, Vec<Array>)>,
    /// Steps that are not charged yet, and those that are.
    pub(super) unspent: u64,
    spent: u64,
    /// The error with which generated code has ended.
    #[cfg(feature = "jit")]
    pub(super) failed: Option<crate::Error>,
}

impl<'a> LoopRun<'a> {
    #[inline]
    pub(super) fn new(context: &'a RunContext, program: &'a LoopProgram) -> Self {
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
            spent: 0,
            #[cfg(feature = "jit")]
            failed: None,
        }
    }

    /// Charges the steps so far.
    pub(super) fn spend(&mut self) -> Result<()> {
        let steps = std::mem::take(&mut self.unspent);
        self.spent = self.spent.saturating_add(steps);
        self.context.spend(steps)
    }
    /// Returns the steps so far.
    pub(super) fn steps(&self) -> u64 {
        self.spent.saturating_add(self.unspent)
    }

    /// Runs a loop until it ends, or until the program has executed so many steps; returns whether
    /// the loop has ended.
    pub(super) fn repeat(
        &mut self,
        condition: &Condition,
        body: &Block,
        limit: u64,
    ) -> Result<bool> {
        while self.steps() < limit {
            if !self.is_true(condition)? {
                return Ok(true);
            }
            self.block(body)?;
            if self.unspent >= BETWEEN_CHECKS {
                self.spend()?;
            }
        }
        Ok(false)
    }
    pub(super) fn is_true(&mut self, condition: &Condition) -> Result<bool> {
        self.block(&condition.block)?;
        Ok(self.memory.bytes()[condition.value.start] != 0)
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        self.unspent += block.fuel;
        block.operations.iter().try_for_each(|operation| self.execute(operation))
    }

    pub(super) fn execute(&mut self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Elementwise(operation) => operation.apply(self.memory.bytes_mut()),
            Operation::Move(operation) => self.move_data(operation),
            Operation::Choose { predicate, values, result } => {
                let from = values[usize::from(self.memory.bytes()[*predicate] == 0)];
                let copy = LoopCopy { from, to: result.start, bytes: result.bytes };
                self.memory.copy(std::iter::once(copy));
            }
            Operation::Product { operands, result, arithmetic, kernel } => {
                let [a, b] = operands.map(|place| bytemuck::cast_slice(self.memory.read(place)));
                match short_product(a, b, *arithmetic) {
                    Some(product) => self.memory.write(*result, bytemuck::bytes_of(&product)),
                    None => self.kernel(*kernel)?,
                }
            }
            Operation::Kernel(number) => self.kernel(*number)?,
            Operation::Repeat(repeat) => {
                let Repeat { condition, body } = &**repeat;
                self.repeat(condition, body, u64::MAX)?;
            }
            Operation::Branch { selector, ty, branches } => {
                let selector = Scalar::read(*ty, self.memory.read(*selector));
                self.block(&branches[choose(selector, branches.len())])?;
            }
        }
        Ok(())
    }

    fn move_data(&mut self, Move { copies, from, to }: &Move) {
        let base = |window: &Option<Window>| match window {
            Some(window) => window.base(&self.memory).map(|base| (base, window.array)),
            None => Some((0, Source::Small(Place { start: 0, bytes: 0 }))),
        };
        let (Some((read, from)), Some((written, to))) = (base(from), base(to)) else { return };
        let moved = |copy: &LoopCopy| (read + copy.from, written + copy.to, copy.bytes);
        match (from, to) {
            (Source::Small(a), Source::Small(b)) => {
                let moved = copies.iter().map(moved);
                self.memory.copy(moved.map(|(from, to, bytes)| LoopCopy {
                    from: a.start + from,
                    to: b.start + to,
                    bytes,
                }));
            }
            (Source::Large(number), _) => {
                let (array, memory) = (self.large[number].bytes(), self.memory.bytes_mut());
                for (from, to, bytes) in copies.iter().map(moved) {
                    memory[to..to + bytes].copy_from_slice(&array[from..from + bytes]);
                }
            }
            (_, Source::Large(number)) => {
                let (array, memory) = (self.large[number].bytes_mut(), self.memory.bytes());
                for (from, to, bytes) in copies.iter().map(moved) {
                    array[to..to + bytes].copy_from_slice(&memory[from..from + bytes]);
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
