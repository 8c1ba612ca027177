//! Steps that are wrong, saved so that somebody else can run them.
use super::report::{Evidence, ModuleReport, Step};
use crate::backend::write_arguments;
use crate::{AtomicFile, Existing, WriteError};
use std::path::{Path, PathBuf};

impl ModuleReport {
    /// Writes a folder in `folder` for each step that is wrong: `before.hlo`, `after.hlo`, the
    /// arguments `in.npz`, and `command`. Those of an earlier run are replaced, but not those `taken` by
    /// another module of this run. Returns the folders.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn save(
        &self,
        folder: &Path,
        strict: bool,
        taken: &[PathBuf],
    ) -> Result<Vec<PathBuf>, WriteError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for step in self.wrong(strict) {
            let Some(evidence) = &step.evidence else { continue };
            let name = self.folder_name(step);
            let others = (2..).map(|number| format!("{name}.{number}"));
            let targets = std::iter::once(name.clone()).chain(others).map(|name| folder.join(name));
            let is_free = |target: &PathBuf| !taken.contains(target) && !folders.contains(target);
            let Some(target) = targets.into_iter().find(is_free) else { continue };
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
    let fuel = evidence.fuel.map(|steps| format!(" --fuel {steps}")).unwrap_or_default();
    let blame = "etalon blame --before before.hlo --after after.hlo --input in.npz";
    write("command", &format!("{blame}{fuel}\n"))
}
