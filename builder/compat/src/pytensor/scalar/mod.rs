//! PyTensor's scalar operations: names, numbers of inputs, types of outputs.
mod build;
mod c;
mod division;
mod gradient;
mod push;
mod rule;

use super::types;
use builder::{Error, Result};
use hlo::ElementType;
use hlo::diag::quantity;
use rule::{InputDomain, TypeRule};

pub(crate) use build::{build, full};
pub(crate) use c::{c_type, expression};
pub(crate) use gradient::{Partial, pull};
pub(crate) use push::push;

macro_rules! scalar_ops {
    ($($variant:ident $name:literal $nin:literal $rule:ident $domain:ident $doc:literal;)*) => {
        /// A scalar operation of PyTensor's, under its name there in Rust's case: what
        /// [`Elemwise`](super::Elemwise) and [`CAReduce`](super::CAReduce) apply to arrays.
        ///
        /// ```
        /// use builder_compat::pytensor::ScalarOp;
        /// use hlo::ElementType::{F32, F64, Pred, S8, U8, S16};
        /// assert_eq!(ScalarOp::from_name("true_div"), Some(ScalarOp::TrueDiv));
        /// assert_eq!(ScalarOp::Add.output_type(&[S8, U8])?, S16);
        /// assert_eq!(ScalarOp::Exp.output_type(&[S8])?, F32);
        /// assert_eq!(ScalarOp::TrueDiv.output_type(&[S8, S8])?, F64);
        /// assert_eq!(ScalarOp::Lt.output_type(&[F32, S8])?, Pred);
        /// # Ok::<(), builder::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ScalarOp {
            $(#[doc = $doc] $variant,)*
            /// In another type. To an integer floats are cut off, the range saturates, NaN gives 0;
            /// between integers the low bits are kept.
            Cast(ElementType),
        }
        impl ScalarOp {
            /// All of them but the casts.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// Returns PyTensor's name: `true_div`, `convert_to_int8`.
            pub fn name(self) -> String {
                match self {
                    $(Self::$variant => $name.to_owned(),)*
                    Self::Cast(ty) => {
                        format!("convert_to_{}", types::dtype(ty).unwrap_or(ty.name()))
                    }
                }
            }
            /// Returns how many inputs it takes; nothing if any number from one on.
            pub fn nin(self) -> Option<usize> {
                let count: usize = match self {
                    $(Self::$variant => $nin,)*
                    Self::Cast(_) => 1,
                };
                (count > 0).then_some(count)
            }
            fn rule(self) -> Option<(TypeRule, InputDomain)> {
                match self {
                    $(Self::$variant => Some((TypeRule::$rule, InputDomain::$domain)),)*
                    Self::Cast(_) => None,
                }
            }
        }
    };
}
scalar_ops! {
    // variant  name    inputs  type of the output  types of the inputs
    Abs "abs" 1 Part Any "Magnitude; of the least integer, which has none, itself.";
    Add "add" 0 Upcast Any "The sum of any number of inputs; of `bool` the disjunction.";
    And "and_" 2 Bits Any "The bits set in both.";
    ArcCos "arccos" 1 Float Any "Arc cosine.";
    ArcCosh "arccosh" 1 Float Any "Inverse hyperbolic cosine.";
    ArcSin "arcsin" 1 Float Any "Arc sine.";
    ArcSinh "arcsinh" 1 Float Any "Inverse hyperbolic sine.";
    ArcTan "arctan" 1 Float Any "Arc tangent.";
    ArcTan2 "arctan2" 2 Float Any "The angle of the point (second, first).";
    ArcTanh "arctanh" 1 Float Any "Inverse hyperbolic tangent.";
    Ceil "ceil" 1 Float Real "The nearest integer not below.";
    Clip "clip" 3 Upcast Real "The second where the first is below it, else the third where it is above that, else the first.";
    Complex "complex" 2 Complex Real "The complex number with these parts.";
    Conj "conj" 1 Same Min8 "The complex conjugate.";
    Cos "cos" 1 Float Any "Cosine.";
    Cosh "cosh" 1 Float Any "Hyperbolic cosine.";
    Eq "eq" 2 Truth Any "Whether both are equal.";
    Erf "erf" 1 Float Real "Error function.";
    Exp "exp" 1 Float Any "`e` to this power.";
    Exp2 "exp2" 1 Float Any "2 to this power.";
    Expm1 "expm1" 1 Float Any "`exp(x) - 1`, exact near 0.";
    Floor "floor" 1 Float Real "The nearest integer not above.";
    Ge "ge" 2 Truth Real "Whether it is not below.";
    Gt "gt" 2 Truth Real "Whether it is above.";
    Identity "identity" 1 Same Any "The same.";
    Imag "imag" 1 Part Any "Imaginary part; 0 of a real number.";
    IntDiv "int_div" 2 Upcast Real "The quotient rounded down, as NumPy rounds it; of integers divided by 0 it is 0.";
    Invert "invert" 1 Bits Any "The bitwise complement; of `bool` the negation.";
    IsInf "isinf" 1 Truth Any "Whether it is infinite.";
    IsNan "isnan" 1 Truth Any "Whether it is not a number.";
    Le "le" 2 Truth Real "Whether it is not above.";
    Log "log" 1 Float Any "Natural logarithm.";
    Log10 "log10" 1 Float Any "Logarithm to base 10.";
    Log1p "log1p" 1 Float Any "`log(1 + x)`, exact near 0.";
    Log2 "log2" 1 Float Any "Logarithm to base 2.";
    Lt "lt" 2 Truth Real "Whether it is below.";
    Maximum "maximum" 2 Upcast Real "The larger; NaN if either is.";
    Minimum "minimum" 2 Upcast Real "The smaller; NaN if either is.";
    Mod "mod" 2 Upcast Real "What `int_div` leaves over, with the sign of the divisor; of integers divided by 0 it is 0.";
    Mul "mul" 0 Upcast Any "The product of any number of inputs; of `bool` the conjunction.";
    Neg "neg" 1 Same NoBool "The same with the other sign.";
    Neq "neq" 2 Truth Any "Whether both differ.";
    Or "or_" 2 Bits Any "The bits set in either.";
    Pow "pow" 2 Upcast Min8 "The first to the power of the second. Integers wrap around; to a negative power 1 is 1, -1 is 1 or -1, and others are 0.";
    Real "real" 1 Part Any "Real part.";
    Reciprocal "reciprocal" 1 Float Any "1 divided by it.";
    RoundHalfAwayFromZero "round_half_away_from_zero" 1 Same RealFloat "The nearest integer; halves go away from zero.";
    RoundHalfToEven "round_half_to_even" 1 Same RealFloat "The nearest integer; halves go to the even one.";
    Second "second" 2 Second Any "The second, shaped like both.";
    Sigmoid "sigmoid" 1 Float Any "`1 / (1 + exp(-x))`.";
    Sign "sign" 1 Same RealNoBool "-1, 0 or 1; 0 of -0, and NaN of NaN.";
    Sin "sin" 1 Float Any "Sine.";
    Sinh "sinh" 1 Float Any "Hyperbolic sine.";
    Softplus "softplus" 1 Float Real "`log(1 + exp(x))`, without overflow.";
    Sqr "sqr" 1 Same Any "The square.";
    Sqrt "sqrt" 1 Float Any "Square root.";
    Sub "sub" 2 Upcast NoBool "The difference.";
    Switch "switch" 3 Switch Any "The second where the first is not 0, elsewhere the third.";
    Tan "tan" 1 Float Any "Tangent.";
    Tanh "tanh" 1 Float Any "Hyperbolic tangent.";
    TrueDiv "true_div" 2 TrueDiv Any "The quotient, which of integers too is a float.";
    Trunc "trunc" 1 Float Real "The nearest integer not farther from zero.";
    Xor "xor" 2 Bits Any "The bits set in one of both.";
}

/// Other names PyTensor has, or had, for some of them.
const ALIASES: [(&str, ScalarOp); 9] = [
    ("abs_", ScalarOp::Abs),
    ("sgn", ScalarOp::Sign),
    ("floor_div", ScalarOp::IntDiv),
    ("and", ScalarOp::And),
    ("or", ScalarOp::Or),
    ("tensor_copy", ScalarOp::Identity),
    ("expit", ScalarOp::Sigmoid),
    ("scalar_maximum", ScalarOp::Maximum),
    ("scalar_minimum", ScalarOp::Minimum),
];

impl ScalarOp {
    /// Returns the operation of this name, in PyTensor's spelling; `convert_to_<dtype>` for the
    /// casts.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(target) = name.strip_prefix("convert_to_") {
            return types::from_dtype(target).map(Self::Cast);
        }
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, op)| *op);
        alias.or_else(|| Self::ALL.iter().copied().find(|op| op.name() == name))
    }
    /// Returns the type of its output on inputs of these types, with PyTensor's `floatX` as it
    /// comes, `float64`.
    ///
    /// # Errors
    /// `E0801` if it does not take so many inputs, `E0810` if it does not take these types.
    pub fn output_type(self, inputs: &[ElementType]) -> Result<ElementType> {
        self.output_type_with(inputs, ElementType::F64)
    }
    /// Returns the output type with another `floatX`, which is what `true_div` gives of integers.
    ///
    /// # Errors
    /// As [`ScalarOp::output_type`].
    pub fn output_type_with(
        self,
        inputs: &[ElementType],
        float_x: ElementType,
    ) -> Result<ElementType> {
        let expected = self.nin();
        if expected.is_some_and(|n| n != inputs.len()) || inputs.is_empty() {
            let expected = expected.map_or("one or more".to_owned(), |n| n.to_string());
            let message = format!(
                "`{}` takes {expected}, found {}",
                self.name(),
                inputs.len(),
                expected = quantity(expected, "input")
            );
            return Err(Error::argument(message));
        }
        inputs.iter().try_for_each(|&ty| types::check(ty))?;
        self.rule().map_or_else(|| self.cast_type(inputs), |rule| self.ruled(rule, inputs, float_x))
    }
}

impl std::fmt::Display for ScalarOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}
