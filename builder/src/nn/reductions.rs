//! Sums, products, extremes, means and variances along dimensions.
use crate::arguments::{inexact, others};
use crate::{Builder, Error, Result, Value};
use hlo::ElementType;

/// Returns the dimensions, counted from the front, each once.
pub(super) fn axes(x: Value<'_>, dims: &[i64]) -> Result<Vec<i64>> {
    let axes = x.axes(dims)?;
    match axes.iter().enumerate().find(|(i, d)| axes[..*i].contains(d)) {
        None => Ok(axes),
        Some((_, d)) => {
            Err(Error::argument(format!("dimension {d} is named twice"))
                .with_help("name each once"))
        }
    }
}
/// Broadcasts the result of a reduction along the reduced dimensions.
pub(super) fn spread<'b>(reduced: Value<'b>, like: Value<'b>, axes: &[i64]) -> Result<Value<'b>> {
    let shape = like.array()?;
    Ok(reduced.broadcast_in_dim(&shape.dims, &others(shape.rank(), axes)))
}
/// A reduction for each row: its name, the initial value for an element type, and the combining
/// function.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $init:expr, $combine:expr;)*) => {
        impl Value<'_> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(self, dims: &[i64]) -> Self {
                self.record(|b| {
                    let init = $init(b, self.element_type()?);
                    Ok(self.reduce(init, $combine, &axes(self, dims)?))
                })
            })*
        }
    };
}
reductions! {
    /// The sum along dimensions, which may be counted from the end; of `pred` the disjunction.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([[1i32, 2], [3, 4]]).reduce_sum(&[-1]))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2]{0} {3, 7}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    reduce_sum Builder::zero, |a, c| a + c;
    /// The product along dimensions; of `pred` the conjunction.
    reduce_prod Builder::one, |a, c| a * c;
    /// The largest element along dimensions, or NaN if one is NaN. The maximum of no elements is
    /// the lowest value of the type.
    reduce_max Builder::min_value, |a, c| a.max(c);
    /// The smallest element along dimensions, or NaN if one is NaN. The minimum of no elements is
    /// the highest value of the type.
    reduce_min Builder::max_value, |a, c| a.min(c);
    /// Returns whether all elements along dimensions are true; of integers the bitwise and.
    reduce_and all_bits, |a, c| a.and(c);
    /// Returns whether any element along dimensions is true; of integers the bitwise or.
    reduce_or Builder::zero, |a, c| a.or(c);
}

fn all_bits(b: &Builder, ty: ElementType) -> Value<'_> {
    b.zero(ty).not()
}

impl Value<'_> {
    /// Returns the mean along dimensions: the sum divided by the number of elements; NaN of
    /// nothing.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is not of floats.
    #[track_caller]
    pub fn mean(self, dims: &[i64]) -> Self {
        self.record(|_| {
            inexact(&self.array()?, "a mean")?;
            let axes = axes(self, dims)?;
            Ok(self.reduce_sum(&axes) / folded(self, &axes, 0, self.element_type()?)?)
        })
    }
    /// Returns the variance along dimensions: the sum of `|x - mean|^2` divided by the number of
    /// elements less `correction`.
    ///
    /// The mean is subtracted first, so that large numbers that differ little keep their variance.
    /// `correction` is 0 for that of a population, 1 for an unbiased estimate from a sample. Real
    /// also of complex numbers; NaN if there are no more elements than `correction`.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is not of floats.
    #[track_caller]
    pub fn variance(self, dims: &[i64], correction: i64) -> Self {
        self.record(|_| {
            let axes = axes(self, dims)?;
            let centered = self - spread(self.mean(&axes), self, &axes)?;
            let squares = match self.element_type()?.is_complex() {
                true => centered.real() * centered.real() + centered.imag() * centered.imag(),
                false => centered * centered,
            };
            let free = folded(self, &axes, correction, squares.element_type()?)?;
            Ok(squares.reduce_sum(&axes) / free)
        })
    }
    /// Returns the standard deviation along dimensions: the square root of [`Value::variance`].
    #[track_caller]
    pub fn std(self, dims: &[i64], correction: i64) -> Self {
        self.variance(dims, correction).sqrt()
    }
}

/// Returns the number of elements reduced into one, minus `correction`, as a scalar of this type;
/// dynamic dimensions count by size.
fn folded<'b>(x: Value<'b>, axes: &[i64], correction: i64, ty: ElementType) -> Result<Value<'b>> {
    let (b, shape) = (x.builder(), x.array()?);
    let most = axes.iter().filter_map(|&d| shape.dim(d)).fold(1, i64::saturating_mul);
    let most = count(b, ty, most.saturating_sub(correction).max(0))?;
    let dynamic = |d: &&i64| usize::try_from(**d).is_ok_and(|d| shape.is_dynamic(d));
    if axes.iter().find(dynamic).is_none() {
        return Ok(most);
    }
    let mut product = b.constant_r0_with_type(ElementType::S64, 1);
    for &d in axes {
        product = product * x.get_dimension_size(d).convert_element_type(ElementType::S64);
    }
    Ok((product - correction).max(0).convert_element_type(ty))
}
/// Returns a count as a scalar of this type.
///
/// # Errors
/// `E0801` if the type does not reach as far: the quotient would be 0.
pub(crate) fn count(b: &Builder, ty: ElementType, n: i64) -> Result<Value<'_>> {
    let count = b.constant_r0_with_type(ty, n);
    let held = hlo::Scalar::Signed(n).convert(ElementType::S64, ty).as_f64();
    let near = ty.is_complex() || held.is_finite() && (n == 0 || held != 0.0);
    if near {
        return Ok(count);
    }
    Err(Error::argument(format!("{n} elements are more than {ty} can count"))
        .with_help("convert to a wider type first: `x.convert_element_type(ElementType::F32)`"))
}
