//! Steps that are wrong, saved so that somebody else can run them.
use super::report::{Evidence, ModuleReport, Step};
use crate::backend::write_arguments;
use crate::{AtomicFile, Existing, WriteError};
use std::path::{Path, PathBuf};

impl ModuleReport {
    /// Writes a folder in `folder` for each step that is wrong: `before.hlo`, `after.hlo`, the
    /// arguments `in.npz`, and `command`. Files of the same names are replaced. Returns the folders.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn save(&self, folder: &Path, strict: bool) -> Result<Vec<PathBuf>, WriteError> {
        let mut folders = Vec::new();
        for step in self.wrong(strict) {
            let Some(evidence) = &step.evidence else { continue };
            let target = folder.join(self.folder_name(step));
            write(&target, evidence).map_err(|error| WriteError { path: target.clone(), error })?;
            folders.push(target);
        }
        Ok(folders)
    }
    fn folder_name(&self, step: &Step) -> String {
        let name = format!("{}.{}.{}", self.module, step.number, step.pass);
        let is_kept = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect()
    }
}

fn write(folder: &Path, evidence: &Evidence) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let write = |name: &str, text: &str| {
        AtomicFile::write(&folder.join(name), Existing::Replace, text.as_bytes())
    };
    write("after.hlo", &evidence.after)?;
    let Some(before) = &evidence.before else {
        return write("command", "etalon check after.hlo\n");
    };
    write("before.hlo", before)?;
    if evidence.arguments.is_empty() {
        return write("command", "etalon check before.hlo after.hlo\n");
    }
    write_arguments(&folder.join("in.npz"), &evidence.arguments).map_err(std::io::Error::other)?;
    write("command", "etalon blame --before before.hlo --after after.hlo --input in.npz\n")
}
