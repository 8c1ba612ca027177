//! What all loops over a contraction have in common: batches, threads, and single sums.
use super::accumulator::Accumulator;
use super::error_bound::ErrorBound;
use super::{Contraction, Lists, Rounding};
use crate::cost_model::{MULTIPLIED, SHARED};
use num::clock::Stop;
use num::parallel::{parts, parts_with, threads};

/// Elements of which it is found at once whether they are finite.
const FINITE: usize = 1024;

/// Returns whether threads share the rows of a batch, and not the batches: a thread that waits for
/// others to finish a batch would begin another, and pack its columns too.
pub(super) fn is_shared(batches: usize, batch_work: usize) -> bool {
    batch_work >= SHARED && batches < 2 * threads()
}

/// Returns the bytes of sums that a thread forms one by one: places of terms, sums and magnitudes.
pub(super) fn row_bytes(columns: usize, terms: usize) -> usize {
    let places = terms.saturating_mul(size_of::<(usize, usize)>());
    places.saturating_add(columns.saturating_mul(3 * size_of::<f64>()))
}

/// Sums of operands of one kind, as a plan describes them.
pub(super) struct Job<'a, K: Accumulator, P = Contraction<'a>> {
    pub(super) plan: &'a P,
    pub(super) lhs: &'a [K::Stored],
    pub(super) rhs: &'a [K::Stored],
    pub(super) rounding: Rounding,
    pub(super) error: ErrorBound,
    pub(super) stop: Stop,
}

impl<'a, K: Accumulator, P> Job<'a, K, P> {
    /// Returns the job of sums of some number of terms.
    pub(super) fn new(
        plan: &'a P,
        terms: usize,
        (lhs, rhs): (&'a [K::Stored], &'a [K::Stored]),
        rounding: Rounding,
    ) -> Self {
        let error = ErrorBound::new(terms, rounding.sum_type());
        Self { plan, lhs, rhs, rounding, error, stop: Stop::current() }
    }

    /// Writes the element that a sum rounds to and returns true, if its error leaves only one.
    #[inline]
    pub(super) fn decide(&self, sum: K::Sum, magnitude: f64, slot: &mut [u8]) -> bool {
        K::interval(sum, magnitude, self.error)
            .is_some_and(|ends| self.rounding.write_if_same(ends, slot))
    }

    /// Writes the element that the sum of the products of a row and a column rounds to, which its
    /// bound leaves open: by a better sum, or else by the exact one.
    #[cold]
    pub(super) fn settle(
        &self,
        row_unit: &mut Option<i64>,
        (row, column): (
            impl Iterator<Item = K::Word> + Clone,
            impl Iterator<Item = K::Word> + Clone,
        ),
        sum_and_magnitude: (K::Sum, f64),
        slot: &mut [u8],
    ) {
        let factors = (row.clone(), column.clone());
        let better = K::refined(row_unit, factors, sum_and_magnitude, self.error);
        if !better.is_some_and(|ends| self.rounding.write_if_same(ends, slot)) {
            let sum = K::exact(row.zip(column), self.rounding.sum_type());
            self.rounding.write(sum, slot);
        }
    }
}

impl<K: Accumulator> Job<'_, K> {
    /// Calls `batch` with the state of a thread, each batch's number, its part of the result, and
    /// whether several threads should share it.
    pub(super) fn batches<S>(
        &self,
        out: &mut [u8],
        state: impl Fn() -> S + Sync,
        batch: impl Fn(&mut S, usize, &mut [u8], bool) + Sync,
    ) {
        let plan = self.plan;
        let work = plan.batch_work();
        let size = plan.rows * plan.rhs.indices.len() * self.rounding.to.storage_bytes();
        if plan.work() < 2 * MULTIPLIED || is_shared(plan.rhs.batches.len(), work) {
            let (mut state, is_parallel) = (state(), work >= 2 * MULTIPLIED);
            let batches = out.chunks_mut(size).enumerate();
            return batches.for_each(|(i, out)| batch(&mut state, i, out, is_parallel));
        }
        let least = (MULTIPLIED / work.max(1)).max(1);
        parts_with(out, (size, least), state, |state, i, out| batch(state, i, out, false));
    }

    /// Returns whether tiles can hold the operands: there are terms, and no element is too large
    /// or, where padding is zeros, not finite.
    pub(super) fn can_be_packed(&self) -> bool {
        // Without an end inside of a chunk the compiler makes vectors of it.
        let are_packable =
            |chunk: &[K::Stored]| chunk.iter().fold(true, |all, &x| all & K::packable(x));
        let are_finite =
            |chunk: &[K::Stored]| chunk.iter().fold(true, |all, &x| all & K::finite(x));
        !self.plan.rhs.terms.is_empty()
            && self.lhs.chunks(FINITE).chain(self.rhs.chunks(FINITE)).all(are_packable)
            && (!self.plan.lhs.has_padding() || self.rhs.chunks(FINITE).all(are_finite))
    }

    /// Forms the sums one by one: of numbers that cannot be packed.
    pub(super) fn direct(&self, out: &mut [u8]) {
        let line = self.plan.rhs.indices.len() * self.rounding.to.storage_bytes();
        self.batches(
            out,
            || (),
            |(), batch, out, is_parallel| {
                let least = if is_parallel { 1 } else { usize::MAX };
                parts(out, (line, least), |row, out| self.direct_row(batch, row, out));
            },
        );
    }

    /// The sums of a row, of which each term is added to all at once.
    fn direct_row(&self, batch: usize, row: usize, out: &mut [u8]) {
        let Lists { batches, indices, terms } = self.plan.rhs;
        let places = self.plan.lhs.terms(batch, row);
        let factors = || {
            let places = places.iter().take_while(|_| !self.stop.is_set());
            places.map(|&(term, lhs)| (K::pack(self.lhs[lhs]), batches[batch] + terms[term]))
        };
        let mut sums = vec![(K::Sum::default(), 0.0); indices.len()];
        for (a, at) in factors() {
            for ((sum, magnitude), &column) in sums.iter_mut().zip(indices) {
                *magnitude += K::add(sum, a, K::pack(self.rhs[at + column]));
            }
        }
        let slots = out.chunks_exact_mut(self.rounding.to.storage_bytes());
        for (((sum, magnitude), slot), &column) in sums.into_iter().zip(slots).zip(indices) {
            if !self.decide(sum, magnitude, slot) {
                let pairs = factors().map(|(a, at)| (a, K::pack(self.rhs[at + column])));
                let sum = K::exact(pairs, self.rounding.sum_type());
                self.rounding.write(sum, slot);
            }
        }
    }
}
