//! Changes between two runs.
use super::{Record, Results, Verdict};
use std::fmt;

/// A case whose verdict changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name of the case.
    pub name: String,
    /// The verdict of the first run; none if the case is new.
    pub before: Option<Verdict>,
    /// The verdict of the second run; none if the case is gone.
    pub after: Option<Verdict>,
}

/// The cases whose verdicts differ between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Cases with a worse verdict, and new cases with a bad one.
    pub worse: Vec<Change>,
    /// Cases with a better verdict.
    pub better: Vec<Change>,
    /// New cases with a good verdict.
    pub added: Vec<Change>,
    /// Cases that the second run does not have.
    pub removed: Vec<Change>,
    /// Number of cases with the same verdict.
    pub same: usize,
}

impl Changes {
    /// Compares two runs.
    pub fn between(before: &Results, after: &Results) -> Self {
        let mut changes = Self::default();
        for record in after.records() {
            let before = before.get(&record.name).map(|record| record.verdict);
            let change = Change { name: record.name.clone(), before, after: Some(record.verdict) };
            match before {
                Some(before) if before == record.verdict => changes.same += 1,
                Some(before) if before < record.verdict => changes.worse.push(change),
                Some(_) => changes.better.push(change),
                None if record.verdict.is_bad() => changes.worse.push(change),
                None => changes.added.push(change),
            }
        }
        let gone = |record: &&Record| after.get(&record.name).is_none();
        let removed = before.records().filter(gone).map(|record| Change {
            name: record.name.clone(),
            before: Some(record.verdict),
            after: None,
        });
        changes.removed = removed.collect();
        changes
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |verdict: Option<Verdict>, none| verdict.map_or(none, Verdict::name);
        let (before, after) = (name(self.before, "new"), name(self.after, "gone"));
        write!(f, "{}: {before} -> {after}", self.name)
    }
}

impl fmt::Display for Changes {
    /// Writes the worse cases, the better ones, those that only one run has, and the totals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worse, better, added, removed, same } = self;
        for (title, changes) in
            [("worse", worse), ("better", better), ("added", added), ("removed", removed)]
        {
            for change in changes {
                writeln!(f, "{title}: {change}")?;
            }
        }
        let (worse, better) = (worse.len(), better.len());
        let (added, removed) = (added.len(), removed.len());
        writeln!(
            f,
            "{worse} worse, {better} better, {added} added, {removed} removed, {same} the same"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Agrees, Crashed, Differs, Unsupported, WithinBound};
    use super::*;

    #[test]
    fn changes_are_sorted_by_kind() {
        let results = |records: &[(&str, Verdict)]| {
            let mut results = Results::new("cpu");
            for &(name, verdict) in records {
                results.push(Record::new(name, verdict));
            }
            results
        };
        let before = results(&[("a", Agrees), ("b", Differs), ("c", Unsupported), ("d", Agrees)]);
        let after = results(&[
            ("a", Crashed),
            ("b", WithinBound),
            ("d", Agrees),
            ("e", Agrees),
            ("f", Differs),
        ]);
        let expected = "worse: a: agrees -> crashed\nworse: f: new -> differs\n\
            better: b: differs -> within_bound\nadded: e: new -> agrees\n\
            removed: c: unsupported -> gone\n2 worse, 1 better, 1 added, 1 removed, 1 the same\n";
        assert_eq!(Changes::between(&before, &after).to_string(), expected);
    }
}
