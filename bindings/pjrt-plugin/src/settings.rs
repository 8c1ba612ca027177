//! Settings: options of the client, and variables of the environment.
use crate::callback::with_python_callbacks;
use crate::failure::{Failure, Result};
use interp::{CompileOptions, Engine, Hooks, RunOptions, Spill};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How programs are compiled and run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) compile: CompileOptions,
    pub(crate) run: RunOptions,
    pub(crate) device_count: usize,
    /// The folder that gets each program with its arguments and results.
    pub(crate) dump: Option<PathBuf>,
    /// The directory of large arrays, and the size from which they are large.
    spill: (Option<PathBuf>, usize),
}

/// The options. The variable of `engine` is `ETALON_ENGINE`, and so on; an option of the client takes precedence.
const NAMES: [&str; 11] = [
    "engine",
    "device_count",
    "check_nan",
    "fuel",
    "max_memory",
    "time_limit",
    "seed",
    "order",
    "spill",
    "spill_from",
    "dump",
];
/// The options by which a host names its processes, and what they are if there is one.
const ONE_PROCESS: [(&str, &str); 2] = [("node_id", "0"), ("num_nodes", "1")];
/// The most devices: as many threads may be started for a program.
const MOST_DEVICES: usize = 4096;

impl Settings {
    /// Reads the environment, then the options of the client.
    ///
    /// # Errors
    /// If an option is unknown or has no meaning.
    pub(crate) fn read(options: &[(String, String)]) -> Result<Self> {
        let mut settings = Self {
            compile: CompileOptions::default(),
            run: RunOptions::default().hooks(with_python_callbacks(Hooks::new())),
            device_count: 1,
            dump: None,
            spill: (None, Spill::DEFAULT),
        };
        for name in NAMES {
            let variable = format!("ETALON_{}", name.to_uppercase());
            if let Some(value) = std::env::var_os(&variable).filter(|value| !value.is_empty()) {
                let value = value.to_string_lossy();
                settings.set(name, &value).map_err(|message| {
                    Failure::invalid(format!("environment variable {variable}: {message}"))
                })?;
            }
        }
        let mut options = options.to_vec();
        options.sort();
        for (name, value) in &options {
            if let Some((_, only)) = ONE_PROCESS.iter().find(|(known, _)| known == name) {
                if value == only {
                    continue;
                }
                return Err(Failure::unimplemented(format!(
                    "option `{name}` of the client is {value}: several processes are not supported\n = help: one process has as many devices as ETALON_DEVICE_COUNT says; docs/mpi.md runs HLO on several"
                )));
            }
            if !NAMES.contains(&name.as_str()) {
                let known = NAMES.join(", ");
                let message = format!("unknown option `{name}`\n = help: the options are {known}");
                return Err(Failure::invalid(message));
            }
            settings.set(name, value).map_err(|message| {
                Failure::invalid(format!("option `{name}` of the client: {message}"))
            })?;
        }
        if let (Some(directory), least) = &settings.spill {
            let spill = Spill::open(directory, *least).map_err(|error| {
                let directory = directory.display();
                Failure::invalid(format!("option `spill` of the client, `{directory}`: {error}"))
            })?;
            settings.run.spill = Some(spill);
        }
        Ok(settings)
    }

    /// Returns whether a client may have this number of devices.
    pub(crate) fn may_have(count: usize) -> bool {
        (1..=MOST_DEVICES).contains(&count)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "engine" => {
                let mut engines = Engine::ALL.into_iter();
                let engine = engines.find(|engine| engine.name() == value);
                let found = || format!("found `{value}`, expected `exact`, `fast` or `reference`");
                self.compile.engine = engine.ok_or_else(found)?;
            }
            "device_count" => {
                let count = number::<usize>(value, "a number of devices")?;
                if !Self::may_have(count) {
                    return Err(format!("found {count}, expected 1 to {MOST_DEVICES}"));
                }
                self.device_count = count;
            }
            "check_nan" => self.run.check_nan = switch(value)?,
            "fuel" => self.run.fuel = Some(number(value, "a number of steps")?),
            "max_memory" => self.run.max_memory = Some(number(value, "a number of bytes")?),
            "time_limit" => {
                let seconds = number::<f64>(value, "a number of seconds")?;
                let limit = Duration::try_from_secs_f64(seconds);
                self.run.time_limit = Some(limit.map_err(|error| error.to_string())?);
            }
            "seed" => self.run.seed = number(value, "a number")?,
            "order" => self.run.order = Some(number(value, "a number")?),
            "spill" => self.spill.0 = Some(PathBuf::from(value)),
            "spill_from" => self.spill.1 = number(value, "a number of bytes")?,
            _ => self.dump = Some(PathBuf::from(value)),
        }
        Ok(())
    }
}

fn number<T: FromStr>(value: &str, expected: &str) -> Result<T, String> {
    value.trim().parse().map_err(|_| format!("found `{value}`, expected {expected}"))
}
fn switch(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" | "True" => Ok(true),
        "0" | "false" | "False" => Ok(false),
        _ => Err(format!("found `{value}`, expected `1` or `0`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Settings> {
        Settings::read(&[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn options_are_read_and_wrong_ones_are_refused() {
        let settings = read("engine", "reference").unwrap();
        assert_eq!(settings.compile.engine, Engine::Reference);
        assert_eq!(read("device_count", "8").unwrap().device_count, 8);
        assert!(read("check_nan", "1").unwrap().run.check_nan);
        assert!(read("num_nodes", "1").is_ok() && read("node_id", "0").is_ok());
        let directory = std::env::temp_dir();
        assert!(read("spill", &directory.to_string_lossy()).unwrap().run.spill.is_some());
        for (name, value, part) in [
            ("engine", "quick", "`engine` of the client: found `quick`"),
            ("device_count", "0", "expected 1 to"),
            ("time_limit", "-1", "time_limit"),
            ("spill", "no such directory", "`spill` of the client, `no such directory`: No such"),
            ("spill_from", "1G", "expected a number of bytes"),
            ("check_nan", "maybe", "expected `1` or `0`"),
            ("speed", "1", "the options are engine, device_count"),
            ("num_nodes", "2", "several processes are not supported"),
            ("node_id", "1", "several processes are not supported"),
        ] {
            let message = read(name, value).unwrap_err().message;
            assert!(message.contains(part), "{message}");
        }
    }
}
