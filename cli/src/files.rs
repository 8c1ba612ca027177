//! The files of commands that take several: files, folders and patterns.
use crate::error::{Exit, Failure, Result};
use crate::output::{self, Progress};
use glob::MatchOptions;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use walkdir::{DirEntry, WalkDir};

/// The files of a command, in order.
pub(crate) struct Files(Vec<Result<PathBuf>>);

impl Files {
    /// Returns the files that the arguments stand for: a file itself, the modules in a folder and its subfolders, and the files
    /// that a pattern matches.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        Self(paths.iter().flat_map(|path| expanded(path)).collect())
    }
    /// Returns the files that there are.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|path| path.as_deref().ok())
    }
    /// Returns whether results need the names of their files.
    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1
    }
    /// Calls `run` with each file, also after errors, and shows these. Returns the worst exit code.
    pub(crate) fn each(
        self,
        mut run: impl FnMut(&Path) -> Result<Option<Exit>>,
    ) -> Result<ExitCode> {
        let mut worst: Option<Exit> = None;
        let are_several = self.are_several();
        for path in self.0 {
            let exit = match path.and_then(|path| run(&path)) {
                Ok(exit) => exit,
                // The caller shows an error that ends it.
                Err(failure) if !are_several => return Err(failure),
                Err(failure) => {
                    output::show(&failure);
                    Some(failure.exit)
                }
            };
            worst = exit.into_iter().chain(worst).reduce(Exit::or);
        }
        Ok(worst.map_or(ExitCode::SUCCESS, Exit::code))
    }
}

fn expanded(path: &Path) -> Vec<Result<PathBuf>> {
    if path.is_dir() {
        return in_folder(path);
    }
    let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists());
    let Some(pattern) = pattern else { return vec![Ok(path.to_owned())] };
    let none = |message: &str| vec![Err(Failure::file(path, &message))];
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let found = match glob::glob_with(pattern, options) {
        Ok(found) => found,
        Err(error) => return none(&format!("not a pattern: {error}")),
    };
    let paths = found.map(|found| found.map_err(|e| Failure::file(e.path(), e.error())));
    let paths: Vec<Result<PathBuf>> =
        paths.filter(|path| path.as_ref().map_or(true, |path| path.is_file())).collect();
    if paths.is_empty() { none("no file matches the pattern") } else { paths }
}

/// Returns the modules in a folder and its subfolders on the same file system, and the folders that cannot be read.
fn in_folder(folder: &Path) -> Vec<Result<PathBuf>> {
    let progress = Progress::looking(&format!("looking for modules in {}", folder.display()));
    let is_shown = |entry: &DirEntry| {
        entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
    };
    let entries = WalkDir::new(folder).same_file_system(true).sort_by_file_name();
    let mut paths: Vec<Result<PathBuf>> = Vec::new();
    for entry in entries.into_iter().filter_entry(is_shown) {
        progress.advance();
        match entry {
            // What a link leads to may be a module, too.
            Ok(entry) if entry.path().is_file() && is_module(entry.path()) => {
                paths.push(Ok(entry.into_path()));
            }
            Ok(_) => {}
            Err(error) => {
                let at = error.path().unwrap_or(folder).to_owned();
                let failure = match error.io_error() {
                    Some(error) => Failure::file(&at, error),
                    None => Failure::file(&at, &error),
                };
                paths.push(Err(failure));
            }
        }
    }
    if paths.is_empty() {
        let path = folder.display().to_string();
        let message = "the folder has no modules".to_owned();
        let help = "modules are files with names in .hlo, .mlir, .mlirbc or .pb, with .gz too, and .txt files that start with `HloModule`";
        paths.push(Err(Failure::new(&load::Code::File { path, message }, Some(help.to_owned()))));
    }
    paths
}

/// Returns whether a file of a folder is a module: by its name, and .txt files by their first line. XLA writes modules and other
/// texts in one folder. Tests of a command line are none.
fn is_module(path: &Path) -> bool {
    let mut start = [0; 9];
    let mut starts_with = |text: &[u8]| {
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start[..text.len()]));
        read.is_ok() && start.starts_with(text)
    };
    let stem = path.file_stem().map(Path::new);
    match path.extension().and_then(OsStr::to_str) {
        Some("hlo") => !starts_with(b"// RUN: "),
        Some("pb") => is_message(path),
        Some("mlirbc") => true,
        Some("mlir") => !is_of_other_dialects(path),
        Some("gz") => stem
            .and_then(Path::extension)
            .is_some_and(|e| ["hlo", "pb", "mlir", "mlirbc"].iter().any(|known| e == *known)),
        Some("txt") => starts_with(b"HloModule"),
        _ => false,
    }
}

/// Returns whether a file with the name of a message is one with a module. XLA writes options of compilations, reports and others
/// into the folder of its modules. What cannot be read is an error of the command.
fn is_message(path: &Path) -> bool {
    const REPORT: &str = "memory-usage-report";
    let is_report = path.file_name().is_some_and(|name| name.to_string_lossy().contains(REPORT));
    !is_report && std::fs::read(path).map_or(true, |bytes| load::has_module(&bytes))
}

/// Returns whether a program in MLIR is a kernel in the dialects of a backend, as XLA writes them into the folder of its modules.
fn is_of_other_dialects(path: &Path) -> bool {
    const START: u64 = 1 << 16;
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    let has = |dialect: &[u8]| start.windows(dialect.len()).any(|part| part == dialect);
    read.is_ok() && (has(b"llvm.") || has(b"xla.")) && !(has(b"stablehlo.") || has(b"chlo."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_stand_for_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("in[1]")).unwrap();
        for (name, text) in [
            ("b.hlo", "HloModule b"),
            ("in[1]/a.txt", "HloModule a"),
            ("in[1]/notes.txt", "notes"),
            ("options.pb", "\x08\x01\x10\x02\x18\x03\x20\x04"),
            ("x-memory-usage-report.pb", "\n\x03abc"),
            ("in[1]/c.hlo.gz", ""),
            ("in[1]/test.hlo", "// RUN: etalon check %"),
            ("in[1]/kernel.mlir", "module { llvm.func @f() }"),
            ("in[1]/p.mlir", "module { func.func @main() { return } }"),
            (".hidden.hlo", "HloModule h"),
        ] {
            std::fs::write(root.join(name), text).unwrap();
        }
        let found = |path: &str| -> Vec<String> {
            let found = expanded(&root.join(path)).into_iter().flatten();
            found.map(|p| p.strip_prefix(root).unwrap().display().to_string()).collect()
        };
        assert_eq!(found(""), ["b.hlo", "in[1]/a.txt", "in[1]/c.hlo.gz", "in[1]/p.mlir"]);
        assert_eq!(found("in[1]/"), ["in[1]/a.txt", "in[1]/c.hlo.gz", "in[1]/p.mlir"]);
        assert_eq!(found("*.hlo"), ["b.hlo"]);
        assert_eq!(found("**/*.txt"), ["in[1]/a.txt", "in[1]/notes.txt"]);
        assert_eq!(found("none.hlo"), ["none.hlo"]);
        assert!(expanded(&root.join("*.none"))[0].is_err());
        assert!(expanded(&root.join("a***"))[0].is_err());
    }
}
