//! The values of instructions, recorded in a run of the exact engine.
use super::draft::{Draft, has_values};
use super::limited_run::run;
use super::search::Reduction;
use hlo::Literal;
use hlo::ir::InstructionId;

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
