//! `ETALON_DUMP`: programs with their arguments and results, as a suite of file tests.
//!
//! The first run of each program becomes `0001_jit_step.hlo` and `0001_jit_step.npz`; a run that fails, `0001_jit_step.failed.hlo`
//! with its error in comments and the arguments alone. `etalon test DIR` runs the suite.
use crate::failure::{Failure, Result};
use hlo::literal::npz;
use hlo::text::Style;
use hlo::{Literal, Module};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of the last program.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// What a program keeps of its runs that are written.
#[derive(Debug, Default)]
pub(crate) struct DumpedRuns {
    /// How many there were.
    count: AtomicUsize,
    /// The number in the names of their files.
    number: OnceLock<usize>,
}

/// The run of a program that is written to a folder.
pub(crate) struct Dump {
    stem: PathBuf,
    is_first: bool,
    /// The arguments as arrays of the file.
    arrays: Vec<(String, Literal)>,
}

impl Dump {
    /// Begins with the arguments, of each device, of a run of the program called `name`.
    pub(crate) fn new(
        (folder, name): (&Path, &str),
        runs: &DumpedRuns,
        arguments: &[Vec<Literal>],
    ) -> Self {
        let is_first = runs.count.fetch_add(1, Ordering::Relaxed) == 0;
        let stem = |number: usize| folder.join(format!("{number:04}_{name}"));
        let stem = stem(*runs.number.get_or_init(|| {
            // Those of an earlier process stay.
            let mut numbers = std::iter::repeat_with(|| LAST.fetch_add(1, Ordering::Relaxed) + 1);
            let is_new = |number: &usize| {
                ["hlo", "failed.hlo"].iter().all(|end| !with(&stem(*number), end).exists())
            };
            numbers.find(is_new).unwrap_or_default()
        }));
        Self { stem, is_first, arrays: named(arguments, "in") }
    }
    /// Writes the files, unless the program was written before and did not fail now.
    pub(crate) fn finish(mut self, module: &Module, results: Result<&[Vec<Literal>], &Failure>) {
        let (suffix, comment) = match results {
            Ok(_) if !self.is_first => return,
            Ok(results) => {
                self.arrays.extend(named(results, "out"));
                (String::new(), String::new())
            }
            Err(failure) => {
                let lines = failure.message.lines().map(|line| format!("// {line}\n"));
                ("failed.".to_owned(), lines.collect())
            }
        };
        if let Err(error) = self.write(&suffix, &comment, module) {
            let folder = self.stem.display();
            eprint(&format!("etalon: warning: {folder} cannot be written: {error}"));
        }
    }
    fn write(&self, suffix: &str, comment: &str, module: &Module) -> Result<(), npz::NpzError> {
        if let Some(folder) = self.stem.parent() {
            fs::create_dir_all(folder)?;
        }
        let path = |extension: &str| with(&self.stem, &format!("{suffix}{extension}"));
        fs::write(path("hlo"), format!("{comment}{}", module.print(Style::Full)))?;
        let mut file = npz::Writer::new(BufWriter::new(File::create(path("npz"))?));
        for (name, value) in &self.arrays {
            file.add(name.clone(), value)?;
        }
        file.finish().map(drop)
    }
}

/// Returns the path of a file whose name begins with the last part of `stem`.
fn with(stem: &Path, end: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    PathBuf::from(name)
}

/// Returns the arrays with their names: `in0`, ... of a single device, `d<k>_in0`, ... of device k of several.
fn named(devices: &[Vec<Literal>], kind: &str) -> Vec<(String, Literal)> {
    let mut all = Vec::new();
    for (device, values) in devices.iter().enumerate() {
        let prefix = if devices.len() == 1 { String::new() } else { format!("d{device}_") };
        for (i, leaf) in values.iter().flat_map(Literal::leaves).enumerate() {
            if leaf.array_shape().is_some() {
                all.push((format!("{prefix}{kind}{i}"), leaf.clone()));
            }
        }
    }
    all
}

#[expect(clippy::print_stderr, reason = "a dump that cannot be written must not fail the run")]
fn eprint(message: &str) {
    eprintln!("{message}");
}
