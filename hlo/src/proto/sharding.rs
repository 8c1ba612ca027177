//! Shardings.
use super::message::{self, OpMetadata, OpSharding};
use super::{bad, mesh, metadata};
use crate::Result;
use crate::ir::{
    DeviceSharding, NamedAxes, NamedDim, NamedSharding, Placement, Reduction, ShardGroup, Sharding,
    Subgroup, TileDevices, Tiling,
};
use crate::op::value::AxisRef;

const REPLICATED: i32 = 0;
const MAXIMAL: i32 = 1;
const TUPLE: i32 = 2;
const OTHER: i32 = 3;
const MANUAL: i32 = 4;
const UNKNOWN: i32 = 5;
const UNREDUCED: i32 = 6;

/// The `op_type` of the metadata that holds the reduction.
const REDUCTION: &[u8] = b"sdy::reduction_op";
/// The reductions, by their number in a named sharding, and their names in such metadata.
const REDUCTIONS: [(Reduction, &[u8]); 3] =
    [(Reduction::Sum, b"SUM"), (Reduction::Max, b"MAX"), (Reduction::Min, b"MIN")];

pub(super) fn encode(sharding: &Sharding) -> Result<OpSharding> {
    match sharding {
        Sharding::One(one) => encode_one(one),
        Sharding::Tuple(leaves) => Ok(OpSharding {
            kind: TUPLE,
            tuple_shardings: leaves.iter().map(encode_one).collect::<Result<_>>()?,
            ..OpSharding::default()
        }),
    }
}

fn encode_one(sharding: &DeviceSharding) -> Result<OpSharding> {
    let metadata = sharding.metadata.iter().map(metadata::encode).collect();
    let mut proto = OpSharding { metadata, ..OpSharding::default() };
    match &sharding.placement {
        Placement::Replicated => proto.kind = REPLICATED,
        Placement::Manual => proto.kind = MANUAL,
        Placement::Unknown => proto.kind = UNKNOWN,
        Placement::Unreduced(reduction) => {
            proto.kind = UNREDUCED;
            let name = REDUCTIONS
                .iter()
                .find(|(known, _)| known == reduction)
                .map(|(_, name)| name.to_vec());
            proto.metadata.push(OpMetadata {
                op_type: REDUCTION.to_vec(),
                op_name: name.unwrap_or_default(),
                ..OpMetadata::default()
            });
        }
        Placement::Maximal(device) => {
            proto.kind = MAXIMAL;
            proto.tile_assignment_devices.push(*device);
        }
        Placement::Tiled(tiling) => encode_tiling(tiling, &mut proto)?,
        Placement::Named(named) => {
            let mut named = encode_named(named)?;
            named.metadata = std::mem::take(&mut proto.metadata);
            proto.named_sharding = Some(named);
        }
    }
    if let Some(group) = sharding.group {
        proto.is_shard_group = true;
        (proto.shard_group_type, proto.shard_group_id) = match group {
            ShardGroup::As(id) => (0, id),
            ShardGroup::Like(id) => (1, id),
        };
    }
    Ok(proto)
}

fn encode_tiling(tiling: &Tiling, proto: &mut OpSharding) -> Result<()> {
    proto.kind = OTHER;
    proto.tile_assignment_dimensions.clone_from(&tiling.dims);
    match &tiling.devices {
        TileDevices::List(ids) => proto.tile_assignment_devices.clone_from(ids),
        TileDevices::Iota(iota) => {
            (proto.iota_reshape_dims, proto.iota_transpose_perm) = mesh::encode_iota(iota)?;
        }
    }
    if tiling.subgroups == [Subgroup::Replicated] {
        proto.replicate_on_last_tile_dim = true;
        return Ok(());
    }
    proto.last_tile_dims.extend(tiling.subgroups.iter().map(|subgroup| match subgroup {
        Subgroup::Maximal => MAXIMAL,
        Subgroup::Manual => MANUAL,
        Subgroup::Unreduced => UNREDUCED,
        Subgroup::Replicated => REPLICATED,
    }));
    Ok(())
}

fn encode_named(sharding: &NamedSharding) -> Result<message::NamedSharding> {
    let axes = |axes: &[AxisRef]| mesh::encode_axes(&sharding.mesh, axes);
    let all = || -> Vec<_> {
        let names = sharding.mesh.axes.iter().map(|axis| axis.name.clone());
        names.map(AxisRef::new).collect()
    };
    let (mut dims, mut manual, mut unreduced) =
        (&[][..], sharding.manual.clone(), sharding.unreduced.clone());
    match &sharding.axes {
        NamedAxes::Dims(of) => dims = of,
        NamedAxes::Replicated => {}
        NamedAxes::Manual => manual = all(),
        // Named axes are those that the word stands for.
        NamedAxes::Unreduced if unreduced.is_empty() => unreduced = all(),
        NamedAxes::Unreduced => {}
    }
    let dim = |dim: &NamedDim| {
        Ok(message::DimensionSharding { axes: axes(&dim.axes)?, is_closed: !dim.open })
    };
    let reduction = REDUCTIONS.iter().zip(0..).find(|((known, _), _)| *known == sharding.reduction);
    Ok(message::NamedSharding {
        mesh: Some(mesh::encode(&sharding.mesh)),
        dim_shardings: dims.iter().map(dim).collect::<Result<_>>()?,
        replicated_axes: axes(&sharding.replicated)?,
        unreduced_axes: axes(&unreduced)?,
        manual_axes: axes(&manual)?,
        reduction_op: reduction.map_or(0, |(_, number)| number),
        metadata: Vec::new(),
    })
}

pub(super) fn decode(proto: &OpSharding) -> Result<Sharding> {
    if proto.kind != TUPLE || proto.named_sharding.is_some() {
        return decode_one(proto).map(Sharding::One);
    }
    proto.tuple_shardings.iter().map(decode_one).collect::<Result<_>>().map(Sharding::Tuple)
}

fn decode_one(proto: &OpSharding) -> Result<DeviceSharding> {
    if let Some(named) = &proto.named_sharding {
        let metadata = named.metadata.iter().map(metadata::decode).collect::<Result<_>>()?;
        let placement = Placement::Named(Box::new(decode_named(named)?));
        return Ok(DeviceSharding { placement, group: None, metadata });
    }
    let (mut metadata, mut reduction) = (Vec::new(), Reduction::Sum);
    for entry in &proto.metadata {
        if entry.op_type == REDUCTION {
            let found = REDUCTIONS.iter().find(|(_, name)| entry.op_name == **name);
            reduction = found.map_or(reduction, |(reduction, _)| *reduction);
        } else {
            metadata.push(metadata::decode(entry)?);
        }
    }
    let placement = match proto.kind {
        REPLICATED => Placement::Replicated,
        MANUAL => Placement::Manual,
        UNKNOWN => Placement::Unknown,
        UNREDUCED => Placement::Unreduced(reduction),
        MAXIMAL => match proto.tile_assignment_devices.as_slice() {
            &[device] => Placement::Maximal(device),
            _ => return Err(bad("a maximal sharding names one device")),
        },
        OTHER => decode_tiling(proto)?,
        TUPLE => return Err(bad("the sharding of a leaf cannot be that of a tuple")),
        other => return Err(bad(format!("{other} is not a kind of sharding"))),
    };
    let id = proto.shard_group_id;
    let group = match (proto.is_shard_group, proto.shard_group_type) {
        (false, _) => None,
        (true, 0) => Some(ShardGroup::As(id)),
        (true, 1) => Some(ShardGroup::Like(id)),
        (true, other) => return Err(bad(format!("{other} is not a kind of shard group"))),
    };
    Ok(DeviceSharding { placement, group, metadata })
}

fn decode_tiling(proto: &OpSharding) -> Result<Placement> {
    let order: Vec<_> = proto.iota_transpose_perm.iter().map(|&dim| i64::from(dim)).collect();
    let devices =
        match (proto.iota_reshape_dims.as_slice(), proto.tile_assignment_devices.as_slice()) {
            ([], []) => return Err(bad("the tiling has no devices")),
            // As in XLA, one device has the whole value.
            ([], [_]) => return Ok(Placement::Replicated),
            ([], ids) => TileDevices::List(ids.to_vec()),
            (reshape, []) if reshape.iter().all(|&size| size == 1) => {
                return Ok(Placement::Replicated);
            }
            (reshape, []) => TileDevices::Iota(mesh::decode_iota(reshape, &order)?),
            (_, _) => return Err(bad("a tiling has both an iota and a list of devices")),
        };
    let subgroup = |&kind: &i32| match kind {
        MAXIMAL => Ok(Subgroup::Maximal),
        MANUAL => Ok(Subgroup::Manual),
        UNREDUCED => Ok(Subgroup::Unreduced),
        REPLICATED => Ok(Subgroup::Replicated),
        other => Err(bad(format!("{other} is not a kind of subgroup"))),
    };
    let subgroups: Vec<_> = proto.last_tile_dims.iter().map(subgroup).collect::<Result<_>>()?;
    let subgroups = match (proto.replicate_on_last_tile_dim, subgroups.is_empty()) {
        (true, true) => vec![Subgroup::Replicated],
        (true, false) => {
            return Err(bad(
                "`replicate_on_last_tile_dim` and `last_tile_dims` are mutually exclusive",
            ));
        }
        (false, _) => subgroups,
    };
    Tiling::placement(proto.tile_assignment_dimensions.clone(), devices, subgroups)
}

fn decode_named(proto: &message::NamedSharding) -> Result<NamedSharding> {
    let mesh = mesh::decode(proto.mesh.as_ref())?;
    let axes = |axes: &[message::AxisRef]| mesh::decode_axes(&mesh, axes);
    let dim = |dim: &message::DimensionSharding| {
        Ok(NamedDim { axes: axes(&dim.axes)?, open: !dim.is_closed })
    };
    let number = usize::try_from(proto.reduction_op).unwrap_or(usize::MAX);
    let reduction = REDUCTIONS.get(number).map(|(reduction, _)| *reduction);
    let mut sharding = NamedSharding {
        axes: NamedAxes::Dims(proto.dim_shardings.iter().map(dim).collect::<Result<_>>()?),
        replicated: axes(&proto.replicated_axes)?,
        unreduced: axes(&proto.unreduced_axes)?,
        reduction: reduction
            .ok_or_else(|| bad(format!("{} is not a reduction", proto.reduction_op)))?,
        manual: axes(&proto.manual_axes)?,
        mesh,
    };
    sharding.complete()?;
    Ok(sharding)
}
