//! The tiles of a partitioned module's arguments and results in those of the unpartitioned program.
//!
//! A partitioner writes the shardings that it chose to `sharding=` of the entry's parameters and
//! result, unless later passes drop them. Then the unpartitioned program may determine them: by one
//! of its attributes, by the manual region that takes the parameter or computes the result, or
//! because the shapes are equal. A source is used only if it results in the shapes of the
//! partitioned module. The sharding of a result that no source states is one of the
//! [candidates](super::candidates::candidates): that which is closest to the results of the
//! devices.
//!
//! A sharding that the program states is kept, unless its
//! `allow_spmd_sharding_propagation_to_parameters` or `..._to_output` lets the partitioner choose.
use super::candidates::candidates;
use super::marker::{self, Marker, MarkerKind, sharding};
use super::placement::{Tiles, distance};
use super::shardy::{self, Meshes};
use crate::{Code, Error, Result};
use hlo::diag::quantity;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId, Sharding};
use hlo::op::value::AxisRef;
use hlo::{ArrayShape, Literal, Module, Op, Opcode, Shape, Verified};
use interp::DeviceGrid;

/// The tiles of a partitioned module's arguments and results in those of the unpartitioned program.
///
/// ```
/// let whole = hlo::Module::parse("HloModule m\nENTRY e { x = s32[4] parameter(0) ROOT r = s32[4] negate(x) }")?.verify()?;
/// let part = "HloModule m, num_partitions=2
/// ENTRY e { x = s32[2] parameter(0), sharding={devices=[2]<=[2]} ROOT r = s32[2] negate(x), sharding={devices=[2]<=[2]} }";
/// let part = hlo::Module::parse(part)?.verify()?;
/// let boundary = collectives::spmd::Boundary::of(&whole, &part)?;
/// let shards = boundary.arguments(&["s32[4] {1, 2, 3, 4}".parse()?])?;
/// assert_eq!(shards[1][0].to_string(), "s32[2]{0} {3, 4}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    devices: usize,
    /// The leaves of each parameter.
    parameters: Vec<Vec<BoundaryArray>>,
    result: Vec<BoundaryArray>,
}

/// An array or token at the boundary.
#[derive(Debug, Clone, PartialEq)]
struct BoundaryArray {
    shard: Shape,
    /// The tiles that the devices may have: one if they are known, none if nothing fits.
    tiles: Vec<Tiles>,
}

impl Boundary {
    /// Determines the tiles for a partitioned module and the program from which it was made.
    ///
    /// # Errors
    /// `E0505` if their parameters or results do not correspond; `E0511` if `xla.sdy.meshes` is
    /// malformed, or the partitioned module does not keep a sharding that the program states;
    /// `E0507` if the module is for several replicas.
    pub fn of(global: &Verified, partitioned: &Verified) -> Result<Self> {
        let (global, partitioned) = (global.module(), partitioned.module());
        let grid = DeviceGrid::of(&partitioned.config);
        if grid.replicas > 1 {
            let message = format!("the partitioned module is for {} replicas", grid.replicas);
            return Err(Code::Unsupported { message }.into());
        }
        if grid.partitions > shardy::MAX_DEVICES {
            let message = format!("{} partitions are more than a run may have", grid.partitions);
            return Err(Code::Unsupported { message }.into());
        }
        let meshes = Meshes::of(global.config.frontend_attributes.as_ref())?;
        let side = Sides { global, partitioned, meshes, devices: grid.partitions };
        let (outer, inner) = (global.entry(), partitioned.entry());
        let (wholes, parts) = (outer.parameters(), inner.parameters());
        if wholes.len() != parts.len() {
            return Err(arguments(format!(
                "the program has {}, the partitioned module {}",
                quantity(wholes.len(), "parameter"),
                parts.len()
            )));
        }
        let (config, count) = (&global.config, wholes.len());
        let free = &config.allow_spmd_sharding_propagation_to_parameters;
        let parameters: Result<_> = (wholes.into_iter().zip(parts).enumerate())
            .map(|(i, (whole, part))| {
                // The flags are those of the parameters, or of the leaves of the only one.
                let is_free = |leaf| is_free(free, if count == 1 { leaf } else { i });
                side.leaves(whole, part, &is_free)
            })
            .collect();
        let free = &config.allow_spmd_sharding_propagation_to_output;
        let result = side.leaves(outer.root, inner.root, &|leaf| is_free(free, leaf))?;
        Ok(Self { devices: grid.partitions, parameters: parameters?, result })
    }
    /// Returns the number of devices.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Returns the arguments of each device.
    ///
    /// # Errors
    /// `E0511` if the tiles of a parameter are unknown.
    pub fn arguments(&self, global: &[Literal]) -> Result<Vec<Vec<Literal>>> {
        let device = |device| {
            let parameters = global.iter().zip(&self.parameters).enumerate();
            parameters
                .map(|(i, (value, leaves))| {
                    shard(device, value, &mut leaves.iter()).map_err(|what| {
                        unknown_sharding(&format!("parameter {i} ({what})"))
                            .with_help("provide the arguments of each device as `d<k>_in<i>`")
                    })
                })
                .collect()
        };
        (0..self.devices).map(device).collect()
    }
    /// Returns the number of leaves of the result whose sharding is not known, but one of several
    /// that fit their shapes.
    pub fn open_results(&self) -> usize {
        self.result.iter().filter(|leaf| leaf.tiles.len() > 1).count()
    }
    /// Returns the expected result of each device. Where the sharding is open, the one closest to
    /// the actual results is assumed.
    ///
    /// # Errors
    /// `E0511` if its tiles are unknown.
    pub fn results(&self, global: &Literal, actual: &[Literal]) -> Result<Vec<Literal>> {
        self.closest(global, actual).split(global)
    }
    /// Returns the boundary where the sharding of each leaf of the result is known, if one fits: that
    /// which is closest to the actual results.
    #[must_use]
    pub fn closest(&self, global: &Literal, actual: &[Literal]) -> Self {
        let arrays = global.leaves();
        let of_devices: Vec<Vec<&Literal>> = actual.iter().map(Literal::leaves).collect();
        let leaves = self.result.iter().enumerate();
        let result = leaves.map(|(i, leaf)| leaf.closest(arrays.get(i).copied(), i, &of_devices));
        Self { result: result.collect(), ..self.clone() }
    }
    /// Returns what each device has of a result of the program.
    ///
    /// # Errors
    /// `E0511` if the tiles of a leaf are unknown, or one of several that fit.
    pub fn split(&self, global: &Literal) -> Result<Vec<Literal>> {
        let result = |device| {
            shard(device, global, &mut self.result.iter()).map_err(|what| {
                unknown_sharding(&format!("the result ({what})")).with_help(
                    "write `sharding={devices=[...]<=[...]}` at the ROOT of the partitioned module",
                )
            })
        };
        (0..self.devices).map(result).collect()
    }
    /// Returns what a device has of a leaf of the result, whose elements may be of another type; the
    /// leaf itself, if its tiles are not known.
    pub fn leaf(&self, device: usize, leaf: usize, global: &Literal) -> Literal {
        match self.result.get(leaf) {
            Some(BoundaryArray { shard: Shape::Array(local), tiles }) if tiles.len() == 1 => {
                tiles[0].shard(device, global, local)
            }
            Some(_) | None => global.clone(),
        }
    }
}

impl BoundaryArray {
    /// Returns the leaf with the first of the tiles whose shards are closest to the actual ones.
    fn closest(&self, global: Option<&Literal>, i: usize, actual: &[Vec<&Literal>]) -> Self {
        let Self { shard: Shape::Array(local), tiles } = self else { return self.clone() };
        let (Some(global), 2..) = (global, tiles.len()) else { return self.clone() };
        let far = |tiles: &Tiles| {
            let of_device = |(device, leaves): (usize, &Vec<&Literal>)| {
                let shard = tiles.shard(device, global, local);
                leaves.get(i).map_or(f64::INFINITY, |actual| distance(actual, &shard))
            };
            actual.iter().enumerate().map(of_device).fold(0.0, f64::max)
        };
        let closest = tiles.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        Self { shard: self.shard.clone(), tiles: closest.into_iter().cloned().collect() }
    }
}

/// Returns whether a flag of a list is set, which has one for all or one for each.
fn is_free(flags: &[bool], i: usize) -> bool {
    flags.get(if flags.len() == 1 { 0 } else { i }).copied().unwrap_or(false)
}
fn arguments(message: String) -> Error {
    Code::Arguments { message }.into()
}
fn unknown_sharding(what: &str) -> Error {
    let message = format!("the sharding of {what} is unknown");
    Code::Sharding { message }.into()
}

/// Returns the shard of a device, or the shapes of a leaf with unknown tiles.
fn shard<'a>(
    device: usize,
    value: &Literal,
    leaves: &mut impl Iterator<Item = &'a BoundaryArray>,
) -> Result<Literal, String> {
    if let Some(parts) = value.elements() {
        let parts: Result<_, _> = parts.iter().map(|part| shard(device, part, leaves)).collect();
        return Ok(Literal::tuple(parts?));
    }
    let shard = match leaves.next() {
        Some(BoundaryArray { shard: Shape::Array(shard), tiles }) => match tiles.as_slice() {
            [tiles] => return Ok(tiles.shard(device, value, shard)),
            _ => format!("{shard:#}"),
        },
        Some(BoundaryArray { .. }) | None => return Ok(value.clone()),
    };
    Err(format!("{:#} as {shard}", value.shape()))
}

/// The program and its partitioned module.
struct Sides<'m> {
    global: &'m Module,
    partitioned: &'m Module,
    meshes: Meshes,
    devices: usize,
}

impl Sides<'_> {
    /// Returns the leaves of a parameter or result, of which the partitioner may choose the
    /// shardings of those that are free.
    fn leaves(
        &self,
        whole: InstructionId,
        part: InstructionId,
        is_free: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<BoundaryArray>> {
        let (outer, inner) = (self.global.entry(), self.partitioned.entry());
        let (global, local) = (&outer.instructions[whole].shape, &inner.instructions[part].shape);
        let (globals, locals) = (global.leaves(), local.leaves());
        if globals.len() != locals.len() {
            let name = outer.name(whole);
            let message =
                format!("`{name}` is {global:#}, and {local:#} in the partitioned module");
            return Err(arguments(message));
        }
        let pairs = globals.into_iter().zip(locals).enumerate();
        pairs
            .map(|(i, (global, local))| {
                let tiles = match (global, local) {
                    (Shape::Array(global), Shape::Array(local)) => {
                        if !is_free(i) {
                            self.keeps([whole, part], i, [global, local])?;
                        }
                        let known = self.tiles(whole, part, i, global, local);
                        let open = || candidates(self.meshes.iter(), global, local, self.devices);
                        known.map_or_else(open, |tiles| vec![tiles])
                    }
                    _ => Vec::new(),
                };
                Ok(BoundaryArray { shard: local.clone(), tiles })
            })
            .collect()
    }

    /// Checks that the partitioned module keeps the sharding that the program states of a leaf.
    fn keeps(
        &self,
        [whole, part]: [InstructionId; 2],
        leaf: usize,
        [global, local]: [&ArrayShape; 2],
    ) -> Result<()> {
        let (outer, inner) = (self.global.entry(), self.partitioned.entry());
        let stated = |instruction: &Instruction| {
            let sharding = sharding(instruction, leaf)?;
            let tiles = Tiles::of(sharding, global.rank(), self.devices).ok()?;
            (!tiles.is_sum()).then(|| (Sharding::One(sharding.clone()).to_string(), tiles))
        };
        let Some((own, tiles)) = stated(&outer.instructions[whole]) else { return Ok(()) };
        let name = outer.name(whole);
        let moved = match stated(&inner.instructions[part]) {
            Some((other, moved)) if !tiles.is_same_place(&moved) => format!("`{other}`"),
            _ => match tiles.shard_shape(global) {
                Some(shard) if shard.dims != local.dims => format!("{local:#}"),
                _ => return Ok(()),
            },
        };
        let message = format!(
            "the program states the sharding `{own}` of leaf {leaf} of `{name}`, the partitioned module has {moved}"
        );
        let help = "`allow_spmd_sharding_propagation_to_parameters` and `..._to_output` of the program let a partitioner choose";
        Err(Error::from(Code::Sharding { message }).with_help(help))
    }
    /// Returns the tiles of a leaf from the first source that fits.
    fn tiles(
        &self,
        whole: InstructionId,
        part: InstructionId,
        leaf: usize,
        global: &ArrayShape,
        local: &ArrayShape,
    ) -> Option<Tiles> {
        let (outer, inner) = (self.global.entry(), self.partitioned.entry());
        // The terms of a sum are not determined by their sum.
        let fits = |tiles: Tiles| {
            let shape = tiles.shard_shape(global).filter(|shape| shape.dims == local.dims);
            shape.filter(|_| !tiles.is_sum()).map(|_| tiles)
        };
        let stated = |instruction: &Instruction| {
            let tiles = Tiles::of(sharding(instruction, leaf)?, global.rank(), self.devices);
            tiles.ok().and_then(fits)
        };
        let equal = || {
            let tiles = Tiles::replicated(global.rank(), self.devices);
            (global.dims == local.dims).then_some(tiles)
        };
        (stated(&inner.instructions[part]))
            .or_else(|| stated(&outer.instructions[whole]))
            .or_else(|| fits(self.named(&outer.instructions[whole], global)?))
            .or_else(equal)
            .or_else(|| self.regions(whole, leaf).into_iter().find_map(fits))
    }
    /// Returns the tiles that `xla.sdy.sharding` states.
    fn named(&self, instruction: &Instruction, global: &ArrayShape) -> Option<Tiles> {
        let attributes = instruction.common.as_deref()?.frontend_attributes.as_ref()?;
        let text = shardy::attribute(attributes, "xla.sdy.sharding")?;
        let shardings = shardy::shardings("xla.sdy.sharding", text, &self.meshes).ok()?;
        let [sharding] = shardings.as_slice() else { return None };
        let all = sharding.mesh.axes.iter().map(|axis| AxisRef::new(axis.name.clone()));
        let all: Vec<AxisRef> = all.collect();
        Tiles::on_mesh(sharding, &all, global.rank(), self.devices).ok()
    }
    /// Returns the tiles at the manual regions that take a parameter, or compute a leaf of the
    /// result.
    fn regions(&self, id: InstructionId, leaf: usize) -> Vec<Tiles> {
        let entry = self.global.entry();
        if matches!(entry.instructions[id].op, Op::Parameter(_)) {
            return self.taken(entry, id);
        }
        self.made(entry, id, leaf).into_iter().collect()
    }
    fn taken(&self, entry: &Computation, parameter: InstructionId) -> Vec<Tiles> {
        let mut same = vec![parameter];
        let mut found = Vec::new();
        for (id, instruction) in entry.instructions.iter() {
            let takes = instruction.operands.iter().position(|o| same.contains(o));
            let Some(at) = takes else { continue };
            match marker::kind(&instruction.op) {
                Some(MarkerKind::FullToShard) => found.extend(self.marked(entry, id, at)),
                Some(MarkerKind::ShardToFull) => {}
                None if passes(&instruction.op) => same.push(id),
                None => {}
            }
        }
        found
    }
    /// Follows a leaf of the result through ops that change neither sizes nor order, to the region
    /// that computes it.
    fn made(&self, entry: &Computation, root: InstructionId, leaf: usize) -> Option<Tiles> {
        let (mut within, mut at, mut leaf) = (entry, root, leaf);
        loop {
            let instruction = &within.instructions[at];
            if marker::kind(&instruction.op) == Some(MarkerKind::ShardToFull) {
                return self.marked(within, at, leaf);
            }
            // The result of a loop is that of its body, and the branches of a conditional agree.
            if let Some(callee) = callee(&instruction.op) {
                within = &self.global.computations[callee];
                at = within.root;
            } else {
                (at, leaf) = before(within, instruction, leaf)?;
            }
        }
    }
    fn marked(&self, entry: &Computation, id: InstructionId, operand: usize) -> Option<Tiles> {
        let marker = Marker::read(entry, id, &self.meshes).ok()??;
        marker.values(entry, id, self.devices).ok()?.into_iter().nth(operand)?.tiles
    }
}

/// Returns the instruction, and the leaf of its value, with the same tiles as this leaf.
fn before(
    within: &Computation,
    instruction: &Instruction,
    leaf: usize,
) -> Option<(InstructionId, usize)> {
    let count = |id: InstructionId| within.instructions[id].shape.leaves().len();
    let op = &instruction.op;
    if op.opcode() == Opcode::Tuple {
        let mut left = leaf;
        for &part in &instruction.operands {
            match left.checked_sub(count(part)) {
                Some(rest) => left = rest,
                None => return Some((part, left)),
            }
        }
        return None;
    }
    if let Op::GetTupleElement(get) = op {
        let tuple = *instruction.operands.first()?;
        let parts = within.instructions[tuple].shape.tuple()?;
        let index = usize::try_from(get.index).ok()?;
        let skipped: usize = parts.iter().take(index).map(|part| part.leaves().len()).sum();
        return Some((tuple, skipped + leaf));
    }
    if !passes(op) && !op.opcode().is_elementwise() {
        return None;
    }
    // An elementwise op has the tiles of the operand that a region computes.
    let dims = |shape: &Shape| shape.array().map(|array| array.dims.clone());
    let expected = dims(&instruction.shape);
    let alike = |&id: &InstructionId| dims(&within.instructions[id].shape) == expected;
    let mut found = instruction.operands.iter().copied().filter(alike);
    found.find(|&id| depends(within, id)).map(|id| (id, 0))
}
/// Returns the computation whose result is that of an instruction which calls it.
fn callee(op: &Op) -> Option<ComputationId> {
    if let Op::Call(call) = op {
        Some(call.to_apply)
    } else if let Op::While(repeat) = op {
        Some(repeat.body)
    } else if let Op::Conditional(choice) = op {
        choice.branches.first().copied()
    } else {
        None
    }
}
/// Returns whether an instruction returns its operand unchanged.
fn passes(op: &Op) -> bool {
    let is_sharding = matches!(op, Op::CustomCall(call) if call.custom_call_target.0 == "Sharding");
    op.opcode().aliases_operand() || is_sharding
}
/// Returns whether an instruction depends on the result of a region, or on a call that may contain
/// one.
fn depends(within: &Computation, id: InstructionId) -> bool {
    let mut open = vec![id];
    let mut known = std::collections::BTreeSet::new();
    while let Some(id) = open.pop() {
        let op = &within.instructions[id].op;
        if callee(op).is_some() || marker::kind(op) == Some(MarkerKind::ShardToFull) {
            return true;
        }
        open.extend(within.instructions[id].operands.iter().filter(|o| known.insert(**o)));
    }
    false
}
