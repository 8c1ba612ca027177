//! Routines of linear algebra as kernels: all that the instruction states is read once, when the
//! program is compiled.
use super::lapack::{self, LapackCall};
use super::{Call, StatedCall};
use crate::Result;
use crate::state::Site;
use hlo::ir::Instruction;
use hlo::{Array, Literal, Op, Shape};
use kernels::Kernel;
use num::array::{array_shapes, pack, static_shape};
use num::{Arithmetic, Scope};
use smallvec::SmallVec;

/// Runs the call if its target is a routine.
pub(super) fn run(call: &Call<'_>, arithmetic: Arithmetic) -> Option<Result<Literal>> {
    let prepared = call.with_shapes(|stated| lapack::prepared(stated, arithmetic))?;
    Some(prepared.and_then(|prepared| {
        let operands: Vec<&Array> = call.operands.iter().filter_map(|o| o.array()).collect();
        let shapes = array_shapes(call.shape).into_iter().map(static_shape);
        let mut results: Vec<Array> = shapes.map(Array::zeros).collect();
        prepared.run(&operands, &mut results)?;
        Ok(pack(call.shape, results))
    }))
}

/// A routine of linear algebra, and the place of its call.
struct Routine {
    call: LapackCall,
    site: Site,
}

/// Returns the kernel of a call whose target is a routine of linear algebra.
pub(crate) fn kernel(
    site: Site,
    instruction: &Instruction,
    operands: &[&Shape],
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let Op::CustomCall(op) = &instruction.op else { return None };
    let backend_config = instruction.common.as_ref().and_then(|c| c.backend_config.as_ref());
    let stated = StatedCall { op, backend_config, operands, shape: &instruction.shape };
    // What fails here fails when it runs.
    let call = lapack::prepared(&stated, arithmetic)?.ok()?;
    Some(Box::new(Routine { call, site }))
}

impl Kernel for Routine {
    fn run(
        &self,
        scope: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let Site { computation, instruction } = self.site;
        let operands: SmallVec<[&Array; 4]> = inputs.iter().copied().flatten().collect();
        if scope.custom_call((computation, instruction), &operands, outputs)? {
            return Ok(());
        }
        self.call.run(&operands, outputs)
    }
    fn scratch(&self) -> usize {
        self.call.scratch()
    }
    fn arithmetic(&self) -> Arithmetic {
        self.call.arithmetic()
    }
}
