//! Products of so few numbers that whatever is done beside them takes longer.
use super::accumulator::Accumulator;
use super::error_bound::ErrorBound;
use super::job::Job;
use super::{Contraction, LhsOffsets, Lists, OffsetList};
use crate::Formula;
use hlo::ElementType;
use num::Arithmetic;
use num::loops::instruction_set::{Task, run as run_task};
use smallvec::SmallVec;

/// Multiplications, and sums, at most.
const MOST: usize = 128;

/// All sums of the plan, if it has so few. Returns whether it has.
pub(super) fn run<K: Accumulator>(job: &Job<'_, K>, total: Option<usize>, out: &mut [u8]) -> bool {
    let Some(starts) = starts(job.plan).filter(|_| total.is_none()) else { return false };
    let factors =
        |start| places(job.plan, start).map(|[a, b]| (K::pack(job.lhs[a]), K::pack(job.rhs[b])));
    let sum = |start| sum::<K>(factors(start));
    if let Some(slots) = K::sums_in(out, job.rounding) {
        starts.zip(slots).for_each(|(start, slot)| (*slot, _) = sum(start));
        return true;
    }
    let mut all = (SmallVec::<[K::Sum; MOST]>::new(), SmallVec::<[f64; MOST]>::new());
    run_task(TinySums::<K, _>(starts.clone().map(factors), &mut all));
    let (sums, magnitudes) = &all;
    if K::round(sums, job.error, (1.0, magnitudes), job.rounding, out) {
        return true;
    }
    let slots = out.chunks_exact_mut(job.rounding.to.storage_bytes());
    let sums = sums.iter().copied().zip(magnitudes.iter().copied());
    for ((start, of), slot) in starts.zip(sums).zip(slots) {
        if !job.decide(of.0, of.1, slot) {
            let (row, column) = (factors(start).map(|x| x.0), factors(start).map(|x| x.1));
            job.settle(&mut None, (row, column), of, slot);
        }
    }
    true
}

/// Returns the sum of products, and that of their absolute values.
#[inline(always)]
fn sum<K: Accumulator>(factors: impl Iterator<Item = (K::Word, K::Word)>) -> (K::Sum, f64) {
    let (mut sum, mut magnitude) = (K::Sum::default(), 0.0);
    for (a, b) in factors {
        magnitude += K::add(&mut sum, a, b);
    }
    (sum, magnitude)
}

/// Few sums, and their magnitudes.
type Few<K> = (SmallVec<[<K as Accumulator>::Sum; MOST]>, SmallVec<[f64; MOST]>);

/// Sums of the products of factors, and their magnitudes.
struct TinySums<'a, K: Accumulator, F>(F, &'a mut Few<K>);

impl<K: Accumulator, F, P> Task for TinySums<'_, K, F>
where
    F: Iterator<Item = P>,
    P: Iterator<Item = (K::Word, K::Word)>,
{
    #[inline(always)]
    fn run(self) {
        let Self(all, (sums, magnitudes)) = self;
        for factors in all {
            let (sum, magnitude) = sum::<K>(factors);
            sums.push(sum);
            magnitudes.push(magnitude);
        }
    }
}

/// Returns the numbers of the first elements of each row and column, if there are so few products.
fn starts<'a>(plan: &Contraction<'a>) -> Option<impl Iterator<Item = [usize; 2]> + Clone + 'a> {
    let (LhsOffsets::Sums(lhs), Lists { batches, indices, .. }) = (plan.lhs, plan.rhs) else {
        return None;
    };
    let [rows, batches, indices] = [lhs.indices, batches, indices].map(OffsetList::list);
    let starts = lhs.batches.list().iter().zip(batches).flat_map(move |(a, b)| {
        let rows = rows.iter().map(move |row| a + row);
        rows.flat_map(move |row| indices.iter().map(move |column| [row, b + column]))
    });
    let count = batches.len().saturating_mul(plan.rows).saturating_mul(indices.len());
    (count.max(plan.work()) <= MOST).then_some(starts)
}

/// Returns the numbers of the factors of a row and a column.
fn places<'a>(
    plan: &Contraction<'a>,
    [row, column]: [usize; 2],
) -> impl Iterator<Item = [usize; 2]> + Clone + 'a {
    let lhs = match plan.lhs {
        LhsOffsets::Sums(lhs) => lhs.terms.list(),
        LhsOffsets::Runs { .. } => &[],
    };
    lhs.iter().zip(plan.rhs.terms).map(move |(a, b)| [row + a, column + b])
}

/// Returns the steps of sums of floats of this type, if there are so few; in `exact` arithmetic of
/// f32 alone.
pub(crate) fn products(
    plan: &Contraction<'_>,
    ty: ElementType,
    arithmetic: Arithmetic,
) -> Option<Formula> {
    let sums: Vec<Vec<[usize; 2]>> =
        starts(plan)?.map(|start| places(plan, start).collect()).collect();
    match (arithmetic, ty) {
        (Arithmetic::Fast, ElementType::F32 | ElementType::F64) => {
            Some(Formula::Products(ty, sums))
        }
        (Arithmetic::Exact, ElementType::F32) => {
            let error = ErrorBound::new(plan.rhs.terms.len(), ty);
            Some(Formula::RoundedProducts(error.units(), sums))
        }
        (Arithmetic::Fast | Arithmetic::Exact, _) => None,
    }
}
