//! The memory of an array: owned or foreign, with the account it is charged to.
use std::fmt;
use std::sync::Arc;

const WORD: usize = size_of::<u128>();

/// An account of memory in use: the budget of a run. Bytes must be reserved before they are charged.
pub trait Account: Send + Sync + fmt::Debug {
    /// Subtracts `bytes` from the memory in use.
    fn release(&self, bytes: usize);
    /// Takes the memory of a released array to use it again. The default frees it.
    fn reuse(&self, memory: FreeMemory) {
        drop(memory);
    }
}

/// The memory of a dropped array, with arbitrary contents.
#[derive(Debug)]
pub struct FreeMemory(Vec<u128>);

impl FreeMemory {
    /// Returns its size in bytes, a multiple of 16.
    pub fn bytes(&self) -> usize {
        self.0.len() * WORD
    }
}

/// Foreign memory; dropping the owner releases it.
type Owner = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The memory of one array.
///
/// It is charged to at most one account, and is released from it when it is dropped.
pub(super) struct Buffer {
    memory: Memory,
    bytes: usize,
    account: Option<Arc<dyn Account>>,
}

enum Memory {
    /// Words, so that the bytes are aligned for every element type.
    Owned(Vec<u128>),
    /// Read only.
    Foreign(Owner),
}

impl Buffer {
    pub(super) fn zeros(bytes: usize) -> Self {
        Self { memory: Memory::Owned(vec![0; bytes.div_ceil(WORD)]), bytes, account: None }
    }
    /// Returns memory of `bytes` bytes with arbitrary contents.
    pub(super) fn reused(memory: FreeMemory, bytes: usize) -> Self {
        let (mut words, size) = (memory.0, bytes.div_ceil(WORD));
        if size != words.len() {
            // The allocator resizes large blocks in place, so that the pages that are left need not be zeroed again.
            words.reserve_exact(size.saturating_sub(words.len()));
            words.resize(size, 0);
            words.shrink_to_fit();
        }
        Self { memory: Memory::Owned(words), bytes, account: None }
    }
    pub(super) fn foreign(owner: Owner) -> Self {
        let bytes = (*owner).as_ref().len();
        Self { memory: Memory::Foreign(owner), bytes, account: None }
    }
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::Owned(words) => &bytemuck::cast_slice(words)[..self.bytes],
            Memory::Foreign(owner) => &(**owner).as_ref()[..self.bytes],
        }
    }
    /// Returns the bytes of memory that may be written to.
    #[inline]
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.memory {
            Memory::Owned(words) => Some(&mut bytemuck::cast_slice_mut(words)[..self.bytes]),
            Memory::Foreign(_) => None,
        }
    }
    /// Returns owned memory with the same bytes, charged to no account.
    pub(super) fn copied(&self) -> Self {
        let mut copy = Self::zeros(self.bytes);
        copy.bytes_mut().expect("owned").copy_from_slice(self.bytes());
        copy
    }
    /// Charges owned memory to an account, which has reserved it, and releases it from its previous account. Returns
    /// whether the account changes.
    pub(super) fn charge_to(&mut self, account: &Arc<dyn Account>) -> bool {
        let is_charged = self
            .account
            .as_ref()
            .is_some_and(|old| std::ptr::addr_eq(Arc::as_ptr(old), Arc::as_ptr(account)));
        if is_charged || matches!(self.memory, Memory::Foreign(_)) {
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

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.release(self.bytes);
            if let Memory::Owned(words) = &mut self.memory {
                account.reuse(FreeMemory(std::mem::take(words)));
            }
        }
    }
}
