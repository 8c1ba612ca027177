//! The run of the suite in a backend.
use super::{Suite, SuiteCase};
use crate::backend::{Backend, EngineBackend};
use crate::results::{Record, Results, Verdict};
use crate::{Engine, conform, on_large_stack};
use hlo::diag::quantity;
use interp::DeviceGrid;

impl Suite {
    /// Runs the cases in a backend and judges the results. `observe` gets each record as soon as it
    /// is there.
    pub fn run(
        &self,
        backend: &mut dyn Backend,
        mut observe: impl FnMut(&Record) + Send,
    ) -> Results {
        let mut results = Results::new(backend.name());
        results.shards.extend(self.shard);
        on_large_stack(|| {
            for case in &self.cases {
                let record = case.run(backend);
                observe(&record);
                results.push(record);
                results.warnings.extend(backend.take_warnings());
            }
        });
        results
    }
}

impl SuiteCase {
    /// Runs the case in a backend and judges the result by that of Etalon.
    ///
    /// A case for more devices than the backend has is unsupported.
    pub fn run(&self, backend: &mut dyn Backend) -> Record {
        let without_result =
            |verdict, reason: String| Record { reason, ..Record::new(self.name(), verdict) };
        let subject = match self.subject() {
            Ok(subject) => subject,
            Err(reason) => return without_result(Verdict::Skipped, reason),
        };
        let needed = DeviceGrid::of(&subject.module.module().config).len();
        let devices = backend.capabilities().devices;
        if let Some(devices) = devices.filter(|&devices| devices < needed) {
            let reason =
                format!("the case needs {}, the backend has {devices}", quantity(needed, "device"));
            return without_result(Verdict::Unsupported, reason);
        }
        let mut record = conform(&subject, &mut EngineBackend(Engine::Exact), backend);
        if let Some(reproduction) = &mut record.reproduction {
            let name = self.name();
            reproduction.command =
                format!("etalon conform --backend BACKEND --suite full --case '{name}'");
        }
        record
    }
}
