//! A process that runs a plugin, and the messages to and from it.
use super::module::Prepared;
use super::protocol::{Reply, Request};
use super::{BackendError, Code, Result};
use crate::backend::Death;
use crate::backend::channel::{Channel, NoReply};
use crate::backend::message::{literals, tensors};
use hlo::Literal;
use pjrt::OptionValue;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The message of a reply that does not belong to its request.
pub(super) const UNEXPECTED: &str = "the host of the plugin violates the protocol";

/// A process that started the plugin.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u64,
    channel: Channel<Reply>,
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
        let channel = Channel::open(host.stderr(Stdio::piped()))?;
        Ok(Self { number, channel, modules: 0 })
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
        self.channel.resident_bytes()
    }
    /// Forgets a program. A process that has died needs not to.
    pub(super) fn release(&self, number: u64) {
        self.channel.send(&Request::Release { number });
    }
    /// Sends a request and waits for its reply; without one, the process is killed.
    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Trouble> {
        self.channel.ask(request, Some(limit)).map_err(|trouble| match trouble {
            NoReply::Died { death, stderr } => {
                let (how, hint) = (&death.how, death.hint());
                let message = format!("the process of the plugin died: {how}{hint}{stderr}");
                Trouble::Died(death, message)
            }
            NoReply::Unexpected(message) => unexpected(&format!(": {message}")),
            NoReply::TimedOut(stderr) => Trouble::TimedOut(stderr),
        })
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
