//! Regions of arrays, and how a region of a result follows from regions of operands.
use crate::Kernel;
use hlo::op::Slice;
use hlo::op::value::{SliceRange, SliceRanges};
use hlo::{ArrayShape, Op};
use smallvec::SmallVec;

/// The elements `start`, `start + step`, ... of a dimension, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SliceDim {
    /// The first element.
    pub start: i64,
    /// The distance of two elements; 1 if there is only one.
    pub step: i64,
    /// The number of elements.
    pub count: i64,
}

impl SliceDim {
    /// Returns all elements of a dimension.
    pub fn whole(size: i64) -> Self {
        Self { start: 0, step: 1, count: size }
    }
    /// Returns `count` elements from `start` on.
    pub fn run(start: i64, count: i64) -> Self {
        Self { start, step: 1, count }
    }
    /// Returns the elements of a slice; `None` if there are none.
    pub fn of(range: &SliceRange) -> Option<Self> {
        let size = range.limit - range.start;
        let count = if size > 0 { (size - 1) / range.stride + 1 } else { return None };
        // The stride of a single element may be any.
        let step = if count > 1 { range.stride } else { 1 };
        Some(Self { start: range.start, step, count })
    }
    /// Returns the last element.
    pub fn last(self) -> i64 {
        self.start + self.step * (self.count - 1)
    }
    /// Returns the elements of this that `inner` selects.
    #[must_use]
    pub fn select(self, inner: Self) -> Self {
        let (start, count) = (self.start + self.step * inner.start, inner.count);
        Self { start, step: if count > 1 { self.step * inner.step } else { 1 }, count }
    }
    /// Returns the elements between `from` and `to`, counted from `from`; `None` if there are none.
    pub fn within(self, from: i64, to: i64) -> Option<Self> {
        let before = (from - self.start).max(0);
        let skipped = before / self.step + i64::from(before % self.step > 0);
        if skipped >= self.count || to <= self.start + skipped * self.step {
            return None;
        }
        let start = self.start + skipped * self.step;
        let count = (self.count - skipped).min((to - 1 - start) / self.step + 1);
        Some(Self { start: start - from, step: if count > 1 { self.step } else { 1 }, count })
    }
    fn range(self) -> SliceRange {
        SliceRange { start: self.start, limit: self.last() + 1, stride: self.step }
    }
}

/// A part of an array: the elements of each dimension.
pub type Region = SmallVec<[SliceDim; 4]>;

/// Returns the `slice` that takes a region.
pub fn slice_of(region: &[SliceDim]) -> Op {
    Op::Slice(Slice { ranges: SliceRanges(region.iter().map(|dim| dim.range()).collect()) })
}

/// Returns the shape of a region of an array, without a layout.
pub fn region_shape(shape: &ArrayShape, region: &[SliceDim]) -> ArrayShape {
    ArrayShape::new(shape.ty, region.iter().map(|dim| dim.count).collect::<hlo::Dims>())
}

/// The way in which a region of a result follows from regions of the operands.
pub enum Sliced {
    /// It is this region of this operand.
    Operand(usize, Region),
    /// It is the result of this op on these regions of operands; operands without dimensions are
    /// taken whole.
    Op(Op, Vec<(usize, Region)>),
    /// It is computed from no operand.
    Kernel(Box<dyn Kernel>),
    /// It is the second region within the first region of the result.
    Within(Region, Region),
}
