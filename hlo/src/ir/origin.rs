//! `origin={...}`: the value of the unoptimized module that an instruction corresponds to.
use crate::Result;
use crate::text::grammar::{int, lift, list};
use crate::text::number::push_ints;
use crate::text::{Cursor, strings};

/// `{"name" {0,1}}`: an array in the result of an instruction of the unoptimized module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OriginArray {
    /// The instruction.
    pub name: String,
    /// The index into its tuple.
    pub index: Vec<i64>,
}

impl OriginArray {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let name = strings::string(c)?.into_owned();
        let index = if c.peek() == Some(b'{') { c.parse(list('{', int, '}'))? } else { Vec::new() };
        c.expect(b'}')?;
        Ok(Self { name, index })
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        strings::print_string(out, &self.name);
        if !self.index.is_empty() {
            out.push_str(" {");
            push_ints(out, &self.index);
            out.push('}');
        }
        out.push('}');
    }
}

/// The value of the unoptimized module that an instruction corresponds to: a tree like its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginalValue {
    /// `{"instruction" {index}}`, or `{}` if it is not known.
    Leaf(Option<OriginArray>),
    /// `(tree, tree)`
    Tuple(Vec<OriginalValue>),
    /// `[synthetic_call]`: a call that the unoptimized module did not have.
    SyntheticCall,
}

impl OriginalValue {
    /// Returns the most tuples around a leaf.
    pub(crate) fn nesting(&self) -> usize {
        match self {
            Self::Leaf(_) | Self::SyntheticCall => 0,
            Self::Tuple(parts) => 1 + parts.iter().map(Self::nesting).max().unwrap_or(0),
        }
    }
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let value = match c.peek() {
            // An empty text is printed as an empty tuple.
            Some(b'}') => Self::Tuple(Vec::new()),
            Some(b'[') => {
                c.skip(1);
                c.expect_token("synthetic_call")?;
                c.expect(b']')?;
                Self::SyntheticCall
            }
            _ => Self::tree(c)?,
        };
        c.expect(b'}')?;
        Ok(value)
    }
    fn tree(c: &mut Cursor<'_>) -> Result<Self> {
        match c.peek() {
            Some(b'(') => {
                c.down()?;
                let parts = c.parse(list('(', lift(Self::tree), ')'))?;
                c.up();
                Ok(Self::Tuple(parts))
            }
            Some(b'{') => {
                let mut inner = *c;
                inner.skip(1);
                if inner.eat(b'}') {
                    *c = inner;
                    return Ok(Self::Leaf(None));
                }
                let array = OriginArray::parse(c)?;
                let known = !array.name.is_empty() || !array.index.is_empty();
                Ok(Self::Leaf(known.then_some(array)))
            }
            _ => Err(c.expected("`{\"name\" {index}}`, `(`, or `[synthetic_call]` alone")),
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
            Self::Leaf(Some(array)) => array.print(out),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn original_values() {
        let round_trip = |text: &str| {
            let mut c = Cursor::new(text);
            let value = OriginalValue::parse(&mut c).ok()?;
            c.expect_end("the end").ok()?;
            let mut out = String::new();
            value.print(&mut out);
            Some(out)
        };
        for (text, printed) in [
            ("{}", "{()}"),
            ("{{\"x\"}}", "{{\"x\"}}"),
            ("{{\"x\" {}}}", "{{\"x\"}}"),
            ("{ { 'x'  { 0 , 1} } }", "{{\"x\" {0,1}}}"),
            ("{{}}", "{{}}"),
            ("{{\"\"}}", "{{}}"),
            ("{({\"x\"},({}, {\"z\" {1}}))}", "{({\"x\"}, ({}, {\"z\" {1}}))}"),
            ("{[synthetic_call]}", "{[synthetic_call]}"),
        ] {
            assert_eq!(round_trip(text).as_deref(), Some(printed), "{text}");
            assert_eq!(round_trip(printed).as_deref(), Some(printed));
        }
        for text in
            ["{\"x\"}", "{{x}}", "{({\"x\"},)}", "{{\"x\"}, {\"y\"}}", "{([synthetic_call])}"]
        {
            assert_eq!(round_trip(text), None, "{text}");
        }
    }
}
