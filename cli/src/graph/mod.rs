//! Who talks to whom: what each op of a module joins, drawn as text for graphviz or as a picture.
pub(crate) mod dot;
pub(crate) mod svg;

use crate::error::{Exit, Failure, Result};
use collectives::Link;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::{Module, Opcode};
use interp::Grid;
use std::collections::BTreeSet;

/// Most nodes that are drawn; of more devices several share a node.
const NODES: usize = 32;

/// Devices, and the ops that join them in the order of a run.
#[derive(Debug)]
pub(crate) struct Graph {
    /// What each node is called.
    pub(crate) nodes: Vec<String>,
    pub(crate) ops: Vec<Joined>,
}

/// An op, and whom it joins.
#[derive(Debug)]
pub(crate) struct Joined {
    /// `computation/name`
    pub(crate) name: String,
    pub(crate) opcode: Opcode,
    /// Bytes that each device gives, if they can be counted.
    pub(crate) bytes: Option<usize>,
    /// Whether it stands in a loop, and so may run more than once.
    pub(crate) in_loop: bool,
    pub(crate) edges: Edges,
}

/// Nodes that are joined. Where a node is several devices, an edge is there once for all of them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    Groups(BTreeSet<Vec<usize>>),
    Arrows(BTreeSet<(usize, usize)>),
    /// To whoever receives on the channel.
    Channel(Option<i64>),
}

impl Joined {
    /// What it is and how much it moves, in words.
    pub(crate) fn words(&self) -> String {
        let bytes = match self.bytes {
            Some(1) => "1 byte from each".to_owned(),
            Some(bytes) => format!("{bytes} bytes from each"),
            None => "more bytes than can be counted".to_owned(),
        };
        let looped = if self.in_loop { ", in a loop" } else { "" };
        let channel = match self.edges {
            Edges::Channel(Some(id)) => format!(", to who receives on channel {id}"),
            Edges::Channel(None) => ", to who receives".to_owned(),
            Edges::Groups(_) | Edges::Arrows(_) => String::new(),
        };
        format!("{}, {bytes}{looped}{channel}", self.opcode)
    }
}

/// Which devices share a node.
struct Folding {
    devices: usize,
    each: usize,
}

impl Folding {
    fn of(grid: Grid) -> Self {
        let devices = grid.len();
        let mut each = devices.div_ceil(NODES);
        // A node is whole replicas where that is no finer than need be.
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

/// The ops of a module that join devices, those of called computations where they are called.
pub(crate) fn graph(module: &Module, grid: Grid, name: &str, text: &str) -> Result<Graph> {
    let folding = Folding::of(grid);
    let mut walk = Walk { module, grid, folding, seen: BTreeSet::new(), ops: Vec::new() };
    walk.computation(module.entry, false).map_err(|(error, computation, id)| {
        let mut diagnostic = error.diagnostic();
        let place = module.computations[computation].span(id);
        diagnostic.span = diagnostic.span.or(Some(place));
        let source = Some((name.to_owned(), text.to_owned()));
        Failure { diagnostics: vec![diagnostic], source, exit: Exit::Wrong }
    })?;
    Ok(Graph { nodes: walk.folding.names(), ops: walk.ops })
}

struct Walk<'m> {
    module: &'m Module,
    grid: Grid,
    folding: Folding,
    seen: BTreeSet<usize>,
    ops: Vec<Joined>,
}

type Misfit = (collectives::Error, ComputationId, InstructionId);

impl Walk<'_> {
    /// Computations do not call themselves in a verified module, so this ends; each is looked at once.
    fn computation(&mut self, id: ComputationId, in_loop: bool) -> std::result::Result<(), Misfit> {
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
            let link = Link::of(instruction, self.grid).transpose().map_err(|e| (e, id, at))?;
            if let Some(link) = link {
                self.ops.push(Joined {
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

/// Bytes of the arrays that an instruction takes.
fn bytes(computation: &Computation, instruction: &Instruction) -> Option<usize> {
    let shapes = instruction.operands.iter().map(|&id| &computation.instructions[id].shape);
    let arrays = shapes.flat_map(hlo::Shape::leaves).filter_map(hlo::Shape::array);
    arrays.map(hlo::ArrayShape::byte_count).try_fold(0usize, |sum, bytes| sum.checked_add(bytes?))
}
