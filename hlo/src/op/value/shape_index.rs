//! `{0,1}`: a place in a tuple of tuples.
use crate::Result;
use crate::text::Cursor;
use crate::text::print::push_int;

/// The elements to take, from the outermost tuple inwards.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ShapeIndex(pub Vec<i64>);

impl ShapeIndex {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self(c.list(b'{', b'}', Cursor::size)?))
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        for (i, &index) in self.0.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            push_int(out, index);
        }
        out.push('}');
    }
}
