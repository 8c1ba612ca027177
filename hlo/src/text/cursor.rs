//! The lexer: blanks and comments, words, names, numbers, lists, and syntax errors.
use super::number::Number;
use super::word::{is_word, is_word_start, shorten};
use crate::diag::{BYTE_ORDER_MARK, Code};
use crate::{Error, Result, Span};

/// The limit on nesting of operands, shapes, literals and computations together.
///
/// Every level takes up to about a kilobyte of stack, and six where the crate is not optimized;
/// XLA's parser has 8192 levels, but chooses the stack size of its thread, while Etalon's must also
/// work in a thread with the default 2 MiB.
pub(crate) const NESTING_LIMIT: u32 = 200;

/// A position in the text. A copy of it is used to try an alternative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// The start and end of the blanks and comments skipped last.
    gap: (usize, usize),
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of the text, after a byte order mark.
    pub(crate) fn new(text: &'a str) -> Self {
        let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        Self { text, at, depth: 0, gap: (0, 0) }
    }
    /// Returns the whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }
    /// Switches to `text`; [`Cursor::leave`] with the result switches back.
    pub(crate) fn enter(&mut self, text: &'a str) -> Self {
        std::mem::replace(self, Self { depth: self.depth, ..Self::new(text) })
    }
    /// Switches back to the text left by [`Cursor::enter`].
    pub(crate) fn leave(&mut self, outer: Self) {
        *self = outer;
    }
    /// Returns the position at the beginning of the next `bytes` bytes alone.
    pub(super) fn until(&self, bytes: usize) -> Self {
        Self { text: &self.text[..self.at + bytes], ..*self }
    }
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }
    /// Returns the text after the position, including blanks.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    /// Returns the byte at the position, without skipping blanks.
    pub(crate) fn next_byte(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }
    /// Returns the offset of the position.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
    /// Advances by `bytes`, which must end at a character boundary.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }
    /// Returns the span from offset `start` to the end of the last token, without the blanks and
    /// comments after it.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        let end = if self.at == self.gap.1 { self.gap.0 } else { self.at };
        Span::new(start, end.max(start))
    }

    /// Skips blanks and comments. An unclosed comment is not skipped, and rejected later by the
    /// parser.
    #[inline]
    pub(crate) fn blank(&mut self) {
        let start = self.at;
        self.skip_blanks();
        if self.at > start {
            self.gap = (start, self.at);
        }
    }
    #[inline]
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.next_byte() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' => {
                    if !self.comment() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }
    #[cold]
    fn comment(&mut self) -> bool {
        let rest = &self.bytes()[self.at..];
        let length = match rest.get(1) {
            Some(b'*') => memchr::memmem::find(&rest[2..], b"*/").map(|end| end + 4),
            Some(b'/') => Some(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())),
            _ => None,
        };
        self.at += length.unwrap_or(0);
        length.is_some()
    }
    /// Returns the first byte after blanks.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.next_byte()
    }
    /// Consumes `byte` if it comes next.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }
    /// Consumes `token`, which has no blanks, if it comes next; a word must end where the token
    /// does.
    pub(crate) fn eat_token(&mut self, token: &str) -> bool {
        self.blank();
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let word = token.bytes().last().is_some_and(is_word);
        if word && after.bytes().next().is_some_and(is_word) {
            return false;
        }
        self.at += token.len();
        true
    }
    /// Consumes `byte` or fails.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.expected(&format!("`{}`", char::from(byte)))) }
    }
    /// Consumes `token` or fails.
    pub(crate) fn expect_token(&mut self, token: &str) -> Result<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }
    /// Fails unless the text ends here.
    pub(crate) fn expect_end(&mut self, expected: &str) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Parses a word, if there is one: letters, digits, `_`, `-`, `.`.
    #[inline]
    pub(crate) fn eat_word(&mut self) -> Option<(&'a str, Span)> {
        let start = {
            self.blank();
            self.at
        };
        let bytes = self.bytes();
        if !bytes.get(start).copied().is_some_and(is_word_start) {
            return None;
        }
        let mut end = start + 1;
        while bytes.get(end).copied().is_some_and(is_word) {
            end += 1;
        }
        self.at = end;
        Some((&self.text[start..end], Span::new(start, end)))
    }
    /// Returns the next word without consuming it.
    pub(crate) fn peek_word(&self) -> Option<&'a str> {
        let mut ahead = *self;
        ahead.eat_word().map(|(word, _)| word)
    }
    /// Parses a word or fails.
    pub(crate) fn word(&mut self, expected: &str) -> Result<(&'a str, Span)> {
        self.eat_word().ok_or_else(|| self.expected(expected))
    }
    /// Parses the name of an instruction or computation, with or without `%`.
    #[inline]
    pub(crate) fn name(&mut self, expected: &str) -> Result<(&'a str, Span)> {
        let start = {
            self.blank();
            self.at
        };
        if self.next_byte() != Some(b'%') {
            return self.word(expected);
        }
        self.at += 1;
        if !self.next_byte().is_some_and(is_word_start) {
            self.at = start;
            return Err(self.expected(expected));
        }
        let (word, span) = self.word(expected)?;
        Ok((word, Span::new(start, span.range().end)))
    }

    /// Parses a 64-bit integer; one from 2^63 to 2^64 - 1 is returned as its bit pattern.
    pub(crate) fn int(&mut self) -> Result<i64> {
        let start = {
            self.blank();
            self.at
        };
        let bytes = self.bytes();
        let negative = self.next_byte() == Some(b'-');
        let mut at = start + usize::from(negative);
        let first = at;
        let mut value: u64 = 0;
        let mut fits = true;
        while let Some(digit) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            fits &= next.is_some();
            value = next.unwrap_or(value);
            at += 1;
        }
        if at == first {
            return Err(self.expected("an integer"));
        }
        self.at = at;
        let signed = match negative {
            true => 0i64.checked_sub_unsigned(value),
            false => Some(i64::from_ne_bytes(value.to_ne_bytes())),
        };
        signed.filter(|_| fits).ok_or_else(|| {
            let message = format!("`{}` does not fit in 64 bits", shorten(&self.text[start..at]));
            Error::from(Code::NumberRange { message }).at(Span::new(start, at))
        })
    }
    /// Parses a 32-bit integer.
    pub(crate) fn int32(&mut self) -> Result<i32> {
        self.blank();
        let start = self.at;
        let value = self.int()?;
        i32::try_from(value).map_err(|_| {
            let message = format!("`{value}` does not fit in 32 bits");
            Error::from(Code::NumberRange { message }).at(self.span_from(start))
        })
    }
    /// Parses a size or an index: an integer that is not negative.
    pub(crate) fn size(&mut self) -> Result<i64> {
        let start = {
            self.blank();
            self.at
        };
        let value = self.int()?;
        if value >= 0 {
            return Ok(value);
        }
        let message = format!("`{}` is not a size", &self.text[start..self.at]);
        Err(Error::from(Code::NumberRange { message }).at(self.span_from(start)))
    }
    /// Parses a number of any kind.
    pub(crate) fn number(&mut self) -> Result<Number> {
        self.blank();
        let (number, length) = Number::scan(self.rest())
            .map_err(|message| {
                let end = self.at + self.rest().find([',', ' ', '}', ')', '\n']).unwrap_or(0);
                Error::from(Code::NumberRange { message }).at(Span::new(self.at, end))
            })?
            .ok_or_else(|| self.expected("a number"))?;
        self.at += length;
        Ok(number)
    }
    /// Parses `true` or `false`.
    pub(crate) fn bool(&mut self) -> Result<bool> {
        let before = *self;
        match self.eat_word() {
            Some(("true", _)) => Ok(true),
            Some(("false", _)) => Ok(false),
            _ => {
                *self = before;
                Err(self.expected("`true` or `false`"))
            }
        }
    }

    /// Enters a nesting level; paired with [`Cursor::up`].
    pub(crate) fn down(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth <= NESTING_LIMIT {
            return Ok(());
        }
        let error = Error::from(Code::TooDeep { limit: NESTING_LIMIT });
        Err(error.at(Span::new(self.at, self.at + 1)))
    }
    /// Leaves a nesting level.
    pub(crate) fn up(&mut self) {
        self.depth -= 1;
    }

    /// Returns the error that `expected` is not at the position.
    #[cold]
    pub(crate) fn expected(&mut self, expected: &str) -> Error {
        self.blank();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            let code =
                Code::Syntax { expected: expected.into(), found: "the end of the text".to_owned() };
            return Error::from(code).at(Span::new(start, start));
        };
        if let Some(error) = self.bad_character(first) {
            return error;
        }
        let mut ahead = *self;
        let end = match ahead.eat_word() {
            Some((_, span)) => span.range().end,
            None => {
                let length =
                    self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
                start + length.max(first.len_utf8())
            }
        };
        let found = format!("`{}`", shorten(&self.text[start..end]));
        Error::from(Code::Syntax { expected: expected.into(), found }).at(Span::new(start, end))
    }
    fn bad_character(&self, first: char) -> Option<Error> {
        let message = match first {
            '/' if self.rest().starts_with("/*") => {
                "this comment is never closed with `*/`".to_owned()
            }
            '/' => "a `/` starts a comment only as `//` or `/*`".to_owned(),
            BYTE_ORDER_MARK => "a byte order mark inside the text".to_owned(),
            c if c.is_control() => format!("control character {c:?}"),
            c if !c.is_ascii() => {
                format!("`{c}` outside a string or comment; HLO text is ASCII there")
            }
            _ => return None,
        };
        let span = Span::new(self.at, self.at + first.len_utf8());
        Some(Error::from(Code::Character { message }).at(span))
    }
}
