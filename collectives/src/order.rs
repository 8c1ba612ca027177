//! Orders that a machine is free to choose: who goes first, and in which order values are folded.
use fastrand::Rng;

/// Chooses orders by chance: the same for the same seed.
#[derive(Debug)]
pub(crate) struct Order(Rng);

impl Order {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }
    /// Keeps some of them, at least one if there is one, in any order.
    pub(crate) fn some_of(&mut self, all: &mut Vec<usize>) {
        self.0.shuffle(all);
        if !all.is_empty() {
            all.truncate(self.0.usize(1..=all.len()));
        }
    }
    /// The places of a group of `count` members in any order.
    pub(crate) fn of(&mut self, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..count).collect();
        self.0.shuffle(&mut places);
        places
    }
}
