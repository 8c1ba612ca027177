//! Parts of the text of a sharding that all its forms have: metadata, and the pending reduction.
use super::Reduction;
use crate::diag::Code;
use crate::ir::Metadata;
use crate::text::Cursor;
use crate::text::grammar::{lift, list};
use crate::{Error, Result};

/// Reads `{...}` or `{{...}, {...}}`.
pub(super) fn metadata(c: &mut Cursor<'_>) -> Result<Vec<Metadata>> {
    let mut inner = *c;
    inner.expect(b'{')?;
    match inner.peek() {
        Some(b'{') => c.parse(list('{', lift(Metadata::parse), '}')),
        _ => Ok(vec![Metadata::parse(c)?]),
    }
}

/// Prints a list of metadata, a single one without the braces of the list unless `braces`.
pub(super) fn print_metadata(out: &mut String, metadata: &[Metadata], braces: bool) {
    let braces = braces || metadata.len() > 1;
    out.push_str(if braces { "{" } else { "" });
    for (i, part) in metadata.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        part.print(out);
    }
    out.push_str(if braces { "}" } else { "" });
}

/// Reads `sum`, `max` or `min`, if a word comes next.
pub(super) fn reduction(c: &mut Cursor<'_>) -> Result<Reduction> {
    match c.eat_word() {
        None | Some(("sum", _)) => Ok(Reduction::Sum),
        Some(("max", _)) => Ok(Reduction::Max),
        Some(("min", _)) => Ok(Reduction::Min),
        Some((word, span)) => {
            let message = format!("`{word}` is not a reduction of a sharding");
            let error = Error::from(Code::AttributeValue { message }).at(span);
            Err(error.with_help("write `sum`, `max` or `min`"))
        }
    }
}

impl Reduction {
    /// Returns its name; empty for a sum.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Sum => None,
            Self::Max => Some("max"),
            Self::Min => Some("min"),
        }
    }
}
