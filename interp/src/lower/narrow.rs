//! Slice pushdown: of a large value, only the elements that a slice takes are computed.
//!
//! The slice of a broadcast, an iota, a pad, an elementwise op and the like is that op on slices of its operands. A large value
//! of which slices are the only users is then dead, and never exists. The steps of a narrowed value belong to its instruction,
//! and have the shape of the part.
//!
//! A slice of a value below [`LEAST_BYTES`] takes it whole. A value with other users is computed whole too, unless the slice is
//! a small part of it.
use super::build::{Builder, Leaf, Leaves};
use super::value_key::{Operand, ValueKey};
use super::{Lowering, cost};
use crate::plan::Action;
use crate::state::Site;
use crate::value::Value;
use hlo::ir::{Instruction, InstructionId};
use hlo::op::value::{PaddingConfig, PaddingDim, SliceRange, SliceRanges};
use hlo::op::{Broadcast, DynamicSlice, Pad, Slice};
use hlo::{ArrayShape, Op, Shape};
use kernels::Iota;
use num::index::to_usize;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;

/// The size from which a value is narrowed.
const LEAST_BYTES: usize = 1 << 20;
/// A value with several users is narrowed to at most one part in so many.
const PARTS: i64 = 8;
/// The most instructions through which a slice is moved.
const DEPTH: usize = 128;

/// The elements `start`, `start + step`, ... of a dimension, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Extent {
    start: i64,
    step: i64,
    count: i64,
}

impl Extent {
    fn whole(size: i64) -> Self {
        Self { start: 0, step: 1, count: size }
    }
    fn last(self) -> i64 {
        self.start + self.step * (self.count - 1)
    }
    /// The elements of this that `inner` selects.
    fn select(self, inner: Self) -> Self {
        let (start, count) = (self.start + self.step * inner.start, inner.count);
        Self { start, step: if count > 1 { self.step * inner.step } else { 1 }, count }
    }
    /// The elements between `from` and `to`, counted from `from`; none if there are none.
    fn within(self, from: i64, to: i64) -> Option<Self> {
        let before = (from - self.start).max(0);
        let skipped = before / self.step + i64::from(before % self.step > 0);
        if skipped >= self.count || to <= self.start + skipped * self.step {
            return None;
        }
        let start = self.start + skipped * self.step;
        let count = (self.count - skipped).min((to - 1 - start) / self.step + 1);
        Some(Self { start: start - from, step: if count > 1 { self.step } else { 1 }, count })
    }
}

/// A part of an array: one extent for each dimension.
pub(super) type Region = SmallVec<[Extent; 4]>;

/// The parts that have a leaf.
pub(super) type Parts = FxHashMap<(InstructionId, Region), Leaf>;

/// The place of a slice.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) lowering: &'a Lowering<'a>,
    pub(super) slice: Site,
    depth: usize,
}

impl<'a> At<'a> {
    pub(super) fn new(lowering: &'a Lowering<'a>, slice: Site) -> Self {
        Self { lowering, slice, depth: 0 }
    }
}

/// Returns the number of times that each instruction is an operand or the root.
pub(super) fn users(computation: &hlo::ir::Computation) -> Vec<usize> {
    let mut users = vec![0; computation.instructions.len()];
    users[computation.root.index()] += 1;
    for (_, instruction) in computation.instructions.iter() {
        instruction.operands.iter().for_each(|operand| users[operand.index()] += 1);
    }
    users
}

impl<'a> Builder<'a> {
    /// Returns the leaves of a slice of a large value, of which only that part is computed; `None` of anything else.
    pub(super) fn narrowed(&mut self, at: At<'_>, instruction: &Instruction) -> Option<Leaves> {
        let region = match &instruction.op {
            Op::Slice(op) => sliced(op),
            Op::DynamicSlice(op) => self.at_constants(op, instruction)?,
            _ => return None,
        };
        let operand = instruction.operands[0];
        if !region.iter().all(|extent| extent.count > 0) || !self.can_narrow(at, operand, &region) {
            return None;
        }
        let part = self.part(at, operand, &region);
        let outputs = self.fresh(&instruction.shape);
        let cost = cost::steps(&instruction.op, &self.operand_shapes(instruction));
        self.step(at.slice, Action::Relabel, vec![part], &outputs, cost);
        Some(outputs)
    }

    /// Returns the region of a dynamic slice at constant indices.
    fn at_constants(&self, op: &DynamicSlice, instruction: &Instruction) -> Option<Region> {
        let dims = &self.array(instruction.operands[0])?.dims;
        let indices = &instruction.operands[1..];
        let extent = |d: usize| {
            let leaf = *self.values[indices[d].index()].first()?;
            let Some(Value::Array(index)) = &self.draft.leaves[leaf].value else { return None };
            let count = op.dynamic_slice_sizes[d];
            let index = (index.len() == 1).then(|| index.get(0).as_i64()).flatten()?;
            Some(Extent { start: index.clamp(0, dims[d] - count), step: 1, count })
        };
        (indices.len() == dims.len()).then(|| (0..dims.len()).map(extent).collect()).flatten()
    }

    fn array(&self, id: InstructionId) -> Option<&'a ArrayShape> {
        self.computation.instructions[id].shape.array()
    }

    /// Whether a part of a value is computed instead of the value.
    fn can_narrow(&self, at: At<'_>, id: InstructionId, region: &Region) -> bool {
        let instruction = &self.computation.instructions[id];
        let Some(shape) = instruction.shape.array() else { return false };
        let is_large = || shape.byte_count().is_none_or(|bytes| bytes >= LEAST_BYTES);
        let part = region.iter().fold(PARTS, |part, extent| part.saturating_mul(extent.count));
        let whole = shape.dims.iter().fold(1, |whole: i64, &size| whole.saturating_mul(size));
        let dynamic = &at.lowering.dynamic;
        let site = at.slice.computation;
        (at.depth > 0 || is_large())
            && at.depth < DEPTH
            && (self.users[id.index()] == 1 || part <= whole)
            && !dynamic.is_among(site, &[id])
            && !dynamic.is_among(site, &instruction.operands)
            && is_narrowable(instruction, self.computation)
    }

    /// Returns the leaf of a part of a value.
    fn part(&mut self, at: At<'_>, id: InstructionId, region: &Region) -> Leaf {
        let shape = self.array(id).expect("a part is of an array");
        let whole = region.iter().zip(&shape.dims);
        if whole.clone().all(|(&extent, &size)| extent == Extent::whole(size)) {
            return self.values[id.index()][0];
        }
        let key = (id, region.clone());
        if let Some(&leaf) = self.parts.get(&key) {
            return leaf;
        }
        let leaf = match self.can_narrow(at, id, region) {
            true => {
                let before = self.draft.steps.len();
                let leaf = self.narrow(At { depth: at.depth + 1, ..at }, id, region);
                let own = self.draft.steps[before..]
                    .last_mut()
                    .filter(|step| step.site.instruction == id);
                if let Some(step) = own {
                    step.part =
                        Some(region.iter().map(|extent| (extent.start, extent.step)).collect());
                }
                leaf
            }
            false => {
                let range = |extent: &Extent| SliceRange {
                    start: extent.start,
                    limit: extent.last() + 1,
                    stride: extent.step,
                };
                let ranges = SliceRanges(region.iter().map(range).collect());
                let (op, shape) = (Op::Slice(Slice { ranges }), part_shape(shape, region));
                let whole = self.operand(id);
                self.emit(at, at.slice.instruction, op, shape, vec![whole])
            }
        };
        self.parts.insert(key, leaf);
        leaf
    }

    /// Adds the steps of a part of a value.
    fn narrow(&mut self, at: At<'_>, id: InstructionId, region: &Region) -> Leaf {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let operand = |i: usize| instruction.operands[i];
        let shape = part_shape(instruction.shape.array().expect("a part is of an array"), region);
        let op = instruction.op.clone();
        if instruction.opcode().aliases_operand() {
            return self.part(at, operand(0), region);
        }
        let inner: Region = match &op {
            Op::Iota(op) => {
                let dim = op.iota_dimension.unwrap_or(0);
                let Extent { start, step, .. } = region[to_usize(dim)];
                let outputs = self.fresh(&shape);
                let array = shape.array().expect("a part is of an array");
                let action = Action::Kernel(Box::new(Iota::new(array, dim, start, step)));
                self.step(Site { instruction: id, ..at.slice }, action, Vec::new(), &outputs, 0);
                return outputs[0];
            }
            Op::Concatenate(op) => {
                return self.concatenated(at, id, to_usize(op.dimensions[0]), region);
            }
            Op::Pad(op) => return self.padded(at, id, op, region),
            Op::Slice(op) => {
                let outer = sliced(op);
                let inner = outer.iter().zip(region).map(|(outer, &inner)| outer.select(inner));
                return self.part(at, operand(0), &inner.collect());
            }
            Op::Broadcast(op) => op.dimensions.iter().map(|&d| region[to_usize(d)]).collect(),
            Op::Transpose(op) => {
                let mut inner = region.clone();
                for (&d, &extent) in op.dimensions.iter().zip(region) {
                    inner[to_usize(d)] = extent;
                }
                inner
            }
            Op::Reverse(op) => {
                let mut inner = region.clone();
                let dims = &instruction.shape.array().expect("a part is of an array").dims;
                for &d in &op.dimensions {
                    let extent = &mut inner[to_usize(d)];
                    extent.start = dims[to_usize(d)] - 1 - extent.last();
                }
                inner
            }
            // Elementwise.
            _ => region.clone(),
        };
        let operands: Vec<Operand<'_>> = (instruction.operands.iter())
            .map(|&operand| self.operand_part(at, operand, &inner))
            .collect();
        self.emit(at, id, op, shape, operands)
    }

    /// Returns the leaf and the shape of a part of an operand; a scalar is taken whole.
    fn operand_part(&mut self, at: At<'_>, id: InstructionId, region: &Region) -> Operand<'a> {
        match self.array(id) {
            Some(array) if array.rank() > 0 => {
                ([self.part(at, id, region)].into(), Cow::Owned(part_shape(array, region)))
            }
            Some(_) | None => self.operand(id),
        }
    }

    fn concatenated(&mut self, at: At<'_>, id: InstructionId, d: usize, region: &Region) -> Leaf {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let (mut operands, mut end) = (Vec::new(), 0);
        for &operand in &instruction.operands {
            let size = self.array(operand).expect("verified: an array").dims[d];
            let start = end;
            end += size;
            if let Some(extent) = region[d].within(start, end) {
                let mut inner = region.clone();
                inner[d] = extent;
                operands.push(self.operand_part(at, operand, &inner));
            }
        }
        if let [(leaves, _)] = operands.as_slice() {
            return leaves[0];
        }
        let shape = instruction.shape.array().expect("verified: an array");
        self.emit(at, id, instruction.op.clone(), part_shape(shape, region), operands)
    }

    fn padded(&mut self, at: At<'_>, id: InstructionId, op: &Pad, region: &Region) -> Leaf {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let shape = part_shape(instruction.shape.array().expect("verified: an array"), region);
        let is_regular = |(padding, extent): (&PaddingDim, &Extent)| {
            extent.step == 1 || *padding == PaddingDim::default()
        };
        if !op.padding.dims.iter().zip(region).all(is_regular) {
            // What lies between the elements takes part too.
            let cover = |extent: &Extent| Extent {
                step: 1,
                count: extent.last() - extent.start + 1,
                ..*extent
            };
            let cover: Region = region.iter().map(cover).collect();
            let leaf = self.part(at, id, &cover);
            let inside = |extent: &Extent| SliceRange {
                start: 0,
                limit: extent.last() - extent.start + 1,
                stride: extent.step,
            };
            let ranges = SliceRanges(region.iter().map(inside).collect());
            let whole = part_shape(instruction.shape.array().expect("verified: an array"), &cover);
            let whole = ([leaf].into(), Cow::Owned(whole));
            let op = Op::Slice(Slice { ranges });
            return self.emit(at, at.slice.instruction, op, shape, vec![whole]);
        }
        let sizes = &self.array(instruction.operands[0]).expect("verified: an array").dims;
        let parts = op.padding.dims.iter().zip(region).zip(sizes);
        let parts: Option<Vec<(Extent, PaddingDim)>> =
            parts.map(|((&padding, &extent), &size)| unpadded(padding, extent, size)).collect();
        let value = self.operand_part(at, instruction.operands[1], region);
        let Some(parts) = parts else {
            let op = Op::Broadcast(Broadcast { dimensions: Vec::new() });
            return self.emit(at, id, op, shape, vec![value]);
        };
        let inner: Region = parts.iter().map(|&(extent, _)| extent).collect();
        let operand = self.operand_part(at, instruction.operands[0], &inner);
        let padding =
            PaddingConfig { dims: parts.into_iter().map(|(_, padding)| padding).collect() };
        self.emit(at, id, Op::Pad(Pad { padding }), shape, vec![operand, value])
    }

    /// Adds a step for an op on these operands, in place of an instruction.
    fn emit(
        &mut self,
        at: At<'_>,
        id: InstructionId,
        op: Op,
        shape: Shape,
        operands: Vec<Operand<'a>>,
    ) -> Leaf {
        let of = &self.computation.instructions[id];
        let instruction =
            Instruction { op, shape, operands: of.operands.clone(), common: of.common.clone() };
        let outputs = self.fresh(&instruction.shape);
        let key = ValueKey::new(Cow::Owned(instruction), operands);
        let site = Site { instruction: id, ..at.slice };
        let action = at.lowering.lower(site, &key).action;
        // The cost is that of the instruction, whether or not it is computed whole.
        self.step(site, action, key.leaves().collect(), &outputs, 0);
        outputs[0]
    }
}

/// Whether the elements of a part of an instruction's value follow from parts of its operands.
fn is_narrowable(instruction: &Instruction, computation: &hlo::ir::Computation) -> bool {
    let dims = |id: &InstructionId| Some(&computation.instructions[*id].shape.array()?.dims);
    let Some(own) = instruction.shape.array() else { return false };
    match &instruction.op {
        Op::Iota(_)
        | Op::Concatenate(_)
        | Op::Pad(_)
        | Op::Slice(_)
        | Op::Broadcast(_)
        | Op::Transpose(_)
        | Op::Reverse(_) => true,
        op => {
            let opcode = op.opcode();
            let is_same = |id| dims(id).is_some_and(|dims| dims.is_empty() || *dims == own.dims);
            (opcode.is_elementwise() || opcode.aliases_operand())
                && !instruction.operands.is_empty()
                && instruction.operands.iter().all(is_same)
        }
    }
}

fn sliced(op: &Slice) -> Region {
    let extent = |range: &SliceRange| {
        let size = range.limit - range.start;
        let count = if size > 0 { (size - 1) / range.stride + 1 } else { 0 };
        // The stride of a single element may be any.
        let step = if count > 1 { range.stride } else { 1 };
        Extent { start: range.start, step, count }
    };
    op.ranges.0.iter().map(extent).collect()
}

/// The shape of a part of an array, without a layout.
fn part_shape(shape: &ArrayShape, region: &Region) -> Shape {
    let dims: hlo::Dims = region.iter().map(|extent| extent.count).collect();
    ArrayShape::new(shape.ty, dims).into()
}

/// The elements of the operand in a part of a padded dimension, and the padding around them; `None` if all is padding.
fn unpadded(padding: PaddingDim, part: Extent, size: i64) -> Option<(Extent, PaddingDim)> {
    if padding == PaddingDim::default() {
        return Some((part, padding));
    }
    let PaddingDim { low, interior, .. } = padding;
    let distance = i128::from(interior) + 1;
    let place = |element: i64| i128::from(low) + i128::from(element) * distance;
    let (start, end) = (i128::from(part.start), i128::from(part.last()));
    let first = (start - i128::from(low) + distance - 1).div_euclid(distance).max(0);
    let last = (end - i128::from(low)).div_euclid(distance).min(i128::from(size) - 1);
    if first > last {
        return None;
    }
    let narrow = |x: i128| i64::try_from(x).expect("a place in the part");
    let (first, last) = (narrow(first), narrow(last));
    let extent = Extent { start: first, step: 1, count: last - first + 1 };
    let (low, high) = (narrow(place(first) - start), narrow(end - place(last)));
    Some((extent, PaddingDim { low, high, interior }))
}
