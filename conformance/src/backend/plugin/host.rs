//! The child: loads a plugin and answers requests from its standard input.
use super::is_unsupported;
use super::protocol::{Reply, Request, literals, read, tensors, write};
use pjrt::{Client, Executable};
use rustix::fd::OwnedFd;
use rustix::process::{Signal, getpgrp, getpid, kill_process, kill_process_group};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Result};
use std::sync::mpsc::{Receiver, channel};

/// Runs a plugin for a parent process, which talks to it through standard input and output; see
/// [`Plugin::isolated`](super::Plugin::isolated). What the plugin prints goes to stderr. The process ends with its parent,
/// which closes standard input, even if the plugin hangs.
///
/// # Errors
/// If the standard streams cannot be used.
pub fn serve() -> Result<()> {
    let (input, mut output) = private_streams()?;
    let requests = receive(input);
    let mut host = Host::default();
    for request in requests {
        if let Some(reply) = host.answer(request) {
            write(&mut output, &reply)?;
        }
    }
    end()
}

/// Returns the pipes to the parent under other descriptors. Standard output then is stderr, and standard input is empty.
fn private_streams() -> Result<(File, File)> {
    let private = |fd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
    let input = private(rustix::stdio::stdin())?;
    let output = private(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let file = |fd: OwnedFd| File::from(fd);
    Ok((file(input), file(output)))
}

/// Reads requests on a thread of its own, so that the end of the parent is noticed while the plugin is busy.
fn receive(input: File) -> Receiver<Request> {
    let (send, requests) = channel();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Ok(request) = read(&mut input) {
            if send.send(request).is_err() {
                break;
            }
        }
        end()
    });
    requests
}

/// Ends this process and what the plugin started, without the exit handlers of the plugin, which may wait for its threads.
fn end() -> ! {
    if getpgrp() == getpid() {
        let _ = kill_process_group(getpid(), Signal::KILL);
    }
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}

/// A client and its compiled programs.
#[derive(Default)]
struct Host {
    client: Option<Client>,
    programs: HashMap<u64, Executable>,
}

impl Host {
    fn answer(&mut self, request: Request) -> Option<Reply> {
        let reply = match request {
            Request::Start { path, options } => {
                let client =
                    pjrt::Plugin::load(path.as_ref()).and_then(|plugin| plugin.create(&options));
                client.map(|client| {
                    let (platform, devices) = (client.platform().to_owned(), client.devices());
                    self.client = Some(client);
                    Reply::Started { platform, devices }
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
