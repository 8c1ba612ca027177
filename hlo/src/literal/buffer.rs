//! The memory of an array: owned or foreign, with the account it is charged to.
use std::fmt;
use std::sync::Arc;

const WORD: usize = size_of::<u128>();
/// Words of a line of the cache, at which larger arrays begin: loads of vectors then do not cross
/// lines.
const LINE: usize = 4;
/// Words of the smallest of these arrays.
const ALIGNED: usize = 64;

/// An account of memory in use: the budget of a run. Bytes must be reserved before they are
/// charged.
pub trait Account: Send + Sync + fmt::Debug {
    /// Subtracts `bytes` from the memory in use.
    fn release(&self, bytes: usize);
    /// Takes the memory of a released array to use it again. The default frees it.
    fn reuse(&self, memory: FreeMemory) {
        drop(memory);
    }
}

/// Memory for an array, with arbitrary contents: that of a dropped array, or memory of another
/// owner.
pub struct FreeMemory(Memory);

impl FreeMemory {
    /// Returns memory of another owner, which may be written to: a mapped file, for instance.
    /// Dropping `owner`, when the last clone of the array is dropped, releases it.
    pub fn from_owner(owner: impl AsRef<[u8]> + AsMut<[u8]> + Send + Sync + 'static) -> Self {
        Self(Memory::Lent(Box::new(owner)))
    }
    /// Returns whether it is memory of this crate, which is resized for an array of another size.
    pub fn is_own(&self) -> bool {
        self.0.is_own()
    }
    /// Returns the bytes of the largest array that it can hold.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Memory::Owned(words, _) => {
                let before = if words.len() < ALIGNED { 0 } else { LINE - 1 };
                (words.len() - before) * WORD
            }
            Memory::Lent(owner) => (**owner).as_ref().len(),
            Memory::Foreign(owner) => (**owner).as_ref().len(),
        }
    }
}

impl fmt::Debug for FreeMemory {
    /// Formats the number of bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeMemory").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// Foreign memory; dropping the owner releases it.
type Owner = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The owner of memory that may be written to.
trait Lender: AsRef<[u8]> + AsMut<[u8]> + Send + Sync {}
impl<T: AsRef<[u8]> + AsMut<[u8]> + Send + Sync> Lender for T {}

/// The memory of one array.
///
/// It is charged to at most one account, and is released from it when it is dropped.
pub(super) struct Buffer {
    memory: Memory,
    bytes: usize,
    account: Option<Arc<dyn Account>>,
}

enum Memory {
    /// Words, so that the bytes are aligned for every element type, and the first one of the array.
    Owned(Vec<u128>, usize),
    /// Of another owner.
    Lent(Box<dyn Lender>),
    /// Of another owner, read only.
    Foreign(Owner),
}

impl Memory {
    /// Returns whether the memory is of this crate, not of another owner.
    fn is_own(&self) -> bool {
        matches!(self, Self::Owned(..))
    }
}

impl Buffer {
    pub(super) fn zeros(bytes: usize) -> Self {
        Self::owned(vec![0; Self::words(bytes)], bytes)
    }
    /// Returns memory of `bytes` bytes with arbitrary contents.
    ///
    /// # Panics
    /// If memory of another owner has fewer bytes.
    pub(super) fn reused(memory: FreeMemory, bytes: usize) -> Self {
        let (mut words, size) = match memory.0 {
            Memory::Owned(words, _) => (words, Self::words(bytes)),
            memory @ (Memory::Lent(_) | Memory::Foreign(_)) => {
                let buffer = Self { memory, bytes, account: None };
                assert_eq!(buffer.bytes().len(), bytes, "the memory holds the array");
                return buffer;
            }
        };
        if size != words.len() {
            // The allocator resizes large blocks in place, so that the pages that are left need not
            // be zeroed again.
            words.reserve_exact(size.saturating_sub(words.len()));
            words.resize(size, 0);
            words.shrink_to_fit();
        }
        Self::owned(words, bytes)
    }
    /// Returns the words that an array takes, with those before a line of the cache.
    fn words(bytes: usize) -> usize {
        let words = bytes.div_ceil(WORD);
        if words < ALIGNED { words } else { words + LINE - 1 }
    }
    fn owned(words: Vec<u128>, bytes: usize) -> Self {
        let before = words.as_ptr().align_offset(LINE * WORD);
        let is_aligned = words.len() >= ALIGNED && before < LINE;
        Self {
            memory: Memory::Owned(words, if is_aligned { before } else { 0 }),
            bytes,
            account: None,
        }
    }
    pub(super) fn foreign(owner: Owner) -> Self {
        let bytes = (*owner).as_ref().len();
        Self { memory: Memory::Foreign(owner), bytes, account: None }
    }
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::Owned(words, first) => &bytemuck::cast_slice(&words[*first..])[..self.bytes],
            Memory::Lent(owner) => &(**owner).as_ref()[..self.bytes],
            Memory::Foreign(owner) => &(**owner).as_ref()[..self.bytes],
        }
    }
    /// Returns the bytes of memory that may be written to.
    #[inline]
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.memory {
            Memory::Owned(words, first) => {
                Some(&mut bytemuck::cast_slice_mut(&mut words[*first..])[..self.bytes])
            }
            Memory::Lent(owner) => Some(&mut (**owner).as_mut()[..self.bytes]),
            Memory::Foreign(_) => None,
        }
    }
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.memory, Memory::Foreign(_))
    }
    pub(super) fn is_own(&self) -> bool {
        self.memory.is_own()
    }
    /// Charges writable memory to an account, which has reserved it, and releases it from its
    /// previous account. Returns whether the account changes.
    pub(super) fn charge_to(&mut self, account: &Arc<dyn Account>) -> bool {
        let is_charged = self
            .account
            .as_ref()
            .is_some_and(|old| std::ptr::addr_eq(Arc::as_ptr(old), Arc::as_ptr(account)));
        if is_charged || self.is_foreign() {
            return false;
        }
        if let Some(old) = self.account.replace(Arc::clone(account)) {
            old.release(self.bytes);
        }
        true
    }
    pub(super) fn len(&self) -> usize {
        self.bytes
    }
}

/// The copy is owned, and charged to no account.
impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.bytes);
        copy.bytes_mut().expect("owned").copy_from_slice(self.bytes());
        copy
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.release(self.bytes);
            if !self.is_foreign() {
                let memory = std::mem::replace(&mut self.memory, Memory::Owned(Vec::new(), 0));
                account.reuse(FreeMemory(memory));
            }
        }
    }
}
