//! The communication graph of a module: the devices that each op connects, as Graphviz text or as a
//! picture.
mod dot;
mod svg;

pub use dot::dot;
pub use svg::svg;

use collectives::{Link, Result};
use hlo::diag::quantity;
use hlo::ir::{Computation, ComputationId, Instruction};
use hlo::{Module, Opcode, Verified};
use interp::DeviceGrid;
use std::collections::BTreeSet;

/// The largest number of nodes; beyond it, several devices share a node.
const NODES: usize = 64;

/// Devices, and the ops that connect them in the order of a run.
#[derive(Debug)]
pub struct Graph {
    /// The name of the module and the number of devices.
    pub(super) title: String,
    /// The name of each node.
    pub(super) nodes: Vec<String>,
    pub(super) ops: Vec<Communication>,
}

/// An op and the devices that it connects.
#[derive(Debug)]
pub(super) struct Communication {
    /// The indices of its computation and of itself.
    pub(super) at: (usize, usize),
    /// `computation/name`
    pub(super) name: String,
    pub(super) opcode: Opcode,
    /// The number of bytes of each device's operands, if it does not overflow.
    pub(super) bytes: Option<usize>,
    /// Whether the op is in a loop and so may run more than once.
    pub(super) in_loop: bool,
    pub(super) edges: Edges,
}

/// The nodes that an op connects. The edges of devices that share a node are merged.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edges {
    Groups(BTreeSet<Vec<usize>>),
    Arrows(BTreeSet<(usize, usize)>),
    /// A send to the device that receives on the channel.
    Channel(Option<i64>),
}

impl Communication {
    /// Describes the op: opcode, bytes, loop, channel.
    pub(super) fn description(&self) -> String {
        let bytes = match self.bytes {
            Some(bytes) => format!("{} from each", quantity(bytes, "byte")),
            None => "more than 2^63 bytes".to_owned(),
        };
        let looped = if self.in_loop { ", in a loop" } else { "" };
        let channel = match self.edges {
            Edges::Channel(Some(id)) => format!(", to the receiver on channel {id}"),
            Edges::Channel(None) => ", to the receiver".to_owned(),
            Edges::Groups(_) | Edges::Arrows(_) => String::new(),
        };
        format!("{}, {bytes}{looped}{channel}", self.opcode)
    }
}

/// The assignment of devices to nodes.
struct Folding {
    devices: usize,
    each: usize,
}

impl Folding {
    fn of(grid: DeviceGrid) -> Self {
        let devices = grid.len();
        let mut each = devices.div_ceil(NODES);
        // A node holds whole replicas if that still merges enough devices.
        if each > 1 && grid.partitions > 1 {
            each = each.div_ceil(grid.partitions) * grid.partitions;
        }
        Self { devices, each }
    }
    fn names(&self) -> Vec<String> {
        let starts = (0..self.devices).step_by(self.each);
        let all = |start: usize| (start..self.devices.min(start + self.each)).collect::<Vec<_>>();
        starts.map(|start| collectives::list_devices(&all(start))).collect()
    }
    fn edges(&self, link: &Link) -> Edges {
        let node = |device: usize| device / self.each;
        match link {
            Link::Groups(groups) => {
                let of = |members: &Vec<usize>| {
                    let nodes: BTreeSet<usize> = members.iter().map(|&d| node(d)).collect();
                    nodes.into_iter().collect()
                };
                Edges::Groups(groups.groups.iter().map(of).collect())
            }
            Link::Pairs(pairs) => {
                Edges::Arrows(pairs.iter().map(|&(from, to)| (node(from), node(to))).collect())
            }
            Link::Channel(channel) => Edges::Channel(*channel),
        }
    }
}

impl Graph {
    /// Returns the graph of a module on the devices of its header; ops of a called computation
    /// appear where it is called.
    ///
    /// # Errors
    /// `E05xx` if an op states devices that do not exist or do not match.
    pub fn of(module: &Verified) -> Result<Self> {
        let module = module.module();
        let grid = DeviceGrid::of(&module.config);
        let folding = Folding::of(grid);
        let mut walk = Walk { module, grid, folding, seen: BTreeSet::new(), ops: Vec::new() };
        walk.computation(module.entry, false)?;
        let title = format!("{}, {}", module.name, described(grid));
        Ok(Self { title, nodes: walk.folding.names(), ops: walk.ops })
    }
}

fn described(grid: DeviceGrid) -> String {
    let DeviceGrid { replicas, partitions } = grid;
    match (replicas, partitions) {
        (1, 1) => "one device".to_owned(),
        (_, 1) => format!("{replicas} replicas"),
        (1, _) => format!("{partitions} partitions"),
        _ => format!(
            "{} with {} each",
            quantity(replicas, "replica"),
            quantity(partitions, "partition")
        ),
    }
}

struct Walk<'m> {
    module: &'m Module,
    grid: DeviceGrid,
    folding: Folding,
    seen: BTreeSet<usize>,
    ops: Vec<Communication>,
}

impl Walk<'_> {
    /// Visits each computation once. This terminates because a verified module is not recursive.
    fn computation(&mut self, id: ComputationId, in_loop: bool) -> Result<()> {
        if !self.seen.insert(id.index()) {
            return Ok(());
        }
        let computation = &self.module.computations[id];
        for (at, instruction) in computation.instructions.iter() {
            let opcode = instruction.opcode();
            let mut callees = Vec::new();
            instruction.op.each_callee(&mut |callee| callees.push(callee));
            for callee in callees {
                self.computation(callee, in_loop || opcode == Opcode::While)?;
            }
            let link = Link::of(instruction, self.grid).transpose();
            let link = link.map_err(|error| error.at(computation.span(at)))?;
            if let Some(link) = link {
                self.ops.push(Communication {
                    at: (id.index(), at.index()),
                    name: format!("{}/{}", computation.name, computation.name(at)),
                    opcode,
                    bytes: bytes(computation, instruction),
                    in_loop,
                    edges: self.folding.edges(&link),
                });
            }
        }
        Ok(())
    }
}

/// Returns the number of bytes of an instruction's operands.
fn bytes(computation: &Computation, instruction: &Instruction) -> Option<usize> {
    let shapes = instruction.operands.iter().map(|&id| &computation.instructions[id].shape);
    let arrays = shapes.flat_map(hlo::Shape::leaves).filter_map(hlo::Shape::array);
    arrays.map(hlo::ArrayShape::byte_count).try_fold(0usize, |sum, bytes| sum.checked_add(bytes?))
}
