//! Helpers for values: the error, `{name=value ..}`, and lists joined with `x`.
use crate::diag::{Code, nearest};
use crate::text::Cursor;
use crate::text::number::push_int;
use crate::{Error, Result};

/// Returns the error that a value is invalid; the caller adds the place.
#[cold]
pub(super) fn bad(message: impl Into<String>) -> Error {
    Code::AttributeValue { message: message.into() }.into()
}

/// The separator between the fields of a `{..}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    Blanks,
    Commas,
}

/// Parses `{name=value ..}`, in any order, each name at most once; `read` parses the value of the
/// field with an index.
pub(super) fn fields<'a>(
    c: &mut Cursor<'a>,
    between: Between,
    names: &[&'static str],
    mut read: impl FnMut(&mut Cursor<'a>, &'static str) -> Result<()>,
) -> Result<()> {
    c.expect(b'{')?;
    let mut seen = vec![false; names.len()];
    let mut first = true;
    while c.peek() != Some(b'}') {
        match between {
            Between::Commas if !first => c.expect(b',')?,
            Between::Blanks if c.peek() == Some(b',') => {
                return Err(c
                    .expected("the next field")
                    .with_help("separate fields by blanks alone"));
            }
            Between::Commas | Between::Blanks => {}
        }
        first = false;
        let (word, span) = c.attribute_name()?;
        let found = names.iter().zip(&mut seen).find(|(name, _)| **name == word);
        let Some((&name, seen)) = found else {
            return Err(unknown(&format!("unknown field `{word}`"), word, names).at(span));
        };
        if std::mem::replace(seen, true) {
            return Err(bad(format!("`{name}` is specified twice")).at(span));
        }
        read(c, name).map_err(|error| error.at(span))?;
    }
    c.expect(b'}')
}

/// Returns the error for a word that is not one of `words`.
#[cold]
pub(super) fn unknown(message: &str, word: &str, words: &[&'static str]) -> Error {
    let other_case = words.iter().copied().find(|known| known.eq_ignore_ascii_case(word));
    match other_case.or_else(|| nearest(word, words.iter().copied())) {
        Some(name) => bad(message).with_help(format!("did you mean `{name}`?")),
        None => bad(message).with_help(format!("use one of {}", words.join(", "))),
    }
}

/// Appends the numbers with `x` between them.
pub(super) fn push_by(out: &mut String, numbers: impl IntoIterator<Item = i64>) {
    for (i, number) in numbers.into_iter().enumerate() {
        if i > 0 {
            out.push('x');
        }
        push_int(out, number);
    }
}

/// Parses all of `text` as a value.
#[cfg(test)]
pub(super) fn read<T>(text: &str, parse: impl FnOnce(&mut Cursor<'_>) -> Result<T>) -> Result<T> {
    let mut c = Cursor::new(text);
    let value = parse(&mut c)?;
    c.expect_end("the end")?;
    Ok(value)
}

/// Parses the beginning of `text` as a value, and returns its length, too.
#[cfg(test)]
pub(super) fn beginning<T>(
    text: &str,
    parse: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
) -> Option<(T, usize)> {
    let mut c = Cursor::new(text);
    Some((parse(&mut c).ok()?, c.offset()))
}

/// For tests: the printed form of `text`, and its error.
#[cfg(test)]
macro_rules! value_tests {
    ($ty:ty) => {
        #[allow(dead_code, reason = "not every value has both kinds of tests")]
        fn round_trip(text: &str) -> String {
            let value = $crate::op::value::fields::read(text, <$ty>::parse);
            let value = value.unwrap_or_else(|error| panic!("{text}: {error}"));
            let mut out = String::new();
            value.print(&mut out);
            out
        }
        /// Returns the underlined text, the message and the help of the error.
        #[allow(dead_code, reason = "not every value has both kinds of tests")]
        fn rejected(text: &str) -> (&str, String, String) {
            let error = $crate::op::value::fields::read(text, <$ty>::parse).expect_err(text);
            let place = &text[error.span().expect("a place").range()];
            (place, error.code().to_string(), error.help().unwrap_or_default().to_owned())
        }
    };
}
#[cfg(test)]
pub(super) use value_tests;
