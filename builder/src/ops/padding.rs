//! Arguments that describe windows: sizes, strides and padding.
use crate::{Error, Result};
use hlo::diag::quantity;
use hlo::op::value::{Window, WindowDim};

/// The padding rule of a window: XLA's `Padding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Padding {
    /// Padding with which a stride of 1 keeps the size: `kSame`. With stride `s`, size `n` becomes
    /// `n / s`, rounded up.
    Same,
    /// None: `kValid`. Windows are entirely inside the array.
    Valid,
}

impl Padding {
    /// Returns the padding `(low, high)` of each dimension: XLA's `MakePadding`.
    ///
    /// `Same` puts `max((out - 1) * stride + window - in, 0)` elements around a dimension, where
    /// `out` is `in / stride` rounded up; of an odd number the last one is added at the end.
    ///
    /// ```
    /// use builder::options::Padding;
    /// assert_eq!(Padding::Same.amounts(&[5], &[4], &[1])?, [(1, 2)]);
    /// assert_eq!(Padding::Same.amounts(&[5], &[2], &[2])?, [(0, 1)]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// `E0801` if the lists differ in length, a window or stride is not positive, or a size is
    /// negative.
    pub fn amounts(
        self,
        input: &[i64],
        window: &[i64],
        strides: &[i64],
    ) -> Result<Vec<(i64, i64)>> {
        if input.len() != window.len() || input.len() != strides.len() {
            let message = format!(
                "the window has {} and {}, the operand has {}",
                quantity(window.len(), "size"),
                quantity(strides.len(), "stride"),
                quantity(input.len(), "dimension"),
            );
            return Err(Error::argument(message).with_help("give one of each for each dimension"));
        }
        let dims = input.iter().zip(window).zip(strides);
        dims.map(|((&input, &window), &stride)| self.amount(input, window, stride)).collect()
    }

    pub(crate) fn amount(self, input: i64, window: i64, stride: i64) -> Result<(i64, i64)> {
        for (name, value) in [("size", window), ("stride", stride)] {
            if value <= 0 {
                let message = format!("the {name} {value} of the window is not positive");
                return Err(Error::argument(message));
            }
        }
        if input < 0 {
            return Err(Error::argument(format!("the size {input} is negative")));
        }
        match self {
            Self::Valid => Ok((0, 0)),
            Self::Same => {
                let (input, window, stride) =
                    (i128::from(input), i128::from(window), i128::from(stride));
                let out = (input + stride - 1) / stride;
                let total = ((out - 1) * stride + window - input).max(0);
                let (low, high) = (total / 2, total - total / 2);
                let both = i64::try_from(low).ok().zip(i64::try_from(high).ok());
                both.ok_or_else(|| Error::argument("the padding does not fit 64 bits"))
            }
        }
    }
}

/// Strides, padding and dilations of a window. An empty list means 1 for each dimension; for
/// padding, none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowOptions {
    /// The stride of each dimension.
    pub strides: Vec<i64>,
    /// Elements `(low, high)` added before the first and after the last; a negative number removes
    /// elements.
    pub padding: Vec<(i64, i64)>,
    /// Distance of the elements it moves over: `lhs_dilation` of a convolution.
    pub base_dilations: Vec<i64>,
    /// Distance of the window's own elements: `rhs_dilation` of a convolution.
    pub window_dilations: Vec<i64>,
}

/// Returns the window of these sizes.
pub(crate) fn window(sizes: &[i64], options: &WindowOptions, reversal: &[bool]) -> Result<Window> {
    let mut dims: Vec<WindowDim> = sizes.iter().copied().map(WindowDim::new).collect();
    each("strides", &options.strides, &mut dims, |dim, &n| dim.stride = n)?;
    each("padding", &options.padding, &mut dims, |dim, &(low, high)| {
        (dim.pad_low, dim.pad_high) = (low, high);
    })?;
    each("base_dilations", &options.base_dilations, &mut dims, |dim, &n| dim.lhs_dilation = n)?;
    each("window_dilations", &options.window_dilations, &mut dims, |dim, &n| {
        dim.rhs_dilation = n;
    })?;
    each("window_reversal", reversal, &mut dims, |dim, &turned| dim.reversal = turned)?;
    Ok(Window { dims })
}

fn each<T>(
    name: &str,
    values: &[T],
    dims: &mut [WindowDim],
    set: impl Fn(&mut WindowDim, &T),
) -> Result<()> {
    if !values.is_empty() && values.len() != dims.len() {
        let (found, expected) =
            (quantity(values.len(), "entry"), quantity(dims.len(), "dimension"));
        let message = format!("`{name}` has {found}, the window {expected}");
        return Err(Error::argument(message).with_help(
            "give one entry for each dimension of the window, or leave the list empty",
        ));
    }
    dims.iter_mut().zip(values).for_each(|(dim, value)| set(dim, value));
    Ok(())
}
