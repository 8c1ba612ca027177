//! The files that commands write: which ones are replaced, and that each is written as a whole.
//!
//! A file that an option names is replaced. One whose name is an argument without an option, or chosen by the command, stays if it
//! exists, unless `--force` is given. An input is never replaced.
use crate::error::{Code, Failure, Result};
use crate::output;
use conformance::AtomicFile;
pub(crate) use conformance::Existing;
use std::io::{Cursor, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Returns whether an output is standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns what happens to a file that no option names.
pub(crate) fn unnamed(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Keep }
}

/// Checks that files can be written, before work that may take hours. What they have stays.
pub(crate) fn check<'a>(
    outputs: impl IntoIterator<Item = (&'a Path, Existing)>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs.into_iter().filter_map(identity).collect();
    let mut others: Vec<PathBuf> = Vec::new();
    for (path, existing) in outputs.into_iter().filter(|(path, _)| !is_stdout(path)) {
        let own = identity(path);
        if own.as_ref().is_some_and(|own| inputs.contains(own)) {
            let code = Code::Exists { path: path.display().to_string() };
            let help = "it is an input of the command: name another file";
            return Err(Failure::new(&code, Some(help.to_owned())));
        }
        drop(Output::create(path, existing)?);
        let name = own.unwrap_or_else(|| path.to_owned());
        if others.contains(&name) {
            return Err(Failure::file(path, &"two outputs have this file"));
        }
        others.push(name);
    }
    Ok(())
}

/// Returns what tells a file from others whatever its name is; nothing of what is no file, such as a pipe.
fn identity(path: &Path) -> Option<PathBuf> {
    let path = if is_stdout(path) { Path::new("/dev/stdin") } else { path };
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some(PathBuf::from(format!("{}:{}", found.dev(), found.ino())))
    }
    // A second name of a file, by a hard link, is not seen.
    #[cfg(not(unix))]
    {
        drop(found);
        path.canonicalize().ok()
    }
}

/// A file, or standard output, that is written when its contents are whole.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    contents: Contents,
}

#[derive(Debug)]
enum Contents {
    File(AtomicFile),
    Stdout(Cursor<Vec<u8>>),
}

impl Output {
    /// Starts a file; `-` is standard output.
    pub(crate) fn create(path: &Path, existing: Existing) -> Result<Self> {
        let contents = if is_stdout(path) {
            Contents::Stdout(Cursor::default())
        } else {
            Contents::File(AtomicFile::create(path, existing).map_err(|e| failure(path, &e))?)
        };
        Ok(Self { path: path.to_owned(), contents })
    }
    /// Ends the file.
    pub(crate) fn finish(self) -> Result<()> {
        match self.contents {
            Contents::File(file) => file.persist().map_err(|e| failure(&self.path, &e)),
            Contents::Stdout(contents) => output::bytes(contents.get_ref()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.contents {
            Contents::File(file) => file.write(bytes),
            Contents::Stdout(contents) => contents.write(bytes),
        }
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match &mut self.contents {
            Contents::File(file) => file.seek(to),
            Contents::Stdout(contents) => contents.seek(to),
        }
    }
}

/// Writes a file, or standard output for `-`.
pub(crate) fn write(path: &Path, existing: Existing, contents: &[u8]) -> Result<()> {
    let mut output = Output::create(path, existing)?;
    output.write_all(contents).map_err(|e| failure(path, &e))?;
    output.finish()
}

/// Writes a file that an option names, or standard output for `-`.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    write(path, Existing::Replace, contents)
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => Failure::file(path, error),
    }
}

/// Returns the error of a file or a folder that is not replaced.
pub(crate) fn exists(path: &Path) -> Failure {
    let code = Code::Exists { path: path.display().to_string() };
    Failure::new(&code, Some("name another one, or replace it with --force".to_owned()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let [input, hard, soft, other] =
            ["m.hlo", "hard", "soft", "other"].map(|name| folder.path().join(name));
        std::fs::write(&input, "text").unwrap();
        std::fs::hard_link(&input, &hard).unwrap();
        std::os::unix::fs::symlink(&input, &soft).unwrap();
        let check_one = |output: &Path| check([(output, Existing::Replace)], [input.as_path()]);
        for path in [&input, &hard, &soft] {
            assert_eq!(check_one(path).unwrap_err().diagnostics[0].code, "E0620");
        }
        check_one(&other).unwrap();
        check_one(Path::new("/dev/null")).unwrap();
        let twice = [(other.as_path(), Existing::Replace); 2];
        assert_eq!(check(twice, []).unwrap_err().diagnostics[0].code, "E0601");
        check([(Path::new("-"), Existing::Keep); 2], []).unwrap();
        assert!(!other.exists());
    }
}
