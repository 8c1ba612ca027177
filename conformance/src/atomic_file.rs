//! Files that are written as a whole: a reader finds the old contents or the new ones, however the
//! writer ends.
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{Cursor, Error, ErrorKind, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The start of the names of temporary files.
const PREFIX: &str = ".etalon-";
/// The links that are followed to a file, as many as Linux follows.
const LINKS: usize = 40;

/// Whether a file that exists is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replace,
    /// It stays, and to write it is an error.
    Keep,
}

/// A file that takes the place of its path when it is whole.
///
/// Until [`AtomicFile::persist`] the contents are in a file without a name in the same folder, so
/// that nothing is left of a process that dies; where the system has no such files, in one whose
/// name begins with `.etalon-`. A link stays: the file that it leads to is replaced, and its
/// permissions are kept. A pipe or a device gets the contents when they are whole.
///
/// ```
/// use conformance::{AtomicFile, Existing};
/// use std::io::Write as _;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("out.txt");
/// let mut file = AtomicFile::create(&path, Existing::Keep)?;
/// file.write_all(b"whole")?;
/// assert!(!path.exists());
/// file.persist()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// assert!(AtomicFile::create(&path, Existing::Keep).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    existing: Existing,
    permissions: Option<Permissions>,
    contents: Contents,
}

#[derive(Debug)]
enum Contents {
    /// A file without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedTempFile),
    /// The bytes for a pipe, a device or an open file.
    Memory(Cursor<Vec<u8>>),
}

impl AtomicFile {
    /// Starts a file. Dropped, it leaves everything as it was: so this also checks that a file can
    /// be written.
    ///
    /// # Errors
    /// If the file or its folder cannot be written, or the file exists and is to be kept.
    pub fn create(path: &Path, existing: Existing) -> Result<Self> {
        let (target, is_open) = followed(path)?;
        let old = match fs::metadata(path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound && !is_open => None,
            Err(error) => return Err(error),
        };
        let mut permissions = None;
        if let Some(old) = old {
            if old.is_dir() {
                return Err(ErrorKind::IsADirectory.into());
            }
            // To open a pipe would wait for its reader, and to close it would end it.
            check_writable(path, &old)?;
            if is_open || !old.is_file() {
                let contents = Contents::Memory(Cursor::default());
                return Ok(Self { target: path.to_owned(), existing, permissions, contents });
            }
            if existing == Existing::Keep {
                return Err(ErrorKind::AlreadyExists.into());
            }
            permissions = Some(old.permissions());
        }
        let contents = temporary(folder_of(&target)).map_err(|error| plain(&error))?;
        Ok(Self { target, existing, permissions, contents })
    }
    /// Writes a whole file.
    ///
    /// # Errors
    /// As [`AtomicFile::create`] and [`AtomicFile::persist`].
    pub fn write(path: &Path, existing: Existing, contents: &[u8]) -> Result<()> {
        let mut file = Self::create(path, existing)?;
        file.write_all(contents)?;
        file.persist()
    }
    /// Gives the file its path.
    ///
    /// # Errors
    /// If that is not possible. What was there is unchanged.
    pub fn persist(self) -> Result<()> {
        let Self { target, existing, permissions, contents } = self;
        let kept = |file: &File| permissions.map_or(Ok(()), |old| file.set_permissions(old));
        match contents {
            Contents::Memory(contents) => {
                OpenOptions::new().append(true).open(&target)?.write_all(contents.get_ref())
            }
            Contents::Named(file) => {
                kept(file.as_file())?;
                let persisted = match existing {
                    Existing::Replace => file.persist(&target),
                    Existing::Keep => file.persist_noclobber(&target),
                };
                persisted.map(drop).map_err(|error| plain(&error.error))
            }
            #[cfg(target_os = "linux")]
            Contents::Unnamed(file) => {
                kept(&file)?;
                match unnamed::link(&file, &target) {
                    Err(e)
                        if e.kind() == ErrorKind::AlreadyExists
                            && existing == Existing::Replace =>
                    {
                        // A link cannot replace a file; a file that has a name can.
                        let link = |path: &Path| unnamed::link(&file, path);
                        let folder = folder_of(&target);
                        let named = Builder::new().prefix(PREFIX).make_in(folder, link);
                        let named = named.map_err(|error| plain(&error))?.into_temp_path();
                        named.persist(&target).map_err(|error| plain(&error.error))
                    }
                    linked => linked,
                }
            }
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.contents {
            #[cfg(target_os = "linux")]
            Contents::Unnamed(file) => file.write(bytes),
            Contents::Named(file) => file.as_file_mut().write(bytes),
            Contents::Memory(contents) => contents.write(bytes),
        }
    }
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        match &mut self.contents {
            #[cfg(target_os = "linux")]
            Contents::Unnamed(file) => file.seek(to),
            Contents::Named(file) => file.as_file_mut().seek(to),
            Contents::Memory(contents) => contents.seek(to),
        }
    }
}

/// Returns the path that links lead to, which may not exist, and whether it stands for an open
/// file, as `/dev/stdout` does.
fn followed(path: &Path) -> Result<(PathBuf, bool)> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if folder_of(&path).canonicalize()?.starts_with("/proc") {
            return Ok((path, true));
        }
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => return Ok((path, false)),
        }
    }
    // The system's error for a circle of links.
    fs::metadata(&path).map(|_| (path, false))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a temporary file in a folder, with the permissions of a new file.
fn temporary(folder: &Path) -> Result<Contents> {
    #[cfg(target_os = "linux")]
    if let Some(file) = unnamed::create(folder)? {
        return Ok(Contents::Unnamed(file));
    }
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(PREFIX).tempfile_in(folder).map(Contents::Named)
}

/// Checks that this user may write a file.
#[cfg(unix)]
fn check_writable(path: &Path, _: &Metadata) -> Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
}
#[cfg(not(unix))]
fn check_writable(_: &Path, found: &Metadata) -> Result<()> {
    if found.permissions().readonly() { Err(ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}

/// Returns an error without the name of a temporary file.
fn plain(error: &Error) -> Error {
    let source = error.get_ref().and_then(|path_error| path_error.source());
    let cause = source.and_then(|cause| cause.downcast_ref::<Error>()).unwrap_or(error);
    cause.raw_os_error().map_or_else(|| cause.kind().into(), Error::from_raw_os_error)
}

/// Files without a name.
#[cfg(target_os = "linux")]
mod unnamed {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
    use rustix::io::Errno;
    use std::fs::File;
    use std::io::Result;
    use std::os::fd::AsRawFd as _;
    use std::path::{Path, PathBuf};

    /// Creates a file in a folder; `None` if the file system has no such files, or none could get a
    /// name.
    pub(super) fn create(folder: &Path) -> Result<Option<File>> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match open(folder, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => {
                let file = File::from(file);
                Ok(path_of(&file).exists().then_some(file))
            }
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
    /// Gives a file a name that nothing has.
    pub(super) fn link(file: &File, path: &Path) -> Result<()> {
        Ok(linkat(CWD, path_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
    fn path_of(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn replace(path: &Path, contents: &[u8]) -> Result<()> {
        AtomicFile::write(path, Existing::Replace, contents)
    }

    #[test]
    fn files_are_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["out.json", "link"].map(|name| folder.path().join(name));
        drop(AtomicFile::create(&path, Existing::Replace).unwrap());
        assert!(names(folder.path()).is_empty());
        replace(&path, b"old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink("out.json", &link).unwrap();
        let mut begun = AtomicFile::create(&path, Existing::Replace).unwrap();
        begun.write_all(b"ne").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 2));
        drop(begun);
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let kept = AtomicFile::write(&path, Existing::Keep, b"x").unwrap_err();
        assert_eq!(kept.kind(), ErrorKind::AlreadyExists);
        assert_eq!(names(folder.path()), ["link", "out.json"]);
    }

    #[test]
    fn files_with_names_do_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let begin = |existing| {
            let mut named = Builder::new();
            let contents =
                Contents::Named(named.prefix(PREFIX).tempfile_in(folder.path()).unwrap());
            AtomicFile { target: target.clone(), existing, permissions: None, contents }
        };
        begin(Existing::Keep).persist().unwrap();
        let mut second = begin(Existing::Replace);
        second.write_all(b"new").unwrap();
        second.persist().unwrap();
        let error = begin(Existing::Keep).persist().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(
            (names(folder.path()), fs::read(&target).unwrap()),
            (vec!["out".into()], b"new".to_vec())
        );
    }

    #[test]
    fn a_link_without_a_file_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [link, circle] = ["link", "circle"].map(|name| folder.path().join(name));
        symlink("file", &link).unwrap();
        symlink("circle", &circle).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"new");
        assert!(replace(&circle, b"new").is_err());
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(replace(folder.path(), b"x").is_err());
        let none = replace(&folder.path().join("none/out"), b"x").unwrap_err();
        assert_eq!(none.to_string(), "No such file or directory (os error 2)");
        for existing in [Existing::Replace, Existing::Keep] {
            AtomicFile::write(Path::new("/dev/null"), existing, b"text").unwrap();
        }
        assert!(names(folder.path()).is_empty());
    }

    /// An open file is no name: what it has stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn open_files_are_written_to() {
        use std::os::fd::AsRawFd as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "old ").unwrap();
        let open = OpenOptions::new().append(true).open(&path).unwrap();
        replace(Path::new(&format!("/dev/fd/{}", open.as_raw_fd())), b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old new");
    }
}
