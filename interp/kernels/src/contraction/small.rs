//! Batches of small products: each vector has an element of as many batches as it has lanes.
use super::LhsOffsets;
use super::accumulator::Accumulator;
use super::job::Job;
use crate::cost_model::MULTIPLIED;
use num::loops::instruction_set::{Task, run as run_task};
use num::parallel::parts_with;

/// Batches of a group, which are multiplied at once.
const LANES: usize = 16;
/// Elements of the operands and of the result of a batch, at most: they are moved to their lanes
/// one by one.
const MOST: usize = 256;

/// Elements that are rounded again where the bound leaves one of a group open.
const SOME: usize = 8;

/// Returns whether products of these numbers of batches, rows, columns and terms are small.
fn is_small([batches, rows, columns, terms]: [usize; 4]) -> bool {
    let [lhs, rhs, sums] = [(rows, terms), (terms, columns), (rows, columns)]
        .map(|(m, n): (usize, usize)| m.saturating_mul(n));
    batches >= LANES / 4 && terms > 0 && lhs.saturating_add(rhs).saturating_add(sums) <= MOST
}

/// Returns the bytes that a thread takes for such products.
pub(super) fn bytes(extent: [usize; 4]) -> usize {
    let of_element = LANES * 3 * size_of::<f64>() + 2 * size_of::<usize>();
    if is_small(extent) { MOST * of_element } else { 0 }
}

/// All sums of the plan, if it is one of many small products. Returns whether it is.
pub(super) fn run<K: Accumulator>(job: &Job<'_, K>, total: Option<usize>, out: &mut [u8]) -> bool {
    let LhsOffsets::Sums(lhs) = job.plan.lhs else { return false };
    let (rhs, rows) = (job.plan.rhs, job.plan.rows);
    let (columns, terms) = (rhs.indices.len(), rhs.terms.len());
    if total.is_some() || !is_small([rhs.batches.len(), rows, columns, terms]) {
        return false;
    }
    // Rows term by term, and terms column by column.
    let lhs_offsets = lhs.indices.iter().flat_map(|i| lhs.terms.iter().map(move |k| i + k));
    let rhs_offsets = rhs.terms.iter().flat_map(|k| rhs.indices.iter().map(move |j| k + j));
    let offsets: [Vec<usize>; 2] = [lhs_offsets.collect(), rhs_offsets.collect()];
    let offsets = [&*offsets[0], &*offsets[1]];
    let batches = [lhs.batches, rhs.batches];
    let size = LANES * rows * columns * job.rounding.to.storage_bytes();
    let least = (MULTIPLIED / (LANES * rows * columns * (terms + 4))).max(1);
    parts_with(out, (size, least), GroupScratch::default, |scratch, i, out| {
        let first = i * LANES;
        let batches = batches.map(|x| &x.list()[first..x.len().min(first + LANES)]);
        run_task(Group { job, offsets, batches, columns, scratch, out });
    });
    true
}

/// The products of a group of batches.
struct Group<'a, K: Accumulator> {
    job: &'a Job<'a, K>,
    offsets: [&'a [usize]; 2],
    batches: [&'a [usize]; 2],
    columns: usize,
    scratch: &'a mut GroupScratch<K>,
    out: &'a mut [u8],
}

/// The memory of a thread: the elements of both operands, in lanes, and sums and their magnitudes,
/// as they are in the result.
struct GroupScratch<K: Accumulator> {
    words: [Vec<[K::Word; LANES]>; 2],
    sums: Vec<K::Sum>,
    magnitudes: Vec<f64>,
}

impl<K: Accumulator> Default for GroupScratch<K> {
    fn default() -> Self {
        Self { words: [Vec::new(), Vec::new()], sums: Vec::new(), magnitudes: Vec::new() }
    }
}

impl<K: Accumulator> Task for Group<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { job, offsets, batches, columns, scratch, out } = self;
        let GroupScratch { words, sums, magnitudes } = scratch;
        for ((words, elements), (offsets, batches)) in
            words.iter_mut().zip([job.lhs, job.rhs]).zip(offsets.iter().zip(batches))
        {
            words.resize(offsets.len(), [K::Word::default(); LANES]);
            for (lane, batch) in batches.iter().enumerate() {
                for (words, at) in words.iter_mut().zip(*offsets) {
                    words[lane] = K::pack(elements[batch + at]);
                }
            }
        }
        let terms = offsets[1].len() / columns;
        let size = offsets[0].len() / terms * columns;
        sums.resize(LANES * size, K::Sum::default());
        magnitudes.resize(LANES * size, 0.0);
        for (row, lhs) in words[0].chunks_exact(terms).enumerate() {
            for column in 0..columns {
                let (mut sum, mut magnitude) = ([K::Sum::default(); LANES], [0.0; LANES]);
                for (a, b) in lhs.iter().zip(words[1][column..].iter().step_by(columns)) {
                    for i in 0..LANES {
                        let product = K::add(&mut sum[i], a[i], b[i]);
                        if K::HAS_BOUND {
                            magnitude[i] += product;
                        }
                    }
                }
                let at = row * columns + column;
                for i in 0..LANES {
                    sums[i * size + at] = sum[i];
                    if K::HAS_BOUND {
                        magnitudes[i * size + at] = magnitude[i];
                    }
                }
            }
        }
        let count = batches[0].len() * size;
        let (sums, magnitudes) = (&sums[..count], &magnitudes[..count]);
        if !K::round(sums, job.error, (1.0, magnitudes), job.rounding, out) {
            open(job, (sums, magnitudes), (offsets, batches, columns), out);
        }
    }
}

/// Elements of a group that the bound may leave open.
#[cold]
fn open<K: Accumulator>(
    job: &Job<'_, K>,
    (sums, magnitudes): (&[K::Sum], &[f64]),
    (offsets, batches, columns): ([&[usize]; 2], [&[usize]; 2], usize),
    out: &mut [u8],
) {
    let terms = offsets[1].len() / columns;
    let size = offsets[0].len() / terms * columns;
    let width = job.rounding.to.storage_bytes();
    let some = out.chunks_mut(SOME * width).zip(sums.chunks(SOME).zip(magnitudes.chunks(SOME)));
    // Of results of few bits, most groups have one that is halfway between two numbers.
    let are_decided = |sums: &[K::Sum], magnitudes: &[f64], slots: &mut [u8]| {
        width > 1 && K::round(sums, job.error, (1.0, magnitudes), job.rounding, slots)
    };
    let left = some.enumerate().filter_map(|(number, (slots, (sums, magnitudes)))| {
        let are_open = !are_decided(sums, magnitudes, slots);
        are_open.then_some((number * SOME, slots, sums, magnitudes))
    });
    let left = left.flat_map(|(first, slots, sums, magnitudes)| {
        (first..).zip(slots.chunks_exact_mut(width).zip(sums.iter().zip(magnitudes)))
    });
    for (i, (slot, (&sum, &magnitude))) in left {
        if job.decide(sum, magnitude, slot) {
            continue;
        }
        let [lhs, rhs] = batches.map(|x| x[i / size]);
        let (row, column) = (i % size / columns, i % columns);
        let row = offsets[0][row * terms..][..terms].iter().map(|at| K::pack(job.lhs[lhs + at]));
        let column = offsets[1][column..].iter().step_by(columns);
        let column = column.map(|at| K::pack(job.rhs[rhs + at]));
        job.settle(&mut None, (row, column), (sum, magnitude), slot);
    }
}
