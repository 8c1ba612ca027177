//! From a `while` to the operations of a program.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops compute arrays")]
use super::fuse::fuse;
use super::invariants::Invariants;
use super::memory::{Image, LoopCopy, Place};
use super::operation::{KernelCall, Operation};
use super::sharing::share;
use super::{Block, Condition, KEPT, Large, LoopProgram, Repeat, code};
use crate::analysis::Analysis;
use crate::lower::{transpose_folded, users};
use crate::plan::LiteralFn;
use crate::state::Site;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::op::{Conditional, While};
use hlo::{Array, ArrayShape, Op, Shape};
use num::array::static_shape;
use num::index::to_usize;
use num::tier_up::TierUp;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// The limit of bytes of a small array: kernels take more time for larger ones than steps do beside.
const SMALL: usize = 1 << 16;
/// How a loop changes arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strategy {
    /// Whether a place is changed where it is, so that nothing can need the value before.
    in_place: bool,
    /// The most bytes of an array that is copied before it is changed. Larger ones that come into
    /// the loop have memory of their own, and are changed where they are.
    pub(super) most_copied: usize,
}

/// The strategies that are tried, best first. The last one is that of a loop that needs a large
/// array after its change, which frames copy too.
pub(super) const STRATEGIES: [Strategy; 3] = [
    Strategy { in_place: true, most_copied: 1 << 12 },
    Strategy { in_place: false, most_copied: 1 << 12 },
    Strategy { in_place: false, most_copied: SMALL },
];
/// The limit of bytes of the block, and of all its arrays before they share it.
const BLOCK: usize = 1 << 20;
const ARRAYS: usize = 1 << 26;

/// Instructions that any program may have. One may have more if it is not longer than the module by
/// computations that are called several times.
const INSTRUCTIONS: usize = 4096;
/// The limit of computations that are open while a program is compiled.
const DEPTH: usize = 32;

/// Returns the loop as a program, or its condition if that reads scalars alone; `None` if neither
/// is one.
pub(crate) fn compile(
    analysis: &Analysis<'_>,
    functions: &Functions<'_>,
    op: &While,
) -> Option<LoopProgram> {
    let builder = |strategy| LoopBuilder::new(analysis, functions, strategy);
    for strategy in STRATEGIES {
        let mut builder = builder(strategy);
        match whole(&mut builder, op) {
            Some((condition, body, carried)) => {
                let mut repeat = Repeat { condition, body };
                let before = builder.invariants().of_loop(&mut repeat);
                let before = Block { operations: before, fuel: 0 };
                let Repeat { condition, body } = repeat;
                let program = builder.finish(condition, Some((before, body)), &carried);
                if program.image.bytes() <= BLOCK {
                    return Some(program);
                }
                break;
            }
            None if builder.has_no_strategy => break,
            None => {}
        }
    }
    condition(builder(STRATEGIES[0]), op)
}

/// Returns the condition and the body of a loop, and the leaves of its value; `None` if it has other
/// operations than those on small arrays.
fn whole(builder: &mut LoopBuilder<'_>, op: &While) -> Option<(Condition, Block, Leaves)> {
    let parameter =
        *builder.analysis.module.computations[op.body].program_shape().parameters.first()?;
    let carried: Leaves =
        parameter.leaves().into_iter().map(|leaf| builder.argument(leaf)).collect::<Option<_>>()?;
    let (Repeat { condition, body }, results) = builder.repeat(op, &carried)?;
    Some((condition, body, results))
}

/// Returns the condition of a loop as a program; `None` if it reads other values than scalars.
fn condition(mut builder: LoopBuilder<'_>, op: &While) -> Option<LoopProgram> {
    let computation = &builder.analysis.module.computations[op.condition];
    let parameter = *computation.program_shape().parameters.first()?;
    let leaves = parameter.leaves().into_iter().map(|leaf| match leaf.array() {
        Some(array) if array.rank() == 0 => builder.argument(leaf),
        // Nothing can read it.
        _ => Some(Leaf::Token),
    });
    let carried: Leaves = leaves.collect::<Option<_>>()?;
    let condition = builder.condition(op.condition, &carried)?;
    Some(builder.finish(condition, None, &carried))
}

/// The products that stand for instructions with transpositions.
type FoldedDots = FxHashMap<InstructionId, Instruction>;

/// Returns which instructions the leaves of a computation's result follow from.
fn needed(computation: &Computation, folded: &FoldedDots) -> Vec<bool> {
    let instructions = &computation.instructions;
    let leaves = instructions.iter().map(|(_, instruction)| instruction.shape.leaves().len());
    let mut needed: Vec<Vec<bool>> = leaves.map(|count| vec![false; count]).collect();
    needed[computation.root.index()].fill(true);
    for (id, instruction) in instructions.iter().rev() {
        let instruction = folded.get(&id).unwrap_or(instruction);
        let own = std::mem::take(&mut needed[id.index()]);
        match &instruction.op {
            Op::Tuple(_) => {
                let mut own = own.iter();
                for operand in &instruction.operands {
                    needed[operand.index()].iter_mut().zip(&mut own).for_each(|(x, is)| *x |= is);
                }
            }
            Op::GetTupleElement(op) => {
                let tuple = instruction.operands[0];
                let first = first_leaf(&instructions[tuple].shape, to_usize(op.index));
                let of = needed[tuple.index()].iter_mut().skip(first);
                of.zip(&own).for_each(|(x, is)| *x |= is);
            }
            op if op.opcode().aliases_operand() => {
                let of = &mut needed[instruction.operands[0].index()];
                of.iter_mut().zip(&own).for_each(|(x, is)| *x |= is);
            }
            _ if own.contains(&true) => {
                instruction.operands.iter().for_each(|o| needed[o.index()].fill(true));
            }
            _ => {}
        }
        needed[id.index()] = own;
    }
    needed.iter().map(|leaves| leaves.contains(&true)).collect()
}

/// Returns the number of the first leaf of an element of a tuple.
fn first_leaf(tuple: &Shape, index: usize) -> usize {
    let elements = tuple.tuple().unwrap_or_default();
    elements.iter().take(index).map(|shape| shape.leaves().len()).sum()
}

/// Returns the place of a small array.
pub(super) fn readable(leaves: &Leaves) -> Option<Place> {
    match leaves.first()? {
        Leaf::Small(place, ..) => Some(*place),
        Leaf::Large { .. } | Leaf::Empty(_) | Leaf::Token => None,
    }
}

/// Where a leaf of a value is.
#[derive(Debug, Clone)]
pub(super) enum Leaf {
    /// A place, as it is after a number of updates.
    Small(Place, Arc<ArrayShape>, usize),
    /// One of the large arrays, as it is after a number of updates.
    Large {
        array: usize,
        version: usize,
        shape: Arc<ArrayShape>,
    },
    /// An array without elements.
    Empty(Arc<ArrayShape>),
    Token,
}

pub(super) type Leaves = Rc<[Leaf]>;

/// Returns the functions of instructions without a kernel, on operands of these shapes.
pub(crate) type Functions<'a> = dyn Fn(Site, &Instruction, &[&Shape]) -> Box<LiteralFn> + 'a;

/// A program that is built.
pub(super) struct LoopBuilder<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) functions: &'a Functions<'a>,
    pub(super) image: Image,
    pub(super) large: Vec<Large>,
    /// The updates of each large array so far. An earlier version is gone.
    pub(super) versions: Vec<usize>,
    pub(super) kernels: Vec<KernelCall>,
    /// The updates of each place so far, by its first byte.
    updates: BTreeMap<usize, usize>,
    /// The operations so far of the block that is built.
    pub(super) block: Block,
    pub(super) strategy: Strategy,
    /// Whether what has failed is the same in every strategy.
    has_no_strategy: bool,
    depth: usize,
    count: usize,
    /// The limit of `count`.
    most: usize,
}

impl<'a> LoopBuilder<'a> {
    pub(super) fn new(
        analysis: &'a Analysis<'a>,
        functions: &'a Functions<'a>,
        strategy: Strategy,
    ) -> Self {
        Self {
            analysis,
            functions,
            image: Image::default(),
            large: Vec::new(),
            versions: Vec::new(),
            updates: BTreeMap::new(),
            kernels: Vec::new(),
            block: Block::default(),
            strategy,
            has_no_strategy: false,
            depth: 0,
            count: 0,
            most: INSTRUCTIONS.max(2 * analysis.instructions),
        }
    }
    pub(super) fn invariants(&self) -> Invariants<'_> {
        Invariants { image: &self.image, kernels: &self.kernels }
    }
    /// Returns the program of a condition, and of a body with what is computed once before it.
    pub(super) fn finish(
        mut self,
        mut condition: Condition,
        body: Option<(Block, Block)>,
        carried: &Leaves,
    ) -> LoopProgram {
        let (mut before, mut body) =
            body.map_or_else(Default::default, |(before, body)| (before, Some(body)));
        let places = carried.iter().filter_map(|leaf| match leaf {
            Leaf::Small(place, ..) => Some(*place),
            Leaf::Large { .. } | Leaf::Empty(_) | Leaf::Token => None,
        });
        let blocks = body.iter_mut().chain([&mut condition.block, &mut before]).collect();
        let places = places.chain([condition.value]);
        let fused = fuse(blocks, (&self.image, &mut self.kernels), places);
        let mut carried = carried.to_vec();
        if let Some(body) = &mut body {
            let of_arrays = (&self.image, &mut *self.kernels);
            self.image = share((&mut condition, body, &mut before), of_arrays, &mut carried);
        }
        // Operations run one after another.
        let scratch = self.kernels.iter().map(KernelCall::scratch).fold(fused, usize::max);
        let arrays = self.kernels.iter().map(KernelCall::bytes);
        let kept = arrays.fold(self.image.bytes(), usize::saturating_add);
        let body_of_code = body.as_ref().filter(|_| self.analysis.programs.become_code());
        let work =
            body_of_code.and_then(|body| code::work([&condition.block, body], &self.kernels));
        LoopProgram {
            before,
            condition,
            body,
            carried,
            bytes: kept.saturating_add(scratch),
            is_kept: KEPT.contains(&kept),
            image: self.image,
            large: self.large,
            kernels: self.kernels,
            tier_up: work.map_or_else(TierUp::never, |work| TierUp::new(self.count.max(work))),
            spare: Mutex::default(),
        }
    }

    /// Returns a new place for an array; `None` if it is not small.
    pub(super) fn place(&mut self, shape: &ArrayShape) -> Option<Place> {
        let bytes = shape.byte_count().filter(|bytes| (1..=SMALL).contains(bytes));
        let bytes = bytes.filter(|bytes| self.image.bytes() + bytes <= ARRAYS);
        self.has_no_strategy |= bytes.is_none();
        bytes.map(|bytes| self.image.place(shape.ty, bytes))
    }
    fn small(&mut self, shape: &Arc<ArrayShape>) -> Option<Leaf> {
        Some(Leaf::Small(self.place(shape)?, Arc::clone(shape), 0))
    }
    pub(super) fn large(&mut self, shape: &Arc<ArrayShape>, value: Option<Array>) -> Option<Leaf> {
        shape.byte_count().filter(|&bytes| bytes > 0)?;
        self.large.push(Large { shape: Arc::clone(shape), value, is_updated: false });
        self.versions.push(0);
        Some(Leaf::Large { array: self.large.len() - 1, version: 0, shape: Arc::clone(shape) })
    }
    /// Returns the leaf of a value that the loop carries from outside.
    pub(super) fn argument(&mut self, shape: &Shape) -> Option<Leaf> {
        match shape {
            Shape::Array(array) if array.dynamic.is_none() => {
                let array = Arc::new(static_shape(array));
                match array.byte_count()? {
                    0 => Some(Leaf::Empty(array)),
                    bytes if bytes <= self.strategy.most_copied => self.small(&array),
                    _ => self.large(&array, None),
                }
            }
            Shape::Token => Some(Leaf::Token),
            Shape::Array(_) | Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => None,
        }
    }
    pub(super) fn push(&mut self, operation: Operation) {
        self.block.operations.push(operation);
    }

    /// Returns the number of updates of a place so far.
    fn version(&self, place: Place) -> usize {
        self.updates.get(&place.start).copied().unwrap_or(0)
    }
    /// Updates a place, if that is not left to a copy; returns the array that it then has.
    pub(super) fn updated(&mut self, place: Place, shape: &Arc<ArrayShape>) -> Option<Leaf> {
        if !self.strategy.in_place || self.image.constant(place).is_some() {
            return None;
        }
        let version = self.updates.entry(place.start).or_insert(0);
        *version += 1;
        Some(Leaf::Small(place, Arc::clone(shape), *version))
    }
    /// Returns the leaf if its array has not been updated since.
    pub(super) fn current(&self, leaf: &Leaf) -> Option<Leaf> {
        let is_current = match leaf {
            Leaf::Large { array, version, .. } => self.versions[*array] == *version,
            Leaf::Small(place, _, version) => self.version(*place) == *version,
            Leaf::Empty(_) | Leaf::Token => true,
        };
        is_current.then(|| leaf.clone())
    }

    /// Builds the block of a computation; returns it with its result.
    fn block(&mut self, id: ComputationId, parameters: &[Leaves]) -> Option<(Block, Leaves)> {
        let outer = std::mem::take(&mut self.block);
        let result = self.computation(id, parameters)?;
        Some((std::mem::replace(&mut self.block, outer), result))
    }

    /// Adds the operations of a computation; returns its result.
    fn computation(&mut self, id: ComputationId, parameters: &[Leaves]) -> Option<Leaves> {
        let module = self.analysis.module;
        let computation = &module.computations[id];
        self.depth += 1;
        self.count += computation.instructions.len();
        if self.depth > DEPTH || self.count > self.most {
            self.has_no_strategy = true;
            return None;
        }
        let users = users(computation);
        let sites =
            computation.instructions.ids().map(|instruction| Site { computation: id, instruction });
        let folded = |site: Site| {
            let dot = transpose_folded(self.analysis, (computation, &users), site)?;
            Some((site.instruction, dot))
        };
        let folded: FoldedDots = sites.filter_map(folded).collect();
        let needed = needed(computation, &folded);
        let mut values: Vec<Leaves> = Vec::with_capacity(computation.instructions.len());
        for (instruction, definition) in computation.instructions.iter() {
            self.block.fuel += 1;
            if self.analysis.effects.has(definition) {
                self.has_no_strategy = true;
                return None;
            }
            if !needed[instruction.index()] {
                // Nothing reads these leaves.
                values.push(vec![Leaf::Token; definition.shape.leaves().len()].into());
                continue;
            }
            let site = Site { computation: id, instruction };
            let definition = folded.get(&instruction).unwrap_or(definition);
            let operands = definition.operands.iter().map(|o| Rc::clone(&values[o.index()]));
            let operands: Vec<Leaves> = operands.collect();
            let shapes = definition.operands.iter().map(|&o| &computation.instructions[o].shape);
            let shapes: Vec<&Shape> = shapes.collect();
            let value = self.value(site, definition, &operands, &shapes, parameters)?;
            values.push(value);
        }
        self.depth -= 1;
        Some(values.swap_remove(computation.root.index()))
    }

    /// Returns the value of an instruction; adds its operations.
    pub(super) fn value(
        &mut self,
        site: Site,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
        parameters: &[Leaves],
    ) -> Option<Leaves> {
        if self.analysis.may_be_smaller(site, instruction) {
            self.has_no_strategy = true;
            return None;
        }
        if instruction.opcode().aliases_operand() {
            return Some(Rc::clone(&operands[0]));
        }
        match &instruction.op {
            Op::Parameter(parameter) => {
                Some(Rc::clone(parameters.get(to_usize(parameter.number))?))
            }
            Op::Tuple(_) => {
                Some(operands.iter().flat_map(|leaves| leaves.iter().cloned()).collect())
            }
            Op::GetTupleElement(op) => {
                let first = first_leaf(shapes[0], to_usize(op.index));
                let count = instruction.shape.leaves().len();
                Some(operands[0].get(first..first + count)?.into())
            }
            Op::AfterAll(_) => Some([Leaf::Token].into()),
            Op::Call(op) => self.computation(op.to_apply, operands),
            Op::Fusion(op) => self.computation(op.calls, operands),
            Op::While(op) => {
                let carried: Option<Leaves> =
                    operands[0].iter().map(|leaf| self.carry(leaf)).collect();
                let (repeat, value) = self.repeat(op, &carried?)?;
                self.push(Operation::Repeat(Box::new(repeat)));
                Some(value)
            }
            Op::Conditional(op) => self.branch(op, operands, shapes),
            _ => {
                let all = operands.iter().flat_map(|leaves| leaves.iter());
                all.map(|leaf| self.current(leaf).map(drop)).collect::<Option<()>>()?;
                let shape = instruction.shape.array().filter(|shape| shape.dynamic.is_none());
                let is_custom = matches!(instruction.op, Op::CustomCall(_));
                match shape {
                    // What is empty is known, unless an unknown function may refuse.
                    Some(shape) if shape.element_count() == Some(0) && !is_custom => {
                        Some([Leaf::Empty(Arc::new(static_shape(shape)))].into())
                    }
                    Some(shape) => {
                        let shape = Arc::new(static_shape(shape));
                        Some([self.array(site, instruction, operands, shapes, &shape)?].into())
                    }
                    None => self.kernel(site, instruction, operands, shapes),
                }
            }
        }
    }

    /// Returns the place of a copy that is to be changed; `None` if that takes too long.
    pub(super) fn copied(&mut self, from: Place, shape: &ArrayShape) -> Option<Place> {
        (from.bytes <= self.strategy.most_copied).then_some(())?;
        let to = self.place(shape)?;
        self.push(Operation::copy(from, to));
        Some(to)
    }

    /// Returns the leaf of a loop's value that begins as this one.
    fn carry(&mut self, leaf: &Leaf) -> Option<Leaf> {
        Some(match self.current(leaf)? {
            Leaf::Small(from, shape, _) => Leaf::Small(self.copied(from, &shape)?, shape, 0),
            leaf @ (Leaf::Large { .. } | Leaf::Empty(_) | Leaf::Token) => leaf,
        })
    }

    /// Builds the condition of a loop.
    fn condition(&mut self, id: ComputationId, carried: &Leaves) -> Option<Condition> {
        let (block, value) = self.block(id, std::slice::from_ref(carried))?;
        Some(Condition { block, value: readable(&value)? })
    }

    /// Builds a loop whose value begins as `carried`; returns it with the value that it ends with.
    fn repeat(&mut self, op: &While, carried: &Leaves) -> Option<(Repeat, Leaves)> {
        let condition = self.condition(op.condition, carried)?;
        let (mut body, results) = self.block(op.body, std::slice::from_ref(carried))?;
        let mut value = Vec::with_capacity(carried.len());
        let mut next = Vec::new();
        for (from, to) in results.iter().zip(carried.iter()) {
            value.push(match (self.current(from)?, to) {
                (Leaf::Small(from, ..), Leaf::Small(to, shape, _)) => {
                    next.push(LoopCopy::new(from.start, to.start, to.bytes));
                    Leaf::Small(*to, Arc::clone(shape), self.version(*to))
                }
                (Leaf::Large { array, version, .. }, Leaf::Large { array: same, shape, .. })
                    if array == *same =>
                {
                    Leaf::Large { array, version, shape: Arc::clone(shape) }
                }
                (Leaf::Token, Leaf::Token) => Leaf::Token,
                (Leaf::Empty(shape), Leaf::Empty(_)) => Leaf::Empty(shape),
                _ => return None,
            });
        }
        let next = self.without_conflicts(next)?;
        body.operations.push(Operation::copies(next));
        // An iteration costs one step more than its computations, as in the machine.
        body.fuel += 1;
        Some((Repeat { condition, body }, value.into()))
    }

    /// Returns copies that do in order what these do at once.
    fn without_conflicts(&mut self, copies: Vec<LoopCopy>) -> Option<Vec<LoopCopy>> {
        let copies: Vec<LoopCopy> =
            copies.into_iter().filter(|copy| copy.from != copy.to).collect();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for copy in &copies {
            let is_overwritten = |other: &LoopCopy| {
                other.to < copy.from + copy.bytes && copy.from < other.to + other.bytes
            };
            if copies.iter().any(is_overwritten) {
                let array = self.image.array_at(copy.from)?;
                let between = self.image.place(array.ty, copy.bytes);
                first.push(LoopCopy { to: between.start, ..*copy });
                last.push(LoopCopy { from: between.start, ..*copy });
            } else {
                last.push(*copy);
            }
        }
        first.append(&mut last);
        Some(first)
    }

    fn branch(
        &mut self,
        op: &Conditional,
        operands: &[Leaves],
        shapes: &[&Shape],
    ) -> Option<Leaves> {
        let (selector, arguments) = operands.split_first()?;
        let place = readable(selector).filter(|_| self.current(&selector[0]).is_some())?;
        let ty = shapes[0].array()?.ty;
        let (before, updates) = (self.versions.clone(), self.updates.clone());
        let (mut after, mut updated) = (before.clone(), updates.clone());
        let mut built: Vec<(Block, Leaves)> = Vec::with_capacity(op.branches.len());
        for (&id, argument) in op.branches.iter().zip(arguments) {
            // Large constants of the branches before have numbers of their own.
            self.versions[..before.len()].copy_from_slice(&before);
            self.updates.clone_from(&updates);
            let (block, result) = self.block(id, std::slice::from_ref(argument))?;
            let result: Option<Leaves> = result.iter().map(|leaf| self.current(leaf)).collect();
            built.push((block, result?));
            for (after, now) in after.iter_mut().zip(&self.versions) {
                *after = (*after).max(*now);
            }
            for (&place, &now) in &self.updates {
                let after = updated.entry(place).or_insert(0);
                *after = now.max(*after);
            }
        }
        self.updates = updated;
        self.versions[..after.len()].copy_from_slice(&after);
        let mut value = Vec::new();
        for (i, leaf) in built.first()?.1.clone().iter().enumerate() {
            value.push(match leaf {
                Leaf::Small(_, shape, _) => {
                    let to = self.place(shape)?;
                    for (block, result) in &mut built {
                        let Leaf::Small(from, ..) = &result[i] else { return None };
                        block.operations.push(Operation::copy(*from, to));
                    }
                    Leaf::Small(to, Arc::clone(shape), 0)
                }
                Leaf::Large { array, shape, .. } => {
                    let is_same = |leaf: &Leaf| matches!(leaf, Leaf::Large { array: other, .. } if other == array);
                    if !built.iter().all(|(_, result)| is_same(&result[i])) {
                        return None;
                    }
                    Leaf::Large { array: *array, version: self.versions[*array], shape: Arc::clone(shape) }
                }
                leaf @ (Leaf::Empty(_) | Leaf::Token) => leaf.clone(),
            });
        }
        let branches = built.into_iter().map(|(block, _)| block).collect();
        self.push(Operation::Branch { selector: place, ty, branches });
        Some(value.into())
    }
}
