//! Values that depend only on constants, and modules that compute them.
use crate::build::module;
use crate::ops::control::library_name;
use crate::state::Open;
use crate::{Builder, Code, Error, Result, Value};
use hlo::ir::{Instruction, InstructionId, ModuleConfig};
use hlo::literal::ConstantValue;
use hlo::op::{Constant, Kind};
use hlo::{ElementType, Literal, Op, Opcode, Scalar, Verified};
use smallvec::SmallVec;
use std::panic::Location;

impl Builder {
    /// Returns whether a value depends on constants only: XLA's `IsConstant`.
    ///
    /// A value is constant if it depends on no parameter, random state, device, host or called
    /// computation. `get-dimension-size` of any value is constant, and so is a custom call of
    /// `SetBound`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[]", "x"), b.constant(2f32));
    /// assert!(b.is_constant(y * 3)? && !b.is_constant(x * y)?);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error; `E0804` if the value is not one of the computation being built.
    pub fn is_constant(&self, value: Value<'_>) -> Result<bool> {
        self.status()?;
        self.owns(value)?;
        let state = self.state.borrow();
        let (open, id) = state.open.last().zip(value.id()).ok_or(Code::Invalid {})?;
        Ok(variable(open, id).is_none())
    }
    /// Returns the module that computes this value, which must be constant: XLA's
    /// `BuildConstantSubGraph`.
    ///
    /// Sizes of dimensions become constants: the bound, or of dynamic ones -1 if
    /// `dynamic_dimension_is_minus_one`. What `SetBound` sets is its literal. The builder can be
    /// used further.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[4]", "x"), b.constant(2i32));
    /// let module = b.build_constant_sub_graph(x.get_dimension_size(0) * y, false)?;
    /// assert_eq!(interp::run(&module, &[])?.to_string(), "s32[] 8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error; `E0801` if the value is not constant, with the instruction it depends on.
    #[track_caller]
    pub fn build_constant_sub_graph(
        &self,
        root: Value<'_>,
        dynamic_dimension_is_minus_one: bool,
    ) -> Result<Verified> {
        let caller = Location::caller();
        self.status()?;
        self.owns(root)?;
        let state = self.state.borrow();
        let (open, id) = state.open.last().zip(root.id()).ok_or(Code::Invalid {})?;
        if let Some(at) = variable(open, id) {
            let (name, opcode) = (&open.names[at], open.instructions[at].opcode());
            let message =
                format!("the value depends on `{name}`, a `{opcode}`, and is not constant");
            let help = "of a size that is only bounded, build the graph of its bound";
            return Err(Error::argument(message).with_help(help).at(caller));
        }
        let (entry, root) = constant_part(open, id, dynamic_dimension_is_minus_one);
        let name = format!("{}_compute_constant", self.name());
        let made = module(&state, name.into(), (entry, root), ModuleConfig::default(), |_| {});
        made.map_err(|error| error.at(caller))
    }
}

/// Returns an instruction the value depends on that is not constant.
fn variable(open: &Open, root: InstructionId) -> Option<InstructionId> {
    let reached = open.reached(root, folds);
    let varies =
        |instruction: &Instruction| !folds(instruction) && !follows_from_operands(instruction);
    let mut all = open.instructions.iter().take(reached.len()).rev();
    all.find(|(id, instruction)| reached[id.index()] && varies(instruction)).map(|(id, _)| id)
}

/// Returns whether the result depends on nothing but the operands: not on arguments, the device,
/// the host, other devices, the random state, or what a called computation does.
pub(crate) fn follows_from_operands(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        Kind::Array => true,
        Kind::Value => instruction.opcode() != Opcode::Parameter,
        Kind::Control => library_name(instruction).is_some(),
        Kind::Asynchronous | Kind::Collective | Kind::Transfer => false,
        Kind::Host | Kind::Device | Kind::Random | Kind::Custom => false,
    }
}

/// Returns whether the instruction is a constant whatever its operands are.
fn folds(instruction: &Instruction) -> bool {
    if let Op::CustomCall(call) = &instruction.op {
        return call.custom_call_target.0 == "SetBound";
    }
    instruction.opcode() == Opcode::GetDimensionSize
}

/// Returns the constant that such an instruction is.
fn folded(open: &Open, instruction: &Instruction, minus_one: bool) -> Option<Instruction> {
    let value = if let Op::GetDimensionSize(op) = &instruction.op {
        let operand = open.instructions[*instruction.operands.first()?].shape.array()?;
        let at = usize::try_from(*op.dimensions.first()?).ok()?;
        let unknown = minus_one && operand.is_dynamic(at);
        let size = if unknown { -1 } else { *operand.dims.get(at)? };
        Literal::scalar(ElementType::S32, Scalar::Signed(size))
    } else if let Op::CustomCall(call) = &instruction.op {
        let literal = call.literal.as_ref()?;
        // Of a pair the first says the bounds, the second which of them are no more than bounds.
        literal.elements().and_then(<[_]>::first).unwrap_or(literal).clone()
    } else {
        return None;
    };
    let (shape, value) = (value.shape(), Box::new(ConstantValue::Literal(value)));
    let operands = SmallVec::new();
    Some(Instruction { op: Op::Constant(Constant { value }), shape, operands, common: None })
}

/// Returns the instructions the root needs. An element of a tuple that is made here needs that
/// element only.
fn constant_part(open: &Open, root: InstructionId, minus_one: bool) -> (Open, InstructionId) {
    let element = |instruction: &Instruction| {
        let Op::GetTupleElement(op) = &instruction.op else { return None };
        let tuple = &open.instructions[*instruction.operands.first()?];
        (tuple.opcode() == Opcode::Tuple).then_some(())?;
        tuple.operands.get(usize::try_from(op.index).ok()?).copied()
    };
    let mut needed = vec![false; root.index() + 1];
    needed[root.index()] = true;
    for id in open.instructions.ids().rev().skip_while(|id| id.index() > root.index()) {
        let instruction = &open.instructions[id];
        if !needed[id.index()] || folds(instruction) {
            continue;
        }
        match element(instruction) {
            Some(element) => needed[element.index()] = true,
            None => instruction.operands.iter().for_each(|o| needed[o.index()] = true),
        }
    }
    let mut part = Open::new(open.mark, open.name.clone());
    let mut copies = vec![root; needed.len()];
    for id in open.instructions.ids().take(needed.len()).filter(|id| needed[id.index()]) {
        let instruction = &open.instructions[id];
        copies[id.index()] = match element(instruction) {
            Some(element) => copies[element.index()],
            None => {
                let copy = folded(open, instruction, minus_one).unwrap_or_else(|| Instruction {
                    operands: instruction.operands.iter().map(|o| copies[o.index()]).collect(),
                    ..instruction.clone()
                });
                part.push(copy, open.names[id].clone(), open.callers[id.index()])
            }
        };
    }
    let root = copies[root.index()];
    (part, root)
}
