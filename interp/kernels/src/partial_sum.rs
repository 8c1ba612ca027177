//! Sums of floats in f64 with a bound on their error, and their rounding.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use hlo::{ElementType, Scalar};
use num::accumulator::{ExactSum, Sum};
use num::exact::two_sum;
use num::loops::instruction_set::{self, Task};
use num::loops::{LongSum, SumLoops, VectorLoop, convert_loop};
use num::{Arithmetic, single::to_f32};
use smallvec::SmallVec;

/// The bound of the error of a sum of elements of up to 32 bits, relative to the sum of magnitudes:
/// no element takes part in more additions that round than these, each with an error of at most
/// 2^-53 of the magnitudes before it: those of a block of rows, and of sums that are joined. The
/// magnitudes have errors of the same size.
const ERROR: f64 = 320.0 / 9_007_199_254_740_992.0;
/// 2^-105, twice the square of the error of an addition.
const TWICE: f64 = f64::from_bits((1023 - 105) << 52);
/// Rows that are added in f64 before the sums are added to ones that keep their rounding errors.
pub(super) const ROWS: usize = 256;
/// Elements of the longest sums whose rounding errors are kept: short sums often have none, and are
/// halfway between two numbers.
pub(super) const FEW: usize = 32;
/// Sums that are rounded together.
const AT_ONCE: usize = 64;

/// How floats are summed.
#[derive(Clone)]
pub struct SumMethod {
    pub(super) loops: SumLoops,
    /// The type to which sums are rounded, and the loop that does so.
    pub(super) to: ElementType,
    round: Option<VectorLoop>,
}

impl SumMethod {
    /// Returns the method for elements of one type and sums of another; `None` if there is none.
    pub(super) fn of(from: ElementType, to: ElementType, arithmetic: Arithmetic) -> Option<Self> {
        let loops = SumLoops::of(from, arithmetic)?;
        // The bound of a sum of f64 is too small for sums that are rounded to f64 and again.
        let fits = match loops.is_wide {
            true => to == ElementType::F64,
            false => to.is_float() && to.bits() <= 32,
        };
        fits.then(|| Self { loops, to, round: convert_loop(ElementType::F64, to) })
    }
    /// Rounds sums; `None` if there is no loop that does.
    fn round(&self, sums: &[f64], to: &mut [u8]) -> Option<()> {
        match &self.round {
            Some(round) => round(&[bytemuck::cast_slice(sums)], to),
            None if self.to == ElementType::F64 => to.copy_from_slice(bytemuck::cast_slice(sums)),
            None => return None,
        }
        Some(())
    }
}

/// A sum on its way.
#[derive(Clone, Copy)]
pub(super) struct Partial {
    sum: Sum,
    /// The sum of magnitudes; infinite if it is not known.
    magnitude: f64,
    /// The bound of the error relative to the sum of magnitudes; 0 if none is asked for.
    error: f64,
}

impl Partial {
    /// Returns the sum of the first value, to which this many elements are to be added.
    pub(super) fn new(first: f64, loops: SumLoops, elements: usize) -> Self {
        let magnitude = match loops.arithmetic {
            Arithmetic::Exact => first.abs(),
            Arithmetic::Fast => f64::INFINITY,
        };
        Self { sum: Sum::new(first), magnitude, error: error(loops, elements) }
    }
    pub(super) fn add(&mut self, LongSum { sum, lost, magnitude }: LongSum) {
        self.sum.add(sum);
        let (sum, rest) = self.sum.with_lost();
        self.sum = Sum::with_errors(sum, rest + lost);
        self.magnitude += magnitude;
    }
    /// Returns the sum rounded to `ty`, if it is finite and the bound of its error decides that.
    pub(super) fn rounded(self, ty: ElementType) -> Option<Scalar> {
        if self.error == 0.0 {
            let sum = self.sum.value();
            return sum.is_finite().then(|| Scalar::Float(sum).round_to(ty));
        }
        // Only zeros were added, without an error; the sum has the right sign.
        if self.magnitude == 0.0 {
            return Some(Scalar::Float(self.sum.value()));
        }
        let (high, low) = self.sum.parts();
        let error = self.magnitude * self.error;
        if ty == ElementType::F32 {
            let [least, most] = [low - error, low + error].map(|low| to_f32(high + low));
            let is_decided = least.to_bits() == most.to_bits() && least.is_finite() && least != 0.0;
            return is_decided.then_some(Scalar::Float(least.into()));
        }
        let [least, most] =
            [low - error, low + error].map(|low| Scalar::Float(high + low).round_to(ty));
        let bits = least.to_bits(ty);
        // A bound that is not finite decides nothing, nor does one around zero.
        let is_decided =
            bits == most.to_bits(ty) && least.as_f64().is_finite() && least.as_f64() != 0.0;
        is_decided.then_some(least)
    }
    /// Returns the sum of these elements rounded to `ty`, by as much work as that takes.
    pub(super) fn correctly_rounded<'e>(
        self,
        loops: SumLoops,
        first: Scalar,
        elements: impl Iterator<Item = &'e [u8]> + Clone,
        ty: ElementType,
    ) -> Scalar {
        if let Some(sum) = self.rounded(ty) {
            return sum;
        }
        let coarse = self.coarse();
        let are_multiples = elements.clone().all(|part| (loops.are_multiples)(part, coarse));
        let sum = if are_multiples { self.exact(first) } else { None };
        sum.unwrap_or_else(|| exact_sum(loops, first, elements, ty))
    }
    /// Returns a number whose neighbors are a unit apart, of which the sum of magnitudes is less
    /// than 2^53. So no sum of multiples of the unit has been rounded.
    pub(super) fn coarse(&self) -> f64 {
        /// The exponent of an f64.
        const EXPONENT: u64 = 0x7ff << 52;
        // Twelve times a power of two, so that the neighbors of its sums with an element are as far
        // apart.
        12.0 * f64::from_bits(self.magnitude.to_bits() & EXPONENT)
    }
    /// Returns the sum, if all elements are multiples of the unit and so is the first value.
    pub(super) fn exact(&self, first: Scalar) -> Option<Scalar> {
        let (first, coarse) = (first.as_f64(), self.coarse());
        let rest = ((first + coarse) - coarse) - first;
        (rest == 0.0).then(|| Scalar::Float(self.sum.value()))
    }
}

/// Returns the bound of the error of the sum of this many elements, relative to the sum of their
/// magnitudes; 0 where no bound is asked for.
fn error(loops: SumLoops, elements: usize) -> f64 {
    match (loops.arithmetic, loops.is_wide) {
        (Arithmetic::Fast, _) => return 0.0,
        (Arithmetic::Exact, false) => return ERROR,
        (Arithmetic::Exact, true) => {}
    }
    // Each addition adds its rounding error to the others. These are together at most 2^-53 of the
    // magnitudes for each of the additions that an element takes part in, at most 320 and one for
    // each block of rows, and each of their additions rounds with an error of 2^-53 of that.
    let elements = Scalar::Unsigned(u64::try_from(elements).unwrap_or(u64::MAX)).as_f64();
    (elements + 64.0) * (320.0 + elements / 256.0) * TWICE
}

/// Returns the sum of numbers in f64, if no addition rounds.
pub(super) fn sum_without_errors(first: f64, numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut is_exact) = (first, true);
    for x in numbers {
        let (next, error) = two_sum(sum, x);
        is_exact &= error == 0.0;
        sum = next;
    }
    is_exact.then_some(sum)
}

/// Returns the sum of the elements and the first value, computed exactly and rounded to `ty`.
pub(super) fn exact_sum<'e>(
    loops: SumLoops,
    first: Scalar,
    elements: impl Iterator<Item = &'e [u8]>,
    ty: ElementType,
) -> Scalar {
    let mut sum = ExactSum::new(first.as_f64());
    elements.for_each(|part| (loops.exact)(part, &mut sum));
    Scalar::Float(sum.rounded(ty))
}

/// Sums beside one another.
#[derive(Default)]
pub(super) struct ColumnSums {
    /// Sums of some rows, those of the rows before, and what these lack.
    sums: Numbers,
    high: Numbers,
    lost: Numbers,
    magnitudes: Numbers,
    rows: usize,
    /// Whether magnitudes are those of rounding errors that are not in the other sums.
    are_few: bool,
}

/// Numbers of sums: few have no allocation.
type Numbers = SmallVec<[f64; 32]>;

impl ColumnSums {
    /// Returns the bytes of so many sums.
    pub(super) fn bytes(count: usize) -> usize {
        count.saturating_mul(4 * size_of::<f64>())
    }
    /// Starts `count` sums with a first value.
    pub(super) fn restart(&mut self, first: Scalar, count: usize) {
        let first = first.as_f64();
        for (list, value) in [
            // -0 is the neutral element of addition.
            (&mut self.sums, -0.0),
            (&mut self.high, first),
            (&mut self.lost, 0.0),
            (&mut self.magnitudes, first.abs()),
        ] {
            list.clear();
            list.resize(count, value);
        }
        (self.rows, self.are_few) = (0, false);
    }
    /// Starts `count` sums of few elements with a first value.
    pub(super) fn restart_few(&mut self, first: Scalar, count: usize, loops: SumLoops) {
        self.restart(first, count);
        if loops.arithmetic == Arithmetic::Exact {
            std::mem::swap(&mut self.sums, &mut self.high);
            self.magnitudes.fill(0.0);
            self.are_few = true;
        }
    }
    /// Adds rows, whose first element belongs to sum number `at`.
    pub(super) fn add(&mut self, loops: SumLoops, rows: &[&[u8]], at: usize) {
        if self.rows + rows.len() > ROWS {
            self.settle(loops);
        }
        self.rows += rows.len();
        let end = at + rows.first().map_or(0, |row| row.len() / loops.width);
        let lists = [&mut self.sums, &mut self.lost, &mut self.magnitudes];
        let add = if self.are_few { loops.few } else { loops.columns };
        add(rows, lists.map(|list| &mut list[at..end]));
    }
    /// Adds rows of so many elements, each to one sum.
    pub(super) fn add_rows(&mut self, loops: SumLoops, elements: &[u8], inner: usize) {
        let add = if self.are_few { Some(loops.few_rows) } else { loops.rows };
        let Some(add) = add else { return };
        // The elements of a row take part in more additions than those of a column.
        if self.rows >= ROWS / 2 {
            self.settle(loops);
        }
        self.rows += 1;
        add(elements, inner, [&mut self.sums, &mut self.magnitudes]);
    }
    /// Lets the sums from a number on begin with nothing, in place of the first value.
    pub(super) fn begin_after(&mut self, number: usize) {
        self.high[number..].fill(-0.0);
        self.magnitudes[number..].fill(0.0);
    }
    /// Leaves `count` sums: each is that of the sums whose numbers are so many apart.
    pub(super) fn join(&mut self, loops: SumLoops, count: usize) {
        self.settle(loops);
        let is_exact = loops.arithmetic == Arithmetic::Exact;
        let [high, lost, magnitudes] = [&mut self.high, &mut self.lost, &mut self.magnitudes]
            .map(|list| list.split_at_mut(count));
        for first in (0..high.1.len()).step_by(count) {
            let rest = [&high.1[first..], &lost.1[first..], &magnitudes.1[first..]];
            let [of_high, of_lost, of_magnitudes] = rest.map(|list| &list[..count.min(list.len())]);
            for i in 0..of_high.len() {
                let (sum, error) = two_sum(high.0[i], of_high[i]);
                high.0[i] = sum;
                if is_exact {
                    lost.0[i] += of_lost[i] + error;
                    magnitudes.0[i] += of_magnitudes[i];
                }
            }
        }
        for list in [&mut self.sums, &mut self.high, &mut self.lost, &mut self.magnitudes] {
            list.truncate(count);
        }
    }
    /// Adds the sums of the last rows to those of the rows before.
    fn settle(&mut self, loops: SumLoops) {
        let is_exact = loops.arithmetic == Arithmetic::Exact;
        let (high, lost, sums) = (&mut self.high, &mut self.lost, &mut self.sums);
        instruction_set::run(Settle { high, lost, sums, is_exact });
        self.rows = 0;
    }
    /// Rounds the sums of this many elements each. `open` returns the sums, in the order of their
    /// numbers, whose rounding the bound of the error leaves open.
    pub(super) fn finish(
        &mut self,
        method: &SumMethod,
        elements: usize,
        to: &mut [u8],
        open: impl FnOnce(&[(usize, Partial)]) -> Vec<Scalar>,
    ) {
        let SumMethod { loops, to: ty, .. } = method;
        self.settle(*loops);
        let error = error(*loops, elements);
        let (width, mut left) = (ty.storage_bytes(), Vec::new());
        for (number, to) in to.chunks_mut(AT_ONCE * width).enumerate() {
            let (start, count) = (number * AT_ONCE, to.len() / width);
            let range = start..start + count;
            let (high, lost) = (&self.high[range.clone()], &self.lost[range.clone()]);
            let mut other = [0_u64; AT_ONCE];
            let other = &mut bytemuck::cast_slice_mut(&mut other)[..to.len()];
            // Sums that are not around zero, and finite.
            let mut are_far = [true; AT_ONCE];
            let is_decided = match loops.arithmetic {
                Arithmetic::Fast => {
                    are_far = [false; AT_ONCE];
                    let is_in_range = !loops.is_wide || high.iter().all(|sum| sum.is_finite());
                    method.round(high, to).is_some() && is_in_range
                }
                Arithmetic::Exact => {
                    let (mut least, mut most) = ([0.0; AT_ONCE], [0.0; AT_ONCE]);
                    instruction_set::run(SumRange {
                        numbers: [high, lost, &self.magnitudes[range.clone()]],
                        ends: [&mut least, &mut most],
                        are_far: &mut are_far,
                        error: if self.are_few { None } else { Some(error) },
                        is_wide: loops.is_wide,
                    });
                    let is_rounded = method.round(&least[..count], to).is_some()
                        && method.round(&most[..count], other).is_some();
                    if !is_rounded {
                        are_far = [false; AT_ONCE];
                    }
                    are_far[..count].iter().all(|&is_far| is_far) && to == other
                }
            };
            if is_decided {
                continue;
            }
            let slots = to.chunks_exact_mut(width).zip(other.chunks_exact(width)).zip(are_far);
            for (i, ((slot, other), is_far)) in range.zip(slots) {
                if is_far && slot == other {
                    continue;
                }
                let partial = self.partial(i, error);
                match partial.rounded(*ty) {
                    Some(sum) => sum.write(*ty, slot),
                    None => left.push((i, partial)),
                }
            }
        }
        if !left.is_empty() {
            for (sum, (i, _)) in open(&left).into_iter().zip(&left) {
                sum.write(*ty, &mut to[i * width..][..width]);
            }
        }
    }
    fn partial(&self, i: usize, error: f64) -> Partial {
        let sum = Sum::with_errors(self.high[i], self.lost[i]);
        let is_known = error != 0.0 && !self.are_few;
        let magnitude = if is_known { self.magnitudes[i] } else { f64::INFINITY };
        Partial { sum, magnitude, error }
    }
}

/// Sums that are added to those of the rows before.
struct Settle<'a> {
    high: &'a mut [f64],
    lost: &'a mut [f64],
    sums: &'a mut [f64],
    is_exact: bool,
}

impl Task for Settle<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        for ((high, lost), sum) in self.high.iter_mut().zip(self.lost).zip(self.sums) {
            let (total, error) = two_sum(*high, *sum);
            *high = total;
            if self.is_exact {
                *lost += error;
            }
            *sum = -0.0;
        }
    }
}

/// The least and the greatest number that sums may be.
struct SumRange<'a> {
    /// Sums, what they lack, and magnitudes.
    numbers: [&'a [f64]; 3],
    ends: [&'a mut [f64; AT_ONCE]; 2],
    /// Whether sums are exact, or not around zero.
    are_far: &'a mut [bool; AT_ONCE],
    /// The bound of the error relative to the magnitude; `None` if magnitudes are those of the last
    /// rounding errors.
    error: Option<f64>,
    is_wide: bool,
}

impl Task for SumRange<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        /// More than the roundings of the errors of a few elements.
        const MORE: f64 = 1.0 + 1e-9;
        let Self { numbers, ends: [least, most], are_far, error, is_wide } = self;
        let count = numbers[0].len().min(AT_ONCE);
        let [high, lost, magnitudes] = numbers.map(|x| &x[..count]);
        for i in 0..count {
            let (sum, low) = two_sum(high[i], lost[i]);
            let magnitude = magnitudes[i];
            let error = match error {
                Some(error) => magnitude * error,
                // The part to which it is added is rounded, and the sum may be halfway between two
                // numbers.
                None if magnitude == 0.0 => 0.0,
                None => (magnitude + (if is_wide { low } else { sum }).abs() * f64::EPSILON) * MORE,
            };
            (least[i], most[i]) = (sum + (low - error), sum + (low + error));
            are_far[i] = least[i] * most[i] > 0.0;
            // Sums of elements that are shorter than f64 are in its range: one that is not finite has
            // an element that is not. Others without an error may be zeros.
            let is_known = match is_wide {
                false => !high[i].is_finite() || (self.error.is_none() && magnitude == 0.0),
                true => self.error.is_none() && magnitude == 0.0 && lost[i] == 0.0,
            };
            if is_known {
                (least[i], most[i], are_far[i]) = (high[i], high[i], true);
            }
        }
    }
}
