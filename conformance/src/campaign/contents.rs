//! What random modules may have, as the probes of a round show.
use super::{Options, RoundHistory};
use crate::CapabilityMap;
use crate::backend::Backends;
use crate::generate;
use crate::results::{Record, Results};
use crate::suite::{Selection, Suite};
use hlo::Opcode;
use std::sync::Arc;

/// The seeds after which other ops have a higher weight.
const BATCH: u64 = 20;
/// How many ops have a higher weight at a time, and that weight.
const RAISED: (u64, u32) = (4, 20);
/// What random modules may have.
pub(super) struct Contents {
    base: generate::Options,
    /// The ops that the backend does not lack.
    ops: Vec<Opcode>,
}

impl Contents {
    pub(super) fn new(backends: &Backends, options: &Options, capabilities: CapabilityMap) -> Self {
        let ops = Opcode::ALL.iter().copied().filter(|&op| !capabilities.lacks_op(op)).collect();
        let base = generate::Options {
            portable: options.portable,
            devices: backends.capabilities().devices,
            capabilities: Arc::new(capabilities),
            ..generate::Options::default()
        };
        Self { base, ops }
    }
    /// Returns the contents of a module by its number: in each batch other ops have a higher weight.
    pub(super) fn of(&self, number: u64) -> generate::Options {
        let (count, weight) = RAISED;
        let len = u64::try_from(self.ops.len().max(1)).unwrap_or(u64::MAX);
        let first = number / BATCH * count;
        let at = |i: u64| usize::try_from((first + i) % len).unwrap_or_default();
        let raised = (0..count).filter_map(|i| Some((*self.ops.get(at(i))?, weight)));
        generate::Options { weights: raised.collect(), ..self.base.clone() }
    }
}

/// Returns what the probes of a round show of the backend.
pub(super) fn capabilities(round: &RoundHistory, backend: &str) -> CapabilityMap {
    let probes = Suite::load(&Selection::probes()).map_or_else(|_| Vec::new(), Suite::into_cases);
    let mut results = Results::new(backend);
    for case in probes {
        if let Some(verdict) = round.cases.get(case.name()) {
            results.push(Record::new(case.name(), *verdict));
        }
    }
    CapabilityMap::of(&results)
}
