//! Layouts: the order of dimensions in memory, tiles and other properties.
use crate::{ElementType, Shape};
use smallvec::SmallVec;

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
