//! Large arrays in files: a run may then hold more memory than the machine has.
#![expect(unsafe_code, reason = "maps files into memory")]
use super::Pool;
use crate::{Code, Error, Result};
use hlo::literal::FreeMemory;
use hlo::{Array, ArrayShape};
use memmap2::MmapMut;
use num::array::checked_bytes;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

/// A directory for the large arrays of a run ([`RunOptions::spill`](crate::RunOptions::spill)).
/// Each is in a file without a name, so that nothing is left when the process ends, however it
/// ends.
///
/// The system keeps in memory what fits, and writes the rest to the disk. The space of a file is
/// reserved when its array is made: on a full disk the run ends with an error at the instruction
/// that needs the array. Constants and arguments that are shared with the caller stay where they
/// are, and the memory that an op works in is no array. What an op returns in memory of its own
/// (the reference engine, custom calls) is moved into a file when it is there as a whole. A process
/// that forks shares the arrays that are in files then, changes of donated ones included.
///
/// ```
/// use interp::{CompileOptions, Executable, RunOptions, Spill};
/// let text = "ENTRY e { x = u8[] parameter(0)
///   b = u8[67108864] broadcast(x), dimensions={}
///   ROOT s = u8[2] slice(b), slice={[67108862:67108864]} }";
/// let executable = Executable::compile(hlo::Module::parse(text)?.verify()?, &CompileOptions::default())?;
/// let directory = std::env::temp_dir();
/// let options = RunOptions::default().spill(Spill::open(directory, Spill::SMALLEST)?);
/// assert_eq!(executable.execute(&["u8[] 7".parse()?], &options)?.to_string(), "u8[2]{0} {7, 7}");
/// assert!(Spill::open("no such directory", Spill::SMALLEST).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Spill(Arc<Files>);

#[derive(Debug)]
struct Files {
    directory: PathBuf,
    /// The size from which arrays are in files.
    least: usize,
    /// Files of dropped arrays, which later ones of the same size use: a new file is slower, as the
    /// system makes each page of it.
    pool: Pool,
    /// The process that uses the pool: the mapping of a file is shared with a forked one.
    process: u32,
}

impl Spill {
    /// The smallest size that may be large: systems limit the number of mapped files.
    pub const SMALLEST: usize = 64 << 20;
    /// The size from which arrays are large, unless the user states another one.
    pub const DEFAULT: usize = 1 << 30;

    /// Returns a directory for arrays of `least` bytes or more.
    ///
    /// # Errors
    /// If `least` is smaller than [`Self::SMALLEST`], or no file can be made in the directory.
    pub fn open(directory: impl Into<PathBuf>, least: usize) -> io::Result<Self> {
        if least < Self::SMALLEST {
            let message = format!("arrays of {least} bytes are smaller than {}", Self::SMALLEST);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let directory = directory.into();
        // Its error states no file.
        std::fs::metadata(&directory)?;
        tempfile::tempfile_in(&directory)?;
        Ok(Self::of(directory, least))
    }
    fn of(directory: PathBuf, least: usize) -> Self {
        let process = std::process::id();
        Self(Arc::new(Files { directory, least, pool: Pool::default(), process }))
    }
    /// Returns zeros in a file: an argument, to be filled. `None` if the array is not large.
    ///
    /// # Errors
    /// `E0405` if the directory has no room.
    pub fn zeros(&self, shape: &Arc<ArrayShape>) -> Result<Option<Array>> {
        let bytes = checked_bytes(shape)?;
        let array = || Ok(Array::in_memory(Arc::clone(shape), self.file(bytes)?));
        self.has(bytes).then(array).transpose()
    }
    /// Returns the files of dropped arrays; `None` in a forked process, which shares them.
    pub(super) fn pool(&self) -> Option<&Pool> {
        (self.0.process == std::process::id()).then_some(&self.0.pool)
    }
    /// Returns whether an array of this size is in a file.
    pub(super) fn has(&self, bytes: usize) -> bool {
        bytes >= self.0.least
    }
    /// Returns the array, in a file if it is large and its memory is shared with no other.
    pub(super) fn moved(&self, mut array: Array) -> Result<Array> {
        let bytes = array.bytes().len();
        match self.has(bytes) && array.has_own_memory() && array.is_unique() {
            true => Ok(array.copied_to(self.take(bytes).map_or_else(|| self.file(bytes), Ok)?)),
            false => Ok(array),
        }
    }
    /// Returns the file of a dropped array of this size, with arbitrary contents.
    pub(super) fn take(&self, bytes: usize) -> Option<FreeMemory> {
        // The smallest that is large enough has the size, or none has.
        let pool = self.pool()?;
        let memory = pool.take(bytes)?;
        if memory.bytes() == bytes {
            return Some(memory);
        }
        pool.put(memory);
        None
    }
    /// Returns the zeros of a new file. If there is no room for it, those of dropped arrays are
    /// given up first.
    pub(super) fn file(&self, bytes: usize) -> Result<FreeMemory> {
        let failed = |error: io::Error| {
            let directory = self.0.directory.display();
            let message = format!("no file of {bytes} bytes can be made in {directory}: {error}");
            Error::from(Code::OutOfMemory { message })
        };
        let again = |_| {
            self.0.pool.shrink_to(0);
            self.map(bytes)
        };
        self.map(bytes).or_else(again).map(FreeMemory::from_owner).map_err(failed)
    }
    fn map(&self, bytes: usize) -> io::Result<MmapMut> {
        let mut file = tempfile::tempfile_in(&self.0.directory)?;
        reserve(&mut file, bytes.try_into().map_err(io::Error::other)?)?;
        // SAFETY: the file has no name, so that nothing else changes it or its length.
        unsafe { MmapMut::map_mut(&file) }
    }
}

/// Extends an empty file to `bytes` zeros, for which there is then space: memory that is mapped
/// from it can be written.
fn reserve(file: &mut File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::{Errno, retry_on_intr};
        match retry_on_intr(|| fallocate(&*file, FallocateFlags::empty(), 0, bytes)) {
            // Not every file system has the operation.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            reserved => return Ok(reserved?),
        }
    }
    io::copy(&mut io::repeat(0).take(bytes), file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;
    use hlo::ElementType;
    use std::path::Path;

    /// Large arrays are in files, without which there is an error; others are in memory. Each kind
    /// of memory has its pool.
    #[test]
    fn large_arrays_are_in_files() {
        let spill = |directory: &Path| Spill::of(directory.into(), 1 << 20);
        let shape = |n: i64| Arc::new(ArrayShape::new(ElementType::U8, [n].as_slice()));
        let directory = tempfile::tempdir().unwrap();
        let files = spill(directory.path());
        let budget = Budget::new(Some(3 << 20), Arc::default(), Some(files.clone()));
        let large = budget.array(&shape(1 << 20)).unwrap();
        let small = budget.array(&shape((1 << 20) - 1)).unwrap();
        assert_eq!((large.has_own_memory(), small.has_own_memory()), (false, true));
        assert_eq!(budget.in_use(), (2 << 20) - 1);
        assert!(budget.array(&shape(2 << 20)).unwrap_err().to_string().contains("are allowed"));
        drop(large);
        assert_eq!((files.0.pool.bytes(), budget.pool.bytes()), (1 << 20, 0));
        let again = budget.array(&shape(1 << 20)).unwrap();
        assert_eq!((again.has_own_memory(), files.0.pool.bytes()), (false, 0));
        drop(again);
        // What an op made itself is moved and charged, and its sizes stay; what is shared stays
        // where it is.
        let made = Array::zeros(shape(1 << 20)).with_sizes(&[5]);
        let shared = made.clone();
        let mut reservation = budget.reserve(1 << 20).unwrap();
        assert!(reservation.hold(made).unwrap().has_own_memory());
        let moved = reservation.hold(shared).unwrap();
        assert_eq!((moved.has_own_memory(), moved.sizes()), (false, [5].as_slice()));
        assert_eq!(budget.in_use(), (2 << 20) - 1);
        // A copy is not in a file before it is held.
        assert!(moved.copied().has_own_memory());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);

        let lost = spill(Path::new("no such directory"));
        let lost = Budget::new(None, Arc::default(), Some(lost));
        let error = lost.array(&shape(1 << 20)).unwrap_err();
        assert_eq!(error.number(), "E0405");
        assert!(error.to_string().contains("in no such directory: No such file"), "{error}");
        assert_eq!(lost.in_use(), 0);
    }

    #[test]
    fn small_arrays_are_refused() {
        let error = Spill::open(std::env::temp_dir(), Spill::SMALLEST - 1).unwrap_err();
        assert!(error.to_string().contains("smaller than 67108864"), "{error}");
    }
}
