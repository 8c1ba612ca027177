//! `scan`: `(outputs[t].., carries..) = computation(inputs[t].., carries..)` along a dimension
//!
//! The inputs come first among the operands, then the initial carries; the result holds the stacked outputs, then the
//! last carries. Step `t` reads index `t` of the inputs and writes index `t` of the outputs, also in a reverse scan,
//! which begins at the end. The machine calls the computation; this page says what with and what its result becomes.
use crate::Result;
use crate::context::Context;
use crate::index::{offsets, strides, to_i64, to_usize};
use crate::interpreter::static_shape;
use crate::kernel::data_movement::affine;
use crate::kernel::dynamic::common;
use crate::table::bytes_of;
use hlo::op::Scan as ScanOp;
use hlo::{ArrayShape, Dims, Literal, Shape};

/// A scan on its way.
#[derive(Debug)]
pub(crate) struct Scan {
    dim: usize,
    is_reverse: bool,
    steps: usize,
    at: usize,
    inputs: Vec<Literal>,
    carries: Vec<Literal>,
    outputs: Vec<Literal>,
    /// How much of each output counts.
    sizes: Vec<Dims>,
    is_tuple: bool,
}

/// What a scan does next.
pub(crate) enum Step {
    /// Calls its computation.
    Call(Vec<Literal>),
    /// Ends.
    Done(Literal),
}

impl Scan {
    pub(crate) fn new(op: &ScanOp, mut operands: Vec<Literal>, shape: &Shape) -> Result<Self> {
        let dim = to_usize(op.dimensions.first().copied().unwrap_or(0));
        let inputs_count = operands.len() - to_usize(op.num_carries);
        let carries = operands.split_off(inputs_count);
        let results = crate::kernel::array_shapes(shape);
        let stacked = &results[..results.len() - carries.len()];
        let outputs: Vec<Literal> =
            stacked.iter().map(|s| Literal::zeros(static_shape(s))).collect();
        // Without inputs the outputs say how many steps there are. An input that is smaller than its bound has fewer.
        let inputs = operands.iter().map(|input| (input, input.array_shape()));
        let places = inputs.filter_map(|(x, shape)| Some((x.sizes()[dim], shape?.dims[dim])));
        let size = common(places)?;
        let size = size.or_else(|| Some(operands.iter().chain(&outputs).next()?.sizes()[dim]));
        let size = size.unwrap_or(0);
        let sizes = outputs.iter().map(|output| {
            let mut sizes = Dims::from_slice(output.sizes());
            sizes[dim] = size;
            sizes
        });
        Ok(Self {
            dim,
            is_reverse: op.is_reverse,
            steps: to_usize(size),
            sizes: sizes.collect(),
            at: 0,
            inputs: operands,
            carries,
            outputs,
            is_tuple: shape.tuple().is_some(),
        })
    }

    /// Bytes of the stacked outputs of a scan whose result has this shape.
    pub(crate) fn stacked_bytes(op: &ScanOp, shape: &Shape) -> Option<usize> {
        let results = shape.tuple().unwrap_or(std::slice::from_ref(shape));
        let stacked = &results[..results.len() - to_usize(op.num_carries)];
        stacked.iter().map(bytes_of).try_fold(0usize, |sum, bytes| sum.checked_add(bytes?))
    }

    /// The arguments of the next step, or the result.
    pub(crate) fn next(&mut self, context: &Context<'_>) -> Result<Step> {
        if self.at < self.steps {
            let mut arguments = Vec::with_capacity(self.inputs.len() + self.carries.len());
            for input in &self.inputs {
                context.reserve(input.bytes().len() / self.extent(input))?;
                arguments.push(self.slice(input));
            }
            arguments.extend(self.carries.iter().cloned());
            return Ok(Step::Call(arguments));
        }
        context.discard(self.inputs.drain(..));
        let outputs = std::mem::take(&mut self.outputs).into_iter().zip(&self.sizes);
        let mut results: Vec<Literal> = outputs.map(|(o, sizes)| o.with_sizes(sizes)).collect();
        results.append(&mut self.carries);
        let result = if self.is_tuple { Literal::tuple(results) } else { results.swap_remove(0) };
        Ok(Step::Done(result))
    }

    /// Takes the result of the step that was called.
    pub(crate) fn store(&mut self, result: Literal, context: &Context<'_>) {
        let alone = std::slice::from_ref(&result);
        let (slices, carries) = result.elements().unwrap_or(alone).split_at(self.outputs.len());
        let index = self.index();
        for ((output, slice), known) in self.outputs.iter_mut().zip(slices).zip(&mut self.sizes) {
            let rest = (0..known.len()).filter(|&d| d != self.dim);
            for (d, &size) in rest.zip(slice.sizes()) {
                known[d] = size;
            }
            let shape = output.array_shape().expect("verified: an array");
            let (width, dims) = (shape.ty.storage_bytes(), shape.dims.clone());
            let mut steps = strides(&dims);
            let base = to_i64(index) * steps[self.dim];
            let mut sizes = dims;
            sizes.remove(self.dim);
            steps.remove(self.dim);
            let (to, mut from) = (output.bytes_mut(), slice.bytes().chunks_exact(width));
            offsets(&sizes, base, &steps, |at| {
                let at = to_usize(at) * width;
                if let Some(element) = from.next() {
                    to[at..at + width].copy_from_slice(element);
                }
            });
        }
        let carries = carries.to_vec();
        context.discard(self.carries.drain(..));
        context.discard([result]);
        self.carries = carries;
        self.at += 1;
    }

    /// The bound of the dimension, which has a step and so is not 0.
    fn extent(&self, input: &Literal) -> usize {
        input.array_shape().map_or(1, |shape| to_usize(shape.dims[self.dim])).max(1)
    }

    fn index(&self) -> usize {
        if self.is_reverse { self.steps - 1 - self.at } else { self.at }
    }
    /// The input at this step, without the dimension.
    fn slice(&self, input: &Literal) -> Literal {
        let from = input.array_shape().expect("verified: an array");
        let mut steps = strides(&from.dims);
        let base = to_i64(self.index()) * steps[self.dim];
        let (mut dims, mut sizes) = (from.dims.clone(), Dims::from_slice(input.sizes()));
        dims.remove(self.dim);
        sizes.remove(self.dim);
        steps.remove(self.dim);
        affine(input, &ArrayShape::new(from.ty, dims), base, &steps).with_sizes(&sizes)
    }
}
