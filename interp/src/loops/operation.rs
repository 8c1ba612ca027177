//! The operations of a program, and how they run.
use super::chain::Chain;
use super::memory::{LoopCopy, Memory, Place, around, between, read_between};
use super::{Block, Condition, LoopProgram, Repeat};
use crate::Result;
use crate::branch::choose;
use crate::context::RunContext;
use crate::plan::{LiteralFn, Sharing};
use crate::position::Position;
use crate::state::Site;
use crate::value::Value;
use hlo::{Array, ArrayShape, ElementType, Literal, Scalar};
use kernels::{Formula, Fused, Kernel, Reuse, Walk, short_product};
use num::Arithmetic;
use num::index::to_usize;
use num::loops::VectorLoop;
use num::scalar_program::step::ElementStep;
use smallvec::SmallVec;
use std::mem::take;
use std::sync::Arc;

/// Steps after which the limits of the run are checked.
pub(super) const BETWEEN_CHECKS: u64 = 1 << 14;

/// One operation. Its results have places of their own.
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
    /// The product of two short vectors of f32 in `fast`.
    Product {
        operands: [Place; 2],
        result: Place,
    },
    /// One of the kernels.
    Kernel(usize),
    /// One of the kernels, which computes bytes from bytes. One that updates operand 0 changes it in
    /// the place of the result.
    Compute(usize),
    /// The same, of few elements, in known steps.
    Formula {
        #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
        formula: Formula,
        kernel: usize,
    },
    /// Several of these as one.
    Fused(Box<FusedCall>),
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
        Self::copies(vec![LoopCopy::new(from.start, to.start, to.bytes)])
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
        let (outside, result) = around(memory, self.result);
        let of = |place: Place| outside.read(place);
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
    /// Returns the number of a large array.
    pub(super) fn large(self) -> Option<usize> {
        match self {
            Self::Small(_) => None,
            Self::Large(number) => Some(number),
        }
    }
}

/// Copies that are made one by one; a walk makes more of them in less time.
const MOST_COPIES: usize = 8;

/// Data that moves: in order, each part to or from the same place each time, or a box of an array.
#[derive(Debug, Default)]
pub(super) struct Move {
    pub(super) copies: Vec<LoopCopy>,
    /// The box that is read, if `copies` count from its first byte.
    pub(super) from: Option<Window>,
    /// The box that is replaced, likewise.
    pub(super) to: Option<Window>,
    /// How it moves all of an array by strides, from the first place to the second.
    pub(super) walk: Option<(Walk, [Place; 2])>,
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

/// What computes arrays from arrays.
pub(super) enum Callee {
    Kernel(Box<dyn Kernel>),
    /// A function, and the bytes that it works in.
    Function(Box<LiteralFn>, usize),
}

impl Callee {
    pub(super) fn kernel(&self) -> Option<&dyn Kernel> {
        match self {
            Self::Kernel(kernel) => Some(&**kernel),
            Self::Function(..) => None,
        }
    }
    /// Returns whether the first result is in the memory of the first operand.
    pub(super) fn is_update(&self) -> bool {
        self.kernel().is_some_and(|kernel| kernel.reuse() == Reuse::Update)
    }
    /// Returns the steps that it spends if it computes bytes from bytes.
    pub(super) fn computes(&self) -> Option<u64> {
        self.kernel().and_then(Kernel::computes)
    }
    pub(super) fn formula(&self) -> Option<Formula> {
        self.kernel().and_then(Kernel::formula)
    }
    pub(super) fn arithmetic(&self) -> Arithmetic {
        self.kernel().map_or(Arithmetic::Exact, Kernel::arithmetic)
    }
    fn scratch(&self) -> usize {
        match self {
            Self::Kernel(kernel) => kernel.scratch(),
            Self::Function(_, scratch) => *scratch,
        }
    }
    fn run(
        &self,
        context: &RunContext,
        inputs: &[Option<&Array>],
        results: &mut [Array],
    ) -> Result<()> {
        let function = match self {
            Self::Kernel(kernel) => return kernel.run(context, inputs, results),
            Self::Function(function, _) => function,
        };
        let inputs = inputs.iter().flatten().map(|&array| Literal::from(array.clone()));
        let inputs: SmallVec<[Literal; 4]> = inputs.collect();
        let value = function(context, &inputs.iter().collect::<SmallVec<[&Literal; 4]>>())?;
        let mut leaves = Vec::with_capacity(results.len());
        Value::from(value).flatten(&mut leaves);
        for (result, leaf) in results.iter_mut().zip(leaves) {
            if let Value::Array(array) = leaf {
                result.bytes_mut().copy_from_slice(array.bytes());
            }
        }
        Ok(())
    }
}

/// A kernel or a function, with the places of its operands and results. An update of a large array
/// has no other result.
pub(super) struct KernelCall {
    pub(super) callee: Callee,
    pub(super) site: Site,
    pub(super) operands: Vec<(Source, Arc<ArrayShape>)>,
    pub(super) results: Vec<(Place, Arc<ArrayShape>)>,
    /// Whether threads share it.
    pub(super) sharing: Sharing,
}

impl KernelCall {
    /// Returns whether it computes bytes from bytes.
    pub(super) fn computes(&self) -> bool {
        !self.results.is_empty() && self.callee.computes().is_some()
    }
    /// Returns the bytes of its arrays.
    pub(super) fn bytes(&self) -> usize {
        if self.computes() {
            return 0;
        }
        let small = self.operands.iter().filter_map(|(source, _)| source.small());
        let places = small.chain(self.results.iter().map(|(place, _)| *place));
        places.map(|place| place.bytes).sum()
    }
    /// Returns the bytes of what it works in.
    pub(super) fn scratch(&self) -> usize {
        self.callee.scratch()
    }
}

/// Operations that are fused, with the places of their operands and results.
pub(super) struct FusedCall {
    kernel: Fused,
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
    pub(super) chain: Option<Chain>,
    pub(super) inputs: Vec<Source>,
    pub(super) outputs: Vec<Place>,
    /// The numbers of the outputs in the order of their places.
    order: Vec<usize>,
    /// The number of the input in whose place the first output is.
    in_place: Option<usize>,
}

impl FusedCall {
    pub(super) fn new(
        (kernel, chain): (Fused, Option<Chain>),
        inputs: Vec<Source>,
        outputs: Vec<Place>,
    ) -> Self {
        let order = (0..outputs.len()).collect();
        let mut call = Self { kernel, chain, inputs, outputs, order, in_place: None };
        call.sort();
        call
    }
    /// Takes the outputs in the order of their places from now on.
    pub(super) fn sort(&mut self) {
        self.order.sort_unstable_by_key(|&k| self.outputs[k].start);
    }

    /// Has it compute the first output, which begins at a byte, in the place of an input, which begins
    /// at another one; returns whether it can.
    pub(super) fn compute_over(&mut self, input: usize, output: usize) -> bool {
        let starts = |source: &Source| source.small().is_some_and(|place| place.start == input);
        let mut found = (0..).zip(&self.inputs).filter(|(_, source)| starts(source));
        let (Some((k, _)), None, Reuse::SameIndex(count)) =
            (found.next(), found.next(), self.kernel.reuse())
        else {
            return false;
        };
        let fits = k < count && self.outputs[0].start == output && self.in_place.is_none();
        self.in_place = if fits { Some(k) } else { self.in_place };
        fits
    }

    /// Applies it to places of this memory, and to large arrays.
    fn apply(&self, memory: &mut [u8], large: &[Array]) {
        // What lies before and behind each output is read.
        let mut outputs: SmallVec<[&mut [u8]; 2]> = SmallVec::new();
        outputs.resize_with(self.outputs.len(), || &mut []);
        let places = self.order.iter().map(|&k| (k, self.outputs[k]));
        let between = between(memory, places, &mut outputs);
        let input = |(k, source): (usize, &Source)| match *source {
            Source::Small(_) if self.in_place == Some(k) => None,
            Source::Small(place) => read_between(&between, place),
            Source::Large(number) => Some(large[number].bytes()),
        };
        let inputs: SmallVec<[Option<&[u8]>; 8]> =
            self.inputs.iter().enumerate().map(input).collect();
        self.kernel.compute_alone(&inputs, &mut outputs);
    }
}

impl Operation {
    /// Returns the places that it reads and those that it writes; the operations inside of it have
    /// their own.
    pub(super) fn places(&self, kernels: &[KernelCall]) -> (Vec<Place>, Vec<Place>) {
        match self {
            Self::Elementwise(Elementwise { operands, result, .. }) => {
                (operands.to_vec(), vec![*result])
            }
            Self::Move(Move { copies, from, to, .. }) => {
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
                    read.extend(copies.iter().map(|copy| copy.places()[0]));
                }
                if to.is_none() {
                    written.extend(copies.iter().map(|copy| copy.places()[1]));
                }
                (read, written)
            }
            Self::Choose { predicate, values, result } => {
                let value = |&start| Place { start, bytes: result.bytes };
                let mut read: Vec<Place> = values.iter().map(value).collect();
                read.push(Place { start: *predicate, bytes: 1 });
                (read, vec![*result])
            }
            Self::Product { operands, result } => (operands.to_vec(), vec![*result]),
            Self::Kernel(number) | Self::Compute(number) | Self::Formula { kernel: number, .. } => {
                let KernelCall { callee, operands, results, .. } = &kernels[*number];
                let operands = operands.iter().filter_map(|(source, _)| source.small());
                let written: Vec<Place> = results.iter().map(|(place, _)| *place).collect();
                // The rest of an array stays.
                let changed = written.iter().filter(|_| callee.is_update());
                (operands.chain(changed.copied()).collect(), written)
            }
            Self::Fused(call) => {
                let inputs = call.inputs.iter().filter_map(|source| source.small());
                (inputs.collect(), call.outputs.clone())
            }
            Self::Repeat(_) | Self::Branch { .. } => (Vec::new(), Vec::new()),
        }
    }
}

/// The operands of each kernel that are small, and its results.
pub(super) type KernelArrays = Vec<(Vec<Array>, Vec<Array>)>;

/// A run of a program.
pub(super) struct LoopRun<'a> {
    pub(super) context: &'a RunContext,
    program: &'a LoopProgram,
    pub(super) memory: Memory,
    pub(super) large: Vec<Array>,
    arrays: KernelArrays,
    /// Steps that are not charged yet, and those that are.
    pub(super) unspent: u64,
    spent: u64,
    /// The error with which generated code has ended.
    #[cfg(feature = "jit")]
    pub(super) failed: Option<crate::Error>,
}

impl Drop for LoopRun<'_> {
    fn drop(&mut self) {
        self.program.leave_spare((take(&mut self.memory), take(&mut self.arrays)));
    }
}

impl<'a> LoopRun<'a> {
    #[inline]
    pub(super) fn new(context: &'a RunContext, program: &'a LoopProgram) -> Self {
        let constant = |large: &super::Large| large.value.clone().unwrap_or_else(no_array);
        let (memory, arrays) = program.take_spare();
        Self {
            context,
            program,
            memory,
            arrays,
            large: program.large.iter().map(constant).collect(),
            unspent: 0,
            spent: 0,
            #[cfg(feature = "jit")]
            failed: None,
        }
    }

    /// Charges the steps so far.
    pub(super) fn spend(&mut self) -> Result<()> {
        let steps = take(&mut self.unspent);
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

    pub(super) fn block(&mut self, block: &Block) -> Result<()> {
        self.unspent += block.fuel;
        block.operations.iter().try_for_each(|operation| self.execute(operation))
    }

    pub(super) fn execute(&mut self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Elementwise(operation) => operation.apply(self.memory.bytes_mut()),
            Operation::Move(operation) => self.move_data(operation),
            Operation::Choose { predicate, values, result } => {
                let from = values[usize::from(self.memory.bytes()[*predicate] == 0)];
                let copy = LoopCopy::new(from, result.start, result.bytes);
                self.memory.copy(std::iter::once(copy));
            }
            Operation::Product { operands, result } => {
                let [a, b] = operands.map(|place| bytemuck::cast_slice(self.memory.read(place)));
                if let Some(product) = short_product(a, b, Arithmetic::Fast) {
                    self.memory.write(*result, bytemuck::bytes_of(&product));
                }
            }
            Operation::Kernel(number) => self.kernel(*number)?,
            Operation::Compute(number) | Operation::Formula { kernel: number, .. } => {
                self.compute(*number);
            }
            Operation::Fused(call) => call.apply(self.memory.bytes_mut(), &self.large),
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

    fn move_data(&mut self, Move { copies, from, to, walk }: &Move) {
        if let Some((walk, places)) = walk
            && (copies.len() > MOST_COPIES || copies.iter().any(|copy| copy.count > MOST_COPIES))
        {
            return self.memory.walk(walk, *places);
        }
        let base = |window: &Option<Window>| match window {
            Some(window) => window.base(&self.memory).map(|base| (base, window.array)),
            None => Some((0, Source::Small(Place { start: 0, bytes: 0 }))),
        };
        let (Some((read, from)), Some((written, to))) = (base(from), base(to)) else { return };
        match (from, to) {
            (Source::Small(a), Source::Small(b)) => {
                let shifted = |copy: &LoopCopy| copy.shifted(a.start + read, b.start + written);
                self.memory.copy(copies.iter().map(shifted));
            }
            (Source::Large(number), _) => {
                let (array, memory) = (self.large[number].bytes(), self.memory.bytes_mut());
                for copy in copies {
                    copy.shifted(read, written).run(array, memory);
                }
            }
            (_, Source::Large(number)) => {
                let (array, memory) = (self.large[number].bytes_mut(), self.memory.bytes());
                for copy in copies {
                    copy.shifted(read, written).run(memory, array);
                }
            }
        }
    }

    fn compute(&mut self, number: usize) {
        let KernelCall { callee, operands, results, sharing, .. } = &self.program.kernels[number];
        let Some(kernel) = callee.kernel() else { return };
        if let [(result, _)] = &**results {
            let (outside, output) = around(self.memory.bytes_mut(), *result);
            let inputs = operands.iter().map(|(source, _)| match *source {
                Source::Small(place) => outside.read(place),
                Source::Large(number) => self.large[number].bytes(),
            });
            let inputs: SmallVec<[&[u8]; 4]> = inputs.collect();
            self.unspent += sharing.run(None, || kernel.compute(&inputs, &mut [output]));
            return;
        }
        let mut places: SmallVec<[(usize, Place); 2]> =
            results.iter().map(|(place, _)| *place).enumerate().collect();
        places.sort_unstable_by_key(|(_, place)| place.start);
        let mut outputs: SmallVec<[&mut [u8]; 2]> = SmallVec::new();
        outputs.resize_with(places.len(), || &mut []);
        let between = between(self.memory.bytes_mut(), places.into_iter(), &mut outputs);
        let inputs = operands.iter().map(|(source, _)| match *source {
            Source::Small(place) => read_between(&between, place).unwrap_or_default(),
            Source::Large(number) => self.large[number].bytes(),
        });
        let inputs: SmallVec<[&[u8]; 4]> = inputs.collect();
        self.unspent += sharing.run(None, || kernel.compute(&inputs, &mut outputs));
    }

    fn kernel(&mut self, number: usize) -> Result<()> {
        let call = &self.program.kernels[number];
        let (operands, results) = &mut self.arrays[number];
        let is_update = call.callee.is_update();
        let updated = if is_update { call.operands[0].0.large() } else { None };
        let mut large = updated.map(|n| std::mem::replace(&mut self.large[n], no_array()));
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
        let outputs = large.as_mut().map_or(&mut **results, std::slice::from_mut);
        let run = || call.callee.run(self.context, &inputs, outputs);
        call.sharing.run(None, run).map_err(located)?;
        drop(inputs);
        if let (Some(number), Some(array)) = (updated, large) {
            self.large[number] = array;
        }
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
