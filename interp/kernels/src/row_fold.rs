//! Folds of runs of neighbors, by sums in f64 or by loops over many elements at once.
use super::fold_tiles::Tiles;
use super::partial_sum::Partial;
use super::reduce_lines::{Method, RUN, STRIP};
use hlo::{ElementType, Scalar};

/// Folds of runs, one after another, from the same first value.
pub(super) struct RowFold<'a> {
    method: &'a Method,
    first: Scalar,
    tiles: Tiles,
}

impl<'a> RowFold<'a> {
    pub(super) fn new(method: &'a Method, first: Scalar, inner: usize) -> Self {
        let tiles = match method {
            Method::Sum(..) => Tiles::new(0, ElementType::U8, Scalar::zero(ElementType::U8)),
            Method::Op(_, ty) => Tiles::new(STRIP.min(inner), *ty, first),
        };
        Self { method, first, tiles }
    }
    /// Folds the elements of one result into `to`.
    pub(super) fn row(&mut self, elements: &[u8], to: &mut [u8]) {
        match self.method {
            Method::Sum(loops, ty) => {
                let mut partial = Partial::new(self.first.as_f64());
                let parts = elements.chunks(RUN * loops.width);
                parts.for_each(|part| partial.add((loops.row)(part)));
                let runs = std::iter::once(elements);
                partial.correctly_rounded(*loops, self.first, runs, *ty).write(*ty, to);
            }
            Method::Op(function, ty) => {
                let parts = elements.chunks(STRIP * ty.storage_bytes());
                self.tiles.fold_row(function, parts, to);
            }
        }
    }
}
