//! Each law is proved over finite fields, and planted errors are found.
use super::*;
use crate::Engine;
use crate::backend::{EngineBackend, PlantedBackend, VariantBackend};
use hlo::Opcode;

/// A module in which each law holds for an instruction.
const MODULE: &str = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[4,6] parameter(0)
  y = f32[4,6] parameter(1)
  z = f32[6,3] parameter(2)
  n = s32[2,7] parameter(3)
  zero = f32[] constant(0)
  sum = f32[4,6] add(x, y)
  product = f32[4,3] dot(sum, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  exp = f32[4,6] exponential(x)
  total = f32[4] reduce(exp, zero), dimensions={1}, to_apply=add
  sorted = s32[2,7] sort(n), dimensions={1}, to_apply=less
  twice = s32[2,7] add(sorted, n)
  ROOT r = (f32[4], f32[4,6], f32[4,3], s32[2,7]) tuple(total, exp, product, twice)
}";

fn subject(text: &str) -> Subject {
    let module = Arc::new(Module::parse(text).unwrap().verify().unwrap());
    let arguments = crate::generate::arguments(module.module(), crate::generate::Regime::Benign, 1);
    let (name, file) = ("m".to_owned(), String::new());
    Subject { name, file, text: text.to_owned(), module, arguments }
}

#[test]
fn each_law_is_proved_over_finite_fields() {
    let subject = subject(MODULE);
    for law in &LAWS {
        for seed in 0..8 {
            let twin = by_law(&subject, law, seed).unwrap_or_else(|| panic!("{}", law.name));
            assert!(!twin.places.is_empty() && twin.subject.text != subject.text);
            let options = field::Options::default();
            let answer = field::equal(&subject.module, &twin.subject.module, &options);
            let is_equal = matches!(answer, Ok(field::Answer::Equal(_)));
            assert!(is_equal, "{}: {answer:?}\n{}", law.name, twin.subject.text);
        }
    }
}

/// Returns the verdicts on pairs of random modules.
fn verdicts(backend: &mut dyn Backend, seeds: std::ops::Range<u64>) -> Vec<Record> {
    let options = crate::generate::Options::default();
    let one = |seed: u64| {
        let generated = crate::generate::generate(seed, &options).unwrap();
        crate::generate::Regime::ALL.map(|regime| {
            let (name, file) = (format!("{seed}/{}", regime.name()), String::new());
            let (text, module) = (generated.text.clone(), Arc::clone(&generated.module));
            let arguments = generated.arguments(regime);
            check(&Subject { name, file, text, module, arguments }, backend)
        })
    };
    seeds.flat_map(one).collect()
}

#[test]
fn right_backends_are_not_accused() {
    let exact = || Box::new(EngineBackend(Engine::Exact));
    let backends: [Box<dyn Backend>; 3] =
        [exact(), Box::new(EngineBackend(Engine::Fast)), Box::new(VariantBackend::new(5, exact()))];
    for mut backend in backends {
        let records = verdicts(&mut *backend, 0..40);
        let agree = records.iter().filter(|record| record.verdict == Verdict::Agrees).count();
        let bad = records.iter().find(|record| record.verdict.is_bad());
        assert!(bad.is_none(), "{}: {bad:?}", backend.name());
        assert!(agree > 60, "{}: {agree}", backend.name());
    }
}

#[test]
fn planted_errors_are_found() {
    for op in [Opcode::Add, Opcode::Dot, Opcode::Exponential, Opcode::Reduce] {
        let exact = Box::new(EngineBackend(Engine::Exact));
        let mut planted = PlantedBackend::new(op, exact);
        let subject = subject(MODULE);
        let mut found = |law: &Law| {
            let Some(twin) = by_law(&subject, law, 3) else { return false };
            compared(&subject, &twin, &mut planted).verdict == Verdict::Differs
        };
        let laws: Vec<&str> = LAWS.iter().filter(|law| found(law)).map(|law| law.name).collect();
        assert!(!laws.is_empty(), "{op}");
    }
}
