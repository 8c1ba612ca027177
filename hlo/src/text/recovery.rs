//! Goes on after the error of an instruction, so that one reading of a text finds more than one
//! mistake.
//!
//! The instruction is skipped if the brackets around and inside of it match: then its error does
//! not change how the rest is read. Its name keeps the shape that the text states, so its users are
//! read as if it were right. Users of a name without a shape are skipped without an error of their
//! own.
use super::parser::{MOST_ERRORS, Scope};
use super::shape::{at_shape, shape};
use super::{Cursor, Parser, balanced};
use crate::diag::Code;
use crate::ir::{Instruction, InstructionSpans};
use crate::op::Parameter;
use crate::{Error, Op, Result, Shape, Span};

impl<'a> Parser<'a> {
    /// Records the error of the instruction that starts at `before`, and moves to the next one.
    ///
    /// # Errors
    /// The error itself, if the text after it cannot be read.
    #[cold]
    pub(super) fn recover(&mut self, before: Cursor<'a>, error: Error) -> Result<()> {
        let is_consequence = std::mem::take(&mut self.is_consequence);
        self.cursor = before;
        let next = after_instruction(before);
        // The two limits bound the time of reading.
        let is_fatal = matches!(error.code(), Code::TooDeep { .. } | Code::TooManyShapes { .. })
            || self.errors.len() + 1 >= MOST_ERRORS;
        let Some(next) = next.filter(|_| is_consequence || !is_fatal) else {
            // A consequence of another error is not reported.
            let other = if is_consequence { self.errors.pop() } else { None };
            return Err(other.unwrap_or(error));
        };
        if !is_consequence {
            self.errors.push(error);
        }
        self.add_placeholder(before);
        self.cursor = next;
        Ok(())
    }

    /// Defines the name of a skipped instruction.
    fn add_placeholder(&mut self, mut at: Cursor<'a>) {
        at.eat_token("ROOT");
        let name = at.name("").ok().filter(|_| {
            at.skip(usize::from(at.next_byte() == Some(b':')));
            at.eat(b'=')
        });
        let scope = self.scope();
        let Some((name, span)) = name else {
            scope.is_name_lost = true;
            return scope.add_damage(Span::default());
        };
        if scope.by_name.contains_key(name) {
            return;
        }
        let stated = if at_shape(&at) { shape(&mut at).ok() } else { None };
        match stated {
            Some(shape) => {
                let spans = InstructionSpans { name: span, body: span };
                let id = scope.computation.push(placeholder(shape), name.into(), spans);
                scope.by_name.insert(name, id);
            }
            None => {
                scope.broken.insert(name);
                scope.add_damage(span);
            }
        }
    }
}

impl Scope<'_> {
    /// Adds an instruction without a name, so that the computation is not empty.
    fn add_damage(&mut self, span: Span) {
        let spans = InstructionSpans { name: span, body: span };
        self.computation.push(placeholder(Shape::Token), "_".into(), spans);
    }
    /// Returns whether a name may be that of a skipped instruction.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.is_name_lost || self.broken.contains(name)
    }
}

/// Returns an instruction in place of one that could not be read. Its module is never returned.
fn placeholder(shape: Shape) -> Instruction {
    let op = Op::Parameter(Parameter { number: 0 });
    Instruction { op, shape, operands: smallvec::SmallVec::new(), common: None }
}

/// Returns the position after an instruction: at the next one, or at the brace that closes the
/// body. `None` if the brackets do not match.
fn after_instruction(mut c: Cursor<'_>) -> Option<Cursor<'_>> {
    let mut open = Vec::new();
    let mut is_first = true;
    // What follows a comma belongs to the same instruction, if it can.
    let mut after_comma = false;
    loop {
        let byte = c.peek()?;
        let is_next = || !is_first && (c.at_instruction() || !after_comma && starts_instruction(c));
        if open.is_empty() && (byte == b'}' || is_next()) {
            return Some(c);
        }
        match byte {
            b'(' => open.push(b')'),
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b')' | b'}' | b']' if open.pop() != Some(byte) => return None,
            b'"' | b'\'' => c.skip(balanced::string_length(c.rest())? - 1),
            _ => {}
        }
        after_comma = byte == b',';
        // The instruction's own `ROOT` and name do not start the next one.
        if std::mem::take(&mut is_first) {
            c.eat_token("ROOT");
            if c.name("").is_ok() {
                continue;
            }
        }
        // A word is one step, so that an instruction does not start inside of it.
        if c.eat_word().is_none() {
            let length = c.rest().chars().next().map_or(0, char::len_utf8);
            c.skip(length);
            // The name after a `%`.
            if byte == b'%' {
                c.eat_word();
            }
        }
    }
}

/// Returns whether `name =` comes next, as at the start of an instruction; an attribute has no
/// blank before the `=`.
fn starts_instruction(mut c: Cursor<'_>) -> bool {
    c.eat_token("ROOT");
    let has_sigil = c.eat(b'%');
    if c.eat_word().is_none() {
        return false;
    }
    let is_attribute = c.next_byte() == Some(b'=') && !has_sigil;
    c.skip(usize::from(c.next_byte() == Some(b':')));
    !is_attribute && c.peek() == Some(b'=')
}
