//! Computations and instructions.
use super::{CommonAttrs, InstructionId, Metadata};
use crate::diag::Site;
use crate::id::{Arena, SecondaryMap};
use crate::op::{AsyncRole, Kind};
use crate::{Op, Opcode, Shape, Span};
use smallvec::SmallVec;
use smol_str::SmolStr;

/// A list of instructions in which operands come before their users.
#[derive(Debug, Clone, PartialEq)]
pub struct Computation {
    /// Name without the `%`.
    pub name: SmolStr,
    /// Instructions in text order; [`Computation::push`] adds one.
    pub instructions: Arena<Instruction>,
    names: SecondaryMap<Instruction, SmolStr>,
    spans: SecondaryMap<Instruction, InstructionSpans>,
    written: WrittenNames,
    /// The instruction whose value is the result.
    pub root: InstructionId,
    /// The result shape its signature states, if it has one.
    pub signature: Option<Box<Shape>>,
    /// `execution_thread`; `main` if empty.
    pub execution_thread: SmolStr,
    /// The span of its name in the text.
    pub span: Span,
    /// Unknown fields of the message it was read from, as they were encoded.
    pub unknown_fields: Vec<u8>,
}

/// The names in the text, where the parser changed them to make them unique.
#[derive(Debug, Clone, PartialEq, Default)]
struct WrittenNames {
    computation: Option<SmolStr>,
    /// Ordered by instruction.
    instructions: Vec<(InstructionId, SmolStr)>,
}

/// One operation, its operands and the shape of its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// What it computes.
    pub op: Op,
    /// Shape of its result, as stated.
    pub shape: Shape,
    /// Operands.
    pub operands: SmallVec<[InstructionId; 3]>,
    /// Attributes that every opcode may have.
    pub common: Option<Box<CommonAttrs>>,
}

/// The spans of an instruction in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstructionSpans {
    /// Its name.
    pub name: Span,
    /// From its opcode to the end of its attributes.
    pub body: Span,
}

impl Instruction {
    /// Returns the opcode.
    pub fn opcode(&self) -> Opcode {
        self.op.opcode()
    }
    /// Returns where it comes from in the program of the frontend, if it says so.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.common.as_ref()?.metadata.as_ref()
    }
}

impl Computation {
    /// Returns whether it only starts to send and to receive. An `async-start` of such a group
    /// starts all of it together, and its `async-done` ends all of it.
    pub fn only_transfers(&self) -> bool {
        self.instructions.iter().all(|(_, one)| {
            let opcode = one.opcode();
            let is_start = matches!(opcode.async_role(), Some(AsyncRole::Start(_)));
            let transfers = opcode.kind() == Kind::Transfer && is_start;
            transfers || matches!(one.op, Op::Parameter(_)) || matches!(one.op, Op::Tuple(_))
        })
    }
    /// Returns an empty computation; `root` is the first instruction until it is set.
    pub fn new(name: impl Into<SmolStr>) -> Self {
        Self {
            name: name.into(),
            instructions: Arena::default(),
            names: SecondaryMap::default(),
            spans: SecondaryMap::default(),
            written: WrittenNames::default(),
            root: InstructionId::new(0),
            signature: None,
            execution_thread: SmolStr::default(),
            span: Span::default(),
            unknown_fields: Vec::new(),
        }
    }
    /// Returns a computation whose instructions have names but no spans.
    ///
    /// # Panics
    /// If there are not as many names as instructions.
    pub fn from_parts(
        name: impl Into<SmolStr>,
        instructions: Arena<Instruction>,
        names: SecondaryMap<Instruction, SmolStr>,
        root: InstructionId,
    ) -> Self {
        assert_eq!(instructions.len(), names.len(), "each instruction has a name");
        let spans = SecondaryMap::filled(instructions.len(), InstructionSpans::default());
        Self { instructions, names, spans, root, ..Self::new(name) }
    }
    /// Adds an instruction and returns its id.
    pub fn push(
        &mut self,
        instruction: Instruction,
        name: SmolStr,
        spans: InstructionSpans,
    ) -> InstructionId {
        self.names.push(name);
        self.spans.push(spans);
        self.instructions.push(instruction)
    }
    /// Returns the name of an instruction, without the `%`.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn name(&self, id: InstructionId) -> &SmolStr {
        &self.names[id]
    }
    /// Renames an instruction.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn rename(&mut self, id: InstructionId, name: SmolStr) {
        self.names[id] = name;
    }
    /// Changes the name of the computation to make it unique; errors show the one in the text.
    pub(crate) fn make_unique(&mut self, name: SmolStr) {
        self.written.computation = Some(std::mem::replace(&mut self.name, name));
    }
    /// Changes the name of an instruction likewise. Called in the order of the instructions.
    pub(crate) fn make_instruction_unique(&mut self, id: InstructionId, name: SmolStr) {
        let written = std::mem::replace(&mut self.names[id], name);
        self.written.instructions.push((id, written));
    }
    /// Returns `computation/name` with the names in the text, which the parser may have changed to
    /// make them unique.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn written_path(&self, id: InstructionId) -> String {
        let found = self.written.instructions.binary_search_by_key(&id, |(id, _)| *id);
        let name = found.map_or(self.name(id), |at| &self.written.instructions[at].1);
        format!("{}/{name}", self.written.computation.as_ref().unwrap_or(&self.name))
    }
    /// Returns the span of an instruction's opcode, operands and attributes; the default span if
    /// the module was not parsed.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn span(&self, id: InstructionId) -> Span {
        self.spans[id].body
    }
    /// Returns the spans of an instruction and of its name.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn spans(&self, id: InstructionId) -> InstructionSpans {
        self.spans[id]
    }
    /// Returns the name of an instruction with that of its computation: `computation/name`.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn path(&self, id: InstructionId) -> String {
        format!("{}/{}", self.name, self.name(id))
    }
    /// Returns an instruction as the place of an error.
    ///
    /// # Panics
    /// If the computation has no such instruction.
    pub fn site(&self, id: InstructionId) -> Site {
        let (span, instruction) = (Some(self.span(id)), Some(self.path(id)));
        Site { span, instruction, location: None }
    }
    /// Sets the spans of all instructions.
    pub fn set_spans(&mut self, mut spans: impl FnMut(InstructionId) -> InstructionSpans) {
        for id in self.instructions.ids() {
            self.spans[id] = spans(id);
        }
    }
    /// Frees spare capacity.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.instructions.shrink_to_fit();
        self.names.shrink_to_fit();
        self.spans.shrink_to_fit();
    }
    /// Returns the parameters by number. Parameters of the same number, which no verified module
    /// has, are ordered by name, which does not depend on the order of the text.
    pub fn parameters(&self) -> Vec<InstructionId> {
        let mut numbered: Vec<_> = (self.instructions.iter())
            .filter_map(|(id, instruction)| {
                let Op::Parameter(parameter) = &instruction.op else { return None };
                Some((parameter.number, id))
            })
            .collect();
        let key = |&(number, id): &(i64, InstructionId)| (number, &self.names[id]);
        numbered.sort_by(|a, b| key(a).cmp(&key(b)));
        numbered.into_iter().map(|(_, id)| id).collect()
    }
    /// Returns the shape of the result.
    pub fn result_shape(&self) -> &Shape {
        &self.instructions[self.root].shape
    }
    /// Returns the opcode of the root.
    pub fn root_opcode(&self) -> Opcode {
        self.instructions[self.root].opcode()
    }
    /// Returns whether an asynchronous instruction can be printed in its short form: the computation
    /// only passes its parameters to one op.
    pub(crate) fn is_single_op(&self) -> bool {
        let root = &self.instructions[self.root];
        // `all-reduce-start`, `send-done` and the like are opcodes with other shapes.
        let is_opcode = |phase| Opcode::from_name(&format!("{}-{phase}", root.opcode())).is_some();
        let is_taken = is_opcode("start") || is_opcode("done");
        let wraps = root.operands.len() + 1 == self.instructions.len()
            && !matches!(root.op, Op::Parameter(_));
        wraps
            && !is_taken
            && root.operands.iter().zip(0..).all(|(&id, number)| {
                matches!(&self.instructions[id].op, Op::Parameter(p) if p.number == number)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_stay_small() {
        // A module may take twelve times its text, and an instruction is about 75 bytes of text.
        assert!(size_of::<Op>() <= 56, "{}", size_of::<Op>());
        assert!(size_of::<Shape>() <= 120, "{}", size_of::<Shape>());
        assert!(size_of::<Instruction>() <= 208, "{}", size_of::<Instruction>());
    }
}
