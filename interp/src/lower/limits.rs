//! Limits of memory and time while a module is compiled.
use crate::Result;
use crate::options::CompileOptions;
use num::error::{out_of_time, over_memory_limit};
use std::time::{Duration, Instant};

/// Any compiled form may take this many bytes: limits below it are those of arrays.
const LEAST: usize = 1 << 20;

/// The limits of a compilation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CompileLimits {
    max_memory: Option<usize>,
    time_limit: Option<(Duration, Instant)>,
}

impl CompileLimits {
    /// Returns the limits that options state.
    pub(crate) fn of(options: &CompileOptions) -> Self {
        let max_memory = options.max_memory.map(|limit| limit.max(LEAST));
        Self { max_memory, time_limit: options.time_limit }
    }
    /// Fails if the compiled form has more bytes than are allowed, or if the time is over.
    pub(super) fn check(&self, bytes: usize) -> Result<()> {
        if let Some(limit) = self.max_memory.filter(|&limit| bytes > limit) {
            let message = format!(
                "the compiled form of the module takes {bytes} bytes and more, and {limit} bytes are allowed"
            );
            return Err(over_memory_limit(message));
        }
        match self.time_limit {
            Some((limit, begin)) if begin.elapsed() >= limit => Err(out_of_time(limit)),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable, RunOptions};
    use std::fmt::Write as _;
    use std::time::Duration;

    /// Compiles `count` additions of scalars, each of the one before.
    fn compile(count: usize, run: &RunOptions) -> crate::Result<Executable> {
        let mut text = "ENTRY e { v0 = f32[] parameter(0)".to_owned();
        for i in 1..=count {
            let _ = write!(text, " v{i} = f32[] add(v{}, v0)", i - 1);
        }
        let verified = hlo::Module::parse(&format!("{text} }}")).unwrap().verify().unwrap();
        Executable::compile(verified, &CompileOptions::default().limits_of(run))
    }

    #[test]
    fn an_instruction_takes_a_few_hundred_bytes() {
        let limit = |bytes| RunOptions::default().max_memory(bytes);
        assert!(compile(20_000, &limit(20_000 * 800)).is_ok());
        let error = compile(20_000, &limit(20_000 * 100)).unwrap_err();
        assert_eq!(error.number(), "E0405");
        assert!(error.to_string().contains("and 2000000 bytes are allowed"), "{error}");
    }
    #[test]
    fn the_time_of_a_compilation_is_limited() {
        let error = compile(10, &RunOptions::default().time_limit(Duration::ZERO)).unwrap_err();
        assert_eq!(error.number(), "E0412");
    }
}
