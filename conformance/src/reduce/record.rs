//! The values of instructions, recorded in a run of the exact engine.
use super::draft::{Draft, has_values};
use super::search::Reduction;
use collectives::Session;
use hlo::ir::InstructionId;
use hlo::{Literal, Verified};
use interp::{CompileOptions, RunOptions};
use std::sync::Arc;

/// The most bytes of a device while values are recorded.
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

impl Reduction<'_, '_> {
    /// Returns the instructions of the entry whose values can be arguments, and for each device
    /// their values in the best candidate.
    pub(super) fn recorded(&self) -> Option<(Vec<InstructionId>, Vec<Vec<Literal>>)> {
        let mut draft = self.draft();
        let ids: Vec<InstructionId> = recordable(&draft);
        let entry = draft.entry_mut();
        let tuple = entry.tuple(ids.clone());
        let root = entry.push("values", tuple);
        entry.set_root(root);
        let Draft { rewriter, arguments } = draft;
        let module = rewriter.finish().ok()?.verify().ok()?;
        let results = run(module, &arguments, self.fuel())?;
        let values: Option<Vec<Vec<Literal>>> =
            results.iter().map(|result| result.elements().map(<[Literal]>::to_vec)).collect();
        let values = values?;
        // A single list stands for all devices.
        let is_same = values.windows(2).all(|two| two[0] == two[1]);
        Some((ids, if is_same { values.into_iter().take(1).collect() } else { values }))
    }
}

/// Returns the live instructions of the entry whose values can be arguments.
fn recordable(draft: &Draft) -> Vec<InstructionId> {
    let dead = draft.dead();
    let entry = draft.rewriter.entry();
    let computation = draft.entry();
    let is_recordable = |&id: &InstructionId| {
        has_values(&computation.instruction(id).shape) && !dead.contains(&(entry, id))
    };
    computation.ids().into_iter().filter(is_recordable).collect()
}
