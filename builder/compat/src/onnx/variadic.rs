//! Operators of one input or more with multidirectional broadcasting.
use super::together;
use super::types::Types;
use builder::{Builder, Result, Value};
use hlo::op::Binary;

/// An operator a row, with an example that runs.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident $operator:literal $version:literal $types:ident $op:ident $finish:expr,
       ($a:literal, $b:literal) => $out:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("Source: operator `", $version, "`; \"Multidirectional Broadcasting\".")]
        ///
        /// # Shape
        /// All inputs broadcast to one shape, see [`multidirectional`](super::multidirectional()).
        /// One input stays as it is.
        ///
        /// # Errors
        /// `E0801` if there is no input, `E0810` if the inputs have different types or one that the
        /// operator does not take, `E0802` if the shapes do not broadcast, `E0811` if that is known
        /// only at run time.
        ///
        /// ```
        /// use builder_compat::onnx;
        /// let b = builder::Builder::new("m");
        #[doc = concat!("let r = onnx::", stringify!($name), "(&b, &[b.constant(", $a, "), b.constant(", $b, ")]);")]
        /// let result = interp::run(&b.build(r)?, &[])?;
        #[doc = concat!("assert_eq!(result.to_string(), \"", $out, "\");")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[track_caller]
        pub fn $name<'b>(builder: &'b Builder, inputs: &[Value<'b>]) -> Value<'b> {
            builder.record(|b| {
                let folded = folded(b, $operator, inputs, Types::$types, Binary::$op)?;
                $finish(folded, inputs.len())
            })
        }
    )*};
}

fn folded<'b>(
    b: &'b Builder,
    operator: &str,
    inputs: &[Value<'b>],
    types: Types,
    op: Binary,
) -> Result<Value<'b>> {
    inputs.iter().try_for_each(|input| b.owns(*input))?;
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("data_{i}")).collect();
    let named: Vec<(&str, Value<'b>)> =
        names.iter().map(String::as_str).zip(inputs.iter().copied()).collect();
    let operands = together(operator, &named, types)?;
    let mut operands = operands.into_iter();
    // Without inputs `together` has failed.
    let first = operands.next().ok_or(builder::Code::Invalid {})?;
    operands.try_fold(first, |so_far, next| b.emit(op, &[so_far, next], None))
}

operators! {
    /// The largest of all inputs: ONNX's `Max`; NaN if one is.
    max "Max" "Max-13" Numeric Maximum whole, ("[[1i32], [20]]", "[3i32, 4]") => "s32[2,2]{1,0} { { 3, 4 }, { 20, 20 } }";
    /// The mean of all inputs: ONNX's `Mean`.
    ///
    /// It is their sum, added from the first to the last, over their number; each step is rounded
    /// to the type.
    mean "Mean" "Mean-13" Floats Add over_count, ("[1f32, 2.0]", "[4f32]") => "f32[2]{0} {2.5, 3}";
    /// The smallest of all inputs: ONNX's `Min`; NaN if one is.
    min "Min" "Min-13" Numeric Minimum whole, ("[[1i32], [20]]", "[3i32, 4]") => "s32[2,2]{1,0} { { 1, 1 }, { 3, 4 } }";
    /// The sum of all inputs: ONNX's `Sum`, added from the first to the last. It takes floats only;
    /// [`add`](super::add) takes integers too.
    sum "Sum" "Sum-13" Floats Add whole, ("[1f32, 2.0]", "[4f32]") => "f32[2]{0} {5, 6}";
}

#[expect(clippy::unnecessary_wraps, reason = "as the other one of the table")]
fn whole(value: Value<'_>, _: usize) -> Result<Value<'_>> {
    Ok(value)
}
fn over_count(sum: Value<'_>, count: usize) -> Result<Value<'_>> {
    let count = i64::try_from(count).map_err(|_| builder::Error::argument("too many inputs"))?;
    Ok(if count == 1 { sum } else { sum.div(count) })
}
