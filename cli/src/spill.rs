//! Large blocks in files: a run may then hold more memory than the machine has.
//!
//! The blocks are mapped from files without a name, so that nothing is left when the process ends, however it ends. The
//! space of a file is reserved first: a full disk is a failed allocation, which the run reports.
#![expect(unsafe_code, reason = "calls the C library")]
use crate::error::Failure;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The size from which blocks may be in files: the code that makes larger ones handles a failure.
pub(crate) const SMALLEST: usize = 64 << 20;

/// The size from which blocks are in files, if the option is given.
static LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Whether a block of `SMALLEST` bytes or more was in use before the option was read: it would be freed as one in a file.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// Whether a block of this size is in a file.
#[inline]
pub(crate) fn has(size: usize) -> bool {
    size >= SMALLEST && {
        IS_LATE.fetch_or(!is_on(), Ordering::Relaxed);
        size >= LEAST.load(Ordering::Relaxed)
    }
}

/// Whether large blocks are in files.
pub(crate) fn is_on() -> bool {
    LEAST.load(Ordering::Relaxed) < usize::MAX
}

/// Puts blocks of at least `least` bytes, which are `SMALLEST` or more, into files in a folder from now on.
pub(crate) fn turn_on(folder: &Path, least: usize) -> Result<(), Failure> {
    let opened = match IS_LATE.load(Ordering::Relaxed) {
        true => Err(io::Error::other("a large block of memory is in use already")),
        false => system::open(folder),
    };
    opened.map_err(|error| Failure::file(folder, &error))?;
    LEAST.store(least, Ordering::Relaxed);
    Ok(())
}

pub(crate) use system::{allocate, free, shrink};

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::CString;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::OnceLock;

    static FOLDER: OnceLock<CString> = OnceLock::new();

    /// Sets the folder, and tries to make a file in it.
    pub(crate) fn open(folder: &Path) -> io::Result<()> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        let file = file(FOLDER.get_or_init(|| path));
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the file is open, and nothing else closes it.
        unsafe { libc::close(file) };
        Ok(())
    }

    /// Returns the descriptor of a new file without a name; a negative number is an error.
    fn file(folder: &CString) -> libc::c_int {
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path is a string that ends in zero.
        unsafe { libc::open(folder.as_ptr(), flags, 0o600) }
    }

    /// Returns zeroed memory, aligned to a page; null if there is none. Allocates nothing else.
    pub(crate) fn allocate(size: usize) -> *mut u8 {
        let (Some(folder), Ok(length)) = (FOLDER.get(), libc::off_t::try_from(size)) else {
            return null_mut();
        };
        let file = file(folder);
        if file < 0 {
            return null_mut();
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the file is open until it is closed here; its mapping keeps it. A new mapping overlaps no other memory.
        let memory = unsafe {
            let memory = match libc::posix_fallocate(file, 0, length) {
                0 => libc::mmap(null_mut(), size, access, libc::MAP_SHARED, file, 0),
                _ => libc::MAP_FAILED,
            };
            libc::close(file);
            memory
        };
        if memory == libc::MAP_FAILED { null_mut() } else { memory.cast() }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// `allocate` returned it with this size, or it was shrunk to it, and nothing refers to it.
    pub(crate) unsafe fn free(memory: *mut u8, size: usize) {
        // SAFETY: the caller says that the range is a mapping of its own.
        unsafe { libc::munmap(memory.cast(), size) };
    }

    /// Frees the end of a block.
    ///
    /// # Safety
    /// As for `free`; nothing refers to the end.
    pub(crate) unsafe fn shrink(memory: *mut u8, from: usize, to: usize) {
        let rest = memory.wrapping_add(to);
        // SAFETY: reads a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) });
        let Some(page) = page.ok().filter(|page| page.is_power_of_two()) else { return };
        let skipped = rest.align_offset(page);
        if from.saturating_sub(to) > skipped {
            // SAFETY: the range begins at a page of the mapping and ends with it.
            unsafe { libc::munmap(rest.wrapping_add(skipped).cast(), from - to - skipped) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::path::Path;

    pub(crate) fn open(_: &Path) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "arrays in files need Linux"))
    }
    pub(crate) fn allocate(_: usize) -> *mut u8 {
        std::ptr::null_mut()
    }
    /// Does nothing.
    ///
    /// # Safety
    /// There are no blocks in files.
    pub(crate) unsafe fn free(_: *mut u8, _: usize) {}
    /// Does nothing.
    ///
    /// # Safety
    /// There are no blocks in files.
    pub(crate) unsafe fn shrink(_: *mut u8, _: usize, _: usize) {}
}
