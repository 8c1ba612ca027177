//! `etalon conform`: compares a partitioned module with its unpartitioned SPMD program.
use super::{compile, load_filled, verified};
use crate::args::ConformArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::inputs::{self, Found, Parameters};
use crate::limits::Limits;
use crate::{output, random};
use collectives::RunOutput;
use collectives::spmd::{self, Boundary};
use conformance::arrays::Name;
use conformance::exact::{Proof, proof};
use conformance::judge::{JudgeOptions, Judgement, judge_partitioned};
use conformance::results::Verdict;
use hlo::diag::SourceFile;
use hlo::diag::quantity;
use hlo::{Literal, Shape, Verified};
use load::Loaded;
use std::path::Path;
use std::process::ExitCode;

/// A module, and the name and the text that errors show.
struct Side {
    file: SourceFile,
    verified: Verified,
}

impl Side {
    fn load(path: &Path, args: &ConformArgs) -> Result<Self> {
        let limits = limits(args);
        let loaded = load_filled(path, &args.load, &args.inputs, &limits)?;
        let Loaded { file, module, .. } = loaded;
        let verified = verified(module, file.source(), &limits)?;
        Ok(Self { file, verified })
    }
    /// Loads a program before partitioning, to run as a whole.
    fn program(path: &Path, args: &ConformArgs) -> Result<Self> {
        let Self { file, verified } = Self::load(path, args)?;
        let verified = match spmd::whole(&verified) {
            Some(module) => super::verified(module, file.source(), &limits(args))?,
            None => verified,
        };
        Ok(Self { file, verified })
    }
    fn failed(&self, error: &collectives::Error) -> Failure {
        Failure::run(&error.clone().into(), self.file.source())
    }
    fn run(&self, args: &ConformArgs, inputs: &[Vec<Literal>]) -> Result<RunOutput> {
        let session = compile(self.verified.clone(), args.engine.options(), self.file.source())?;
        let options = args.backend.limit_time(args.limits.options());
        let output = session.run(inputs, &options);
        output.map_err(|error| Failure::run(&error, self.file.source()))
    }
    fn parameters(&self) -> Vec<&Shape> {
        self.verified.module().entry().program_shape().parameters
    }
}

/// Runs an unpartitioned SPMD program and its partitioned module, and compares the results of each device.
pub(crate) fn conform(args: &ConformArgs) -> Result<ExitCode> {
    let [program, partitioned] = args.spmd.as_slice() else {
        let message = "expected two modules".to_owned();
        return Err(Failure::new(&Code::Input { path: "--spmd".into(), message }, None));
    };
    let global = Side::program(program, args)?;
    let partitioned = Side::load(partitioned, args)?;
    let boundary = Boundary::of(&global.verified, &partitioned.verified);
    let boundary = boundary.map_err(|e| misuse(&partitioned, &e))?;
    let given = Arguments::read(args, &global)?;
    let arguments = match given.of_devices(&boundary, &partitioned)? {
        Some(arguments) => arguments,
        None => boundary.arguments(&given.global).map_err(|e| misuse(&partitioned, &e))?,
    };
    let ran = Ran::on(&global, &partitioned, &boundary, args, &given.global, &arguments)?;
    let wrong = report(&ran)?;
    if let (Some(_), open @ 1..) = (wrong, boundary.open_results()) {
        output::note(&format!(
            "the sharding of {open} arrays of the result is not stated: of those that fit, the closest one is assumed\n"
        ));
    }
    if wrong.is_some() && !ran.is_consistent {
        output::note(
            "the devices of the unpartitioned program disagree with each other: the expected result is not unique\n",
        );
    }
    let wrong = match wrong {
        None => proved(&global, &partitioned, &boundary, args)?,
        Some(_) => wrong,
    };
    Ok(wrong.map_or(ExitCode::SUCCESS, Exit::code))
}

/// Returns the error of arguments or results that do not fit.
fn misuse(partitioned: &Side, error: &collectives::Error) -> Failure {
    let failure = partitioned.failed(error);
    let exit = if failure.exit == Exit::Wrong { Exit::Misuse } else { failure.exit };
    Failure { exit, ..failure }
}

/// The results of the devices, and those that the program gives.
struct Ran {
    devices: usize,
    judgement: Judgement,
    /// Whether devices of the program that must have equal values have them.
    is_consistent: bool,
}

impl Ran {
    /// Runs the program and the partitioned module.
    fn on(
        global: &Side,
        partitioned: &Side,
        boundary: &Boundary,
        args: &ConformArgs,
        of_program: &[Literal],
        of_devices: &[Vec<Literal>],
    ) -> Result<Self> {
        let progress = output::Progress::new(&format!("running {}", global.file.name));
        let (result, is_consistent) = run_unpartitioned(global, args, of_program.to_vec())?;
        drop(progress);
        let progress = output::Progress::new(&format!("running {}", partitioned.file.name));
        let actual = partitioned.run(args, of_devices)?.results;
        drop(progress);
        let options = JudgeOptions::of_partitioner();
        let judged = conformance::on_large_stack(|| {
            judge_partitioned(&options, &global.verified, boundary, of_program, &result, &actual)
        });
        let judgement = judged.map_err(|e| misuse(partitioned, &e))?;
        Ok(Self { devices: actual.len(), judgement, is_consistent })
    }
}

/// How often arguments are drawn for a proof.
const DRAWS: u32 = 4;

/// Says whether the partitioned module is the program for every float argument, in exact arithmetic.
/// Returns the exit code if the arguments of a draw show that it is not.
fn proved(
    global: &Side,
    partitioned: &Side,
    boundary: &Boundary,
    args: &ConformArgs,
) -> Result<Option<Exit>> {
    let modules = [&global.verified, &partitioned.verified];
    let (proof, difference) = conformance::on_large_stack(|| proof(modules, DRAWS, None));
    match &proof {
        Proof::Proved { .. } => {
            output::data("proved equal for every float argument, in exact arithmetic\n")?;
        }
        Proof::Open { reason } => output::data(&format!("not proved: {reason}\n"))?,
        Proof::Different { .. } => {}
    }
    let Some(difference) = difference else { return Ok(None) };
    let drawn = difference.arguments;
    let arguments = boundary.arguments(&drawn).map_err(|e| misuse(partitioned, &e))?;
    let ran = Ran::on(global, partitioned, boundary, args, &drawn, &arguments)?;
    if !matches!(ran.judgement.verdict, Verdict::Differs | Verdict::EtalonBug) {
        return Ok(None);
    }
    output::data(&format!("with the arguments of draw {} of the field:\n", difference.seed))?;
    report(&ran)
}

/// Runs the unpartitioned program. Returns its result, and whether devices that must have equal values have them; shows the
/// instructions where they differ.
fn run_unpartitioned(
    global: &Side,
    args: &ConformArgs,
    inputs: Vec<Literal>,
) -> Result<(Literal, bool)> {
    let RunOutput { mut results, notes, .. } = global.run(args, &[inputs])?;
    for note in &notes {
        output::show_one(&note.diagnostic(), Some(global.file.source()));
    }
    Ok((results.swap_remove(0), notes.is_empty()))
}

/// Returns the limits of the arguments. Each run has its own.
fn limits(args: &ConformArgs) -> Limits {
    Limits::start(args.backend.limit_time(args.limits.options()))
}

/// The arguments of the program, and the arrays of the files they are from.
struct Arguments {
    global: Vec<Literal>,
    found: Found,
    path: String,
}

impl Arguments {
    /// Reads `global_in0`, ... or `in0`, ... of the files, and draws the others if the options say so.
    fn read(args: &ConformArgs, global: &Side) -> Result<Self> {
        let parameters = Parameters::of(global.verified.module());
        let shapes = &parameters.shapes;
        let path = args.inputs.input.join(", ");
        let limits = limits(args);
        inputs::check_signature(&parameters, &(0..1), &limits)?;
        if args.inputs.random.is_none() && !args.inputs.range.is_empty() {
            return Err(inputs::without_random());
        }
        let rest = args.inputs.random.map(|seed| {
            let wanted = inputs::drawn(&args.inputs.range, &parameters)?;
            random::draw(seed, shapes, &wanted, &limits)
        });
        let rest = rest.transpose()?;
        let found = inputs::read_all(&args.inputs, &parameters, &limits)?;
        if found.arrays.is_empty() && rest.is_none() && !shapes.is_empty() {
            return Err(inputs::missing(&parameters));
        }
        let rest: Vec<Vec<Literal>> = rest.into_iter().collect();
        let global = found.select(1).and_then(|named| named.values_or(0..1, 1, shapes, &rest));
        let global = global.map_err(|message| {
            let help = "the program's arguments are `global_in0`, `global_in1`, ..., or `in0`, ...";
            Failure::new(&Code::Input { path: path.clone(), message }, Some(help.to_owned()))
        })?;
        Ok(Self { global: global.into_iter().flatten().collect(), found, path })
    }
    /// Returns `d<k>_in<i>` of the files, if they have them.
    fn of_devices(
        &self,
        boundary: &Boundary,
        partitioned: &Side,
    ) -> Result<Option<Vec<Vec<Literal>>>> {
        let is_first = |name: &Name<'_>| name.device == Some(0) && name.kind == "in";
        if !self.found.arrays.iter().any(|(name, _)| is_first(name) && name.number == 0) {
            return Ok(None);
        }
        let named = self.found.select_kind("in", boundary.devices());
        let values = named.and_then(|named| {
            named.values_per_device(boundary.devices(), &partitioned.parameters())
        });
        values.map(Some).map_err(|message| {
            Failure::new(&Code::Input { path: self.path.clone(), message }, None)
        })
    }
}

/// Prints how the devices' results compare with those of the program. Returns the exit code if they are
/// wrong.
fn report(ran: &Ran) -> Result<Option<Exit>> {
    let (judgement, devices) = (&ran.judgement, ran.devices);
    let verdict = judgement.verdict;
    let exit = [(Verdict::Differs, Exit::Wrong), (Verdict::EtalonBug, Exit::Bug)];
    let exit = exit.into_iter().find(|&(wrong, _)| wrong == verdict).map(|(_, exit)| exit);
    let words = verdict.words();
    output::data(&format!("{}: {words}\n{judgement}", quantity(devices, "device")))?;
    Ok(exit)
}
