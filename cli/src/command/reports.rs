//! The files of the reports of `etalon conform --backend`.
use crate::args::ConformArgs;
use crate::error::Result;
use crate::file::{self, Existing};
use crate::output;
use conformance::Subject;
use conformance::results::{Record, Results, Verdict};
use graph::{Mark, Measured, Model};
use hlo::Opcode;
use hlo::ir::{Computation, InstructionId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of `--json`, `--junit` and `--html`, and that of `--graph`. They are checked before a run, which may take hours; what
/// they have stays until the whole new report takes its place.
pub(super) struct Reports {
    files: Vec<(PathBuf, Format)>,
    pub(super) graph: Option<PathBuf>,
}

/// Returns results in one of the formats.
type Format = fn(&Results) -> String;

impl Reports {
    pub(super) fn open(args: &ConformArgs) -> Result<Self> {
        let ConformArgs { json, junit, html, .. } = args;
        let all: [(_, Format); 3] =
            [(json, Results::to_json), (junit, Results::to_junit), (html, Results::to_html)];
        let asked: Vec<(PathBuf, Format)> =
            all.into_iter().filter_map(|(path, text)| Some((path.clone()?, text))).collect();
        let paths = asked.iter().map(|(path, _)| path).chain(&args.graph);
        let outputs = paths.map(|path| (path.as_path(), Existing::Replace));
        let lists = [&args.paths, &args.spmd, &args.merge, &args.compare];
        let inputs = lists.into_iter().flatten().map(PathBuf::as_path);
        file::check(outputs, inputs.chain(args.inputs.paths()))?;
        Ok(Self { files: asked, graph: args.graph.clone() })
    }

    /// Returns whether one of them has stdout.
    pub(super) fn has_stdout(&self) -> bool {
        self.files.iter().map(|(path, _)| path).chain(&self.graph).any(|path| file::is_stdout(path))
    }

    /// Returns the reports of a run that was stopped: `F.part.json` in place of `F.json`, so that no part is taken for all of a
    /// run, and the report of an earlier run stays.
    pub(super) fn of_part(self) -> Self {
        let part = |(path, format): (PathBuf, Format)| {
            let extension = path.extension().map(|end| format!("part.{}", end.display()));
            let part = path.with_extension(extension.as_deref().unwrap_or("part"));
            (if file::is_stdout(&path) { path } else { part }, format)
        };
        Self { files: self.files.into_iter().map(part).collect(), ..self }
    }

    /// Writes all reports. Returns the first error after the others are written.
    pub(super) fn write(self, results: &Results) -> Result<()> {
        let write =
            |(path, text): (PathBuf, Format)| file::replace(&path, text(results).as_bytes());
        let written: Vec<Result<()>> = self.files.into_iter().map(write).collect();
        written.into_iter().collect()
    }
}

/// Writes the page of a module with the verdict on each array of its result, and on what these are computed from.
pub(super) fn write_graph(
    target: &Path,
    subject: &Subject,
    record: &Record,
    backend: &str,
) -> Result<()> {
    let model = Model::of(&subject.module, &subject.text);
    let module = subject.module.module();
    let mut measured = Measured::default();
    let verdict = record.verdict.name().replace('_', " ");
    let reason = &record.reason;
    measured.note = format!("{backend}: {verdict}. {reason}");
    if record.verdict == Verdict::Differs {
        measured.note.push_str(" etalon blame finds the instruction that is wrong by itself.");
    }
    for (id, (mark, text)) in marks(module.entry(), record) {
        measured.add_finding((module.entry.index(), id.index()), mark, &text);
    }
    file::replace(target, graph::html(&model, &measured).as_bytes())?;
    if !file::is_stdout(target) {
        output::status(&format!("wrote {}: open it in a browser\n", target.display()));
    }
    Ok(())
}

/// Returns what a verdict says of the instructions of the entry computation.
fn marks(entry: &Computation, record: &Record) -> BTreeMap<InstructionId, (Mark, String)> {
    let mut found = BTreeMap::new();
    if !record.verdict.is_executed() {
        found.insert(entry.root, (Mark::Unchecked, record.reason.clone()));
        return found;
    }
    let mut outputs = Vec::new();
    arrays(entry, entry.root, &mut outputs);
    let wrong = record.measures.iter().flat_map(|measures| &measures.wrong_arrays);
    let mut wrong: Vec<(String, InstructionId)> =
        wrong.filter_map(|&number| Some((format!("out{number}"), *outputs.get(number)?))).collect();
    if wrong.is_empty() && record.verdict == Verdict::Differs {
        wrong.push(("the result".to_owned(), entry.root));
    }
    for (name, output) in &wrong {
        let mut next = vec![*output];
        while let Some(id) = next.pop() {
            let (_, names) = found.entry(id).or_insert_with(|| (Mark::Suspect, String::new()));
            if names.split(", ").all(|one| one != name) {
                *names = if names.is_empty() { name.clone() } else { format!("{names}, {name}") };
                next.extend(&entry.instructions[id].operands);
            }
        }
    }
    for (_, text) in found.values_mut() {
        text.push_str(" is computed from it");
    }
    for (name, output) in wrong {
        found.insert(output, (Mark::WrongResult, format!("{name}: {}", record.reason)));
    }
    found
}

/// Adds the instruction that computes each array of a value.
fn arrays(entry: &Computation, id: InstructionId, into: &mut Vec<InstructionId>) {
    let instruction = &entry.instructions[id];
    if instruction.opcode() == Opcode::Tuple {
        instruction.operands.iter().for_each(|&operand| arrays(entry, operand, into));
    } else {
        into.extend(instruction.shape.leaves().into_iter().map(|_| id));
    }
}
