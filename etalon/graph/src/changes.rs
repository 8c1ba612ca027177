//! What has changed between two modules: counterparts, and how they differ.
use crate::measure::At;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How an instruction differs from its counterpart in the other module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// In nothing that counts.
    Same,
    /// It is the same in another computation.
    Moved,
    /// In its operands, its shape or its attributes.
    Changed,
    /// The second module has none.
    Removed,
    /// The first module has none.
    Added,
}

impl Change {
    const fn key(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Moved => "moved",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }
}

/// The changes of two modules, in the order in which a page lists them.
#[derive(Debug, Default)]
pub struct Changes {
    sides: [BTreeMap<At, Value>; 2],
    pub(super) listed: Vec<[Option<At>; 2]>,
}

impl Changes {
    /// Adds an instruction of one module, or of both: the indices of its computation and of itself.
    /// `what` says in what it has changed.
    pub fn add(&mut self, places: [Option<(usize, usize)>; 2], change: Change, what: &str) {
        for side in 0..2 {
            let Some(at) = places[side] else { continue };
            let mut fields = json!({ "change": change.key() });
            if let Some(other) = places[1 - side] {
                fields["pair"] = json!(other);
            }
            if !what.is_empty() {
                fields["what"] = json!(what);
            }
            self.sides[side].insert(at, fields);
        }
    }

    /// Adds an instruction to the list of changes.
    pub fn list(&mut self, places: [Option<(usize, usize)>; 2]) {
        self.listed.push(places);
    }

    /// Returns what is known of an instruction of a module.
    pub(super) fn of(&self, side: usize, at: At) -> Option<&Value> {
        self.sides[side].get(&at)
    }
}
