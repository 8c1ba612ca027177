//! The cost model of threads: how much work of a kind is worth waking another thread.
//!
//! These numbers change times, never a result. Parts that are larger than the numbers leave threads
//! without work; for smaller ones a thread that is woken, or takes the next part, waits longer than
//! it computes.

/// Bytes that are copied from places that an index gives, or filled.
pub(crate) const MOVED_BYTES: usize = 1 << 16;

/// Elements that are computed or converted in one loop over vectors, and those whose places a sort
/// changes.
pub(crate) const COMPUTED: usize = 1 << 14;

/// Elements that several steps compute, tile by tile.
pub(crate) const FUSED: usize = 1 << 13;

/// Elements that are folded, or computed by steps without vectors.
pub(crate) const FOLDED: usize = 1 << 15;

/// Elements that are sorted.
pub(crate) const SORTED: usize = 1 << 12;

/// Multiplications of a sum of products.
pub(crate) const MULTIPLIED: usize = 1 << 15;

/// Multiplications of a batch of matrices for which threads share its rows: a thread that shares
/// packs columns that others wait for.
pub(crate) const SHARED: usize = 1 << 19;

/// Rows of a triangular system whose panels are solved by several threads.
pub(crate) const SOLVED_ROWS: usize = 64;

/// Rows of all panels that are subtracted from a row of tiles of a triangular system, for which threads
/// share the panels.
pub(crate) const PANEL_ROWS: usize = 1 << 14;
