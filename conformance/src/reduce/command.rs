//! The predicate of a command: exit code 0 says that a candidate is interesting.
use super::{Candidate, Interest};
use crate::backend::{BackendError, Code, shell, write_arguments};
use hlo::text::Style;
use std::time::Duration;

/// A shell command such as `./still-wrong {hlo} {in.npz}`, run once for each candidate. Exit code
/// 0: the candidate is interesting; any other, or no end within the time limit: it is not.
///
/// `{hlo}` is replaced by the path of the module's text, `{in.npz}` by that of the arguments `in0`,
/// `in1`, ... with tuples flattened, for several devices `d<k>_in<i>`.
///
/// ```
/// use conformance::reduce::{Candidate, CommandPredicate, Interest};
/// use std::time::Duration;
/// let module = hlo::Module::parse("HloModule m\nENTRY e { ROOT c = s32[] constant(1) }")?.verify()?;
/// let command = CommandPredicate::new("grep -q constant {hlo}", Duration::from_secs(10))?;
/// let candidate = Candidate { module: module.into(), arguments: vec![vec![]] };
/// assert_eq!(command.interest(&candidate)?, Interest::Interesting);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CommandPredicate {
    command: String,
    time_limit: Duration,
}

impl CommandPredicate {
    /// Returns the predicate of a command, which may take as long as `time_limit`.
    ///
    /// # Errors
    /// `E0706` if the command does not name the module.
    pub fn new(command: &str, time_limit: Duration) -> Result<Self, BackendError> {
        if command.contains("{hlo}") {
            return Ok(Self { command: command.to_owned(), time_limit });
        }
        let message = "the command has no `{hlo}`".to_owned();
        let error = BackendError::from(Code::NotStarted { message });
        Err(error.with_help("write it as 'CMD {hlo}' or 'CMD {hlo} {in.npz}'"))
    }
    /// Runs the command on a candidate.
    ///
    /// # Errors
    /// `E0706` if its files cannot be written, or there is no shell.
    pub fn interest(&self, candidate: &Candidate) -> Result<Interest, BackendError> {
        let Candidate { module, arguments } = candidate;
        let failed = |message: String| BackendError::from(Code::NotStarted { message });
        let folder = tempfile::tempdir().map_err(|e| failed(e.to_string()))?;
        let [hlo, input] = ["module.hlo", "in.npz"].map(|name| folder.path().join(name));
        std::fs::write(&hlo, module.module().print(Style::Short))
            .map_err(|e| failed(e.to_string()))?;
        write_arguments(&input, arguments).map_err(failed)?;
        let files: [(&str, &std::path::Path); 2] = [("{hlo}", &hlo), ("{in.npz}", &input)];
        let mut process = shell(&self.command, &files, folder.path())?;
        let status = process.wait(self.time_limit).map_err(|e| failed(e.to_string()))?;
        process.kill();
        Ok(Interest::from(status.is_some_and(|status| status.success())))
    }
}
