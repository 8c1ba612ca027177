//! The arguments of a run: read from files, given as text, or random.
mod parameters;
pub(crate) mod safetensors;
mod sizes;
mod source;

pub(crate) use parameters::Parameters;
pub(crate) use sizes::arguments;
pub(crate) use source::{Found, read_any, read_npz};

use crate::args::{InputArgs, RangeArg};
use crate::error::{Code, Failure, Result};
use crate::limits::Limits;
use crate::random::{self, Drawn};
use conformance::arrays::{Name, NamedArrays};
use hlo::{Literal, Module, Shape};
use interp::DeviceGrid;
use source::{Wanted, shortly};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::Range;

/// The kind of the arguments of an unpartitioned program, beside those of its devices.
const GLOBAL: &str = "global_in";

/// Returns the arguments of each device, or a single list for all devices; `own` are those in the file of the module.
pub(crate) fn inputs(
    args: &InputArgs,
    own: Vec<Vec<Literal>>,
    module: &Module,
    grid: DeviceGrid,
    limits: &Limits,
) -> Result<Vec<Vec<Literal>>> {
    inputs_on(args, own, module, (grid, 0..grid.len()), limits)
}

/// Returns how each parameter is drawn.
pub(crate) fn drawn(ranges: &[RangeArg], parameters: &Parameters<'_>) -> Result<Vec<Drawn>> {
    let mut drawn = vec![Drawn::DEFAULT; parameters.shapes.len()];
    // An interval of a parameter takes precedence over that of a class, and this over that of all.
    for RangeArg { interval, .. } in ranges.iter().filter(|range| range.parameter.is_none()) {
        drawn.fill(Drawn { floats: *interval, integers: *interval, is_kept: true });
    }
    let named =
        |range: &RangeArg| range.parameter.as_deref().and_then(|name| parameters.find(name));
    for range in ranges.iter().filter(|range| named(range).is_none()) {
        match range.parameter.as_deref() {
            Some("floats") => drawn.iter_mut().for_each(|drawn| drawn.floats = range.interval),
            Some("integers") => drawn.iter_mut().for_each(|drawn| drawn.integers = range.interval),
            Some(name) => return Err(parameters.unknown(name)),
            None => {}
        }
    }
    for range in ranges {
        let Some(number) = named(range) else { continue };
        let is_kept = drawn[number].is_kept;
        drawn[number] = Drawn { floats: range.interval, integers: range.interval, is_kept };
    }
    Ok(drawn)
}

/// Returns the arguments of each device as [`inputs`]; those of devices outside of the range may be left out.
pub(crate) fn inputs_on(
    args: &InputArgs,
    own: Vec<Vec<Literal>>,
    module: &Module,
    (grid, range): (DeviceGrid, Range<usize>),
    limits: &Limits,
) -> Result<Vec<Vec<Literal>>> {
    let parameters = Parameters::of(module);
    let shapes = &parameters.shapes;
    check_signature(&parameters, &range, limits)?;
    let devices = grid.len();
    let found = read(args, &parameters, limits, |name| match name.device {
        Some(device) => device >= devices || range.contains(&device),
        None => name.kind != GLOBAL || devices == 1,
    })?;
    let mismatch = |message: String| mismatch(args, &parameters, grid, &found, message);
    let named = found.select(devices).map_err(mismatch)?;
    if let Some(number) = named.max_number().filter(|&n| n >= parameters.array_count()) {
        return Err(parameters.unknown(&number.to_string()));
    }
    let own = (!own.is_empty()).then(|| check_own(own, &parameters, grid));
    if args.random.is_none() && !args.range.is_empty() {
        return Err(without_random());
    }
    // What --input does not give.
    let rest = match args.random {
        Some(seed) => {
            let is_given = |parameter: usize| {
                let mut arrays = parameters.arrays_of(parameter);
                arrays.all(|array| (0..devices).all(|device| named.has(device, array)))
            };
            let mut wanted = drawn(&args.range, &parameters)?;
            for (i, wanted) in wanted.iter_mut().enumerate() {
                wanted.is_kept = !is_given(i);
            }
            let devices = (grid, range.clone());
            Some(random::draw_each(seed, &wanted, module.entry(), devices, limits)?)
        }
        // Those in the file need not fit where others take their place.
        None if !args.input.is_empty() => own.and_then(Result::ok),
        None => own.transpose()?,
    };
    if args.input.is_empty() {
        // A token has one value.
        let token = |shape: &&Shape| (**shape == Shape::Token).then(Literal::token);
        let tokens = || shapes.iter().map(token).collect::<Option<Vec<Literal>>>();
        let rest = rest.or_else(|| tokens().map(|tokens| vec![tokens]));
        return rest.ok_or_else(|| missing(&parameters));
    }
    named.values_or(range.clone(), devices, shapes, &rest.unwrap_or_default()).map_err(mismatch)
}

/// Fails if the arguments cannot fit the memory of the run, before any is made. Devices may share theirs.
pub(crate) fn check_signature(
    parameters: &Parameters<'_>,
    devices: &Range<usize>,
    limits: &Limits,
) -> Result<()> {
    if devices.is_empty() {
        return Ok(());
    }
    let arrays = (0..parameters.array_count()).map(|array| parameters.least_bytes(array));
    limits.check_bytes(arrays.fold(0, usize::saturating_add))
}

/// Returns the error of arrays that do not fit the parameters.
fn mismatch(
    args: &InputArgs,
    parameters: &Parameters<'_>,
    grid: DeviceGrid,
    found: &Found,
    message: String,
) -> Failure {
    let path = args.input.join(", ");
    let each = match grid.len() {
        1 => String::new(),
        n => format!(
            ": `in<i>` for all devices, or `d<k>_in<i>` for each of the {n} devices, k = replica * {} + partition",
            grid.partitions
        ),
    };
    let mut help = format!("the module takes {}{each}", parameters.list());
    if !found.others.is_empty() {
        let _ = write!(help, "; no parameter has the name {}", shortly(&found.others));
    }
    Failure::new(&Code::Input { path, message }, Some(help))
}

/// Returns the arguments in the file of the module, if they fit its parameters and devices.
fn check_own(
    own: Vec<Vec<Literal>>,
    parameters: &Parameters<'_>,
    grid: DeviceGrid,
) -> Result<Vec<Vec<Literal>>> {
    let shapes = &parameters.shapes;
    let fits = |list: &Vec<Literal>| {
        list.len() == shapes.len()
            && list.iter().zip(shapes).all(|(value, shape)| value.shape().compatible(shape))
    };
    let devices = grid.len();
    let message = match own.iter().position(|list| !fits(list)) {
        Some(k) => format!("its arguments for device {k} are not those of {}", parameters.list()),
        None if own.len() == 1 || own.len() == devices => return Ok(own),
        None => format!("it has arguments for {} devices, the module has {devices}", own.len()),
    };
    let help = "provide arguments with --input FILE.npz, or draw random ones with --random SEED";
    Err(Failure::new(
        &Code::Input { path: "the file of the module".into(), message },
        Some(help.into()),
    ))
}

/// Reads the arrays of `--input`: those of the parameters, and only as many bytes as these have.
pub(crate) fn read_all(
    args: &InputArgs,
    parameters: &Parameters<'_>,
    limits: &Limits,
) -> Result<Found> {
    read(args, parameters, limits, |_| true)
}

/// Reads the arrays as [`read_all`] does, except those whose name is not used.
fn read(
    args: &InputArgs,
    parameters: &Parameters<'_>,
    limits: &Limits,
    is_used: impl Fn(&Name<'_>) -> bool,
) -> Result<Found> {
    let wanted = Wanted { parameters, is_used: &is_used, limits, over: RefCell::default() };
    let mut found = Found::default();
    for input in &args.input {
        found.add(input, &wanted)?;
    }
    Ok(found)
}

impl Found {
    /// Selects the arguments of a run on this number of devices: `global_in<i>` for one device, if there are some.
    pub(crate) fn select(&self, devices: usize) -> std::result::Result<NamedArrays<'_>, String> {
        let is_global = devices == 1 && self.arrays.iter().any(|(name, _)| name.kind == GLOBAL);
        self.select_kind(if is_global { GLOBAL } else { "in" }, devices)
    }
    /// Selects the arrays of a kind.
    pub(crate) fn select_kind(
        &self,
        kind: &'static str,
        devices: usize,
    ) -> std::result::Result<NamedArrays<'_>, String> {
        let named = self.arrays.iter().map(|(name, array)| (*name, array));
        NamedArrays::select_named(named, kind, devices)
    }
}

/// Returns the error of a command without arguments for a module that takes some.
pub(crate) fn missing(parameters: &Parameters<'_>) -> Failure {
    let code = Code::MissingInput { shapes: parameters.list() };
    let help = "provide them with --input, or draw random ones with --random SEED".to_owned();
    Failure::new(&code, Some(help))
}

/// Returns the error of `--range` where nothing is random.
pub(crate) fn without_random() -> Failure {
    Failure::file(
        std::path::Path::new("--range"),
        &"it is the range of random arguments: --random is missing",
    )
}
