//! Windows: the elements of an array under a window, for `reduce-window`, `select-and-scatter` and
//! `convolution`
//!
//! Position k of the window at result index x lies on element e where, in each dimension,
//! `e * lhs_dilate = x * stride + k * rhs_dilate - pad_low`. Positions in padding, and in the holes
//! that `lhs_dilate` inserts between the elements, lie on no element. Negative padding removes
//! elements.
use super::indices;
use hlo::Dims;
use hlo::op::value::WindowDim;
use smallvec::SmallVec;

/// A position of the window and the element under it, in one dimension.
type Pair = (i64, i64);

/// Returns the positions of the window that lie on elements, and the elements, in row-major order.
/// `at` is the index of the window, `sizes` are those of the array.
pub fn under(
    window: &[WindowDim],
    at: &[i64],
    sizes: &[i64],
) -> impl Iterator<Item = (Dims, Dims)> + use<> {
    let pairs: SmallVec<[SmallVec<[Pair; 8]>; 4]> = (window.iter().zip(at).zip(sizes))
        .map(|((dim, &at), &size)| in_dimension(dim, at, size).collect())
        .collect();
    let counts: Dims = pairs.iter().map(|pairs| num::index::to_i64(pairs.len())).collect();
    indices(&counts).map(move |choice| {
        let chosen = choice.iter().zip(&pairs).map(|(&i, pairs)| pairs[num::index::to_usize(i)]);
        chosen.unzip()
    })
}

fn in_dimension(dim: &WindowDim, at: i64, size: i64) -> impl Iterator<Item = Pair> {
    let &WindowDim {
        size: window,
        stride,
        pad_low,
        pad_high: _, // Determines the number of windows: the shape of the result.
        lhs_dilation,
        rhs_dilation,
        reversal: _, // Read by `convolution`; a reduction has the same elements in the same order.
    } = dim;
    // Dilations may be so large that window positions exceed 64 bits.
    let wide = i128::from;
    let (element_distance, window_distance) = (wide(lhs_dilation), wide(rhs_dilation));
    let start = wide(at) * wide(stride) - wide(pad_low);
    let end = start + (wide(window) - 1) * window_distance;
    // Elements at `start..=end` are those between the window's first position and its last.
    let first = (start + element_distance - 1).div_euclid(element_distance).max(0);
    let last = end.div_euclid(element_distance).min(wide(size) - 1);
    (first..=last).filter_map(move |element| {
        let from_start = element * element_distance - start;
        let k = i64::try_from(from_start / window_distance).ok()?;
        let element = i64::try_from(element).ok()?;
        (from_start % window_distance == 0).then_some((k, element))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_of_the_definition() {
        for (window, stride, low, elements, dilation) in [
            (3, 1, 1, 1, 1),
            (3, 2, -1, 1, 2),
            (4, 1, 3, 2, 1),
            (5, 3, 4, 3, 2),
            (2, 1, 9, 1, 1),
            (7, 1, 4, 10, 4),
            (0, 1, 0, 1, 1),
        ] {
            let dim = WindowDim {
                stride,
                pad_low: low,
                lhs_dilation: elements,
                rhs_dilation: dilation,
                ..WindowDim::new(window)
            };
            for at in 0..12 {
                for size in 0..7 {
                    let mut expected = Vec::new();
                    for k in 0..window {
                        let position = at * stride + k * dilation - low;
                        let element = position.div_euclid(elements);
                        if position.rem_euclid(elements) == 0 && (0..size).contains(&element) {
                            expected.push((k, element));
                        }
                    }
                    let found: Vec<Pair> = in_dimension(&dim, at, size).collect();
                    assert_eq!(found, expected, "{dim:?} at {at} of {size}");
                }
            }
        }
    }

    #[test]
    fn huge_dilations_take_no_time() {
        let huge = WindowDim {
            lhs_dilation: i64::MAX - 1,
            rhs_dilation: i64::MAX - 2,
            ..WindowDim::new(i64::MAX)
        };
        let pairs: Vec<Pair> = in_dimension(&huge, 0, 5).collect();
        assert_eq!(pairs, [(0, 0)]);
    }
}
