//! `custom-call`: calls a function that is not HLO.
use super::value::{
    ApiVersion, ConvDims, CustomCallSchedule, Ignored, OperandPrecision, OutputOperandAliasing,
    PaddingType, Text, Window,
};
use super::{Infer, ShapeRule, check, check_arrays};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{ElementType, Literal, Result, Shape};

attrs! {
    /// Calls a function by its name.
    pub struct CustomCall {
        /// The window over the operand.
        pub window: Window = "window" in instruction or Window::default();
        /// The role of each dimension, for a convolution.
        pub dim_labels: Option<ConvDims> = "dim_labels" in convolution_dimension_numbers or None;
        /// The number of feature groups, for a convolution.
        pub feature_group_count: i64 = "feature_group_count" in feature_group_count or 1;
        /// The number of batch groups, for a convolution.
        pub batch_group_count: i64 = "batch_group_count" in batch_group_count or 1;
        /// The precision of each operand.
        pub operand_precision: OperandPrecision = "operand_precision" in precision_config.operand_precision or OperandPrecision::default();
        /// How the window is padded.
        pub padding_type: PaddingType = "padding_type" in padding_type or PaddingType::Invalid;
        /// The function's name.
        pub custom_call_target: Text = "custom_call_target" in custom_call_target;
        /// Shapes whose layouts the operands must have.
        pub operand_layout_constraints: Option<Vec<Shape>> = "operand_layout_constraints" in instruction or None;
        /// It must not be removed or reordered.
        pub custom_call_has_side_effect: bool = "custom_call_has_side_effect" in custom_call_has_side_effect or false;
        /// A constant argument.
        pub literal: Option<Literal> = "literal" in literal or None;
        /// Results that alias an operand.
        pub output_to_operand_aliasing: OutputOperandAliasing = "output_to_operand_aliasing" in output_operand_aliasing or OutputOperandAliasing::default();
        /// When it is scheduled.
        pub schedule: CustomCallSchedule = "schedule" in custom_call_schedule or CustomCallSchedule::None;
        /// The calling convention.
        pub api_version: ApiVersion = "api_version" in custom_call_api_version or ApiVersion::Original;
        /// Computations it may call.
        pub called_computations: Vec<ComputationId> = "called_computations" in called_computation_ids or Vec::<ComputationId>::new();
        /// Another spelling for a single called computation.
        pub to_apply: Option<ComputationId> = "to_apply" in called_computation_ids or None;
        /// `backend_config` in texts of 2019.
        pub opaque: Option<Text> = "opaque" in instruction or None;
        /// From `host-compute`, until 2019.
        pub channel_name: Ignored = "channel_name" or Ignored;
        /// From `host-compute`, until 2019.
        pub cost_estimate_ns: Ignored = "cost_estimate_ns" or Ignored;
    }
}

impl ShapeRule for CustomCall {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let stated = cx.stated()?;
        self.layouts(cx)?;
        self.output_to_operand_aliasing.check(cx.operands, stated, "custom_call_aliasing")?;
        let buffer = |shape: &Shape| matches!(shape, Shape::Buffer(_));
        match self.custom_call_target.0.as_str() {
            "GetRngSeed" => {
                cx.arity(cx.operands.is_empty(), "no operand")?;
                check(stated.is_scalar(ElementType::U64), "custom_call_rng_seed", || {
                    format!("expected `GetRngSeed` to have shape u64[], found {stated}")
                })?;
            }
            target @ ("Pin" | "CreateBuffer") => {
                cx.arity(
                    cx.operands.len() == usize::from(target == "Pin"),
                    match target {
                        "Pin" => "1 operand",
                        _ => "no operand",
                    },
                )?;
                check(buffer(stated), "custom_call_gives_buffer", || {
                    format!("expected `{target}` to return a buffer, found {stated:#}")
                })?;
            }
            "Unpin" => {
                cx.arity(cx.operands.len() == 1, "1 operand")?;
                check(buffer(cx.operands[0]), "custom_call_takes_buffer", || {
                    format!(
                        "expected the operand of `Unpin` to be a buffer, found {:#}",
                        cx.operands[0]
                    )
                })
                .map_err(|e| e.on(Place::Operand(0)))?;
            }
            _ => {}
        }
        Ok(stated.clone())
    }
}

impl CustomCall {
    /// Fails unless `operand_layout_constraints` is absent or has a shape for each operand.
    fn layouts(&self, cx: &Infer<'_>) -> Result<()> {
        let Some(expected) = &self.operand_layout_constraints else { return Ok(()) };
        let constraints = Place::Attribute("operand_layout_constraints");
        expected.iter().try_for_each(check_arrays).map_err(|e| e.on(constraints))?;
        let (given, count) = (expected.len(), cx.operands.len());
        check(given == count, "custom_call_layout_count", || {
            format!(
                "operand_layout_constraints has {given} shapes, expected {count}: one per operand"
            )
        })
        .map_err(|e| e.on(Place::Attribute("operand_layout_constraints")))?;
        for (i, (expected, &operand)) in expected.iter().zip(cx.operands).enumerate() {
            check(expected.compatible(operand), "custom_call_layout_shape", || {
                format!(
                    "operand_layout_constraints states {expected:#} for operand {i}, which is {operand:#}"
                )
            })
            .map_err(|e| e.on(Place::Attribute("operand_layout_constraints")))?;
        }
        Ok(())
    }
}
