//! Where manual regions begin and end: custom calls that cut arrays into shards, and those that put shards together.
//!
//! | | cuts | puts together | the sharding stands in |
//! |---|---|---|---|
//! | Shardy | `xla.sdy.GlobalToLocalShape` | `xla.sdy.LocalToGlobalShape` | frontend attributes |
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
        "xla.sdy.GlobalToLocalShape" | "SPMDFullToShardShape" => Some(Kind::Cut),
        "xla.sdy.LocalToGlobalShape" | "SPMDShardToFullShape" => Some(Kind::Join),
        _ => None,
    }
}

/// Whether what a join gives is still inside of a manual region, if it says so: GSPMD names the manual subgroups.
pub(super) fn is_inside(instruction: &Instruction) -> Option<bool> {
    let Op::CustomCall(call) = &instruction.op else { return None };
    if call.custom_call_target.0 != "SPMDShardToFullShape" {
        return None;
    }
    sharding(instruction).map(is_manual)
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

/// The sharding an instruction states for the array that it gives.
fn sharding(instruction: &Instruction) -> Option<&DeviceSharding> {
    match instruction.common.as_deref()?.sharding.as_ref()? {
        Sharding::One(sharding) => Some(sharding),
        Sharding::Tuple(parts) => match parts.as_slice() {
            [only] => Some(only),
            _ => None,
        },
    }
}

/// A marker with the shardings of its operands.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    kind: Kind,
    shardings: Spelling,
}

#[derive(Debug, Clone)]
enum Spelling {
    Shardy {
        values: Vec<ValueSharding>,
        manual: Vec<AxisRef>,
    },
    Gspmd {
        /// Of the array as a whole.
        global: DeviceSharding,
        /// Of the shards inside of the region, if it is stated.
        local: Option<DeviceSharding>,
    },
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
        let Op::CustomCall(call) = &instruction.op else { return Ok(None) };
        let span = computation.spans.get(id).copied().unwrap_or_default().body;
        let shardings = if call.custom_call_target.0.starts_with("SPMD") {
            gspmd(computation, instruction, kind)
        } else {
            sdy(instruction, kind, meshes)
        };
        let shardings = shardings.map_err(|error| error.placed(span))?;
        Ok(Some(Self { kind, shardings }))
    }

    /// The number of devices it speaks of, if it says so.
    pub(super) fn devices(&self) -> Option<usize> {
        match &self.shardings {
            Spelling::Shardy { values, .. } => {
                values.iter().filter_map(|value| shardy::devices(&value.mesh)).max()
            }
            Spelling::Gspmd { global, .. } => devices(global),
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
        let span = computation.spans.get(id).copied().unwrap_or_default().body;
        let results = results(instruction);
        let count = instruction.operands.len();
        if results.len() != count {
            let found = results.len();
            let message = format!("{count} operands are given, the result has {found} parts");
            return Err(Error::from(Code::Sharding { message }).placed(span));
        }
        if let Spelling::Shardy { values, .. } = &self.shardings
            && values.len() != count
        {
            let found = values.len();
            let message = format!("{count} operands are given, and {found} shardings");
            let place = Place::Attribute("frontend_attributes");
            return Err(Error::from(Code::Sharding { message }).placed(span).on(place));
        }
        let pairs = instruction.operands.iter().zip(results).enumerate();
        pairs
            .map(|(i, (&operand, result))| {
                let operand = &computation.instructions[operand].shape;
                self.value(i, operand, result, devices).map_err(|error| error.placed(span))
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
                    Spelling::Gspmd { global, local } => {
                        let inner = local.as_ref().map(|local| Tiles::of(local, rank, devices));
                        let inner = inner.and_then(Result::ok);
                        Tiles::of(global, rank, devices)?.fitted(whole, part, inner.as_ref())?
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

fn sdy(instruction: &Instruction, kind: Kind, meshes: &Meshes) -> Result<Spelling> {
    let name = match kind {
        Kind::Cut => "xla.sdy.in_shardings",
        Kind::Join => "xla.sdy.out_shardings",
    };
    let common = instruction.common.as_deref();
    let attributes = common.and_then(|common| common.frontend_attributes.as_ref());
    let text = |name: &str| {
        attributes.and_then(|attributes| shardy::attribute(attributes, name)).ok_or_else(|| {
            let message = format!("the frontend attribute `{name}` is wanted");
            Error::from(Code::Sharding { message })
        })
    };
    let read = || {
        let values = shardy::shardings(name, text(name)?, meshes)?;
        let manual = shardy::manual_axes(text("xla.sdy.manual_axes")?)?;
        Ok(Spelling::Shardy { values, manual })
    };
    read().map_err(|error: Error| error.on(Place::Attribute("frontend_attributes")))
}

/// The sharding of the array as a whole: of the operand of a cut, of a join itself; and of the shards, which is the other's.
fn gspmd(computation: &Computation, instruction: &Instruction, kind: Kind) -> Result<Spelling> {
    let operand = instruction.operands.first().map(|&id| &computation.instructions[id]);
    let (outside, inside, whose) = match kind {
        Kind::Cut => (operand, Some(instruction), "of the operand"),
        Kind::Join => (Some(instruction), operand, "of the result"),
    };
    let local = inside.and_then(sharding).filter(|local| is_manual(local)).cloned();
    match outside.and_then(sharding).cloned() {
        Some(global) => Ok(Spelling::Gspmd { global, local }),
        None => {
            let message = format!("the sharding {whose} is wanted, and not stated for an array");
            Err(Error::from(Code::Sharding { message })
                .with_help("give it an attribute like `sharding={devices=[4,1]<=[4]}`"))
        }
    }
}
