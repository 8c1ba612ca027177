//! `etalon conform`: whether a partitioned module gives what the program gives that it was made of.
use super::{Loaded, load, verified};
use crate::args::ConformArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::{inputs, output, random};
use collectives::World;
use collectives::spmd::{Boundary, Program};
use conformance::arrays::{self, Named};
use conformance::{Comparison, Tolerance, compare};
use hlo::diag::Source;
use hlo::literal::npz::NpyArray;
use hlo::{Literal, Shape, Verified};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// A module and what errors show of it.
struct Side {
    name: String,
    text: String,
    verified: Verified,
}

impl Side {
    fn load(path: &Path, lenient: bool) -> Result<Self> {
        let Loaded { name, text, module } = load(path, lenient)?;
        let verified = verified(module, &name, &text)?;
        Ok(Self { name, text, verified })
    }
    fn failed(&self, error: &collectives::Error) -> Failure {
        Failure::run(&error.clone().into(), &self.name, &self.text)
    }
    fn parameters(&self) -> Vec<&Shape> {
        self.verified.module().entry().program_shape().parameters
    }
}

/// Runs a program before partitioning and the module it became, and compares what each device has.
pub(crate) fn conform(args: &ConformArgs) -> Result<ExitCode> {
    let [whole, parts] = args.spmd.as_slice() else {
        let message = "two modules are wanted".to_owned();
        return Err(Failure::new(&Code::Input { path: "--spmd".into(), message }, None));
    };
    let global = Side::load(whole, args.lenient)?;
    let partitioned = Side::load(parts, args.lenient)?;
    let boundary = Boundary::of(&global.verified, &partitioned.verified);
    let misused = |error: &collectives::Error| {
        let failure = partitioned.failed(error);
        let exit = if failure.exit == Exit::Wrong { Exit::Misuse } else { failure.exit };
        Failure { exit, ..failure }
    };
    let boundary = boundary.map_err(|e| misused(&e))?;
    let given = Given::read(args, &global)?;
    let arguments = match given.of_devices(&boundary, &partitioned)? {
        Some(arguments) => arguments,
        None => boundary.arguments(&given.global).map_err(|e| misused(&e))?,
    };
    let progress = output::Progress::new(&format!("running {}", global.name));
    let (result, promised) = run_whole(&global, args, &given.global)?;
    drop(progress);
    let wanted = boundary.results(&result).map_err(|e| misused(&e))?;
    let progress = output::Progress::new(&format!("running {}", partitioned.name));
    let world = World::new(&partitioned.verified).with_options(args.limits.options());
    let found = world.run(&arguments).map_err(|e| partitioned.failed(&e))?;
    drop(progress);
    let tolerance =
        Tolerance::of(partitioned.verified.module()).or(&Tolerance::of(global.verified.module()));
    let agree = report(&found, &wanted, &tolerance)?;
    if !agree && !promised {
        output::note("the program's own devices do not agree, and so may differ from its result\n");
    }
    Ok(if agree { ExitCode::SUCCESS } else { Exit::Wrong.code() })
}

/// The result of the program as a whole, and whether devices that should have equal values have them; tells of those that
/// have not.
fn run_whole(global: &Side, args: &ConformArgs, inputs: &[Literal]) -> Result<(Literal, bool)> {
    let options = args.limits.options();
    let Some(program) = Program::of(&global.verified).map_err(|e| global.failed(&e))? else {
        let interpreter = interp::Interpreter::with_options(&global.verified, options);
        let result = interpreter.run(inputs);
        let failed = |e: interp::Error| Failure::run(&e.into(), &global.name, &global.text);
        return result.map(|result| (result, true)).map_err(failed);
    };
    let finished = program.with_options(options).run(inputs).map_err(|e| global.failed(&e))?;
    for note in &finished.divergences {
        let source = Source { name: &global.name, text: &global.text };
        output::show_one(&note.diagnostic(), Some(source));
    }
    Ok((finished.result, finished.divergences.is_empty()))
}

/// Arguments, and what else was in the files they are from.
struct Given {
    global: Vec<Literal>,
    arrays: Vec<NpyArray>,
    path: String,
}

impl Given {
    /// `global_in0`, ... of the files, or `in0`, ...; or drawn.
    fn read(args: &ConformArgs, global: &Side) -> Result<Self> {
        let shapes = global.parameters();
        let path = args.inputs.input.join(", ");
        if let Some(seed) = args.inputs.random {
            let global = random::draw(seed, &shapes)?;
            return Ok(Self { global, arrays: Vec::new(), path });
        }
        let arrays = inputs::given(&args.inputs)?;
        if arrays.is_empty() && !shapes.is_empty() {
            return Err(inputs::missing(&shapes));
        }
        let named = Named::of(&arrays, arrays::kind("in", &arrays, 1), 1);
        let global = named.and_then(|named| named.values(0, shapes));
        let global = global.map_err(|message| {
            let help = "the program's arguments are `global_in0`, `global_in1`, ..., or `in0`, ...";
            Failure::new(&Code::Input { path: path.clone(), message }, Some(help.to_owned()))
        })?;
        Ok(Self { global, arrays, path })
    }
    /// `d<k>_in<i>` of the files, if they are there.
    fn of_devices(&self, boundary: &Boundary, parts: &Side) -> Result<Option<Vec<Vec<Literal>>>> {
        if !self.arrays.iter().any(|array| array.name == "d0_in0") {
            return Ok(None);
        }
        let named = Named::of(&self.arrays, "in", boundary.devices());
        let values = named.and_then(|named| named.each(boundary.devices(), &parts.parameters()));
        values.map(Some).map_err(|message| {
            Failure::new(&Code::Input { path: self.path.clone(), message }, None)
        })
    }
}

/// Says which devices have something else than they should; whether none has.
fn report(found: &[Literal], wanted: &[Literal], tolerance: &Tolerance) -> Result<bool> {
    let mut text = String::new();
    let mut wrong = 0;
    let (mut error, mut bound) = (0.0f64, 0.0f64);
    for (device, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        match compare(found, wanted, tolerance) {
            Ok(comparison) => {
                error = error.max(comparison.max_error);
                bound = bound.max(comparison.bound);
                if !comparison.agrees() {
                    wrong += 1;
                    text.push_str(&differs(device, &comparison));
                }
            }
            Err(mismatch) => {
                wrong += 1;
                let _ = writeln!(text, "device {device}: {mismatch}");
            }
        }
    }
    let devices = found.len();
    let _ = match wrong {
        0 => writeln!(text, "{devices} devices agree: error {error:.3e} (bound {bound:.3e})"),
        _ => writeln!(text, "{wrong} of {devices} devices differ"),
    };
    output::data(&text).map_err(|e| Failure::file(Path::new("<stdout>"), &e))?;
    Ok(wrong == 0)
}

fn differs(device: usize, comparison: &Comparison) -> String {
    let Comparison { wrong, elements, worst, max_error, bound, .. } = comparison;
    let mut text = format!("device {device}: {wrong} of {elements} elements differ");
    if let Some(worst) = worst {
        let show = |x| Literal::scalar(worst.ty, x).to_string();
        let (got, should) = (show(worst.got), show(worst.wanted));
        let _ = write!(text, "; out{} at {:?} is {got}, wanted {should}", worst.leaf, worst.index);
        if worst.ty.is_float() || worst.ty.is_complex() {
            let _ = write!(text, ": error {max_error:.3e} (bound {bound:.3e})");
        }
    }
    text.push('\n');
    text
}
