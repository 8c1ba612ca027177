//! Custom calls: code that is not HLO.
use crate::{Builder, Computation, Error, IntoShape, Result, Value, edits};
use hlo::ir::BackendConfig;
use hlo::op::CustomCall;
use hlo::op::value::{
    ApiVersion, ConvDims, CustomCallSchedule, OutputOperandAliasing, Text, Window,
};
use hlo::{Literal, Shape};

/// Options of [`Builder::custom_call`].
#[derive(Debug, Clone, Default)]
pub struct CustomCallOptions<'b> {
    /// Configuration of the target: XLA's `opaque`, printed as `backend_config`. For
    /// [`ApiVersion::TypedFfi`] a dictionary of MLIR, `{uplo = 76 : ui8}`.
    pub opaque: String,
    /// The call may not be left out or moved.
    pub has_side_effect: bool,
    /// Parts of the result that lie in the memory of an operand.
    pub output_operand_aliasing: OutputOperandAliasing,
    /// A constant for the target.
    pub literal: Option<Literal>,
    /// When it should run.
    pub schedule: CustomCallSchedule,
    /// How the target is called.
    pub api_version: ApiVersion,
    /// Computations the target may call: XLA's `CustomCallWithComputation`.
    pub computations: Vec<Computation<'b>>,
    /// The shapes, with layouts, that the operands must have, one for each: XLA's
    /// `CustomCallWithLayout`. The result then has the layout its shape states.
    pub operand_shapes_with_layout: Option<Vec<Shape>>,
    /// The window of a convolution: XLA's `CustomCallWithConvDnums`.
    pub window: Window,
    /// Dimension numbers of a convolution.
    pub dimension_numbers: Option<ConvDims>,
}

impl Builder {
    /// Calls a function by its name: XLA's `CustomCall`, and with the options of their names
    /// `CustomCallWithComputation`, `CustomCallWithLayout`, `CustomCallWithComputationAndLayouts`
    /// and `CustomCallWithConvDnums`.
    ///
    /// The shape of the result must be stated. The engine that runs the module must know the
    /// target; see `docs/custom-calls.md`.
    ///
    /// ```
    /// use builder::{Builder, CustomCallOptions};
    /// let b = Builder::new("m");
    /// let x = b.parameter(0, "s32[2]", "x");
    /// let y = b.custom_call("twice", &[x], "s32[2]", &CustomCallOptions::default());
    /// let hooks = interp::Hooks::new().custom_call("twice", |_| Ok("s32[2] {2, 4}".parse().unwrap()));
    /// let executable = interp::Executable::compile(b.build(y)?, &interp::CompileOptions::default())?;
    /// let options = interp::RunOptions::default().hooks(hooks);
    /// let run = executable.execute(&["s32[2] {1, 2}".parse()?], &options)?;
    /// assert_eq!(run.to_string(), "s32[2]{0} {2, 4}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the target's name starts with `$`, which XLA keeps for
    /// itself.
    #[track_caller]
    pub fn custom_call<'b>(
        &'b self,
        target: &str,
        operands: &[Value<'b>],
        shape: impl IntoShape,
        options: &CustomCallOptions<'b>,
    ) -> Value<'b> {
        self.record(|b| b.make_custom_call(target, operands, shape.into_shape()?, options))
    }
    pub(crate) fn make_custom_call<'b>(
        &'b self,
        target: &str,
        operands: &[Value<'b>],
        shape: Shape,
        options: &CustomCallOptions<'b>,
    ) -> Result<Value<'b>> {
        if target.starts_with('$') {
            let message = format!("the target `{target}` starts with `$`");
            return Err(Error::argument(message).with_help("such names are XLA's own"));
        }
        let called = options.computations.iter().map(|computation| computation.id_in(self));
        let call = CustomCall {
            window: options.window.clone(),
            dim_labels: options.dimension_numbers.clone(),
            operand_layout_constraints: options.operand_shapes_with_layout.clone(),
            custom_call_has_side_effect: options.has_side_effect,
            literal: options.literal.clone(),
            output_to_operand_aliasing: options.output_operand_aliasing.clone(),
            schedule: options.schedule,
            api_version: options.api_version,
            called_computations: called.collect::<Result<_>>()?,
            ..CustomCall::new(Text(target.into()))
        };
        self.emit_configured(call, operands, shape, &options.opaque)
    }
    /// Emits a custom call with this `backend_config`, unless it is empty.
    pub(crate) fn emit_configured<'b>(
        &'b self,
        call: CustomCall,
        operands: &[Value<'b>],
        shape: Shape,
        config: &str,
    ) -> Result<Value<'b>> {
        let call = self.emit(call, operands, Some(shape))?;
        if !config.is_empty() {
            let config = BackendConfig(config.to_owned());
            edits::amend(call, |common| common.backend_config = Some(config))?;
        }
        Ok(call)
    }
}
