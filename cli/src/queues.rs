//! What a run takes from outside and puts there: `--infeed`, and what `outfeed` gave.
use crate::error::{Code, Failure, Result};
use crate::inputs::read_npz;
use crate::results::Given;
use conformance::arrays::Named;
use crossbeam_channel::{Receiver, Sender, unbounded};
use hlo::ir::ComputationId;
use hlo::{Literal, Module, Op, Shape};
use interp::{Grid, Hooks};
use std::path::Path;

/// Names of the arrays in files.
const INFEED: &str = "infeed";
pub(crate) const OUTFEED: &str = "outfeed";

/// The queues of all devices.
#[derive(Debug)]
pub(crate) struct Queues {
    ends: Ends,
    outfeed: Vec<Receiver<Literal>>,
}

/// The ends that a run holds.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    infeed: Vec<Receiver<Literal>>,
    outfeed: Vec<Sender<Literal>>,
}

impl Queues {
    /// Empty queues to put values into, and if a file is given full ones to take values from.
    pub(crate) fn new(infeed: Option<&Path>, module: &Module, grid: Grid) -> Result<Self> {
        let (senders, outfeed) = (0..grid.len()).map(|_| unbounded()).unzip();
        let infeed = infeed.map_or(Ok(Vec::new()), |path| filled(path, module, grid))?;
        Ok(Self { ends: Ends { infeed, outfeed: senders }, outfeed })
    }
    pub(crate) fn ends(&self) -> Ends {
        self.ends.clone()
    }
    /// The results, each with what its device put out.
    pub(crate) fn with_outfeed(&self, results: Vec<Literal>) -> Vec<Given> {
        let with = |(result, queue): (Literal, &Receiver<Literal>)| Given {
            result,
            outfeed: Literal::tuple(queue.try_iter().collect()),
        };
        results.into_iter().zip(&self.outfeed).map(with).collect()
    }
}

impl Ends {
    /// Hooks with the queues of a device.
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

/// A queue for each device with the arrays of the file, put together as the module's infeeds want them.
fn filled(path: &Path, module: &Module, grid: Grid) -> Result<Vec<Receiver<Literal>>> {
    let arrays = read_npz(path)?;
    let found = infeeds(module);
    let wrong = |message: String| {
        let shapes: Vec<String> = found.shapes.iter().map(|s| format!("{s:#}")).collect();
        let help = match shapes.as_slice() {
            [] => "the module has no `infeed`".to_owned(),
            shapes => format!("`infeed` takes {}", shapes.join(", then ")),
        };
        let path = path.display().to_string();
        Failure::new(&Code::Input { path, message }, Some(help))
    };
    let named = Named::of(&arrays, INFEED, grid.len()).map_err(wrong)?;
    if named.last().is_none() {
        return Err(wrong("there is no array `infeed0`".to_owned()));
    }
    let queue = |device| {
        let shapes = found.order(named.count(device)).map_err(wrong)?;
        let (sender, receiver) = unbounded();
        for value in named.values(device, shapes).map_err(wrong)? {
            // The other end is here: it cannot be closed.
            let _ = sender.send(value);
        }
        Ok(receiver)
    };
    (0..grid.len()).map(queue).collect()
}

/// The shapes that the module's infeeds take.
struct Infeeds<'m> {
    /// Each shape once if they are all alike, else one for each infeed in text order.
    shapes: Vec<&'m Shape>,
    /// Whether each is run once, one after the other.
    in_entry: bool,
}

impl<'m> Infeeds<'m> {
    /// Shapes of the values that so many arrays make.
    fn order(&self, arrays: usize) -> std::result::Result<Vec<&'m Shape>, String> {
        let of = |shape: &Shape| {
            shape.leaves().into_iter().filter(|leaf| leaf.array().is_some()).count()
        };
        match self.shapes.as_slice() {
            [only] => {
                let each = of(only).max(1);
                if !arrays.is_multiple_of(each) {
                    return Err(format!("{arrays} arrays are given, a value has {each}"));
                }
                Ok(vec![*only; arrays / each])
            }
            all if self.in_entry => {
                let wanted: usize = all.iter().map(|shape| of(shape)).sum();
                match arrays == wanted {
                    true => Ok(all.to_vec()),
                    false => Err(format!("{arrays} arrays are given, `infeed` takes {wanted}")),
                }
            }
            _ => Err("infeeds of several shapes, not all of them in the entry computation: in which order they \
                      come is not known before the run"
                .to_owned()),
        }
    }
}

fn infeeds(module: &Module) -> Infeeds<'_> {
    let mut found: Vec<(ComputationId, &Shape)> = Vec::new();
    for (id, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            if matches!(instruction.op, Op::Infeed(_)) {
                // In old texts there is no token beside the data.
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
    let alike = shapes.windows(2).all(|two| two[0].compatible(two[1]));
    if alike {
        shapes.truncate(1);
    }
    Infeeds { shapes, in_entry }
}
