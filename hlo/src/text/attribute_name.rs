//! `name=`: the start of an attribute or of an instruction.
use super::Cursor;
use super::shape::at_shape;
use crate::diag::Code;
use crate::{Error, Result, Span};

impl<'a> Cursor<'a> {
    /// Parses `name=`, without a blank before the `=`.
    pub(crate) fn attribute_name(&mut self) -> Result<(&'a str, Span)> {
        let before = *self;
        self.attribute_word().map_err(|error| match before.at_instruction() {
            true => error.with_help("an instruction starts here: remove the comma before it"),
            false => error,
        })
    }
    fn attribute_word(&mut self) -> Result<(&'a str, Span)> {
        let (word, span) = self.word("an attribute name")?;
        if self.next_byte() == Some(b'=') {
            self.skip(1);
            return Ok((word, span));
        }
        let after = span.range().end;
        if self.peek() == Some(b'=') {
            let expected = format!("`=` right after `{word}`");
            let code = Code::Syntax { expected, found: "a blank".to_owned() };
            let error = Error::from(code).at(Span::new(after, after + 1));
            return Err(error.with_help("write the `=` or `:` right after the word"));
        }
        Err(self.expected(&format!("`=` right after `{word}`")))
    }
    /// Returns whether a name and `=` come next that can only be those of an instruction: after
    /// `ROOT`, with a `%`, or with a blank between them and before a shape.
    pub(super) fn at_instruction(mut self) -> bool {
        let is_named = self.eat_token("ROOT") || self.peek() == Some(b'%');
        let has_name = self.name("").is_ok();
        let is_apart = self.next_byte() != Some(b'=');
        has_name && self.eat(b'=') && (is_named || is_apart && at_shape(&self))
    }
}
