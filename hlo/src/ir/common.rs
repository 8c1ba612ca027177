//! Attributes that every instruction may have.
use super::{InstructionId, Metadata, OriginalValue, Sharding};
use crate::Result;
use crate::op::value::ResultAccuracy;
use crate::text::grammar::{lift, list};
use crate::text::{Cursor, balanced, number, strings};
use smol_str::SmolStr;
use std::borrow::Cow;

/// Attributes that every instruction may have; most have only metadata.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommonAttrs {
    /// How the value is distributed across devices.
    pub sharding: Option<Sharding>,
    /// Attributes of a frontend.
    pub frontend_attributes: Option<FrontendAttributes>,
    /// Returns the control predecessors: instructions that run first.
    pub control: Option<Vec<InstructionId>>,
    /// Statistics for a visualizer.
    pub statistics: Option<Statistics>,
    /// For each leaf of a parameter, whether all replicas have the same value.
    pub parameter_replication: Option<Vec<bool>>,
    /// The requested accuracy of the result.
    pub result_accuracy: Option<ResultAccuracy>,
    /// The corresponding value of the unoptimized module.
    pub origin: Option<OriginalValue>,
    /// Its source location.
    pub metadata: Option<Metadata>,
    /// Configuration for a backend.
    pub backend_config: Option<BackendConfig>,
    /// Unknown attributes, kept verbatim.
    pub unknown: Vec<RawAttr>,
    /// Unknown fields of the message it was read from, as they were encoded.
    pub unknown_fields: Vec<u8>,
}

impl CommonAttrs {
    /// Returns the control predecessors: instructions that run first.
    pub fn control_predecessors(&self) -> &[InstructionId] {
        self.control.as_deref().unwrap_or_default()
    }
}

/// An attribute kept verbatim.
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
        Some(b'{') => balanced::raw_dict(c).map(|dict| strings::from_text(dict).into_owned()),
        Some(b'"' | b'\'') => strings::string(c).map(Cow::into_owned),
        _ => Err(c.expected("a string in quotes or `{`")),
    }
}
/// Writes a string without quotes if it is a raw dictionary, else in quotes. XLA also writes one
/// with blanks around it without quotes, but then reads it back without the blanks.
fn print_string_or_dict(out: &mut String, text: &str) {
    // A file with control characters is taken for a message.
    let is_plain = !text.bytes().any(|byte| byte < b' ' && !byte.is_ascii_whitespace());
    if is_plain && balanced::is_raw_dict(text) && matches!(strings::bytes(text), Cow::Borrowed(_)) {
        out.push_str(text);
    } else {
        strings::print_string(out, text);
    }
}

impl FrontendAttributes {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mut pairs: Vec<(SmolStr, String)> = c.parse(list(
            '{',
            lift(|c| {
                let key = SmolStr::from(strings::key(c)?);
                Ok((key, string_or_dict(c)?))
            }),
            '}',
        ))?;
        // The last value of a repeated key is kept.
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
            strings::print_key(out, key);
            print_string_or_dict(out, value);
        }
        out.push('}');
    }
}

/// A string for a backend; a raw dictionary is written without quotes. Bytes that are not UTF-8 are
/// kept as private-use characters; see [`BackendConfig::bytes`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BackendConfig(pub String);

impl BackendConfig {
    /// Returns a configuration of these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(strings::from_bytes(bytes))
    }
    /// Returns the bytes, with escapes resolved.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        strings::bytes(&self.0)
    }
    /// Returns the names and the values, as written, of a dictionary of MLIR: `{uplo = 76 : ui8,
    /// left = true}`. An empty text is an empty one; `None` for another text.
    ///
    /// ```
    /// let entries = hlo::ir::BackendConfig::entries(r#"{n = 2 : i64, s = "a, b", d = {x = 1}}"#).unwrap();
    /// assert_eq!(entries, [("n", "2 : i64"), ("s", "\"a, b\""), ("d", "{x = 1}")]);
    /// ```
    pub fn entries(text: &str) -> Option<Vec<(&str, &str)>> {
        let text = text.trim();
        let inside = match text {
            "" => "",
            _ => text.strip_prefix('{')?.strip_suffix('}')?,
        };
        if inside.trim().is_empty() {
            return Some(Vec::new());
        }
        let entries = split_outside(inside).into_iter().map(|entry| {
            let (name, value) = entry.split_once('=')?;
            Some((name.trim().trim_matches('"'), value.trim()))
        });
        entries.collect()
    }
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        string_or_dict(c).map(Self)
    }
    pub(crate) fn print(&self, out: &mut String) {
        print_string_or_dict(out, &self.0);
    }
}

/// Returns the parts between commas that are in no bracket and no string.
fn split_outside(text: &str) -> Vec<&str> {
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

/// `{visualizing_index=0,name=1.5}`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Index of the value that a visualizer shows.
    pub visualizing_index: i64,
    /// Named values.
    pub values: Vec<(SmolStr, f64)>,
}

impl Statistics {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        if c.eat(b'}') {
            return Ok(Self::default());
        }
        // The first field is the index, whatever its name.
        c.attribute_name()?;
        let visualizing_index = c.int()?;
        let mut values = Vec::new();
        while c.eat(b',') {
            let name = SmolStr::from(strings::key(c)?);
            values.push((name, c.number()?.to_f64()));
        }
        c.expect(b'}')?;
        Ok(Self { visualizing_index, values })
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push_str("{visualizing_index=");
        number::push_int(out, self.visualizing_index);
        for (name, value) in &self.values {
            out.push(',');
            strings::print_key(out, name);
            number::general(out, *value, 6);
        }
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads with `parse` to the end and prints with `print`.
    fn round_trip<T>(
        text: &str,
        parse: impl Fn(&mut Cursor<'_>) -> Result<T>,
        print: impl Fn(&T, &mut String),
    ) -> Option<String> {
        let mut c = Cursor::new(text);
        let value = parse(&mut c).ok()?;
        c.expect_end("the end").ok()?;
        let mut out = String::new();
        print(&value, &mut out);
        Some(out)
    }
    fn check(
        round_trip: impl Fn(&str) -> Option<String>,
        cases: &[(&str, &str)],
        rejected: &[&str],
    ) {
        for (text, printed) in cases {
            assert_eq!(round_trip(text).as_deref(), Some(*printed), "{text}");
            assert_eq!(round_trip(printed).as_deref(), Some(*printed));
        }
        for text in rejected {
            assert_eq!(round_trip(text), None, "{text}");
        }
    }

    #[test]
    fn frontend_attributes() {
        check(
            |text| round_trip(text, FrontendAttributes::parse, FrontendAttributes::print),
            &[
                ("{}", "{}"),
                ("{a= '1'}", "{a=\"1\"}"),
                ("{b=\"1\",a=\"x\\\"y\",_c.d-e={x: {}}}", "{_c.d-e={x: {}},a=\"x\\\"y\",b=\"1\"}"),
                ("{B=\"1\",a=\"2\",_=\"3\"}", "{B=\"1\",_=\"3\",a=\"2\"}"),
                ("{a=\"1\", a=\"2\"}", "{a=\"2\"}"),
                ("{a={\"k\": \"}\"}}", "{a={\"k\": \"}\"}}"),
                ("{a=\"{x}\"}", "{a={x}}"),
                ("{a=\"{}x\"}", "{a=\"{}x\"}"),
                ("{\"a\"=\"1\", 'b c' = '2'}", "{a=\"1\",\"b c\"=\"2\"}"),
                (
                    "{\"}, metadata={op_name\"=\"1\",\"\"=\"2\",\"é`=,\"=\"3\"}",
                    "{\"\"=\"2\",\"}, metadata={op_name\"=\"1\",\"\\303\\251`=,\"=\"3\"}",
                ),
            ],
            &["{a=1}", "{a=word}", "{a=\"1\" b=\"2\"}", "{a=\"1\",}", "{\"a\":\"1\"}", "{é=\"1\"}"],
        );
    }
    #[test]
    fn backend_configs() {
        check(
            |text| round_trip(text, BackendConfig::parse, BackendConfig::print),
            &[
                ("'x'", "\"x\""),
                ("{ \"a\" :  1 }", "{ \"a\" :  1 }"),
                (r#""{\"a\":1}""#, r#"{"a":1}"#),
                (r#"{"a\"}": 1}"#, r#"{"a\"}": 1}"#),
                (r#""{\"}""#, r#""{\"}""#),
                ("{a = 1 : i32}", "{a = 1 : i32}"),
                (r#"{mesh = #sdy.mesh<["x"=2]>}"#, r#"{mesh = #sdy.mesh<["x"=2]>}"#),
                ("\"{a\"", "\"{a\""),
                ("\"{}x\"", "\"{}x\""),
                ("\" {}\"", "\" {}\""),
                ("\"{é\n}\"", "{é\n}"),
                (r#""{\377}""#, r#""{\377}""#),
                ("{\u{10FFAB}}", r#""{\364\217\276\253}""#),
                ("{\0\t}", r#""{\000\t}""#),
            ],
            &["3", "word", "{'a'}': 1}", "{ /* c { */ }"],
        );
        let config = BackendConfig::parse(&mut Cursor::new(r#""\001\377""#)).unwrap();
        assert_eq!(config.bytes().as_ref(), [1, 0xFF]);
    }
    #[test]
    fn statistics() {
        check(
            |text| round_trip(text, Statistics::parse, Statistics::print),
            &[
                (
                    "{visualizing_index=1, a=0.1,b=123456789,c=1e-7}",
                    "{visualizing_index=1,a=0.1,b=1.23457e+08,c=1e-07}",
                ),
                ("{foo=-1,a=100000,b=1000000}", "{visualizing_index=-1,a=100000,b=1e+06}"),
                ("{x=0,a=-0.0,a=nan}", "{visualizing_index=0,a=-0,a=nan}"),
                ("{x=0,'a}'=1}", "{visualizing_index=0,\"a}\"=1}"),
                ("{}", "{visualizing_index=0}"),
            ],
            &["{visualizing_index=x}", "{visualizing_index=0,a=1,}", "{0}"],
        );
    }
}
