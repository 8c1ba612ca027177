//! A computation under construction, and the values of the program in it.
use super::converter::Converter;
use super::fold::Folded;
use super::types;
use crate::error::{Code, Error, Result};
use crate::ir::{Op, ValueId};
use hlo::diag::quantity;
use hlo::ir::{CommonAttrs, Computation, Instruction, InstructionId};
use hlo::op::{GetTupleElement, Opcode, Parameter, Tuple};
use hlo::{ArrayShape, Shape};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// A computation under construction.
pub(crate) struct Scope<'c, 'p> {
    pub(super) cx: &'c mut Converter<'p>,
    pub(super) computation: Computation,
    values: FxHashMap<ValueId, InstructionId>,
    /// The values of small integer arrays that are known now.
    pub(super) folded: FxHashMap<ValueId, Folded>,
    /// The common attributes of the instructions of the current op.
    common: Option<Box<CommonAttrs>>,
    /// The name of these instructions; their opcode if it is empty.
    name: SmolStr,
}

impl<'c, 'p> Scope<'c, 'p> {
    pub(super) fn new(cx: &'c mut Converter<'p>, name: impl Into<SmolStr>) -> Self {
        Self {
            cx,
            computation: Computation::new(name),
            values: FxHashMap::default(),
            folded: FxHashMap::default(),
            common: None,
            name: SmolStr::default(),
        }
    }

    /// Sets the common attributes and the name of the next instructions.
    pub(super) fn set_common(&mut self, common: CommonAttrs) {
        let path = common.metadata.as_ref().map_or("", |metadata| metadata.op_name.as_str());
        self.name = super::names::of_path(path);
        self.common = (common != CommonAttrs::default()).then(|| Box::new(common));
    }

    /// Returns the error of an op, with its place.
    pub(super) fn error(&self, op: &Op, code: Code) -> Error {
        self.cx.error(op, code)
    }
    /// Returns the error of an op that cannot be converted.
    pub(super) fn unsupported(&self, op: &Op, message: impl Into<String>) -> Error {
        self.error(op, Code::Unsupported { message: message.into() })
    }
    /// Returns the error of a malformed op.
    pub(super) fn malformed(&self, op: &Op, message: impl Into<String>) -> Error {
        self.error(op, Code::Malformed { message: message.into() })
    }

    /// Adds an instruction whose shape follows from its operands.
    pub(super) fn emit(
        &mut self,
        op: &Op,
        made: impl Into<hlo::Op>,
        operands: &[InstructionId],
    ) -> Result<InstructionId> {
        self.emit_stated(op, made.into(), operands, None)
    }
    /// Adds an instruction with its shape.
    pub(super) fn emit_as(
        &mut self,
        op: &Op,
        made: impl Into<hlo::Op>,
        operands: &[InstructionId],
        shape: impl Into<Shape>,
    ) -> Result<InstructionId> {
        self.emit_stated(op, made.into(), operands, Some(shape.into()))
    }
    fn emit_stated(
        &mut self,
        op: &Op,
        mut made: hlo::Op,
        operands: &[InstructionId],
        stated: Option<Shape>,
    ) -> Result<InstructionId> {
        let shapes: Vec<&Shape> = operands.iter().map(|&id| self.shape(id)).collect();
        let inferred = made
            .complete_attributes(&shapes, stated.as_ref())
            .and_then(|()| made.shape(&shapes, stated.as_ref(), &*self.cx))
            .map_err(|broken| self.broken(op, &broken))?;
        let shape = stated.filter(|stated| stated.compatible(&inferred)).unwrap_or(inferred);
        if types::is_open(&shape) {
            let message =
                format!("the shape of the result of `{}` is not known: {shape:#}", op.name);
            return Err(self.error(op, Code::DynamicShape { message }));
        }
        Ok(self.push(Instruction {
            op: made,
            shape,
            operands: operands.into(),
            common: self.common.clone(),
        }))
    }
    fn push(&mut self, instruction: Instruction) -> InstructionId {
        let name = match self.name.is_empty() {
            true => instruction.opcode().name().into(),
            false => self.name.clone(),
        };
        self.computation.push(instruction, name, hlo::ir::InstructionSpans::default())
    }
    /// Returns the error of an op that becomes an instruction that breaks a rule.
    fn broken(&self, op: &Op, broken: &hlo::Error) -> Error {
        let help = broken.help().map(str::to_owned);
        let number = broken.code().number();
        let message = broken.code().to_string();
        let error = self.error(op, Code::Rule { message, number });
        help.map_or(error.clone(), |help| error.with_help(help))
    }

    /// Adds an instruction of another computation; its operands are replaced by the caller.
    pub(super) fn copy(&mut self, instruction: Instruction) -> InstructionId {
        self.push(instruction)
    }
    /// Adds a parameter.
    pub(super) fn parameter(&mut self, number: usize, shape: Shape, name: &str) -> InstructionId {
        let op = Parameter { number: i64::try_from(number).expect("a small number") }.into();
        let operands = [].as_slice().into();
        let instruction = Instruction { op, shape, operands, common: self.common.clone() };
        self.computation.push(instruction, name.into(), hlo::ir::InstructionSpans::default())
    }
    /// Adds a tuple.
    pub(super) fn tuple(&mut self, op: &Op, parts: &[InstructionId]) -> Result<InstructionId> {
        self.emit(op, Tuple {}, parts)
    }
    /// Adds the element of a tuple.
    pub(super) fn element(
        &mut self,
        op: &Op,
        tuple: InstructionId,
        index: usize,
    ) -> Result<InstructionId> {
        let index = i64::try_from(index).expect("a small number");
        self.emit(op, GetTupleElement { index }, &[tuple])
    }

    /// Returns the attributes of an instruction that every opcode may have.
    pub(super) fn common_of(&mut self, id: InstructionId) -> &mut CommonAttrs {
        self.computation.instructions[id].common.get_or_insert_default()
    }
    /// Returns the shape of an instruction's result.
    pub(super) fn shape(&self, id: InstructionId) -> &Shape {
        &self.computation.instructions[id].shape
    }
    /// Returns the array that an instruction returns.
    pub(super) fn array(&self, op: &Op, id: InstructionId) -> Result<ArrayShape> {
        self.shape(id).array().cloned().ok_or_else(|| {
            let message = format!("an operand of `{}` must be an array", op.name);
            self.malformed(op, message)
        })
    }
    /// Returns the opcode of an instruction.
    pub(super) fn opcode(&self, id: InstructionId) -> Opcode {
        self.computation.instructions[id].opcode()
    }

    /// Makes a value of the program known.
    pub(super) fn define(&mut self, value: ValueId, id: InstructionId) {
        self.values.insert(value, id);
    }
    /// Returns the instruction of a value, if it is defined in this computation.
    pub(super) fn known(&self, value: ValueId) -> Option<InstructionId> {
        self.values.get(&value).copied()
    }
    /// Returns the instruction of a value.
    pub(super) fn value(&self, op: &Op, value: ValueId) -> Result<InstructionId> {
        self.known(value).ok_or_else(|| {
            let message = format!("`{}` uses a value that is not defined before it", op.name);
            self.malformed(op, message)
        })
    }
    /// Returns the instruction of operand `i`.
    pub(super) fn operand(&self, op: &Op, i: usize) -> Result<InstructionId> {
        let value = op.operands.get(i).ok_or_else(|| {
            let found = op.operands.len();
            self.malformed(
                op,
                format!(
                    "`{}` has {found}, expected more",
                    op.name,
                    found = quantity(found, "operand")
                ),
            )
        })?;
        self.value(op, *value)
    }
    /// Returns the instructions of all operands.
    pub(super) fn operands(&self, op: &Op) -> Result<Vec<InstructionId>> {
        op.operands.iter().map(|&value| self.value(op, value)).collect()
    }
    /// Returns the instructions of a fixed number of operands.
    pub(super) fn exactly<const N: usize>(&self, op: &Op) -> Result<[InstructionId; N]> {
        <[InstructionId; N]>::try_from(self.operands(op)?).map_err(|found| {
            let found = found.len();
            self.malformed(
                op,
                format!(
                    "`{}` has {found}, expected {N}",
                    op.name,
                    found = quantity(found, "operand")
                ),
            )
        })
    }

    /// Returns the shape that the op states for result `i`.
    pub(super) fn stated(&self, op: &Op, i: usize) -> Result<Shape> {
        let result = op.results.get(i).ok_or_else(|| {
            let found = op.results.len();
            self.malformed(
                op,
                format!(
                    "`{}` has {found}, expected more",
                    op.name,
                    found = quantity(found, "result")
                ),
            )
        })?;
        types::shape(&result.ty).map_err(|error| self.cx.placed(op, error))
    }
    /// Returns the array that the op states for result `i`.
    pub(super) fn stated_array(&self, op: &Op, i: usize) -> Result<ArrayShape> {
        self.stated(op, i)?.array().cloned().ok_or_else(|| {
            let message = format!("the result of `{}` must be an array", op.name);
            self.malformed(op, message)
        })
    }
    /// Makes an instruction the only result of an op.
    pub(super) fn bind(&mut self, op: &Op, id: InstructionId) -> Result<()> {
        if op.results.len() != 1 {
            let found = op.results.len();
            return Err(self.malformed(
                op,
                format!("`{}` has {found}, expected 1", op.name, found = quantity(found, "result")),
            ));
        }
        self.bind_at(op, 0, id)?;
        self.place(op, id)
    }
    fn bind_at(&mut self, op: &Op, i: usize, id: InstructionId) -> Result<()> {
        let (stated, found) = (self.stated(op, i)?, self.shape(id));
        if !types::agrees(&stated, found) {
            let message =
                format!("the result of `{}` is stated as {stated:#}, but is {found:#}", op.name);
            return Err(self.malformed(op, message));
        }
        self.define(op.results[i].id, id);
        Ok(())
    }
    /// Makes the elements of a tuple, or one array, the results of an op.
    pub(super) fn bind_all(&mut self, op: &Op, id: InstructionId) -> Result<()> {
        if op.results.len() == 1 && self.shape(id).tuple().is_none() {
            return self.bind(op, id);
        }
        self.bind_tuple(op, id)
    }
    /// Makes the elements of a tuple the results of an op.
    pub(super) fn bind_tuple(&mut self, op: &Op, id: InstructionId) -> Result<()> {
        self.place(op, id)?;
        for i in 0..op.results.len() {
            let element = self.element(op, id, i)?;
            self.bind_at(op, i, element)?;
        }
        Ok(())
    }
    /// Gives an instruction the sharding of the op.
    pub(super) fn place(&mut self, op: &Op, id: InstructionId) -> Result<()> {
        if let Some(sharding) = self.cx.sharding_of(op)? {
            self.common_of(id).sharding = Some(sharding);
        }
        Ok(())
    }
}
