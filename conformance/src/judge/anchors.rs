//! Anchors: instructions whose values are known to be exact, because another evaluation that is
//! compared with this one has the same bits there.
//!
//! What is computed from them has bounds that are local: rounding errors before an anchor do not
//! count, and no decision that an anchor depends on is open.
use super::range::Range;
use crate::program::At;
use hlo::Literal;
use std::collections::HashMap;

/// The values of instructions that are exact, in a run on one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Anchors(HashMap<At, Literal>);

impl Anchors {
    pub(super) fn has(&self, at: At) -> bool {
        self.0.contains_key(&at)
    }
    /// Returns the only legal values of the leaves of an instruction.
    pub(super) fn ranges(&self, at: At) -> Option<Vec<Range>> {
        let value = self.0.get(&at)?;
        Some(value.leaves().into_iter().map(Range::exact).collect())
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(At, Literal)> for Anchors {
    fn from_iter<I: IntoIterator<Item = (At, Literal)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}
