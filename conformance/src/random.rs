//! Random numbers of a seed: the same on every machine and in every version.

/// A sequence of 64-bit numbers from a seed, by `SplitMix64`.
///
/// ```
/// use conformance::random::Sequence;
/// let (mut one, mut other) = (Sequence::new(7), Sequence::new(7));
/// assert_eq!(one.bits(), other.bits());
/// assert!((0.0..1.0).contains(&one.unit()));
/// ```
#[derive(Debug, Clone)]
pub struct Sequence(u64);

impl Sequence {
    /// Returns the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// Returns 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    /// Returns a number of at least 0 and less than 1, with 52 random bits.
    pub fn unit(&mut self) -> f64 {
        // These are the bits of a number from 1 to 2.
        f64::from_bits(self.bits() >> 12 | 0x3ff0_0000_0000_0000) - 1.0
    }
    /// Returns a number from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.bits() % n).unwrap_or(0)
    }
    /// Returns a number from `lo` to `hi`.
    pub fn between(&mut self, lo: i64, hi: i64) -> i64 {
        let count = usize::try_from(hi.saturating_sub(lo)).unwrap_or(0) + 1;
        lo + i64::try_from(self.below(count)).unwrap_or(0)
    }
}
