//! The judge accuses no backend of legal variants.
use conformance::Engine;
use conformance::backend::{Backends, EngineBackend, VariantBackend};
use conformance::fuzz::{Compare, Event, Limit, Options, fuzz};
use conformance::generate;
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite};
use hlo::Opcode;
use hlo::op::Accuracy;

fn variant(seed: u64) -> VariantBackend {
    VariantBackend::new(seed, Box::new(EngineBackend(Engine::Exact)))
}

#[test]
fn legal_variants_of_the_suite_are_not_accused() {
    let suite = Suite::load(&Selection::smoke()).unwrap();
    let mut accused = Vec::new();
    let mut varied = 0;
    for seed in 1..=3 {
        let results = suite.run(&mut variant(seed), |_| {});
        for record in results.records() {
            varied += usize::from(record.verdict == Verdict::WithinBound);
            if record.verdict.is_bad() {
                accused.push(format!("seed {seed}: {}: {}", record.name, record.reason));
            }
        }
    }
    assert!(accused.is_empty(), "{} accusations:\n{}", accused.len(), accused.join("\n\n"));
    assert!(varied > 150, "{varied}");
}

#[test]
fn legal_variants_of_random_modules_are_not_accused() {
    // Ops that compute with floats are the more frequent ones.
    let weight = |op: &Opcode| if op.accuracy() == Accuracy::Exact { 1 } else { 8 };
    let weights = Opcode::ALL.iter().map(|op| (*op, weight(op))).collect();
    let modules = std::env::var("ETALON_VARIANTS").ok().and_then(|count| count.parse().ok());
    let options = Options {
        seed: 0,
        limit: Limit::Modules(modules.unwrap_or(300)),
        generate: generate::Options { weights, ..generate::Options::default() },
        like: None,
        output: None,
        stop: std::sync::Arc::default(),
        compare: Compare::Bounds,
    };
    let mut accused = Vec::new();
    let mut observer = |_: &_, event: Event<'_>| {
        if let Event::Found(finding) = event
            && finding.record.verdict.is_bad()
        {
            accused.push(finding.file_test());
        }
    };
    let (backends, reference) = (Backends::one(Box::new(variant(1))), EngineBackend(Engine::Exact));
    let campaign = fuzz(&backends, reference, &options, &mut observer).unwrap();
    println!("{}", campaign.tally);
    assert!(accused.is_empty(), "{} accusations:\n{}", accused.len(), accused.join("\n\n"));
    assert!(campaign.tally.of(Verdict::WithinBound) > 60, "{}", campaign.tally);
}
