//! Editing of a computation.
use super::callees;
use crate::ir::{
    CommonAttrs, Computation, ComputationId, Instruction, InstructionId, InstructionSpans,
};
use crate::literal::ConstantValue;
use crate::op::value::Direction;
use crate::op::{Broadcast, Compare, Constant, GetTupleElement, Tuple};
use crate::{ArrayShape, ElementType, Literal, Op, Scalar, Shape, Span};
use smol_str::SmolStr;

/// A computation being edited.
///
/// Methods that take an [`InstructionId`] panic if the computation does not have it or it was
/// removed, unless stated otherwise.
#[derive(Debug, Clone)]
pub struct ComputationRewriter {
    pub(super) name: SmolStr,
    pub(super) execution_thread: SmolStr,
    pub(super) span: Span,
    pub(super) has_signature: bool,
    pub(super) root: Option<InstructionId>,
    pub(super) slots: Vec<Slot>,
}

/// An instruction with its name and span, or the gap that a removed one left.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) instruction: Option<Instruction>,
    pub(super) name: SmolStr,
    pub(super) spans: InstructionSpans,
    /// The position in the text: the index of an instruction of the original computation.
    pub(super) position: usize,
    /// Whether the name may be changed, as that of an added instruction.
    pub(super) is_added: bool,
}

impl From<&Computation> for ComputationRewriter {
    fn from(computation: &Computation) -> Self {
        let slot = |(id, instruction): (InstructionId, &Instruction)| Slot {
            instruction: Some(instruction.clone()),
            name: computation.name(id).clone(),
            spans: computation.spans(id),
            position: id.index(),
            is_added: false,
        };
        Self {
            name: computation.name.clone(),
            execution_thread: computation.execution_thread.clone(),
            span: computation.span,
            has_signature: computation.signature.is_some(),
            root: Some(computation.root),
            slots: computation.instructions.iter().map(slot).collect(),
        }
    }
}

impl ComputationRewriter {
    /// Returns an empty computation. It needs a root before the module is finished.
    pub fn new(name: impl Into<SmolStr>) -> Self {
        Self {
            name: name.into(),
            execution_thread: SmolStr::default(),
            span: Span::default(),
            has_signature: false,
            root: None,
            slots: Vec::new(),
        }
    }
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the ids of its instructions, in ascending order; added ones come last, wherever they
    /// are in the text.
    pub fn ids(&self) -> Vec<InstructionId> {
        self.iter().map(|(id, _)| id).collect()
    }
    fn iter(&self) -> impl Iterator<Item = (InstructionId, &Instruction)> {
        let all = self.slots.iter().enumerate();
        all.filter_map(|(i, slot)| Some((InstructionId::new(i), slot.instruction.as_ref()?)))
    }
    /// Returns the number of instructions.
    pub fn len(&self) -> usize {
        self.iter().count()
    }
    /// Returns whether all instructions were removed.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
    /// Returns the instruction, unless it was removed.
    pub fn get(&self, id: InstructionId) -> Option<&Instruction> {
        self.slots.get(id.index())?.instruction.as_ref()
    }
    /// Returns the instruction.
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        self.get(id).expect("the instruction was not removed")
    }
    /// Returns the instruction, to edit it in place.
    pub fn instruction_mut(&mut self, id: InstructionId) -> &mut Instruction {
        let slot = &mut self.slots[id.index()];
        slot.instruction.as_mut().expect("the instruction was not removed")
    }
    /// Returns the name of an instruction, which a removed one keeps. In the finished module an
    /// added instruction has another name if this one is taken.
    pub fn instruction_name(&self, id: InstructionId) -> &str {
        &self.slots[id.index()].name
    }
    /// Returns the instruction of this name.
    pub fn find(&self, name: &str) -> Option<InstructionId> {
        self.iter().map(|(id, _)| id).find(|&id| self.instruction_name(id) == name)
    }
    /// Returns the instruction whose value is the result; `None` in a new computation.
    pub fn root(&self) -> Option<InstructionId> {
        self.root
    }
    /// Makes another instruction the root.
    pub fn set_root(&mut self, id: InstructionId) {
        self.root = Some(id);
    }
    /// Returns the parameters, in the order of their numbers.
    pub fn parameters(&self) -> Vec<InstructionId> {
        let number = |(id, instruction): (InstructionId, &Instruction)| {
            let Op::Parameter(parameter) = &instruction.op else { return None };
            Some((parameter.number, id))
        };
        let mut found: Vec<_> = self.iter().filter_map(number).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }
    /// Returns the instructions that have this one as an operand.
    pub fn users(&self, id: InstructionId) -> Vec<InstructionId> {
        self.iter().filter(|(_, i)| i.operands.contains(&id)).map(|(user, _)| user).collect()
    }
    /// Returns the computations that its instructions call.
    pub fn callees(&self) -> Vec<ComputationId> {
        self.iter().flat_map(|(_, instruction)| callees(&instruction.op)).collect()
    }

    /// Adds an instruction at the end of the text.
    pub fn push(&mut self, name: impl Into<SmolStr>, instruction: Instruction) -> InstructionId {
        let (spans, position) = (InstructionSpans::default(), self.slots.len());
        let instruction = Some(instruction);
        self.slots.push(Slot { instruction, name: name.into(), spans, position, is_added: true });
        InstructionId::new(self.slots.len() - 1)
    }
    /// Adds an instruction at the position of `like` in the text, even if that was removed: with
    /// its span, its metadata unless it has common attributes, and its name, with a number if that
    /// is taken.
    pub fn add(&mut self, like: InstructionId, instruction: Instruction) -> InstructionId {
        let slot = &self.slots[like.index()];
        let added = Slot { instruction: Some(instruction), is_added: true, ..slot.clone() };
        let common = slot.instruction.as_ref().and_then(|like| like.common.clone());
        self.slots.push(added);
        let id = InstructionId::new(self.slots.len() - 1);
        self.keep_metadata(id, common);
        id
    }
    /// Adds a tuple.
    pub fn add_tuple(&mut self, like: InstructionId, parts: Vec<InstructionId>) -> InstructionId {
        let tuple = self.tuple(parts);
        self.add(like, tuple)
    }
    /// Adds an array of equal elements: a scalar, and its broadcast unless the array is one.
    pub fn add_filled(
        &mut self,
        like: InstructionId,
        shape: &ArrayShape,
        value: Scalar,
    ) -> InstructionId {
        let scalar = Literal::scalar(shape.ty, value);
        let of_scalar = scalar.shape();
        let op = Constant { value: Box::new(ConstantValue::Literal(scalar)) };
        let scalar = self.add(like, Instruction::new(op, of_scalar, []));
        if shape.rank() == 0 {
            return scalar;
        }
        let op = Broadcast { dimensions: Vec::new() };
        self.add(like, Instruction::new(op, shape.clone(), [scalar]))
    }
    /// Adds a comparison of two arrays of the same shape, by the order of their type.
    ///
    /// # Panics
    /// If the operands are no arrays.
    pub fn add_compare(
        &mut self,
        like: InstructionId,
        direction: Direction,
        operands: [InstructionId; 2],
    ) -> InstructionId {
        let shapes = operands.map(|id| self.instruction(id).shape.clone());
        let array = shapes[0].array().expect("the caller compares arrays");
        let result = array.with_type(ElementType::Pred);
        let mut op = Op::from(Compare::new(direction));
        op.complete_attributes(&shapes.each_ref(), None).expect("the type of arrays has an order");
        self.add(like, Instruction::new(op, result, operands))
    }
    /// Returns a tuple of the values of instructions, without adding it.
    pub fn tuple(&self, parts: Vec<InstructionId>) -> Instruction {
        let shapes = parts.iter().map(|&part| self.instruction(part).shape.clone());
        Instruction::new(Tuple {}, Shape::Tuple(shapes.collect()), parts)
    }
    /// Returns an element of a tuple, without adding it.
    ///
    /// # Panics
    /// If the instruction has no such element.
    pub fn element(&self, tuple: InstructionId, index: usize) -> Instruction {
        let shape = self.instruction(tuple).shape.tuple().and_then(|parts| parts.get(index));
        let shape = shape.expect("a tuple with this element").clone();
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        Instruction::new(GetTupleElement { index }, shape, [tuple])
    }
    /// Replaces an instruction; the id, name and span are kept, and the metadata unless the new one
    /// has common attributes.
    pub fn replace(&mut self, id: InstructionId, instruction: Instruction) {
        let old = self.slots[id.index()].instruction.replace(instruction);
        self.keep_metadata(id, old.and_then(|old| old.common));
    }
    fn keep_metadata(&mut self, id: InstructionId, common: Option<Box<CommonAttrs>>) {
        let instruction = self.instruction_mut(id);
        let metadata = common.and_then(|common| common.metadata);
        if let (Some(metadata), None) = (metadata, &instruction.common) {
            let metadata = Some(metadata);
            instruction.common = Some(Box::new(CommonAttrs { metadata, ..CommonAttrs::default() }));
        }
    }
    /// Replaces every use of an instruction's value, also as the result of the computation. The
    /// operands of `new` are not changed.
    pub fn replace_uses(&mut self, old: InstructionId, new: InstructionId) {
        for (i, slot) in self.slots.iter_mut().enumerate() {
            if InstructionId::new(i) == new {
                continue;
            }
            let operands = slot.instruction.iter_mut().flat_map(|i| &mut i.operands);
            operands.filter(|operand| **operand == old).for_each(|operand| *operand = new);
        }
        if self.root == Some(old) {
            self.root = Some(new);
        }
    }
    /// Makes `new` a control predecessor of every instruction that had `old` as one, in its place.
    pub fn replace_control_predecessor(&mut self, old: InstructionId, new: InstructionId) {
        for common in self.slots.iter_mut().filter_map(|s| s.instruction.as_mut()?.common.as_mut())
        {
            let Some(control) = &mut common.control else { continue };
            if control.contains(&old) {
                control.retain(|&before| before != old && before != new);
                control.push(new);
            }
        }
    }
    /// Sets the instructions that must run before this one.
    pub fn set_control_predecessors(&mut self, id: InstructionId, before: Vec<InstructionId>) {
        let instruction = self.instruction_mut(id);
        if !before.is_empty() || instruction.common.is_some() {
            let common = instruction.common.get_or_insert_default();
            common.control = Some(before).filter(|before| !before.is_empty());
        }
    }
    /// Removes an instruction; does nothing if it was removed. Its uses must be replaced or removed
    /// too; it is removed as a control predecessor.
    pub fn remove(&mut self, id: InstructionId) {
        self.slots[id.index()].instruction = None;
    }
    /// Removes a parameter, and decrements the numbers of those after it. Its uses must be removed
    /// too, and the calls of the computation must have one operand less.
    pub fn remove_parameter(&mut self, id: InstructionId) {
        self.remove(id);
        for (id, number) in self.parameters().into_iter().zip(0..) {
            if let Op::Parameter(parameter) = &mut self.instruction_mut(id).op {
                parameter.number = number;
            }
        }
    }
    /// Removes every instruction that the result does not depend on, except parameters and those
    /// that `keep` accepts, with their dependencies; returns the number of removed instructions. An
    /// instruction with an effect, like `outfeed` or a collective op, is removed too unless `keep`
    /// accepts it.
    pub fn remove_dead_code(&mut self, keep: impl Fn(&Instruction) -> bool) -> usize {
        let mut is_live = vec![false; self.slots.len()];
        let kept = self.iter().filter(|(_, i)| matches!(i.op, Op::Parameter(_)) || keep(i));
        let mut open: Vec<InstructionId> = kept.map(|(id, _)| id).chain(self.root).collect();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut is_live[id.index()], true) {
                continue;
            }
            open.extend(self.get(id).into_iter().flat_map(|instruction| &instruction.operands));
        }
        let dead = |(slot, live): (&mut Slot, bool)| !live && slot.instruction.take().is_some();
        self.slots.iter_mut().zip(is_live).map(dead).filter(|&removed| removed).count()
    }
}
