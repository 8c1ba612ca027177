//! Index vectors of `gather` and `scatter`: the slices that they select, as offsets.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use crate::strided::Walk;
use hlo::{ArrayShape, Dims, ElementType, Scalar};
use num::Result;
use num::index::{Grid, others, pick, saturating_count, strides, to_i64, to_usize};
use num::loops::instruction_set::{self, Task};
use num::loops::{OUTSIDE, VectorLoop, convert_loop};
use smallvec::SmallVec;

/// Index vectors whose offsets are computed together.
const BLOCK: usize = 256;

/// The attributes of an op with index vectors.
pub(super) struct Indexing<'a> {
    pub(super) index_vector_dim: i64,
    /// The dimension of the operand of each component.
    pub(super) map: &'a [i64],
    /// The batching dimensions of the operand, and of the indices.
    pub(super) batching: (&'a [i64], &'a [i64]),
    /// The dimensions of the operand that a slice has not, beside the batching ones.
    pub(super) collapsed: &'a [i64],
    /// The sizes of a slice, in the dimensions of the operand.
    pub(super) slice: &'a [i64],
    /// Whether an index whose slice is partly outside the operand means the nearest slice inside, or
    /// none.
    pub(super) is_clamped: bool,
}

#[derive(Clone, Copy)]
struct Component {
    /// The last start of a slice in the operand; negative if the operand is smaller than a slice.
    last: i64,
    /// The stride of the dimension of the operand.
    stride: usize,
}

/// A dimension of the operand in which the slice starts at the index of a batch dimension.
struct Batching {
    /// Vectors with the same index, one after another.
    repeated: usize,
    size: usize,
    stride: usize,
}

impl Slices {
    /// Writes the offsets of the slices of the vectors from `first` on, as many as `to` has;
    /// `numbers` is memory for their components.
    fn starts(&self, indices: &[u8], first: usize, numbers: &mut Vec<i64>, to: &mut [usize]) {
        to.fill(0);
        for batching in &self.batching {
            batching.add(first, to);
        }
        let (count, vector) = (to.len(), self.components.len());
        numbers.resize(count * vector, 0);
        if self.neighbors == 1 && vector <= 4 {
            self.widen(indices, first * vector, numbers);
            return match *self.components {
                [a] => self.add(&[a], numbers, to),
                [a, b] => self.add(&[a, b], numbers, to),
                [a, b, c] => self.add(&[a, b, c], numbers, to),
                [a, b, c, d] => self.add(&[a, b, c, d], numbers, to),
                _ => {}
            };
        }
        for (k, component) in self.components.iter().enumerate() {
            let mut done = 0;
            while done < count {
                let (outer, inner) =
                    ((first + done) / self.neighbors, (first + done) % self.neighbors);
                let run = (self.neighbors - inner).min(count - done);
                let at = (outer * vector + k) * self.neighbors + inner;
                self.widen(indices, at, &mut numbers[done..done + run]);
                done += run;
            }
            self.add(&[*component], &numbers[..count], to);
        }
    }

    fn add<const K: usize>(&self, components: &[Component; K], indices: &[i64], to: &mut [usize]) {
        let indices = indices.as_chunks().0;
        instruction_set::run(AddStarts { components, indices, is_clamped: self.is_clamped, to });
    }

    /// Writes the indices from `first` on; one beyond i64 becomes the largest i64, which is beyond
    /// every array.
    fn widen(&self, indices: &[u8], first: usize, to: &mut [i64]) {
        let width = self.ty.storage_bytes();
        let bytes = &indices[first * width..][..to.len() * width];
        match &self.convert {
            Some(convert) => convert(&[bytes], bytemuck::cast_slice_mut(to)),
            None if self.ty == ElementType::S64 => {
                to.copy_from_slice(bytemuck::cast_slice(bytes));
            }
            None => {
                for (to, from) in to.iter_mut().zip(bytes.chunks_exact(width)) {
                    *to = Scalar::read(self.ty, from).as_i64().unwrap_or(0);
                }
            }
        }
        if self.ty == ElementType::U64 {
            to.iter_mut().filter(|index| **index < 0).for_each(|index| *index = i64::MAX);
        }
    }
}

/// Adds the starts of slices in `K` dimensions.
struct AddStarts<'a, const K: usize> {
    components: &'a [Component; K],
    indices: &'a [[i64; K]],
    is_clamped: bool,
    to: &'a mut [usize],
}

impl<const K: usize> Task for AddStarts<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { components, indices, is_clamped, to } = self;
        let each = to.iter_mut().zip(indices);
        match is_clamped {
            true => each.for_each(|(to, indices)| {
                for (&Component { last, stride }, &index) in components.iter().zip(indices) {
                    *to += usize::try_from(index.clamp(0, last)).unwrap_or(0) * stride;
                }
            }),
            false => each.for_each(|(to, indices)| {
                for (&Component { last, stride }, &index) in components.iter().zip(indices) {
                    let is_inside = (0..=last).contains(&index) && *to != OUTSIDE;
                    let start = usize::try_from(index).unwrap_or(0).wrapping_mul(stride);
                    *to = if is_inside { to.wrapping_add(start) } else { OUTSIDE };
                }
            }),
        }
    }
}

impl Batching {
    fn add(&self, first: usize, mut to: &mut [usize]) {
        let mut at = first;
        while !to.is_empty() {
            let index = at / self.repeated % self.size;
            let (run, step) = match self.repeated {
                1 => (self.size - index, self.stride),
                repeated => (repeated - at % repeated, 0),
            };
            let (now, rest) = to.split_at_mut(run.min(to.len()));
            for (i, to) in now.iter_mut().enumerate() {
                *to += index * self.stride + i * step;
            }
            (at, to) = (at + now.len(), rest);
        }
    }
}

/// The slices of an operand that index vectors select, in the order of their elements in an array:
/// the result of `gather`, or the updates of `scatter`.
///
/// A unit is the part of a slice in the last dimensions of the array, after those of batches.
pub(super) struct Slices {
    components: SmallVec<[Component; 4]>,
    batching: SmallVec<[Batching; 2]>,
    ty: ElementType,
    /// The conversion of indices to s64.
    convert: Option<VectorLoop>,
    is_clamped: bool,
    /// The number of index vectors; their positions are the row-major indices of the batch
    /// dimensions.
    count: usize,
    /// Vectors whose components are neighbors.
    neighbors: usize,
    /// The first vector, and the offset in a slice, along the dimensions before the last ones of
    /// batches.
    vectors: Grid,
    parts: Grid,
    /// Units that follow one another: those of neighboring vectors.
    together: usize,
    window: Walk,
    /// Elements of a unit.
    pub(super) unit: usize,
}

/// Units that follow one another in the array.
pub(super) struct Units<'a> {
    /// The first one.
    pub(super) first: usize,
    /// The offset of each in its slice.
    pub(super) part: usize,
    /// The offsets of their slices in the operand.
    pub(super) starts: &'a [usize],
}

/// The offsets that a run of a kernel uses more than once.
pub(super) struct Offsets {
    /// Those of all slices, if a slice has several units.
    starts: Option<Vec<usize>>,
    /// Those of the runs of neighbors in a unit.
    pub(super) runs: Vec<usize>,
    /// Elements of a run.
    pub(super) run: usize,
}

impl Slices {
    /// Returns the slices of an operand in an array of sizes `dims`, of which `window_dims` are
    /// those of a slice.
    pub(super) fn new(
        of: &Indexing<'_>,
        (operand, indices): (&ArrayShape, &ArrayShape),
        (dims, window_dims): (&[i64], &[i64]),
    ) -> Self {
        let steps = strides(&operand.dims);
        let left_out = [of.collapsed, of.batching.0].concat();
        let (_, window_strides) = pick(operand, &others(operand.rank(), &left_out));
        let rank = dims.len();
        let batch_dims = others(rank, window_dims);
        let batch_sizes: Dims = batch_dims.iter().map(|&d| dims[to_usize(d)]).collect();
        let batch_strides = strides(&batch_sizes);
        let component = |&d: &i64| {
            let d = to_usize(d);
            Component { last: operand.dims[d] - of.slice[d], stride: to_usize(steps[d]) }
        };
        let batching = of.batching.0.iter().zip(of.batching.1).map(|(&d, &paired)| {
            let paired = to_usize(if paired > of.index_vector_dim { paired - 1 } else { paired });
            Batching {
                repeated: to_usize(batch_strides[paired]),
                size: to_usize(batch_sizes[paired]),
                stride: to_usize(steps[to_usize(d)]),
            }
        });
        let after = to_usize(of.index_vector_dim).min(batch_sizes.len());
        let stride = |d: usize, list: &[i64], strides: &[i64]| {
            list.iter().position(|&other| other == to_i64(d)).map(|i| strides[i])
        };
        // Dimensions of one element separate nothing.
        let is_window = |&d: &usize| dims[d] == 1 || window_dims.contains(&to_i64(d));
        let is_batch = |&d: &usize| dims[d] == 1 || batch_dims.contains(&to_i64(d));
        let end = rank - (0..rank).rev().take_while(is_window).count();
        let first = end - (0..end).rev().take_while(is_batch).count();
        let (sizes, steps): (Dims, Dims) = (end..rank)
            .filter_map(|d| Some((dims[d], stride(d, window_dims, &window_strides)?)))
            .unzip();
        let grid = |list: &[i64], strides: &[i64]| {
            let outer = (0..first).filter(|&d| dims[d] != 1);
            Grid::new(outer.map(|d| (dims[d], stride(d, list, strides).unwrap_or(0))))
        };
        Self {
            components: of.map.iter().map(component).collect(),
            batching: batching.collect(),
            ty: indices.ty,
            convert: convert_loop(indices.ty, ElementType::S64),
            is_clamped: of.is_clamped,
            count: saturating_count(&batch_sizes),
            neighbors: saturating_count(&batch_sizes[after..]),
            vectors: grid(&batch_dims, &batch_strides),
            parts: grid(window_dims, &window_strides),
            together: saturating_count(&dims[first..end]),
            unit: saturating_count(&sizes),
            window: Walk::merged(&sizes, 0, &steps),
        }
    }

    /// Returns whether a slice is one unit.
    pub(super) fn are_units(&self) -> bool {
        self.vectors.count() == 1
    }
    /// Returns the bytes of [`offsets`](Self::offsets).
    pub(super) fn scratch(&self) -> usize {
        let starts = if self.are_units() { 0 } else { self.count };
        let runs = self.unit / self.window.neighbors();
        runs.saturating_add(starts).saturating_mul(size_of::<usize>())
    }
    /// Returns the offsets for a run of a kernel.
    pub(super) fn offsets(&self, indices: &[u8]) -> Offsets {
        let starts = (!self.are_units()).then(|| {
            let (mut list, mut numbers) = (vec![0; self.count], Vec::new());
            for (i, to) in list.chunks_mut(BLOCK).enumerate() {
                self.starts(indices, i * BLOCK, &mut numbers, to);
            }
            list
        });
        Offsets { starts, runs: self.window.run_offsets(), run: self.window.neighbors() }
    }

    /// Returns the number of units.
    pub(super) fn units(&self) -> usize {
        self.vectors.count().saturating_mul(self.together)
    }
    /// Calls `each` for `count` units from `first` on, in blocks.
    pub(super) fn each_block(
        &self,
        (indices, offsets): (&[u8], &Offsets),
        (first, count): (usize, usize),
        mut each: impl FnMut(Units<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut numbers, mut block) = (Vec::new(), [0; BLOCK]);
        let (mut row, mut at) = (first / self.together, first % self.together);
        let mut done = 0;
        while done < count {
            let now = (self.together - at).min(count - done).min(BLOCK);
            let vector = self.vectors.offset(row) + at;
            let starts = match &offsets.starts {
                Some(list) => &list[vector..vector + now],
                None => {
                    self.starts(indices, vector, &mut numbers, &mut block[..now]);
                    &block[..now]
                }
            };
            each(Units { first: first + done, part: self.parts.offset(row), starts })?;
            (done, at) = (done + now, at + now);
            if at == self.together {
                (row, at) = (row + 1, 0);
            }
        }
        Ok(())
    }
}
