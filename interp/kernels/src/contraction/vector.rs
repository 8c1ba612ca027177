//! A matrix times a vector: sums of one row or of one column, at the speed of memory.
use super::pack::{Order, PackSource};
use super::panels::{COLUMNS, Job, WORTH_A_THREAD};
use super::rounding::Blocked;
use super::tile::Word;
use super::{Contraction, PADDING};
use num::loops::instruction_set::{Task, run};
use num::parallel::{parts, threads};

/// Sums that do not wait for each other.
const LANES: usize = 32;
/// Returns the bytes of the vector, and of the offsets of a row that is the vector.
pub(super) fn bytes(terms: usize) -> usize {
    terms.saturating_mul(size_of::<f64>() + size_of::<usize>())
}

/// The plan's matrix of each batch; `None` if its elements do not follow each other, or the plan
/// has none.
struct Matrix<'a, S> {
    starts: &'a [usize],
    source: PackSource<'a, S>,
    /// Whether the vector is the row, and the matrix the right operand.
    is_rhs: bool,
}

impl<'a, S> Matrix<'a, S> {
    fn of<K: Blocked<Stored = S>>(job: &Job<'a, K, 1>) -> Option<Self> {
        let Contraction { rows, rhs_batches, rhs_columns, rhs_terms, lists, .. } = *job.plan;
        let is_rhs = rows == 1;
        let (starts, elements, indices, terms) = if is_rhs {
            (rhs_batches, job.rhs, rhs_columns, rhs_terms)
        } else {
            let lists = lists.filter(|_| rhs_columns.len() == 1)?;
            (lists.batches, job.lhs, lists.rows, lists.terms)
        };
        let order = Order::of(indices, terms);
        let source = PackSource { elements, start: 0, indices, terms, order };
        (order != Order::Any).then_some(Self { starts, source, is_rhs })
    }
}

/// All sums of the plan, if it is one of matrices and vectors. Returns whether it is.
pub(super) fn run_vectors<K: Blocked>(job: &Job<'_, K, 1>, out: &mut [u8]) -> bool {
    let Some(matrix) = Matrix::of(job) else { return false };
    job.run(out, |batch, out, is_parallel| {
        let mut vector = vec![K::Word::default(); job.plan.rhs_terms.len()];
        let offsets = if matrix.is_rhs { job.row_offsets(batch, 0) } else { Vec::new() };
        for (k, x) in vector.iter_mut().enumerate() {
            let element = match offsets.get(k) {
                Some(&PADDING) => continue,
                Some(&offset) => job.lhs[offset],
                None => {
                    let (start, column) = (job.plan.rhs_batches[batch], job.plan.rhs_columns[0]);
                    job.rhs[start + column + job.plan.rhs_terms[k]]
                }
            };
            [*x] = K::pack(element);
        }
        let source = PackSource { start: matrix.starts[batch], ..matrix.source };
        Product { job, batch, source, vector: &vector, is_rhs: matrix.is_rhs }
            .run(out, is_parallel);
    });
    true
}

/// One batch.
struct Product<'a, 'b, K: Blocked> {
    job: &'a Job<'b, K, 1>,
    batch: usize,
    source: PackSource<'a, K::Stored>,
    vector: &'a [K::Word],
    is_rhs: bool,
}

impl<K: Blocked> Product<'_, '_, K> {
    fn run(&self, out: &mut [u8], is_parallel: bool) {
        let squares: f64 = self.vector.iter().map(|&x| K::square([x])).sum();
        let norm = squares.sqrt();
        let width = self.job.rounding.to.storage_bytes();
        if is_parallel {
            let count = (out.len() / width).div_ceil(4 * threads()).clamp(LANES, COLUMNS);
            let least = (WORTH_A_THREAD / count / self.vector.len().max(1)).max(1);
            let size = (count * width, least);
            parts(out, size, |i, out| self.part(i * count, norm, out));
        } else {
            let part = |(i, out): (usize, &mut [u8])| self.part(i * COLUMNS, norm, out);
            out.chunks_mut(COLUMNS * width).enumerate().for_each(part);
        }
    }

    /// The sums from the number `first` on that `out` has room for.
    fn part(&self, first: usize, norm: f64, out: &mut [u8]) {
        let job = self.job;
        let width = job.rounding.to.storage_bytes();
        let count = out.len() / width;
        if job.stop.is_set() {
            return;
        }
        let (mut sums, mut norms) = ([K::Word::default(); COLUMNS], [0.0; COLUMNS]);
        let (sums, norms) = (&mut sums[..count], &mut norms[..count]);
        let source =
            PackSource { indices: &self.source.indices[first..first + count], ..self.source };
        let terms = self.vector.len();
        let depth = match source.order {
            Order::Terms => terms.min(terms / LANES + 2 * LANES),
            Order::Indices | Order::Any => terms,
        };
        run(WithVector::<K> { source, vector: self.vector, sums, squares: norms });
        for square in norms.iter_mut() {
            *square = square.sqrt();
        }
        let error = job.error.of_depth(depth) * norm;
        if K::round(sums, error, norms, job.rounding, out) {
            return;
        }
        for (i, slot) in out.chunks_exact_mut(width).enumerate() {
            let (sum, own) = (&sums[i..=i], &norms[i..=i]);
            if K::round(sum, error, own, job.rounding, slot)
                || job.decide(sums[i], norm * norms[i], slot)
            {
                continue;
            }
            let (row, column) = if self.is_rhs { (0, first + i) } else { (first + i, 0) };
            let offsets = job.row_offsets(self.batch, row);
            job.write_exact(self.batch, &offsets, job.plan.rhs_columns[column], slot);
        }
    }
}

/// Sums of products with a vector, and of the squares of the matrix.
struct WithVector<'a, K: Blocked> {
    source: PackSource<'a, K::Stored>,
    vector: &'a [K::Word],
    sums: &'a mut [K::Word],
    squares: &'a mut [f64],
}

impl<K: Blocked> Task for WithVector<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self {
            source: PackSource { elements, start, indices, terms, order },
            vector,
            sums,
            squares,
        } = self;
        if order == Order::Terms {
            for ((&index, sum), square) in indices.iter().zip(sums).zip(squares) {
                let line = &elements[start + index + terms[0]..][..terms.len()];
                (*sum, *square) = dot::<K>(line, vector);
            }
            return;
        }
        let first = start + indices[0];
        for (&term, &b) in terms.iter().zip(vector) {
            let line = &elements[first + term..][..indices.len()];
            for ((&a, sum), square) in line.iter().zip(&mut *sums).zip(&mut *squares) {
                let [a] = K::pack(a);
                *sum = sum.plus_product(a, b);
                if K::HAS_BOUND {
                    *square += K::square([a]);
                }
            }
        }
    }
}

/// Returns the sum of products and the sum of squares of the first.
#[inline(always)]
fn dot<K: Blocked>(line: &[K::Stored], vector: &[K::Word]) -> (K::Word, f64) {
    let ((lines, last), (vectors, rest)) = (line.as_chunks::<LANES>(), vector.as_chunks::<LANES>());
    let (mut sums, mut squares) = ([K::Word::default(); LANES], [0.0; LANES]);
    for (line, vector) in lines.iter().zip(vectors) {
        for i in 0..LANES {
            let [a] = K::pack(line[i]);
            sums[i] = sums[i].plus_product(a, vector[i]);
            if K::HAS_BOUND {
                squares[i] += K::square([a]);
            }
        }
    }
    let mut sum = sums.into_iter().fold(K::Word::default(), K::Word::plus);
    let mut square = squares.iter().sum();
    for (&a, &b) in last.iter().zip(rest) {
        let [a] = K::pack(a);
        sum = sum.plus_product(a, b);
        square += K::square([a]);
    }
    (sum, square)
}
