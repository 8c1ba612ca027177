//! Runs of candidates, within limits.
use collectives::Session;
use hlo::{Literal, Verified};
use interp::{CompileOptions, RunOptions};
use std::sync::Arc;

/// The most bytes of a device in such a run.
const MEMORY: usize = 8 << 30;

/// Runs a module; `None` if the run fails or takes too many steps.
pub(super) fn run(
    module: impl Into<Arc<Verified>>,
    arguments: &[Vec<Literal>],
    fuel: u64,
) -> Option<Vec<Literal>> {
    let session = Session::compile(module, &CompileOptions::default()).ok()?;
    let options = RunOptions::default().fuel(fuel).max_memory(MEMORY);
    session.run(arguments, &options).ok().map(|output| output.results)
}

/// Returns four times the steps that a module takes, rounded up: enough for its candidates, which
/// may have loops without an end.
///
/// ```
/// let text = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] tanh(x) }";
/// let module = std::sync::Arc::new(hlo::Module::parse(text)?.verify()?);
/// assert_eq!(conformance::reduce::measured_fuel(&module, &[vec!["f32[] 1".parse()?]]), 1 << 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn measured_fuel(module: &Arc<Verified>, arguments: &[Vec<Literal>]) -> u64 {
    let mut limits = (12..40).step_by(2).map(|bits| 1 << bits);
    // A module that has no result within the most steps has none for another reason.
    let enough = limits.find(|&fuel| ends_within(module, arguments, fuel));
    enough.unwrap_or(1 << 40) * 4
}

/// Returns whether a run ends within this number of steps, with a result or another error.
fn ends_within(module: &Arc<Verified>, arguments: &[Vec<Literal>], fuel: u64) -> bool {
    let Ok(session) = Session::compile(Arc::clone(module), &CompileOptions::default()) else {
        return true;
    };
    let options = RunOptions::default().fuel(fuel).max_memory(MEMORY);
    let Err(error) = session.run(arguments, &options) else { return true };
    !matches!(error.device_error().map(interp::Error::code), Some(interp::Code::OutOfFuel { .. }))
}
