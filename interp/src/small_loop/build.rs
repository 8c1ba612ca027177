//! From a `while` to the operations of a loop over small arrays.
use super::heat::Heat;
use super::memory::{ALIGNMENT, Copy, Place};
use super::operation::{Beyond, ElementStep, KernelCall, Operation, Source, Start, Window};
use super::{Block, Large, Repeat, SmallLoop};
use crate::index::{others, rows, strides, to_i64, to_usize};
use crate::kernel;
use crate::kernel::data_movement::moves_into;
use crate::lower::{Lowering, cost, has_effect};
use crate::num::loops::{binary_loop, select_loop};
use crate::plan::{Fusion, Kernel, Reuse};
use crate::scalar_program::step::Step;
use crate::state::Site;
use crate::value::static_shape;
use hlo::ir::{Computation, ComputationId, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::{Conditional, Gather, Scatter, While};
use hlo::{ArrayShape, Dims, ElementType, Literal, Op, Shape};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// The limit of bytes of a small array: kernels take more time for larger ones than a step does beside.
const SMALL: usize = 4096;

/// The limits of operations of a loop, and of computations that are open while it is compiled.
const OPERATIONS: usize = 4096;
const DEPTH: usize = 32;

/// The loop as a program; `None` if it has other operations than those on small arrays.
pub(crate) fn compile(lowering: &Lowering<'_>, op: &While) -> Option<SmallLoop> {
    let mut builder = Builder {
        lowering,
        image: Vec::new(),
        constants: FxHashSet::default(),
        large: Vec::new(),
        versions: Vec::new(),
        kernels: Vec::new(),
        block: Block::default(),
        depth: 0,
        count: 0,
    };
    let module = lowering.module();
    let parameter = *module.computations[op.body].program_shape().parameters.first()?;
    let carried: Leaves =
        parameter.leaves().into_iter().map(|leaf| builder.argument(leaf)).collect::<Option<_>>()?;
    let results = builder.repeat(op, &carried)?;
    debug_assert_eq!(carried.len(), results.len());
    let scratch = builder.kernels.iter().map(KernelCall::bytes).fold(0, usize::saturating_add);
    let carried = results.iter().map(|leaf| match leaf {
        Leaf::Small(place, shape) => super::Leaf::Small(*place, Arc::clone(shape)),
        Leaf::Large { array, shape, .. } => super::Leaf::Large(*array, Arc::clone(shape)),
        Leaf::Token => super::Leaf::Token,
    });
    let carried = carried.collect();
    let Some(Operation::Repeat(repeat)) = builder.block.operations.pop() else { return None };
    let counter = builder.place(&ArrayShape::new(ElementType::U64, Dims::new()))?;
    Some(SmallLoop {
        repeat: *repeat,
        carried,
        bytes: builder.image.len().next_multiple_of(ALIGNMENT).saturating_add(scratch),
        image: builder.image,
        large: builder.large,
        kernels: builder.kernels,
        counter,
        heat: Heat::new(lowering.programs.jit, builder.count),
    })
}

/// Returns which instructions the result of a computation follows from.
fn needed(computation: &Computation) -> Vec<bool> {
    let mut needed = vec![false; computation.instructions.len()];
    needed[computation.root.index()] = true;
    for (id, instruction) in computation.instructions.iter().rev() {
        if needed[id.index()] {
            instruction.operands.iter().for_each(|operand| needed[operand.index()] = true);
        }
    }
    needed
}

/// Where a leaf of a value is.
#[derive(Debug, Clone)]
enum Leaf {
    Small(Place, Arc<ArrayShape>),
    /// One of the large arrays, as it is after so many updates.
    Large {
        array: usize,
        version: usize,
        shape: Arc<ArrayShape>,
    },
    Token,
}

type Leaves = Rc<[Leaf]>;

struct Builder<'a> {
    lowering: &'a Lowering<'a>,
    image: Vec<u8>,
    /// The places of constants.
    constants: FxHashSet<usize>,
    large: Vec<Large>,
    /// The updates of each large array so far. An earlier version is gone.
    versions: Vec<usize>,
    kernels: Vec<KernelCall>,
    /// The operations so far of the block that is built.
    block: Block,
    depth: usize,
    count: usize,
}

impl Builder<'_> {
    /// Returns a new place for an array; `None` if it is not small.
    fn place(&mut self, shape: &ArrayShape) -> Option<Place> {
        let bytes = shape.byte_count().filter(|bytes| (1..=SMALL).contains(bytes))?;
        let start = self.image.len().next_multiple_of(ALIGNMENT);
        self.image.resize(start + bytes, 0);
        Some(Place { start, bytes })
    }
    fn small(&mut self, shape: &Arc<ArrayShape>) -> Option<Leaf> {
        Some(Leaf::Small(self.place(shape)?, Arc::clone(shape)))
    }
    fn large(&mut self, shape: &Arc<ArrayShape>, value: Option<Literal>) -> Option<Leaf> {
        shape.byte_count().filter(|&bytes| bytes > 0)?;
        self.large.push(Large { shape: Arc::clone(shape), value, is_updated: false });
        self.versions.push(0);
        Some(Leaf::Large { array: self.large.len() - 1, version: 0, shape: Arc::clone(shape) })
    }
    /// Returns the leaf of a value that the loop carries from outside.
    fn argument(&mut self, shape: &Shape) -> Option<Leaf> {
        match shape {
            Shape::Array(array) if array.dynamic.is_none() => {
                let array = Arc::new(static_shape(array));
                match array.byte_count()? {
                    0..=SMALL => self.small(&array),
                    _ => self.large(&array, None),
                }
            }
            Shape::Token => Some(Leaf::Token),
            Shape::Array(_) | Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => None,
        }
    }
    fn push(&mut self, operation: Operation) {
        self.block.operations.push(operation);
    }

    /// Returns the leaf if its array has not been updated since.
    fn current(&self, leaf: &Leaf) -> Option<Leaf> {
        let is_current = match leaf {
            Leaf::Large { array, version, .. } => self.versions[*array] == *version,
            Leaf::Small(..) | Leaf::Token => true,
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
        let module = self.lowering.module();
        let computation = &module.computations[id];
        self.depth += 1;
        self.count += computation.instructions.len();
        if self.depth > DEPTH || self.count > OPERATIONS {
            return None;
        }
        let needed = needed(computation);
        let mut values: Vec<Leaves> = Vec::with_capacity(computation.instructions.len());
        for (instruction, definition) in computation.instructions.iter() {
            self.block.fuel += 1;
            if has_effect(definition, &self.lowering.effects) {
                return None;
            }
            if !needed[instruction.index()] {
                values.push([].into());
                continue;
            }
            let site = Site { computation: id, instruction };
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
    fn value(
        &mut self,
        site: Site,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
        parameters: &[Leaves],
    ) -> Option<Leaves> {
        if self.lowering.may_be_smaller(site, instruction) {
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
                let elements = shapes[0].tuple()?;
                let index = to_usize(op.index);
                let count =
                    |shapes: &[Shape]| shapes.iter().map(|s| s.leaves().len()).sum::<usize>();
                let first = count(&elements[..index]);
                Some(operands[0][first..first + count(&elements[index..=index])].into())
            }
            Op::AfterAll(_) => Some([Leaf::Token].into()),
            Op::Call(op) => self.computation(op.to_apply, operands),
            Op::Fusion(op) => self.computation(op.calls, operands),
            Op::While(op) => {
                let carried: Option<Leaves> =
                    operands[0].iter().map(|leaf| self.carry(leaf)).collect();
                self.repeat(op, &carried?)
            }
            Op::Conditional(op) => self.branch(op, operands, shapes),
            _ => {
                let shape = instruction.shape.array().filter(|shape| shape.dynamic.is_none());
                match shape {
                    Some(shape) => {
                        let shape = Arc::new(static_shape(shape));
                        Some([self.array(site, instruction, operands, shapes, &shape)?].into())
                    }
                    None => self.kernel(site, instruction, operands, shapes),
                }
            }
        }
    }

    /// Returns the array that an instruction computes.
    fn array(
        &mut self,
        site: Site,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let leaf = |i: usize| operands.get(i).and_then(|leaves| leaves.first());
        if crate::lower::relabels(instruction, shapes) {
            return Some(match leaf(0)? {
                Leaf::Small(place, _) => Leaf::Small(*place, Arc::clone(shape)),
                Leaf::Large { array, version, .. } => {
                    Leaf::Large { array: *array, version: *version, shape: Arc::clone(shape) }
                }
                Leaf::Token => return None,
            });
        }
        match &instruction.op {
            Op::Constant(constant) => match &*constant.value {
                ConstantValue::Literal(value) if value.array_shape().is_some() => {
                    self.constant(shape, value)
                }
                ConstantValue::Literal(_) | ConstantValue::Elided(_) => None,
            },
            Op::Iota(op) => {
                let mut numbers = Literal::zeros(Arc::clone(shape));
                kernel::iota_into(op.iota_dimension.unwrap_or(0), (0, 1), &mut numbers);
                self.constant(shape, &numbers)
            }
            Op::DynamicSlice(op) => self.slice(&op.dynamic_slice_sizes, operands, shape),
            Op::DynamicUpdateSlice(_) => self.update(operands, shape),
            Op::Gather(op) if is_one(op.index_vector_dim, shapes[1]) => {
                self.gather(op, operands, shape)
            }
            Op::Scatter(op) if operands.len() == 3 && is_one(op.index_vector_dim, shapes[1]) => {
                let leaf = self.scatter(op, operands, shape);
                leaf.or_else(|| self.kernel(site, instruction, operands, shapes)?.first().cloned())
            }
            Op::Select(_) if shapes[0].array().is_some_and(|p| p.rank() == 0) => {
                self.select(operands, shape)
            }
            op => {
                if let Some(leaf) = self.moved(op, operands, shape) {
                    return Some(leaf);
                }
                let leaves = self.kernel(site, instruction, operands, shapes)?;
                leaves.first().cloned()
            }
        }
    }

    fn constant(&mut self, shape: &Arc<ArrayShape>, value: &Literal) -> Option<Leaf> {
        if shape.byte_count()? > SMALL {
            return self.large(shape, Some(value.with_shape(Arc::clone(shape))));
        }
        let place = self.place(shape)?;
        self.image[place.start..place.end()].copy_from_slice(value.bytes());
        self.constants.insert(place.start);
        Some(Leaf::Small(place, Arc::clone(shape)))
    }

    /// Returns the result of an op that only moves elements; it is applied to their numbers to tell from where. `None` of any
    /// other op, and of large operands.
    fn moved(&mut self, op: &Op, operands: &[Leaves], shape: &Arc<ArrayShape>) -> Option<Leaf> {
        let numbered = |shape: &ArrayShape| ArrayShape { ty: ElementType::U32, ..shape.clone() };
        let width = shape.ty.storage_bytes();
        let (mut sources, mut numbers, mut is_constant) = (Vec::new(), Vec::new(), true);
        for leaves in operands {
            let Leaf::Small(place, operand) = leaves.first()? else { return None };
            is_constant &= self.constants.contains(&place.start);
            let mut literal = Literal::zeros(numbered(operand));
            let slots = literal.as_mut_slice::<u32>()?.iter_mut();
            for (slot, from) in slots.zip((place.start..place.end()).step_by(width)) {
                *slot = u32::try_from(sources.len()).ok()?;
                sources.push(from);
            }
            numbers.push(literal);
        }
        let mut result = Literal::zeros(numbered(shape));
        moves_into(op, &numbers.iter().collect::<Vec<_>>(), &mut result)?;
        let place = self.place(shape)?;
        let mut copies: Vec<Copy> = Vec::new();
        let targets = (place.start..).step_by(width);
        for (&number, to) in result.as_slice::<u32>()?.iter().zip(targets) {
            let from = sources[usize::try_from(number).ok()?];
            match copies.last_mut() {
                Some(last) if last.from + last.bytes == from => last.bytes += width,
                _ => copies.push(Copy { from, to, bytes: width }),
            }
        }
        if is_constant {
            for Copy { from, to, bytes } in copies {
                self.image.copy_within(from..from + bytes, to);
            }
            self.constants.insert(place.start);
        } else {
            self.push(Operation::Copy(copies));
        }
        Some(Leaf::Small(place, Arc::clone(shape)))
    }

    /// Returns the place of a small array.
    fn readable(&self, leaves: &Leaves) -> Option<Place> {
        match leaves.first()? {
            Leaf::Small(place, _) => Some(*place),
            Leaf::Large { .. } | Leaf::Token => None,
        }
    }
    /// Returns the place of an array.
    fn source(&self, leaves: &Leaves) -> Option<(Source, Arc<ArrayShape>)> {
        match self.current(leaves.first()?)? {
            Leaf::Small(place, shape) => Some((Source::Small(place), shape)),
            Leaf::Large { array, shape, .. } => Some((Source::Large(array), shape)),
            Leaf::Token => None,
        }
    }

    fn slice(
        &mut self,
        sizes: &[i64],
        operands: &[Leaves],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let (_, of) = self.source(&operands[0])?;
        let starts = starts(&operands[1..]).filter(|starts| starts.len() == of.rank())?;
        self.slice_at(&operands[0], sizes, &starts, shape)
    }
    fn slice_at(
        &mut self,
        array: &Leaves,
        sizes: &[i64],
        starts: &[(usize, Start)],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let (array, of) = self.source(array)?;
        let window = window(&of, sizes, starts, Beyond::Clamp)?;
        let result = self.place(shape)?;
        self.push(Operation::Slice { array, window, result });
        Some(Leaf::Small(result, Arc::clone(shape)))
    }
    /// A gather of one slice.
    fn gather(
        &mut self,
        op: &Gather,
        operands: &[Leaves],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let starts = indexed(&operands[1], &op.start_index_map)?;
        if !op.operand_batching_dims.is_empty() {
            return None;
        }
        self.slice_at(&operands[0], &op.slice_sizes, &starts, shape)
    }
    /// A scatter of one window.
    fn scatter(
        &mut self,
        op: &Scatter,
        operands: &[Leaves],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let [of, indices, update] = operands else { return None };
        let starts = indexed(indices, &op.scatter_dims_to_operand_dims)?;
        let program = self.lowering.programs.get(op.to_apply)?;
        let is_of_type = |ty: &ElementType| *ty == shape.ty;
        let of_type = program.parameters().iter().chain(program.results()).all(is_of_type);
        if !op.input_batching_dims.is_empty() || !of_type {
            return None;
        }
        let Leaf::Small(mut place, part) = update.first()?.clone() else { return None };
        let mut sizes = Dims::from_elem(1, shape.rank());
        let dims = others(shape.rank(), &op.inserted_window_dims);
        for (dim, &from) in dims.into_iter().zip(&op.update_window_dims) {
            sizes[to_usize(dim)] = part.dims[to_usize(from)];
        }
        let beyond = window(shape, &sizes, &starts, Beyond::Skip)?;
        if !program.is_second() {
            let (op, ty) = program.as_binary_in_order()?;
            let function = binary_loop(op, ty)?;
            let Leaf::Small(now, _) = self.slice_at(of, &sizes, &starts, &part)? else {
                return None;
            };
            let result = self.place(&part)?;
            let operands = [now, place].into_iter().collect();
            let types = SmallVec::from_slice(&[ty, ty]);
            let step =
                ElementStep { step: Step::Binary(op, ty, 0, 1), operands: types, result: ty };
            self.push(Operation::Elementwise { function, operands, result, step: Some(step) });
            place = result;
        }
        self.update_at(of, beyond, place, shape)
    }

    fn update(&mut self, operands: &[Leaves], shape: &Arc<ArrayShape>) -> Option<Leaf> {
        let Leaf::Small(update, part) = operands[1].first()? else { return None };
        let starts = starts(&operands[2..]).filter(|starts| starts.len() == shape.rank())?;
        let window = window(shape, &part.dims, &starts, Beyond::Clamp)?;
        self.update_at(&operands[0], window, *update, shape)
    }
    fn update_at(
        &mut self,
        array: &Leaves,
        window: Window,
        update: Place,
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let (array, leaf) = match self.current(array.first()?)? {
            Leaf::Small(from, _) => {
                let to = self.copied(from, shape)?;
                (Source::Small(to), Leaf::Small(to, Arc::clone(shape)))
            }
            // A constant stays as it is.
            Leaf::Large { array, .. } if self.large[array].value.is_some() => return None,
            Leaf::Large { array, .. } => {
                self.large[array].is_updated = true;
                self.versions[array] += 1;
                let version = self.versions[array];
                (Source::Large(array), Leaf::Large { array, version, shape: Arc::clone(shape) })
            }
            Leaf::Token => return None,
        };
        self.push(Operation::Update { array, window, update });
        Some(leaf)
    }
    /// Returns the place of a copy.
    fn copied(&mut self, from: Place, shape: &ArrayShape) -> Option<Place> {
        let to = self.place(shape)?;
        self.push(Operation::Copy(vec![Copy { from: from.start, to: to.start, bytes: to.bytes }]));
        Some(to)
    }

    /// Selects a whole value by a scalar.
    fn select(&mut self, operands: &[Leaves], shape: &Arc<ArrayShape>) -> Option<Leaf> {
        let [p, a, b] = [0, 1, 2].map(|i| self.readable(&operands[i]));
        let (p, a, b) = (p?, a?, b?);
        let result = self.place(shape)?;
        self.push(if shape.rank() == 0 {
            let function = select_loop(shape.ty.storage_bytes());
            let (operands, ty) = ([p, a, b].into_iter().collect(), shape.ty);
            let types = SmallVec::from_slice(&[ElementType::Pred, ty, ty]);
            let step = ElementStep { step: Step::Select(0, 1, 2), operands: types, result: ty };
            Operation::Elementwise { function, operands, result, step: Some(step) }
        } else {
            Operation::Choose { predicate: p.start, values: [a.start, b.start], result }
        });
        Some(Leaf::Small(result, Arc::clone(shape)))
    }

    fn select_kernel(
        &self,
        op: &Op,
        operands: &[&Shape],
        result: &Shape,
    ) -> Option<Box<dyn Kernel>> {
        kernel::select(op, operands, result, self.lowering.programs)
    }

    /// Adds the kernel of an instruction, or its loop if it is elementwise.
    fn kernel(
        &mut self,
        site: Site,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
    ) -> Option<Leaves> {
        let mut needs_machine = false;
        let programs = self.lowering.programs;
        instruction.op.each_callee(&mut |id| needs_machine |= programs.needs_machine(id));
        if needs_machine {
            return None;
        }
        let kernel = self.select_kernel(&instruction.op, shapes, &instruction.shape)?;
        let sources: Vec<_> =
            operands.iter().map(|leaves| self.source(leaves)).collect::<Option<_>>()?;
        // A large array that was reshaped is passed as it is.
        let fits = sources.iter().all(|(source, of)| match source {
            Source::Small(_) => true,
            Source::Large(array) => {
                let own = &self.large[*array].shape;
                (&own.dims, own.ty) == (&of.dims, of.ty)
            }
        });
        let leaves = instruction.shape.leaves();
        let results: Vec<Arc<ArrayShape>> = leaves
            .into_iter()
            .map(|leaf| {
                leaf.array().filter(|a| a.dynamic.is_none()).map(|a| Arc::new(static_shape(a)))
            })
            .collect::<Option<_>>()?;
        if let (Fusion::Loop(function) | Fusion::Widen(function), [result]) =
            (kernel.fusion(), &*results)
            && sources.iter().all(|(_, of)| of.dims == result.dims)
        {
            let operands = sources.iter().map(|(source, _)| match source {
                Source::Small(place) => Some(*place),
                Source::Large(_) => None,
            });
            let operands = operands.collect::<Option<_>>()?;
            let place = self.place(result)?;
            let types: SmallVec<[ElementType; 3]> = sources.iter().map(|(_, of)| of.ty).collect();
            let step = Step::elementwise(&instruction.op, &types, result.ty, &[0, 1, 2])
                .map(|step| ElementStep { step, operands: types, result: result.ty });
            self.push(Operation::Elementwise { function, operands, result: place, step });
            return Some([Leaf::Small(place, Arc::clone(result))].into());
        }
        // An update of a large array copies it.
        let is_update = kernel.reuse() == Reuse::Update;
        if !fits || (is_update && matches!(sources[0].0, Source::Large(_))) {
            return None;
        }
        let mut places = Vec::with_capacity(results.len());
        for shape in results {
            places.push((self.place(&shape)?, shape));
        }
        self.block.fuel += cost::steps(&instruction.op, shapes);
        let value = places.iter().map(|(place, shape)| Leaf::Small(*place, Arc::clone(shape)));
        let value = value.collect();
        self.kernels.push(KernelCall { kernel, site, operands: sources, results: places });
        self.push(Operation::Kernel(self.kernels.len() - 1));
        Some(value)
    }

    /// Returns the leaf of a loop's value that begins as this one.
    fn carry(&mut self, leaf: &Leaf) -> Option<Leaf> {
        Some(match self.current(leaf)? {
            Leaf::Small(from, shape) => Leaf::Small(self.copied(from, &shape)?, shape),
            leaf @ (Leaf::Large { .. } | Leaf::Token) => leaf,
        })
    }

    /// Adds a loop whose value begins as `carried`; returns the value that it ends with.
    fn repeat(&mut self, op: &While, carried: &Leaves) -> Option<Leaves> {
        let (condition, test) = self.block(op.condition, std::slice::from_ref(carried))?;
        let test = self.readable(&test)?;
        let (mut body, results) = self.block(op.body, std::slice::from_ref(carried))?;
        let mut value = Vec::with_capacity(carried.len());
        let mut next = Vec::new();
        for (from, to) in results.iter().zip(carried.iter()) {
            value.push(match (self.current(from)?, to) {
                (Leaf::Small(from, _), Leaf::Small(to, _)) => {
                    next.push(Copy { from: from.start, to: to.start, bytes: to.bytes });
                    carried[value.len()].clone()
                }
                (Leaf::Large { array, version, .. }, Leaf::Large { array: same, shape, .. })
                    if array == *same =>
                {
                    Leaf::Large { array, version, shape: Arc::clone(shape) }
                }
                (Leaf::Token, Leaf::Token) => Leaf::Token,
                _ => return None,
            });
        }
        let next = self.without_conflicts(next)?;
        body.operations.push(Operation::Copy(next));
        // An iteration costs one step more than its computations, as in the machine.
        body.fuel += 1;
        self.push(Operation::Repeat(Box::new(Repeat { condition, test, body })));
        Some(value.into())
    }

    /// Returns copies that do in order what these do at once.
    fn without_conflicts(&mut self, copies: Vec<Copy>) -> Option<Vec<Copy>> {
        let copies: Vec<Copy> = copies.into_iter().filter(|copy| copy.from != copy.to).collect();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for copy in &copies {
            let is_overwritten = |other: &Copy| {
                other.to < copy.from + copy.bytes && copy.from < other.to + other.bytes
            };
            if copies.iter().any(is_overwritten) {
                let bytes = ArrayShape::new(ElementType::U8, [to_i64(copy.bytes)].as_slice());
                let between = self.place(&bytes)?;
                first.push(Copy { to: between.start, ..*copy });
                last.push(Copy { from: between.start, ..*copy });
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
        let place = self.readable(selector)?;
        let ty = shapes[0].array()?.ty;
        let before = self.versions.clone();
        let mut after = before.clone();
        let mut built: Vec<(Block, Leaves)> = Vec::with_capacity(op.branches.len());
        for (&id, argument) in op.branches.iter().zip(arguments) {
            self.versions.truncate(before.len());
            self.versions.copy_from_slice(&before);
            let (block, result) = self.block(id, std::slice::from_ref(argument))?;
            let result: Option<Leaves> = result.iter().map(|leaf| self.current(leaf)).collect();
            built.push((block, result?));
            for (after, now) in after.iter_mut().zip(&self.versions) {
                *after = (*after).max(*now);
            }
        }
        self.versions.copy_from_slice(&after);
        let mut value = Vec::new();
        for (i, leaf) in built.first()?.1.clone().iter().enumerate() {
            value.push(match leaf {
                Leaf::Small(_, shape) => {
                    let to = self.place(shape)?;
                    for (block, result) in &mut built {
                        let Leaf::Small(from, _) = &result[i] else { return None };
                        let copy = Copy { from: from.start, to: to.start, bytes: to.bytes };
                        block.operations.push(Operation::Copy(vec![copy]));
                    }
                    Leaf::Small(to, Arc::clone(shape))
                }
                Leaf::Large { array, shape, .. } => {
                    let is_same = |leaf: &Leaf| matches!(leaf, Leaf::Large { array: other, .. } if other == array);
                    if !built.iter().all(|(_, result)| is_same(&result[i])) {
                        return None;
                    }
                    Leaf::Large { array: *array, version: self.versions[*array], shape: Arc::clone(shape) }
                }
                Leaf::Token => Leaf::Token,
            });
        }
        let branches = built.into_iter().map(|(block, _)| block).collect();
        self.push(Operation::Branch { selector: place, ty, branches });
        Some(value.into())
    }
}

/// Returns whether index vectors along this dimension are only one.
fn is_one(index_vector_dim: i64, indices: &Shape) -> bool {
    let sizes = indices.array().map(|array| array.dims.iter().enumerate());
    sizes.is_some_and(|mut sizes| {
        sizes.all(|(dim, &size)| size == 1 || to_i64(dim) == index_vector_dim)
    })
}

/// Returns the components of the only index vector, each with the dimension that it is of.
fn indexed(indices: &Leaves, dims: &[i64]) -> Option<Vec<(usize, Start)>> {
    let Leaf::Small(place, shape) = indices.first()? else { return None };
    let bytes = shape.ty.storage_bytes();
    let component = |(k, &dim): (usize, &i64)| {
        let place = Place { start: place.start + k * bytes, bytes };
        (to_usize(dim), Start { place, ty: shape.ty })
    };
    Some(dims.iter().enumerate().map(component).collect())
}

/// Returns scalars as the start indices of all dimensions.
fn starts(scalars: &[Leaves]) -> Option<Vec<(usize, Start)>> {
    let start = |(dim, leaves): (usize, &Leaves)| match leaves.first()? {
        Leaf::Small(place, shape) if shape.rank() == 0 => {
            Some((dim, Start { place: *place, ty: shape.ty }))
        }
        Leaf::Small(..) | Leaf::Large { .. } | Leaf::Token => None,
    };
    scalars.iter().enumerate().map(start).collect()
}

/// Returns the box of these sizes at these start indices; in other dimensions it starts at 0.
fn window(
    of: &ArrayShape,
    sizes: &[i64],
    starts: &[(usize, Start)],
    beyond: Beyond,
) -> Option<Window> {
    let width = of.ty.storage_bytes();
    let strides = strides(&of.dims);
    let starts = starts
        .iter()
        .map(|&(dim, start)| (start, of.dims[dim] - sizes[dim], to_usize(strides[dim]) * width));
    let starts: Vec<(Start, i64, usize)> = starts.collect();
    let (mut at, mut bytes) = (Vec::new(), 0);
    rows(sizes, 0, &strides, |row, count| {
        at.push(to_usize(row) * width);
        bytes = count * width;
    });
    let fits = starts.iter().all(|(_, last, _)| *last >= 0);
    (bytes > 0 && fits).then_some(Window { starts, beyond, rows: at, bytes })
}
