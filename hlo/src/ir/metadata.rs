//! `metadata={...}`: the source location of an instruction.
use super::{SourcePlace, StackFrames};
use crate::diag::{Code, nearest};
use crate::text::grammar::{int, list};
use crate::text::{Cursor, balanced, number, strings};
use crate::{Error, Result};
use smol_str::SmolStr;

/// The source location of an instruction in the user's program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// Name of the frontend's op.
    pub op_type: SmolStr,
    /// Path of scopes around the op.
    pub op_name: SmolStr,
    /// File.
    pub source_file: SmolStr,
    /// First line, from 1.
    pub source_line: i32,
    /// Last line.
    pub source_end_line: i32,
    /// First column.
    pub source_column: i32,
    /// Last column.
    pub source_end_column: i32,
    /// Kinds of profile it was compiled with.
    pub profile_type: Vec<i64>,
    /// Name of the instruction it is a copy of.
    pub deduplicated_name: SmolStr,
    /// Name for the schedule.
    pub scheduling_name: SmolStr,
    /// Row of the module's stack frame table, from 1; 0 for none.
    pub stack_frame_id: i32,
    /// Arbitrary payload.
    pub metadata_payload: Option<SmolStr>,
}

/// Fields of older texts that are ignored.
const OLD_FIELDS: [&str; 5] = [
    "creation_pass_id",
    "logical_creation_pass_id",
    "size_of_generated_code_in_bytes",
    "size_of_memory_working_set_in_bytes",
    "preserve_layout",
];
const FIELDS: [&str; 12] = [
    "op_type",
    "op_name",
    "source_file",
    "source_line",
    "source_end_line",
    "source_column",
    "source_end_column",
    "profile_type",
    "deduplicated_name",
    "scheduling_name",
    "stack_frame_id",
    "metadata_payload",
];

impl Metadata {
    /// Returns where the instruction comes from in the program of the frontend: the place of its op
    /// and those of the calls that led there, the innermost first. Without a stack frame it is the
    /// place that the metadata itself states, if there is one.
    pub fn places<'m>(
        &'m self,
        frames: &'m StackFrames,
    ) -> impl Iterator<Item = SourcePlace<'m>> + use<'m> {
        let mut of_frames = frames.places(self.stack_frame_id).peekable();
        let own = of_frames.peek().is_none() && !self.source_file.is_empty();
        let own = own.then(|| SourcePlace {
            file: &self.source_file,
            line: SourcePlace::number(self.source_line),
            column: SourcePlace::number(self.source_column),
            function: "",
        });
        of_frames.chain(own)
    }
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mut metadata = Self::default();
        let mut seen = 0u32;
        c.expect(b'{')?;
        loop {
            let comma = c.eat(b',');
            if !comma && c.eat(b'}') {
                return Ok(metadata);
            }
            let (key, span) = c.attribute_name()?;
            let number = FIELDS.iter().position(|&f| f == key);
            if let Some(number) = number {
                if seen & 1 << number != 0 {
                    return Err(Error::from(Code::DuplicateAttribute { name: key.into() }).at(span));
                }
                seen |= 1 << number;
            }
            metadata.field(c, key).map_err(|e| e.at(span))?;
        }
    }

    fn field(&mut self, c: &mut Cursor<'_>, key: &str) -> Result<()> {
        match key {
            "op_type" => self.op_type = strings::string(c)?.into(),
            "op_name" => self.op_name = strings::string(c)?.into(),
            "source_file" => self.source_file = strings::string(c)?.into(),
            "source_line" => self.source_line = c.int32()?,
            "source_end_line" => self.source_end_line = c.int32()?,
            "source_column" => self.source_column = c.int32()?,
            "source_end_column" => self.source_end_column = c.int32()?,
            "profile_type" => self.profile_type = profile_types(c)?,
            "deduplicated_name" => self.deduplicated_name = strings::string(c)?.into(),
            "scheduling_name" => self.scheduling_name = strings::string(c)?.into(),
            "stack_frame_id" => self.stack_frame_id = c.int32()?,
            "metadata_payload" => self.metadata_payload = Some(strings::string(c)?.into()),
            _ if OLD_FIELDS.contains(&key) => {
                balanced::balanced_value(c)?;
            }
            _ => {
                let error =
                    Error::from(Code::UnknownAttribute { op: "metadata".into(), name: key.into() });
                return Err(match nearest(key, FIELDS) {
                    Some(name) => error.with_help(format!("did you mean `{name}`?")),
                    None => error,
                });
            }
        }
        Ok(())
    }

    /// Returns whether XLA prints it: a line or a deduplicated name is not enough.
    pub fn is_printed(&self) -> bool {
        !self.op_type.is_empty()
            || !self.op_name.is_empty()
            || !self.source_file.is_empty()
            || !self.scheduling_name.is_empty()
            || self.stack_frame_id != 0
            || self.metadata_payload.is_some()
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        let start = out.len();
        let key = |out: &mut String, name: &str| {
            if out.len() > start {
                out.push(' ');
            }
            out.push_str(name);
            out.push('=');
        };
        let names = [
            ("op_type", &self.op_type),
            ("op_name", &self.op_name),
            ("source_file", &self.source_file),
        ];
        for (name, value) in names {
            if !value.is_empty() {
                key(out, name);
                strings::print_string(out, value);
            }
        }
        let numbers = [
            ("source_line", self.source_line),
            ("source_end_line", self.source_end_line),
            ("source_column", self.source_column),
            ("source_end_column", self.source_end_column),
        ];
        for (name, value) in numbers {
            if value != 0 {
                key(out, name);
                number::push_int(out, value.into());
            }
        }
        if !self.profile_type.is_empty() {
            key(out, "profile_type");
            out.push('{');
            for (i, &kind) in self.profile_type.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                number::push_int(out, kind);
            }
            out.push('}');
        }
        if !self.deduplicated_name.is_empty() {
            key(out, "deduplicated_name");
            strings::print_string(out, &self.deduplicated_name);
        }
        if !self.scheduling_name.is_empty() {
            key(out, "scheduling_name");
            // XLA does not escape it, and cannot parse a value that needs escapes.
            strings::print_string(out, &self.scheduling_name);
        }
        if self.stack_frame_id != 0 {
            key(out, "stack_frame_id");
            number::push_int(out, self.stack_frame_id.into());
        }
        if let Some(payload) = &self.metadata_payload {
            key(out, "metadata_payload");
            strings::print_string(out, payload);
        }
        out.push('}');
    }
}

fn profile_types(c: &mut Cursor<'_>) -> Result<Vec<i64>> {
    c.blank();
    let start = c.offset();
    let kinds = c.parse(list('{', int, '}'))?;
    if let Some(kind) = kinds.iter().find(|k| !(0..=3).contains(*k)) {
        let message = format!("{kind} is not a profile type: expected 0 to 3");
        return Err(Error::from(Code::AttributeValue { message }).at(c.span_from(start)));
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> Result<Option<String>> {
        let mut c = Cursor::new(text);
        let metadata = Metadata::parse(&mut c)?;
        c.expect_end("the end of the metadata")?;
        let mut out = String::new();
        metadata.print(&mut out);
        Ok(metadata.is_printed().then_some(out))
    }

    #[test]
    fn fields_are_printed_in_order() {
        let all = "{op_type=\"t\" op_name=\"x\" source_file=\"f\" source_line=1 source_end_line=2 \
                   source_column=3 source_end_column=4 profile_type={0,3} deduplicated_name=\"d\" \
                   scheduling_name=\"s\" stack_frame_id=5 metadata_payload=\"p\"}";
        for (text, printed) in [
            (all, all),
            ("{,op_name='b',op_type=\"a\"}", "{op_type=\"a\" op_name=\"b\"}"),
            ("{op_name=\"x\" source_line=-3 profile_type={}}", "{op_name=\"x\" source_line=-3}"),
            ("{metadata_payload=\"\"}", "{metadata_payload=\"\"}"),
            ("{op_name=\"x\" creation_pass_id=3 preserve_layout=true}", "{op_name=\"x\"}"),
        ] {
            assert_eq!(round_trip(text).unwrap().as_deref(), Some(printed), "{text}");
        }
        for lost in ["{}", "{source_line=3}", "{deduplicated_name=\"x\"}", "{op_name=\"\"}"] {
            assert_eq!(round_trip(lost).unwrap(), None, "{lost}");
        }
    }
    #[test]
    fn invalid_fields_are_rejected() {
        for (text, number) in [
            ("{op_type=\"a\",}", "E0101"),
            ("{op_type=\"a\" op_type=\"b\"}", "E0105"),
            ("{op_name=3}", "E0101"),
            ("{op_nam=\"x\"}", "E0104"),
            ("{source_line=5000000000}", "E0112"),
            ("{profile_type={9}}", "E0107"),
        ] {
            assert_eq!(round_trip(text).unwrap_err().code().number(), number, "{text}");
        }
    }
}
