//! `Elemwise`: a scalar operation applied to arrays.
use super::tensor::stretched;
use super::{ScalarOp, Tensor, immediately, scalar, types};
use builder::{Builder, Code, Error, Result, Value};
use hlo::ElementType;
use std::collections::BTreeMap;

/// PyTensor's `Elemwise`: a scalar operation generalized to arrays.
///
/// Inputs of fewer dimensions are completed on the left with dimensions of size 1. In each
/// dimension the sizes must be the same; one that is 1 and broadcastable (see [`Tensor`]) is
/// stretched. The type of the output is that of [`ScalarOp::output_type`].
///
/// ```
/// use builder::Builder;
/// use builder_compat::pytensor::{Elemwise, ScalarOp};
/// let b = Builder::new("m");
/// let x = b.parameter(0, "s32[1,3]", "x");
/// let y = b.parameter(1, "s32[2,1]", "y");
/// let quotient = Elemwise::new(ScalarOp::IntDiv).apply(&b, &[x, y]);
/// let args = ["s32[1,3] {{7, -7, 9}}".parse()?, "s32[2,1] {{2}, {-3}}".parse()?];
/// assert_eq!(interp::run(&b.build(quotient)?, &args)?.to_string(), "s32[2,3]{1,0} { { 3, -4, 4 }, { -3, 2, -3 } }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elemwise {
    pub(super) scalar_op: ScalarOp,
    inplace_pattern: BTreeMap<usize, usize>,
    name: Option<String>,
    pub(super) float_x: ElementType,
}

/// The type, sizes and inputs of an [`Elemwise`] before anything is computed.
#[derive(Debug, Clone)]
pub struct OutputInfo<'b> {
    /// Type of the output.
    pub dtype: ElementType,
    /// Sizes of the output.
    pub dims: Vec<i64>,
    /// Which dimensions of the output may be stretched: those that may in every input.
    pub broadcastable: Vec<bool>,
    /// The inputs, completed on the left to one rank.
    pub inputs: Vec<Tensor<'b>>,
}

impl Elemwise {
    /// Returns the operation on arrays, with nothing computed in place and `float64` for PyTensor's
    /// `floatX`.
    pub fn new(scalar_op: ScalarOp) -> Self {
        Self { scalar_op, inplace_pattern: BTreeMap::new(), name: None, float_x: ElementType::F64 }
    }
    /// Says that output `o` is computed in the memory of input `i`, for pairs `(o, i)`; there is
    /// one output, 0.
    ///
    /// A value has no memory in HLO: this is a hint. Where the output is (an element of) the result
    /// of the module, and the input a parameter of it, the module says that they may share their
    /// memory (`input_output_alias`).
    pub fn inplace_pattern(mut self, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        self.inplace_pattern = pairs.into_iter().collect();
        self
    }
    /// Gives it a name of its own, which [`Display`](std::fmt::Display) shows.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }
    /// Sets PyTensor's `floatX`: the type of a quotient of integers, and of the zero cotangents of
    /// integers.
    pub fn float_x(mut self, ty: ElementType) -> Self {
        self.float_x = ty;
        self
    }
    /// Returns the scalar operation.
    pub fn scalar_op(&self) -> ScalarOp {
        self.scalar_op
    }
    pub(crate) fn output_type(&self, inputs: &[ElementType]) -> Result<ElementType> {
        self.scalar_op.output_type_with(inputs, self.float_x)
    }

    /// Returns the output's type, sizes and broadcastable pattern, and the inputs completed on the
    /// left.
    ///
    /// # Errors
    /// `E0801` for a wrong number of inputs and a wrong in-place pattern, `E0802` for sizes that do
    /// not fit, `E0810` for types the operation does not take.
    #[track_caller]
    pub fn get_output_info<'b>(&self, inputs: &[Tensor<'b>]) -> Result<OutputInfo<'b>> {
        let first = inputs.first().ok_or_else(|| self.no_inputs())?;
        immediately(first.value.builder(), |_| self.output_info(inputs))
    }
    pub(super) fn output_info<'b>(&self, inputs: &[Tensor<'b>]) -> Result<OutputInfo<'b>> {
        let dtypes: Result<Vec<ElementType>> = inputs.iter().map(Tensor::dtype).collect();
        let dtypes = dtypes?;
        let dtype = self.output_type(&dtypes)?;
        let ranks: Result<Vec<usize>> = inputs.iter().map(|x| x.value.rank()).collect();
        let rank = ranks?.into_iter().max().unwrap_or(0);
        let (dims, broadcastable) = self.broadcast(inputs, rank)?;
        let completed: Result<Vec<_>> = inputs.iter().map(|x| x.left_completed(rank)).collect();
        let info = OutputInfo { dtype, dims, broadcastable, inputs: completed? };
        self.check_inplace(&info, &dtypes)?;
        Ok(info)
    }
    pub(super) fn no_inputs(&self) -> Error {
        Error::argument(format!("`{self}` has no inputs"))
    }
    /// Sizes and pattern of the output.
    fn broadcast(&self, inputs: &[Tensor<'_>], rank: usize) -> Result<(Vec<i64>, Vec<bool>)> {
        let mut sizes = vec![1; rank];
        let mut fixed = vec![false; rank];
        for input in inputs {
            let dims = input.value.dims()?;
            let first = rank - dims.len();
            for (dim, (size, flag)) in dims.iter().zip(input.broadcastable()?).enumerate() {
                if flag {
                    continue;
                }
                let at = first + dim;
                if fixed[at] && sizes[at] != *size {
                    return Err(self.misfit(inputs, at, (sizes[at], *size)));
                }
                (fixed[at], sizes[at]) = (true, *size);
            }
        }
        Ok((sizes, fixed.into_iter().map(|fixed| !fixed).collect()))
    }
    #[cold]
    fn misfit(&self, inputs: &[Tensor<'_>], dim: usize, sizes: (i64, i64)) -> Error {
        let shapes: Vec<String> = (inputs.iter())
            .filter_map(|x| x.value.shape().ok())
            .map(|shape| format!("{shape:#}"))
            .collect();
        let message = format!(
            "inputs of `{self}`, {}, do not fit: dimension {dim} is {} and {}",
            shapes.join(" and "),
            sizes.0,
            sizes.1
        );
        let help = if sizes.0 == 1 || sizes.1 == 1 {
            "a size of 1 is stretched only if it is broadcastable: declare it with `with_broadcastable`"
        } else {
            "sizes are the same, or 1"
        };
        Error::from(Code::Broadcast { message }).with_help(help)
    }
    fn check_inplace(&self, info: &OutputInfo<'_>, dtypes: &[ElementType]) -> Result<()> {
        for (&output, &input) in &self.inplace_pattern {
            let Some(overwritten) = info.inputs.get(input).filter(|_| output == 0) else {
                let message = format!(
                    "output {output} is to be computed in input {input}, of {} inputs and 1 output",
                    info.inputs.len()
                );
                return Err(Error::argument(message));
            };
            if overwritten.value.dims()? != info.dims {
                let message =
                    format!("`{self}` cannot be computed in input {input}, which is stretched");
                return Err(Error::argument(message));
            }
            if dtypes[input] != info.dtype {
                let message = format!(
                    "`{self}` gives {}, which cannot be kept in an input of {}",
                    info.dtype, dtypes[input]
                );
                return Err(types::refused(message));
            }
        }
        Ok(())
    }

    /// Returns the output, on inputs whose dimensions of size 1 are all broadcastable.
    ///
    /// # Errors
    /// Kept by the builder: as [`Elemwise::get_output_info`].
    #[track_caller]
    pub fn apply<'b>(&self, b: &'b Builder, inputs: &[Value<'b>]) -> Value<'b> {
        b.record(|b| {
            inputs.iter().try_for_each(|&x| b.owns(x))?;
            let inputs: Vec<Tensor<'b>> = inputs.iter().map(|&x| x.into()).collect();
            Ok(self.node(&inputs)?.value)
        })
    }
    /// Returns the output with its pattern, on inputs with theirs.
    ///
    /// # Errors
    /// As [`Elemwise::get_output_info`].
    #[track_caller]
    pub fn make_node<'b>(&self, inputs: &[Tensor<'b>]) -> Result<Tensor<'b>> {
        let first = inputs.first().ok_or_else(|| self.no_inputs())?;
        immediately(first.value.builder(), |_| self.node(inputs))
    }
    fn node<'b>(&self, inputs: &[Tensor<'b>]) -> Result<Tensor<'b>> {
        if inputs.is_empty() {
            return Err(self.no_inputs());
        }
        let info = self.output_info(inputs)?;
        let stretched = stretched(&info.inputs, &info.dims)?;
        let output = scalar::build(self.scalar_op, &stretched, info.dtype)?;
        for &input in self.inplace_pattern.values() {
            output.builder().may_alias(output, inputs[input].value);
        }
        Tensor::from(output).with_broadcastable(&info.broadcastable)
    }
}

impl std::fmt::Display for Elemwise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.scalar_op.fmt(f),
        }
    }
}
