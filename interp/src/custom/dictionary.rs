//! The dictionary that a call of XLA's typed interface carries as its `backend_config`:
//! `{uplo = 76 : ui8, left = true}`.
use crate::{Error, Result};
use hlo::ir::BackendConfig;
use std::collections::BTreeMap;

/// A value of the dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DictionaryValue {
    /// `true`, `1 : i64`, `76 : ui8`; the type is not kept.
    Integer(i64),
    /// Anything else, as written.
    Other(String),
}

/// Names and their values.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dictionary(BTreeMap<String, DictionaryValue>);

impl Dictionary {
    /// Reads a dictionary; an absent or empty text is an empty one. Errors name `target`.
    pub(super) fn parse(target: &str, config: Option<&BackendConfig>) -> Result<Self> {
        let text = config.map_or("", |config| config.0.trim());
        let entries = BackendConfig::entries(text).ok_or_else(|| not_a_dictionary(target, text))?;
        let entries = entries.into_iter();
        Ok(Self(entries.map(|(name, value)| (name.to_owned(), value_of(value))).collect()))
    }
    /// Returns the value of a name that is an integer or boolean.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.0.get(name)? {
            DictionaryValue::Integer(value) => Some(*value),
            DictionaryValue::Other(_) => None,
        }
    }
    /// Returns the value of a name as text, for messages.
    pub(super) fn shown(&self, name: &str) -> String {
        match self.0.get(name) {
            None => "nothing".to_owned(),
            Some(DictionaryValue::Integer(value)) => match u8::try_from(*value) {
                Ok(byte) if byte.is_ascii_graphic() => format!("{value} ('{}')", char::from(byte)),
                _ => value.to_string(),
            },
            Some(DictionaryValue::Other(text)) => text.clone(),
        }
    }
}

fn not_a_dictionary(target: &str, text: &str) -> Error {
    Error::unsupported(format!(
        "custom call `{target}` expects a dictionary like `{{uplo = 76 : ui8}}` as its backend_config, found `{text}`"
    ))
}

fn value_of(text: &str) -> DictionaryValue {
    let number = text.split_once(':').map_or(text, |(number, _)| number).trim();
    match number {
        "true" => DictionaryValue::Integer(1),
        "false" => DictionaryValue::Integer(0),
        _ => number
            .parse()
            .map_or_else(|_| DictionaryValue::Other(text.to_owned()), DictionaryValue::Integer),
    }
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
