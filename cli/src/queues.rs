//! The queues of `infeed` and `outfeed`.
use crate::error::{Code, Failure, Result};
use crate::inputs::read_npz;
use crate::limits::Limits;
use crate::results::DeviceOutput;
use conformance::arrays::{Name, NamedArrays};
use crossbeam_channel::{Receiver, Sender, unbounded};
use hlo::diag::quantity;
use hlo::ir::ComputationId;
use hlo::{Literal, Module, Opcode, Shape};
use interp::{DeviceGrid, Hooks};
use std::ops::Range;
use std::path::Path;

/// The names of the arrays in files.
const INFEED: &str = "infeed";
pub(crate) const OUTFEED: &str = "outfeed";

/// The queues of all devices.
#[derive(Debug)]
pub(crate) struct Queues {
    ends: Ends,
    outfeed: Vec<Receiver<Literal>>,
}

/// The ends of the queues that a run uses.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    infeed: Vec<Receiver<Literal>>,
    outfeed: Vec<Sender<Literal>>,
}

impl Queues {
    /// Creates empty outfeed queues, and infeed queues with the values of the file; those of devices outside of the range are empty.
    pub(crate) fn new(
        infeed: Option<&Path>,
        module: &Module,
        (grid, own): (DeviceGrid, Range<usize>),
        limits: &Limits,
    ) -> Result<Self> {
        let (senders, outfeed) = (0..grid.len()).map(|_| unbounded()).unzip();
        let filled = |path| filled(path, module, (grid, own), limits);
        let infeed = infeed.map_or(Ok(Vec::new()), filled)?;
        Ok(Self { ends: Ends { infeed, outfeed: senders }, outfeed })
    }
    pub(crate) fn ends(&self) -> Ends {
        self.ends.clone()
    }
    /// Returns the result of each device from number `first` on with its outfeed values.
    pub(crate) fn with_outfeed(&self, results: Vec<Literal>, first: usize) -> Vec<DeviceOutput> {
        let output = |(result, queue): (Literal, &Receiver<Literal>)| DeviceOutput {
            result,
            outfeed: Literal::tuple(queue.try_iter().collect()),
        };
        results.into_iter().zip(&self.outfeed[first..]).map(output).collect()
    }
}

impl Ends {
    /// Adds the queues of a device to its hooks.
    pub(crate) fn attach(&self, hooks: Hooks, device: usize) -> Hooks {
        let hooks = match self.infeed.get(device) {
            Some(queue) => hooks.infeed(queue.clone()),
            None => hooks,
        };
        match self.outfeed.get(device) {
            Some(queue) => hooks.outfeed(queue.clone()),
            None => hooks,
        }
    }
}

/// Creates a queue for each device, with the arrays of the file in the shapes of the module's infeeds; only those of own devices
/// are read.
fn filled(
    path: &Path,
    module: &Module,
    (grid, own): (DeviceGrid, Range<usize>),
    limits: &Limits,
) -> Result<Vec<Receiver<Literal>>> {
    let found = infeeds(module);
    let leaves = found.shapes.iter().flat_map(|shape| shape.leaves()).filter_map(Shape::array);
    let most = leaves.map(|array| array.byte_count().unwrap_or(usize::MAX)).max().unwrap_or(0);
    let is_own = |name: &Name<'_>| {
        name.kind == INFEED && name.device.is_none_or(|k| k >= grid.len() || own.contains(&k))
    };
    let arrays = read_npz(path, limits, |name| Name::parse(name).filter(is_own).map(|_| most))?;
    let mismatch = |message: String| {
        let shapes: Vec<String> = found.shapes.iter().map(|s| format!("{s:#}")).collect();
        let help = match shapes.as_slice() {
            [] => "the module has no `infeed`".to_owned(),
            shapes => format!("`infeed` takes {}", shapes.join(", then ")),
        };
        let path = path.display().to_string();
        Failure::new(&Code::Input { path, message }, Some(help))
    };
    let named = NamedArrays::select(&arrays, INFEED, grid.len()).map_err(mismatch)?;
    if named.max_number().is_none() {
        return Err(mismatch("there is no array `infeed0`".to_owned()));
    }
    let queue = |device| {
        let (sender, receiver) = unbounded();
        if !own.contains(&device) {
            return Ok(receiver);
        }
        let shapes = found.order(named.count(device)).map_err(mismatch)?;
        for value in named.values(device, shapes).map_err(mismatch)? {
            // The receiver exists, so sending does not fail.
            let _ = sender.send(value);
        }
        Ok(receiver)
    };
    (0..grid.len()).map(queue).collect()
}

/// The shapes of the module's infeeds.
struct Infeeds<'m> {
    /// A single shape if all infeeds have it, otherwise the shape of each infeed in text order.
    shapes: Vec<&'m Shape>,
    /// Whether all infeeds are in the entry computation, which runs each once and in order.
    in_entry: bool,
}

impl<'m> Infeeds<'m> {
    /// Returns the shapes of the values that this number of arrays makes.
    fn order(&self, arrays: usize) -> std::result::Result<Vec<&'m Shape>, String> {
        let of = |shape: &Shape| {
            shape.leaves().into_iter().filter(|leaf| leaf.array().is_some()).count()
        };
        match self.shapes.as_slice() {
            [only] => {
                let each = of(only).max(1);
                if !arrays.is_multiple_of(each) {
                    return Err(format!("found {}, but each value has {each}", quantity(arrays, "array")));
                }
                Ok(vec![*only; arrays / each])
            }
            all if self.in_entry => {
                let expected: usize = all.iter().map(|shape| of(shape)).sum();
                match arrays == expected {
                    true => Ok(all.to_vec()),
                    false => Err(format!("found {}, but `infeed` takes {expected}", quantity(arrays, "array"))),
                }
            }
            _ => Err("infeeds have different shapes and are not all in the entry computation: their order is not \
                      known before the run"
                .to_owned()),
        }
    }
}

fn infeeds(module: &Module) -> Infeeds<'_> {
    let mut found: Vec<(ComputationId, &Shape)> = Vec::new();
    for (id, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            if instruction.opcode() == Opcode::Infeed {
                // Old texts have no token in the result.
                let data = match instruction.shape.tuple() {
                    Some([data, Shape::Token]) => data,
                    _ => &instruction.shape,
                };
                found.push((id, data));
            }
        }
    }
    let in_entry = found.iter().all(|(id, _)| *id == module.entry);
    let mut shapes: Vec<&Shape> = found.into_iter().map(|(_, shape)| shape).collect();
    let equal = shapes.windows(2).all(|two| two[0].compatible(two[1]));
    if equal {
        shapes.truncate(1);
    }
    Infeeds { shapes, in_entry }
}
