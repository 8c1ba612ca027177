//! `slice={[0:3], [0:4:2]}`
use crate::Result;
use crate::text::Cursor;
use crate::text::print::push_int;

/// One range for each dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SliceRanges(pub Vec<SliceRange>);

/// `[start:limit:stride]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SliceRange {
    /// First index taken.
    pub start: i64,
    /// One past the last index.
    pub limit: i64,
    /// Step.
    pub stride: i64,
}

impl SliceRanges {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let ranges = c.list(b'{', b'}', |c| {
            c.expect(b'[')?;
            let start = c.int()?;
            c.expect(b':')?;
            let limit = c.int()?;
            let stride = if c.eat(b':') { c.int()? } else { 1 };
            c.expect(b']')?;
            Ok(SliceRange { start, limit, stride })
        })?;
        Ok(Self(ranges))
    }
    /// Strides are printed for all dimensions or for none.
    pub(crate) fn print(&self, out: &mut String) {
        let strided = self.0.iter().any(|r| r.stride != 1);
        out.push('{');
        for (i, range) in self.0.iter().enumerate() {
            out.push_str(if i > 0 { ", [" } else { "[" });
            push_int(out, range.start);
            out.push(':');
            push_int(out, range.limit);
            if strided {
                out.push(':');
                push_int(out, range.stride);
            }
            out.push(']');
        }
        out.push('}');
    }
}
