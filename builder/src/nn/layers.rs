//! Layers: dense, one-hot, dropout.
use crate::arguments::{counting, first, size};
use crate::options::{DotDimensionNumbers, DotOptions};
use crate::{Error, Result, Value};
use hlo::ElementType;

/// Returns `x w + bias`: of `x[.., n]`, `w[n, m]` and `bias[m]` it is `[.., m]`.
///
/// ```
/// use builder::{Builder, nn};
/// let b = Builder::new("m");
/// let (x, w) = (b.constant([1f32, 2.]), b.constant([[1f32, 0., 1.], [0., 1., 1.]]));
/// let result = interp::run(&b.build(nn::dense(x, w, Some(b.constant([10f32, 20., 30.]))))?, &[])?;
/// assert_eq!(result.to_string(), "f32[3]{0} {11, 22, 33}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Kept by the builder: `E0801` if `x` is a scalar; the rules of `dot`.
#[track_caller]
pub fn dense<'b>(x: Value<'b>, w: Value<'b>, bias: Option<Value<'b>>) -> Value<'b> {
    x.record(|_| {
        let last = size(x.rank()?) - 1;
        if last < 0 || w.rank()? != 2 {
            let (x, w) = (x.array()?, w.array()?);
            let message = format!("a dense layer takes x[.., n] and w[n, m], not {x:#} and {w:#}");
            return Err(Error::argument(message));
        }
        let numbers = DotDimensionNumbers {
            lhs_contracting_dimensions: vec![last],
            rhs_contracting_dimensions: vec![0],
            ..DotDimensionNumbers::default()
        };
        let product = x.dot_general(w, &numbers, &DotOptions::default());
        Ok(match bias {
            Some(bias) => product + bias.along(&[last]),
            None => product,
        })
    })
}

/// Returns 1 at the position of each index, in a new last dimension of `depth`, 0 otherwise:
/// `indices[..]` gives `ty[.., depth]`.
///
/// An index outside gives zeros only, as in JAX.
///
/// ```
/// use builder::{Builder, nn};
/// let b = Builder::new("m");
/// let result = interp::run(&b.build(nn::one_hot(b.constant([2i32, 0]), 3, hlo::ElementType::F32))?, &[])?;
/// assert_eq!(result.to_string(), "f32[2,3]{1,0} { { 0, 0, 1 }, { 1, 0, 0 } }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Kept by the builder: `E0801` if indices are not integers.
#[doc(alias = "onehot")]
#[track_caller]
pub fn one_hot(indices: Value<'_>, depth: i64, ty: ElementType) -> Value<'_> {
    indices.record(|_| Ok(chosen(indices, depth)?.convert_element_type(ty)))
}
/// Compares the positions in a new last dimension with the indices.
pub(super) fn chosen(indices: Value<'_>, depth: i64) -> Result<Value<'_>> {
    let (given, indices) = (indices.array()?, counting(indices)?);
    let dims = [&given.dims[..], &[depth]].concat();
    let places = indices.builder().iota((indices.element_type()?, &dims), size(given.rank()));
    Ok(indices.broadcast_in_dim(&dims, &first(given.rank())).eq(places))
}

fn rate_of(rate: f64) -> Result<()> {
    if (0.0..1.0).contains(&rate) {
        return Ok(());
    }
    Err(Error::argument(format!("the dropout rate {rate} is out of range"))
        .with_help("it is at least 0 and less than 1"))
}

/// Returns the mask of elements to keep, from random bits of type `u32`: those that are at least
/// `rate * 2^32`.
///
/// ```
/// use builder::{Builder, nn};
/// let b = Builder::new("m");
/// let bits = b.constant([0u32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]);
/// assert_eq!(interp::run(&b.build(nn::dropout_mask(bits, 0.5))?, &[])?.to_string(), "pred[4]{0} {0, 0, 1, 1}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Kept by the builder: `E0801` if the bits are not `u32`, or the rate is not in `[0, 1)`.
#[track_caller]
pub fn dropout_mask(bits: Value<'_>, rate: f64) -> Value<'_> {
    bits.record(|b| {
        rate_of(rate)?;
        let shape = bits.array()?;
        if shape.ty != ElementType::U32 {
            return Err(Error::argument(format!("random bits are u32, not {shape:#}")));
        }
        let threshold = hlo::Scalar::Float((rate * 4_294_967_296.0).round());
        let threshold = threshold.convert(ElementType::F64, ElementType::U32);
        let threshold = b.make_constant(hlo::Literal::scalar(ElementType::U32, threshold))?;
        Ok(bits.ge(threshold))
    })
}
/// Returns the elements that stay, divided by `1 - rate` so that the mean stays too, and zeros: see
/// [`dropout_mask`].
#[track_caller]
pub fn dropout<'b>(x: Value<'b>, bits: Value<'b>, rate: f64) -> Value<'b> {
    x.record(|b| {
        rate_of(rate)?;
        let ty = x.element_type()?;
        let kept = x / b.constant_r0_with_type(ty, 1.0 - rate);
        Ok(dropout_mask(bits, rate).select(kept, b.zero(ty)))
    })
}
