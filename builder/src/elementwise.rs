//! Elementwise methods, one row for each op.
use crate::{Error, Operand, Result, Value, implicit};
use hlo::ElementType;
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Clamp, Compare, Select, Unary};

macro_rules! unary {
    ($($(#[$doc:meta])* $method:ident $op:ident;)*) => {
        #[expect(clippy::should_implement_trait, reason = "the operators' traits are implemented too")]
        impl Value<'_> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $method(self) -> Self {
                self.record(|b| b.emit(Unary::$op, &[self], None))
            }
            )*
        }
        /// The method of each one-operand op.
        pub const UNARY: &[(&str, Unary)] = &[$((stringify!($method), Unary::$op)),*];
    };
}
unary! {
    /// Magnitude; of a complex number its modulus, a real number.
    abs Abs;
    /// Arc cosine.
    acos Acos;
    /// Inverse hyperbolic cosine.
    acosh Acosh;
    /// Arc sine.
    asin Asin;
    /// Inverse hyperbolic sine.
    asinh Asinh;
    /// Inverse hyperbolic tangent.
    atanh Atanh;
    /// Cube root.
    cbrt Cbrt;
    /// The value rounded up to an integer.
    ceil Ceil;
    /// The number of leading zero bits.
    clz CountLeadingZeros;
    /// Cosine, of radians.
    cos Cosine;
    /// Hyperbolic cosine.
    cosh Cosh;
    /// Error function: `2/sqrt(pi)` times the integral of `exp(-t*t)` from 0.
    erf Erf;
    /// `e` to this power.
    exp Exponential;
    /// `exp(x) - 1`, exact near 0.
    expm1 ExponentialMinusOne;
    /// The value rounded down to an integer.
    floor Floor;
    /// Imaginary part; 0 of a real number.
    imag Imag;
    /// Returns whether it is neither infinite nor NaN.
    #[doc(alias = "isfinite")]
    is_finite IsFinite;
    /// Natural logarithm.
    log Log;
    /// `log(1 + x)`, exact near 0.
    log1p LogPlusOne;
    /// `1 / (1 + exp(-x))`.
    logistic Logistic;
    /// The negation.
    neg Negate;
    /// The bitwise complement; of `pred` the negation.
    not Not;
    /// The number of bits that are set: XLA's `PopulationCount`.
    population_count Popcnt;
    /// Real part.
    real Real;
    /// The nearest integer; halves go away from zero.
    round RoundNearestAfz;
    /// The nearest integer; halves go to the even one.
    round_nearest_even RoundNearestEven;
    /// `1 / sqrt(x)`.
    rsqrt Rsqrt;
    /// -1, 0 or 1; of a complex number `x / abs(x)`.
    sign Sign;
    /// Sine, of radians.
    sin Sine;
    /// Hyperbolic sine.
    sinh Sinh;
    /// Square root.
    sqrt Sqrt;
    /// Tangent, of radians.
    tan Tan;
    /// Hyperbolic tangent.
    tanh Tanh;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $method:ident $op:ident;)*) => {
        #[expect(clippy::should_implement_trait, reason = "the operators' traits are implemented too")]
        impl<'b> Value<'b> {
            $($(#[$doc])*
            ///
            /// The other operand is broadcast; see [`Operand`] and [`Value::along`].
            #[track_caller]
            pub fn $method(self, rhs: impl Operand<'b>) -> Self {
                self.record(|_| binary(Binary::$op, self, rhs, self))
            }
            )*
        }
        /// The method of each two-operand op.
        pub const BINARY: &[(&str, Binary)] = &[$((stringify!($method), Binary::$op)),*];
    };
}

/// Returns the op of two operands that are broadcast; plain numbers get the type of `like`.
pub(crate) fn binary<'b>(
    op: Binary,
    lhs: impl Operand<'b>,
    rhs: impl Operand<'b>,
    like: Value<'b>,
) -> Result<Value<'b>> {
    let (lhs, rhs) = implicit::pair(lhs, rhs, like)?;
    like.builder().emit(op, &[lhs, rhs], None).map_err(|error| mixed(error, lhs, rhs))
}

/// Adds a help line if the operands have different types.
fn mixed(error: Error, lhs: Value<'_>, rhs: Value<'_>) -> Error {
    match (lhs.element_type(), rhs.element_type()) {
        (Ok(l), Ok(r)) if l != r => {
            error.with_help("types are not converted implicitly: use `convert_element_type`")
        }
        _ => error,
    }
}

binary! {
    /// The sum; of `pred` the disjunction.
    add Add;
    /// The bits set in both.
    and And;
    /// The angle of the point `(rhs, self)`, from -pi to pi.
    atan2 Atan2;
    /// The complex number with these parts.
    complex Complex;
    /// The quotient; of integers it is cut off towards zero.
    div Divide;
    /// The larger; NaN if either is.
    max Maximum;
    /// The smaller; NaN if either is.
    min Minimum;
    /// The high half of the product of two integers.
    mulhi Mulhi;
    /// The product; of `pred` the conjunction.
    mul Multiply;
    /// The bits set in either.
    or Or;
    /// This to the power of the other.
    pow Power;
    /// The remainder of the division, with the sign of the dividend.
    rem Remainder;
    /// Shifted to higher bits; by the width or more it is 0.
    shift_left ShiftLeft;
    /// Shifted to lower bits, filled with the sign.
    shift_right_arithmetic ShiftRightArithmetic;
    /// Shifted to lower bits, filled with zeros.
    shift_right_logical ShiftRightLogical;
    /// The difference.
    sub Subtract;
    /// The bits set in one of both.
    xor Xor;
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $method:ident $total:ident $direction:ident;)*) => {
        impl<'b> Value<'b> {
            $($(#[$doc])*
            ///
            /// The other operand is broadcast; see [`Operand`] and [`Value::along`]. Returns
            /// `pred`.
            #[track_caller]
            pub fn $method(self, rhs: impl Operand<'b>) -> Self {
                self.record(|_| compare(self, rhs, Direction::$direction, None))
            }
            /// Compares in the total order of floats,
            /// `-NaN < -inf < ... < -0 < 0 < ... < inf < NaN`.
            #[track_caller]
            pub fn $total(self, rhs: impl Operand<'b>) -> Self {
                self.record(|_| {
                    let floats = self.element_type()?.is_float();
                    let order = floats.then_some(ComparisonType::TotalOrder);
                    compare(self, rhs, Direction::$direction, order)
                })
            }
            )*
        }
    };
}
comparisons! {
    /// Returns whether both are equal; NaN equals nothing.
    eq eq_total_order Eq;
    /// Returns whether they differ; NaN differs from everything.
    ne ne_total_order Ne;
    /// Returns whether it is not below; false with NaN.
    ge ge_total_order Ge;
    /// Returns whether it is above; false with NaN.
    gt gt_total_order Gt;
    /// Returns whether it is not above; false with NaN.
    le le_total_order Le;
    /// Returns whether it is below; false with NaN.
    lt lt_total_order Lt;
}

fn compare<'b>(
    lhs: Value<'b>,
    rhs: impl Operand<'b>,
    direction: Direction,
    ty: Option<ComparisonType>,
) -> Result<Value<'b>> {
    let (lhs, rhs) = implicit::pair(lhs, rhs, lhs)?;
    let op = Compare { direction, ty };
    lhs.builder().emit(op, &[lhs, rhs], None).map_err(|error| mixed(error, lhs, rhs))
}

impl<'b> Value<'b> {
    /// Compares element by element: XLA's `Compare`. `None` is the default order of the element
    /// type.
    #[track_caller]
    pub fn compare(
        self,
        rhs: impl Operand<'b>,
        direction: Direction,
        order: Option<ComparisonType>,
    ) -> Self {
        self.record(|_| compare(self, rhs, direction, order))
    }
    /// Returns the complex conjugate: `complex(real(x), -imag(x))`.
    #[track_caller]
    pub fn conj(self) -> Self {
        self.record(|b| {
            if !self.element_type()?.is_complex() {
                return Ok(self);
            }
            let (real, imag) = (b.emit(Unary::Real, &[self], None)?, self.imag().neg());
            b.emit(Binary::Complex, &[real, imag], None)
        })
    }
    /// Returns the element of `on_true` where this is true, otherwise the element of `on_false`.
    ///
    /// Scalars stretch, a scalar `pred` too; nothing else does. Of tuples, which a scalar `pred`
    /// chooses between, it becomes a [`conditional`](Value::conditional).
    #[doc(alias = "where")]
    #[track_caller]
    pub fn select(self, on_true: impl Operand<'b>, on_false: impl Operand<'b>) -> Self {
        self.record(|b| {
            // A number takes the type of the other side.
            let like = on_true.value().or(on_false.value()).ok_or_else(|| {
                Error::argument("both sides of `select` are plain numbers, of no type")
                    .with_help("make one of them a constant: `b.constant(1.0f32)`")
            })?;
            let (on_true, on_false) = (on_true.beside(like)?.value, on_false.beside(like)?.value);
            if on_true.shape()?.tuple().is_some() {
                return crate::ops::control::select_tuple(self, on_true, on_false);
            }
            b.emit(Select {}, &same_dims([self, on_true, on_false])?, None)
        })
    }
    /// Clamps `self` to `min..=max`. Scalars broadcast, other shapes do not.
    #[doc(alias = "clip")]
    #[track_caller]
    pub fn clamp(self, min: impl Operand<'b>, max: impl Operand<'b>) -> Self {
        self.record(|b| {
            let (min, max) = (min.beside(self)?.value, max.beside(self)?.value);
            b.emit(Clamp {}, &same_dims([min, self, max])?, None)
        })
    }
    /// Returns the values in another element type: XLA's `ConvertElementType`. Of complex numbers
    /// the real part is kept.
    #[doc(alias = "astype")]
    #[doc(alias = "cast")]
    #[track_caller]
    pub fn convert_element_type(self, ty: ElementType) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let real = shape.ty.is_complex() && !ty.is_complex();
            let operand = if real { self.real() } else { self };
            b.emit(hlo::op::Convert {}, &[operand], Some(shape.with_type(ty).into()))
        })
    }
}

/// Fails unless the elements are `pred`.
fn truths(name: &str, x: Value<'_>) -> Result<()> {
    let shape = x.array()?;
    if shape.ty == ElementType::Pred {
        return Ok(());
    }
    Err(Error::argument(format!("`{name}` takes pred, found {shape:#}"))
        .with_help("compare with `ne(0)`, or use `and`, `or` and `not` on bits"))
}
/// The logical operations by the names they had in 2018; `and`, `or` and `not` work on the bits of
/// integers too.
impl<'b> Value<'b> {
    /// Returns whether both are true: XLA's `LogicalAnd`. `E0801` unless `pred`.
    #[track_caller]
    pub fn logical_and(self, rhs: impl Operand<'b>) -> Self {
        self.record(|_| truths("logical_and", self).map(|()| self.and(rhs)))
    }
    /// Returns whether at least one is true: XLA's `LogicalOr`. `E0801` unless `pred`.
    #[track_caller]
    pub fn logical_or(self, rhs: impl Operand<'b>) -> Self {
        self.record(|_| truths("logical_or", self).map(|()| self.or(rhs)))
    }
    /// Returns whether it is false: XLA's `LogicalNot`. `E0801` unless `pred`.
    #[track_caller]
    pub fn logical_not(self) -> Self {
        self.record(|_| truths("logical_not", self).map(|()| self.not()))
    }
}

/// Broadcasts the scalars among the operands of a three-operand op.
fn same_dims<const N: usize>(operands: [Value<'_>; N]) -> Result<[Value<'_>; N]> {
    let mut widest = operands[0].array()?;
    for operand in operands {
        let shape = operand.array()?;
        if widest.rank() == 0 {
            widest = shape;
        }
    }
    let mut stretched = operands;
    for operand in &mut stretched {
        if operand.rank()? == 0 && widest.rank() > 0 {
            *operand = implicit::splat(*operand, &widest)?;
        }
    }
    Ok(stretched)
}
