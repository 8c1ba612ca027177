//! Axes of a reduction.
use crate::size;
use builder::{Error, Result};
use hlo::diag::quantity;

/// The axes of a reduction: all of them (PyTensor's `None`), or some, which may be counted from the
/// end.
///
/// Made from a number, a list of numbers or an `Option` of a number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Axes {
    /// Every axis.
    #[default]
    All,
    /// These.
    Some(Vec<i64>),
}

impl From<i64> for Axes {
    fn from(axis: i64) -> Self {
        Self::Some(vec![axis])
    }
}
impl<const N: usize> From<[i64; N]> for Axes {
    fn from(axes: [i64; N]) -> Self {
        Self::Some(axes.to_vec())
    }
}
impl From<&[i64]> for Axes {
    fn from(axes: &[i64]) -> Self {
        Self::Some(axes.to_vec())
    }
}
impl From<Vec<i64>> for Axes {
    fn from(axes: Vec<i64>) -> Self {
        Self::Some(axes)
    }
}
impl From<Option<i64>> for Axes {
    fn from(axis: Option<i64>) -> Self {
        axis.map_or(Self::All, Self::from)
    }
}

impl Axes {
    /// Returns the axes counted from the start, in the order they are given.
    ///
    /// # Errors
    /// `E0801` for an axis that does not exist and one that is given twice.
    pub fn normalized(&self, ndim: usize) -> Result<Vec<i64>> {
        let rank = size(ndim);
        let axes = match self {
            Self::All => return Ok((0..rank).collect()),
            Self::Some(axes) => axes,
        };
        let mut found = Vec::with_capacity(axes.len());
        for &axis in axes {
            let counted = if axis < 0 { axis.saturating_add(rank) } else { axis };
            if !(0..rank).contains(&counted) {
                let message =
                    format!("axis {axis} does not exist in {}", quantity(ndim, "dimension"));
                return Err(Error::argument(message));
            }
            if found.contains(&counted) {
                let message = format!("axis {counted} is named twice in {axes:?}");
                return Err(Error::argument(message));
            }
            found.push(counted);
        }
        Ok(found)
    }
}

/// Returns the axes of a reduction of `core_ndim` dimensions, counted in an operand of `batch_ndim`
/// dimensions that has batch dimensions before them.
///
/// `batch_ndim` counts all dimensions of the batched operand, as in PyTensor's documented examples,
/// which are these:
///
/// ```
/// use builder_compat::pytensor::{Axes, get_normalized_batch_axes};
/// assert_eq!(get_normalized_batch_axes(Axes::All, 2, 4)?, [2, 3]);
/// assert_eq!(get_normalized_batch_axes(0, 2, 4)?, [2]);
/// assert_eq!(get_normalized_batch_axes([0, -1], 3, 4)?, [1, 3]);
/// # Ok::<(), builder::Error>(())
/// ```
///
/// (PyTensor's own calls pass the number of batch dimensions alone, which its code adds; with that
/// reading the examples would not hold.)
///
/// # Errors
/// As [`Axes::normalized`]; `E0801` if the batched operand has fewer dimensions.
#[track_caller]
pub fn get_normalized_batch_axes(
    core_axes: impl Into<Axes>,
    core_ndim: usize,
    batch_ndim: usize,
) -> Result<Vec<i64>> {
    let here = std::panic::Location::caller();
    let axes = core_axes.into().normalized(core_ndim).map_err(|error| error.at(here))?;
    let fewer = || {
        let message = format!(
            "the batched operand has {}, the core {core_ndim}",
            quantity(batch_ndim, "dimension")
        );
        Error::argument(message).with_help("count the batch dimensions and the core's").at(here)
    };
    let before = batch_ndim.checked_sub(core_ndim).ok_or_else(fewer)?;
    Ok(axes.into_iter().map(|axis| axis.saturating_add(size(before))).collect())
}
