//! Values that are kept verbatim: raw dictionaries and unknown attributes.
use super::{Cursor, is_name};
use crate::diag::Code;
use crate::{Error, Result, Span};

/// Returns the length of the `{...}` at the start of `text`: counts braces and skips strings in
/// `"`.
fn dict_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let (mut depth, mut at) = (0usize, 0);
    while let Some(found) = memchr::memchr3(b'{', b'}', b'"', bytes.get(at..)?) {
        at += found;
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => at = string_end(bytes, at)?,
        }
        at += 1;
    }
    None
}

/// Returns the length of the string in quotes at the start of `text`.
pub(super) fn string_length(text: &str) -> Option<usize> {
    string_end(text.as_bytes(), 0).map(|end| end + 1)
}

/// Returns the end of the string that starts at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(quote, b'\\', bytes.get(end..)?)?;
        if bytes[end] == quote {
            return Some(end);
        }
        end += 2;
    }
}

/// Parses a raw dictionary with its braces.
pub(crate) fn raw_dict<'a>(c: &mut Cursor<'a>) -> Result<&'a str> {
    if c.peek() != Some(b'{') {
        return Err(c.expected("`{`"));
    }
    let Some(length) = dict_length(c.rest()) else { return Err(unclosed(c)) };
    let text = &c.rest()[..length];
    c.skip(length);
    Ok(text)
}

/// Returns whether an attribute is read as it is printed.
pub(crate) fn is_raw(name: &str, value: &str) -> bool {
    is_name(name) && is_value(value)
}

/// Returns whether a string can be printed without quotes, as one raw dictionary.
pub(crate) fn is_raw_dict(text: &str) -> bool {
    dict_length(text) == Some(text.len())
}

fn unclosed(c: &Cursor<'_>) -> Error {
    let bracket = c.rest().chars().next().unwrap_or('{');
    let message = format!("this `{bracket}` is never closed");
    Error::from(Code::Character { message }).at(Span::new(c.offset(), c.offset() + 1))
}

/// Parses any value up to the comma or bracket that ends it: words, numbers, strings, balanced
/// brackets.
pub(crate) fn balanced_value<'a>(c: &mut Cursor<'a>) -> Result<&'a str> {
    c.blank();
    let (start, bytes) = (c.offset(), c.text().as_bytes());
    let mut open = Vec::new();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => match string_end(bytes, at) {
                Some(end) => at = end,
                None => return Err(unclosed(c)),
            },
            b'(' => open.push(b')'),
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b')' | b'}' | b']' => match open.pop() {
                Some(expected) if expected == byte => {}
                Some(_) => return Err(unclosed(c)),
                None => break,
            },
            b',' | b'\n' if open.is_empty() => break,
            b' ' | b'\t' | b'\r' if open.is_empty() => break,
            _ => {}
        }
        at += 1;
        if open.is_empty() && matches!(byte, b')' | b'}') && !continues(bytes, at) {
            break;
        }
    }
    if !open.is_empty() {
        return Err(unclosed(c));
    }
    if at == start {
        return Err(c.expected("a value"));
    }
    let text = &c.text()[start..at];
    c.skip(at - start);
    Ok(text)
}

/// Returns whether all of the text is one value.
pub(crate) fn is_value(text: &str) -> bool {
    balanced_value(&mut Cursor::new(text)).is_ok_and(|value| value == text)
}

/// Returns whether a value continues after a closing bracket, as `[2,2]<=[4]T(1,0)` does.
fn continues(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at)
        .is_some_and(|&b| matches!(b, b'<' | b'[' | b'{' | b'(') || b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_to_the_end_of_a_value() {
        let read = |text: &'static str| balanced_value(&mut Cursor::new(text)).unwrap();
        assert_eq!(read("{a={1,2}, b=\"}\"}, next=1"), "{a={1,2}, b=\"}\"}");
        assert_eq!(read(" word, x"), "word");
        assert_eq!(read("[2,2]<=[4]T(1,0), x"), "[2,2]<=[4]T(1,0)");
        assert_eq!(read("3)"), "3");
        assert!(balanced_value(&mut Cursor::new("{a")).is_err());
        assert!(balanced_value(&mut Cursor::new("{a]")).is_err());
        assert!(is_raw_dict("{\"a\":1}") && !is_raw_dict("{a") && !is_raw_dict("{}x"));
    }
}
