//! `padding=1_2x0_0_1`: low, high and interior padding of each dimension.
use crate::Result;
use crate::text::print::push_int;
use crate::text::{Cursor, pattern};

/// How much padding each dimension gets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PaddingConfig {
    /// One entry for each dimension.
    pub dims: Vec<PaddingDim>,
}

/// How much padding one dimension gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PaddingDim {
    /// Before the first element; may be negative.
    pub low: i64,
    /// After the last element; may be negative.
    pub high: i64,
    /// Between two elements.
    pub interior: i64,
}

impl PaddingConfig {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        // A scalar has no dimension to pad: its list is empty.
        if matches!(c.next_byte(), None | Some(b',' | b'\n' | b'\r' | b'}')) {
            return Ok(Self::default());
        }
        let found = pattern::pads(c.rest());
        let (groups, length) = found.ok_or_else(|| c.wanted("padding like 0_1x2_3_1"))?;
        c.skip(length);
        let dim = |(low, high, interior): (i64, i64, Option<i64>)| PaddingDim {
            low,
            high,
            interior: interior.unwrap_or(0),
        };
        Ok(Self { dims: groups.into_iter().map(dim).collect() })
    }
    /// Interior padding is printed for all dimensions or for none.
    pub(crate) fn print(&self, out: &mut String) {
        let interior = self.dims.iter().any(|d| d.interior != 0);
        for (i, dim) in self.dims.iter().enumerate() {
            out.push_str(if i > 0 { "x" } else { "" });
            push_int(out, dim.low);
            out.push('_');
            push_int(out, dim.high);
            if interior {
                out.push('_');
                push_int(out, dim.interior);
            }
        }
    }
}
