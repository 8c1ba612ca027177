//! The files of the reports of `etalon conform --backend`.
use crate::args::ConformArgs;
use crate::error::Result;
use crate::file::{self, Existing};
use conformance::results::Results;
use std::path::PathBuf;

/// The files of `--json`, `--junit` and `--html`. They are checked before a run, which may take hours; what they have stays
/// until the whole new report takes its place.
pub(super) struct Reports(Vec<(PathBuf, Format)>);

/// Returns results in one of the formats.
type Format = fn(&Results) -> String;

impl Reports {
    pub(super) fn open(args: &ConformArgs) -> Result<Self> {
        let ConformArgs { json, junit, html, .. } = args;
        let all: [(_, Format); 3] =
            [(json, Results::to_json), (junit, Results::to_junit), (html, Results::to_html)];
        let asked: Vec<(PathBuf, Format)> =
            all.into_iter().filter_map(|(path, text)| Some((path.clone()?, text))).collect();
        let outputs = asked.iter().map(|(path, _)| (path.as_path(), Existing::Replace));
        let lists = [&args.paths, &args.spmd, &args.merge, &args.compare];
        let inputs = lists.into_iter().flatten().map(PathBuf::as_path);
        file::check(outputs, inputs.chain(args.inputs.paths()))?;
        Ok(Self(asked))
    }

    /// Returns whether one of them has stdout.
    pub(super) fn has_stdout(&self) -> bool {
        self.0.iter().any(|(path, _)| file::is_stdout(path))
    }

    /// Returns the reports of a run that was stopped: `F.part.json` in place of `F.json`, so that no part is taken for all of a
    /// run, and the report of an earlier run stays.
    pub(super) fn of_part(self) -> Self {
        let part = |(path, format): (PathBuf, Format)| {
            let extension = path.extension().map(|end| format!("part.{}", end.display()));
            let part = path.with_extension(extension.as_deref().unwrap_or("part"));
            (if file::is_stdout(&path) { path } else { part }, format)
        };
        Self(self.0.into_iter().map(part).collect())
    }

    /// Writes all reports. Returns the first error after the others are written.
    pub(super) fn write(self, results: &Results) -> Result<()> {
        let write =
            |(path, text): (PathBuf, Format)| file::replace(&path, text(results).as_bytes());
        let written: Vec<Result<()>> = self.0.into_iter().map(write).collect();
        written.into_iter().collect()
    }
}
