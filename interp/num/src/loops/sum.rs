//! Sums of floats in f64, with the sums of their magnitudes, which bound the error.
use super::instruction_set::{self, Task};
use super::native_types::with_type;
use crate::Arithmetic;
use crate::accumulator::ExactSum;
use bytemuck::Pod;
use half::{bf16, f16};
use hlo::ElementType;
use std::ops::AddAssign;

/// Numbers of a vector.
const LANES: usize = 8;
/// Numbers of f32 in a vector.
const SINGLE_LANES: usize = 16;
/// Vectors to which elements are added in turn, so that an addition does not wait for the one
/// before it.
const VECTORS: usize = 4;
/// Rows that are added to columns at once.
pub const AT_ONCE: usize = 4;

/// The loops that sum elements of a type with at most 24 significant bits. Operands are bytes,
/// aligned for the type.
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
    /// Returns the sum of the elements and that of their magnitudes. Each element takes part in at
    /// most `count / 32 + 8` additions.
    pub row: fn(&[u8]) -> (f64, f64),
    /// Returns whether all elements are multiples of the unit of `coarse`.
    pub are_multiples: fn(&[u8], f64) -> bool,
    /// Adds the elements of up to [`AT_ONCE`] rows to the sums at their indices, and their
    /// magnitudes to the ones there.
    pub columns: fn(&[&[u8]], &mut [f64], &mut [f64]),
    /// Sets bits at the indices of elements that are no multiples of the unit of the number there.
    pub no_multiples: fn(&[u8], &[f64], &mut [u64]),
    /// Adds the elements to an exact sum.
    pub exact: fn(&[u8], &mut ExactSum),
}

impl SumLoops {
    /// Returns the loops of a type.
    pub fn of(ty: ElementType, arithmetic: Arithmetic) -> Option<Self> {
        with_type!(ty, T => {
            let exact = Self {
                arithmetic,
                width: size_of::<T>(),
                row: row::<T>,
                are_multiples: are_multiples::<T>,
                columns: columns::<T, true>,
                no_multiples: no_multiples::<T>,
                exact: exact::<T>,
            };
            return Some(match arithmetic {
                Arithmetic::Exact => exact,
                Arithmetic::Fast => {
                    Self { row: row_of_f32::<T>, columns: columns::<T, false>, ..exact }
                }
            });
        }, [f32, bf16, f16]);
        None
    }
}

/// A float that f32 contains.
trait Term: Pod {
    fn single(self) -> f32;
    #[inline]
    fn wide(self) -> f64 {
        self.single().into()
    }
}
impl Term for f32 {
    #[inline]
    fn single(self) -> f32 {
        self
    }
}
impl Term for bf16 {
    #[inline]
    fn single(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}
impl Term for f16 {
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

fn row<T: Term>(elements: &[u8]) -> (f64, f64) {
    let (blocks, rest) = bytemuck::cast_slice::<u8, T>(elements).as_chunks();
    // -0 is the neutral element of addition.
    let (mut sums, mut magnitudes) = ([[-0.0; LANES]; VECTORS], [[0.0; LANES]; VECTORS]);
    instruction_set::run(Row { blocks, sums: &mut sums, magnitudes: &mut magnitudes });
    for (lane, x) in rest.iter().enumerate() {
        sums[lane / LANES][lane % LANES] += x.wide();
        magnitudes[lane / LANES][lane % LANES] += x.wide().abs();
    }
    (total(&sums), total(&magnitudes))
}

/// Returns the sum of all lanes. Inlined, it would make the compiler pair sums with magnitudes in
/// [`Row`].
#[inline(never)]
fn total([a, b, c, d]: &[Vector; VECTORS]) -> f64 {
    let [a, b, c, d, e, f, g, h] = plus(plus(*a, *b), plus(*c, *d));
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Returns the sum of the elements in lanes of f32. A sum that is not finite is left open: the
/// exact one may be.
fn row_of_f32<T: Term>(elements: &[u8]) -> (f64, f64) {
    let mut sum = 0.0;
    instruction_set::run(SingleRow::<T> {
        elements: bytemuck::cast_slice(elements),
        sum: &mut sum,
    });
    (sum, if sum.is_finite() { 0.0 } else { f64::INFINITY })
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
        let [mut a, mut b, mut c, mut d] = [[-0.0; SINGLE_LANES]; VECTORS];
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
fn total_of_singles<T: Term>(sums: [[f32; SINGLE_LANES]; VECTORS], last: &[T]) -> f64 {
    let mut total = [-0.0; LANES];
    for vector in sums.as_flattened().as_chunks::<LANES>().0 {
        total = plus(total, vector.map(f64::from));
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
fn singles<T: Term>(x: &[T; SINGLE_LANES]) -> [f32; SINGLE_LANES] {
    let mut singles = [0.0; SINGLE_LANES];
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
    sums: &mut [f64],
    magnitudes: &mut [f64],
) {
    match <[&[u8]; AT_ONCE]>::try_from(rows) {
        Ok(rows) => {
            let rows = rows.map(bytemuck::cast_slice::<u8, T>);
            instruction_set::run(Columns::<'_, T, _, HAS_BOUND> { rows, sums, magnitudes });
        }
        Err(_) => {
            for row in rows {
                let rows = [bytemuck::cast_slice::<u8, T>(row)];
                instruction_set::run(Columns::<'_, T, _, HAS_BOUND> { rows, sums, magnitudes });
            }
        }
    }
}

struct Columns<'a, T, const N: usize, const HAS_BOUND: bool> {
    rows: [&'a [T]; N],
    sums: &'a mut [f64],
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
        for i in 0..count {
            let (mut sum, mut magnitude) = (-0.0, 0.0);
            for row in rows {
                let x = row[i].wide();
                sum += x;
                if HAS_BOUND {
                    magnitude += x.abs();
                }
            }
            sums[i] += sum;
            if HAS_BOUND {
                magnitudes[i] += magnitude;
            }
        }
    }
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
