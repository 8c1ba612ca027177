//! Slice pushdown: of a large value, only the elements that a slice takes are computed.
//!
//! The slice of a broadcast, an iota, a pad, an elementwise op and the like is that op on slices of
//! its operands. A large value of which slices are the only users is then dead, and never exists.
//! The steps of a part belong to its instruction, and have the shape of the part.
//!
//! A slice of a value below [`LEAST_BYTES`] takes it whole. A value with other users is computed
//! whole too, unless the slice is a small part of it.
use super::builder::PlanBuilder;
use super::lowering::Lowering;
use super::unallocated::{ArrayId, ArrayIds};
use super::value_key::{OperandKey, ValueKey};
use crate::plan::Action;
use crate::state::Site;
use crate::value::Value;
use hlo::ir::{Instruction, InstructionId};
use hlo::op::DynamicSlice;
use hlo::{ArrayShape, Op, Shape};
use kernels::{Region, SliceDim, Sliced, array_op, region_shape, slice_of};
use num::Arithmetic;
use std::borrow::Cow;

/// The size from which a part of a value is computed instead.
const LEAST_BYTES: usize = 1 << 20;
/// A value with several users is computed in part only if its share is at most one in this number.
const PARTS: i64 = 8;
/// The most instructions through which a slice is moved.
const DEPTH: usize = 128;

/// The place of a slice.
#[derive(Clone, Copy)]
struct SlicePosition<'a> {
    lowering: &'a Lowering<'a>,
    slice: Site,
    depth: usize,
}

impl<'a> PlanBuilder<'a> {
    /// Returns the arrays of a slice of a large value, of which only that part is computed; `None`
    /// of anything else.
    pub(super) fn sliced_value(
        &mut self,
        slice: Site,
        instruction: &Instruction,
    ) -> Option<ArrayIds> {
        let region = if let Op::Slice(op) = &instruction.op {
            op.ranges.0.iter().map(SliceDim::of).collect::<Option<_>>()?
        } else if let Op::DynamicSlice(op) = &instruction.op {
            self.at_constants(op, instruction)?
        } else {
            return None;
        };
        let at = SlicePosition { lowering: self.lowering, slice, depth: 0 };
        let operand = instruction.operands[0];
        self.sliced(at, operand, &region)?;
        let part = self.part(at, operand, &region);
        let outputs = self.fresh(&instruction.shape);
        self.step(at.slice, Action::Bitcast, vec![part], &outputs, 0);
        Some(outputs)
    }

    /// Returns the region of a dynamic slice at constant indices.
    fn at_constants(&self, op: &DynamicSlice, instruction: &Instruction) -> Option<Region> {
        let dims = &self.shape_of(instruction.operands[0])?.dims;
        let indices = &instruction.operands[1..];
        let dim = |d: usize| {
            let array = *self.values[indices[d].index()].first()?;
            let Some(Value::Array(index)) = &self.plan.arrays[array].value else { return None };
            let count = op.dynamic_slice_sizes[d];
            let index = (index.len() == 1).then(|| index.get(0).as_i64()).flatten()?;
            (count > 0).then(|| SliceDim::run(index.clamp(0, dims[d] - count), count))
        };
        (indices.len() == dims.len()).then(|| (0..dims.len()).map(dim).collect()).flatten()
    }

    fn shape_of(&self, id: InstructionId) -> Option<&'a ArrayShape> {
        self.computation.instructions[id].shape.array()
    }

    /// Returns how a region of a value follows from its operands, if it is computed instead of the
    /// value.
    fn sliced(
        &self,
        at: SlicePosition<'_>,
        id: InstructionId,
        region: &[SliceDim],
    ) -> Option<Sliced> {
        let instruction = &self.computation.instructions[id];
        let shape = instruction.shape.array()?;
        let is_large = || shape.byte_count().is_none_or(|bytes| bytes >= LEAST_BYTES);
        let part = region.iter().fold(PARTS, |part, dim| part.saturating_mul(dim.count));
        let whole = shape.dims.iter().fold(1, |whole: i64, &size| whole.saturating_mul(size));
        let dynamic = &at.lowering.analysis.dynamic;
        let site = at.slice.computation;
        let is_worth_it = (at.depth > 0 || is_large())
            && at.depth < DEPTH
            && (self.users[id.index()] == 1 || part <= whole)
            && !dynamic.is_among(site, &[id])
            && !dynamic.is_among(site, &instruction.operands);
        if !is_worth_it {
            return None;
        }
        if instruction.opcode().aliases_operand() {
            let of = self.shape_of(*instruction.operands.first()?)?;
            return (instruction.operands.len() == 1 && of.dims == shape.dims)
                .then(|| Sliced::Operand(0, region.into()));
        }
        let op = array_op(&instruction.op)?;
        let operands = self.operand_shapes(instruction);
        kernels::at_site(&operands, &instruction.shape, Arithmetic::Exact, |site| {
            op.slice(site, region)
        })?
    }

    /// Returns the array of a region of a value.
    fn part(&mut self, at: SlicePosition<'_>, id: InstructionId, region: &[SliceDim]) -> ArrayId {
        let shape = self.shape_of(id).expect("a region is of an array");
        let whole = region.iter().zip(&shape.dims);
        if whole.clone().all(|(&dim, &size)| dim == SliceDim::whole(size)) {
            return self.values[id.index()][0];
        }
        let key = (id, Region::from(region));
        if let Some(&array) = self.parts.get(&key) {
            return array;
        }
        let array = match self.sliced(at, id, region) {
            Some(sliced) => {
                let before = self.plan.steps.len();
                let array =
                    self.compute(SlicePosition { depth: at.depth + 1, ..at }, id, region, sliced);
                let own =
                    self.plan.steps[before..].last_mut().filter(|step| step.site.instruction == id);
                if let Some(step) = own {
                    step.part = Some(region.iter().map(|dim| (dim.start, dim.step)).collect());
                }
                array
            }
            None => {
                let whole = self.operand(id);
                let shape = region_shape(shape, region).into();
                self.emit(at, at.slice.instruction, slice_of(region), shape, vec![whole])
            }
        };
        self.parts.insert(key, array);
        array
    }

    /// Adds the steps of a region of a value.
    fn compute(
        &mut self,
        at: SlicePosition<'_>,
        id: InstructionId,
        region: &[SliceDim],
        sliced: Sliced,
    ) -> ArrayId {
        let computation = self.computation;
        let operands = &computation.instructions[id].operands;
        let of = self.shape_of(id).expect("a region is of an array");
        let shape: Shape = region_shape(of, region).into();
        match sliced {
            Sliced::Operand(operand, inner) => self.part(at, operands[operand], &inner),
            Sliced::Kernel(kernel) => {
                let outputs = self.fresh(&shape);
                let site = Site { instruction: id, ..at.slice };
                self.step(site, Action::Kernel(kernel), Vec::new(), &outputs, 0);
                outputs[0]
            }
            Sliced::Op(op, parts) => {
                let parts = parts.iter();
                let operands = parts
                    .map(|(operand, inner)| self.operand_part(at, operands[*operand], inner))
                    .collect();
                self.emit(at, id, op, shape, operands)
            }
            Sliced::Within(cover, inside) => {
                let array = self.part(at, id, &cover);
                let whole = ([array].into(), Cow::Owned(region_shape(of, &cover).into()));
                self.emit(at, at.slice.instruction, slice_of(&inside), shape, vec![whole])
            }
        }
    }

    /// Returns the array and the shape of a part of an operand; a scalar is taken whole.
    fn operand_part(
        &mut self,
        at: SlicePosition<'_>,
        id: InstructionId,
        region: &[SliceDim],
    ) -> OperandKey<'a> {
        match self.shape_of(id) {
            Some(array) if array.rank() > 0 => {
                ([self.part(at, id, region)].into(), Cow::Owned(region_shape(array, region).into()))
            }
            Some(_) | None => self.operand(id),
        }
    }

    /// Adds a step for an op on these operands, in place of an instruction.
    fn emit(
        &mut self,
        at: SlicePosition<'_>,
        id: InstructionId,
        op: Op,
        shape: Shape,
        operands: Vec<OperandKey<'a>>,
    ) -> ArrayId {
        let of = &self.computation.instructions[id];
        let instruction =
            Instruction { op, shape, operands: of.operands.clone(), common: of.common.clone() };
        let outputs = self.fresh(&instruction.shape);
        let key = ValueKey::new(Cow::Owned(instruction), operands);
        let site = Site { instruction: id, ..at.slice };
        let action = at.lowering.lower(site, &key).action;
        // The cost is that of the instruction, whether or not it is computed whole.
        self.step(site, action, key.arrays().collect(), &outputs, 0);
        outputs[0]
    }
}
