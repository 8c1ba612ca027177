//! A stable radix sort of the indices of a line by integer keys.
//!
//! A word holds a key above an index. A long list is divided by the highest eight bits in which its
//! keys differ, and the parts are sorted in parallel; a list that fits in the cache is sorted from
//! its lowest eight bits up.
use num::clock::Stop;
use rayon::prelude::*;

/// Words of a list that is sorted from its lowest digit up.
const CACHED: usize = 1 << 15;
/// Words of a list that the standard library sorts; more take memory there.
const SHORT: usize = 48;
const DIGIT: u32 = u8::BITS;
const VALUES: usize = 1 << DIGIT;

/// The mode of sorting a list: until the time is over, by several threads or one.
#[derive(Clone, Copy)]
pub(super) struct RadixMode<'a> {
    pub(super) stop: &'a Stop,
    pub(super) in_parallel: bool,
}

/// A key above an index of `low` bits.
trait KeyedIndex: Copy + Default + Send + Sync + bytemuck::Pod {
    fn new(key: u64, index: u32, low: u32) -> Self;
    fn index(self, low: u32) -> u32;
    /// Returns the bits from `shift` on, in a number that orders them.
    fn above(self, shift: u32) -> u64;
    /// Eight bits from `shift` on.
    fn digit(self, shift: u32) -> usize;
}
macro_rules! words {
    ($($word:ident)*) => {
        $(
            #[expect(
                clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_lossless,
                reason = "drops bits that are masked or known to be 0"
            )]
            #[allow(trivial_numeric_casts, reason = "one of the words is of the type of keys")]
            impl KeyedIndex for $word {
                #[inline]
                fn new(key: u64, index: u32, low: u32) -> Self {
                    (key as $word) << low | index as $word
                }
                #[inline]
                fn index(self, low: u32) -> u32 {
                    self as u32 & (!0u64 >> (u64::BITS - low)) as u32
                }
                #[inline]
                fn above(self, shift: u32) -> u64 {
                    (self >> shift) as u64
                }
                #[inline]
                fn digit(self, shift: u32) -> usize {
                    usize::from((self >> shift) as u8)
                }
            }
        )*
    };
}
words!(u32 u64 u128);

/// Returns the bits of the numbers below `count`, at least one.
pub(super) fn bits(count: u64) -> u32 {
    (u64::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// Returns the bytes in which `count` keys of `key_bits` bits are sorted.
pub(super) fn bytes(count: usize, key_bits: u32) -> usize {
    let word = match key_bits + bits(u64::try_from(count).unwrap_or(u64::MAX)) {
        0..=32 => size_of::<u32>(),
        33..=64 => size_of::<u64>(),
        _ => size_of::<u128>(),
    };
    count.saturating_mul(2 * word).saturating_add(size_of::<u128>())
}

/// Orders indices by the key of each; equal ones keep their order. `space` is memory to work in.
pub(super) fn sort(keys: &[u64], order: &mut [u32], space: &mut Vec<u128>, run: RadixMode<'_>) {
    let (Some(&least), Some(&most)) = (keys.iter().min(), keys.iter().max()) else { return };
    if least == most {
        return;
    }
    let low = bits(u64::try_from(keys.len()).unwrap_or(u64::MAX));
    match low + u64::BITS - (most - least).leading_zeros() {
        0..=32 => sort_words::<u32>(keys, least, order, low, space, run),
        33..=64 => sort_words::<u64>(keys, least, order, low, space, run),
        _ => sort_words::<u128>(keys, least, order, low, space, run),
    }
}

fn sort_words<W: KeyedIndex>(
    keys: &[u64],
    least: u64,
    order: &mut [u32],
    low: u32,
    space: &mut Vec<u128>,
    run: RadixMode<'_>,
) {
    let count = order.len();
    let room = (2 * count * size_of::<W>()).div_ceil(size_of::<u128>());
    if space.len() < room {
        space.resize(room, 0);
    }
    let (words, rest) = bytemuck::cast_slice_mut::<u128, W>(space).split_at_mut(count);
    for (word, &index) in words.iter_mut().zip(&*order) {
        *word = W::new(keys[super::at(index)] - least, index, low);
    }
    if words.is_sorted_by_key(|word| word.above(low)) {
        return;
    }
    sort_list(words, &mut rest[..count], low, false, run);
    for (index, word) in order.iter_mut().zip(&*words) {
        *index = word.index(low);
    }
}

/// Sorts `from` by the bits from `low` on. The sorted list is in `to` if `moves`, and otherwise in
/// `from`.
fn sort_list<W: KeyedIndex>(
    from: &mut [W],
    to: &mut [W],
    low: u32,
    moves: bool,
    run: RadixMode<'_>,
) {
    let first = from.first().map_or(0, |word| word.above(low));
    let different = from.iter().fold(0, |bits, word| bits | (word.above(low) ^ first));
    let high = u64::BITS - different.leading_zeros();
    let mut is_moved = false;
    if from.len() <= SHORT {
        from.sort_by_key(|word| word.above(low));
    } else if from.len() <= CACHED || high <= DIGIT {
        let mut lists = (&mut *from, &mut *to);
        for shift in (low..low + high).step_by(8) {
            let counts = counts(lists.0, shift);
            if !counts.contains(&lists.0.len()) {
                distribute(lists.0, lists.1, &counts, shift);
                lists = (lists.1, lists.0);
                is_moved = !is_moved;
            }
        }
    } else {
        let shift = low + high - DIGIT;
        let counts = counts(from, shift);
        distribute(from, to, &counts, shift);
        let mut rest = (&mut *to, &mut *from);
        let mut parts = Vec::with_capacity(VALUES);
        for count in counts {
            let (part, to) = rest.0.split_at_mut(count);
            let (spare, from) = rest.1.split_at_mut(count);
            parts.push((part, spare));
            rest = (to, from);
        }
        let sort = |(part, spare): (&mut [W], &mut [W])| {
            if !run.stop.is_set() {
                sort_list(part, spare, low, !moves, run);
            }
        };
        match run.in_parallel {
            true => parts.into_par_iter().for_each(sort),
            false => parts.into_iter().for_each(sort),
        }
        return;
    }
    match (is_moved, moves) {
        (true, false) => from.copy_from_slice(to),
        (false, true) => to.copy_from_slice(from),
        (true, true) | (false, false) => {}
    }
}

/// Returns the number of words with each digit at `shift`.
#[inline(never)]
fn counts<W: KeyedIndex>(words: &[W], shift: u32) -> [usize; VALUES] {
    let mut counts = [0; VALUES];
    for word in words {
        counts[word.digit(shift)] += 1;
    }
    counts
}

/// Moves the words into the order of their digits at `shift`.
// Inlined into `sort_list`, this loop and that of `counts` take twice the time.
#[inline(never)]
fn distribute<W: KeyedIndex>(from: &[W], to: &mut [W], counts: &[usize; VALUES], shift: u32) {
    let mut next = [0; VALUES];
    let mut start = 0;
    for (next, count) in next.iter_mut().zip(counts) {
        *next = start;
        start += count;
    }
    for &word in from {
        let next = &mut next[word.digit(shift)];
        to[*next] = word;
        *next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orders are those of the standard library's stable sort.
    fn check(keys: &[u64]) {
        let count = u32::try_from(keys.len()).unwrap();
        let mut space = Vec::new();
        for first in [(0..count).collect(), (0..count).rev().collect::<Vec<u32>>()] {
            let (mut order, mut expected) = (first.clone(), first);
            sort(
                keys,
                &mut order,
                &mut space,
                RadixMode { stop: &Stop::default(), in_parallel: true },
            );
            expected.sort_by_key(|&i| keys[super::super::at(i)]);
            assert!(order == expected, "{} keys", keys.len());
        }
        assert!(space.len() * size_of::<u128>() <= bytes(keys.len(), u64::BITS));
    }

    #[test]
    fn orders_are_stable() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 33
        };
        for count in [0, 1, 2, 47, 48, 49, 50, 256, 1000, 5000, CACHED, CACHED + 1, 3 * CACHED] {
            for bits in [0, 1, 7, 8, 9, 16, 20, 31, 33, 48, 64] {
                let keys: Vec<u64> = (0..count)
                    .map(|_| next().checked_shr(u64::BITS - bits).unwrap_or(0).wrapping_add(12))
                    .collect();
                check(&keys);
            }
            // Most keys in one part, and digits that are constant.
            let few: Vec<u64> = (0..count).map(|_| 1 << (next() % 64) | 5 << 40).collect();
            check(&few);
            check(&(0..u64::try_from(count).unwrap()).collect::<Vec<_>>());
        }
    }
}
