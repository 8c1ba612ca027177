//! Tiles: the positions of the devices' shards in a global array.
//!
//! An array is divided into tiles of equal size. Every device has one tile, and several devices may
//! have the same. A tile is identified by its index along each dimension.
use super::partial::sum;
use super::shardy::ValueSharding;
use crate::{Code, Error, Result};
use hlo::diag::quantity;
use hlo::ir::{DeviceSharding, NamedAxes, NamedSharding, Placement as Placed, Reduction, Subgroup};
use hlo::op::value::{AxisRef, Mesh, MeshDevices, MeshGroups};
use hlo::{ArrayShape, IndexSpace, Literal, Scalar};
use std::collections::BTreeSet;

/// The tile of each device, in an array of some rank.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tiles {
    /// Number of tiles along each dimension.
    counts: Vec<usize>,
    /// The tile of each device.
    positions: Vec<Vec<usize>>,
    /// Devices whose shards belong to one array. Different groups hold different arrays: they
    /// differ along the manual axes of an enclosing region.
    groups: Vec<Vec<usize>>,
    /// The term of each device. Tiles of one term make an array; the value is the sum of the arrays
    /// of all terms. There is one term unless the sharding is `unreduced`.
    terms: Vec<usize>,
}

/// Shards of the same tile that are not equal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unequal {
    /// The device whose shard is used.
    pub(super) first: usize,
    /// The devices whose shards differ from it.
    pub(super) others: Vec<usize>,
    /// The largest distance of two elements; infinite if one of them is NaN.
    pub(super) distance: f64,
}

pub(super) fn unsupported(message: impl Into<String>) -> Error {
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
    /// Returns tiles with one tile that every device has.
    pub(super) fn replicated(rank: usize, devices: usize) -> Self {
        Self {
            counts: vec![1; rank],
            positions: vec![vec![0; rank]; devices],
            groups: vec![(0..devices).collect()],
            terms: vec![0; devices],
        }
    }
    /// Returns the number of tiles along each dimension.
    pub(super) fn counts(&self) -> &[usize] {
        &self.counts
    }
    /// Returns the tile of each device.
    pub(super) fn positions(&self) -> &[Vec<usize>] {
        &self.positions
    }
    /// Returns whether each device has the same tile.
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        (&self.counts, &self.positions) == (&other.counts, &other.positions)
    }
    /// Returns whether the value is a sum of terms, of which each device has one.
    pub(super) fn is_sum(&self) -> bool {
        self.terms.iter().any(|&term| term != 0)
    }

    /// Divides along the `manual` axes of a mesh; the other axes divide nothing.
    ///
    /// # Errors
    /// `E0511` if the sharding does not fit the rank or names an axis after one that is not manual;
    /// `E0507`.
    pub(super) fn on_mesh(
        sharding: &ValueSharding,
        manual: &[AxisRef],
        rank: usize,
        devices: usize,
    ) -> Result<Self> {
        let ValueSharding { mesh, dims, unreduced, .. } = sharding;
        if matches!(mesh.devices, MeshDevices::Maximal(_)) {
            return Err(unsupported("maximal shardings (a value on one device) are not supported"));
        }
        if dims.len() != rank {
            return Err(rank_differs(dims.len(), rank));
        }
        let is_manual = |axis: &AxisRef| manual.iter().any(|m| m.name == axis.name);
        let mut cut = Vec::with_capacity(rank);
        for axes in dims {
            let (first, rest) = axes.split_at(axes.iter().take_while(|a| is_manual(a)).count());
            if let Some(late) = rest.iter().find(|a| is_manual(a)) {
                let message =
                    format!("the manual axis `{}` follows one that is not manual", late.name);
                return Err(wrong(message));
            }
            cut.push(first.to_vec());
        }
        let groups = groups_along(mesh, manual)?;
        let terms: Vec<AxisRef> = unreduced.iter().filter(|a| is_manual(a)).cloned().collect();
        Self::along_axes(mesh, &cut, groups, devices)?.with_terms_along(mesh, &terms)
    }
    /// Gives each device along `axes` a term of its own.
    fn with_terms_along(mut self, mesh: &Mesh, axes: &[AxisRef]) -> Result<Self> {
        for group in groups_along(mesh, axes)?.unwrap_or_default() {
            for (term, device) in group.into_iter().enumerate() {
                *self.of_device(device, |tiles| &mut tiles.terms)? = term;
            }
        }
        Ok(self)
    }

    /// Divides along axes of a mesh, one list for each dimension.
    pub(super) fn along_axes(
        mesh: &Mesh,
        dims: &[Vec<AxisRef>],
        groups: Option<Vec<Vec<usize>>>,
        devices: usize,
    ) -> Result<Self> {
        let mut tiles = Self::replicated(dims.len(), devices);
        tiles.groups = groups.unwrap_or_else(|| (0..devices).map(|device| vec![device]).collect());
        for (dim, axes) in dims.iter().enumerate() {
            for group in groups_along(mesh, axes)?.unwrap_or_default() {
                tiles.counts[dim] = group.len();
                for (place, device) in group.into_iter().enumerate() {
                    tiles.of_device(device, |tiles| &mut tiles.positions)?[dim] = place;
                }
            }
        }
        Ok(tiles)
    }
    fn of_device<T>(
        &mut self,
        device: usize,
        list: impl FnOnce(&mut Self) -> &mut Vec<T>,
    ) -> Result<&mut T> {
        let list = list(self);
        let devices = list.len();
        list.get_mut(device).ok_or_else(|| {
            wrong(format!("the sharding names device {device}, there are {devices}"))
        })
    }

    /// Returns the tiles of a `sharding=`.
    ///
    /// # Errors
    /// `E0511` if it does not fit the rank or the number of devices; `E0507` if it does not
    /// determine the tiles, or states a maximum or a minimum of the devices.
    pub(super) fn of(sharding: &DeviceSharding, rank: usize, devices: usize) -> Result<Self> {
        match &sharding.placement {
            Placed::Replicated => Ok(Self::replicated(rank, devices)),
            Placed::Tiled(tiling) => {
                let data = tiling.dims.len() - tiling.subgroups.len();
                if data != rank {
                    return Err(rank_differs(data, rank));
                }
                let dims: Vec<usize> = tiling.dims.iter().map(|&d| to_usize(d)).collect();
                // Checked before the list is expanded, which could exceed the memory.
                let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
                if count.is_none_or(|count| count > devices) {
                    let message = "the sharding is for more devices than there are";
                    return Err(wrong(format!("{message}: {devices}")));
                }
                let subgroup = |kind| tiling.subgroups.iter().position(|&s| s == kind);
                let (manual, sum) = (subgroup(Subgroup::Manual), subgroup(Subgroup::Unreduced));
                let groups = manual.map_or(1, |at| dims[data + at]);
                let mut tiles = Self::replicated(rank, devices);
                tiles.counts = dims[..data].to_vec();
                tiles.groups = vec![Vec::new(); groups];
                for (at, id) in tiling.devices.expand().into_iter().enumerate() {
                    let index = tiling.dims.index_of(at);
                    let index: Vec<usize> = index.into_iter().map(to_usize).collect();
                    let device = usize::try_from(id).unwrap_or(usize::MAX);
                    *tiles.of_device(device, |tiles| &mut tiles.positions)? =
                        index[..data].to_vec();
                    tiles.terms[device] = sum.map_or(0, |at| index[data + at]);
                    tiles.groups[manual.map_or(0, |at| index[data + at])].push(device);
                }
                Ok(tiles)
            }
            Placed::Named(named) => Self::named(named, rank, devices),
            Placed::Manual => Err(unsupported("`manual` alone does not determine the tiles")),
            Placed::Maximal(_) => {
                Err(unsupported("maximal shardings (a value on one device) are not supported"))
            }
            Placed::Unreduced(reduction) => {
                is_sum(*reduction)?;
                Ok(Self { terms: (0..devices).collect(), ..Self::replicated(rank, devices) })
            }
            Placed::Unknown => Err(wrong("the sharding is `unknown`")),
        }
    }
    fn named(sharding: &NamedSharding, rank: usize, devices: usize) -> Result<Self> {
        let mesh = &sharding.mesh;
        let all = || mesh.axes.iter().map(|axis| AxisRef::new(axis.name.clone()));
        let replicated = || Self::replicated(rank, devices);
        if !sharding.unreduced.is_empty() || sharding.axes == NamedAxes::Unreduced {
            is_sum(sharding.reduction)?;
        }
        let dims = match &sharding.axes {
            NamedAxes::Dims(dims) => dims,
            NamedAxes::Replicated => {
                return replicated().with_terms_along(mesh, &sharding.unreduced);
            }
            NamedAxes::Manual => {
                return Err(unsupported("`manual` alone does not determine the tiles"));
            }
            NamedAxes::Unreduced => {
                return replicated().with_terms_along(mesh, &all().collect::<Vec<_>>());
            }
        };
        if dims.len() != rank {
            return Err(rank_differs(dims.len(), rank));
        }
        let axes: Vec<Vec<AxisRef>> = dims.iter().map(|dim| dim.axes.clone()).collect();
        let is_outer = |axis: &AxisRef| sharding.manual.iter().any(|m| m.name == axis.name);
        let inner: Vec<AxisRef> = all().filter(|axis| !is_outer(axis)).collect();
        Self::along_axes(mesh, &axes, groups_along(mesh, &inner)?, devices)?
            .with_terms_along(mesh, &sharding.unreduced)
    }

    /// Returns the devices of each array.
    pub(super) fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }
    /// Checks that shards of shape `local` make an array of shape `global`, and merges the tiles of
    /// one shard.
    ///
    /// Axes that are not manual may divide the array further, which the program does not see. Then
    /// several tiles make a shard, and `inner`, the tiles of the shards themselves, determines
    /// which devices have the same one.
    ///
    /// # Errors
    /// `E0511`, `E0507`
    pub(super) fn fit(
        mut self,
        global: &ArrayShape,
        local: &ArrayShape,
        inner: Option<&Self>,
    ) -> Result<Self> {
        if global.ty != local.ty || global.rank() != local.rank() {
            return Err(wrong(format!("{local:#} is not a shard of {global:#}")));
        }
        if global.dynamic.is_some() || local.dynamic.is_some() {
            return Err(unsupported("shards of arrays with dynamic dimensions are not supported"));
        }
        for (dim, (&whole, &part)) in global.dims.iter().zip(&local.dims).enumerate() {
            let count = self.counts[dim];
            // The number of shards along the dimension.
            let shards = if whole == part { Some(1) } else { quotient(whole, part) };
            let merged = shards.filter(|&n| n == 1 || ((1..count).contains(&n) && inner.is_some()));
            if let Some(tiles) = merged.and_then(|n| count.is_multiple_of(n).then(|| count / n)) {
                self.counts[dim] = count / tiles;
                self.positions.iter_mut().for_each(|place| place[dim] /= tiles);
            } else if i64::try_from(count).ok().and_then(|n| part.checked_mul(n)) != Some(whole) {
                let message = format!(
                    "dimension {dim} of {global:#} is divided into {}, the shard is {local:#}",
                    quantity(count, "tile")
                );
                let uneven = count > 0 && whole % i64::try_from(count).unwrap_or(1) != 0;
                return Err(if uneven {
                    let why = "tiles of unequal sizes are not supported";
                    unsupported(format!("{message}: {why}"))
                } else {
                    wrong(message)
                });
            }
        }
        let apart = inner.is_some_and(|inner| {
            let place = |&device: &usize| self.positions.get(device);
            inner.groups.iter().any(|g| g.iter().any(|device| place(device) != place(&g[0])))
        });
        if apart {
            return Err(unsupported(
                "devices that should have the same shard have different tiles of the array",
            ));
        }
        Ok(self)
    }
    /// Returns the shape of a shard, if the tiles have equal sizes.
    pub(super) fn shard_shape(&self, global: &ArrayShape) -> Option<ArrayShape> {
        let mut dims = global.dims.clone();
        for (size, &count) in dims.iter_mut().zip(&self.counts) {
            let count = i64::try_from(count).ok().filter(|&count| count > 0)?;
            *size = (*size % count == 0).then_some(*size / count)?;
        }
        Some(ArrayShape::new(global.ty, dims))
    }

    /// Returns the shard of a device. Those of the first term make the value; those of the others
    /// are zeros.
    pub(super) fn shard(&self, device: usize, global: &Literal, local: &ArrayShape) -> Literal {
        let ty = global.array_shape().map_or(local.ty, |whole| whole.ty);
        let mut shard = Literal::zeros(ArrayShape::new(ty, local.dims.clone()));
        let Some(whole) = global.array_shape().filter(|_| self.terms[device] == 0) else {
            return shard;
        };
        let (from, to) = (global.bytes(), shard.bytes_mut());
        visit_rows(whole, local, &self.positions[device], |at, offset, length| {
            to[offset..offset + length].copy_from_slice(&from[at..at + length]);
        });
        shard
    }
    /// Assembles the shards of a group, of any element type, and returns which of them differ. Of several shards of one
    /// tile and term, the first is used.
    pub(super) fn assemble(
        &self,
        group: &[usize],
        shards: &[&Literal],
        global: &ArrayShape,
    ) -> (Literal, Vec<Unequal>) {
        let mut unequal: Vec<Unequal> = Vec::new();
        let ty = shards.iter().find_map(|shard| shard.array_shape()).map_or(global.ty, |s| s.ty);
        let global = &global.with_type(ty);
        let terms: BTreeSet<usize> = group.iter().map(|&device| self.terms[device]).collect();
        let arrays = terms.into_iter().map(|term| {
            let members = group.iter().copied().zip(shards.iter().copied());
            let members = members.filter(|&(device, _)| self.terms[device] == term);
            self.assemble_term(members, global, &mut unequal)
        });
        let arrays: Vec<Literal> = arrays.collect();
        (sum(arrays), unequal)
    }
    fn assemble_term<'a>(
        &self,
        members: impl Iterator<Item = (usize, &'a Literal)>,
        global: &ArrayShape,
        unequal: &mut Vec<Unequal>,
    ) -> Literal {
        let mut array = Literal::zeros(ArrayShape::new(global.ty, global.dims.clone()));
        let mut seen: Vec<(&[usize], (usize, &Literal))> = Vec::new();
        for (device, shard) in members {
            let place = self.positions[device].as_slice();
            if let Some(&(_, first)) = seen.iter().find(|(other, _)| *other == place) {
                compare(unequal, first, (device, shard));
                continue;
            }
            seen.push((place, (device, shard)));
            let Some(local) = shard.array_shape() else { continue };
            let (from, to) = (shard.bytes(), array.bytes_mut());
            visit_rows(global, local, place, |at, offset, length| {
                to[at..at + length].copy_from_slice(&from[offset..offset + length]);
            });
        }
        array
    }
}

/// Checks that the terms of an `unreduced` value are added.
fn is_sum(reduction: Reduction) -> Result<()> {
    match reduction {
        Reduction::Sum => Ok(()),
        Reduction::Max | Reduction::Min => {
            Err(unsupported("`unreduced` values of a maximum or minimum are not supported"))
        }
    }
}

/// Returns the groups of devices that differ only along `axes`, the first axis slowest; nothing if
/// the axes have one device.
pub(super) fn groups_along(mesh: &Mesh, axes: &[AxisRef]) -> Result<Option<Vec<Vec<usize>>>> {
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

/// Returns `whole / part`, if it is an integer.
fn quotient(whole: i64, part: i64) -> Option<usize> {
    (part > 0 && whole % part == 0).then(|| usize::try_from(whole / part).ok()).flatten()
}

/// Visits the contiguous bytes of a tile: their offset in the array, their offset in the tile, and
/// their length.
fn visit_rows(
    whole: &ArrayShape,
    tile: &ArrayShape,
    place: &[usize],
    mut visit: impl FnMut(usize, usize, usize),
) {
    if tile.dims.contains(&0) {
        return;
    }
    let (width, strides) = (whole.ty.storage_bytes(), whole.dims.strides());
    // Dimensions after the last divided one are contiguous in both.
    let divided = (0..tile.rank()).rfind(|&d| tile.dims[d] != whole.dims[d]).unwrap_or(0);
    let (rows, run) = tile.dims.split_at(divided);
    let run = to_usize(run.iter().product()) * width;
    let first = tile.dims.iter().zip(place).map(|(&size, &place)| to_usize(size) * place);
    let first = first.zip(&strides).map(|(index, &stride)| index * to_usize(stride)).sum::<usize>();
    let mut offset = 0;
    rows.offsets(0, &strides, |at| {
        visit((first + to_usize(at)) * width, offset, run);
        offset += run;
    });
}

/// Records that a device's shard differs from the one that is used, if it does.
fn compare(unequal: &mut Vec<Unequal>, first: (usize, &Literal), other: (usize, &Literal)) {
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

/// Returns the largest distance of two elements with the same index.
pub(super) fn distance(a: &Literal, b: &Literal) -> f64 {
    let parts = |x: Scalar| match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    };
    let mut far = 0.0f64;
    for i in 0..a.len().min(b.len()) {
        for (x, y) in parts(a.get(i)).into_iter().zip(parts(b.get(i))) {
            // Two NaNs have distance 0, a NaN and a number infinite distance.
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
        let sharding =
            ValueSharding { mesh, open: vec![false; dims.len()], dims, unreduced: Vec::new() };
        let manual: Vec<AxisRef> = refs(manual);
        Tiles::on_mesh(&sharding, &manual, rank, devices)
    }
    fn literal(text: &str) -> Literal {
        text.parse().unwrap()
    }
    fn shard_of(tiles: &Tiles, device: usize, global: &Literal, local: &ArrayShape) -> Vec<i32> {
        tiles.shard(device, global, local).as_slice().unwrap().to_vec()
    }

    #[test]
    fn shards_follow_the_axes() {
        let x = literal("s32[2,4] {{0, 1, 2, 3}, {10, 11, 12, 13}}");
        let ordered = || mesh(&[("a", 2), ("b", 2)], MeshDevices::Ordered);
        let local = ArrayShape::new(hlo::ElementType::S32, [1, 2].as_slice());
        let both = tiles(ordered(), &[&["a"], &["b"]], &["a", "b"], 4).unwrap();
        let both = both.fit(x.array_shape().unwrap(), &local, None).unwrap();
        let found: Vec<_> = (0..4).map(|device| shard_of(&both, device, &x, &local)).collect();
        assert_eq!(found, [[0, 1], [2, 3], [10, 11], [12, 13]]);
        let listed = mesh(&[("a", 2), ("b", 2)], MeshDevices::List(vec![2, 0, 3, 1]));
        let listed = tiles(listed, &[&["a"], &["b"]], &["a", "b"], 4).unwrap();
        // Device 2 is first, then 0.
        let found: Vec<_> = (0..4).map(|device| shard_of(&listed, device, &x, &local)).collect();
        assert_eq!(found, [[2, 3], [12, 13], [0, 1], [10, 11]]);
        // Along one dimension, b slowest: device 1 is (a 0, b 1), which is tile 2.
        let column = ArrayShape::new(hlo::ElementType::S32, [2, 1].as_slice());
        let order = tiles(ordered(), &[&[], &["b", "a"]], &["a", "b"], 4).unwrap();
        assert_eq!(shard_of(&order, 1, &x, &column), [2, 12]);
        // Only b is manual: devices 0 and 2 have the same.
        let partial = tiles(ordered(), &[&["b", "a"], &[]], &["b"], 4).unwrap();
        assert_eq!(partial.positions, [[0, 0], [1, 0], [0, 0], [1, 0]]);
        assert_eq!(partial.groups, [[0, 1], [2, 3]]);
    }
    #[test]
    fn assembling_inverts_sharding() {
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
            let parts: Vec<Literal> = (0..4).map(|d| tiles.shard(d, &x, &local)).collect();
            let all: Vec<usize> = (0..4).collect();
            let (again, unequal) = tiles.assemble(&all, &parts.iter().collect::<Vec<_>>(), shape);
            assert_eq!((again, unequal), (x.clone(), vec![]));
        }
    }
    #[test]
    fn shards_of_one_tile_are_compared() {
        let tiles = Tiles::replicated(1, 3);
        let parts = ["f32[2] {1, 2}", "f32[2] {1, 2.5}", "f32[2] {0, nan}"].map(literal);
        let all: Vec<&Literal> = parts.iter().collect();
        let (whole, unequal) = tiles.assemble(&[0, 1, 2], &all, parts[0].array_shape().unwrap());
        assert_eq!(whole, parts[0]);
        let expected = Unequal { first: 0, others: vec![1, 2], distance: f64::INFINITY };
        assert_eq!(unequal, [expected]);
    }
    #[test]
    fn shardings_that_do_not_fit_are_errors() {
        let shape = |dims: &[i64]| ArrayShape::new(hlo::ElementType::F32, dims);
        let number = |result: Result<Tiles>| result.unwrap_err().number();
        let cut = || tiles(mesh(&[("a", 4)], MeshDevices::Ordered), &[&["a"]], &["a"], 4).unwrap();
        assert_eq!(number(cut().fit(&shape(&[6]), &shape(&[2]), None)), "E0507");
        assert_eq!(number(cut().fit(&shape(&[8]), &shape(&[4]), None)), "E0511");
        assert_eq!(number(cut().fit(&shape(&[8]), &shape(&[2, 1]), None)), "E0511");
        let late = mesh(&[("a", 2), ("b", 2)], MeshDevices::Ordered);
        assert_eq!(number(tiles(late, &[&["a", "b"]], &["b"], 4)), "E0511");
        let one = mesh(&[], MeshDevices::Maximal(3));
        assert_eq!(number(tiles(one, &[&[]], &[], 4)), "E0507");
    }
}
