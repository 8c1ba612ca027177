//! The suite as a library: devices, and planted bugs.
use super::planted::{Bug, Planted};
use conformance::Engine;
use conformance::backend::{Backend, BackendError, Capabilities, EngineBackend, LoadedModule};
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite};
use hlo::Verified;
use interp::DeviceGrid;
use std::sync::Arc;
use std::time::Instant;

/// The exact engine, which says that it has two devices.
struct TwoDevices;

impl Backend for TwoDevices {
    fn name(&self) -> String {
        "two devices".to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: Some(2), isolated: false }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        EngineBackend(Engine::Exact).compile(module, grid)
    }
}

#[test]
fn a_case_for_more_devices_is_unsupported() {
    let pattern = Some("all-reduce/f32/*".to_owned());
    let suite = Suite::load(&Selection { pattern, ..Selection::full() }).unwrap();
    let results = suite.run(&mut TwoDevices, |_| {});
    let has = |verdict| results.records().filter(move |record| record.verdict == verdict);
    assert!(has(Verdict::Agrees).count() > 0 && !results.is_bad());
    let unsupported: Vec<_> = has(Verdict::Unsupported).map(|record| &record.reason).collect();
    assert!(unsupported.len() > 1);
    assert_eq!(unsupported[0], "the case needs 4 devices, the backend has 2");
}

/// `cargo test -p etalon-conformance --test all suite -- --nocapture` prints the seconds.
#[test]
fn the_smoke_set_finds_planted_bugs() {
    let cases = Suite::load(&Selection::smoke()).unwrap().into_cases();
    for bug in Bug::ALL {
        let start = Instant::now();
        let differs = |record: &conformance::results::Record| record.verdict == Verdict::Differs;
        let found = cases.iter().map(|case| case.run(&mut Planted(bug))).position(|r| differs(&r));
        let at = found.unwrap_or_else(|| panic!("{bug:?} is not found"));
        let (seconds, name) = (start.elapsed().as_secs_f64(), cases[at].name());
        println!("{bug:?}: {seconds:.2} s, case {} is {name}", at + 1);
    }
}
