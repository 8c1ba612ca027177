//! What a run measured: the time of each instruction, and statistics of its value.
use crate::statistics::{Range, Statistics};
use hlo::ir::InstructionId;
use hlo::ir::rewrite::ModuleRewriter;
use hlo::{Literal, Module, Shape, Verified};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most bytes of the values that one run returns. A module whose values take more runs several
/// times.
const SLICE: usize = 1 << 28;
/// The most elements that are listed.
const LISTED: usize = 8;

/// An instruction: the indices of its computation and of itself.
pub(super) type At = (usize, usize);

/// What was found about an instruction on a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is wrong by itself.
    Wrong,
    /// It is a result of the module, and wrong.
    WrongResult,
    /// A wrong result is computed from it.
    Suspect,
    /// It is right on the operands that the backend computed, and one of these is wrong.
    Inherited,
    /// It was not checked.
    Unchecked,
}

impl Mark {
    const fn key(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::WrongResult => "result",
            Self::Suspect => "suspect",
            Self::Inherited => "inherited",
            Self::Unchecked => "unchecked",
        }
    }
}

/// What a run measured. Nothing, if there was none.
#[derive(Debug, Default)]
pub struct Measured {
    times: BTreeMap<At, Value>,
    values: BTreeMap<At, Value>,
    findings: BTreeMap<At, Value>,
    /// What the reader of the page has to know about the run.
    pub note: String,
}

impl Measured {
    pub(super) fn is_timed(&self) -> bool {
        !self.times.is_empty()
    }
    pub(super) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }
    pub(super) fn time(&self, at: At) -> Value {
        self.times.get(&at).cloned().unwrap_or_default()
    }
    pub(super) fn value(&self, at: At) -> Value {
        self.values.get(&at).cloned().unwrap_or_default()
    }

    pub(super) fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }
    pub(super) fn finding(&self, at: At) -> Value {
        self.findings.get(&at).cloned().unwrap_or_default()
    }

    /// Adds what was found about an instruction, and the reason. The page shows it by color, and
    /// begins with the first wrong one.
    pub fn add_finding(&mut self, at: (usize, usize), mark: Mark, text: &str) {
        self.findings.insert(at, json!({ "mark": mark.key(), "text": text }));
    }

    /// Adds the time of an instruction of a computation, of all `runs` of it together, and the
    /// bytes of its results.
    pub fn add_time(&mut self, at: (usize, usize), runs: u64, time: Duration, bytes: usize) {
        let ms = time.as_secs_f64() * 1e3;
        self.times.insert(at, json!({ "ms": ms, "runs": runs, "bytes": bytes }));
    }

    /// Adds the values of a slice: the results of each device.
    pub fn add_values(&mut self, entry: usize, slice: &[InstructionId], results: &[Literal]) {
        for (at, id) in slice.iter().enumerate() {
            let of_device = |result: &Literal| result.elements()?.get(at).cloned();
            let values: Vec<Literal> = results.iter().filter_map(of_device).collect();
            self.values.insert((entry, id.index()), statistics(&values));
        }
    }
}

/// Returns the arrays of static sizes in the entry computation, in slices for one run each.
pub fn slices(module: &Module) -> Vec<Vec<InstructionId>> {
    let mut slices: Vec<Vec<InstructionId>> = Vec::new();
    let mut taken = usize::MAX;
    for (id, instruction) in module.entry().instructions.iter() {
        let Shape::Array(array) = &instruction.shape else { continue };
        let Some(bytes) = array.byte_count().filter(|_| array.dynamic.is_none()) else { continue };
        taken = taken.saturating_add(bytes);
        match slices.last_mut().filter(|_| taken <= SLICE) {
            Some(slice) => slice.push(id),
            None => {
                taken = bytes;
                slices.push(vec![id]);
            }
        }
    }
    slices
}

/// Returns the module with a tuple of these values as its result.
///
/// # Errors
/// If the values cannot be elements of a tuple.
pub fn watching(module: &Module, slice: &[InstructionId]) -> Result<Verified, String> {
    let mut rewriter = ModuleRewriter::new(module);
    let entry = rewriter.entry();
    let computation = rewriter.computation_mut(entry);
    let tuple = computation.tuple(slice.to_vec());
    let root = computation.push("values", tuple);
    computation.set_root(root);
    let config = rewriter.config_mut();
    config.entry_layout = None;
    config.input_output_alias.clear();
    config.buffer_donor.clear();
    let module = rewriter.finish().map_err(|error| error.to_string())?;
    module.verify().map_err(|errors| errors.to_string())
}

/// Returns the statistics of a value on all devices together.
fn statistics(values: &[Literal]) -> Value {
    let Statistics { count, nan, infinite, range, is_complex } = Statistics::of(values);
    let mut statistics = json!({ "count": count, "nan": nan, "inf": infinite });
    if let Some(Range { min, max, mean }) = range.filter(|_| !is_complex) {
        statistics["min"] = json!(min);
        statistics["max"] = json!(max);
        statistics["mean"] = json!(mean);
    }
    if let [value] = values
        && value.len() <= LISTED
    {
        statistics["text"] = json!(value.summary(LISTED));
    }
    statistics
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Value {
        statistics(&[text.parse().unwrap()])
    }

    #[test]
    fn statistics_leave_out_what_is_not_finite() {
        let found = of("f32[5] {1, nan, -3, inf, 5}");
        assert_eq!(
            (&found["nan"], &found["inf"], &found["count"]),
            (&json!(1), &json!(1), &json!(5))
        );
        assert_eq!(
            (&found["min"], &found["max"], &found["mean"]),
            (&json!(-3.0), &json!(5.0), &json!(1.0))
        );
        assert!(of("f32[1] {nan}").get("min").is_none());
        assert!(of("c64[1] {(1, 2)}").get("min").is_none());
        assert_eq!(of("s32[] 7")["text"], "s32[] 7");
    }
}
