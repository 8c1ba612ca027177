//! The record of one case.
use field::fingerprint::stable_hash;
use serde::{Deserialize, Serialize};

/// The verdict on a case, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The case was not run.
    Skipped,
    /// The result has the bits of the correctly rounded one.
    Agrees,
    /// The result differs by no more than a correct evaluation in the same types may.
    WithinBound,
    /// The result differs within a bound of the size of the result: no wrong value would break it.
    NotTested,
    /// The specification leaves the result open, or rounding errors decide between very different
    /// results.
    Undefined,
    /// The backend does not implement something the module needs.
    Unsupported,
    /// Etalon has no result itself: the module fails, or Etalon does.
    NoReference,
    /// Etalon's result is not confirmed by its second computation, or not within its own bound.
    EtalonBug,
    /// Two executions of the same module on the same arguments gave different results.
    Unstable,
    /// The backend does not compile a valid module.
    Rejected,
    /// The execution failed.
    Failed,
    /// The backend did not answer in time.
    TimedOut,
    /// The backend died.
    Crashed,
    /// The result is wrong.
    Differs,
}

impl Verdict {
    /// All verdicts, from the best to the worst.
    pub const ALL: [Self; 14] = [
        Self::Skipped,
        Self::Agrees,
        Self::WithinBound,
        Self::NotTested,
        Self::Undefined,
        Self::Unsupported,
        Self::NoReference,
        Self::EtalonBug,
        Self::Unstable,
        Self::Rejected,
        Self::Failed,
        Self::TimedOut,
        Self::Crashed,
        Self::Differs,
    ];

    /// Returns whether there is a result of the backend.
    pub const fn is_executed(self) -> bool {
        match self {
            Self::Agrees
            | Self::WithinBound
            | Self::NotTested
            | Self::Undefined
            | Self::EtalonBug
            | Self::Unstable
            | Self::Differs => true,
            Self::Skipped
            | Self::Unsupported
            | Self::NoReference
            | Self::Rejected
            | Self::Failed
            | Self::TimedOut
            | Self::Crashed => false,
        }
    }

    /// Returns the name that JSON has.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Agrees => "agrees",
            Self::WithinBound => "within_bound",
            Self::NotTested => "not_tested",
            Self::EtalonBug => "etalon_bug",
            Self::Undefined => "undefined",
            Self::Unsupported => "unsupported",
            Self::NoReference => "no_reference",
            Self::Unstable => "unstable",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Crashed => "crashed",
            Self::Differs => "differs",
        }
    }

    /// Returns the words that follow a number.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agree",
            Self::Differs => "differ",
            Self::WithinBound => "within bound",
            Self::NotTested => "not tested",
            Self::EtalonBug => "bugs of Etalon",
            Self::TimedOut => "timed out",
            Self::NoReference => "without reference",
            Self::Skipped
            | Self::Undefined
            | Self::Unsupported
            | Self::Unstable
            | Self::Rejected
            | Self::Failed
            | Self::Crashed => self.name(),
        }
    }

    /// Returns whether the backend is at fault, or may be.
    pub const fn is_bad(self) -> bool {
        match self {
            Self::Skipped
            | Self::Agrees
            | Self::WithinBound
            | Self::NotTested
            | Self::Undefined
            | Self::Unsupported => false,
            Self::NoReference
            | Self::EtalonBug
            | Self::Unstable
            | Self::Rejected
            | Self::Failed
            | Self::TimedOut
            | Self::Crashed
            | Self::Differs => true,
        }
    }
}

/// The part of the cases that a run takes, by the hash of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Number of the part, from 1.
    pub index: u32,
    /// Number of parts.
    pub count: u32,
}

impl Shard {
    /// Returns whether the part has the case of this name. Other cases that are added or removed do
    /// not change the answer.
    ///
    /// ```
    /// use conformance::results::Shard;
    /// let has = |index| Shard { index, count: 3 }.has("abs/f32/nan");
    /// assert_eq!((1..=3).filter(|&index| has(index)).count(), 1);
    /// ```
    pub fn has(self, name: &str) -> bool {
        (stable_hash(name) >> 32) % u64::from(self.count.max(1))
            == u64::from(self.index.saturating_sub(1))
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;
    /// Parses `2/5`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            Some(_) | None => Err("expected I/N with I from 1 to N, such as 1/4".to_owned()),
        }
    }
}

/// A case and the verdict on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The name: `op/type/rule[x=1;y=2]` in the suite.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The opcode that the case tests; empty for programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub op: String,
    /// The element type that the case tests.
    #[serde(default, skip_serializing_if = "String::is_empty", rename = "type")]
    pub ty: String,
    /// The legal mode that explains the difference, such as `flushed denormals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The difference, or why there is no result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How the process of the backend died: equal texts are the same failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub death: Option<String>,
    /// The size of the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<Measures>,
    /// The data that another person needs to reproduce the case; only of cases that are not good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<Reproduction>,
    /// Seconds that the backend took to compile and to execute.
    #[serde(default)]
    pub seconds: f64,
}

/// The size of a difference.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measures {
    /// Elements compared.
    pub elements: usize,
    /// Elements that are wrong.
    pub wrong: usize,
    /// The arrays of the result that have some, on any device: 2 is `out2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong_arrays: Vec<usize>,
    /// The largest distance of two finite floats, in units in the last place.
    pub max_ulps: u64,
    /// The distance of the worst element in units in the last place, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_ulps: Option<u64>,
    /// The largest error, relative as the bound is.
    #[serde(with = "number")]
    pub max_error: f64,
    /// The bound of the element with that error.
    #[serde(with = "number")]
    pub bound: f64,
    /// Numbers of elements by distance: element k counts distances of at least 2^(k-1) and less
    /// than 2^k units, the first one equal elements, and element 64 infinities, NaN, integers and
    /// booleans that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<usize>,
    /// The element that is farthest beyond its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Element>,
}

/// An element that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// The place in the result, such as `out0[3,1]`.
    pub place: String,
    /// The value of the backend.
    pub actual: String,
    /// The correct value.
    pub expected: String,
    /// The elements of the arguments it was computed from, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// The data that another person needs to reproduce a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reproduction {
    /// The module.
    pub module: String,
    /// The arguments; large arrays are elided.
    pub arguments: Vec<String>,
    /// The correct results.
    pub expected: Vec<String>,
    /// The results of the backend.
    pub actual: Vec<String>,
    /// The command line.
    pub command: String,
}

impl Record {
    /// Returns a record with nothing but a name and a verdict.
    ///
    /// The opcode and the element type are taken from a name of the form `op/type/rule`.
    pub fn new(name: impl Into<String>, verdict: Verdict) -> Self {
        let name = name.into();
        let mut parts = name.split('/').map(str::to_owned);
        let (op, ty, rule) = (parts.next(), parts.next(), parts.next());
        let (op, ty) = rule.and(op.zip(ty)).filter(|(op, _)| is_opcode(op)).unwrap_or_default();
        Self {
            name,
            verdict,
            op,
            ty,
            label: None,
            reason: String::new(),
            death: None,
            measures: None,
            reproduction: None,
            seconds: 0.0,
        }
    }

    /// Returns the rule that the case tests: the name without opcode and element type.
    pub fn rule(&self) -> &str {
        match self.op.is_empty() {
            true => &self.name,
            false => self.name.splitn(3, '/').nth(2).unwrap_or(&self.name),
        }
    }
}

impl From<crate::Report> for Record {
    /// Returns the record of a case that cannot run: its file is malformed, or the arguments are
    /// missing.
    fn from(report: crate::Report) -> Self {
        let mut record = Self::new(&report.name, Verdict::NoReference);
        record.reason = report.details(false);
        record
    }
}

fn is_opcode(name: &str) -> bool {
    hlo::Opcode::from_name(name).is_some()
}

/// Floats in JSON, which has no infinities and no NaN: those are strings.
mod number {
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Other(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if x.is_finite() { serializer.serialize_f64(*x) } else { serializer.collect_str(x) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Number::deserialize(deserializer)? {
            Number::Finite(x) => Ok(x),
            Number::Other(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_op_type_and_rule() {
        let record = Record::new("reduce-window/bf16/sum[pad=-1;stride=2]", Verdict::Agrees);
        assert_eq!((record.op.as_str(), record.ty.as_str()), ("reduce-window", "bf16"));
        assert_eq!(record.rule(), "sum[pad=-1;stride=2]");
        let record = Record::new("/models/lenet/forward.hlo", Verdict::Agrees);
        assert_eq!((record.op.as_str(), record.ty.as_str()), ("", ""));
        assert_eq!(record.rule(), "/models/lenet/forward.hlo");
    }

    #[test]
    fn shards_are_parsed() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 2, count: 5 }));
        for wrong in ["0/5", "6/5", "1", "1/0", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn verdicts_have_the_names_of_json() {
        for verdict in Verdict::ALL {
            let json = serde_json::to_string(&verdict).unwrap();
            assert_eq!(json, format!("\"{}\"", verdict.name()));
        }
        assert!(Verdict::ALL.is_sorted());
    }
}
