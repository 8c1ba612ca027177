//! Values: the results of instructions.
use crate::arguments::{counted, size};
use crate::{Builder, Code, Error, Result};
use hlo::ir::InstructionId;
use hlo::{ArrayShape, ElementType, Op, Opcode, Shape};
use smol_str::SmolStr;
use std::fmt;

/// The result of an instruction: a handle into its builder, free to copy.
///
/// A value belongs to one computation. The value of a call that failed is invalid: values made from
/// it are invalid too, and its queries fail.
#[derive(Clone, Copy)]
#[must_use = "a value that nothing uses is not computed; bind that of an op with a side effect to `_`"]
pub struct Value<'b> {
    builder: &'b Builder,
    /// The mark of the computation and the instruction in it; nothing if the call failed.
    at: Option<(u32, InstructionId)>,
}

/// Its opcode and shape: `add f32[2]`.
impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.look(|instruction, _| (instruction.opcode(), instruction.shape.clone())) {
            Ok((opcode, shape)) => write!(f, "{opcode} {shape:#}"),
            Err(_) => f.write_str("invalid"),
        }
    }
}

impl<'b> Value<'b> {
    pub(crate) fn new(builder: &'b Builder, mark: u32, id: InstructionId) -> Self {
        Self { builder, at: Some((mark, id)) }
    }
    /// Returns the value of a call that failed.
    pub fn invalid(builder: &'b Builder) -> Self {
        Self { builder, at: None }
    }
    pub(crate) fn mark(self) -> Option<u32> {
        self.at.map(|(mark, _)| mark)
    }
    pub(crate) fn id(self) -> Option<InstructionId> {
        self.at.map(|(_, id)| id)
    }
    /// Returns the builder that made it.
    pub fn builder(self) -> &'b Builder {
        self.builder
    }
    /// Returns whether the call that made it succeeded.
    pub fn is_valid(self) -> bool {
        self.at.is_some()
    }

    /// Runs [`Builder::record`] of the builder that made it.
    #[track_caller]
    pub fn record(self, make: impl FnOnce(&'b Builder) -> Result<Self>) -> Self {
        self.builder.record(make)
    }
    /// As [`Value::record`], for several values.
    #[track_caller]
    pub(crate) fn record_all<const N: usize>(
        self,
        make: impl FnOnce(&'b Builder) -> Result<[Self; N]>,
    ) -> [Self; N] {
        self.builder.record_or([Self::invalid(self.builder); N], make)
    }
    pub(crate) fn look<T>(
        self,
        see: impl FnOnce(&hlo::ir::Instruction, &SmolStr) -> T,
    ) -> Result<T> {
        let (mark, id) = self.at.ok_or_else(|| self.builder.failure())?;
        let state = self.builder.state.borrow();
        let Some(open) = state.marked(mark) else {
            let here = state.open.last().map(|open| open.name.to_string()).unwrap_or_default();
            let found = "a closure that has ended".to_owned();
            return Err(Code::OtherComputation { found, here }.into());
        };
        Ok(see(&open.instructions[id], &open.names[id]))
    }
    /// Returns its shape.
    ///
    /// # Errors
    /// The first error if it is invalid.
    pub fn shape(self) -> Result<Shape> {
        self.look(|instruction, _| instruction.shape.clone())
    }
    /// Returns its shape, which is an array's.
    ///
    /// # Errors
    /// The first error if it is invalid, `E0801` if it is a tuple or a token.
    pub fn array(self) -> Result<ArrayShape> {
        let shape = self.shape()?;
        shape.array().cloned().ok_or_else(|| {
            Error::argument(format!("expected an array, found {shape:#}"))
                .with_help("take an array out of a tuple with `get_tuple_element(i)`")
        })
    }
    /// Sizes of its dimensions.
    ///
    /// # Errors
    /// As [`Value::array`].
    pub fn dims(self) -> Result<Vec<i64>> {
        Ok(self.array()?.dims.to_vec())
    }
    /// Returns the number of its dimensions.
    ///
    /// # Errors
    /// As [`Value::array`].
    pub fn rank(self) -> Result<usize> {
        Ok(self.array()?.rank())
    }
    /// Returns the type of its elements.
    ///
    /// # Errors
    /// As [`Value::array`].
    pub fn element_type(self) -> Result<ElementType> {
        Ok(self.array()?.ty)
    }
    /// Returns the number of a dimension, which may be counted from the end: `-1` is the last.
    ///
    /// # Errors
    /// `E0801` if there is no such dimension.
    pub fn axis(self, axis: i64) -> Result<i64> {
        let shape = self.array()?;
        let found = counted(axis, shape.rank());
        if (0..size(shape.rank())).contains(&found) {
            return Ok(found);
        }
        Err(Error::argument(format!("dimension {axis} does not exist in {shape:#}")))
    }
    /// Returns the numbers of dimensions, each as [`Value::axis`] counts it.
    pub(crate) fn axes(self, axes: &[i64]) -> Result<Vec<i64>> {
        axes.iter().map(|&axis| self.axis(axis)).collect()
    }
    /// Returns the op that computes it.
    ///
    /// # Errors
    /// The first error if it is invalid.
    pub fn opcode(self) -> Result<Opcode> {
        self.look(|instruction, _| instruction.opcode())
    }
    pub(crate) fn op(self) -> Result<Op> {
        self.look(|instruction, _| instruction.op.clone())
    }
    /// Returns the operands of its instruction.
    pub(crate) fn operands(self) -> Result<Vec<Self>> {
        let operands = self.look(|instruction, _| instruction.operands.clone())?;
        let mark = self.mark().ok_or(Code::Invalid {})?;
        Ok(operands.into_iter().map(|id| Self::new(self.builder, mark, id)).collect())
    }
}
