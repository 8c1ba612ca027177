//! Layers: parts of a computation that are equal one after the other, such as those of a model whose layers are unrolled.
//!
//! The items of a level, in an order in which operands come first, are letters: instructions with the same opcode and shape are the
//! same letter, and so are groups of the same instructions. A part that repeats at once is a layer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The fewest times that a part occurs for its parts to be layers.
pub(super) const TIMES: usize = 3;
/// The most comparisons of letters in a search.
const COMPARISONS: usize = 200_000_000;

/// A part of a sequence that occurs several times, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repetition {
    /// The first letter of the first part.
    pub(super) start: usize,
    /// The number of letters of a part.
    pub(super) period: usize,
    /// The number of parts.
    pub(super) times: usize,
}

impl Repetition {
    /// Returns the letters of all parts.
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.period * self.times
    }
}

/// Returns the parts of a sequence that repeat: those that cover most come first, and no two overlap.
///
/// `weights` are the instructions of each letter; a part of fewer than `fewest` is no layer, such as a sum in a chain of sums. Where a
/// layer may begin at several letters, it is the one before which the fewest values are live.
pub(super) fn repetitions(
    letters: &[usize],
    weights: &[usize],
    live: &[usize],
    fewest: usize,
) -> Vec<Repetition> {
    let before = sums(weights);
    let mut runs = runs(letters, &before);
    // The letters that are taken, from where to where.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = Vec::new();
    while let Some(run) = runs.pop() {
        let Run { period: Reverse(period), start: Reverse(first), length, .. } = run;
        let end = first + length;
        let inside = taken.range(..end).rev().take_while(|&(_, &to)| to > first);
        let mut inside: Vec<(usize, usize)> = inside.map(|(&from, &to)| (from, to)).collect();
        if !inside.is_empty() {
            // What is left of it, between those.
            inside.reverse();
            inside.push((end, end));
            let mut start = first;
            for (from, to) in inside {
                runs.extend(Run::of(start, from.saturating_sub(start), period, &before));
                start = to;
            }
            continue;
        }
        let times = length / period;
        let starts = first..=first + length % period;
        let cost = |&start: &usize| -> usize {
            (0..times).map(|part| live.get(start + part * period).copied().unwrap_or(0)).sum()
        };
        let start = starts.min_by_key(cost).unwrap_or(first);
        let one = Repetition { start, period, times };
        if before[start + period] - before[start] >= fewest {
            found.push(one);
            taken.insert(one.range().start, one.range().end);
        } else {
            // A multiple of its period is no layer, either.
            taken.insert(first, end);
        }
    }
    found
}

/// A stretch of at least three periods, each letter of which is the one a period later: the largest is the one whose whole periods have
/// most instructions, of several the one of the shortest period, then the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    weight: usize,
    period: Reverse<usize>,
    start: Reverse<usize>,
    /// The letters of it, with those of the last period.
    length: usize,
}

impl Run {
    /// Returns the stretch of these letters, if it is long enough; `before` are the instructions before each letter.
    fn of(start: usize, length: usize, period: usize, before: &[usize]) -> Option<Self> {
        let weight = before[start + length / period * period] - before[start];
        let (period, start) = (Reverse(period), Reverse(start));
        (length >= TIMES * period.0).then_some(Self { weight, period, start, length })
    }
}

/// Returns the stretches that are not part of a longer one.
fn runs(letters: &[usize], before: &[usize]) -> BinaryHeap<Run> {
    let count = letters.len();
    let longest_period = (count / TIMES).min(COMPARISONS / count.max(1));
    let mut runs = BinaryHeap::new();
    for period in 1..=longest_period {
        let mut equal = 0;
        let mut end = |at: usize, equal: usize| {
            if equal > 0 {
                runs.extend(Run::of(at - equal, equal + period, period, before));
            }
        };
        for (at, (one, other)) in letters.iter().zip(&letters[period..]).enumerate() {
            if one == other {
                equal += 1;
            } else {
                end(at, equal);
                equal = 0;
            }
        }
        end(count - period, equal);
    }
    runs
}

/// Returns the sums of the numbers before each one, and of all.
fn sums(numbers: &[usize]) -> Vec<usize> {
    let mut sum = 0;
    let before = numbers.iter().map(|number| {
        sum += number;
        sum
    });
    std::iter::once(0).chain(before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, fewest: usize) -> Vec<(usize, usize, usize)> {
        let letters: Vec<usize> = text.bytes().map(usize::from).collect();
        let weights = vec![1; letters.len()];
        let found = repetitions(&letters, &weights, &[], fewest);
        found.into_iter().map(|one| (one.start, one.period, one.times)).collect()
    }

    #[test]
    fn parts_that_repeat_are_layers() {
        assert_eq!(found("xabcabcabcabcy", 3), [(1, 3, 4)]);
        assert_eq!(found("xabcabcabcyzdefgdefgdefgh", 3), [(12, 4, 3), (1, 3, 3)]);
        // Two times are not enough, and neither is one letter, in any multiple.
        assert_eq!(found("abcabcd", 3), []);
        assert_eq!(found("aaaaaaaaaaaaaaaaaaaa", 3), []);
        // A chain inside of a layer is a part of it.
        assert_eq!(found("aaaabaaaabaaaabc", 3), [(0, 5, 3)]);
        assert_eq!(found("", 3), []);
    }

    #[test]
    fn many_short_parts_are_found_at_once() {
        // Digits of a sequence without order, in which some are repeated everywhere.
        let mut state = 1u32;
        let mut digit = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + u8::try_from(state >> 31).unwrap_or_default())
        };
        let mut text: String = (0..4000).map(|_| digit()).collect();
        assert_eq!(found(&text, 40), []);
        text.insert_str(1000, &"abcdefghij".repeat(5));
        assert_eq!(found(&text, 10), [(1000, 10, 5)]);
    }

    #[test]
    fn a_layer_begins_where_few_values_are_live() {
        let letters: Vec<usize> = "abcabcabcab".bytes().map(usize::from).collect();
        let live = [9, 9, 1, 9, 9, 1, 9, 9, 1, 9, 9, 9];
        let one = Repetition { start: 2, period: 3, times: 3 };
        assert_eq!(repetitions(&letters, &[1; 11], &live, 3), [one]);
    }
}
