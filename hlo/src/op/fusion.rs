//! `fusion`: a computation that a compiler fused.
use super::rules::{parameters, result};
use super::value::{FusionKind, OutputOperandAliasing};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};

attrs! {
    /// Calls a fused computation with the operands; fusion changes no value.
    ///
    /// Each instruction of the computation rounds as it would outside. A compiler may contract a
    /// product and a sum into one rounding here; Etalon does not.
    ///
    /// # Shape
    ///
    /// The stated one.
    ///
    /// # Constraints
    ///
    /// - `fusion_parameters`: the operands are, in number and shapes, the parameters of the
    ///   computation.
    /// - `fusion_result`: the computation returns the stated shape.
    pub struct Fusion {
        /// The kind of fusion.
        pub kind: FusionKind = "kind" in fusion_kind;
        /// Results that alias an operand.
        pub output_to_operand_aliasing: OutputOperandAliasing =
            "output_to_operand_aliasing" in output_operand_aliasing or OutputOperandAliasing::default();
        /// The computation.
        pub calls: ComputationId = "calls" in called_computation_ids;
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
