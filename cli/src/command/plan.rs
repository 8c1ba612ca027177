//! `etalon plan`: the plan of a compiled module.
use super::{Loaded, compile, load, verified};
use crate::args::PlanArgs;
use crate::error::{Failure, Result};
use crate::output;
use std::process::ExitCode;

pub(crate) fn plan(args: &PlanArgs) -> Result<ExitCode> {
    let Loaded { name, text, module, .. } = load(&args.file, args.lenient)?;
    let session = compile(verified(module, &name, &text)?, args.engine.options(), &name, &text)?;
    let plan = session.executable().plan().to_string();
    output::data(&plan).map_err(|e| Failure::file(&args.file, &e))?;
    Ok(ExitCode::SUCCESS)
}
