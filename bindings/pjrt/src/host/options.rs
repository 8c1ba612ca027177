//! Named values: options of a client or of the compiler, and attributes of a plugin.
#![expect(unsafe_code, reason = "reads values of the C API")]
use super::error::{slice, text};
use crate::compile_options::{OptionOverrideProto, OverrideValue};
use crate::sys::{Header, NamedValue, NamedValueData};
use std::convert::Infallible;
use std::str::FromStr;

/// The value of an option or of an attribute.
///
/// ```
/// use pjrt::OptionValue;
/// assert_eq!("8".parse(), Ok(OptionValue::Int(8)));
/// assert_eq!("0,1".parse(), Ok(OptionValue::Ints(vec![0, 1])));
/// assert_eq!("true".parse(), Ok(OptionValue::Bool(true)));
/// assert_eq!("0.5".parse(), Ok(OptionValue::Float(0.5)));
/// assert_eq!("bfc".parse(), Ok(OptionValue::Text("bfc".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum OptionValue {
    /// An int64.
    Int(i64),
    /// A list of int64.
    Ints(Vec<i64>),
    /// `true` or `false`.
    Bool(bool),
    /// A float.
    Float(f64),
    /// Any other text.
    Text(String),
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(x) => write!(f, "{x}"),
            Self::Ints(list) => f.write_str(&joined(list)),
            Self::Bool(x) => write!(f, "{x}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

fn joined(list: &[i64]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl FromStr for OptionValue {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let found = ["int", "ints", "bool", "float"].iter().find_map(|ty| Self::of(ty, text));
        Ok(found.unwrap_or_else(|| Self::Text(text.to_owned())))
    }
}

/// The options of XLA:GPU whose type their text does not tell.
const TYPES: [(&str, &str); 2] = [("memory_fraction", "float"), ("visible_devices", "ints")];

impl OptionValue {
    /// Parses `NAME=VALUE`, or `NAME:TYPE=VALUE` with one of the types `int`, `ints`, `bool`,
    /// `float` and `text`. Without one the type is that of the text.
    ///
    /// ```
    /// use pjrt::OptionValue;
    /// let parsed = |text| OptionValue::parse_named(text).map(|(_, value)| value);
    /// assert_eq!(parsed("level=1"), Ok(OptionValue::Int(1)));
    /// assert_eq!(parsed("level:float=1"), Ok(OptionValue::Float(1.0)));
    /// assert_eq!(parsed("memory_fraction=1"), Ok(OptionValue::Float(1.0)));
    /// assert_eq!(parsed("visible_devices=0"), Ok(OptionValue::Ints(vec![0])));
    /// assert_eq!(parsed("level:bool=1"), Err("`1` is not of the type `bool`".to_owned()));
    /// ```
    ///
    /// # Errors
    /// If there is no `=`, no such type, or the value is not of that type.
    pub fn parse_named(text: &str) -> Result<(String, Self), String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        let Some((name, ty)) = name.split_once(':') else {
            let known = TYPES.iter().find(|(known, _)| *known == name);
            let of_type = known.and_then(|(_, ty)| Self::of(ty, value));
            let value = of_type.unwrap_or_else(|| value.parse().unwrap_or_else(|e| match e {}));
            return Ok((name.to_owned(), value));
        };
        if !["int", "ints", "bool", "float", "text"].contains(&ty) {
            return Err(format!("`{ty}` is not a type: int, ints, bool, float, text"));
        }
        let typed = Self::of(ty, value);
        let typed = typed.ok_or_else(|| format!("`{value}` is not of the type `{ty}`"))?;
        Ok((name.to_owned(), typed))
    }
    /// Returns the text that [`parse_named`](Self::parse_named) reads as this option.
    ///
    /// ```
    /// use pjrt::OptionValue;
    /// for text in ["a=1", "a=1,2", "a=0.5", "a=x", "a:text=1", "a:ints=1", "a=1.0"] {
    ///     let (name, value) = OptionValue::parse_named(text)?;
    ///     assert_eq!(value.named(&name), text);
    /// }
    /// # Ok::<(), String>(())
    /// ```
    pub fn named(&self, name: &str) -> String {
        let plain = format!("{name}={self}");
        match Self::parse_named(&plain) {
            Ok((_, read)) if read == *self => plain,
            Ok(_) | Err(_) => format!("{name}:{}={self}", self.type_name()),
        }
    }
    fn type_name(&self) -> &'static str {
        match self {
            Self::Int(_) => "int",
            Self::Ints(_) => "ints",
            Self::Bool(_) => "bool",
            Self::Float(_) => "float",
            Self::Text(_) => "text",
        }
    }
    /// Returns the value of this type that a text states.
    fn of(ty: &str, text: &str) -> Option<Self> {
        match ty {
            "int" => text.parse().map(Self::Int).ok(),
            "ints" => {
                text.split(',').map(|x| x.parse().ok()).collect::<Option<_>>().map(Self::Ints)
            }
            "bool" => text.parse().map(Self::Bool).ok(),
            "float" => text.parse().map(Self::Float).ok(),
            _ => Some(Self::Text(text.to_owned())),
        }
    }
}

impl From<&OptionValue> for OptionOverrideProto {
    fn from(value: &OptionValue) -> Self {
        let value = match value {
            OptionValue::Int(value) => OverrideValue::Int(*value),
            // A flag of XLA that is a list is stated as text.
            OptionValue::Ints(list) => OverrideValue::Text(joined(list)),
            OptionValue::Bool(value) => OverrideValue::Bool(*value),
            OptionValue::Float(value) => OverrideValue::Float(*value),
            OptionValue::Text(value) => OverrideValue::Text(value.clone()),
        };
        Self { value: Some(value) }
    }
}

/// Returns the form of an option that the C API takes; it borrows the texts and lists.
pub(super) fn to_raw((name, value): &(String, OptionValue)) -> NamedValue {
    #[expect(clippy::cast_possible_truncation, clippy::as_conversions, reason = "the API has f32")]
    let (kind, data, size) = match value {
        OptionValue::Text(text) => (0, NamedValueData { string: text.as_ptr().cast() }, text.len()),
        OptionValue::Int(int64) => (1, NamedValueData { int64: *int64 }, 1),
        OptionValue::Ints(list) => (2, NamedValueData { int64_list: list.as_ptr() }, list.len()),
        OptionValue::Float(float) => (3, NamedValueData { float: *float as f32 }, 1),
        OptionValue::Bool(boolean) => (4, NamedValueData { boolean: *boolean }, 1),
    };
    NamedValue {
        header: Header::of::<NamedValue>(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        kind,
        value: data,
        value_size: size,
    }
}

/// Copies a named value of a plugin; `None` if it is of an unknown type.
///
/// # Safety
/// The pointers of the value are valid.
pub(super) unsafe fn from_raw(raw: &NamedValue) -> Option<(String, OptionValue)> {
    let (data, size) = (&raw.value, raw.value_size);
    // SAFETY: the caller vouches for the pointers; the field is the one that the kind names.
    unsafe {
        let value = match raw.kind {
            0 => OptionValue::Text(text(data.string, size)),
            1 => OptionValue::Int(data.int64),
            2 => OptionValue::Ints(slice(data.int64_list, size).to_vec()),
            3 => OptionValue::Float(data.float.into()),
            4 => OptionValue::Bool(data.boolean),
            _ => return None,
        };
        Some((text(raw.name, raw.name_size), value))
    }
}
