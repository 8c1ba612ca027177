//! Ops that take indices: slices, `gather`, `scatter`.
use super::generator::Generator;
use super::generator::{any, list};
use super::scope::Scope;
use hlo::{ArrayShape, ElementType};

/// Types of indices; each holds any size that occurs.
const INDICES: [ElementType; 5] = {
    use ElementType::{S32, S64, U16, U32};
    [S32, S32, S64, U32, U16]
};

impl Generator {
    pub(super) fn index_type(&mut self) -> ElementType {
        INDICES[self.rng.usize(..INDICES.len())]
    }
    /// Returns a scalar index for each of these limits.
    fn starts(&mut self, scope: &mut Scope, limits: &[i64]) -> String {
        let ty = self.index_type();
        let scalar = ArrayShape::new(ty, [].as_slice());
        let names = limits.iter().map(|&limit| match self.pick(4) {
            0 => self.array(scope, &scalar),
            _ => self.indices(scope, &scalar, &[limit + 1]),
        });
        names.collect::<Vec<String>>().join(", ")
    }
    /// Returns sizes of a part of an array of these.
    fn part(&mut self, dims: &[i64]) -> Vec<i64> {
        dims.iter()
            .map(|&size| if self.chance(3) { size } else { self.rng.i64(0..=size) })
            .collect()
    }
    pub(super) fn dynamic_slice(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let sizes = self.part(&x.shape.dims);
        let limits: Vec<i64> = x.shape.dims.iter().zip(&sizes).map(|(n, size)| n - size).collect();
        let starts = self.starts(scope, &limits);
        let text =
            format!("dynamic-slice({}, {starts}), dynamic_slice_sizes={}", x.name, list(&sizes));
        self.push(scope, ArrayShape::new(x.shape.ty, sizes.as_slice()), &text);
        Some(())
    }
    pub(super) fn dynamic_update_slice(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let sizes = self.part(&x.shape.dims);
        let limits: Vec<i64> = x.shape.dims.iter().zip(&sizes).map(|(n, size)| n - size).collect();
        let starts = self.starts(scope, &limits);
        let update = self.array_of(scope, x.shape.ty, &sizes).name;
        self.push(scope, x.shape, &format!("dynamic-update-slice({}, {update}, {starts})", x.name));
        Some(())
    }

    /// Draws the dimension numbers of a gather or scatter over an array of these dimensions.
    fn indexing(&mut self, dims: &[i64]) -> Indexing {
        let indexed = self.some_of(dims.len());
        let (mut sizes, mut collapsed) = (dims.to_vec(), Vec::new());
        for d in 0..dims.len() {
            sizes[d] = if self.rng.bool() { self.rng.i64(0..=dims[d]) } else { dims[d] };
            if dims[d] > 0 && self.chance(2) {
                sizes[d] = 1;
                collapsed.push(d);
            }
        }
        let mut map = indexed;
        self.rng.shuffle(&mut map);
        let mut batch: Vec<i64> = (0..self.pick(3)).map(|_| self.rng.i64(1..=4)).collect();
        let vector = self.pick(batch.len() + 1);
        // Without the dimension of index vectors, each index is a vector of one.
        let implicit = map.len() == 1 && self.rng.bool();
        let vector = if implicit { batch.len() } else { vector };
        let windows: Vec<i64> =
            (0..dims.len()).filter(|d| !collapsed.contains(d)).map(|d| sizes[d]).collect();
        let rank = batch.len() + windows.len();
        let mut places = self.order(rank);
        places.truncate(windows.len());
        places.sort_unstable();
        let (mut window, mut outer) = (windows.iter(), batch.iter());
        let result = (0..rank).filter_map(|d| match places.contains(&d) {
            true => window.next().copied(),
            false => outer.next().copied(),
        });
        let result = result.collect();
        let limits = map.iter().map(|&d| dims[d] - sizes[d] + 1).collect();
        if !implicit {
            batch.insert(vector, i64::try_from(map.len()).unwrap_or(0));
        }
        Indexing { map, sizes, collapsed, indices: batch, vector, windows: places, result, limits }
    }
    /// Returns indices for these dimension numbers. The elements of an index vector are in range
    /// together only if vectors are the last dimension; otherwise the least limit applies to all.
    fn index_vectors(&mut self, scope: &mut Scope, indexing: &Indexing) -> String {
        let shape = ArrayShape::new(self.index_type(), indexing.indices.as_slice());
        let last = indexing.vector + 1 == indexing.indices.len() && indexing.limits.len() > 1;
        let least = indexing.limits.iter().copied().min().unwrap_or(1);
        let limits = if last { indexing.limits.clone() } else { vec![least] };
        self.indices(scope, &shape, &limits)
    }
    pub(super) fn gather(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let indexing = self.indexing(&x.shape.dims);
        let indices = self.index_vectors(scope, &indexing);
        let Indexing { map, sizes, collapsed, vector, windows, result, .. } = indexing;
        let sorted = if self.chance(6) { ", indices_are_sorted=false" } else { "" };
        let text = format!(
            "gather({}, {indices}), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim={vector}, slice_sizes={}{sorted}",
            x.name,
            list(windows),
            list(collapsed),
            list(map),
            list(sizes)
        );
        self.push(scope, ArrayShape::new(x.shape.ty, result.as_slice()), &text);
        Some(())
    }
    pub(super) fn scatter(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let indexing = self.indexing(&x.shape.dims);
        let indices = self.index_vectors(scope, &indexing);
        let updates = self.array_of(scope, x.shape.ty, &indexing.result).name;
        let Indexing { map, collapsed, vector, windows, .. } = indexing;
        let reducer = self.reducer(x.shape.ty).name;
        let text = format!(
            "scatter({}, {indices}, {updates}), update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim={vector}, to_apply={reducer}",
            x.name,
            list(windows),
            list(collapsed),
            list(map)
        );
        self.push(scope, x.shape, &text);
        Some(())
    }
}

/// The dimension numbers of a gather or scatter.
#[derive(Debug)]
struct Indexing {
    /// The dimension of the operand that each element of an index vector refers to.
    map: Vec<usize>,
    /// The sizes of a window.
    sizes: Vec<i64>,
    collapsed: Vec<usize>,
    /// The dimensions of the indices.
    indices: Vec<i64>,
    /// The dimension of index vectors.
    vector: usize,
    /// The dimensions of the result that are those of the window.
    windows: Vec<usize>,
    /// The dimensions of the result of a gather, and of the updates of a scatter.
    result: Vec<i64>,
    /// The number of positions for each element of an index vector.
    limits: Vec<i64>,
}
