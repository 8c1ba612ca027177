//! What reports say of a backend besides its name.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Facts about a backend that reports show: its versions and its options, by name.
///
/// ```
/// use conformance::backend::About;
/// let about = About::from_iter([("pjrt", "0.81"), ("format", "hlo")]);
/// assert_eq!(about.to_string(), "format hlo, pjrt 0.81");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct About(pub BTreeMap<String, String>);

impl About {
    /// Returns the names of facts that both have with other values, and these values.
    pub(crate) fn differing(&self, other: &Self) -> Vec<(String, String)> {
        let both = self.0.iter().filter_map(|(name, one)| Some((name, one, other.0.get(name)?)));
        let differing = both.filter(|(_, one, other)| one != other);
        differing.map(|(name, one, other)| (name.clone(), format!("{one}, {other}"))).collect()
    }
    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for About {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(facts: I) -> Self {
        Self(facts.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Display for About {
    /// Writes the facts on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.0.iter().enumerate() {
            let value = value.lines().next().unwrap_or_default();
            write!(f, "{}{name} {value}", if number == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
