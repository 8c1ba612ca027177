//! The transform of a line of a large prime length as a convolution (Bluestein).
use super::super::complex_of::{ComplexOf, Field};
use super::super::twiddle::{number, turns};
use super::{FftPlan, LaneNumber, Lanes, work};
use crate::clock::Stop;

/// Returns the length of the transforms that convolve lines of `p` numbers: the least of those with
/// small factors.
pub(super) fn convolution_length(p: usize) -> usize {
    let least = p.saturating_mul(2);
    let of_odd = |odd: usize| {
        let power = least.div_ceil(odd).checked_next_power_of_two();
        power.map_or(usize::MAX, |power| power.saturating_mul(odd))
    };
    [1, 3, 5, 9].map(of_odd).into_iter().min().unwrap_or(usize::MAX)
}

/// A transform of a large prime length p as a convolution, since `-2jk = (k - j)^2 - j^2 - k^2`.
pub(super) struct Chirp<R: LaneNumber> {
    /// `e^(-pi i k^2/p)` for each k below p.
    pub(super) turns: Vec<ComplexOf<R>>,
    /// The plan of a length that holds the convolution.
    pub(super) plan: FftPlan<R>,
    /// The transformed conjugates of the factors, divided by the length of `plan`.
    pub(super) filter: Vec<ComplexOf<R>>,
}

impl<R: LaneNumber> Chirp<R> {
    pub(super) fn new(p: usize, few: bool, stop: &Stop) -> Self {
        let all = turns::<R>(2 * p, stop);
        let turns: Vec<_> = (0..p).map(|k| all[k * k % (2 * p)]).collect();
        let size = convolution_length(p);
        let mut wrapped = vec![Lanes::<R, 1>::zero(); size];
        for (k, turn) in turns.iter().enumerate() {
            wrapped[k].put(0, turn.conj());
            wrapped[(size - k) % size].put(0, turn.conj());
        }
        let plan = FftPlan::new(size, few, stop);
        let mut filter = wrapped.clone();
        plan.transform(&wrapped, &mut filter, &mut vec![Lanes::zero(); work(size, few)], stop);
        let count = R::nearest(number(size));
        let filter = filter.iter().map(|x| Field::normalized(x.at(0)).over(count)).collect();
        Self { turns, plan, filter }
    }
}
