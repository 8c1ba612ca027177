//! The arguments of a run: read from files, or random.
use crate::args::InputArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::random;
use conformance::arrays::{self, Name, NamedArrays};
use hlo::literal::npz;
use hlo::{Literal, Module, Shape};
use interp::DeviceGrid;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// Returns the arguments of each device, or a single list for all devices; `own` are those in the file of the module.
pub(crate) fn inputs(
    args: &InputArgs,
    own: Vec<Vec<Literal>>,
    module: &Module,
    grid: DeviceGrid,
) -> Result<Vec<Vec<Literal>>> {
    inputs_on(args, own, module, (grid, 0..grid.len()))
}

/// Returns the arguments of each device as [`inputs`]; those of devices outside of the range may be left out.
pub(crate) fn inputs_on(
    args: &InputArgs,
    own: Vec<Vec<Literal>>,
    module: &Module,
    (grid, range): (DeviceGrid, Range<usize>),
) -> Result<Vec<Vec<Literal>>> {
    let shapes = module.entry().program_shape().parameters;
    if let Some(seed) = args.random {
        return random::draw_each(seed, module.entry(), (grid, range));
    }
    if args.input.is_empty() && !own.is_empty() {
        return check_own(own, &shapes, grid);
    }
    if args.input.is_empty() {
        // A token has one value.
        let token = |shape: &&Shape| (**shape == Shape::Token).then(Literal::token);
        let tokens: Option<Vec<Literal>> = shapes.iter().map(token).collect();
        return tokens.map(|tokens| vec![tokens]).ok_or_else(|| missing(&shapes));
    }
    let devices = grid.len();
    let found = read_own(args, &shapes, |device| device >= devices || range.contains(&device))?;
    let mismatch = |message: String| {
        let path = args.input.join(", ");
        let each = match devices {
            1 => String::new(),
            n => format!(
                ": `in<i>` for all devices, or `d<k>_in<i>` for each of the {n} devices, k = replica * {} + partition",
                grid.partitions
            ),
        };
        let help = format!("the module takes {}{each}", list(&shapes));
        Failure::new(&Code::Input { path, message }, Some(help))
    };
    let named = NamedArrays::select(&found, arrays::prefix("in", &found, devices), devices)
        .map_err(mismatch)?;
    let leaves: usize = shapes.iter().map(|s| s.leaves().len()).sum();
    match named.max_number().filter(|&number| number >= leaves) {
        Some(number) => {
            Err(Failure::new(&Code::NoSuchParameter { number, count: shapes.len() }, None))
        }
        None if range.len() < devices => named.values_on(range, devices, &shapes).map_err(mismatch),
        None => named.values_per_device(devices, &shapes).map_err(mismatch),
    }
}

/// Returns the arguments in the file of the module, if they fit its parameters and devices.
fn check_own(
    own: Vec<Vec<Literal>>,
    shapes: &[&Shape],
    grid: DeviceGrid,
) -> Result<Vec<Vec<Literal>>> {
    let fits = |list: &Vec<Literal>| {
        list.len() == shapes.len()
            && list.iter().zip(shapes).all(|(value, shape)| value.shape().compatible(shape))
    };
    let devices = grid.len();
    let message = match own.iter().position(|list| !fits(list)) {
        Some(k) => format!("its arguments for device {k} are not of shape {}", list(shapes)),
        None if own.len() == 1 || own.len() == devices => return Ok(own),
        None => format!("it has arguments for {} devices, the module has {devices}", own.len()),
    };
    let help = "provide arguments with --input FILE.npz, or draw random ones with --random SEED";
    Err(Failure::new(
        &Code::Input { path: "the file of the module".into(), message },
        Some(help.into()),
    ))
}

/// Reads the arrays of the files of `--input`: those of arguments of these shapes, and only as many bytes as these have.
pub(crate) fn read_all(args: &InputArgs, shapes: &[&Shape]) -> Result<Vec<npz::NpyArray>> {
    read_own(args, shapes, |_| true)
}

/// Reads the arrays as [`read_all`] does, except those of devices that are not own.
fn read_own(
    args: &InputArgs,
    shapes: &[&Shape],
    is_own: impl Fn(usize) -> bool,
) -> Result<Vec<npz::NpyArray>> {
    let leaves = shapes.iter().flat_map(|shape| shape.leaves());
    let sizes: Vec<usize> =
        leaves.filter_map(Shape::array).map(|a| a.byte_count().unwrap_or(usize::MAX)).collect();
    let most = |name: &str| {
        let name = Name::parse(name).filter(|n| ["in", "global_in"].contains(&n.kind))?;
        sizes.get(name.number).copied().filter(|_| name.device.is_none_or(&is_own))
    };
    let mut found = Vec::new();
    for input in &args.input {
        found.extend(read(input, &most)?);
    }
    Ok(found)
}

/// Reads `FILE.npz`, `N=FILE.npy` or `dK:N=FILE.npy`.
fn read(input: &str, most: &dyn Fn(&str) -> Option<usize>) -> Result<Vec<npz::NpyArray>> {
    let numbered = input.split_once('=').and_then(|(which, path)| Some((name(which)?, path)));
    match numbered {
        Some((name, path)) => read_with(Path::new(path), |file| {
            let array = match most(&name) {
                Some(most) => npz::read_up_to(name, file, most)?,
                None => npz::NpyArray::unread(name),
            };
            Ok(vec![array])
        }),
        None => read_npz(Path::new(input), most),
    }
}

/// Reads the arrays of an `.npz` file for which `most` returns the most bytes that they may have.
pub(crate) fn read_npz(
    path: &Path,
    most: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<npz::NpyArray>> {
    read_with(path, |file| npz::read_some(std::io::BufReader::new(file), most))
}

fn read_with(
    path: &Path,
    read: impl FnOnce(File) -> std::result::Result<Vec<npz::NpyArray>, npz::NpzError>,
) -> Result<Vec<npz::NpyArray>> {
    let file = File::open(path).map_err(|e| Failure::file(path, &e))?;
    read(file).map_err(|e| {
        let (path, message) = (path.display().to_string(), e.to_string());
        Failure::new(&Code::Input { path, message }, None)
    })
}

/// Returns the name of the array for `3` or `d2:3`.
fn name(which: &str) -> Option<String> {
    let number = |digits: &str| digits.parse::<usize>().ok();
    match which.split_once(':') {
        None => number(which).map(|n| format!("in{n}")),
        Some((device, n)) => {
            let device = number(device.strip_prefix('d')?)?;
            number(n).map(|n| format!("d{device}_in{n}"))
        }
    }
}

fn list(shapes: &[&Shape]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = shapes.iter().take(SHOWN).map(|s| format!("{s:#}")).collect();
    if shapes.len() > SHOWN {
        text.push(format!("... ({} in all)", shapes.len()));
    }
    text.join(", ")
}

/// Returns the error of a command without arguments for a module that takes some.
pub(crate) fn missing(shapes: &[&Shape]) -> Failure {
    let code = Code::MissingInput { shapes: list(shapes) };
    let help =
        "provide them with --input FILE.npz, or draw random ones with --random SEED".to_owned();
    Failure { exit: Exit::Misuse, ..Failure::new(&code, Some(help)) }
}
