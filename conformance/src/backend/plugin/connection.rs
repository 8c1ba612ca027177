//! A process that runs a plugin, and the messages to and from it.
use super::module::Prepared;
use super::protocol::{Reply, Request, encode, literals, read, tensors};
use super::{BackendError, Code, Result};
use crate::backend::Death;
use crate::backend::process::Process;
use hlo::Literal;
use pjrt::OptionValue;
use std::io::{BufReader, ErrorKind, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The time in which a process that closed its pipe has to end by itself, so that its status tells why.
const END_LIMIT: Duration = Duration::from_secs(2);
/// The message of a reply that does not belong to its request.
pub(super) const UNEXPECTED: &str = "the host of the plugin violates the protocol";

/// A process that started the plugin.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u64,
    process: Process,
    requests: Sender<Vec<u8>>,
    replies: Receiver<std::io::Result<Reply>>,
    /// The number of modules it has compiled.
    pub(super) modules: usize,
}

/// Why there is no reply, or not the one asked for.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The process died, or violated the protocol: how, and a message.
    Died(Death, String),
    /// The process did not answer; the last lines of its stderr.
    TimedOut(String),
    /// The plugin has no result.
    Error(BackendError),
}

impl Connection {
    pub(super) fn open(host: &mut Command, number: u64) -> std::io::Result<Self> {
        host.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(host)?;
        let (requests, to_write) = channel::<Vec<u8>>();
        let (to_read, replies) = channel();
        // A thread writes, because a process that does not read would block the parent without end.
        if let Some(mut stdin) = process.child.stdin.take() {
            std::thread::spawn(move || {
                for message in to_write {
                    if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
                        break;
                    }
                }
            });
        }
        if let Some(stdout) = process.child.stdout.take() {
            std::thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                loop {
                    let reply = read(&mut stdout);
                    let is_last = reply.is_err();
                    if to_read.send(reply).is_err() || is_last {
                        break;
                    }
                }
            });
        }
        Ok(Self { number, process, requests, replies, modules: 0 })
    }
    /// Loads the plugin; returns the platform and the number of devices.
    pub(super) fn start(
        &mut self,
        path: String,
        options: Vec<(String, OptionValue)>,
        limit: Duration,
    ) -> Result<(String, usize), Trouble> {
        let reply = self.ask(&Request::Start { path, options }, limit)?;
        match reply {
            Reply::Started { platform, devices } => Ok((platform, devices)),
            Reply::Failed { message, .. } => {
                Err(Trouble::Error(Code::NotStarted { message }.into()))
            }
            Reply::Compiled | Reply::Results(_) => Err(unexpected("")),
        }
    }
    /// Compiles a module under a number.
    pub(super) fn compile(
        &mut self,
        number: u64,
        module: &Prepared,
        limit: Duration,
    ) -> Result<(), Trouble> {
        let program = module.program.clone();
        let reply = self.ask(&Request::Compile { number, program }, limit)?;
        let result = match reply {
            Reply::Compiled => Ok(()),
            Reply::Started { .. } | Reply::Results(_) | Reply::Failed { .. } => {
                Err(refused(reply, |message| Code::Rejected { message }))
            }
        };
        self.modules += usize::from(!matches!(result, Err(Trouble::Died(..))));
        result
    }
    /// Executes the module of a number; returns the leaves of the result of each device.
    pub(super) fn execute(
        &mut self,
        number: u64,
        arguments: &[Vec<Literal>],
        limit: Duration,
    ) -> Result<Vec<Vec<Literal>>, Trouble> {
        let arguments = tensors(arguments);
        let reply = self.ask(&Request::Execute { number, arguments }, limit)?;
        if let Reply::Results(results) = reply {
            return literals(&results).map_err(|e| unexpected(&format!(": {e}")));
        }
        Err(refused(reply, |message| Code::Failed { message }))
    }
    /// Returns the memory that the process holds; `None` where the system does not tell.
    pub(super) fn resident_bytes(&self) -> Option<usize> {
        let status = format!("/proc/{}/status", self.process.child.id());
        let status = std::fs::read_to_string(status).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: usize = kilobytes.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kilobytes.saturating_mul(1024))
    }
    /// Forgets a program. A process that has died needs not to.
    pub(super) fn release(&self, number: u64) {
        if let Ok(message) = encode(&Request::Release { number }) {
            let _ = self.requests.send(message);
        }
    }
    /// Sends a request and waits for its reply; without one, the process is killed.
    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Trouble> {
        let message = encode(request).map_err(|e| unexpected(&format!(": {e}")))?;
        // If the process has died, its reply tells.
        let _ = self.requests.send(message);
        match self.replies.recv_timeout(limit) {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                self.process.kill();
                Err(unexpected(&format!(": {error}{}", self.process.stderr())))
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                let ended = self.process.wait(END_LIMIT);
                self.process.kill();
                let stderr = self.process.stderr();
                let death = match ended {
                    // The status would be that of the signal above.
                    Ok(None) => Death::other("it closed its output", &stderr),
                    ended => Death::ended(ended.ok().flatten(), &stderr),
                };
                let (how, hint) = (&death.how, death.hint());
                let message = format!("the process of the plugin died: {how}{hint}{stderr}");
                Err(Trouble::Died(death, message))
            }
            Err(RecvTimeoutError::Timeout) => {
                self.process.kill();
                Err(Trouble::TimedOut(self.process.stderr()))
            }
        }
    }
}

/// Returns the error of a reply without the result that was asked for.
fn refused(reply: Reply, other: impl FnOnce(String) -> Code) -> Trouble {
    match reply {
        Reply::Failed { unsupported: true, message } => {
            Trouble::Error(Code::Unsupported { message }.into())
        }
        Reply::Failed { unsupported: false, message } => Trouble::Error(other(message).into()),
        Reply::Started { .. } | Reply::Compiled | Reply::Results(_) => unexpected(""),
    }
}

/// Returns the trouble with a reply that has no meaning.
fn unexpected(more: &str) -> Trouble {
    Trouble::Died(Death::other(UNEXPECTED, ""), format!("{UNEXPECTED}{more}"))
}
