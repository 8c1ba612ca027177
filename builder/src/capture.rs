//! Captures: values of outer computations used in closures. An HLO computation sees only its
//! parameters, so a captured value becomes a parameter or is copied.
//!
//! | captured | treatment |
//! |---|---|
//! | a scalar constant, a broadcast of one, an `iota` | copied, into any closure |
//! | another constant | a parameter of loops and branches; copied into other closures |
//! | any other value | a parameter of loops and branches; refused in other closures, whose parameters the op defines |
//!
//! While the closure is traced, a captured value is an extra parameter. Afterwards loops and
//! branches, whose computations take one parameter, pack the state and the captured values into a
//! tuple. The body of a loop returns the captured values unchanged.
use crate::annotations::Caller;
use crate::arguments::size;
use crate::computation::Traced;
use crate::ops::movement::elements;
use crate::state::{Open, State};
use crate::{Builder, Code, Error, Result, Value};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{GetTupleElement, Parameter, Tuple};
use hlo::{Op, Opcode, Shape};
use smallvec::SmallVec;
use std::panic::Location;

impl Builder {
    /// Returns the value as one of the innermost computation.
    ///
    /// # Errors
    /// `E0803` and `E0804` if it cannot be used there.
    pub(crate) fn adopt<'b>(&'b self, value: Value<'b>) -> Result<Value<'b>> {
        self.same_builder(value)?;
        let (Some(mark), Some(id)) = (value.mark(), value.id()) else {
            return Err(self.failure());
        };
        let mut state = self.state.borrow_mut();
        let depth = state.open.iter().position(|open| open.mark == mark);
        if let Some(id) = depth.and_then(|depth| state.bring(depth, id)) {
            return Ok(Value::new(self, state.innermost().mark, id));
        }
        let (found, here) = (state.name_of(mark), state.innermost().name.to_string());
        let error = Error::from(Code::OtherComputation { found, here });
        Err(error.with_help(match depth {
            Some(_) => {
                "only loops and branches may use values from outside: pass it as an operand, or make a constant inside"
            }
            None => "the closure it was made in has ended: return it from the closure",
        }))
    }
}

impl State {
    /// Brings an instruction of the open computation `depth` into the innermost one.
    fn bring(&mut self, depth: usize, id: InstructionId) -> Option<InstructionId> {
        let (mut outer, mut inner) = self.open.get_mut(depth..)?.split_first_mut()?;
        let mut id = id;
        while let Some((next, rest)) = inner.split_first_mut() {
            id = next.bring_from(outer, id)?;
            (outer, inner) = (next, rest);
        }
        Some(id)
    }
}

impl Open {
    /// Brings an instruction of the computation around into this one.
    fn bring_from(&mut self, outer: &Self, id: InstructionId) -> Option<InstructionId> {
        if let Some(&(_, known)) = self.brought.iter().find(|(from, _)| *from == id) {
            return Some(known);
        }
        let instruction = &outer.instructions[id];
        let (name, caller) = (outer.names[id].clone(), outer.callers[id.index()]);
        let copied = outer.is_constant(id) && (self.captures.is_none() || outer.is_small(id));
        let here = if copied {
            let operands = instruction.operands.iter().map(|&o| self.bring_from(outer, o));
            let operands: Option<SmallVec<_>> = operands.collect();
            self.push(Instruction { operands: operands?, ..instruction.clone() }, name, caller)
        } else {
            let number = self.parameter_count();
            self.captures.as_mut()?.push(id);
            self.push(bare(Parameter { number }, instruction.shape.clone(), &[]), name, caller)
        };
        self.brought.push((id, here));
        Some(here)
    }
    /// Returns whether it is made of nothing but constants.
    fn is_constant(&self, id: InstructionId) -> bool {
        let instruction = &self.instructions[id];
        let opcode = instruction.opcode();
        match instruction.operands.as_slice() {
            [] => opcode == Opcode::Constant || opcode == Opcode::Iota,
            operands => opcode == Opcode::Broadcast && self.is_constant(operands[0]),
        }
    }
    /// Returns whether its text is short, of a constant.
    fn is_small(&self, id: InstructionId) -> bool {
        let instruction = &self.instructions[id];
        if instruction.opcode() == Opcode::Constant {
            return instruction.shape.array().is_some_and(|array| array.rank() == 0);
        }
        instruction.operands.iter().all(|&operand| self.is_small(operand))
    }
    /// Returns how many parameters it has.
    pub(crate) fn parameter_count(&self) -> i64 {
        let parameters = self.instructions.iter().filter(|(_, i)| i.opcode() == Opcode::Parameter);
        size(parameters.count())
    }
}

/// Returns an instruction of the library's own, without marks.
fn bare(op: impl Into<Op>, shape: Shape, operands: &[InstructionId]) -> Instruction {
    Instruction { op: op.into(), shape, operands: SmallVec::from_slice(operands), common: None }
}

/// The layout of the single parameter of a computation with captures: a tuple, into which the
/// elements of a value that is one itself are laid out. Without captured values nothing is packed.
pub(crate) struct Packing<'b> {
    builder: &'b Builder,
    first: Shape,
    /// In the computation around.
    captured: Vec<InstructionId>,
}

impl<'b> Packing<'b> {
    /// Returns the packing for computations that capture these values, of one parameter of this
    /// shape.
    pub(crate) fn new(builder: &'b Builder, first: Shape, traced: &[&Traced]) -> Self {
        let mut captured = Vec::new();
        for &id in traced.iter().filter_map(|traced| traced.open.captures.as_ref()).flatten() {
            if !captured.contains(&id) {
                captured.push(id);
            }
        }
        Self { builder, first, captured }
    }
    fn is_tuple(&self) -> bool {
        self.first.tuple().is_some()
    }
    /// Returns the captured values.
    fn values(&self) -> Vec<Value<'b>> {
        let mark = self.builder.state.borrow_mut().innermost().mark;
        self.captured.iter().map(|&id| Value::new(self.builder, mark, id)).collect()
    }
    /// Returns the operand the computations take.
    pub(crate) fn pack(&self, first: Value<'b>) -> Result<Value<'b>> {
        if self.captured.is_empty() {
            return Ok(first);
        }
        let mut parts = if self.is_tuple() { elements(first)? } else { vec![first] };
        parts.extend(self.values());
        self.builder.emit(Tuple {}, &parts, None)
    }
    /// Returns the value in the result of a loop.
    pub(crate) fn unpack(&self, packed: Value<'b>) -> Result<Value<'b>> {
        if self.captured.is_empty() {
            return Ok(packed);
        }
        let part = |index: i64| self.builder.emit(GetTupleElement { index }, &[packed], None);
        let Some(elements) = self.first.tuple() else { return part(0) };
        let parts: Result<Vec<_>> = (0i64..).take(elements.len()).map(part).collect();
        self.builder.emit(Tuple {}, &parts?, None)
    }
    /// Files the computation with the packed parameter. With `give_on` it returns the captured
    /// values too.
    pub(crate) fn file(&self, traced: Traced, give_on: bool) -> ComputationId {
        let mut state = self.builder.state.borrow_mut();
        if self.captured.is_empty() {
            return state.file(traced.open, traced.root);
        }
        let caller = state.call.map_or(Location::caller(), |(caller, _)| caller);
        let around = state.innermost();
        let shapes = self.captured.iter().map(|&id| around.instructions[id].shape.clone());
        let shapes: Vec<Shape> = shapes.collect();
        let (open, root) = self.packed(traced, &shapes, caller, give_on);
        state.file(open, root)
    }
    fn packed(
        &self,
        traced: Traced,
        captured: &[Shape],
        caller: Caller,
        give_on: bool,
    ) -> (Open, InstructionId) {
        let Traced { open: old, root } = traced;
        let mut open = Open::new(old.mark, old.name.clone());
        let state = self.first.tuple().unwrap_or(std::slice::from_ref(&self.first));
        let shapes = [state, captured].concat();
        let whole = bare(Parameter { number: 0 }, Shape::Tuple(shapes.clone()), &[]);
        let whole = open.push(whole, "p0".into(), caller);
        let mut parts = take_apart(&mut open, whole, &shapes, caller);
        let captured = parts.split_off(state.len());
        let first = match self.is_tuple() {
            true => open.push(bare(Tuple {}, self.first.clone(), &parts), "tuple".into(), caller),
            false => parts[0],
        };
        let slot = |here: InstructionId| {
            let (outer, _) = old.brought.iter().find(|(_, brought)| *brought == here)?;
            self.captured.iter().position(|captured| captured == outer)
        };
        let mut copies: Vec<InstructionId> = Vec::with_capacity(old.instructions.len());
        for (id, instruction) in old.instructions.iter() {
            let slot = slot(id).filter(|_| instruction.opcode() == Opcode::Parameter);
            let is_first = instruction.op == Op::Parameter(Parameter { number: 0 });
            copies.push(if is_first {
                first
            } else if let Some(slot) = slot {
                captured[slot]
            } else {
                let operands = instruction.operands.iter().map(|o| copies[o.index()]).collect();
                let copy = Instruction { operands, ..instruction.clone() };
                open.push(copy, old.names[id].clone(), old.callers[id.index()])
            });
        }
        let root = copies[root.index()];
        if !give_on {
            return (open, root);
        }
        let mut given = match self.first.tuple() {
            Some(elements) => take_apart(&mut open, root, elements, caller),
            None => vec![root],
        };
        given.extend(captured);
        let root = open.push(bare(Tuple {}, Shape::Tuple(shapes), &given), "tuple".into(), caller);
        (open, root)
    }
}

/// Returns the elements of a tuple.
fn take_apart(
    open: &mut Open,
    tuple: InstructionId,
    shapes: &[Shape],
    caller: Caller,
) -> Vec<InstructionId> {
    let mut element = |(index, shape): (i64, &Shape)| {
        let element = bare(GetTupleElement { index }, shape.clone(), &[tuple]);
        open.push(element, "get-tuple-element".into(), caller)
    };
    (0i64..).zip(shapes).map(&mut element).collect()
}
