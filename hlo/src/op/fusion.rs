//! `fusion`: a computation a compiler runs in one piece.
use super::rules::{parameters, result};
use super::value::{FusionKind, OutputOperandAliasing};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Runs a computation on the operands; how it is compiled changes no value.
    pub struct Fusion {
        /// How a compiler runs it.
        pub kind: FusionKind = "kind";
        /// Results that lie in an operand's memory.
        pub output_to_operand_aliasing: OutputOperandAliasing =
            "output_to_operand_aliasing" or OutputOperandAliasing::default();
        /// The computation.
        pub calls: ComputationId = "calls";
    }
}

impl ShapeRule for Fusion {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let callee = cx.callee(self.calls)?;
        parameters(&callee, cx.operands, "fusion_parameters", "calls")?;
        result(&callee, cx.stated()?, "fusion_result", "calls")?;
        Ok(callee.result.clone())
    }
}
