//! Window positions, for `reduce-window`, `select-and-scatter` and `convolution`.
use super::check;
use super::value::{Window, WindowDim};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{Dims, Result};

/// Returns the size of a dimension with `dilation - 1` holes between its elements.
fn dilated(size: i64, dilation: i64) -> i128 {
    if size == 0 { 0 } else { i128::from(size - 1) * i128::from(dilation) + 1 }
}

/// Returns the number of window positions over a dimension of size `base`.
fn count(dim: &WindowDim, base: i64) -> i64 {
    let padded =
        i128::from(dim.pad_low) + dilated(base, dim.lhs_dilation) + i128::from(dim.pad_high);
    let window = dilated(dim.size, dim.rhs_dilation);
    if padded <= 0 || window > padded {
        return 0;
    }
    let positions = (padded - window) / i128::from(dim.stride) + 1;
    i64::try_from(positions).unwrap_or(i64::MAX)
}

/// The labels of the rules for a window: its rank, and positive fields.
#[derive(Clone, Copy)]
pub(super) struct WindowRules {
    pub(super) rank: &'static str,
    pub(super) size: &'static str,
    pub(super) stride: &'static str,
    pub(super) lhs_dilate: &'static str,
    pub(super) rhs_dilate: &'static str,
}

impl From<&'static str> for WindowRules {
    /// Uses one label for all rules.
    fn from(rule: &'static str) -> Self {
        Self { rank: rule, size: rule, stride: rule, lhs_dilate: rule, rhs_dilate: rule }
    }
}

/// Returns the number of window positions in each dimension; fails unless every field of the window
/// is valid.
pub(super) fn positions(
    window: &Window,
    bases: &[i64],
    rules: impl Into<WindowRules>,
) -> Result<Dims> {
    let rules = rules.into();
    let on = |e: crate::Error| e.on(Place::Attribute("window"));
    check(window.dims.len() == bases.len(), rules.rank, || {
        format!(
            "the window has {}, the array has {}",
            quantity(window.dims.len(), "dimension"),
            bases.len()
        )
    })
    .map_err(on)?;
    for dim in &window.dims {
        let positive = [
            ("size", dim.size, rules.size),
            ("stride", dim.stride, rules.stride),
            ("lhs_dilate", dim.lhs_dilation, rules.lhs_dilate),
            ("rhs_dilate", dim.rhs_dilation, rules.rhs_dilate),
        ];
        for (name, value, rule) in positive {
            check(value > 0, rule, || {
                format!("`{name}` of the window is {value}, expected a positive number")
            })
            .map_err(on)?;
        }
    }
    Ok(window.dims.iter().zip(bases).map(|(dim, &base)| count(dim, base)).collect())
}
