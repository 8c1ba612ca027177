//! `fusion`: a computation a compiler runs in one piece.
use super::rules::{parameters, result};
use super::value::{FusionKind, OutputOperandAliasing};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Runs a computation on the operands; a compiler made one piece of it, which changes no value.
    ///
    /// Each instruction of the computation rounds as it would outside. A compiler may contract a product and a sum into one
    /// rounding here; we do not.
    ///
    /// # Shape
    ///
    /// The stated one.
    ///
    /// # Refused
    ///
    /// - `fusion_parameters`: the operands are not, in number and shapes, what the computation takes.
    /// - `fusion_result`: the computation gives another shape than the stated one.
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
