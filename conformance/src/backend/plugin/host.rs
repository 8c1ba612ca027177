//! The child: loads a plugin and answers requests from its standard input.
use super::hello::PluginHello;
use super::is_unsupported;
use super::protocol::{Reply, Request};
use crate::backend::child::answer;
use crate::backend::message::{literals, tensors};
use pjrt::{Client, Executable};
use std::collections::HashMap;
use std::io::Result;

/// Runs a plugin for a parent process, which talks to it through standard input and output; see
/// [`Plugin::isolated`](super::Plugin::isolated). What the plugin prints goes to stderr. The
/// process ends with its parent, which closes standard input, even if the plugin hangs.
///
/// # Errors
/// If the standard streams cannot be used.
pub fn serve() -> Result<()> {
    let mut host = PluginHost::default();
    answer(|request| host.answer(request))
}

/// A client and its compiled programs.
#[derive(Default)]
struct PluginHost {
    client: Option<Client>,
    programs: HashMap<u64, Executable>,
}

impl PluginHost {
    fn answer(&mut self, request: Request) -> Option<Reply> {
        let reply = match request {
            Request::Start { path, options } => {
                PluginHello::load(path.as_ref(), &options).map(|(client, hello)| {
                    self.client = Some(client);
                    Reply::Started(hello)
                })
            }
            Request::Compile { number, program } => {
                let client = self.client.as_ref().ok_or_else(|| unknown("client"));
                client.and_then(|client| client.compile(&program)).map(|executable| {
                    self.programs.insert(number, executable);
                    Reply::Compiled
                })
            }
            Request::Execute { number, arguments } => {
                let program = self.programs.get(&number).ok_or_else(|| unknown("program"));
                program.and_then(|program| {
                    let arguments =
                        literals(&arguments).map_err(|e| pjrt::Error::Arguments(e.to_string()))?;
                    Ok(Reply::Results(tensors(&program.execute(&arguments)?)))
                })
            }
            Request::Release { number } => {
                self.programs.remove(&number);
                return None;
            }
        };
        Some(reply.unwrap_or_else(|error| Reply::Failed {
            unsupported: is_unsupported(&error),
            message: error.to_string(),
        }))
    }
}

fn unknown(what: &str) -> pjrt::Error {
    pjrt::Error::Arguments(format!("the host has no such {what}"))
}
