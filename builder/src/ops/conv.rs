//! Convolutions, and the custom calls that represent convolutions of dynamic size.
use super::dot::{operand_precision, preferred};
use super::padding::{Padding, WindowOptions, window};
use super::shapes::{emit_of_type, inferred};
use crate::arguments::{all_counted, counted};
use crate::program::make_static;
use crate::{Builder, Error, Result, Value};
use hlo::op::value::{ConvDims, PaddingType, Precision, Text};
use hlo::op::{Convolution, CustomCall};
use hlo::{Dims, ElementType, Op, Shape};

/// Options of a convolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvOptions {
    /// Groups of features that do not mix; 1 by default.
    pub feature_group_count: i64,
    /// Groups of the batch that become features; 1 by default.
    pub batch_group_count: i64,
    /// The precision of each operand.
    pub precision: [Precision; 2],
    /// The element type of the result; without it, the one of the operands that holds more.
    pub preferred_element_type: Option<ElementType>,
    /// Whether the kernel is mirrored, for each spatial dimension; empty for nowhere.
    pub window_reversal: Vec<bool>,
}

impl Default for ConvOptions {
    fn default() -> Self {
        Self {
            feature_group_count: 1,
            batch_group_count: 1,
            precision: [Precision::Default; 2],
            preferred_element_type: None,
            window_reversal: Vec::new(),
        }
    }
}

/// Most dimensions that labels can name: they are digits.
const SPATIAL: usize = 10;

impl Builder {
    /// Returns the numbers with the batch first, then features, then spatial dimensions; of the
    /// kernel, output features first, then input features: XLA's
    /// `CreateDefaultConvDimensionNumbers`.
    ///
    /// ```
    /// let two: hlo::op::value::ConvDims = "bf01_oi01->bf01".parse()?;
    /// assert_eq!(builder::Builder::create_default_conv_dimension_numbers(2), two);
    /// # Ok::<(), hlo::Error>(())
    /// ```
    pub fn create_default_conv_dimension_numbers(num_spatial_dims: usize) -> ConvDims {
        let spatial: Dims = (2i64..).take(num_spatial_dims).collect();
        ConvDims {
            lhs_batch: 0,
            lhs_feature: 1,
            lhs_spatial: spatial.clone(),
            rhs_input_feature: 1,
            rhs_output_feature: 0,
            rhs_spatial: spatial.clone(),
            out_batch: 0,
            out_feature: 1,
            out_spatial: spatial,
        }
    }
    /// Fails unless dimension numbers are those of a convolution of two spatial dimensions or more:
    /// XLA's `Validate`.
    ///
    /// # Errors
    /// `E0801` if an array has fewer spatial dimensions, or a dimension has two roles.
    pub fn validate(dimension_numbers: &ConvDims) -> Result<()> {
        let d = dimension_numbers;
        let arrays = [
            ("input", d.lhs_batch, d.lhs_feature, &d.lhs_spatial),
            ("kernel", d.rhs_input_feature, d.rhs_output_feature, &d.rhs_spatial),
            ("output", d.out_batch, d.out_feature, &d.out_spatial),
        ];
        for (name, first, second, spatial) in arrays {
            if spatial.len() < 2 {
                let message = format!("spatial dimensions of the {name}: {}", spatial.len());
                return Err(Error::argument(message).with_help("XLA requires at least two"));
            }
            let mut all: Vec<i64> = spatial.iter().copied().chain([first, second]).collect();
            all.sort_unstable();
            let mut neighbors = all.iter().zip(all.iter().skip(1));
            if let Some((dim, _)) = neighbors.find(|(a, b)| a == b) {
                let message = format!("dimension {dim} of the {name} has two roles");
                return Err(Error::argument(message));
            }
        }
        Ok(())
    }
}

/// The operands and attributes of a convolution.
struct Conv<'a, 'b> {
    lhs: Value<'b>,
    rhs: Value<'b>,
    window: &'a WindowOptions,
    numbers: &'a ConvDims,
    options: &'a ConvOptions,
}

impl<'b> Conv<'_, 'b> {
    fn op(&self) -> Result<Convolution> {
        let (rhs, spatial) = (self.rhs.array()?, &self.numbers.rhs_spatial);
        if self.numbers.lhs_spatial.len().max(spatial.len()) > SPATIAL {
            let message = format!("a convolution over more than {SPATIAL} dimensions");
            return Err(Error::unsupported(message));
        }
        let sizes: Result<Vec<i64>> =
            spatial.iter().map(|&dim| size(dim, &rhs, "kernel")).collect();
        Ok(Convolution {
            window: window(&sizes?, self.window, &self.options.window_reversal)?,
            feature_group_count: self.options.feature_group_count,
            batch_group_count: self.options.batch_group_count,
            operand_precision: operand_precision(self.options.precision),
            ..Convolution::new(counted_numbers(self.numbers, self.lhs.rank()?, rhs.rank()))
        })
    }
    fn ty(&self) -> Result<Option<ElementType>> {
        preferred(self.options.preferred_element_type, [self.lhs, self.rhs])
    }
    fn emit(&self) -> Result<Value<'b>> {
        emit_of_type(self.lhs.builder(), self.op()?, &[self.lhs, self.rhs], self.ty()?)
    }

    /// Emits the custom call that represents the convolution where sizes are dynamic.
    fn call(
        &self,
        target: &str,
        padding_type: PaddingType,
        operands: &[Value<'b>],
        change: impl FnOnce(&mut Shape),
    ) -> Result<Value<'b>> {
        let (b, op, ty) = (self.lhs.builder(), self.op()?, self.ty()?.map(Shape::scalar));
        let call = CustomCall {
            window: op.window.clone(),
            dim_labels: Some(op.dim_labels.clone()),
            feature_group_count: op.feature_group_count,
            batch_group_count: op.batch_group_count,
            operand_precision: op.operand_precision.clone(),
            padding_type,
            ..CustomCall::new(Text(target.into()))
        };
        let mut shape = inferred(b, &Op::from(op), &[self.lhs, self.rhs], ty.as_ref())?;
        change(&mut shape);
        b.emit(call, operands, Some(shape))
    }
}

/// Returns the dimension numbers counted from the start; the result has the rank of the input.
fn counted_numbers(numbers: &ConvDims, lhs: usize, rhs: usize) -> ConvDims {
    let all = |dims: &[i64], rank| Dims::from_vec(all_counted(dims, rank));
    ConvDims {
        lhs_batch: counted(numbers.lhs_batch, lhs),
        lhs_feature: counted(numbers.lhs_feature, lhs),
        lhs_spatial: all(&numbers.lhs_spatial, lhs),
        rhs_input_feature: counted(numbers.rhs_input_feature, rhs),
        rhs_output_feature: counted(numbers.rhs_output_feature, rhs),
        rhs_spatial: all(&numbers.rhs_spatial, rhs),
        out_batch: counted(numbers.out_batch, lhs),
        out_feature: counted(numbers.out_feature, lhs),
        out_spatial: all(&numbers.out_spatial, lhs),
    }
}
/// Returns the size of a dimension that dimension numbers name.
fn size(dim: i64, shape: &hlo::ArrayShape, what: &str) -> Result<i64> {
    shape.dim(counted(dim, shape.rank())).ok_or_else(|| {
        let message = format!("the spatial dimension {dim} does not exist in the {what} {shape:#}");
        Error::argument(message).with_help(
            "a convolution of n spatial dimensions takes arrays of rank n + 2: batch, features, and those",
        )
    })
}

impl Value<'_> {
    /// Returns a convolution in the default order of dimensions, padded by a rule: XLA's `Conv`.
    /// `rhs` is the kernel; there is one stride for each spatial dimension.
    ///
    /// ```
    /// use builder::options::{ConvOptions, Padding};
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[1,3,32,32]", "x");
    /// let kernel = b.parameter(1, "f32[8,3,5,5]", "kernel");
    /// let y = x.conv(kernel, &[2, 2], Padding::Same, &ConvOptions::default());
    /// assert_eq!(y.dims()?, [1, 8, 16, 16]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn conv(
        self,
        rhs: Self,
        window_strides: &[i64],
        padding: Padding,
        options: &ConvOptions,
    ) -> Self {
        let numbers = Builder::create_default_conv_dimension_numbers(window_strides.len());
        self.conv_with_general_dimensions(rhs, window_strides, padding, &numbers, options)
    }
    /// Returns a convolution in the default order of dimensions, padded by `(low, high)` of each
    /// spatial dimension: XLA's `ConvWithGeneralPadding`.
    #[track_caller]
    pub fn conv_with_general_padding(
        self,
        rhs: Self,
        window_strides: &[i64],
        padding: &[(i64, i64)],
        options: &ConvOptions,
    ) -> Self {
        let numbers = Builder::create_default_conv_dimension_numbers(window_strides.len());
        self.conv_general(rhs, window_strides, padding, &numbers, options)
    }
    /// Returns a convolution in any order of dimensions, padded by a rule: XLA's
    /// `ConvWithGeneralDimensions`.
    #[track_caller]
    pub fn conv_with_general_dimensions(
        self,
        rhs: Self,
        window_strides: &[i64],
        padding: Padding,
        dimension_numbers: &ConvDims,
        options: &ConvOptions,
    ) -> Self {
        self.record(|_| {
            let (lhs, kernel) = (self.array()?, rhs.array()?);
            let spatial = |dims: &Dims, shape, what| -> Result<Vec<i64>> {
                dims.iter().map(|&dim| size(dim, shape, what)).collect()
            };
            let base = spatial(&dimension_numbers.lhs_spatial, &lhs, "input")?;
            let sizes = spatial(&dimension_numbers.rhs_spatial, &kernel, "kernel")?;
            let padding = padding.amounts(&base, &sizes, window_strides)?;
            Ok(self.conv_general(rhs, window_strides, &padding, dimension_numbers, options))
        })
    }
    /// Returns a convolution in any order of dimensions, padded by `(low, high)` of each spatial
    /// dimension: XLA's `ConvGeneral`.
    #[track_caller]
    pub fn conv_general(
        self,
        rhs: Self,
        window_strides: &[i64],
        padding: &[(i64, i64)],
        dimension_numbers: &ConvDims,
        options: &ConvOptions,
    ) -> Self {
        let window = WindowOptions {
            strides: window_strides.to_vec(),
            padding: padding.to_vec(),
            ..WindowOptions::default()
        };
        self.conv_general_dilated(rhs, &window, dimension_numbers, options)
    }
    /// Returns a convolution with all there is: strides, padding, holes in the input
    /// (`base_dilations`) and in the kernel (`window_dilations`), any order of dimensions: XLA's
    /// `ConvGeneralDilated`. (`ConvWithGeneralPadding`, XLA operation semantics.)
    ///
    /// ```
    /// use builder::options::{ConvOptions, WindowOptions};
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[[1f32], [2.0], [3.0], [4.0]]]);
    /// let kernel = b.constant([[[1f32]], [[10.0]]]);
    /// let window = WindowOptions { window_dilations: vec![2], ..Default::default() };
    /// let y = x.conv_general_dilated(kernel, &window, &"b0f_0io->b0f".parse()?, &ConvOptions::default());
    /// assert_eq!(interp::run(&b.build(y)?, &[])?.to_string(), "f32[1,2,1]{2,1,0} { { {31}, {42} } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "convolution")]
    #[track_caller]
    pub fn conv_general_dilated(
        self,
        rhs: Self,
        window: &WindowOptions,
        dimension_numbers: &ConvDims,
        options: &ConvOptions,
    ) -> Self {
        self.record(|_| Conv { lhs: self, rhs, window, numbers: dimension_numbers, options }.emit())
    }
    /// Returns a convolution of an input whose size is known only at run time: XLA's
    /// `DynamicConvForward`, which is a custom call of `DynamicConvolutionForward`.
    ///
    /// `padding_type` says by which rule the padding follows the size. The engine runs it where a
    /// function is registered for that target.
    #[track_caller]
    pub fn dynamic_conv_forward(
        self,
        rhs: Self,
        window: &WindowOptions,
        dimension_numbers: &ConvDims,
        padding_type: PaddingType,
        options: &ConvOptions,
    ) -> Self {
        self.record(|_| {
            let conv = Conv { lhs: self, rhs, window, numbers: dimension_numbers, options };
            conv.call("DynamicConvolutionForward", padding_type, &[self, rhs], |_| {})
        })
    }
    /// Returns the gradient of a convolution by its input, whose sizes are the vector
    /// `input_sizes`: XLA's `DynamicConvInputGrad`, which is a custom call of
    /// `DynamicConvolutionInputGrad`. As [`Value::dynamic_conv_forward`].
    #[track_caller]
    pub fn dynamic_conv_input_grad(
        self,
        input_sizes: Self,
        rhs: Self,
        window: &WindowOptions,
        dimension_numbers: &ConvDims,
        padding_type: PaddingType,
        options: &ConvOptions,
    ) -> Self {
        self.record(|_| {
            let conv = Conv { lhs: self, rhs, window, numbers: dimension_numbers, options };
            let operands = [input_sizes, self, rhs];
            conv.call("DynamicConvolutionInputGrad", padding_type, &operands, |_| {})
        })
    }
    /// Returns the gradient of a convolution by its kernel: XLA's `DynamicConvKernelGrad`, which is
    /// a custom call of `DynamicConvolutionKernelGrad`. `self` are the activations, `gradients`
    /// those of the result; a kernel has a fixed size. As [`Value::dynamic_conv_forward`].
    #[track_caller]
    pub fn dynamic_conv_kernel_grad(
        self,
        gradients: Self,
        window: &WindowOptions,
        dimension_numbers: &ConvDims,
        padding_type: PaddingType,
        options: &ConvOptions,
    ) -> Self {
        self.record(|_| {
            let (rhs, numbers) = (gradients, dimension_numbers);
            let conv = Conv { lhs: self, rhs, window, numbers, options };
            let target = "DynamicConvolutionKernelGrad";
            conv.call(target, padding_type, &[self, gradients], make_static)
        })
    }
}
