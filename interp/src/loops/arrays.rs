//! The operations of instructions that compute arrays.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops are movements and kernels")]
use super::build::{Leaf, Leaves, LoopBuilder, readable};
use super::memory::{LoopCopy, Place};
use super::operation::{
    Beyond, Callee, Elementwise, KernelCall, Move, Operation, Source, Start, Window,
};
use crate::custom;
use crate::lower::cost;
use crate::plan::Sharing;
use crate::state::Site;
use hlo::ir::Instruction;
use hlo::literal::ConstantValue;
use hlo::op::{Broadcast, Gather, Kind, Reduce, Scatter};
use hlo::{Array, ArrayShape, Dims, ElementType, Op, Shape};
use kernels::{Fusion, Kernel};
use num::Arithmetic;
use num::array::static_shape;
use num::index::{others, rows, strides, to_i64, to_usize};
use num::loops::is_approximate;
use num::scalar_program::step::{ElementStep, ScalarStep};
use smallvec::smallvec;
use std::slice;
use std::sync::Arc;

/// The most elements that are moved by lists of copies, which take time to make.
const MOVED: usize = 1 << 14;

impl LoopBuilder<'_> {
    /// Returns the array that an instruction computes.
    pub(super) fn array(
        &mut self,
        site: Site,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let leaf = |i: usize| operands.get(i).and_then(|leaves| leaves.first());
        let (op, result) = (&instruction.op, &instruction.shape);
        if self.select_kernel(op, shapes, result).is_some_and(|kernel| kernel.is_bitcast()) {
            return Some(match leaf(0)? {
                Leaf::Small(place, _, version) => Leaf::Small(*place, Arc::clone(shape), *version),
                Leaf::Large { array, version, .. } => {
                    Leaf::Large { array: *array, version: *version, shape: Arc::clone(shape) }
                }
                Leaf::Empty(_) | Leaf::Token => return None,
            });
        }
        match &instruction.op {
            Op::Constant(constant) => match &*constant.value {
                ConstantValue::Literal(value) => self.constant(shape, value.array()?),
                ConstantValue::Elided(_) => None,
            },
            Op::Iota(op) => {
                let mut numbers = Array::zeros(Arc::clone(shape));
                let dim = op.iota_dimension.unwrap_or(0);
                kernels::Iota::new(shape, dim, 0, 1).write(&mut numbers);
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
            Op::Reduce(op) => {
                let leaf = self.elementwise_reduce(op, instruction, operands, shapes);
                leaf.or_else(|| self.kernel(site, instruction, operands, shapes)?.first().cloned())
            }
            op => {
                if let Some(leaf) = self.moved(op, operands, shapes, shape) {
                    return Some(leaf);
                }
                let leaves = self.kernel(site, instruction, operands, shapes)?;
                leaves.first().cloned()
            }
        }
    }

    pub(super) fn constant(&mut self, shape: &Arc<ArrayShape>, value: &Array) -> Option<Leaf> {
        if shape.byte_count()? > self.strategy.most_copied {
            return self.large(shape, Some(value.with_shape(Arc::clone(shape))));
        }
        let place = self.place(shape)?;
        self.image.constant_mut(place)[place.start..place.end()].copy_from_slice(value.bytes());
        Some(Leaf::Small(place, Arc::clone(shape), 0))
    }

    /// Returns the result of an op that only moves elements; it is applied to their numbers to tell
    /// from where. `None` of any other op, and of large operands.
    fn moved(
        &mut self,
        op: &Op,
        operands: &[Leaves],
        shapes: &[&Shape],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let result = (**shape).clone().into();
        let is_short = shape.element_count().is_some_and(|count| count <= MOVED);
        if !is_short {
            return None;
        }
        let kernel = self.select_kernel(op, shapes, &result).filter(|kernel| kernel.moves())?;
        let walk = match (kernel.fusion(), operands.first().and_then(readable)) {
            (Fusion::Walk(walk), Some(from)) => Some((walk, from)),
            _ => None,
        };
        let numbered = |shape: &ArrayShape| ArrayShape { ty: ElementType::U32, ..shape.clone() };
        let width = shape.ty.storage_bytes();
        let (mut sources, mut numbers, mut is_constant) = (Vec::new(), Vec::new(), true);
        for (leaves, operand) in operands.iter().zip(shapes) {
            let mut array = Array::zeros(numbered(operand.array()?));
            let place = match leaves.first()? {
                Leaf::Small(place, ..) => place,
                Leaf::Empty(_) => {
                    numbers.push(array);
                    continue;
                }
                Leaf::Large { .. } | Leaf::Token => return None,
            };
            is_constant &= self.image.constant(*place).is_some();
            let slots = array.as_mut_slice::<u32>()?.iter_mut();
            for (slot, from) in slots.zip((place.start..place.end()).step_by(width)) {
                *slot = u32::try_from(sources.len()).ok()?;
                sources.push(from);
            }
            numbers.push(array);
        }
        let mut result = Array::zeros(numbered(shape));
        let shapes: Vec<Shape> = numbers.iter().map(|array| array.shape().clone().into()).collect();
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let kernel = self.select_kernel(op, &shapes, &result.shape().clone().into())?;
        kernel.fold(&numbers.iter().map(Some).collect::<Vec<_>>(), &mut result).then_some(())?;
        let place = self.place(shape)?;
        let numbers = result.as_slice::<u32>()?;
        let source = |number: u32| sources.get(usize::try_from(number).ok()?).copied();
        // An element that most places have, such as padding, is copied to all of them first.
        let most = most_frequent(numbers).and_then(source);
        let fill = most.map(|from| LoopCopy {
            count: numbers.len(),
            steps: [0, width],
            ..LoopCopy::new(from, place.start, width)
        });
        let copies = numbers.iter().zip((place.start..).step_by(width));
        let copies = copies.filter_map(|(&number, to)| match source(number) {
            from if from.is_some() && from == most => None,
            from => Some(from.map(|from| LoopCopy::new(from, to, width))),
        });
        let rest = LoopCopy::joined(copies.collect::<Option<_>>()?);
        let copies: Vec<LoopCopy> = fill.into_iter().chain(rest).collect();
        if is_constant {
            let image = self.image.constant_mut(place);
            for LoopCopy { from, to, bytes, .. } in copies.into_iter().flat_map(LoopCopy::parts) {
                image.copy_within(from..from + bytes, to);
            }
        } else {
            let walk = walk.map(|(walk, from)| (walk, [from, place]));
            self.push(Operation::Move(Move { copies, walk, ..Move::default() }));
        }
        Some(Leaf::Small(place, Arc::clone(shape), 0))
    }

    /// Returns the result of a reduction over dimensions of size 1 by an op, which is elementwise:
    /// the op on the initial value and each element. Returns `None` for other reductions.
    fn elementwise_reduce(
        &mut self,
        reduce: &Reduce,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
    ) -> Option<Leaf> {
        let ([from, initial], [of, of_initial]) = (operands, shapes) else { return None };
        let (from, of, of_initial) = (readable(from)?, of.array()?, of_initial.array()?);
        let shape = Arc::new(static_shape(instruction.shape.array()?));
        let (op, ty) = self.analysis.programs.get(reduce.to_apply)?.as_binary_in_order()?;
        let is_elementwise = of.element_count() == shape.element_count();
        (is_elementwise && [of.ty, of_initial.ty, shape.ty] == [ty; 3]).then_some(())?;
        let broadcast = Op::Broadcast(Broadcast { dimensions: Vec::new() });
        let initial = self.moved(&broadcast, slice::from_ref(initial), &shapes[1..], &shape)?;
        let Leaf::Small(initial, ..) = initial else { return None };
        let result = self.place(&shape)?;
        let step = ScalarStep::Binary(op, ty, 0, 1);
        let step = ElementStep { step, operands: smallvec![ty; 2], result: ty };
        let elements = u64::try_from(shape.element_count()?).ok()?;
        self.block.fuel += elements + cost::fuel(&instruction.op, shapes, &instruction.shape);
        let operation = Elementwise::new(step, smallvec![initial, from], result);
        self.push(Operation::Elementwise(operation));
        Some(Leaf::Small(result, shape, 0))
    }

    /// Returns the place of an array.
    fn source(&self, leaves: &Leaves) -> Option<(Source, Arc<ArrayShape>)> {
        match self.current(leaves.first()?)? {
            Leaf::Small(place, shape, _) => Some((Source::Small(place), shape)),
            Leaf::Large { array, shape, .. } => Some((Source::Large(array), shape)),
            Leaf::Empty(shape) => Some((Source::Small(Place { start: 0, bytes: 0 }), shape)),
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
        let from = Some(window(&of, array, sizes, starts, Beyond::Clamp)?);
        let result = self.place(shape)?;
        let copy = |(at, to, bytes)| LoopCopy::new(at, result.start + to, bytes);
        let copies = LoopCopy::joined(box_rows(&of, sizes).into_iter().map(copy).collect());
        self.push(Operation::Move(Move { copies, from, ..Move::default() }));
        Some(Leaf::Small(result, Arc::clone(shape), 0))
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
        let program = self.analysis.programs.get(op.to_apply)?;
        let is_of_type = |ty: &ElementType| *ty == shape.ty;
        let of_type = program.parameters().iter().chain(program.results()).all(is_of_type);
        if !op.input_batching_dims.is_empty() || !of_type {
            return None;
        }
        let Leaf::Small(mut place, part, _) = update.first()?.clone() else { return None };
        let mut sizes = Dims::from_elem(1, shape.rank());
        let dims = others(shape.rank(), &op.inserted_window_dims);
        for (dim, &from) in dims.into_iter().zip(&op.update_window_dims) {
            sizes[to_usize(dim)] = part.dims[to_usize(from)];
        }
        if !program.is_second() {
            let (op, ty) = program.as_binary_in_order()?;
            let Leaf::Small(now, ..) = self.slice_at(of, &sizes, &starts, &part)? else {
                return None;
            };
            let result = self.place(&part)?;
            let step = ScalarStep::Binary(op, ty, 0, 1);
            let step = ElementStep { step, operands: smallvec![ty, ty], result: ty };
            let operation = Elementwise::new(step, smallvec![now, place], result);
            self.push(Operation::Elementwise(operation));
            place = result;
        }
        self.update_at(of, &sizes, &starts, Beyond::Skip, place, shape)
    }

    fn update(&mut self, operands: &[Leaves], shape: &Arc<ArrayShape>) -> Option<Leaf> {
        let (update, part) = match operands[1].first()? {
            Leaf::Small(update, part, _) => (update, part),
            Leaf::Empty(_) => return operands[0].first().cloned(),
            Leaf::Large { .. } | Leaf::Token => return None,
        };
        let starts = starts(&operands[2..]).filter(|starts| starts.len() == shape.rank())?;
        self.update_at(&operands[0], &part.dims, &starts, Beyond::Clamp, *update, shape)
    }

    fn update_at(
        &mut self,
        array: &Leaves,
        sizes: &[i64],
        starts: &[(usize, Start)],
        beyond: Beyond,
        update: Place,
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let (array, leaf) = match self.current(array.first()?)? {
            Leaf::Small(from, ..) => match self.updated(from, shape) {
                Some(leaf) => (Source::Small(from), leaf),
                None => {
                    let to = self.copied(from, shape)?;
                    (Source::Small(to), Leaf::Small(to, Arc::clone(shape), 0))
                }
            },
            Leaf::Large { array, .. } => (Source::Large(array), self.updated_large(array, shape)?),
            Leaf::Empty(_) | Leaf::Token => return None,
        };
        let to = Some(window(shape, array, sizes, starts, beyond)?);
        let copy = |(at, from, bytes)| LoopCopy::new(update.start + from, at, bytes);
        let copies = LoopCopy::joined(box_rows(shape, sizes).into_iter().map(copy).collect());
        self.push(Operation::Move(Move { copies, to, ..Move::default() }));
        Some(leaf)
    }

    /// Updates a large array where it is; a constant stays as it is.
    fn updated_large(&mut self, array: usize, shape: &Arc<ArrayShape>) -> Option<Leaf> {
        self.large[array].value.is_none().then_some(())?;
        self.large[array].is_updated = true;
        self.versions[array] += 1;
        Some(Leaf::Large { array, version: self.versions[array], shape: Arc::clone(shape) })
    }

    /// Selects a whole value by a scalar.
    fn select(&mut self, operands: &[Leaves], shape: &Arc<ArrayShape>) -> Option<Leaf> {
        let [p, a, b] = [0, 1, 2].map(|i| readable(&operands[i]));
        let (p, a, b) = (p?, a?, b?);
        let result = self.place(shape)?;
        self.push(if shape.rank() == 0 {
            let types = smallvec![ElementType::Pred, shape.ty, shape.ty];
            let step = ScalarStep::Select(0, 1, 2);
            let step = ElementStep { step, operands: types, result: shape.ty };
            Operation::Elementwise(Elementwise::new(step, smallvec![p, a, b], result))
        } else {
            Operation::Choose { predicate: p.start, values: [a.start, b.start], result }
        });
        Some(Leaf::Small(result, Arc::clone(shape), 0))
    }

    /// Adds an operation of each element; returns `None` if the instruction is none.
    fn elementwise(
        &mut self,
        op: &Op,
        operands: &[(Source, Arc<ArrayShape>)],
        shape: &Arc<ArrayShape>,
    ) -> Option<Leaf> {
        let small = |(source, of): &(Source, Arc<ArrayShape>)| match source {
            Source::Small(place) if of.dims == shape.dims => Some(*place),
            Source::Small(_) | Source::Large(_) => None,
        };
        let places = operands.iter().map(small).collect::<Option<_>>()?;
        let types = operands.iter().map(|(_, of)| of.ty).collect();
        let step = ElementStep::of(op, types, shape.ty)?;
        let result = self.place(shape)?;
        // Functions of scalars are computed as in frames, where they have no loops.
        let arithmetic =
            if shape.rank() == 0 { Arithmetic::Exact } else { self.analysis.arithmetic()? };
        let mut operation = Elementwise::new(step, places, result);
        if is_approximate(op, shape.ty, arithmetic) {
            operation.function = operation.step.take()?.in_loop(arithmetic);
        }
        self.push(Operation::Elementwise(operation));
        Some(Leaf::Small(result, Arc::clone(shape), 0))
    }

    fn select_kernel(
        &self,
        op: &Op,
        operands: &[&Shape],
        result: &Shape,
    ) -> Option<Box<dyn Kernel>> {
        let arithmetic = self.analysis.arithmetic()?;
        kernels::select(op, operands, result, self.analysis.programs, arithmetic)
    }

    /// Returns the function of an instruction without a kernel, if that is one of arrays.
    fn function(&self, site: Site, instruction: &Instruction, shapes: &[&Shape]) -> Option<Callee> {
        let is_of_arrays = [Kind::Array, Kind::Custom].contains(&instruction.opcode().kind())
            && !instruction.op.communicates()
            && shapes.iter().all(|shape| shape.array().is_some());
        is_of_arrays.then_some(())?;
        let arithmetic = self.analysis.arithmetic()?;
        let cost = cost::cost(&instruction.op, shapes, &instruction.shape, arithmetic);
        Some(Callee::Function((self.functions)(site, instruction, shapes), cost.scratch))
    }

    /// Adds the kernel of an instruction, or its loop if it is elementwise.
    pub(super) fn kernel(
        &mut self,
        site: Site,
        instruction: &Instruction,
        operands: &[Leaves],
        shapes: &[&Shape],
    ) -> Option<Leaves> {
        let mut needs_machine = false;
        let programs = self.analysis.programs;
        instruction.op.each_callee(&mut |id| needs_machine |= programs.needs_machine(id));
        if needs_machine {
            return None;
        }
        let mut sources: Vec<_> =
            operands.iter().map(|leaves| self.source(leaves)).collect::<Option<_>>()?;
        // A large array that was reshaped is passed as it is.
        let fits = sources.iter().all(|(source, of)| match source {
            Source::Small(_) => true,
            Source::Large(array) => {
                let own = &self.large[*array].shape;
                (&own.dims, own.ty) == (&of.dims, of.ty)
            }
        });
        let results = static_shapes(&instruction.shape)?;
        if let [result] = &*results
            && let Some(leaf) = self.elementwise(&instruction.op, &sources, result)
        {
            return Some([leaf].into());
        }
        let op = &instruction.op;
        let kernel = match op {
            Op::CustomCall(_) => {
                custom::kernel(site, instruction, shapes, self.analysis.arithmetic()?)
            }
            op => self.select_kernel(op, shapes, &instruction.shape),
        };
        let callee = match kernel {
            Some(kernel) => Callee::Kernel(kernel),
            None => self.function(site, instruction, shapes)?,
        };
        if !fits {
            return None;
        }
        let updated = if callee.is_update() { sources[0].0.large() } else { None };
        let value: Option<Leaves> = match (updated, &*results) {
            (Some(array), [shape]) => {
                let is_read = sources[1..].iter().any(|(source, _)| source.large() == Some(array));
                Some([self.updated_large(array, shape).filter(|_| !is_read)?].into())
            }
            _ => None,
        };
        let results = if value.is_some() { Vec::new() } else { results };
        let mut places = Vec::with_capacity(results.len());
        for shape in results {
            places.push((self.place(&shape)?, shape));
        }
        let fuel = cost::fuel(&instruction.op, shapes, &instruction.shape);
        self.block.fuel += fuel;
        let small = |(place, shape): &(Place, _)| Leaf::Small(*place, Arc::clone(shape), 0);
        let value = value.unwrap_or_else(|| places.iter().map(small).collect());
        let number = self.kernels.len();
        let operation = match callee.computes().filter(|_| updated.is_none()) {
            Some(steps) => {
                self.block.fuel += steps;
                if callee.is_update() {
                    let (Source::Small(from), _) = sources.remove(0) else { return None };
                    self.push(Operation::copy(from, places[0].0));
                }
                let is_small = sources.iter().all(|(source, _)| source.small().is_some());
                match callee.formula().filter(|_| is_small) {
                    Some(formula) => Operation::Formula { formula, kernel: number },
                    None => Operation::Compute(number),
                }
            }
            None => Operation::Kernel(number),
        };
        let product = short_product(op, &sources, &places);
        let product = product.filter(|_| callee.arithmetic() == Arithmetic::Fast);
        self.push(product.unwrap_or(operation));
        let shapes = sources.iter().map(|(_, shape)| shape);
        let shapes = shapes.chain(places.iter().map(|(_, shape)| shape));
        let sharing = Sharing::of(fuel, shapes.filter_map(|shape| shape.byte_count()));
        self.kernels.push(KernelCall { callee, site, operands: sources, results: places, sharing });
        Some(value)
    }
}

/// Returns the shapes of the leaves of a value; `None` if one is no array of a size that is known.
fn static_shapes(shape: &Shape) -> Option<Vec<Arc<ArrayShape>>> {
    let arrays = shape.leaves().into_iter().map(|leaf| leaf.array());
    arrays.map(|a| a.filter(|a| a.dynamic.is_none()).map(|a| Arc::new(static_shape(a)))).collect()
}

/// Returns the number that more than half of many are.
fn most_frequent(numbers: &[u32]) -> Option<u32> {
    const MANY: usize = 16;
    // It is left over if each number is crossed out with another one.
    let candidate = numbers.iter().fold((0, 0), |(candidate, count), &number| match count {
        0 => (number, 1),
        count if number == candidate => (candidate, count + 1),
        count => (candidate, count - 1),
    });
    let is_candidate = |number: &&u32| **number == candidate.0;
    let is_most = numbers.iter().filter(is_candidate).count() > numbers.len() / 2;
    (numbers.len() >= MANY && is_most).then_some(candidate.0)
}

/// Returns the operation of a `dot` of two short vectors.
fn short_product(
    op: &Op,
    operands: &[(Source, Arc<ArrayShape>)],
    results: &[(Place, Arc<ArrayShape>)],
) -> Option<Operation> {
    let (Op::Dot(op), [(Source::Small(a), lhs), (Source::Small(b), rhs)], [(result, shape)]) =
        (op, operands, results)
    else {
        return None;
    };
    let is_short = kernels::is_short(op, &[lhs, rhs], shape);
    is_short.then_some(Operation::Product { operands: [*a, *b], result: *result })
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
    let Leaf::Small(place, shape, _) = indices.first()? else { return None };
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
        Leaf::Small(place, shape, _) if shape.rank() == 0 => {
            Some((dim, Start { place: *place, ty: shape.ty }))
        }
        Leaf::Small(..) | Leaf::Large { .. } | Leaf::Empty(_) | Leaf::Token => None,
    };
    scalars.iter().enumerate().map(start).collect()
}

/// Returns the box of these sizes at these start indices; in other dimensions it starts at 0.
fn window(
    of: &ArrayShape,
    array: Source,
    sizes: &[i64],
    starts: &[(usize, Start)],
    beyond: Beyond,
) -> Option<Window> {
    let strides = strides(&of.dims);
    let width = of.ty.storage_bytes();
    let start = |&(dim, start): &(usize, Start)| {
        let last = of.dims[dim] - sizes[dim];
        (last >= 0).then(|| (start, last, to_usize(strides[dim]) * width))
    };
    let starts = starts.iter().map(start).collect::<Option<_>>()?;
    sizes.iter().all(|&size| size > 0).then_some(Window { array, ty: of.ty, beyond, starts })
}

/// Returns the rows of a box: the byte of the array at which each is if the box is at its
/// beginning, its byte in the box, and its bytes.
fn box_rows(of: &ArrayShape, sizes: &[i64]) -> Vec<(usize, usize, usize)> {
    let width = of.ty.storage_bytes();
    let (mut all, mut end) = (Vec::new(), 0);
    rows(sizes, 0, &strides(&of.dims), |row, count| {
        all.push((to_usize(row) * width, end, count * width));
        end += count * width;
    });
    all
}
