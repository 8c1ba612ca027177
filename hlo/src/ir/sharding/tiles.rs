//! `devices=[2,4]<=[8]`: tilings, and their normal form in XLA.
use super::{Placement, Reduction};
use crate::diag::Code;
use crate::op::value::IotaDims;
use crate::{Error, Result};

/// Tiles of equal size, and the device that has each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiling {
    /// Number of tiles along each dimension, then the sizes of the subgroups.
    pub dims: Vec<i64>,
    /// The device of each tile, the last dimension fastest.
    pub devices: TileDevices,
    /// The meaning of the last dimensions of `dims`, if they are not dimensions of the value.
    pub subgroups: Vec<Subgroup>,
}

/// The device of each tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileDevices {
    /// Listed.
    List(Vec<i64>),
    /// The transpose of an iota.
    Iota(IotaDims),
}

/// The data of the devices of one tile. XLA sorts subgroups in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subgroup {
    /// One device has the tile.
    Maximal,
    /// Manual.
    Manual,
    /// Each has a partial result.
    Unreduced,
    /// Each has the whole tile.
    Replicated,
}

impl Subgroup {
    pub(super) const ALL: [Self; 4] =
        [Self::Maximal, Self::Manual, Self::Unreduced, Self::Replicated];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Maximal => "maximal",
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Replicated => "replicated",
        }
    }
}

/// The limit of listed devices, larger than any real system.
const MOST_DEVICES: i64 = 1 << 20;

/// Returns the number of tiles.
fn count(dims: &[i64]) -> Option<i64> {
    dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d))
}

impl TileDevices {
    /// Returns the devices in the order of the tiles.
    pub fn expand(&self) -> Vec<i64> {
        match self {
            Self::List(list) => list.clone(),
            Self::Iota(iota) => iota.expand(),
        }
    }
    fn len(&self) -> Option<i64> {
        match self {
            Self::List(list) => i64::try_from(list.len()).ok(),
            Self::Iota(iota) => Some(iota.count()),
        }
    }
}

impl Tiling {
    /// Returns the placement of a tiling in the form XLA keeps.
    pub(crate) fn placement(
        dims: Vec<i64>,
        devices: TileDevices,
        subgroups: Vec<Subgroup>,
    ) -> Result<Placement> {
        let tiling = Self { dims, devices, subgroups };
        tiling.check()?;
        Ok(tiling.normal())
    }
    /// Fails unless there is a device for each tile and a dimension for each subgroup.
    fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Code::AttributeValue { message }.into());
        if self.subgroups.len() > self.dims.len() {
            let (subgroups, dims) = (self.subgroups.len(), self.dims.len());
            return wrong(format!(
                "a tiling of {dims} dimensions has {subgroups} `last_tile_dims`"
            ));
        }
        let (tiles, devices) = (count(&self.dims), self.devices.len());
        if tiles.is_none() || tiles != devices {
            let shown = |n: Option<i64>| n.map_or_else(|| "too many".to_owned(), |n| n.to_string());
            let help = "make the product of the sizes in `devices=[...]` the number of devices";
            let message =
                format!("the tiling has {} tiles, but {} devices", shown(tiles), shown(devices));
            return Err(Error::from(Code::AttributeValue { message }).with_help(help));
        }
        match &self.devices {
            TileDevices::List(list) if list.len() < 2 => {
                let message = "a tiling needs more than one device".to_owned();
                let help = "write `{maximal device=N}` to place a value on one device";
                Err(Error::from(Code::AttributeValue { message }).with_help(help))
            }
            TileDevices::List(_) | TileDevices::Iota(_) => Ok(()),
        }
    }

    /// Returns XLA's normal form: subgroups of size 1 are removed, those of one kind are merged,
    /// and all are sorted; a tiling that does not divide the value is replaced by its placement.
    fn normal(self) -> Placement {
        if self.subgroups.is_empty() {
            return Placement::Tiled(self);
        }
        let data = self.dims.len() - self.subgroups.len();
        let undivided = self.dims[..data].iter().all(|&d| d == 1);
        if let (true, Some(placement)) = (undivided, whole(&self.subgroups)) {
            return placement;
        }
        // The subgroups by kind: their dimensions.
        let members = |kind: Subgroup| -> Vec<usize> {
            let all = self.subgroups.iter().enumerate();
            let dims = all.filter(|&(_, &s)| s == kind).map(|(i, _)| data + i);
            dims.filter(|&i| self.dims[i] != 1).collect()
        };
        let kinds = Subgroup::ALL.map(|kind| (kind, members(kind)));
        let mut order: Vec<usize> = (0..data).collect();
        let mut dims = self.dims[..data].to_vec();
        let mut subgroups = Vec::new();
        for (kind, members) in kinds.into_iter().filter(|(_, members)| !members.is_empty()) {
            dims.push(members.iter().map(|&i| self.dims[i]).product());
            subgroups.push(kind);
            order.extend(members);
        }
        let trivial = |i: &usize| self.dims[*i] == 1;
        order.extend((data..self.dims.len()).filter(trivial));
        if let (true, Some(placement)) = (undivided, whole(&subgroups)) {
            return placement;
        }
        let Some(devices) = transposed(&self.devices, &self.dims, &order) else {
            return Placement::Tiled(self);
        };
        let mut tiling = Self { dims, devices, subgroups };
        tiling.sort_replicas();
        Placement::Tiled(tiling)
    }

    /// Sorts the devices that have the same tile.
    fn sort_replicas(&mut self) {
        if self.subgroups.last() != Some(&Subgroup::Replicated) {
            return;
        }
        let Some(&size @ 1..) = self.dims.last() else { return };
        if let TileDevices::Iota(iota) = &self.devices {
            if let Some(sorted) = with_sorted_minor(iota, size) {
                self.devices = TileDevices::Iota(sorted);
                return;
            }
            if iota.count() > MOST_DEVICES {
                return;
            }
        }
        let mut list = self.devices.expand();
        list.chunks_mut(usize::try_from(size).unwrap_or(1)).for_each(<[i64]>::sort_unstable);
        self.devices = TileDevices::List(list);
    }
}

/// Returns the ids with each group of `size` consecutive ones sorted; `None` if they are not an
/// iota.
///
/// A group is made by the last dimensions of the transposed iota, one of which may have to be
/// split. Its ids ascend if these dimensions have their original order.
fn with_sorted_minor(iota: &IotaDims, size: i64) -> Option<IotaDims> {
    let mut reshape = iota.reshape().to_vec();
    let Some(order) = iota.transpose() else { return Some(iota.clone()) };
    let (mut order, mut left, mut grouped) = (order.to_vec(), size, 0);
    while left > 1 {
        let at = order.len().checked_sub(grouped + 1)?;
        let dim = usize::try_from(order[at]).ok()?;
        let found = reshape[dim];
        if found > left {
            if found % left != 0 {
                return None;
            }
            let outer = order[at];
            reshape.splice(dim..=dim, [found / left, left]);
            for other in order.iter_mut().filter(|other| **other > outer) {
                *other += 1;
            }
            order.insert(at + 1, outer + 1);
        } else if left % found != 0 {
            return None;
        }
        left /= found.min(left);
        grouped += 1;
    }
    let start = order.len() - grouped;
    order[start..].sort_unstable();
    IotaDims::new(&reshape, Some(&order)).ok()
}

/// Returns the placement of a value that is not divided, with subgroups of one kind.
fn whole(subgroups: &[Subgroup]) -> Option<Placement> {
    let (&first, rest) = subgroups.split_first()?;
    match first {
        _ if rest.iter().any(|&other| other != first) => None,
        Subgroup::Replicated => Some(Placement::Replicated),
        Subgroup::Manual => Some(Placement::Manual),
        Subgroup::Unreduced => Some(Placement::Unreduced(Reduction::Sum)),
        Subgroup::Maximal => None,
    }
}

/// Returns the devices of tiles of sizes `dims`, transposed to `order`; `None` if there are too
/// many to list.
fn transposed(devices: &TileDevices, dims: &[i64], order: &[usize]) -> Option<TileDevices> {
    let moves = order.iter().copied().filter(|&d| dims[d] != 1);
    if moves.is_sorted() {
        return Some(devices.clone());
    }
    let counted_off = match devices {
        TileDevices::Iota(iota) => transposed_iota(iota, dims, order),
        TileDevices::List(_) => None,
    };
    if let Some(iota) = counted_off {
        return Some(TileDevices::Iota(iota));
    }
    devices.len().filter(|&n| n <= MOST_DEVICES)?;
    let old = devices.expand();
    let mut strides = vec![1usize; dims.len()];
    let size = |d: usize| usize::try_from(dims[d]).unwrap_or(0);
    for d in (1..dims.len()).rev() {
        strides[d - 1] = strides[d] * size(d);
    }
    let start = vec![0usize];
    let places = order.iter().fold(start, |places, &d| {
        places
            .iter()
            .flat_map(|&at| (0..size(d)).map(move |i| (at, i)))
            .map(|(at, i)| at + i * strides[d])
            .collect()
    });
    Some(TileDevices::List(places.into_iter().map(|at| old[at]).collect()))
}

/// Returns the ids of an array of sizes `dims`, transposed to `order`; `None` if they are not an
/// iota.
fn transposed_iota(iota: &IotaDims, dims: &[i64], order: &[usize]) -> Option<IotaDims> {
    // Each of `dims` as sizes and strides.
    let mut steps = steps(iota).into_iter();
    let mut by_dim = Vec::new();
    let mut rest = None;
    for &dim in dims {
        let (mut left, mut found) = (dim, Vec::new());
        while left > 1 {
            let (size, stride): (i64, i64) = rest.take().or_else(|| steps.next())?;
            if left % size == 0 {
                left /= size;
                found.push((size, stride));
            } else if size % left == 0 {
                let inner = size / left;
                found.push((left, stride * inner));
                rest = Some((inner, stride));
                left = 1;
            } else {
                return None;
            }
        }
        by_dim.push(found);
    }
    let moved: Vec<_> = order.iter().filter_map(|&d| by_dim.get(d)).flatten().copied().collect();
    let mut slowest = moved.clone();
    slowest.sort_unstable_by_key(|&(_, stride)| std::cmp::Reverse(stride));
    let place = |step| (0i64..).zip(&slowest).find(|(_, other)| *other == step).map(|(at, _)| at);
    let transpose: Vec<_> = moved.iter().filter_map(place).collect();
    let reshape: Vec<_> = slowest.iter().map(|&(size, _)| size).collect();
    match reshape.as_slice() {
        [] => None,
        [_] => IotaDims::new(&reshape, None).ok(),
        _ => IotaDims::new(&reshape, Some(&transpose)).ok(),
    }
}

/// Returns the sizes and strides, the slowest first, without dimensions of size 1.
fn steps(iota: &IotaDims) -> Vec<(i64, i64)> {
    let mut stride = 1;
    let mut steps = Vec::new();
    for &size in iota.reshape().iter().rev() {
        steps.push((size, stride));
        stride *= size;
    }
    steps.reverse();
    let step = |&d: &i64| usize::try_from(d).ok().and_then(|d| steps.get(d)).copied();
    let ordered = match iota.transpose() {
        Some(order) => order.iter().filter_map(step).collect(),
        None => steps,
    };
    ordered.into_iter().filter(|&(size, _)| size > 1).collect()
}
