//! `reduce`: `acc = computation(acc, element)` over the reduced dimensions in row-major order
use super::wide::Sum;
use super::{array_shapes, build, pack};
use crate::Result;
use crate::applied::Applied;
use crate::context::Context;
use crate::index::{offset_list, others, pick};
use hlo::op::{Binary, Reduce};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar, Shape};

pub(super) fn reduce(
    op: &Reduce,
    operands: &[&Literal],
    shape: &Shape,
    context: &Context<'_>,
) -> Result<Literal> {
    let count = operands.len() / 2;
    let (inputs, inits) = operands.split_at(count);
    let from = inputs[0].array_shape().expect("verified: an array");
    // Row-major over the operand, whatever the order in which the attribute lists them.
    let mut reduced: Dims = op.dimensions.iter().copied().collect();
    reduced.sort_unstable();
    let kept = others(from.rank(), &reduced);
    let (sizes, steps) = pick(from, &reduced);
    let inner = offset_list(&sizes, &steps);
    let (sizes, steps) = pick(from, &kept);
    let outer = offset_list(&sizes, &steps);
    let applied = context.applied(op.to_apply)?;
    let results = array_shapes(shape);
    if sums(&applied, inputs[0]) && results.len() == 1 {
        return Ok(sum(inputs[0], inits[0], results[0], &outer, &inner));
    }
    let steps = u64::try_from(outer.len().saturating_mul(inner.len())).unwrap_or(u64::MAX);
    context.spend(steps)?;
    let mut fold = Fold::new(&applied, context, inputs, inits);
    let mut values: Vec<Literal> = results.iter().map(|&s| Literal::zeros(s.clone())).collect();
    for (at, &base) in outer.iter().enumerate() {
        fold.restart();
        for &offset in &inner {
            fold.add(base + offset)?;
        }
        fold.store(&mut values, &results, at);
    }
    Ok(pack(shape, values))
}

/// Whether the reduction adds floats: then it is accumulated wide and rounded once.
pub(super) fn sums(applied: &Applied, input: &Literal) -> bool {
    let float = input.array_shape().is_some_and(|s| s.ty.is_float());
    float && applied.as_binary() == Some(Binary::Add)
}

fn sum(
    input: &Literal,
    init: &Literal,
    shape: &ArrayShape,
    outer: &[usize],
    inner: &[usize],
) -> Literal {
    let first = init.get(0).as_f64();
    build(shape, |at| {
        let mut sum = Sum::new(first);
        for &offset in inner {
            sum.add(input.get(outer[at] + offset).as_f64());
        }
        Scalar::Float(sum.value())
    })
}

/// A fold over elements of several arrays at once.
pub(super) struct Fold<'a, 'm> {
    applied: &'a Applied,
    context: &'a Context<'m>,
    inputs: &'a [&'a Literal],
    types: Vec<ElementType>,
    first: Vec<Scalar>,
    /// Accumulators, then elements.
    arguments: Vec<Scalar>,
    scratch: Vec<Scalar>,
}

impl<'a, 'm> Fold<'a, 'm> {
    pub(super) fn new(
        applied: &'a Applied,
        context: &'a Context<'m>,
        inputs: &'a [&'a Literal],
        inits: &[&Literal],
    ) -> Self {
        let types = applied.results().to_vec();
        let first: Vec<Scalar> = inits
            .iter()
            .zip(&types)
            .map(|(init, &ty)| {
                let from = init.array_shape().expect("verified: a scalar").ty;
                init.get(0).convert(from, ty)
            })
            .collect();
        let arguments = [first.clone(), first.clone()].concat();
        Self { applied, context, inputs, types, first, arguments, scratch: applied.scratch() }
    }
    /// Starts again from the initial values.
    pub(super) fn restart(&mut self) {
        self.arguments[..self.first.len()].copy_from_slice(&self.first);
    }
    /// Folds in the elements at offset `at`.
    pub(super) fn add(&mut self, at: usize) -> Result<()> {
        let count = self.first.len();
        for (i, input) in self.inputs.iter().enumerate() {
            let from = input.array_shape().expect("verified: an array").ty;
            let to = self.applied.parameters()[count + i];
            let element = input.get(at);
            self.arguments[count + i] =
                if from == to { element } else { element.convert(from, to) };
        }
        let (accumulators, _) = self.arguments.split_at(count);
        let mut out: smallvec::SmallVec<[Scalar; 4]> = accumulators.into();
        self.applied.call(self.context, &self.arguments, &mut self.scratch, &mut out)?;
        self.arguments[..count].copy_from_slice(&out);
        Ok(())
    }
    /// Writes the accumulators as element `at` of the results.
    pub(super) fn store(&self, values: &mut [Literal], shapes: &[&ArrayShape], at: usize) {
        for (i, (value, shape)) in values.iter_mut().zip(shapes).enumerate() {
            let width = shape.ty.storage_bytes();
            let slot = &mut value.bytes_mut()[at * width..(at + 1) * width];
            self.arguments[i].convert(self.types[i], shape.ty).write(shape.ty, slot);
        }
    }
}
