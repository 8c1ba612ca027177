//! A command that stays alive: it compiles modules and executes them, as lines of JSON ask it.
//!
//! ```text
//! > {"request":"hello","protocol":1,"etalon":"0.1.0"}
//! < {"reply":"hello","name":"mine 2.1","devices":1,"accuracies":{"tanh":4,"exponential.f16":2},"formats":["hlo","pb"]}
//! > {"request":"compile","program":1,"hlo":"/tmp/a/module.hlo","pb":"/tmp/a/module.pb","replicas":1,"partitions":1}
//! < {"reply":"ok"}
//! > {"request":"execute","program":1,"inputs":"/tmp/a/in.npz","outputs":"/tmp/a/out.npz"}
//! < {"reply":"ok"}
//! > {"request":"destroy","program":1}
//! ```
//!
//! Each request but `destroy` has one reply: `ok`, `unsupported` or `failed`, both with a
//! `message`. Lines that do not begin with `{` are no replies. `formats` are the forms of a module that
//! the server reads, of `hlo`, `pb`, `mlir` and `mlirbc`; the request to compile has the path of each
//! that the module can be expressed in.
use super::channel::Channel;
use super::command::{read_results, write_arguments};
use super::format::{FORMATS, Format};
use super::parent::{IsolatedModule, Parent, Peer, PeerModule, ProcessLimits, Trouble, lock};
use super::{About, Backend, BackendError, Capabilities, Code, Death, LoadedModule, Result};
use super::{check_devices, for_grid};
use crate::judge::{Accuracies, JudgeOptions};
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// The version of the requests.
const PROTOCOL: u32 = 1;

/// The message of a reply that does not belong to its request.
const UNEXPECTED: &str = "the server violates the protocol";

/// A request to the server.
#[derive(Debug, Serialize)]
#[serde(tag = "request", rename_all = "snake_case")]
enum Request<'a> {
    /// What it is. The first request.
    Hello { protocol: u32, etalon: &'a str },
    /// Compile a module, of which it may read any file.
    Compile {
        program: u64,
        #[serde(flatten)]
        files: BTreeMap<&'static str, PathBuf>,
        replicas: usize,
        partitions: usize,
    },
    /// Execute a module on the arguments in a file; write the results to another.
    Execute { program: u64, inputs: PathBuf, outputs: PathBuf },
    /// Forget a module. There is no reply.
    Destroy { program: u64 },
}

/// A reply of the server.
#[derive(Debug, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
enum Reply {
    Hello(Hello),
    Ok,
    Unsupported { message: String },
    Failed { message: String },
}

/// What a server says of itself.
#[derive(Debug, Clone, Deserialize)]
struct Hello {
    name: String,
    /// The number of devices; any number, if it is absent.
    #[serde(default)]
    devices: Option<usize>,
    /// Errors of functions in units in the last place: of an op, or of an op and a type, as
    /// `tanh.f16`.
    #[serde(default)]
    accuracies: BTreeMap<String, f64>,
    /// The names of the forms of a module that it reads.
    #[serde(default = "default_formats")]
    formats: Vec<String>,
}

fn default_formats() -> Vec<String> {
    ["hlo", "pb"].map(str::to_owned).to_vec()
}

impl Hello {
    /// Returns the forms of a module that the server reads.
    fn formats(&self) -> Result<Vec<Format>> {
        let one = |name: &String| {
            FORMATS.into_iter().find(|format| format.name == name).ok_or_else(|| {
                let known = FORMATS.map(|format| format.name).join(", ");
                let message = format!("the server reads `{name}`; the formats are {known}");
                BackendError::from(Code::NotStarted { message })
            })
        };
        self.formats.iter().map(one).collect()
    }
}

/// The options of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// The most time for one compilation or one execution.
    pub time_limit: Duration,
    /// The most time until it says what it is.
    pub start_limit: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { time_limit: Duration::from_secs(60), start_limit: Duration::from_secs(60) }
    }
}

/// A shell command that compiles a module once and executes it often, as lines of JSON on its
/// standard input ask. It is started again if it dies.
///
/// ```no_run
/// use conformance::backend::{Backend, ServerBackend, ServerOptions};
/// let backend = ServerBackend::start("python3 my_server.py", ServerOptions::default())?;
/// println!("{}", backend.name());
/// # Ok::<(), conformance::backend::BackendError>(())
/// ```
#[derive(Debug)]
pub struct ServerBackend {
    command: String,
    hello: Hello,
    accuracies: Accuracies,
    parent: Arc<Mutex<Parent<Server>>>,
}

impl ServerBackend {
    /// Starts the command, and waits until it says what it is.
    ///
    /// # Errors
    /// `E0706` if it does not start, does not answer, or reads a format that does not exist.
    pub fn start(command: &str, options: ServerOptions) -> Result<Self> {
        let limits = ProcessLimits {
            time: options.time_limit,
            start: options.start_limit,
            modules: usize::MAX,
            bytes: usize::MAX,
        };
        let mut parent = Parent::<Server>::new(command.to_owned(), limits);
        let hello = parent.start()?;
        let accuracies = Accuracies::parse(&hello.accuracies)
            .map_err(|message| BackendError::from(Code::NotStarted { message }))?;
        Ok(Self {
            command: command.to_owned(),
            hello,
            accuracies,
            parent: Arc::new(Mutex::new(parent)),
        })
    }
}

impl Backend for ServerBackend {
    fn name(&self) -> String {
        self.hello.name.clone()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: self.hello.devices, isolated: true }
    }
    fn about(&self) -> About {
        About::from_iter([("command", &*self.command)])
    }
    fn judging(&self) -> JudgeOptions {
        JudgeOptions { accuracies: self.accuracies.clone(), ..JudgeOptions::default() }
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>> {
        check_devices(&self.hello.name, self.hello.devices.unwrap_or(usize::MAX), grid)?;
        let module = for_grid(module, grid);
        Ok(Box::new(IsolatedModule::compile(&self.parent, module)?))
    }
    fn take_warnings(&mut self) -> Vec<String> {
        lock(&self.parent).take_warnings()
    }
}

impl PeerModule for Module {
    fn name(&self) -> &str {
        &self.name
    }
}

/// A process of the command.
#[derive(Debug)]
struct Server {
    channel: Channel<Reply>,
    /// The files of the requests.
    folder: TempDir,
    /// The forms of a module that it reads.
    formats: Vec<Format>,
}

impl Peer for Server {
    type Start = String;
    type Hello = Hello;
    type Module = Module;

    fn name(_start: &String) -> String {
        "the server".to_owned()
    }
    fn open(start: &mut String) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(&*start);
        let channel = Channel::open_json(&mut command, folder.path())?;
        Ok(Self { channel, folder, formats: Vec::new() })
    }
    fn hello(&mut self, _start: &String, limit: Duration) -> Result<Hello, Trouble> {
        let etalon = env!("CARGO_PKG_VERSION");
        let reply = self.ask(&Request::Hello { protocol: PROTOCOL, etalon }, limit);
        match reply.map_err(explained)? {
            Reply::Hello(hello) => {
                self.formats = hello.formats().map_err(Trouble::Error)?;
                Ok(hello)
            }
            Reply::Unsupported { message } | Reply::Failed { message } => {
                Err(Trouble::Error(Code::NotStarted { message }.into()))
            }
            Reply::Ok => Err(unexpected()),
        }
    }
    fn compile(&mut self, number: u64, module: &Module, limit: Duration) -> Result<(), Trouble> {
        let (mut files, mut refused) = (BTreeMap::new(), None);
        for format in &self.formats {
            match format.write(module, self.folder.path()) {
                Ok(path) => drop(files.insert(format.name, path)),
                Err(error) if matches!(error.code(), Code::Unsupported { .. }) => {
                    refused = Some(error);
                }
                Err(error) => return Err(Trouble::Error(error)),
            }
        }
        if let Some(error) = refused.filter(|_| files.is_empty()) {
            return Err(Trouble::Error(error));
        }
        let DeviceGrid { replicas, partitions } = DeviceGrid::of(&module.config);
        let request = Request::Compile { program: number, files, replicas, partitions };
        self.done(&request, limit, |message| Code::Rejected { message })
    }
    fn execute(
        &mut self,
        number: u64,
        module: &Module,
        arguments: &[Vec<Literal>],
        limit: Duration,
    ) -> Result<Vec<Literal>, Trouble> {
        let [inputs, outputs] = ["in.npz", "out.npz"].map(|name| self.folder.path().join(name));
        let failed = |message| Trouble::Error(Code::Failed { message }.into());
        // The result of an earlier execution is none of this one.
        let _ = std::fs::remove_file(&outputs);
        write_arguments(&inputs, arguments).map_err(failed)?;
        let request = Request::Execute { program: number, inputs, outputs: outputs.clone() };
        self.done(&request, limit, |message| Code::Failed { message })?;
        read_results(&outputs, module).map_err(failed)
    }
    fn release(&self, number: u64) {
        self.channel.send(&Request::Destroy { program: number });
    }
    fn resident_bytes(&self) -> Option<usize> {
        self.channel.resident_bytes()
    }
}

impl Server {
    fn ask(&mut self, request: &Request<'_>, limit: Duration) -> Result<Reply, Trouble> {
        let reply = self.channel.ask(request, Some(limit));
        reply.map_err(|no_reply| Trouble::of(no_reply, "the server", UNEXPECTED))
    }
    /// Sends a request that has no result.
    fn done(
        &mut self,
        request: &Request<'_>,
        limit: Duration,
        other: impl FnOnce(String) -> Code,
    ) -> Result<(), Trouble> {
        match self.ask(request, limit)? {
            Reply::Ok => Ok(()),
            Reply::Unsupported { message } => {
                Err(Trouble::Error(Code::Unsupported { message }.into()))
            }
            Reply::Failed { message } => Err(Trouble::Error(other(message).into())),
            Reply::Hello(_) => Err(unexpected()),
        }
    }
}

/// Adds where to look to the message of a server that ended before its first reply without a reason.
fn explained(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Died(death, message) if !message.contains('\n') => Trouble::Died(
            death,
            format!(
                "{message}, before its first reply and without a word on stderr; run the command by itself to see what it writes"
            ),
        ),
        trouble @ (Trouble::Died(..) | Trouble::TimedOut(_) | Trouble::Error(_)) => trouble,
    }
}

/// Returns the trouble with a reply to another request.
fn unexpected() -> Trouble {
    Trouble::Died(Death::other(UNEXPECTED, ""), UNEXPECTED.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::{ElementType, Opcode};

    const TWO: &str = "HloModule two\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] copy(x) }";

    /// A server of the shell; `cases` are those of a `case` over its requests.
    fn start(cases: &str) -> Result<ServerBackend> {
        let hello = r#"*hello*) echo loading; echo '{"reply":"hello","name":"shell","devices":1,"accuracies":{"tanh":4,"tanh.f16":2}}';;"#;
        let command = format!("while read -r line; do case $line in {hello} {cases} esac; done");
        let limit = Duration::from_millis(500);
        ServerBackend::start(&command, ServerOptions { time_limit: limit, ..Default::default() })
    }
    fn run(backend: &mut ServerBackend) -> Result<Vec<Literal>> {
        let module = Arc::new(Module::parse(TWO).unwrap().verify().unwrap());
        let grid = DeviceGrid { replicas: 1, partitions: 1 };
        let mut loaded = backend.compile(&module, grid)?;
        let first = loaded.execute(&[vec!["s32[2] {1, 2}".parse().unwrap()]])?;
        assert_eq!(loaded.execute(&[vec!["s32[2] {1, 2}".parse().unwrap()]])?, first);
        Ok(first)
    }
    const OK: &str = r#"echo '{"reply":"ok"}';;"#;

    #[test]
    fn a_server_compiles_once_and_executes_twice() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let value: Literal = "s32[2] {1, 2}".parse().unwrap();
        hlo::literal::npz::write(file.reopen().unwrap(), [("out0".to_owned(), &value)]).unwrap();
        let log = tempfile::NamedTempFile::new().unwrap();
        let (result, log) = (file.path().display(), log.path());
        let to = r#"to=${line##*outputs\":\"}; to=${to%%\"*};"#;
        let cases = format!(
            "*compile*) echo compiled >> {log}; {OK} *execute*) {to} cp {result} $to; {OK} *destroy*) echo destroyed >> {log};;",
            log = log.display()
        );
        let mut backend = start(&cases).unwrap();
        assert_eq!((backend.name(), backend.capabilities().devices), ("shell".to_owned(), Some(1)));
        let accuracies = backend.judging().accuracies;
        assert!(accuracies.of(Opcode::Tanh, ElementType::F32) > 3.0);
        assert!(accuracies.of(Opcode::Tanh, ElementType::F16) < 3.0);
        assert_eq!(run(&mut backend).unwrap(), [value]);
        run(&mut backend).unwrap();
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.starts_with("compiled\ndestroyed\ncompiled"), "{log}");
    }

    #[test]
    fn refusals_failures_and_deaths_are_told_apart() {
        let number = |cases: &str| {
            let error = run(&mut start(cases).unwrap()).unwrap_err();
            (error.number(), error.code().to_string())
        };
        let refused = number(r#"*compile*) echo '{"reply":"unsupported","message":"no sort"}';;"#);
        assert_eq!(refused, ("E0701", "no sort".to_owned()));
        assert_eq!(number(r#"*compile*) echo '{"reply":"failed","message":"no"}';;"#).0, "E0702");
        let failed =
            format!(r#"*compile*) {OK} *execute*) echo '{{"reply":"failed","message":"no"}}';;"#);
        assert_eq!(number(&failed), ("E0703", "the execution failed: no".to_owned()));
        let nothing = format!("*compile*) {OK} *execute*) {OK}");
        assert!(number(&nothing).1.contains("wrote no result"));
        assert_eq!(number("*compile*) kill -SEGV $$;;").0, "E0704");
        assert_eq!(number("*compile*) sleep 60;;").0, "E0705");
        let text = number("*compile*) echo '{\"reply\":\"what\"}';;");
        assert!(text.0 == "E0704" && text.1.starts_with(UNEXPECTED), "{text:?}");
    }

    #[test]
    fn a_server_gets_the_forms_that_it_reads() {
        let start = |formats: &str, compile: &str| {
            let hello = format!(
                r#"*hello*) echo '{{"reply":"hello","name":"shell","formats":{formats}}}';;"#
            );
            let command = format!(
                "while read -r line; do case $line in {hello} *compile*) {compile} esac; done"
            );
            ServerBackend::start(&command, ServerOptions::default())
        };
        let reply = r#"case $line in *hlo\":*|*pb\":*) ;; *mlir\":*mlirbc\":*) echo '{"reply":"unsupported","message":"both"}'; esac;;"#;
        let mut backend = start(r#"["mlirbc","mlir"]"#, reply).unwrap();
        assert_eq!(run(&mut backend).unwrap_err().code().to_string(), "both");
        let error = start(r#"["onnx"]"#, reply).unwrap_err();
        let expected = "the server reads `onnx`; the formats are hlo, pb, mlir, mlirbc";
        assert_eq!((error.number(), &*error.code().to_string()), ("E0706", expected));
    }

    #[test]
    fn a_server_that_dies_is_started_again() {
        let cases = format!("*compile*) {OK} *execute*) exit 7;;");
        let mut backend = start(&cases).unwrap();
        for _ in 0..2 {
            assert_eq!(run(&mut backend).unwrap_err().number(), "E0704");
        }
    }

    #[test]
    fn what_says_nothing_is_no_server() {
        for command in ["exit 1", "echo hello", "/no/such/command"] {
            let error = ServerBackend::start(command, ServerOptions::default()).unwrap_err();
            assert_eq!(error.number(), "E0706", "{command}: {error}");
        }
        let message = |command: &str| {
            ServerBackend::start(command, ServerOptions::default()).unwrap_err().code().to_string()
        };
        let silent = message("echo why; exit 0");
        assert!(silent.contains("exit code 0, before its first reply"), "{silent}");
        let loud = message("echo why >&2; exit 0");
        assert!(loud.ends_with("exit code 0\n  why"), "{loud}");
    }
}
