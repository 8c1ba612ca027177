//! `padding=-1_2x0_0_1`, of `pad`.
use crate::Result;
use crate::text::pattern::{self, PadGroup};
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

impl PaddingConfig {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let (groups, length) = pattern::pads(c.rest()).ok_or_else(|| {
            c.expected("padding").with_help(
                "write low, high and optional interior padding per dimension: `0_1x2_2_1`",
            )
        })?;
        c.skip(length);
        let dims = groups.into_iter().map(|(low, high, interior)| PaddingDim {
            low,
            high,
            interior: interior.unwrap_or(0),
        });
        Ok(Self { dims: dims.collect() })
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
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(PaddingConfig);

    #[test]
    fn interior_padding_is_printed_for_all_or_none() {
        assert_eq!(round_trip("-1_2x0_0_1"), "-1_2_0x0_0_1");
        assert_eq!(round_trip("1_1_0x0_0_0"), "1_1x0_0");
        assert_eq!(round_trip(" 3_-4"), "3_-4");
    }
    #[test]
    fn rejections() {
        assert_eq!(rejected("2x3").1, "expected padding, found `2`");
        assert_eq!(rejected("1_1 x2_2").0, "x2_2");
        assert_eq!(rejected("1_1_-1").0, "_-1");
    }
}
