//! Values of the unoptimised module: which of them an instruction is, `origin={...}`, and how those that are gone can
//! be computed again, `origin_recovery_table={...}`.
use crate::Result;
use crate::text::print::push_ints;
use crate::text::{Cursor, strings};

/// How one value can be had again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// The value that is gone.
    pub old: OriginArray,
    /// The value it can be computed from.
    pub new: OriginArray,
    /// Text of the module that computes it, if it is not the same value.
    pub module: Option<String>,
}

/// `{"name" {0,1}}`: an array in the result of an instruction of the unoptimised module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OriginArray {
    /// The instruction.
    pub name: String,
    /// The place in its tuple.
    pub index: Vec<i64>,
}

impl OriginArray {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let name = strings::string(c)?.into_owned();
        let index = if c.peek() == Some(b'{') { c.ints()? } else { Vec::new() };
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

/// Which value of the unoptimised module an instruction is: a tree like its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginalValue {
    /// `{"instruction" {index}}`, or `{}` if it is not known.
    Leaf(Option<OriginArray>),
    /// `(tree, tree)`
    Tuple(Vec<OriginalValue>),
    /// `[synthetic_call]`: a call that the unoptimised module did not have.
    SyntheticCall,
}

impl OriginalValue {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let value = match c.peek() {
            // Nothing at all prints as an empty tuple.
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
                let parts = c.list(b'(', b')', Self::tree)?;
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
            _ => Err(c.wanted("`{\"name\" {index}}`, `(`, or `[synthetic_call]` alone")),
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

/// Reads a recovery table; it is kept sorted by the values that are gone.
pub(crate) fn parse_table(c: &mut Cursor<'_>) -> Result<Vec<Recovery>> {
    c.expect(b'{')?;
    let mut table = Vec::new();
    while !c.eat(b'}') {
        let old = OriginArray::parse(c)?;
        c.expect(b':')?;
        let new = OriginArray::parse(c)?;
        let module = if c.eat(b',') { Some(module(c)?) } else { None };
        table.push(Recovery { old, new, module });
    }
    table.sort_by(|a: &Recovery, b| a.old.cmp(&b.old));
    Ok(table)
}

const INDENT: &str = "    ";

/// Reads the text of a module. XLA prints it over several lines and without escapes, so that a quote ends it only at
/// the start of a line; a text that starts in the line of the quote is an ordinary string.
fn module(c: &mut Cursor<'_>) -> Result<String> {
    let quoted = c.peek() == Some(b'"');
    let Some(block) = c.rest().strip_prefix("\"\n").filter(|_| quoted) else {
        return Ok(strings::string(c)?.trim().to_owned());
    };
    let mut length = 2;
    let mut text = String::new();
    for line in block.split_inclusive('\n') {
        let indented = line.trim_start_matches([' ', '\t']);
        if indented.starts_with('"') {
            c.skip(length + line.len() - indented.len() + 1);
            return Ok(text.trim().to_owned());
        }
        length += line.len();
        let shift = INDENT.len().min(line.len() - line.trim_start_matches(' ').len());
        text.push_str(&line[shift..]);
    }
    // Never closed: the error of an ordinary string says so.
    strings::string(c).map(std::borrow::Cow::into_owned)
}

/// Prints a recovery table on lines of its own, with a newline after it.
pub(crate) fn print_table(out: &mut String, table: &[Recovery]) {
    out.push_str("{\n");
    for Recovery { old, new, module } in table {
        out.push_str("  ");
        old.print(out);
        out.push_str(" : ");
        new.print(out);
        if let Some(module) = module {
            out.push_str(",\n  ");
            print_module(out, module);
        }
        out.push('\n');
    }
    out.push_str("}\n");
}

fn print_module(out: &mut String, text: &str) {
    let text = text.trim();
    if text.is_empty() || text.lines().any(|line| line.trim_start().starts_with('"')) {
        return strings::print_string(out, text);
    }
    out.push_str("\"\n");
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(INDENT);
            out.push_str(line);
        }
        out.push('\n');
    }
    out.push_str("\n\n  \"");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> String {
        let mut c = Cursor::new(text);
        let table = parse_table(&mut c).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(c.peek(), None, "{text}");
        let mut out = String::new();
        print_table(&mut out, &table);
        out
    }

    #[test]
    fn original_values() {
        let again = |text: &str| {
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
            assert_eq!(again(text).as_deref(), Some(printed), "{text}");
            assert_eq!(again(printed).as_deref(), Some(printed));
        }
        for text in
            ["{\"x\"}", "{{x}}", "{({\"x\"},)}", "{{\"x\"}, {\"y\"}}", "{([synthetic_call])}"]
        {
            assert_eq!(again(text), None, "{text}");
        }
    }
    #[test]
    fn tables_are_printed_as_xla_does() {
        let text = "{ {\"c\"}:{\"\"} {\"a\" {1}} : {\"b\" {0,1}}, \"HloModule r\n\nENTRY %e (a: f32[]) -> f32[] {\n  \
                    ROOT %a = f32[] parameter(0), metadata={op_name=\\\"x\\\"}\n}\n\"}";
        let printed = r#"{
  {"a" {1}} : {"b" {0,1}},
  "
    HloModule r

    ENTRY %e (a: f32[]) -> f32[] {
      ROOT %a = f32[] parameter(0), metadata={op_name="x"}
    }


  "
  {"c"} : {""}
}
"#;
        assert_eq!(again(text), printed);
        assert_eq!(again(printed), printed);
        let odd = "{ {\"a\"}:{\"b\"}, \"x\n\\\"y\" }";
        assert_eq!(again(&again(odd)), again(odd));
        assert_eq!(again("{ {\"a\" {}}:{\"b\"}, '' }"), "{\n  {\"a\"} : {\"b\"},\n  \"\"\n}\n");
    }
    #[test]
    fn broken_tables_are_refused() {
        for text in [
            "{ {\"a\"} }",
            "{ {a}:{\"b\"} }",
            "{ {\"a\"}:{\"b\"}, {\"a\"}:{\"b\"} }",
            "{ {\"a\"}:{\"b\"}, \"\nx",
            "{ {\"a\"}:{\"b\"}",
        ] {
            assert!(parse_table(&mut Cursor::new(text)).is_err(), "{text}");
        }
    }
}
