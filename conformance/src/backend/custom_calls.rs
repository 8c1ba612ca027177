//! Libraries of custom calls in a process of their own, which is replaced after a death.
//!
//! ```text
//! IsolatedLibrary ── messages through pipes ──> serve_custom_calls() in a child ──> interp::Library
//! ```
use super::channel::{Channel, NoReply};
use super::child::answer;
use super::message::{Tensor, literals};
use hlo::diag::quantity;
use hlo::{Literal, Shape};
use interp::{Code, CustomCallLibrary, Error, Functions, Library, LibraryCall};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A request of the parent.
#[derive(Debug, Serialize, Deserialize)]
enum LibraryRequest {
    /// Load the library. The first request.
    Load { path: PathBuf },
    /// Call a function. Each operand has its shape, and its arrays in order.
    Call { target: String, operands: Vec<(String, Vec<Tensor>)>, result: String },
}

/// A reply of the child.
#[derive(Debug, Serialize, Deserialize)]
enum LibraryReply {
    Loaded,
    /// The arrays of the result.
    Result(Vec<Tensor>),
    /// Why there is no result.
    Failed(String),
}

type Result<T> = std::result::Result<T, Error>;

/// A shared library with functions of custom calls that runs in a process of its own. A crash, an
/// `exit`, and a write outside of the result are errors of the call; the next call gets a new
/// process, and otherwise static variables of the library persist.
#[derive(Debug)]
pub struct IsolatedLibrary {
    path: PathBuf,
    functions: Functions,
    host: Mutex<LibraryProcess>,
    time_limit: Option<Duration>,
}

#[derive(Debug)]
struct LibraryProcess {
    command: Command,
    channel: Option<Channel<LibraryReply>>,
}

impl IsolatedLibrary {
    /// Loads a library into a new process. `host` is a command that calls [`serve_custom_calls`],
    /// such as `etalon custom-call-host`. A call may take as long as `time_limit`, and loading,
    /// too.
    ///
    /// # Errors
    /// `E0410` if the process cannot be started or the library cannot be loaded.
    pub fn open(path: &Path, host: Command, time_limit: Option<Duration>) -> Result<Self> {
        let functions = Functions::of(path)?;
        let host = Mutex::new(LibraryProcess { command: host, channel: None });
        let library = Self { path: path.to_owned(), functions, host, time_limit };
        library.lock().start(path, time_limit)?;
        Ok(library)
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, LibraryProcess> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LibraryProcess {
    /// Returns the process, which is started if there is none.
    fn start(
        &mut self,
        path: &Path,
        time_limit: Option<Duration>,
    ) -> Result<&mut Channel<LibraryReply>> {
        if self.channel.is_none() {
            let failed = |message: String| {
                let path = path.display().to_string();
                Error::from(Code::Library { path, message })
            };
            let channel = Channel::open(&mut self.command);
            let mut channel =
                channel.map_err(|e| failed(format!("its process cannot be started: {e}")))?;
            match channel.ask(&LibraryRequest::Load { path: path.to_owned() }, time_limit) {
                Ok(LibraryReply::Loaded) => {}
                Ok(LibraryReply::Failed(message)) => return Err(failed(message)),
                Ok(LibraryReply::Result(_)) => return Err(failed(UNEXPECTED.into())),
                Err(trouble) => {
                    return Err(failed(message_of(trouble, "an initializer", time_limit)));
                }
            }
            self.channel = Some(channel);
        }
        Ok(self.channel.as_mut().expect("it is set above"))
    }
}

const UNEXPECTED: &str = "its process violates the protocol";

/// Returns what happened to the process while foreign code ran.
fn message_of(trouble: NoReply, code: &str, limit: Option<Duration>) -> String {
    match trouble {
        NoReply::Died { death, .. } => {
            format!("{code} ended its process: {}{}", death.how, death.hint())
        }
        NoReply::Unexpected(message) => format!("{UNEXPECTED}: {message}"),
        NoReply::TimedOut(_) => {
            let seconds = limit.unwrap_or_default().as_secs_f64();
            format!("{code} did not end within {}", quantity(seconds, "second"))
        }
    }
}

impl CustomCallLibrary for IsolatedLibrary {
    fn defines(&self, target: &str) -> bool {
        self.functions.contains(target)
    }
    fn call(&self, call: &LibraryCall<'_>) -> Result<Literal> {
        let failed = |message: String, help: &str| {
            let target = call.target.to_owned();
            Error::from(Code::CustomCallFailed { target, message }).with_help(help)
        };
        let mut host = self.lock();
        let channel = host.start(&self.path, self.time_limit)?;
        let operands = call.operands.iter().map(|operand| {
            (
                format!("{:#}", operand.shape()),
                operand.leaves().into_iter().map(Tensor::from).collect(),
            )
        });
        let request = LibraryRequest::Call {
            target: call.target.to_owned(),
            operands: operands.collect(),
            result: format!("{:#}", call.result),
        };
        let reply = channel.ask(&request, self.time_limit);
        if let Ok(LibraryReply::Result(arrays)) = &reply {
            let leaves = literals(std::slice::from_ref(arrays)).ok().and_then(|mut all| all.pop());
            if let Some(value) = leaves
                .and_then(|leaves| Literal::from_leaves(&call.result, &mut leaves.into_iter()))
            {
                return Ok(value);
            }
        }
        // What the function wrote to is not known: the next call gets a new process.
        host.channel = None;
        Err(match reply {
            Ok(LibraryReply::Failed(message)) => failed(message, BESIDE),
            Ok(LibraryReply::Loaded | LibraryReply::Result(_)) => {
                failed(UNEXPECTED.into(), DEBUGGER)
            }
            Err(trouble) => failed(message_of(trouble, "the function", self.time_limit), DEBUGGER),
        })
    }
}

const DEBUGGER: &str = "to debug the function, run it inside of Etalon with --trust-custom-calls";
const BESIDE: &str = "compare the sizes in the function with the shapes of the instruction";

/// Runs a library of custom calls for a parent process; see [`IsolatedLibrary`].
///
/// # Errors
/// If the standard streams cannot be used.
pub fn serve_custom_calls() -> std::io::Result<()> {
    let mut library = None;
    answer(|request| {
        let reply = match request {
            LibraryRequest::Load { path } => Library::open(&path).map(|loaded| {
                library = Some(loaded);
                LibraryReply::Loaded
            }),
            LibraryRequest::Call { target, operands, result } => match &library {
                Some(library) => run(library, &target, &operands, &result),
                None => Ok(LibraryReply::Failed(UNEXPECTED.into())),
            },
        };
        Some(reply.unwrap_or_else(|error| {
            let code = error.code();
            let (Code::Library { message, .. } | Code::CustomCallFailed { message, .. }) = code
            else {
                return LibraryReply::Failed(code.to_string());
            };
            LibraryReply::Failed(message.clone())
        }))
    })
}

fn run(
    library: &Library,
    target: &str,
    operands: &[(String, Vec<Tensor>)],
    result: &str,
) -> Result<LibraryReply> {
    let malformed = |message: String| Code::CustomCallFailed { target: target.into(), message };
    let shape = |text: &str| text.parse::<Shape>().map_err(|e| malformed(e.to_string()));
    let operand = |(text, arrays): &(String, Vec<Tensor>)| -> Result<Literal> {
        let leaves =
            literals(std::slice::from_ref(arrays)).map_err(|e| malformed(e.to_string()))?;
        let value = Literal::from_leaves(&shape(text)?, &mut leaves.into_iter().flatten());
        Ok(value.ok_or_else(|| malformed(UNEXPECTED.into()))?)
    };
    let operands: Vec<Literal> = operands.iter().map(operand).collect::<Result<_>>()?;
    let call = LibraryCall { target, operands, result: shape(result)? };
    let value = library.call(&call)?;
    Ok(LibraryReply::Result(value.leaves().into_iter().map(Tensor::from).collect()))
}
