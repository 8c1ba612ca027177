//! Divisions: the tile of each device along one dimension.
//!
//! A sharding along axes of a mesh and a tile assignment of GSPMD are both a division of each
//! dimension. Two divisions of a dimension may agree on their first parts: along the axes `x` and
//! `y`, and along `x` alone. Two dimensions of a value may be divided along different axes, but not
//! twice along one.
use super::placement::Tiles;
use super::shardy::Meshes;
use hlo::ArrayShape;
use hlo::ir::{DeviceSharding, Placement, Subgroup, TileDevices, Tiling};
use hlo::op::value::{AxisRef, IotaDims, Mesh};
use std::sync::Arc;

/// A dimension in two or more tiles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Division {
    count: usize,
    /// The tile of each device.
    places: Arc<[usize]>,
}

/// The division of each dimension of an array; none for those in one tile.
pub(super) type Dims = Vec<Option<Division>>;

impl Division {
    /// Returns a division in `count` tiles; nothing for a single tile.
    pub(super) fn new(count: usize, places: impl Iterator<Item = usize>) -> Option<Self> {
        (count > 1).then(|| Self { count, places: places.collect() })
    }
    pub(super) fn count(&self) -> usize {
        self.count
    }
    fn each(&self, count: usize, place: impl Fn(usize) -> usize) -> Option<Self> {
        Self::new(count, self.places.iter().map(|&at| place(at)))
    }
    /// Returns the division in `count` tiles that this one divides further.
    pub(super) fn major(&self, count: usize) -> Option<Self> {
        let inner = self.count.checked_div(count).filter(|inner| inner * count == self.count)?;
        self.each(count, |at| at / inner)
    }
    /// Returns the division in `count` tiles of each tile of the major one.
    pub(super) fn minor(&self, count: usize) -> Option<Self> {
        self.count.is_multiple_of(count).then(|| self.each(count, |at| at % count)).flatten()
    }
    /// Returns the division of the tiles of `outer` by `inner`.
    pub(super) fn nested(outer: Option<Self>, inner: Option<Self>) -> Option<Self> {
        let (Some(outer), Some(inner)) = (&outer, &inner) else { return outer.or(inner) };
        let places = outer.places.iter().zip(&*inner.places);
        Self::new(outer.count * inner.count, places.map(|(o, i)| o * inner.count + i))
    }
    /// Returns the first parts, the longest first.
    fn prefixes(&self) -> impl Iterator<Item = Self> {
        (2..=self.count).rev().filter_map(|count| self.major(count))
    }
    /// Returns the finer of two divisions if it divides the tiles of the other one, and else what
    /// both have in common.
    fn merged(&self, other: &Self) -> Option<Self> {
        let (coarse, fine) = if self.count < other.count { (self, other) } else { (other, self) };
        if fine.major(coarse.count).as_ref() == Some(coarse) {
            return Some(fine.clone());
        }
        coarse.prefixes().find(|part| fine.major(part.count).as_ref() == Some(part))
    }
    /// Returns whether the devices of each group have the same tile.
    pub(super) fn is_constant_in(&self, groups: &[Vec<usize>]) -> bool {
        let place = |device: &usize| self.places.get(*device);
        groups.iter().all(|group| group.iter().all(|device| place(device) == place(&group[0])))
    }
}

/// Returns whether each combination of tiles of the dimensions has equally many devices: no axis of
/// a mesh is used twice.
fn is_tiling(dims: &Dims) -> bool {
    let Some(first) = dims.iter().flatten().next() else { return true };
    let devices = first.places.len();
    let mut count = 1usize;
    let mut tiles = vec![0; devices];
    for division in dims.iter().flatten() {
        count = count.saturating_mul(division.count);
        if division.places.len() != devices || count > devices {
            return false;
        }
        tiles
            .iter_mut()
            .zip(&*division.places)
            .for_each(|(tile, at)| *tile = *tile * division.count + at);
    }
    let mut sizes = vec![0; count];
    for tile in tiles {
        sizes[tile] += 1;
    }
    sizes.iter().all(|&size| size * count == devices)
}

/// Divides a dimension as far as the other dimensions leave axes for it. If it is divided already,
/// the finer division is taken, and of two that differ what they have in common; the present one if
/// `yields`.
pub(super) fn divide(dims: &mut Dims, dim: usize, division: &Division, yields: bool) {
    let Some(present) = dims.get_mut(dim).map(Option::take) else { return };
    let wanted = match &present {
        Some(present) => present.merged(division),
        None => Some(division.clone()),
    };
    let weaker =
        wanted.as_ref().map_or(0, Division::count) < present.as_ref().map_or(0, Division::count);
    if yields && weaker {
        dims[dim] = present;
        return;
    }
    for part in wanted.iter().flat_map(Division::prefixes) {
        dims[dim] = Some(part);
        if is_tiling(dims) {
            return;
        }
    }
    dims[dim] = None;
}

/// Returns the division of each dimension into tiles.
pub(super) fn of_tiles(tiles: &Tiles) -> Dims {
    let of = |(dim, &count)| Division::new(count, tiles.positions().iter().map(|at| at[dim]));
    tiles.counts().iter().enumerate().map(of).collect()
}

/// Returns the divisions of a reshaped array: those of the first dimensions of each group that is
/// split or merged. The groups are the smallest lists of dimensions with equally many elements.
pub(super) fn reshaped(dims: &Dims, from: &[i64], to: &[i64]) -> Dims {
    let mut result = vec![None; to.len()];
    let sized = |sizes: &[i64]| -> Vec<(usize, i64)> {
        sizes.iter().copied().enumerate().filter(|&(_, size)| size != 1).collect()
    };
    let (from, to) = (sized(from), sized(to));
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (start, first) = (i, j);
        let (mut left, mut right) = (from[i].1, to[j].1);
        (i, j) = (i + 1, j + 1);
        while left != right {
            let (side, next, count) =
                if left < right { (&from, &mut i, &mut left) } else { (&to, &mut j, &mut right) };
            let Some(&(_, size)) = side.get(*next) else { return result };
            (*next, *count) = (*next + 1, count.saturating_mul(size));
        }
        match (&from[start..i], &to[first..j]) {
            (&[(old, _)], &[(new, _)]) => result[new].clone_from(&dims[old]),
            (old, new) => split(merged(dims, old), new, &mut result),
        }
    }
    result
}
/// Returns the division of dimensions that become one. A dimension counts only if all before it are
/// divided into single elements.
fn merged(dims: &Dims, group: &[(usize, i64)]) -> Option<Division> {
    let mut merged = None;
    for &(dim, size) in group {
        let size = usize::try_from(size).ok()?;
        let division = dims[dim].clone().filter(|division| size.is_multiple_of(division.count));
        let is_single = division.as_ref().is_some_and(|division| division.count == size);
        merged = Division::nested(merged, division);
        if !is_single {
            break;
        }
    }
    merged
}
/// Divides the dimensions into which one was split.
fn split(mut division: Option<Division>, group: &[(usize, i64)], dims: &mut Dims) {
    for &(dim, size) in group {
        let (Some(rest), Ok(size)) = (division.take(), usize::try_from(size)) else { return };
        if size.is_multiple_of(rest.count) {
            dims[dim] = Some(rest);
            return;
        }
        if !rest.count.is_multiple_of(size) {
            return;
        }
        (dims[dim], division) = (rest.major(size), rest.minor(rest.count / size));
    }
}

/// Returns the sharding of an array with these divisions: of each as much as divides the dimension
/// into tiles of equal sizes, along whole axes of the meshes.
pub(super) fn sharding(
    dims: &Dims,
    shape: &ArrayShape,
    meshes: &Meshes,
    devices: usize,
) -> DeviceSharding {
    let axes = axes(meshes, devices);
    let even = |(division, &size): (&Option<Division>, &i64)| {
        let division = division.as_ref()?;
        let parts = division.prefixes().filter(|part| {
            i64::try_from(part.count).is_ok_and(|count| size > 0 && size % count == 0)
        });
        parts.into_iter().find(|part| meshes.is_empty() || is_along(part, &axes))
    };
    let dims: Dims = dims.iter().zip(&shape.dims).map(even).collect();
    tiling(&dims, devices).map_or(Placement::Replicated, Placement::Tiled).into()
}
/// Returns the divisions along the axes of each mesh.
fn axes(meshes: &Meshes, devices: usize) -> Vec<Dims> {
    let of = |mesh: &Mesh| {
        let names = mesh.axes.iter().map(|axis| vec![AxisRef::new(axis.name.clone())]);
        let tiles = names.map(|axis| Tiles::along_axes(mesh, &[axis], None, devices));
        tiles.filter_map(|tiles| of_tiles(&tiles.ok()?).pop()).collect()
    };
    meshes.iter().map(of).collect()
}
/// Returns whether a division is one along whole axes of a mesh.
fn is_along(division: &Division, meshes: &[Dims]) -> bool {
    meshes.iter().any(|axes| {
        let mut rest = Some(division.clone());
        while let Some(open) = rest {
            let is_first = |axis: &&Division| open.major(axis.count).as_ref() == Some(axis);
            let Some(axis) = axes.iter().flatten().find(is_first) else { return false };
            rest = open.minor(open.count / axis.count);
        }
        true
    })
}
/// Returns the tiles of the devices; nothing if there is one.
fn tiling(dims: &Dims, devices: usize) -> Option<Tiling> {
    let count = |division: &Option<Division>| division.as_ref().map_or(1, Division::count);
    let counts: Vec<usize> = dims.iter().map(count).collect();
    let tiles = counts.iter().product::<usize>();
    if tiles < 2 {
        return None;
    }
    let tile = |&device: &usize| -> Vec<usize> {
        dims.iter().map(|d| d.as_ref().map_or(0, |division| division.places[device])).collect()
    };
    let mut order: Vec<usize> = (0..devices).collect();
    order.sort_by_key(tile);
    let number = |n: usize| i64::try_from(n).expect("there are few devices");
    let copies = (devices / tiles > 1).then_some(devices / tiles);
    let dims = counts.into_iter().chain(copies).map(number).collect();
    let devices = if order.is_sorted() {
        TileDevices::Iota(IotaDims::ordered(number(order.len())).ok()?)
    } else {
        TileDevices::List(order.into_iter().map(number).collect())
    };
    Some(Tiling {
        dims,
        devices,
        subgroups: copies.map(|_| Subgroup::Replicated).into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divisions of four devices along `a`, `b`, and both.
    fn along() -> [Division; 3] {
        let of = |count, places: [usize; 4]| Division::new(count, places.into_iter()).unwrap();
        [of(2, [0, 0, 1, 1]), of(2, [0, 1, 0, 1]), of(4, [0, 1, 2, 3])]
    }

    #[test]
    fn parts_of_a_division() {
        let [a, b, ab] = along();
        assert_eq!(Division::new(1, [0; 4].into_iter()), None);
        assert_eq!((ab.major(2), ab.minor(2)), (Some(a.clone()), Some(b.clone())));
        assert_eq!((ab.major(3), a.minor(4)), (None, None));
        assert_eq!(Division::nested(Some(a.clone()), Some(b.clone())), Some(ab.clone()));
        assert_eq!(Division::nested(None, Some(b.clone())), Some(b.clone()));
        assert_eq!((a.merged(&ab), ab.merged(&a)), (Some(ab.clone()), Some(ab.clone())));
        assert_eq!((a.merged(&b), ab.merged(&b)), (None, None));
        assert!(b.is_constant_in(&[vec![0, 2], vec![1, 3]]) && !b.is_constant_in(&[vec![0, 1]]));
    }
    #[test]
    fn an_axis_divides_one_dimension() {
        let [a, b, ab] = along();
        let divided = |mut dims: Dims, dim, division: &Division, yields| {
            divide(&mut dims, dim, division, yields);
            dims
        };
        let (some_a, some_b) = (Some(a.clone()), Some(b.clone()));
        let first = vec![some_a.clone(), None];
        assert_eq!(divided(first.clone(), 1, &b, false), [some_a.clone(), some_b.clone()]);
        assert_eq!(divided(first.clone(), 1, &a, false), first);
        // Of `a` and `b`, `a` is left where `b` is used.
        let second = vec![None, some_b.clone()];
        assert_eq!(divided(second, 0, &ab, false), [some_a.clone(), some_b]);
        assert_eq!(divided(first.clone(), 0, &ab, false), [Some(ab), None]);
        assert_eq!(divided(first.clone(), 0, &b, false), [None, None]);
        assert_eq!(divided(first.clone(), 0, &b, true), first);
        assert_eq!(divided(first.clone(), 2, &b, true), first);
    }
    #[test]
    fn merged_and_split_dimensions() {
        let [a, b, ab] = along().map(Some);
        let none = || None;
        for (dims, from, to, expected) in [
            (
                vec![a.clone(), b.clone()],
                &[8, 4][..],
                &[8, 1, 4][..],
                vec![a.clone(), none(), b.clone()],
            ),
            (vec![a.clone(), b.clone()], &[8, 4], &[32], vec![a.clone()]),
            (vec![a.clone(), b.clone()], &[2, 4], &[8], vec![ab.clone()]),
            (vec![none(), b.clone()], &[2, 4], &[8], vec![none()]),
            (vec![ab.clone()], &[8], &[4, 2], vec![ab.clone(), none()]),
            (vec![ab.clone()], &[8], &[1, 2, 4], vec![none(), a.clone(), b.clone()]),
            (vec![ab.clone()], &[12], &[3, 4], vec![none(), none()]),
            (vec![none(), b.clone()], &[6, 4], &[2, 3, 4], vec![none(), none(), b.clone()]),
            // Tiles of unequal sizes stay within one dimension.
            (vec![ab.clone()], &[7], &[1, 7], vec![none(), ab.clone()]),
            (vec![a.clone(), none()], &[3, 2], &[6], vec![none()]),
            (vec![a.clone(), none()], &[0, 2], &[0], vec![a.clone()]),
        ] {
            assert_eq!(reshaped(&dims, from, to), expected, "{from:?} to {to:?}");
        }
    }
    #[test]
    fn shardings_have_equal_tiles_along_whole_axes() {
        let [a, b, ab] = along();
        let mesh = |text: &str| {
            let pair = ("xla.sdy.meshes".into(), format!("{{m = #sdy.mesh<[{text}]>}}"));
            Meshes::of(Some(&hlo::ir::FrontendAttributes(vec![pair]))).unwrap()
        };
        let (two, one) = (mesh("\"a\"=2, \"b\"=2"), mesh("\"a\"=4"));
        let text = |dims: &[&Division], sizes: &[i64], meshes: &Meshes| {
            let shape = ArrayShape::new(hlo::ElementType::F32, sizes);
            let dims = dims.iter().map(|&division| Some(division.clone())).collect();
            sharding(&dims, &shape, meshes, 4).placement
        };
        let stated = |text: &str| match text.parse::<hlo::ir::Sharding>().unwrap() {
            hlo::ir::Sharding::One(one) => one.placement,
            hlo::ir::Sharding::Tuple(_) => panic!("one sharding"),
        };
        assert_eq!(text(&[&a, &b], &[4, 2], &two), stated("{devices=[2,2]<=[4]}"));
        assert_eq!(text(&[&b, &a], &[4, 2], &two), stated("{devices=[2,2]0,2,1,3}"));
        let copies = "{devices=[2,2]<=[4] last_tile_dim_replicate}";
        assert_eq!(text(&[&ab], &[6], &two), stated(copies));
        assert_eq!(text(&[&ab], &[7], &two), Placement::Replicated);
        // Half of an axis.
        assert_eq!(text(&[&a], &[4], &one), Placement::Replicated);
        assert_eq!(text(&[&a], &[4], &Meshes::default()), stated(copies));
    }
}
