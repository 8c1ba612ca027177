//! Arguments of a run: read from files, or drawn.
use crate::args::InputArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::random;
use hlo::literal::npz;
use hlo::{Literal, Shape, Verified};
use std::fs::File;
use std::path::Path;

/// The arguments: given, drawn, or none where the module takes none.
pub(crate) fn inputs(args: &InputArgs, verified: &Verified) -> Result<Vec<Literal>> {
    let module = verified.module();
    let shapes = module.entry().program_shape().parameters;
    if let Some(seed) = args.random {
        return random::draw(seed, &shapes);
    }
    if args.input.is_empty() {
        return if shapes.is_empty() { Ok(Vec::new()) } else { Err(missing(&shapes)) };
    }
    let found = arrays(args)?;
    let wrong = |message: String| {
        let path = args.input.join(", ");
        Failure::new(
            &Code::Input { path, message },
            Some(format!("the module takes {}", list(&shapes))),
        )
    };
    if let Some(number) = found.iter().find_map(|a| beyond(&a.name, &shapes)) {
        return Err(Failure::new(&Code::NoSuchParameter { number, count: shapes.len() }, None));
    }
    conformance::arrays::arguments(&found, module).map_err(wrong)
}

/// All arrays of the files that were given.
pub(crate) fn arrays(args: &InputArgs) -> Result<Vec<npz::NpyArray>> {
    let mut found = Vec::new();
    for given in &args.input {
        found.extend(read(given)?);
    }
    Ok(found)
}

/// The number of an array `inN` for which there is no parameter.
fn beyond(name: &str, shapes: &[&Shape]) -> Option<usize> {
    let number: usize = name.strip_prefix("in")?.parse().ok()?;
    let leaves: usize = shapes.iter().map(|s| s.leaves().len()).sum();
    (number >= leaves).then_some(number)
}

/// Reads `FILE.npz`, or `N=FILE.npy`.
fn read(given: &str) -> Result<Vec<npz::NpyArray>> {
    let numbered = given.split_once('=').filter(|(n, _)| n.parse::<usize>().is_ok());
    let path = Path::new(numbered.map_or(given, |(_, path)| path));
    let file = File::open(path).map_err(|e| Failure::file(path, &e))?;
    let arrays = match numbered {
        Some((number, _)) => npz::read_array(format!("in{number}"), file).map(|a| vec![a]),
        None => npz::read(std::io::BufReader::new(file)),
    };
    arrays.map_err(|e| {
        let (path, message) = (path.display().to_string(), e.to_string());
        Failure::new(&Code::Input { path, message }, None)
    })
}

fn list(shapes: &[&Shape]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = shapes.iter().take(SHOWN).map(ToString::to_string).collect();
    if shapes.len() > SHOWN {
        text.push(format!("... ({} in all)", shapes.len()));
    }
    text.join(", ")
}

/// The error of a module that takes arguments when none are given.
pub(crate) fn missing(shapes: &[&Shape]) -> Failure {
    let code = Code::MissingInput { count: shapes.len(), shapes: list(shapes) };
    let help = "give them with --input FILE.npz, or draw them with --random SEED".to_owned();
    Failure { exit: Exit::Misuse, ..Failure::new(&code, Some(help)) }
}
