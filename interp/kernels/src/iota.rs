//! `iota`: `result[i] = i[iota_dimension]`
use crate::cost_model::COMPUTED;
use crate::op::{ArrayOp, Site, linear};
use crate::slicing::{SliceDim, Sliced, region_shape};
use crate::{Fusion, Kernel};
use hlo::{Array, ArrayShape, op};
use num::index::{strides, to_usize};
use num::loops::{Progression, WriteElements};
use num::parallel::parts;
use num::scalar_program::ScalarPrograms;
use num::{Result, Scope};

/// `start`, `start + step`, ... along a dimension.
pub struct Iota {
    numbers: WriteElements,
    width: usize,
}

impl Iota {
    /// Returns numbers that grow by `step` along a dimension.
    pub fn new(shape: &ArrayShape, dim: i64, start: i64, step: i64) -> Self {
        let dim = to_usize(dim);
        let stride = to_usize(strides(&shape.dims)[dim]);
        let size = to_usize(shape.dims[dim]);
        let numbers = Progression { start, step, stride, size }.numbers(shape.ty);
        Self { numbers, width: shape.ty.storage_bytes() }
    }
    /// Writes all elements.
    pub fn write(&self, result: &mut Array) {
        parts(result.bytes_mut(), (COMPUTED * self.width, 1), |number, part| {
            (self.numbers)(number * COMPUTED, part);
        });
    }
}

impl ArrayOp for op::Iota {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { iota_dimension } = self;
        Some(Box::new(Iota::new(site.result(), iota_dimension.unwrap_or(0), 0, 1)))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let dim = self.iota_dimension.unwrap_or(0);
        let SliceDim { start, step, .. } = region[to_usize(dim)];
        let shape = region_shape(site.result(), region);
        Some(Sliced::Kernel(Box::new(Iota::new(&shape, dim, start, step))))
    }
}

impl Kernel for Iota {
    fn run(&self, _: &dyn Scope, _: &[Option<&Array>], outputs: &mut [Array]) -> Result<()> {
        self.write(&mut outputs[0]);
        Ok(())
    }
    fn fusion(&self) -> Fusion {
        Fusion::Numbers(self.numbers.clone())
    }
}
