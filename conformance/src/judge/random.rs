//! Ranges of random numbers: another implementation may have other ones.
use super::Stop;
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::modes::Mode;
use super::site::Site;
use hlo::Op;
use hlo::op::value::RandomAlgorithm;

/// Returns the new state, which an algorithm determines, and the bits, which need not be those of
/// any other implementation. Of other random numbers, only the distribution is defined.
pub(super) fn random<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let open = unknown(site, Some(site.cause()));
    let Op::RngBitGenerator(op) = &site.instruction().op else { return Ok(open) };
    let own = ev.stated(site, &arrays(site, operands)?)?;
    if !ev.modes.has(Mode::RandomBits) {
        return Ok(own);
    }
    // The state of the backend's own algorithm has another meaning, too.
    let states = usize::from(op.algorithm != RandomAlgorithm::Default);
    Ok(own.into_iter().take(states).chain(open.into_iter().skip(states)).collect())
}
