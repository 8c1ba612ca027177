//! The elements of an array under a window.
use hlo::op::value::{Window, WindowDim};
use hlo::{ArrayShape, Dims};
use num::index::{offsets, to_usize};
use num::parallel::threads;

/// The elements a window reaches in one dimension: `first`, `first + step`, ...
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reach {
    pub(super) first: i64,
    pub(super) step: i64,
    pub(super) count: i64,
}

impl Reach {
    pub(super) const NOTHING: Self = Self { first: 0, step: 1, count: 0 };

    /// Returns the part of the window at `out` that lies in a dimension of `size` elements.
    pub(super) fn of(dim: &WindowDim, out: i64, size: i64) -> Self {
        // Below this the window lies before the array.
        let before = i128::from(dim.pad_low) - i128::from(out) * i128::from(dim.stride);
        let skipped =
            (before + i128::from(dim.rhs_dilation) - 1).div_euclid(i128::from(dim.rhs_dilation));
        let (divisor, inverse) = euclid(dim.rhs_dilation, dim.lhs_dilation);
        let (period, step) = (dim.lhs_dilation / divisor, dim.rhs_dilation / divisor);
        // Place k lies on an element, and not in a hole, if `k * rhs_dilation - before` is a
        // multiple of `lhs_dilation`.
        if before % i128::from(divisor) != 0 {
            return Self::NOTHING;
        }
        let wide = i128::from(period);
        let residue = (before / i128::from(divisor)).rem_euclid(wide) * i128::from(inverse);
        let start = skipped.max(0);
        let k = i64::try_from(start + (residue - start).rem_euclid(wide)).unwrap_or(i64::MAX);
        let first = (k < dim.size).then(|| source(dim, out, k, size)).flatten();
        let Some(first) = first else { return Self::NOTHING };
        let in_window = (dim.size - 1 - k) / period;
        let in_array = (size - 1 - first) / step;
        Self { first, step, count: in_window.min(in_array) + 1 }
    }
    /// Returns whether the elements that both reach are at the end of this and at the start of
    /// `next`, and at least half of these.
    pub(super) fn slides_to(self, next: Self) -> bool {
        let moved = next.first - self.first;
        self.step == next.step
            && moved >= 0
            && moved % self.step == 0
            && self.count - moved / self.step >= next.count / 2
            && self.count > moved / self.step
            && self.end() <= next.end()
    }
    /// Returns the element after the last; strides may be so large that there is none.
    pub(super) fn end(self) -> i128 {
        i128::from(self.first) + i128::from(self.step) * i128::from(self.count)
    }
}

/// Returns the greatest common divisor g of two positive numbers, and the x in 0..b/g for which
/// `a * x = g` modulo b.
fn euclid(a: i64, b: i64) -> (i64, i64) {
    let (mut g, mut rest) = (a, b);
    let (mut x, mut next) = (1, 0);
    while rest != 0 {
        let times = g / rest;
        (g, rest) = (rest, g - times * rest);
        (x, next) = (next, x - times * next);
    }
    (g, x.rem_euclid(b / g))
}

/// Calls `visit` with the offset of each element under the window at `out`, in row-major order.
/// Padding and holes are skipped.
pub(super) fn under(
    window: &Window,
    from: &ArrayShape,
    strides: &[i64],
    out: &[i64],
    visit: impl FnMut(usize),
) {
    let reach = window.dims.iter().zip(out).zip(&from.dims);
    let reach: Vec<Reach> = reach.map(|((dim, &out), &size)| Reach::of(dim, out, size)).collect();
    walk(&reach, strides, visit);
}

pub(super) fn walk(reach: &[Reach], strides: &[i64], mut visit: impl FnMut(usize)) {
    let sizes: Dims = reach.iter().map(|r| r.count).collect();
    let base = reach.iter().zip(strides).map(|(r, step)| r.first * step).sum();
    // A step beyond the array is never taken.
    let strides: Dims = reach.iter().zip(strides).map(|(r, s)| r.step.wrapping_mul(*s)).collect();
    offsets(&sizes, base, &strides, |at| visit(to_usize(at)));
}

/// Returns the element under place `k` of a window at `out`: none in padding and in holes.
pub(super) fn source(window: &WindowDim, out: i64, k: i64, size: i64) -> Option<i64> {
    let near = || {
        let moved = out.checked_mul(window.stride)?;
        moved.checked_add(k.checked_mul(window.rhs_dilation)?)?.checked_sub(window.pad_low)
    };
    let Some(at) = near() else { return distant_source(window, out, k, size) };
    if at < 0 {
        return None;
    }
    // Most arrays have no holes, and a division takes longer than all the rest.
    let (i, rest) = match window.lhs_dilation {
        1 => (at, 0),
        dilation => (at / dilation, at % dilation),
    };
    (rest == 0 && i < size).then_some(i)
}

/// Returns the source at a place beyond i64, where there are elements if the holes between them are
/// as large.
#[cold]
fn distant_source(window: &WindowDim, out: i64, k: i64, size: i64) -> Option<i64> {
    let at = i128::from(out) * i128::from(window.stride)
        + i128::from(k) * i128::from(window.rhs_dilation)
        - i128::from(window.pad_low);
    let dilation = i128::from(window.lhs_dilation);
    let i = i64::try_from(at / dilation).ok()?;
    (at % dilation == 0 && (0..size).contains(&i)).then_some(i)
}

/// Returns the bytes of the indices under a window, dimension by dimension, in lists that grow.
pub(super) fn index_lists(window: &Window, array: &ArrayShape) -> usize {
    let sizes = window.dims.iter().map(|dim| to_usize(dim.size)).max();
    let elements = array.dims.iter().copied().max().map_or(0, to_usize);
    let list = sizes.unwrap_or(0).min(elements).next_power_of_two().saturating_mul(24);
    list.saturating_mul(threads())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_what_a_walk_over_the_window_finds() {
        for (size, stride, low, base, window) in [
            (3, 1, 1, 1, 1),
            (3, 2, -1, 1, 2),
            (4, 1, 3, 2, 1),
            (5, 3, 4, 3, 2),
            (2, 1, 9, 1, 1),
            (6, 1, 5, 4, 6),
            (7, 1, 4, 10, 4),
            (9, 2, -3, 12, 9),
        ] {
            let dim = WindowDim {
                stride,
                pad_low: low,
                lhs_dilation: base,
                rhs_dilation: window,
                ..WindowDim::new(size)
            };
            for out in 0..12 {
                for elements in 0..7 {
                    let wanted: Vec<i64> =
                        (0..size).filter_map(|k| source(&dim, out, k, elements)).collect();
                    let reach = Reach::of(&dim, out, elements);
                    let found: Vec<i64> =
                        (0..reach.count).map(|i| reach.first + i * reach.step).collect();
                    assert_eq!(found, wanted, "{dim:?} at {out} of {elements}");
                }
            }
        }
    }

    #[test]
    fn reach_of_huge_dilations_is_found_at_once() {
        let huge = WindowDim {
            lhs_dilation: i64::MAX - 1,
            rhs_dilation: i64::MAX - 2,
            ..WindowDim::new(i64::MAX)
        };
        // Neighbouring numbers have no common divisor, and place 0 of the window is element 0.
        assert_eq!(Reach::of(&huge, 0, 5), Reach { first: 0, step: i64::MAX - 2, count: 1 });
        let one = WindowDim { rhs_dilation: 1, ..huge };
        assert_eq!(Reach::of(&one, 0, 5), Reach { first: 0, step: 1, count: 2 });
    }
}
