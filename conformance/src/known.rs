//! Lists of known findings: cases that are not good in a backend, and what the cause is called.
use crate::results::Record;
use crate::suite::matches;

/// A list of known findings.
///
/// A line is `VERDICT PATTERN | CAUSE`. `*` stands for any characters, and as a verdict for any
/// that is bad: damaged memory has many of them. Lines that start with `#` are comments.
///
/// ```
/// use conformance::Known;
/// use conformance::results::{Record, Verdict};
/// let known = Known::parse("# of version 3\ndiffers cosine/c*/* | Large complex numbers")?;
/// let entry = known.entry(&Record::new("cosine/c64/finite-values", Verdict::Differs));
/// assert_eq!(entry.unwrap().cause, "Large complex numbers");
/// assert!(known.entry(&Record::new("cosine/c64/finite-values", Verdict::Crashed)).is_none());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known(Vec<KnownEntry>);

/// A line of a list of known findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEntry {
    /// The name of a verdict, or `*`.
    pub verdict: String,
    /// The pattern that names match.
    pub pattern: String,
    /// What the cause is called.
    pub cause: String,
}

impl Known {
    /// Parses a list.
    ///
    /// # Errors
    /// The line that has another form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entry = |line: &str| {
            let (case, cause) = line.split_once(" | ")?;
            let (verdict, pattern) = case.split_once(' ')?;
            let [verdict, pattern, cause] = [verdict, pattern.trim(), cause].map(str::to_owned);
            Some(KnownEntry { verdict, pattern, cause })
        };
        let entries = lines.map(|line| entry(line).ok_or_else(|| line.to_owned()));
        entries.collect::<Result<_, _>>().map(Self)
    }
    /// Returns the entries.
    pub fn entries(&self) -> &[KnownEntry] {
        &self.0
    }
    /// Returns the entry of a record that is not good.
    pub fn entry(&self, record: &Record) -> Option<&KnownEntry> {
        self.0.iter().find(|entry| entry.covers(record.verdict.name(), &record.name))
    }
}

impl KnownEntry {
    /// Returns whether a verdict on a case of this name is known.
    pub(crate) fn covers(&self, verdict: &str, name: &str) -> bool {
        (self.verdict == "*" || self.verdict == verdict) && matches(&self.pattern, name)
    }
}
