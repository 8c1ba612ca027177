//! A place in the text: blanks and comments, words, names, numbers, lists, and errors about what stands there.
use super::number::Number;
use crate::diag::Code;
use crate::{Error, Result, Span};

/// Levels of nesting the reader follows: operands, shapes, literals, computations together.
///
/// Every level costs the reader's own stack up to about a kilobyte; XLA's reader has 8192, but runs in a thread of its
/// own choosing, while ours must also work in a thread with the usual 2 MiB.
pub(crate) const NESTING_LIMIT: u32 = 400;

/// A reading position. Copying it is how alternatives are tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// The blanks and comments skipped last: where they start, and where they end.
    gap: (usize, usize),
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}
/// Whether a word goes on with this byte; `-` and `.` belong to words.
pub(crate) fn is_word(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0u8;
        loop {
            #[expect(clippy::as_conversions, reason = "`From` cannot be called in a constant")]
            let at = byte as usize;
            table[at] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
            if byte == u8::MAX {
                break table;
            }
            byte += 1;
        }
    };
    TABLE[usize::from(byte)]
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, gap: (0, 0) }
    }
    /// The whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }
    /// Reads `text` instead; give the result to [`Cursor::leave`] to go on where it was.
    pub(crate) fn enter(&mut self, text: &'a str) -> Self {
        std::mem::replace(self, Self { depth: self.depth, ..Self::new(text) })
    }
    /// Goes back to the text left by [`Cursor::enter`].
    pub(crate) fn leave(&mut self, outer: Self) {
        *self = outer;
    }
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }
    /// What stands after the position, blanks included.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    /// The byte at the position, without skipping blanks.
    pub(crate) fn next_byte(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }
    /// The offset of the position.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
    /// Moves on by `bytes`, which must end at a character boundary.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }
    /// From offset `start` to the end of what was read last: blanks and comments behind it do not count.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        let end = if self.at == self.gap.1 { self.gap.0 } else { self.at };
        Span::new(start, end.max(start))
    }

    /// Skips blanks and comments. A comment that is never closed is left standing, and found wanting by whoever
    /// reads on.
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
    /// The first byte after blanks.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.next_byte()
    }
    /// Reads `byte` if it comes next.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }
    /// Reads `token`, which holds no blanks, if it comes next; a word must end where the token does.
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
    /// Reads `byte` or fails.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.wanted(&format!("`{}`", char::from(byte)))) }
    }
    /// Reads `token` or fails.
    pub(crate) fn expect_token(&mut self, token: &str) -> Result<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.wanted(&format!("`{token}`"))) }
    }
    /// Fails unless nothing is left.
    pub(crate) fn expect_end(&mut self, wanted: &str) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.wanted(wanted)) }
    }

    /// The word at the position, if there is one: letters, digits, `_`, `-`, `.`.
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
    /// The word that comes next, without reading it.
    pub(crate) fn peek_word(&self) -> Option<&'a str> {
        let mut ahead = *self;
        ahead.eat_word().map(|(word, _)| word)
    }
    /// Reads a word or fails.
    pub(crate) fn word(&mut self, wanted: &str) -> Result<(&'a str, Span)> {
        self.eat_word().ok_or_else(|| self.wanted(wanted))
    }
    /// Reads the name of an instruction or computation, with or without `%`.
    #[inline]
    pub(crate) fn name(&mut self, wanted: &str) -> Result<(&'a str, Span)> {
        let start = {
            self.blank();
            self.at
        };
        if self.next_byte() != Some(b'%') {
            return self.word(wanted);
        }
        self.at += 1;
        if !self.next_byte().is_some_and(is_word_start) {
            self.at = start;
            return Err(self.wanted(wanted));
        }
        let (word, span) = self.word(wanted)?;
        Ok((word, Span::new(start, span.range().end)))
    }
    /// Reads `name=`; no blank may stand before the `=`.
    pub(crate) fn attribute_name(&mut self) -> Result<(&'a str, Span)> {
        let (word, span) = self.word("an attribute name")?;
        if self.next_byte() == Some(b'=') {
            self.at += 1;
            return Ok((word, span));
        }
        let after = span.range().end;
        if self.peek() == Some(b'=') {
            let wanted = format!("`=` right after `{word}`");
            let code = Code::Syntax { wanted, found: "a blank".to_owned() };
            let error = Error::from(code).at(Span::new(after, after + 1));
            return Err(error.with_help("the sign belongs to the word before it"));
        }
        Err(self.wanted(&format!("`=` right after `{word}`")))
    }

    /// Reads a whole number of 64 bits; one from 2^63 to 2^64 - 1 comes as its bit pattern.
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
            return Err(self.wanted("a whole number"));
        }
        self.at = at;
        let signed = match negative {
            true => 0i64.checked_sub_unsigned(value),
            false => Some(i64::from_ne_bytes(value.to_ne_bytes())),
        };
        signed.filter(|_| fits).ok_or_else(|| {
            let message = format!("`{}` does not fit 64 bits", shorten(&self.text[start..at]));
            Error::from(Code::NumberRange { message }).at(Span::new(start, at))
        })
    }
    /// Reads a whole number of 32 bits.
    pub(crate) fn int32(&mut self) -> Result<i32> {
        self.blank();
        let start = self.at;
        let value = self.int()?;
        i32::try_from(value).map_err(|_| {
            let message = format!("`{value}` does not fit 32 bits");
            Error::from(Code::NumberRange { message }).at(self.span_from(start))
        })
    }
    /// Reads a size or an index: a whole number that is not negative.
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
    /// Reads a number of any kind.
    pub(crate) fn number(&mut self) -> Result<Number> {
        self.blank();
        let (number, length) = Number::scan(self.rest())
            .map_err(|message| {
                let end = self.at + self.rest().find([',', ' ', '}', ')', '\n']).unwrap_or(0);
                Error::from(Code::NumberRange { message }).at(Span::new(self.at, end))
            })?
            .ok_or_else(|| self.wanted("a number"))?;
        self.at += length;
        Ok(number)
    }
    /// Reads `true` or `false`.
    pub(crate) fn bool(&mut self) -> Result<bool> {
        let before = *self;
        match self.eat_word() {
            Some(("true", _)) => Ok(true),
            Some(("false", _)) => Ok(false),
            _ => {
                *self = before;
                Err(self.wanted("`true` or `false`"))
            }
        }
    }

    /// Reads `open item, item, ... close`.
    pub(crate) fn list<T>(
        &mut self,
        open: u8,
        close: u8,
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect(open)?;
        self.list_rest(close, item)
    }
    /// Reads the rest of a list whose opening bracket has been read.
    pub(crate) fn list_rest<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(b',') {
                break;
            }
        }
        if self.eat(close) {
            Ok(items)
        } else {
            Err(self.wanted(&format!("`,` or `{}`", char::from(close))))
        }
    }
    /// Reads `{1,2,3}`.
    pub(crate) fn ints(&mut self) -> Result<Vec<i64>> {
        self.list(b'{', b'}', Self::int)
    }

    /// Goes one level deeper; pair with [`Cursor::up`].
    pub(crate) fn down(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth <= NESTING_LIMIT {
            return Ok(());
        }
        let error = Error::from(Code::TooDeep { limit: NESTING_LIMIT });
        Err(error.at(Span::new(self.at, self.at + 1)))
    }
    /// Goes one level up.
    pub(crate) fn up(&mut self) {
        self.depth -= 1;
    }

    /// The error that `wanted` should stand at the position.
    #[cold]
    pub(crate) fn wanted(&mut self, wanted: &str) -> Error {
        self.blank();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            let code =
                Code::Syntax { wanted: wanted.into(), found: "the end of the text".to_owned() };
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
        Error::from(Code::Syntax { wanted: wanted.into(), found }).at(Span::new(start, end))
    }
    fn bad_character(&self, first: char) -> Option<Error> {
        let message = match first {
            '/' if self.rest().starts_with("/*") => {
                "this comment is never closed with `*/`".to_owned()
            }
            '/' => "a `/` starts a comment only as `//` or `/*`".to_owned(),
            '\u{feff}' => "a byte order mark; HLO text has none".to_owned(),
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

/// `text`, or its beginning if it is long.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
