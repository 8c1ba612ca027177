//! `etalon graph --devices`: the communication between devices.
use super::{Loaded, load, verified_for};
use crate::args::GraphArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::graph::{dot, graph, svg};
use interp::DeviceGrid;
use std::process::ExitCode;

pub(crate) fn draw(args: &GraphArgs) -> Result<ExitCode> {
    if !args.of_devices {
        let help = "use --devices to draw the communication between devices".to_owned();
        let failure = Failure::new(&Code::NoGraph, Some(help));
        return Err(Failure { exit: Exit::Unsupported, ..failure });
    }
    let draw = match args.output.extension().and_then(|e| e.to_str()) {
        Some("dot") => dot::text,
        Some("svg") => svg::text,
        _ => {
            return Err(Failure::file(
                &args.output,
                &"expected a file name that ends in .svg or .dot",
            ));
        }
    };
    let Loaded { name, text, module, .. } = load(&args.file, args.lenient)?;
    let verified = verified_for(&args.devices, module, &name, &text)?;
    let module = verified.module();
    let grid = DeviceGrid::of(&module.config);
    let graph = graph(module, grid, &name, &text)?;
    let DeviceGrid { replicas, partitions } = grid;
    let title = match (replicas, partitions) {
        (1, 1) => "one device".to_owned(),
        (_, 1) => format!("{replicas} replicas"),
        (1, _) => format!("{partitions} partitions"),
        _ => format!("{replicas} replicas with {partitions} partitions each"),
    };
    let drawn = draw(&graph, &format!("{}, {title}", module.name));
    std::fs::write(&args.output, drawn).map_err(|e| Failure::file(&args.output, &e))?;
    Ok(ExitCode::SUCCESS)
}
