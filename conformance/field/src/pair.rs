//! Complex numbers: pairs of elements.
//!
//! An array holds a pair in the 16 bytes of an element: of each part the residue of the first prime
//! and 27 bits of the real number, and of both the degree in twelve bits.
use crate::arithmetic::Field;
use crate::element::{Divisor, Element, HELD, approximate, packed, unpacked};
use crate::kernels::Number;
use crate::known::lock;
use crate::{rational, tower, unity};
use hlo::op::{Binary, Unary};
use hlo::{Array, ArrayShape, ElementType, Op, Scalar};
use num::index::to_i64;

/// The largest part of a constant beside which the other is taken for that of a right angle.
const LARGEST_RADIUS: f64 = 1024.0;

/// A complex number: real and imaginary part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair(pub(crate) Element, pub(crate) Element);

impl Pair {
    pub(crate) const ONE: Self = Self(Element::ONE, Element::ZERO);

    /// Returns whether both are the same numbers.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.is(&other.0) && self.1.is(&other.1)
    }
    /// Returns what identifies it.
    fn key(&self) -> [u32; 2] {
        [self.0.residues[0], self.1.residues[0]]
    }
    pub(crate) fn degree(&self) -> f32 {
        self.0.degree.max(self.1.degree)
    }
    fn parts(self, f: impl Fn(Element) -> Element) -> Self {
        Self(f(self.0), f(self.1))
    }
    pub(crate) fn negated(self) -> Self {
        self.parts(Field::negated)
    }
    fn times_i(self) -> Self {
        Self(Field::negated(self.1), self.0)
    }

    fn to_bytes(self) -> [u8; 16] {
        let Self(re, im) = self;
        let [a, b] = [self.0.divisor, self.1.divisor];
        let divisor =
            packed(a.times().max(b.times()), 3, 1) << 1 | u128::from(a.is_own() || b.is_own());
        let degree = divisor << 7 | packed(self.degree(), 6, 1);
        let real = |x: &Element| u128::from(narrowed(x.real).to_bits().saturating_add(16) >> 5);
        let residue = |x: &Element| u128::from(x.residues[0]);
        (residue(&re) | residue(&im) << 31 | degree << 62 | real(&re) << 74 | real(&im) << 101)
            .to_le_bytes()
    }
    fn of_bytes(bytes: [u8; 16]) -> Self {
        let word = u128::from_le_bytes(bytes);
        let bits = |from: u32, count: u32| {
            u32::try_from(word >> from & ((1 << count) - 1)).expect("at most 31 bits")
        };
        let (degree, is_own) = (unpacked(bits(62, 7), 6, 1), bits(69, 1) == 1);
        let times = unpacked(bits(70, 4), 3, 1);
        let part = |from, real| {
            let residue = bits(from, 31);
            // Which divisor it has is not held: one of its own.
            let divisor =
                if is_own { Divisor::own(tower::hash(residue)) } else { Divisor::power(times) };
            let real = f64::from(f32::from_bits(bits(real, 27) << 5));
            // Of what is constant the number is whole, or there is no need for more.
            let residues = [residue, 0];
            Element { residues, is_deep: false, is_upper: false, divisor, degree, real }
        };
        Self(part(0, 74), part(31, 101))
    }
}

/// Returns a number as an f32 that is finite if the number is.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "rounds to the nearest"
)]
fn narrowed(x: f64) -> f32 {
    let largest = f64::from(f32::from_bits(0x7f7f_ffe0));
    if x.is_finite() { x.clamp(-largest, largest) as f32 } else { x as f32 }
}

impl Number for Pair {
    const ZERO: Self = Self(Element::ZERO, Element::ZERO);

    fn read(array: &Array) -> Vec<Self> {
        array.bytes().as_chunks::<16>().0.iter().map(|bytes| Self::of_bytes(*bytes)).collect()
    }
    fn write(shape: &ArrayShape, numbers: impl IntoIterator<Item = Self>) -> Array {
        let mut array = Array::zeros(ArrayShape { ty: HELD, ..shape.clone() });
        for (slot, number) in array.bytes_mut().as_chunks_mut::<16>().0.iter_mut().zip(numbers) {
            *slot = number.to_bytes();
        }
        array
    }
    fn of_element(x: Element) -> Self {
        Self(x, Element::ZERO)
    }
    fn of_scalar(field: &Field, x: Scalar, ty: ElementType) -> Self {
        match x {
            Scalar::Complex(re, im) => {
                let ty = ty.component();
                // The cosine of a right angle is no zero in floats.
                let part = |x: f64, other: f64| {
                    let is_of_angle =
                        x.abs() < rational::unit(other, ty) && other.abs() <= LARGEST_RADIUS;
                    if is_of_angle { Element::ZERO } else { field.literal(x, ty) }
                };
                Self(part(re, im), part(im, re))
            }
            Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
                Self::of_element(Element::of_scalar(field, x, ty))
            }
        }
    }
    fn real_part(self) -> Element {
        self.0
    }
    fn conjugate(self) -> Self {
        Self(self.0, Field::negated(self.1))
    }
    fn sum(self, other: Self) -> Self {
        Self(Field::sum(self.0, other.0), Field::sum(self.1, other.1))
    }
    fn difference(self, other: Self) -> Self {
        Self::sum(self, other.negated())
    }
    fn product(self, field: &Field, other: Self) -> Self {
        let (Self(a, b), Self(c, d)) = (self, other);
        if self.is(&other)
            && let Some(square) = lock(&field.pair_squares).get(&self.key())
        {
            return *square;
        }
        Self(
            Field::difference(field.product(a, c), field.product(b, d)),
            Field::sum(field.product(a, d), field.product(b, c)),
        )
    }
    fn binary(field: &Field, op: Binary, x: Self, y: Self) -> Option<Self> {
        field.pair_binary(op, x, y)
    }
}

impl Field {
    fn pair_oracle(&self, op: &Op, of: &[Element], (re, im): (f64, f64)) -> Pair {
        let name = op.opcode().name();
        Pair(
            self.oracle(&format!("{name}, real part"), of, re),
            self.oracle(&format!("{name}, imaginary part"), of, im),
        )
    }
    /// Learns the square of a number, which is a root or the inverse of one.
    fn learn_square(&self, root: Pair, square: Pair) -> Pair {
        lock(&self.pair_squares).insert(root.key(), square);
        root
    }
    /// Returns the sum of the squares of both parts.
    fn norm(&self, Pair(a, b): Pair) -> Element {
        Self::sum(self.product(a, a), self.product(b, b))
    }
    pub(crate) fn magnitude(&self, x: Pair) -> Element {
        match x.1.is_zero() {
            true => self.absolute(x.0),
            false => self.root(self.norm(x)),
        }
    }
    fn scaled(&self, x: Pair, by: Element) -> Pair {
        Pair(self.product(x.0, by), self.product(x.1, by))
    }
    fn pair_quotient(&self, x: Pair, y: Pair) -> Pair {
        if y.1.is_zero() {
            return Pair(self.quotient(x.0, y.0), self.quotient(x.1, y.0));
        }
        let conjugate = Pair(y.0, Self::negated(y.1));
        self.scaled(x.product(self, conjugate), self.quotient(Element::ONE, self.norm(y)))
    }
    fn pair_exponential(&self, x: Pair) -> Pair {
        let (sine, cosine) = match x.1.is_zero() {
            true => (Element::ZERO, Element::ONE),
            false => self.circle(x.1),
        };
        self.scaled(Pair(cosine, sine), self.exponential(x.0))
    }
    fn pair_logarithm(&self, x: Pair) -> Pair {
        Pair(self.logarithm(self.magnitude(x)), self.angle(x.1, x.0))
    }

    /// Returns a number on the circle in place of a root of unity that the field lacks: of k and
    /// n - k conjugates of each other.
    fn turned(&self, k: usize, n: usize) -> Pair {
        if k == 0 {
            return Pair::ONE;
        }
        let least = k.min(n - k);
        let of = [n, least].map(|x| Element::integer(to_i64(x)));
        let angle = approximate(to_i64(least)) / approximate(to_i64(n)) * std::f64::consts::TAU;
        let (sine, cosine) = self.circle(self.oracle("angle", &of, angle));
        Pair(cosine, if k == least { sine } else { Self::negated(sine) })
    }

    /// Returns a function of a complex number; `None` if it has none over the field.
    pub(crate) fn pair_unary(&self, op: Unary, x: Pair) -> Option<Pair> {
        let half = rational::element((1, 2));
        let (up, down) =
            (|x| self.pair_exponential(x), |x: Pair| self.pair_exponential(x.negated()));
        let twice = |x: Pair| x.sum(x);
        Some(match op {
            Unary::Negate => x.negated(),
            Unary::Sign if x.0.is_zero() && x.1.is_zero() => x,
            Unary::Sign => self.scaled(x, self.quotient(Element::ONE, self.magnitude(x))),
            Unary::Exponential => up(x),
            Unary::ExponentialMinusOne => up(x).difference(Pair::ONE),
            Unary::Log => self.pair_logarithm(x),
            Unary::LogPlusOne => self.pair_logarithm(x.sum(Pair::ONE)),
            Unary::Logistic => self.pair_quotient(Pair::ONE, Pair::ONE.sum(down(x))),
            Unary::Tanh => {
                let twice = up(twice(x));
                self.pair_quotient(twice.difference(Pair::ONE), twice.sum(Pair::ONE))
            }
            Unary::Sinh => self.scaled(up(x).difference(down(x)), half),
            Unary::Cosh => self.scaled(up(x).sum(down(x)), half),
            // By the functions of i * x: sin(x) = sinh(i x) / i.
            Unary::Sine => {
                let sinh = self.pair_unary(Unary::Sinh, x.times_i())?;
                sinh.times_i().negated()
            }
            Unary::Cosine => self.pair_unary(Unary::Cosh, x.times_i())?,
            Unary::Tan => {
                let (sine, cosine) =
                    (self.pair_unary(Unary::Sine, x)?, self.pair_unary(Unary::Cosine, x)?);
                self.pair_quotient(sine, cosine)
            }
            Unary::Rsqrt => {
                let inverse = self.pair_quotient(Pair::ONE, self.pair_unary(Unary::Sqrt, x)?);
                self.learn_square(inverse, self.pair_quotient(Pair::ONE, x))
            }
            Unary::Sqrt => self.learn_square(self.pair_oracle_of_one(op, x), x),
            Unary::Cbrt
            | Unary::Acos
            | Unary::Acosh
            | Unary::Asin
            | Unary::Asinh
            | Unary::Atanh => self.pair_oracle_of_one(op, x),
            Unary::Abs
            | Unary::Real
            | Unary::Imag
            | Unary::IsFinite
            | Unary::Erf
            | Unary::Floor
            | Unary::Ceil
            | Unary::RoundNearestAfz
            | Unary::RoundNearestEven
            | Unary::CountLeadingZeros
            | Unary::Not
            | Unary::Popcnt => return None,
        })
    }
    fn pair_oracle_of_one(&self, op: Unary, x: Pair) -> Pair {
        let argument = Scalar::Complex(x.0.real, x.1.real);
        let real = num::unary(op, ElementType::C128, argument);
        self.pair_oracle(&Op::from(op), &[x.0, x.1], parts_of(real))
    }
    fn pair_oracle_of(&self, op: Binary, x: Pair, y: Pair) -> Pair {
        let [a, b] = [x, y].map(|x| Scalar::Complex(x.0.real, x.1.real));
        let real = num::binary(op, ElementType::C128, a, b);
        self.pair_oracle(&Op::from(op), &[x.0, x.1, y.0, y.1], parts_of(real))
    }
    /// Returns a function of two complex numbers; `None` if it has none over the field.
    pub(crate) fn pair_binary(&self, op: Binary, x: Pair, y: Pair) -> Option<Pair> {
        let whole =
            rational::whole(y.0.real).filter(|&n| y.1.is_zero() && y.0.is(&Element::integer(n)));
        Some(match op {
            Binary::Add => x.sum(y),
            Binary::Subtract => x.difference(y),
            Binary::Multiply => x.product(self, y),
            Binary::Divide => self.pair_quotient(x, y),
            Binary::Power => match whole {
                Some(n) if (0..=64).contains(&n) => {
                    (0..n).fold(Pair::ONE, |power, _| power.product(self, x))
                }
                Some(_) | None => self.pair_oracle_of(op, x, y),
            },
            Binary::Atan2 => self.pair_oracle_of(op, x, y),
            Binary::And
            | Binary::Complex
            | Binary::Maximum
            | Binary::Minimum
            | Binary::Mulhi
            | Binary::Or
            | Binary::Remainder
            | Binary::ShiftLeft
            | Binary::ShiftRightArithmetic
            | Binary::ShiftRightLogical
            | Binary::Xor => return None,
        })
    }
}

fn parts_of(x: Scalar) -> (f64, f64) {
    match x {
        Scalar::Complex(re, im) => (re, im),
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            (x.as_f64(), 0.0)
        }
    }
}

/// Returns the discrete Fourier transform of a line.
pub(crate) fn transformed(field: &Field, line: &[Pair], is_inverse: bool) -> Vec<Pair> {
    let n = line.len();
    let size = Element::integer(to_i64(n));
    let power = |k: usize| {
        let turned = if is_inverse || k == 0 { k } else { n - k };
        unity::root(turned, n).unwrap_or_else(|| field.turned(turned, n))
    };
    let powers: Vec<Pair> = (0..n).map(power).collect();
    let scale = field.quotient(Element::ONE, size);
    (0..n)
        .map(|j| {
            let terms = line.iter().enumerate();
            let products = terms.map(|(k, &x)| x.product(field, powers[j * k % n]));
            let sum = products.fold(Pair::ZERO, Pair::sum);
            if is_inverse { field.scaled(sum, scale) } else { sum }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_keeps_pairs() {
        let (seven, half) = (Element::integer(7), rational::element((1, 2)));
        let shape = ArrayShape::new(ElementType::C64, vec![4]);
        let all = [
            Pair::ZERO,
            Pair(seven, Element { degree: 5.0, ..half }),
            Pair(Element::integer(-3), Element::integer(1 << 20)),
            Pair(Element::special(f64::INFINITY), Element::NAN),
        ];
        let array = Pair::write(&shape, all);
        assert!(array.bytes()[..16].iter().all(|&byte| byte == 0));
        let read = Pair::read(&array);
        for (read, written) in read.iter().zip(&all) {
            assert!(read.is(written), "{read:?} {written:?}");
        }
        assert_eq!((read[1].degree(), read[0].degree()), (6.0, 0.0));
        assert_eq!((read[1].0.real, read[1].1.real), (7.0, 0.5));
    }
}
