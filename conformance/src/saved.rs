//! Modules and arguments saved as file tests that somebody else can run.
use crate::file::without_layouts;
use crate::{AtomicFile, Existing, Subject};
use hlo::Literal;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct WriteError {
    /// The file, or the folder.
    pub path: PathBuf,
    /// The cause.
    pub error: std::io::Error,
}

/// Returns a word as a shell reads it.
///
/// ```
/// assert_eq!(conformance::shell_quoted("dot/f32"), "dot/f32");
/// assert_eq!(conformance::shell_quoted("it's"), r"'it'\''s'");
/// ```
pub fn shell_quoted(text: &str) -> String {
    match text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:".contains(c)) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

impl Subject {
    /// Returns the text of a file test: the reason as comments, the module, the arguments, and the
    /// expected result of each device.
    pub fn file_test(&self, reason: &str, expected: &[Literal]) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "// {}", self.name);
        for line in reason.lines() {
            let _ = writeln!(text, "//   {line}");
        }
        // The text of a file test has arguments and results of its own.
        let is_stated = |line: &str| {
            ["// in", "// out"].iter().any(|word| {
                let rest = line.strip_prefix(word);
                rest.is_some_and(|rest| rest.starts_with(':') || rest.starts_with(" d"))
            })
        };
        for line in self.text.trim_end().lines().filter(|line| !is_stated(line.trim_start())) {
            text.push_str(line);
            text.push('\n');
        }
        for (device, values) in self.arguments.iter().enumerate() {
            comments(&mut text, "in", device, self.arguments.len(), values.iter());
        }
        for (device, result) in expected.iter().enumerate() {
            comments(&mut text, "out", device, expected.len(), result.leaves());
        }
        text
    }

    /// Writes the file test to a new file in `folder`, whose name begins with `stem`. No file is
    /// replaced.
    ///
    /// # Errors
    /// If the folder or the file cannot be written.
    pub fn save(
        &self,
        folder: &Path,
        stem: &str,
        reason: &str,
        expected: &[Literal],
    ) -> Result<PathBuf, WriteError> {
        let failed = |error| WriteError { path: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let text = self.file_test(reason, expected);
        let mut number = 1;
        loop {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{stem}{suffix}.hlo"));
            match AtomicFile::write(&path, Existing::Keep, text.as_bytes()) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(WriteError { path, error }),
            }
        }
    }
}

fn comments<'a>(
    text: &mut String,
    word: &str,
    device: usize,
    devices: usize,
    values: impl IntoIterator<Item = &'a Literal>,
) {
    let suffix = if devices == 1 { String::new() } else { format!(" d{device}") };
    for value in values {
        let _ = writeln!(text, "// {word}{suffix}: {}", without_layouts(value));
    }
}
