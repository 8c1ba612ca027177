//! Counter-based random bits: Threefry 2x32 and Philox 4x32, as XLA's `rng-bit-generator` uses
//! them.
//!
//! Both are functions of a key and a counter, after Salmon, Moraes, Dror and Shaw, "Parallel random
//! numbers: as easy as 1, 2, 3" (2011). They have no state between calls, so blocks may be computed
//! in any order.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]

/// Returns the low and the high word of `x`.
#[inline(always)]
pub fn words(x: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = x.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// Returns the number with these low and high words.
#[inline]
pub fn join([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Returns one block of Threefry 2x32 in 20 rounds.
#[inline(always)]
pub fn threefry(key: u64, counter: u64) -> [u32; 2] {
    /// The rotation of each round of a group; groups alternate.
    const TURNS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let [k0, k1] = words(key);
    let keys = [k0, k1, 0x1BD1_1BDA ^ k0 ^ k1];
    let [mut a, mut b] = words(counter);
    a = a.wrapping_add(keys[0]);
    b = b.wrapping_add(keys[1]);
    for (group, number) in (0..5usize).zip(1u32..) {
        for turn in TURNS[group % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(turn) ^ a;
        }
        a = a.wrapping_add(keys[(group + 1) % 3]);
        b = b.wrapping_add(keys[(group + 2) % 3]).wrapping_add(number);
    }
    [a, b]
}

/// Returns one block of Philox 4x32 in 10 rounds; the counter is given as its low and its high
/// half.
#[inline(always)]
pub fn philox(key: u64, low: u64, high: u64) -> [u32; 4] {
    let [mut k0, mut k1] = words(key);
    let ([a, b], [c, d]) = (words(low), words(high));
    let mut x = [a, b, c, d];
    for _ in 0..10 {
        let [low0, high0] = words(u64::from(x[0]) * 0xD251_1F53);
        let [low1, high1] = words(u64::from(x[2]) * 0xCD9E_8D57);
        x = [high1 ^ x[1] ^ k0, low1, high0 ^ x[3] ^ k1, low0];
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known results of the authors' library.
    #[test]
    fn blocks_are_those_of_the_paper() {
        assert_eq!(threefry(0, 0), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry(u64::MAX, u64::MAX), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(philox(0, 0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
