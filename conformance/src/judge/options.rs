//! What a judge knows of a backend.
use super::{Accuracies, Anchors, Mode, Modes};
use collectives::spmd::Boundary;
use hlo::Literal;
use std::sync::Arc;

/// What a judge knows of a backend, and what its user permits.
///
/// ```
/// use conformance::judge::{JudgeOptions, Mode};
/// let strict = JudgeOptions::strict();
/// assert!(!strict.modes.has(Mode::FlushedDenormals));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// The modes that are legal. Each that explains a difference is named in the judgement.
    pub modes: Modes,
    /// The accuracy of functions that the backend states.
    pub accuracies: Accuracies,
    /// Whether two executions must have the same bits.
    pub deterministic: bool,
    /// Whether the expected result is computed a second time, by the engine `reference`, before a
    /// result is said to differ.
    pub witness: bool,
    /// Instructions whose values are exact.
    pub(crate) anchors: Arc<Anchors>,
    /// How the devices of a partitioned module divide the results of the module, where it is the
    /// program from which that was made.
    pub(crate) boundary: Option<Arc<Boundary>>,
}

impl Default for JudgeOptions {
    /// All modes are legal, results may change from run to run, and there is a second witness.
    fn default() -> Self {
        Self {
            modes: Modes::ALL,
            accuracies: Accuracies::default(),
            deterministic: false,
            witness: true,
            anchors: Arc::default(),
            boundary: None,
        }
    }
}

impl JudgeOptions {
    /// Returns the options of a backend that uses only what every specification leaves open: the
    /// order of sums, and the accuracy of functions.
    pub fn strict() -> Self {
        Self { modes: Modes::STRICT, ..Self::default() }
    }
    /// Returns the options for two modules that Etalon runs: other bits come from the modules alone.
    pub(crate) fn of_passes() -> Self {
        Self { modes: Modes::PASSES, ..Self::default() }
    }
    /// Returns the options for a partitioned module and its program, both of which Etalon runs: the
    /// devices add partial sums of the element type.
    pub fn of_partitioner() -> Self {
        Self::of_passes().allow(Mode::ElementAccumulation)
    }
    /// Returns the results of the devices, for those of a run of the module.
    pub(super) fn of_devices(&self, results: Vec<Literal>) -> Vec<Literal> {
        match (&self.boundary, results.as_slice()) {
            (Some(boundary), [global]) => boundary.split(global).unwrap_or(results),
            _ => results,
        }
    }
    /// Permits a mode.
    #[must_use]
    pub fn allow(self, mode: Mode) -> Self {
        Self { modes: self.modes.with(mode), ..self }
    }
    /// Returns the options for a search that judges many results, each without a second witness.
    #[must_use]
    pub fn without_witness(self) -> Self {
        Self { witness: false, ..self }
    }
}
