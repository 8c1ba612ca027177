//! Files that are written as a whole: a reader finds the old contents or the new ones, also after Ctrl-C.
use std::fs::{File, OpenOptions, Permissions};
use std::io::{Result, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Checks that a file can be written, before work that may take hours. Its contents stay.
pub(crate) fn check(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        // To open a pipe would wait for its reader, and to close it would end it.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(_) => beside(path).map(drop),
    }
}

/// Writes a file, or the file that a link leads to.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    replace_with(path, |file| file.write_all(contents))
}

/// Writes a file by a function, or the file that a link leads to. If the function fails, the file stays as it was.
pub(crate) fn replace_with<E: From<std::io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let old = std::fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return write(&mut OpenOptions::new().write(true).open(&target)?);
    }
    let mut file = beside(&target)?;
    write(file.as_file_mut())?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(&target).map(drop).map_err(|e| e.error.into())
}

/// Writes a file that does not exist.
pub(crate) fn create(path: &Path, contents: &[u8]) -> Result<()> {
    let mut file = beside(path)?;
    file.write_all(contents)?;
    file.persist_noclobber(path).map(drop).map_err(|e| e.error)
}

/// Creates a temporary file in the folder of another file, with the permissions of a new file.
fn beside(path: &Path) -> Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    // An error of the temporary file would name that.
    std::fs::metadata(&folder)?;
    Builder::new().prefix(".etalon-").permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["out.json", "link"].map(|name| folder.path().join(name));
        check(&path).unwrap();
        assert!(names(folder.path()).is_empty());
        replace(&path, b"old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        check(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        replace(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(create(&path, b"x").unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(names(folder.path()), ["link", "out.json"]);
        assert!(check(folder.path()).is_err());
        assert!(check(&folder.path().join("none/out.json")).is_err());
        replace(Path::new("/dev/null"), b"text").unwrap();
    }
}
