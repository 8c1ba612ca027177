//! `etalon graph --devices`: who talks to whom.
use super::{Loaded, load, verified};
use crate::args::GraphArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::graph::{dot, graph, svg};
use interp::Grid;
use std::process::ExitCode;

pub(crate) fn draw(args: &GraphArgs) -> Result<ExitCode> {
    if !args.of_devices {
        let help = "--devices draws who talks to whom".to_owned();
        let failure = Failure::new(&Code::NoGraph, Some(help));
        return Err(Failure { exit: Exit::Unsupported, ..failure });
    }
    let draw = match args.output.extension().and_then(|e| e.to_str()) {
        Some("dot") => dot::text,
        Some("svg") => svg::text,
        _ => return Err(Failure::file(&args.output, &"a graph is written as .svg or .dot")),
    };
    let Loaded { name, text, mut module } = load(&args.file, args.lenient)?;
    args.devices.apply(&mut module);
    let failed = |e| Failure::run(&e, &name, &text);
    let grid = conformance::devices(&module).map_err(failed)?;
    let verified = verified(module, &name, &text)?;
    let module = verified.module();
    let graph = graph(module, grid, &name, &text)?;
    let Grid { replicas, partitions } = grid;
    let title = match partitions {
        1 => format!("{}, {replicas} replicas", module.name),
        _ => format!("{}, {replicas} replicas with {partitions} partitions each", module.name),
    };
    let drawn = draw(&graph, &title);
    std::fs::write(&args.output, drawn).map_err(|e| Failure::file(&args.output, &e))?;
    Ok(ExitCode::SUCCESS)
}
