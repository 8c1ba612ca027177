//! stub
use crate::text::{Cursor, balanced};
use crate::Result;
/// s
#[derive(Debug, Clone, PartialEq)]
pub struct Sharding(String);
impl Sharding {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> { balanced::raw_dict(c).map(|s| Self(s.to_owned())) }
    pub(crate) fn print(&self, out: &mut String, _: bool) { out.push_str(&self.0) }
    pub(crate) fn expand_to_leaves(self, _: usize) -> Self { self }
}
