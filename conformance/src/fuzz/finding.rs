//! Findings, which are saved as file tests.
use super::WriteError;
use crate::file::without_layouts;
use crate::generate::Regime;
use crate::results::Record;
use crate::{AtomicFile, Existing, Subject};
use hlo::{Literal, Opcode};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A run whose outcome is not the expected one.
#[derive(Debug)]
pub struct Finding {
    /// The seed of the module.
    pub seed: u64,
    /// The weights that rare ops had, which repeat the module together with the seed.
    pub weights: Vec<(Opcode, u32)>,
    /// The kind of arguments.
    pub regime: Regime,
    /// The module and its arguments.
    pub subject: Subject,
    /// The results of the reference, one for each device; none if it failed.
    pub expected: Vec<Literal>,
    /// The outcome.
    pub record: Record,
    /// The file that it was written to.
    pub file: Option<PathBuf>,
}

impl Finding {
    /// Returns the text of a file test whose expected result is that of the reference.
    pub fn file_test(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "// {}", self.subject.name);
        for line in self.record.reason.lines() {
            let _ = writeln!(text, "//   {line}");
        }
        text.push_str(self.subject.text.trim_end());
        text.push('\n');
        let arguments = &self.subject.arguments;
        for (device, values) in arguments.iter().enumerate() {
            comments(&mut text, "in", device, arguments.len(), values.iter());
        }
        for (device, result) in self.expected.iter().enumerate() {
            let leaves = result.leaves();
            comments(&mut text, "out", device, self.expected.len(), leaves);
        }
        text
    }
    /// Writes the file test to a new file in `folder`.
    pub(super) fn write(&mut self, folder: &Path) -> Result<(), WriteError> {
        let failed = |error| WriteError { path: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let text = self.file_test();
        for number in 1.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("seed{}-{}{suffix}.hlo", self.seed, self.regime.name()));
            match AtomicFile::write(&path, Existing::Keep, text.as_bytes()) {
                Ok(()) => {
                    self.file = Some(path);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(WriteError { path, error }),
            }
        }
        Ok(())
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
