//! Attributes of ops, with errors that name them.
use super::scope::Scope;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Dense, Fields, Op};
use hlo::{ElementType, Scalar};
use smol_str::SmolStr;

/// A kind of attribute value.
pub(super) trait FromAttribute<'a>: Sized {
    /// The expected value, for errors.
    const EXPECTED: &'static str;
    /// Returns the value, if the attribute is of this kind.
    fn from_attribute(attribute: &'a Attribute) -> Option<Self>;
}

macro_rules! kinds {
    ($($ty:ty, $expected:literal, $attribute:ident => $value:expr;)*) => {$(
        impl<'a> FromAttribute<'a> for $ty {
            const EXPECTED: &'static str = $expected;
            fn from_attribute($attribute: &'a Attribute) -> Option<Self> {
                $value
            }
        }
    )*};
}
kinds! {
    i64, "an integer", attribute => match attribute {
        Attribute::Integer(value, _) => i64::try_from(*value).ok(),
        Attribute::Dense(dense) => integers_of(dense)?.first().copied(),
        _ => None,
    };
    bool, "a boolean", attribute => match attribute {
        Attribute::Bool(value) => Some(*value),
        Attribute::Integer(value, _) => Some(*value != 0),
        Attribute::Unit => Some(true),
        _ => None,
    };
    f64, "a float", attribute => match attribute {
        Attribute::Float(value, _) => Some(*value),
        _ => None,
    };
    Vec<i64>, "a list of integers", attribute => integers(attribute);
    &'a Dense, "a dense array", attribute => match attribute {
        Attribute::Dense(dense) => Some(dense),
        _ => None,
    };
    &'a [Attribute], "a list", attribute => match attribute {
        Attribute::Array(items) => Some(items),
        _ => None,
    };
    &'a Attributes, "a dictionary", attribute => match attribute {
        Attribute::Dictionary(fields) | Attribute::Dialect(_, Fields::Named(fields)) => Some(fields),
        _ => None,
    };
    &'a [SmolStr], "a symbol", attribute => match attribute {
        Attribute::Symbol(path) => Some(path),
        _ => None,
    };
    EnumWord<'a>, "a keyword", attribute => match attribute {
        Attribute::Dialect(_, Fields::Keyword(word)) => Some(EnumWord(word)),
        Attribute::String(bytes) => std::str::from_utf8(bytes).ok().map(EnumWord),
        Attribute::Symbol(path) => path.last().map(|name| EnumWord(name)),
        _ => None,
    };
    String, "a string", attribute => match attribute {
        Attribute::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Attribute::Symbol(path) => path.last().map(ToString::to_string),
        _ => None,
    };
}

/// The word of an enum's attribute: `EQ`, `DEFAULT`.
pub(super) struct EnumWord<'a>(pub(super) &'a str);

/// Returns the integers of a list in any of its forms.
fn integers(attribute: &Attribute) -> Option<Vec<i64>> {
    match attribute {
        Attribute::Integers(values) => Some(values.clone()),
        Attribute::Array(items) => items.iter().map(i64::from_attribute).collect(),
        Attribute::Dense(dense) => integers_of(dense),
        _ => None,
    }
}

/// Returns the elements of an array of integers, booleans or indices.
pub(super) fn integers_of(dense: &Dense) -> Option<Vec<i64>> {
    let ty = match &dense.ty.element {
        Ok(element) if element.is_float() || element.is_complex() => return None,
        Ok(element) => *element,
        Err(name) if name == "index" => ElementType::S64,
        Err(_) => return None,
    };
    let read = |bytes: &[u8]| match Scalar::read(ty, bytes) {
        Scalar::Pred(value) => Some(i64::from(value)),
        Scalar::Signed(value) => Some(value),
        Scalar::Unsigned(value) => i64::try_from(value).ok(),
        Scalar::Float(_) | Scalar::Complex(..) => None,
    };
    let values: Vec<i64> =
        dense.bytes.chunks_exact(ty.storage_bytes()).map(read).collect::<Option<_>>()?;
    match (dense.splat, values.first()) {
        (true, Some(&value)) => Some(vec![value; count(dense).filter(|&count| count <= MOST)?]),
        (true, None) => None,
        (false, _) => Some(values),
    }
}

/// The most elements of a splat that is read as a list.
const MOST: usize = 1 << 20;

/// Returns the number of elements.
fn count(dense: &Dense) -> Option<usize> {
    let size = |dim: &crate::ir::Dim| match dim {
        crate::ir::Dim::Static(size) => usize::try_from(*size).ok(),
        crate::ir::Dim::Dynamic(_) => None,
    };
    dense.ty.dims.iter().try_fold(1usize, |n, dim| n.checked_mul(size(dim)?))
}

/// Returns the strings and booleans of a dictionary.
pub(super) fn frontend_pairs(fields: &Attributes) -> Vec<(SmolStr, String)> {
    let pair = |(name, value): &(SmolStr, Attribute)| match value {
        Attribute::String(_) => Some((name.clone(), String::from_attribute(value)?)),
        Attribute::Bool(value) => Some((name.clone(), value.to_string())),
        _ => None,
    };
    let mut pairs: Vec<_> = fields.0.iter().filter_map(pair).collect();
    pairs.sort();
    pairs
}

impl Scope<'_, '_> {
    /// Returns an attribute that the op may have.
    pub(super) fn optional<'a, T: FromAttribute<'a>>(
        &self,
        op: &'a Op,
        name: &str,
    ) -> Result<Option<T>> {
        let Some(attribute) = op.attributes.get(name) else { return Ok(None) };
        match T::from_attribute(attribute) {
            Some(value) => Ok(Some(value)),
            None => {
                let message = format!("`{name}` of `{}` must be {}", op.name, T::EXPECTED);
                Err(self.error(op, Code::AttributeValue { message }))
            }
        }
    }
    /// Returns an attribute that the op must have.
    pub(super) fn required<'a, T: FromAttribute<'a>>(&self, op: &'a Op, name: &str) -> Result<T> {
        self.optional(op, name)?.ok_or_else(|| self.missing(op, name))
    }
    /// Returns a list of integers that is empty by default.
    pub(super) fn list(&self, op: &Op, name: &str) -> Result<Vec<i64>> {
        Ok(self.optional(op, name)?.unwrap_or_default())
    }
    /// Returns a flag that is false by default.
    pub(super) fn flag(&self, op: &Op, name: &str) -> Result<bool> {
        Ok(self.optional(op, name)?.unwrap_or(false))
    }
    /// Returns a field of a dialect's attribute; a list that is absent is empty.
    pub(super) fn field<'a, T: FromAttribute<'a>>(
        &self,
        op: &Op,
        fields: &'a Attributes,
        name: &str,
    ) -> Result<Option<T>> {
        let Some(attribute) = fields.get(name) else { return Ok(None) };
        T::from_attribute(attribute).map(Some).ok_or_else(|| {
            let message = format!("`{name}` of `{}` must be {}", op.name, T::EXPECTED);
            self.error(op, Code::AttributeValue { message })
        })
    }
    /// Returns a list of a dialect's attribute, empty by default.
    pub(super) fn field_list(&self, op: &Op, fields: &Attributes, name: &str) -> Result<Vec<i64>> {
        Ok(self.field(op, fields, name)?.unwrap_or_default())
    }
    /// Returns the channel of an op that has one.
    pub(super) fn channel(&self, op: &Op) -> Result<Option<i64>> {
        match self.optional::<&Attributes>(op, "channel_handle")? {
            Some(fields) => Ok(Some(self.field(op, fields, "handle")?.unwrap_or(0))),
            None => Ok(None),
        }
    }
    /// Returns an enum by its word.
    pub(super) fn word<T: Copy>(
        &self,
        op: &Op,
        name: &str,
        all: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>> {
        let Some(EnumWord(found)) = self.optional::<EnumWord<'_>>(op, name)? else {
            return Ok(None);
        };
        self.one_of(op, name, found, all, word).map(Some)
    }
    /// Returns the value of this name.
    pub(super) fn one_of<T: Copy>(
        &self,
        op: &Op,
        name: &str,
        found: &str,
        all: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<T> {
        all.iter().copied().find(|&value| word(value).eq_ignore_ascii_case(found)).ok_or_else(
            || {
                let known: Vec<_> = all.iter().map(|&value| word(value)).collect();
                let message = format!("`{found}` is not a value of `{name}` of `{}`", op.name);
                self.error(op, Code::AttributeValue { message })
                    .with_help(format!("use one of {}", known.join(", ")))
            },
        )
    }
    /// Returns the error of a missing attribute.
    pub(super) fn missing(&self, op: &Op, name: &str) -> Error {
        let message = format!("`{}` has no attribute `{name}`", op.name);
        self.error(op, Code::AttributeValue { message })
    }
}
