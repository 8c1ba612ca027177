//! Elementwise functions of one operand.
use super::{Domain, admit, through_wide};
use builder::{Result, Value};
use hlo::Class;
use hlo::elem::Special;

/// One function for each row: its domain, how it is built, and an example that runs.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $domain:ident $result:literal $build:expr, $in:literal => $out:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Shape
        /// The operand's.
        #[doc = $result]
        ///
        /// # Errors
        #[doc = concat!("`E0810` if the operand's type is not among those `", stringify!($name), "` takes: ",
            functions!($domain), ".")]
        ///
        /// ```
        /// use builder_compat::max_graph;
        /// let b = builder::Builder::new("m");
        #[doc = concat!("let r = max_graph::", stringify!($name), "(b.constant(", $in, "));")]
        /// let result = interp::run(&b.build(r)?, &[])?;
        #[doc = concat!("assert_eq!(result.to_string(), \"", $out, "\");")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[track_caller]
        pub fn $name(x: Value<'_>) -> Value<'_> {
            x.record(|_| {
                admit(stringify!($name), x.element_type()?, Domain::$domain)?;
                $build(x)
            })
        }
    )*};
    (All) => { "integers, floats and `pred`" };
    (Numbers) => { "integers and floats" };
    (Floats) => { "floats" };
}

functions! {
    /// The magnitude: MAX Graph's `abs`. That of the least signed integer is itself; unsigned ones
    /// stay as they are.
    abs Numbers "" magnitude, "[-1.5f32, 2.0]" => "f32[2]{0} {1.5, 2}";
    /// The cosine, of radians: MAX Graph's `cos`.
    cos Floats "" plain(Value::cos), "[0f32]" => "f32[1]{0} {1}";
    /// The error function: MAX Graph's `erf`. The page does not mention integers; they are refused,
    /// as for `cos`.
    erf Floats "" plain(Value::erf), "[0f32, f32::INFINITY]" => "f32[2]{0} {0, 1}";
    /// `e` to this power: MAX Graph's `exp`. The page does not mention integers; they are refused,
    /// as for `cos`.
    exp Floats "" plain(Value::exp), "[0f32, f32::NEG_INFINITY]" => "f32[2]{0} {1, 0}";
    /// The nearest integer not above: MAX Graph's `floor`.
    floor Floats "" plain(Value::floor), "[-1.5f32, 1.5]" => "f32[2]{0} {-2, 1}";
    /// `x * P(x)`, with the cumulative distribution `P` of the normal distribution: MAX Graph's
    /// `gelu`.
    ///
    /// It is computed as the reference says, without approximation,
    /// `0.5 * x * (1 + erf(x / sqrt(2)))`; in `f32` for narrower types. Far below zero, where the
    /// sum cancels, the result is exact to half a unit of 1 times `x`; -inf gives NaN. The page
    /// does not mention integers; they are refused, as for `cos`.
    gelu Floats "" gaussian_unit, "[0f32, 8.0]" => "f32[2]{0} {0, 8}";
    /// Returns whether it is infinite, of either sign: MAX Graph's `is_inf`. The page does not
    /// mention integers and `bool`, which never are.
    is_inf All "The type is `bool`, `pred` here." infinite, "[f32::NEG_INFINITY, f32::NAN]" => "pred[2]{0} {1, 0}";
    /// Returns whether it is no number: MAX Graph's `is_nan`. The page does not mention integers
    /// and `bool`, which always are.
    is_nan All "The type is `bool`, `pred` here." plain(no_number), "[f32::NEG_INFINITY, f32::NAN]" => "pred[2]{0} {0, 1}";
    /// The natural logarithm: MAX Graph's `log`; NaN below zero. The page does not mention
    /// integers; they are refused as `cos` refuses them.
    log Floats "" plain(Value::log), "[1f32, 0.0]" => "f32[2]{0} {0, -inf}";
    /// `log(1 + x)`, exact near 0: MAX Graph's `log1p`. The page does not mention integers; they
    /// are refused as `cos` refuses them.
    log1p Floats "" plain(Value::log1p), "[0f32, -1.0]" => "f32[2]{0} {0, -inf}";
    /// `max(0, x)`: MAX Graph's `relu`; NaN stays NaN. The page does not mention integers, to which
    /// the formula applies too.
    relu Numbers "" rectified, "[-2f32, 3.0]" => "f32[2]{0} {0, 3}";
    /// The nearest integer: MAX Graph's `round`. The page does not define halves; the reference
    /// rounds them to even, as [`roundeven`] does.
    round Floats "" plain(Value::round_nearest_even), "[0.5f32, 1.5, -2.5]" => "f32[3]{0} {0, 2, -2}";
    /// The nearest integer; halves go to the even one: MAX Graph's `roundeven`.
    roundeven Floats "" plain(Value::round_nearest_even), "[0.5f32, 1.5, -2.5]" => "f32[3]{0} {0, 2, -2}";
    /// `1 / sqrt(x)`: MAX Graph's `rsqrt`.
    rsqrt Floats "" plain(Value::rsqrt), "[4f32, 0.0]" => "f32[2]{0} {0.5, inf}";
    /// `1 / (1 + exp(-x))`: MAX Graph's `sigmoid`. The page does not mention integers; they are
    /// refused, as for `cos`.
    sigmoid Floats "" plain(Value::logistic), "[0f32, f32::INFINITY]" => "f32[2]{0} {0.5, 1}";
    /// `x * sigmoid(x)`: MAX Graph's `silu`; computed in `f32` for narrower types; -inf gives NaN.
    /// The page is silent on integers; they are refused, as for `cos`.
    silu Floats "" gated, "[0f32, 128.0]" => "f32[2]{0} {0, 128}";
    /// The sine, of radians: MAX Graph's `sin`.
    sin Floats "" plain(Value::sin), "[0f32]" => "f32[1]{0} {0}";
    /// The square root: MAX Graph's `sqrt`; NaN below zero.
    sqrt Floats "" plain(Value::sqrt), "[4f32, 2.25]" => "f32[2]{0} {2, 1.5}";
    /// The hyperbolic tangent: MAX Graph's `tanh`.
    tanh Floats "" plain(Value::tanh), "[0f32, f32::INFINITY]" => "f32[2]{0} {0, 1}";
    /// The whole part: MAX Graph's `trunc`, cut off towards zero. -0.5 becomes -0.
    trunc Floats "" plain(whole_part), "[-1.5f32, 1.5]" => "f32[2]{0} {-1, 1}";
}

/// Returns a formula that looks at no type.
fn plain<'b>(formula: impl Fn(Value<'b>) -> Value<'b>) -> impl Fn(Value<'b>) -> Result<Value<'b>> {
    move |x| Ok(formula(x))
}

fn magnitude(x: Value<'_>) -> Result<Value<'_>> {
    let unsigned = x.element_type()?.class() == Class::Unsigned;
    Ok(if unsigned { x } else { x.abs() })
}

fn rectified(x: Value<'_>) -> Result<Value<'_>> {
    // A format of powers of two has no zero to compare with, and nothing below it.
    let format = x.element_type()?.float_format();
    let positive = format.is_some_and(|f| f.special == Special::PowerOfTwo);
    Ok(if positive { x } else { x.max(0) })
}

fn gaussian_unit(x: Value<'_>) -> Result<Value<'_>> {
    through_wide(x, |x| {
        let erf = x.div(std::f64::consts::SQRT_2).erf();
        Ok(x.mul(0.5).mul(erf.add(1)))
    })
}

fn gated(x: Value<'_>) -> Result<Value<'_>> {
    through_wide(x, |x| Ok(x.mul(x.logistic())))
}

fn no_number(x: Value<'_>) -> Value<'_> {
    x.ne(x)
}

fn infinite(x: Value<'_>) -> Result<Value<'_>> {
    Ok(match x.element_type()?.is_float() {
        true => x.is_finite().or(x.ne(x)).not(),
        // No element differs from itself.
        false => x.ne(x),
    })
}

fn whole_part(x: Value<'_>) -> Value<'_> {
    x.lt(0).select(x.ceil(), x.floor())
}
