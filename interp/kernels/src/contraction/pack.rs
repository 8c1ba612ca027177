//! Operands packed for tiles: rows one after the other, columns in panels, term by term.
use super::accumulator::Accumulator;
use super::tile::{VECTORS, Word};
use super::{LhsOffsets, Lists, TermRun};
use crate::squares::{SIDE, is_fast, transpose};
use bytemuck::Zeroable as _;
use hlo::Scalar;
use num::loops::instruction_set::{Task, run};

/// The offsets of the elements of a batch in an operand: a start plus the offsets of an index
/// and of a term.
#[derive(Clone, Copy)]
pub(super) struct PackSource<'a, S> {
    pub(super) elements: &'a [S],
    pub(super) start: usize,
    pub(super) indices: &'a [usize],
    pub(super) terms: &'a [usize],
    pub(super) order: Order,
}

/// The elements that are neighbors in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Indices,
    Terms,
    Any,
}

impl Order {
    /// Returns the order of elements at the sums of two offsets.
    pub(super) fn of(Lists { indices, terms, .. }: Lists<'_>) -> Self {
        match (indices.are_neighbors(), terms.are_neighbors()) {
            (true, _) if indices.len() > 1 => Self::Indices,
            (_, true) => Self::Terms,
            (true, false) => Self::Indices,
            (false, false) => Self::Any,
        }
    }
}

/// Returns the columns of a panel.
pub(super) const fn panel_width<W: Word>() -> usize {
    VECTORS * W::LANES
}

/// Terms that are transposed at a time: what they touch stays in the innermost cache.
const TRANSPOSED: usize = 32;
/// Terms of all panels that are copied before the next ones: their lines, which may be a power of
/// two apart, do not take each other's place in the cache before all panels have read them.
const TOGETHER: usize = 8;
/// Elements that loops take at a time, for the compiler to see their number.
const CHUNK: usize = 8;

/// Packs columns into panels, and adds the squares of their elements.
pub(super) fn pack_columns<K: Accumulator>(
    source: PackSource<'_, K::Stored>,
    words: &mut [K::Word],
    squares: &mut [f64],
) {
    run(PackColumns::<K> { source, words, squares });
}

struct PackColumns<'a, K: Accumulator> {
    source: PackSource<'a, K::Stored>,
    words: &'a mut [K::Word],
    squares: &'a mut [f64],
}

impl<K: Accumulator> Task for PackColumns<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { source, words, squares } = self;
        let side = panel_width::<K::Word>();
        let terms = source.terms.len();
        squares.fill(0.0);
        if source.order == Order::Indices {
            let first = source.start + source.indices[0];
            for (part, terms_of_part) in source.terms.chunks(TOGETHER).enumerate() {
                let panels = words.chunks_mut(side * terms).zip(squares.chunks_mut(side));
                for (p, (panel, squares)) in panels.enumerate() {
                    let elements = &source.elements[first + p * side..];
                    let used = side.min(source.indices.len() - p * side);
                    let width = panel.len() / terms;
                    let words = &mut panel[part * TOGETHER * width..];
                    // Whole vectors, as many as registers hold.
                    match (used, width) {
                        (24, 24) => copy_panel::<K, 3>(elements, terms_of_part, words, squares),
                        (48, 48) => copy_panel::<K, 6>(elements, terms_of_part, words, squares),
                        _ => {
                            let lines = words.chunks_exact_mut(width);
                            for (&term, words) in terms_of_part.iter().zip(lines) {
                                copy_term::<K>(&elements[term..term + used], words, squares);
                            }
                        }
                    }
                }
            }
            return;
        }
        let has_squares = source.order == Order::Terms && is_fast::<K::Word>();
        let panels = words.chunks_mut(side * terms).zip(squares.chunks_mut(side));
        for (indices, (panel, squares)) in source.indices.chunks(side).zip(panels) {
            let width = panel.len() / terms;
            let parts = panel.chunks_mut(TRANSPOSED * width);
            for (terms, part) in source.terms.chunks(TRANSPOSED).zip(parts) {
                let has_squares = has_squares && terms.len() == TRANSPOSED;
                let lanes = if has_squares { indices.len() / SIDE * SIDE } else { 0 };
                for (i, indices) in indices[..lanes].chunks(SIDE).enumerate() {
                    for (terms, part) in terms.chunks(SIDE).zip(part.chunks_mut(SIDE * width)) {
                        let mut square = [[K::Word::default(); SIDE]; SIDE];
                        for (row, &index) in square.iter_mut().zip(indices) {
                            let at = source.start + index + terms[0];
                            copy_run::<K>(&source.elements[at..at + SIDE], row);
                        }
                        let starts = std::array::from_fn(|i| i * SIDE);
                        let to = &mut part[i * SIDE..];
                        transpose(square.as_flattened(), starts, to, width);
                    }
                }
                for (lane, &index) in indices.iter().enumerate().skip(lanes) {
                    let at = source.start + index;
                    let slots = part[lane..].iter_mut().step_by(width);
                    if source.order == Order::Terms {
                        let line = &source.elements[at + terms[0]..][..terms.len()];
                        slots.zip(line).for_each(|(slot, &x)| *slot = K::pack(x));
                    } else {
                        let line = terms.iter().map(|&term| source.elements[at + term]);
                        slots.zip(line).for_each(|(slot, x)| *slot = K::pack(x));
                    }
                }
                if !K::HAS_BOUND {
                    continue;
                }
                for term in part.chunks_exact(width) {
                    for (square, &word) in squares.iter_mut().zip(term) {
                        *square += K::square(word);
                    }
                }
            }
        }
    }
}

/// Terms of a panel of `N` chunks of columns, of elements that follow each other. Sums of squares
/// stay in registers.
#[inline(always)]
fn copy_panel<K: Accumulator, const N: usize>(
    elements: &[K::Stored],
    terms: &[usize],
    words: &mut [K::Word],
    squares: &mut [f64],
) {
    let (squares, _) = squares.as_chunks_mut::<CHUNK>();
    let mut sums: [_; N] = std::array::from_fn(|chunk| squares[chunk]);
    for (&term, words) in terms.iter().zip(words.chunks_exact_mut(N * CHUNK)) {
        let (line, _) = elements[term..term + N * CHUNK].as_chunks::<CHUNK>();
        let (words, _) = words.as_chunks_mut::<CHUNK>();
        for chunk in 0..N {
            for i in 0..CHUNK {
                words[chunk][i] = K::pack(line[chunk][i]);
                if K::HAS_BOUND {
                    sums[chunk][i] += K::square(words[chunk][i]);
                }
            }
        }
    }
    squares.copy_from_slice(&sums);
}

/// One term of a panel, from elements that follow each other.
#[inline(always)]
fn copy_term<K: Accumulator>(line: &[K::Stored], words: &mut [K::Word], squares: &mut [f64]) {
    let (chunks, rest) = line.as_chunks::<CHUNK>();
    let (words, _) = words.as_chunks_mut::<CHUNK>();
    let (whole, last) = squares.split_at_mut(chunks.len() * CHUNK);
    let (whole, _) = whole.as_chunks_mut::<CHUNK>();
    for ((elements, words), squares) in chunks.iter().zip(words.iter_mut()).zip(whole) {
        for i in 0..CHUNK {
            words[i] = K::pack(elements[i]);
            if K::HAS_BOUND {
                squares[i] += K::square(words[i]);
            }
        }
    }
    if let Some(words) = words.get_mut(chunks.len()) {
        for ((&x, word), square) in rest.iter().zip(words).zip(last) {
            *word = K::pack(x);
            *square += K::square(*word);
        }
    }
}

/// Packs the rows of a batch from `first` on that `words` has room for, `stride` words apart;
/// padding becomes zeros. `order` is that of sums of offsets.
pub(super) fn pack_rows<K: Accumulator>(
    (lhs, order): (LhsOffsets<'_>, Order),
    elements: &[K::Stored],
    (batch, first): (usize, usize),
    words: &mut [K::Word],
    stride: usize,
) {
    match lhs {
        LhsOffsets::Sums(Lists { batches, indices, terms }) => {
            let indices = &indices.list()[first..][..words.len().div_ceil(stride)];
            let source =
                PackSource { elements, start: batches[batch], indices, terms: &terms, order };
            run(RowsOf::<K> { source, words, stride });
        }
        LhsOffsets::Runs { step, of, .. } => {
            let mut runs = Vec::new();
            for (i, words) in words.chunks_mut(stride).enumerate() {
                runs.clear();
                of(batch, first + i, &mut runs);
                words.fill(K::Word::default());
                for &TermRun { term, lhs, count } in &runs {
                    let words = &mut words[term..term + count];
                    if step == 1 {
                        copy_run::<K>(&elements[lhs..lhs + count], words);
                    } else {
                        let elements = elements[lhs..].iter().step_by(step);
                        words.iter_mut().zip(elements).for_each(|(word, &x)| *word = K::pack(x));
                    }
                }
            }
        }
    }
}

struct RowsOf<'a, K: Accumulator> {
    source: PackSource<'a, K::Stored>,
    words: &'a mut [K::Word],
    stride: usize,
}

impl<K: Accumulator> Task for RowsOf<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { source: PackSource { elements, start, indices, terms, order }, words, stride } =
            self;
        let rows = indices.iter().zip(words.chunks_mut(stride));
        match order {
            Order::Terms => {
                for (&index, row) in rows {
                    copy_run::<K>(&elements[start + index + terms[0]..][..terms.len()], row);
                }
            }
            Order::Indices => {
                let at = start + indices[0];
                let is_square = is_fast::<K::Word>() && terms.len() >= SIDE;
                let count = if is_square { indices.len() / SIDE * SIDE } else { 0 };
                let whole = terms.len() / SIDE * SIDE;
                for (part, terms) in terms[..whole].chunks(SIDE).enumerate() {
                    let squares = words[..count * stride].chunks_mut(SIDE * stride);
                    for (i, rows) in squares.enumerate() {
                        let mut square = [[K::Word::default(); SIDE]; SIDE];
                        for (line, &term) in square.iter_mut().zip(terms) {
                            let at = at + term + i * SIDE;
                            copy_run::<K>(&elements[at..at + SIDE], line);
                        }
                        let starts = std::array::from_fn(|i| i * SIDE);
                        transpose(square.as_flattened(), starts, &mut rows[part * SIDE..], stride);
                    }
                }
                for (part, terms) in terms.chunks(CHUNK).enumerate() {
                    let first = if part * CHUNK < whole { count } else { 0 };
                    let rows = words.chunks_mut(stride).take(indices.len()).enumerate();
                    for (r, row) in rows.skip(first) {
                        for (word, &term) in row[part * CHUNK..].iter_mut().zip(terms) {
                            *word = K::pack(elements[at + term + r]);
                        }
                    }
                }
            }
            Order::Any => {
                for (&index, row) in rows {
                    for (word, &term) in row.iter_mut().zip(terms) {
                        *word = K::pack(elements[start + index + term]);
                    }
                }
            }
        }
    }
}

/// Packs elements that follow each other.
#[inline(always)]
fn copy_run<K: Accumulator>(elements: &[K::Stored], words: &mut [K::Word]) {
    for (word, &x) in words.iter_mut().zip(elements) {
        *word = K::pack(x);
    }
}

/// Writes a bound on the sum of the squares of each column, from its largest element. Columns are
/// neighbors, as many as whole chunks; terms are `stride` apart.
pub(super) fn bound_squares<K: Accumulator>(
    elements: &[K::Stored],
    stride: usize,
    terms: usize,
    squares: &mut [f64],
) {
    run(ColumnBounds::<K> { elements, stride, terms, squares });
}

struct ColumnBounds<'a, K: Accumulator> {
    elements: &'a [K::Stored],
    stride: usize,
    terms: usize,
    squares: &'a mut [f64],
}

impl<K: Accumulator> Task for ColumnBounds<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        const WIDE: usize = 8 * CHUNK;
        let at = self.squares.len() / WIDE * WIDE;
        let (wide, rest) = self.squares.split_at_mut(at);
        let all = [(0, wide), (at, rest)];
        for (k, (first, squares)) in all.into_iter().enumerate() {
            let elements = self.elements[first..].chunks(self.stride).take(self.terms);
            match k {
                0 => bounds_of::<K, WIDE>(&elements, squares),
                _ => bounds_of::<K, CHUNK>(&elements, squares),
            }
        }
    }
}

/// The same of columns in chunks of `N`, from the elements from the first column on of each term.
#[inline(always)]
fn bounds_of<'a, K: Accumulator + 'a, const N: usize>(
    lines: &(impl ExactSizeIterator<Item = &'a [K::Stored]> + Clone),
    squares: &mut [f64],
) {
    let terms = Scalar::Unsigned(lines.len().try_into().unwrap_or(u64::MAX)).as_f64();
    for (i, squares) in squares.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let mut largest = [K::Stored::zeroed(); N];
        for line in lines.clone() {
            let line = &line.as_chunks::<N>().0[i];
            for lane in 0..N {
                largest[lane] = K::larger(largest[lane], line[lane]);
            }
        }
        for lane in 0..N {
            squares[lane] = terms * K::square(K::pack(largest[lane]));
        }
    }
}

/// Returns the sum of the squares of words.
pub(super) fn sum_of_squares<K: Accumulator>(words: &[K::Word]) -> f64 {
    let (mut squares, mut sum) = ([0.0; 2 * CHUNK], 0.0);
    if !K::HAS_BOUND {
        return sum;
    }
    run(Squares::<K> { words, lanes: &mut squares, rest: &mut sum });
    sum + squares.iter().sum::<f64>()
}

struct Squares<'a, K: Accumulator> {
    words: &'a [K::Word],
    lanes: &'a mut [f64; 2 * CHUNK],
    rest: &'a mut f64,
}

impl<K: Accumulator> Task for Squares<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let (chunks, rest) = self.words.as_chunks::<{ 2 * CHUNK }>();
        let mut squares = [0.0; 2 * CHUNK];
        for words in chunks {
            for i in 0..2 * CHUNK {
                squares[i] += K::square(words[i]);
            }
        }
        *self.lanes = squares;
        *self.rest = rest.iter().map(|&word| K::square(word)).sum();
    }
}
