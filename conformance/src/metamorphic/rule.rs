//! The rule of a twin: the law, and what it draws.
use super::laws::{LAWS, Law};
use field::fingerprint::stable_hash;
use std::fmt;
use std::str::FromStr;

/// How a twin is made: by a law, the seed of what it draws, and the instruction that it rewrites if
/// it does not rewrite several. Its text is `LAW:SEED` or `LAW:SEED:NAME`.
///
/// The instructions of a module and what a law draws for each follow from their names, so that a
/// smaller module has the same twin as far as it has the same instructions.
///
/// ```
/// use conformance::metamorphic::TwinRule;
/// let rule: TwinRule = "split:7:dot.3".parse()?;
/// assert_eq!(rule.to_string(), "split:7:dot.3");
/// assert_eq!("split".parse::<TwinRule>()?.to_string(), "split:0");
/// assert!("cut:7".parse::<TwinRule>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct TwinRule {
    pub(super) law: &'static Law,
    pub(super) seed: u64,
    pub(super) place: Option<String>,
}

impl TwinRule {
    /// Returns the name of the law.
    pub const fn law(&self) -> &'static str {
        self.law.name
    }
    /// Returns what the law draws for an instruction.
    pub(super) fn drawn(&self, name: &str) -> u64 {
        stable_hash(&format!("{} {}", self.seed, stem(name)))
    }
    /// Keeps the instruction that the rule names, or what is like a copy of it, if it names one.
    pub(super) fn keep<T>(&self, found: &mut Vec<T>, name: impl Fn(&T) -> &str) {
        let Some(place) = &self.place else { return };
        let is_there = found.iter().any(|one| name(one) == place);
        found.retain(|one| match is_there {
            true => name(one) == place,
            false => stem(name(one)) == stem(place),
        });
    }
}

/// Returns a name without the number that makes it unique.
fn stem(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.strip_suffix('.').filter(|stem| !stem.is_empty()).unwrap_or(name)
}

impl fmt::Display for TwinRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.law.name, self.seed)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, ":{place}"))
    }
}

impl fmt::Debug for TwinRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for TwinRule {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, ':');
        let name = parts.next().unwrap_or_default();
        let law = LAWS.iter().find(|law| law.name == name).ok_or_else(|| {
            let names: Vec<&str> = super::laws().collect();
            match hlo::diag::nearest(name, names.iter().copied()) {
                Some(near) => format!("`{name}` is not a law: did you mean `{near}`?"),
                None => format!("`{name}` is not a law: they are {}", names.join(", ")),
            }
        })?;
        let seed = parts.next().map_or(Ok(0), |seed| {
            seed.parse().map_err(|_| format!("`{seed}` is not a seed: expected LAW:SEED"))
        })?;
        let place = parts.next().filter(|place| !place.is_empty()).map(str::to_owned);
        Ok(Self { law, seed, place })
    }
}
