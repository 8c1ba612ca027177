//! The files of the reports of `etalon conform --backend`.
use crate::args::ConformArgs;
use crate::error::{Failure, Result};
use conformance::results::Results;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// The files of `--json`, `--junit` and `--html`. They are opened before a run, which may take hours; what they have stays until
/// the new report is written.
pub(super) struct Reports(Vec<Report>);

struct Report {
    path: PathBuf,
    file: File,
    text: Format,
}

/// Returns results in one of the formats.
type Format = fn(&Results) -> String;

impl Reports {
    pub(super) fn open(args: &ConformArgs) -> Result<Self> {
        let ConformArgs { json, junit, html, .. } = args;
        let all: [(_, Format); 3] =
            [(json, Results::to_json), (junit, Results::to_junit), (html, Results::to_html)];
        let asked = all.into_iter().filter_map(|(path, text)| Some((path.clone()?, text)));
        let open = |(path, text): (PathBuf, _)| {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            Ok(Report { file: file.map_err(|e| Failure::file(&path, &e))?, path, text })
        };
        asked.map(open).collect::<Result<_>>().map(Self)
    }

    /// Writes all reports. Returns the first error after the others are written.
    pub(super) fn write(self, results: &Results) -> Result<()> {
        let write = |Report { path, mut file, text }: Report| {
            let mut write = || {
                // A pipe or a terminal has no length.
                if file.metadata()?.is_file() {
                    file.set_len(0)?;
                }
                file.write_all(text(results).as_bytes())
            };
            write().map_err(|e| Failure::file(&path, &e))
        };
        let written: Vec<Result<()>> = self.0.into_iter().map(write).collect();
        written.into_iter().collect()
    }
}
