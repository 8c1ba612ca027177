//! A process that runs a plugin, and the messages to and from it.
use super::hello::PluginHello;
use super::module::Prepared;
use super::protocol::{Reply, Request};
use super::{Code, Result};
use crate::backend::Death;
use crate::backend::channel::Channel;
use crate::backend::message::{literals, tensors};
use crate::backend::parent::{Peer, PeerModule, Trouble};
use hlo::Literal;
use pjrt::OptionValue;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The message of a reply that does not belong to its request.
pub(super) const UNEXPECTED: &str = "the host of the plugin violates the protocol";

/// What starts the plugin in a process.
#[derive(Debug)]
pub(super) struct HostStart {
    pub(super) path: String,
    pub(super) host: Command,
    pub(super) options: Vec<(String, OptionValue)>,
}

/// A process that started the plugin.
#[derive(Debug)]
pub(super) struct Connection {
    channel: Channel<Reply>,
}

impl PeerModule for Prepared {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Peer for Connection {
    type Start = HostStart;
    type Hello = PluginHello;
    type Module = Prepared;

    fn name(start: &HostStart) -> String {
        format!("the plugin {}", start.path)
    }
    fn open(start: &mut HostStart) -> std::io::Result<Self> {
        let channel = Channel::open(start.host.stderr(Stdio::piped()))?;
        Ok(Self { channel })
    }
    fn hello(&mut self, start: &HostStart, limit: Duration) -> Result<Self::Hello, Trouble> {
        let (path, options) = (start.path.clone(), start.options.clone());
        match self.ask(&Request::Start { path, options }, limit)? {
            Reply::Started(hello) => Ok(hello),
            Reply::Failed { message, .. } => {
                Err(Trouble::Error(Code::NotStarted { message }.into()))
            }
            Reply::Compiled | Reply::Results(_) => Err(unexpected("")),
        }
    }
    fn compile(&mut self, number: u64, module: &Prepared, limit: Duration) -> Result<(), Trouble> {
        let program = module.program.clone();
        match self.ask(&Request::Compile { number, program }, limit)? {
            Reply::Compiled => Ok(()),
            reply @ (Reply::Started(_) | Reply::Results(_) | Reply::Failed { .. }) => {
                Err(refused(reply, |message| Code::Rejected { message }))
            }
        }
    }
    fn execute(
        &mut self,
        number: u64,
        module: &Prepared,
        arguments: &[Vec<Literal>],
        limit: Duration,
    ) -> Result<Vec<Literal>, Trouble> {
        let arguments = tensors(&module.arguments(arguments).map_err(Trouble::Error)?);
        let reply = self.ask(&Request::Execute { number, arguments }, limit)?;
        if let Reply::Results(results) = reply {
            let leaves = literals(&results).map_err(|e| unexpected(&format!(": {e}")))?;
            return module.results(leaves).map_err(Trouble::Error);
        }
        Err(refused(reply, |message| Code::Failed { message }))
    }
    fn resident_bytes(&self) -> Option<usize> {
        self.channel.resident_bytes()
    }
    fn release(&self, number: u64) {
        self.channel.send(&Request::Release { number });
    }
}

impl Connection {
    /// Sends a request and waits for its reply; without one, the process is killed.
    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Trouble> {
        let reply = self.channel.ask(request, Some(limit));
        reply.map_err(|no_reply| Trouble::of(no_reply, "the process of the plugin", UNEXPECTED))
    }
}

/// Returns the error of a reply without the result that was asked for.
fn refused(reply: Reply, other: impl FnOnce(String) -> Code) -> Trouble {
    match reply {
        Reply::Failed { unsupported: true, message } => {
            Trouble::Error(Code::Unsupported { message }.into())
        }
        Reply::Failed { unsupported: false, message } => Trouble::Error(other(message).into()),
        Reply::Started(_) | Reply::Compiled | Reply::Results(_) => unexpected(""),
    }
}

/// Returns the trouble with a reply that has no meaning.
fn unexpected(more: &str) -> Trouble {
    Trouble::Died(Death::other(UNEXPECTED, ""), format!("{UNEXPECTED}{more}"))
}
