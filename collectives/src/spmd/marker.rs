//! Markers: the custom calls at which manual regions begin (full to shard) and end (shard to full).
//!
//! | | full to shard | shard to full | the shardings are in |
//! |---|---|---|---|
//! | Shardy | `xla.sdy.GlobalToLocalShape` | `xla.sdy.LocalToGlobalShape` | frontend attributes |
//! | Shardy, until 2025 | the same, or with the prefix `local_` | the same | frontend attributes of the region's `call` |
//! | Shardy, typed | the same | the same | `sharding=`, as GSPMD |
//! | GSPMD | `SPMDFullToShardShape` | `SPMDShardToFullShape` | `sharding=` of the operand; of the call itself |
use super::placement::Tiles;
use super::shardy::{self, Meshes, ValueSharding};
use crate::{Code, Error, Result};
use hlo::diag::Place;
use hlo::diag::quantity;
use hlo::ir::{
    Computation, DeviceSharding, Instruction, InstructionId, NamedAxes, Placement, Sharding,
    Subgroup,
};
use hlo::op::value::AxisRef;
use hlo::{Op, Opcode, Shape};

/// The direction of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkerKind {
    /// Returns the shard of each device.
    FullToShard,
    /// Assembles the shards to one array.
    ShardToFull,
}

/// Returns the kind of a marker; nothing for other ops.
pub(super) fn kind(op: &Op) -> Option<MarkerKind> {
    let Op::CustomCall(call) = op else { return None };
    match call.custom_call_target.0.as_str() {
        "xla.sdy.GlobalToLocalShape"
        | "local_xla.sdy.GlobalToLocalShape"
        | "SPMDFullToShardShape" => Some(MarkerKind::FullToShard),
        "xla.sdy.LocalToGlobalShape"
        | "local_xla.sdy.LocalToGlobalShape"
        | "SPMDShardToFullShape" => Some(MarkerKind::ShardToFull),
        _ => None,
    }
}

/// Returns whether the result of a shard-to-full marker is still inside of a manual region, if its
/// `sharding=` says so: it names the manual axes.
pub(super) fn is_inside(instruction: &Instruction) -> Option<bool> {
    if attribute(instruction, "xla.sdy.out_shardings").is_some() {
        return None;
    }
    sharding(instruction, 0).map(is_manual)
}

/// Returns whether some axes are manual.
fn is_manual(sharding: &DeviceSharding) -> bool {
    match &sharding.placement {
        Placement::Tiled(tiling) => tiling.subgroups.contains(&Subgroup::Manual),
        Placement::Named(named) => !named.manual.is_empty(),
        Placement::Manual => true,
        Placement::Replicated
        | Placement::Unknown
        | Placement::Unreduced(_)
        | Placement::Maximal(_) => false,
    }
}

/// Returns the sharding that an instruction states for leaf `i` of its value.
pub(super) fn sharding(instruction: &Instruction, i: usize) -> Option<&DeviceSharding> {
    match instruction.common.as_deref()?.sharding.as_ref()? {
        Sharding::One(one) => Some(one),
        Sharding::Tuple(parts) => parts.get(i),
    }
}
/// Returns the text of a frontend attribute.
pub(super) fn attribute<'m>(instruction: &'m Instruction, name: &str) -> Option<&'m str> {
    shardy::attribute(instruction.common.as_deref()?.frontend_attributes.as_ref()?, name)
}

/// A marker with the shardings of its operands.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    kind: MarkerKind,
    shardings: Spelling,
}

#[derive(Debug, Clone)]
enum Spelling {
    Shardy { values: Vec<ValueSharding>, manual: Vec<AxisRef> },
    Stated(Vec<StatedSharding>),
}

/// The shardings of a value; nothing for a token.
#[derive(Debug, Clone)]
struct StatedSharding {
    /// The sharding of the array.
    global: Option<DeviceSharding>,
    /// The sharding of the shards inside of the region.
    local: Option<DeviceSharding>,
}

/// A value that a marker converts: its shape, that of a shard, and the tiles of the devices; no
/// tiles for a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShardedValue {
    pub(super) global: Shape,
    pub(super) local: Shape,
    pub(super) tiles: Option<Tiles>,
}

impl Marker {
    /// Reads the shardings of an instruction, if it is a marker.
    ///
    /// # Errors
    /// `E0511` if it has none, or they are malformed.
    pub(super) fn read(
        computation: &Computation,
        id: InstructionId,
        meshes: &Meshes,
    ) -> Result<Option<Self>> {
        let instruction = &computation.instructions[id];
        let Some(kind) = kind(&instruction.op) else { return Ok(None) };
        let span = computation.span(id);
        let shardings = match holder(computation, id, kind) {
            Some(holder) => sdy(holder, kind, meshes),
            None => stated(computation, instruction, kind),
        };
        let shardings = shardings.map_err(|error| error.at(span))?;
        Ok(Some(Self { kind, shardings }))
    }

    /// Returns the number of devices of the shardings, if they state it.
    pub(super) fn devices(&self) -> Option<usize> {
        match &self.shardings {
            Spelling::Shardy { values, .. } => {
                values.iter().filter_map(|value| shardy::devices(&value.mesh)).max()
            }
            Spelling::Stated(values) => {
                values.iter().filter_map(|value| devices(value.global.as_ref()?)).max()
            }
        }
    }

    /// Returns each operand with its result, on this many devices.
    ///
    /// # Errors
    /// `E0511` if shapes and shardings do not fit; `E0507`.
    pub(super) fn values(
        &self,
        computation: &Computation,
        id: InstructionId,
        devices: usize,
    ) -> Result<Vec<ShardedValue>> {
        let instruction = &computation.instructions[id];
        let span = computation.span(id);
        let results = results(instruction);
        let count = instruction.operands.len();
        if results.len() != count {
            let found = results.len();
            let message = format!(
                "the marker has {}, its result {}",
                quantity(count, "operand"),
                quantity(found, "element")
            );
            return Err(Error::from(Code::Sharding { message }).at(span));
        }
        if let Spelling::Shardy { values, .. } = &self.shardings
            && values.len() != count
        {
            let found = values.len();
            let message = format!(
                "the marker has {} and {}",
                quantity(count, "operand"),
                quantity(found, "sharding")
            );
            let place = Place::Attribute("frontend_attributes");
            return Err(Error::from(Code::Sharding { message }).at(span).on(place));
        }
        let pairs = instruction.operands.iter().zip(results).enumerate();
        pairs
            .map(|(i, (&operand, result))| {
                let operand = &computation.instructions[operand].shape;
                self.value(i, operand, result, devices).map_err(|error| error.at(span))
            })
            .collect()
    }
    fn value(
        &self,
        i: usize,
        operand: &Shape,
        result: &Shape,
        devices: usize,
    ) -> Result<ShardedValue> {
        let (global, local) = match self.kind {
            MarkerKind::FullToShard => (operand, result),
            MarkerKind::ShardToFull => (result, operand),
        };
        let tiles = match (global, local) {
            (Shape::Array(whole), Shape::Array(part)) => {
                let rank = whole.rank();
                Some(match &self.shardings {
                    Spelling::Shardy { values, manual } => {
                        Tiles::on_mesh(&values[i], manual, rank, devices)?.fit(whole, part, None)?
                    }
                    Spelling::Stated(values) => {
                        let StatedSharding { global, local } = &values[i];
                        let tiles = match global {
                            Some(global) => Tiles::of(global, rank, devices)?,
                            None => return Err(not_stated(self.kind)),
                        };
                        let inner = local.as_ref().map(|local| Tiles::of(local, rank, devices));
                        tiles.fit(whole, part, inner.and_then(Result::ok).as_ref())?
                    }
                })
            }
            (Shape::Token, Shape::Token) => None,
            _ => {
                let message = format!("{global:#} cannot be sharded: it is not an array");
                return Err(Code::Unsupported { message }.into());
            }
        };
        Ok(ShardedValue { global: global.clone(), local: local.clone(), tiles })
    }
}

/// Returns the results of a marker, one for each operand. The result for a single operand need not
/// be a tuple.
pub(super) fn results(instruction: &Instruction) -> Vec<&Shape> {
    match &instruction.shape {
        Shape::Tuple(parts) => parts.iter().collect(),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            vec![&instruction.shape]
        }
    }
}

/// Returns whether the results of a marker have the shapes of its operands.
pub(super) fn keeps_shapes(computation: &Computation, instruction: &Instruction) -> bool {
    let results = results(instruction);
    let operands = instruction.operands.iter().map(|&o| &computation.instructions[o].shape);
    results.len() == operands.len()
        && operands.zip(results).all(|(operand, result)| operand.compatible(result))
}

/// Returns whether an instruction states a sharding by which a value is a sum of terms, of which
/// each device has one.
pub(super) fn states_sums(instruction: &Instruction) -> bool {
    let names = [MarkerKind::FullToShard, MarkerKind::ShardToFull].map(attribute_name);
    let texts = names.iter().filter_map(|name| attribute(instruction, name));
    let mut texts = texts.filter(|text| text.contains("unreduced"));
    let stated = instruction.common.as_deref().and_then(|common| common.sharding.as_ref());
    texts.next().is_some()
        || match stated {
            Some(Sharding::One(one)) => is_unreduced(one),
            Some(Sharding::Tuple(parts)) => parts.iter().any(is_unreduced),
            None => false,
        }
}
/// Returns whether a sharding has axes whose devices have terms of a sum.
pub(super) fn is_unreduced(sharding: &DeviceSharding) -> bool {
    match &sharding.placement {
        Placement::Unreduced(_) => true,
        Placement::Tiled(tiling) => tiling.subgroups.contains(&Subgroup::Unreduced),
        Placement::Named(named) => {
            named.axes == NamedAxes::Unreduced || !named.unreduced.is_empty()
        }
        Placement::Replicated | Placement::Manual | Placement::Unknown | Placement::Maximal(_) => {
            false
        }
    }
}

/// Returns the number of devices of a sharding, if it states it.
pub(super) fn devices(sharding: &DeviceSharding) -> Option<usize> {
    match &sharding.placement {
        Placement::Tiled(tiling) => {
            tiling.dims.iter().try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
        }
        Placement::Named(named) => shardy::devices(&named.mesh),
        Placement::Replicated
        | Placement::Manual
        | Placement::Unknown
        | Placement::Unreduced(_)
        | Placement::Maximal(_) => None,
    }
}

/// Returns the name of the attribute with the shardings.
fn attribute_name(kind: MarkerKind) -> &'static str {
    match kind {
        MarkerKind::FullToShard => "xla.sdy.in_shardings",
        MarkerKind::ShardToFull => "xla.sdy.out_shardings",
    }
}

/// Returns the instruction with Shardy's attributes for a marker: the marker, or the call of the
/// region's body next to it.
fn holder(computation: &Computation, id: InstructionId, kind: MarkerKind) -> Option<&Instruction> {
    let instruction = &computation.instructions[id];
    let has = |instruction: &&Instruction| attribute(instruction, attribute_name(kind)).is_some();
    let through = |id: InstructionId| {
        let instruction = &computation.instructions[id];
        let is_element = instruction.opcode() == Opcode::GetTupleElement;
        if is_element { instruction.operands[0] } else { id }
    };
    let is_call = |instruction: &&Instruction| matches!(instruction.op, Op::Call(_));
    let call_of_body = || match kind {
        MarkerKind::ShardToFull => {
            let call = &computation.instructions[through(*instruction.operands.first()?)];
            Some(call).filter(is_call).filter(has)
        }
        MarkerKind::FullToShard => {
            let mut calls = computation.instructions.iter().map(|(_, i)| i).filter(is_call);
            calls.find(|call| has(call) && call.operands.iter().any(|&o| through(o) == id))
        }
    };
    Some(instruction).filter(has).or_else(call_of_body)
}

fn sdy(holder: &Instruction, kind: MarkerKind, meshes: &Meshes) -> Result<Spelling> {
    let text = |name: &str| {
        attribute(holder, name).ok_or_else(|| {
            let message = format!("the frontend attribute `{name}` is missing");
            Error::from(Code::Sharding { message })
        })
    };
    let read = || {
        let values = shardy::shardings(attribute_name(kind), text(attribute_name(kind))?, meshes)?;
        let manual = shardy::manual_axes(text("xla.sdy.manual_axes")?)?;
        Ok(Spelling::Shardy { values, manual })
    };
    read().map_err(|error: Error| error.on(Place::Attribute("frontend_attributes")))
}

/// Reads the shardings from `sharding=`. That of the array is on the operand of a full-to-shard
/// marker, and on a shard-to-full marker itself; that of the shards is on the other one.
fn stated(
    computation: &Computation,
    instruction: &Instruction,
    kind: MarkerKind,
) -> Result<Spelling> {
    let operands = instruction.operands.iter().enumerate();
    let values = operands.map(|(i, &operand)| {
        let operand = &computation.instructions[operand];
        let (own, other) = (sharding(instruction, i), sharding(operand, 0));
        let (global, local) = match kind {
            MarkerKind::FullToShard => (other, own),
            MarkerKind::ShardToFull => (own, other),
        };
        if global.is_none() && operand.shape.array().is_some() {
            return Err(not_stated(kind));
        }
        let local = local.filter(|local| is_manual(local)).cloned();
        Ok(StatedSharding { global: global.cloned(), local })
    });
    Ok(Spelling::Stated(values.collect::<Result<_>>()?))
}

fn not_stated(kind: MarkerKind) -> Error {
    let whose = match kind {
        MarkerKind::FullToShard => "of the operand",
        MarkerKind::ShardToFull => "of the result",
    };
    let message = format!("the sharding {whose} is not stated");
    Error::from(Code::Sharding { message }).with_help(
        "add an attribute like `sharding={devices=[4,1]<=[4]}`, or the frontend attributes `xla.sdy.*` to the marker",
    )
}
