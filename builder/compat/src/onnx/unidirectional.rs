//! Operators with unidirectional broadcasting: `Gemm` and `PRelu`.
use super::types::{Types, one_type, tensor};
use super::{Dim, onto, stretched};
use builder::{Code, Error, Result, Value};
use hlo::op::Dot;
use hlo::{ElementType, Scalar};

/// The attributes of [`gemm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gemm {
    /// The factor of the product of the matrices; 1 by default.
    pub alpha: f32,
    /// The factor of the third input; 1 by default.
    pub beta: f32,
    /// Whether the first input is transposed before: `transA`; not if left out.
    pub trans_a: bool,
    /// Whether the second input is transposed before: `transB`; not if left out.
    pub trans_b: bool,
}
impl Default for Gemm {
    fn default() -> Self {
        Self { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: false }
    }
}

/// Returns `alpha * A' * B' + beta * C`: ONNX's `Gemm`.
///
/// Source: operator `Gemm-13`; "Unidirectional Broadcasting". `A'` and `B'` are the matrices,
/// transposed if the attributes say so. The sums of the product are rounded to the type first, then
/// each further step; a factor of 1 is no step. Integers wrap, and need whole factors: the page
/// does not say what others mean.
///
/// # Shape
/// `A'` is `(M, K)`, `B'` is `(K, N)`, the result `(M, N)`. `C`, which may be missing, is broadcast
/// to `(M, N)`, see [`unidirectional`](super::unidirectional()).
///
/// # Errors
/// `E0801` if `A` or `B` is no matrix or they share no `K`, `E0802` if `C` does not broadcast,
/// `E0810` if the inputs have different types or one that the operator does not take, `E0807` for a
/// factor that the type does not hold.
///
/// ```
/// use builder_compat::onnx::{Gemm, gemm};
/// let b = builder::Builder::new("m");
/// let (x, y) = (b.constant([[1f32, 2.0]]), b.constant([[3f32, 4.0], [5.0, 6.0]]));
/// let c = b.constant([10f32]);
/// let r = gemm(x, y, Some(c), Gemm { alpha: 2.0, trans_b: true, ..Gemm::default() });
/// assert_eq!(interp::run(&b.build(r)?, &[])?.to_string(), "f32[1,2]{1,0} { { 32, 44 } }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn gemm<'b>(a: Value<'b>, b: Value<'b>, c: Option<Value<'b>>, attributes: Gemm) -> Value<'b> {
    a.record(|_| {
        let mut inputs = vec![("A", a), ("B", b)];
        inputs.extend(c.map(|c| ("C", c)));
        one_type("Gemm", &inputs, Types::HighPrecision)?;
        let product = product(a, b, &attributes)?;
        let product = scaled(product, "alpha", attributes.alpha)?;
        let Some(c) = c else { return Ok(product) };
        let dims = Dim::list(&product.array()?);
        onto("Gemm: ", ("A' * B'", &dims), ("C", &Dim::list(&c.array()?)))?;
        // What is added is scaled first, while it is small.
        let c = stretched(scaled(c, "beta", attributes.beta)?, &dims, &[product])?;
        Ok(product.add(c))
    })
}

/// Returns `A' * B'`
fn product<'b>(a: Value<'b>, b: Value<'b>, attributes: &Gemm) -> Result<Value<'b>> {
    for (name, value) in [("A", a), ("B", b)] {
        let shape = value.array()?;
        if shape.rank() != 2 {
            let message = format!("Gemm: {name} is a matrix, this is {shape:#}");
            return Err(Error::argument(message).with_help("reshape it to two dimensions"));
        }
    }
    // The dimension summed over: the last of A', the first of B'.
    let (left, right) = (i64::from(!attributes.trans_a), i64::from(attributes.trans_b));
    let (l, r) = (a.array()?, b.array()?);
    if l.dim(left) != r.dim(right) {
        let transposed = |(shape, yes)| match yes {
            true => format!("transpose({shape:#})"),
            false => format!("{shape:#}"),
        };
        let [l, r] = [(l, attributes.trans_a), (r, attributes.trans_b)].map(transposed);
        let message = format!("Gemm: {l} and {r} cannot be multiplied");
        return Err(Error::argument(message)
            .with_help("A' has as many columns as B' has rows; see `trans_a` and `trans_b`"));
    }
    let dot = Dot {
        lhs_contracting_dims: vec![left],
        rhs_contracting_dims: vec![right],
        ..Dot::default()
    };
    a.builder().emit(dot, &[a, b], None)
}

/// Returns the value times a factor.
fn scaled<'b>(value: Value<'b>, name: &str, factor: f32) -> Result<Value<'b>> {
    let (ty, wide) = (value.element_type()?, f64::from(factor));
    // 1 exactly: what is 1 in the attribute is 1 in every type.
    if factor.to_bits() == 1f32.to_bits() {
        return Ok(value);
    }
    if ty.is_float() {
        return Ok(value.mul(wide));
    }
    // Below 2^63, where integers end.
    let whole = wide.fract() == 0.0 && wide.abs() < 2f64.powi(63);
    let signed = Scalar::Float(wide).convert(ElementType::F64, ElementType::S64).as_i64();
    let Some(factor) = signed.filter(|_| whole) else {
        let message = format!("Gemm: {name} is {factor}, and the inputs are {}", tensor(ty));
        return Err(Error::from(Code::Literal { message })
            .with_help("integers are multiplied by integers only"));
    };
    Ok(value.mul(factor))
}

/// Returns `x` where it is not below 0, `slope * x` where it is: ONNX's `PRelu`.
///
/// Source: operator `PRelu-16`; "Unidirectional Broadcasting". NaN stays NaN.
///
/// # Shape
/// That of `x`; the slope is broadcast to it, see [`unidirectional`](super::unidirectional()).
///
/// # Errors
/// `E0810` if the inputs have different types or one that the operator does not take, `E0802` if
/// the slope does not broadcast, `E0811` if that is known only at run time.
///
/// ```
/// use builder_compat::onnx;
/// let b = builder::Builder::new("m");
/// let r = onnx::prelu(b.constant([[-1f32, 2.0], [-3.0, -4.0]]), b.constant([0.5f32, 0.25]));
/// assert_eq!(interp::run(&b.build(r)?, &[])?.to_string(), "f32[2,2]{1,0} { { -0.5, 2 }, { -1.5, -1 } }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn prelu<'b>(x: Value<'b>, slope: Value<'b>) -> Value<'b> {
    x.record(|_| {
        one_type("PRelu", &[("X", x), ("slope", slope)], Types::HighPrecision)?;
        let dims = Dim::list(&x.array()?);
        onto("PRelu: ", ("X", &dims), ("slope", &Dim::list(&slope.array()?)))?;
        let slope = stretched(slope, &dims, &[x])?;
        Ok(x.lt(0).select(slope.mul(x), x))
    })
}
