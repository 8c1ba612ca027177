//! `slice={[0:3], [1:9:2]}`
use crate::Result;
use crate::text::grammar::{after, delimited, int, list, map, preceded, symbol};
use crate::text::{Cursor, number::push_int};

/// The ranges of a `slice`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SliceRanges(pub Vec<SliceRange>);

/// The range of a `slice` in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceRange {
    /// The first index.
    pub start: i64,
    /// The exclusive upper bound of the indices.
    pub limit: i64,
    /// The stride.
    pub stride: i64,
}

impl SliceRanges {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let stride = map(after(':', int), |stride| stride.unwrap_or(1));
        let range = (int, preceded(symbol(':'), int), stride);
        let range = delimited(symbol('['), range, symbol(']'));
        let range = map(range, |(start, limit, stride)| SliceRange { start, limit, stride });
        c.parse(map(list('{', range, '}'), Self))
    }

    pub(crate) fn print(&self, out: &mut String) {
        let strides = self.0.iter().any(|range| range.stride != 1);
        out.push('{');
        for (i, range) in self.0.iter().enumerate() {
            out.push_str(if i > 0 { ", [" } else { "[" });
            push_int(out, range.start);
            out.push(':');
            push_int(out, range.limit);
            if strides {
                out.push(':');
                push_int(out, range.stride);
            }
            out.push(']');
        }
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(SliceRanges);

    #[test]
    fn strides_are_printed_for_all_or_none() {
        assert_eq!(round_trip("{[0:1],[0:4:2]}"), "{[0:1:1], [0:4:2]}");
        assert_eq!(round_trip("{[0:1:1], [0 : 2 : 1]}"), "{[0:1], [0:2]}");
        assert_eq!(round_trip("{}"), "{}");
    }
    #[test]
    fn rejections() {
        assert_eq!(rejected("{[0:1] [0:2]}").1, "expected `,` or `}`, found `[`");
        assert_eq!(rejected("{[0]}").1, "expected `:`, found `]`");
    }
}
