//! Queries about what has been built.
use crate::{Builder, Code, Error, Result, Value};
use hlo::Shape;
use hlo::ir::{Instruction, Sharding};
use std::fmt::Write as _;

impl Builder {
    /// Shapes of values: XLA's `GetOperandShapes`; of one value see [`Value::shape`].
    ///
    /// # Errors
    /// The first error if one of them is invalid.
    pub fn shapes(&self, values: &[Value<'_>]) -> Result<Vec<Shape>> {
        values.iter().map(|value| value.shape()).collect()
    }
    /// Shapes of the parameters, by number, and of the last value made: XLA's `GetProgramShape`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[2]", "x");
    /// let y = x.gt(0.0);
    /// let (parameters, result) = b.program_shape()?;
    /// assert_eq!((parameters, result), (vec![x.shape()?], y.shape()?));
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error; `E0805` if nothing was made.
    pub fn program_shape(&self) -> Result<(Vec<Shape>, Shape)> {
        self.status()?;
        self.program_shape_of(self.last()?)
    }
    /// Shapes of the parameters, by number, and of a result: XLA's `GetProgramShape` with a root.
    ///
    /// # Errors
    /// The first error.
    pub fn program_shape_of(&self, root: Value<'_>) -> Result<(Vec<Shape>, Shape)> {
        self.status()?;
        let result = root.shape()?;
        let mut state = self.state.borrow_mut();
        let mut parameters: Vec<(i64, Shape)> = Vec::new();
        for (_, instruction) in state.innermost().instructions.iter() {
            if let hlo::Op::Parameter(parameter) = &instruction.op {
                parameters.push((parameter.number, instruction.shape.clone()));
            }
        }
        parameters.sort_by_key(|(number, _)| *number);
        Ok((parameters.into_iter().map(|(_, shape)| shape).collect(), result))
    }
    /// Returns the value last made.
    pub(crate) fn last(&self) -> Result<Value<'_>> {
        let mut state = self.state.borrow_mut();
        let open = state.innermost();
        let last = open.instructions.ids().next_back();
        let last = last.map(|id| Value::new(self, open.mark, id));
        last.ok_or_else(|| {
            let message = format!("`{}` has no instruction", self.name());
            Error::from(Code::Root { message }).with_help("make a value before you build")
        })
    }
    /// Returns an instruction and its transitive operands as text, one per line: XLA's
    /// `OpToString`. Operands follow their users, each instruction once.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[]", "x");
    /// assert_eq!(b.op_to_string(x * x)?, "multiply = f32[] multiply(x, x)\n  x = f32[] parameter()\n");
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error if the value is invalid.
    pub fn op_to_string(&self, op: Value<'_>) -> Result<String> {
        self.same_builder(op)?;
        let mut text = String::new();
        let mut shown = rustc_hash::FxHashSet::default();
        let mut open = vec![(op, 0)];
        while let Some((value, depth)) = open.pop() {
            let id = value.id().ok_or_else(|| self.failure())?;
            if !shown.insert(id.index()) {
                continue;
            }
            let operands = value.operands()?;
            let names: Result<Vec<_>> = operands.iter().map(|operand| operand.name()).collect();
            let (name, shape, opcode) = (value.name()?, value.shape()?, value.opcode()?);
            let line = format!("{name} = {shape:#} {opcode}({})", names?.join(", "));
            let _ = writeln!(text, "{:1$}{line}", "", 2 * depth);
            open.extend(operands.into_iter().rev().map(|operand| (operand, depth + 1)));
        }
        Ok(text)
    }
    /// Returns the instruction of a handle, which [`Value::handle`] gave: XLA's
    /// `GetInstructionByHandle`.
    ///
    /// # Errors
    /// `E0801` if the computation being built has none of this handle.
    pub fn instruction_by_handle(&self, handle: usize) -> Result<Instruction> {
        let mut state = self.state.borrow_mut();
        let found = state.innermost().instructions.iter().nth(handle);
        found
            .map(|(_, instruction)| instruction.clone())
            .ok_or_else(|| Error::argument(format!("there is no instruction of handle {handle}")))
    }
}

/// Queries about an instruction. Each fails with the first error if the value is invalid.
impl Value<'_> {
    /// Returns the name of its instruction. The module appends numbers to repeated names.
    pub fn name(self) -> Result<String> {
        self.look(|_, name| name.to_string())
    }
    /// Returns its instruction: XLA's `GetInstruction`.
    pub fn instruction(self) -> Result<Instruction> {
        self.look(|instruction, _| instruction.clone())
    }
    /// Returns its place among the instructions of its computation.
    pub fn handle(self) -> Result<usize> {
        Ok(self.id().ok_or_else(|| self.builder().failure())?.index())
    }
    /// Returns its sharding: XLA's `GetOpSharding`.
    pub fn sharding(self) -> Result<Option<Sharding>> {
        let common = self.look(|instruction, _| instruction.common.clone())?;
        Ok(common.and_then(|common| common.sharding))
    }
}
