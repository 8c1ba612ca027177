//! Sums of products of up to eight rows and three vectors of columns, held in registers.
//!
//! The terms of a row are an even distance apart. The words of a term of columns are contiguous,
//! `vectors * LANES` of them.
//! Each instruction set adds the same products in the order of the terms; whether multiplication
//! and addition are fused depends on it.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions that were detected, on memory that was checked"
    )
)]

use half::bf16;
use num::loops::Narrow as _;
use num::loops::instruction_set::Task;
use std::convert::identity;
use std::ops::{Add as _, Mul as _};

/// Rows of a tile, at most.
pub(super) const ROWS: usize = 8;
/// Vectors of columns of a tile, at most.
pub(super) const VECTORS: usize = 3;
/// Bytes of a vector.
const VECTOR_BYTES: usize = 64;

/// Rows of the tiles of `rows` that the processor has registers for: 32 of AVX-512 for 8 rows of
/// three vectors, 16 of AVX2 for 6 rows of two. Eight rows are two tiles of four then.
pub(super) fn rows_of_tile(rows: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx512f") {
        return if rows == ROWS { ROWS / 2 } else { 6 };
    }
    let _ = rows;
    ROWS
}

/// Words in rows that begin `stride` apart, and whose terms are `step` apart.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, W> {
    pub(super) words: &'a [W],
    pub(super) stride: usize,
    pub(super) step: usize,
    pub(super) count: usize,
}

/// Columns, `width` words a term, in terms that begin `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a, W> {
    pub(super) words: &'a [W],
    pub(super) stride: usize,
    pub(super) terms: usize,
    pub(super) width: usize,
}

impl<'a, W> Rows<'a, W> {
    /// Returns the words from the first to the last of so many terms of a row.
    fn terms(&self, row: usize, terms: usize) -> &'a [W] {
        let words = terms.checked_sub(1).map_or(0, |last| last * self.step + 1);
        &self.words[row * self.stride..][..words]
    }
}

impl<'a, W> Columns<'a, W> {
    /// Returns the words of a column.
    pub(super) fn column(self, number: usize) -> impl Iterator<Item = &'a W> {
        self.words[number..].iter().step_by(self.stride).take(self.terms)
    }
    /// Returns the terms from the number `first` on, `most` of them at most.
    pub(super) fn slice(self, first: usize, most: usize) -> Self {
        let words = &self.words[first * self.stride..];
        Self { words, terms: most.min(self.terms - first), ..self }
    }
}

/// A word of packed operands.
pub(super) trait Word: bytemuck::Pod + Default + Send + Sync {
    /// Words of a vector.
    const LANES: usize = VECTOR_BYTES / size_of::<Self>();
}

/// A word whose products are added as words.
pub(super) trait NativeWord: Word {
    /// `self + a * b`.
    #[must_use]
    fn plus_product(self, a: Self, b: Self) -> Self;
    /// `self + other`.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

/// An element of columns, which is multiplied as a word.
pub(super) trait Factor<W>: bytemuck::Pod {
    fn word(self) -> W;
    /// Adds the products of a tile by vector instructions; returns false if the processor has none
    /// that are known.
    fn vectors(tile: &Tile<'_, W, Self>, lines: &mut [&mut [W]]) -> bool;
}

macro_rules! words {
    ($($word:ty, $plus:expr, $times:expr, [$($element:ty, $widen:expr, $vectors:expr;)*])*) => {
        $(impl Word for $word {}
        impl NativeWord for $word {
            #[inline]
            fn plus_product(self, a: Self, b: Self) -> Self {
                $plus(self, $times(a, b))
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }
        }
        $(impl Factor<$word> for $element {
            #[inline]
            fn word(self) -> $word {
                $widen(self)
            }
            fn vectors(tile: &Tile<'_, $word, Self>, lines: &mut [&mut [$word]]) -> bool {
                #[cfg(target_arch = "x86_64")]
                let are_added = $vectors(tile, lines);
                #[cfg(not(target_arch = "x86_64"))]
                let are_added = (|_, _| false)(tile, lines);
                are_added
            }
        })*)*
    };
}
words! {
    f64, f64::add, f64::mul, [
        f64, identity, x86::double::run;
        f32, f64::from, x86::double_of_single::run;
    ]
    f32, f32::add, f32::mul, [
        f32, identity, x86::single::run;
        bf16, bf16::wide, x86::single_of_bf16::run;
    ]
    i32, i32::wrapping_add, i32::wrapping_mul, [i32, identity, x86::integer::run;]
    i64, i64::wrapping_add, i64::wrapping_mul, [i64, identity, |_, _| false;]
}

/// The factors of a product of tiles: the first words of each row, as many as there are terms of
/// columns, and the elements of columns.
pub(super) struct Tile<'a, W, C = W> {
    pub(super) rows: Rows<'a, W>,
    pub(super) columns: Columns<'a, C>,
    /// Whether sums begin, and are not added to what the lines hold.
    pub(super) is_first: bool,
}

/// Adds the products of a sound tile, in words.
pub(super) fn add<W: NativeWord, C: Factor<W>>(tile: &Tile<'_, W, C>, lines: &mut [&mut [W]]) {
    if !C::vectors(tile, lines) {
        portable(tile, lines);
    }
}

/// The loop over a tile whose sums keep their rounding errors.
pub(super) struct Compensated<'a, 'b> {
    pub(super) tile: &'a Tile<'a, f64>,
    pub(super) lines: &'a mut [&'b mut [[f64; 2]]],
}

impl Task for Compensated<'_, '_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        self.sums::<true>();
    }
    fn run_baseline(self) {
        self.sums::<false>();
    }
}

impl Compensated<'_, '_> {
    /// Forms the sums, a few rows and a vector of columns at a time; `FUSED` says whether the
    /// processor has fused multiply-add, by which a product's error is found sooner.
    #[inline(always)]
    fn sums<const FUSED: bool>(self) {
        if self.tile.rows.count == 1 {
            self.of_rows::<FUSED, 1>();
        } else {
            self.of_rows::<FUSED, 4>();
        }
    }
    #[inline(always)]
    fn of_rows<const FUSED: bool, const SIDE: usize>(self) {
        const LANES: usize = <f64 as Word>::LANES;
        let Tile { rows, columns: Columns { words, stride, terms, width }, is_first } = *self.tile;
        for first in (0..rows.count).step_by(SIDE) {
            // Missing rows repeat the last one; their sums are dropped.
            let row = |i: usize| rows.terms((first + i).min(rows.count - 1), terms);
            let operands: [&[f64]; SIDE] = std::array::from_fn(row);
            for start in (0..width).step_by(LANES) {
                let (mut sums, mut lost) = ([[0.0; LANES]; SIDE], [[0.0; LANES]; SIDE]);
                if !is_first {
                    for (i, line) in self.lines[first..].iter().take(SIDE).enumerate() {
                        for (j, &sum) in line[start..][..LANES].iter().enumerate() {
                            [sums[i][j], lost[i][j]] = sum;
                        }
                    }
                }
                for (k, column) in words.chunks(stride).take(terms).enumerate() {
                    let (columns, _) = column[start..].as_chunks::<LANES>();
                    let column = columns[0];
                    for i in 0..SIDE {
                        let a = operands[i][k * rows.step];
                        for j in 0..LANES {
                            let (b, before) = (column[j], sums[i][j]);
                            let product = a * b;
                            let error =
                                if FUSED { a.mul_add(b, -product) } else { lost_of(product, a, b) };
                            let sum = before + product;
                            let part = sum - before;
                            let left = lost[i][j] + ((before - (sum - part)) + (product - part));
                            lost[i][j] = left + error;
                            sums[i][j] = sum;
                        }
                    }
                }
                for (i, line) in self.lines[first..].iter_mut().take(SIDE).enumerate() {
                    for (j, sum) in line[start..][..LANES].iter_mut().enumerate() {
                        *sum = [sums[i][j], lost[i][j]];
                    }
                }
            }
        }
    }
}

/// Returns what rounding left out of a product, exactly (Dekker's product).
#[inline(always)]
fn lost_of(product: f64, a: f64, b: f64) -> f64 {
    let ([a_high, a_low], [b_high, b_low]) = (halves(a), halves(b));
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}

/// Returns a number as two of at most 27 bits, whose products are exact (Veltkamp's splitting).
#[inline(always)]
fn halves(x: f64) -> [f64; 2] {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let shifted = SPLITTER * x;
    let high = shifted - (shifted - x);
    [high, x - high]
}

/// Four rows and four columns at a time, in plain loops.
fn portable<W: NativeWord, C: Factor<W>>(tile: &Tile<'_, W, C>, lines: &mut [&mut [W]]) {
    const SIDE: usize = 4;
    let Tile { rows, columns: Columns { words, stride, terms, width }, is_first } = *tile;
    for first in (0..rows.count).step_by(SIDE) {
        // Missing rows repeat the last one; their sums are dropped.
        let row = |i: usize| rows.terms((first + i).min(rows.count - 1), terms);
        let operands: [&[W]; SIDE] = std::array::from_fn(row);
        for start in (0..width).step_by(SIDE) {
            let mut products = [[W::default(); SIDE]; SIDE];
            for (k, column) in words.chunks(stride).take(terms).enumerate() {
                let column = &column[start..start + SIDE];
                for (operand, products) in operands.iter().zip(&mut products) {
                    for (sum, &b) in products.iter_mut().zip(column) {
                        *sum = sum.plus_product(operand[k * rows.step], b.word());
                    }
                }
            }
            for (line, products) in lines[first..].iter_mut().zip(&products) {
                for (sum, &x) in line[start..].iter_mut().zip(products) {
                    *sum = if is_first { x } else { sum.plus(x) };
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::wildcard_imports, reason = "the instructions are named below, for each type")]
mod x86 {
    use super::Tile;
    use half::bf16;
    use std::arch::x86_64::*;

    /// The kernels of a type of words: registers, the instructions on them, and for each type of
    /// elements of columns those that load words.
    macro_rules! kernels {
        ($word:ty, $wide:tt, $narrow:tt,
         $($module:ident: $element:ty, $load_wide:expr, $load_narrow:expr;)*) => {
            $(pub(super) mod $module {
                use super::*;

                register!("avx512f", avx512, $word, $element, $load_wide, $wide);
                register!("avx2,fma", avx2, $word, $element, $load_narrow, $narrow);

                /// Runs the best kernel that the processor has.
                pub(in super::super) fn run(
                    tile: &Tile<'_, $word, $element>,
                    lines: &mut [&mut [$word]],
                ) -> bool {
                    if std::arch::is_x86_feature_detected!("avx512f") {
                        // SAFETY: the processor has the instructions.
                        unsafe { avx512(tile, lines) };
                        return true;
                    }
                    if std::arch::is_x86_feature_detected!("avx2")
                        && std::arch::is_x86_feature_detected!("fma")
                    {
                        // SAFETY: the processor has the instructions.
                        unsafe { avx2(tile, lines) };
                        return true;
                    }
                    false
                }
            })*
        };
    }

    /// A kernel of one instruction set: rows by eight or six, four, two or one as its registers
    /// allow.
    macro_rules! register {
        ($features:literal, $name:ident, $word:ty, $element:ty, $load_words:expr,
         ($rows:literal, $registers:literal, $zero:ident, $set:ident, $load:ident, $store:ident, $add:ident, $fma:expr)) => {
            #[target_feature(enable = $features)]
            pub(in super::super) fn $name(
                tile: &Tile<'_, $word, $element>,
                lines: &mut [&mut [$word]],
            ) {
                /// `R` rows from `row` on, `N` registers of columns from `at` on.
                #[target_feature(enable = $features)]
                fn part<const R: usize, const N: usize>(
                    tile: &Tile<'_, $word, $element>,
                    row: usize,
                    at: usize,
                    lines: &mut [&mut [$word]],
                ) {
                    let lanes = size_of_val(&$zero()) / size_of::<$word>();
                    let (stride, columns) = (tile.rows.stride, &tile.columns);
                    let mut acc = [[$zero(); N]; R];
                    // SAFETY: `add_products` has checked that rows, columns and lines hold the
                    // tile.
                    unsafe {
                        let mut a = tile.rows.words.as_ptr().add(row * stride);
                        let mut b = columns.words.as_ptr().add(at);
                        for _ in 0..columns.terms {
                            let mut vectors = [$zero(); N];
                            for (n, column) in vectors.iter_mut().enumerate() {
                                *column = $load_words(b.add(n * lanes).cast());
                            }
                            for (r, acc) in acc.iter_mut().enumerate() {
                                let x = $set(*a.add(r * stride));
                                for (acc, &column) in acc.iter_mut().zip(&vectors) {
                                    *acc = $fma(x, column, *acc);
                                }
                            }
                            a = a.wrapping_add(tile.rows.step);
                            b = b.wrapping_add(columns.stride);
                        }
                        for (line, acc) in lines[row..row + R].iter_mut().zip(&acc) {
                            for (n, &acc) in acc.iter().enumerate() {
                                let to = line.as_mut_ptr().add(at + n * lanes);
                                let sum =
                                    if tile.is_first { acc } else { $add($load(to.cast()), acc) };
                                $store(to.cast(), sum);
                            }
                        }
                    }
                }

                let lanes = size_of_val(&$zero()) / size_of::<$word>();
                let registers = tile.columns.width / lanes;
                let mut row = 0;
                while row < tile.rows.count {
                    let rows = match tile.rows.count - row {
                        8.. if $rows == 8 => 8,
                        6.. if $rows == 6 => 6,
                        4.. => 4,
                        2.. => 2,
                        left => left,
                    };
                    let mut register = 0;
                    while register < registers {
                        let count = (registers - register).min($registers);
                        let at = register * lanes;
                        match (rows, count) {
                            (8, 3) => part::<8, 3>(tile, row, at, lines),
                            (8, 2) => part::<8, 2>(tile, row, at, lines),
                            (8, _) => part::<8, 1>(tile, row, at, lines),
                            (6, 2) => part::<6, 2>(tile, row, at, lines),
                            (6, _) => part::<6, 1>(tile, row, at, lines),
                            (4, 3) => part::<4, 3>(tile, row, at, lines),
                            (4, 2) => part::<4, 2>(tile, row, at, lines),
                            (4, _) => part::<4, 1>(tile, row, at, lines),
                            (2, 3) => part::<2, 3>(tile, row, at, lines),
                            (2, 2) => part::<2, 2>(tile, row, at, lines),
                            (2, _) => part::<2, 1>(tile, row, at, lines),
                            (_, 3) => part::<1, 3>(tile, row, at, lines),
                            (_, 2) => part::<1, 2>(tile, row, at, lines),
                            (..) => part::<1, 1>(tile, row, at, lines),
                        }
                        register += count;
                    }
                    row += rows;
                }
            }
        };
    }

    kernels! {
        f64,
        (
            8, 3, _mm512_setzero_pd, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd,
            _mm512_add_pd, _mm512_fmadd_pd
        ),
        (
            6, 2, _mm256_setzero_pd, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd,
            _mm256_add_pd, _mm256_fmadd_pd
        ),
        double: f64, _mm512_loadu_pd, _mm256_loadu_pd;
        double_of_single: f32,
            |x: *const f32| _mm512_cvtps_pd(_mm256_loadu_ps(x)),
            |x: *const f32| _mm256_cvtps_pd(_mm_loadu_ps(x));
    }
    kernels! {
        f32,
        (
            8, 3, _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
            _mm512_add_ps, _mm512_fmadd_ps
        ),
        (
            6, 2, _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps,
            _mm256_add_ps, _mm256_fmadd_ps
        ),
        single: f32, _mm512_loadu_ps, _mm256_loadu_ps;
        single_of_bf16: bf16,
            |x: *const __m256i| _mm512_castsi512_ps(
                _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_loadu_si256(x)))
            ),
            |x: *const __m128i| _mm256_castsi256_ps(
                _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(x)))
            );
    }
    kernels! {
        i32,
        (
            8, 3, _mm512_setzero_si512, _mm512_set1_epi32, _mm512_loadu_si512, _mm512_storeu_si512,
            _mm512_add_epi32, |a, b, sum| _mm512_add_epi32(sum, _mm512_mullo_epi32(a, b))
        ),
        (
            6, 2, _mm256_setzero_si256, _mm256_set1_epi32, _mm256_loadu_si256, _mm256_storeu_si256,
            _mm256_add_epi32, |a, b, sum| _mm256_add_epi32(sum, _mm256_mullo_epi32(a, b))
        ),
        integer: i32, _mm512_loadu_si512, _mm256_loadu_si256;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop of an instruction set.
    type TileFn<W, C> = fn(&Tile<'_, W, C>, &mut [&mut [W]]);

    /// The sums of every instruction set that the processor has are those of the plain loops:
    /// products and sums are small integers.
    fn compare<W: NativeWord + PartialEq + std::fmt::Debug, C: Factor<W>>(
        number: impl Fn(usize) -> C,
        others: &[TileFn<W, C>],
    ) {
        let word = |i: usize| number(i).word();
        for (count, vectors, terms) in
            (1..=ROWS).flat_map(|r| (1..=VECTORS).flat_map(move |v| [1, 2, 7].map(|k| (r, v, k))))
        {
            let width = vectors * W::LANES;
            let (stride, step) = if count % 3 == 1 { (2, ROWS + 9) } else { (terms + 3, 1) };
            let words: Vec<W> = (0..count * stride + terms * step).map(word).collect();
            let between = width + 2 * (count % 2);
            let words_of_columns: Vec<C> = (0..terms * between).map(|i| number(i + 5)).collect();
            let columns = Columns { words: &words_of_columns, stride: between, terms, width };
            let start: Vec<W> = (0..count * width).map(|i| word(i + 1)).collect();
            let rows = Rows { words: &words, stride, step, count };
            for is_first in [false, true] {
                let tile = Tile { rows, columns, is_first };
                let sums = |run: &dyn Fn(&mut [&mut [W]])| {
                    let mut sums = start.clone();
                    run(&mut sums.chunks_mut(width).collect::<Vec<_>>());
                    sums
                };
                let expected = sums(&|lines| portable(&tile, lines));
                let found = sums(&|lines| add(&tile, lines));
                assert_eq!(found, expected, "{count} rows, {vectors} vectors, {terms} terms");
                for other in others {
                    let found = sums(&|lines| other(&tile, lines));
                    assert_eq!(found, expected, "{count} rows, {vectors} vectors, {terms} terms");
                }
            }
        }
    }

    #[test]
    fn instruction_sets_agree() {
        let small = |i: usize| i32::try_from(i * i % 23).expect("a small number") - 11;
        let single = |i: usize| f32::from(i8::try_from(small(i)).expect("a small number"));
        let double = |i: usize| f64::from(small(i));
        let narrow = |i: usize| bf16::from_f32(single(i));
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            macro_rules! compare_avx2 {
                ($($number:expr, $word:ty, $module:ident;)*) => {
                    // SAFETY: the processor has the instructions, and the tiles are sound.
                    $(compare::<$word, _>(
                        $number,
                        &[|tile, lines| unsafe { x86::$module::avx2(tile, lines) }],
                    );)*
                };
            }
            compare_avx2! {
                small, i32, integer;
                single, f32, single;
                narrow, f32, single_of_bf16;
                double, f64, double;
                single, f64, double_of_single;
            }
        }
        compare::<i32, _>(small, &[]);
        compare::<f32, _>(single, &[]);
        compare::<f32, _>(narrow, &[]);
        compare::<f64, _>(double, &[]);
        compare::<f64, _>(single, &[]);
    }
}
