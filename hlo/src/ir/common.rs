//! Attributes that every instruction may have.
use super::{InstructionId, Metadata, Sharding};
use crate::op::value::ResultAccuracy;
use crate::text::{Cursor, balanced, number, print, strings};
use crate::{Result, diag::Code};
use smol_str::SmolStr;

/// Attributes that every instruction may have; few have any but metadata.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommonAttrs {
    /// How the value is spread over devices.
    pub sharding: Option<Sharding>,
    /// Notes of a front end.
    pub frontend_attributes: Option<FrontendAttributes>,
    /// Instructions that run first.
    pub control: Option<Vec<InstructionId>>,
    /// Numbers for a viewer.
    pub statistics: Option<Statistics>,
    /// For each leaf of a parameter, whether all replicas have the same.
    pub parameter_replication: Option<Vec<bool>>,
    /// How exact the result should be.
    pub result_accuracy: Option<ResultAccuracy>,
    /// Which value of the unoptimised module it is.
    pub origin: Option<OriginalValue>,
    /// Where it comes from.
    pub metadata: Option<Metadata>,
    /// Notes of a back end.
    pub backend_config: Option<BackendConfig>,
    /// Attributes nothing is known of, kept as they stand.
    pub unknown: Vec<RawAttr>,
}

impl CommonAttrs {
    /// Instructions that run first.
    pub fn control_predecessors(&self) -> &[InstructionId] {
        self.control.as_deref().unwrap_or_default()
    }
}

/// An attribute kept as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawAttr {
    /// Its name.
    pub name: SmolStr,
    /// Everything after the `=`.
    pub value: String,
}

/// `{key="value",key={raw}}`, sorted by key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontendAttributes(pub Vec<(SmolStr, String)>);

/// Reads a string or a raw dictionary.
fn string_or_dict(c: &mut Cursor<'_>) -> Result<String> {
    match c.peek() {
        Some(b'{') => balanced::raw_dict(c).map(str::to_owned),
        Some(b'"' | b'\'') => strings::string(c).map(std::borrow::Cow::into_owned),
        _ => Err(c.wanted("a string in quotes or `{`")),
    }
}
/// Writes a string bare if it is a raw dictionary, else in quotes.
fn print_string_or_dict(out: &mut String, text: &str) {
    if balanced::is_raw_dict(text) {
        out.push_str(text);
    } else {
        strings::print_string(out, text);
    }
}

impl FrontendAttributes {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mut pairs: Vec<(SmolStr, String)> = c.list(b'{', b'}', |c| {
            let (key, _) = c.attribute_name()?;
            Ok((SmolStr::from(key), string_or_dict(c)?))
        })?;
        // Of a key given twice the last counts.
        pairs.reverse();
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        pairs.dedup_by(|(a, _), (b, _)| a == b);
        Ok(Self(pairs))
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        for (i, (key, value)) in self.0.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(key);
            out.push('=');
            print_string_or_dict(out, value);
        }
        out.push('}');
    }
}

/// A string for a back end; a raw dictionary is written without quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BackendConfig(pub String);

impl BackendConfig {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        string_or_dict(c).map(Self)
    }
    pub(crate) fn print(&self, out: &mut String) {
        print_string_or_dict(out, &self.0);
    }
}

/// `{visualizing_index=0,name=1.5}`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Which of the numbers a viewer shows.
    pub visualizing_index: i64,
    /// Named numbers.
    pub values: Vec<(SmolStr, f64)>,
}

impl Statistics {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        c.attribute_name()?;
        let visualizing_index = c.int()?;
        let mut values = Vec::new();
        while c.eat(b',') {
            let (name, _) = c.attribute_name()?;
            values.push((SmolStr::from(name), c.number()?.to_f64()));
        }
        c.expect(b'}')?;
        Ok(Self { visualizing_index, values })
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push_str("{visualizing_index=");
        print::push_int(out, self.visualizing_index);
        for (name, value) in &self.values {
            out.push(',');
            out.push_str(name);
            out.push('=');
            number::general(out, *value, 6);
        }
        out.push('}');
    }
}

/// Which value of the unoptimised module an instruction is: a tree like its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginalValue {
    /// `{"instruction" {index}}`; no name for an empty leaf.
    Leaf(Option<(String, Vec<i64>)>),
    /// `(tree, tree)`
    Tuple(Vec<OriginalValue>),
    /// `[synthetic_call]`
    SyntheticCall,
}

impl OriginalValue {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let value = Self::tree(c)?;
        c.expect(b'}')?;
        Ok(value)
    }
    fn tree(c: &mut Cursor<'_>) -> Result<Self> {
        match c.peek() {
            // Nothing at all prints as an empty tuple.
            Some(b'}') => Ok(Self::Tuple(Vec::new())),
            Some(b'(') => {
                c.down()?;
                let parts = c.list(b'(', b')', Self::tree)?;
                c.up();
                Ok(Self::Tuple(parts))
            }
            Some(b'[') => {
                c.skip(1);
                c.expect_token("synthetic_call")?;
                c.expect(b']')?;
                Ok(Self::SyntheticCall)
            }
            Some(b'{') => {
                c.skip(1);
                if c.eat(b'}') {
                    return Ok(Self::Leaf(None));
                }
                let name = strings::string(c)?.into_owned();
                let index = if c.peek() == Some(b'{') { c.ints()? } else { Vec::new() };
                c.expect(b'}')?;
                Ok(Self::Leaf(Some((name, index))))
            }
            _ => {
                let message =
                    "an original value is `{\"name\" {index}}`, `(..., ...)` or `[synthetic_call]`";
                let at = c.offset();
                let error = crate::Error::from(Code::AttributeValue { message: message.into() });
                Err(error.at(crate::Span::new(at, at + 1)))
            }
        }
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        self.print_tree(out);
        out.push('}');
    }
    fn print_tree(&self, out: &mut String) {
        match self {
            Self::Leaf(None) => out.push_str("{}"),
            Self::Leaf(Some((name, index))) => {
                out.push('{');
                strings::print_string(out, name);
                if !index.is_empty() {
                    out.push_str(" {");
                    for (i, &part) in index.iter().enumerate() {
                        out.push_str(if i > 0 { "," } else { "" });
                        print::push_int(out, part);
                    }
                    out.push('}');
                }
                out.push('}');
            }
            Self::Tuple(parts) => {
                out.push('(');
                for (i, part) in parts.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    part.print_tree(out);
                }
                out.push(')');
            }
            Self::SyntheticCall => out.push_str("[synthetic_call]"),
        }
    }
}
