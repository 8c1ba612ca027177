//! The accumulators of sums of products: words, running sums, their error bounds, and exact sums.
use super::error_bound::{ErrorBound, exact_sum};
use super::operands::Rounding;
use super::rounding::{Round, RoundCompensated, to_f32, to_narrow};
use super::tile::{self, Columns, NativeWord, ROWS, Rows, Tile, VECTORS, Word};
use half::{bf16, f16};
use hlo::{ElementType, Scalar};
use num::accumulator::Sum;
use num::loops::instruction_set::run;

/// A way to form sums of products, and to round each as the exact sum would be.
///
/// A running sum comes with a bound on its error. Where both ends of the interval round to the same
/// element, that element is the correctly rounded sum; elsewhere the exact sum decides.
pub(super) trait Accumulator {
    /// An element as the operand holds it.
    type Stored: bytemuck::Pod + Sync;
    /// An element as it is packed.
    type Word: Word;
    /// A running sum.
    type Sum: bytemuck::Pod + Default + Send + Sync;
    /// Whether the error of a sum has a bound other than 0, which follows from the squares of
    /// elements.
    const HAS_BOUND: bool = true;

    /// Returns the packed form.
    fn pack(element: Self::Stored) -> Self::Word;
    /// Returns the words of elements that are words as they are stored.
    fn words(_: &[Self::Stored]) -> Option<&[Self::Word]> {
        None
    }
    /// Returns whether an element may be packed at all.
    fn packable(_: Self::Stored) -> bool {
        true
    }
    /// Returns whether an element times zero is zero, so that padding can be packed as zeros.
    fn finite(element: Self::Stored) -> bool;
    /// Returns the square of the absolute value of a packed element; 0 if sums are exact.
    fn square(packed: Self::Word) -> f64;
    /// Returns the larger one of a magnitude and of that of an element.
    fn larger(magnitude: Self::Stored, _element: Self::Stored) -> Self::Stored {
        magnitude
    }
    /// Forms the sums of a tile, from those in the lines on unless it is the first one.
    fn tile(tile: &Tile<'_, Self::Word>, lines: &mut [&mut [Self::Sum]]);
    /// The same, of columns whose elements are not packed.
    fn tile_in_place(tile: &Tile<'_, Self::Word, Self::Stored>, lines: &mut [&mut [Self::Sum]]);
    /// Adds one product and returns its absolute value, or a bound of it.
    fn add(sum: &mut Self::Sum, a: Self::Word, b: Self::Word) -> f64;
    /// Adds products to the sums in lanes: of elements of each lane, term by term, and the words that
    /// all lanes share.
    fn add_to_lanes(_: &mut SumLanes, _terms: &[[Self::Stored; LANES]], _words: &[Self::Word]) {}
    /// Returns the sum in a lane.
    fn lane(_: &SumLanes, _lane: usize) -> Self::Sum {
        Self::Sum::default()
    }
    /// Adds another sum.
    fn merge(sum: &mut Self::Sum, other: Self::Sum);
    /// Returns the interval that holds the exact sum of terms whose absolute values add up to at
    /// most `magnitude`, each end rounded so that [`Rounding::write`] rounds it as it would the
    /// exact number. None if the error has no finite bound.
    fn interval(sum: Self::Sum, magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]>;
    /// Returns the interval from a better sum of the products of a row and a column, if there is
    /// one. `row_unit` keeps what is known of the row.
    fn refined(
        _row_unit: &mut Option<i64>,
        _factors: (
            impl Iterator<Item = Self::Word> + Clone,
            impl Iterator<Item = Self::Word> + Clone,
        ),
        _sum_and_magnitude: (Self::Sum, f64),
        _error: ErrorBound,
    ) -> Option<[Scalar; 2]> {
        None
    }
    /// Returns the exact sum of the products, to be rounded to the type `ty`.
    fn exact(products: impl Iterator<Item = (Self::Word, Self::Word)>, ty: ElementType) -> Scalar;
    /// Returns the elements of a result, if these are sums as they are.
    fn sums_in(_: &mut [u8], _: Rounding) -> Option<&mut [Self::Sum]> {
        None
    }
    /// Writes the elements that sums round to, one of a row after the other; the norm of the row
    /// times that of a column bounds the magnitude of a sum. Returns whether the bound decides all
    /// of them.
    fn round(
        sums: &[Self::Sum],
        error: ErrorBound,
        norms: (f64, &[f64]),
        rounding: Rounding,
        slots: &mut [u8],
    ) -> bool;
}

/// Sums that are formed beside one another.
pub(super) const LANES: usize = 16;

/// Sums in lanes, what they lack, and the sums of magnitudes.
#[derive(Default)]
pub(super) struct SumLanes {
    sums: [f64; LANES],
    lost: [f64; LANES],
    pub(super) magnitudes: [f64; LANES],
}

/// An accumulator whose sums are words.
pub(super) trait OwnSums:
    Accumulator<Word = <Self as OwnSums>::Native, Sum = <Self as OwnSums>::Native>
{
    type Native: NativeWord;
}

/// Columns whose products a tile sums up.
pub(super) enum Panel<'a, K: Accumulator> {
    Packed(Columns<'a, K::Word>),
    /// Elements where the operand has them.
    InPlace(Columns<'a, K::Stored>),
}

impl<K: Accumulator> Clone for Panel<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: Accumulator> Copy for Panel<'_, K> {}

impl<K: Accumulator> Panel<'_, K> {
    /// Returns the terms from the number `first` on, `most` of them at most.
    pub(super) fn slice(self, first: usize, most: usize) -> Self {
        match self {
            Self::Packed(columns) => Self::Packed(columns.slice(first, most)),
            Self::InPlace(columns) => Self::InPlace(columns.slice(first, most)),
        }
    }
    /// Returns the words of a column.
    pub(super) fn column(self, number: usize) -> Vec<K::Word> {
        match self {
            Self::Packed(columns) => columns.column(number).copied().collect(),
            Self::InPlace(columns) => columns.column(number).map(|&x| K::pack(x)).collect(),
        }
    }
    /// Writes to the lines, one for each row, the sums of the products of the first words of the row
    /// with the terms of the columns; goes on from the sums that the lines hold unless these are the
    /// first terms.
    pub(super) fn add_products(
        self,
        rows: Rows<'_, K::Word>,
        lines: &mut [&mut [K::Sum]],
        is_first: bool,
    ) {
        match self {
            Self::Packed(columns) => {
                check(&rows, &columns, lines);
                K::tile(&Tile { rows, columns, is_first }, lines);
            }
            Self::InPlace(columns) => {
                check(&rows, &columns, lines);
                K::tile_in_place(&Tile { rows, columns, is_first }, lines);
            }
        }
    }
}

/// Checks that a tile lies within its operands.
fn check<W: Word, C, S>(rows: &Rows<'_, W>, columns: &Columns<'_, C>, lines: &[&mut [S]]) {
    let &Columns { words, stride, terms, width } = columns;
    let is_sound = width.is_multiple_of(W::LANES)
        && width <= VECTORS * W::LANES
        && stride >= width
        && words.len() >= terms.saturating_sub(1) * stride + width
        && (1..=ROWS).contains(&rows.count)
        && rows.words.len() > (rows.count - 1) * rows.stride + terms.saturating_sub(1) * rows.step
        && lines.len() == rows.count
        && lines.iter().all(|line| line.len() >= width);
    assert!(is_sound, "a tile within its operands");
}

/// Writes the elements that sums round to by their intervals; see [`Accumulator::round`].
fn round_each<K: Accumulator>(
    sums: &[K::Sum],
    error: ErrorBound,
    (norm, norms): (f64, &[f64]),
    rounding: Rounding,
    slots: &mut [u8],
) -> bool {
    let slots = slots.chunks_exact_mut(rounding.to.storage_bytes());
    let mut decided = sums.iter().zip(norms).zip(slots).map(|((&sum, &column), slot)| {
        K::interval(sum, norm * column, error).is_some_and(|x| rounding.write_if_same(x, slot))
    });
    decided.by_ref().fold(true, |all, is_decided| all & is_decided)
}

/// Floats whose products are exact in f64, added in f64.
pub(super) struct F64Accumulator;

impl Accumulator for F64Accumulator {
    type Stored = f32;
    type Word = f64;
    type Sum = f64;

    #[inline]
    fn pack(element: f32) -> f64 {
        f64::from(element)
    }
    fn finite(element: f32) -> bool {
        element.is_finite()
    }
    #[inline]
    fn square(x: f64) -> f64 {
        x * x
    }
    #[inline(always)]
    fn larger(magnitude: f32, element: f32) -> f32 {
        // Unlike that of the library, an instruction of the processor.
        if element.abs() > magnitude { element.abs() } else { magnitude }
    }
    fn tile(tile: &Tile<'_, f64>, lines: &mut [&mut [f64]]) {
        tile::add(tile, lines);
    }
    fn tile_in_place(tile: &Tile<'_, f64, f32>, lines: &mut [&mut [f64]]) {
        tile::add(tile, lines);
    }
    #[inline(always)]
    fn add(sum: &mut f64, a: f64, b: f64) -> f64 {
        let product = a * b;
        *sum += product;
        product.abs()
    }
    #[inline(always)]
    fn add_to_lanes(lanes: &mut SumLanes, terms: &[[f32; LANES]], words: &[f64]) {
        // Copies stay in registers, and loops of one step keep sums apart from magnitudes.
        let SumLanes { mut sums, mut magnitudes, .. } = *lanes;
        for (term, &word) in terms.iter().zip(words) {
            let products = term.map(|x| f64::from(x) * word);
            for i in 0..LANES {
                sums[i] += products[i];
            }
            for i in 0..LANES {
                magnitudes[i] += products[i].abs();
            }
        }
        (lanes.sums, lanes.magnitudes) = (sums, magnitudes);
    }
    fn lane(lanes: &SumLanes, lane: usize) -> f64 {
        lanes.sums[lane]
    }
    fn merge(sum: &mut f64, other: f64) {
        *sum += other;
    }
    #[inline]
    fn interval(sum: f64, magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]> {
        Some(error.plain(sum, magnitude)?.map(Scalar::Float))
    }
    /// Sums that are exact since all partial sums are f64, and sums whose rounding errors are kept.
    fn refined(
        row_unit: &mut Option<i64>,
        (row, column): (impl Iterator<Item = f64> + Clone, impl Iterator<Item = f64> + Clone),
        (sum, magnitude): (f64, f64),
        error: ErrorBound,
    ) -> Option<[Scalar; 2]> {
        let row_unit = *row_unit.get_or_insert_with(|| unit(row.clone()));
        if is_exact([row_unit, unit(column.clone())], magnitude) {
            return Some([Scalar::Float(sum); 2]);
        }
        let (mut sum, mut magnitude) = (Sum::new(0.0), 0.0);
        row.zip(column).for_each(|(a, b)| {
            sum.add(a * b);
            magnitude += (a * b).abs();
        });
        Some(error.compensated(sum, magnitude)?.map(Scalar::Float))
    }
    fn exact(products: impl Iterator<Item = (f64, f64)>, ty: ElementType) -> Scalar {
        exact_sum(products, ty)
    }
    fn round(
        sums: &[f64],
        error: ErrorBound,
        (norm, norms): (f64, &[f64]),
        rounding: Rounding,
        slots: &mut [u8],
    ) -> bool {
        let mut is_decided = true;
        let is_once = rounding.sums.is_none_or(|sums| sums == rounding.to);
        let (units, decided) = (error.units() * norm, &mut is_decided);
        if is_once && rounding.to == ElementType::F32 {
            run(Round::<4, _> { sums, error: units, norms, slots, element: to_f32, decided });
        } else if is_once && rounding.to == ElementType::Bf16 {
            let element = to_narrow::<bf16>;
            run(Round::<2, _> { sums, error: units, norms, slots, element, decided });
        } else if is_once && rounding.to == ElementType::F16 {
            let element = to_narrow::<f16>;
            run(Round::<2, _> { sums, error: units, norms, slots, element, decided });
        } else {
            return round_each::<Self>(sums, error, (norm, norms), rounding, slots);
        }
        is_decided
    }
}

impl OwnSums for F64Accumulator {
    type Native = f64;
}

/// The exponent of a power of two that divides zeros: larger than that of any number.
const NO_UNIT: i64 = 1 << 20;

/// Returns the exponent of the largest power of two that divides all words; [`NO_UNIT`] if all are
/// zero.
fn unit(words: impl Iterator<Item = f64>) -> i64 {
    words.filter(|&x| x != 0.0).fold(NO_UNIT, |unit, x| {
        let bits = x.to_bits();
        // Widened from f32, a number is normal.
        let zeros = i64::from((bits | 1 << 52).trailing_zeros());
        let exponent = i64::try_from(bits >> 52 & 0x7ff).expect("11 bits");
        unit.min(exponent - 1075 + zeros)
    })
}

/// Returns whether every sum of products of numbers with these units, whose absolute values add up
/// to at most `magnitude`, is an f64.
fn is_exact(units: [i64; 2], magnitude: f64) -> bool {
    let unit = units[0] + units[1];
    if !magnitude.is_finite() {
        return false;
    }
    // The magnitude may be rounded: one bit less.
    let exponent = i64::try_from(magnitude.to_bits() >> 52 & 0x7ff).expect("11 bits") - 1023;
    magnitude == 0.0 || exponent + 2 <= unit + 52
}

/// f64, with the rounding errors of products and sums kept: a sum, and what rounding left out.
pub(super) struct CompensatedAccumulator;

/// Beyond this, splitting or multiplying could overflow: 2^500.
const HUGE: f64 = f64::from_bits((1023 + 500) << 52);

impl Accumulator for CompensatedAccumulator {
    type Stored = f64;
    type Word = f64;
    type Sum = [f64; 2];

    #[inline]
    fn pack(element: f64) -> f64 {
        element
    }
    fn packable(element: f64) -> bool {
        element.abs() <= HUGE
    }
    fn finite(element: f64) -> bool {
        element.is_finite()
    }
    #[inline]
    fn square(x: f64) -> f64 {
        // What underflows in the square may count in a product: 2^-1000 in its stead, but zeros
        // stay zeros.
        const LEAST: f64 = f64::from_bits((1023 - 1000) << 52);
        if x == 0.0 { 0.0 } else { x * x + LEAST }
    }
    #[inline(always)]
    fn larger(magnitude: f64, element: f64) -> f64 {
        // Unlike that of the library, an instruction of the processor.
        if element.abs() > magnitude { element.abs() } else { magnitude }
    }
    fn tile(tile: &Tile<'_, f64>, lines: &mut [&mut [[f64; 2]]]) {
        run(tile::Compensated { tile, lines });
    }
    fn tile_in_place(tile: &Tile<'_, f64>, lines: &mut [&mut [[f64; 2]]]) {
        Self::tile(tile, lines);
    }
    #[inline(always)]
    fn add(sum: &mut [f64; 2], a: f64, b: f64) -> f64 {
        let mut with_errors = Sum::with_errors(sum[0], sum[1]);
        with_errors.add_product(a, b);
        *sum = with_errors.with_lost().into();
        let product = (a * b).abs();
        // A product that underflows has a sign, and the sum is not 0.
        let underflows = product == 0.0 && a != 0.0 && b != 0.0;
        if underflows { f64::from_bits(1) } else { product }
    }
    #[inline(always)]
    fn add_to_lanes(lanes: &mut SumLanes, terms: &[[f64; LANES]], words: &[f64]) {
        // Copies stay in registers.
        let SumLanes { mut sums, mut lost, mut magnitudes } = *lanes;
        for (term, &word) in terms.iter().zip(words) {
            for i in 0..LANES {
                let mut sum = [sums[i], lost[i]];
                magnitudes[i] += Self::add(&mut sum, term[i], word);
                [sums[i], lost[i]] = sum;
            }
        }
        *lanes = SumLanes { sums, lost, magnitudes };
    }
    fn lane(lanes: &SumLanes, lane: usize) -> [f64; 2] {
        [lanes.sums[lane], lanes.lost[lane]]
    }
    fn merge(sum: &mut [f64; 2], [other, lost]: [f64; 2]) {
        let mut with_errors = Sum::with_errors(sum[0], sum[1] + lost);
        with_errors.add(other);
        *sum = with_errors.with_lost().into();
    }
    #[inline]
    fn interval([sum, lost]: [f64; 2], magnitude: f64, error: ErrorBound) -> Option<[Scalar; 2]> {
        Some(error.compensated(Sum::with_errors(sum, lost), magnitude)?.map(Scalar::Float))
    }
    /// By the magnitude itself, which may be far less than its bound: of products that are zero.
    fn refined(
        _: &mut Option<i64>,
        (row, column): (impl Iterator<Item = f64> + Clone, impl Iterator<Item = f64> + Clone),
        (sum, _): ([f64; 2], f64),
        error: ErrorBound,
    ) -> Option<[Scalar; 2]> {
        let magnitude = row.zip(column).fold(0.0, |sum, (a, b)| {
            // A product that vanishes may have an error.
            let least = if a == 0.0 || b == 0.0 { 0.0 } else { f64::MIN_POSITIVE };
            sum + (a * b).abs().max(least)
        });
        Self::interval(sum, magnitude, error)
    }
    fn exact(products: impl Iterator<Item = (f64, f64)>, ty: ElementType) -> Scalar {
        exact_sum(products, ty)
    }
    fn round(
        sums: &[[f64; 2]],
        error: ErrorBound,
        norms: (f64, &[f64]),
        rounding: Rounding,
        slots: &mut [u8],
    ) -> bool {
        let mut is_decided = true;
        if rounding.sums.is_some_and(|sums| sums != rounding.to) || rounding.to != ElementType::F64
        {
            return round_each::<Self>(sums, error, norms, rounding, slots);
        }
        run(RoundCompensated { sums, error, norms, slots, decided: &mut is_decided });
        is_decided
    }
}
