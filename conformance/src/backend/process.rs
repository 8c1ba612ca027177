//! Processes that are killed with everything they started, and the last lines they wrote to stderr.
use super::system;
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of lines of stderr that are kept.
const LINES: usize = 12;
/// The longest line that is kept.
const LINE_BYTES: u64 = 400;
/// A process in a group of its own. Dropping it kills the group, and what left it, as `setsid`
/// does.
#[derive(Debug)]
pub(crate) struct Process {
    pub(super) child: Child,
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Disconnected when stderr is closed.
    stderr_closed: Receiver<()>,
    status: Option<ExitStatus>,
    watcher: Option<Child>,
    mark: Mark,
}

/// What launchers of MPI tell each rank: Open MPI; MPICH and Intel MPI.
const OF_RANKS: [&str; 7] = [
    "OMPI_COMM_WORLD_",
    "OMPI_UNIVERSE_",
    "OMPI_MCA_ess",
    "OMPI_MCA_orte_",
    "OMPI_MCA_pmix",
    "PMIX_",
    "PMI_",
];

/// A process that a rank starts is no rank: it would take part in the place of that.
fn leave_ranks(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OF_RANKS.iter().any(|start| text.starts_with(start)) {
            command.env_remove(&name);
        }
    }
}

/// Starts a thread; the error says what the system refuses.
pub(super) fn start_thread<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().spawn(run);
    thread.map(drop).map_err(|error| {
        std::io::Error::new(error.kind(), format!("the system starts no thread: {error}"))
    })
}

/// Ends a watcher before it acts.
fn end(watcher: Option<Child>) {
    if let Some(mut watcher) = watcher {
        let _ = watcher.kill();
        let _ = watcher.wait();
    }
}

impl Process {
    /// Starts a command, whose stderr is read; if this process dies, by Ctrl-C or any other signal, the command is
    /// killed and its folder removed.
    ///
    /// A second process watches a pipe that closes when this one ends: a handler of signals would
    /// not see `SIGKILL`.
    pub(crate) fn start_in(command: &mut Command, folder: &Path) -> std::io::Result<Self> {
        let mark = Mark::new();
        // It starts first: this process may die at any time.
        let mut watcher = system::watcher(folder, &mark.variable())
            .map(|mut watcher| {
                // It outlives this process, also if another one kills what has its own mark.
                watcher.env_remove(MARK);
                watcher.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            })
            .transpose()?;
        let mut process = match Self::start_marked(command.stderr(Stdio::piped()), mark) {
            Ok(process) => process,
            Err(error) => {
                end(watcher);
                return Err(error);
            }
        };
        if let Some(input) = watcher.as_mut().and_then(|watcher| watcher.stdin.as_mut()) {
            // Without the leader it finds the processes by their mark.
            let _ = writeln!(input, "{}", process.child.id());
        }
        process.watcher = watcher;
        Ok(process)
    }
    /// Starts a command; its stderr is read if it is a pipe.
    pub(super) fn start_with(command: &mut Command) -> std::io::Result<Self> {
        Self::start_marked(command, Mark::new())
    }
    fn start_marked(command: &mut Command, mark: Mark) -> std::io::Result<Self> {
        system::own_group(command);
        leave_ranks(command);
        let mut child = command.env(MARK, &mark.0).spawn().map_err(|error| {
            let program = command.get_program().display();
            std::io::Error::new(error.kind(), format!("`{program}` cannot be started: {error}"))
        })?;
        let stderr = child.stderr.take();
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let (open, stderr_closed) = channel();
        // Dropped after an error, it is killed.
        let lines_read = Arc::clone(&lines);
        let process = Self { child, lines, stderr_closed, status: None, watcher: None, mark };
        if let Some(stderr) = stderr {
            let read = move || {
                let _open = open;
                keep_last_lines(stderr, &lines_read);
            };
            start_thread(read)?;
        }
        Ok(process)
    }
    /// Waits for the end of the process; `None` if it runs longer than the limit.
    pub(crate) fn wait(&mut self, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
        let end = Instant::now() + limit;
        let mut pause = Duration::from_millis(1);
        while self.status.is_none() {
            self.status = self.child.try_wait()?;
            if self.status.is_none() && Instant::now() >= end {
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Ok(self.status)
    }
    /// Kills the process and everything it started. Returns how the process ended, and `None` if
    /// that is not known.
    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        end(self.watcher.take());
        // A process may leave its group.
        let _ = self.child.kill();
        system::kill_group(self.child.id());
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
        self.mark.kill();
        self.status
    }
    /// Returns the last lines of stderr of a process that has ended, each on a line of its own.
    pub(crate) fn stderr(&self) -> String {
        // A process outside of the group may hold the pipe open.
        let _ = self.stderr_closed.recv_timeout(Duration::from_millis(500));
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().flat_map(|line| ["\n  ", line]).collect()
    }
}

/// The variable of the environment that the processes of a command have in common, whatever group
/// or parent they have.
const MARK: &str = "ETALON_STARTED";

/// A value of the variable that no other command has.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    fn new() -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}-", std::process::id()))
    }
    /// Returns that of this process, if another one started it so.
    pub(super) fn of_this_process() -> Option<Self> {
        std::env::var(MARK).ok().map(Self)
    }
    fn variable(&self) -> String {
        format!("{MARK}={}", self.0)
    }
    /// Kills the other processes that have it, where the system shows environments.
    pub(super) fn kill(&self) {
        system::kill_marked(&self.variable());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn keep_last_lines(stderr: ChildStderr, lines: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        let read = stderr.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
        // The rest of a long line is not kept: it may have no end.
        let is_whole = line.ends_with(b"\n");
        if !matches!(read, Ok(1..)) || !is_whole && stderr.skip_until(b'\n').is_err() {
            return;
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        // The frames of a stack trace have addresses only, and would displace the message before
        // them.
        if line.trim_start().starts_with("@ ") {
            continue;
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}
