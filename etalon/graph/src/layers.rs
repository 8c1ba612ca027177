//! Layers: parts of a computation that are equal one after the other, such as those of a model whose layers are unrolled.
//!
//! The items of a level, in an order in which operands come first, are letters: instructions with the same opcode and shape are the
//! same letter, and so are groups of the same instructions. A part that repeats at once is a layer.

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
    let mut letters: Vec<Option<usize>> = letters.iter().copied().map(Some).collect();
    let mut found = Vec::new();
    while let Some(run) = longest(&letters, weights) {
        let Run { start, period, length } = run;
        let times = length / period;
        let starts = start..=start + length % period;
        let cost = |&start: &usize| -> usize {
            (0..times).map(|part| live.get(start + part * period).copied().unwrap_or(0)).sum()
        };
        let start = starts.min_by_key(cost).unwrap_or(start);
        let one = Repetition { start, period, times };
        if weights[start..start + period].iter().sum::<usize>() >= fewest {
            found.push(one);
            letters[one.range()].fill(None);
        } else {
            // A multiple of its period is no layer, either.
            letters[run.start..run.start + run.length].fill(None);
        }
    }
    found
}

/// A stretch of letters, each of which is the one a period later.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    period: usize,
    /// The letters of it, with those of the last period.
    length: usize,
}

/// Returns the stretch of at least three periods whose whole periods have most instructions, of several the one of the shortest
/// period.
fn longest(letters: &[Option<usize>], weights: &[usize]) -> Option<Run> {
    let mut before = vec![0; weights.len() + 1];
    for (at, weight) in weights.iter().enumerate() {
        before[at + 1] = before[at] + weight;
    }
    let count = letters.len();
    let longest_period = (count / TIMES).min(COMPARISONS / count.max(1));
    let mut best: Option<(usize, Run)> = None;
    for period in 1..=longest_period {
        let mut equal = 0;
        for at in 0..=count - period {
            let is_equal =
                at + period < count && letters[at].is_some() && letters[at] == letters[at + period];
            if is_equal {
                equal += 1;
                continue;
            }
            let length = equal + period;
            if equal > 0 && length >= TIMES * period {
                let start = at - equal;
                let whole = length / period * period;
                let weight = before[start + whole] - before[start];
                if best.is_none_or(|(most, _)| weight > most) {
                    best = Some((weight, Run { start, period, length }));
                }
            }
            equal = 0;
        }
    }
    best.map(|(_, run)| run)
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
    fn a_layer_begins_where_few_values_are_live() {
        let letters: Vec<usize> = "abcabcabcab".bytes().map(usize::from).collect();
        let live = [9, 9, 1, 9, 9, 1, 9, 9, 1, 9, 9, 9];
        let one = Repetition { start: 2, period: 3, times: 3 };
        assert_eq!(repetitions(&letters, &[1; 11], &live, 3), [one]);
    }
}
