//! The field: its order, its oracles, and the functions of HLO over its elements.
//!
//! `+ - * /` are exact. Everything else is a law or an oracle: a hash of the function and its
//! argument, so that the same function of the same number is the same number.
use crate::element::{Element, Kind};
use crate::rational;
use crate::tower::{self, PRIMES};
use hlo::ElementType;
use hlo::op::{Binary, Unary};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering as Access};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What two programs that are compared share: the oracles of a seed, and the numbers that they
/// know.
#[derive(Debug)]
pub(crate) struct Field {
    seed: u64,
    /// The logarithm of a number, where it is known: that of an exponential, a power, a root.
    logarithms: Mutex<FxHashMap<u32, Element>>,
    /// The literals that are no simple fraction, by size.
    literals: Mutex<Vec<(f64, Element)>>,
    /// The real number that a constant is, where it is no small fraction.
    reals: Mutex<FxHashMap<u32, f64>>,
    /// The element of which these are the bits.
    bits: Mutex<FxHashMap<u64, Element>>,
    /// Whether an exponential was taken of a number without a level for it.
    is_shallow: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Field {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            logarithms: Mutex::default(),
            literals: Mutex::default(),
            reals: Mutex::default(),
            bits: Mutex::default(),
            is_shallow: AtomicBool::new(false),
        }
    }
    /// Returns whether a law of exponentials may have been lost: nested deeper than the tower.
    pub(crate) fn is_shallow(&self) -> bool {
        self.is_shallow.load(Access::Relaxed)
    }

    /// Returns the element of a literal.
    pub(crate) fn literal(&self, x: f64, ty: ElementType) -> Element {
        if x.is_nan() {
            return Element::NAN;
        }
        if x.is_infinite() {
            return if x > 0.0 { Element::INFINITY } else { Element::NEGATIVE_INFINITY };
        }
        if let Some(fraction) = rational::meant(x, ty) {
            let element = rational::element(fraction);
            self.know(x, &element);
            return element;
        }
        // Two compilers may round a constant that they compute differently.
        let digits = ty.float_format().map_or(53, |format| format.mantissa_bits + 1);
        let near = x.abs() * f64::powi(2.0, 2 - i32::try_from(digits).unwrap_or(53));
        let mut literals = lock(&self.literals);
        let found = literals.iter().find(|(known, _)| (known - x.abs()).abs() <= near);
        let magnitude = found.map_or_else(|| rational::exactly(x.abs()), |(_, element)| *element);
        if found.is_none() {
            literals.push((x.abs(), magnitude));
        }
        drop(literals);
        let element = if x < 0.0 { Self::negated(magnitude) } else { magnitude };
        self.know(x, &element);
        element
    }
    fn know(&self, x: f64, element: &Element) {
        if rational::recognized(element).is_none() {
            lock(&self.reals).insert(element.residues[0], x);
            let negative = tower::negate(element.residues);
            lock(&self.reals).insert(negative[0], -x);
        }
    }

    /// Returns an element that these determine, and nothing else.
    pub(crate) fn oracle(&self, name: &str, of: &[Element]) -> Element {
        let mut state = self.seed ^ 0x9e37_79b9_7f4a_7c15;
        let mut mix = |x: u64| {
            state = (state ^ x).wrapping_mul(0xff51_afd7_ed55_8ccd);
            state = (state ^ state >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            state ^= state >> 29;
            state
        };
        for byte in name.bytes() {
            mix(u64::from(byte));
        }
        for x in of {
            mix(if x.is_finite() { u64::from(x.residues[0]) } else { !u64::from(x.kind_number()) });
        }
        let residues = std::array::from_fn(|level| {
            let prime = u64::from(PRIMES[level]);
            u32::try_from(mix(7) % prime).expect("a prime has 31 bits")
        });
        Element { degree: 1.0, ..Element::constant(residues) }
    }
    /// Returns an oracle with `f(-x) = -f(x)`.
    fn odd(&self, name: &str, x: Element) -> Element {
        match self.key(&x) {
            _ if !x.is_finite() => self.oracle(name, &[x]),
            _ if x.is_zero() => Element::ZERO,
            key if key < 0.0 => Self::negated(self.oracle(name, &[Self::negated(x)])),
            _ => self.oracle(name, &[x]),
        }
    }

    /// Returns the real number by which an element is ordered. NaN is the caller's.
    pub(crate) fn key(&self, x: &Element) -> f64 {
        match x.kind {
            Kind::Infinity => return f64::INFINITY,
            Kind::NegativeInfinity => return f64::NEG_INFINITY,
            Kind::Nan => return f64::NAN,
            Kind::Finite => {}
        }
        if x.is_zero() {
            return 0.0;
        }
        if let Some((n, d)) = rational::recognized(x) {
            return real(n) / real(d);
        }
        if x.degree == 0.0
            && let Some(known) = lock(&self.reals).get(&x.residues[0])
        {
            return *known;
        }
        let is_positive = tower::is_square(x.residues[0]);
        let positive = if is_positive { x.residues[0] } else { PRIMES[0] - x.residues[0] };
        let place = f64::from(positive) / f64::from(PRIMES[0]);
        let magnitude = (place * 80.0 - 40.0).exp2();
        if is_positive { magnitude } else { -magnitude }
    }
    /// Compares two elements; `None` if one is NaN.
    pub(crate) fn compare(&self, x: &Element, y: &Element) -> Option<Ordering> {
        if x.kind == Kind::Nan || y.kind == Kind::Nan {
            return None;
        }
        if x.is(y) {
            return Some(Ordering::Equal);
        }
        let keys = self.key(x).total_cmp(&self.key(y));
        Some(keys.then(x.residues[0].cmp(&y.residues[0])))
    }
    pub(crate) fn is_negative(&self, x: &Element) -> bool {
        self.key(x) < 0.0
    }

    pub(crate) fn negated(x: Element) -> Element {
        match x.kind {
            Kind::Finite => Element { residues: tower::negate(x.residues), ..x },
            Kind::Infinity => Element::NEGATIVE_INFINITY,
            Kind::NegativeInfinity => Element::INFINITY,
            Kind::Nan => x,
        }
    }
    pub(crate) fn sum(x: Element, y: Element) -> Element {
        match (x.kind, y.kind) {
            (Kind::Finite, Kind::Finite) => Element {
                residues: tower::add(x.residues, y.residues),
                kind: Kind::Finite,
                depth: x.depth.min(y.depth),
                degree: x.degree.max(y.degree),
            },
            (Kind::Finite, _) => y,
            (_, Kind::Finite) => x,
            (a, b) if a == b => x,
            _ => Element::NAN,
        }
    }
    pub(crate) fn difference(x: Element, y: Element) -> Element {
        Self::sum(x, Self::negated(y))
    }
    pub(crate) fn product(&self, x: Element, y: Element) -> Element {
        if x.is_finite() && y.is_finite() {
            return Element {
                residues: tower::multiply(x.residues, y.residues),
                kind: Kind::Finite,
                depth: x.depth.min(y.depth),
                degree: x.degree + y.degree,
            };
        }
        let is_nan = [x, y].iter().any(|v| v.kind == Kind::Nan || v.is_zero());
        match is_nan {
            true => Element::NAN,
            false if self.is_negative(&x) == self.is_negative(&y) => Element::INFINITY,
            false => Element::NEGATIVE_INFINITY,
        }
    }
    pub(crate) fn quotient(&self, x: Element, y: Element) -> Element {
        match (x.kind, y.kind) {
            (Kind::Nan, _) | (_, Kind::Nan) => Element::NAN,
            (_, Kind::Finite) if y.is_zero() => self.oracle("quotient by zero", &[x]),
            (_, Kind::Finite) => {
                self.product(x, Element { residues: tower::invert(y.residues), ..y })
            }
            (Kind::Finite, _) => Element::ZERO,
            _ => Element::NAN,
        }
    }
    pub(crate) fn maximum(&self, x: Element, y: Element) -> Element {
        match self.compare(&x, &y) {
            None => Element::NAN,
            Some(Ordering::Less) => y,
            Some(_) => x,
        }
    }
    pub(crate) fn minimum(&self, x: Element, y: Element) -> Element {
        match self.compare(&x, &y) {
            None => Element::NAN,
            Some(Ordering::Greater) => y,
            Some(_) => x,
        }
    }
    fn inverse(&self, x: Element) -> Element {
        self.quotient(Element::ONE, x)
    }
    fn twice(x: Element) -> Element {
        Self::sum(x, x)
    }
    fn absolute(&self, x: Element) -> Element {
        if self.is_negative(&x) { Self::negated(x) } else { x }
    }

    fn exponential(&self, x: Element) -> Element {
        match x.kind {
            Kind::Infinity | Kind::Nan => return x,
            Kind::NegativeInfinity => return Element::ZERO,
            Kind::Finite if x.is_zero() => return Element::ONE,
            Kind::Finite => {}
        }
        let hash = self.oracle("exponential", &[x]);
        let power = |level: usize| tower::power_at(4, x.residues[level + 1], level);
        let result = match x.depth {
            3 => Element { residues: [power(0), power(1), hash.residues[2]], depth: 2, ..x },
            2 => {
                let [_, b, c] = hash.residues;
                Element { residues: [power(0), b, c], depth: 1, ..x }
            }
            // Without a level for the exponent: exp(-x) = 1 / exp(x) is left.
            _ => {
                self.is_shallow.store(true, Access::Relaxed);
                let is_negative = self.is_negative(&x);
                let of = if is_negative { Self::negated(x) } else { x };
                let hash = self.oracle("exponential", &[of]);
                // Positive, as a square is.
                let residues = tower::multiply(hash.residues, hash.residues);
                let value = Element { residues, depth: 1, ..x };
                if is_negative { self.inverse(value) } else { value }
            }
        };
        self.learn(&result, x);
        result
    }
    fn learn(&self, x: &Element, logarithm: Element) {
        lock(&self.logarithms).insert(x.residues[0], logarithm);
    }
    fn logarithm(&self, x: Element) -> Element {
        match x.kind {
            Kind::Infinity | Kind::Nan => return x,
            Kind::NegativeInfinity => return Element::NAN,
            Kind::Finite if x.is_zero() => return Element::NEGATIVE_INFINITY,
            Kind::Finite if x.is(&Element::ONE) => return Element::ZERO,
            Kind::Finite => {}
        }
        let known = lock(&self.logarithms).get(&x.residues[0]).copied();
        known.unwrap_or_else(|| self.oracle("log", &[x]))
    }
    fn root(&self, x: Element) -> Element {
        if !x.is_finite() {
            return if x.kind == Kind::NegativeInfinity { Element::NAN } else { x };
        }
        if x.is_zero() {
            return x;
        }
        if let Some((n, d)) = rational::recognized(&x)
            && let (Some(n), Some(d)) = (whole_root(n), whole_root(d))
        {
            return rational::element((n, d));
        }
        if self.is_negative(&x) || !tower::is_square(x.residues[0]) {
            return self.oracle("sqrt", &[x]);
        }
        // The product of roots is the root of the product on every level; the sign of a root is
        // right on the first only.
        let residues =
            std::array::from_fn(|i| tower::power_at(x.residues[i], PRIMES[i] / 4 + 1, i));
        let result = Element { residues, depth: 1, ..x };
        let half = rational::element((1, 2));
        self.learn(&result, self.product(half, self.logarithm(x)));
        result
    }
    fn power(&self, x: Element, y: Element) -> Element {
        let exponent = rational::recognized(&y);
        if y.is_zero() {
            return Element::ONE;
        }
        if let Some((n, 1)) = exponent.filter(|(n, _)| n.abs() <= 1024) {
            return self.integer_power(x, n);
        }
        if let Some((n, 2)) = exponent.filter(|(n, _)| n.abs() <= 1024) {
            return self.integer_power(self.root(x), n);
        }
        let is_positive = x.is_finite() && !x.is_zero() && tower::is_square(x.residues[0]);
        if !is_positive || !y.is_finite() || y.depth < 2 || self.is_negative(&x) {
            return self.oracle("power", &[x, y]);
        }
        let [_, b, c] = self.oracle("power", &[x, y]).residues;
        let first = tower::power_at(x.residues[0], y.residues[1], 0);
        let degree = x.degree + y.degree;
        let result = Element { residues: [first, b, c], kind: Kind::Finite, depth: 1, degree };
        self.learn(&result, self.product(y, self.logarithm(x)));
        result
    }
    fn integer_power(&self, x: Element, n: i64) -> Element {
        let mut result = Element::ONE;
        for bit in (0..64 - n.unsigned_abs().leading_zeros()).rev() {
            result = self.product(result, result);
            if n.unsigned_abs() >> bit & 1 == 1 {
                result = self.product(result, x);
            }
        }
        if n < 0 { self.inverse(result) } else { result }
    }
    /// Returns the tangent of half of an angle, of which sine and cosine are rational functions.
    fn half_tangent(&self, x: Element) -> Element {
        self.odd("tangent of a half", x)
    }
    fn circle(&self, x: Element) -> (Element, Element) {
        let t = self.half_tangent(x);
        let square = self.product(t, t);
        let below = Self::sum(Element::ONE, square);
        let sine = self.quotient(Self::twice(t), below);
        (sine, self.quotient(Self::difference(Element::ONE, square), below))
    }
    /// Applies a function to a fraction exactly, to any other number as an oracle.
    fn rounded(&self, name: &str, x: Element, f: impl Fn(f64) -> f64) -> Element {
        if !x.is_finite() {
            return x;
        }
        let exact = rational::recognized(&x).map(|(n, d)| f(real(n) / real(d)));
        match exact.and_then(|value| rational::meant(value, ElementType::F64)) {
            Some(fraction) => rational::element(fraction),
            None => self.odd(name, x),
        }
    }

    /// Returns a function of one element. `None` if it has no meaning for floats.
    pub(crate) fn unary(&self, op: Unary, x: Element) -> Option<Element> {
        let one = Element::ONE;
        let (up, down) = (|x| self.exponential(x), |x| self.exponential(Self::negated(x)));
        let half = rational::element((1, 2));
        Some(match op {
            Unary::Abs => self.absolute(x),
            Unary::Negate => Self::negated(x),
            Unary::Real => x,
            Unary::Imag => Element::ZERO,
            Unary::Sign => match self.key(&x) {
                _ if x.kind == Kind::Nan || x.is_zero() => x,
                key if key < 0.0 => Element::integer(-1),
                _ => one,
            },
            Unary::Sqrt => self.root(x),
            Unary::Rsqrt => self.inverse(self.root(x)),
            Unary::Cbrt if x.is_finite() => {
                // 3 has an inverse modulo the order of the group: each number has one cube root.
                let root = |i: usize| {
                    let order = u64::from(PRIMES[i]) - 1;
                    let third = if order % 3 == 1 { (2 * order + 1) / 3 } else { (order + 1) / 3 };
                    tower::power_at(x.residues[i], u32::try_from(third).unwrap_or(1), i)
                };
                Element { residues: std::array::from_fn(root), ..x }
            }
            Unary::Exponential => up(x),
            Unary::ExponentialMinusOne => Self::difference(up(x), one),
            Unary::Log => self.logarithm(x),
            Unary::LogPlusOne => self.logarithm(Self::sum(one, x)),
            Unary::Logistic if x.kind == Kind::NegativeInfinity => Element::ZERO,
            Unary::Logistic => self.inverse(Self::sum(one, down(x))),
            Unary::Tanh if x.kind == Kind::Infinity => one,
            Unary::Tanh if x.kind == Kind::NegativeInfinity => Element::integer(-1),
            Unary::Tanh => {
                let twice = up(Self::twice(x));
                self.quotient(Self::difference(twice, one), Self::sum(twice, one))
            }
            Unary::Sinh => self.product(half, Self::difference(up(x), down(x))),
            Unary::Cosh => self.product(half, Self::sum(up(x), down(x))),
            Unary::Sine => self.circle(x).0,
            Unary::Cosine => self.circle(x).1,
            Unary::Tan => {
                let (sine, cosine) = self.circle(x);
                self.quotient(sine, cosine)
            }
            Unary::Cbrt | Unary::Asin | Unary::Asinh | Unary::Atanh | Unary::Erf => {
                self.odd(op.into_name(), x)
            }
            Unary::Acos | Unary::Acosh => self.oracle(op.into_name(), &[x]),
            Unary::Floor => match self.is_negative(&x) {
                true => Self::negated(self.ceiling(Self::negated(x))),
                false => self.rounded("floor", x, f64::floor),
            },
            Unary::Ceil => self.ceiling(x),
            Unary::RoundNearestAfz => self.rounded("round", x, f64::round),
            Unary::RoundNearestEven => self.rounded("round to even", x, f64::round_ties_even),
            Unary::CountLeadingZeros | Unary::Not | Unary::Popcnt | Unary::IsFinite => return None,
        })
    }
    fn ceiling(&self, x: Element) -> Element {
        match self.is_negative(&x) {
            true => Self::negated(self.rounded("floor", Self::negated(x), f64::floor)),
            false => self.rounded("ceil", x, f64::ceil),
        }
    }
    /// Returns a function of two elements. `None` if it has no meaning for floats.
    pub(crate) fn binary(&self, op: Binary, x: Element, y: Element) -> Option<Element> {
        Some(match op {
            Binary::Add => Self::sum(x, y),
            Binary::Subtract => Self::difference(x, y),
            Binary::Multiply => self.product(x, y),
            Binary::Divide => self.quotient(x, y),
            Binary::Maximum => self.maximum(x, y),
            Binary::Minimum => self.minimum(x, y),
            Binary::Power => self.power(x, y),
            Binary::Remainder => self.remainder(x, y),
            Binary::Atan2 if self.is_negative(&x) => {
                Self::negated(self.oracle("atan2", &[Self::negated(x), y]))
            }
            Binary::Atan2 => self.oracle("atan2", &[x, y]),
            Binary::And
            | Binary::Complex
            | Binary::Mulhi
            | Binary::Or
            | Binary::ShiftLeft
            | Binary::ShiftRightArithmetic
            | Binary::ShiftRightLogical
            | Binary::Xor => return None,
        })
    }
    fn remainder(&self, x: Element, y: Element) -> Element {
        let (n, d) = (rational::recognized(&x), rational::recognized(&y));
        if let (Some((a, 1)), Some((b, 1))) = (n, d)
            && b != 0
        {
            return Element::integer(i128::from(a % b));
        }
        let y = self.absolute(y);
        match self.is_negative(&x) {
            true => Self::negated(self.oracle("remainder", &[Self::negated(x), y])),
            false => self.oracle("remainder", &[x, y]),
        }
    }

    /// Returns the number that converts to an integer: itself if it is one, else a hash.
    pub(crate) fn truncated(&self, x: &Element) -> f64 {
        match rational::recognized(x) {
            Some((n, d)) => (real(n) / real(d)).trunc(),
            None if !x.is_finite() => self.key(x),
            None => {
                let absolute = self.absolute(*x);
                let hash = f64::from(self.oracle("integer", &[absolute]).residues[0] % 16);
                if self.is_negative(x) { -hash } else { hash }
            }
        }
    }
    /// Returns the bits of a float with the order of this element.
    pub(crate) fn bits(&self, x: &Element, ty: ElementType) -> u128 {
        let bits = hlo::Scalar::Float(self.key(x)).convert(ElementType::F64, ty).to_bits(ty);
        if let Ok(bits) = u64::try_from(bits) {
            lock(&self.bits).insert(bits, *x);
        }
        bits
    }
    /// Returns the element that has these bits.
    pub(crate) fn of_bits(&self, bits: u128, ty: ElementType) -> Element {
        let known = u64::try_from(bits).ok().and_then(|bits| lock(&self.bits).get(&bits).copied());
        known.unwrap_or_else(|| self.literal(hlo::Scalar::from_bits(ty, bits).as_f64(), ty))
    }
}

impl Element {
    fn kind_number(&self) -> u32 {
        match self.kind {
            Kind::Finite => 0,
            Kind::Infinity => 1,
            Kind::NegativeInfinity => 2,
            Kind::Nan => 3,
        }
    }
}

/// The name of an oracle.
trait IntoName {
    fn into_name(self) -> &'static str;
}
impl IntoName for Unary {
    fn into_name(self) -> &'static str {
        hlo::Op::from(self).opcode().name()
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "of 30 bits mostly")]
fn real(x: i64) -> f64 {
    x as f64
}

fn whole_root(x: i64) -> Option<i64> {
    let root = u64::try_from(x).ok()?.isqrt();
    let root = i64::try_from(root).ok()?;
    (root * root == x).then_some(root)
}
