//! `sparsity_config={lhs={...} rhs={...}}`: which operand of a convolution leaves out zeros.
use crate::Result;
use crate::text::{Cursor, balanced};

/// Kept as it stands: sparse convolutions are read and printed, not run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SparsityConfig(pub String);

impl SparsityConfig {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        balanced::raw_dict(c).map(|text| Self(text.to_owned()))
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}
