//! `padding=-1_2x0_0_1`, of `pad`.
use crate::Result;
use crate::text::grammar::{
    Parsed, Parser, char, dense, expecting, integer, map, natural, opt, preceded, separated_list1,
    separated_pair,
};
use crate::text::{Cursor, number::push_int};

/// The padding of a `pad`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaddingConfig {
    /// One entry per dimension.
    pub dims: Vec<PaddingDim>,
}

/// Padding of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PaddingDim {
    /// Elements added before the first; a negative number removes some.
    pub low: i64,
    /// Elements added after the last; a negative number removes some.
    pub high: i64,
    /// Elements added between each two.
    pub interior: i64,
}

/// Low and high padding of a dimension, and interior padding if written.
type PadGroup = (i64, i64, Option<i64>);

impl From<PadGroup> for PaddingDim {
    fn from((low, high, interior): PadGroup) -> Self {
        Self { low, high, interior: interior.unwrap_or(0) }
    }
}

/// Parses `-1_2x0_0_1`.
pub(super) fn pads(input: Cursor<'_>) -> Parsed<'_, Vec<PadGroup>> {
    let low_high = separated_pair(integer, char('_'), integer);
    let group = (low_high, opt(preceded(char('_'), natural)));
    let group = map(group, |((low, high), interior)| (low, high, interior));
    dense(separated_list1(char('x'), group)).parse(input)
}

impl PaddingConfig {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let help = "write low, high and optional interior padding per dimension: `0_1x2_2_1`";
        let dims = map(pads, |groups| groups.into_iter().map(PaddingDim::from).collect());
        c.parse(map(expecting("padding", Some(help), dims), |dims| Self { dims }))
    }

    pub(crate) fn print(&self, out: &mut String) {
        let interior = self.dims.iter().any(|dim| dim.interior != 0);
        let group = |dim: &PaddingDim| (dim.low, dim.high, interior.then_some(dim.interior));
        push_pads(out, self.dims.iter().map(group));
    }
}

/// Appends `low_high_interior` of each dimension.
pub(super) fn push_pads(out: &mut String, groups: impl IntoIterator<Item = PadGroup>) {
    for (i, (low, high, interior)) in groups.into_iter().enumerate() {
        if i > 0 {
            out.push('x');
        }
        push_int(out, low);
        out.push('_');
        push_int(out, high);
        if let Some(interior) = interior {
            out.push('_');
            push_int(out, interior);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{beginning, value_tests};
    use super::*;

    value_tests!(PaddingConfig);

    #[test]
    fn interior_padding_is_printed_for_all_or_none() {
        assert_eq!(round_trip("-1_2x0_0_1"), "-1_2_0x0_0_1");
        assert_eq!(round_trip("1_1_0x0_0_0"), "1_1x0_0");
        assert_eq!(round_trip(" 3_-4"), "3_-4");
    }
    #[test]
    fn pads_take_an_interior_where_there_is_one() {
        let pads = |text| beginning(text, |c| c.parse(pads));
        assert_eq!(pads("-1_2x0_0_1,"), Some((vec![(-1, 2, None), (0, 0, Some(1))], 10)));
        assert_eq!(pads("0_-3"), Some((vec![(0, -3, None)], 4)));
        assert_eq!(pads("0_0_-1"), Some((vec![(0, 0, None)], 3)));
        assert_eq!(pads("2x3"), None);
    }
    #[test]
    fn rejections() {
        assert_eq!(rejected("2x3").1, "expected padding, found `2`");
        assert_eq!(rejected("1_1 x2_2").0, "x2_2");
        assert_eq!(rejected("1_1_-1").0, "_-1");
    }
}
