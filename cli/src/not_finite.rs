//! `--check-nan=all`: each instruction that computes a NaN or an infinity from finite operands, and how often.
use hlo::diag::Diagnostic;
use interp::{Error, Hooks};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The instructions with a finding, in the order of their first one. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct NotFinite(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// The first error of each instruction, and the number of its errors.
    found: Vec<(Error, u64)>,
    by_instruction: BTreeMap<Option<String>, usize>,
}

impl NotFinite {
    /// Returns the hooks of a device that go on after an error.
    pub(crate) fn attach(&self, hooks: Hooks) -> Hooks {
        let seen = self.clone();
        hooks.not_finite(move |error| seen.add(error))
    }
    fn add(&self, error: Error) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = seen.found.len();
        let name = error.instruction().map(str::to_owned);
        let index = *seen.by_instruction.entry(name).or_insert(next);
        match seen.found.get_mut(index) {
            Some((_, count)) => *count += 1,
            None => seen.found.push((error, 1)),
        }
    }
    /// Returns the first error of each instruction; that of one which has several says how many.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let diagnostic = |(error, count): &(Error, u64)| {
            let mut diagnostic = error.diagnostic();
            if *count > 1 {
                let _ = write!(diagnostic.message, "; {count} times in all");
            }
            diagnostic
        };
        seen.found.iter().map(diagnostic).collect()
    }
}
