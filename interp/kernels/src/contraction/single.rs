//! Single sums, of one row and one column: in lanes, and in parts that threads share.
use super::accumulator::Accumulator;
use super::job::Job;
use super::{LhsOffsets, Lists, OffsetList};
use num::loops::instruction_set::{Task, run as run_task};
use num::parallel::parts;

/// Terms of a part of a sum.
pub(crate) const PART: usize = 1 << 13;
/// Sums that do not wait for each other.
const LANES: usize = 32;

/// All sums of the plan, if each has one row and one column. With a number of terms, the batches
/// are parts of the same sums, of which the last has fewer terms. Returns whether the plan is such.
pub(super) fn run<K: Accumulator>(job: &Job<'_, K>, total: Option<usize>, out: &mut [u8]) -> bool {
    let LhsOffsets::Sums(lhs) = job.plan.lhs else { return false };
    let (rhs, width) = (job.plan.rhs, job.rounding.to.storage_bytes());
    if total.is_none() && job.plan.rows * rhs.indices.len() != 1 {
        return false;
    }
    let are_neighbors = [lhs, rhs].iter().all(|x| x.terms.are_neighbors());
    let sum = |column: usize| SingleSum {
        job,
        lists: [lhs, Lists { indices: rhs.indices.starting_at(column), ..rhs }],
        are_neighbors,
        terms: total.unwrap_or(rhs.terms.len()),
    };
    if total.is_some() {
        let slots = out.chunks_exact_mut(width).enumerate();
        slots.for_each(|(column, slot)| sum(column).write(slot));
        return true;
    }
    job.batches(
        out,
        || (),
        |(), batch, slot, _| {
            let lists =
                [lhs, rhs].map(|x| Lists { batches: x.batches.list()[batch..=batch].into(), ..x });
            SingleSum { lists, ..sum(0) }.write(slot);
        },
    );
    true
}

/// The sum of the products of the first row and the first column, over all batches.
struct SingleSum<'a, K: Accumulator> {
    job: &'a Job<'a, K>,
    lists: [Lists<'a>; 2],
    /// Whether the terms of both are neighbors in memory.
    are_neighbors: bool,
    terms: usize,
}

impl<K: Accumulator> SingleSum<'_, K> {
    fn write(&self, slot: &mut [u8]) {
        let (job, [lhs, rhs]) = (self.job, self.lists);
        let mut sums = vec![(K::Sum::default(), 0.0); lhs.batches.len()];
        parts(&mut sums, (1, 1), |part, sum| {
            let terms = lhs.terms.len().min(self.terms - part * lhs.terms.len());
            let start = |x: Lists<'_>| x.batches[part] + x.indices[0];
            let (starts, sum) = ([start(lhs), start(rhs)], &mut sum[0]);
            run_task(PartSum { sum: self, starts, terms, result: sum });
        });
        let (mut sum, mut magnitude) = sums[0];
        for &(part, of_part) in &sums[1..] {
            K::merge(&mut sum, part);
            magnitude += of_part;
        }
        let error = job.error.of_depth(lhs.terms.len() / LANES + LANES + sums.len());
        let bounded = Job { error, stop: job.stop.clone(), ..*job };
        if !bounded.decide(sum, magnitude, slot) {
            let factors = (self.words(lhs, job.lhs), self.words(rhs, job.rhs));
            bounded.settle(&mut None, factors, (sum, magnitude), slot);
        }
    }

    /// Returns the factors on one side.
    fn words<'b>(
        &self,
        lists: Lists<'b>,
        elements: &'b [K::Stored],
    ) -> impl Iterator<Item = K::Word> + Clone + use<'b, K> {
        let [batches, indices, terms] =
            [lists.batches, lists.indices, lists.terms].map(OffsetList::list);
        let starts = batches.iter().map(move |at| at + indices[0]);
        let places = starts.flat_map(move |at| terms.iter().map(move |k| at + k));
        places.take(self.terms).map(|at| K::pack(elements[at]))
    }
}

/// A part of a sum: the first terms of a batch.
struct PartSum<'a, K: Accumulator> {
    sum: &'a SingleSum<'a, K>,
    starts: [usize; 2],
    terms: usize,
    result: &'a mut (K::Sum, f64),
}

impl<K: Accumulator> Task for PartSum<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { sum: &SingleSum { job, lists: [lhs, rhs], are_neighbors, .. }, .. } = self;
        let (mut sums, mut magnitudes) = ([K::Sum::default(); LANES], [0.0; LANES]);
        let mut add = |lane: usize, a: K::Stored, b: K::Stored| {
            let magnitude = K::add(&mut sums[lane], K::pack(a), K::pack(b));
            if K::HAS_BOUND {
                magnitudes[lane] += magnitude;
            }
        };
        if are_neighbors {
            let a = &job.lhs[self.starts[0] + lhs.terms[0]..][..self.terms];
            let b = &job.rhs[self.starts[1] + rhs.terms[0]..][..self.terms];
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            for (a, b) in a.iter().zip(b) {
                for lane in 0..LANES {
                    add(lane, a[lane], b[lane]);
                }
            }
            for (lane, (&a, &b)) in a_rest.iter().zip(b_rest).enumerate() {
                add(lane, a, b);
            }
        } else {
            let places = lhs.terms.iter().zip(rhs.terms).take(self.terms).enumerate();
            for (i, (a, b)) in places {
                add(i % LANES, job.lhs[self.starts[0] + a], job.rhs[self.starts[1] + b]);
            }
        }
        *self.result = (sums[0], magnitudes[0]);
        for (&sum, magnitude) in sums.iter().zip(magnitudes).skip(1) {
            K::merge(&mut self.result.0, sum);
            self.result.1 += magnitude;
        }
    }
}
