//! A child process that answers requests.
use super::Death;
use super::message::Wire;
use super::process::{Process, start_thread};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufReader, ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The time in which a process that closed its pipe has to end by itself, so that its status tells
/// why.
const END_LIMIT: Duration = Duration::from_secs(2);
/// The wait for a request without a limit.
const LONGEST: Duration = Duration::from_secs(1 << 31);
/// The time after which it is checked whether a process without a reply lives, and whether the run
/// that waits for it is over.
const PAUSE: Duration = Duration::from_millis(100);

/// A process that calls [`answer`](super::child::answer), and the pipes to and from it.
#[derive(Debug)]
pub(crate) struct Channel<R> {
    process: Process,
    wire: Wire,
    requests: Sender<Vec<u8>>,
    replies: Receiver<std::io::Result<R>>,
}

/// Why there is no reply. The process is dead.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// It died; the last lines of its stderr, if that is a pipe.
    Died { death: Death, stderr: String },
    /// It wrote something that is no message.
    Unexpected(String),
    /// It did not answer within the limit, or until the run was over; the last lines of its stderr.
    TimedOut(String),
}

impl<R: DeserializeOwned + Send + 'static> Channel<R> {
    /// Starts the process.
    pub(crate) fn open(command: &mut Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self::of(Process::start_with(command)?, Wire::Binary)
    }
    /// Starts a process that answers in lines of JSON. If this process dies, it is killed and its
    /// folder removed.
    pub(crate) fn open_json(command: &mut Command, folder: &Path) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self::of(Process::start_in(command, folder)?, Wire::Json)
    }
    fn of(mut process: Process, wire: Wire) -> std::io::Result<Self> {
        let (requests, to_write) = channel::<Vec<u8>>();
        let (to_read, replies) = channel();
        // A thread writes, because a process that does not read would block the parent without end.
        if let Some(mut stdin) = process.child.stdin.take() {
            let write = move || {
                for message in to_write {
                    if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
                        break;
                    }
                }
            };
            start_thread(write)?;
        }
        if let Some(stdout) = process.child.stdout.take() {
            let read = move || {
                let mut stdout = BufReader::new(stdout);
                loop {
                    let reply = wire.read(&mut stdout);
                    let is_last = reply.is_err();
                    if to_read.send(reply).is_err() || is_last {
                        break;
                    }
                }
            };
            start_thread(read)?;
        }
        Ok(Self { process, wire, requests, replies })
    }
    /// Sends a request that has no reply.
    pub(crate) fn send(&self, request: &impl Serialize) {
        if let Ok(message) = self.wire.encode(request) {
            let _ = self.requests.send(message);
        }
    }
    /// Sends a request and waits for its reply; without one, the process is killed.
    pub(crate) fn ask(
        &mut self,
        request: &impl Serialize,
        limit: Option<Duration>,
    ) -> Result<R, NoReply> {
        let message = self.wire.encode(request).map_err(|e| NoReply::Unexpected(e.to_string()))?;
        // If the process has died, its reply tells.
        let _ = self.requests.send(message);
        match self.receive(limit.unwrap_or(LONGEST).min(LONGEST)) {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                self.process.kill();
                Err(NoReply::Unexpected(format!("{error}{}", self.process.stderr())))
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
                Err(NoReply::Died { death, stderr })
            }
            Err(RecvTimeoutError::Timeout) => {
                self.process.kill();
                Err(NoReply::TimedOut(self.process.stderr()))
            }
        }
    }
    /// Waits for a reply. A process may have ended while others that it started hold its pipe open.
    fn receive(&mut self, limit: Duration) -> Result<std::io::Result<R>, RecvTimeoutError> {
        let end = Instant::now() + limit;
        let mut has_ended = false;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left.min(PAUSE)) {
                Err(RecvTimeoutError::Timeout) if has_ended => {
                    return Err(RecvTimeoutError::Disconnected);
                }
                Err(RecvTimeoutError::Timeout) if left > PAUSE && !interp::is_run_over() => {
                    has_ended = matches!(self.process.wait(Duration::ZERO), Ok(Some(_)));
                }
                other => return other,
            }
        }
    }
    /// Returns the memory that the process holds; `None` where the system does not tell.
    pub(crate) fn resident_bytes(&self) -> Option<usize> {
        let status = format!("/proc/{}/status", self.process.child.id());
        let status = std::fs::read_to_string(status).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: usize = kilobytes.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kilobytes.saturating_mul(1024))
    }
}
