//! `iota`: `result[i] = i[iota_dimension]`
use crate::Result;
use crate::context::RunContext;
use crate::index::{strides, to_usize};
use crate::num::loops::{Numbers, Progression};
use crate::parallel::parts;
use crate::plan::{Fusion, Kernel};
use hlo::{ArrayShape, Literal};

/// Elements between looks at the clock.
const PART: usize = 1 << 16;

/// `start`, `start + step`, ... along a dimension.
pub(crate) struct Iota {
    numbers: Numbers,
    width: usize,
}

impl Iota {
    pub(crate) fn new(shape: &ArrayShape, dim: i64, start: i64, step: i64) -> Self {
        let dim = to_usize(dim);
        let stride = to_usize(strides(&shape.dims)[dim]);
        let size = to_usize(shape.dims[dim]);
        let numbers = Progression { start, step, stride, size }.numbers(shape.ty);
        Self { numbers, width: shape.ty.storage_bytes() }
    }
    /// Writes all elements.
    pub(crate) fn write(&self, result: &mut Literal) {
        parts(result.bytes_mut(), (PART * self.width, 1), |number, part| {
            (self.numbers)(number * PART, part);
        });
    }
}

impl Kernel for Iota {
    fn run(&self, _: &RunContext, _: &[&Literal], outputs: &mut [Literal]) -> Result<()> {
        self.write(&mut outputs[0]);
        Ok(())
    }
    fn fusion(&self) -> Fusion {
        Fusion::Numbers(self.numbers.clone())
    }
}
