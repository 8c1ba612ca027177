//! The arguments of a run: drawn around what modules compare with, or given.
use crate::arithmetic::{Field, rounded_to};
use crate::element::{Element, read, write};
use crate::kernels::Number as _;
use crate::pair::Pair;
use crate::rational::{digits, exactly};
use crate::tower::PRIMES;
use hlo::ir::{Computation, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::Unary;
use hlo::{Array, ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape};
use num::index::count;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the elements that are exactly the floats of a value.
pub(crate) fn held_exactly(value: &Literal) -> Literal {
    let variable = |x: f64| match x.is_finite() {
        true if x != 0.0 => Element { degree: 1.0, ..exactly(x) },
        true => Element::ZERO,
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

/// Returns the real numbers of the elements of a value.
pub(crate) fn real(shape: &Shape, value: &Literal) -> Literal {
    match (shape, value) {
        (Shape::Array(shape), Literal::Array(held)) => {
            let scalars: Vec<Scalar> = match shape.ty.class() {
                Class::Float => read(held).iter().map(|x| Scalar::Float(x.real)).collect(),
                Class::Complex => {
                    let pairs = Pair::read(held);
                    pairs.iter().map(|x| Scalar::Complex(x.0.real, x.1.real)).collect()
                }
                Class::Pred | Class::Signed | Class::Unsigned => return value.clone(),
            };
            let mut array = Array::zeros(shape.clone());
            scalars.into_iter().enumerate().for_each(|(i, x)| array.set(i, x));
            Literal::from(array)
        }
        (Shape::Tuple(shapes), Literal::Tuple(_)) => {
            let parts = value.elements().unwrap_or_default();
            Literal::tuple(
                shapes.iter().zip(parts).map(|(shape, part)| real(shape, part)).collect(),
            )
        }
        _ => value.clone(),
    }
}

/// What arguments are drawn around: the constants of both modules, and the sizes of their arrays.
pub(crate) struct Pool {
    floats: Vec<f64>,
    integers: Vec<i64>,
    has_cuts: bool,
}

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

impl Pool {
    /// Larger constants are tables, not limits.
    const MOST: usize = 16;

    pub(crate) fn new(modules: [&Module; 2]) -> Self {
        let (mut floats, mut integers) = (vec![0.0, 1.0], BTreeSet::from([0, 1]));
        let mut has_cuts = false;
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
            let Op::Constant(op) = &instruction.op else { continue };
            let ConstantValue::Literal(Literal::Array(value)) = &*op.value else { continue };
            for i in 0..value.len().min(Self::MOST) {
                match value.get(i) {
                    Scalar::Float(x) | Scalar::Complex(x, _) if x.is_finite() => floats.push(x),
                    Scalar::Float(_) | Scalar::Complex(..) | Scalar::Pred(_) => {}
                    x @ (Scalar::Signed(_) | Scalar::Unsigned(_)) => {
                        integers.insert(x.as_wrapping());
                    }
                }
            }
        }
        floats.sort_by(f64::total_cmp);
        floats.dedup();
        Self { floats, integers: integers.into_iter().collect(), has_cuts }
    }
    /// Returns whether a module makes whole numbers of floats.
    pub(crate) fn has_cuts(&self) -> bool {
        self.has_cuts
    }
}

/// The arguments of one run.
pub(crate) struct Draw<'a> {
    random: fastrand::Rng,
    field: &'a Field,
    pool: &'a Pool,
    /// Whether floats are zero, equal to others, or constants of the modules, some of the time.
    has_ties: bool,
    /// Whether floats are small: larger ones overflow in a deep network.
    is_small: bool,
    /// Whether floats are positive: roots and logarithms of others are no numbers.
    is_positive: bool,
    /// The part by which real numbers are changed.
    shift: f64,
    /// The kind of integers: small, any, or around those of the modules.
    integers: u8,
    /// Floats that were drawn, of all arguments.
    drawn: Vec<Element>,
    /// Those of few digits, by their bits.
    narrow: BTreeMap<u64, Element>,
}

impl<'a> Draw<'a> {
    pub(crate) fn new(seed: u64, shift: f64, field: &'a Field, pool: &'a Pool) -> Self {
        let (has_ties, integers) = (seed % 2 == 1, u8::try_from(seed % 5).unwrap_or(0));
        let random = fastrand::Rng::with_seed(seed);
        let (drawn, narrow) = (Vec::new(), BTreeMap::new());
        let (is_small, is_positive) = (seed % 4 == 2, seed % 4 == 3);
        Self {
            random,
            field,
            pool,
            has_ties,
            is_small,
            is_positive,
            shift,
            integers,
            drawn,
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
        match shape.ty.class() {
            Class::Float => Literal::from(write(shape, (0..count).map(|_| self.float(shape.ty)))),
            Class::Complex => {
                let ty = shape.ty.component();
                let parts = (0..count).map(|_| Pair(self.float(ty), self.float(ty)));
                Literal::from(Pair::write(shape, parts))
            }
            Class::Pred | Class::Signed | Class::Unsigned => {
                let mut result = Array::zeros(shape.clone());
                for i in 0..result.len() {
                    result.set(i, self.whole(shape.ty));
                }
                Literal::from(result)
            }
        }
    }
    /// Draws a float. Its residues do not depend on its real number: they stand for any.
    fn float(&mut self, ty: ElementType) -> Element {
        let residues = PRIMES.map(|prime| self.random.u32(0..prime));
        let place = self.random.usize(0..self.pool.floats.len());
        let near = self.pool.floats[place];
        let unit = self.random.f64() * 2.0 - 1.0;
        let variable = |real| Element { degree: 1.0, ..Element::constant(residues, real) };
        let element = match self.random.u8(0..10) {
            0 if self.has_ties => Element::ZERO,
            1 if self.has_ties && !self.drawn.is_empty() => {
                self.drawn[self.random.usize(0..self.drawn.len())]
            }
            2 if self.has_ties => Element { degree: 1.0, ..self.field.literal(near, ty) },
            _ if self.is_small => variable(unit),
            // Between a constant and the next one, and close to it.
            3 | 4 => {
                let next = self.pool.floats.get(place + 1).copied().unwrap_or(near + 1.0);
                variable(near + (next - near) * self.random.f64())
            }
            5 => variable(near + near.abs().max(1.0) * unit / 16.0),
            6 => variable(unit * 16.0),
            7 if self.has_ties => variable(unit * f64::powi(2.0, self.random.i32(4..48))),
            _ => variable(unit * 2.0),
        };
        let element = if self.is_positive { self.field.absolute(element) } else { element };
        let rounded = rounded_to(element.real, ty);
        // Larger numbers say nothing but that they overflow.
        let is_useful = rounded.is_finite() && rounded.abs() < 1e15;
        let real = if is_useful { rounded } else { rounded_to(unit.abs(), ty) };
        let element = match real == 0.0 {
            true => Element::ZERO,
            // Numbers of few digits are equal sooner or later.
            false if digits(ty) <= 11 => {
                *self.narrow.entry(real.to_bits()).or_insert(Element { real, ..element })
            }
            false => Element { real, ..element },
        };
        if self.drawn.len() < 1024 {
            self.drawn.push(element);
        }
        // Equal elements stay equal.
        let part = f64::from(element.residues[0]) / f64::from(PRIMES[0]) - 0.5;
        Element { real: element.real * (1.0 + self.shift * part), ..element }
    }
    fn whole(&mut self, ty: ElementType) -> Scalar {
        let near = self.pool.integers[self.random.usize(0..self.pool.integers.len())];
        let x = match self.integers {
            0 => self.random.i64(-1..=3),
            1 => self.random.i64(..),
            _ if self.random.bool() => near,
            _ => near.saturating_add(self.random.i64(-1..=1)),
        };
        match ty.class() {
            Class::Pred => Scalar::Pred(self.random.bool()),
            Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
                Scalar::Signed(x).convert(ElementType::S64, ty)
            }
        }
    }
}
