//! Layouts: the order of dimensions in memory, tiles and other properties.
use crate::{ArrayShape, ElementType, IndexSpace, Shape};
use smallvec::SmallVec;
use std::ops::Range;

/// Sizes or indices of dimensions.
pub type Dims = SmallVec<[i64; 4]>;

/// The arrangement of an array in memory. Values do not depend on it, except through `bitcast`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Dimension numbers, the fastest-varying first.
    pub minor_to_major: Dims,
    /// Everything after the `:`; absent in nearly every layout.
    pub tail: Option<Box<LayoutTail>>,
}

/// The part of a layout after the `:`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayoutTail {
    /// `T(a,b)(c,d)`: tiles, the outermost first; [`Tile::COMBINE`] for `*`.
    pub tiles: Vec<Tile>,
    /// `L(n)`: the number of elements is padded to a multiple of n.
    pub tail_padding_alignment: i64,
    /// `#(type)`: type of indices.
    pub index_type: Option<ElementType>,
    /// `*(type)`: type of pointers.
    pub pointer_type: Option<ElementType>,
    /// `E(n)`: bits per element; 0 for the width of the type.
    pub element_size_in_bits: i64,
    /// `S(n)`: memory space.
    pub memory_space: i64,
    /// `SC(d:i,j)`: the split of the array across memories.
    pub split_configs: Vec<SplitConfig>,
    /// `P(shape)`: physical shape.
    pub physical_shape: Option<Shape>,
    /// `M(n)`: bytes of dynamic-shape metadata in front of the data.
    pub dynamic_shape_metadata_prefix_bytes: i64,
}

/// One tile of a layout.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tile(pub Dims);

impl Tile {
    /// The tile dimension `*`: combined with the next more minor one.
    pub const COMBINE: i64 = i64::MIN;
}

/// A split of the last dimensions of an array into blocks, by one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileSplit {
    /// The sizes before the split, the slowest dimension first.
    pub sizes: Dims,
    /// The dimensions that are merged, and the elements of a block along them. A tile of more
    /// dimensions than there are has blocks of no dimension, which have one element.
    pub blocks: Vec<(Range<usize>, i64)>,
}

impl TileSplit {
    /// Returns the splits by all tiles of an array, in order, and the sizes after them: of the
    /// memory, with padding. `None` if a block has no elements, a `*` no next dimension, or a size
    /// is too large.
    pub fn all(shape: &ArrayShape) -> Option<(Vec<Self>, Dims)> {
        let size = |&d: &i64| shape.dims.get(usize::try_from(d).ok()?).copied();
        let mut sizes: Dims =
            shape.layout.minor_to_major.iter().rev().map(size).collect::<Option<_>>()?;
        let tiles = shape.layout.tail.as_ref().map_or([].as_slice(), |tail| &tail.tiles);
        let mut splits = Vec::with_capacity(tiles.len());
        for tile in tiles {
            let split = Self::new(sizes, tile)?;
            sizes = split.split_sizes()?;
            splits.push(split);
        }
        Some((splits, sizes))
    }
    fn new(sizes: Dims, Tile(tile): &Tile) -> Option<Self> {
        let rank = sizes.len();
        let mut blocks = Vec::with_capacity(tile.len());
        let mut start = rank.saturating_sub(tile.len());
        for (k, &length) in (1..).zip(tile) {
            if length == Tile::COMBINE {
                continue;
            }
            let end = (rank + k).saturating_sub(tile.len());
            blocks.push((start..end, length));
            start = end;
        }
        let is_whole = start == rank && blocks.iter().all(|(_, length)| *length > 0);
        is_whole.then_some(Self { sizes, blocks })
    }
    /// Returns the dimensions that are not split.
    pub fn outer(&self) -> Range<usize> {
        0..self.blocks.first().map_or(self.sizes.len(), |(dims, _)| dims.start)
    }
    /// Returns the sizes after the split: those of unsplit dimensions, the numbers of blocks, the
    /// sizes of a block.
    fn split_sizes(&self) -> Option<Dims> {
        let mut sizes = Dims::from_slice(&self.sizes[self.outer()]);
        for (dims, length) in &self.blocks {
            let mut dims = self.sizes[dims.clone()].iter();
            let size = dims.try_fold(1i64, |size, dim| size.checked_mul(*dim))?;
            sizes.push(size / length + i64::from(size % length != 0));
        }
        sizes.extend(self.blocks.iter().map(|(_, length)| *length));
        Some(sizes)
    }
}

/// The split of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The dimension.
    pub dimension: i64,
    /// Indices at which a new part starts.
    pub split_indices: Vec<i64>,
}

impl Default for LayoutTail {
    fn default() -> Self {
        Self {
            tiles: Vec::new(),
            tail_padding_alignment: 1,
            index_type: None,
            pointer_type: None,
            element_size_in_bits: 0,
            memory_space: 0,
            split_configs: Vec::new(),
            physical_shape: None,
            dynamic_shape_metadata_prefix_bytes: 0,
        }
    }
}

impl Layout {
    /// Returns the default layout: the last dimension varies fastest.
    pub fn descending(rank: usize) -> Self {
        let rank = i64::try_from(rank).expect("a rank is small");
        Self { minor_to_major: (0..rank).rev().collect(), tail: None }
    }
    /// Returns whether the order of dimensions is the default one.
    pub fn is_descending(&self) -> bool {
        self.minor_to_major.iter().rev().zip(0..).all(|(&d, i)| d == i)
    }
    /// Returns the distance of neighbors along each dimension of an array of these sizes, in
    /// elements; `None` if it does not list every dimension [exactly once](Layout::is_permutation).
    /// Tiles are not considered.
    ///
    /// ```
    /// let shape: hlo::Shape = "f32[2,3,4]{0,2,1}".parse().unwrap();
    /// let shape = shape.array().unwrap();
    /// assert_eq!(shape.layout.strides(&shape.dims).unwrap().as_slice(), [1, 8, 2]);
    /// ```
    pub fn strides(&self, dims: &[i64]) -> Option<Dims> {
        if !self.is_permutation(dims.len()) {
            return None;
        }
        let order = || self.minor_to_major.iter().rev().filter_map(|&d| usize::try_from(d).ok());
        let sizes: Dims = order().map(|d| dims[d]).collect();
        let mut strides = Dims::from_elem(0, dims.len());
        for (d, stride) in order().zip(sizes.strides()) {
            strides[d] = stride;
        }
        Some(strides)
    }
    /// Returns whether it lists every dimension of an array of this rank exactly once.
    pub fn is_permutation(&self, rank: usize) -> bool {
        let mut seen = vec![false; rank];
        let fresh = |&d: &i64| {
            let slot = usize::try_from(d).ok().and_then(|d| seen.get_mut(d));
            slot.is_some_and(|slot| !std::mem::replace(slot, true))
        };
        self.minor_to_major.len() == rank && self.minor_to_major.iter().all(fresh)
    }
}
