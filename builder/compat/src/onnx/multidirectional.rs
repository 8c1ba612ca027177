//! Operators of two inputs with multidirectional broadcasting.
use super::together;
use super::types::Types;
use builder::{Result, Value};
use hlo::Op;
use hlo::op::value::Direction;
use hlo::op::{Binary, Compare};

/// An operator a row: its name, version, types, op, and an example that runs.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident $operator:literal $types:ident $op:expr,
       ($a:literal, $b:literal) => $out:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("Source: operator `", $operator, "`; \"Multidirectional Broadcasting\".")]
        ///
        /// # Shape
        /// Both inputs broadcast to one shape, see [`multidirectional`](super::multidirectional()).
        ///
        /// # Errors
        /// `E0810` if the inputs have different types or one that the operator does not take,
        /// `E0802` if the shapes do not broadcast, `E0811` if that is known only at run time.
        ///
        /// ```
        /// use builder_compat::onnx;
        /// let b = builder::Builder::new("m");
        #[doc = concat!("let r = onnx::", stringify!($name), "(b.constant(", $a, "), b.constant(", $b, "));")]
        /// let result = interp::run(&b.build(r)?, &[])?;
        #[doc = concat!("assert_eq!(result.to_string(), \"", $out, "\");")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[track_caller]
        pub fn $name<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
            a.record(|_| elementwise($operator, a, b, Types::$types, $op.into()))
        }
    )*};
}

fn elementwise<'b>(
    operator: &str,
    a: Value<'b>,
    b: Value<'b>,
    types: Types,
    op: Op,
) -> Result<Value<'b>> {
    // The version says which page is meant, and is no part of the name.
    let name = operator.split('-').next().unwrap_or(operator);
    let operands = together(name, &[("A", a), ("B", b)], types)?;
    a.builder().emit(op, &operands, None)
}

operators! {
    /// The sum: ONNX's `Add`. Integers wrap.
    add "Add-14" Numeric Binary::Add, ("[1i32, 2]", "[10i32]") => "s32[2]{0} {11, 12}";
    /// Returns whether both are true: ONNX's `And`.
    and "And-7" Bool Binary::And, ("[true, false]", "[true]") => "pred[2]{0} {1, 0}";
    /// The quotient: ONNX's `Div`.
    ///
    /// Of integers it is cut off towards zero. The page leaves open an integer divided by 0; here
    /// it is XLA's -1, of unsigned types the largest value.
    div "Div-14" Numeric Binary::Divide, ("[7i32, -7]", "[2i32]") => "s32[2]{0} {3, -3}";
    /// Returns whether both are equal: ONNX's `Equal`. NaN equals nothing. Strings are no type of
    /// HLO.
    equal "Equal-19" Comparable compare(Direction::Eq), ("[1i32, 2]", "[2i32]") => "pred[2]{0} {0, 1}";
    /// Returns whether the first is above the second: ONNX's `Greater`; false with NaN.
    greater "Greater-13" Numeric compare(Direction::Gt), ("[1i32, 3]", "[2i32]") => "pred[2]{0} {0, 1}";
    /// Returns whether the first is below the second: ONNX's `Less`; false with NaN.
    less "Less-13" Numeric compare(Direction::Lt), ("[1i32, 3]", "[2i32]") => "pred[2]{0} {1, 0}";
    /// The product: ONNX's `Mul`. Integers wrap.
    mul "Mul-14" Numeric Binary::Multiply, ("[1i32, 2]", "[10i32]") => "s32[2]{0} {10, 20}";
    /// Returns whether one or both are true: ONNX's `Or`.
    or "Or-7" Bool Binary::Or, ("[true, false]", "[false]") => "pred[2]{0} {1, 0}";
    /// The difference: ONNX's `Sub`. Integers wrap.
    sub "Sub-14" Numeric Binary::Subtract, ("[1i32, 2]", "[10i32]") => "s32[2]{0} {-9, -8}";
    /// Returns whether one is true and the other is not: ONNX's `Xor`.
    xor "Xor-7" Bool Binary::Xor, ("[true, false]", "[true]") => "pred[2]{0} {0, 1}";
}

fn compare(direction: Direction) -> Compare {
    Compare { direction, ty: None }
}
