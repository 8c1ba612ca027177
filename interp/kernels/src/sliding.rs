//! Folds over windows that slide: elements that enter are added, those that leave are removed.
//!
//! A float sum is exact, so an element is removed by adding its negative; infinities, NaN and
//! negative zeros are counted instead. Any other fold in which the order does not matter keeps the
//! folds of all ends of the window: a removal takes the next one, and when there is none, they are
//! computed anew for the elements that are left (a queue of two stacks). Each element is folded
//! twice at most, however large the windows are.
use super::floats::Floats;
use super::window::{Reach, walk};

use hlo::op::Binary;
use hlo::{Array, ElementType, Scalar};
use num::accumulator::ExactSum;

/// The fold of a window.
pub(super) enum Sliding<'a> {
    Sum(SlidingSum<'a>),
    Binary(SlidingBinary<'a>),
}

/// The exact sum of a window.
pub(super) struct SlidingSum<'a> {
    elements: Floats<'a>,
    first: f64,
    ty: ElementType,
    sum: ExactSum,
    counts: Counts,
}

/// The terms whose sum is not determined by an exact number.
#[derive(Default)]
struct Counts {
    nan: usize,
    positive_infinity: usize,
    negative_infinity: usize,
    /// All but negative zeros: a sum of these alone is negative zero.
    not_negative_zero: usize,
}

impl Counts {
    fn of(&mut self, x: f64) -> Option<&mut usize> {
        if x.is_nan() {
            Some(&mut self.nan)
        } else if x == f64::INFINITY {
            Some(&mut self.positive_infinity)
        } else if x == f64::NEG_INFINITY {
            Some(&mut self.negative_infinity)
        } else {
            None
        }
    }
}

impl<'a> SlidingSum<'a> {
    pub(super) fn new(elements: Floats<'a>, first: f64, ty: ElementType) -> Self {
        let mut sum =
            Self { elements, first, ty, sum: ExactSum::new(-0.0), counts: Counts::default() };
        sum.restart();
        sum
    }
    fn restart(&mut self) {
        (self.sum, self.counts) = (ExactSum::new(-0.0), Counts::default());
        self.add(self.first);
    }
    #[inline]
    fn add(&mut self, x: f64) {
        match self.counts.of(x) {
            Some(count) => *count += 1,
            None => self.sum.add(x),
        }
        self.counts.not_negative_zero += usize::from(x != 0.0 || x.is_sign_positive());
    }
    #[inline]
    fn remove(&mut self, x: f64) {
        match self.counts.of(x) {
            Some(count) => *count -= 1,
            None => self.sum.add(-x),
        }
        self.counts.not_negative_zero -= usize::from(x != 0.0 || x.is_sign_positive());
    }
    fn value(&self) -> f64 {
        let Counts { nan, positive_infinity, negative_infinity, not_negative_zero } = self.counts;
        if nan > 0 || positive_infinity > 0 && negative_infinity > 0 {
            f64::NAN
        } else if positive_infinity > 0 {
            f64::INFINITY
        } else if negative_infinity > 0 {
            f64::NEG_INFINITY
        } else if not_negative_zero == 0 {
            -0.0
        } else {
            // What was added and removed again may have left a negative zero.
            let value = self.sum.rounded(self.ty);
            if value == 0.0 { 0.0 } else { value }
        }
    }
}

/// The fold of a window by an op in which the order of its elements does not matter.
pub(super) struct SlidingBinary<'a> {
    op: Binary,
    ty: ElementType,
    input: &'a Array,
    first: Scalar,
    /// The folds of the last 1, 2, ... columns of the older part of the window.
    front: Vec<Option<Scalar>>,
    /// The fold of the newer part.
    back: Option<Scalar>,
}

impl<'a> SlidingBinary<'a> {
    pub(super) fn new(op: Binary, ty: ElementType, input: &'a Array, first: Scalar) -> Self {
        Self { op, ty, input, first, front: Vec::new(), back: None }
    }
    #[inline]
    fn fold(&self, a: Option<Scalar>, b: Option<Scalar>) -> Option<Scalar> {
        match (a, b) {
            (Some(a), Some(b)) => Some(num::binary(self.op, self.ty, a, b)),
            (one, other) => one.or(other),
        }
    }
    fn value(&self) -> Scalar {
        let window = self.fold(self.front.last().copied().flatten(), self.back);
        self.fold(Some(self.first), window).unwrap_or(self.first)
    }
}

impl Sliding<'_> {
    fn restart(&mut self) {
        match self {
            Self::Sum(sum) => sum.restart(),
            Self::Binary(fold) => (fold.front, fold.back) = (Vec::new(), None),
        }
    }
    fn value(&self) -> Scalar {
        match self {
            Self::Sum(sum) => Scalar::Float(sum.value()),
            Self::Binary(fold) => fold.value(),
        }
    }
}

/// The windows along one dimension, for one index of the others.
pub(super) struct Slide<'a> {
    /// The reach of the windows in all dimensions; the one in `along` is replaced.
    pub(super) reach: Vec<Reach>,
    pub(super) strides: &'a [i64],
    pub(super) along: usize,
}

impl Slide<'_> {
    /// Appends the folds of the windows that reach `windows` along the dimension. `spend` gets the
    /// number of elements of each window: the fuel is that of the definition.
    pub(super) fn run(
        &mut self,
        windows: impl Iterator<Item = Reach>,
        fold: &mut Sliding<'_>,
        mut spend: impl FnMut(u64) -> num::Result<()>,
        out: &mut Vec<Scalar>,
    ) -> num::Result<()> {
        self.reach[self.along] = Reach { count: 1, ..Reach::NOTHING };
        let column = self.reach.iter().map(|reach| reach.count.unsigned_abs());
        let column = column.fold(1, u64::saturating_mul);
        let mut current = Reach::NOTHING;
        fold.restart();
        for window in windows {
            spend(column.saturating_mul(window.count.unsigned_abs()))?;
            if !current.slides_to(window) {
                fold.restart();
                current = Reach { count: 0, ..window };
            }
            while current.first < window.first {
                self.remove(current, fold);
                current.first += current.step;
                current.count -= 1;
            }
            while current.count < window.count {
                let column = current.first + current.step * current.count;
                match fold {
                    Sliding::Sum(sum) => self.each(column, |at| sum.add(sum.elements.get(at))),
                    Sliding::Binary(fold) => self.each(column, |at| {
                        fold.back = fold.fold(fold.back, Some(fold.input.get(at)));
                    }),
                }
                current.count += 1;
            }
            out.push(fold.value());
        }
        Ok(())
    }

    /// Removes the first column of what the fold has.
    fn remove(&mut self, current: Reach, fold: &mut Sliding<'_>) {
        match fold {
            Sliding::Sum(sum) => self.each(current.first, |at| sum.remove(sum.elements.get(at))),
            Sliding::Binary(fold) => {
                if fold.front.is_empty() {
                    let mut end = None;
                    for column in (0..current.count).rev() {
                        self.each(current.first + current.step * column, |at| {
                            end = fold.fold(Some(fold.input.get(at)), end);
                        });
                        fold.front.push(end);
                    }
                    fold.back = None;
                }
                fold.front.pop();
            }
        }
    }

    /// Visits the elements of the window with this index along the dimension.
    fn each(&mut self, column: i64, visit: impl FnMut(usize)) {
        self.reach[self.along] = Reach { first: column, step: 1, count: 1 };
        walk(&self.reach, self.strides, visit);
    }
}
