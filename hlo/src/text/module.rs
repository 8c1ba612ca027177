//! A whole text: header, tables, computations; the state a reader carries along.
use super::computation::Scope;
use super::{Cursor, frames, header, names};
use crate::diag::{Code, Diagnostic, nearest};
use crate::ir::{
    Computation, ComputationId, Module, ModuleConfig, ParseOptions, Parsed, ProgramShape,
    StackFrames,
};
use crate::op::Callees;
use crate::{Arena, Error, Id, Op, Opcode, Result, Span};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// Reads one text.
pub(crate) struct Parser<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) options: ParseOptions,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Computations in the order they were first named; the ones still to come are empty.
    slots: Vec<Slot<'a>>,
    /// Computations by the name the text gives them.
    named: FxHashMap<&'a str, ComputationId>,
    /// Ids in the order the computations ended.
    finished: Vec<ComputationId>,
    /// Computations being read, the innermost last.
    pub(super) scopes: Vec<Scope<'a>>,
    /// The text is a single instruction: unknown operands become parameters.
    pub(super) single: bool,
    entry: Option<(ComputationId, Span)>,
}

struct Slot<'a> {
    name: &'a str,
    /// Where it is defined, or first named.
    span: Span,
    computation: Option<Computation>,
}

/// Reads `text`, with the warnings that `options` allow.
pub(crate) fn parse(text: &str, options: ParseOptions) -> Result<Parsed> {
    if u32::try_from(text.len()).is_err() {
        return Err(Code::TooLarge { bytes: text.len() }.into());
    }
    Parser::new(text, options).text().map_err(|error| match is_mlir(text) {
        true => error.replace_help(
            "this looks like MLIR; HLO text starts with `HloModule name`, and is what XLA dumps",
        ),
        false => error,
    })
}

/// Whether a text that cannot be read is one of MLIR, such as `StableHLO`: people mix the two up.
#[cold]
fn is_mlir(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.blank();
    let first = cursor.rest();
    let starts =
        ["module @", "module {", "module attributes", "func.func ", "func @", "\"builtin.module\""];
    starts.iter().any(|start| first.starts_with(start))
        || first.starts_with(['#', '!'])
        || !first.starts_with("HloModule")
            && ["func.func ", "stablehlo.", "mhlo."].iter().any(|word| first.contains(word))
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, options: ParseOptions) -> Self {
        Self {
            cursor: Cursor::new(text),
            options,
            warnings: Vec::new(),
            slots: Vec::new(),
            named: FxHashMap::default(),
            finished: Vec::new(),
            scopes: Vec::new(),
            single: false,
            entry: None,
        }
    }

    pub(crate) fn warn(&mut self, error: &Error) {
        self.warnings.push(error.warning());
    }

    fn text(mut self) -> Result<Parsed> {
        if self.cursor.peek().is_none() {
            let message = "the text is empty".to_owned();
            let help =
                "a module starts with `HloModule name`, an instruction with its name or shape";
            return Err(Error::from(Code::Structure { message })
                .at(Span::new(0, 0))
                .with_help(help));
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

    /// Whether a text without header starts with a computation rather than an instruction.
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
            // A signature: what follows its parentheses is an arrow.
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
                let message = "a module has one ENTRY computation; this is the second".to_owned();
                let error = Error::from(Code::Structure { message }).at(entry_span);
                return Err(error.label(first, "the first is here"));
            }
            self.entry = Some((id, entry_span));
        }
        if self.finished.is_empty() {
            let message = "the module has no computation".to_owned();
            let end = self.cursor.offset();
            return Err(Error::from(Code::Structure { message }).at(Span::new(end, end)));
        }
        Ok(())
    }

    /// The computation marked `ENTRY`, or else the last one.
    fn entry_id(&self) -> ComputationId {
        let last = self.finished.last().copied();
        self.entry.map(|(id, _)| id).or(last).unwrap_or_else(|| Id::new(0))
    }

    fn single_instruction(mut self) -> Result<Parsed> {
        self.single = true;
        let id = self.lone_instruction()?;
        self.cursor.expect_end("the end of the text after a single instruction")?;
        self.entry = Some((id, Span::default()));
        let config = ModuleConfig { is_scheduled: true, ..ModuleConfig::default() };
        self.finish("_".into(), config, StackFrames::default())
    }

    /// The id of the computation called `name`, which may stand later in the text.
    pub(super) fn computation_named(&mut self, name: &'a str, span: Span) -> ComputationId {
        if let Some(&id) = self.named.get(name) {
            return id;
        }
        let id = self.new_slot(name, span);
        self.named.insert(name, id);
        id
    }
    fn new_slot(&mut self, name: &'a str, span: Span) -> ComputationId {
        self.slots.push(Slot { name, span, computation: None });
        Id::new(self.slots.len() - 1)
    }
    /// Files a computation that has been read; `name` is `None` for one without a name of its own.
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
    /// A computation that has been read.
    pub(super) fn finished_computation(&self, id: ComputationId) -> Option<&Computation> {
        self.slots[id.index()].computation.as_ref()
    }

    fn undefined(&self, slot: &Slot<'a>) -> Error {
        let error =
            Error::from(Code::UndefinedComputation { name: slot.name.into() }).at(slot.span);
        let known = self.slots.iter().filter(|s| s.computation.is_some()).map(|s| s.name);
        match nearest(slot.name, known) {
            Some(name) => error.with_help(format!("did you mean `{name}`?")),
            None => error,
        }
    }

    /// Puts the computations in text order, makes names unique, renumbers stack frames.
    fn finish(
        mut self,
        name: SmolStr,
        config: ModuleConfig,
        mut frames: StackFrames,
    ) -> Result<Parsed> {
        let entry = self.entry_id();
        let missing = self.slots.iter().filter(|s| s.computation.is_none());
        if let Some(slot) = missing.min_by_key(|s| s.span.start) {
            return Err(self.undefined(slot));
        }
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
        };
        // Only tables ask for the order, which takes as long to find as to print.
        let settled = !frames.is_empty() && super::print::is_in_order(&module);
        let metadata = module.computations.iter_mut().flat_map(|(_, c)| c.instructions.iter_mut());
        let metadata = metadata.filter_map(|(_, i)| i.common.as_mut()?.metadata.as_mut());
        frames.rebuild(settled, metadata.map(|m| &mut m.stack_frame_id));
        module.frames = frames;
        Ok(Parsed { module, warnings: self.warnings })
    }
}

impl Callees for Parser<'_> {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        Some(self.finished_computation(id)?.program_shape())
    }
}

/// Whether the instruction's result may be dropped from the text by asynchronous sugar: the computation only hands its
/// parameters to one op.
pub(crate) fn is_single_op(computation: &Computation) -> bool {
    let root = &computation.instructions[computation.root];
    // `all-reduce-start` and the like are opcodes of their own, with other shapes.
    let is_taken = Opcode::from_name(&format!("{}-start", root.opcode())).is_some();
    let wraps = root.operands.len() + 1 == computation.instructions.len()
        && !matches!(root.op, Op::Parameter(_));
    wraps
        && !is_taken
        && root.operands.iter().zip(0..).all(|(&id, number)| {
            matches!(&computation.instructions[id].op, Op::Parameter(p) if p.number == number)
        })
}
