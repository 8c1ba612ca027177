//! Sums of floats in f64, with the sums of their magnitudes, which bound the error. Those of f64
//! come with the rounding errors of their additions.
use super::instruction_set::{self, Task};
use super::native_types::with_type;
use crate::Arithmetic;
use crate::accumulator::ExactSum;
use crate::exact::two_sum;
use bytemuck::Pod;
use half::{bf16, f16};
use hlo::ElementType;
use std::marker::PhantomData;
use std::ops::AddAssign;

/// Numbers of a vector.
const LANES: usize = 8;
/// Numbers of a vector that is added without a bound of the error.
const SINGLE_LANES: usize = 16;
/// Vectors to which elements are added in turn, so that an addition does not wait for the one
/// before it.
const VECTORS: usize = 4;
/// Rows whose lanes are added together.
const ROWS: usize = 8;
/// Rows that are added to columns at once.
pub const AT_ONCE: usize = 4;
/// Elements of the longest rows whose rounding errors are kept.
pub const SHORT_ROW: usize = 8;

/// The loops that sum elements of a type. Operands are bytes, aligned for the type.
///
/// `coarse` is a number whose neighbors are a unit apart: adding an element and subtracting it
/// again gives the element only if that is a multiple of the unit. Where no bound of the error is
/// asked for, magnitudes are 0 while sums are finite.
#[derive(Clone, Copy)]
pub struct SumLoops {
    /// How the sums are computed.
    pub arithmetic: Arithmetic,
    /// Bytes of an element.
    pub width: usize,
    /// Whether elements have as many bits as sums, whose rounding errors are then summed too.
    pub is_wide: bool,
    /// Returns the sum of the elements. Each takes part in at most `count / 32 + 40` additions.
    pub row: fn(&[u8]) -> LongSum,
    /// Returns whether all elements are multiples of the unit of `coarse`.
    pub are_multiples: fn(&[u8], f64) -> bool,
    /// Adds the elements of up to [`AT_ONCE`] rows to the sums at their indices: to `sums`, `lost`
    /// and `magnitudes`.
    pub columns: fn(&[&[u8]], [&mut [f64]; 3]),
    /// Adds the elements of rows as `columns` does, but to `magnitudes` a bound on what `sums` and
    /// `lost` lack, but for its own rounding: 0 where they are exact.
    pub few: fn(&[&[u8]], [&mut [f64]; 3]),
    /// Adds each row of so many elements, at most [`SHORT_ROW`], to a number of `sums`, and to
    /// `magnitudes` as `few` does; of elements that are not wide.
    pub few_rows: RowSums,
    /// Adds each row of so many elements to a number of `sums` and of `magnitudes`; `None` of wide
    /// elements with a bound. Each element takes part in at most `count / 8 + 8` additions.
    pub rows: Option<RowSums>,
    /// Sets bits at the indices of elements that are no multiples of the unit of the number there.
    pub no_multiples: fn(&[u8], &[f64], &mut [u64]),
    /// Adds the elements to an exact sum.
    pub exact: fn(&[u8], &mut ExactSum),
}

/// Adds rows of elements to numbers.
pub type RowSums = fn(&[u8], usize, [&mut [f64]; 2]);

/// A sum, the sum of its rounding errors as far as they are known, and that of magnitudes.
#[derive(Clone, Copy)]
pub struct LongSum {
    /// The sum.
    pub sum: f64,
    /// What it lacks.
    pub lost: f64,
    /// The sum of the magnitudes.
    pub magnitude: f64,
}

impl SumLoops {
    /// Returns the loops of a type.
    pub fn of(ty: ElementType, arithmetic: Arithmetic) -> Option<Self> {
        with_type!(ty, T => {
            let exact = Self {
                arithmetic,
                width: size_of::<T>(),
                is_wide: T::IS_WIDE,
                row: row::<T>,
                are_multiples: are_multiples::<T>,
                columns: columns::<T, true>,
                few: few::<T>,
                few_rows: few_rows::<T>,
                rows: if T::IS_WIDE { None } else { Some(rows::<T, true>) },
                no_multiples: no_multiples::<T>,
                exact: exact::<T>,
            };
            return Some(match arithmetic {
                Arithmetic::Exact => exact,
                Arithmetic::Fast => {
                    let rows: RowSums = rows::<T, false>;
                    let columns = columns::<T, false>;
                    Self { row: fast_row::<T>, columns, rows: Some(rows), ..exact }
                }
            });
        }, [f32, f64, bf16, f16]);
        None
    }
}

/// A float that f64 contains.
trait Term: Pod {
    /// The type in which sums without a bound of the error are formed.
    type Single: Pod + AddAssign + Into<f64>;
    /// -0, the neutral element of addition.
    const NEUTRAL: Self::Single;
    const IS_WIDE: bool = false;
    fn single(self) -> Self::Single;
    #[inline]
    fn wide(self) -> f64 {
        self.single().into()
    }
}
impl Term for f64 {
    type Single = Self;
    const NEUTRAL: Self = -0.0;
    const IS_WIDE: bool = true;
    #[inline]
    fn single(self) -> Self {
        self
    }
}
impl Term for f32 {
    type Single = Self;
    const NEUTRAL: Self = -0.0;
    #[inline]
    fn single(self) -> Self {
        self
    }
}
impl Term for bf16 {
    type Single = f32;
    const NEUTRAL: f32 = -0.0;
    #[inline]
    fn single(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}
impl Term for f16 {
    type Single = f32;
    const NEUTRAL: f32 = -0.0;
    /// Without the conversion of the processor, which takes one element at a time here.
    #[inline]
    fn single(self) -> f32 {
        /// 2^112, the ratio of the smallest numbers.
        const RATIO: f32 = f32::from_bits((127 + 112) << 23);
        let bits = u32::from(self.to_bits());
        let (sign, rest) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
        let finite = f32::from_bits(rest) * RATIO;
        let special = f32::from_bits(rest | 0x7f80_0000);
        let magnitude = if rest < 0x7c00 << 13 { finite } else { special };
        f32::from_bits(magnitude.to_bits() | sign)
    }
}

/// Numbers in a vector.
type Vector = [f64; LANES];

fn row<T: Term>(elements: &[u8]) -> LongSum {
    let (blocks, rest) = bytemuck::cast_slice::<u8, T>(elements).as_chunks();
    // -0 is the neutral element of addition.
    let (mut sums, zeros) = ([[-0.0; LANES]; VECTORS], [[0.0; LANES]; VECTORS]);
    let (mut lost, mut magnitudes) = (zeros, zeros);
    if T::IS_WIDE {
        let (lost, magnitudes) = (&mut lost, &mut magnitudes);
        instruction_set::run(WideRow { blocks, sums: &mut sums, lost, magnitudes });
    } else {
        instruction_set::run(Row { blocks, sums: &mut sums, magnitudes: &mut magnitudes });
    }
    for (lane, x) in rest.iter().enumerate() {
        let (x, lane) = (x.wide(), (lane / LANES, lane % LANES));
        let (sum, error) = two_sum(sums[lane.0][lane.1], x);
        (sums[lane.0][lane.1], lost[lane.0][lane.1]) = (sum, lost[lane.0][lane.1] + error);
        magnitudes[lane.0][lane.1] += x.abs();
    }
    if !T::IS_WIDE {
        return LongSum { sum: total(&sums), lost: 0.0, magnitude: total(&magnitudes) };
    }
    let (mut sum, mut rest) = (-0.0, total(&lost));
    for x in sums.as_flattened() {
        let (next, error) = two_sum(sum, *x);
        (sum, rest) = (next, rest + error);
    }
    LongSum { sum, lost: rest, magnitude: total(&magnitudes) }
}

/// Returns the sum of all lanes. Inlined, it would make the compiler pair sums with magnitudes in
/// [`Row`].
#[inline(never)]
fn total([a, b, c, d]: &[Vector; VECTORS]) -> f64 {
    let [a, b, c, d, e, f, g, h] = plus(plus(*a, *b), plus(*c, *d));
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Returns the sum of the elements in lanes of their type, at least f32. A sum that is not finite
/// is left open: the exact one may be.
fn fast_row<T: Term>(elements: &[u8]) -> LongSum {
    let mut sum = 0.0;
    instruction_set::run(SingleRow::<T> {
        elements: bytemuck::cast_slice(elements),
        sum: &mut sum,
    });
    LongSum { sum, lost: 0.0, magnitude: if sum.is_finite() { 0.0 } else { f64::INFINITY } }
}

struct SingleRow<'a, T> {
    elements: &'a [T],
    sum: &'a mut f64,
}

impl<T: Term> Task for SingleRow<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let (blocks, rest) = self.elements.as_chunks::<{ VECTORS * SINGLE_LANES }>();
        // Four variables stay in registers; an array of them does not.
        let [mut a, mut b, mut c, mut d] = [[T::NEUTRAL; SINGLE_LANES]; VECTORS];
        for block in blocks {
            let (vectors, _) = block.as_chunks::<SINGLE_LANES>();
            (a, b) = (plus(a, singles(&vectors[0])), plus(b, singles(&vectors[1])));
            (c, d) = (plus(c, singles(&vectors[2])), plus(d, singles(&vectors[3])));
        }
        *self.sum = total_of_singles([a, b, c, d], rest);
    }
}

/// Returns the sum of all lanes and of the last elements. Inlined, it would keep the sums in
/// memory.
#[inline(never)]
fn total_of_singles<T: Term>(sums: [[T::Single; SINGLE_LANES]; VECTORS], last: &[T]) -> f64 {
    let mut total = [-0.0; LANES];
    for vector in sums.as_flattened().as_chunks::<LANES>().0 {
        total = plus(total, vector.map(T::Single::into));
    }
    for vector in last.chunks(LANES) {
        for (total, x) in total.iter_mut().zip(vector) {
            *total += x.wide();
        }
    }
    let [a, b, c, d, e, f, g, h] = total;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[inline(always)]
fn singles<T: Term>(x: &[T; SINGLE_LANES]) -> [T::Single; SINGLE_LANES] {
    let mut singles = [T::NEUTRAL; SINGLE_LANES];
    for i in 0..SINGLE_LANES {
        singles[i] = x[i].single();
    }
    singles
}

fn exact<T: Term>(elements: &[u8], sum: &mut ExactSum) {
    for x in bytemuck::cast_slice::<u8, T>(elements) {
        sum.add(x.wide());
    }
}

struct Row<'a, T> {
    blocks: &'a [[T; VECTORS * LANES]],
    sums: &'a mut [Vector; VECTORS],
    magnitudes: &'a mut [Vector; VECTORS],
}

impl<T: Term> Task for Row<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        // Eight variables stay in registers; arrays of them do not.
        let [mut a, mut b, mut c, mut d] = *self.sums;
        let [mut e, mut f, mut g, mut h] = *self.magnitudes;
        for block in self.blocks {
            let (vectors, _) = block.as_chunks::<LANES>();
            let (w, x, y, z) =
                (wide(&vectors[0]), wide(&vectors[1]), wide(&vectors[2]), wide(&vectors[3]));
            (a, b, c, d) = (plus(a, w), plus(b, x), plus(c, y), plus(d, z));
            (e, f) = (plus(e, magnitudes(w)), plus(f, magnitudes(x)));
            (g, h) = (plus(g, magnitudes(y)), plus(h, magnitudes(z)));
        }
        (*self.sums, *self.magnitudes) = ([a, b, c, d], [e, f, g, h]);
    }
}

/// A [`Row`] with the rounding errors of the sums.
struct WideRow<'a, T> {
    blocks: &'a [[T; VECTORS * LANES]],
    sums: &'a mut [Vector; VECTORS],
    lost: &'a mut [Vector; VECTORS],
    magnitudes: &'a mut [Vector; VECTORS],
}

impl<T: Term> Task for WideRow<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let (sums, lost) = (self.sums.as_flattened_mut(), self.lost.as_flattened_mut());
        for block in self.blocks {
            for i in 0..VECTORS * LANES {
                let x = block[i].wide();
                let (sum, error) = two_sum(sums[i], x);
                (sums[i], lost[i]) = (sum, lost[i] + error);
                self.magnitudes.as_flattened_mut()[i] += x.abs();
            }
        }
    }
}

#[inline(always)]
fn wide<T: Term>(x: &[T; LANES]) -> Vector {
    let mut wide = [0.0; LANES];
    for i in 0..LANES {
        wide[i] = x[i].wide();
    }
    wide
}
#[inline(always)]
fn plus<T: Copy + AddAssign, const N: usize>(mut a: [T; N], b: [T; N]) -> [T; N] {
    for i in 0..N {
        a[i] += b[i];
    }
    a
}
#[inline(always)]
fn magnitudes(mut x: Vector) -> Vector {
    for x in &mut x {
        *x = x.abs();
    }
    x
}

/// Returns 0 if `x` is a multiple of the unit of `coarse`.
#[inline]
fn remainder(x: f64, coarse: f64) -> u64 {
    // The difference of equal numbers is +0, that of others is not 0, or NaN.
    (((x + coarse) - coarse) - x).to_bits()
}

fn are_multiples<T: Term>(elements: &[u8], coarse: f64) -> bool {
    let mut found = 0;
    let elements = bytemuck::cast_slice::<u8, T>(elements);
    instruction_set::run(Multiples { elements, coarse, found: &mut found });
    found == 0
}

struct Multiples<'a, T> {
    elements: &'a [T],
    coarse: f64,
    found: &'a mut u64,
}

impl<T: Term> Task for Multiples<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let bits = self.elements.iter().map(|x| remainder(x.wide(), self.coarse));
        *self.found = bits.fold(0, |found, bits| found | bits);
    }
}

fn columns<T: Term, const HAS_BOUND: bool>(
    rows: &[&[u8]],
    [sums, lost, magnitudes]: [&mut [f64]; 3],
) {
    match <[&[u8]; AT_ONCE]>::try_from(rows) {
        Ok(rows) => {
            let rows = rows.map(bytemuck::cast_slice::<u8, T>);
            instruction_set::run(Columns::<'_, T, _, HAS_BOUND> { rows, sums, lost, magnitudes });
        }
        Err(_) => {
            for row in rows {
                let rows = [bytemuck::cast_slice::<u8, T>(row)];
                let (sums, lost, magnitudes) = (&mut *sums, &mut *lost, &mut *magnitudes);
                let columns = Columns::<'_, T, _, HAS_BOUND> { rows, sums, lost, magnitudes };
                instruction_set::run(columns);
            }
        }
    }
}

struct Columns<'a, T, const N: usize, const HAS_BOUND: bool> {
    rows: [&'a [T]; N],
    sums: &'a mut [f64],
    lost: &'a mut [f64],
    magnitudes: &'a mut [f64],
}

impl<T: Term, const N: usize, const HAS_BOUND: bool> Task for Columns<'_, T, N, HAS_BOUND> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let count = self.rows[0].len();
        // Slices of equal length need no checks in the loop.
        let rows = self.rows.map(|row| &row[..count]);
        let (sums, magnitudes) = (&mut self.sums[..count], &mut self.magnitudes[..count]);
        let lost = &mut self.lost[..count];
        for i in 0..count {
            let (mut sum, mut magnitude) = (-0.0, 0.0);
            if T::IS_WIDE && HAS_BOUND {
                sum = sums[i];
                for row in rows {
                    let (next, error) = two_sum(sum, row[i].wide());
                    (sum, lost[i]) = (next, lost[i] + error);
                    magnitude += row[i].wide().abs();
                }
                sums[i] = sum;
            } else {
                for row in rows {
                    let x = row[i].wide();
                    sum += x;
                    if HAS_BOUND {
                        magnitude += x.abs();
                    }
                }
                sums[i] += sum;
            }
            if HAS_BOUND {
                magnitudes[i] += magnitude;
            }
        }
    }
}

fn few<T: Term>(rows: &[&[u8]], [sums, lost, rest]: [&mut [f64]; 3]) {
    instruction_set::run(FewColumns::<T> { rows, sums, lost, rest, ty: PhantomData });
}

/// Rows that are added to sums whose rounding errors are kept.
struct FewColumns<'a, T> {
    rows: &'a [&'a [u8]],
    sums: &'a mut [f64],
    lost: &'a mut [f64],
    rest: &'a mut [f64],
    ty: PhantomData<T>,
}

impl<T: Term> Task for FewColumns<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        for row in self.rows {
            let row = bytemuck::cast_slice::<u8, T>(row);
            let numbers = row.iter().zip(&mut *self.sums);
            let errors = self.lost.iter_mut().zip(&mut *self.rest);
            for ((x, sum), (lost, rest)) in numbers.zip(errors) {
                let (next, mut error) = two_sum(*sum, x.wide());
                if T::IS_WIDE {
                    (*lost, error) = two_sum(*lost, error);
                }
                (*sum, *rest) = (next, *rest + error.abs());
            }
        }
    }
}

fn few_rows<T: Term>(elements: &[u8], inner: usize, [sums, rest]: [&mut [f64]; 2]) {
    let elements = bytemuck::cast_slice::<u8, T>(elements);
    instruction_set::run(FewRows { elements, inner, sums, rest });
}

/// Short rows that are added to sums whose rounding errors are kept.
struct FewRows<'a, T> {
    elements: &'a [T],
    inner: usize,
    sums: &'a mut [f64],
    rest: &'a mut [f64],
}

impl<T: Term> Task for FewRows<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        match self.inner {
            1 => self.rows::<1>(),
            2 => self.rows::<2>(),
            3 => self.rows::<3>(),
            4 => self.rows::<4>(),
            5 => self.rows::<5>(),
            6 => self.rows::<6>(),
            7 => self.rows::<7>(),
            _ => self.rows::<SHORT_ROW>(),
        }
    }
}

impl<T: Term> FewRows<'_, T> {
    #[inline(always)]
    fn rows<const N: usize>(self) {
        let rows = self.elements.as_chunks::<N>().0.iter();
        for (row, (sum, rest)) in rows.zip(self.sums.iter_mut().zip(self.rest)) {
            for x in row {
                let (next, error) = two_sum(*sum, x.wide());
                (*sum, *rest) = (next, *rest + error.abs());
            }
        }
    }
}

fn rows<T: Term, const HAS_BOUND: bool>(
    elements: &[u8],
    inner: usize,
    [sums, magnitudes]: [&mut [f64]; 2],
) {
    let elements = bytemuck::cast_slice::<u8, T>(elements);
    instruction_set::run(Rows::<'_, T, HAS_BOUND> { elements, inner, sums, magnitudes });
}

struct Rows<'a, T, const HAS_BOUND: bool> {
    elements: &'a [T],
    inner: usize,
    sums: &'a mut [f64],
    magnitudes: &'a mut [f64],
}

impl<T: Term, const HAS_BOUND: bool> Task for Rows<'_, T, HAS_BOUND> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        match self.inner {
            1 => self.short::<1>(),
            2 => self.short::<2>(),
            3 => self.short::<3>(),
            4 => self.short::<4>(),
            5 => self.short::<5>(),
            6 => self.short::<6>(),
            7 => self.short::<7>(),
            _ => self.long(),
        }
    }
}

impl<T: Term, const HAS_BOUND: bool> Rows<'_, T, HAS_BOUND> {
    #[inline(always)]
    fn short<const N: usize>(self) {
        let rows = self.elements.as_chunks::<N>().0;
        for (row, sum) in rows.iter().zip(&mut *self.sums) {
            let mut all = row[0].wide();
            for x in &row[1..] {
                all += x.wide();
            }
            *sum += all;
        }
        if HAS_BOUND {
            for (row, magnitude) in rows.iter().zip(self.magnitudes) {
                *magnitude += row.iter().fold(0.0, |all, x| all + x.wide().abs());
            }
        }
    }
    #[inline(always)]
    fn long(self) {
        let mut lanes = [[[-0.0; LANES]; 2]; ROWS];
        let results = self.sums.chunks_mut(ROWS).zip(self.magnitudes.chunks_mut(ROWS));
        for (rows, (sums, sizes)) in self.elements.chunks(ROWS * self.inner).zip(results) {
            for (row, lanes) in rows.chunks_exact(self.inner).zip(&mut lanes) {
                let (blocks, rest) = row.as_chunks::<LANES>();
                let (mut all, mut of_size) = ([-0.0; LANES], [0.0; LANES]);
                for block in blocks {
                    let x = wide(block);
                    all = plus(all, x);
                    if HAS_BOUND {
                        of_size = plus(of_size, magnitudes(x));
                    }
                }
                if !rest.is_empty() {
                    let mut x = [-0.0; LANES];
                    for (x, element) in x.iter_mut().zip(rest) {
                        *x = element.wide();
                    }
                    (all, of_size) = (plus(all, x), plus(of_size, magnitudes(x)));
                }
                *lanes = [all, of_size];
            }
            // Beside the sums of lanes, the compiler would compute the lanes in vectors of two.
            for ((sum, size), [of_sum, of_size]) in sums.iter_mut().zip(sizes).zip(&lanes) {
                *sum += sum_of_lanes(*of_sum);
                if HAS_BOUND {
                    *size += sum_of_lanes(*of_size);
                }
            }
        }
    }
}

#[inline(always)]
fn sum_of_lanes([a, b, c, d, e, f, g, h]: Vector) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

fn no_multiples<T: Term>(row: &[u8], coarse: &[f64], found: &mut [u64]) {
    let row = bytemuck::cast_slice::<u8, T>(row);
    instruction_set::run(NoMultiples { row, coarse, found });
}

struct NoMultiples<'a, T> {
    row: &'a [T],
    coarse: &'a [f64],
    found: &'a mut [u64],
}

impl<T: Term> Task for NoMultiples<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let numbers = self.row.iter().zip(self.coarse);
        for (found, (x, &coarse)) in self.found.iter_mut().zip(numbers) {
            *found |= remainder(x.wide(), coarse);
        }
    }
}
