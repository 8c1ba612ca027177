//! Campaigns on a backend that is wrong in each way: it dies, hangs, rejects, computes wrong values.
use conformance::backend::{
    Backend, BackendError, Backends, Capabilities, Code, Death, LimitedEngine, LoadedModule,
};
use conformance::campaign::{Event, Extent, History, Identity, Limit, Options, Status, read, run};
use conformance::results::Verdict;
use conformance::{Engine, Known};
use hlo::{Literal, Verified};
use interp::DeviceGrid;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many executions there were.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// An engine that fails for some ops.
#[derive(Clone)]
struct Broken {
    engine: LimitedEngine,
    /// Whether everything is right.
    mended: bool,
}

impl Backend for Broken {
    fn name(&self) -> String {
        "broken".to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        let text = module.module().to_string();
        let has = |op: &str| !self.mended && text.contains(op);
        let died = |how: &str, line: Option<&str>| {
            let death = Death { how: how.to_owned(), line: line.map(str::to_owned) };
            Code::Crashed { message: format!("the process died: {death}"), death }
        };
        if has(" sort(") {
            return Err(died("SIGABRT", Some("sort.cc:12 Check failed: rank vs.")).into());
        }
        if has(" reverse(") {
            return Err(died("SIGSEGV", None).into());
        }
        if has(" fft(") {
            return Err(Code::TimedOut { seconds: 1.0, stderr: String::new() }.into());
        }
        if has(" tan(") {
            return Err(
                Code::Rejected { message: "no lowering of `tan.7` for m1".to_owned() }.into()
            );
        }
        let flips = has(" clamp(");
        Ok(Box::new(BrokenModule { module: self.engine.compile(module, grid)?, flips }))
    }
}

struct BrokenModule {
    module: Box<dyn LoadedModule>,
    /// Whether every seventh execution fails.
    flips: bool,
}

impl LoadedModule for BrokenModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, BackendError> {
        if self.flips && RUNS.fetch_add(1, Ordering::Relaxed).is_multiple_of(50) {
            return Err(Code::Failed { message: "a race".to_owned() }.into());
        }
        self.module.execute(arguments)
    }
}

fn round(folder: &Path, mended: bool, known: &str) -> History {
    let engine = LimitedEngine {
        engine: Engine::Exact,
        fuel: 1 << 24,
        max_memory: 1 << 30,
        time_limit: None,
    };
    let backends = Backends::one(Box::new(Broken { engine, mended }));
    let identity = Identity { suite: Extent::Probes, ..Identity::default() };
    let options = Options {
        folder: folder.to_owned(),
        identity,
        limit: Limit::Modules(10),
        round: None,
        engine: Engine::Exact,
        bits: false,
        portable: true,
        known: Known::parse(known).unwrap(),
    };
    conformance::on_large_stack(|| run(&backends, &options, &mut |_| {})).unwrap()
}

#[test]
fn each_way_to_fail_has_causes_until_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let history = round(folder.path(), false, "");
    let kinds: Vec<(String, Status)> = history
        .causes
        .values()
        .map(|cause| (cause.title(), history.status_now(&cause.id)))
        .collect();
    let title = |part: &str| {
        let found = kinds.iter().find(|(title, _)| title.contains(part));
        found.unwrap_or_else(|| panic!("no `{part}` in {kinds:?}")).1
    };
    // All types of `sort` died with one line.
    assert_eq!(title("SIGABRT: sort.cc:12 Check failed: rank vs."), Status::New);
    assert_eq!(kinds.iter().filter(|(title, _)| title.contains("SIGABRT")).count(), 1);
    assert_eq!(title("the process died: SIGSEGV: reverse."), Status::New);
    assert_eq!(title("no answer in time: fft."), Status::New);
    assert_eq!(title("rejected: no lowering of for: tan.f32(_)"), Status::New);
    assert_eq!(title("failed: a race"), Status::Flaky);
    assert!(kinds.len() < 20, "{kinds:?}");
    for id in history.causes.keys() {
        let report = folder.path().join("causes").join(id).join("report.md");
        let report = std::fs::read_to_string(report).unwrap();
        for part in ["## Module", "## Why it is wrong", "## Reproduce", "broken"] {
            assert!(report.contains(part), "no `{part}` in {report}");
        }
    }
    let count = history.causes.len();
    let crashed = "crashed sort/* | Sorts\ntimed_out fft/* | Transforms";
    let history = round(folder.path(), true, crashed);
    assert_eq!((history.rounds.len(), history.causes.len()), (2, count));
    let all = history.causes.values();
    let left = all.filter(|cause| !cause.flaky && history.status_now(&cause.id) != Status::Fixed);
    assert_eq!(left.count(), 0);
    let known = Known::parse(crashed).unwrap();
    assert_eq!(history.unneeded(&known).len(), 2);
    assert!(history.rounds[1].counts().iter().all(|(verdict, _)| !verdict.is_bad()));
    // The modules of the second round follow those of the first.
    let events = read(folder.path()).unwrap();
    let names = events.iter().filter_map(|event| match event {
        Event::Case(case) => {
            let module = case.case.strip_suffix("/special")?;
            // One in eight is compared with its twin.
            module.strip_prefix("fuzz/").or_else(|| module.strip_prefix("twin/"))
        }
        _ => None,
    });
    assert!(names.eq((0..20).map(|seed: u32| seed.to_string()).collect::<Vec<_>>().iter()));
    assert!(history.rounds[0].cases.values().any(|verdict| *verdict == Verdict::TimedOut));
}
