//! How a process died: two deaths of the same kind are the same failure of a backend.
use super::system;
use std::fmt;
use std::process::ExitStatus;

/// How the process of a backend died.
///
/// Equal values are the same failure, also of different modules: `line` has neither addresses nor
/// numbers but those of a line of source code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// The signal, such as `SIGSEGV`, or `exit code 7`, or what the process did instead of an
    /// answer.
    pub how: String,
    /// The line of stderr that tells the cause; none if the process wrote nothing.
    pub line: Option<String>,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some(line) => write!(f, "{}: {line}", self.how),
            None => f.write_str(&self.how),
        }
    }
}

impl Death {
    /// Returns the death of a process that ended, from its status and its last lines of stderr.
    pub(super) fn ended(status: Option<ExitStatus>, stderr: &str) -> Self {
        Self::other(&status.map_or_else(|| "unknown status".to_owned(), how), stderr)
    }
    /// Returns the death of a process that did something else, and was killed.
    pub(super) fn other(how: &str, stderr: &str) -> Self {
        Self { how: how.to_owned(), line: key_line(stderr) }
    }
    /// Returns what the death suggests, for a message.
    pub(super) fn hint(&self) -> &'static str {
        if self.how == "SIGKILL" { ", which the system sends when memory is short" } else { "" }
    }
}

/// Returns the name of the signal or the exit code.
fn how(status: ExitStatus) -> String {
    let code = || status.code().map(|code| format!("exit code {code}"));
    system::signal(status).or_else(code).unwrap_or_else(|| status.to_string())
}

/// Words of a line that tells why a process ended.
const CAUSES: [&str; 8] = [
    "Check failed",
    "LLVM ERROR",
    "Assertion",
    "terminate called",
    "what():",
    "panicked at",
    "Fatal",
    "FATAL",
];

/// Returns whether a line is one of XLA's log below the level of errors, such as
/// `I0000 00:00:1795392270.964364 ...`, or the line that comes before the first of them.
fn is_note(line: &str) -> bool {
    if line.starts_with("WARNING: All log messages before absl::InitializeLog()") {
        return true;
    }
    let digits = line.strip_prefix(['I', 'W']).and_then(|rest| rest.split_once(' '));
    digits
        .is_some_and(|(digits, _)| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the first line that tells a cause, or else the last one, without what changes with the
/// module or the run.
fn key_line(stderr: &str) -> Option<String> {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !is_note(line));
    let is_cause = |line: &&str| CAUSES.iter().any(|cause| line.contains(cause));
    let line = lines().find(is_cause).or_else(|| lines().next_back())?;
    // Which of its checks finds the damage depends on chance.
    let is_heap = HEAP.iter().any(|start| line.starts_with(start));
    Some(if is_heap { "the heap is damaged".to_owned() } else { stable_words(line) })
}

/// What the C library writes when it finds damage of the heap.
const HEAP: [&str; 9] = [
    "free():",
    "malloc():",
    "malloc_consolidate():",
    "realloc():",
    "munmap_chunk():",
    "double free or corruption",
    "corrupted ",
    "corruption of",
    "invalid fastbin entry",
];

/// Returns the words of a line without digits, and the places in source code, such as
/// `hlo_instruction.cc:1234`.
fn stable_words(line: &str) -> String {
    let stable = |word: &str| {
        let word = word.trim_matches(['[', ']', '(', ')', ',', ';']);
        let is_place = word.split_once(':').is_some_and(|(file, line)| {
            file.contains('.') && file.contains(|c: char| c.is_alphabetic()) && !line.contains("0x")
        });
        let is_word = word.contains(|c: char| c.is_alphabetic())
            && !word.contains(|c: char| c.is_ascii_digit());
        (is_place || is_word).then(|| word.rsplit('/').next().unwrap_or(word).to_owned())
    };
    line.split_whitespace().filter_map(stable).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn signals_and_codes_have_names() {
        use std::os::unix::process::ExitStatusExt as _;
        let of = |raw| Death::ended(Some(ExitStatus::from_raw(raw)), "").to_string();
        // The high byte is the exit code, the low one the signal; 0x80 says that a core was dumped.
        assert_eq!([of(11), of(6 | 0x80), of(9)], ["SIGSEGV", "SIGABRT", "SIGKILL"]);
        assert_eq!([of(7 << 8), of(139 << 8)], ["exit code 7", "SIGSEGV"]);
        assert_eq!(Death::ended(None, "").to_string(), "unknown status");
    }

    #[test]
    fn a_check_is_known_by_its_place() {
        let line = |stderr: &str| Death::ended(None, stderr).line;
        let check = |time: &str, line: u32, value: u32| {
            format!(
                "\n  F0000 00:00:{time} 77 xla/hlo_instruction.cc:{line}] Check failed: rank == {value} (3 vs. {value})\n  *** Check failure stack trace: ***"
            )
        };
        let (one, other) = (line(&check("1.5", 12, 4)), line(&check("2.5", 12, 5)));
        assert_eq!(one.as_deref(), Some("hlo_instruction.cc:12 Check failed: rank vs."));
        assert_eq!(one, other);
        assert_ne!(one, line(&check("1.5", 13, 4)));
        assert_eq!(
            line("\n  loading\n  at 0x7fff12 bad operand"),
            Some("at bad operand".to_owned())
        );
        let first = "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR";
        assert_eq!(line(&format!("{first}\nI0000 00:00:17.3 20961 client.cc:74] set: 8")), None);
        for heap in ["  free(): invalid next size (fast)", "double free or corruption (out)"] {
            assert_eq!(line(heap).as_deref(), Some("the heap is damaged"));
        }
        assert_eq!(line("I0000 00:00:17.3 20961 client.cc:74] cpu_device_count set: 8"), None);
    }
}
