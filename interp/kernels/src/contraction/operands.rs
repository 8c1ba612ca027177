//! Operands as the kernels take them, and how sums become elements of the result.
#![expect(clippy::wildcard_enum_match_arm, reason = "numbers of other types are widened first")]
use crate::cost_model::COMPUTED;
use half::{bf16, f16};
use hlo::{Array, ElementType, Scalar};
use num::Arithmetic;
use num::loops::convert_loop;
use num::parallel::parts;
use std::borrow::Cow;

/// The elements of an array, in a form that loses nothing.
pub(crate) enum LosslessElements<'a> {
    /// Integers and booleans, modulo 2^64, and their type.
    Integers(Vec<i64>, ElementType),
    /// Elements of bf16.
    Bf16(Cow<'a, [bf16]>),
    /// Other floats that f32 holds.
    Single(Cow<'a, [f32]>),
    /// Floats that f64 holds.
    Double(Cow<'a, [f64]>),
    /// Complex numbers of two f32.
    Complex(Cow<'a, [[f32; 2]]>),
    /// Complex numbers of two f64.
    WideComplex(Cow<'a, [[f64; 2]]>),
}

/// Types that start with `u` and `pred`, whose elements are not negative.
fn is_unsigned(ty: ElementType) -> bool {
    matches!(ty.class(), hlo::Class::Unsigned | hlo::Class::Pred)
}

impl<'a> LosslessElements<'a> {
    /// Returns the elements of an array.
    pub(crate) fn of(literal: &'a Array) -> Self {
        Self::of_bytes(literal.shape().ty, literal.bytes())
    }
    /// Returns the elements with these bytes, which lie as those of an array.
    pub(crate) fn of_bytes(ty: ElementType, bytes: &'a [u8]) -> Self {
        use ElementType as E;
        fn view<T: hlo::literal::Native>(bytes: &[u8]) -> &[T] {
            bytemuck::cast_slice(bytes)
        }
        fn integers<T: hlo::literal::Native + Into<i64>>(bytes: &[u8]) -> Vec<i64> {
            view::<T>(bytes).iter().map(|&x| x.into()).collect()
        }
        match ty {
            E::Pred => Self::Integers(bytes.iter().map(|&x| i64::from(x != 0)).collect(), ty),
            E::S1 | E::S2 | E::S4 | E::S8 => {
                Self::Integers(bytes.iter().map(|&x| i64::from(x.cast_signed())).collect(), ty)
            }
            E::U1 | E::U2 | E::U4 | E::U8 => Self::Integers(integers::<u8>(bytes), ty),
            E::S16 => Self::Integers(integers::<i16>(bytes), ty),
            E::S32 => Self::Integers(integers::<i32>(bytes), ty),
            E::S64 => Self::Integers(integers::<i64>(bytes), ty),
            E::U16 => Self::Integers(integers::<u16>(bytes), ty),
            E::U32 => Self::Integers(integers::<u32>(bytes), ty),
            E::U64 => {
                let words = view::<u64>(bytes).iter();
                Self::Integers(words.map(|x| x.cast_signed()).collect(), ty)
            }
            E::F32 => Self::Single(view(bytes).into()),
            E::F64 => Self::Double(view(bytes).into()),
            E::Bf16 => Self::Bf16(view(bytes).into()),
            E::F16 => Self::Single(widened(view::<f16>(bytes)).into()),
            E::F8E5M2
            | E::F8E4M3
            | E::F8E3M4
            | E::F8E4M3Fn
            | E::F8E4M3B11Fnuz
            | E::F8E5M2Fnuz
            | E::F8E4M3Fnuz
            | E::F8E8M0Fnu
            | E::F6E3M2Fn
            | E::F6E2M3Fn
            | E::F4E2M1Fn => {
                let values: Vec<f32> =
                    (0..=u8::MAX).map(|code| single(Scalar::read(ty, &[code]).as_f64())).collect();
                Self::Single(bytes.iter().map(|&code| values[usize::from(code)]).collect())
            }
            E::C64 => Self::Complex(view(bytes).into()),
            E::C128 => Self::WideComplex(view(bytes).into()),
        }
    }

    /// Returns whether f64 is needed to hold the number, or a part of it.
    fn is_double(&self) -> bool {
        match self {
            Self::Integers(_, ty) => ty.bits() > 16,
            Self::Double(_) | Self::WideComplex(_) => true,
            Self::Bf16(_) | Self::Single(_) | Self::Complex(_) => false,
        }
    }
    fn is_complex(&self) -> bool {
        matches!(self, Self::Complex(_) | Self::WideComplex(_))
    }
    /// As f64: integers beyond 2^53 are rounded.
    pub(crate) fn doubles(self) -> Cow<'a, [f64]> {
        match self {
            Self::Integers(x, ty) if is_unsigned(ty) => {
                x.into_iter().map(|x| Scalar::Unsigned(x.cast_unsigned()).as_f64()).collect()
            }
            Self::Integers(x, _) => x.into_iter().map(|x| Scalar::Signed(x).as_f64()).collect(),
            Self::Bf16(x) => x.iter().map(|&x| f64::from(x)).collect(),
            Self::Single(x) => x.iter().map(|&x| f64::from(x)).collect(),
            Self::Double(x) => x,
            Self::Complex(x) => x.iter().map(|&[re, _]| f64::from(re)).collect(),
            Self::WideComplex(x) => x.iter().map(|&[re, _]| re).collect(),
        }
    }
    /// As f32, of numbers that f32 holds.
    pub(crate) fn singles(self) -> Cow<'a, [f32]> {
        match self {
            Self::Bf16(x) => widened(&x).into(),
            Self::Single(x) => x,
            other => other.doubles().iter().map(|&x| single(x)).collect(),
        }
    }
    fn complex(self) -> Cow<'a, [[f32; 2]]> {
        match self {
            Self::Complex(x) => x,
            other => other.singles().iter().map(|&re| [re, 0.0]).collect(),
        }
    }
    fn wide_complex(self) -> Cow<'a, [[f64; 2]]> {
        match self {
            Self::WideComplex(x) => x,
            Self::Complex(x) => x.iter().map(|x| x.map(f64::from)).collect(),
            other => other.doubles().iter().map(|&re| [re, 0.0]).collect(),
        }
    }
}

/// Returns the elements of an array of 16-bit floats.
fn widened<T: hlo::literal::Native + Sync>(elements: &[T]) -> Vec<f32> {
    let widen = convert_loop(T::TYPE, ElementType::F32).expect("a loop of 16-bit floats");
    let mut singles = vec![0.0_f32; elements.len()];
    parts(&mut singles, (COMPUTED, 1), |i, singles| {
        let part = &elements[i * COMPUTED..][..singles.len()];
        widen(&[bytemuck::cast_slice(part)], bytemuck::cast_slice_mut(singles));
    });
    singles
}

/// Returns the nearest f32; exact for what the kernels call single.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounds to nearest")]
#[inline]
pub(super) fn single(x: f64) -> f32 {
    x as f32
}

/// Two operands, with the way their products are summed.
pub(crate) enum Operands<'a> {
    /// Modulo 2^64.
    Integers(Vec<i64>, Vec<i64>),
    /// Modulo 2^32.
    NarrowIntegers(Vec<i32>, Vec<i32>),
    /// In f32, elements of bf16.
    Bf16(Cow<'a, [bf16]>, Cow<'a, [bf16]>),
    /// In f32.
    Single(Cow<'a, [f32]>, Cow<'a, [f32]>),
    /// In f64.
    Double(Cow<'a, [f64]>, Cow<'a, [f64]>),
    /// Part by part, in f32.
    SingleComplex(Cow<'a, [[f32; 2]]>, Cow<'a, [[f32; 2]]>),
    /// Part by part, in f64.
    DoubleComplex(Cow<'a, [[f64; 2]]>, Cow<'a, [[f64; 2]]>),
    /// In f64, which holds the products.
    F64Accumulator(Cow<'a, [f32]>, Cow<'a, [f32]>),
    /// In f64, with rounding errors kept.
    CompensatedAccumulator(Cow<'a, [f64]>, Cow<'a, [f64]>),
    /// Part by part, as [`Operands::F64Accumulator`].
    F64ComplexAccumulator(Cow<'a, [[f32; 2]]>, Cow<'a, [[f32; 2]]>),
    /// Part by part, as [`Operands::CompensatedAccumulator`].
    CompensatedComplexAccumulator(Cow<'a, [[f64; 2]]>, Cow<'a, [[f64; 2]]>),
}

impl<'a> Operands<'a> {
    /// Returns the operands of sums that are formed and rounded so.
    pub(crate) fn new(
        lhs: LosslessElements<'a>,
        rhs: LosslessElements<'a>,
        rounding: Rounding,
        arithmetic: Arithmetic,
    ) -> Self {
        let (lhs, rhs) = match (lhs, rhs) {
            (LosslessElements::Integers(a, _), LosslessElements::Integers(b, _))
                if rounding.sums.is_none() && is_narrow(rounding.to) =>
            {
                return Self::NarrowIntegers(low_halves(a), low_halves(b));
            }
            (LosslessElements::Integers(a, _), LosslessElements::Integers(b, _)) => {
                return Self::Integers(a, b);
            }
            others => others,
        };
        let target = rounding.sums.unwrap_or(rounding.to).component();
        let compensated = lhs.is_double() || rhs.is_double() || target == ElementType::F64;
        let is_native = is_native(arithmetic, target);
        let (lhs, rhs) = match (lhs, rhs) {
            (LosslessElements::Bf16(a), LosslessElements::Bf16(b)) if is_native && !compensated => {
                return Self::Bf16(a, b);
            }
            others => others,
        };
        match (lhs.is_complex() || rhs.is_complex(), compensated) {
            (false, false) if is_native => Self::Single(lhs.singles(), rhs.singles()),
            (false, true) if is_native => Self::Double(lhs.doubles(), rhs.doubles()),
            (false, false) => Self::F64Accumulator(lhs.singles(), rhs.singles()),
            (false, true) => Self::CompensatedAccumulator(lhs.doubles(), rhs.doubles()),
            (true, false) if is_native => Self::SingleComplex(lhs.complex(), rhs.complex()),
            (true, true) if is_native => {
                Self::DoubleComplex(lhs.wide_complex(), rhs.wide_complex())
            }
            (true, false) => Self::F64ComplexAccumulator(lhs.complex(), rhs.complex()),
            (true, true) => {
                Self::CompensatedComplexAccumulator(lhs.wide_complex(), rhs.wide_complex())
            }
        }
    }
}

/// Returns whether sums of floats, rounded to the type `to` or to parts of it, are formed in the type
/// of the operands.
pub(super) fn is_native(arithmetic: Arithmetic, to: ElementType) -> bool {
    match arithmetic {
        Arithmetic::Exact => false,
        Arithmetic::Fast => to.is_float(),
    }
}

/// Returns whether the type is of integers of up to 32 bits: the sum modulo 2^32 then tells the one
/// modulo the result's width.
pub(super) fn is_narrow(ty: ElementType) -> bool {
    ty.is_integral() && ty.bits() <= i32::BITS
}

/// Returns the low 32 bits of each.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "drops the high bits")]
fn low_halves(numbers: Vec<i64>) -> Vec<i32> {
    numbers.into_iter().map(|x| x as i32).collect()
}

/// Bits of the fraction of an f64 beyond the bits of a float type and the one that tells its
/// midpoints; 0 of other types.
fn further_bits(ty: ElementType) -> u32 {
    ty.float_format().map_or(0, |format| 51_u32.saturating_sub(format.mantissa_bits))
}

/// From a sum to an element of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding {
    /// How a sum of integers is read.
    pub(super) integers: ElementType,
    /// The type that sums are rounded to first, if an algorithm names one.
    pub sums: Option<ElementType>,
    /// The result's type.
    pub to: ElementType,
    /// How many bits of an f64 lie beyond those that decide how it is rounded to the type of the
    /// sums; 0 if all decide.
    pub(super) further_bits: u32,
}

impl Rounding {
    /// For sums of products of these types.
    pub(crate) fn new(
        lhs: ElementType,
        rhs: ElementType,
        sums: Option<ElementType>,
        to: ElementType,
    ) -> Self {
        let unsigned = is_unsigned(lhs) && is_unsigned(rhs);
        let integers = if unsigned { ElementType::U64 } else { ElementType::S64 };
        let further_bits = further_bits(sums.unwrap_or(to));
        Self { integers, sums, to, further_bits }
    }
    /// Replaces the type that sums are rounded to first.
    pub(super) fn with_sums(self, sums: Option<ElementType>) -> Self {
        Self { sums, further_bits: further_bits(sums.unwrap_or(self.to)), ..self }
    }
    /// Returns the rounding of the parts of complex sums.
    pub(super) fn of_parts(self) -> Self {
        let to = self.to.component();
        Self { to, ..self }.with_sums(self.sums.map(ElementType::component))
    }
    /// Returns the type that sums are rounded to first.
    pub(super) fn sum_type(self) -> ElementType {
        self.sums.unwrap_or(self.to)
    }
    /// Rounds both ends of an interval and stores the result if it is the same for both, and every
    /// number between the ends rounds to it. Returns whether that is so.
    #[inline]
    pub(super) fn write_if_same(self, ends: [Scalar; 2], slot: &mut [u8]) -> bool {
        let [low, high] = ends;
        if low == high || self.has_no_midpoint(ends) || self.is_nan(ends) {
            self.write(low, slot);
            return true;
        }
        let mut other = [0; 16];
        let other = &mut other[..slot.len()];
        self.write(low, slot);
        self.write(high, other);
        slot == other && self.is_monotone(ends, slot)
    }
    /// Returns whether the sum is NaN, and the element follows from that.
    #[inline]
    fn is_nan(self, ends: [Scalar; 2]) -> bool {
        let [Scalar::Float(low), Scalar::Float(high)] = ends else { return false };
        low.is_nan() && high.is_nan() && self.to != ElementType::Pred
    }
    /// Returns whether all numbers between ends that round to the same element round to it. Finite
    /// ends round to NaN beyond the range of a type without infinity: a number between them may be
    /// in the range. Zero is false, and the numbers on both sides are true.
    fn is_monotone(self, [low, high]: [Scalar; 2], slot: &[u8]) -> bool {
        let parts = |scalar: Scalar| match scalar {
            Scalar::Float(x) => [x, 0.0],
            Scalar::Complex(re, im) => [re, im],
            Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => [0.0; 2],
        };
        let (low, high, found) = (parts(low), parts(high), parts(Scalar::read(self.to, slot)));
        if self.to == ElementType::Pred {
            return low[0] > 0.0 || high[0] < 0.0;
        }
        (0..2).all(|i| !found[i].is_nan() || !low[i].is_finite() || !high[i].is_finite())
    }
    /// Returns true only if no number at which rounding to the type of the sums jumps is between
    /// the ends, or one of them. Such numbers have one bit more than the type: the ends then have
    /// the same leading bits, and further ones.
    #[inline]
    fn has_no_midpoint(self, ends: [Scalar; 2]) -> bool {
        let [Scalar::Float(low), Scalar::Float(high)] = ends else { return false };
        let further = (1_u64 << self.further_bits) - 1;
        let (low, high) = (low.to_bits(), high.to_bits());
        low | further == high | further && low & further != 0 && high & further != 0
    }
    /// Rounds a sum and stores it.
    #[inline]
    pub(super) fn write(self, sum: Scalar, slot: &mut [u8]) {
        // The most frequent case of the code below.
        if let (Scalar::Float(x), None | Some(ElementType::F32), ElementType::F32) =
            (sum, self.sums, self.to)
        {
            slot.copy_from_slice(&single(x).to_le_bytes());
            return;
        }
        let (sum, from) = match sum {
            Scalar::Float(_) => (sum, ElementType::F64),
            Scalar::Complex(..) => (sum, ElementType::C128),
            Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => {
                (sum.convert(ElementType::S64, self.integers), self.integers)
            }
        };
        let (sum, from) = match self.sums {
            Some(ty) => (sum.convert(from, ty), ty),
            None => (sum, from),
        };
        sum.convert(from, self.to).write(self.to, slot);
    }
}
