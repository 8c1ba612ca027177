//! Findings of a module and its twin, which the backend computes in different ways.
use super::cause::{Finding, Search, limited};
use crate::metamorphic::{self, Twin};
use crate::results::Record;
use crate::{Subject, conform};
use hlo::Literal;

/// Returns a finding of a module or its twin in place of that of both, where the backend has no
/// result of one of them.
pub(super) fn of_one(finding: Finding, search: &Search<'_>) -> Finding {
    let Some(rule) = finding.twin.as_ref().filter(|_| !finding.record.verdict.is_executed()) else {
        return finding;
    };
    let twin = metamorphic::twin(&finding.subject, Some(rule)).map(|twin| twin.subject);
    let sides = std::iter::once(finding.subject.clone()).chain(twin);
    let verdict = finding.record.verdict;
    let mut found = sides.filter_map(|side| wrong(&side, search));
    let of_one = found.find(|one| one.record.verdict == verdict);
    let name = finding.record.name.clone();
    let named = |one: Finding| Finding { record: Record { name, ..one.record }, ..one };
    of_one.map_or(finding, named)
}

/// Compares a module with the engine. Returns what that finds.
pub(super) fn wrong(subject: &Subject, search: &Search<'_>) -> Option<Finding> {
    let (subject, engine) = (subject.clone(), search.engine);
    let finding = search.backends.run(move |backend| {
        let record = conform(&subject, &mut limited(engine), backend);
        Finding { subject, record, twin: None }
    });
    finding.record.verdict.is_bad().then_some(finding)
}

/// The twin of a module, and what the backend computes of it.
pub(super) struct Pair {
    pub(super) twin: Twin,
    pub(super) found: Vec<Literal>,
    /// What comparisons of the module and the twin with the engine say.
    pub(super) records: [Record; 2],
}

#[cfg(test)]
mod tests {
    use super::super::cause::{Symptom, evidence};
    use super::super::{Identity, Options, again, bundle, log::Round};
    use super::*;
    use crate::Engine;
    use crate::backend::{
        Backend, BackendError, Backends, Capabilities, EngineBackend, LoadedModule, PlantedBackend,
    };
    use crate::metamorphic::TwinRule;
    use crate::results::Verdict;
    use hlo::{Module, Opcode, Verified};
    use interp::DeviceGrid;
    use std::sync::Arc;
    use std::time::Duration;

    /// A backend that computes `tanh` wrong in modules with a `reverse`.
    struct Contextual;

    impl Backend for Contextual {
        fn name(&self) -> String {
            "contextual".to_owned()
        }
        fn capabilities(&self) -> Capabilities {
            EngineBackend(Engine::Exact).capabilities()
        }
        fn compile(
            &mut self,
            module: &Arc<Verified>,
            grid: DeviceGrid,
        ) -> Result<Box<dyn LoadedModule>, BackendError> {
            let mut exact = EngineBackend(Engine::Exact);
            if module.module().to_string().contains(" reverse(") {
                return PlantedBackend::new(Opcode::Tanh, Box::new(exact)).compile(module, grid);
            }
            exact.compile(module, grid)
        }
    }

    #[test]
    fn a_pair_is_reduced_and_its_folder_has_both_modules() {
        let text = "HloModule m
          ENTRY e { x = f32[2,3] parameter(0) y = f32[2,3] cosine(x) z = f32[2,3] tanh(y)
            ROOT r = f32[2,3] add(z, y) }";
        let module = Arc::new(Module::parse(text).unwrap().verify().unwrap());
        let x = Literal::from_slice(&[2, 3], &[0.1f32, 0.2, 0.3, 0.4, 0.5, 0.6]);
        let (name, file) = ("twin/7/benign".to_owned(), String::new());
        let subject =
            Subject { name, file, text: text.to_owned(), module, arguments: vec![vec![x]] };
        let mut rules = (0..20).map(|seed| format!("reversed:{seed}").parse::<TwinRule>().unwrap());
        let differs = |rule: &TwinRule| {
            let (record, _) = metamorphic::check(&subject, Some(rule), &mut Contextual);
            (record.verdict == Verdict::Differs).then(|| (record, rule.clone()))
        };
        let (record, rule) = rules.find_map(|rule| differs(&rule)).unwrap();
        let finding = Finding { subject, record, twin: Some(rule) };

        let backends = Backends::one(Box::new(Contextual));
        let (engine, time) = (Engine::Exact, Duration::from_secs(60));
        let search = Search { backends: &backends, engine, bits: false, time };
        let finding = of_one(finding, &search);
        assert!(finding.twin.is_some(), "both have a result");
        let symptom = Symptom::of(&finding, &search);
        assert_eq!(symptom.key.as_deref(), Some("different numbers: tanh f32"));
        let evidence = evidence(&finding, symptom, &search);
        let cause = &evidence.cause;
        let form = cause.form.strip_suffix(" and its twin by `reversed`").unwrap();
        assert!(form.contains("tanh.f32(_)"), "{form}");
        assert_eq!((cause.op.as_str(), cause.ty.as_str()), ("tanh", "f32"));

        let folder = tempfile::tempdir().unwrap();
        let identity = Identity { backend: "--backend b.so".to_owned(), ..Identity::default() };
        let round = Round::now(&backends);
        let context = bundle::Context { folder: folder.path(), identity: &identity, round: &round };
        let path = bundle::write(&evidence, &finding, &context).unwrap();
        let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
        assert!(
            !read("module.hlo").contains(" reverse(") && read("twin.hlo").contains(" reverse(")
        );
        let report = read("report.md");
        let rule = cause.twin.clone().unwrap();
        for part in [
            "## Twin, which is the same function",
            "## Found for the twin",
            "the module, compared with Etalon: agrees\nthe twin, compared with Etalon: differs",
            &format!("etalon conform --metamorphic={rule} --backend b.so "),
        ] {
            assert!(report.contains(part), "{part}:\n{report}");
        }
        assert!(path.join("found-twin.npz").exists());
        // The next round compares both again.
        let options = Options {
            folder: folder.path().to_owned(),
            identity,
            limit: super::super::Limit::Modules(0),
            round: None,
            engine,
            bits: false,
            portable: false,
            known: crate::Known::default(),
        };
        let again = again(&backends, &options, cause).unwrap();
        assert_eq!(again.record.verdict, Verdict::Differs);
        assert!(again.twin.is_some());
    }
}
