//! The commands that compare a backend with Etalon: `conform`, `blame`, `fuzz`, `reduce`.
use super::shared::{EngineArg, InputArgs, LimitArgs, LoadArgs, bytes, seconds};
use super::words::{self, Known, number};
use clap::{ArgGroup, Args};
use conformance::backend::{OptionValue, PluginFormat};
use conformance::judge::{JudgeOptions, Mode, Modes};
use conformance::metamorphic::TwinRule;
use conformance::results::Shard;
use conformance::shell_quoted;
use conformance::suite::Extent;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// A backend and its options.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Backend")]
pub(crate) struct BackendArgs {
    /// The backend: an engine of Etalon, or the path of a PJRT plugin, which runs in a process of its own. `planted:OP`, such as
    /// `planted:exp`, is the engine `exact` with wrong results of one op, to see what a report looks like. `variant:SEED`, such as
    /// `variant:1`, is the engine `exact` with other results that are as right, to see that no report accuses it.
    #[arg(long, value_name = "reference|exact|fast|planted:OP|variant:SEED|PLUGIN.so", value_parser = Known::of(words::text, words::backends))]
    #[arg(hide_possible_values = true)]
    pub(crate) backend: Option<String>,
    /// A shell command as the backend. It reads the module's text and the arguments `in0`, `in1`, ..., and writes the result
    /// `out0`, `out1`, ..., for several devices `d<k>_in<i>` and `d<k>_out<i>`.
    #[arg(long, value_name = "CMD {hlo} {in.npz} {out.npz}", conflicts_with = "backend")]
    pub(crate) backend_command: Option<String>,
    /// A shell command as the backend that stays alive: it compiles a module once and executes it often, as lines of JSON on its
    /// standard input ask (docs/backends.md). It is started again if it dies.
    #[arg(long, value_name = "CMD", conflicts_with_all = ["backend", "backend_command"])]
    pub(crate) backend_server: Option<String>,
    /// The format in which a plugin gets modules: `HloModuleProto`, or portable bytecode of StableHLO. `auto` is the first that it
    /// takes a module of one op in.
    #[arg(long, value_enum, default_value_t = PluginFormatArg::Auto)]
    pub(crate) format: PluginFormatArg,
    /// An option of the plugin's client, such as `cpu_device_count=8` or `visible_devices=0,1`; repeatable. The type is that of
    /// VALUE, unless it is stated, as in `fraction:float=1`: int, ints, bool, float or text.
    #[arg(long, value_name = "NAME[:TYPE]=VALUE", value_parser = OptionValue::parse_named)]
    pub(crate) option: Vec<(String, OptionValue)>,
    /// An option of XLA for the plugin, such as `xla_backend_optimization_level=0`; repeatable.
    #[arg(long, value_name = "NAME[:TYPE]=VALUE", value_parser = OptionValue::parse_named)]
    pub(crate) xla_option: Vec<(String, OptionValue)>,
    /// The most seconds for loading a plugin, and for one compilation or one execution of the backend: 60 by default for a plugin or a command, no limit
    /// for an engine of Etalon. `conform` limits also the engine that the backend is compared with, if the option is given.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<Duration>,
    /// Work with N backends side by side, each in a process of its own, or in a thread if it is an engine of Etalon. The output is
    /// that of one.
    #[arg(long, value_name = "N", default_value = "1", value_parser = jobs)]
    pub(crate) jobs: NonZero<usize>,
    #[command(flatten)]
    pub(crate) judgement: JudgementArgs,
    /// Report a result that changes from one execution to the next, though each is legal.
    #[arg(long, help_heading = JUDGING)]
    pub(crate) deterministic: bool,
}

/// The heading of the options that say what a right result is.
const JUDGING: &str = "Judgement";

/// What a right result is.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgementArgs {
    /// Accept only what every specification leaves open: the order of sums, and the accuracy of functions. `passes` then counts
    /// algebra with other rounding errors as wrong.
    #[arg(long, help_heading = JUDGING)]
    pub(crate) strict: bool,
    /// As --strict, and accept these modes, separated by commas, such as `tf32,flush`; repeatable. `etalon explain modes` lists them.
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = Known::of(mode, words::modes), help_heading = JUDGING)]
    #[arg(hide_possible_values = true)]
    pub(crate) allow: Vec<Mode>,
    /// Accept functions that are as inaccurate as this JSON file states, in units in the last place of an op, or of an op and a type:
    /// `{"tanh": 4, "exponential.f16": 2}`.
    #[arg(long, value_name = "FILE", help_heading = JUDGING)]
    pub(crate) accuracies: Option<PathBuf>,
}

impl JudgementArgs {
    /// Returns the modes of the command line, if it says any.
    pub(crate) fn modes(&self) -> Option<Modes> {
        let modes = || self.allow.iter().fold(Modes::STRICT, |modes, &mode| modes.with(mode));
        (self.strict || !self.allow.is_empty()).then(modes)
    }
}

/// The options of which each names a backend.
pub(super) const BACKENDS: [&str; 3] = ["backend", "backend_command", "backend_server"];

/// Returns a group of arguments of which at least one is given: each of them is named if none is.
pub(super) fn needed<const N: usize>(
    name: &'static str,
    first: [&'static str; N],
    others: &[&'static str],
) -> ArgGroup {
    ArgGroup::new(name).required(true).multiple(true).args(first).args(others)
}

impl BackendArgs {
    /// Returns whether there is a backend.
    pub(crate) fn is_named(&self) -> bool {
        [&self.backend, &self.backend_command, &self.backend_server].iter().any(|b| b.is_some())
    }
    /// Returns an option that says something of a backend, if there is one.
    pub(crate) fn of_a_backend(&self) -> Option<&'static str> {
        let Self { format, option, xla_option, time_limit, jobs, .. } = self;
        let JudgementArgs { allow, accuracies, .. } = &self.judgement;
        let given = [
            ("--format", *format != PluginFormatArg::Auto),
            ("--option", !option.is_empty()),
            ("--xla-option", !xla_option.is_empty()),
            ("--time-limit", time_limit.is_some()),
            ("--jobs", jobs.get() > 1),
            ("--allow", !allow.is_empty()),
            ("--accuracies", accuracies.is_some()),
            ("--deterministic", self.deterministic),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
    /// Returns how a backend is judged that states this of itself.
    pub(crate) fn judging(&self, stated: JudgeOptions) -> JudgeOptions {
        let mut options = stated;
        options.modes = self.judgement.modes().unwrap_or(options.modes);
        options.deterministic |= self.deterministic;
        options
    }
    /// Returns the options of the command line that name the backend and say how it is judged.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add =
            |option: &str, value: &str| words.extend([option.to_owned(), shell_quoted(value)]);
        for (option, value) in [
            ("--backend", &self.backend),
            ("--backend-command", &self.backend_command),
            ("--backend-server", &self.backend_server),
        ] {
            if let Some(value) = value {
                add(option, value);
            }
        }
        for (option, pairs) in [("--option", &self.option), ("--xla-option", &self.xla_option)] {
            for (name, value) in pairs {
                add(option, &value.named(name));
            }
        }
        match self.format {
            PluginFormatArg::Auto => {}
            PluginFormatArg::Hlo => add("--format", "hlo"),
            PluginFormatArg::Mlir => add("--format", "mlir"),
        }
        if let Some(limit) = self.time_limit {
            add("--time-limit", &limit.as_secs_f64().to_string());
        }
        let JudgementArgs { strict, allow, accuracies } = &self.judgement;
        if let Some(path) = accuracies {
            add("--accuracies", &path.display().to_string());
        }
        let modes: Vec<&str> = allow.iter().map(|mode| mode.key()).collect();
        if !modes.is_empty() {
            add("--allow", &modes.join(","));
        }
        words.extend(strict.then(|| "--strict".to_owned()));
        words.extend(self.deterministic.then(|| "--deterministic".to_owned()));
        words
    }
    /// Sets the time limit, if there is one, in the options of a run.
    pub(crate) fn limit_time(&self, mut options: interp::RunOptions) -> interp::RunOptions {
        options.time_limit = self.time_limit;
        options
    }
    /// Returns the limit of plugins and commands.
    pub(crate) fn time_limit_or_default(&self) -> Duration {
        self.time_limit.unwrap_or(Duration::from_secs(60))
    }
}

/// Parses the word of a mode.
fn mode(text: &str) -> Result<Mode, String> {
    let found = Mode::ALL.iter().find(|mode| mode.key() == text);
    found.copied().ok_or_else(|| {
        let keys = Mode::ALL.iter().map(|mode| mode.key());
        match hlo::diag::nearest(text, keys.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the modes are {}", keys.collect::<Vec<_>>().join(", ")),
        }
    })
}

/// Parses a number of backends.
fn jobs(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a number of backends from 1 on".to_owned())
}

/// The format in which a plugin gets modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PluginFormatArg {
    /// `hlo`, or `mlir` if the plugin does not take that.
    Auto,
    /// `HloModuleProto`.
    Hlo,
    /// Portable bytecode of StableHLO.
    Mlir,
}

impl From<PluginFormatArg> for PluginFormat {
    fn from(format: PluginFormatArg) -> Self {
        match format {
            PluginFormatArg::Auto => Self::Auto,
            PluginFormatArg::Hlo => Self::Hlo,
            PluginFormatArg::Mlir => Self::Mlir,
        }
    }
}

/// The laws of twins.
#[derive(Debug, Clone)]
pub(crate) enum Twins {
    /// The law that the module decides.
    Any,
    By(TwinRule),
}

impl Twins {
    /// Returns the rule, if one is given.
    pub(crate) fn rule(&self) -> Option<TwinRule> {
        match self {
            Self::Any => None,
            Self::By(rule) => Some(rule.clone()),
        }
    }
    /// Returns the option of the command line.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Any => "--metamorphic".to_owned(),
            Self::By(rule) => shell_quoted(&format!("--metamorphic={rule}")),
        }
    }
}

impl std::str::FromStr for Twins {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "any" { Ok(Self::Any) } else { text.parse().map(Self::By) }
    }
}

/// The heading of the files of a report.
const REPORTS: &str = "Reports";

#[derive(Debug, Args)]
#[command(group = needed("task", BACKENDS, &["spmd", "compare", "merge", "list"]))]
#[command(group = needed("cases", ["paths", "suite"], &["spmd", "compare", "merge"]))]
#[command(override_usage = "\
    etalon conform [OPTIONS] --backend <BACKEND> <PATHS>...
       etalon conform [OPTIONS] --backend <BACKEND> --suite <probes|smoke|full>
       etalon conform --list <PATHS>... | --suite <probes|smoke|full>
       etalon conform [OPTIONS] --spmd <GLOBAL> <PARTITIONED>
       etalon conform --compare <OLD.json> <NEW.json>
       etalon conform [OPTIONS] --merge <F.json>...")]
pub(crate) struct ConformArgs {
    /// Modules, file tests, modules with recorded arguments, or folders of them.
    #[arg(conflicts_with_all = ["spmd", "compare", "merge"])]
    pub(crate) paths: Vec<PathBuf>,
    /// Run Etalon's own suite: all cases, those that take about a minute together, or one for each op and element type.
    #[arg(long, value_enum, value_name = "probes|smoke|full", conflicts_with_all = ["spmd", "compare", "merge"])]
    pub(crate) suite: Option<SuiteArg>,
    /// Run only the cases of the suite whose names match; `*` stands for any characters: `dot/f32/*`.
    #[arg(long, value_name = "PATTERN", requires = "suite")]
    pub(crate) case: Option<String>,
    /// The unpartitioned SPMD program, and the partitioned module.
    #[arg(long, num_args = 2, value_names = ["GLOBAL", "PARTITIONED"])]
    #[arg(conflicts_with_all = BACKENDS)]
    pub(crate) spmd: Vec<PathBuf>,
    /// Compare each module with a twin on the same backend: a module that is the same function by a law such as x + 0, which needs
    /// no expected result. Without a law the module decides it.
    #[arg(long, value_name = "LAW:SEED", num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    #[arg(conflicts_with_all = ["spmd", "compare", "merge"])]
    pub(crate) metamorphic: Option<Twins>,
    /// The engine that runs both modules, or the one that the backend is compared with.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// Take the meaning of custom calls from a file of lines `TARGET = identity`, `TARGET = operand K` or `TARGET = tuple`; the
    /// backend gets the calls as they are.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["spmd", "compare", "merge", "metamorphic"])]
    pub(crate) custom_calls: Option<PathBuf>,
    /// Write each case that is not good to a new file test in this folder, with all of its arguments.
    #[arg(long, short, value_name = "DIR", value_parser = words::folder(), conflicts_with_all = ["spmd", "compare", "merge"], help_heading = REPORTS)]
    pub(crate) output: Option<PathBuf>,
    /// Print every case of a backend with its measured error and its bound.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// List the names of the cases, and run nothing.
    #[arg(long, conflicts_with_all = ["spmd", "compare", "merge"])]
    pub(crate) list: bool,
    /// Write the results of a backend to a file, one line of JSON a case. After Ctrl-C the cases that were compared are in F.part.json.
    #[arg(long, value_name = "F.json", help_heading = REPORTS)]
    pub(crate) json: Option<PathBuf>,
    /// Write the results as JUnit XML, for CI systems.
    #[arg(long, value_name = "F.xml", help_heading = REPORTS)]
    pub(crate) junit: Option<PathBuf>,
    /// Write the results as a page of HTML that needs no other file.
    #[arg(long, value_name = "F.html", help_heading = REPORTS)]
    pub(crate) html: Option<PathBuf>,
    /// Write the dataflow of the module as a page of HTML: its wrong results, and what they are computed from, by color.
    #[arg(long, value_name = "F.html", conflicts_with_all = ["spmd", "compare", "merge"], help_heading = REPORTS)]
    pub(crate) graph: Option<PathBuf>,
    /// Run part I of N of the cases, chosen by their names; `--merge` puts the results of all parts together.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Print which cases are better and worse in the second of two results.
    #[arg(long, num_args = 2, value_names = ["OLD.json", "NEW.json"])]
    #[arg(conflicts_with_all = ["backend", "backend_command", "backend_server", "merge"])]
    pub(crate) compare: Vec<PathBuf>,
    /// Merge results of parts of one run, and write them as --json, --junit and --html say.
    #[arg(long, num_args = 1.., value_name = "F.json")]
    #[arg(conflicts_with_all = BACKENDS)]
    pub(crate) merge: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// Which cases of the suite run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SuiteArg {
    /// The plainest one of each op and element type.
    Probes,
    /// Those that take about a minute together.
    Smoke,
    /// All.
    Full,
}

impl From<SuiteArg> for Extent {
    fn from(suite: SuiteArg) -> Self {
        match suite {
            SuiteArg::Probes => Self::Probes,
            SuiteArg::Smoke => Self::Smoke,
            SuiteArg::Full => Self::Full,
        }
    }
}

#[derive(Debug, Args)]
#[command(group = needed("task", BACKENDS, &["before"]))]
#[command(group = needed("modules", ["file"], &["before"]))]
#[command(override_usage = "\
    etalon blame [OPTIONS] --backend <BACKEND> <FILE>
       etalon blame [OPTIONS] --before <A.hlo> --after <B.hlo>")]
pub(crate) struct BlameArgs {
    /// The module, which may have its arguments as `// in:` comments; `-` for standard input.
    #[arg(conflicts_with = "before")]
    pub(crate) file: Option<PathBuf>,
    /// A module before a pass, which is compared with `--after`; both run in Etalon.
    #[arg(long, value_name = "A.hlo", requires = "after")]
    #[arg(conflicts_with_all = ["backend", "backend_command", "backend_server", "output"])]
    pub(crate) before: Option<PathBuf>,
    /// The module after the pass.
    #[arg(long, value_name = "B.hlo", requires = "before")]
    pub(crate) after: Option<PathBuf>,
    /// Write the first wrong instruction as a file test: a module of it alone with its operands.
    #[arg(long, short, value_name = "F.hlo")]
    pub(crate) output: Option<PathBuf>,
    /// Write the dataflow of the module to a page of HTML that needs no other file, colored by what was found.
    #[arg(long, value_name = "F.html")]
    pub(crate) html: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The most bytes of intermediate values that one run of the backend returns.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = bytes)]
    pub(crate) max_slice: usize,
    /// The most rounds of a loop that are checked.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number::<usize>)]
    pub(crate) rounds: usize,
    /// The most wrong instructions, after which the search ends.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number::<usize>)]
    pub(crate) findings: usize,
    /// The most steps of one run of Etalon.
    #[arg(long, value_name = "STEPS", default_value_t = 1 << 32, value_parser = number::<u64>)]
    pub(crate) fuel: u64,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one switch for each option")]
pub(crate) struct PassesArgs {
    /// Dumps: folders that XLA or MLIR wrote, or files of several modules, `-` for standard input; the modules of two are also
    /// compared with each other. With a backend: modules, which it compiles with a dump.
    #[arg(required = true)]
    pub(crate) dumps: Vec<PathBuf>,
    /// Check only the modules whose names match; `*` stands for any characters: `jit_step*`.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) module: Option<String>,
    /// Compare only the steps whose pipeline and pass match: `algsimp`, `simplification/*`.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) pass: Option<String>,
    /// Run each state on N sets of arguments: the first is that of --input and --random, the others are small integers, moderate
    /// numbers, and special ones such as infinities, in turn.
    #[arg(long, value_name = "N", default_value = "1", value_parser = jobs)]
    pub(crate) seeds: NonZero<usize>,
    /// Draw N arguments to compare both states of a step in exact arithmetic, for every float argument; 0 for never.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) draws: u32,
    /// End at the first step that changes the meaning.
    #[arg(long)]
    pub(crate) first: bool,
    /// With --backend: compile the program again without the passes that change its meaning (`xla_disable_hlo_passes`), and say whether
    /// its results are right then.
    #[arg(long)]
    pub(crate) confirm: bool,
    /// The most steps of one run: a pass may make an endless loop. By default the first state has no limit, and the others take at
    /// most 100 times the steps of the one before, or 100 million.
    #[arg(long, value_name = "STEPS", value_parser = number::<u64>)]
    pub(crate) fuel: Option<u64>,
    /// Print the report as JSON, one line for each module.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as JUnit XML, a case for each step.
    #[arg(long, value_name = "F.xml")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the report as a page of HTML that needs no other file: a timeline of the states, and what each step changes.
    #[arg(long, value_name = "F.html")]
    pub(crate) html: Option<PathBuf>,
    /// Write each step that changes the meaning to this folder: the modules before and after it, the arguments, and the command
    /// that shows it.
    #[arg(long, short, value_name = "DIR", value_parser = words::folder())]
    pub(crate) output: Option<PathBuf>,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

#[derive(Debug, Args)]
#[command(group = needed("tested", BACKENDS, &[]), override_usage = "etalon fuzz [OPTIONS] --backend <BACKEND>")]
pub(crate) struct FuzzArgs {
    /// The seed of the first module; each further module has the next seed.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = words::seed)]
    pub(crate) seed: u64,
    /// The number of modules; 100 if there is no --minutes either.
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub(crate) count: Option<u64>,
    /// The time to run, in place of a number of modules.
    #[arg(long, value_name = "M", conflicts_with = "count", value_parser = minutes)]
    pub(crate) minutes: Option<Duration>,
    /// Run variants of this module, in place of generated modules.
    #[arg(long, value_name = "FILE")]
    pub(crate) like: Option<PathBuf>,
    /// The weight of an op, such as `gather=20`; 1 without this option, 0 to leave it out. Repeatable.
    #[arg(long, value_name = "OP=W", value_parser = Known::of(weight, words::opcodes), hide_possible_values = true)]
    pub(crate) weight: Vec<(hlo::Opcode, u32)>,
    /// The ops of modules, separated by commas, and what is needed to feed them; by default all.
    #[arg(long, value_name = "OP", value_delimiter = ',', value_parser = Known::of(opcode, words::opcodes), hide_possible_values = true)]
    pub(crate) ops: Vec<hlo::Opcode>,
    /// The element types of modules, separated by commas, and `pred` and `s32`; by default all.
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = Known::of(element_type, words::types), hide_possible_values = true)]
    pub(crate) types: Vec<hlo::ElementType>,
    /// Leave out the ops and types that the backend does not support in these results of `conform --json` or of `fuzz`.
    #[arg(long, value_name = "FILE")]
    pub(crate) capabilities: Option<PathBuf>,
    /// Leave out what backends may define in different ways. The default for all backends but Etalon's engines.
    #[arg(long)]
    pub(crate) portable: bool,
    /// Compare each module with a twin on the same backend: a module that is the same function by a law such as x + 0, which needs
    /// no expected result. Without a law the module decides it.
    #[arg(long, value_name = "LAW:SEED", num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    pub(crate) metamorphic: Option<Twins>,
    /// Write each finding to a new file test in this folder.
    #[arg(long, short, value_name = "DIR", value_parser = words::folder())]
    pub(crate) output: Option<PathBuf>,
    /// Print how often each opcode ran, and with how many element types.
    #[arg(long)]
    pub(crate) coverage: bool,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
}

/// Parses a number of minutes above 0.
pub(super) fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0);
    let time = minutes.and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    time.ok_or_else(|| "expected a number of minutes, such as 5 or 0.5".to_owned())
}

fn opcode(name: &str) -> Result<hlo::Opcode, String> {
    hlo::Opcode::from_name(name).ok_or_else(|| format!("`{name}` is not an opcode"))
}

fn element_type(name: &str) -> Result<hlo::ElementType, String> {
    hlo::ElementType::from_name(name).ok_or_else(|| format!("`{name}` is not an element type"))
}

/// Parses `OP=W`.
fn weight(text: &str) -> Result<(hlo::Opcode, u32), String> {
    let (name, weight) = text.split_once('=').ok_or("expected OP=W")?;
    let opcode = opcode(name)?;
    let weight = weight.parse().ok().filter(|weight| *weight <= 1000);
    let weight = weight.ok_or_else(|| "expected a weight from 0 to 1000".to_owned())?;
    Ok((opcode, weight))
}

#[derive(Debug, Args)]
#[command(group = needed("task", BACKENDS, &["command"]))]
#[command(override_usage = "\
    etalon reduce [OPTIONS] --backend <BACKEND> <FILE>
       etalon reduce [OPTIONS] --command <CMD {hlo} [{in.npz}]> <FILE>")]
pub(crate) struct ReduceArgs {
    /// The module, which may have its arguments as `// in:` comments; `-` for standard input.
    pub(crate) file: PathBuf,
    /// A shell command that says whether a candidate is interesting: exit code 0. It reads the module's text and the arguments
    /// `in0`, `in1`, ...
    #[arg(long, value_name = "CMD {hlo} [{in.npz}]")]
    #[arg(conflicts_with_all = BACKENDS)]
    pub(crate) command: Option<String>,
    /// Compare the module with its twin by this law, as `fuzz --metamorphic` prints it, on the same backend. The twin of the result
    /// is written beside it.
    #[arg(long, value_name = "LAW:SEED", require_equals = true, conflicts_with = "command")]
    pub(crate) metamorphic: Option<TwinRule>,
    /// The file of the result, a file test; FILE.reduced.hlo by default.
    #[arg(long, short, value_name = "F.hlo")]
    pub(crate) output: Option<PathBuf>,
    /// Replace FILE.reduced.hlo, and files of other findings, if they exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// Run each candidate up to N times, for differences that do not show in each run. `auto` measures how often the difference
    /// shows, and runs as often as it takes to miss one in a hundred.
    #[arg(long, value_name = "N|auto", default_value = "1", value_parser = repeat)]
    pub(crate) repeat: RepeatArg,
    /// The most seconds for all candidates.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) total_time_limit: Option<Duration>,
    /// The engine that the backend is compared with.
    #[arg(long, value_enum, default_value_t = EngineArg::Exact)]
    pub(crate) engine: EngineArg,
    /// The most steps of the engine for one candidate, which may have a loop without an end; by default four times the steps of
    /// the module.
    #[arg(long, value_name = "STEPS", value_parser = number::<u64>)]
    pub(crate) fuel: Option<u64>,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// How often a candidate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepeatArg {
    /// This often.
    Times(u32),
    /// As often as a measured rate demands.
    Auto,
}

/// Parses `7` or `auto`.
fn repeat(text: &str) -> Result<RepeatArg, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(RepeatArg::Auto),
        (_, Ok(times)) if times > 0 => Ok(RepeatArg::Times(times)),
        _ => Err("expected a number or `auto`".to_owned()),
    }
}
