//! The field: its oracles, what it decides by real numbers, and the functions of HLO over its
//! elements.
//!
//! `+ - * /` are exact. Everything else is a law or an oracle: a hash of the function and its
//! argument, so that the same function of the same number is the same number.
mod order;
mod powers;

use crate::degree::{Divisors, degree_of};
use crate::element::{Divisor, Element, approximate};
use crate::known::{Literals, Table, lock};
use crate::pair::Pair;
use crate::rational;
use crate::tower::{self, LEVELS, PRIMES, Residues, plane};
use crate::unity;
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Op};
use num::dispatch::{binary_f64, unary_f64};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering as Access};

/// What two programs that are compared share: the oracles of a seed, and the numbers that they
/// know.
#[derive(Debug)]
pub(crate) struct Field {
    seed: u64,
    /// The base of exponentials: a square.
    base: u32,
    /// The logarithm of a number, where it is known: that of an exponential, a power, a root.
    logarithms: Table,
    /// The exponential of a number, where it is known: that of a logarithm.
    exponentials: Table,
    /// The root of a number, where it is known: that of a square.
    roots: Table,
    /// The square of a number, where it is known: that of a root.
    squares: Table,
    /// The square of a complex number, where it is known: that of a root.
    pub(crate) pair_squares: Mutex<FxHashMap<[u32; 2], Pair>>,
    /// The sizes of literals that are no simple fraction, as bits of an f64, and what they are: those
    /// of the modules before, and those of the module that runs.
    literals: Mutex<[Literals; 2]>,
    /// The element of which these are the bits, in a type of so many.
    bits: Mutex<FxHashMap<(u32, u64), Element>>,
    divisors: Mutex<Divisors>,
    /// The largest power of divisors, and the largest degree beyond it, of the numbers that a
    /// comparison, a conversion or an oracle has seen.
    decided: [AtomicU32; 2],
    /// Whether an exponential was taken of a number without a level for it.
    is_shallow: AtomicBool,
    /// Whether numbers were compared that are not equal, and whose real numbers do not tell them apart.
    is_unsure: AtomicBool,
    rules: Rules,
}

/// What holds in a field.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Whether all divisors count as a common one: where numbers with other divisors each are added
    /// again and again, this is a smaller bound.
    pub(crate) is_common: bool,
    /// Whether integers depend on arguments.
    pub(crate) has_integers: bool,
    pub(crate) position: Position,
    pub(crate) few_digits: FewDigits,
    pub(crate) roots: Roots,
    /// The number of a run that is to show on which last digits its results depend, and which has
    /// others for each number from 1 on; 0 for others.
    pub(crate) shake: u32,
}

impl Rules {
    /// Returns whether computed constants of a type are rounded to its few digits.
    pub(crate) fn rounds(&self, ty: ElementType) -> bool {
        self.few_digits == FewDigits::Rounded && rational::is_narrow(ty)
    }
}

/// How the arguments of a run lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Position {
    /// Some are zero, or equal to others.
    #[default]
    Special,
    /// Arrays may have equal elements.
    Ordinary,
    /// A number that is 0 is 0 for all arguments that take the same ways.
    General,
}

/// What computed constants of types of few digits are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FewDigits {
    /// Rounded to the type, as compilers round them.
    #[default]
    Rounded,
    /// As exact as others: a compiler computes with more digits. A literal may be a rounded product or
    /// quotient of others.
    Exact,
}

/// What the roots of numbers are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Roots {
    /// No module has a root, a power or a logarithm: no square is learned.
    Unused,
    /// Modulo both primes: the root of a product is the product of the roots, and the square of a root
    /// is known where it is multiplied by itself only.
    #[default]
    OfProducts,
    /// In the plane: the square of each is the number. That of a product is the product of the roots
    /// where these are known. The exponential of a root is an oracle.
    InPlane,
    /// As `OfProducts`, and modulo the second prime the logarithm of a product is the sum of the
    /// logarithms.
    WithLogarithms,
}

impl Field {
    pub(crate) fn new(seed: u64, rules: Rules) -> Self {
        let mut field = Self {
            seed,
            base: 4,
            logarithms: Table::default(),
            exponentials: Table::default(),
            roots: Table::default(),
            squares: Table::default(),
            pair_squares: Mutex::default(),
            literals: Mutex::default(),
            bits: Mutex::default(),
            divisors: Mutex::default(),
            decided: [AtomicU32::new(0), AtomicU32::new(0)],
            is_shallow: AtomicBool::new(false),
            is_unsure: AtomicBool::new(false),
            rules,
        };
        let root = field.hash("base", &[])[0].max(2);
        field.base = tower::multiply_at(root, root, 0);
        field
    }
    pub(crate) fn is_shaken(&self) -> bool {
        self.rules.shake > 0
    }
    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }
    /// Changes the real number of an element by up to a part of it. Equal elements stay equal.
    pub(crate) fn shake(&self, x: Element, by: f64) -> Element {
        let hash = (x.key() ^ self.rules.shake.wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
        let part = f64::from(hash ^ hash >> 15) / f64::from(u32::MAX) * 2.0 - 1.0;
        Element { real: x.real * (1.0 + by * part), ..x }
    }
    /// Returns whether roots, powers or logarithms are taken.
    fn has_roots(&self) -> bool {
        self.rules.roots != Roots::Unused
    }
    /// Returns the float that an integer is: rounded if it is known to be a constant of a module.
    pub(crate) fn converted(&self, x: Element, ty: ElementType) -> Element {
        match self.rules.has_integers {
            true => x.varying(),
            false => self.rounded_constant(x, ty),
        }
    }
    /// Returns a number as a type has it: rounded, if it is a constant and the type has few digits.
    pub(crate) fn rounded_constant(&self, x: Element, ty: ElementType) -> Element {
        match self.rules.rounds(ty) && x.is_constant() && x.is_finite() {
            true => self.literal(rounded_to(x.real, ty), ty),
            false => x,
        }
    }
    /// Returns whether a law of exponentials may have been lost: nested deeper than the tower.
    pub(crate) fn is_shallow(&self) -> bool {
        self.is_shallow.load(Access::Relaxed)
    }
    /// Returns whether the order of two numbers was not known.
    pub(crate) fn is_unsure(&self) -> bool {
        self.is_unsure.load(Access::Relaxed)
    }
    /// Returns the largest degree of a number by which something was decided.
    pub(crate) fn decided(&self) -> f64 {
        let [times, degree] =
            self.decided.each_ref().map(|bits| f32::from_bits(bits.load(Access::Relaxed)));
        let divisor = Divisor::power(times);
        degree_of(&Element { degree, divisor, ..Element::ONE }, self.divisors())
    }
    /// Returns the degree of the product of all that was divided by.
    pub(crate) fn divisors(&self) -> f64 {
        lock(&self.divisors).degree()
    }
    /// Begins an instruction: its elements do not depend on each other.
    pub(crate) fn begin(&self) {
        lock(&self.divisors).begin();
    }
    /// Notes that something is decided by a number.
    pub(crate) fn decide(&self, x: &Element) {
        // The order of floats that are not negative is that of their bits.
        self.decided[0].fetch_max(x.divisor.times().to_bits(), Access::Relaxed);
        self.decided[1].fetch_max(x.degree.to_bits(), Access::Relaxed);
    }

    /// Returns the element of a literal of the module that runs.
    pub(crate) fn literal(&self, x: f64, ty: ElementType) -> Element {
        let mut element = self.constant(x, ty);
        if x.is_finite() && x.abs() > 0.0 {
            let digits = rational::digits(ty);
            let size = |x: Element| if x.real < 0.0 { Self::negated(x) } else { x };
            let own = &mut lock(&self.literals)[1];
            // Within a module each literal is its own number.
            if own.has_other(x.abs(), digits, size(element).residues) {
                element = rational::exactly(x);
            }
            let is_fraction = rational::meant(x, ty).is_some();
            own.insert(x.abs(), digits, size(element).residues, is_fraction);
        }
        // A literal of many digits is rounded, and so are others of which it is folded.
        match self.is_shaken() && !rational::is_narrow(ty) && !rational::has_few_bits(x) {
            true => self.shake(element, 4.0 * rational::unit(1.0, ty)),
            false => element,
        }
    }
    /// Returns the element that a literal would be.
    pub(crate) fn constant(&self, x: f64, ty: ElementType) -> Element {
        if !x.is_finite() {
            return Element::special(x);
        }
        if let Some(fraction) = rational::meant(x, ty) {
            return rational::element(fraction);
        }
        let size = x.abs();
        let is_narrow = rational::is_narrow(ty);
        let within = if is_narrow { 0.0 } else { 2.0 * rational::unit(1.0, ty) };
        let of_others = match is_narrow && self.rules.few_digits == FewDigits::Exact {
            true => rational::unit(1.0, ty) / 2.0,
            false => within,
        };
        let [earlier, _] = &*lock(&self.literals);
        let known = unity::cosine(size, ty)
            .or_else(|| self.of_pi(size, ty, rational::unit(1.0, ty)))
            .or_else(|| self.of_logarithm(size, ty));
        let nearest = earlier.nearest(size, within * size);
        let combined = match nearest {
            Some(_) => None,
            None => earlier.combined(size, of_others, ty),
        };
        // The number that is meant is more accurate than the literal.
        let real = known.or(combined.filter(|_| is_narrow)).map_or(size, |known| known.real);
        let residues = nearest
            .or(combined.map(|combined| combined.residues))
            .or_else(|| known.map(|known| known.residues))
            .unwrap_or_else(|| rational::exactly(size).residues);
        let magnitude = Element::constant(residues, real);
        if x < 0.0 { Self::negated(magnitude) } else { magnitude }
    }
    /// Returns the fraction of pi, or of its inverse, or the root of such a number or of a fraction,
    /// that a positive literal is, but for a part of it.
    fn of_pi(&self, size: f64, ty: ElementType, part: f64) -> Option<Element> {
        /// The largest product of numerator and denominator.
        const SIMPLE: i64 = 512;
        if rational::is_narrow(ty) {
            return None;
        }
        // A square, so that its root is that of squares.
        let root = Element::constant(self.hash("root of pi", &[]), std::f64::consts::PI.sqrt());
        let pi = self.product(root, root).with_real(std::f64::consts::PI);
        let one = Element::ONE;
        [
            (pi, false),
            (self.inverted(pi), false),
            (one, true),
            (one, false),
            (pi, true),
            (self.inverted(pi), true),
        ]
        .into_iter()
        .find_map(|(unit, is_root)| {
            let ratio = if is_root { size * size } else { size } / unit.real;
            let (n, d) = rational::near(ratio, if is_root { 2.0 * part } else { part })?;
            let is_simple = n.checked_mul(d).is_some_and(|product| product <= SIMPLE);
            let number = self.product(unit, rational::element((n, d)));
            if !is_simple || !is_root {
                return is_simple.then_some(number);
            }
            let root = Element { residues: tower::root(number.residues), ..number };
            let is_square = tower::multiply(root.residues, root.residues) == number.residues;
            is_square.then(|| root.with_real(number.real.sqrt()))
        })
    }
    /// Returns the logarithm of a simple number that a positive literal is.
    fn of_logarithm(&self, size: f64, ty: ElementType) -> Option<Element> {
        // The logarithms of simple numbers but 1.
        if self.rules.roots != Roots::WithLogarithms || !(0.02..16.0).contains(&size) {
            return None;
        }
        let of = self.of_pi(size.exp(), ty, size * rational::unit(1.0, ty));
        Some(Element { degree: 0.0, ..self.logarithm(of?) })
    }
    /// Ends a module. Two compilers may round a constant differently: one of a later module that is
    /// within two units in the last place of one of this module, or of a product or quotient of
    /// them, is the same number. Within a module each constant is its own number.
    pub(crate) fn end_module(&self) {
        let mut literals = lock(&self.literals);
        let own = std::mem::take(&mut literals[1]);
        literals[0].extend(own);
    }

    /// Returns residues that these determine, and nothing else.
    fn hash(&self, name: &str, of: &[Element]) -> Residues {
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
            self.decide(x);
            mix(if x.is_finite() { u64::from(x.key()) } else { x.real.to_bits() });
        }
        std::array::from_fn(|level| {
            let prime = u64::from(PRIMES[level]);
            u32::try_from(mix(7) % prime).expect("a prime has 31 bits")
        })
    }
    /// Returns a number with the real number of a function, and residues that name and arguments
    /// determine.
    pub(crate) fn oracle(&self, name: &str, of: &[Element], real: f64) -> Element {
        match real.is_nan() {
            true if of.iter().all(Element::is_finite) => {
                let variable = of.iter().find(|x| !x.is_constant()).unwrap_or(&Element::ONE);
                self.outside(real, variable)
            }
            true => Element::NAN,
            false => Element { degree: 1.0, ..Element::constant(self.hash(name, of), 0.0) }
                .with_real(real),
        }
    }
    /// Returns an element of the result of a function of which nothing is known.
    pub(crate) fn unknown(&self, name: &str, of: Element, place: Element) -> Element {
        let residues = self.hash(name, &[of, place]);
        let real = f64::from(residues[0]) / f64::from(PRIMES[0]) * 2.0 - 1.0;
        Element { degree: 1.0, ..Element::constant(residues, real) }
    }
    /// Returns an oracle with `f(-x) = -f(x)`.
    fn odd(&self, name: &str, x: Element, real: f64) -> Element {
        match x.real < 0.0 {
            _ if x.is_zero() => Element::ZERO,
            true => Self::negated(self.oracle(name, &[Self::negated(x)], -real)),
            false => self.oracle(name, &[x], real),
        }
    }

    pub(crate) fn negated(x: Element) -> Element {
        let negated = if x.is_finite() { x.with_own(tower::negate, plane::negate) } else { x };
        Element { real: -x.real, ..negated }
    }
    pub(crate) fn sum(x: Element, y: Element) -> Element {
        let real = x.real + y.real;
        if !x.is_finite() || !y.is_finite() {
            return Element::of_special([&x, &y], real);
        }
        let is_own = x.divisor.is_own() || y.divisor.is_own();
        let is_shared = x.divisor == y.divisor || x.is_constant() || y.is_constant();
        let (degree, divisor) = match is_own && !is_shared {
            true => (x.degree + y.degree, x.divisor.with(y.divisor)),
            false => (x.degree.max(y.degree), x.divisor.or(y.divisor)),
        };
        let sum = Element { degree, divisor, ..Element::constant([0; LEVELS], real) };
        sum.with_both([&x, &y], tower::add, plane::add).with_real(real)
    }
    pub(crate) fn difference(x: Element, y: Element) -> Element {
        Self::sum(x, Self::negated(y))
    }
    pub(crate) fn product(&self, x: Element, y: Element) -> Element {
        let real = x.real * y.real;
        if !x.is_finite() || !y.is_finite() {
            let is_number = |x: &Element| x.is_finite() && !self.is_zero_for_all(x);
            return match real.is_nan() && !x.real.is_nan() && !y.real.is_nan() {
                // What is 0 here only, or too small for a float, is no zero.
                true if is_number(&x) || is_number(&y) => Element::NAN,
                _ => Element::of_special([&x, &y], real),
            };
        }
        let known = || self.of_roots(&x, &y).or_else(|| self.of_roots(&y, &x));
        if self.has_roots()
            && let Some(known) = known()
        {
            // That it is a constant is known of this draw only.
            return Element { degree: known.degree.max(x.degree.min(1.0)), ..known };
        }
        let product = Element {
            degree: x.degree + y.degree,
            divisor: x.divisor.with(y.divisor),
            ..Element::constant([0; LEVELS], real)
        };
        let product = product.with_both([&x, &y], tower::multiply, plane::multiply);
        let product = product.with_real(real);
        match !x.is_constant() && x.is(&y) {
            _ if !self.has_roots() => {}
            true => self.roots.insert(&product, self.absolute(x)),
            false => self.learn_root(&product, [&x, &y]),
        }
        product
    }
    /// Returns the product of a number and a root: the number of which it is the root, or, of the
    /// inverse of that, the inverse of the root.
    fn of_roots(&self, x: &Element, root: &Element) -> Option<Element> {
        let square = self.squares.get(root)?;
        if x.is(root) {
            return Some(square);
        }
        let product = plane::multiply(x.plane(), square.plane());
        (product == [1, 0]).then(|| self.inverted(*root))
    }
    /// Returns whether a number is 0 for all arguments that take the same ways.
    fn is_zero_for_all(&self, x: &Element) -> bool {
        x.is_zero() && (x.is_constant() || self.rules.position == Position::General)
    }
    /// Returns the infinity or NaN that a function has at 0.
    pub(crate) fn at_zero(&self, real: f64, zero: &Element) -> Element {
        match self.rules.position {
            Position::General => Element::special(real).by_zero(),
            Position::Special | Position::Ordinary => self.outside(real, zero),
        }
    }
    /// Returns the infinity or NaN of a function of a number outside of its domain: of a constant,
    /// each form of the function has it.
    pub(crate) fn outside(&self, real: f64, of: &Element) -> Element {
        let special = Element::special(real);
        match of.is_constant() && self.rules.position != Position::Special {
            true => special.stated(),
            false => special.outside(),
        }
    }
    pub(crate) fn quotient(&self, x: Element, y: Element) -> Element {
        if y.is_zero() || !x.is_finite() || !y.is_finite() {
            let (divisor, y) = (y, if y.is_zero() { 0.0 } else { y.real });
            let real = if x.is_zero() { 0.0 } else { x.real } / y;
            return match real.is_finite() {
                // What vanishes beside an overflow is no zero.
                true if !divisor.is_sure() => Element::NAN,
                true => Element::ZERO,
                false if x.is_finite() && y == 0.0 => self.at_zero(real, &divisor),
                false => Element::of_special([&x, &divisor], real),
            };
        }
        self.product(x, self.inverse(y))
    }
    fn inverse(&self, y: Element) -> Element {
        let inverse = self.inverted(y);
        for table in [&self.squares, &self.roots] {
            if let Some(known) = table.get(&y) {
                table.insert(&inverse, self.inverted(known));
            }
        }
        inverse
    }
    /// Returns the inverse of a number, which becomes a divisor if it is no constant.
    fn inverted(&self, y: Element) -> Element {
        let (degree, divisor) = match y.is_constant() {
            true => (0.0, Divisor::NONE),
            false => lock(&self.divisors).inverse(&y, self.rules.is_common),
        };
        let inverse = Element { degree, divisor, ..y };
        inverse.with_own(tower::invert, plane::invert).with_real(1.0 / y.real)
    }
    pub(crate) fn absolute(&self, x: Element) -> Element {
        self.decide(&x);
        if x.real < 0.0 { Self::negated(x) } else { x }
    }

    /// Returns sine and cosine: rational functions of the tangent of half of the angle.
    pub(crate) fn circle(&self, x: Element) -> (Element, Element) {
        let t = self.odd("tangent of a half", x, (x.real / 2.0).tan());
        let square = self.product(t, t);
        let below = Self::sum(Element::ONE, square);
        let sine = self.quotient(Self::sum(t, t), below);
        let cosine = self.quotient(Self::difference(Element::ONE, square), below);
        (sine.with_real(x.real.sin()), cosine.with_real(x.real.cos()))
    }
    /// Returns the whole number that a function of the real number is.
    fn rounded(&self, x: Element, f: impl Fn(f64) -> f64) -> Element {
        self.decide(&x);
        let exact = rational::recognized(&x).map(|(n, d)| f(approximate(n) / approximate(d)));
        let rounded = exact.unwrap_or_else(|| f(x.real));
        match rational::whole(rounded) {
            _ if rational::whole_of(&x).is_some() => x,
            Some(whole) => Element::integer(whole).variable(&x),
            None => x,
        }
    }

    /// Returns a number that a compiler computes of a constant.
    fn folded(&self, real: f64, of: &Element, ty: ElementType) -> Element {
        let rounded = rounded_to(real, ty);
        match real.is_finite() {
            true if rounded.is_finite() => self.literal(rounded, ty),
            true => Element::special(rounded),
            false => self.outside(real, of),
        }
    }
    /// Returns a function of one element of a type. `None` if it has no meaning for floats.
    pub(crate) fn unary(&self, op: Unary, x: Element, ty: ElementType) -> Option<Element> {
        let real = unary_f64(op)?(x.real);
        if !x.is_finite() {
            return Some(match real.is_finite() {
                // What vanishes beside an overflow is no zero.
                true if real == 0.0 && x.is_lost() => Element::NAN,
                true => self.constant(real, ElementType::F64),
                false => Element::of_special([&x], real),
            });
        }
        let is_exact = matches!(op, Unary::Abs | Unary::Negate | Unary::Real | Unary::Sign);
        // As compilers do.
        let is_folded = rational::digits(ty) == 24 || self.rules.rounds(ty);
        if x.is_constant() && !is_exact && is_folded {
            return Some(self.folded(real, &x, ty));
        }
        let one = Element::ONE;
        let (up, down) = (|x| self.exponential(x), |x| self.exponential(Self::negated(x)));
        let half = rational::element((1, 2));
        let name = || Op::from(op).opcode().name();
        let result = match op {
            Unary::Abs => {
                let size = self.absolute(x);
                if self.has_roots() {
                    // Learns the root of the square.
                    self.product(size, size);
                }
                size
            }
            Unary::Negate => Self::negated(x),
            Unary::Real => x,
            Unary::Imag => Element::ZERO,
            Unary::Sign if x.is_zero() => x,
            Unary::Sign => {
                let is_negative = self.compare(&x, &Element::ZERO) == Some(Ordering::Less);
                let sign = Element::integer(if is_negative { -1 } else { 1 });
                Element { degree: x.degree.min(1.0), ..sign }
            }
            Unary::Sqrt => self.root(x),
            Unary::Rsqrt => self.quotient(one, self.root(x)),
            Unary::Cbrt => {
                // 3 has an inverse modulo the order of the group: each number has one cube root.
                let root = |i: usize| {
                    let order = u64::from(PRIMES[i]) - 1;
                    let third = if order % 3 == 1 { (2 * order + 1) / 3 } else { (order + 1) / 3 };
                    tower::power_at(x.residues[i], u32::try_from(third).unwrap_or(1), i)
                };
                match x.is_deep || x.residues[1] == 0 {
                    true => Element { residues: std::array::from_fn(root), ..x.variable(&x) },
                    false => self.odd(name(), x, real),
                }
            }
            Unary::Exponential => up(x),
            Unary::ExponentialMinusOne => Self::difference(up(x), one),
            Unary::Log => self.logarithm(x),
            Unary::LogPlusOne => self.logarithm(Self::sum(one, x)),
            // By the exponential that does not overflow.
            Unary::Logistic if x.real < 0.0 => self.quotient(up(x), Self::sum(one, up(x))),
            Unary::Logistic => self.quotient(one, Self::sum(one, down(x))),
            Unary::Tanh if x.real > 0.0 => {
                let twice = down(Self::sum(x, x));
                self.quotient(Self::difference(one, twice), Self::sum(one, twice))
            }
            Unary::Tanh => {
                let twice = up(Self::sum(x, x));
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
            Unary::Asin | Unary::Asinh | Unary::Atanh | Unary::Erf => self.odd(name(), x, real),
            Unary::Acos | Unary::Acosh => self.oracle(name(), &[x], real),
            Unary::Floor => self.rounded(x, f64::floor),
            Unary::Ceil => self.rounded(x, f64::ceil),
            Unary::RoundNearestAfz => self.rounded(x, f64::round),
            Unary::RoundNearestEven => self.rounded(x, f64::round_ties_even),
            Unary::CountLeadingZeros | Unary::Not | Unary::Popcnt | Unary::IsFinite => return None,
        };
        Some(if result.is_finite() { result.with_real(real) } else { result })
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
            Binary::Atan2 => self.angle(x, y),
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
    /// Returns the angle of a point, by its ordinate and its abscissa.
    pub(crate) fn angle(&self, y: Element, x: Element) -> Element {
        let real = y.real.atan2(x.real);
        match y.real < 0.0 {
            _ if real == 0.0 => Element::ZERO,
            true => Self::negated(self.oracle("atan2", &[Self::negated(y), x], -real)),
            false => self.oracle("atan2", &[y, x], real),
        }
    }
    fn remainder(&self, x: Element, y: Element) -> Element {
        let Some(real) = binary_f64(Binary::Remainder).map(|of| of(x.real, y.real)) else {
            return Element::NAN;
        };
        if x.is_finite() && y.is_zero() {
            return self.at_zero(f64::NAN, &y);
        }
        if !real.is_finite() || y.is_zero() {
            return Element::NAN;
        }
        self.decide(&x);
        self.decide(&y);
        let (wholes, times) =
            ([&x, &y].map(rational::whole_of), rational::whole((x.real / y.real).trunc()));
        match (wholes, times) {
            ([Some(a), Some(b)], _) if b != 0 => Element::integer(a % b),
            (_, Some(times)) if y.is_finite() => {
                let times = Element::integer(times);
                Self::difference(x, self.product(times, y)).with_real(real)
            }
            _ => self.oracle("remainder", &[x, y], real),
        }
    }

    /// Returns the number of which an integer is the nearest toward zero.
    pub(crate) fn truncated(&self, x: &Element) -> f64 {
        self.decide(x);
        match rational::whole_of(x) {
            Some(whole) => approximate(whole),
            None => x.real,
        }
    }
    /// Returns the bits of a float with the real number of this element.
    pub(crate) fn bits(&self, x: &Element, ty: ElementType) -> u128 {
        self.decide(x);
        if x.is_lost() {
            self.is_unsure.store(true, Access::Relaxed);
        }
        let real = if x.is_lost() && self.is_shaken() { 0.0 } else { self.digits(x, ty) };
        let bits = hlo::Scalar::Float(real).convert(ElementType::F64, ty).to_bits(ty);
        if let Ok(bits) = u64::try_from(bits) {
            // If two numbers have the same bits, it is not known which one these are: the second one,
            // or the first one in a shaken field.
            let known = &mut *lock(&self.bits);
            let first = *known.entry((ty.bits(), bits)).or_insert(*x);
            if !first.is(x) {
                self.is_unsure.store(true, Access::Relaxed);
                if !self.is_shaken() {
                    known.insert((ty.bits(), bits), *x);
                }
            }
        }
        bits
    }
    /// Returns the real number of an element: that of a literal with all of its digits.
    fn digits(&self, x: &Element, ty: ElementType) -> f64 {
        let literals = lock(&self.literals);
        let known = (rational::digits(ty) == 53).then(|| literals[1].digits(x.real, x.residues));
        known.flatten().unwrap_or(x.real)
    }
    /// Returns the element that has these bits.
    pub(crate) fn of_bits(&self, bits: u128, ty: ElementType) -> Element {
        let key = u64::try_from(bits).ok().map(|bits| (ty.bits(), bits));
        let known = key.and_then(|key| lock(&self.bits).get(&key).copied());
        let real = hlo::Scalar::from_bits(ty, bits).as_f64();
        let is_near = |x: &Element| (x.real - real).abs() <= real.abs() / 64.0;
        known.filter(is_near).unwrap_or_else(|| self.literal(real, ty))
    }
}

/// Returns a number as a type has it.
pub(crate) fn rounded_to(x: f64, ty: ElementType) -> f64 {
    hlo::Scalar::Float(x).convert(ElementType::F64, ty).as_f64()
}
