//! Findings, which are saved as file tests.
use crate::generate::Regime;
use crate::metamorphic::Twin;
use crate::results::Record;
use crate::{Subject, WriteError};
use hlo::{Literal, Opcode};
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
    /// The module with which it was compared, if that was not run by the reference.
    pub twin: Option<Twin>,
    /// The name of an earlier finding in which the backend failed with the same message, or died with
    /// the same line: it is written to no file.
    pub same: Option<String>,
    /// The file that it was written to.
    pub file: Option<PathBuf>,
}

impl Finding {
    /// Returns the text of a file test whose expected result is that of the reference.
    pub fn file_test(&self) -> String {
        self.subject.file_test(&self.record.reason, &self.expected)
    }
    /// Writes the file test to a new file in `folder`.
    pub(super) fn write(&mut self, folder: &Path) -> Result<(), WriteError> {
        if self.same.is_some() {
            return Ok(());
        }
        let stem = format!("seed{}-{}", self.seed, self.regime.name());
        let reason = &self.record.reason;
        self.file = Some(self.subject.save(folder, &stem, reason, &self.expected)?);
        if let Some(twin) = &self.twin {
            twin.subject.save(folder, &format!("{stem}-twin"), reason, &[])?;
        }
        Ok(())
    }
}
