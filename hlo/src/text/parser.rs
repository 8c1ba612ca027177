//! The state of the parser: the computations of a text, and the names in each.
use super::Cursor;
use crate::diag::{Code, Diagnostic};
use crate::id::Id;
use crate::ir::{
    CommonAttrs, Computation, ComputationId, Instruction, InstructionId, InstructionSpans,
    ParseOptions, ProgramShape,
};
use crate::op::{Callees, Kind};
use crate::{Error, Result, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The most errors that are reported.
pub(super) const MOST_ERRORS: usize = 100;

/// The parser of one text.
pub(crate) struct Parser<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) options: ParseOptions,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Errors of instructions, after which parsing went on.
    pub(super) errors: Vec<Error>,
    /// Whether the error that is being returned follows from one of them.
    pub(super) is_consequence: bool,
    /// Computations in the order of their first mention; those not defined yet are empty.
    pub(super) slots: Vec<NameSlot<'a>>,
    /// Computations by their name in the text.
    pub(super) named: FxHashMap<&'a str, ComputationId>,
    /// Ids of the computations, in the order of their ends.
    pub(super) finished: Vec<ComputationId>,
    /// Computations being parsed, the innermost last.
    pub(super) scopes: Vec<Scope<'a>>,
    /// The elements of all shapes that have been inferred.
    pub(super) inferred: usize,
    /// The text is a single instruction: undefined operands become parameters.
    pub(super) single: bool,
    pub(super) entry: Option<(ComputationId, Span)>,
}

pub(super) struct NameSlot<'a> {
    pub(super) name: &'a str,
    /// Where it is defined, or first mentioned.
    pub(super) span: Span,
    pub(super) computation: Option<Computation>,
}

/// A computation being parsed, with the names seen so far.
pub(super) struct Scope<'a> {
    pub(super) computation: Computation,
    pub(super) by_name: FxHashMap<&'a str, InstructionId>,
    /// The `get-tuple-element` created for each operand `t#1`.
    pub(super) elements: FxHashMap<(InstructionId, i64), InstructionId>,
    root: Option<(InstructionId, Span)>,
    /// The names of skipped instructions whose shape is not known.
    pub(super) broken: FxHashSet<&'a str>,
    /// Whether the name of a skipped instruction is not known.
    pub(super) is_name_lost: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, options: ParseOptions) -> Self {
        Self {
            cursor: Cursor::new(text),
            options,
            warnings: Vec::new(),
            errors: Vec::new(),
            is_consequence: false,
            slots: Vec::new(),
            named: FxHashMap::default(),
            finished: Vec::new(),
            scopes: Vec::new(),
            inferred: 0,
            single: false,
            entry: None,
        }
    }

    pub(crate) fn warn(&mut self, error: &Error) {
        self.warnings.push(error.warning());
    }

    /// Returns the computation being parsed.
    pub(super) fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes.last_mut().expect("instructions are read inside a computation")
    }

    /// Returns the id of the computation called `name`, which may be defined later in the text.
    pub(super) fn computation_named(&mut self, name: &'a str, span: Span) -> ComputationId {
        if let Some(&id) = self.named.get(name) {
            return id;
        }
        let id = self.new_slot(name, span);
        self.named.insert(name, id);
        id
    }
    fn new_slot(&mut self, name: &'a str, span: Span) -> ComputationId {
        self.slots.push(NameSlot { name, span, computation: None });
        Id::new(self.slots.len() - 1)
    }
    /// Records a parsed computation; `name` is `None` for one without a name.
    pub(super) fn define(
        &mut self,
        name: Option<&'a str>,
        span: Span,
        computation: Computation,
    ) -> Result<ComputationId> {
        let id = match name {
            Some(name) => self.computation_named(name, span),
            None => self.new_slot("_", span),
        };
        let slot = &mut self.slots[id.index()];
        if slot.computation.is_some() {
            let code = Code::DuplicateName { kind: "computation", name: slot.name.into() };
            return Err(Error::from(code).at(span).label(slot.span, "first defined here"));
        }
        slot.span = span;
        slot.computation = Some(computation);
        self.finished.push(id);
        Ok(id)
    }
    /// Returns a parsed computation.
    pub(super) fn finished_computation(&self, id: ComputationId) -> Option<&Computation> {
        self.slots[id.index()].computation.as_ref()
    }

    /// Returns a computation to change, if it is finished.
    pub(super) fn computation_mut(&mut self, id: ComputationId) -> Option<&mut Computation> {
        self.slots[id.index()].computation.as_mut()
    }

    /// Sets the thread of a computation and of those it calls, but for those that its asynchronous
    /// instructions start.
    pub(super) fn set_thread(&mut self, id: ComputationId, thread: &SmolStr) {
        let (mut open, mut seen) = (vec![id], FxHashSet::default());
        while let Some(id) = open.pop() {
            let Some(computation) = self.slots[id.index()].computation.as_mut() else { continue };
            if !seen.insert(id) {
                continue;
            }
            computation.execution_thread = thread.clone();
            for (_, instruction) in computation.instructions.iter() {
                if instruction.opcode().kind() != Kind::Asynchronous {
                    instruction.op.each_callee(&mut |callee| open.push(callee));
                }
            }
        }
    }

    /// Adds what a start says to the op that it wraps, which keeps what it says itself.
    pub(super) fn annotate(&mut self, wrapped: ComputationId, common: Option<&CommonAttrs>) {
        let (Some(common), Some(computation)) =
            (common, self.slots[wrapped.index()].computation.as_mut())
        else {
            return;
        };
        let root = computation.root;
        let inner = computation.instructions[root].common.get_or_insert_default();
        let CommonAttrs {
            metadata, origin, backend_config, frontend_attributes, statistics, ..
        } = common.clone();
        inner.metadata = inner.metadata.take().or(metadata);
        inner.origin = inner.origin.take().or(origin);
        inner.backend_config = inner.backend_config.take().or(backend_config);
        inner.frontend_attributes = inner.frontend_attributes.take().or(frontend_attributes);
        inner.statistics = inner.statistics.take().or(statistics);
    }
}

impl Callees for Parser<'_> {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        Some(self.finished_computation(id)?.program_shape())
    }
}

impl<'a> Scope<'a> {
    pub(super) fn new(name: impl Into<SmolStr>, span: Span) -> Self {
        let mut computation = Computation::new(name);
        computation.span = span;
        Self {
            computation,
            by_name: FxHashMap::default(),
            elements: FxHashMap::default(),
            root: None,
            broken: FxHashSet::default(),
            is_name_lost: false,
        }
    }
    /// Returns an instruction of the computation being parsed.
    pub(super) fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.computation.instructions[id]
    }
    /// Adds an instruction with the name `written` in the text.
    pub(super) fn add_named(
        &mut self,
        written: &'a str,
        spans: InstructionSpans,
        instruction: Instruction,
    ) -> Result<InstructionId> {
        let name = super::names::sanitize(written).unwrap_or_else(|| written.into());
        let id = self.computation.push(instruction, name, spans);
        if let Some(first) = self.by_name.insert(written, id) {
            let code = Code::DuplicateName { kind: "instruction", name: written.into() };
            let first = self.computation.spans(first).name;
            return Err(Error::from(code).at(spans.name).label(first, "first defined here"));
        }
        Ok(id)
    }
    pub(super) fn set_root(&mut self, id: InstructionId, span: Span) -> Result<()> {
        if let Some((_, first)) = self.root.replace((id, span)) {
            let message = "a computation can have only one ROOT".to_owned();
            let error = Error::from(Code::Structure { message }).at(span);
            return Err(error.label(first, "first defined here"));
        }
        Ok(())
    }
    pub(super) fn finish(mut self) -> Computation {
        let last = self.computation.instructions.ids().next_back();
        let root = self.root.map(|(id, _)| id).or(last);
        self.computation.root = root.expect("an empty body is rejected");
        self.computation.shrink_to_fit();
        self.computation
    }
}
