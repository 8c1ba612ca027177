//! Each law is proved over finite fields, and planted errors are found.
use super::*;
use crate::Engine;
use crate::backend::{EngineBackend, PlantedBackend, VariantBackend};
use crate::metamorphic::laws::Law;
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

fn rule(law: &'static Law, seed: u64) -> TwinRule {
    TwinRule { law, seed, place: None }
}

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
            let twin =
                by_rule(&subject, &rule(law, seed)).unwrap_or_else(|| panic!("{}", law.name));
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
            check(&Subject { name, file, text, module, arguments }, None, backend).0
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
        let mut found = |law: &&'static Law| {
            let Some(twin) = by_rule(&subject, &rule(law, 3)) else { return false };
            compared(&subject, &twin, &mut planted).verdict == Verdict::Differs
        };
        let laws: Vec<&str> = LAWS.iter().filter(&mut found).map(|law| law.name).collect();
        assert!(!laws.is_empty(), "{op}");
    }
}

/// Arrays that a loop, a branch and a call compute, and a fusion that stays as it is.
const CALLS: &str = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT added = f32[] add(a, b) }
few { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3) ROOT less = pred[] compare(i, three), direction=LT }
body { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1) next = s32[] add(i, one) x = f32[4] get-tuple-element(s), index=1
  inside = f32[4] cosine(x) ROOT r = (s32[], f32[4]) tuple(next, inside) }
called { x = f32[4] parameter(0) ROOT of_call = f32[4] exponential(x) }
both { x = f32[4] parameter(0) ROOT doubled = f32[4] add(x, x) }
branch { x = f32[4] parameter(0) ROOT of_branch = f32[4] call(x), to_apply=called }
other { x = f32[4] parameter(0) ROOT of_other = f32[4] call(x), to_apply=both }
ENTRY e {
  p = pred[] parameter(0) x = f32[4] parameter(1) zero = s32[] constant(0) none = f32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=few, body=body
  y = f32[4] get-tuple-element(loop), index=1
  z = f32[4] conditional(p, y, x), true_computation=branch, false_computation=other
  fused = f32[4] fusion(z), kind=kLoop, calls=both
  total = f32[] reduce(fused, none), dimensions={0}, to_apply=add
  ROOT result = (f32[], f32[4]) tuple(total, y)
}";

#[test]
fn laws_hold_in_loops_branches_and_calls() {
    let subject = subject(CALLS);
    let mut exact = EngineBackend(Engine::Exact);
    let mut places = BTreeSet::new();
    for law in &LAWS {
        for seed in 0..6 {
            let rule = rule(law, seed);
            let Some(twin) = by_rule(&subject, &rule) else { continue };
            let record = compared(&subject, &twin, &mut exact);
            assert!(!record.verdict.is_bad(), "{rule}: {record:?}\n{}", twin.subject.text);
            places.extend(twin.places.into_iter().map(|(name, _)| name));
        }
    }
    for name in ["less", "next", "inside", "of_call", "z", "total"] {
        assert!(places.contains(name), "{name}: {places:?}");
    }
    // `both` is that of a fusion, too.
    for name in ["added", "doubled"] {
        assert!(!places.contains(name), "{name}: {places:?}");
    }
}

#[test]
fn pairs_are_reduced_to_the_instruction_that_shows_them() {
    use crate::backend::Backends;
    use crate::reduce::{Candidate, Difference, Options, reduce};
    for (text, op) in [(MODULE, Opcode::Exponential), (CALLS, Opcode::Cosine)] {
        let subject = subject(text);
        let planted = || -> Box<dyn Backend> {
            Box::new(PlantedBackend::new(op, Box::new(EngineBackend(Engine::Exact))))
        };
        let shows = |rule: &TwinRule| {
            check(&subject, Some(rule), &mut *planted()).0.verdict == Verdict::Differs
        };
        let mut rules = LAWS.iter().flat_map(|law| (0..8).map(move |seed| rule(law, seed)));
        let found = rules.find(shows).unwrap_or_else(|| panic!("{op}"));
        let twin = twin(&subject, Some(&found)).unwrap();
        let TwinRule { place, .. } = narrowed(&subject, twin, &mut *planted()).rule;
        assert!(place.is_some(), "{op}");
        let rule = TwinRule { place, ..found };
        let difference = Arc::new(Difference::of_twins(rule.clone(), Engine::Exact, 1 << 20));
        let backends = Backends::one(planted());
        let queue = backends.queue(1, move |backend, candidate: Candidate| {
            difference.interest(backend, &candidate)
        });
        let arguments = &subject.arguments;
        let reduced =
            reduce(Arc::clone(&subject.module), arguments, &mut Options::default(), queue).unwrap();
        let candidate = Candidate { module: reduced.module, arguments: reduced.arguments };
        let smallest = candidate.module.module();
        assert!(smallest.entry().instructions.len() <= 3, "{rule}: {smallest}");
        assert!(smallest.to_string().contains(&format!("{op}(")), "{rule}: {smallest}");
        assert!(candidate.twin(&rule).is_some());
    }
}
