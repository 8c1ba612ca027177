//! Pooling: the maximum or the mean of windows.
use crate::arguments::size;
use crate::nn::reductions::count;
pub use crate::ops::padding::Padding;
use crate::options::WindowOptions;
use crate::{Error, Result, Value};
use hlo::{ArrayShape, Dims};

/// The dimension order of images: XLA's `TensorFormat`.
///
/// ```
/// use builder::pooling::TensorFormat;
/// assert_eq!(TensorFormat::channels_last(2).spatial, [1, 2]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorFormat {
    /// The dimension that counts images.
    pub batch: i64,
    /// The dimension that counts channels.
    pub feature: i64,
    /// The dimensions of an image.
    pub spatial: Vec<i64>,
}

impl TensorFormat {
    /// Returns the format images, channels, then spatial dimensions: NCHW.
    pub fn channels_first(spatial: usize) -> Self {
        Self { batch: 0, feature: 1, spatial: (2..).take(spatial).collect() }
    }
    /// Returns the format images, spatial dimensions, then channels: NHWC.
    pub fn channels_last(spatial: usize) -> Self {
        Self { batch: 0, feature: size(spatial) + 1, spatial: (1..).take(spatial).collect() }
    }
    /// Fails unless each dimension of an array of this rank is named once.
    fn check(&self, rank: usize) -> Result<()> {
        let mut named: Vec<i64> = self.spatial.clone();
        named.extend([self.batch, self.feature]);
        named.sort_unstable();
        if named == crate::arguments::first(rank) {
            return Ok(());
        }
        let message = format!("the format names the dimensions {named:?}, the array has {rank}");
        Err(Error::argument(message).with_help("each dimension is named once: TensorFormat"))
    }
}

/// Returns the padding of each spatial dimension: XLA's `MakeSpatialPadding`.
///
/// `input`, `kernel` and `stride` have one entry for each dimension, also for batch and channels.
///
/// ```
/// use builder::pooling::{Padding, TensorFormat, make_spatial_padding};
/// let format = TensorFormat::channels_first(2);
/// let padding =
///     make_spatial_padding(&[1, 1, 5, 6], &[1, 1, 2, 3], &[1, 1, 2, 2], Padding::Same, &format)?;
/// assert_eq!(padding, [(0, 1), (0, 1)]);
/// # Ok::<(), builder::Error>(())
/// ```
///
/// # Errors
/// `E0801` if lists differ in length, or a window or stride is not positive.
pub fn make_spatial_padding(
    input: &[i64],
    kernel: &[i64],
    stride: &[i64],
    padding: Padding,
    format: &TensorFormat,
) -> Result<Vec<(i64, i64)>> {
    format.check(input.len())?;
    each(input.len(), kernel, stride)?;
    let one = |&dim: &i64| {
        let d = usize::try_from(dim).unwrap_or(0);
        padding.amount(input[d], kernel[d], stride[d])
    };
    format.spatial.iter().map(one).collect()
}
fn each(rank: usize, kernel: &[i64], stride: &[i64]) -> Result<()> {
    if kernel.len() == rank && stride.len() == rank {
        return Ok(());
    }
    let (k, s) = (kernel.len(), stride.len());
    let message = format!("{rank} dimensions have {k} window sizes and {s} strides");
    Err(Error::argument(message).with_help("one for each dimension; 1 for batch and channels"))
}
/// Padding before, behind and between the elements of a dimension.
type EdgePadding = (i64, i64, i64);

/// Returns padding of the spatial dimensions as padding of all.
fn everywhere(
    rank: usize,
    spatial: &[(i64, i64)],
    format: &TensorFormat,
) -> Result<Vec<EdgePadding>> {
    if spatial.len() != format.spatial.len() {
        let (found, expected) = (spatial.len(), format.spatial.len());
        let message = format!("{expected} spatial dimensions have {found} pairs of padding");
        return Err(Error::argument(message).with_help("one pair for each spatial dimension"));
    }
    let mut all = vec![(0, 0, 0); rank];
    for (&(low, high), &dim) in spatial.iter().zip(&format.spatial) {
        if let Some(slot) = usize::try_from(dim).ok().and_then(|d| all.get_mut(d)) {
            *slot = (low, high, 0);
        }
    }
    Ok(all)
}
/// Sums of windows of an array that is padded already.
fn window_sum<'b>(x: Value<'b>, kernel: &[i64], stride: &[i64]) -> Result<Value<'b>> {
    let zero = x.builder().zero(x.element_type()?);
    let options = WindowOptions { strides: stride.to_vec(), ..WindowOptions::default() };
    Ok(x.reduce_window_with_general_padding(zero, |a, c| a + c, kernel, &options))
}
/// Returns the number of elements in each window.
fn counts<'b>(
    like: Value<'b>,
    dims: &[i64],
    pads: &[EdgePadding],
    kernel: &[i64],
    stride: &[i64],
) -> Result<Value<'b>> {
    let (b, ty) = (like.builder(), like.element_type()?);
    let ones = ArrayShape::new(ty, Dims::from_slice(dims));
    let ones = crate::implicit::splat(b.constant_r0_with_type(ty, 1), &ones)?;
    window_sum(ones.pad(b.zero(ty), pads), kernel, stride)
}
/// Returns the shape of the averaged array, or of its cotangent, and the padding of all dimensions,
/// if windows fit it.
fn averaged(
    x: Value<'_>,
    [kernel, stride]: [&[i64]; 2],
    padding: &[(i64, i64)],
    format: &TensorFormat,
) -> Result<(ArrayShape, Vec<EdgePadding>)> {
    let shape = x.array()?;
    crate::arguments::inexact(&shape, "an average")?;
    format.check(shape.rank())?;
    each(shape.rank(), kernel, stride)?;
    let pads = everywhere(shape.rank(), padding, format)?;
    Ok((shape, pads))
}

impl Value<'_> {
    /// Returns the largest element of each window: XLA's `MaxPool`. `kernel` and `stride` have one
    /// entry for each dimension.
    ///
    /// Padding counts as the smallest value, minus infinity where there is one.
    ///
    /// ```
    /// use builder::pooling::{Padding, TensorFormat};
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[[1f32, 4., 2., 3.]]]);
    /// let format = TensorFormat::channels_first(1);
    /// let result = interp::run(&b.build(x.max_pool(&[1, 1, 2], &[1, 1, 2], Padding::Valid, &format))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[1,1,2]{2,1,0} { { { 4, 3 } } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn max_pool(
        self,
        kernel: &[i64],
        stride: &[i64],
        padding: Padding,
        format: &TensorFormat,
    ) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let spatial = make_spatial_padding(&shape.dims, kernel, stride, padding, format)?;
            let pads = everywhere(shape.rank(), &spatial, format)?;
            let init = b.min_value(shape.ty);
            let strides = stride.to_vec();
            let padding = pads.iter().map(|&(low, high, _)| (low, high)).collect();
            let options = WindowOptions { strides, padding, ..WindowOptions::default() };
            Ok(self.reduce_window_with_general_padding(init, |a, c| a.max(c), kernel, &options))
        })
    }
    /// Returns the mean of each window: XLA's `AvgPool`. `padding` has a pair for each spatial
    /// dimension.
    ///
    /// Padding counts as zeros: in the sum, and in the number the sum is divided by if
    /// `counts_include_padding`.
    ///
    /// ```
    /// use builder::pooling::TensorFormat;
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[[1f32, 3., 5.]]]);
    /// let format = TensorFormat::channels_first(1);
    /// let mean = x.avg_pool(&[1, 1, 2], &[1, 1, 2], &[(0, 1)], &format, false);
    /// assert_eq!(interp::run(&b.build(mean)?, &[])?.to_string(), "f32[1,1,2]{2,1,0} { { { 2, 5 } } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn avg_pool(
        self,
        kernel: &[i64],
        stride: &[i64],
        padding: &[(i64, i64)],
        format: &TensorFormat,
        counts_include_padding: bool,
    ) -> Self {
        self.record(|b| {
            let (shape, pads) = averaged(self, [kernel, stride], padding, format)?;
            let padded = self.pad(b.zero(shape.ty), &pads);
            let sums = window_sum(padded, kernel, stride)?;
            if counts_include_padding {
                return Ok(sums / count(b, shape.ty, volume(kernel))?);
            }
            Ok(sums / counts(self, &shape.dims, &pads, kernel, stride)?)
        })
    }
    /// Returns the cotangent of what [`Value::avg_pool`] was given, an array of the sizes `input`,
    /// from that of its result, `self`: XLA's `AvgPoolGrad`.
    ///
    /// Each element's cotangent, divided by the number its mean was divided by, goes to every
    /// element of its window.
    #[track_caller]
    pub fn avg_pool_grad(
        self,
        input: &[i64],
        kernel: &[i64],
        stride: &[i64],
        padding: &[(i64, i64)],
        format: &TensorFormat,
        counts_include_padding: bool,
    ) -> Self {
        self.record(|b| {
            let (shape, pads) = averaged(self, [kernel, stride], padding, format)?;
            each(input.len(), kernel, stride)?;
            let share = match counts_include_padding {
                true => self / count(b, shape.ty, volume(kernel))?,
                false => self / counts(self, input, &pads, kernel, stride)?,
            };
            let zero = b.zero(shape.ty);
            // The windows that cover an element, in the padded input, are a window of the
            // cotangents pushed apart.
            let mut apart = Vec::new();
            for (d, (&out, &(low, high, _))) in shape.dims.iter().zip(&pads).enumerate() {
                let padded = input[d].saturating_add(low).saturating_add(high);
                let sizes = SpatialSizes { input: padded, filter: kernel[d], output: out };
                let found = sizes.extract(1, stride[d], Padding::Valid)?;
                apart.push((found.pad_before, found.pad_after, stride[d] - 1));
            }
            let spread = window_sum(share.pad(zero, &apart), kernel, &vec![1; input.len()])?;
            let starts: Vec<i64> = pads.iter().map(|&(low, _, _)| low).collect();
            let ends: Vec<i64> =
                starts.iter().zip(input).map(|(start, size)| start + size).collect();
            Ok(spread.slice(&starts, &ends, &vec![1; starts.len()]))
        })
    }
}
/// Elements of a window.
fn volume(kernel: &[i64]) -> i64 {
    kernel.iter().fold(1, |product, &size| product.saturating_mul(size))
}

/// Sizes of one spatial dimension of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpatialSizes {
    /// Its size in the convolved array.
    pub input: i64,
    /// Its size in the kernel.
    pub filter: i64,
    /// Its size in the result.
    pub output: i64,
}

/// One spatial dimension of the gradient of a convolution: XLA's
/// `SpatialDimensionOutputSizeAndPadding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpatialGradient {
    /// Size of the result's cotangent with `stride - 1` zeros between its elements.
    pub output_size: i64,
    /// Zeros before it, so that the kernel reversed gives the input's cotangent.
    pub pad_before: i64,
    /// Zeros after it.
    pub pad_after: i64,
}

impl SpatialSizes {
    fn extract(self, dilation: i64, stride: i64, padding: Padding) -> Result<SpatialGradient> {
        let Self { input, filter, output } = self;
        if filter < 1 || dilation < 1 || input < 0 {
            let message = format!(
                "an input of {input}, a kernel of {filter} dilated by {dilation} cannot be convolved"
            );
            return Err(Error::argument(message));
        }
        let reach = (filter - 1).saturating_mul(dilation).saturating_add(1);
        let (before, after) = padding.amount(input, reach, stride)?;
        let padded = input.saturating_add(before).saturating_add(after);
        let expected = if padded < reach { 0 } else { (padded - reach) / stride + 1 };
        if output != expected {
            let message = format!(
                "a convolution of size {input} with {filter}, dilated by {dilation}, moved by {stride} has size {expected}, not {output}"
            );
            return Err(Error::argument(message));
        }
        let output_size = (output - 1) * stride + 1;
        let pad_before = reach - 1 - before;
        let pad_after = input.saturating_add(reach - 1) - output_size - pad_before;
        Ok(SpatialGradient { output_size, pad_before, pad_after })
    }
}

/// Sizes and padding of one spatial dimension of the gradient of a convolution: XLA's
/// `ConvGradExtractAndVerifyDimension`.
///
/// ```
/// use builder::pooling::{Padding, SpatialSizes, conv_grad_extract_and_verify_dimension};
/// let sizes = SpatialSizes { input: 7, filter: 3, output: 3 };
/// let found = conv_grad_extract_and_verify_dimension(sizes, 1, 2, Padding::Valid)?;
/// assert_eq!((found.output_size, found.pad_before, found.pad_after), (5, 2, 2));
/// # Ok::<(), builder::Error>(())
/// ```
///
/// # Errors
/// `E0801` if the result of such a convolution has another size; if a size, dilation or stride is
/// not positive.
pub fn conv_grad_extract_and_verify_dimension(
    sizes: SpatialSizes,
    dilation: i64,
    stride: i64,
    padding: Padding,
) -> Result<SpatialGradient> {
    sizes.extract(dilation, stride, padding)
}
