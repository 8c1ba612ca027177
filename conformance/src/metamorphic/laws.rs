//! The laws: rewritings of an instruction that keep its value whatever the arithmetic of a backend.
use crate::backend::Edit;
use hlo::ir::{Instruction, InstructionId};
use hlo::op::value::{
    Direction, DotAlgorithm, PaddingConfig, PaddingDim, Precision, SliceRange, SliceRanges,
};
use hlo::op::{
    Binary, Concatenate, Dot, OptBarrier, Pad, Reduce, Reverse, Slice, Transpose, Unary,
};
use hlo::{ArrayShape, Class, Dims, Op};

/// A law with its name.
pub(super) struct Law {
    pub(super) name: &'static str,
    /// Rewrites an instruction; returns whether the law holds for it.
    pub(super) rewrite: fn(&mut Edit<'_>) -> bool,
}

/// All laws.
pub(super) static LAWS: [Law; 15] = [
    Law { name: "neutral", rewrite: neutral },
    Law { name: "negated", rewrite: negated },
    Law { name: "selected", rewrite: selected },
    Law { name: "padded", rewrite: padded },
    Law { name: "concatenated", rewrite: concatenated },
    Law { name: "transposed", rewrite: |edit| conjugated(edit, &Transposed) },
    Law { name: "reversed", rewrite: |edit| conjugated(edit, &Reversed) },
    Law { name: "rotated", rewrite: |edit| conjugated(edit, &Rotated) },
    Law { name: "flattened", rewrite: |edit| conjugated(edit, &Flattened) },
    Law { name: "split", rewrite: split },
    Law { name: "commuted", rewrite: commuted },
    Law { name: "exchanged", rewrite: exchanged },
    Law { name: "reordered", rewrite: reordered },
    Law { name: "sorted", rewrite: sorted },
    Law { name: "kept", rewrite: kept },
];

fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Select(_) | Op::Compare(_) | Op::Convert(_))
}

/// Returns whether a law may compute an op in another form.
pub(super) fn has_form(op: &Op) -> bool {
    is_elementwise(op) || matches!(op, Op::Dot(_) | Op::Reduce(_) | Op::Sort(_))
}

/// Adds 0 to integers, -0 to floats, or multiplies by 1.
fn neutral(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    let (op, number) = match shape.ty.class() {
        Class::Signed | Class::Unsigned if edit.random.bool() => (Binary::Add, 0.0),
        Class::Float if edit.random.bool() => (Binary::Add, -0.0),
        Class::Signed | Class::Unsigned | Class::Float => (Binary::Multiply, 1.0),
        Class::Pred | Class::Complex => return false,
    };
    // A type without negative numbers, or without a zero, has other numbers.
    if shape.ty.is_float() && (shape.ty.bits() < 16) {
        return false;
    }
    let value = edit.copied();
    let number = edit.filled(value, number);
    let value = edit.binary(op, value, number);
    edit.set(value)
}

/// Negates twice; of booleans, inverts.
fn negated(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    let op = match shape.ty.class() {
        Class::Pred => Unary::Not,
        Class::Signed | Class::Unsigned => {
            if edit.random.bool() {
                Unary::Not
            } else {
                Unary::Negate
            }
        }
        Class::Float if shape.ty.bits() >= 16 => Unary::Negate,
        Class::Float | Class::Complex => return false,
    };
    let value = edit.copied();
    let value = edit.unary(op, value);
    let value = edit.unary(op, value);
    edit.set(value)
}

/// Selects between the value and itself, by the value.
fn selected(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    if shape.ty.is_complex() {
        return false;
    }
    let value = edit.copied();
    let choice = match shape.ty.class() {
        Class::Pred => value,
        Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
            let threshold = edit.filled(value, 1.0);
            edit.compare(Direction::Ge, value, threshold)
        }
    };
    let value = edit.select(choice, value, value);
    edit.set(value)
}

/// Pads the value, and cuts the padding.
fn padded(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays().filter(|shape| shape.rank() > 0) else { return false };
    let value = edit.copied();
    let fill = edit.number(1.0, shape.ty);
    let (mut wide, mut dims, mut ranges) = (shape.clone(), Vec::new(), Vec::new());
    for size in &mut wide.dims {
        let [low, high, interior] = [0; 3].map(|_| edit.random.i64(0..3));
        dims.push(PaddingDim { low, high, interior });
        let inner = *size + (*size - 1).max(0) * interior;
        ranges.push(SliceRange { start: low, limit: low + inner, stride: interior + 1 });
        *size = low + inner + high;
    }
    let wide = ArrayShape::new(shape.ty, wide.dims);
    let padded = edit.add(Pad { padding: PaddingConfig { dims } }, wide, [value, fill]);
    let plain = ArrayShape::new(shape.ty, shape.dims);
    let value = edit.add(Slice { ranges: SliceRanges(ranges) }, plain, [padded]);
    edit.set(value)
}

/// Takes the value out of a concatenation with itself.
fn concatenated(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays().filter(|shape| shape.rank() > 0) else { return false };
    let dim = edit.random.usize(..shape.rank());
    let size = shape.dims[dim];
    let value = edit.copied();
    let both = joined(edit, &[value, value], dim);
    let at = i64::try_from(dim).unwrap_or(0);
    let start = if edit.random.bool() { 0 } else { size };
    let value = edit.slice(both, &[(at, start, start + size)]);
    edit.set(value)
}

/// Adds the concatenation of arrays.
fn joined(edit: &mut Edit<'_>, parts: &[InstructionId], dim: usize) -> InstructionId {
    let mut shape = ArrayShape::new(edit.ty(parts[0]), edit.shape(parts[0]).dims);
    shape.dims[dim] = parts.iter().map(|&part| edit.shape(part).dims[dim]).sum();
    let op = Concatenate { dimensions: vec![i64::try_from(dim).unwrap_or(0)] };
    edit.add(op, shape, parts.iter().copied())
}

/// A movement of elements that has an inverse.
trait Movement {
    /// Draws what the movement of arrays of these sizes needs; `None` if there is none.
    fn drawn(&self, dims: &Dims, random: &mut fastrand::Rng) -> Option<usize>;
    fn there(&self, edit: &mut Edit<'_>, x: InstructionId, drawn: usize) -> InstructionId;
    fn back(
        &self,
        edit: &mut Edit<'_>,
        x: InstructionId,
        dims: &Dims,
        drawn: usize,
    ) -> InstructionId;
}

/// Computes an elementwise op of moved operands and moves its result back; moves the result of
/// another op there and back.
fn conjugated(edit: &mut Edit<'_>, movement: &dyn Movement) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    let Some(drawn) = movement.drawn(&shape.dims, &mut edit.random) else { return false };
    let (op, operands) = (edit.op(), edit.operands());
    let alike = operands.iter().all(|&id| edit.shape(id).dims == shape.dims);
    let moved = if is_elementwise(&op) && alike {
        let operands: Vec<InstructionId> =
            operands.iter().map(|&x| movement.there(edit, x, drawn)).collect();
        let dims = edit.shape(operands[0]).dims;
        let (common, shape) = (edit.instruction().common.clone(), shape.with_type(shape.ty));
        let shape = ArrayShape::new(shape.ty, dims);
        let instruction = Instruction { common, ..Instruction::new(op, shape, operands) };
        edit.computation.add(edit.at, instruction)
    } else {
        let value = edit.copied();
        movement.there(edit, value, drawn)
    };
    let value = movement.back(edit, moved, &shape.dims, drawn);
    edit.set(value)
}

/// The dimensions in the opposite order.
struct Transposed;

impl Movement for Transposed {
    fn drawn(&self, dims: &Dims, _: &mut fastrand::Rng) -> Option<usize> {
        (dims.len() > 1).then_some(0)
    }
    fn there(&self, edit: &mut Edit<'_>, x: InstructionId, _: usize) -> InstructionId {
        let rank = edit.shape(x).rank();
        transposed(edit, x, &(0..rank).rev().collect::<Vec<_>>())
    }
    fn back(&self, edit: &mut Edit<'_>, x: InstructionId, _: &Dims, k: usize) -> InstructionId {
        self.there(edit, x, k)
    }
}

fn transposed(edit: &mut Edit<'_>, x: InstructionId, order: &[usize]) -> InstructionId {
    let shape = edit.shape(x);
    let dims: Dims = order.iter().map(|&dim| shape.dims[dim]).collect();
    let dimensions = order.iter().map(|&dim| i64::try_from(dim).unwrap_or(0)).collect();
    edit.add(Transpose { dimensions }, ArrayShape::new(shape.ty, dims), [x])
}

/// The elements of some dimensions in the opposite order: a bit for each.
struct Reversed;

impl Movement for Reversed {
    fn drawn(&self, dims: &Dims, random: &mut fastrand::Rng) -> Option<usize> {
        (!dims.is_empty()).then(|| random.usize(1..1 << dims.len()))
    }
    fn there(&self, edit: &mut Edit<'_>, x: InstructionId, drawn: usize) -> InstructionId {
        let rank = edit.shape(x).rank();
        let dims = (0..rank).filter(|dim| drawn >> dim & 1 == 1);
        let dimensions = dims.filter_map(|dim| i64::try_from(dim).ok()).collect();
        let shape = edit.shape(x);
        edit.add(Reverse { dimensions }, ArrayShape::new(shape.ty, shape.dims), [x])
    }
    fn back(&self, edit: &mut Edit<'_>, x: InstructionId, _: &Dims, k: usize) -> InstructionId {
        self.there(edit, x, k)
    }
}

/// The first element of a dimension moves behind the last one.
struct Rotated;

impl Rotated {
    fn moved(
        edit: &mut Edit<'_>,
        x: InstructionId,
        dim: usize,
        first: impl Fn(i64) -> i64,
    ) -> InstructionId {
        let size = edit.shape(x).dims[dim];
        let at = i64::try_from(dim).unwrap_or(0);
        let cut = first(size);
        let parts = [(cut, size), (0, cut)].map(|(lo, hi)| edit.slice(x, &[(at, lo, hi)]));
        joined(edit, &parts, dim)
    }
}

impl Movement for Rotated {
    fn drawn(&self, dims: &Dims, random: &mut fastrand::Rng) -> Option<usize> {
        let long: Vec<usize> = (0..dims.len()).filter(|&dim| dims[dim] > 1).collect();
        random.choice(long)
    }
    fn there(&self, edit: &mut Edit<'_>, x: InstructionId, dim: usize) -> InstructionId {
        Self::moved(edit, x, dim, |_| 1)
    }
    fn back(&self, edit: &mut Edit<'_>, x: InstructionId, _: &Dims, dim: usize) -> InstructionId {
        Self::moved(edit, x, dim, |size| size - 1)
    }
}

/// All dimensions as one.
struct Flattened;

impl Movement for Flattened {
    fn drawn(&self, dims: &Dims, _: &mut fastrand::Rng) -> Option<usize> {
        (dims.len() != 1).then_some(0)
    }
    fn there(&self, edit: &mut Edit<'_>, x: InstructionId, _: usize) -> InstructionId {
        let count = edit.shape(x).dims.iter().product::<i64>();
        edit.reshape(x, &Dims::from_slice(&[count]))
    }
    fn back(&self, edit: &mut Edit<'_>, x: InstructionId, dims: &Dims, _: usize) -> InstructionId {
        edit.reshape(x, dims)
    }
}

/// Computes an op for two parts of a batch, which is a dimension that it does not look across.
fn split(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    let long: Vec<usize> = (0..shape.rank()).filter(|&dim| shape.dims[dim] > 1).collect();
    let Some(dim) = edit.random.choice(long) else { return false };
    let (op, operands) = (edit.op(), edit.operands());
    // The dimension of each operand that is the batch.
    let batch: Vec<Option<usize>> = match &op {
        op if is_elementwise(op) => {
            if operands.iter().any(|&id| edit.shape(id).dims != shape.dims) {
                return false;
            }
            vec![Some(dim); operands.len()]
        }
        Op::Reduce(reduce) if operands.len() == 2 => {
            let rank = edit.shape(operands[0]).rank();
            let is_reduced =
                |dim: usize| reduce.dimensions.iter().any(|&d| usize::try_from(d) == Ok(dim));
            let mut others = (0..rank).filter(|&dim| !is_reduced(dim));
            vec![others.nth(dim), None]
        }
        Op::Dot(dot) if operands.len() == 2 => {
            let Some(free) = free(dot, edit.shape(operands[0]).rank())
                .get(dim.wrapping_sub(dot.lhs_batch_dims.len()))
                .copied()
            else {
                return false;
            };
            vec![Some(free), None]
        }
        Op::Sort(sort) => {
            let sorted = sort.dimensions.as_deref().and_then(|dims| dims.first());
            if sorted.is_none_or(|&sorted| usize::try_from(sorted) == Ok(dim)) {
                return false;
            }
            vec![Some(dim)]
        }
        _ => return false,
    };
    let size = shape.dims[dim];
    let cut = edit.random.i64(1..size);
    let mut parts = Vec::new();
    for (start, limit) in [(0, cut), (cut, size)] {
        let pieces = operands.iter().zip(&batch).map(|(&x, batch)| match batch {
            Some(dim) => edit.slice(x, &[(i64::try_from(*dim).unwrap_or(0), start, limit)]),
            None => x,
        });
        let pieces: Vec<InstructionId> = pieces.collect();
        let mut part = ArrayShape::new(shape.ty, shape.dims.clone());
        part.dims[dim] = limit - start;
        let common = edit.instruction().common.clone();
        let instruction = Instruction { common, ..Instruction::new(op.clone(), part, pieces) };
        parts.push(edit.computation.add(edit.at, instruction));
    }
    let value = joined(edit, &parts, dim);
    edit.set(value)
}

/// Returns the free dimensions of the left operand of a product.
fn free(dot: &Dot, rank: usize) -> Vec<usize> {
    let taken = |dim: &usize| {
        let mut others = dot.lhs_batch_dims.iter().chain(&dot.lhs_contracting_dims);
        others.any(|&other| usize::try_from(other) == Ok(*dim))
    };
    (0..rank).filter(|dim| !taken(dim)).collect()
}

/// Exchanges the operands of an op that commutes.
fn commuted(edit: &mut Edit<'_>) -> bool {
    let Op::Binary(op) = edit.op() else { return false };
    let commutes = [
        Binary::Add,
        Binary::Multiply,
        Binary::Maximum,
        Binary::Minimum,
        Binary::And,
        Binary::Or,
        Binary::Xor,
    ];
    let [x, y] = edit.operands()[..] else { return false };
    if !commutes.contains(&op) || x == y || edit.arrays().is_none() {
        return false;
    }
    edit.computation.instruction_mut(edit.at).operands = [y, x].into_iter().collect();
    true
}

/// Exchanges the operands of a product of matrices.
fn exchanged(edit: &mut Edit<'_>) -> bool {
    let (Op::Dot(dot), Some(shape)) = (edit.op(), edit.arrays()) else { return false };
    let [x, y] = edit.operands()[..] else { return false };
    // Precision and algorithm may be different for both operands.
    let is_plain = dot.algorithm == DotAlgorithm::Unset
        && dot.operand_precision.0.iter().all(|&one| one == Precision::Default);
    if !is_plain || edit.ty(x) != edit.ty(y) {
        return false;
    }
    let op = Dot {
        lhs_batch_dims: dot.rhs_batch_dims.clone(),
        rhs_batch_dims: dot.lhs_batch_dims.clone(),
        lhs_contracting_dims: dot.rhs_contracting_dims.clone(),
        rhs_contracting_dims: dot.lhs_contracting_dims.clone(),
        ..Dot::clone(&dot)
    };
    let (batch, left) = (dot.lhs_batch_dims.len(), free(&dot, edit.shape(x).rank()).len());
    let order: Vec<usize> =
        (0..batch).chain(batch + left..shape.rank()).chain(batch..batch + left).collect();
    let dims: Dims = order.iter().map(|&dim| shape.dims[dim]).collect();
    let product = edit.add(op, ArrayShape::new(shape.ty, dims), [y, x]);
    let right = shape.rank() - batch - left;
    let order: Vec<usize> =
        (0..batch).chain(batch + right..shape.rank()).chain(batch..batch + right).collect();
    let value = transposed(edit, product, &order);
    edit.set(value)
}

/// Reduces the elements in the opposite order, by a sum or a product.
fn reordered(edit: &mut Edit<'_>) -> bool {
    let (Op::Reduce(op), Some(_)) = (edit.op(), edit.arrays()) else { return false };
    let [x, initial] = edit.operands()[..] else { return false };
    if !edit.reducers.contains_key(&op.to_apply) || op.dimensions.is_empty() {
        return false;
    }
    let shape = edit.shape(x);
    let reverse = Reverse { dimensions: op.dimensions.clone() };
    let reversed = edit.add(reverse, ArrayShape::new(shape.ty, shape.dims), [x]);
    let Reduce { dimensions, to_apply } = op;
    let old = edit.instruction().clone();
    let new =
        Instruction::new(Reduce { dimensions, to_apply }, old.shape.clone(), [reversed, initial]);
    edit.computation.replace(edit.at, Instruction { common: old.common, ..new });
    true
}

/// Sorts integers that were reversed before: equal ones are the same.
fn sorted(edit: &mut Edit<'_>) -> bool {
    let (Op::Sort(op), Some(shape)) = (edit.op(), edit.arrays()) else { return false };
    let ([x], Some([dim])) = (&edit.operands()[..], op.dimensions.as_deref()) else { return false };
    if !matches!(shape.ty.class(), Class::Signed | Class::Unsigned) {
        return false;
    }
    let reverse = Reverse { dimensions: vec![*dim] };
    let reversed = edit.add(reverse, ArrayShape::new(shape.ty, shape.dims), [*x]);
    edit.computation.instruction_mut(edit.at).operands = [reversed].into_iter().collect();
    true
}

/// Passes the value through an `opt-barrier`.
fn kept(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    let value = edit.copied();
    let value = edit.add(OptBarrier {}, shape, [value]);
    edit.set(value)
}
