//! Ranges of random numbers: another implementation may have other ones.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops have no random numbers")]
use super::Stop;
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::integers::{self, number};
use super::interval::Interval;
use super::modes::{Mode, largest, round};
use super::range::{Range, is_whole};
use super::site::Site;
use super::{elementwise, fold};
use crate::error_model::roundoff;
use hlo::op::Rng;
use hlo::op::value::{RandomAlgorithm, RandomDistribution};
use hlo::{ArrayShape, ElementType, Op};

/// Returns the new state, which an algorithm determines, and the bits, which need not be those of
/// any other implementation. Of numbers of a distribution, only where they may be is known.
pub(super) fn random<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let open = unknown(site, Some(site.cause()));
    let op = match &site.instruction().op {
        Op::RngBitGenerator(op) => op,
        Op::Rng(op) => {
            let shape = site.shape()?;
            let each = |x: &[&Range]| distributed(op, &shape, x[0], x[1]).ok_or(());
            let numbers = elementwise::for_each_choice(&arrays(site, operands)?, false, each);
            let Ok(numbers) = numbers else { return Ok(open) };
            let numbers = numbers.because(Some(site.cause()));
            return Ok(vec![ev.factors.add_random(site.computation.path(site.at), numbers)]);
        }
        _ => return Ok(open),
    };
    let own = ev.stated(site, &arrays(site, operands)?)?;
    if !ev.modes.has(Mode::RandomBits) {
        return Ok(own);
    }
    // The state of the backend's own algorithm has another meaning, too.
    let states = usize::from(op.algorithm != RandomAlgorithm::Default);
    let bits = open.into_iter().skip(states);
    let bits = bits.map(|bits| ev.factors.add_random(site.computation.path(site.at), bits));
    Ok(own.into_iter().take(states).chain(bits).collect())
}

/// Returns where numbers of a distribution are; `None` if nothing is known of them.
fn distributed(op: &Rng, shape: &ArrayShape, a: &Range, b: &Range) -> Option<Range> {
    let (ty, count) = (shape.ty, shape.element_count()?);
    let uniform = op.distribution == RandomDistribution::Uniform;
    if is_whole(ty) {
        let ((lo, last), (first, hi)) = (a.ends(0), b.ends(0));
        let known = uniform && ty != ElementType::Pred && number(last) < number(first);
        let ends = integers::wrapped(ty, (number(lo), number(hi) - 1)).pop().filter(|_| known)?;
        return Some(integers::range(shape, std::iter::repeat_n(ends, count)));
    }
    let (a, b) = (a.intervals().next()?, b.intervals().next()?);
    if a.is_nan() || b.is_nan() || !a.is_finite() || !b.is_finite() {
        return None;
    }
    let numbers = if uniform {
        let (span, most) = (b.hi - a.lo, largest(ty));
        if a.hi > b.lo || span > most {
            return None;
        }
        // The rounded difference of the bounds may be larger, and lead beyond the second.
        let exact = a.is_point() && b.is_point() && ty != ElementType::F64;
        let exact = (exact && round(ty, span) == span) || (a.is_point() && a.lo == 0.0);
        let beyond = if exact { 0.0 } else { 2.0 * roundoff(ty) * (a.max_abs() + b.max_abs()) };
        let all = Interval::closed(a.lo, b.hi + beyond);
        if a.lo >= 0.0 { all.not_negative() } else { all }
    } else {
        // Any number; both ends infinite would be NaN, too.
        Interval { lo: -f64::MAX, hi: f64::INFINITY }
    };
    let is_known = uniform || b.lo > 0.0;
    let vector = Range::of(&ArrayShape::new(ty, [1].as_slice()), &[numbers]);
    let lanes = i64::try_from(count).ok().filter(|_| is_known)?;
    Some(fold::reshaped(&fold::repeated(&vector, lanes), shape))
}
