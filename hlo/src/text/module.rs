//! The parser: header, tables, computations.
use super::parser::{MOST_ERRORS, NameSlot};
use super::{Cursor, Parser, frames, header, names};
use crate::diag::{Code, Errors, nearest};
use crate::id::Arena;
use crate::id::Id;
use crate::ir::SourceText;
use crate::ir::{ComputationId, Module, ModuleConfig, ParseOptions, Parsed, StackFrames};
use crate::verify::printable;
use crate::{Error, Result, Span};
use smol_str::SmolStr;

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
