//! The terms of a row that follow each other in the left operand.
use super::super::contraction::TermRun;
use super::super::window::Reach;
use super::Setting;
use super::lines::greatest_common_divisor;
use num::index::to_usize;

/// The offsets of windows in each dimension.
pub(super) struct RunTable {
    /// The distance in the left operand of terms that are next to each other.
    step: usize,
    /// From the last dimension on.
    dims: Vec<Dim>,
    /// Whether the terms at neighboring places of the last dimension follow each other.
    is_joined: bool,
}

/// The windows along a dimension.
struct Dim {
    windows: Vec<Reached>,
    /// The distances of the places that lie on elements, in terms and in the left operand.
    term_step: usize,
    lhs_step: usize,
}

/// The first term of a window that lies on an element, and the number of such places.
#[derive(Clone, Copy)]
struct Reached {
    term: usize,
    lhs: usize,
    count: usize,
}

impl RunTable {
    pub(super) fn step(&self) -> usize {
        self.step
    }
}

impl Setting {
    /// Returns the bytes of the table.
    pub(super) fn run_table_bytes(&self) -> usize {
        let windows = self.row_sizes[1..].iter().map(|&size| to_usize(size));
        windows.fold(0, usize::saturating_add).saturating_mul(size_of::<Reached>())
    }

    /// Returns the table of windows.
    pub(super) fn run_table(&self) -> RunTable {
        let labels = &self.op.dim_labels;
        let feature = self.lhs_stride(labels.lhs_feature);
        let mut term_step = self.inputs;
        let mut dims = Vec::new();
        for (d, window) in self.window.dims.iter().enumerate().rev() {
            let dim = labels.lhs_spatial[d];
            let (size, stride) = (self.lhs_sizes[to_usize(dim)], self.lhs_stride(dim));
            let [holes, dilation] = [window.lhs_dilation, window.rhs_dilation].map(i128::from);
            let reached = |out: i64| {
                let Reach { first, count, .. } = Reach::of(window, out, size);
                let place = i128::from(first) * holes + i128::from(window.pad_low)
                    - i128::from(out) * i128::from(window.stride);
                let place = i64::try_from(place / dilation);
                let place = if count == 0 { 0 } else { place.expect("a place in the window") };
                Reached {
                    term: to_usize(place) * term_step,
                    lhs: to_usize(first) * stride,
                    count: to_usize(count),
                }
            };
            // Every `period`-th place lies on an element if one does.
            let divisor = greatest_common_divisor(window.lhs_dilation, window.rhs_dilation);
            let period = to_usize(window.lhs_dilation / divisor);
            dims.push(Dim {
                windows: (0..self.row_sizes[d + 1]).map(reached).collect(),
                term_step: term_step.saturating_mul(period),
                lhs_step: to_usize(window.rhs_dilation / divisor).saturating_mul(stride),
            });
            term_step = term_step.saturating_mul(to_usize(window.size));
        }
        let last = dims.first().filter(|last| last.term_step == self.inputs);
        let (step, is_joined) = match last {
            Some(last) if self.inputs == 1 => (last.lhs_step, true),
            Some(last) => (feature, last.lhs_step == self.inputs * feature),
            None => (feature, false),
        };
        RunTable { step, dims, is_joined }
    }

    /// The runs of a row: one for each place of the kernel, or for each place in its outer
    /// dimensions if the features of neighboring places follow each other.
    pub(super) fn runs(
        &self,
        table: &RunTable,
        group: usize,
        mut row: usize,
        runs: &mut Vec<TermRun>,
    ) {
        let labels = &self.op.dim_labels;
        let start = runs.len();
        runs.push(TermRun { term: 0, lhs: 0, count: self.inputs });
        for (i, dim) in table.dims.iter().enumerate() {
            let Reached { term, lhs, count } = dim.windows[row % dim.windows.len()];
            row /= dim.windows.len();
            if count == 0 {
                runs.truncate(start);
                return;
            }
            let known = runs.len();
            for run in &mut runs[start..] {
                (run.term, run.lhs) = (run.term + term, run.lhs + lhs);
            }
            if i == 0 && table.is_joined {
                runs[start].count *= count;
                continue;
            }
            for k in 1..count {
                for i in start..known {
                    let TermRun { term, lhs, count } = runs[i];
                    let (term, lhs) = (term + k * dim.term_step, lhs + k * dim.lhs_step);
                    runs.push(TermRun { term, lhs, count });
                }
            }
        }
        let batches = self.op.batch_group_count > 1;
        let batch = if batches { group * to_usize(self.row_sizes[0]) + row } else { row };
        let features = if batches { 0 } else { group * self.inputs };
        let first = batch * self.lhs_stride(labels.lhs_batch)
            + features * self.lhs_stride(labels.lhs_feature);
        runs[start..].iter_mut().for_each(|run| run.lhs += first);
    }
}
