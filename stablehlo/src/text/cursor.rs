//! The lexer: blanks, comments, identifiers, strings, numbers, and syntax errors.
use crate::NESTING_LIMIT;
use crate::error::{Code, Error, Result};
use hlo::Span;
use hlo::diag::BYTE_ORDER_MARK;

/// A position in the text. A copy of it is used to try an alternative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// The start and end of the blanks and comments skipped last.
    gap: (usize, usize),
}

fn is_identifier_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}
fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}
fn is_suffix(byte: u8) -> bool {
    is_identifier(byte) || byte == b'-'
}

/// A number as the text has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NumberText<'a> {
    /// Decimal digits, perhaps with a sign, or digits of base 16.
    Integer(&'a str),
    /// With a point.
    Float(&'a str),
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
    /// Returns the offset after blanks.
    pub(crate) fn start(&mut self) -> usize {
        self.blank();
        self.at
    }
    /// Returns the offset of the position.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
    /// Returns the end of what was parsed last.
    fn end(&self) -> usize {
        if self.at == self.gap.1 { self.gap.0 } else { self.at }
    }
    /// Returns the text from `start` to what was parsed last.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.end().max(start)]
    }
    /// Returns the span from `start` to what was parsed last.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.end().max(start))
    }
    /// Moves to another place of the text.
    pub(crate) fn jump(&mut self, at: usize) {
        self.at = at;
    }
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks and comments.
    fn blank(&mut self) {
        let start = self.at;
        while let Some(byte) = self.byte() {
            if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if byte == b'/' && self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else {
                break;
            }
        }
        if self.at > start {
            self.gap = (start, self.at);
        }
    }
    /// Returns the first byte after blanks.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.byte()
    }
    /// Returns the first byte, without skipping blanks.
    pub(crate) fn peek_here(&self) -> Option<u8> {
        self.byte()
    }
    /// Consumes the punctuation `token` if it comes next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.blank();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }
    /// Consumes the word if it comes next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        let found = ahead.identifier() == Some(word);
        if found {
            *self = ahead;
        }
        found
    }
    /// Consumes the punctuation or word, or fails.
    pub(crate) fn expect(&mut self, token: &str) -> Result<()> {
        let word = token.bytes().next().is_some_and(is_identifier_start);
        let found = if word { self.eat_word(token) } else { self.eat(token) };
        if found { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Parses a keyword or the name of an op, if there is one.
    pub(crate) fn identifier(&mut self) -> Option<&'a str> {
        self.blank();
        self.byte().filter(|&byte| is_identifier_start(byte))?;
        Some(self.take_while(is_identifier))
    }
    /// Parses a keyword or fails.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str> {
        self.identifier().ok_or_else(|| self.expected(expected))
    }
    /// Parses the name after a sigil (`%`, `#`, `!`, `^`), without it.
    pub(crate) fn suffix(&mut self, sigil: &str, expected: &str) -> Result<&'a str> {
        let before = *self;
        if self.eat(sigil) {
            let digits = self.byte().is_some_and(|byte| byte.is_ascii_digit());
            let name =
                self.take_while(if digits { |byte: u8| byte.is_ascii_digit() } else { is_suffix });
            if !name.is_empty() {
                return Ok(name);
            }
        }
        *self = before;
        Err(self.expected(expected))
    }
    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        let length = self.text.as_bytes()[start..].iter().position(|&byte| !accept(byte));
        self.at = length.map_or(self.text.len(), |length| start + length);
        &self.text[start..self.at]
    }
    /// Parses decimal digits that follow without blanks, if there are any.
    pub(crate) fn digits(&mut self) -> Option<&'a str> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        (!digits.is_empty()).then_some(digits)
    }

    /// Parses `"text"`, if there is one.
    pub(crate) fn string(&mut self) -> Result<Option<Vec<u8>>> {
        let start = self.start();
        if self.byte() != Some(b'"') {
            return Ok(None);
        }
        self.at += 1;
        let mut value = Vec::new();
        loop {
            let plain = self.take_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
            value.extend_from_slice(plain.as_bytes());
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Some(value));
                }
                Some(b'\\') => value.push(self.escape()?),
                _ => {
                    let message = "this string is never closed with `\"`".to_owned();
                    return Err(
                        Error::from(Code::Character { message }).at(Span::new(start, start + 1))
                    );
                }
            }
        }
    }
    fn escape(&mut self) -> Result<u8> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let hex =
            |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (value, length) = match *rest {
            [b'"', ..] => (b'"', 2),
            [b'\\', ..] => (b'\\', 2),
            [b'n', ..] => (b'\n', 2),
            [b't', ..] => (b'\t', 2),
            [high, low, ..] if hex(high).is_some() && hex(low).is_some() => {
                (hex(high).unwrap_or(0) << 4 | hex(low).unwrap_or(0), 3)
            }
            _ => {
                let message = "unknown escape sequence; MLIR has `\\\\`, `\\\"`, `\\n`, `\\t` and two digits of base 16";
                let error = Error::from(Code::Character { message: message.to_owned() });
                return Err(error.at(Span::new(self.at, self.at + 1)));
            }
        };
        self.at += length;
        Ok(value)
    }

    /// Parses a number, if there is one.
    pub(crate) fn number(&mut self) -> Option<NumberText<'a>> {
        self.blank();
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut at = start + usize::from(self.byte() == Some(b'-'));
        if !digit(at) {
            return None;
        }
        let hex = bytes[at] == b'0'
            && bytes.get(at + 1) == Some(&b'x')
            && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit);
        if hex {
            self.at = at + 2;
            self.take_while(|byte| byte.is_ascii_hexdigit());
            return Some(NumberText::Integer(&self.text[start..self.at]));
        }
        while digit(at) {
            at += 1;
        }
        if bytes.get(at) != Some(&b'.') {
            self.at = at;
            return Some(NumberText::Integer(&self.text[start..at]));
        }
        at += 1;
        while digit(at) {
            at += 1;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            if digit(at + 1 + sign) {
                at += 1 + sign;
                while digit(at) {
                    at += 1;
                }
            }
        }
        self.at = at;
        Some(NumberText::Float(&self.text[start..at]))
    }
    /// Parses an integer of a range, or fails.
    pub(crate) fn integer<T: TryFrom<i128>>(&mut self, expected: &str) -> Result<T> {
        let start = self.start();
        let before = *self;
        let Some(NumberText::Integer(digits)) = self.number() else {
            *self = before;
            return Err(self.expected(expected));
        };
        parse_integer(digits).and_then(|value| T::try_from(value).ok()).ok_or_else(|| {
            let message = format!("`{}` is not {expected}", shorten(digits));
            Error::from(Code::AttributeValue { message }).at(self.span_from(start))
        })
    }
    /// Parses `[1, 2]` between any brackets.
    pub(crate) fn integers<T: TryFrom<i128>>(&mut self, open: &str, close: &str) -> Result<Vec<T>> {
        self.list(open, close, |cursor| cursor.integer("an integer"))
    }
    /// Parses `open item, item, ... close`.
    pub(crate) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(",") {
                break;
            }
        }
        if self.eat(close) { Ok(items) } else { Err(self.expected(&format!("`,` or `{close}`"))) }
    }

    /// Enters a nesting level; paired with [`Cursor::up`].
    pub(crate) fn down(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth <= NESTING_LIMIT {
            return Ok(());
        }
        Err(Error::from(Code::TooDeep { limit: NESTING_LIMIT }).at(Span::new(self.at, self.at + 1)))
    }
    /// Leaves a nesting level.
    pub(crate) fn up(&mut self) {
        self.depth -= 1;
    }

    /// Returns the error that `expected` is not at the position.
    #[cold]
    pub(crate) fn expected(&mut self, expected: &str) -> Error {
        let start = self.start();
        let Some(first) = self.rest().chars().next() else {
            let code =
                Code::Syntax { expected: expected.into(), found: "the end of the text".into() };
            return Error::from(code).at(Span::new(start, start));
        };
        if first.is_control() {
            let message = format!("control character {first:?}");
            return Error::from(Code::Character { message }).at(Span::new(start, start + 1));
        }
        let mut ahead = *self;
        ahead.at += first.len_utf8();
        if is_suffix(u8::try_from(first).unwrap_or(0))
            || matches!(first, '%' | '@' | '#' | '!' | '^')
        {
            ahead.take_while(is_suffix);
        }
        let found = format!("`{}`", shorten(&self.text[start..ahead.at]));
        Error::from(Code::Syntax { expected: expected.into(), found })
            .at(Span::new(start, ahead.at))
    }
}

/// Returns the value of digits, with a sign or of base 16.
pub(crate) fn parse_integer(digits: &str) -> Option<i128> {
    let (negative, magnitude) = match digits.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, digits),
    };
    let value = match magnitude.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => magnitude.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// Returns `text`, or its beginning if it is long.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
