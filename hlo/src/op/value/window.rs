//! `window={size=2x3 stride=1x2 pad=0_0x1_1 lhs_dilate=1x2 rhs_dilate=1x1 rhs_reversal=0x1}`
use super::fields::{Between, bad, fields, push_by};
use super::padding::{pads, push_pads};
use crate::Result;
use crate::diag::quantity;
use crate::text::Cursor;
use crate::text::grammar::{
    alt, char, checked, dense, expecting, integer, map, natural, separated_list1,
};

/// A sliding window over an array.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// One entry per dimension.
    pub dims: Vec<WindowDim>,
}

/// One dimension of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowDim {
    /// Number of elements in the window.
    pub size: i64,
    /// Stride between window positions.
    pub stride: i64,
    /// Elements added before the first; a negative number removes some.
    pub pad_low: i64,
    /// Elements added after the last; a negative number removes some.
    pub pad_high: i64,
    /// Dilation of the array: 2 adds one hole between each two elements.
    pub lhs_dilation: i64,
    /// Dilation of the window.
    pub rhs_dilation: i64,
    /// Whether the window (a convolution's kernel) is reversed.
    pub reversal: bool,
}

impl WindowDim {
    /// Returns a dimension of this size with stride 1, without padding or dilation.
    pub const fn new(size: i64) -> Self {
        Self {
            size,
            stride: 1,
            pad_low: 0,
            pad_high: 0,
            lhs_dilation: 1,
            rhs_dilation: 1,
            reversal: false,
        }
    }
}

const FIELDS: [&str; 6] = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"];

impl Window {
    /// Returns whether it has no dimensions, as for an op without a window.
    pub fn is_empty(&self) -> bool {
        self.dims.is_empty()
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        type Set = fn(&mut WindowDim, i64);
        c.blank();
        let start = c.offset();
        let mut found: [Option<Vec<i64>>; FIELDS.len()] = Default::default();
        let mut pads = None;
        fields(c, Between::Blanks, &FIELDS, |c, name| {
            if name == "pad" {
                pads = Some(low_high(c)?);
                return Ok(());
            }
            for (slot, field) in found.iter_mut().zip(FIELDS) {
                if field == name {
                    *slot = Some(sizes(c)?);
                }
            }
            Ok(())
        })?;
        let [size, stride, _, lhs_dilation, rhs_dilation, reversal] = found;
        let rank = size.as_ref().map_or(0, Vec::len);
        let mut dims: Vec<_> = size.iter().flatten().copied().map(WindowDim::new).collect();
        let window = c.span_from(start);
        let others: [(&str, Option<Vec<i64>>, Set); 4] = [
            ("stride", stride, |dim, n| dim.stride = n),
            ("lhs_dilate", lhs_dilation, |dim, n| dim.lhs_dilation = n),
            ("rhs_dilate", rhs_dilation, |dim, n| dim.rhs_dilation = n),
            ("rhs_reversal", reversal, |dim, n| dim.reversal = n != 0),
        ];
        for (name, values, set) in others {
            let Some(values) = values else { continue };
            same_rank(name, values.len(), rank).map_err(|error| error.at(window))?;
            if name == "rhs_reversal" && values.iter().any(|n| !matches!(n, 0 | 1)) {
                return Err(bad("`rhs_reversal` must be 0 or 1 per dimension").at(window));
            }
            dims.iter_mut().zip(values).for_each(|(dim, n)| set(dim, n));
        }
        if let Some(pads) = pads {
            same_rank("pad", pads.len(), rank).map_err(|error| error.at(window))?;
            for (dim, (low, high)) in dims.iter_mut().zip(pads) {
                (dim.pad_low, dim.pad_high) = (low, high);
            }
        }
        Ok(Self { dims })
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        if !self.is_empty() {
            out.push_str("size=");
            push_by(out, self.dims.iter().map(|dim| dim.size));
            self.field(out, "stride", 1, |dim| dim.stride);
            if self.dims.iter().any(|dim| dim.pad_low != 0 || dim.pad_high != 0) {
                out.push_str(" pad=");
                push_pads(out, self.dims.iter().map(|dim| (dim.pad_low, dim.pad_high, None)));
            }
            self.field(out, "lhs_dilate", 1, |dim| dim.lhs_dilation);
            self.field(out, "rhs_dilate", 1, |dim| dim.rhs_dilation);
            self.field(out, "rhs_reversal", 0, |dim| i64::from(dim.reversal));
        }
        out.push('}');
    }

    /// Prints a field, unless every dimension has the default.
    fn field(&self, out: &mut String, name: &str, default: i64, of: fn(&WindowDim) -> i64) {
        if self.dims.iter().any(|dim| of(dim) != default) {
            out.push(' ');
            out.push_str(name);
            out.push('=');
            push_by(out, self.dims.iter().map(of));
        }
    }
}

fn same_rank(name: &str, found: usize, rank: usize) -> Result<()> {
    if found == rank {
        return Ok(());
    }
    Err(bad(format!("`{name}` has {}, but `size` has {rank}", quantity(found, "dimension"))))
}

/// Parses `2x3`, or a single number, which may be negative.
pub(super) fn sizes(c: &mut Cursor<'_>) -> Result<Vec<i64>> {
    let single = map(integer, |size| vec![size]);
    let sizes = dense(alt((separated_list1(char('x'), natural), single)));
    c.parse(expecting("one number per dimension", Some("write `2x3`, without blanks"), sizes))
}

fn low_high(c: &mut Cursor<'_>) -> Result<Vec<(i64, i64)>> {
    let groups = checked(pads, |groups| {
        let pairs = groups.into_iter().map(|(low, high, interior)| match interior {
            None => Ok((low, high)),
            Some(_) => Err(bad("the padding of a window must not have interior padding")
                .with_help("use `lhs_dilate` to put holes between elements")),
        });
        pairs.collect()
    });
    let help = "write low and high padding per dimension: `0_1x2_2`";
    c.parse(expecting("padding", Some(help), groups))
}

#[cfg(test)]
mod tests {
    use super::super::fields::{beginning, value_tests};
    use super::*;

    value_tests!(Window);

    #[test]
    fn windows_print_only_what_differs() {
        for (text, printed) in [
            ("{}", "{}"),
            ("{pad=1_0 size=2}", "{size=2 pad=1_0}"),
            ("{size=2 stride=1 pad=0_0 lhs_dilate=1 rhs_dilate=1 rhs_reversal=0}", "{size=2}"),
            (
                "{size=2x3 rhs_reversal=0x1 pad=0_0x1_1 stride=1x2}",
                "{size=2x3 stride=1x2 pad=0_0x1_1 rhs_reversal=0x1}",
            ),
            (
                "{size=2x2 lhs_dilate=2x1 rhs_dilate=1x2}",
                "{size=2x2 lhs_dilate=2x1 rhs_dilate=1x2}",
            ),
            ("{size=3 pad=-1_-2}", "{size=3 pad=-1_-2}"),
            ("{size=2x3stride=2x2}", "{size=2x3 stride=2x2}"),
        ] {
            assert_eq!(round_trip(text), printed);
        }
        assert!(Window::default().is_empty());
    }
    #[test]
    fn sizes_stop_where_the_pattern_does() {
        let sizes = |text| beginning(text, sizes);
        assert_eq!(sizes("2x3x4 stride"), Some((vec![2, 3, 4], 5)));
        assert_eq!(sizes("7}"), Some((vec![7], 1)));
        assert_eq!(sizes("-1"), Some((vec![-1], 2)));
        assert_eq!(sizes("2x-3"), Some((vec![2], 1)));
        assert_eq!(sizes("x2"), None);
        assert_eq!(sizes("99999999999999999999"), None);
    }
    #[test]
    fn rejections() {
        for (text, place, message) in [
            ("{size=2, stride=2}", ",", "expected the next field, found `,`"),
            (
                "{size=2 pad=1_1_1}",
                "1_1_1",
                "the padding of a window must not have interior padding",
            ),
            ("{stride=1}", "{stride=1}", "`stride` has 1 dimension, but `size` has 0"),
            ("{size=2 size=3}", "size", "`size` is specified twice"),
            ("{size=2x2 pad=1_1}", "{size=2x2 pad=1_1}", "`pad` has 1 dimension, but `size` has 2"),
            ("{size =2}", " ", "expected `=` right after `size`, found a blank"),
            ("{size=2 x 3}", "3", "expected `=` right after `x`, found `3`"),
            ("{sizes=2}", "sizes", "unknown field `sizes`"),
            (
                "{size=2 rhs_reversal=2}",
                "{size=2 rhs_reversal=2}",
                "`rhs_reversal` must be 0 or 1 per dimension",
            ),
            ("{size=a}", "a", "expected one number per dimension, found `a`"),
        ] {
            let (at, found, _) = rejected(text);
            assert_eq!((at, found.as_str()), (place, message), "{text}");
        }
    }
}
