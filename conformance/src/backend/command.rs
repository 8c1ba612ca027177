//! Any other backend: a command that reads a module and its arguments from files and writes the
//! result to a file.
use super::format::FORMATS;
use super::process::Process;
use super::{About, Backend, BackendError, Capabilities, Code, Death, LoadedModule, Result};
use crate::arrays::{self, NamedArrays};
use hlo::literal::npz::NpyArray;
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The names of the arguments and of the result.
const ARRAYS: [&str; 2] = ["{in.npz}", "{out.npz}"];

/// A shell command such as `run-hlo {hlo} {in.npz} {out.npz}`, run once for each execution.
///
/// `{hlo}` is replaced by the path of the module's text, `{pb}` by that of its `HloModuleProto`,
/// `{mlir}` and `{mlirbc}` by those of its StableHLO program as text and as portable bytecode; the
/// command names one or several. `{in.npz}` is replaced by the path of the arguments `in0`, `in1`,
/// ... with tuples flattened, and `{out.npz}` by that of the result, which the command writes as
/// `out0`, `out1`, ... Exit code 3 says that the module needs something that the command does not
/// implement; its last line of stderr says what. In a run of several devices, `d<k>_in<i>` and
/// `d<k>_out<i>` belong to device `k`, and arrays without `d<k>_` to all devices.
///
/// ```
/// use conformance::backend::{Backend, CommandBackend};
/// use std::time::Duration;
/// let backend = CommandBackend::new("run-hlo {hlo} {in.npz} {out.npz}", Duration::from_secs(10))?;
/// assert_eq!(backend.name(), "run-hlo");
/// assert!(CommandBackend::new("run-hlo {hlo}", Duration::from_secs(10)).is_err());
/// # Ok::<(), conformance::backend::BackendError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CommandBackend {
    command: String,
    time_limit: Duration,
}

impl CommandBackend {
    /// Returns the backend of a command; an execution may take as long as `time_limit`.
    ///
    /// # Errors
    /// `E0706` if the command does not name the module or the result.
    pub fn new(command: &str, time_limit: Duration) -> Result<Self> {
        let missing = if FORMATS.iter().all(|format| !command.contains(format.placeholder)) {
            Some("{hlo}")
        } else {
            Some("{out.npz}").filter(|name| !command.contains(name))
        };
        match missing {
            Some(name) => {
                let message = format!("the command has no `{name}`");
                let help = "write it as 'CMD {hlo} {in.npz} {out.npz}'";
                Err(BackendError::from(Code::NotStarted { message }).with_help(help))
            }
            None => Ok(Self { command: command.to_owned(), time_limit }),
        }
    }
}

impl Backend for CommandBackend {
    fn name(&self) -> String {
        self.command.split_whitespace().next().unwrap_or_default().to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: None, isolated: true }
    }
    fn about(&self) -> About {
        About::from_iter([("command", &*self.command)])
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        let backend = self.clone();
        Ok(Box::new(CommandModule { backend, module: super::for_grid(module, grid) }))
    }
}

/// A module that the command gets with each execution.
struct CommandModule {
    backend: CommandBackend,
    module: Module,
}

impl LoadedModule for CommandModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let folder = tempfile::tempdir().map_err(|e| not_started(&e))?;
        let mut files = Vec::new();
        for format in FORMATS {
            if self.backend.command.contains(format.placeholder) {
                files.push((format.placeholder, format.write(&self.module, folder.path())?));
            }
        }
        let [input, output] = ["in.npz", "out.npz"].map(|name| folder.path().join(name));
        write_arguments(&input, arguments).map_err(|e| not_started(&e))?;
        files.extend(ARRAYS.into_iter().zip([input, output.clone()]));
        self.backend.run(&files, folder.path())?;
        let results = read_results(&output, &self.module);
        results.map_err(|message| Code::Failed { message }.into())
    }
}

fn not_started(error: &dyn std::fmt::Display) -> BackendError {
    Code::NotStarted { message: error.to_string() }.into()
}

pub(crate) fn write_arguments(
    path: &Path,
    arguments: &[Vec<Literal>],
) -> std::result::Result<(), String> {
    let values: Vec<Literal> = arguments.iter().cloned().map(Literal::tuple).collect();
    let named = arrays::flatten_per_device(values.iter(), "in");
    let file = File::create(path).map_err(|e| e.to_string())?;
    hlo::literal::npz::write(file, named).map_err(|e| e.to_string())
}

/// Starts a shell command with the paths of these files of a temporary folder in place of their
/// names.
pub(crate) fn shell(command: &str, files: &[(&str, &Path)], folder: &Path) -> Result<Process> {
    let mut text = command.to_owned();
    for (name, path) in files {
        let path = path.display().to_string().replace('\'', r"'\''");
        text = text.replace(name, &format!("'{path}'"));
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(text).stdin(Stdio::null()).stdout(Stdio::null());
    Process::start_in(&mut shell, folder).map_err(|e| not_started(&e))
}

impl CommandBackend {
    fn run(&self, files: &[(&str, PathBuf)], folder: &Path) -> Result<()> {
        let files: Vec<(&str, &Path)> = files.iter().map(|(name, path)| (*name, &**path)).collect();
        let mut process = shell(&self.command, &files, folder)?;
        let status = process.wait(self.time_limit).map_err(|e| not_started(&e))?;
        process.kill();
        let stderr = process.stderr();
        let seconds = self.time_limit.as_secs_f64();
        match status.map(Ending::of) {
            Some(Ending::Success) => Ok(()),
            None => Err(Code::TimedOut { seconds, stderr }.into()),
            Some(Ending::Code(UNSUPPORTED)) => {
                let last = stderr.lines().next_back().map_or("the command says no more", str::trim);
                Err(Code::Unsupported { message: last.to_owned() }.into())
            }
            Some(Ending::Code(code)) => {
                let message = format!("the command returned exit code {code}{stderr}");
                Err(Code::Failed { message }.into())
            }
            Some(Ending::Signal(status)) => {
                let death = Death::ended(Some(status), &stderr);
                let message = format!("the command died: {}{}{stderr}", death.how, death.hint());
                Err(Code::Crashed { message, death }.into())
            }
        }
    }
}

/// The exit code of a command that does not implement what the module needs.
const UNSUPPORTED: i32 = 3;

/// How a command ended.
enum Ending {
    Success,
    Code(i32),
    Signal(ExitStatus),
}

impl Ending {
    fn of(status: ExitStatus) -> Self {
        /// A shell returns 128 plus the number of the signal that ended its command.
        const SIGNALS: std::ops::RangeInclusive<i32> = 129..=159;
        match status.code() {
            Some(0) => Self::Success,
            Some(code) if !SIGNALS.contains(&code) => Self::Code(code),
            _ => Self::Signal(status),
        }
    }
}

/// Reads the results that a command wrote for a module; `module` has the devices of the run.
pub(super) fn read_results(
    path: &Path,
    module: &Module,
) -> std::result::Result<Vec<Literal>, String> {
    let no_result = |e| format!("the command wrote no result: {e}");
    // To open a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(no_result)?.is_file() {
        return Err("the result that the command wrote is not a file".to_owned());
    }
    let file = File::open(path).map_err(no_result)?;
    let found = hlo::literal::npz::read(BufReader::new(file)).map_err(|e| e.to_string())?;
    let devices = DeviceGrid::of(&module.config).len();
    check_count(&found, module, devices)?;
    match <[Literal; 1]>::try_from(arrays::results(&found, module, devices)?) {
        Ok([all]) => Ok(vec![all; devices]),
        Err(each) => Ok(each),
    }
}

/// Rejects arrays that the result does not have.
fn check_count(
    found: &[NpyArray],
    module: &Module,
    devices: usize,
) -> std::result::Result<(), String> {
    let kind = arrays::prefix("out", found, devices);
    let last = NamedArrays::select(found, kind, devices)?.max_number();
    let shape = module.entry().result_shape();
    let expected = shape.leaves().iter().filter(|leaf| leaf.array().is_some()).count();
    match last {
        Some(last) if last >= expected => Err(format!(
            "the command wrote `{kind}{last}`, but the number of arrays in {shape:#} is {expected}"
        )),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] copy(x) }";

    fn run(command: &str) -> Result<Vec<Literal>> {
        let module = Arc::new(Module::parse(TWO).unwrap().verify().unwrap());
        let mut backend = CommandBackend::new(command, Duration::from_millis(500)).unwrap();
        let grid = DeviceGrid { replicas: 1, partitions: 1 };
        backend.compile(&module, grid)?.execute(&[vec!["s32[2] {1, 2}".parse().unwrap()]])
    }

    /// Returns a file with `out0`, to be copied by a command.
    fn result() -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let value: Literal = "s32[2] {1, 2}".parse().unwrap();
        hlo::literal::npz::write(file.reopen().unwrap(), [("out0".to_owned(), &value)]).unwrap();
        file
    }

    #[test]
    fn a_command_reads_and_writes_files() {
        let file = result();
        let command =
            format!("test -s {{hlo}} -a -s {{in.npz}} && cp {} {{out.npz}}", file.path().display());
        assert_eq!(run(&command).unwrap()[0].to_string(), "s32[2]{0} {1, 2}");
    }

    #[test]
    fn a_command_reads_the_forms_that_it_names() {
        let file = result();
        let command = format!(
            "grep -q HloModule {{hlo}} && test -s {{pb}} && grep -q func.func {{mlir}} && \
             head -c 3 {{mlirbc}} | grep -q ML && cp {} {{out.npz}}",
            file.path().display()
        );
        assert_eq!(run(&command).unwrap()[0].to_string(), "s32[2]{0} {1, 2}");
    }

    #[test]
    fn endings_of_a_command_are_told_apart() {
        let number = |command: &str| {
            let error = run(&format!("{command} # {{hlo}} {{out.npz}}")).unwrap_err();
            (error.number(), error.to_string())
        };
        let (code, message) = number("echo loading >&2; echo no such op >&2; exit 3");
        assert_eq!((code, &*message), ("E0701", "error[E0701]: no such op"));
        let (code, message) = number("echo no such op >&2; exit 4");
        assert_eq!(code, "E0703");
        assert!(message.ends_with("exit code 4\n  no such op"), "{message}");
        assert_eq!(number("true").0, "E0703");
        assert_eq!(number("kill -SEGV $$").0, "E0704");
        assert_eq!(number("sleep 60").0, "E0705");
        assert!(number("sleep 60 & echo started >&2; wait").1.contains("0.5 seconds\n  started"));
    }

    #[test]
    fn results_that_are_no_file_or_have_other_arrays_are_errors() {
        let message = |command: &str| run(command).unwrap_err().to_string();
        let pipe = message("mkfifo {out.npz} # {hlo}");
        assert!(pipe.contains("is not a file"), "{pipe}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let value: Literal = "s32[2] {1, 2}".parse().unwrap();
        let named = ["out0", "out1"].map(|name| (name.to_owned(), &value));
        hlo::literal::npz::write(file.reopen().unwrap(), named).unwrap();
        let more = message(&format!("cp {} {{out.npz}} # {{hlo}}", file.path().display()));
        let expected = "the command wrote `out1`, but the number of arrays in s32[2] is 1";
        assert!(more.contains("E0703") && more.contains(expected), "{more}");
    }

    /// A process may leave its group, and its parent may end.
    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_that_a_command_started_outlives_it() {
        let (folder, file) = (tempfile::tempdir().unwrap(), result());
        let id = folder.path().join("id");
        let (id_path, result) = (id.display(), file.path().display());
        run(&format!(
            "setsid sh -c 'setsid sleep 300 & echo $! > {id_path}; sleep 300' > /dev/null 2>&1 &
            while ! test -s {id_path}; do sleep 0.01; done; cp {result} {{out.npz}} # {{hlo}}"
        ))
        .unwrap();
        let id = std::fs::read_to_string(id).unwrap();
        let stat = PathBuf::from(format!("/proc/{}/stat", id.trim()));
        let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        let end = std::time::Instant::now() + Duration::from_secs(5);
        while lives() && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!lives());
    }

    #[test]
    fn stderr_without_lines_is_cut() {
        let error = run("yes | tr -d '\\n' | head -c 100000 >&2; exit 4 # {hlo} {out.npz}");
        let message = error.unwrap_err().to_string();
        assert!(message.contains("\n  yyy") && message.len() < 600, "{message}");
    }
}
