//! Results of a conformance run: one record a case, as JSON, JUnit or a page of HTML.
//!
//! ```text
//! Record ─┬─> Results ─┬─ to_json ──> from_json ─> merge, Changes::between
//! Record ─┘            ├─ to_junit
//!                      └─ to_html
//! ```
//!
//! Cases are identified by their names. The results of shards merge into those of a single run,
//! whatever the order.
//!
//! ```
//! use conformance::results::{Changes, Record, Results, Verdict};
//! let mut before = Results::new("cpu");
//! before.push(Record::new("abs/f32/nan", Verdict::Differs));
//! let mut after = Results::new("cpu");
//! after.push(Record::new("abs/f32/nan", Verdict::Agrees));
//! let changes = Changes::between(&before, &after);
//! assert_eq!(changes.better[0].name, "abs/f32/nan");
//! assert!(changes.worse.is_empty());
//! ```
mod changes;
mod html;
mod junit;
mod record;

pub use changes::{Change, Changes};
pub use record::{Element, Measures, Record, Reproduction, Shard, Verdict};

use crate::backend::{About, Backends};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The results of one run of a suite, or of a part of it, against one backend.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Results {
    /// The name of the backend.
    pub backend: String,
    /// What is known of the backend: its versions and its options.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// The version of Etalon that judged the results.
    pub etalon: String,
    /// The parts of the cases that ran; none if all of them did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<Shard>,
    /// Warnings that belong to no single case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The cases, by name.
    #[serde(with = "records")]
    records: BTreeMap<String, Record>,
}

/// Why results cannot be read or merged.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file is not JSON of this form.
    #[error("not the results of `etalon conform --json`: {0}")]
    Json(#[from] serde_json::Error),
    /// Results of different backends or versions.
    #[error("{what} differs: `{one}` and `{other}`")]
    Unrelated {
        /// The property that differs.
        what: &'static str,
        /// Its value in the first results.
        one: String,
        /// Its value in the others.
        other: String,
    },
    /// A part of a run that both have.
    #[error("shard {0} is in both results")]
    ShardTwice(Shard),
    /// A case that both have.
    #[error("case `{0}` is in both results")]
    Twice(String),
}

impl Results {
    /// Returns the empty results of a backend, judged by this version.
    pub fn new(backend: impl Into<String>) -> Self {
        let etalon = env!("CARGO_PKG_VERSION").to_owned();
        Self { backend: backend.into(), etalon, ..Self::default() }
    }

    /// Returns the empty results of backends of one kind.
    pub fn of(backends: &Backends) -> Self {
        Self { about: backends.about().clone(), ..Self::new(backends.name()) }
    }

    /// Adds a record. A record of the same name is replaced by the worse of both.
    pub fn push(&mut self, record: Record) {
        match self.records.entry(record.name.clone()) {
            std::collections::btree_map::Entry::Vacant(slot) => drop(slot.insert(record)),
            std::collections::btree_map::Entry::Occupied(mut slot) => {
                if record.verdict > slot.get().verdict {
                    slot.insert(record);
                }
            }
        }
    }

    /// Returns the records, in the order of their names.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// Returns the record of a case.
    pub fn get(&self, name: &str) -> Option<&Record> {
        self.records.get(name)
    }

    /// Returns the number of cases with each verdict, from the best to the worst.
    pub fn counts(&self) -> Vec<(Verdict, usize)> {
        let count = |verdict| self.records().filter(|record| record.verdict == verdict).count();
        Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).collect()
    }

    /// Returns whether a case differs, or has no result that the backend should have.
    pub fn is_bad(&self) -> bool {
        self.records().any(|record| record.verdict.is_bad())
    }

    /// Merges the results of another part of the same run.
    ///
    /// # Errors
    /// If the backends, versions or numbers of shards differ, or both have the same shard or the
    /// same case.
    pub fn merge(&mut self, other: Self) -> Result<(), ResultsError> {
        let unrelated = |what, one: &String, other: &String| ResultsError::Unrelated {
            what,
            one: one.clone(),
            other: other.clone(),
        };
        if self.backend != other.backend {
            return Err(unrelated("the backend", &self.backend, &other.backend));
        }
        if self.etalon != other.etalon {
            return Err(unrelated("the version of Etalon", &self.etalon, &other.etalon));
        }
        if let Some(shard) = other.shards.iter().find(|shard| self.shards.contains(shard)) {
            return Err(ResultsError::ShardTwice(*shard));
        }
        if let (Some(one), Some(other)) = (self.shards.first(), other.shards.first())
            && one.count != other.count
        {
            let counts = [one, other].map(|shard| shard.count.to_string());
            return Err(unrelated("the number of shards", &counts[0], &counts[1]));
        }
        if let Some(name) = other.records.keys().find(|name| self.records.contains_key(*name)) {
            return Err(ResultsError::Twice(name.clone()));
        }
        for (name, value) in self.about.differing(&other.about) {
            self.warnings.push(format!("the parts are of backends whose {name} differs: {value}"));
        }
        self.shards.extend(other.shards);
        self.shards.sort_by_key(|shard| shard.index);
        self.warnings.extend(other.warnings);
        self.records.extend(other.records);
        Ok(())
    }

    /// Returns the parts that are missing in merged results; if there are none, these become the
    /// results of a whole run.
    pub fn complete(&mut self) -> Vec<Shard> {
        let count = self.shards.first().map_or(0, |shard| shard.count);
        let all = (1..=count).map(|index| Shard { index, count });
        let missing: Vec<Shard> = all.filter(|shard| !self.shards.contains(shard)).collect();
        if missing.is_empty() {
            self.shards.clear();
        }
        missing
    }

    /// Returns the results as JSON, one line a case.
    pub fn to_json(&self) -> String {
        let header = Self { records: BTreeMap::new(), ..self.clone() };
        let header = serde_json::to_string(&header).expect("maps have strings as keys");
        let header = header.strip_suffix("[]}").expect("the records come last");
        let line = |record| serde_json::to_string(record).expect("maps have strings as keys");
        let lines: Vec<String> = self.records().map(line).collect();
        format!("{header}[\n{}\n]}}\n", lines.join(",\n"))
    }

    /// Reads what [`to_json`](Self::to_json) returns.
    ///
    /// # Errors
    /// If the text is not of that form.
    pub fn from_json(text: &str) -> Result<Self, ResultsError> {
        Ok(serde_json::from_str(text)?)
    }
}

impl std::fmt::Display for Results {
    /// Writes the backend, if more than its name is known, and the counts, each on one line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.about.is_empty() {
            writeln!(f, "{}: {}", self.backend, self.about)?;
        }
        let counts = self.counts().into_iter().filter(|&(_, count)| count > 0);
        let counts: Vec<String> =
            counts.map(|(verdict, count)| format!("{count} {}", verdict.words())).collect();
        f.write_str(if counts.is_empty() { "no cases" } else { "" })?;
        f.write_str(&counts.join(", "))
    }
}

/// Records as a list; names are in the records.
mod records {
    use super::{BTreeMap, Record};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        records: &BTreeMap<String, Record>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(records.values())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Record>, D::Error> {
        let mut records = BTreeMap::new();
        for record in Vec::<Record>::deserialize(deserializer)? {
            let name = record.name.clone();
            if records.insert(name.clone(), record).is_some() {
                return Err(serde::de::Error::custom(format!("case `{name}` occurs twice")));
            }
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(records: &[(&str, Verdict)]) -> Results {
        let mut results = Results::new("cpu");
        for &(name, verdict) in records {
            results.push(Record::new(name, verdict));
        }
        results
    }

    #[test]
    fn json_is_read_back() {
        let mut results = results(&[("a/f32/x", Verdict::Agrees), ("b/f32/y", Verdict::Differs)]);
        results.shards = vec![Shard { index: 1, count: 2 }];
        results.warnings.push("a \"warning\"\n</script>".to_owned());
        let mut record = Record::new("c", Verdict::Crashed);
        record.reason = "signal 6".to_owned();
        record.measures =
            Some(Measures { max_error: f64::INFINITY, bound: 0.5, ..Measures::default() });
        results.push(record);
        let text = results.to_json();
        assert_eq!(text.lines().count(), 5);
        assert_eq!(Results::from_json(&text).unwrap(), results);
        assert_eq!(Results::from_json(&Results::new("x").to_json()).unwrap(), Results::new("x"));
        assert_eq!(results.to_string(), "1 agree, 1 crashed, 1 differ");
    }

    #[test]
    fn shards_merge_into_one_run() {
        let all = results(&[("a", Verdict::Agrees), ("b", Verdict::Differs)]);
        let mut one = results(&[("b", Verdict::Differs)]);
        one.merge(results(&[("a", Verdict::Agrees)])).unwrap();
        assert_eq!(one, all);
        let about = |version| About::from_iter([("pjrt_api", "0.81"), ("format", version)]);
        let [mut hlo, mlir] =
            ["hlo", "mlir"].map(|format| Results { about: about(format), ..results(&[]) });
        hlo.merge(mlir).unwrap();
        assert_eq!(hlo.warnings, ["the parts are of backends whose format differs: hlo, mlir"]);
        let error = one.merge(results(&[("a", Verdict::Agrees)])).unwrap_err();
        assert_eq!(error.to_string(), "case `a` is in both results");
        let error = one.merge(Results::new("gpu")).unwrap_err();
        assert_eq!(error.to_string(), "the backend differs: `cpu` and `gpu`");
    }

    #[test]
    fn a_shard_is_merged_once() {
        let part = |index, count| {
            let shards = vec![Shard { index, count }];
            Results { shards, ..results(&[]) }
        };
        let mut merged = part(3, 3);
        merged.merge(part(1, 3)).unwrap();
        let error = |merged: &mut Results, other| merged.merge(other).unwrap_err().to_string();
        assert_eq!(error(&mut merged, part(1, 3)), "shard 1/3 is in both results");
        assert_eq!(error(&mut merged, part(2, 4)), "the number of shards differs: `3` and `4`");
        assert_eq!(merged.complete(), [Shard { index: 2, count: 3 }]);
        merged.merge(part(2, 3)).unwrap();
        assert_eq!(merged.complete(), []);
        assert_eq!(merged, results(&[]));
    }

    #[test]
    fn the_worse_of_two_records_stays() {
        let mut results = results(&[("a", Verdict::Differs)]);
        results.push(Record::new("a", Verdict::Agrees));
        assert_eq!(results.get("a").unwrap().verdict, Verdict::Differs);
        assert!(results.is_bad());
    }
}
