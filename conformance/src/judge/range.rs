//! The legal values of an array: the two ends of an interval for each element.
use super::interval::Interval;
use super::modes::Modes;
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar};
use std::sync::Arc;

/// The legal values of each element.
///
/// The ends of floats are `f64`, those of complex numbers `c128`; see [`Interval`]. Integers and booleans are from `lo` to
/// `hi`, both legal: anything is legal from the least to the greatest number of the type.
#[derive(Debug, Clone)]
pub(super) struct Range {
    pub(super) lo: Literal,
    pub(super) hi: Literal,
    /// Why elements of it are unknown, or may be very different values.
    pub(super) cause: Option<Cause>,
}

/// The instruction that rounding errors amplify.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) path: Arc<str>,
    /// Whether it decides, as a comparison does; else the bound is infinite after it, as after a division by what may be 0.
    pub(super) decides: bool,
}

/// The type that holds the ends of the intervals of a type.
pub(super) fn wide(ty: ElementType) -> ElementType {
    match ty.class() {
        Class::Float => ElementType::F64,
        Class::Complex => ElementType::C128,
        Class::Pred | Class::Signed | Class::Unsigned => ty,
    }
}

/// Whether a type is of integers or booleans.
pub(super) fn is_whole(ty: ElementType) -> bool {
    !ty.is_float() && !ty.is_complex()
}

/// The real numbers of an array of `f64` or `c128`.
pub(super) fn floats(array: &Literal) -> &[f64] {
    let parts = || array.as_slice::<[f64; 2]>().map(<[[f64; 2]]>::as_flattened);
    array.as_slice::<f64>().or_else(parts).unwrap_or_default()
}
pub(super) fn floats_mut(array: &mut Literal) -> &mut [f64] {
    match array.array_shape().map(|shape| shape.ty) {
        Some(ElementType::C128) => {
            let parts = array.as_mut_slice::<[f64; 2]>();
            parts.map(<[[f64; 2]]>::as_flattened_mut).unwrap_or_default()
        }
        Some(_) | None => array.as_mut_slice::<f64>().unwrap_or_default(),
    }
}

/// An array of `f64` or `c128` of these numbers.
pub(super) fn array(shape: &ArrayShape, numbers: impl IntoIterator<Item = f64>) -> Literal {
    let mut literal = Literal::zeros(shape.clone());
    for (slot, x) in floats_mut(&mut literal).iter_mut().zip(numbers) {
        *slot = x;
    }
    literal
}

/// The array in another type, each element converted.
pub(super) fn converted(literal: &Literal, to: ElementType) -> Literal {
    let Some(shape) = literal.array_shape().filter(|shape| shape.ty != to) else {
        return literal.clone();
    };
    let (from, shape) = (shape.ty, shape.with_type(to));
    if let (Some(x), ElementType::F64) = (literal.as_slice::<f32>(), to) {
        return array(&shape, x.iter().map(|&x| f64::from(x)));
    }
    let mut result = Literal::zeros(shape);
    let width = to.storage_bytes();
    for (i, slot) in result.bytes_mut().chunks_exact_mut(width).enumerate() {
        literal.get(i).convert(from, to).write(to, slot);
    }
    result
}

impl Range {
    /// The values of an argument or a constant.
    pub(super) fn exact(literal: &Literal, modes: Modes) -> Self {
        let Some(ty) = literal.array_shape().map(|shape| shape.ty) else {
            return Self::point(literal.clone());
        };
        let range = Self::point(converted(literal, wide(ty)));
        if !ty.is_float() && !ty.is_complex() {
            return range;
        }
        let part = ty.component();
        let flushed: Vec<Interval> = range.intervals().map(|x| modes.flushed(part, x)).collect();
        if flushed.iter().all(|x| x.is_point()) { range } else { range.with(&flushed) }
    }
    pub(super) fn point(literal: Literal) -> Self {
        Self { hi: literal.clone(), lo: literal, cause: None }
    }
    /// The values of an array of floats or complex numbers, part by part.
    pub(super) fn of(shape: &ArrayShape, parts: &[Interval]) -> Self {
        let shape = shape.with_type(wide(shape.ty));
        let ends = |end: fn(&Interval) -> f64| array(&shape, parts.iter().map(end));
        Self { lo: ends(|x| x.lo), hi: ends(|x| x.hi), cause: None }
    }
    fn with(&self, parts: &[Interval]) -> Self {
        match self.lo.array_shape() {
            Some(shape) => Self { cause: self.cause.clone(), ..Self::of(shape, parts) },
            None => self.clone(),
        }
    }
    /// Any values at all.
    pub(super) fn any(shape: &ArrayShape) -> Self {
        let ty = shape.ty;
        let Some((least, greatest)) = extremes(ty) else {
            let parts = shape.element_count().unwrap_or(0) * if ty.is_complex() { 2 } else { 1 };
            return Self::of(shape, &vec![Interval::ANY; parts]);
        };
        let fill = |x: Scalar| {
            let mut literal = Literal::zeros(shape.clone());
            literal
                .bytes_mut()
                .chunks_exact_mut(ty.storage_bytes())
                .for_each(|slot| x.write(ty, slot));
            literal
        };
        Self { lo: fill(least), hi: fill(greatest), cause: None }
    }
    pub(super) fn because(mut self, cause: Option<Cause>) -> Self {
        self.cause = self.cause.or(cause);
        self
    }

    /// The values of either range, element by element.
    pub(super) fn hull(&self, other: &Self) -> Self {
        let cause = self.cause.clone().or_else(|| other.cause.clone());
        let Some(shape) = self.shape() else { return self.clone() };
        if is_whole(shape.ty) {
            let each = |i: usize| super::integers::hull(self.ends(i), other.ends(i));
            return super::integers::range(shape, (0..self.lo.len()).map(each)).because(cause);
        }
        let parts = self.intervals().zip(other.intervals()).map(|(a, b)| a.hull(b));
        Self::of(shape, &parts.collect::<Vec<_>>()).because(cause)
    }

    /// The values of this range where `mine` says so, elsewhere those of the other.
    pub(super) fn where_else(&self, other: &Self, mine: impl Fn(usize) -> bool) -> Self {
        let end = |own: &Literal, other: &Literal| {
            let mut result = own.clone();
            let width = own.bytes().len() / own.len().max(1);
            let pairs = result.bytes_mut().chunks_exact_mut(width.max(1));
            for (i, (slot, other)) in
                pairs.zip(other.bytes().chunks_exact(width.max(1))).enumerate()
            {
                if !mine(i) {
                    slot.copy_from_slice(other);
                }
            }
            result
        };
        let cause = self.cause.clone().or_else(|| other.cause.clone());
        Self { lo: end(&self.lo, &other.lo), hi: end(&self.hi, &other.hi), cause }
    }

    /// Whether each element has one legal value.
    pub(super) fn is_point(&self) -> bool {
        self.lo.bytes() == self.hi.bytes()
    }
    /// The intervals of the real numbers of an array of floats or complex numbers.
    pub(super) fn intervals(&self) -> impl Iterator<Item = Interval> + Clone + '_ {
        floats(&self.lo).iter().zip(floats(&self.hi)).map(|(&lo, &hi)| Interval { lo, hi })
    }
    /// The ends of element `i` of an array of integers or booleans.
    pub(super) fn ends(&self, i: usize) -> (Scalar, Scalar) {
        (self.lo.get(i), self.hi.get(i))
    }
    /// The array in its own type, if each element has one legal value.
    pub(super) fn value(&self, ty: ElementType) -> Option<Literal> {
        self.is_point().then(|| converted(&self.lo, ty))
    }
    pub(super) fn shape(&self) -> Option<&ArrayShape> {
        self.lo.array_shape()
    }
    /// The middle of each interval; of an unbounded one, a number of it.
    pub(super) fn mids(&self) -> Literal {
        match self.shape() {
            Some(shape) if !self.is_point() => array(shape, self.intervals().map(Interval::mid)),
            Some(_) | None => self.lo.clone(),
        }
    }
}

/// The least and the greatest number of an integral type, false and true; `None` for floats.
pub(super) fn extremes(ty: ElementType) -> Option<(Scalar, Scalar)> {
    match ty.class() {
        Class::Pred => Some((Scalar::Pred(false), Scalar::Pred(true))),
        Class::Signed => {
            let most = i64::MAX >> (64 - ty.bits());
            Some((Scalar::Signed(-most - 1), Scalar::Signed(most)))
        }
        Class::Unsigned => {
            Some((Scalar::Unsigned(0), Scalar::Unsigned(u64::MAX >> (64 - ty.bits()))))
        }
        Class::Float | Class::Complex => None,
    }
}
