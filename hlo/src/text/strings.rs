//! Strings in quotes.
//!
//! A string is any sequence of bytes: escapes can produce bytes that are not UTF-8, as in the
//! configuration of an old custom call. It is stored as a `String` in which a byte that is not
//! UTF-8 is the character U+10FF00 plus the byte. Those characters are for private use; if a text
//! has one itself, its own bytes are stored the same way, so that nothing is lost.
use super::{Cursor, is_name};
use crate::diag::Code;
use crate::{Error, Result, Span};
use std::borrow::Cow;
use std::fmt::Write;

/// Parses a string in `"` or `'`.
pub(crate) fn string<'a>(c: &mut Cursor<'a>) -> Result<Cow<'a, str>> {
    let Some(quote @ (b'"' | b'\'')) = c.peek() else {
        return Err(c.expected("a string in quotes"));
    };
    let start = c.offset();
    let body = &c.text().as_bytes()[start + 1..];
    let mut at = 0;
    loop {
        match memchr::memchr2(quote, b'\\', &body[at..]).map(|i| (at + i, body[at + i])) {
            None => {
                let message = "this string is never closed".to_owned();
                return Err(
                    Error::from(Code::Character { message }).at(Span::new(start, start + 1))
                );
            }
            Some((i, b'\\')) => at = (i + 2).min(body.len()),
            Some((i, _)) => {
                at = i;
                break;
            }
        }
    }
    let inner = &c.text()[start + 1..start + 1 + at];
    c.skip(at + 2);
    match memchr::memchr(b'\\', inner.as_bytes()) {
        Some(_) => unescaped(inner, start + 1).map(|bytes| Cow::Owned(from_bytes(bytes))),
        None => Ok(from_text(inner)),
    }
}

/// Parses a key and the `=` after it: a word, or any text in quotes.
pub(crate) fn key<'a>(c: &mut Cursor<'a>) -> Result<Cow<'a, str>> {
    if matches!(c.peek(), Some(b'"' | b'\'')) {
        let key = string(c)?;
        return c.expect(b'=').map(|()| key);
    }
    c.attribute_name().map(|(word, _)| Cow::Borrowed(word))
}
/// Writes a key and `=`. XLA writes all keys without quotes, and reads only those that are words.
pub(crate) fn print_key(out: &mut String, key: &str) {
    match is_name(key) {
        true => out.push_str(key),
        false => print_string(out, key),
    }
    out.push('=');
}

/// The first character that represents a byte.
const STAND_IN: char = '\u{10FF80}';
/// The first byte of every such character in UTF-8.
const LEAD: u8 = 0xF4;

/// Converts bytes to the stored form.
pub(crate) fn from_text(text: &str) -> Cow<'_, str> {
    let maybe = memchr::memchr(LEAD, text.as_bytes()).is_some();
    if maybe && text.contains(|c| c >= STAND_IN) {
        return Cow::Owned(from_bytes(text.as_bytes().to_vec()));
    }
    Cow::Borrowed(text)
}

/// Returns the stored form of bytes.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) if !text.contains(|c| c >= STAND_IN) => return text,
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let mut out = String::new();
    let stand_in = |&byte: &u8| char::from_u32(0x10_FF00 + u32::from(byte));
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c < STAND_IN {
                out.push(c);
            } else {
                out.extend(c.encode_utf8(&mut [0; 4]).as_bytes().iter().filter_map(stand_in));
            }
        }
        out.extend(chunk.invalid().iter().filter_map(stand_in));
    }
    out
}

/// Returns the bytes of a stored string; borrowed unless some of them are not UTF-8.
pub(crate) fn bytes(text: &str) -> Cow<'_, [u8]> {
    let maybe = memchr::memchr(LEAD, text.as_bytes()).is_some();
    if !(maybe && text.contains(|c| c >= STAND_IN)) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c) & 0xFF) {
            Ok(byte) if c >= STAND_IN => out.push(byte),
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

/// Resolves escapes; `start` is the offset of `text` in the whole text.
fn unescaped(text: &str, start: usize) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(plain) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.extend_from_slice(&rest.as_bytes()[..plain]);
        rest = &rest[plain..];
        let Some(taken) = escape(rest, &mut out) else {
            let message = "unknown escape sequence in a string".to_owned();
            let at = start + text.len() - rest.len();
            let length: usize = rest.chars().take(2).map(char::len_utf8).sum();
            return Err(Error::from(Code::Character { message }).at(Span::new(at, at + length)));
        };
        rest = &rest[taken..];
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// Parses one escape at the start of `text`, appends its bytes to `out` and returns its length.
fn escape(text: &str, out: &mut Vec<u8>) -> Option<usize> {
    let bytes = text.as_bytes();
    let plain = |byte: u8, out: &mut Vec<u8>| {
        out.push(byte);
        Some(2)
    };
    match bytes.get(1)? {
        b'n' => plain(b'\n', out),
        b'r' => plain(b'\r', out),
        b't' => plain(b'\t', out),
        b'a' => plain(7, out),
        b'b' => plain(8, out),
        b'f' => plain(12, out),
        b'v' => plain(11, out),
        &byte @ (b'\\' | b'\'' | b'"' | b'?') => plain(byte, out),
        b'0'..=b'7' => {
            let digits =
                bytes[1..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
            let value = u32::from_str_radix(&text[1..=digits], 8).ok()?;
            out.push(u8::try_from(value).ok()?);
            Some(1 + digits)
        }
        b'x' | b'X' => {
            // All digits there are; a value above a byte is an error.
            let digits = bytes[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let value = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
            out.push(u8::try_from(value).ok()?);
            Some(2 + digits)
        }
        &kind @ (b'u' | b'U') => {
            let digits = text.get(2..if kind == b'u' { 6 } else { 10 })?;
            let hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?;
            out.extend(char::from_u32(value)?.encode_utf8(&mut [0; 4]).bytes());
            Some(2 + digits.len())
        }
        _ => None,
    }
}

/// Writes a string in quotes, escaped as XLA does.
pub(crate) fn print_string(out: &mut String, text: &str) {
    out.push('"');
    print_escaped(out, text);
    out.push('"');
}

/// Writes the inside of a string in quotes.
pub(crate) fn print_escaped(out: &mut String, text: &str) {
    for &byte in bytes(text).iter() {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' => out.push_str("\\\""),
            b'\'' => out.push_str("\\'"),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> Result<String> {
        let mut c = Cursor::new(text);
        let read = string(&mut c)?;
        let mut out = String::new();
        print_string(&mut out, &read);
        Ok(out)
    }

    #[test]
    fn escapes_are_printed_as_xla_does() {
        for (text, printed) in [
            (r#""a\n\t\x41\101\"\\ é" rest"#, r#""a\n\tAA\"\\ \303\251""#),
            (r#"'it"s'"#, r#""it\"s""#),
            (r"'a\'b'", r#""a\'b""#),
            ("\"a\nb\r\x7f\x01\"", r#""a\nb\r\177\001""#),
            (r#""\a\b\f\v\?\'""#, r#""\007\010\014\013?\'""#),
            (r#""\x4\X41\0\1\1234\x0041""#, r#""\004A\000\001S4A""#),
            (r#""\u00e9\U0001F600""#, r#""\303\251\360\237\230\200""#),
            // Bytes that are not UTF-8.
            (r#""\xff""#, r#""\377""#),
            (r#""a\377\200é\303""#, r#""a\377\200\303\251\303""#),
        ] {
            assert_eq!(round_trip(text).unwrap(), printed, "{text}");
            assert_eq!(round_trip(printed).unwrap(), printed);
        }
        for bad in [
            r#""\q""#,
            r#""\8""#,
            r#""\é""#,
            r#""\400""#,
            r#""\x""#,
            r#""\x414""#,
            r#""\u12""#,
            r#""\u+041""#,
            r#""\ud800""#,
            "\"a\\\nb\"",
            r#""abc"#,
            r#""\"#,
            "\"\\\"",
            "x",
        ] {
            assert!(round_trip(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bytes_that_are_no_character_are_kept() {
        let bytes_of = |text: &'static str| {
            let read = string(&mut Cursor::new(text)).unwrap().into_owned();
            assert_eq!(from_bytes(bytes(&read).into_owned()), read);
            bytes(&read).into_owned()
        };
        assert_eq!(bytes_of(r#""\377\000a\200""#), [0xFF, 0, b'a', 0x80]);
        assert_eq!(bytes_of("\"é\"").as_slice(), "é".as_bytes());
        // A character used for a byte, in the text itself.
        let own = "\"a\u{10FFAB}b\"";
        assert_eq!(bytes_of(own).as_slice(), "a\u{10FFAB}b".as_bytes());
        assert_eq!(round_trip(own).unwrap(), r#""a\364\217\276\253b""#);
    }
}
