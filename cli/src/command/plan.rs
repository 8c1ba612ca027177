//! `etalon plan`: the plan of a compiled module.
use super::{compile, fill_elided, load, verified};
use crate::args::PlanArgs;
use crate::error::Result;
use crate::limits::Limits;
use crate::output;
use load::Loaded;
use std::process::ExitCode;

pub(crate) fn plan(args: &PlanArgs) -> Result<ExitCode> {
    let Loaded { file, mut module, .. } = load(&args.file, &args.load)?;
    let limits = Limits::none();
    fill_elided(&mut module, &file.name, args.elided, &limits)?;
    let session =
        compile(verified(module, file.source(), &limits)?, args.engine.options(), file.source())?;
    let mut plan = session.executable().plan().to_string();
    if let (devices @ 2.., Some(bytes)) = (session.grid().len(), session.planned_bytes()) {
        plan = format!("{devices} devices: peak {bytes} bytes\n\n{plan}");
    }
    output::data(&plan)?;
    Ok(ExitCode::SUCCESS)
}
