//! The dictionary that a call of XLA's typed interface carries as its `backend_config`: `{uplo = 76 : ui8, left = true}`.
use crate::{Error, Result};
use hlo::ir::BackendConfig;
use std::collections::BTreeMap;

/// A value of the dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `true`, `1 : i64`, `76 : ui8`; the type is not kept.
    Integer(i64),
    /// Anything else, as written.
    Other(String),
}

/// Names and their values.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dictionary(BTreeMap<String, Value>);

impl Dictionary {
    /// Reads a dictionary; an absent or empty text is an empty one. Errors name `target`.
    pub(super) fn parse(target: &str, config: Option<&BackendConfig>) -> Result<Self> {
        let text = config.map_or("", |config| config.0.trim());
        let entries = match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(entries) => entries,
            None if text.is_empty() => "",
            None => return Err(not_a_dictionary(target, text)),
        };
        let mut found = BTreeMap::new();
        for entry in split(entries) {
            let entry = entry.trim();
            if entry.is_empty() && entries.trim().is_empty() {
                continue;
            }
            let (name, value) =
                entry.split_once('=').ok_or_else(|| not_a_dictionary(target, text))?;
            let name = name.trim().trim_matches('"').to_owned();
            found.insert(name, value_of(value.trim()));
        }
        Ok(Self(found))
    }
    /// Returns the value of a name that is an integer or boolean.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.0.get(name)? {
            Value::Integer(value) => Some(*value),
            Value::Other(_) => None,
        }
    }
    /// Returns the value of a name as text, for messages.
    pub(super) fn shown(&self, name: &str) -> String {
        match self.0.get(name) {
            None => "nothing".to_owned(),
            Some(Value::Integer(value)) => match u8::try_from(*value) {
                Ok(byte) if byte.is_ascii_graphic() => format!("{value} ('{}')", char::from(byte)),
                _ => value.to_string(),
            },
            Some(Value::Other(text)) => text.clone(),
        }
    }
}

fn not_a_dictionary(target: &str, text: &str) -> Error {
    Error::unsupported(format!(
        "custom call `{target}` expects a dictionary like `{{uplo = 76 : ui8}}` as its backend_config, found `{text}`"
    ))
}

fn value_of(text: &str) -> Value {
    let number = text.split_once(':').map_or(text, |(number, _)| number).trim();
    match number {
        "true" => Value::Integer(1),
        "false" => Value::Integer(0),
        _ => number.parse().map_or_else(|_| Value::Other(text.to_owned()), Value::Integer),
    }
}

/// Returns the parts between commas that are in no bracket and no string.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut escaped, mut start) =
        (Vec::new(), 0i32, false, false, 0);
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Dictionary> {
        Dictionary::parse("t", Some(&BackendConfig(text.to_owned())))
    }

    #[test]
    fn reads_what_jax_writes() {
        let found = read("{diag = 85 : ui8, left = true, low = -1 : i32, x = \"a, b\"}").unwrap();
        assert_eq!(found.integer("diag"), Some(85));
        assert_eq!(found.integer("left"), Some(1));
        assert_eq!(found.integer("low"), Some(-1));
        assert_eq!(found.integer("x"), None);
        assert_eq!(found.shown("x"), "\"a, b\"");
        assert_eq!(found.shown("diag"), "85 ('U')");
        assert_eq!(found.shown("y"), "nothing");
    }

    #[test]
    fn nothing_is_an_empty_dictionary() {
        assert_eq!(read("").unwrap(), Dictionary::default());
        assert_eq!(read("{ }").unwrap(), Dictionary::default());
        assert_eq!(Dictionary::parse("t", None).unwrap(), Dictionary::default());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["opaque", "{a}", "{a = 1,}", "{a = 1", "["] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
