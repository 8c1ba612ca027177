//! Constants by element type: zero, one, and the limits of a type.
use crate::operand::{PlainNumber, scalar};
use crate::{Builder, Error, IntoLiteral, IntoShape, Operand, Result, Value, implicit};
use hlo::elem::{Class, Special};
use hlo::{ElementType, Literal, Scalar};

impl Builder {
    /// Returns a scalar of this type: XLA's `ConstantR0WithType`.
    ///
    /// An integer type must hold the number exactly (`E0807`), a float type rounds it, a complex
    /// type takes it as its real part; a float is no integer, even if it is whole.
    ///
    /// ```
    /// use hlo::ElementType;
    /// let b = builder::Builder::new("m");
    /// let x = b.constant_r0_with_type(ElementType::Bf16, 1.5);
    /// assert_eq!(x.shape()?.to_string(), "bf16[]");
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn constant_r0_with_type(&self, ty: ElementType, value: impl IntoLiteral) -> Value<'_> {
        self.record(|b| {
            let literal = value.into_literal()?;
            if literal.array_shape().is_none_or(|shape| shape.rank() > 0) {
                return Err(Error::argument("expected a single number"));
            }
            let element = match literal.get(0) {
                Scalar::Pred(truth) => scalar(PlainNumber::Bool(truth), ty)?,
                Scalar::Float(x) => scalar(PlainNumber::Float(x), ty)?,
                Scalar::Signed(n) => scalar(PlainNumber::Integer(n), ty)?,
                // Numbers that i64 does not hold; u64 is the only integer that does.
                Scalar::Unsigned(n) => match i64::try_from(n) {
                    Ok(n) => scalar(PlainNumber::Integer(n), ty)?,
                    Err(_) if ty == ElementType::U64 => Scalar::Unsigned(n),
                    Err(_) if ty.is_integral() => {
                        return Err(Error::argument(format!("{n} is not a value of {ty}")));
                    }
                    Err(_) => Scalar::Unsigned(n).convert(ElementType::U64, ty),
                },
                Scalar::Complex(re, im) if ty.is_complex() => Scalar::Complex(re, im),
                Scalar::Complex(..) => {
                    return Err(Error::argument(format!(
                        "a complex number is not a value of {ty}"
                    )));
                }
            };
            b.make_constant(Literal::scalar(ty, element))
        })
    }
    /// Returns 0 of this type: XLA's `Zero`. `E0801` for `f8e8m0fnu`, which has none.
    #[track_caller]
    pub fn zero(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, zero(ty)?))
    }
    /// Returns 1 of this type: XLA's `One`. `E0801` for `s1`, which holds -1 and 0.
    #[track_caller]
    pub fn one(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, one(ty)?))
    }
    /// Returns the distance from 1 to the next larger value of a real float type: XLA's `Epsilon`.
    #[track_caller]
    pub fn epsilon(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, Scalar::Float(power_of_half(format(ty)?.mantissa_bits))))
    }
    /// Returns the lowest value, which is `-inf` if the type has it: XLA's `MinValue`.
    #[track_caller]
    pub fn min_value(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, end(ty, false, true)?))
    }
    /// Returns the lowest finite value: XLA's `MinFiniteValue`.
    #[track_caller]
    pub fn min_finite_value(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, end(ty, false, false)?))
    }
    /// Returns the smallest positive value with all its digits, of a real float type: XLA's
    /// `MinPositiveNormalValue`.
    #[track_caller]
    pub fn min_positive_normal_value(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| {
            let format = format(ty)?;
            // The least exponent code is 1 where 0 is for subnormal numbers.
            let first = u64::from(format.special != Special::PowerOfTwo) << format.mantissa_bits;
            b.of_type(ty, Scalar::Float(format.decode(first)))
        })
    }
    /// Returns the highest value, which is `inf` if the type has it: XLA's `MaxValue`.
    #[track_caller]
    pub fn max_value(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, end(ty, true, true)?))
    }
    /// Returns the highest finite value: XLA's `MaxFiniteValue`.
    #[track_caller]
    pub fn max_finite_value(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| b.of_type(ty, end(ty, true, false)?))
    }
    /// Returns NaN of a real float type: XLA's `NanValue`. `E0801` for types that have none.
    #[track_caller]
    pub fn nan_value(&self, ty: ElementType) -> Value<'_> {
        self.record(|b| match format(ty)?.special {
            Special::Finite => Err(Error::argument(format!("{ty} has no NaN"))),
            Special::Ieee | Special::Fn | Special::Fnuz | Special::PowerOfTwo => {
                b.of_type(ty, Scalar::Float(f64::NAN))
            }
        })
    }
    /// Returns an array of zeros: XLA's `Zeros`.
    #[track_caller]
    pub fn zeros(&self, shape: impl IntoShape) -> Value<'_> {
        self.record(|b| {
            let shape = shape.into_shape()?;
            let Some(array) = shape.array() else {
                return Err(Error::argument(format!("expected an array, found {shape:#}")));
            };
            let scalar = b.of_type(array.ty, zero(array.ty)?)?;
            if array.rank() == 0 { Ok(scalar) } else { implicit::splat(scalar, array) }
        })
    }
    fn of_type(&self, ty: ElementType, element: Scalar) -> Result<Value<'_>> {
        self.make_constant(Literal::scalar(ty, element))
    }
}

impl<'b> Value<'b> {
    /// Returns a scalar constant of this array's type: XLA's `ScalarLike`.
    #[track_caller]
    pub fn scalar_like(self, value: impl Operand<'b>) -> Self {
        self.record(|_| Ok(value.beside(self)?.value))
    }
    /// Returns an array of this one's shape, all of whose elements are this number: XLA's
    /// `FullLike`.
    #[track_caller]
    pub fn full_like(self, value: impl Operand<'b>) -> Self {
        self.record(|_| {
            let (scalar, shape) = (value.beside(self)?.value, self.array()?);
            if shape.rank() == 0 { Ok(scalar) } else { implicit::splat(scalar, &shape) }
        })
    }
    /// Returns an array of this one's shape, all of whose elements are 0: XLA's `ZerosLike`.
    #[track_caller]
    pub fn zeros_like(self) -> Self {
        self.record(|b| Ok(b.zeros(self.array()?)))
    }
}

fn format(ty: ElementType) -> Result<hlo::elem::FloatFormat> {
    ty.float_format().ok_or_else(|| {
        Error::argument(format!("expected a real floating-point type, found {ty}"))
            .with_help("name one: `ElementType::F32`")
    })
}
/// Returns `2^-n`
fn power_of_half(n: u32) -> f64 {
    (0..n).fold(1.0, |power, _| power / 2.0)
}

fn zero(ty: ElementType) -> Result<Scalar> {
    let has_zero = ty.float_format().is_none_or(|f| f.special != Special::PowerOfTwo);
    if !has_zero {
        return Err(Error::argument(format!("{ty} has no zero: its values are powers of two")));
    }
    Ok(Scalar::from_bits(ty, 0))
}
fn one(ty: ElementType) -> Result<Scalar> {
    match ty.class() {
        Class::Pred => Ok(Scalar::Pred(true)),
        Class::Signed if ty.bits() == 1 => Err(Error::argument(format!("{ty} has no 1"))),
        Class::Signed => Ok(Scalar::Signed(1)),
        Class::Unsigned => Ok(Scalar::Unsigned(1)),
        Class::Float => Ok(Scalar::Float(1.0)),
        Class::Complex => Ok(Scalar::Complex(1.0, 0.0)),
    }
}

/// Returns the highest or the lowest value of a type.
fn end(ty: ElementType, highest: bool, infinite: bool) -> Result<Scalar> {
    Ok(match ty.class() {
        Class::Pred => Scalar::Pred(highest),
        Class::Signed => {
            let low = i64::MIN >> (64 - ty.bits());
            Scalar::Signed(if highest { !low } else { low })
        }
        Class::Unsigned => Scalar::Unsigned(if highest { u64::MAX >> (64 - ty.bits()) } else { 0 }),
        Class::Float => {
            let format = format(ty)?;
            let largest = match format.special {
                Special::Ieee if infinite => f64::INFINITY,
                Special::Ieee
                | Special::Fn
                | Special::Fnuz
                | Special::Finite
                | Special::PowerOfTwo => format.max_finite(),
            };
            let lowest = match format.special {
                Special::PowerOfTwo => format.decode(0),
                Special::Ieee | Special::Fn | Special::Fnuz | Special::Finite => -largest,
            };
            Scalar::Float(if highest { largest } else { lowest })
        }
        Class::Complex => {
            return Err(Error::argument(format!("{ty} has no order, so no lowest or highest")));
        }
    })
}
