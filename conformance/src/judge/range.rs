//! The legal values of an array: the two ends of an interval for each element.
use super::interval::Interval;
use super::modes::Modes;
use super::open_order::OpenOrder;
use super::site::Site;
use super::sorted::Sorted;
use super::whole::Whole;
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar};
use std::borrow::Cow;
use std::sync::Arc;

/// A bound of more than this part of an element, or of the terms of a sum, is one that a wrong value
/// may not break.
pub(super) const LOOSE: f64 = 0.25;

/// The part of its radius by which an interval grows beyond the states of a loop.
const GROWTH: f64 = 0.1;

/// The legal values of each element.
///
/// The ends of floats are `f64`, those of complex numbers `c128`; see [`Interval`]. Integers and
/// booleans are from `lo` to `hi`, both legal: anything is legal from the least to the greatest
/// number of the type.
#[derive(Debug, Clone)]
pub(super) struct Range {
    pub(super) lo: Literal,
    pub(super) hi: Literal,
    /// Why elements of it are unknown, or may be very different values.
    pub(super) cause: Option<Cause>,
    /// Ranges of which each element is in one, where decisions are open; `lo` and `hi` enclose
    /// them. None: any value between `lo` and `hi` is legal. A rule that looks at `lo` and `hi`
    /// alone is right, but may be too wide.
    pub(super) candidates: Vec<Range>,
    /// Elements that are in one of several orders.
    pub(super) orders: Vec<OpenOrder>,
    /// Decisions of which each has one result as a whole.
    pub(super) wholes: Vec<Whole>,
    /// The order of its elements, of a sort in which some are open.
    pub(super) sorted: Option<Sorted>,
    /// The numbers of elements of factors, and 0 for others: an array of the same type.
    pub(super) origin: Option<Literal>,
}

/// The instruction that rounding errors amplify.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) path: Arc<str>,
    pub(super) kind: CauseKind,
}

/// How an instruction amplifies rounding errors, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CauseKind {
    /// It adds so many terms in so few bits that the bound has the size of the sum.
    Loose,
    /// There is no rule for it; the path has the reason. What computes with the result is
    /// `Unbounded`.
    NoRule,
    /// The bound is infinite after it, as after a division by what may be 0.
    Unbounded,
    /// It decides, as a comparison does.
    Decides,
}

/// Returns the type that holds the ends of the intervals of a type.
pub(super) fn wide(ty: ElementType) -> ElementType {
    match ty.class() {
        Class::Float => ElementType::F64,
        Class::Complex => ElementType::C128,
        Class::Pred | Class::Signed | Class::Unsigned => ty,
    }
}

/// Returns whether a type is of integers or booleans.
pub(super) fn is_whole(ty: ElementType) -> bool {
    !ty.is_float() && !ty.is_complex()
}

/// Returns the real numbers of an array of `f64` or `c128`.
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

/// Returns an array of `f64` or `c128` of these numbers.
pub(super) fn array(shape: &ArrayShape, numbers: impl IntoIterator<Item = f64>) -> Literal {
    let mut literal = Literal::zeros(shape.clone());
    for (slot, x) in floats_mut(&mut literal).iter_mut().zip(numbers) {
        *slot = x;
    }
    literal
}

/// Returns the array in another type, each element converted. A NaN keeps its bits: a signaling one
/// has another place in the total order than a quiet one.
pub(super) fn converted(literal: &Literal, to: ElementType) -> Literal {
    let Some(shape) = literal.array_shape().filter(|shape| shape.ty != to) else {
        return literal.clone();
    };
    let (from, shape) = (shape.ty, shape.with_type(to));
    let same = from.class() == to.class() && !is_whole(from);
    let mut result = Literal::zeros(shape);
    let width = to.storage_bytes();
    for (i, slot) in result.bytes_mut().chunks_exact_mut(width).enumerate() {
        let x = literal.get(i);
        let x = if same { x } else { x.convert(from, to) };
        x.write(to, slot);
    }
    result
}

/// Returns an array that is smaller than its bounds as one of its sizes.
pub(super) fn cut(literal: &Literal) -> Cow<'_, Literal> {
    match literal.array_shape().is_some_and(|shape| shape.dims.as_slice() != literal.sizes()) {
        true => Cow::Owned(literal.to_static()),
        false => Cow::Borrowed(literal),
    }
}

impl Range {
    /// Returns the values of an argument, a constant or another array whose bits are known.
    pub(super) fn exact(literal: &Literal) -> Self {
        let literal = &cut(literal);
        let ty = literal.array_shape().map(|shape| wide(shape.ty));
        Self::point(ty.map_or_else(|| literal.clone().into_owned(), |ty| converted(literal, ty)))
    }
    /// Returns the range of an array that is smaller than its bounds as one of its sizes.
    pub(super) fn cut(self) -> Self {
        match cut(&self.lo) {
            Cow::Borrowed(_) => self,
            Cow::Owned(_) => self.map(&|end| cut(end).into_owned()),
        }
    }
    /// Returns the values where denormals of type `ty` may be read or written as 0: each itself or
    /// 0, and nothing between; where the sign of a zero does not matter, as either zero. None if
    /// there are no denormals.
    pub(super) fn flushed(&self, ty: ElementType, modes: Modes, signed: bool) -> Option<Self> {
        let part = ty.component();
        let flushes = |x: Interval| modes.flushed(part, x).is_some();
        if modes.flushed_below(part) == 0.0
            || !self.candidates().iter().any(|range| range.intervals().any(flushes))
        {
            return None;
        }
        let parts = if ty.is_complex() { 2 } else { 1 };
        // Of a complex number, each part or both.
        let each = |range: &Self, which: usize| {
            let zero = |(i, x): (usize, Interval)| match which >> (i % parts) & 1 {
                0 => x,
                _ => modes
                    .flushed(part, x)
                    .map_or(x, |zero| if signed { zero } else { Interval::ZEROS }),
            };
            range.with(&range.intervals().enumerate().map(zero).collect::<Vec<_>>())
        };
        let all = self.candidates().iter();
        let all = all.flat_map(|range| (0..1usize << parts).map(|which| each(range, which)));
        let all: Vec<Self> = all.collect();
        let origin = self.origin.clone();
        Some(Self { origin, ..Self::any_of(&all) }.because(self.cause.clone()))
    }
    pub(super) fn new(lo: Literal, hi: Literal, cause: Option<Cause>) -> Self {
        let (candidates, orders, wholes) = (Vec::new(), Vec::new(), Vec::new());
        Self { lo, hi, cause, candidates, orders, wholes, sorted: None, origin: None }
    }
    pub(super) fn point(literal: Literal) -> Self {
        Self::new(literal.clone(), literal, None)
    }
    pub(super) fn nothing() -> Self {
        Self::point(Literal::token())
    }
    /// Returns the range with both ends changed alike, and those of the candidates.
    pub(super) fn map(&self, end: &impl Fn(&Literal) -> Literal) -> Self {
        let lo = end(&self.lo);
        let hi = if self.is_point() { lo.clone() } else { end(&self.hi) };
        let candidates = self.candidates.iter().map(|candidate| candidate.map(end)).collect();
        Self { candidates, ..Self::new(lo, hi, self.cause.clone()) }
    }
    /// Returns the computed values of an array of floats or complex numbers, part by part: no NaN
    /// has a certain sign.
    pub(super) fn of(shape: &ArrayShape, parts: &[Interval]) -> Self {
        let computed = |&x: &Interval| if x.is_nan() { Interval::NAN } else { x };
        Self::given(shape, &parts.iter().map(computed).collect::<Vec<_>>())
    }
    /// Returns the range of these intervals, with NaNs as they are.
    pub(super) fn given(shape: &ArrayShape, parts: &[Interval]) -> Self {
        let shape = shape.with_type(wide(shape.ty));
        let ends = |end: fn(&Interval) -> f64| array(&shape, parts.iter().map(end));
        Self::new(ends(|x| x.lo), ends(|x| x.hi), None)
    }
    fn with(&self, parts: &[Interval]) -> Self {
        match self.lo.array_shape() {
            Some(shape) => Self { cause: self.cause.clone(), ..Self::given(shape, parts) },
            None => self.clone(),
        }
    }
    /// Returns the real parts of complex numbers, or the imaginary ones, as `f64`; other arrays as
    /// they are.
    pub(super) fn part(&self, part: usize) -> Self {
        match self.shape() {
            Some(shape) if shape.ty == ElementType::C128 => {
                let parts: Vec<_> = self.intervals().skip(part).step_by(2).collect();
                Self::of(&shape.with_type(ElementType::F64), &parts)
            }
            Some(_) | None => self.clone(),
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
        Self::new(fill(least), fill(greatest), None)
    }
    /// Adds a cause to a range that has none, or only a loose bound.
    pub(super) fn because(mut self, cause: Option<Cause>) -> Self {
        let own = self.cause.take();
        let strong = own.clone().filter(|own| own.kind != CauseKind::Loose);
        self.cause = strong.or(cause).or(own);
        self
    }
    /// Replaces each -0 by 0.
    pub(super) fn make_zeros_positive(&mut self) {
        for end in [&mut self.lo, &mut self.hi] {
            floats_mut(end).iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 0.0);
        }
        self.candidates.iter_mut().for_each(Self::make_zeros_positive);
    }
    /// Says that nothing bounds what is unknown.
    pub(super) fn unbounded(mut self) -> Self {
        if let Some(cause) = self.cause.as_mut().filter(|cause| cause.kind == CauseKind::NoRule) {
            cause.kind = CauseKind::Unbounded;
        }
        self
    }
    /// Returns whether its bound has the size of the elements.
    pub(super) fn is_loose(&self) -> bool {
        self.cause.as_ref().is_some_and(|cause| cause.kind == CauseKind::Loose)
    }
    /// Notes that sums of which each loses this part of the size of their terms have no bound that
    /// a wrong value would break.
    pub(super) fn loosened(self, site: Site<'_>, relative: f64) -> Self {
        let loose = (relative > LOOSE && !self.is_point())
            .then(|| Cause { kind: CauseKind::Loose, ..site.cause() });
        self.because(loose)
    }

    /// Returns the values of either range, element by element.
    pub(super) fn hull(&self, other: &Self) -> Self {
        let cause = self.cause.clone().or_else(|| other.cause.clone());
        let Some(shape) = self.shape() else { return self.clone() };
        if is_whole(shape.ty) {
            let each = |i: usize| super::integers::hull(self.ends(i), other.ends(i));
            return super::integers::range(shape, (0..self.lo.len()).map(each)).because(cause);
        }
        let parts = self.intervals().zip(other.intervals()).map(|(a, b)| a.hull(b));
        Self::given(shape, &parts.collect::<Vec<_>>()).because(cause)
    }

    /// Returns the values of this range where `mine` says so, elsewhere those of the other.
    pub(super) fn where_else(&self, other: &Self, mine: impl Fn(usize) -> bool) -> Self {
        let end = |own: &Literal, other: &Literal| {
            let mut result = own.clone();
            let width = (own.bytes().len() / own.len().max(1)).max(1);
            let pairs = result.bytes_mut().chunks_exact_mut(width);
            for (i, (slot, other)) in pairs.zip(other.bytes().chunks_exact(width)).enumerate() {
                if !mine(i) {
                    slot.copy_from_slice(other);
                }
            }
            result
        };
        let both = |a: &Self, b: &Self| Self::new(end(&a.lo, &b.lo), end(&a.hi, &b.hi), None);
        let count = self.candidates.len().max(other.candidates.len());
        let candidates = (0..count).map(|k| both(self.candidate(k), other.candidate(k))).collect();
        let cause = self.cause.clone().or_else(|| other.cause.clone());
        let numbered = self.origin.is_some() || other.origin.is_some();
        let origin = numbered.then(|| Some(end(&self.numbers()?, &other.numbers()?))).flatten();
        Self { cause, candidates, origin, ..both(self, other) }
    }

    /// Returns the numbers of elements of factors, with 0 for others.
    pub(super) fn numbers(&self) -> Option<Literal> {
        let none = || self.shape().map(|shape| Literal::zeros(shape.clone()));
        self.origin.clone().or_else(none)
    }

    /// Returns whether each element has one legal value.
    pub(super) fn is_point(&self) -> bool {
        self.lo.bytes() == self.hi.bytes()
    }
    /// Returns whether both are from the same least to the same greatest values.
    pub(super) fn has_ends_of(&self, other: &Self) -> bool {
        self.lo.bytes() == other.lo.bytes() && self.hi.bytes() == other.hi.bytes()
    }
    /// Returns whether element `i` has one legal value.
    pub(super) fn is_point_at(&self, i: usize) -> bool {
        element(&self.lo, i) == element(&self.hi, i)
    }
    /// Returns whether element `i` is from the same least to the same greatest value.
    pub(super) fn same_at(&self, other: &Self, i: usize) -> bool {
        let ends = |range: &Self| [element(&range.lo, i).to_vec(), element(&range.hi, i).to_vec()];
        ends(self) == ends(other)
    }
    /// Returns the intervals of the real numbers of an array of floats or complex numbers.
    pub(super) fn intervals(&self) -> impl Iterator<Item = Interval> + Clone + '_ {
        floats(&self.lo).iter().zip(floats(&self.hi)).map(|(&lo, &hi)| Interval { lo, hi })
    }
    /// Returns the ends of element `i` of an array of integers or booleans.
    pub(super) fn ends(&self, i: usize) -> (Scalar, Scalar) {
        (self.lo.get(i), self.hi.get(i))
    }
    /// Returns whether element `i` of an array of integers or booleans may be this one.
    pub(super) fn holds_whole(&self, i: usize, value: Scalar) -> bool {
        let (lo, hi) = self.ends(i);
        in_order(lo, value) && in_order(value, hi)
    }
    /// Returns whether it has all values of another range of the same array.
    pub(super) fn encloses(&self, other: &Self) -> bool {
        let Some(shape) = other.shape() else { return true };
        if self.lo.len() != other.lo.len() || self.lo.sizes() != other.lo.sizes() {
            return false;
        }
        if is_whole(shape.ty) {
            let is_in = |i: usize, (lo, hi): (Scalar, Scalar)| {
                let mut own = self.candidates().iter();
                own.any(|own| own.holds_whole(i, lo) && own.holds_whole(i, hi))
            };
            let holds = |x: &Self| (0..x.lo.len()).all(|i| is_in(i, x.ends(i)));
            return other.candidates().iter().all(holds);
        }
        let columns = |range: &Self| -> Vec<Vec<Interval>> {
            range.candidates().iter().map(|range| range.intervals().collect()).collect()
        };
        let (own, others) = (columns(self), columns(other));
        let is_in = |(i, &x): (usize, &Interval)| own.iter().any(|own| own[i].encloses(x));
        others.iter().all(|other| other.iter().enumerate().all(is_in))
    }
    /// Returns values of which those of a next round of a loop may be a part: intervals a bit wider,
    /// and integers that differ from those of the last round as far as they may go in its direction.
    pub(super) fn grown(&self, last: &Self) -> Self {
        let Some(shape) = self.shape() else { return self.clone() };
        let Some((least, greatest)) = extremes(shape.ty) else {
            let wider = |x: Interval| x.widened(GROWTH * x.radius());
            return Self::given(shape, &self.intervals().map(wider).collect::<Vec<_>>());
        };
        let each = |i: usize| {
            let (lo, hi) = self.ends(i);
            let old = if i < last.lo.len() { last.ends(i) } else { (lo, hi) };
            let lo = if in_order(old.0, lo) { lo } else { least };
            (lo, if in_order(hi, old.1) { hi } else { greatest })
        };
        super::integers::range(shape, (0..self.lo.len()).map(each))
    }
    /// Returns the array in its own type, if each element has one legal value.
    pub(super) fn value(&self, ty: ElementType) -> Option<Literal> {
        self.is_point().then(|| converted(&self.lo, ty))
    }
    /// Returns the array in its own type, if each element rounds to one value of it.
    pub(super) fn rounded(&self, ty: ElementType) -> Option<Literal> {
        let known = self.candidates.is_empty()
            && !self.intervals().any(|x| x.is_any() || x.is_nan() || x.has_open_sign());
        let (lo, hi) = (converted(&self.lo, ty), converted(&self.hi, ty));
        if known && lo.bytes() == hi.bytes() { Some(lo) } else { self.value(ty) }
    }
    pub(super) fn shape(&self) -> Option<&ArrayShape> {
        self.lo.array_shape()
    }
    /// Returns the middle of each interval; of an unbounded one, a number of it.
    pub(super) fn mids(&self) -> Literal {
        match self.shape() {
            Some(shape) if !self.is_point() => array(shape, self.intervals().map(Interval::mid)),
            Some(_) | None => self.lo.clone(),
        }
    }
}

/// Returns the bytes of an element.
fn element(array: &Literal, i: usize) -> &[u8] {
    let width = array.array_shape().map_or(0, |shape| shape.ty.storage_bytes());
    &array.bytes()[i * width..(i + 1) * width]
}

/// Returns whether two integers are in order.
fn in_order(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Unsigned(a), Scalar::Unsigned(b)) => a <= b,
        (a, b) => a.as_i64() <= b.as_i64(),
    }
}

/// Returns the least and the greatest number of an integral type, false and true; `None` for
/// floats.
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
