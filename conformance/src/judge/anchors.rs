//! Anchors: instructions whose values are known to be exact, because another evaluation that is
//! compared with this one has the same bits there.
//!
//! What is computed from them has bounds that are local: rounding errors before an anchor do not
//! count, and no decision that an anchor depends on is open.
use super::evaluate::Evaluator;
use super::range::Range;
use super::site::Site;
use crate::program::At;
use hlo::Literal;
use std::collections::HashMap;
use std::sync::Arc;

/// The values of instructions that are exact, in a run on one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Anchors(HashMap<At, Literal>);

impl Anchors {
    pub(super) fn has(&self, at: At) -> bool {
        self.0.contains_key(&at)
    }
    /// Returns the only legal values of the leaves of an instruction, unless its scalars are vectors.
    pub(super) fn ranges(&self, site: Site<'_>) -> Option<Vec<Range>> {
        let value = self.0.get(&(site.id, site.at)).filter(|_| site.lanes.is_none())?;
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

impl Evaluator<'_> {
    /// Takes the values of some instructions as exact.
    pub(super) fn anchored(mut self, anchors: Arc<Anchors>) -> Self {
        self.anchors = anchors;
        self
    }
}
