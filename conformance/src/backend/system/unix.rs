//! Unix. What leaves its group is found where the system shows environments, as Linux does.
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, kill_process_group};
use std::fs::File;
use std::io::Result;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// A script for the shell: after the end of standard input, kills the group that its first line has,
/// if there is one, and the processes with `$2` in their environment, and removes the folder `$1`.
const WATCH: &str = r#"read -r group; read -r _; [ -n "$group" ] && kill -s KILL -- "-$group"
for file in $(grep -Fls -- "$2" /proc/[0-9]*/environ); do file=${file%/environ}; kill -s KILL "${file#/proc/}"; done
rm -rf -- "$1""#;

/// Makes a command the leader of a group of its own.
pub(in super::super) fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills the group of a leader, also when that has ended.
pub(in super::super) fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills the other processes that have a variable, `NAME=VALUE`, in their environment. They may
/// start more meanwhile.
pub(in super::super) fn kill_marked(variable: &str) {
    /// The most times that they are looked for.
    const TIMES: usize = 10;
    let (variable, own) = (variable.as_bytes(), getpid());
    for _ in 0..TIMES {
        let is_marked =
            |environment: &[u8]| environment.split(|&byte| byte == 0).any(|one| one == variable);
        let found = processes().filter(|(id, all)| *id != own && is_marked(all));
        let killed = found.filter(|&(id, _)| kill_process(id, Signal::KILL).is_ok());
        if killed.count() == 0 {
            break;
        }
    }
}

/// Returns the processes of this user and their environments, which are empty for those that have
/// ended.
fn processes() -> impl Iterator<Item = (Pid, Vec<u8>)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        Some((id, std::fs::read(entry.path().join("environ")).ok()?))
    })
}

/// Returns a command that reads the leader of a group and, at the end of its standard input, kills
/// the group and what has a variable, and removes a folder; none if the system has none.
#[expect(clippy::unnecessary_wraps, reason = "another system has none")]
pub(in super::super) fn watcher(folder: &Path, variable: &str) -> Option<Command> {
    let mut watcher = Command::new("sh");
    watcher.args(["-c", WATCH, "watch"]).arg(folder).arg(variable);
    watcher.process_group(0);
    Some(watcher)
}

/// Returns the pipes to the parent under other descriptors. Standard output then is stderr, and
/// standard input is empty.
pub(in super::super) fn private_streams() -> Result<(File, File)> {
    let private = |fd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
    let input = private(rustix::stdio::stdin())?;
    let output = private(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let file = |fd: OwnedFd| File::from(fd);
    Ok((file(input), file(output)))
}

/// Ends this process and its group, if it leads one, without the exit handlers of a library, which
/// may wait for its threads.
pub(in super::super) fn end_group() -> ! {
    if getpgrp() == getpid() {
        let _ = kill_process_group(getpid(), Signal::KILL);
    }
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}

/// Returns the name of the signal that ended a process, such as `SIGSEGV`. A shell returns 128 plus
/// the number of the signal that ended its command.
pub(in super::super) fn signal(status: ExitStatus) -> Option<String> {
    let of_shell = status.code().filter(|code| (129..=159).contains(code)).map(|code| code - 128);
    let signal = of_shell.map_or(status, ExitStatus::from_raw);
    let number = signal.signal()?;
    // "signal: 6 (SIGABRT) (core dumped)"
    let shown = signal.to_string();
    let name = shown.split(['(', ')']).nth(1).filter(|name| name.starts_with("SIG"));
    Some(name.map_or_else(|| format!("signal {number}"), str::to_owned))
}
