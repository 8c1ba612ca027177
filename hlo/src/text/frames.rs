//! Parses and prints stack frame tables.
use super::Cursor;
use super::number::push_int;
use super::strings::{print_string, string};
use crate::diag::Code;
use crate::ir::{FileLocation, StackFrame, StackFrames};
use crate::{Error, Result};

/// Parses the four tables if they come next.
pub(crate) fn frames(c: &mut Cursor<'_>) -> Result<StackFrames> {
    if !c.eat_token("FileNames") {
        return Ok(StackFrames::default());
    }
    let file_names = rows(c, name)?;
    c.expect_token("FunctionNames")?;
    let function_names = rows(c, name)?;
    c.expect_token("FileLocations")?;
    let locations = rows(c, location)?;
    c.expect_token("StackFrames")?;
    let frames = rows(c, frame)?;
    Ok(StackFrames { file_names, function_names, locations, frames })
}

/// Parses rows, each after a number that is ignored: the id of a row is its position.
fn rows<T>(c: &mut Cursor<'_>, row: impl Fn(&mut Cursor<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    while c.peek().is_some_and(|b| b.is_ascii_digit() || b == b'-') {
        c.int()?;
        rows.push(row(c)?);
    }
    Ok(rows)
}

fn name(c: &mut Cursor<'_>) -> Result<String> {
    string(c).map(std::borrow::Cow::into_owned)
}

fn location(c: &mut Cursor<'_>) -> Result<FileLocation> {
    let names = ["file_name_id", "function_name_id", "line", "end_line", "column", "end_column"];
    let [file_name_id, function_name_id, line, end_line, column, end_column] = fields(c, names)?;
    Ok(FileLocation { file_name_id, function_name_id, line, end_line, column, end_column })
}

fn frame(c: &mut Cursor<'_>) -> Result<StackFrame> {
    let [file_location_id, above] = fields(c, ["file_location_id", "parent_frame_id"])?;
    // The text counts from 1 and adds one, so that 1 means no frame.
    Ok(StackFrame { file_location_id, parent_frame_id: above.saturating_sub(1) })
}

/// Parses `{name=1 name=2}` in any order, each name once, with optional commas.
fn fields<const N: usize>(c: &mut Cursor<'_>, names: [&str; N]) -> Result<[i32; N]> {
    let mut values = [None; N];
    c.expect(b'{')?;
    let start = c.offset();
    while c.peek() != Some(b'}') {
        let (word, span) = c.attribute_name()?;
        let Some(i) = names.iter().position(|&n| n == word) else {
            let code = Code::UnknownAttribute { op: "stack frame table".into(), name: word.into() };
            let names = names.join("`, `");
            return Err(Error::from(code).at(span).with_help(format!("the fields are `{names}`")));
        };
        let value = c.int32()?;
        if values[i].replace(value).is_some() {
            return Err(Error::from(Code::DuplicateAttribute { name: word.into() }).at(span));
        }
        c.eat(b',');
    }
    let span = c.span_from(start);
    c.expect(b'}')?;
    let mut out = [0; N];
    for ((out, value), name) in out.iter_mut().zip(values).zip(names) {
        let missing = Code::MissingAttribute { op: "stack frame table".into(), name: name.into() };
        *out = value.ok_or_else(|| Error::from(missing).at(span))?;
    }
    Ok(out)
}

impl StackFrames {
    /// Prints the tables, with a blank line before and after them.
    pub(crate) fn print(&self, out: &mut String) {
        section(out, "FileNames", &self.file_names, |out, name| print_string(out, name));
        section(out, "FunctionNames", &self.function_names, |out, name| print_string(out, name));
        section(out, "FileLocations", &self.locations, |out, l| {
            let fields = [
                ("{file_name_id=", l.file_name_id),
                (" function_name_id=", l.function_name_id),
                (" line=", l.line),
                (" end_line=", l.end_line),
                (" column=", l.column),
                (" end_column=", l.end_column),
            ];
            print_fields(out, &fields);
        });
        section(out, "StackFrames", &self.frames, |out, f| {
            let above = f.parent_frame_id.saturating_add(1);
            print_fields(
                out,
                &[("{file_location_id=", f.file_location_id), (" parent_frame_id=", above)],
            );
        });
        out.push('\n');
    }
}

fn section<T>(out: &mut String, title: &str, rows: &[T], row: impl Fn(&mut String, &T)) {
    out.push('\n');
    out.push_str(title);
    out.push('\n');
    for (id, item) in (1..).zip(rows) {
        push_int(out, id);
        out.push(' ');
        row(out, item);
        out.push('\n');
    }
}

fn print_fields(out: &mut String, fields: &[(&str, i32)]) {
    for (name, value) in fields {
        out.push_str(name);
        push_int(out, i64::from(*value));
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = r#"
FileNames
1 "a \"b\".py"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=6 end_line=6 column=2 end_column=23}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

"#;

    #[test]
    fn tables_print_as_read() {
        let mut c = Cursor::new(TABLES);
        let read = frames(&mut c).unwrap();
        c.expect_end("the end").unwrap();
        assert_eq!(read.frames.iter().map(|f| f.parent_frame_id).collect::<Vec<_>>(), [0, 1]);
        let mut out = String::new();
        read.print(&mut out);
        assert_eq!(out, TABLES);
        let loose = TABLES.replace(" line=6", ", line=6").replace("\n2 ", "\n-7 ");
        assert_eq!(frames(&mut Cursor::new(&loose)).unwrap(), read);
    }
    #[test]
    fn tables_may_be_absent_or_empty() {
        for text in ["", "ENTRY e {}", "FileNames FunctionNames FileLocations StackFrames"] {
            assert!(frames(&mut Cursor::new(text)).unwrap().is_empty(), "{text}");
        }
    }
    #[test]
    fn refuses_what_is_no_table() {
        for (old, new, number) in [
            ("FunctionNames\n1 \"<module>\"\n", "", "E0101"),
            ("1 \"<module>\"", "1 module", "E0101"),
            (" line=6", "", "E0106"),
            (" line=6", " line=6 line=6", "E0105"),
            (" line=6", " lime=6", "E0104"),
            (" line=6", " line=5000000000", "E0112"),
        ] {
            let text = TABLES.replacen(old, new, 1);
            assert_ne!(text, TABLES);
            let error = frames(&mut Cursor::new(&text)).unwrap_err();
            assert_eq!(error.code().number(), number, "{text}");
        }
    }
}
