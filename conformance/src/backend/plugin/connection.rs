//! A process that runs a plugin, and the messages to and from it.
use super::module::Prepared;
use super::protocol::{Reply, Request, encode, literals, read, tensors};
use super::{BackendError, Code, Result};
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
    /// The process died, or violated the protocol.
    Died(String),
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
            Reply::Compiled | Reply::Results(_) => Err(Trouble::Died(UNEXPECTED.to_owned())),
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
        self.modules += usize::from(!matches!(result, Err(Trouble::Died(_))));
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
            return literals(&results).map_err(|e| Trouble::Died(format!("{UNEXPECTED}: {e}")));
        }
        Err(refused(reply, |message| Code::Failed { message }))
    }
    /// Forgets a program. A process that has died needs not to.
    pub(super) fn release(&self, number: u64) {
        if let Ok(message) = encode(&Request::Release { number }) {
            let _ = self.requests.send(message);
        }
    }
    /// Sends a request and waits for its reply; without one, the process is killed.
    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Trouble> {
        let message = encode(request).map_err(|e| Trouble::Died(e.to_string()))?;
        // If the process has died, its reply tells.
        let _ = self.requests.send(message);
        match self.replies.recv_timeout(limit) {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                self.process.kill();
                Err(Trouble::Died(format!("{UNEXPECTED}: {error}{}", self.process.stderr())))
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                let ended = self.process.wait(END_LIMIT);
                let status = self.process.kill();
                let status = ended.ok().flatten().or(status);
                let status = status.map_or_else(|| "unknown status".to_owned(), |s| s.to_string());
                let stderr = self.process.stderr();
                Err(Trouble::Died(format!("the process of the plugin died: {status}{stderr}")))
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
        Reply::Started { .. } | Reply::Compiled | Reply::Results(_) => {
            Trouble::Died(UNEXPECTED.to_owned())
        }
    }
}
