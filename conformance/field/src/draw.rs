//! The arguments of a run: drawn around what modules compare with, or given.
use crate::arithmetic::{Field, rounded_to};
use crate::element::{Divisor, Element, read, write};
use crate::fit::literals;
use crate::kernels::Number as _;
use crate::pair::Pair;
use crate::rational::{digits, exactly};
use crate::tower::{self, PRIMES};
use crate::walk::{each_array, each_element};
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::op::Unary;
use hlo::{Array, ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape};
use num::index::{count, to_i64, to_usize};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the elements that are exactly the floats of a value.
pub(crate) fn held_exactly(value: &Literal) -> Literal {
    let variable = |x: f64| match x.is_finite() {
        true => exactly(x).varying(),
        false => Element::special(x),
    };
    match value {
        Literal::Array(array) => {
            let (shape, all) = (array.shape(), (0..array.len()).map(|i| array.get(i)));
            match shape.ty.class() {
                Class::Float => Literal::from(write(shape, all.map(|x| variable(x.as_f64())))),
                Class::Complex => {
                    let pair = |x: Scalar| match x {
                        Scalar::Complex(re, im) => Pair(variable(re), variable(im)),
                        Scalar::Pred(_)
                        | Scalar::Signed(_)
                        | Scalar::Unsigned(_)
                        | Scalar::Float(_) => Pair(variable(x.as_f64()), Element::ZERO),
                    };
                    Literal::from(Pair::write(shape, all.map(pair)))
                }
                Class::Pred | Class::Signed | Class::Unsigned => value.clone(),
            }
        }
        Literal::Tuple(_) => {
            let parts = value.elements().unwrap_or_default().iter();
            Literal::tuple(parts.map(held_exactly).collect())
        }
        Literal::Token => Literal::Token,
    }
}

/// Returns the elements of a value with real numbers that are changed by a part.
pub(crate) fn shifted(shape: &Shape, value: &Literal, shift: f64) -> Literal {
    let moved = |x: Element| {
        // Equal elements stay equal.
        let part = f64::from(x.residues[0]) / f64::from(PRIMES[0]) - 0.5;
        Element { real: x.real * (1.0 + shift * part), ..x }
    };
    each_array(shape, value, &|shape, held| each_element(shape, held, moved))
}

/// Returns the real numbers of the elements of a value.
pub(crate) fn real(shape: &Shape, value: &Literal) -> Literal {
    each_array(shape, value, &|shape, held| {
        let scalars: Vec<Scalar> = match shape.ty.is_complex() {
            true => {
                let pairs = Pair::read(held);
                pairs.iter().map(|x| Scalar::Complex(x.0.real, x.1.real)).collect()
            }
            false => read(held).iter().map(|x| Scalar::Float(x.real)).collect(),
        };
        let mut array = Array::zeros(shape.clone());
        scalars.into_iter().enumerate().for_each(|(i, x)| array.set(i, x));
        array
    })
}

/// What arguments are drawn around: the constants of both modules, and the sizes of their arrays.
pub(crate) struct Pool {
    pub(crate) floats: Vec<f64>,
    pub(crate) integers: Vec<i64>,
    /// The last of the integers from 0 on that are drawn one after the other.
    steps: i64,
    has_cuts: bool,
    /// Whether a module factors positive definite matrices.
    has_factors: bool,
}

/// The largest number that is drawn if no constant is larger.
const LARGEST: f64 = 1e15;

/// Where functions that round to integers, and conversions to them, change.
const CUTS: [f64; 6] = [-0.5, 0.5, 1.5, 2.5, 2_147_483_648.0, -2_147_483_648.0];

/// Returns whether an instruction makes whole numbers of floats.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other op rounds to integers")]
fn is_cut(computation: &Computation, instruction: &Instruction) -> bool {
    let whole = [Unary::Floor, Unary::Ceil, Unary::RoundNearestAfz, Unary::RoundNearestEven];
    let is_number =
        |shape: &Shape| shape.element_type().is_some_and(|ty| ty.is_float() || ty.is_complex());
    match &instruction.op {
        Op::Unary(op) => whole.contains(op),
        Op::Convert(_) => {
            let mut operands = instruction.operands.iter();
            !is_number(&instruction.shape)
                && operands.all(|&id| is_number(&computation.instructions[id].shape))
        }
        _ => false,
    }
}

/// Returns the integers where an instruction changes what it does: the last starts of slices, and
/// the branches of a conditional.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other op has a limit that is no size")]
fn limits(computation: &Computation, instruction: &Instruction) -> Vec<i64> {
    let dims = |of: InstructionId| -> &[i64] {
        computation.instructions[of].shape.array().map_or(&[], |array| &array.dims)
    };
    let last = |sizes: &[i64]| -> Vec<i64> {
        dims(instruction.operands[0]).iter().zip(sizes).map(|(dim, size)| dim - size).collect()
    };
    match &instruction.op {
        Op::DynamicSlice(op) => last(&op.dynamic_slice_sizes),
        Op::DynamicUpdateSlice(_) => last(dims(instruction.operands[1])),
        Op::Gather(op) => last(&op.slice_sizes),
        Op::Conditional(op) => (0..to_i64(op.branches.len().min(64))).collect(),
        _ => Vec::new(),
    }
}

impl Pool {
    /// Larger constants are tables, not limits.
    const MOST: usize = 16;
    /// The most integers that are drawn one after the other.
    const STEPS: i64 = 32;

    pub(crate) fn new(modules: [&Module; 2]) -> Self {
        let (mut floats, mut integers) = (vec![0.0, 1.0], BTreeSet::from([0, 1]));
        let (mut has_cuts, mut has_factors) = (false, false);
        let all = modules.into_iter().flat_map(|module| module.computations.iter());
        let all = all.flat_map(|(_, of)| of.instructions.iter().map(move |(_, one)| (of, one)));
        for (computation, instruction) in all {
            let leaves = instruction.shape.leaves();
            integers
                .extend(leaves.iter().filter_map(|leaf| leaf.array()).flat_map(|a| a.dims.iter()));
            if is_cut(computation, instruction) {
                has_cuts = true;
                floats.extend(CUTS);
            }
            integers.extend(limits(computation, instruction));
            has_factors |= matches!(instruction.op, Op::Cholesky(_));
        }
        for x in modules.into_iter().flat_map(|module| literals(module, Self::MOST)) {
            match x {
                Scalar::Float(x) | Scalar::Complex(x, _) if x.is_finite() => floats.push(x),
                Scalar::Float(_) | Scalar::Complex(..) | Scalar::Pred(_) => {}
                x @ (Scalar::Signed(_) | Scalar::Unsigned(_)) => {
                    integers.insert(x.as_wrapping());
                }
            }
        }
        floats.sort_by(f64::total_cmp);
        floats.dedup();
        let integers: Vec<i64> = integers.into_iter().collect();
        let steps = integers.iter().copied().filter(|&x| x <= Self::STEPS).max().unwrap_or(1);
        Self { floats, integers, steps, has_cuts, has_factors }
    }
    /// Returns the largest size of a constant.
    fn largest(&self) -> f64 {
        let ends = [self.floats.first(), self.floats.last()].into_iter().flatten();
        ends.fold(0.0, |largest: f64, x| largest.max(x.abs()))
    }
    /// Returns a number after so many constants and before the next one, by a part of the distance;
    /// or one beyond all.
    pub(crate) fn between(&self, before: usize, part: f64) -> f64 {
        let beyond = |x: f64| x.abs().max(1.0) * part * 4.0;
        let low = before.checked_sub(1).and_then(|i| self.floats.get(i).copied());
        match (low, self.floats.get(before).copied()) {
            (Some(low), Some(high)) => low + (high - low) * part,
            (Some(low), None) => low + beyond(low),
            (None, Some(high)) => high - beyond(high),
            (None, None) => part,
        }
    }
    /// Returns whether a module makes whole numbers of floats.
    pub(crate) fn has_cuts(&self) -> bool {
        self.has_cuts
    }
}

/// What floats are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Any, around and between constants.
    Any,
    /// Small ones: larger ones overflow in a deep network.
    Small,
    /// Positive ones: roots and logarithms of others are no numbers.
    Positive,
    /// Some are zero, equal to others, constants, or large.
    Special,
    /// Many are such that a sum or a product is a constant, or close to one.
    Tied,
}

impl Kind {
    fn of(seed: u64) -> Self {
        match seed % 8 {
            1 | 5 => Self::Special,
            3 | 7 => Self::Tied,
            2 | 6 => Self::Small,
            4 => Self::Positive,
            _ => Self::Any,
        }
    }
    fn has_ties(self) -> bool {
        matches!(self, Self::Special | Self::Tied)
    }
}

/// What all elements of an array have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Property {
    Negative,
    Tiny,
    /// Of any size, each its own.
    AnySize,
    /// In order, up or down, or equal.
    Ordered,
}

/// Returns whether arguments of a seed are special, some of the time.
pub(crate) fn has_ties(seed: u64) -> bool {
    Kind::of(seed).has_ties()
}

/// Returns whether the floats of a seed are in general position: none is drawn to be equal to
/// another one, or to a constant.
pub(crate) fn is_generic(seed: u64) -> bool {
    match Kind::of(seed) {
        Kind::Any => true,
        Kind::Small => seed % 40 / 4 % 3 != 1,
        Kind::Positive | Kind::Special | Kind::Tied => false,
    }
}

/// The arguments of one run.
pub(crate) struct Draw<'a> {
    seed: u64,
    random: fastrand::Rng,
    field: &'a Field,
    pool: &'a Pool,
    kind: Kind,
    /// The kind of integers: small, any, or around those of the modules.
    integer_kind: u8,
    /// Floats that were drawn, of all arguments.
    drawn: Vec<Element>,
    /// Integers that were drawn, and the place of the next scalar among those that are drawn one
    /// after the other.
    drawn_integers: Vec<i64>,
    scalars: usize,
    /// The number of arrays of floats that were drawn.
    arrays: u64,
    /// The number of elements of the array that is drawn.
    size: usize,
    /// Those of few digits, by their bits.
    narrow: BTreeMap<u64, Element>,
}

impl<'a> Draw<'a> {
    /// Larger numbers are too inaccurate for a sum that is zero.
    const TIED: f64 = 1024.0;

    pub(crate) fn new(seed: u64, field: &'a Field, pool: &'a Pool) -> Self {
        let (kind, integer_kind) = (Kind::of(seed), u8::try_from(seed % 5).unwrap_or(0));
        let random = fastrand::Rng::with_seed(seed);
        let (drawn, narrow) = (Vec::new(), BTreeMap::new());
        Self {
            seed,
            random,
            field,
            pool,
            kind,
            integer_kind,
            drawn,
            drawn_integers: Vec::new(),
            scalars: 0,
            arrays: 0,
            size: 0,
            narrow,
        }
    }
    pub(crate) fn arguments(&mut self, module: &Module) -> Vec<Literal> {
        let parameters = module.entry().program_shape().parameters;
        parameters.iter().map(|shape| self.value(shape)).collect()
    }
    fn value(&mut self, shape: &Shape) -> Literal {
        match shape {
            Shape::Array(array) => self.array(array),
            Shape::Buffer(array) => self.array(array),
            Shape::Tuple(parts) => Literal::tuple(parts.iter().map(|p| self.value(p)).collect()),
            Shape::Token | Shape::Opaque => Literal::token(),
        }
    }
    fn array(&mut self, shape: &ArrayShape) -> Literal {
        let count = count(&shape.dims);
        self.size = count;
        match shape.ty.class() {
            Class::Float => {
                let mut all: Vec<Element> = (0..count).map(|_| self.float(shape.ty)).collect();
                self.repeat(&mut all, &shape.dims);
                self.give_property(&mut all, shape.ty);
                let (parts, _) = all.as_chunks_mut::<1>();
                self.make_definite(parts, &shape.dims, shape.ty);
                Literal::from(write(shape, all))
            }
            Class::Complex => {
                let ty = shape.ty.component();
                let mut all: Vec<[Element; 2]> =
                    (0..count).map(|_| [self.float(ty), self.float(ty)]).collect();
                self.make_definite(&mut all, &shape.dims, ty);
                Literal::from(Pair::write(shape, all.into_iter().map(|[re, im]| Pair(re, im))))
            }
            Class::Pred | Class::Signed | Class::Unsigned => {
                let mut result = Array::zeros(shape.clone());
                let row = shape.dims.last().map_or(1, |&size| to_usize(size).max(1));
                let all: Vec<Scalar> = if shape.ty == ElementType::Pred {
                    let rows = (0..count.div_ceil(row)).map(|_| self.predicates(row));
                    rows.flatten().map(Scalar::Pred).collect()
                } else {
                    let all = self.integers(count, shape.ty).into_iter();
                    all.map(|x| Scalar::Signed(x).convert(ElementType::S64, shape.ty)).collect()
                };
                all.into_iter().take(count).enumerate().for_each(|(i, x)| result.set(i, x));
                Literal::from(result)
            }
        }
    }
    /// Gives an array a property that arrays of a program may have, in half of the even draws.
    fn give_property(&mut self, all: &mut [Element], ty: ElementType) {
        let number = self.arrays;
        self.arrays += 1;
        if self.kind.has_ties() || digits(ty) <= 11 || number > 1 && self.random.u8(0..4) > 0 {
            return;
        }
        let by = |power: i32, x: &mut Element| {
            *x = self.field.product(exactly(f64::powi(2.0, power)), *x);
        };
        let (turn, is_ordered) = (self.seed % 40, self.random.bool());
        let property = match self.kind {
            Kind::Any => [None, Some(Property::AnySize), None, Some(Property::Negative), None]
                [usize::try_from(turn / 8).unwrap_or(0)],
            Kind::Small if turn / 4 % 3 == 0 => Some(Property::Negative),
            Kind::Small if turn / 4 % 3 == 1 && is_ordered => Some(Property::Ordered),
            Kind::Small if turn / 4 % 3 == 1 => Some(Property::Tiny),
            Kind::Positive if turn / 8 % 2 == 1 && is_ordered => Some(Property::Ordered),
            Kind::Positive if turn / 8 % 2 == 1 => Some(Property::Tiny),
            Kind::Small | Kind::Positive | Kind::Special | Kind::Tied => None,
        };
        match property {
            Some(Property::Negative) => {
                for x in all {
                    *x = Field::negated(self.field.absolute(*x));
                }
            }
            Some(Property::Tiny) => {
                let power = -self.random.i32(1..16);
                for x in all {
                    by(power, x);
                }
            }
            Some(Property::AnySize) => {
                for x in all {
                    by(self.random.i32(0..20), x);
                }
            }
            Some(Property::Ordered) => match self.random.u8(0..3) {
                0 => all.sort_by(|x, y| x.real.total_cmp(&y.real)),
                1 => all.sort_by(|x, y| y.real.total_cmp(&x.real)),
                _ => {
                    let first = all.first().copied().unwrap_or(Element::ZERO);
                    all.fill(first);
                }
            },
            None => {}
        }
    }
    /// Draws a row of predicates: of one kind, but for one, up to one, or any.
    fn predicates(&mut self, count: usize) -> Vec<bool> {
        let (kind, place, other) =
            (self.random.u8(0..8), self.random.usize(0..count.max(1)), self.random.bool());
        let at = |i: usize| match kind {
            0 => other,
            1 => (i == place) == other,
            2 => (i < place) == other,
            _ => self.random.bool(),
        };
        (0..count).map(at).collect()
    }
    /// Draws the integers of an array: any, or all of them valid indices, in order, a permutation, or
    /// equal.
    fn integers(&mut self, count: usize, ty: ElementType) -> Vec<i64> {
        let size = self.pool.integers[self.random.usize(0..self.pool.integers.len())];
        let size = size.clamp(1, i64::from(i32::MAX));
        if count == 1 && self.random.bool() {
            // One after the other.
            let place = to_i64(usize::try_from(self.seed % 1024).unwrap_or(0) + self.scalars);
            self.scalars += 7;
            let whole = place % (self.pool.steps + 1);
            // A negative index is one from the end.
            return vec![if self.random.u8(0..4) == 0 { -whole } else { whole }];
        }
        let mut all: Vec<i64> = (0..count).map(|_| self.integer(ty)).collect();
        match self.random.u8(0..8) {
            0 => all.fill_with(|| self.random.i64(0..size)),
            1 => {
                all.fill_with(|| self.random.i64(0..size));
                all.sort_unstable();
            }
            2 => {
                all = (0..to_i64(count)).collect();
                if self.random.bool() {
                    self.random.shuffle(&mut all);
                }
            }
            3 => {
                let first = all.first().copied().unwrap_or(0);
                all.fill(first);
            }
            _ => {}
        }
        all
    }
    /// Makes some rows of a tied array equal, or zero: distances and products of such rows are tied.
    fn repeat(&mut self, all: &mut [Element], dims: &[i64]) {
        let rows = match dims {
            [rows, _, ..] if !all.is_empty() => to_usize(*rows),
            _ => return,
        };
        if self.kind != Kind::Tied || self.random.bool() {
            return;
        }
        let size = all.len() / rows;
        for row in 1..rows {
            match self.random.u8(0..4) {
                0 => all[row * size..][..size].fill(Element::ZERO.varying()),
                1 => {
                    let from = self.random.usize(0..row) * size;
                    all.copy_within(from..from + size, row * size);
                }
                _ => {}
            }
        }
    }
    /// Makes square matrices definite, if a module factors matrices, in draws without special floats:
    /// the real numbers of their parts are those of a product of a matrix and its adjoint, and of the
    /// diagonal more.
    fn make_definite<const PARTS: usize>(
        &mut self,
        all: &mut [[Element; PARTS]],
        dims: &[i64],
        ty: ElementType,
    ) {
        let [.., rows, columns] = dims else { return };
        let n = to_usize(*rows);
        if !self.pool.has_factors || rows != columns || n == 0 || self.kind.has_ties() {
            return;
        }
        for matrix in all.chunks_exact_mut(n * n) {
            let part = |of: &[Element; PARTS], i: usize| of.get(i).map_or(0.0, |x| x.real);
            let drawn: Vec<[f64; 2]> = matrix.iter().map(|x| [part(x, 0), part(x, 1)]).collect();
            let sizes = drawn.iter().map(|[re, im]| re * re + im * im);
            let largest = sizes.fold(0.0, f64::max);
            let excess = if self.random.bool() { 1.0 / 64.0 } else { 1.0 };
            for (at, x) in matrix.iter_mut().enumerate() {
                let (i, j) = (at / n, at % n);
                let above = if i == j { largest * excess + f64::MIN_POSITIVE } else { 0.0 };
                let terms = (0..n).map(|k| (drawn[i * n + k], drawn[j * n + k]));
                let product = terms.fold([above, 0.0], |[re, im], ([a, b], [c, d])| {
                    [re + (a * c + b * d), im + (b * c - a * d)]
                });
                for (x, part) in x.iter_mut().zip(product) {
                    let real = rounded_to(part, ty);
                    let is_other = (real < 0.0) != (x.real < 0.0);
                    *x = Element { real, ..if is_other { Field::negated(*x) } else { *x } };
                }
            }
        }
    }
    /// Draws a float. Its residues do not depend on the size of its real number: they stand for any.
    /// Those of a positive one are squares, so that they have a root and are powers.
    fn float(&mut self, ty: ElementType) -> Element {
        let square = tower::signed_square(|prime| self.random.u32(0..prime), false);
        let place = self.random.usize(0..self.pool.floats.len());
        let near = self.pool.floats[place];
        let unit = self.random.f64() * 2.0 - 1.0;
        let variable = |real| {
            let residues = if real < 0.0 { tower::negate(square) } else { square };
            Element { degree: 1.0, ..Element::constant(residues, real) }
        };
        // The real number of a tie is not rounded: sums with it would not be zero.
        let mut is_tie = false;
        let (kind, has_ties) = (self.kind, self.kind.has_ties());
        let is_beside = kind == Kind::Tied && self.random.bool();
        let element = match if is_beside { 8 } else { self.random.u8(0..10) } {
            0 if has_ties => Element::ZERO,
            1 if has_ties => self.other().unwrap_or(Element::ZERO),
            2 if has_ties => Element { degree: 1.0, ..self.field.constant(near, ty) },
            _ if self.size == 1 && !has_ties && self.random.bool() => {
                // In each draw between other constants.
                let turn = usize::try_from(self.seed / 2 % 1024).unwrap_or(0);
                let constants = &self.pool.floats;
                variable(self.pool.between(turn % (constants.len() + 1), unit.abs()))
            }
            _ if kind == Kind::Small => variable(unit),
            // Between a constant and the next one, and close to it.
            3 | 4 => {
                let next = self.pool.floats.get(place + 1).copied().unwrap_or(near + 1.0);
                variable(near + (next - near) * self.random.f64())
            }
            5 => variable(near + near.abs().max(1.0) * unit * self.closeness()),
            6 => variable(unit * 16.0),
            // Beyond the largest constant. Beside large numbers a small difference says nothing.
            7 if kind == Kind::Special => match self.pool.largest() {
                largest if largest > LARGEST && self.random.bool() => {
                    variable(largest * (1.0 + unit.abs()) * unit.signum())
                }
                _ => variable(unit * f64::powi(2.0, self.random.i32(4..48))),
            },
            8 if has_ties && digits(ty) > 11 && near.abs() < Self::TIED => {
                let tie = self.tie(self.field.constant(near, ty));
                let closeness = self.closeness();
                is_tie = self.random.bool();
                match is_tie {
                    true => tie,
                    false => variable(tie.real + tie.real.abs().max(1.0) * unit * closeness),
                }
            }
            _ => variable(unit * 2.0),
        };
        let element = if kind == Kind::Positive { self.field.absolute(element) } else { element };
        let rounded = rounded_to(element.real, ty);
        // Larger numbers say nothing but that they overflow, or on which side of a constant they are.
        let largest = if has_ties { self.pool.largest() * 2.0 } else { 0.0 };
        let is_useful = rounded.is_finite() && rounded.abs() <= largest.max(LARGEST);
        let element = match is_useful {
            true if is_tie => element,
            true => Element { real: rounded, ..element },
            false => variable(rounded_to(unit.abs(), ty)),
        };
        let real = element.real;
        let element = match real == 0.0 {
            true => Element::ZERO.varying(),
            // Numbers of few digits are equal sooner or later.
            false if digits(ty) <= 11 => {
                *self.narrow.entry(real.to_bits()).or_insert(Element { real, ..element })
            }
            false => Element { real, ..element },
        };
        if self.drawn.len() < 1024 {
            self.drawn.push(element);
        }
        element
    }
    /// Returns how far from a constant a number is drawn.
    fn closeness(&mut self) -> f64 {
        f64::powi(2.0, if self.kind.has_ties() { -self.random.i32(4..28) } else { -4 })
    }
    /// Returns an element that was drawn: half of the time that of the array before at the same index.
    fn other(&mut self) -> Option<Element> {
        let before = self.drawn.len().saturating_sub(self.size);
        let any = self.random.usize(0..self.drawn.len().max(1));
        self.drawn.get(if self.random.bool() { before } else { any }).copied()
    }
    /// Returns a number of which the sum, the difference or the product with one that was drawn is a
    /// constant, or the square.
    fn tie(&mut self, constant: Element) -> Element {
        let other = self.other().filter(|other| other.real.abs() < Self::TIED);
        let other = other.unwrap_or(Element::ONE);
        let tie = match self.random.u8(0..4) {
            0 => Field::difference(constant, other),
            1 => Field::sum(constant, other),
            2 if other.real.abs() > 1.0 / Self::TIED => self.field.quotient(constant, other),
            _ => self.field.root(self.field.absolute(constant)),
        };
        Element { degree: 1.0, divisor: Divisor::NONE, ..tie }
    }
    fn integer(&mut self, ty: ElementType) -> i64 {
        let any = |random: &mut fastrand::Rng, of: &[i64]| of[random.usize(0..of.len())];
        let near = any(&mut self.random, &self.pool.integers);
        let x = match self.integer_kind {
            0 => self.random.i64(-1..=3),
            // Any, at the ends of the type, or a power of two.
            1 => match self.random.u8(0..4) {
                0 => {
                    let least = match ty.class() {
                        Class::Signed => i64::MIN >> (64 - ty.bits().clamp(1, 64)),
                        Class::Pred | Class::Unsigned | Class::Float | Class::Complex => 0,
                    };
                    least.wrapping_add(self.random.i64(-2..=1))
                }
                1 => (1_i64 << self.random.u32(0..64)).wrapping_add(self.random.i64(-1..=1)),
                _ => self.random.i64(..),
            },
            // A number with which one that was drawn, or a constant, makes another constant; or one
            // that differs from it in a bit.
            _ if self.random.u8(0..4) == 0 => {
                let other = match self.drawn_integers.is_empty() || self.random.bool() {
                    true => any(&mut self.random, &self.pool.integers),
                    false => any(&mut self.random, &self.drawn_integers),
                };
                match self.random.u8(0..4) {
                    0 => near.wrapping_sub(other),
                    1 => near.wrapping_add(other),
                    2 => near.checked_div(other).unwrap_or(near),
                    _ => other ^ (1 << self.random.u32(0..64)),
                }
            }
            _ if self.random.bool() => near,
            _ => near.saturating_add(self.random.i64(-1..=1)),
        };
        if self.drawn_integers.len() < 1024 {
            self.drawn_integers.push(x);
        }
        x
    }
}
