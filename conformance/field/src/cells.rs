//! Arguments of which each is in one cell as a whole: all its elements are a constant of the
//! modules, or all are between two of them. A program may ask for this of an array, or of several
//! scalars at once, and draws of single elements do not meet it.
use crate::arithmetic::{Field, rounded_to};
use crate::draw::Pool;
use crate::element::{Element, write};
use crate::kernels::Number as _;
use crate::pair::Pair;
use crate::rational::digits;
use crate::tower;
use hlo::{Array, ArrayShape, Class, ElementType, Literal, Module, Scalar, Shape};
use num::index::{count, to_usize};
use std::collections::BTreeMap;

/// Which cells there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Family {
    /// The constants.
    Constants,
    /// The numbers between two constants, or beyond all; integers beside a constant, and the ends of
    /// their type.
    Others,
}

/// The cells of the arguments of a module.
pub(crate) struct Cells<'a> {
    module: &'a Module,
    pool: &'a Pool,
    family: Family,
    /// The number of cells of each array, and of each part of complex ones.
    counts: Vec<u64>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(module: &'a Module, pool: &'a Pool, family: Family) -> Self {
        let mut cells = Self { module, pool, family, counts: Vec::new() };
        let parameters = module.entry().program_shape().parameters;
        for array in parameters.iter().flat_map(|shape| shape.leaves()).filter_map(Shape::array) {
            let count = match array.ty.class() {
                Class::Float | Class::Complex => match family {
                    Family::Constants => pool.floats.len(),
                    Family::Others => pool.floats.len() + 1,
                },
                Class::Signed | Class::Unsigned => cells.integers(array.ty).len(),
                Class::Pred => 2,
            };
            let parts = if array.ty.is_complex() { 2 } else { 1 };
            cells.counts.extend(vec![u64::try_from(count).unwrap_or(u64::MAX).max(1); parts]);
        }
        cells
    }
    /// Returns how many runs meet each combination of cells, or `most` if there are more of them.
    pub(crate) fn runs(&self, most: u64) -> u64 {
        self.combinations().min(most)
    }
    fn combinations(&self) -> u64 {
        self.counts.iter().fold(1, |product: u64, count| product.saturating_mul(*count))
    }
    /// Returns the arguments of one of so many runs.
    pub(crate) fn arguments(&self, turn: u64, most: u64, field: &Field) -> Vec<Literal> {
        let (mut rest, are_all) = (turn, self.combinations() <= most);
        let mut cells = self.counts.iter().zip(0..).map(|(&count, place)| {
            if are_all {
                let cell = rest % count;
                rest /= count;
                return cell;
            }
            // Each cell of each array in turn, with others of the other arrays.
            let mut random = fastrand::Rng::with_seed((place << 32) | (turn / count));
            (turn + random.u64(0..count)) % count
        });
        let mut at = || to_usize(i64::try_from(cells.next().unwrap_or(0)).unwrap_or(0));
        let random = fastrand::Rng::with_seed(turn);
        let mut draw = Draw { cells: self, field, random, narrow: BTreeMap::new() };
        let parameters = self.module.entry().program_shape().parameters;
        parameters.iter().map(|shape| draw.value(shape, &mut at)).collect()
    }
    /// Returns the integers of a type.
    fn integers(&self, ty: ElementType) -> Vec<i64> {
        let known = &self.pool.integers;
        match self.family {
            Family::Constants => known.clone(),
            Family::Others => {
                let bits = ty.bits().clamp(1, 64);
                let ends = match ty.class() {
                    Class::Signed => [i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)],
                    Class::Unsigned | Class::Pred | Class::Float | Class::Complex => [0, -1],
                };
                let ends = ends.into_iter().chain([ends[0].wrapping_add(1)]);
                let beside = known.iter().flat_map(|x| [x.wrapping_sub(1), x.wrapping_add(1)]);
                let mut all: Vec<i64> = Vec::new();
                for x in ends.chain(beside.filter(|x| !known.contains(x))) {
                    if !all.contains(&x) {
                        all.push(x);
                    }
                }
                all
            }
        }
    }
}

/// What draws the arguments of a run.
struct Draw<'a> {
    cells: &'a Cells<'a>,
    field: &'a Field,
    random: fastrand::Rng,
    /// Numbers of few digits, by their bits: they are equal sooner or later.
    narrow: BTreeMap<u64, Element>,
}

impl Draw<'_> {
    fn value(&mut self, shape: &Shape, cell: &mut impl FnMut() -> usize) -> Literal {
        match shape {
            Shape::Array(array) => self.array(array, cell),
            Shape::Buffer(array) => self.array(array, cell),
            Shape::Tuple(parts) => {
                Literal::tuple(parts.iter().map(|part| self.value(part, cell)).collect())
            }
            Shape::Token | Shape::Opaque => Literal::token(),
        }
    }
    fn array(&mut self, shape: &ArrayShape, cell: &mut impl FnMut() -> usize) -> Literal {
        let size = count(&shape.dims);
        match shape.ty.class() {
            Class::Float => Literal::from(write(shape, self.floats(size, shape.ty, cell()))),
            Class::Complex => {
                let ty = shape.ty.component();
                let parts = [cell(), cell()].map(|cell| self.floats(size, ty, cell));
                let pairs = parts[0].iter().zip(&parts[1]).map(|(re, im)| Pair(*re, *im));
                Literal::from(Pair::write(shape, pairs))
            }
            Class::Pred => filled(shape, Scalar::Pred(cell() == 1)),
            Class::Signed | Class::Unsigned => {
                let value = self.cells.integers(shape.ty).get(cell()).copied().unwrap_or(0);
                filled(shape, Scalar::Signed(value).convert(ElementType::S64, shape.ty))
            }
        }
    }
    fn floats(&mut self, size: usize, ty: ElementType, cell: usize) -> Vec<Element> {
        let pool = self.cells.pool;
        let is_constant = self.cells.family == Family::Constants;
        // Sums of large arrays are small only if all elements are.
        let part = if self.random.bool() { 1.0 } else { 1.0 / 16.0 };
        let one = |draw: &mut Self| {
            let between = |draw: &mut Self| pool.between(cell, draw.random.f64() * part);
            // A number of few digits between two constants may be one of them.
            let is_between = |real: &f64| !pool.floats.contains(real);
            let real = match is_constant {
                true => pool.floats.get(cell).map(|x| rounded_to(*x, ty)),
                false => (0..8).map(|_| rounded_to(between(draw), ty)).find(is_between),
            };
            let real = real.unwrap_or_else(|| rounded_to(between(draw), ty));
            let random = |prime| draw.random.u32(0..prime);
            let residues = tower::signed_square(random, real < 0.0);
            let drawn = Element::constant(residues, if real.is_finite() { real } else { 1.0 });
            let is_known = is_constant || digits(ty) <= 11 && !is_between(&real);
            match is_known && real.is_finite() {
                true => draw.field.constant(real, ty).varying(),
                false if digits(ty) <= 11 => {
                    *draw.narrow.entry(drawn.real.to_bits()).or_insert(drawn.varying())
                }
                false => drawn.varying(),
            }
        };
        (0..size).map(|_| one(self)).collect()
    }
}

fn filled(shape: &ArrayShape, value: Scalar) -> Literal {
    let mut array = Array::zeros(shape.clone());
    (0..array.len()).for_each(|i| array.set(i, value));
    Literal::from(array)
}
