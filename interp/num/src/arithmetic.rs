//! The arithmetic of kernels.

/// The arithmetic of floats in a kernel. Integers, and ops that round at most once, are the same in
/// both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// In wider types with a bound of the error, and exactly where the bound leaves the rounding
    /// open.
    Exact,
    /// In the element type, or in f32 for narrower ones, without bounds.
    Fast,
}
