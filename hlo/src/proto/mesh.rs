//! Meshes, references to their axes, and lists of devices that follow from an iota.
use super::message::{self, IotaReplicaGroupList, IotaTransform, MeshAxesReplicaGroupList};
use super::{bad, limit};
use crate::Result;
use crate::diag::quantity;
use crate::op::value::{
    AxisRef, IotaDims, IotaTiling, Mesh, MeshAxis, MeshDevices, MeshGroups, SubAxis,
};
use crate::text::strings;

/// Returns the order of the dimensions of an iota, which the text omits if there is one.
fn order(iota: &IotaDims) -> Vec<i64> {
    iota.transpose().map_or_else(|| vec![0], <[i64]>::to_vec)
}
pub(super) fn encode_iota(iota: &IotaDims) -> Result<(Vec<i64>, Vec<i32>)> {
    let order = order(iota).into_iter().map(limit).collect::<Result<_>>()?;
    Ok((iota.reshape().to_vec(), order))
}
pub(super) fn decode_iota(reshape: &[i64], order: &[i64]) -> Result<IotaDims> {
    if reshape.len() != order.len() {
        let (sizes, order) = (reshape.len(), order.len());
        return Err(bad(format!(
            "an iota has {} and an order of {order} dimensions",
            quantity(sizes, "size")
        )));
    }
    IotaDims::new(reshape, Some(order).filter(|order| order.len() > 1))
}

pub(super) fn encode_tiling(tiling: &IotaTiling) -> Result<IotaReplicaGroupList> {
    let (iota_reshape_dims, iota_transpose_perm) = encode_iota(tiling.ids())?;
    Ok(IotaReplicaGroupList {
        num_replica_groups: tiling.group_count(),
        num_devices_per_group: tiling.group_size(),
        iota_reshape_dims,
        iota_transpose_perm,
    })
}
pub(super) fn decode_tiling(proto: &IotaReplicaGroupList) -> Result<IotaTiling> {
    let order: Vec<_> = proto.iota_transpose_perm.iter().map(|&dim| i64::from(dim)).collect();
    let ids = decode_iota(&proto.iota_reshape_dims, &order)?;
    IotaTiling::new(proto.num_replica_groups, proto.num_devices_per_group, ids)
}
pub(super) fn decode_groups(proto: &MeshAxesReplicaGroupList) -> Result<MeshGroups> {
    let mesh = decode(proto.mesh.as_ref())?;
    let axes = decode_axes(&mesh, &proto.axes)?;
    MeshGroups::new(mesh, axes)
}

pub(super) fn encode(mesh: &Mesh) -> message::Mesh {
    let axis = |axis: &MeshAxis| message::MeshAxis {
        name: strings::bytes(&axis.name).into_owned(),
        size: axis.size,
    };
    let mut proto =
        message::Mesh { axes: mesh.axes.iter().map(axis).collect(), ..message::Mesh::default() };
    match &mesh.devices {
        MeshDevices::Ordered => {}
        MeshDevices::Iota(iota) => {
            proto.iota_transform = Some(IotaTransform {
                reshape_dims: iota.reshape().to_vec(),
                transpose_perm: order(iota),
            });
        }
        MeshDevices::List(ids) => proto.device_ids.clone_from(ids),
        MeshDevices::Maximal(id) => proto.device_ids.push(*id),
    }
    proto
}
pub(super) fn decode(proto: Option<&message::Mesh>) -> Result<Mesh> {
    let proto = proto.ok_or_else(|| bad("the mesh is missing"))?;
    let axis = |axis: &message::MeshAxis| MeshAxis {
        name: strings::from_bytes(axis.name.clone()).into(),
        size: axis.size,
    };
    let axes: Vec<_> = proto.axes.iter().map(axis).collect();
    let devices = match (&proto.iota_transform, proto.device_ids.as_slice()) {
        (None, []) => MeshDevices::Ordered,
        (None, &[id]) if axes.is_empty() => MeshDevices::Maximal(id),
        (None, ids) => MeshDevices::List(ids.to_vec()),
        (Some(_), [_, ..]) => return Err(bad("a mesh has both an iota and a list of devices")),
        (Some(iota), []) => {
            MeshDevices::Iota(decode_iota(&iota.reshape_dims, &iota.transpose_perm)?)
        }
    };
    Mesh::new(axes, devices)
}

pub(super) fn encode_axes(mesh: &Mesh, axes: &[AxisRef]) -> Result<Vec<message::AxisRef>> {
    let axis = |axis: &AxisRef| {
        let position = mesh.axis(&axis.name).and_then(|position| i64::try_from(position).ok());
        Ok(message::AxisRef {
            mesh_axis_index: position
                .ok_or_else(|| bad(format!("the mesh has no axis `{}`", axis.name)))?,
            sub_axis_info: axis
                .part
                .map(|SubAxis { pre, size }| message::SubAxis { pre_size: pre, size }),
        })
    };
    axes.iter().map(axis).collect()
}
pub(super) fn decode_axes(mesh: &Mesh, axes: &[message::AxisRef]) -> Result<Vec<AxisRef>> {
    let axis = |axis: &message::AxisRef| {
        let number = axis.mesh_axis_index;
        let found = usize::try_from(number).ok().and_then(|i| mesh.axes.get(i));
        let found = found.ok_or_else(|| bad(format!("the mesh has no axis {number}")))?;
        let part =
            axis.sub_axis_info.as_ref().map(|part| SubAxis { pre: part.pre_size, size: part.size });
        Ok(AxisRef { name: found.name.clone(), part })
    };
    axes.iter().map(axis).collect()
}
