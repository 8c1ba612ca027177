//! The tiles that an array may have, of a sharding that no text states.
//!
//! A partitioner chooses the sharding of a result that the program leaves open, and may not write
//! it down. The shape of the shard determines into how many tiles each dimension is divided, but
//! not along which axes of the mesh.
use super::placement::Tiles;
use super::shardy::ValueSharding;
use hlo::ArrayShape;
use hlo::op::value::{AxisRef, Mesh, MeshAxis, MeshDevices};

/// The most candidates.
const MAX_CANDIDATES: usize = 64;

/// Returns the tiles along the axes of the meshes that divide an array into shards of this shape.
/// Without a mesh, the devices are in order along the dimensions.
pub(super) fn candidates<'a>(
    meshes: impl Iterator<Item = &'a Mesh>,
    global: &ArrayShape,
    local: &ArrayShape,
    devices: usize,
) -> Vec<Tiles> {
    let count = |(&whole, &part): (&i64, &i64)| {
        (part > 0 && whole % part == 0).then(|| whole / part).filter(|&count| count > 0)
    };
    let Some(counts) = global.dims.iter().zip(&local.dims).map(count).collect::<Option<Vec<i64>>>()
    else {
        return Vec::new();
    };
    let meshes: Vec<&Mesh> = meshes.collect();
    let in_order = in_order(&counts, devices).filter(|_| meshes.is_empty());
    let divided = meshes.into_iter().map(|mesh| (mesh, divisions(mesh, &counts)));
    let in_order = in_order.iter().map(|mesh| {
        let dims = axes(mesh).into_iter().map(|axis| vec![axis]).take(counts.len());
        (mesh, vec![dims.collect()])
    });
    let mut found: Vec<Tiles> = Vec::new();
    for (mesh, divisions) in divided.chain(in_order) {
        let axes = axes(mesh);
        for dims in divisions {
            let sharding = ValueSharding {
                mesh: mesh.clone(),
                open: vec![false; dims.len()],
                dims,
                unreduced: Vec::new(),
            };
            let tiles = Tiles::on_mesh(&sharding, &axes, counts.len(), devices);
            let fits = |tiles: &Tiles| {
                tiles.shard_shape(global).is_some_and(|shape| shape.dims == local.dims)
            };
            found.extend(tiles.ok().filter(|tiles| fits(tiles) && !found.contains(tiles)));
        }
    }
    found
}

fn axes(mesh: &Mesh) -> Vec<AxisRef> {
    mesh.axes.iter().map(|axis| AxisRef::new(axis.name.clone())).collect()
}

/// Returns a mesh with an axis for each dimension, and one for devices with the same shard.
fn in_order(counts: &[i64], devices: usize) -> Option<Mesh> {
    let all: i64 = counts.iter().product();
    let devices = i64::try_from(devices).ok()?;
    let rest = (all > 0 && devices % all == 0).then(|| devices / all)?;
    let axis = |(i, &size): (usize, &i64)| MeshAxis { name: format!("d{i}").into(), size };
    let axes = counts.iter().chain([&rest]).enumerate().map(axis).collect();
    Some(Mesh { axes, devices: MeshDevices::Ordered })
}

/// Returns the ways to divide dimensions by axes, each of which is used once: for each dimension a
/// list of axes whose sizes multiply to its count.
fn divisions(mesh: &Mesh, counts: &[i64]) -> Vec<Vec<Vec<AxisRef>>> {
    let mut found = Vec::new();
    // The axes of the dimensions so far, and what is left of the count of the last one.
    let mut open: Vec<(Vec<Vec<usize>>, i64)> = vec![(Vec::new(), 1)];
    while let Some((dims, left)) = open.pop() {
        if found.len() == MAX_CANDIDATES {
            break;
        }
        if left == 1 {
            match counts.get(dims.len()) {
                Some(&count) => {
                    let mut next = dims;
                    next.push(Vec::new());
                    open.push((next, count));
                }
                None => found.push(dims),
            }
            continue;
        }
        let used = |axis: &usize| dims.iter().flatten().any(|other| other == axis);
        for (axis, MeshAxis { size, .. }) in mesh.axes.iter().enumerate().rev() {
            if *size > 1 && left % size == 0 && !used(&axis) {
                let mut next = dims.clone();
                next.last_mut().into_iter().for_each(|dim| dim.push(axis));
                open.push((next, left / size));
            }
        }
    }
    let name = |axis: usize| AxisRef::new(mesh.axes[axis].name.clone());
    let named = |dims: Vec<Vec<usize>>| {
        dims.into_iter().map(|axes| axes.into_iter().map(name).collect()).collect()
    };
    found.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(axes: &[(&str, i64)], global: &[i64], local: &[i64]) -> Vec<Vec<Vec<i64>>> {
        let axis = |&(name, size): &(&str, i64)| MeshAxis { name: name.into(), size };
        let mesh = Mesh { axes: axes.iter().map(axis).collect(), devices: MeshDevices::Ordered };
        let meshes = if axes.is_empty() { vec![] } else { vec![mesh] };
        let shape = |dims| ArrayShape::new(hlo::ElementType::S64, dims);
        let (global, local) = (shape(global), shape(local));
        let whole: Vec<i64> = (0..global.dims.iter().product()).collect();
        let whole = hlo::Literal::from_slice(&global.dims, &whole);
        let first = |tiles: &Tiles| {
            let shard = |device| tiles.shard(device, &whole, &local);
            (0..4).map(|device| shard(device).as_slice::<i64>().unwrap().to_vec()).collect()
        };
        candidates(meshes.iter(), &global, &local, 4).iter().map(first).collect()
    }

    #[test]
    fn axes_of_equal_size_can_be_exchanged() {
        let found = positions(&[("a", 2), ("b", 2)], &[2, 2], &[1, 1]);
        assert_eq!(found, [[[0], [1], [2], [3]], [[0], [2], [1], [3]]]);
        let found = positions(&[("a", 2), ("b", 2)], &[2], &[1]);
        assert_eq!(found, [[[0], [0], [1], [1]], [[0], [1], [0], [1]]]);
        assert_eq!(positions(&[("a", 4)], &[4, 1], &[1, 1]), [[[0], [1], [2], [3]]]);
        assert_eq!(positions(&[], &[2, 2], &[1, 1]), [[[0], [1], [2], [3]]]);
        // Three tiles of four devices, and shards that do not divide the array.
        assert!(positions(&[("a", 4)], &[3], &[1]).is_empty());
        assert!(positions(&[("a", 4)], &[4], &[3]).is_empty());
    }
}
