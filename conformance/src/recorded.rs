//! Suites of recorded results: folders of `NAME.hlo` or `NAME.opt.hlo` with `NAME.npz` in the same
//! folder.
//!
//! The arrays `in0`, `in1`, ... are the arguments, and `out0`, `out1`, ... are the result, in
//! parameter order with tuples flattened. Their types are those of the module's entry computation.
//! In a module for several devices, `d<k>_in<i>` and `d<k>_out<i>` belong to device `k`, and arrays
//! without `d<k>_` to all devices. See [`crate::arrays`].
use crate::case::run_failure;
use crate::report::{Failed, Failure};
use crate::{Engine, Outcome, Report, Subject, Tolerance, arrays, compare_each};
use collectives::Session;
use hlo::literal::npz::{self, NpyArray};
use hlo::{Literal, Module, Verified};
use interp::{CompileOptions, DeviceGrid, RunOptions};
use load::Loaded;
use rayon::prelude::*;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The stack of a thread, larger than the default: engines may recurse into called computations.
pub(crate) const STACK: usize = 64 << 20;

/// A module with a recorded result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The path of the module.
    pub module: PathBuf,
    /// The path of its arguments and result.
    pub arrays: PathBuf,
}

/// The first bytes of a test of the command line.
const COMMAND: &[u8; 8] = b"// RUN: ";

/// Finds the modules in a folder and its subfolders, sorted by path; `root` may also be a single
/// module.
///
/// The first list has the modules with a recorded result, the second list all other modules. Tests
/// of the command line, which begin with `// RUN: `, are not included, unless `root` is one: their
/// expected output is in other files.
///
/// # Errors
/// If a folder cannot be read.
pub fn find(root: &Path) -> std::io::Result<(Vec<Entry>, Vec<PathBuf>)> {
    let (mut entries, mut others) = (Vec::new(), Vec::new());
    for path in files(root, "hlo")? {
        match arrays_of(&path) {
            Some(arrays) => entries.push(Entry { module: path, arrays }),
            None if path != root && runs_command(&path) => {}
            None => others.push(path),
        }
    }
    Ok((entries, others))
}

/// Returns the files of this extension in a folder and its subfolders, sorted by path, or `root`
/// itself if it is a file.
pub(crate) fn files(root: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        if !std::fs::metadata(&path)?.is_dir() {
            found.push(path);
            continue;
        }
        let inside: Result<Vec<_>, _> =
            std::fs::read_dir(&path)?.map(|entry| entry.map(|e| e.path())).collect();
        let inside = inside?.into_iter();
        open.extend(inside.filter(|p| p.is_dir() || p.extension().is_some_and(|e| e == extension)));
    }
    found.sort();
    Ok(found)
}

/// Returns whether the file is a test of the command line: its first line is a command.
fn runs_command(path: &Path) -> bool {
    let mut start = [0; COMMAND.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *COMMAND
}

/// Returns whether a file has an argument or a result, or cannot be read, which is an error of its
/// entry.
fn is_recorded(path: &Path) -> bool {
    let read = |file| npz::read_some(std::io::BufReader::new(file), |_| None);
    let Some(Ok(found)) = File::open(path).ok().map(read) else { return true };
    found.iter().any(|array| arrays::Name::parse(&array.name).is_some())
}

/// Returns `NAME.npz` for `NAME.hlo`, `NAME.opt.hlo` or `NAME.global.hlo`, if it exists and has
/// arguments or results.
fn arrays_of(module: &Path) -> Option<PathBuf> {
    let stem = module.with_extension("");
    let plain = stem.with_extension("npz");
    let whole = PathBuf::from(format!("{}.npz", stem.display()));
    let is_form = stem.extension().is_some_and(|e| e == "opt" || e == "global");
    let found = if is_form { [whole, plain] } else { [whole.clone(), whole] };
    found.into_iter().find(|path| path.is_file() && is_recorded(path))
}

/// Calls `run` on a thread of a pool with stacks as large as engines need.
pub fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK).build() {
        Ok(pool) => pool.install(run),
        Err(_) => run(),
    }
}

/// Runs each entry or case on a thread pool and returns the reports in the order of `items`.
pub fn in_parallel<T: Sync>(items: &[T], run: impl Fn(&T) -> Report + Sync) -> Vec<Report> {
    on_large_stack(|| items.par_iter().map(&run).collect())
}

impl Entry {
    /// Runs the module and compares the result with the recorded one.
    pub fn run(&self, engine: Engine) -> Report {
        self.run_with(engine, &RunOptions::default())
    }
    /// Runs the module with these options and compares the result with the recorded one.
    pub fn run_with(&self, engine: Engine, options: &RunOptions) -> Report {
        let file = self.module.display().to_string();
        Report::run(&file, &file, || self.outcome(engine, options))
    }

    /// Returns the module with its recorded arguments.
    ///
    /// # Errors
    /// The report of a module or of arguments that are malformed.
    pub fn subject(&self) -> Result<Subject, Box<Report>> {
        let file = self.module.display().to_string();
        let subject = || {
            let (text, module) = self.load()?;
            let devices = DeviceGrid::of(&module.module().config).len();
            let arrays = self.arrays().map_err(Failed::invalid)?;
            let arguments = arrays::arguments(&arrays, module.module(), devices)
                .map_err(|e| Failed::invalid(self.with_path(&e)))?;
            let (name, module) = (file.clone(), Arc::new(module));
            Ok(Subject { name, file: file.clone(), text, module, arguments })
        };
        subject().map_err(|failed: Box<Failed>| Box::new(Report::of(&file, &file, *failed)))
    }

    /// Returns the text and the module.
    fn load(&self) -> Result<(String, Verified), Box<Failed>> {
        let invalid = |text: &str, diagnostics| Failed::invalid(Failure::new(text, diagnostics));
        let loaded = load::load(self.module.as_path(), &load::Options::default());
        let Loaded { file, module, .. } = loaded.map_err(|error| {
            invalid(error.source.as_ref().map_or("", |file| &file.text), error.diagnostics)
        })?;
        match module.verify() {
            Ok(verified) => Ok((file.text, verified)),
            Err(errors) => Err(invalid(&file.text, errors.diagnostics())),
        }
    }

    fn outcome(&self, engine: Engine, options: &RunOptions) -> Result<Outcome, Box<Failed>> {
        let (text, verified) = self.load()?;
        let failed = |error| Failed::new("", run_failure(&text, &error));
        let compile = CompileOptions::default().engine(engine);
        let session = Session::compile(verified, &compile).map_err(failed)?;
        let (module, devices) = (session.module(), session.grid().len());
        let (arguments, expected) = self.recorded(module, devices).map_err(Failed::invalid)?;
        let output = session.run(&arguments, options).map_err(failed)?;
        let tolerance = Tolerance::of(module);
        let comparison =
            compare_each(&output.results, &expected, &tolerance).map_err(Failed::invalid)?;
        Ok(Outcome::of(comparison))
    }

    fn with_path(&self, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", self.arrays.display())
    }
    fn arrays(&self) -> Result<Vec<NpyArray>, String> {
        let file = File::open(&self.arrays).map_err(|e| self.with_path(&e))?;
        npz::read(std::io::BufReader::new(file)).map_err(|e| self.with_path(&e))
    }
    fn recorded(
        &self,
        module: &Module,
        devices: usize,
    ) -> Result<(Vec<Vec<Literal>>, Vec<Literal>), String> {
        let arrays = self.arrays()?;
        let with_path = |e: String| self.with_path(&e);
        let arguments = arrays::arguments(&arrays, module, devices).map_err(with_path)?;
        let results = arrays::results(&arrays, module, devices).map_err(with_path)?;
        Ok((arguments, results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    #[test]
    fn a_folder_is_searched_and_run() {
        let root = std::env::temp_dir().join(format!("etalon-suite-{}", std::process::id()));
        let inner = root.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        let text = |header: &str| {
            format!(
                "HloModule m{header}\nENTRY e {{ p = f32[2] parameter(0) ROOT r = f32[2] add(p, p) }}\n"
            )
        };
        std::fs::write(inner.join("twice.hlo"), text("")).unwrap();
        std::fs::write(inner.join("twice.opt.hlo"), text("")).unwrap();
        std::fs::write(inner.join("many.hlo"), text(", num_partitions=4")).unwrap();
        std::fs::write(root.join("alone.hlo"), text("")).unwrap();
        let [x, y] = ["f32[2] {1, 2}", "f32[2] {2, 4}"].map(|t| t.parse::<Literal>().unwrap());
        let write = |name: &str, arrays: &[(&str, &Literal)]| {
            let file = File::create(inner.join(name)).unwrap();
            let named = arrays.iter().map(|&(name, value)| (name.to_owned(), value));
            npz::write(file, named).unwrap();
        };
        write("twice.npz", &[("in0", &x), ("out0", &y)]);
        write("many.npz", &[("in0", &x), ("out0", &y)]);
        let own = [("d0_in0", &x), ("d1_in0", &y), ("d0_out0", &y), ("d1_out0", &y)];
        write("two.npz", &own);
        // Arrays of something else.
        std::fs::write(inner.join("weights.hlo"), text("")).unwrap();
        write("weights.npz", &[("layer.kernel", &x)]);
        std::fs::write(inner.join("two.hlo"), text(", replica_count=2")).unwrap();
        let (entries, others) = find(&root).unwrap();
        let reports = in_parallel(&entries, |entry| entry.run(Engine::Reference));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(others, [root.join("alone.hlo"), inner.join("weights.hlo")]);
        let expected = Summary { agree: 3, differ: 1, ..Summary::default() };
        assert_eq!(Summary::of(&reports), expected, "{reports:?}");
        // The result of device 1 is 4 and 8.
        let details = reports.iter().find(|report| report.is_bad()).unwrap().details(false);
        let lines = "2 of 4 elements differ on device 1\nworst: device 1, result 0 at [0]: found f32[] 4, expected f32[] 2\n";
        assert!(details.starts_with(lines), "{details}");
    }
}
