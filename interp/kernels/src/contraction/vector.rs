//! A matrix times a vector: sums of one row or of one column, at the speed of memory.
use super::accumulator::{self, Accumulator, SumLanes};
use super::job::Job;
use super::pack::{Order, PackSource, pack_rows};
use super::{LhsOffsets, Lists};
use crate::cost_model::MULTIPLIED;
use crate::squares::{self, SIDE};
use num::loops::instruction_set::{Task, run};
use num::parallel::{parts, threads};

/// Sums that do not wait for each other.
const LANES: usize = 32;
/// The same, of the last terms, and of sums that take many instructions themselves.
const FEW: usize = 8;
/// Sums that a thread forms at a time: they stay in the innermost cache.
const SUMS: usize = 256;

/// Terms of the longest lines that are brought beside one another, and the fewest such lines.
const BESIDE: usize = 256;
const FEWEST: usize = 3;
const _: () = assert!(accumulator::LANES == SIDE, "a square has a line for each lane");

/// Returns whether so many lines of a matrix, of neighbors, are brought beside one another.
fn are_beside<K: Accumulator>(lines: usize, terms: usize) -> bool {
    K::HAS_BOUND && terms <= BESIDE && lines >= FEWEST
}

/// Returns the bytes of the vector, and of a line of the matrix.
pub(super) fn bytes(terms: usize) -> usize {
    terms.saturating_mul(2 * size_of::<f64>())
}

/// A matrix at sums of offsets.
struct Matrix<'a, S> {
    elements: &'a [S],
    lists: Lists<'a>,
    order: Order,
}

/// All sums of the plan, if it is one of matrices and vectors. Returns whether it is.
pub(super) fn run_vectors<K: Accumulator>(job: &Job<'_, K>, out: &mut [u8]) -> bool {
    let plan = job.plan;
    let Lists { batches, indices, terms } = plan.rhs;
    let matrix_of = |elements, lists| Matrix { elements, lists, order: Order::of(lists) };
    let is_column = indices.len() == 1;
    let matrix = match plan.lhs {
        LhsOffsets::Sums(lists) if is_column => Some(matrix_of(job.lhs, lists)),
        LhsOffsets::Runs { .. } if is_column => None,
        LhsOffsets::Sums(_) | LhsOffsets::Runs { .. } if plan.rows == 1 => {
            Some(matrix_of(job.rhs, plan.rhs))
        }
        LhsOffsets::Sums(_) | LhsOffsets::Runs { .. } => return false,
    };
    job.batches(
        out,
        || (),
        |(), batch, out, is_parallel| {
            let mut vector = vec![K::Word::default(); terms.len()];
            if is_column {
                let start = batches[batch] + indices[0];
                for (x, &term) in vector.iter_mut().zip(terms) {
                    *x = K::pack(job.rhs[start + term]);
                }
            } else {
                let row = (plan.lhs, plan.lhs.order());
                pack_rows::<K>(row, job.lhs, (batch, 0), &mut vector, terms.len());
            }
            Product { job, batch, matrix: matrix.as_ref(), vector: &vector }.run(out, is_parallel);
        },
    );
    true
}

/// One batch.
struct Product<'a, 'b, K: Accumulator> {
    job: &'a Job<'b, K>,
    batch: usize,
    /// The matrix, or none if it is of rows that are not at sums of offsets.
    matrix: Option<&'a Matrix<'b, K::Stored>>,
    vector: &'a [K::Word],
}

impl<K: Accumulator> Product<'_, '_, K> {
    fn run(&self, out: &mut [u8], is_parallel: bool) {
        let width = self.job.rounding.to.storage_bytes();
        if is_parallel {
            // Neighbors stay together.
            let count = (out.len() / width).div_ceil(4 * threads()).next_multiple_of(FEW);
            let count = count.clamp(LANES, SUMS);
            let least = (MULTIPLIED / count / self.vector.len().max(1)).max(1);
            let size = (count * width, least);
            parts(out, size, |i, out| self.part(i * count, out));
        } else {
            let part = |(i, out): (usize, &mut [u8])| self.part(i * SUMS, out);
            out.chunks_mut(SUMS * width).enumerate().for_each(part);
        }
    }

    /// The sums from the number `first` on that `out` has room for.
    fn part(&self, first: usize, out: &mut [u8]) {
        let count = out.len() / self.job.rounding.to.storage_bytes();
        match count <= LANES {
            _ if self.job.stop.is_set() => {}
            true => self.part_of::<LANES>((first, count), out),
            false => self.part_of::<SUMS>((first, count), out),
        }
    }
    /// The same, of at most `N` sums.
    fn part_of<const N: usize>(&self, (first, count): (usize, usize), out: &mut [u8]) {
        let job = self.job;
        let width = job.rounding.to.storage_bytes();
        let (mut sums, mut magnitudes) = ([K::Sum::default(); N], [0.0; N]);
        let (sums, magnitudes) = (&mut sums[..count], &mut magnitudes[..count]);
        let terms = self.vector.len();
        let sum_depth = terms.min(terms / LANES + 2 * LANES);
        let depth = match self.matrix {
            Some(&Matrix { elements, lists, order }) => {
                let (start, indices) =
                    (lists.batches[self.batch], &lists.indices[first..][..count]);
                let source = PackSource { elements, start, indices, terms: &lists.terms, order };
                let neighbors = if order == Order::Any { lists.indices.run() } else { 1 };
                let vector = self.vector;
                run(WithVector::<K> { source, neighbors, vector, sums, magnitudes });
                let is_in_order = order != Order::Terms || are_beside::<K>(count, terms);
                if is_in_order { terms } else { sum_depth }
            }
            None => {
                let mut line = vec![K::Word::default(); terms];
                for (i, (sum, magnitude)) in sums.iter_mut().zip(&mut *magnitudes).enumerate() {
                    self.pack_line(first + i, &mut line);
                    run(WithLine::<K> { line: &line, vector: self.vector, sum, magnitude });
                }
                sum_depth
            }
        };
        let error = job.error.of_depth(depth);
        if K::round(sums, error, (1.0, magnitudes), job.rounding, out) {
            return;
        }
        let mut unit = None;
        for (i, slot) in out.chunks_exact_mut(width).enumerate() {
            let (sum, magnitude) = (sums[i], magnitudes[i]);
            if K::round(&[sum], error, (1.0, &[magnitude]), job.rounding, slot)
                || job.decide(sum, magnitude, slot)
            {
                continue;
            }
            let mut line = vec![K::Word::default(); terms];
            self.pack_line(first + i, &mut line);
            let factors = (self.vector.iter().copied(), line.iter().copied());
            job.settle(&mut unit, factors, (sum, magnitude), slot);
        }
    }

    /// Packs a row or column of the matrix.
    fn pack_line(&self, number: usize, line: &mut [K::Word]) {
        let job = self.job;
        if let Some(Matrix { elements, lists, .. }) = self.matrix {
            let start = lists.batches[self.batch] + lists.indices[number];
            for (x, &term) in line.iter_mut().zip(lists.terms) {
                *x = K::pack(elements[start + term]);
            }
        } else {
            let (row, terms) = ((job.plan.lhs, job.plan.lhs.order()), line.len());
            pack_rows::<K>(row, job.lhs, (self.batch, number), line, terms);
        }
    }
}

/// The sum of the products of a packed line and a vector, and of their absolute values.
struct WithLine<'a, K: Accumulator> {
    line: &'a [K::Word],
    vector: &'a [K::Word],
    sum: &'a mut K::Sum,
    magnitude: &'a mut f64,
}

impl<K: Accumulator> Task for WithLine<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        (*self.sum, *self.magnitude) = dot::<K, _>(self.line, self.vector, |x| x);
    }
}

/// Sums of products with a vector, and of their absolute values.
struct WithVector<'a, K: Accumulator> {
    source: PackSource<'a, K::Stored>,
    /// How many indices follow each other at a time.
    neighbors: usize,
    vector: &'a [K::Word],
    sums: &'a mut [K::Sum],
    magnitudes: &'a mut [f64],
}

impl<K: Accumulator> Task for WithVector<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { source, neighbors, vector, sums, magnitudes } = self;
        let PackSource { elements, start, indices, terms, order } = source;
        if order == Order::Terms && are_beside::<K>(indices.len(), terms.len()) {
            let results = sums.chunks_mut(SIDE).zip(magnitudes.chunks_mut(SIDE));
            for (indices, results) in indices.chunks(SIDE).zip(results) {
                beside::<K>(elements, (start + terms[0], indices), vector, results);
            }
            return;
        }
        if order == Order::Terms {
            for ((&index, sum), magnitude) in indices.iter().zip(sums).zip(magnitudes) {
                let line = &elements[start + index + terms[0]..][..terms.len()];
                (*sum, *magnitude) = dot::<K, _>(line, vector, K::pack);
            }
            return;
        }
        if order == Order::Any {
            let groups = Groups::<K> { source, vector, sums, magnitudes };
            let are_runs = terms.windows(2).all(|pair| pair[1] == pair[0] + neighbors);
            return match (neighbors, are_runs) {
                (8, true) => groups.add_runs::<8>(),
                (4, true) => groups.add_runs::<4>(),
                (2, true) => groups.add_runs::<2>(),
                (8, false) => groups.add::<8, 2>(),
                (4, false) => groups.add::<4, 4>(),
                (2, false) => groups.add::<2, 8>(),
                _ => groups.add::<1, 16>(),
            };
        }
        let first = start + indices[0];
        for (&term, &b) in terms.iter().zip(vector) {
            let line = &elements[first + term..][..indices.len()];
            for ((&a, sum), magnitude) in line.iter().zip(&mut *sums).zip(&mut *magnitudes) {
                add::<K>((sum, magnitude), K::pack(a), b);
            }
        }
    }
}

/// Writes the sums of the products of lines, which begin at `indices` behind `start`, and a vector,
/// and those of their absolute values. The terms of lines are brought beside one another, so that no
/// lanes are to be added.
#[inline(always)]
fn beside<K: Accumulator>(
    elements: &[K::Stored],
    (start, indices): (usize, &[usize]),
    vector: &[K::Word],
    (sums, magnitudes): (&mut [K::Sum], &mut [f64]),
) {
    let (mut lanes, mut tile) = (SumLanes::default(), [[elements[start]; SIDE]; SIDE]);
    for (number, words) in vector.chunks(SIDE).enumerate() {
        let start = start + number * SIDE;
        let tile = &mut tile[..words.len()];
        match <[usize; SIDE]>::try_from(indices) {
            Ok(indices) if indices.iter().all(|at| start + at + SIDE <= elements.len()) => {
                let starts = indices.map(|at| start + at);
                squares::transpose(elements, starts, tile.as_flattened_mut(), SIDE);
            }
            Ok(_) | Err(_) => {
                for (lane, &at) in indices.iter().enumerate() {
                    let line = &elements[start + at..][..words.len()];
                    tile.iter_mut().zip(line).for_each(|(term, &x)| term[lane] = x);
                }
            }
        }
        K::add_to_lanes(&mut lanes, tile, words);
    }
    for (lane, (sum, magnitude)) in sums.iter_mut().zip(magnitudes).enumerate() {
        (*sum, *magnitude) = (K::lane(&lanes, lane), lanes.magnitudes[lane]);
    }
}

/// The same, of sums whose factors in the matrix are no neighbors, but for some at a time.
struct Groups<'a, K: Accumulator> {
    source: PackSource<'a, K::Stored>,
    vector: &'a [K::Word],
    sums: &'a mut [K::Sum],
    magnitudes: &'a mut [f64],
}

impl<K: Accumulator> Groups<'_, K> {
    /// Adds for `L` neighbors at a time, whose factors of all terms are one run of elements.
    #[inline(always)]
    fn add_runs<const L: usize>(mut self) {
        let PackSource { elements, start, indices, terms, .. } = self.source;
        let vector: Vec<K::Word> = self.vector.iter().flat_map(|&b| [b; L]).collect();
        let (sums, rest) = self.sums.as_chunks_mut::<L>();
        let (whole, last) = (sums.len() * L, rest.len());
        let magnitudes = self.magnitudes.as_chunks_mut::<L>().0;
        for ((indices, sums), magnitudes) in indices.chunks(L).zip(sums).zip(magnitudes) {
            let line = &elements[start + indices[0] + terms[0]..][..vector.len()];
            (*sums, *magnitudes) = every::<K, L>(line, &vector);
        }
        (whole..whole + last).for_each(|first| self.add_group::<1, 1>(first));
    }
    /// Adds for `G` times `L` neighbors at a time, and one by one for the last ones.
    #[inline(always)]
    fn add<const L: usize, const G: usize>(mut self) {
        let (count, mut first) = (self.sums.len(), 0);
        while first + L * G <= count {
            self.add_group::<L, G>(first);
            first += L * G;
        }
        (first..count).for_each(|first| self.add_group::<1, 1>(first));
    }
    #[inline(always)]
    fn add_group<const L: usize, const G: usize>(&mut self, first: usize) {
        let PackSource { elements, start, indices, terms, .. } = self.source;
        let starts: [usize; G] = std::array::from_fn(|g| start + indices[first + g * L]);
        let (mut sums, mut magnitudes) = ([[K::Sum::default(); L]; G], [[0.0; L]; G]);
        for (&term, &b) in terms.iter().zip(self.vector) {
            for g in 0..G {
                let line = &elements[starts[g] + term..][..L];
                for i in 0..L {
                    add::<K>((&mut sums[g][i], &mut magnitudes[g][i]), K::pack(line[i]), b);
                }
            }
        }
        self.sums[first..first + L * G].copy_from_slice(sums.as_flattened());
        self.magnitudes[first..first + L * G].copy_from_slice(magnitudes.as_flattened());
    }
}

/// Adds a product to a sum, and its absolute value to the magnitude.
#[inline(always)]
fn add<K: Accumulator>((sum, magnitude): (&mut K::Sum, &mut f64), a: K::Word, b: K::Word) {
    let product = K::add(sum, a, b);
    if K::HAS_BOUND {
        *magnitude += product;
    }
}

/// Returns the sums of products of every `L`th element, of two, four or eight, and those of their
/// absolute values.
#[inline(always)]
fn every<K: Accumulator, const L: usize>(
    line: &[K::Stored],
    vector: &[K::Word],
) -> ([K::Sum; L], [f64; L]) {
    let (sums, rest) = add_every::<K, FEW>(([K::Sum::default(); FEW], [0.0; FEW]), line, vector);
    if L == FEW {
        return (first(&sums.0), first(&sums.1));
    }
    let (sums, rest) = add_every::<K, 4>(halves::<K, FEW, 4>(sums), rest.0, rest.1);
    if L == 4 {
        return (first(&sums.0), first(&sums.1));
    }
    let (sums, _) = add_every::<K, 2>(halves::<K, 4, 2>(sums), rest.0, rest.1);
    (first(&sums.0), first(&sums.1))
}

/// Sums in lanes, and those of absolute values.
type LaneSums<K, const N: usize> = ([<K as Accumulator>::Sum; N], [f64; N]);
/// Elements of a line, and those of a vector.
type Factors<'a, K> = (&'a [<K as Accumulator>::Stored], &'a [<K as Accumulator>::Word]);

/// Adds the products of as many elements as there are lanes, as often as there are; returns the rest.
#[inline(always)]
fn add_every<'a, K: Accumulator, const N: usize>(
    (mut sums, mut magnitudes): LaneSums<K, N>,
    line: &'a [K::Stored],
    vector: &'a [K::Word],
) -> (LaneSums<K, N>, Factors<'a, K>) {
    let ((lines, line), (vectors, vector)) = (line.as_chunks::<N>(), vector.as_chunks::<N>());
    for (line, vector) in lines.iter().zip(vectors) {
        for i in 0..N {
            add::<K>((&mut sums[i], &mut magnitudes[i]), K::pack(line[i]), vector[i]);
        }
    }
    ((sums, magnitudes), (line, vector))
}

/// Returns the sums of the lanes of one half and the other.
#[inline(always)]
fn halves<K: Accumulator, const N: usize, const M: usize>(
    (sums, magnitudes): LaneSums<K, N>,
) -> LaneSums<K, M> {
    let (mut half, mut half_magnitudes) = (first(&sums), first(&magnitudes));
    for i in 0..M {
        K::merge(&mut half[i], sums[M + i]);
        half_magnitudes[i] += magnitudes[M + i];
    }
    (half, half_magnitudes)
}

/// Returns the first lanes.
#[inline(always)]
fn first<T: Copy, const N: usize>(lanes: &[T]) -> [T; N] {
    lanes.as_chunks().0[0]
}

/// Returns the sum of products, and of their absolute values.
#[inline(always)]
fn dot<K: Accumulator, T: Copy>(
    line: &[T],
    vector: &[K::Word],
    pack: impl Fn(T) -> K::Word,
) -> (K::Sum, f64) {
    let (mut sums, mut magnitudes) = ([K::Sum::default(); LANES], [0.0; LANES]);
    let mut rest = (line, vector);
    // Sums of two numbers are so many instructions that few need not wait for each other.
    let lanes = if size_of::<K::Sum>() == size_of::<K::Word>() { LANES } else { FEW };
    if lanes == LANES {
        rest = add_lanes::<K, T, LANES>(rest, (&mut sums, &mut magnitudes), &pack);
    }
    let (line, vector) = add_lanes::<K, T, FEW>(rest, (&mut sums, &mut magnitudes), &pack);
    let mut sum = total(&sums, lanes, |mut a, b| {
        K::merge(&mut a, b);
        a
    });
    let mut magnitude = match K::HAS_BOUND {
        true => total(&magnitudes, lanes, |a, b| a + b),
        false => 0.0,
    };
    for (&a, &b) in line.iter().zip(vector) {
        add::<K>((&mut sum, &mut magnitude), pack(a), b);
    }
    (sum, magnitude)
}

/// Returns the sum of the first lanes, of one half and the other: in wide vectors, but for the last
/// ones.
#[inline(always)]
fn total<T: Copy>(lanes: &[T; LANES], mut count: usize, plus: impl Fn(T, T) -> T) -> T {
    let mut lanes = *lanes;
    while count > FEW {
        count /= 2;
        for i in 0..count {
            lanes[i] = plus(lanes[i], lanes[count + i]);
        }
    }
    let (few, _) = lanes.as_chunks::<FEW>();
    total_of_few(&few[0], plus)
}

/// Returns the sum of these lanes. Inlined, it would have the lanes that it adds computed in vectors
/// of two.
#[inline(never)]
fn total_of_few<T: Copy>(&[a, b, c, d, e, f, g, h]: &[T; FEW], plus: impl Fn(T, T) -> T) -> T {
    plus(plus(plus(a, e), plus(c, g)), plus(plus(b, f), plus(d, h)))
}

/// Adds the products of the first elements, `N` at a time, to the first sums; returns the rest.
#[inline(always)]
fn add_lanes<'a, K: Accumulator, T: Copy, const N: usize>(
    (line, vector): (&'a [T], &'a [K::Word]),
    (sums, magnitudes): (&mut [K::Sum; LANES], &mut [f64; LANES]),
    pack: &impl Fn(T) -> K::Word,
) -> (&'a [T], &'a [K::Word]) {
    let ((lines, line), (vectors, vector)) = (line.as_chunks::<N>(), vector.as_chunks::<N>());
    for (line, vector) in lines.iter().zip(vectors) {
        for i in 0..N {
            add::<K>((&mut sums[i], &mut magnitudes[i]), pack(line[i]), vector[i]);
        }
    }
    (line, vector)
}
