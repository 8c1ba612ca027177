//! `iota`: `result[i] = i[iota_dimension]`
use crate::{Fusion, Kernel};
use hlo::{ArrayShape, Literal};
use num::index::{strides, to_usize};
use num::loops::{Numbers, Progression};
use num::parallel::parts;
use num::{Result, Scope};

/// Elements between looks at the clock.
const PART: usize = 1 << 16;

/// `start`, `start + step`, ... along a dimension.
pub struct Iota {
    numbers: Numbers,
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
    pub fn write(&self, result: &mut Literal) {
        parts(result.bytes_mut(), (PART * self.width, 1), |number, part| {
            (self.numbers)(number * PART, part);
        });
    }
}

impl Kernel for Iota {
    fn run(&self, _: &dyn Scope, _: &[&Literal], outputs: &mut [Literal]) -> Result<()> {
        self.write(&mut outputs[0]);
        Ok(())
    }
    fn fusion(&self) -> Fusion {
        Fusion::Numbers(self.numbers.clone())
    }
}
