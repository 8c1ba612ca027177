//! Fuzzing: random modules on a backend and on the reference.
//!
//! ```text
//! seed ─> generate, or mutate a module ─> compile once ─┬─ integers ─┐
//!                                                       ├─ benign   ─┼─> conform ─> Campaign, findings as file tests
//!                                                       └─ special  ─┘
//! ```
//!
//! Module `k` of a campaign has the seed of the campaign plus `k`, so that `--seed S --count 1`
//! repeats the module of a finding, with the weights of the ops that had run the fewest times until
//! then.
mod balance;
mod bits;
mod finding;
mod nan;
mod recorder;
mod rest;
mod statistics;

pub use finding::Finding;
pub use statistics::{Coverage, ENOUGH, Tally};

use crate::backend::{Backend, Backends};
use crate::generate::{self, Regime, generate};
use crate::metamorphic::{Twin, TwinRule};
use crate::pool::Queue;
use crate::reduce::Kind;
use crate::results::{Record, Verdict};
use crate::{AtomicFile, CapabilityMap, Existing, Subject, WriteError, conform, metamorphic};
use balance::{Balance, Weights};
use hlo::{Literal, Opcode, Verified};
use recorder::Recorder;
use rest::Rest;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When a campaign ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// After this number of modules.
    Modules(u64),
    /// After this time.
    Time(Duration),
}

/// What results are compared with.
#[derive(Debug, Clone, Default)]
pub enum Compare {
    /// The reference, by the bounds of the module.
    #[default]
    Bounds,
    /// The bits of the reference, wherever it gives the only right result, as Etalon's engines do.
    Bits,
    /// The results of the same backend for a module that is the same function, by a rule or by any
    /// law.
    Twins(Option<TwinRule>),
}

/// The parameters of a campaign.
#[derive(Debug, Clone)]
pub struct Options {
    /// The seed of the first module; the next one has the next seed.
    pub seed: u64,
    /// When the campaign ends.
    pub limit: Limit,
    /// The contents that modules may have.
    pub generate: generate::Options,
    /// The module whose variants are run, in place of generated modules.
    pub like: Option<Arc<Verified>>,
    /// The folder that findings are written to.
    pub output: Option<PathBuf>,
    /// Ends the campaign where it is, as soon as it is set.
    pub stop: Arc<AtomicBool>,
    /// What results are compared with.
    pub compare: Compare,
}

/// The statistics of a campaign.
#[derive(Debug, Default)]
pub struct Campaign {
    /// Modules that ran.
    pub modules: u64,
    /// Seeds without a valid variant of the given module.
    pub without_variant: u64,
    /// The outcomes of all runs; a module runs once for each regime.
    pub tally: Tally,
    /// The outcomes by opcode and element type of the modules that contain them.
    pub coverage: Coverage,
    /// The reasons for runs without support, and how often each occurred.
    pub unsupported: BTreeMap<String, u64>,
    /// Runs without some instructions that the backend does not support.
    pub partial: u64,
    /// What the backend has, as is given, and as modules showed of which it did not support all.
    pub learned: CapabilityMap,
    /// The number of findings.
    pub findings: u64,
    /// The first findings without a result of the backend, by what they show.
    first: BTreeMap<String, String>,
    /// Modules of the generator that break a rule.
    pub invalid: u64,
    /// The time since the start.
    pub time: Duration,
}

impl Campaign {
    /// Returns the modules that ran in a second.
    pub fn modules_per_second(&self) -> f64 {
        let modules = u32::try_from(self.modules).unwrap_or(u32::MAX);
        f64::from(modules) / self.time.as_secs_f64().max(1e-9)
    }
}

/// An event that an observer is told of.
#[derive(Debug)]
pub enum Event<'a> {
    /// A module ran.
    Ran,
    /// A run has an outcome that is not the expected one.
    Found(&'a Finding),
    /// The generator made a module that breaks a rule: an error of the generator.
    Invalid(&'a generate::Invalid),
}

/// Runs random modules on a backend and on the reference, and tells `observer` of each module.
///
/// ```
/// use conformance::backend::{Backends, EngineBackend};
/// use conformance::fuzz::{self, Limit, Options, fuzz};
/// use conformance::{Engine, generate};
/// use std::sync::Arc;
/// let options = Options {
///     seed: 1,
///     limit: Limit::Modules(3),
///     generate: generate::Options::default(),
///     like: None,
///     output: None,
///     stop: Arc::default(),
///     compare: fuzz::Compare::Bits,
/// };
/// let exact = Backends::one(Box::new(EngineBackend(Engine::Exact)));
/// let campaign = fuzz(&exact, EngineBackend(Engine::Reference), &options, &mut |_, _| {})?;
/// assert_eq!(campaign.modules, 3);
/// # Ok::<(), conformance::WriteError>(())
/// ```
///
/// # Errors
/// If a finding cannot be written.
pub fn fuzz(
    backends: &Backends,
    reference: impl Backend + Clone + Sync + 'static,
    options: &Options,
    observer: &mut dyn FnMut(&Campaign, Event<'_>),
) -> Result<Campaign, WriteError> {
    if let Some(folder) = &options.output {
        check_folder(folder)?;
    }
    let start = Instant::now();
    let learned = CapabilityMap::clone(&options.generate.capabilities);
    let mut campaign = Campaign { learned, ..Campaign::default() };
    let mut balance = Balance::new(&options.generate);
    let mut queue = queue(backends, reference, options.like.clone());
    let mut k = 0;
    loop {
        while queue.has_room() && !options.limit.is_reached(k, start) {
            if Balance::is_due(k) {
                // The weights follow from all that ran before.
                if !queue.is_empty() {
                    break;
                }
                balance.update((&campaign.coverage, &campaign.learned), &options.generate);
            }
            let seed = options.seed.wrapping_add(k);
            let (weights, compare) = (Arc::clone(&balance.weights), options.compare.clone());
            queue.push(Seed { number: seed, weights, compare });
            k += 1;
        }
        let Some(ran) = queue.pop() else { break };
        // What ends the campaign may have ended the backend, whose outcome then says nothing of it.
        if options.stop.load(Ordering::Relaxed) {
            break;
        }
        let (random, outcomes) = match ran {
            Ok(Some(ran)) => ran,
            Ok(None) => {
                campaign.without_variant += 1;
                continue;
            }
            Err(invalid) => {
                campaign.invalid += 1;
                observer(&campaign, Event::Invalid(&invalid));
                continue;
            }
        };
        let found = campaign.count(&random, outcomes, options);
        campaign.time = start.elapsed();
        observer(&campaign, Event::Ran);
        for mut finding in found {
            let written = options.output.as_ref().map_or(Ok(()), |folder| finding.write(folder));
            observer(&campaign, Event::Found(&finding));
            written?;
        }
    }
    campaign.time = start.elapsed();
    Ok(campaign)
}

/// The modules, or cases, that each backend may have before an earlier one is reported.
pub(crate) const AHEAD: usize = 4;

/// The module of a seed with its outcomes; nothing if the given module has no variant of this seed.
type Made = Result<Option<(Random, Outcomes)>, generate::Invalid>;

/// Returns a queue that makes the modules of seeds, or variants of a module, and runs them.
pub(crate) fn queue(
    backends: &Backends,
    reference: impl Backend + Clone + Sync + 'static,
    like: Option<Arc<Verified>>,
) -> Queue<'_, Seed, Made> {
    backends.queue(AHEAD, move |backend, seed: Seed| {
        let compare = seed.compare.clone();
        Ok(seed.module(like.as_deref())?.map(|random| {
            let outcomes = random.run(&compare, backend, &mut reference.clone());
            (random, outcomes)
        }))
    })
}

impl Limit {
    /// Returns whether no module follows the first `modules`.
    fn is_reached(self, modules: u64, start: Instant) -> bool {
        match self {
            Self::Modules(count) => modules >= count,
            Self::Time(time) => start.elapsed() >= time,
        }
    }
}

/// Fails if the folder of findings, which is made with the first one, cannot be made or written.
fn check_folder(folder: &Path) -> Result<(), WriteError> {
    let found = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let checked = AtomicFile::create(&found.join("finding.hlo"), Existing::Replace);
    checked.map(drop).map_err(|error| WriteError { path: folder.to_owned(), error })
}

/// What a module of a campaign is made of.
pub(crate) struct Seed {
    number: u64,
    weights: Arc<Weights>,
    compare: Compare,
}

impl Seed {
    /// Returns the seed of a module with these contents, whatever ran before.
    pub(crate) fn new(seed: u64, options: &generate::Options, compare: Compare) -> Self {
        Self { number: seed, weights: Balance::new(options).weights, compare }
    }
    /// Returns the module; nothing if the given one has no valid variant of this seed.
    fn module(self, like: Option<&Verified>) -> Result<Option<Random>, generate::Invalid> {
        let Self { number: seed, weights: known, .. } = self;
        let (generated, weights) = match like {
            Some(module) => (generate::mutated(seed, module.module()), Vec::new()),
            None => (Some(generate(seed, &known.options)?), known.rare.clone()),
        };
        Ok(generated.map(|generated| Random { seed, generated, weights, known }))
    }
}

/// A module of a campaign.
pub(crate) struct Random {
    seed: u64,
    generated: generate::Generated,
    /// The weights of rare ops.
    weights: Vec<(Opcode, u32)>,
    known: Arc<Weights>,
}

/// The outcomes of a module.
pub(crate) struct Outcomes {
    pub(crate) ran: Vec<Ran>,
    /// What the backend was found to have.
    learned: CapabilityMap,
}

/// The outcome of a run.
pub(crate) struct Ran {
    pub(crate) regime: Regime,
    pub(crate) subject: Subject,
    /// Whether it is the rest of the module, without what the backend does not support.
    is_part: bool,
    pub(crate) record: Record,
    /// The results of the reference.
    expected: Vec<Literal>,
    /// What it was compared with, in place of the reference.
    pub(crate) twin: Option<Twin>,
}

impl Random {
    fn subject(&self, regime: Regime) -> Subject {
        Subject {
            name: format!("seed {}, {}", self.seed, regime.name()),
            file: format!("m{}.hlo", self.seed),
            text: self.generated.text.clone(),
            module: Arc::clone(&self.generated.module),
            arguments: self.generated.arguments(regime),
        }
    }
    /// Runs the module with the arguments of each regime.
    fn run(
        &self,
        compare: &Compare,
        backend: &mut dyn Backend,
        reference: &mut dyn Backend,
    ) -> Outcomes {
        let bits = matches!(compare, Compare::Bits);
        let (mut backend, mut reference) = (Recorder::new(backend), Recorder::new(reference));
        let compare =
            |subject: &Subject, reference: &mut dyn Backend, backend: &mut dyn Backend| {
                match compare {
                    Compare::Bounds => (conform(subject, reference, backend), None),
                    Compare::Bits => (bits::conform(subject, reference, backend), None),
                    Compare::Twins(rule) => metamorphic::check(subject, rule.as_ref(), backend),
                }
            };
        let (mut rest, mut learned) = (None, self.known.learned.clone());
        let run = |regime| {
            let (mut subject, mut is_part) = (self.subject(regime), false);
            let (mut record, mut twin) = compare(&subject, &mut reference, &mut backend);
            if record.verdict == Verdict::Unsupported {
                let rest = rest.get_or_insert_with(|| {
                    Rest::of(&subject, &mut reference, &mut backend, &mut learned)
                });
                let part = rest.as_mut().and_then(|rest| rest.subject(&subject, &mut reference));
                if let Some(part) = part {
                    (record, twin) = compare(&part, &mut reference, &mut backend);
                    (subject, is_part) = (part, true);
                }
            }
            let expected = reference.take_results();
            if bits {
                nan::explain(&mut record, &subject, &mut reference, &mut backend);
            }
            Ran { regime, subject, is_part, record, expected, twin }
        };
        let ran = Regime::ALL.into_iter().map(run).collect();
        Outcomes { ran, learned: learned.since(&self.known.learned) }
    }
}

impl Campaign {
    /// Returns the name of the first finding in which the backend failed in the same way, if this is
    /// another one.
    fn earlier(&mut self, record: &Record) -> Option<String> {
        let kind = Kind::of(record).filter(|_| !record.verdict.is_executed())?;
        // Without a message two failures may be anything.
        if matches!(kind, Kind::TimedOut)
            || matches!(&kind, Kind::Crashed(line) if !line.contains(": "))
        {
            return None;
        }
        let first = self.first.entry(format!("{}: {kind}", record.verdict.name()));
        match first {
            Entry::Occupied(first) => Some(first.get().clone()),
            Entry::Vacant(none) => {
                none.insert(record.name.clone());
                None
            }
        }
    }

    /// Counts the outcomes of a module, and returns those that are findings.
    fn count(&mut self, random: &Random, outcomes: Outcomes, options: &Options) -> Vec<Finding> {
        self.modules += 1;
        let mut found = Vec::new();
        self.learned.merge(&outcomes.learned);
        for Ran { regime, subject, is_part, record, expected, twin } in outcomes.ran {
            if is_part {
                let whole = random.generated.module.module();
                self.coverage.add(whole, Verdict::Unsupported, &[]);
                self.partial += u64::from(record.verdict.is_executed());
            }
            if let Verdict::Unsupported | Verdict::Skipped = record.verdict {
                let reason = record.reason.lines().next().unwrap_or_default();
                // Without the instruction, which differs in each module.
                let reason = reason.split_once(" (at `").map_or(reason, |(reason, _)| reason);
                *self.unsupported.entry(reason.to_owned()).or_default() += 1;
            }
            self.tally.add(record.verdict, &expected);
            self.coverage.add(subject.module.module(), record.verdict, &expected);
            if is_finding(&record, options.like.is_some()) {
                let (seed, weights, file) = (random.seed, random.weights.clone(), None);
                let same = self.earlier(&record);
                let finding =
                    Finding { seed, weights, regime, subject, expected, record, twin, same, file };
                self.findings += 1;
                found.push(finding);
            }
        }
        found
    }
}

/// Returns whether an outcome is written down. A variant of a given module, unlike a generated one,
/// may fail in the reference.
fn is_finding(record: &Record, is_variant: bool) -> bool {
    record.verdict.is_bad() && !(is_variant && record.verdict == Verdict::NoReference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{BackendError, Capabilities, LimitedEngine, LoadedModule};
    use crate::{Engine, FileTest};
    use interp::DeviceGrid;

    fn engine(engine: Engine) -> LimitedEngine {
        LimitedEngine { engine, fuel: 1_000_000, max_memory: 1 << 28, time_limit: None }
    }
    fn backends(backend: impl Backend + Clone + Sync + 'static, jobs: usize) -> Backends {
        let make = move || -> Box<dyn Backend> { Box::new(backend.clone()) };
        Backends::new(make(), jobs.try_into().unwrap(), move || Ok(make()))
    }
    fn options(count: u64) -> Options {
        let (limit, generate) = (Limit::Modules(count), generate::Options::default());
        Options {
            seed: 0,
            limit,
            generate,
            like: None,
            output: None,
            stop: Arc::default(),
            compare: Compare::Bits,
        }
    }

    #[test]
    fn the_engines_agree() {
        let (exact, reference) = (backends(engine(Engine::Exact), 1), engine(Engine::Reference));
        let mut failures = String::new();
        let mut observer = |_: &Campaign, event: Event<'_>| {
            if let Event::Found(finding) = event {
                failures += &finding.file_test();
            }
        };
        let campaign = fuzz(&exact, reference, &options(60), &mut observer).unwrap();
        assert_eq!((campaign.findings, campaign.invalid), (0, 0), "{failures}");
        assert!(campaign.tally.executed() > 150, "{}", campaign.tally);
    }

    /// Gives zeros.
    #[derive(Clone)]
    struct Zeros(LimitedEngine);

    impl Backend for Zeros {
        fn name(&self) -> String {
            "zeros".to_owned()
        }
        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }
        fn compile(
            &mut self,
            module: &Arc<Verified>,
            grid: DeviceGrid,
        ) -> Result<Box<dyn LoadedModule>, BackendError> {
            Ok(Box::new(ZerosModule(self.0.compile(module, grid)?)))
        }
    }
    struct ZerosModule(Box<dyn LoadedModule>);

    impl LoadedModule for ZerosModule {
        fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, BackendError> {
            fn zeros(literal: &Literal) -> Literal {
                match (literal.elements(), literal.array_shape()) {
                    (Some(parts), _) => Literal::tuple(parts.iter().map(zeros).collect()),
                    (None, Some(shape)) => Literal::zeros(shape.clone()),
                    (None, None) => literal.clone(),
                }
            }
            Ok(self.0.execute(arguments)?.iter().map(zeros).collect())
        }
    }

    /// Supports neither some ops nor a type.
    struct Small(LimitedEngine);

    impl Backend for Small {
        fn name(&self) -> String {
            "small".to_owned()
        }
        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }
        fn compile(
            &mut self,
            module: &Arc<Verified>,
            grid: DeviceGrid,
        ) -> Result<Box<dyn LoadedModule>, BackendError> {
            let text = module.module().to_string();
            let missing = ["tanh(", " sort(", " while(", "send(", "recv(", "f16[", "gather("];
            match missing.into_iter().find(|missing| text.contains(missing)) {
                Some(missing) => {
                    let message = format!("no `{missing}`");
                    Err(crate::backend::Code::Unsupported { message }.into())
                }
                None => self.0.compile(module, grid),
            }
        }
    }

    #[test]
    fn the_rest_of_a_module_runs_without_what_is_missing() {
        let reference = engine(Engine::Exact);
        let small = Backends::one(Box::new(Small(engine(Engine::Exact))));
        let first = fuzz(&small, reference, &options(120), &mut |_, _| {}).unwrap();
        assert_eq!(first.findings, 0, "{}", first.tally);
        let share = |campaign: &Campaign| campaign.tally.executed() * 100 / (3 * campaign.modules);
        assert!(share(&first) >= 90 && first.partial > 100, "{}", first.tally);
        let lacks = |op, ty| first.learned.lacks(op, ty);
        assert!(lacks(Opcode::Tanh, hlo::ElementType::F32), "{}", first.learned);
        assert!(!lacks(Opcode::Add, hlo::ElementType::F32), "{}", first.learned);
        // Modules of what it has are not cut.
        let mut options = options(120);
        options.generate.capabilities = Arc::new(first.learned.clone());
        let second = fuzz(&small, reference, &options, &mut |_, _| {}).unwrap();
        assert!(second.partial * 3 < first.partial, "{} {}", second.partial, first.partial);
        assert!(share(&second) >= 95, "{}", second.tally);
    }

    #[test]
    fn findings_are_file_tests_that_pass_on_etalon() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { output: Some(folder.path().to_owned()), ..options(5) };
        let reference = engine(Engine::Exact);
        let mut files = Vec::new();
        let mut observer = |_: &Campaign, event: Event<'_>| {
            if let Event::Found(finding) = event {
                files.push(finding.file.clone().unwrap());
            }
        };
        for _ in 0..2 {
            let zeros = backends(Zeros(engine(Engine::Exact)), 1);
            let campaign = fuzz(&zeros, reference, &options, &mut observer).unwrap();
            assert!(campaign.tally.of(Verdict::Differs) > 0);
        }
        for file in &files {
            let test = FileTest::read(file).unwrap();
            assert!(test.run(&Engine::ALL).iter().all(|report| !report.is_bad()), "{test:?}");
        }
        files.sort();
        files.dedup();
        // The second campaign kept the files of the first one.
        assert_eq!(files.len(), std::fs::read_dir(folder.path()).unwrap().count());
        assert!(files.len() % 2 == 0);
    }

    /// Weights are adjusted before module 99.
    #[test]
    fn a_campaign_does_not_depend_on_the_number_of_backends() {
        let campaign = |jobs| {
            let (zeros, reference) =
                (backends(Zeros(engine(Engine::Exact)), jobs), engine(Engine::Exact));
            let mut events = Vec::new();
            let mut observer = |campaign: &Campaign, event: Event<'_>| {
                let what = match event {
                    Event::Ran => String::new(),
                    Event::Found(finding) => finding.file_test(),
                    Event::Invalid(invalid) => invalid.to_string(),
                };
                events.push(format!("{} {} {what}", campaign.modules, campaign.tally));
            };
            let campaign = fuzz(&zeros, reference, &options(105), &mut observer).unwrap();
            (events, campaign.coverage.to_string())
        };
        assert!(campaign(1) == campaign(3), "the campaigns differ");
    }
}
