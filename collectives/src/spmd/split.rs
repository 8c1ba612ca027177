//! Splits a program over global arrays into what is run once and the regions that every device runs.
use super::build::Builder;
use super::calls::{self, Found, callees};
use super::draft::{self, Draft};
use super::marker::{self, Marker};
use super::region::Region;
use super::shardy::{self, Meshes};
use super::stages::Stages;
use crate::{Code, Error, Result};
use hlo::ir::{Computation, ComputationId, InstructionId, Sharding};
use hlo::{Module, Op, SecondaryMap, Shape, Verified};
use std::collections::BTreeMap;

/// A program whose regions are apart.
#[derive(Debug)]
pub(super) struct Split {
    /// What is run once; it calls region `i` by the name `target(i)`.
    pub(super) outer: Verified,
    pub(super) regions: Vec<Region>,
}

/// The name by which the outer program calls region `i`.
pub(super) fn target(i: usize) -> String {
    format!("etalon.spmd.region.{i}")
}

/// Splits a program; nothing if the entry reaches no manual region, or in all of them every device has the same: what is run
/// once then is run for all.
///
/// # Errors
/// `E0511`, `E0512`, `E0514`, `E0507`
pub(super) fn split(verified: &Verified) -> Result<Option<Split>> {
    let module = verified.module();
    let found = calls::found(module);
    let Found { devices, markers, divides } = found[module.entry];
    if !markers || !(divides || devices) {
        return Ok(None);
    }
    if module.config.replica_count > 1 {
        let message = format!(
            "{} replicas of a program with manual regions are not run yet",
            module.config.replica_count
        );
        return Err(Code::Unsupported { message }.into());
    }
    let meshes = Meshes::of(module.config.frontend_attributes.as_ref())?;
    let mut splitter = Splitter {
        module,
        meshes: &meshes,
        found,
        most: most_devices(module, &meshes),
        regions: Vec::new(),
        made: BTreeMap::new(),
    };
    splitter.all()?;
    let Splitter { regions, made, .. } = splitter;
    let get = |id: ComputationId| made.get(&id.index()).unwrap_or(&module.computations[id]);
    let outer = draft::module(module, get(module.entry).clone(), 1, get)?;
    Ok(Some(Split { outer, regions }))
}

struct Splitter<'m> {
    module: &'m Module,
    meshes: &'m Meshes,
    found: SecondaryMap<Computation, Found>,
    /// The number of devices of a region that does not say how many it has.
    most: usize,
    regions: Vec<Region>,
    /// Computations that have regions, with calls in their place.
    made: BTreeMap<usize, Computation>,
}

impl<'m> Splitter<'m> {
    /// Splits every computation that is run for all devices at once.
    fn all(&mut self) -> Result<()> {
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
            if !stages.regions.is_empty() {
                let made = self.outer(computation, &stages)?;
                self.made.insert(id.index(), made);
            }
        }
        Ok(())
    }

    /// The computation with a call in the place of each region.
    fn outer(&mut self, computation: &'m Computation, stages: &Stages) -> Result<Computation> {
        // What is run before the regions of each stage.
        let mut before: Vec<Vec<InstructionId>> = Vec::new();
        let put = |list: &mut Vec<Vec<InstructionId>>, stage: usize, id| {
            list.resize_with(list.len().max(stage + 1), Vec::new);
            list[stage].push(id);
        };
        for id in computation.instructions.ids() {
            if stages.region(id).is_none() {
                put(&mut before, stages.stage(id), id);
            }
        }
        let mut draft = Draft::of(computation);
        // Values of devices that one region gives to another.
        let mut kept = BTreeMap::new();
        let mut regions = (0..stages.regions.len()).peekable();
        for stage in 0.. {
            let here = before.get(stage);
            for &id in here.into_iter().flatten() {
                draft.copy(id)?;
            }
            while let Some(number) = regions.next_if(|&number| stages.stage_of(number) == stage) {
                self.region(&mut draft, stages, number, &mut kept)?;
            }
            if regions.peek().is_none() && stage + 1 >= before.len() {
                break;
            }
        }
        let root = draft.get(computation.root)?;
        Ok(draft.finish(root))
    }

    /// A call of a region, and what stands for the values it gives.
    fn region(
        &mut self,
        draft: &mut Draft<'m>,
        stages: &Stages,
        number: usize,
        kept: &mut BTreeMap<InstructionId, InstructionId>,
    ) -> Result<()> {
        let computation = draft.from();
        let members = &stages.regions[number];
        let devices = self.devices(computation, members)?;
        let builder = Builder::new(self.module, self.meshes, devices);
        let (region, inputs) = builder.build(computation, stages, number)?;
        let mut operands = Vec::with_capacity(inputs.len());
        for id in inputs {
            operands.push(match kept.get(&id) {
                Some(&made) => made,
                None => draft.get(id)?,
            });
        }
        let like = region.outputs().first().map_or(members[0], |output| output.id);
        let shapes: Result<Vec<Shape>> =
            region.outputs().iter().map(|output| output.shape(devices)).collect();
        let shapes = shapes?;
        let call =
            draft.call(like, &target(self.regions.len()), Shape::Tuple(shapes.clone()), operands);
        for &id in members {
            draft.set_after(id, call);
        }
        let mut parts: BTreeMap<InstructionId, Vec<InstructionId>> = BTreeMap::new();
        for (i, (output, shape)) in region.outputs().iter().zip(shapes).enumerate() {
            let part = draft.element(output.id, call, i, shape);
            if output.is_stacked() {
                kept.insert(output.id, part);
            } else {
                parts.entry(output.id).or_default().push(part);
            }
        }
        for &id in members.iter().filter(|&&id| !stages.is_local(id)) {
            let mut parts = parts.remove(&id).unwrap_or_default();
            let is_tuple = computation.instructions[id].shape.tuple().is_some();
            let made = match (is_tuple, parts.pop()) {
                (false, Some(only)) => only,
                (_, last) => {
                    parts.extend(last);
                    draft.tuple(id, parts)
                }
            };
            draft.set(id, made);
        }
        self.regions.push(region);
        Ok(())
    }

    /// The number of devices that a region's markers speak of.
    fn devices(&self, computation: &Computation, members: &[InstructionId]) -> Result<usize> {
        let mut found: Option<(usize, InstructionId)> = None;
        for &id in members {
            let marker = Marker::read(computation, id, self.meshes)?;
            let Some(devices) = marker.and_then(|marker| marker.devices()) else { continue };
            match found {
                Some((known, first)) if known != devices => {
                    let span = |id| computation.span(id);
                    let message = format!(
                        "a manual region of {known} devices gives values to one of {devices} devices"
                    );
                    return Err(Error::from(Code::Unsupported { message })
                        .at(span(id))
                        .label(span(first), format!("{known} devices here")));
                }
                _ => found = Some((devices, id)),
            }
        }
        match found {
            Some((devices, id)) if devices > shardy::MOST_DEVICES => {
                let message =
                    format!("a manual region of {devices} devices is too large to be run");
                let span = computation.span(id);
                Err(Error::from(Code::Unsupported { message }).at(span))
            }
            found => Ok(found.map_or(self.most, |(devices, _)| devices)),
        }
    }
}

/// The error of a computation whose result is local.
fn escapes(computation: &Computation, stages: &Stages) -> Error {
    let source = stages.source(computation, computation.root);
    let span = |id| computation.span(id);
    let name = |id| format!("`{}/{}`", computation.name, computation.name(id));
    let op = &computation.instructions[source].op;
    let message = match marker::kind(op) {
        Some(_) => format!(
            "the result {} is computed from the shard of each device, {}, and not put together",
            name(computation.root),
            name(source)
        ),
        None => format!(
            "{} has a value of its own on each device, and the result {} depends on it outside of a manual region",
            name(source),
            name(computation.root)
        ),
    };
    let error = Error::from(Code::Region { message }).at(span(source));
    let error = if source == computation.root {
        error
    } else {
        error.label(span(computation.root), "the result, which there is once for all devices")
    };
    error.with_help(
        "values of devices are put together by `xla.sdy.LocalToGlobalShape` or `SPMDShardToFullShape`",
    )
}

/// The number of devices of the program, of all that speaks of devices.
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
    most.min(shardy::MOST_DEVICES)
}

/// The ids of devices that a collective names.
fn ids(op: &Op) -> impl Iterator<Item = i64> {
    let groups = op.groups().filter(|(_, groups)| groups.counted().is_none_or(|n| n < 1 << 16));
    let groups = groups.map(|(_, groups)| groups.expand().concat()).unwrap_or_default();
    let pairs = op.pairs().map(|(_, pairs)| pairs).unwrap_or_default();
    groups.into_iter().chain(pairs.iter().flat_map(|&(from, to)| [from, to]).collect::<Vec<_>>())
}
