//! `etalon plan`: the plan of a compiled module.
use super::{compile, fill_elided, load, verified};
use crate::args::PlanArgs;
use crate::error::Result;
use crate::limits::Limits;
use crate::output;
use collectives::Session;
use hlo::diag::quantity;
use interp::{PlannedComputation, PlannedStep};
use load::Loaded;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn plan(args: &PlanArgs) -> Result<ExitCode> {
    let Loaded { file, mut module, .. } = load(&args.file, &args.load)?;
    let limits = Limits::none();
    fill_elided(&mut module, &file.name, args.elided, &limits)?;
    let session =
        compile(verified(module, file.source(), &limits)?, args.engine.options(), file.source())?;
    if args.json {
        return output::data(&json(&file.name, &session)).map(|()| ExitCode::SUCCESS);
    }
    let mut plan = session.executable().plan().to_string();
    if let (devices @ 2.., Some(bytes)) = (session.grid().len(), session.planned_bytes()) {
        plan =
            format!("{}: peak {}\n\n{plan}", quantity(devices, "device"), quantity(bytes, "byte"));
    }
    output::data(&plan)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the plan as a line of JSON.
fn json(file: &str, session: &Session) -> String {
    let step = |step: &PlannedStep| {
        json!({
            "instruction": step.name,
            "opcode": step.opcode.name(),
            "shape": step.shape,
            "outputs": step.outputs,
            "inputs": step.inputs,
            "action": step.action,
            "callees": step.callees,
            "part": step.part,
            "fuses": step.fuses,
            "exact": step.exact,
            "in_place_of": step.in_place_of,
            "live_bytes": step.live_bytes,
            "frees": step.frees,
        })
    };
    let computation = |one: &PlannedComputation| {
        json!({
            "name": one.name,
            "peak_bytes": one.peak_bytes,
            "parameters": one.parameters,
            "steps": one.steps.iter().map(step).collect::<Vec<_>>(),
            "results": one.results,
        })
    };
    let executable = session.executable();
    let computations: Vec<Value> =
        executable.plan().computations().iter().map(computation).collect();
    let json = json!({
        "file": file,
        "engine": executable.engine().name(),
        "devices": session.grid().len(),
        "peak_bytes": session.planned_bytes(),
        "computations": computations,
    });
    format!("{json}\n")
}
