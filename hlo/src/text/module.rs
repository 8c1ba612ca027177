//! The parser: header, tables, computations.
use super::computation::Scope;
use super::recovery::MOST_ERRORS;
use super::{Cursor, frames, header, names};
use crate::diag::{Code, Diagnostic, Errors, nearest};
use crate::id::Arena;
use crate::id::Id;
use crate::ir::SourceText;
use crate::ir::{
    CommonAttrs, Computation, ComputationId, Module, ModuleConfig, ParseOptions, Parsed,
    ProgramShape, StackFrames,
};
use crate::op::{Callees, Kind};
use crate::verify::printable;
use crate::{Error, Op, Opcode, Result, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

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
    slots: Vec<NameSlot<'a>>,
    /// Computations by their name in the text.
    named: FxHashMap<&'a str, ComputationId>,
    /// Ids of the computations, in the order of their ends.
    finished: Vec<ComputationId>,
    /// Computations being parsed, the innermost last.
    pub(super) scopes: Vec<Scope<'a>>,
    /// The elements of all shapes that have been inferred.
    pub(super) inferred: usize,
    /// The text is a single instruction: undefined operands become parameters.
    pub(super) single: bool,
    entry: Option<(ComputationId, Span)>,
}

struct NameSlot<'a> {
    name: &'a str,
    /// Where it is defined, or first mentioned.
    span: Span,
    computation: Option<Computation>,
}

/// Parses `text`, with warnings.
pub(crate) fn parse(text: &str, options: ParseOptions) -> Result<Parsed, Errors> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::from(Code::TooLarge { bytes: text.len() }).into());
    }
    let mut parser = Parser::new(text, options);
    let error = match parser.text() {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let mut errors = parser.errors;
    errors.push(error);
    errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
    errors.truncate(MOST_ERRORS);
    if let Some(help) = help(text, &errors[0]) {
        errors.truncate(1);
        errors = errors.into_iter().map(|error| error.replace_help(help)).collect();
    }
    Err(Errors(errors))
}

const START: &str = "start a module with `HloModule name`, an instruction with its name or shape";

/// Returns the help for a text that is not HLO.
#[cold]
fn help(text: &str, error: &Error) -> Option<&'static str> {
    if is_mlir(text) {
        return Some("this looks like MLIR, which `etalon convert` and the crate `stablehlo` read");
    }
    let mut cursor = Cursor::new(text);
    cursor.blank();
    let is_first = error.span().is_some_and(|span| span.range().start == cursor.offset());
    let word = cursor.rest().trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_syntax = ["E0101", "E0102", "E0103"].contains(&error.number());
    // An instruction may be its opcode alone, without a name and a shape.
    (is_first && is_syntax && !word.starts_with('(')).then_some(START)
}

/// Returns whether a text that cannot be parsed looks like MLIR, such as `StableHLO`: the two are
/// often confused.
#[cold]
fn is_mlir(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.blank();
    let first = cursor.rest();
    let starts =
        ["module @", "module {", "module attributes", "func.func ", "func @", "\"builtin.module\""];
    starts.iter().any(|start| first.starts_with(start))
        || (first.starts_with(['#', '!'])
            && first[1..].starts_with(|c: char| c.is_ascii_alphabetic()))
        || !first.starts_with("HloModule")
            && ["func.func ", "stablehlo.", "mhlo."].iter().any(|word| first.contains(word))
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, options: ParseOptions) -> Self {
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

    fn text(&mut self) -> Result<Parsed> {
        if self.cursor.peek().is_none() {
            let message = "the text is empty".to_owned();
            return Err(Error::from(Code::Structure { message })
                .at(Span::new(0, 0))
                .with_help(START));
        }
        let (mut name, mut config, mut tables) =
            (None, ModuleConfig::default(), StackFrames::default());
        if self.cursor.eat_token("HloModule") {
            let (written, read) =
                header::header(&mut self.cursor, self.options.lenient, &mut self.warnings)?;
            (name, config) = (Some(written), read);
            tables = frames::frames(&mut self.cursor)?;
        } else if !self.starts_with_computation() {
            return self.single_instruction();
        }
        self.computations()?;
        let name = name.unwrap_or_else(|| {
            let entry = &self.slots[self.entry_id().index()];
            format!("module_{}", entry.name).into()
        });
        self.finish(name, config, tables)
    }

    /// Returns whether a text without header starts with a computation rather than an instruction.
    fn starts_with_computation(&self) -> bool {
        let mut ahead = self.cursor;
        if ahead.eat_token("ENTRY") {
            return true;
        }
        if ahead.name("a name").is_err() {
            return false;
        }
        match ahead.peek() {
            Some(b'{') => true,
            // A signature: an arrow follows its parentheses.
            Some(b'(') => {
                super::balanced::balanced_value(&mut ahead).is_ok() && ahead.eat_token("->")
            }
            _ => false,
        }
    }

    fn computations(&mut self) -> Result<()> {
        while self.cursor.peek().is_some() {
            let start = self.cursor.offset();
            let is_entry = self.cursor.eat_token("ENTRY");
            let entry_span = self.cursor.span_from(start);
            let id = self.computation()?;
            if !is_entry {
                continue;
            }
            if let Some((_, first)) = self.entry {
                let message = "a module can have only one ENTRY computation".to_owned();
                let error = Error::from(Code::Structure { message }).at(entry_span);
                return Err(error.label(first, "first defined here"));
            }
            self.entry = Some((id, entry_span));
        }
        if self.finished.is_empty() {
            let message = "the module has no computations".to_owned();
            let end = self.cursor.offset();
            return Err(Error::from(Code::Structure { message }).at(Span::new(end, end)));
        }
        Ok(())
    }

    /// Returns the computation marked `ENTRY`, or else the last one.
    fn entry_id(&self) -> ComputationId {
        let last = self.finished.last().copied();
        self.entry.map(|(id, _)| id).or(last).unwrap_or_else(|| Id::new(0))
    }

    fn single_instruction(&mut self) -> Result<Parsed> {
        self.single = true;
        let id = self.lone_instruction()?;
        self.cursor.expect_end("the end of the text after a single instruction")?;
        self.entry = Some((id, Span::default()));
        let config = ModuleConfig { is_scheduled: true, ..ModuleConfig::default() };
        self.finish("_".into(), config, StackFrames::default())
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

    /// Fails if there are errors, with the last one of them.
    fn check_errors(&mut self) -> Result<()> {
        self.errors.pop().map_or(Ok(()), Err)
    }

    fn missing(&self, slot: &NameSlot<'a>) -> Error {
        let error =
            Error::from(Code::UndefinedComputation { name: slot.name.into() }).at(slot.span);
        let known = self.slots.iter().filter(|s| s.computation.is_some()).map(|s| s.name);
        match nearest(slot.name, known) {
            Some(name) => error.with_help(format!("did you mean `{name}`?")),
            None => error,
        }
    }

    /// Sorts the computations in text order, makes names unique, renumbers stack frames.
    fn finish(
        &mut self,
        name: SmolStr,
        config: ModuleConfig,
        mut frames: StackFrames,
    ) -> Result<Parsed> {
        let entry = self.entry_id();
        let missing = self.slots.iter().filter(|s| s.computation.is_none());
        let missing: Vec<Error> = missing.take(MOST_ERRORS).map(|s| self.missing(s)).collect();
        self.errors.extend(missing);
        self.check_errors()?;
        let in_order = self.finished.iter().enumerate().all(|(i, id)| id.index() == i);
        let mut moved = vec![ComputationId::new(0); self.slots.len()];
        for (new, old) in self.finished.iter().enumerate() {
            moved[old.index()] = Id::new(new);
        }
        let mut computations = Arena::default();
        for old in &self.finished {
            let taken = self.slots[old.index()].computation.take();
            let mut computation = taken.expect("every slot has been found defined");
            if !in_order {
                for (_, instruction) in computation.instructions.iter_mut() {
                    instruction.op.each_callee_mut(&mut |id| *id = moved[id.index()]);
                }
            }
            computations.push(computation);
        }
        names::make_unique(&mut computations);
        let mut module = Module {
            name,
            computations,
            entry: moved[entry.index()],
            config,
            frames: StackFrames::default(),
            source: SourceText::default(),
        };
        // Only the tables need the order, which takes as long to compute as printing.
        let settled = !frames.is_empty() && super::print::is_in_order(&module);
        let metadata = module.computations.iter_mut().flat_map(|(_, c)| c.instructions.iter_mut());
        let metadata = metadata.filter_map(|(_, i)| i.common.as_mut()?.metadata.as_mut());
        frames.rebuild(settled, metadata.map(|m| &mut m.stack_frame_id));
        module.frames = frames;
        printable::check(&module, &mut self.errors);
        self.check_errors()?;
        Ok(Parsed { module, warnings: std::mem::take(&mut self.warnings) })
    }
}

impl Callees for Parser<'_> {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        Some(self.finished_computation(id)?.program_shape())
    }
}

/// Returns whether an asynchronous instruction can be printed in its short form: the computation
/// only passes its parameters to one op.
pub(crate) fn is_single_op(computation: &Computation) -> bool {
    let root = &computation.instructions[computation.root];
    // `all-reduce-start`, `send-done` and the like are opcodes with other shapes.
    let is_opcode = |phase| Opcode::from_name(&format!("{}-{phase}", root.opcode())).is_some();
    let is_taken = is_opcode("start") || is_opcode("done");
    let wraps = root.operands.len() + 1 == computation.instructions.len()
        && !matches!(root.op, Op::Parameter(_));
    wraps
        && !is_taken
        && root.operands.iter().zip(0..).all(|(&id, number)| {
            matches!(&computation.instructions[id].op, Op::Parameter(p) if p.number == number)
        })
}
