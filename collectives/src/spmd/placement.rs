//! Where the shards of devices lie in a global array: cutting an array into shards, and putting shards together.
//!
//! An array is divided into tiles of equal size. Every device has one of them, and several may have the same. A tile is known
//! by its number along each dimension.
use super::shardy::ValueSharding;
use crate::{Code, Error, Result};
use hlo::ir::{DeviceSharding, NamedAxes, NamedSharding, Placement as Placed, Subgroup};
use hlo::op::value::{AxisRef, Mesh, MeshDevices, MeshGroups};
use hlo::{ArrayShape, Literal, Scalar};

/// Where the shards of devices lie in an array of some rank.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tiles {
    /// Number of tiles along each dimension.
    counts: Vec<usize>,
    /// The tile of each device.
    places: Vec<Vec<usize>>,
    /// Devices whose shards belong to one array. Those of different groups hold different arrays: they differ along axes that
    /// are cut further out.
    groups: Vec<Vec<usize>>,
}

/// Shards that lie at the same place and are not equal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unequal {
    /// The device whose shard counts.
    pub(super) first: usize,
    /// Those whose shards differ from it.
    pub(super) others: Vec<usize>,
    /// The largest distance of two elements; infinite where one is no number.
    pub(super) distance: f64,
}

fn unsupported(message: impl Into<String>) -> Error {
    Code::Unsupported { message: message.into() }.into()
}
fn wrong(message: impl Into<String>) -> Error {
    Code::Sharding { message: message.into() }.into()
}
fn rank_differs(found: usize, rank: usize) -> Error {
    wrong(format!("the sharding is for an array of rank {found}, the array has rank {rank}"))
}
fn to_usize(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

impl Tiles {
    /// Every device has all of the array.
    pub(super) fn whole(rank: usize, devices: usize) -> Self {
        Self {
            counts: vec![1; rank],
            places: vec![vec![0; rank]; devices],
            groups: vec![(0..devices).collect()],
        }
    }

    /// Tiles along the axes of a mesh that are `manual`; along the others the array stays whole.
    ///
    /// # Errors
    /// `E0511` if the sharding does not fit the rank or names an axis after one that is not manual; `E0507`.
    pub(super) fn on_mesh(
        sharding: &ValueSharding,
        manual: &[AxisRef],
        rank: usize,
        devices: usize,
    ) -> Result<Self> {
        let ValueSharding { mesh, dims, unreduced } = sharding;
        if matches!(mesh.devices, MeshDevices::Maximal(_)) {
            return Err(unsupported("a value that one device alone has is not run yet"));
        }
        if dims.len() != rank {
            return Err(rank_differs(dims.len(), rank));
        }
        let is_manual = |axis: &AxisRef| manual.iter().any(|m| m.name == axis.name);
        if unreduced.iter().any(is_manual) {
            return Err(unsupported(
                "sums that are still to be made (`unreduced`) are not run yet",
            ));
        }
        let mut cut = Vec::with_capacity(rank);
        for axes in dims {
            let (first, rest) = axes.split_at(axes.iter().take_while(|a| is_manual(a)).count());
            if let Some(late) = rest.iter().find(|a| is_manual(a)) {
                let message = format!("the manual axis `{}` follows one that is not", late.name);
                return Err(wrong(message));
            }
            cut.push(first.to_vec());
        }
        let groups = along(mesh, manual)?;
        Self::along_axes(mesh, &cut, groups, devices)
    }

    /// Tiles along axes of a mesh, one list for each dimension.
    fn along_axes(
        mesh: &Mesh,
        dims: &[Vec<AxisRef>],
        groups: Option<Vec<Vec<usize>>>,
        devices: usize,
    ) -> Result<Self> {
        let mut tiles = Self::whole(dims.len(), devices);
        tiles.groups = groups.unwrap_or_else(|| (0..devices).map(|device| vec![device]).collect());
        for (dim, axes) in dims.iter().enumerate() {
            for group in along(mesh, axes)?.unwrap_or_default() {
                tiles.counts[dim] = group.len();
                for (place, device) in group.into_iter().enumerate() {
                    tiles.place(device)?[dim] = place;
                }
            }
        }
        Ok(tiles)
    }
    fn place(&mut self, device: usize) -> Result<&mut Vec<usize>> {
        let devices = self.places.len();
        self.places.get_mut(device).ok_or_else(|| {
            wrong(format!("the sharding names device {device}, there are {devices}"))
        })
    }

    /// Tiles as `sharding=` states them.
    ///
    /// # Errors
    /// `E0511` if it does not fit the rank or the number of devices; `E0507` where it does not say where the shards lie.
    pub(super) fn of(sharding: &DeviceSharding, rank: usize, devices: usize) -> Result<Self> {
        match &sharding.placement {
            Placed::Replicated => Ok(Self::whole(rank, devices)),
            Placed::Tiled(tiling) => {
                let data = tiling.dims.len() - tiling.subgroups.len();
                if data != rank {
                    return Err(rank_differs(data, rank));
                }
                let dims: Vec<usize> = tiling.dims.iter().map(|&d| to_usize(d)).collect();
                // Their list could be longer than memory.
                let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
                if count.is_none_or(|count| count > devices) {
                    let message = "the sharding is for more devices than there are";
                    return Err(wrong(format!("{message}: {devices}")));
                }
                let manual = tiling.subgroups.iter().position(|&s| s == Subgroup::Manual);
                let groups = manual.map_or(1, |at| dims[data + at]);
                let mut tiles = Self::whole(rank, devices);
                tiles.counts = dims[..data].to_vec();
                tiles.groups = vec![Vec::new(); groups];
                for (at, id) in tiling.devices.expand().into_iter().enumerate() {
                    let index = unravel(at, &dims);
                    let device = usize::try_from(id).unwrap_or(usize::MAX);
                    *tiles.place(device)? = index[..data].to_vec();
                    tiles.groups[manual.map_or(0, |at| index[data + at])].push(device);
                }
                Ok(tiles)
            }
            Placed::Named(named) => Self::named(named, rank, devices),
            Placed::Manual => Err(unsupported("`manual` alone does not say where shards lie")),
            Placed::Maximal(_) => {
                Err(unsupported("a value that one device alone has is not run yet"))
            }
            Placed::Unreduced(_) => {
                Err(unsupported("sums that are still to be made (`unreduced`) are not run yet"))
            }
            Placed::Unknown => Err(wrong("the sharding is not known")),
        }
    }
    fn named(sharding: &NamedSharding, rank: usize, devices: usize) -> Result<Self> {
        let dims = match &sharding.axes {
            NamedAxes::Dims(dims) => dims,
            NamedAxes::Replicated => return Ok(Self::whole(rank, devices)),
            NamedAxes::Manual => {
                return Err(unsupported("`manual` alone does not say where shards lie"));
            }
            NamedAxes::Unreduced => {
                return Err(unsupported(
                    "sums that are still to be made (`unreduced`) are not run yet",
                ));
            }
        };
        if dims.len() != rank {
            return Err(rank_differs(dims.len(), rank));
        }
        let axes: Vec<Vec<AxisRef>> = dims.iter().map(|dim| dim.axes.clone()).collect();
        let mesh = &sharding.mesh;
        let inner = mesh.axes.iter().map(|axis| AxisRef::new(axis.name.clone()));
        let is_outer = |axis: &AxisRef| sharding.manual.iter().any(|m| m.name == axis.name);
        let inner: Vec<AxisRef> = inner.filter(|axis| !is_outer(axis)).collect();
        Self::along_axes(mesh, &axes, along(mesh, &inner)?, devices)
    }

    /// The devices of each array.
    pub(super) fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }
    /// Fails unless shards of shape `local` make an array of shape `global`.
    ///
    /// The tiles may be finer than what manual axes divide: axes that are not manual may divide the array further, which is
    /// nothing to the program. Then several tiles make a shard, and `inner`, the tiles of the shards by themselves, says which
    /// devices have the same one.
    ///
    /// # Errors
    /// `E0511`, `E0507`
    pub(super) fn fitted(
        mut self,
        global: &ArrayShape,
        local: &ArrayShape,
        inner: Option<&Self>,
    ) -> Result<Self> {
        if global.ty != local.ty || global.rank() != local.rank() {
            return Err(wrong(format!("{local:#} is no shard of {global:#}")));
        }
        if global.dynamic.is_some() || local.dynamic.is_some() {
            return Err(unsupported("shards of arrays of dynamic sizes are not run yet"));
        }
        for (dim, (&whole, &part)) in global.dims.iter().zip(&local.dims).enumerate() {
            let count = self.counts[dim];
            // So many tiles along the dimension are in one shard.
            let shards = if whole == part { Some(1) } else { quotient(whole, part) };
            let merged = shards.filter(|&n| n == 1 || ((1..count).contains(&n) && inner.is_some()));
            if let Some(tiles) = merged.and_then(|n| count.is_multiple_of(n).then(|| count / n)) {
                self.counts[dim] = count / tiles;
                self.places.iter_mut().for_each(|place| place[dim] /= tiles);
            } else if i64::try_from(count).ok().and_then(|n| part.checked_mul(n)) != Some(whole) {
                let message = format!(
                    "dimension {dim} of {global:#} is divided into {count} tiles, the shard is {local:#}"
                );
                let uneven = count > 0 && whole % i64::try_from(count).unwrap_or(1) != 0;
                return Err(if uneven {
                    let why = "tiles of unequal sizes are not run yet";
                    unsupported(format!("{message}: {why}"))
                } else {
                    wrong(message)
                });
            }
        }
        let apart = inner.is_some_and(|inner| {
            let place = |&device: &usize| self.places.get(device);
            inner.groups.iter().any(|g| g.iter().any(|device| place(device) != place(&g[0])))
        });
        if apart {
            return Err(unsupported(
                "devices that should have the same shard lie at different places of the array",
            ));
        }
        Ok(self)
    }
    /// The shape of a shard, if the tiles are of equal size.
    pub(super) fn shard_shape(&self, global: &ArrayShape) -> Option<ArrayShape> {
        let mut dims = global.dims.clone();
        for (size, &count) in dims.iter_mut().zip(&self.counts) {
            let count = i64::try_from(count).ok().filter(|&count| count > 0)?;
            *size = (*size % count == 0).then_some(*size / count)?;
        }
        Some(ArrayShape::new(global.ty, dims))
    }

    /// The shard of a device.
    pub(super) fn cut(&self, device: usize, global: &Literal, local: &ArrayShape) -> Literal {
        let mut shard = Literal::zeros(ArrayShape::new(local.ty, local.dims.clone()));
        let Some(whole) = global.array_shape() else { return shard };
        let (from, to) = (global.bytes(), shard.bytes_mut());
        rows(whole, local, &self.places[device], |at, piece, length| {
            to[piece..piece + length].copy_from_slice(&from[at..at + length]);
        });
        shard
    }
    /// The array that the shards of a group make, and where they do not agree. Of several shards that lie at one place, the
    /// first device's counts.
    pub(super) fn put(
        &self,
        group: &[usize],
        shards: &[&Literal],
        global: &ArrayShape,
    ) -> (Literal, Vec<Unequal>) {
        let mut array = Literal::zeros(ArrayShape::new(global.ty, global.dims.clone()));
        let mut unequal: Vec<Unequal> = Vec::new();
        let mut seen: Vec<(&[usize], usize)> = Vec::new();
        for (i, &device) in group.iter().enumerate() {
            let place = self.places[device].as_slice();
            if let Some(&(_, first)) = seen.iter().find(|(other, _)| *other == place) {
                note(&mut unequal, (group[first], shards[first]), (device, shards[i]));
                continue;
            }
            seen.push((place, i));
            let Some(local) = shards[i].array_shape() else { continue };
            let (from, to) = (shards[i].bytes(), array.bytes_mut());
            rows(global, local, place, |at, piece, length| {
                to[at..at + length].copy_from_slice(&from[piece..piece + length]);
            });
        }
        (array, unequal)
    }
}

/// Groups of devices that differ only along `axes`, the first axis slowest; nothing if there is one device along them.
fn along(mesh: &Mesh, axes: &[AxisRef]) -> Result<Option<Vec<Vec<usize>>>> {
    let single = |axis: &AxisRef| {
        axis.part.is_none() && mesh.axis(&axis.name).is_some_and(|at| mesh.axes[at].size == 1)
    };
    let axes: Vec<AxisRef> = axes.iter().filter(|axis| !single(axis)).cloned().collect();
    if axes.is_empty() || mesh.axes.is_empty() {
        return Ok(None);
    }
    let groups = MeshGroups::new(mesh.clone(), axes).map_err(|e| wrong(e.code().to_string()))?;
    let group = |ids: Vec<i64>| ids.into_iter().map(to_usize).collect();
    Ok(Some(groups.expand().into_iter().map(group).collect()))
}

/// How often `part` goes into `whole`, if it does.
fn quotient(whole: i64, part: i64) -> Option<usize> {
    (part > 0 && whole % part == 0).then(|| usize::try_from(whole / part).ok()).flatten()
}

/// The index that position `at` has in an array of sizes `dims`.
fn unravel(mut at: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for (slot, &size) in index.iter_mut().zip(dims).rev() {
        *slot = at % size.max(1);
        at /= size.max(1);
    }
    index
}

/// Visits the runs of bytes of a tile: where each begins in the whole array and in the tile, and how long it is.
fn rows(
    whole: &ArrayShape,
    piece: &ArrayShape,
    place: &[usize],
    mut visit: impl FnMut(usize, usize, usize),
) {
    let sizes = |shape: &ArrayShape| shape.dims.iter().map(|&d| to_usize(d)).collect::<Vec<_>>();
    let (whole_dims, dims) = (sizes(whole), sizes(piece));
    // Dimensions after the last that is divided lie together in both.
    let divided = (0..dims.len()).rfind(|&d| dims[d] != whole_dims[d]).unwrap_or(0);
    let run: usize = dims.iter().skip(divided).product::<usize>() * whole.ty.storage_bytes();
    let count: usize = dims[..divided.min(dims.len())].iter().product();
    if run == 0 {
        return;
    }
    for row in 0..count {
        let mut index = unravel(row, &dims[..divided]);
        index.resize(dims.len(), 0);
        let at =
            (0..dims.len()).fold(0, |at, d| at * whole_dims[d] + place[d] * dims[d] + index[d]);
        visit(at * whole.ty.storage_bytes(), row * run, run);
    }
}

/// Notes that a device's shard differs from the one that counts, if it does.
fn note(unequal: &mut Vec<Unequal>, first: (usize, &Literal), other: (usize, &Literal)) {
    if first.1.bytes() == other.1.bytes() {
        return;
    }
    let far = distance(first.1, other.1);
    match unequal.iter_mut().find(|known| known.first == first.0) {
        Some(known) => {
            known.others.push(other.0);
            known.distance = known.distance.max(far);
        }
        None => unequal.push(Unequal { first: first.0, others: vec![other.0], distance: far }),
    }
}

/// The largest distance of two elements at the same index.
fn distance(a: &Literal, b: &Literal) -> f64 {
    let parts = |x: Scalar| match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    };
    let mut far = 0.0f64;
    for i in 0..a.len().min(b.len()) {
        for (x, y) in parts(a.get(i)).into_iter().zip(parts(b.get(i))) {
            // NaN against NaN is no distance; against a number it is as far as can be.
            let apart = match (x.is_nan(), y.is_nan()) {
                (true, true) => 0.0,
                (false, false) if x.total_cmp(&y).is_eq() => 0.0,
                (false, false) => (x - y).abs(),
                (true, false) | (false, true) => f64::INFINITY,
            };
            far = far.max(apart);
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::op::value::MeshAxis;

    fn mesh(axes: &[(&str, i64)], devices: MeshDevices) -> Mesh {
        let axis = |&(name, size): &(&str, i64)| MeshAxis { name: name.into(), size };
        Mesh { axes: axes.iter().map(axis).collect(), devices }
    }
    fn tiles(mesh: Mesh, dims: &[&[&str]], manual: &[&str], devices: usize) -> Result<Tiles> {
        let refs = |names: &[&str]| names.iter().map(|&name| AxisRef::new(name)).collect();
        let dims: Vec<Vec<AxisRef>> = dims.iter().map(|names| refs(names)).collect();
        let rank = dims.len();
        let sharding = ValueSharding { mesh, dims, unreduced: Vec::new() };
        let manual: Vec<AxisRef> = refs(manual);
        Tiles::on_mesh(&sharding, &manual, rank, devices)
    }
    fn literal(text: &str) -> Literal {
        text.parse().unwrap()
    }
    fn shard(tiles: &Tiles, device: usize, global: &Literal, local: &ArrayShape) -> Vec<i32> {
        tiles.cut(device, global, local).as_slice().unwrap().to_vec()
    }

    #[test]
    fn shards_follow_the_axes() {
        let x = literal("s32[2,4] {{0, 1, 2, 3}, {10, 11, 12, 13}}");
        let ordered = || mesh(&[("a", 2), ("b", 2)], MeshDevices::Ordered);
        let local = ArrayShape::new(hlo::ElementType::S32, [1, 2].as_slice());
        let both = tiles(ordered(), &[&["a"], &["b"]], &["a", "b"], 4).unwrap();
        let both = both.fitted(x.array_shape().unwrap(), &local, None).unwrap();
        let found: Vec<_> = (0..4).map(|device| shard(&both, device, &x, &local)).collect();
        assert_eq!(found, [[0, 1], [2, 3], [10, 11], [12, 13]]);
        let listed = mesh(&[("a", 2), ("b", 2)], MeshDevices::List(vec![2, 0, 3, 1]));
        let listed = tiles(listed, &[&["a"], &["b"]], &["a", "b"], 4).unwrap();
        // Device 2 stands first, then 0.
        let found: Vec<_> = (0..4).map(|device| shard(&listed, device, &x, &local)).collect();
        assert_eq!(found, [[2, 3], [12, 13], [0, 1], [10, 11]]);
        // Along one dimension, b slowest: device 1 is (a 0, b 1), which is tile 2.
        let column = ArrayShape::new(hlo::ElementType::S32, [2, 1].as_slice());
        let order = tiles(ordered(), &[&[], &["b", "a"]], &["a", "b"], 4).unwrap();
        assert_eq!(shard(&order, 1, &x, &column), [2, 12]);
        // Only b is manual: devices 0 and 2 have the same.
        let partial = tiles(ordered(), &[&["b", "a"], &[]], &["b"], 4).unwrap();
        assert_eq!(partial.places, [[0, 0], [1, 0], [0, 0], [1, 0]]);
        assert_eq!(partial.groups, [[0, 1], [2, 3]]);
    }
    #[test]
    fn what_is_put_together_was_cut() {
        let x = literal(
            "u4[4,2,3] {{{1,2,3},{4,5,6}},{{7,8,9},{10,11,12}},{{13,14,15},{0,1,2}},{{3,4,5},{6,7,8}}}",
        );
        let shape = x.array_shape().unwrap();
        for (dims, manual) in [
            ([&["a"][..], &["b"], &[]], &["a", "b"][..]),
            ([&["a", "b"], &[], &[]], &["a", "b"]),
            ([&[], &["a"], &[]], &["a"]),
            ([&[], &[], &[]], &["a", "b"]),
        ] {
            let mesh = mesh(&[("a", 2), ("b", 2)], MeshDevices::List(vec![3, 1, 0, 2]));
            let tiles = tiles(mesh, &dims, manual, 4).unwrap();
            let local = tiles.shard_shape(shape).unwrap();
            let parts: Vec<Literal> = (0..4).map(|d| tiles.cut(d, &x, &local)).collect();
            let all: Vec<usize> = (0..4).collect();
            let (again, unequal) = tiles.put(&all, &parts.iter().collect::<Vec<_>>(), shape);
            assert_eq!((again, unequal), (x.clone(), vec![]));
        }
    }
    #[test]
    fn shards_at_one_place_are_compared() {
        let tiles = Tiles::whole(1, 3);
        let parts = ["f32[2] {1, 2}", "f32[2] {1, 2.5}", "f32[2] {0, nan}"].map(literal);
        let all: Vec<&Literal> = parts.iter().collect();
        let (whole, unequal) = tiles.put(&[0, 1, 2], &all, parts[0].array_shape().unwrap());
        assert_eq!(whole, parts[0]);
        let wanted = Unequal { first: 0, others: vec![1, 2], distance: f64::INFINITY };
        assert_eq!(unequal, [wanted]);
    }
    #[test]
    fn what_does_not_fit_is_refused() {
        let shape = |dims: &[i64]| ArrayShape::new(hlo::ElementType::F32, dims);
        let number = |result: Result<Tiles>| result.unwrap_err().number();
        let cut = || tiles(mesh(&[("a", 4)], MeshDevices::Ordered), &[&["a"]], &["a"], 4).unwrap();
        assert_eq!(number(cut().fitted(&shape(&[6]), &shape(&[2]), None)), "E0507");
        assert_eq!(number(cut().fitted(&shape(&[8]), &shape(&[4]), None)), "E0511");
        assert_eq!(number(cut().fitted(&shape(&[8]), &shape(&[2, 1]), None)), "E0511");
        let late = mesh(&[("a", 2), ("b", 2)], MeshDevices::Ordered);
        assert_eq!(number(tiles(late, &[&["a", "b"]], &["b"], 4)), "E0511");
        let one = mesh(&[], MeshDevices::Maximal(3));
        assert_eq!(number(tiles(one, &[&[]], &[], 4)), "E0507");
    }
}
