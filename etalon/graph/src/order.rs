//! The order of the items of a level: which use which, and which depend on each other.
use std::collections::BTreeSet;

/// The items of a level that each item uses, and those that use it.
pub(super) struct Graph {
    pub(super) operands: Vec<BTreeSet<usize>>,
    pub(super) users: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// Returns the items that use no other.
    pub(super) fn sources(&self) -> impl Iterator<Item = usize> {
        (0..self.operands.len()).filter(|&at| self.operands[at].is_empty())
    }

    /// Removes an item that uses no other. Returns those that use no other afterwards.
    pub(super) fn remove(&mut self, at: usize) -> Vec<usize> {
        let mut free = Vec::new();
        for user in std::mem::take(&mut self.users[at]) {
            self.operands[user].remove(&at);
            if self.operands[user].is_empty() {
                free.push(user);
            }
        }
        free
    }

    /// Returns the items that lie on a cycle, or between two cycles.
    pub(super) fn cyclic(mut self) -> Vec<usize> {
        // What follows no cycle is removed first, then what no cycle follows.
        let mut left: BTreeSet<usize> = (0..self.operands.len()).collect();
        for _ in 0..2 {
            let mut ready: Vec<usize> = self.sources().filter(|at| left.contains(at)).collect();
            while let Some(at) = ready.pop() {
                left.remove(&at);
                ready.extend(self.remove(at));
            }
            std::mem::swap(&mut self.operands, &mut self.users);
        }
        left.into_iter().collect()
    }
}
