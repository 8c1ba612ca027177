//! Functions of two operands.
use super::{Domain, admit, cast, promoted, strong};
use builder::{Operand, Result, Value};
use hlo::ElementType;
use hlo::op::value::Direction;
use hlo::op::{Binary, Compare};

/// The type of all results, and one function for each row: its domain, how it is built from
/// promoted operands, and an example that runs.
macro_rules! functions {
    ($result:literal; $($(#[$doc:meta])* $name:ident $domain:ident $build:expr,
       ($lhs:literal, $rhs:literal) => $out:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Shape
        /// Both operands broadcast to one shape, after they are cast to one type.
        #[doc = $result]
        ///
        /// # Errors
        /// `E0810` if the types do not promote or the function does not take what they promote to,
        /// `E0802` if the shapes do not broadcast, `E0807` for a plain number that the other
        /// operand's type does not hold.
        ///
        /// ```
        /// use builder_compat::max_graph;
        /// let b = builder::Builder::new("m");
        #[doc = concat!("let r = max_graph::", stringify!($name), "(b.constant(", $lhs, "), b.constant(", $rhs, "));")]
        /// let result = interp::run(&b.build(r)?, &[])?;
        #[doc = concat!("assert_eq!(result.to_string(), \"", $out, "\");")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[track_caller]
        pub fn $name<'b>(lhs: Value<'b>, rhs: impl Operand<'b>) -> Value<'b> {
            lhs.record(|_| {
                // `mod` is no name in Rust.
                let name = stringify!($name).trim_end_matches('_');
                let (lhs, rhs) = operands(name, lhs, rhs, Domain::$domain)?;
                $build(lhs, rhs)
            })
        }
    )*};
}

/// Returns both operands, promoted and broadcast.
fn operands<'b>(
    function: &str,
    lhs: Value<'b>,
    rhs: impl Operand<'b>,
    domain: Domain,
) -> Result<(Value<'b>, Value<'b>)> {
    let (lhs, rhs) = promoted(lhs, strong(lhs, rhs)?)?;
    admit(function, lhs.element_type()?, domain)?;
    Ok((lhs, rhs))
}

fn op<'b>(op: Binary) -> impl Fn(Value<'b>, Value<'b>) -> Result<Value<'b>> {
    move |lhs, rhs| lhs.builder().emit(op, &[lhs, rhs], None)
}
fn comparison<'b>(direction: Direction) -> impl Fn(Value<'b>, Value<'b>) -> Result<Value<'b>> {
    move |lhs, rhs| lhs.builder().emit(Compare { direction, ty: None }, &[lhs, rhs], None)
}

functions! {
    "The result has the promoted type.";
    /// The sum: MAX Graph's `add`. Integers wrap.
    add Numbers op(Binary::Add), ("[1u8, 2]", "[300i16]") => "s16[2]{0} {301, 302}";
    /// The larger: MAX Graph's `max`; NaN if either is. `bool` is allowed, where true is the
    /// larger, which the page does not mention.
    max All op(Binary::Maximum), ("[1i32, 5]", "[3i32]") => "s32[2]{0} {3, 5}";
    /// The smaller: MAX Graph's `min`; NaN if either is. `bool` is allowed, where false is the
    /// smaller, which the page does not mention.
    min All op(Binary::Minimum), ("[1i32, 5]", "[3i32]") => "s32[2]{0} {1, 3}";
    /// The remainder of floor division: MAX Graph's `mod`, which is not a valid name in Rust.
    ///
    /// The page calls it a maximum, by mistake; the reference a modulus. It is that of Python's
    /// `%`, which the reference's language shares: what is not zero has the sign of the divisor.
    /// Neither defines the rest, which is XLA's remainder's: an integer modulo 0 is itself, a float
    /// modulo 0 is NaN, and a zero keeps the sign of the dividend.
    #[doc(alias = "mod")]
    mod_ Numbers floor_remainder, ("[7i32, -7]", "[3i32]") => "s32[2]{0} {1, 2}";
    /// The product: MAX Graph's `mul`. Integers wrap. The promotion rules hold without exception;
    /// newer releases of `max.graph.ops` cast an integer operand to the other's float type here.
    mul Numbers op(Binary::Multiply), ("[2u8, 3]", "[1.5f32]") => "f32[2]{0} {3, 4.5}";
    /// The power: MAX Graph's `pow`.
    ///
    /// The page does not define powers of integers: they wrap, and negative exponents give 1 or -1
    /// for the bases 1 and -1, and 0 for all others, as XLA's `power` does.
    pow Numbers op(Binary::Power), ("[2i32, 3]", "[4i32, -1]") => "s32[2]{0} {16, 0}";
    /// The difference: MAX Graph's `sub`. Integers wrap.
    sub Numbers op(Binary::Subtract), ("[1i8]", "[2.5f32, 1.0]") => "f32[2]{0} {-1.5, 0}";
}
functions! {
    "The result is `bool`, `pred` here.";
    /// Returns whether both are equal: MAX Graph's `equal`. NaN equals nothing.
    equal All comparison(Direction::Eq), ("[1i32, 5]", "[5i32]") => "pred[2]{0} {0, 1}";
    /// Returns whether the first is above the second: MAX Graph's `greater`; false with NaN. Of
    /// `bool` true is above false.
    greater All comparison(Direction::Gt), ("[1u8, 5]", "[2.5f32]") => "pred[2]{0} {0, 1}";
    /// Returns whether the first is not below the second: MAX Graph's `greater_equal`; false with
    /// NaN. Of `bool` true is above false.
    greater_equal All comparison(Direction::Ge), ("[1i32, 5]", "[5i32]") => "pred[2]{0} {0, 1}";
    /// Returns whether they differ: MAX Graph's `not_equal`. NaN differs from everything.
    not_equal All comparison(Direction::Ne), ("[1i32, 5]", "[5i32]") => "pred[2]{0} {1, 0}";
}

/// Returns the quotient: MAX Graph's `div`.
///
/// The page says no more than that it divides; the reference, that it is the true division of
/// Python's `/`. Where no operand is a float both are cast to `f64`, whatever their widths and
/// signs, and the result is `f64`; integers of 64 bits round.
///
/// # Shape
/// Both operands broadcast to one shape. The result has the promoted type, or `f64` where no
/// operand is a float.
///
/// # Errors
/// `E0810` if the types do not promote or both are `pred`, `E0802` if the shapes do not broadcast,
/// `E0807` for a plain number that the other operand's type does not hold.
///
/// ```
/// use builder_compat::max_graph;
/// let b = builder::Builder::new("m");
/// let r = max_graph::div(b.constant([7i32, -7]), b.constant(2i32));
/// assert_eq!(interp::run(&b.build(r)?, &[])?.to_string(), "f64[2]{0} {3.5, -3.5}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn div<'b>(lhs: Value<'b>, rhs: impl Operand<'b>) -> Value<'b> {
    lhs.record(|_| {
        let rhs = strong(lhs, rhs)?;
        let types = [lhs.element_type()?, rhs.element_type()?];
        let mut operands = [lhs, rhs];
        if types.iter().any(|ty| ty.is_integral()) && !types.iter().any(|ty| ty.is_float()) {
            for (operand, ty) in operands.iter_mut().zip(types) {
                admit("div", ty, Domain::All)?;
                *operand = cast(*operand, ElementType::F64)?;
            }
        }
        let (lhs, rhs) = self::operands("div", operands[0], operands[1], Domain::Numbers)?;
        op(Binary::Divide)(lhs, rhs)
    })
}

/// Returns the remainder with the divisor's sign, made of the one with the dividend's.
fn floor_remainder<'b>(lhs: Value<'b>, rhs: Value<'b>) -> Result<Value<'b>> {
    let remainder = op(Binary::Remainder)(lhs, rhs)?;
    if lhs.element_type()?.class() == hlo::Class::Unsigned {
        return Ok(remainder);
    }
    let (below, divisor_below) = (remainder.lt(0), rhs.lt(0));
    let turned = below.xor(divisor_below).and(remainder.ne(0));
    Ok(turned.select(remainder.add(rhs), remainder))
}
