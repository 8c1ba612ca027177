//! Known findings: which cases of the suite are not good in a backend, and what docs/findings.md
//! calls the cause.
#![allow(dead_code, reason = "each program uses a part of it")]
use conformance::results::Record;

/// A list of known findings.
///
/// A line is `VERDICT PATTERN | CAUSE`. `*` stands for any characters, and as a verdict for any
/// that is bad: damaged memory has many of them.
pub(crate) struct Known(Vec<Entry>);

pub(crate) struct Entry {
    verdict: String,
    pattern: String,
    pub(crate) cause: String,
}

impl Known {
    /// Parses a list. Lines that start with `#` are comments.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entry = |line: &str| {
            let (case, cause) = line.split_once(" | ")?;
            let (verdict, pattern) = case.split_once(' ')?;
            let [verdict, pattern, cause] = [verdict, pattern.trim(), cause].map(str::to_owned);
            Some(Entry { verdict, pattern, cause })
        };
        lines
            .map(|line| entry(line).ok_or_else(|| line.to_owned()))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Returns the entry of a record that is not good.
    pub(crate) fn entry(&self, record: &Record) -> Option<&Entry> {
        let verdict = record.verdict.name();
        self.0.iter().find(|entry| {
            (entry.verdict == "*" || entry.verdict == verdict)
                && matches(&entry.pattern, &record.name)
        })
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|at| name.get(at..).is_some_and(|name| matches(rest, name)))
        }),
    }
}
