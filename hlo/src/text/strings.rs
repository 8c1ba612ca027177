//! Strings in quotes.
use super::Cursor;
use crate::diag::Code;
use crate::{Error, Result, Span};
use std::borrow::Cow;
use std::fmt::Write;

/// Reads a string in `"` or `'`.
pub(crate) fn string<'a>(c: &mut Cursor<'a>) -> Result<Cow<'a, str>> {
    let Some(quote @ (b'"' | b'\'')) = c.peek() else {
        return Err(c.wanted("a string in quotes"));
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
    if inner.contains('\\') {
        unescaped(inner, start + 1).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(inner))
    }
}

/// Resolves escapes; `start` is where `text` stands in the whole.
fn unescaped(text: &str, start: usize) -> Result<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let taken = escape(&text[at..], &mut out);
        let Some(taken) = taken else {
            let message = "unknown escape in a string".to_owned();
            let span = Span::new(start + at, start + (at + 2).min(text.len()));
            return Err(Error::from(Code::Character { message }).at(span));
        };
        at += taken;
    }
    String::from_utf8(out).map_err(|_| {
        let message = "the escapes of this string do not give UTF-8".to_owned();
        Error::from(Code::Character { message }).at(Span::new(start, start + text.len()))
    })
}

/// One escape at the start of `text`: its bytes go to `out`; gives its length.
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
            let digits = bytes[2..].iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
            out.push(u8::from_str_radix(text.get(2..2 + digits)?, 16).ok()?);
            Some(2 + digits)
        }
        &kind @ (b'u' | b'U') => {
            let digits = if kind == b'u' { 4 } else { 8 };
            let value = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
            let mut buffer = [0; 4];
            out.extend(char::from_u32(value)?.encode_utf8(&mut buffer).bytes());
            Some(2 + digits)
        }
        _ => None,
    }
}

/// Writes a string in quotes, escaped as XLA escapes it.
pub(crate) fn print_string(out: &mut String, text: &str) {
    out.push('"');
    print_escaped(out, text);
    out.push('"');
}

/// Writes the inside of a string in quotes.
pub(crate) fn print_escaped(out: &mut String, text: &str) {
    for byte in text.bytes() {
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

    #[test]
    fn escapes_round_trip() {
        let mut c = Cursor::new(r#""a\n\t\x41\101\"\\ é" rest"#);
        let text = string(&mut c).unwrap();
        assert_eq!(text, "a\n\tAA\"\\ é");
        let mut out = String::new();
        print_string(&mut out, &text);
        assert_eq!(out, r#""a\n\tAA\"\\ \303\251""#);
        assert_eq!(string(&mut Cursor::new("'it\"s'")).unwrap(), "it\"s");
        for bad in [r#""\q""#, r#""abc"#, r#""\xff""#, r#""\"#, "x"] {
            assert!(string(&mut Cursor::new(bad)).is_err(), "{bad}");
        }
    }
}
