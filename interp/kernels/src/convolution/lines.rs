//! Convolutions of few output features in a group, whose results are computed in lines: along the
//! last spatial dimension of the result, or along the groups where features come last.
use super::super::contraction::{ResultLines, Tap};
use super::{Setting, source};
use hlo::op::value::WindowDim;
use num::index::{to_i64, to_usize};
use smallvec::SmallVec;

/// Output features of a group, at most: tiles are faster where they are filled.
const MOST_OUTPUTS: usize = 8;
/// Places of a window along lines that may be many more than the results.
const SHORT_WINDOW: i64 = 64;
/// The largest distance of elements that have holes between them.
const MOST_HOLES: i64 = 64;

/// The dimension that lines run along.
#[derive(Debug, Clone, Copy)]
enum Along {
    /// A dimension of the window.
    Spatial(usize),
    Groups,
}

/// The lines of a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineShape {
    along: Along,
    length: usize,
    interleaved: usize,
    most_bases: usize,
    taps: usize,
}

impl LineShape {
    /// Returns the bytes that the lines take, with elements of `width` bytes in the result.
    pub(super) fn scratch(self, width: usize) -> usize {
        ResultLines::scratch(self.length, self.most_bases, self.taps, width)
    }
}

/// Index of a result: batch, feature, and spatial dimensions.
struct Index {
    batch: usize,
    feature: usize,
    spatial: SmallVec<[i64; 4]>,
}

impl Setting {
    /// Returns the lines of the result, if they suit the convolution.
    pub(super) fn line_shape(&self) -> Option<LineShape> {
        let labels = &self.op.dim_labels;
        let minor = (0..self.result_sizes.len()).rev().find(|&d| self.result_sizes[d] > 1)?;
        let length = to_usize(self.result_sizes[minor]);
        let fits = self.group_outputs <= MOST_OUTPUTS;
        if to_i64(minor) == labels.out_feature {
            let fits = fits && self.groups > 1 && self.inputs.min(self.group_outputs) == 1;
            return fits.then_some(LineShape {
                along: Along::Groups,
                length: self.groups,
                interleaved: self.group_outputs,
                most_bases: self.terms(),
                taps: 1,
            });
        }
        let d = labels.out_spatial.iter().position(|&d| d == to_i64(minor))?;
        let dim = &self.window.dims[d];
        let is_near = self.inputs == 1 || self.lhs_stride(labels.lhs_spatial[d]) == 1;
        let is_short = dim.size <= SHORT_WINDOW.max(4 * to_i64(length));
        // Places along the line do not overflow.
        let is_small = [dim.stride, dim.rhs_dilation, dim.pad_low.abs()];
        let is_small = is_small.iter().all(|&x| x < 1 << 31) && dim.lhs_dilation <= MOST_HOLES;
        (fits && is_near && is_short && is_small).then(|| LineShape {
            along: Along::Spatial(d),
            length,
            interleaved: 1,
            most_bases: self.terms() / to_usize(dim.size).max(1),
            taps: to_usize(dim.size),
        })
    }

    /// Returns the lines; `bases` is the function of the same name.
    pub(super) fn lines<'a>(
        &self,
        shape: LineShape,
        bases: &'a (dyn Fn(usize, &mut Vec<[usize; 2]>) + Sync),
    ) -> ResultLines<'a> {
        let (taps, [lhs_step, rhs_step]) = self.taps(shape);
        let LineShape { length, interleaved, .. } = shape;
        let line_step = self.rhs_stride(self.op.dim_labels.rhs_output_feature);
        let terms = self.terms();
        ResultLines { length, interleaved, terms, line_step, lhs_step, rhs_step, taps, bases }
    }

    /// Returns the taps of a line, and the distances of the terms of neighboring results in the
    /// operands.
    fn taps(&self, shape: LineShape) -> (Vec<Tap>, [usize; 2]) {
        let labels = &self.op.dim_labels;
        let feature = self.rhs_stride(labels.rhs_output_feature);
        let Along::Spatial(d) = shape.along else {
            let tap = Tap { first: 0, step: 1, count: shape.length, lhs: 0, rhs: 0 };
            let lhs_step = match self.op.batch_group_count {
                1 => self.inputs * self.lhs_stride(labels.lhs_feature),
                _ => to_usize(self.row_sizes[0]) * self.lhs_stride(labels.lhs_batch),
            };
            return (vec![tap], [lhs_step, self.group_outputs * feature]);
        };
        let dim = &self.window.dims[d];
        let (lhs_dim, rhs_dim) = (labels.lhs_spatial[d], labels.rhs_spatial[d]);
        let (lhs_stride, rhs_stride) = (self.lhs_stride(lhs_dim), self.rhs_stride(rhs_dim));
        // Results whose terms lie on elements, and not in holes, are `step` apart, and the elements
        // `advance`.
        let holes = dim.lhs_dilation;
        let step = holes / greatest_common_divisor(dim.stride, holes);
        let advance = step * dim.stride / holes;
        let size = self.lhs_sizes[to_usize(lhs_dim)];
        let tap = |k: i64| {
            let offset = k * dim.rhs_dilation - dim.pad_low;
            let least = ((-offset).max(0) + dim.stride - 1) / dim.stride;
            let first = (least..least + step).find(|&x| (x * dim.stride + offset) % holes == 0)?;
            let last = (holes.checked_mul(size - 1)? - offset).div_euclid(dim.stride);
            let last = last.min(to_i64(shape.length) - 1);
            (size > 0 && first <= last).then(|| Tap {
                first: to_usize(first),
                step: to_usize(step),
                count: to_usize((last - first) / step + 1),
                lhs: to_usize((first * dim.stride + offset) / holes) * lhs_stride,
                rhs: rhs_place(dim, k) * rhs_stride,
            })
        };
        let lhs_step = to_usize(advance).saturating_mul(lhs_stride);
        ((0..dim.size).filter_map(tap).collect(), [lhs_step, 0])
    }

    /// Appends the places in the operands of the terms of a block, without those of its taps.
    pub(super) fn bases(&self, shape: LineShape, block: usize, bases: &mut Vec<[usize; 2]>) {
        let labels = &self.op.dim_labels;
        let index = self.index(block * shape.length * shape.interleaved);
        let group = index.feature / self.group_outputs;
        let (batch, features) = match self.op.batch_group_count {
            1 => (index.batch, group * self.inputs),
            _ => (group * to_usize(self.row_sizes[0]) + index.batch, 0),
        };
        let feature = self.lhs_stride(labels.lhs_feature);
        bases.push([
            batch * self.lhs_stride(labels.lhs_batch) + features * feature,
            index.feature * self.rhs_stride(labels.rhs_output_feature),
        ]);
        for (d, dim) in self.window.dims.iter().enumerate() {
            if matches!(shape.along, Along::Spatial(along) if along == d) {
                continue;
            }
            let (lhs_dim, rhs_dim) = (labels.lhs_spatial[d], labels.rhs_spatial[d]);
            let size = self.lhs_sizes[to_usize(lhs_dim)];
            let places = (0..dim.size).filter_map(|k| {
                let at = source(dim, index.spatial[d], k, size)?;
                let lhs = to_usize(at) * self.lhs_stride(lhs_dim);
                Some([lhs, rhs_place(dim, k) * self.rhs_stride(rhs_dim)])
            });
            multiply(bases, places);
        }
        let input = self.rhs_stride(labels.rhs_input_feature);
        multiply(bases, (0..self.inputs).map(|i| [i * feature, i * input]));
    }

    /// Returns the index of a result, counted in row-major order.
    fn index(&self, mut result: usize) -> Index {
        let labels = &self.op.dim_labels;
        let mut at = SmallVec::<[i64; 8]>::from_elem(0, self.result_sizes.len());
        for (at, &size) in at.iter_mut().zip(&self.result_sizes).rev() {
            *at = to_i64(result % to_usize(size));
            result /= to_usize(size);
        }
        Index {
            batch: to_usize(at[to_usize(labels.out_batch)]),
            feature: to_usize(at[to_usize(labels.out_feature)]),
            spatial: labels.out_spatial.iter().map(|&d| at[to_usize(d)]).collect(),
        }
    }
}

/// Returns the place in the kernel of place `k` of the window.
fn rhs_place(dim: &WindowDim, k: i64) -> usize {
    to_usize(if dim.reversal { dim.size - 1 - k } else { k })
}

/// Replaces each base by its sums with all places.
fn multiply(bases: &mut Vec<[usize; 2]>, places: impl Iterator<Item = [usize; 2]>) {
    let count = bases.len();
    for [lhs, rhs] in places {
        for i in 0..count {
            let [base_lhs, base_rhs] = bases[i];
            bases.push([base_lhs + lhs, base_rhs + rhs]);
        }
    }
    bases.drain(..count);
}

pub(super) fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
