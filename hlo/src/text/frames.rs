//! The stack-frame tables between header and first computation.
use super::print::push_int;
use super::{Cursor, strings};
use crate::ir::{FileLocation, StackFrame, StackFrames};
use crate::{Error, Result, diag::Code};

/// Reads the four tables, if they come next.
pub(super) fn frames(c: &mut Cursor<'_>) -> Result<StackFrames> {
    let mut tables = StackFrames::default();
    if !c.eat_token("FileNames") {
        return Ok(tables);
    }
    tables.file_names = rows(c, |c| strings::string(c).map(std::borrow::Cow::into_owned))?;
    c.expect_token("FunctionNames")?;
    tables.function_names = rows(c, |c| strings::string(c).map(std::borrow::Cow::into_owned))?;
    c.expect_token("FileLocations")?;
    tables.locations = rows(c, |c| {
        let names =
            ["file_name_id", "function_name_id", "line", "end_line", "column", "end_column"];
        let [file_name_id, function_name_id, line, end_line, column, end_column] =
            fields(c, names)?;
        Ok(FileLocation { file_name_id, function_name_id, line, end_line, column, end_column })
    })?;
    c.expect_token("StackFrames")?;
    tables.frames = rows(c, |c| {
        let [file_location_id, parent] = fields(c, ["file_location_id", "parent_frame_id"])?;
        // The text counts one more: 1 is no caller.
        Ok(StackFrame { file_location_id, parent_frame_id: parent.saturating_sub(1) })
    })?;
    Ok(tables)
}

/// Reads rows that start with a number, which counts them and is not looked at.
fn rows<T>(
    c: &mut Cursor<'_>,
    mut row: impl FnMut(&mut Cursor<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    while c.peek().is_some_and(|b| b.is_ascii_digit()) {
        c.int()?;
        rows.push(row(c)?);
    }
    Ok(rows)
}

/// Reads `{a=1 b=2}`: all of these fields, in any order.
fn fields<const N: usize>(c: &mut Cursor<'_>, names: [&'static str; N]) -> Result<[i32; N]> {
    let mut values = [None; N];
    c.expect(b'{')?;
    while !c.eat(b'}') {
        c.eat(b',');
        let (key, span) = c.attribute_name()?;
        let Some(i) = names.iter().position(|&n| n == key) else {
            let code = Code::UnknownAttribute { op: "a table row".into(), name: key.into() };
            return Err(Error::from(code)
                .at(span)
                .with_help(format!("it takes {}", names.join(", "))));
        };
        let value = c.int()?;
        values[i] = Some(i32::try_from(value).map_err(|_| {
            let message = format!("{value} does not fit 32 bits");
            Error::from(Code::NumberRange { message }).at(span)
        })?);
    }
    let mut all = [0; N];
    for ((slot, value), name) in all.iter_mut().zip(values).zip(names) {
        *slot = value.ok_or_else(|| c.wanted(&format!("a row with `{name}`")))?;
    }
    Ok(all)
}

impl StackFrames {
    /// Prints the tables as XLA does, with a blank line before each and after the last.
    pub(crate) fn print(&self, out: &mut String) {
        let named = |out: &mut String, title: &str, names: &[String]| {
            out.push('\n');
            out.push_str(title);
            for (name, i) in names.iter().zip(1..) {
                out.push('\n');
                push_int(out, i);
                out.push(' ');
                strings::print_string(out, name);
            }
            out.push('\n');
        };
        named(out, "FileNames", &self.file_names);
        named(out, "FunctionNames", &self.function_names);
        out.push_str("\nFileLocations");
        for (row, i) in self.locations.iter().zip(1..) {
            out.push('\n');
            push_int(out, i);
            let fields = [
                (" {file_name_id=", row.file_name_id),
                (" function_name_id=", row.function_name_id),
                (" line=", row.line),
                (" end_line=", row.end_line),
                (" column=", row.column),
                (" end_column=", row.end_column),
            ];
            for (name, value) in fields {
                out.push_str(name);
                push_int(out, value.into());
            }
            out.push('}');
        }
        out.push_str("\n\nStackFrames");
        for (row, i) in self.frames.iter().zip(1..) {
            out.push('\n');
            push_int(out, i);
            out.push_str(" {file_location_id=");
            push_int(out, row.file_location_id.into());
            out.push_str(" parent_frame_id=");
            push_int(out, i64::from(row.parent_frame_id) + 1);
            out.push('}');
        }
        out.push_str("\n\n");
    }
}
