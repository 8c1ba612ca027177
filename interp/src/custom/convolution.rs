//! Convolutions of arrays that are smaller than their bounds, whose padding follows their sizes.
//!
//! | target | operands | value |
//! |---|---|---|
//! | `DynamicConvolutionForward` | input, kernel | the convolution |
//! | `DynamicConvolutionInputGrad` | sizes of the input, gradient of the result, kernel | the gradient by the input |
//! | `DynamicConvolutionKernelGrad` | input, gradient of the result | the gradient by the kernel |
//!
//! The attributes are those of `convolution`, whose window is written for the bounds. Along a
//! dimension that is smaller, the elements past the size count as padding, and `padding_type` says
//! how the low padding of the forward convolution follows: `PADDING_SAME` keeps
//! `ceil(size / stride)` results in the middle, the others keep the low padding of the window. The
//! high padding is whatever gives the result its size.
//!
//! Source: `DynamicConvForward` and its gradients in XLA's builder, and XLA's dynamic padder.
use super::Call;
use crate::Result;
use hlo::op::Convolution;
use hlo::op::value::{PaddingType, WindowDim};
use hlo::{ArrayShape, Dims, Literal};
use num::index::to_usize;
use spec::convolution::convolution;

/// The targets.
pub(super) const TARGETS: [&str; 3] =
    ["DynamicConvolutionForward", "DynamicConvolutionInputGrad", "DynamicConvolutionKernelGrad"];

/// Runs the call if its target is one of these.
pub(super) fn run(call: &Call<'_>) -> Option<Result<Literal>> {
    Some(match call.op.custom_call_target.0.as_str() {
        "DynamicConvolutionForward" => forward(call),
        "DynamicConvolutionInputGrad" => input_gradient(call),
        "DynamicConvolutionKernelGrad" => kernel_gradient(call),
        _ => return None,
    })
}

fn forward(call: &Call<'_>) -> Result<Literal> {
    let (mut op, shape) = parts(call)?;
    let [input, kernel] = call.operands else {
        return Err(call.mismatch("an input and a kernel"));
    };
    check(call, &op, input, kernel)?;
    let labels = op.dim_labels.clone();
    let mut sizes = shape.dims.clone();
    let dims = op.window.dims.iter_mut().zip(&labels.lhs_spatial).zip(&labels.out_spatial);
    for ((window, &from), &to) in dims {
        let (size, bound) = at(input, from);
        if size < bound {
            let results = Results::of(size, window, window.stride, call.op.padding_type);
            let low = results.low.unwrap_or(window.pad_low);
            sizes[to_usize(to)] = pad(window, size, low, results.count);
        }
    }
    sizes[to_usize(labels.out_batch)] = at(input, labels.lhs_batch).0;
    convolve(call, &op, [&cut(input, &labels.lhs_spatial), kernel], (&shape, &sizes))
}

fn input_gradient(call: &Call<'_>) -> Result<Literal> {
    let (mut op, shape) = parts(call)?;
    let what = "the sizes of the input, a gradient and a kernel";
    let [inputs, gradient, kernel] = call.operands else { return Err(call.mismatch(what)) };
    check(call, &op, gradient, kernel)?;
    let input_size = |d: i64| {
        let listed = inputs.array_shape().is_some_and(|s| s.rank() == 1 && s.ty.is_integral());
        let found =
            (listed && to_usize(d) < inputs.len()).then(|| inputs.get(to_usize(d)).as_i64());
        found.flatten().filter(|size| (0..=shape.dims[to_usize(d)]).contains(size))
    };
    let labels = op.dim_labels.clone();
    let mut sizes = shape.dims.clone();
    let dims = op.window.dims.iter_mut().zip(&labels.lhs_spatial).zip(&labels.out_spatial);
    for ((window, &from), &to) in dims {
        let (size, bound) = at(gradient, from);
        if size < bound {
            let input = input_size(from).ok_or_else(|| call.mismatch(what))?;
            // The stride of the forward convolution makes the holes here.
            let stride = window.lhs_dilation;
            let results = Results::of(input, window, stride, call.op.padding_type);
            let low = results.low.map_or(window.pad_low, |low| dilated(window) - 1 - low);
            sizes[to_usize(to)] = pad(window, size, low, input);
        }
    }
    sizes[to_usize(labels.out_batch)] = at(gradient, labels.lhs_batch).0;
    convolve(call, &op, [&cut(gradient, &labels.lhs_spatial), kernel], (&shape, &sizes))
}

fn kernel_gradient(call: &Call<'_>) -> Result<Literal> {
    let (mut op, shape) = parts(call)?;
    let what = "an input and a gradient";
    let [input, gradient] = call.operands else { return Err(call.mismatch(what)) };
    check(call, &op, input, gradient)?;
    let labels = op.dim_labels.clone();
    let both = labels.lhs_spatial.iter().zip(&labels.rhs_spatial);
    for ((window, (&of_input, &of_gradient)), &to) in
        op.window.dims.iter_mut().zip(both).zip(&labels.out_spatial)
    {
        let ((size, bound), (results, most)) = (at(input, of_input), at(gradient, of_gradient));
        if size == bound && results == most {
            continue;
        }
        if results == 0 {
            return Ok(Literal::zeros(shape));
        }
        // The gradient is the window here, and the kernel is the result: strides and holes change
        // places.
        let kernel = shape.dims[to_usize(to)];
        let forward = WindowDim { rhs_dilation: window.stride, ..WindowDim::new(kernel) };
        let stride = window.rhs_dilation;
        let low = Results::of(size, &forward, stride, call.op.padding_type).low;
        window.size = results;
        pad(window, size, low.unwrap_or(window.pad_low), kernel);
    }
    let operands = [&cut(input, &labels.lhs_spatial), &cut(gradient, &labels.rhs_spatial)];
    convolve(call, &op, operands, (&shape, &shape.dims))
}

/// The results of a forward convolution along a dimension of the input.
struct Results {
    count: i64,
    /// The padding before the input; none if it does not follow the size.
    low: Option<i64>,
}

impl Results {
    fn of(size: i64, window: &WindowDim, stride: i64, padding: PaddingType) -> Self {
        let width = dilated(window);
        match padding {
            PaddingType::Same => {
                let count = (size + stride - 1) / stride;
                let needed = ((count - 1) * stride + width - size).max(0);
                Self { count, low: Some(needed / 2) }
            }
            PaddingType::Valid | PaddingType::Invalid => {
                Self { count: ((size + stride - width) / stride).max(0), low: None }
            }
        }
    }
}

/// Returns the size of the window with its holes.
fn dilated(window: &WindowDim) -> i64 {
    (window.size - 1) * window.rhs_dilation + 1
}

/// Sets the padding of an input of this size so that there are `count` results, which is returned.
fn pad(window: &mut WindowDim, size: i64, low: i64, count: i64) -> i64 {
    let input = if size == 0 { 0 } else { (size - 1) * window.lhs_dilation + 1 };
    window.pad_low = low;
    window.pad_high = (count - 1) * window.stride + dilated(window) - input - low;
    count
}

/// Returns the size of a dimension, and its bound.
fn at(operand: &Literal, d: i64) -> (i64, i64) {
    let bound = operand.array_shape().map_or(0, |shape| shape.dims[to_usize(d)]);
    (operand.sizes()[to_usize(d)], bound)
}

/// Returns the elements of the operand that count: these dimensions cut to their sizes, zeros past
/// the sizes of the others.
fn cut(operand: &Literal, spatial: &[i64]) -> Literal {
    let Some(shape) = operand.array_shape() else { return operand.clone() };
    let mut dims = shape.dims.clone();
    for &d in spatial {
        dims[to_usize(d)] = operand.sizes()[to_usize(d)];
    }
    let bounds = ArrayShape { dims, dynamic: None, ..shape.clone() };
    operand.to_bounded_dynamic(&bounds).with_sizes(&bounds.dims)
}

/// Returns the convolution with the attributes of the call, and the shape of its result.
fn parts(call: &Call<'_>) -> Result<(Convolution, ArrayShape)> {
    let what = "`dim_labels`, and an array as the result";
    let (Some(labels), Some(shape)) = (&call.op.dim_labels, call.shape.array()) else {
        return Err(call.mismatch(what));
    };
    let op = Convolution {
        window: call.op.window.clone(),
        feature_group_count: call.op.feature_group_count,
        batch_group_count: call.op.batch_group_count,
        ..Convolution::new(labels.clone())
    };
    Ok((op, ArrayShape { dynamic: None, ..shape.clone() }))
}

/// Fails unless the call is a convolution of arrays of these bounds.
fn check(call: &Call<'_>, op: &Convolution, lhs: &Literal, rhs: &Literal) -> Result<()> {
    let bounded = |operand: &Literal| {
        let shape = operand.array_shape()?;
        Some(ArrayShape { dynamic: None, ..shape.clone() }.into())
    };
    let fits = || {
        let shapes: [hlo::Shape; 2] = [bounded(lhs)?, bounded(rhs)?];
        let shape = ArrayShape { dynamic: None, ..call.shape.array()?.clone() }.into();
        let op = hlo::Op::from(op.clone());
        let found = op.shape(&[&shapes[0], &shapes[1]], Some(&shape), call.module).ok()?;
        found.compatible(&shape).then_some(())
    };
    fits().ok_or_else(|| call.mismatch("operands and attributes of a `convolution`"))
}

/// Computes the convolution with a result of these sizes, in an array of the shape.
fn convolve(
    call: &Call<'_>,
    op: &Convolution,
    operands: [&Literal; 2],
    (shape, sizes): (&ArrayShape, &Dims),
) -> Result<Literal> {
    let labels = &op.dim_labels;
    let mut dims = shape.dims.clone();
    for &d in &labels.out_spatial {
        dims[to_usize(d)] = sizes[to_usize(d)];
    }
    if dims.iter().zip(&shape.dims).any(|(size, bound)| size > bound) {
        return Err(call.mismatch("a result that is not larger than its bounds"));
    }
    let whole = ArrayShape { dims, ..shape.clone() };
    let result = convolution(op, &operands, &whole)?;
    Ok(result.to_bounded_dynamic(shape).with_sizes(sizes))
}
