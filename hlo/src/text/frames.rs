//! Reads the stack-frame tables between the header and the first computation.
use super::{Cursor, strings};
use crate::diag::{Code, nearest};
use crate::ir::{FileLocation, StackFrame, StackFrames};
use crate::{Error, Result, Span};

/// Reads the tables, if there are any.
pub(crate) fn frames(c: &mut Cursor<'_>) -> Result<StackFrames> {
    if !c.eat_token("FileNames") {
        return Ok(StackFrames::default());
    }
    let file_names = rows(c, name)?;
    c.expect_token("FunctionNames")?;
    let function_names = rows(c, name)?;
    c.expect_token("FileLocations")?;
    let locations = rows(c, |c| {
        let fields =
            ["file_name_id", "function_name_id", "line", "end_line", "column", "end_column"];
        let [file_name_id, function_name_id, line, end_line, column, end_column] =
            record(c, fields)?;
        Ok(FileLocation { file_name_id, function_name_id, line, end_line, column, end_column })
    })?;
    c.expect_token("StackFrames")?;
    let frames = rows(c, |c| {
        let [file_location_id, parent] = record(c, ["file_location_id", "parent_frame_id"])?;
        // The text counts parents from 2; 1 is none. Anything less is no frame either way.
        Ok(StackFrame { file_location_id, parent_frame_id: parent.saturating_sub(1) })
    })?;
    Ok(StackFrames { file_names, function_names, locations, frames })
}

/// Rows that start with a number, which is not looked at: a row's number is its place in the table.
fn rows<T>(
    c: &mut Cursor<'_>,
    mut row: impl FnMut(&mut Cursor<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    while c.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'-') {
        c.int()?;
        rows.push(row(c)?);
    }
    Ok(rows)
}

fn name(c: &mut Cursor<'_>) -> Result<String> {
    strings::string(c).map(std::borrow::Cow::into_owned)
}

/// Reads `{a=1 b=2}`: each of `names` once, in any order, with blanks or commas between them.
fn record<const N: usize>(c: &mut Cursor<'_>, names: [&'static str; N]) -> Result<[i32; N]> {
    let mut values = [None; N];
    c.blank();
    let start = c.offset();
    c.expect(b'{')?;
    loop {
        let comma = c.eat(b',');
        if !comma && c.eat(b'}') {
            break;
        }
        let (key, span) = c.attribute_name()?;
        let Some(slot) = names.iter().position(|&name| name == key) else {
            return Err(unknown(key, span, &names));
        };
        if values[slot].is_some() {
            return Err(Error::from(Code::DuplicateAttribute { name: key.into() }).at(span));
        }
        values[slot] = Some(c.int32()?);
    }
    let span = c.span_from(start);
    let mut read = [0; N];
    for ((read, value), name) in read.iter_mut().zip(values).zip(names) {
        *read = value.ok_or_else(|| {
            let code = Code::MissingAttribute { op: "stack-frame table".into(), name: name.into() };
            Error::from(code).at(span)
        })?;
    }
    Ok(read)
}

fn unknown(key: &str, span: Span, names: &[&'static str]) -> Error {
    let code = Code::UnknownAttribute { op: "stack-frame table".into(), name: key.into() };
    let error = Error::from(code).at(span);
    match nearest(key, names.iter().copied()) {
        Some(name) => error.with_help(format!("did you mean `{name}`?")),
        None => error.with_help(format!("a row has {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = r#"
FileNames
1 "A\'"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=6 end_line=6 column=2 end_column=23}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

"#;

    #[test]
    fn prints_as_read() {
        let mut c = Cursor::new(TABLES);
        let read = frames(&mut c).unwrap();
        assert_eq!(c.peek(), None);
        assert_eq!(read.frames[1].parent_frame_id, 1);
        let mut out = String::new();
        read.print(&mut out);
        assert_eq!(out, TABLES);
        let loose = TABLES.replace(" line=6", ", line=6").replace("1 \"", "77 '").replace('"', "'");
        assert_eq!(frames(&mut Cursor::new(&loose)).unwrap(), read);
        assert!(frames(&mut Cursor::new("ENTRY e {}")).unwrap().is_empty());
    }
    #[test]
    fn refuses_what_is_not_a_table() {
        for (old, new, number) in [
            ("FunctionNames\n1 \"<module>\"", "", "E0101"),
            (" line=6", "", "E0106"),
            (" line=6", " line=6 line=6", "E0105"),
            (" line=6", " lime=6", "E0104"),
            (" line=6", " line=5000000000", "E0112"),
            ("column=23}", "column=23,}", "E0101"),
            ("1 \"A\\'\"", "\"A\"", "E0101"),
        ] {
            let text = TABLES.replace(old, new);
            assert_ne!(text, TABLES);
            let error = frames(&mut Cursor::new(&text)).unwrap_err();
            assert_eq!(error.code().number(), number, "{text}");
        }
    }
}
