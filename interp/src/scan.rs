//! `scan`: `(outputs[t].., carries..) = computation(inputs[t].., carries..)` along a dimension
//!
//! The inputs come first among the operands, then the initial carries; the result holds the stacked
//! outputs, then the last carries. Step `t` reads index `t` of the inputs and writes index `t` of
//! the outputs, also in a reverse scan, which begins at the end. The machine calls the computation;
//! this module provides its arguments and stores its results.
use crate::Result;
use crate::context::RunContext;
use crate::dynamic::common;
use crate::value::Value;
use hlo::ir::ComputationId;
use hlo::op::Scan as ScanOp;
use hlo::{Array, ArrayShape, Dims, Literal, Shape};
use kernels::data_movement::affine;
use num::array::{array_shapes, checked_bytes, static_shape};
use num::index::{offsets, strides, to_i64, to_usize};

/// The state of a scan.
#[derive(Debug)]
pub(crate) struct Scan {
    callee: ComputationId,
    dim: usize,
    is_reverse: bool,
    steps: usize,
    at: usize,
    inputs: Vec<Array>,
    carries: Vec<Value>,
    outputs: Vec<Array>,
    /// The sizes of each output.
    sizes: Vec<Dims>,
}

/// The next action of a scan.
pub(crate) enum ScanAction {
    /// Calls its computation.
    Call(Vec<Value>),
    /// Ends with these leaves.
    Done(Vec<Value>),
}

impl Scan {
    pub(crate) fn new(
        op: &ScanOp,
        mut operands: Vec<Literal>,
        shape: &Shape,
        context: &RunContext,
    ) -> Result<Self> {
        let dim = to_usize(op.dimensions.first().copied().unwrap_or(0));
        let inputs_count = operands.len() - to_usize(op.num_carries);
        let carries = operands.split_off(inputs_count).into_iter().map(Value::from);
        let carries: Vec<Value> = carries.collect();
        let operands: Vec<Array> = operands.into_iter().filter_map(Literal::into_array).collect();
        let results = array_shapes(shape);
        let stacked = &results[..results.len() - carries.len()];
        let outputs = stacked.iter().map(|shape| {
            let mut reservation = context.reserve(checked_bytes(shape)?)?;
            reservation.hold(Array::zeros(static_shape(shape)))
        });
        let outputs: Vec<Array> = outputs.collect::<Result<_>>()?;
        // Without inputs the outputs determine the number of steps. An input smaller than its bound
        // has fewer.
        let inputs = operands.iter().map(|input| (input, input.shape()));
        let sizes = inputs.map(|(x, shape)| (x.sizes()[dim], shape.dims[dim]));
        let size = common(sizes)?;
        let first = || operands.iter().chain(&outputs).map(|array| array.sizes()[dim]).next();
        let size = size.or_else(first).unwrap_or(0);
        let sizes = outputs.iter().map(|output| {
            let mut sizes = Dims::from_slice(output.sizes());
            sizes[dim] = size;
            sizes
        });
        Ok(Self {
            callee: op.to_apply,
            dim,
            is_reverse: op.is_reverse,
            steps: to_usize(size),
            sizes: sizes.collect(),
            at: 0,
            inputs: operands,
            carries,
            outputs,
        })
    }

    /// Returns the computation that the scan calls.
    pub(crate) fn callee(&self) -> ComputationId {
        self.callee
    }

    /// Returns the arguments of the next step, or the result.
    pub(crate) fn next(&mut self, context: &RunContext) -> Result<ScanAction> {
        if self.at < self.steps {
            let mut arguments = Vec::with_capacity(self.inputs.len() + self.carries.len());
            for input in &self.inputs {
                let mut reservation = context.reserve(input.bytes().len() / self.extent(input))?;
                arguments.push(Value::Array(reservation.hold(self.slice(input))?));
            }
            arguments.append(&mut self.carries);
            return Ok(ScanAction::Call(arguments));
        }
        let outputs = std::mem::take(&mut self.outputs).into_iter().zip(&self.sizes);
        let outputs = outputs.map(|(output, sizes)| Value::Array(output.with_sizes(sizes)));
        Ok(ScanAction::Done(outputs.chain(self.carries.drain(..)).collect()))
    }

    /// Stores the results of the last step.
    pub(crate) fn store(&mut self, mut results: Vec<Value>) -> Result<()> {
        self.carries = results.split_off(self.outputs.len());
        let index = self.index();
        for ((output, slice), known) in self.outputs.iter_mut().zip(results).zip(&mut self.sizes) {
            let slice = slice.into_literal()?;
            let rest = (0..known.len()).filter(|&d| d != self.dim);
            for (d, &size) in rest.zip(slice.sizes()) {
                known[d] = size;
            }
            let shape = output.shape();
            let (width, dims) = (shape.ty.storage_bytes(), shape.dims.clone());
            let mut strides = strides(&dims);
            let base = to_i64(index) * strides[self.dim];
            let mut sizes = dims;
            sizes.remove(self.dim);
            strides.remove(self.dim);
            let (to, mut from) = (output.bytes_mut(), slice.bytes().chunks_exact(width));
            offsets(&sizes, base, &strides, |at| {
                let at = to_usize(at) * width;
                if let Some(element) = from.next() {
                    to[at..at + width].copy_from_slice(element);
                }
            });
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the bound of the dimension, which is not 0 during a step.
    fn extent(&self, input: &Array) -> usize {
        to_usize(input.shape().dims[self.dim]).max(1)
    }

    fn index(&self) -> usize {
        if self.is_reverse { self.steps - 1 - self.at } else { self.at }
    }
    /// Returns the input at this step, without the dimension.
    fn slice(&self, input: &Array) -> Array {
        let from = input.shape();
        let mut strides = strides(&from.dims);
        let base = to_i64(self.index()) * strides[self.dim];
        let (mut dims, mut sizes) = (from.dims.clone(), Dims::from_slice(input.sizes()));
        dims.remove(self.dim);
        sizes.remove(self.dim);
        strides.remove(self.dim);
        affine(input, &ArrayShape::new(from.ty, dims), base, &strides).with_sizes(&sizes)
    }
}
