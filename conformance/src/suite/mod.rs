//! The suite: small cases for every opcode, element type and edge.
//!
//! ```text
//! suite/*.hlo ──parse──> Template ──expand──> SuiteCase ──arguments──> Subject
//!                                                 │                      │
//!                                     Selection ──┘        Suite::run ───┴──> Results
//! ```
//!
//! The cases are made from descriptions, HLO templates whose comments list the values of their
//! variables; `docs/suite.md` explains them. A case is named by the rule that it tests,
//! `op/type/rule[x=1;y=2]`. Expected values are not stored: Etalon computes them.
//!
//! ```
//! use conformance::Engine;
//! use conformance::backend::EngineBackend;
//! use conformance::suite::{Selection, Suite};
//! let selection = Selection { pattern: Some("dot/f32/*".to_owned()), ..Selection::full() };
//! let suite = Suite::load(&selection)?;
//! let results = suite.run(&mut EngineBackend(Engine::Reference), |_record| {});
//! assert!(results.records().count() > 10 && !results.is_bad());
//! # Ok::<(), conformance::suite::UnknownCase>(())
//! ```
mod data;
mod export;
mod run;
mod template;
#[cfg(test)]
mod tests;
mod values;

pub use export::{ExportedCase, FORMAT, Manifest};
pub use values::matches;

use crate::Subject;
use crate::random::Sequence;
use crate::results::Shard;
use data::{ParameterPlace, Word};
use field::fingerprint::stable_hash;
use hlo::{ElementType, Literal, Module, Opcode, Shape};
use interp::DeviceGrid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};
use template::Template;
use values::Bindings;

macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../suite/", $name))),)*]
    };
}

/// The description files.
const FILES: [(&str, &str); 10] = files! {
    "collectives.hlo" "contractions.hlo" "control.hlo" "dynamic.hlo" "elementwise.hlo" "indexing.hlo" "linear.hlo" "movement.hlo" "programs.hlo" "reductions.hlo"
};

/// How many cases of the suite to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// The plainest case of each op and element type, which shows whether a backend has them.
    Probes,
    /// The smoke set, which takes about a minute.
    Smoke,
    /// All cases.
    #[default]
    Full,
}

/// Which cases of the suite to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// How many cases to take.
    pub extent: Extent,
    /// The pattern that names match; `*` stands for any characters.
    pub pattern: Option<String>,
    /// The part of the cases, by the hash of their names.
    pub shard: Option<Shard>,
}

impl Selection {
    /// Selects all cases.
    pub fn full() -> Self {
        Self::default()
    }
    /// Selects the cases that take about a minute together.
    pub fn smoke() -> Self {
        Self { extent: Extent::Smoke, ..Self::default() }
    }
    /// Selects the plainest case of each op and element type.
    pub fn probes() -> Self {
        Self { extent: Extent::Probes, ..Self::default() }
    }
}

/// The error of a pattern that no case of the suite matches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no case of the suite matches `{pattern}`")]
pub struct UnknownCase {
    /// The pattern.
    pub pattern: String,
}

/// Cases of the suite.
#[derive(Debug, Clone)]
pub struct Suite {
    cases: Vec<SuiteCase>,
    shard: Option<Shard>,
}

/// A case: a module with arguments, named by the rule that it tests.
#[derive(Debug, Clone)]
pub struct SuiteCase {
    name: String,
    bindings: Bindings,
    template: &'static Template,
}

static TEMPLATES: LazyLock<Result<Vec<Template>, String>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (file, text) in FILES {
        all.extend(template::parse(file, text)?);
    }
    Ok(all)
});

/// Returns the descriptions.
fn templates() -> &'static [Template] {
    TEMPLATES.as_deref().expect("the tests parse all descriptions")
}

impl Suite {
    /// Returns the selected cases, in the order of the descriptions.
    ///
    /// # Errors
    /// If no case of the suite matches the pattern.
    pub fn load(selection: &Selection) -> Result<Self, UnknownCase> {
        let matches = |name: &str| match &selection.pattern {
            Some(pattern) => matches(pattern, name),
            None => true,
        };
        let mut found = false;
        let mut cases = Vec::new();
        for template in templates() {
            for bindings in template.expand().expect("the tests expand all descriptions") {
                let name = template.name(&bindings);
                if !matches(&name) {
                    continue;
                }
                found = true;
                let selected = match selection.extent {
                    Extent::Probes => probe(&name).is_some(),
                    Extent::Smoke => template.is_smoke(&bindings) == Ok(true),
                    Extent::Full => true,
                };
                if selected && selection.shard.is_none_or(|shard| shard.has(&name)) {
                    cases.push(SuiteCase { name, bindings, template });
                }
            }
        }
        if selection.extent == Extent::Probes {
            cases = plainest(cases);
        }
        match &selection.pattern {
            Some(pattern) if !found => Err(UnknownCase { pattern: pattern.clone() }),
            _ => Ok(Self { cases, shard: selection.shard }),
        }
    }

    /// Returns the cases.
    pub fn cases(&self) -> &[SuiteCase] {
        &self.cases
    }
    /// Returns the cases.
    pub fn into_cases(self) -> Vec<SuiteCase> {
        self.cases
    }
}

/// Returns the op and the element type of a case; none of a program.
fn probe(name: &str) -> Option<(Opcode, ElementType)> {
    let mut parts = name.split('/');
    Some((Opcode::from_name(parts.next()?)?, ElementType::from_name(parts.next()?)?))
}

/// Returns the case of each op and element type that has the fewest other types, and the shortest
/// module of those.
fn plainest(cases: Vec<SuiteCase>) -> Vec<SuiteCase> {
    let mut probes: BTreeMap<_, ((usize, usize), SuiteCase)> = BTreeMap::new();
    for case in cases {
        let Some((op, own)) = probe(&case.name) else { continue };
        let text = case.text();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let types: BTreeSet<ElementType> = words.filter_map(ElementType::from_name).collect();
        let common = [own, ElementType::Pred, ElementType::S32, ElementType::F32];
        let rank = (types.iter().filter(|ty| !common.contains(ty)).count(), text.len());
        let best = probes.get(&(op, own)).map(|(best, _)| *best);
        if best.is_none_or(|best| rank < best) {
            probes.insert((op, own), (rank, case));
        }
    }
    probes.into_values().map(|(_, case)| case).collect()
}

impl SuiteCase {
    /// Returns the name, `op/type/rule[x=1;y=2]`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns a sentence that states the rule.
    pub fn rule(&self) -> &str {
        &self.template.rule
    }
    /// Returns the place of the description, `FILE:LINE`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.template.file, self.template.line)
    }
    /// Returns the module as text.
    pub fn text(&self) -> String {
        self.template.text(&self.bindings)
    }
    /// Returns the module with its arguments.
    ///
    /// # Errors
    /// If the description is wrong; the tests make all cases.
    pub fn subject(&self) -> Result<Subject, String> {
        let text = self.text();
        let module = Module::parse(&text).map_err(|e| format!("{}: {e}", self.place()))?;
        let module = module.verify().map_err(|e| format!("{}: {}", self.place(), e.0[0]))?;
        let shapes: Vec<Shape> = {
            let signature = module.module().entry().program_shape();
            signature.parameters.into_iter().cloned().collect()
        };
        let words = self.words(shapes.len())?;
        let devices = DeviceGrid::of(&module.module().config).len();
        let mut arguments = Vec::with_capacity(devices);
        for device in 0..devices {
            let mut own: Vec<Literal> = Vec::with_capacity(shapes.len());
            for (i, (word, shape)) in words.iter().zip(&shapes).enumerate() {
                let alike = |words: &[Word]| words.iter().filter(|other| *other == word).count();
                let place = ParameterPlace { index: alike(&words[..i]), count: alike(&words) };
                let mut sequence = Sequence::new(self.seed(device, i));
                own.push(data::value(word, shape, place, &mut sequence)?);
            }
            arguments.push(own);
        }
        Ok(Subject {
            name: self.name.clone(),
            file: String::new(),
            text,
            module: Arc::new(module),
            arguments,
        })
    }

    /// Returns the word of each parameter.
    fn words(&self, parameters: usize) -> Result<Vec<Word>, String> {
        let inputs = &self.template.inputs;
        let word = |i: usize| match inputs.get(i).or(inputs.last()) {
            Some(input) => Word::parse(&values::substitute(input, &self.bindings))
                .map_err(|e| format!("{}: {e}", self.place())),
            None => Err(format!("{}: expected `// in: WORD`", self.place())),
        };
        (0..parameters).map(word).collect()
    }

    /// Returns the seed of a parameter's value on a device.
    fn seed(&self, device: usize, parameter: usize) -> u64 {
        stable_hash(&format!("{}#{device}#{parameter}", self.name))
    }
}
