//! Where manual regions begin and end: custom calls that cut arrays into shards, and those that put shards together.
//!
//! | | cuts | puts together | the sharding stands in |
//! |---|---|---|---|
//! | Shardy | `xla.sdy.GlobalToLocalShape` | `xla.sdy.LocalToGlobalShape` | frontend attributes |
//! | Shardy, until 2025 | the same, or with `local_` before it | the same | frontend attributes of the region's `call` |
//! | Shardy, typed | the same | the same | `sharding=`, as GSPMD |
//! | GSPMD | `SPMDFullToShardShape` | `SPMDShardToFullShape` | `sharding=` of the operand; of the call itself |
use super::placement::Tiles;
use super::shardy::{self, Meshes, ValueSharding};
use crate::{Code, Error, Result};
use hlo::diag::Place;
use hlo::ir::{
    Computation, DeviceSharding, Instruction, InstructionId, Placement, Sharding, Subgroup,
};
use hlo::op::value::AxisRef;
use hlo::{Op, Shape};

/// What a marker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Gives each device its shard.
    Cut,
    /// Makes one array of the shards.
    Join,
}

/// What a custom call marks.
pub(super) fn kind(op: &Op) -> Option<Kind> {
    let Op::CustomCall(call) = op else { return None };
    match call.custom_call_target.0.as_str() {
        "xla.sdy.GlobalToLocalShape"
        | "local_xla.sdy.GlobalToLocalShape"
        | "SPMDFullToShardShape" => Some(Kind::Cut),
        "xla.sdy.LocalToGlobalShape"
        | "local_xla.sdy.LocalToGlobalShape"
        | "SPMDShardToFullShape" => Some(Kind::Join),
        _ => None,
    }
}

/// Whether what a join gives is still inside of a manual region, if its `sharding=` says so, which names the manual axes.
pub(super) fn is_inside(instruction: &Instruction) -> Option<bool> {
    if attribute(instruction, "xla.sdy.out_shardings").is_some() {
        return None;
    }
    sharding(instruction, 0).map(is_manual)
}

/// Whether some axes are manual already.
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

/// The sharding an instruction states for part `i` of its value, which is all of it if it is no tuple.
fn sharding(instruction: &Instruction, i: usize) -> Option<&DeviceSharding> {
    match instruction.common.as_deref()?.sharding.as_ref()? {
        Sharding::One(sharding) => Some(sharding),
        Sharding::Tuple(parts) => parts.get(i),
    }
}
/// The text of a frontend attribute.
fn attribute<'m>(instruction: &'m Instruction, name: &str) -> Option<&'m str> {
    shardy::attribute(instruction.common.as_deref()?.frontend_attributes.as_ref()?, name)
}

/// A marker with the shardings of its operands.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    kind: Kind,
    shardings: Spelling,
}

#[derive(Debug, Clone)]
enum Spelling {
    Shardy { values: Vec<ValueSharding>, manual: Vec<AxisRef> },
    Stated(Vec<Stated>),
}

/// What `sharding=` says of a value; nothing of a token.
#[derive(Debug, Clone)]
struct Stated {
    /// Of the array as a whole.
    global: Option<DeviceSharding>,
    /// Of the shards inside of the region.
    local: Option<DeviceSharding>,
}

/// A value that a marker cuts or joins: its shape as a whole and as a shard, and where the shards lie; nothing for a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) global: Shape,
    pub(super) local: Shape,
    pub(super) tiles: Option<Tiles>,
}

impl Marker {
    /// Reads the shardings of an instruction, if it is a marker.
    ///
    /// # Errors
    /// `E0511` if it has none, or they cannot be understood.
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

    /// The number of devices it speaks of, if it says so.
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

    /// Each operand with its result, on so many devices.
    ///
    /// # Errors
    /// `E0511` if shapes and shardings do not fit; `E0507`.
    pub(super) fn values(
        &self,
        computation: &Computation,
        id: InstructionId,
        devices: usize,
    ) -> Result<Vec<Value>> {
        let instruction = &computation.instructions[id];
        let span = computation.span(id);
        let results = results(instruction);
        let count = instruction.operands.len();
        if results.len() != count {
            let found = results.len();
            let message = format!("{count} operands are given, the result has {found} parts");
            return Err(Error::from(Code::Sharding { message }).at(span));
        }
        if let Spelling::Shardy { values, .. } = &self.shardings
            && values.len() != count
        {
            let found = values.len();
            let message = format!("{count} operands are given, and {found} shardings");
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
    fn value(&self, i: usize, operand: &Shape, result: &Shape, devices: usize) -> Result<Value> {
        let (global, local) = match self.kind {
            Kind::Cut => (operand, result),
            Kind::Join => (result, operand),
        };
        let tiles = match (global, local) {
            (Shape::Array(whole), Shape::Array(part)) => {
                let rank = whole.rank();
                Some(match &self.shardings {
                    Spelling::Shardy { values, manual } => {
                        Tiles::on_mesh(&values[i], manual, rank, devices)?
                            .fitted(whole, part, None)?
                    }
                    Spelling::Stated(values) => {
                        let Stated { global, local } = &values[i];
                        let tiles = match global {
                            Some(global) => Tiles::of(global, rank, devices)?,
                            None => return Err(not_stated(self.kind)),
                        };
                        let inner = local.as_ref().map(|local| Tiles::of(local, rank, devices));
                        tiles.fitted(whole, part, inner.and_then(Result::ok).as_ref())?
                    }
                })
            }
            (Shape::Token, Shape::Token) => None,
            _ => {
                let message = format!("{global:#} cannot be divided: it is no array");
                return Err(Code::Unsupported { message }.into());
            }
        };
        Ok(Value { global: global.clone(), local: local.clone(), tiles })
    }
}

/// The results of a marker, one for each operand: of a single operand the result may be the value itself.
pub(super) fn results(instruction: &Instruction) -> Vec<&Shape> {
    match &instruction.shape {
        Shape::Tuple(parts) => parts.iter().collect(),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            vec![&instruction.shape]
        }
    }
}

/// Whether a marker gives what it takes: there is nothing to divide.
pub(super) fn keeps(computation: &Computation, instruction: &Instruction) -> bool {
    let results = results(instruction);
    let operands = instruction.operands.iter().map(|&o| &computation.instructions[o].shape);
    results.len() == operands.len()
        && operands.zip(results).all(|(operand, result)| operand.compatible(result))
}

/// The number of devices a sharding speaks of, if it says so.
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

/// The name of the attribute that has the shardings.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Cut => "xla.sdy.in_shardings",
        Kind::Join => "xla.sdy.out_shardings",
    }
}

/// The instruction that has Shardy's attributes for a marker: itself, or the call of the region's body beside it.
fn holder(computation: &Computation, id: InstructionId, kind: Kind) -> Option<&Instruction> {
    let instruction = &computation.instructions[id];
    let has = |instruction: &&Instruction| attribute(instruction, name(kind)).is_some();
    let through = |id: InstructionId| match &computation.instructions[id] {
        Instruction { op: Op::GetTupleElement(_), operands, .. } => operands[0],
        _ => id,
    };
    let is_call = |instruction: &&Instruction| matches!(instruction.op, Op::Call(_));
    let beside = || match kind {
        Kind::Join => {
            let call = &computation.instructions[through(*instruction.operands.first()?)];
            Some(call).filter(is_call).filter(has)
        }
        Kind::Cut => {
            let mut calls = computation.instructions.iter().map(|(_, i)| i).filter(is_call);
            calls.find(|call| has(call) && call.operands.iter().any(|&o| through(o) == id))
        }
    };
    Some(instruction).filter(has).or_else(beside)
}

fn sdy(holder: &Instruction, kind: Kind, meshes: &Meshes) -> Result<Spelling> {
    let text = |name: &str| {
        attribute(holder, name).ok_or_else(|| {
            let message = format!("the frontend attribute `{name}` is wanted");
            Error::from(Code::Sharding { message })
        })
    };
    let read = || {
        let values = shardy::shardings(name(kind), text(name(kind))?, meshes)?;
        let manual = shardy::manual_axes(text("xla.sdy.manual_axes")?)?;
        Ok(Spelling::Shardy { values, manual })
    };
    read().map_err(|error: Error| error.on(Place::Attribute("frontend_attributes")))
}

/// Of the array as a whole: the sharding of a cut's operand, of a join itself. Of the shards: that of the other.
fn stated(computation: &Computation, instruction: &Instruction, kind: Kind) -> Result<Spelling> {
    let operands = instruction.operands.iter().enumerate();
    let values = operands.map(|(i, &operand)| {
        let operand = &computation.instructions[operand];
        let (own, other) = (sharding(instruction, i), sharding(operand, 0));
        let (global, local) = match kind {
            Kind::Cut => (other, own),
            Kind::Join => (own, other),
        };
        if global.is_none() && operand.shape.array().is_some() {
            return Err(not_stated(kind));
        }
        let local = local.filter(|local| is_manual(local)).cloned();
        Ok(Stated { global: global.cloned(), local })
    });
    Ok(Spelling::Stated(values.collect::<Result<_>>()?))
}

fn not_stated(kind: Kind) -> Error {
    let whose = match kind {
        Kind::Cut => "of the operand",
        Kind::Join => "of the result",
    };
    let message = format!("the sharding {whose} is wanted, and not stated");
    Error::from(Code::Sharding { message }).with_help(
        "give it an attribute like `sharding={devices=[4,1]<=[4]}`, or the call frontend attributes `xla.sdy.*`",
    )
}
