//! Elements: what a float is in the field, and how an array holds it.
use crate::tower::{self, LEVELS, Residues};
use hlo::{Array, ArrayShape, ElementType};

/// The type of the arrays that hold elements: nothing else is as wide.
pub(crate) const HELD: ElementType = ElementType::C128;

/// A number of the field, and the real number in place of which it stands.
///
/// What is equal is decided by residues, what is larger by real numbers. Elements of which the real
/// number is infinite or NaN are these, and have no residues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Element {
    /// The number modulo each prime; or a number of the plane.
    pub(crate) residues: Residues,
    /// Whether the number is known modulo the second prime, so that its exponential is a power; if
    /// not, it is one of the plane.
    pub(crate) is_deep: bool,
    /// Whether laws hold modulo the second prime only: it is a sum with the logarithm of a number.
    pub(crate) is_upper: bool,
    /// The degree of the polynomial of the arguments that it is, or more; of a constant 0. Of a
    /// quotient with a divisor of its own it is the larger degree of its two polynomials. If the
    /// divisor is a power of a common one, it is by how much the degree of the polynomial above
    /// exceeds that of this power, or more.
    pub(crate) degree: f32,
    /// What it is a quotient by.
    pub(crate) divisor: Divisor,
    /// The number for real arguments, rounded.
    pub(crate) real: f64,
}

/// What is known of an infinity or NaN, in place of residues; nothing is 0.
const OUTSIDE: u32 = 1;
const BY_ZERO: u32 = 2;
const STATED: u32 = 3;

impl Element {
    pub(crate) const ZERO: Self = Self::constant([0; LEVELS], 0.0);
    pub(crate) const ONE: Self = Self::constant([1; LEVELS], 1.0);
    pub(crate) const NAN: Self = Self::special(f64::NAN);

    pub(crate) const fn constant(residues: Residues, real: f64) -> Self {
        Self { residues, is_deep: true, is_upper: false, degree: 0.0, divisor: Divisor::NONE, real }
    }
    /// Returns an infinity or NaN.
    pub(crate) const fn special(real: f64) -> Self {
        Self::constant([0; LEVELS], real)
    }
    /// Returns an infinity or NaN that a module states, or that it computes of constants: it is no
    /// overflow.
    pub(crate) fn stated(self) -> Self {
        self.known(STATED)
    }
    /// Returns a quotient by a number that is 0 for all arguments that take the same ways: no other
    /// form of the function is a number.
    pub(crate) fn by_zero(self) -> Self {
        self.known(BY_ZERO)
    }
    /// Returns an infinity or NaN that is a function of a number outside of its domain: another form
    /// of the function may be a number.
    pub(crate) fn outside(self) -> Self {
        self.known(OUTSIDE)
    }
    fn known(self, how: u32) -> Self {
        Self { residues: [how; LEVELS], ..self }
    }
    /// Returns whether it is an infinity or NaN that a module states, as it is.
    pub(crate) fn is_stated(&self) -> bool {
        !self.is_finite() && self.residues[0] >= STATED
    }
    /// Returns whether it is a number, or an infinity or NaN that no other form of the function lacks.
    pub(crate) fn is_sure(&self) -> bool {
        self.is_finite() || self.residues[0] >= BY_ZERO
    }
    /// Returns whether it is an infinity or NaN of which nothing is known, as an overflow is.
    pub(crate) fn is_lost(&self) -> bool {
        !self.is_finite() && self.residues[0] == 0
    }
    /// Returns the infinity or NaN that an op makes of others, of which as much is known as of these:
    /// of an infinity as of the least known one, of NaN as of the NaN that is known best.
    pub(crate) fn of_special<const N: usize>(operands: [&Self; N], real: f64) -> Self {
        let special = || operands.iter().copied().filter(|x| !x.is_finite());
        let how = |x: &Self| x.residues[0];
        let of_nan = special().filter(|x| x.real.is_nan() && real.is_nan()).map(how).max();
        let least = special().map(how).min().unwrap_or(0);
        // An infinity less another one is NaN wherever both are infinite.
        let least = if real.is_nan() && least < BY_ZERO { 0 } else { least };
        Self::special(real).known(of_nan.unwrap_or(least))
    }
    /// Returns the number of the plane that it is.
    pub(crate) fn plane(&self) -> Residues {
        if self.is_deep { [self.residues[0], 0] } else { self.residues }
    }
    /// Returns the number with these residues modulo both primes, or in the plane: a function of
    /// those of two numbers.
    pub(crate) fn with_both(
        self,
        [x, y]: [&Self; 2],
        of_primes: fn(Residues, Residues) -> Residues,
        of_plane: fn(Residues, Residues) -> Residues,
    ) -> Self {
        let is_deep = x.is_deep && y.is_deep;
        let residues = match is_deep {
            true => of_primes(x.residues, y.residues),
            false => of_plane(x.plane(), y.plane()),
        };
        Self { residues, is_deep, is_upper: is_deep && (x.is_upper || y.is_upper), ..self }
    }
    /// Returns the number with residues that are a function of its own.
    pub(crate) fn with_own(
        self,
        of_primes: fn(Residues) -> Residues,
        of_plane: fn(Residues) -> Residues,
    ) -> Self {
        let of = if self.is_deep { of_primes } else { of_plane };
        Self { residues: of(self.residues), ..self }
    }
    /// Returns bits that identify it.
    pub(crate) fn key(&self) -> u32 {
        match (self.is_upper, self.plane()) {
            (true, _) => !self.residues[1],
            (false, [a, b]) => a ^ b.wrapping_mul(0x9e37_79b1),
        }
    }
    /// Returns it as a function of a number that counts as a variable, or a constant.
    pub(crate) fn variable(self, of: &Self) -> Self {
        Self { divisor: Divisor::NONE, degree: of.degree.min(1.0), ..self }
    }
    pub(crate) fn integer(x: i64) -> Self {
        Self::constant(tower::of_integer(i128::from(x)), approximate(x))
    }
    pub(crate) fn unsigned(x: u64) -> Self {
        let (low, high) = (i64::try_from(x & 0xffff_ffff), i64::try_from(x >> 32));
        let parts = (low.unwrap_or_default(), high.unwrap_or_default());
        let real = approximate(parts.1) * f64::powi(2.0, 32) + approximate(parts.0);
        Self::constant(tower::of_integer(i128::from(x)), real)
    }
    pub(crate) fn is_finite(&self) -> bool {
        self.real.is_finite()
    }
    pub(crate) fn is_zero(&self) -> bool {
        self.is_finite() && self.has_residues_of(&Self::ZERO) && self.real.abs() < 1e-3
    }
    /// Returns it as a number that depends on an argument, also where it is 0.
    pub(crate) fn varying(self) -> Self {
        Self { degree: self.degree.max(1.0), ..self }
    }
    pub(crate) fn is_constant(&self) -> bool {
        self.degree <= 0.0
    }
    /// Returns whether it is the same number, as far as both are known.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match self.is_finite() && other.is_finite() {
            true => self.has_residues_of(other),
            false => {
                self.real.total_cmp(&other.real).is_eq()
                    || self.real.is_nan() && other.real.is_nan()
            }
        }
    }
    fn has_residues_of(&self, other: &Self) -> bool {
        let is_deep = self.is_deep && other.is_deep;
        if is_deep && (self.is_upper || other.is_upper) {
            return self.residues[1] == other.residues[1];
        }
        self.plane() == other.plane() && (!is_deep || self.residues == other.residues)
    }
    /// Returns it with a real number; an infinity if that is too large for a float.
    pub(crate) fn with_real(self, real: f64) -> Self {
        if !real.is_finite() {
            return Self::special(real);
        }
        let is_zero = self.plane() == [0; LEVELS] && real.abs() < 1e-6;
        Self { real: if is_zero { 0.0 } else { real }, ..self }
    }

    fn to_bytes(self) -> [u8; 16] {
        let [first, second] = self.residues.map(u128::from);
        // A residue modulo the second prime has 30 bits.
        let second = second | u128::from(self.is_upper) << 30;
        // The real number is rounded to 44 bits.
        let real = u128::from(self.real.to_bits().saturating_add(0x8_0000) >> 20);
        let degree = packed(self.degree, 5, 5);
        let rest = u128::from(self.divisor.0) << 11 | degree << 1 | u128::from(!self.is_deep);
        (first | second << 31 | rest << 62 | real << 84).to_le_bytes()
    }
    fn of_bytes(bytes: [u8; 16]) -> Self {
        let word = u128::from_le_bytes(bytes);
        let bits = |from: u32, count: u32| {
            u64::try_from(word >> from & ((1 << count) - 1)).expect("at most 44 bits")
        };
        let narrow = |from, count| u32::try_from(bits(from, count)).expect("at most 31 bits");
        let is_deep = narrow(62, 1) == 0;
        Self {
            residues: [narrow(0, 31), narrow(31, if is_deep { 30 } else { 31 })],
            is_deep,
            is_upper: is_deep && narrow(61, 1) == 1,
            degree: unpacked(narrow(63, 10), 5, 5),
            divisor: Divisor(narrow(73, 11)),
            real: f64::from_bits(bits(84, 44) << 20),
        }
    }
}

/// The divisor of a quotient, in 11 bits: a hash of one of its own, so that equal divisors are equal;
/// or a power of the product of all divisors of a run, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Divisor(u32);

impl Divisor {
    pub(crate) const NONE: Self = Self(0);
    /// The bit that marks a hash.
    const OWN: u32 = 1 << 10;

    pub(crate) fn own(hash: u32) -> Self {
        Self(Self::OWN | hash)
    }
    pub(crate) fn power(times: f32) -> Self {
        Self(u32::try_from(packed(times, 5, 5)).unwrap_or(Self::OWN - 1))
    }
    pub(crate) fn is_own(self) -> bool {
        self.0 & Self::OWN != 0
    }
    /// Returns which power of the common divisor it is: none if it is its own.
    pub(crate) fn times(self) -> f32 {
        if self.is_own() { 0.0 } else { unpacked(self.0, 5, 5) }
    }
    /// Returns the divisor of a sum of which both have one divisor, or powers of the common one.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
    /// Returns the divisor of a product.
    pub(crate) fn with(self, other: Self) -> Self {
        match self.is_own() || other.is_own() {
            true => Self::own(self.0.wrapping_add(other.0) & (Self::OWN - 1)),
            false => Self::power(self.times() + other.times()),
        }
    }
}

/// Returns the bits of a number that is 0 or not less than 1, rounded up. The largest are infinite.
pub(crate) fn packed(x: f32, exponent_bits: u32, mantissa_bits: u32) -> u128 {
    let dropped = 23 - mantissa_bits;
    let most = (1 << (exponent_bits + mantissa_bits)) - 1;
    match x < 1.0 {
        true => u128::from(x > 0.0),
        false => {
            let above = x.to_bits().saturating_sub(1.0f32.to_bits()) + ((1 << dropped) - 1);
            u128::from((above >> dropped).saturating_add(1).min(most))
        }
    }
}
/// Returns the number that has these bits.
pub(crate) fn unpacked(bits: u32, exponent_bits: u32, mantissa_bits: u32) -> f32 {
    match bits {
        0 => 0.0,
        _ if bits == (1 << (exponent_bits + mantissa_bits)) - 1 => f32::INFINITY,
        _ => f32::from_bits(((bits - 1) << (23 - mantissa_bits)) + 1.0f32.to_bits()),
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "rounds to the nearest")]
pub(crate) fn approximate(x: i64) -> f64 {
    x as f64
}

/// Returns the elements of an array that holds them, in row-major order.
pub(crate) fn read(array: &Array) -> Vec<Element> {
    array.bytes().as_chunks::<16>().0.iter().map(|bytes| Element::of_bytes(*bytes)).collect()
}

/// Returns an array that holds elements.
pub(crate) fn write(shape: &ArrayShape, elements: impl IntoIterator<Item = Element>) -> Array {
    let mut array = Array::zeros(held(shape));
    for (slot, element) in array.bytes_mut().as_chunks_mut::<16>().0.iter_mut().zip(elements) {
        *slot = element.to_bytes();
    }
    array
}

/// Returns the shape of the array that holds the elements of a float array.
pub(crate) fn held(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { ty: HELD, ..shape.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_keeps_elements() {
        let odd = Element {
            is_deep: false,
            degree: 3.0,
            divisor: Divisor::own(77),
            ..Element::integer(-7)
        };
        let low = Element::special(f64::NEG_INFINITY);
        let upper = Element { is_upper: true, ..Element::integer(-3) };
        let all = [Element::ZERO, Element::ONE, low, odd, upper];
        let shape = ArrayShape::new(ElementType::F32, vec![6]);
        let found = read(&write(&shape, all.into_iter().chain([Element::NAN])));
        assert_eq!(found[..5], all);
        assert!(found[5].real.is_nan());
        let bounds = |x: f32| unpacked(u32::try_from(packed(x, 5, 6)).unwrap(), 5, 6).to_bits();
        let rounded = [(0.0f32, 0.0f32), (0.5, 1.0), (1.0, 1.0), (127.0, 127.0), (129.0, 130.0)];
        for (x, up) in rounded.into_iter().chain([5e9, f32::INFINITY].map(|x| (x, f32::INFINITY))) {
            assert_eq!(bounds(x), up.to_bits(), "{x}");
        }
        assert_eq!(read(&Array::zeros(held(&shape)))[3], Element::ZERO);
    }
}
