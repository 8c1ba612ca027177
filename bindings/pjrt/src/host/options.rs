//! Options: named values of a client.
use crate::compile_options::{OptionOverrideProto, OverrideValue};
use std::convert::Infallible;
use std::str::FromStr;

/// The value of an option.
///
/// ```
/// use pjrt::OptionValue;
/// assert_eq!("8".parse(), Ok(OptionValue::Int(8)));
/// assert_eq!("true".parse(), Ok(OptionValue::Bool(true)));
/// assert_eq!("0.5".parse(), Ok(OptionValue::Float(0.5)));
/// assert_eq!("bfc".parse(), Ok(OptionValue::Text("bfc".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum OptionValue {
    /// An int64.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A float.
    Float(f64),
    /// Any other text.
    Text(String),
}

impl std::fmt::Display for OptionValue {
    /// Writes the text that is parsed as this value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(x) => write!(f, "{x}"),
            Self::Bool(x) => write!(f, "{x}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl FromStr for OptionValue {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let int = text.parse().map(Self::Int).ok();
        let boolean = text.parse().map(Self::Bool).ok();
        let float = text.parse().map(Self::Float).ok();
        Ok(int.or(boolean).or(float).unwrap_or_else(|| Self::Text(text.to_owned())))
    }
}

impl From<&OptionValue> for OptionOverrideProto {
    fn from(value: &OptionValue) -> Self {
        let value = match value {
            OptionValue::Int(value) => OverrideValue::Int(*value),
            OptionValue::Bool(value) => OverrideValue::Bool(*value),
            OptionValue::Float(value) => OverrideValue::Float(*value),
            OptionValue::Text(value) => OverrideValue::Text(value.clone()),
        };
        Self { value: Some(value) }
    }
}
