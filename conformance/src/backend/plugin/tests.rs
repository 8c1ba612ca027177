//! Processes that abort, hang, print or stop in the middle of a message: shell scripts with
//! prepared replies.
use super::connection::{Connection, UNEXPECTED};
use super::hello::PluginHello;
use super::module::Prepared;
use super::protocol::Reply;
use super::{
    Backend as _, BackendError, Code, LoadedModule, OptionValue, Plugin, PluginFormat,
    PluginOptions, PluginRunner,
};
use crate::backend::message::{encode, tensors};
use crate::backend::parent::{IsolatedModule, Parent};
use hlo::Literal;
use pjrt::Program;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn started() -> Reply {
    Reply::Started(hello())
}
fn hello() -> PluginHello {
    PluginHello {
        api: (0, 81),
        platform: "script".to_owned(),
        platform_version: String::new(),
        devices: 1,
        attributes: Vec::new(),
    }
}
fn results() -> Reply {
    Reply::Results(tensors(&[vec![value()]]))
}
fn value() -> Literal {
    "s32[2] {1, 2}".parse().unwrap()
}

/// A module without parameters whose result is an `s32[2]`.
fn module(name: &str) -> Prepared {
    let (name, result) = (name.to_owned(), value().shape());
    Prepared { name, program: Program::default(), parameters: Vec::new(), result }
}

/// A folder for the replies of a process and for the processes that it has had.
struct Host {
    folder: TempDir,
    /// The parts of the script that the first, the second, ... process runs.
    lives: Vec<String>,
}

impl Host {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), lives: Vec::new() }
    }
    /// Adds a process that replies without reading, and then runs a command.
    fn process(mut self, replies: &[Reply], last: &str) -> Self {
        let bytes: Vec<u8> = replies.iter().flat_map(|reply| encode(reply).unwrap()).collect();
        self.bytes(&bytes, last);
        self
    }
    fn bytes(&mut self, bytes: &[u8], last: &str) {
        let path = self.folder.path().join(format!("replies{}", self.lives.len()));
        std::fs::write(&path, bytes).unwrap();
        self.lives.push(format!("cat '{}'; {last}", path.display()));
    }
    fn parent(&self) -> Arc<Mutex<Parent<Connection>>> {
        self.limited(PluginOptions::default())
    }
    fn limited(&self, options: PluginOptions) -> Arc<Mutex<Parent<Connection>>> {
        let count = self.folder.path().join("count").display().to_string();
        let mut script = format!("echo x >> '{count}'; case $(wc -l < '{count}') in ");
        for (number, life) in (1..).zip(&self.lives) {
            let _ = write!(script, "{number}) {life};; ");
        }
        script.push_str("esac");
        let mut host = Command::new("sh");
        host.arg("-c").arg(script);
        let options = PluginOptions { time_limit: Duration::from_millis(300), ..options };
        let mut parent = options.parent(Path::new("script"), host);
        parent.start().unwrap();
        Arc::new(Mutex::new(parent))
    }
    fn started(&self) -> usize {
        std::fs::read_to_string(self.folder.path().join("count")).unwrap().lines().count()
    }
}

fn run(parent: &Arc<Mutex<Parent<Connection>>>, name: &str) -> Result<Vec<Literal>, BackendError> {
    IsolatedModule::compile(parent, module(name))?.execute(&[vec![]])
}

#[test]
fn a_module_that_ends_the_process_runs_again_alone() {
    let both = [started(), Reply::Compiled, results(), Reply::Compiled];
    let host = Host::new()
        .process(&both, "echo bad operand >&2; kill -SEGV $$")
        .process(&[started(), Reply::Compiled], "kill -ABRT $$")
        .process(&[started(), Reply::Compiled, results()], "sleep 60");
    let parent = host.parent();
    assert_eq!(run(&parent, "good").unwrap(), [value()]);
    let error = run(&parent, "bad").unwrap_err();
    assert_eq!(error.number(), "E0704");
    assert!(error.to_string().contains("died: SIGABRT"), "{error}");
    // The next module gets a process of its own.
    assert_eq!(run(&parent, "good").unwrap(), [value()]);
    assert_eq!((host.started(), parent.lock().unwrap().take_warnings().len()), (3, 0));
}

#[test]
fn a_module_that_runs_alone_is_not_the_cause() {
    let both = [started(), Reply::Compiled, results(), Reply::Compiled];
    let host = Host::new()
        .process(&both, "echo heap is damaged >&2; kill -SEGV $$")
        .process(&[started(), Reply::Compiled, results()], "sleep 60");
    let parent = host.parent();
    assert_eq!(run(&parent, "first").unwrap(), [value()]);
    assert_eq!(run(&parent, "second").unwrap(), [value()]);
    let warnings = parent.lock().unwrap().take_warnings();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(
        warning.starts_with("`second` ended the process, but not when it ran alone"),
        "{warning}"
    );
    assert!(warning.contains("SIGSEGV"), "{warning}");
    assert!(warning.ends_with("\n  heap is damaged"), "{warning}");
}

#[test]
fn a_module_alone_is_the_cause_without_a_second_run() {
    let host = Host::new().process(&[started(), Reply::Compiled], "exit 7");
    let error = run(&host.parent(), "bad").unwrap_err().code().to_string();
    assert_eq!(error, "the process of the plugin died: exit code 7");
    assert_eq!(host.started(), 1);
}

#[test]
fn a_process_that_hangs_is_killed_with_what_it_started() {
    let (folder, start) = (tempfile::tempdir().unwrap(), Instant::now());
    let pid = folder.path().join("pid");
    let last = format!("echo waiting >&2; sleep 60 & echo $! > '{}'; wait", pid.display());
    let host = Host::new()
        .process(&[started(), Reply::Compiled], &last)
        .process(&[started(), Reply::Compiled, results()], "sleep 60");
    let parent = host.parent();
    let error = run(&parent, "slow").unwrap_err();
    assert_eq!(error.number(), "E0705");
    assert_eq!(error.code().to_string(), "no answer within 0.3 seconds\n  waiting");
    assert_eq!(run(&parent, "good").unwrap(), [value()]);
    assert!(start.elapsed() < Duration::from_secs(20));
    let pid = std::fs::read_to_string(pid).unwrap();
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    // The process is gone, or waits for its parent to notice.
    assert!(state.map_or(true, |state| state.contains(") Z ")), "{pid} lives");
}

#[test]
fn other_output_is_a_violation_of_the_protocol() {
    let mut host = Host::new().process(&[started(), Reply::Compiled], "echo loading; sleep 60");
    let error = run(&host.parent(), "prints").unwrap_err();
    assert_eq!(error.number(), "E0704");
    assert!(error.code().to_string().starts_with(UNEXPECTED), "{error}");
    // Half of a message.
    host = Host::new();
    let half = encode(&results()).unwrap();
    let whole = [encode(&started()).unwrap(), encode(&Reply::Compiled).unwrap()].concat();
    host.bytes(&[&whole, &half[..half.len() / 2]].concat(), "exit 0");
    let error = run(&host.parent(), "stops").unwrap_err().code().to_string();
    assert_eq!(error, "the process of the plugin died: exit code 0");
    // A reply to another request.
    let host = Host::new().process(&[started(), results()], "sleep 60");
    let error = run(&host.parent(), "confused").unwrap_err().code().to_string();
    assert_eq!(error, UNEXPECTED);
}

#[test]
fn errors_of_the_plugin_leave_the_process_alive() {
    let refuse = |unsupported| Reply::Failed { unsupported, message: "no".to_owned() };
    let replies = [
        started(),
        refuse(true),
        refuse(false),
        Reply::Compiled,
        refuse(false),
        Reply::Compiled,
        results(),
    ];
    let host = Host::new().process(&replies, "sleep 60");
    let parent = host.parent();
    let numbers = [(); 3].map(|()| run(&parent, "refused").unwrap_err().number());
    assert_eq!(numbers, ["E0701", "E0702", "E0703"]);
    assert_eq!(run(&parent, "good").unwrap(), [value()]);
    assert_eq!(host.started(), 1);
}

#[test]
fn a_plugin_gets_the_format_that_it_takes() {
    let refuse = |unsupported| Reply::Failed { unsupported, message: "parser error".to_owned() };
    let format = |host: &Host, format| {
        let options = PluginOptions { format, ..PluginOptions::default() };
        let runner = PluginRunner::Isolated(host.parent());
        let plugin = Plugin::new(Path::new("script"), hello(), options, runner).unwrap();
        plugin.about().0["format"].clone()
    };
    let replies = |replies: &[Reply]| Host::new().process(replies, "sleep 60");
    let auto = |host: &Host| format(host, PluginFormat::Auto);
    assert_eq!(auto(&replies(&[started(), Reply::Compiled])), "hlo");
    assert_eq!(auto(&replies(&[started(), refuse(false), Reply::Compiled])), "mlir");
    assert_eq!(auto(&replies(&[started(), refuse(true), refuse(true)])), "hlo");
    let dies = Host::new()
        .process(&[started()], "kill -SEGV $$")
        .process(&[started(), Reply::Compiled], "sleep 60");
    assert_eq!(auto(&dies), "mlir");
    // Nothing is asked.
    assert_eq!(format(&replies(&[started()]), PluginFormat::Mlir), "mlir");
    let too_new = vec![7, 0, 0];
    let too_new = vec![("stablehlo_minimum_version".to_owned(), OptionValue::Ints(too_new))];
    let hello = PluginHello { attributes: too_new, ..hello() };
    let runner = PluginRunner::Isolated(replies(&[started()]).parent());
    let options = PluginOptions { format: PluginFormat::Mlir, ..PluginOptions::default() };
    let error = Plugin::new(Path::new("script"), hello, options, runner).unwrap_err();
    assert_eq!(error.number(), "E0706");
}

#[test]
fn a_process_is_replaced_after_a_number_of_modules() {
    let life = [started(), Reply::Compiled, results(), Reply::Compiled, results()];
    let host = Host::new()
        .process(&life, "sleep 60")
        .process(&[started(), Reply::Compiled, results()], "sleep 60");
    let parent = host.limited(PluginOptions { modules_per_process: 2, ..PluginOptions::default() });
    for _ in 0..3 {
        run(&parent, "good").unwrap();
    }
    assert_eq!(host.started(), 2);
}

#[test]
fn a_process_that_grows_is_replaced_before_the_next_module() {
    let life = [started(), Reply::Compiled, results()];
    let host = Host::new().process(&life, "sleep 60").process(&life, "sleep 60");
    let parent = host.limited(PluginOptions { bytes_per_process: 1, ..PluginOptions::default() });
    for started in 1..=2 {
        assert_eq!(run(&parent, "good").unwrap(), [value()]);
        assert_eq!(host.started(), started);
    }
}

#[test]
fn deaths_are_told_apart() {
    let death = |last: &str| {
        let host = Host::new().process(&[started(), Reply::Compiled], last);
        let error = run(&host.parent(), "bad").unwrap_err();
        let Code::Crashed { death, .. } = error.code() else { panic!("{error}") };
        death.to_string()
    };
    let check = "echo 'F0000 1 a/shape.cc:9] Check failed: x == 3' >&2; kill -ABRT $$";
    assert_eq!(death(check), "SIGABRT: shape.cc:9 Check failed: x");
    assert_eq!(death("kill -SEGV $$"), "SIGSEGV");
    assert_eq!(death("kill -KILL $$"), "SIGKILL");
    assert_eq!(death("exit 7"), "exit code 7");
    assert_eq!(death("exec >&-; sleep 60"), "it closed its output");
    assert_eq!(death("echo text; sleep 60"), UNEXPECTED);
}

#[test]
fn what_does_not_start_is_not_a_backend() {
    let mut parent = PluginOptions::default().parent(Path::new("p"), Command::new("/no/such/host"));
    assert_eq!(parent.start().unwrap_err().number(), "E0706");
    let mut parent = PluginOptions::default().parent(Path::new("p"), Command::new("true"));
    assert_eq!(parent.start().unwrap_err().number(), "E0706");
}
