//! The number of elements that windows have, all together.
use super::window::Reach;
use hlo::ArrayShape;
use hlo::op::value::{Window, WindowDim};
use num::clock::Stop;

/// Returns the number of elements that are under the windows, all together. It is of no account if
/// the time is over before they are counted.
pub(super) fn steps(window: &Window, from: &ArrayShape, result: &ArrayShape) -> u64 {
    let dims = window.dims.iter().zip(&from.dims).zip(&result.dims);
    let stop = Stop::current();
    let counts = dims.map(|((dim, &size), &windows)| {
        if (dim.lhs_dilation, dim.rhs_dilation) == (1, 1) {
            return undilated(dim, size, windows);
        }
        let windows = (0..windows).take_while(|_| !stop.is_set());
        let counts = windows.map(|out| Reach::of(dim, out, size).count.unsigned_abs());
        counts.fold(0, u64::saturating_add)
    });
    counts.fold(1, u64::saturating_mul)
}

/// Returns the number of elements of `size` that are under windows without holes.
fn undilated(dim: &WindowDim, size: i64, windows: i64) -> u64 {
    // A window reaches from `first` to `end`, of which the part in the array counts.
    let first = -i128::from(dim.pad_low);
    let end = first + i128::from(dim.size);
    let [first, end] = [first, end].map(|at| clamped(at, dim.stride.into(), windows.into(), size));
    u64::try_from(end - first).unwrap_or(u64::MAX)
}
/// Returns the sum of `first`, `first + step`, ..., of which each is at least 0 and at most `most`.
fn clamped(first: i128, step: i128, count: i128, most: i64) -> i128 {
    let most = i128::from(most);
    let below = |bound: i128| (bound - first + step - 1).div_euclid(step).clamp(0, count);
    let (zeros, inside) = (below(0), below(most));
    let ends = 2 * first + (zeros + inside - 1) * step;
    (inside - zeros) * ends / 2 + (count - inside) * most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_without_holes_are_counted_as_they_reach() {
        for (size, stride, low) in
            [(1, 1, 0), (3, 1, 1), (3, 2, -1), (4, 5, 3), (9, 1, 8), (2, 1, 9), (30, 3, 12)]
        {
            let dim = WindowDim { stride, pad_low: low, ..WindowDim::new(size) };
            for (elements, windows) in [(0, 5), (1, 1), (7, 12), (12, 7), (20, 0), (20, 40)] {
                let reached = (0..windows).map(|out| Reach::of(&dim, out, elements).count);
                let wanted = u64::try_from(reached.sum::<i64>()).unwrap();
                assert_eq!(undilated(&dim, elements, windows), wanted, "{dim:?} of {elements}");
            }
        }
    }
    #[test]
    fn the_largest_windows_are_counted() {
        let dim = WindowDim { pad_low: i64::MAX - 1, ..WindowDim::new(i64::MAX) };
        assert_eq!(undilated(&dim, 10, 10), 55);
        let dim = WindowDim { stride: i64::MAX, ..WindowDim::new(1) };
        assert_eq!(undilated(&dim, 10, i64::MAX / 2), 1);
    }
}
