//! Splitting of an unpartitioned program into the outer program, which runs once, and the regions,
//! which every device runs.
use super::build::{RegionBuilder, compile, custom_call};
use super::calls::{self, Found, callees};
use super::marker::{self, Marker};
use super::region::Region;
use super::shardy::{self, Meshes};
use super::stages::Stages;
use crate::{Code, Error, Result};
use hlo::diag::quantity;
use hlo::id::SecondaryMap;
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{
    CommonAttrs, Computation, ComputationId, Instruction, InstructionId, ModuleConfig, Sharding,
};
use hlo::{Module, Op, Shape, Verified};
use interp::{CompileOptions, Executable};
use std::collections::BTreeMap;

/// A program with its regions separated.
#[derive(Debug)]
pub(super) struct Split {
    /// The program that runs once; it calls region `i` by the name `region_target(i)`.
    pub(super) outer: Executable,
    pub(super) regions: Vec<Region>,
}

/// Returns the name by which the outer program calls region `i`.
pub(super) fn region_target(i: usize) -> String {
    format!("etalon.spmd.region.{i}")
}

/// Splits a program, and compiles its parts. Returns nothing if the entry reaches no manual region,
/// or if every device has all values entirely in all of them: the program then needs no devices.
///
/// # Errors
/// `E0511`, `E0512`, `E0514`, `E0507`
pub(super) fn split(verified: &Verified, options: CompileOptions) -> Result<Option<Split>> {
    let module = verified.module();
    let found = calls::found(module);
    let Found { devices, markers, divides } = found[module.entry];
    if !markers || !(divides || devices) {
        return Ok(None);
    }
    if module.config.replica_count > 1 {
        let message = format!(
            "{} replicas of a program with manual regions are not supported",
            module.config.replica_count
        );
        return Err(Code::Unsupported { message }.into());
    }
    let meshes = Meshes::of(module.config.frontend_attributes.as_ref())?;
    // The header describes the entry; regions have other parameters and results.
    let mut pristine = ModuleRewriter::new(module);
    let is_scheduled = module.config.is_scheduled;
    *pristine.config_mut() = ModuleConfig { is_scheduled, ..ModuleConfig::default() };
    let mut splitter = Splitter {
        module,
        meshes: &meshes,
        options,
        found,
        most: most_devices(module, &meshes),
        regions: Vec::new(),
        pristine,
        outer: ModuleRewriter::new(module),
    };
    splitter.split_all()?;
    let Splitter { regions, mut outer, .. } = splitter;
    outer.remove_unused_computations();
    Ok(Some(Split { outer: compile(outer, 1, options)?, regions }))
}

struct Splitter<'m> {
    module: &'m Module,
    meshes: &'m Meshes,
    options: CompileOptions,
    found: SecondaryMap<Computation, Found>,
    /// The number of devices of a region that does not state it.
    most: usize,
    regions: Vec<Region>,
    /// The original module, from which each region is built.
    pristine: ModuleRewriter,
    /// The module with calls that replace regions.
    outer: ModuleRewriter,
}

impl Splitter<'_> {
    /// Splits every computation that runs once for all devices.
    fn split_all(&mut self) -> Result<()> {
        let mut open = vec![self.module.entry];
        let mut known = std::collections::BTreeSet::new();
        while let Some(id) = open.pop() {
            if !known.insert(id.index()) {
                continue;
            }
            let computation = &self.module.computations[id];
            let found = self.found[id];
            if !found.markers && !found.devices {
                continue;
            }
            let stages = Stages::of(computation, &self.found);
            for (id, instruction) in computation.instructions.iter() {
                if stages.region(id).is_none() {
                    open.extend(callees(&instruction.op));
                }
            }
            if stages.is_local(computation.root) {
                return Err(escapes(computation, &stages));
            }
            let mut per_device = BTreeMap::new();
            for number in 0..stages.regions.len() {
                self.replace_region(id, &stages, number, &mut per_device)?;
            }
        }
        Ok(())
    }

    /// Replaces a region by a call. `per_device` has the values that regions pass to later ones.
    fn replace_region(
        &mut self,
        id: ComputationId,
        stages: &Stages,
        number: usize,
        per_device: &mut BTreeMap<InstructionId, InstructionId>,
    ) -> Result<()> {
        let computation = &self.module.computations[id];
        let members = &stages.regions[number];
        let devices = self.devices(computation, members)?;
        let builder = RegionBuilder::new(self.module, self.meshes, devices, self.options);
        let (region, inputs) = builder.build(self.pristine.clone(), id, stages, number)?;
        let outer = self.outer.computation_mut(id);
        let operands = inputs.iter().map(|id| per_device.get(id).copied().unwrap_or(*id));
        let shapes: Result<Vec<Shape>> =
            region.outputs.iter().map(|output| output.shape(devices)).collect();
        let target = custom_call(&region_target(self.regions.len()));
        let call = Instruction::new(target, Shape::Tuple(shapes?), operands);
        let like = region.outputs.first().map_or(members[0], |output| output.id);
        let call = outer.add(like, call);
        outer.set_control_predecessors(call, control_predecessors(outer, members));
        for &member in members.iter().filter(|&&member| stages.is_local(member)) {
            outer.replace_control_predecessor(member, call);
            outer.remove(member);
        }
        let mut parts: BTreeMap<InstructionId, Vec<Instruction>> = BTreeMap::new();
        for (i, output) in region.outputs.iter().enumerate() {
            let part = outer.element(call, i);
            if output.is_per_device() {
                per_device.insert(output.id, outer.add(output.id, part));
            } else {
                parts.entry(output.id).or_default().push(part);
            }
        }
        for &member in members.iter().filter(|&&member| !stages.is_local(member)) {
            let mut parts = parts.remove(&member).unwrap_or_default();
            let is_tuple = computation.instructions[member].shape.tuple().is_some();
            let result = match (is_tuple, parts.pop()) {
                (false, Some(only)) => only,
                (_, last) => {
                    parts.extend(last);
                    let parts = parts.into_iter().map(|part| outer.add(member, part)).collect();
                    outer.tuple(parts)
                }
            };
            outer.replace(member, result);
        }
        self.regions.push(region);
        Ok(())
    }

    /// Returns the number of devices of a region's markers.
    fn devices(&self, computation: &Computation, members: &[InstructionId]) -> Result<usize> {
        let mut found: Option<(usize, InstructionId)> = None;
        for &id in members {
            let marker = Marker::read(computation, id, self.meshes)?;
            let Some(devices) = marker.and_then(|marker| marker.devices()) else { continue };
            match found {
                Some((known, first)) if known != devices => {
                    let span = |id| computation.span(id);
                    let message = format!(
                        "a manual region of {known} devices passes per-device values to one of {devices} devices"
                    );
                    return Err(Error::from(Code::Unsupported { message })
                        .at(span(id))
                        .label(span(first), format!("{} here", quantity(known, "device"))));
                }
                _ => found = Some((devices, id)),
            }
        }
        match found {
            Some((devices, id)) if devices > shardy::MAX_DEVICES => {
                let message =
                    format!("a manual region of {devices} devices is larger than a run may be");
                let span = computation.span(id);
                Err(Error::from(Code::Unsupported { message }).at(span))
            }
            found => Ok(found.map_or(self.most, |(devices, _)| devices)),
        }
    }
}

/// Returns the instructions outside of a region that must run before one of its members.
fn control_predecessors(
    computation: &ComputationRewriter,
    members: &[InstructionId],
) -> Vec<InstructionId> {
    let control = |&id: &InstructionId| {
        let common = computation.instruction(id).common.as_deref();
        common.map(CommonAttrs::control_predecessors).unwrap_or_default().to_vec()
    };
    let mut before: Vec<InstructionId> = members.iter().flat_map(control).collect();
    before.retain(|id| !members.contains(id));
    before.sort_unstable();
    before.dedup();
    before
}

/// Returns the error of a computation whose result has a value per device.
fn escapes(computation: &Computation, stages: &Stages) -> Error {
    let source = stages.source(computation, computation.root);
    let span = |id| computation.span(id);
    let name = |id| format!("`{}/{}`", computation.name, computation.name(id));
    let op = &computation.instructions[source].op;
    let message = match marker::kind(op) {
        Some(_) => format!(
            "the result {} is computed from the shard of each device, {}, and is not assembled",
            name(computation.root),
            name(source)
        ),
        None => format!(
            "{} has a value per device, and the result {} depends on it outside of a manual region",
            name(source),
            name(computation.root)
        ),
    };
    let error = Error::from(Code::Region { message }).at(span(source));
    let error = if source == computation.root {
        error
    } else {
        error.label(span(computation.root), "the result, which is one value for all devices")
    };
    error.with_help(
        "assemble the values of the devices with `xla.sdy.LocalToGlobalShape` or `SPMDShardToFullShape`",
    )
}

/// Returns the largest number of devices that the program names.
fn most_devices(module: &Module, meshes: &Meshes) -> usize {
    let mut most = usize::try_from(module.config.num_partitions).unwrap_or(1);
    most = most.max(meshes.devices().unwrap_or(1));
    let named = |id: i64| usize::try_from(id).map_or(0, |id| id.saturating_add(1));
    for (_, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            let sharding = instruction.common.as_deref().and_then(|c| c.sharding.as_ref());
            if let Some(Sharding::One(sharding)) = sharding {
                most = most.max(marker::devices(sharding).unwrap_or(1));
            }
            most = most.max(ids(&instruction.op).map(named).max().unwrap_or(1));
        }
    }
    most.min(shardy::MAX_DEVICES)
}

/// Returns the ids of devices that a collective names.
fn ids(op: &Op) -> impl Iterator<Item = i64> {
    let groups = op.groups().filter(|(_, groups)| groups.counted().is_none_or(|n| n < 1 << 16));
    let groups = groups.map(|(_, groups)| groups.expand().concat()).unwrap_or_default();
    let pairs = op.pairs().map(|(_, pairs)| pairs).unwrap_or_default();
    groups.into_iter().chain(pairs.iter().flat_map(|&(from, to)| [from, to]).collect::<Vec<_>>())
}
