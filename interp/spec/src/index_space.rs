//! Walks over the indices of an array.
use hlo::Dims;
use num::clock::Stop;
use num::index::to_usize;

/// Returns the indices of an array of these sizes in row-major order; without dimensions, the empty
/// index. There are no more of them once the run is to stop.
pub fn indices(sizes: &[i64]) -> impl Iterator<Item = Dims> + use<> {
    let sizes = Dims::from_slice(sizes);
    let first = (!sizes.contains(&0)).then(|| Dims::from_elem(0, sizes.len()));
    let stop = Stop::current();
    std::iter::successors(first, move |index| {
        if stop.is_set() {
            return None;
        }
        let mut next = index.clone();
        for d in (0..sizes.len()).rev() {
            next[d] += 1;
            if next[d] < sizes[d] {
                return Some(next);
            }
            next[d] = 0;
        }
        None
    })
}

/// Sets the components of `index` in the listed dimensions: `index[dims[i]] = values[i]`.
pub fn set(index: &mut [i64], dims: &[i64], values: &[i64]) {
    for (&dim, &value) in dims.iter().zip(values) {
        index[to_usize(dim)] = value;
    }
}
