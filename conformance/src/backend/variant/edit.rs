//! The instruction that a variant rewrites, and what it adds.
use hlo::ir::rewrite::ComputationRewriter;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::value::{Direction, SliceRange, SliceRanges};
use hlo::op::{
    Binary, BitcastConvert, Broadcast, Constant, Convert, Copy, ReducePrecision, Reshape, Select,
    Slice, Unary,
};
use hlo::{Array, ArrayShape, Dims, ElementType, Op, Scalar};
use std::collections::BTreeMap;

/// A dimension, with the first index and the one behind the last.
pub(crate) type Span = (i64, i64, i64);

/// An instruction of a computation, and the choices of its variant.
pub(crate) struct Edit<'a> {
    pub(crate) computation: &'a mut ComputationRewriter,
    pub(crate) at: InstructionId,
    pub(crate) random: fastrand::Rng,
    /// The computation before all variants.
    pub(crate) original: &'a ComputationRewriter,
    /// The computations that add or multiply two floats or complex numbers.
    pub(crate) reducers: &'a BTreeMap<ComputationId, Binary>,
    /// The values that are not rounded to the type of their instruction.
    pub(crate) wide: &'a mut BTreeMap<InstructionId, InstructionId>,
}

impl Edit<'_> {
    pub(crate) fn instruction(&self) -> &Instruction {
        self.computation.instruction(self.at)
    }
    pub(crate) fn op(&self) -> Op {
        self.instruction().op.clone()
    }
    pub(crate) fn operands(&self) -> Vec<InstructionId> {
        self.instruction().operands.to_vec()
    }
    /// Returns the instruction before all variants; itself if it is new.
    pub(crate) fn original(&self) -> &Instruction {
        self.original.get(self.at).unwrap_or_else(|| self.instruction())
    }
    /// Returns the shape of an array of static sizes.
    pub(crate) fn array(&self, id: InstructionId) -> Option<ArrayShape> {
        let shape = self.computation.instruction(id).shape.array();
        shape.filter(|shape| shape.dynamic.is_none()).cloned()
    }
    /// Returns the shape of the result, if it and the operands are arrays of static sizes.
    pub(crate) fn arrays(&self) -> Option<ArrayShape> {
        let operands = self.operands();
        let shape = self.array(self.at)?;
        operands.iter().all(|&id| self.array(id).is_some()).then_some(shape)
    }
    pub(crate) fn ty(&self, id: InstructionId) -> ElementType {
        self.shape(id).ty
    }
    pub(crate) fn shape(&self, id: InstructionId) -> ArrayShape {
        self.array(id).expect("variants compute with arrays")
    }

    pub(crate) fn add(
        &mut self,
        op: impl Into<Op>,
        shape: ArrayShape,
        operands: impl IntoIterator<Item = InstructionId>,
    ) -> InstructionId {
        self.computation.add(self.at, Instruction::new(op, shape, operands))
    }
    /// Returns a shape with the default layout.
    fn plain(&self, id: InstructionId, ty: ElementType) -> ArrayShape {
        ArrayShape::new(ty, self.shape(id).dims)
    }
    pub(crate) fn unary(&mut self, op: Unary, x: InstructionId) -> InstructionId {
        let shape = self.plain(x, self.ty(x));
        self.add(op, shape, [x])
    }
    pub(crate) fn binary(
        &mut self,
        op: Binary,
        x: InstructionId,
        y: InstructionId,
    ) -> InstructionId {
        let shape = self.plain(x, self.ty(x));
        self.add(op, shape, [x, y])
    }
    pub(crate) fn is_finite(&mut self, x: InstructionId) -> InstructionId {
        let shape = self.plain(x, ElementType::Pred);
        self.add(Unary::IsFinite, shape, [x])
    }
    /// Returns the bits of a float of 8 to 64 bits.
    pub(crate) fn bits(&mut self, x: InstructionId) -> InstructionId {
        let bits = match self.ty(x).bits() {
            8 => ElementType::S8,
            16 => ElementType::S16,
            32 => ElementType::S32,
            _ => ElementType::S64,
        };
        let shape = self.plain(x, bits);
        self.add(BitcastConvert {}, shape, [x])
    }
    /// Returns the floats of these bits.
    pub(crate) fn of_bits(&mut self, bits: InstructionId, ty: ElementType) -> InstructionId {
        let shape = self.plain(bits, ty);
        self.add(BitcastConvert {}, shape, [bits])
    }
    /// Adds an array of integers, of the shape of another: the same number, or several in turn.
    pub(crate) fn integers(&mut self, like: InstructionId, numbers: &[i64]) -> InstructionId {
        let ty = self.ty(like);
        let number = |&x: &i64| Scalar::Signed(x).convert(ElementType::S64, ty);
        self.in_turn(like, &numbers.iter().map(number).collect::<Vec<_>>())
    }
    /// Adds an array of floats, of the shape of another: these numbers in turn.
    pub(crate) fn floats(&mut self, like: InstructionId, numbers: &[f64]) -> InstructionId {
        let ty = self.ty(like);
        let number = |&x: &f64| Scalar::Float(x).convert(ElementType::F64, ty);
        self.in_turn(like, &numbers.iter().map(number).collect::<Vec<_>>())
    }
    fn in_turn(&mut self, like: InstructionId, numbers: &[Scalar]) -> InstructionId {
        let shape = self.plain(like, self.ty(like));
        if let [only] = numbers {
            return self.computation.add_filled(self.at, &shape, *only);
        }
        let mut literal = Array::zeros(shape.clone());
        for (at, &x) in (0..literal.len()).zip(numbers.iter().cycle()) {
            literal.set(at, x);
        }
        let value = Box::new(ConstantValue::Literal(literal.into()));
        self.add(Constant { value }, shape, [])
    }
    pub(crate) fn convert(&mut self, x: InstructionId, ty: ElementType) -> InstructionId {
        if self.ty(x) == ty {
            return x;
        }
        let shape = self.plain(x, ty);
        self.add(Convert {}, shape, [x])
    }
    /// Adds a scalar.
    pub(crate) fn number(&mut self, x: f64, ty: ElementType) -> InstructionId {
        let value = Scalar::Float(x).convert(ElementType::F64, ty);
        self.computation.add_filled(self.at, &ArrayShape::new(ty, Dims::new()), value)
    }
    /// Adds an array of equal numbers, of the shape of another.
    pub(crate) fn filled(&mut self, like: InstructionId, x: f64) -> InstructionId {
        let shape = self.plain(like, self.ty(like));
        let value = Scalar::Float(x).convert(ElementType::F64, shape.ty);
        self.computation.add_filled(self.at, &shape, value)
    }
    pub(crate) fn compare(
        &mut self,
        direction: Direction,
        x: InstructionId,
        y: InstructionId,
    ) -> InstructionId {
        self.computation.add_compare(self.at, direction, [x, y])
    }
    pub(crate) fn select(
        &mut self,
        choice: InstructionId,
        x: InstructionId,
        y: InstructionId,
    ) -> InstructionId {
        let shape = self.plain(x, self.ty(x));
        self.add(Select {}, shape, [choice, x, y])
    }
    /// Adds a part of an array, all of it in other dimensions.
    pub(crate) fn slice(&mut self, x: InstructionId, spans: &[Span]) -> InstructionId {
        let mut shape = self.plain(x, self.ty(x));
        let whole = shape.dims.iter().map(|&size| SliceRange { start: 0, limit: size, stride: 1 });
        let mut ranges: Vec<SliceRange> = whole.collect();
        for &(dim, start, limit) in spans {
            let dim = usize::try_from(dim).expect("a verified dimension");
            ranges[dim] = SliceRange { start, limit, stride: 1 };
            shape.dims[dim] = limit - start;
        }
        self.add(Slice { ranges: SliceRanges(ranges) }, shape, [x])
    }
    /// Adds an array of this scalar.
    pub(crate) fn repeated(&mut self, x: InstructionId, dims: &Dims) -> InstructionId {
        if dims.is_empty() {
            return x;
        }
        let shape = ArrayShape::new(self.ty(x), dims.clone());
        self.add(Broadcast { dimensions: Vec::new() }, shape, [x])
    }
    /// Adds the `f32` rounded to fewer bits.
    pub(crate) fn rounded(&mut self, x: InstructionId, mantissa_bits: i64) -> InstructionId {
        let shape = self.shape(x);
        self.add(ReducePrecision { exponent_bits: 8, mantissa_bits }, shape, [x])
    }
    pub(crate) fn reshape(&mut self, x: InstructionId, dims: &Dims) -> InstructionId {
        let shape = ArrayShape::new(self.ty(x), dims.clone());
        self.add(Reshape { inferred_dimension: -1 }, shape, [x])
    }
    /// Adds the instruction as it is, whose result a variant changes.
    pub(crate) fn copied(&mut self) -> InstructionId {
        let instruction = self.instruction().clone();
        self.computation.add(self.at, instruction)
    }
    /// Makes a value the result of the instruction, rounded to its type.
    pub(crate) fn set(&mut self, value: InstructionId) -> bool {
        let old = self.instruction().clone();
        let same =
            self.computation.instruction(value).shape.element_type() == old.shape.element_type();
        let op = if same { Op::Copy(Copy {}) } else { Convert {}.into() };
        let mut common = old.common;
        if let Some(common) = &mut common {
            common.result_accuracy = None;
        }
        let new = Instruction { common, ..Instruction::new(op, old.shape, [value]) };
        self.computation.replace(self.at, new);
        true
    }
}
