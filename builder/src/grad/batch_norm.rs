//! Derivatives of batch normalisation, which is written out in sums and products.
use super::{Node, Tangent, ops, rewrite};
use crate::{Result, Value};
use hlo::op::value::Float;
use hlo::{ArrayShape, Op};

/// An array with a number of each of its features.
struct Features<'b> {
    operand: Value<'b>,
    shape: ArrayShape,
    index: i64,
    epsilon: f64,
}

impl<'b> Features<'b> {
    fn of(node: &Node<'b>, index: i64, epsilon: Float) -> Result<Self> {
        let operand = node.operand(0)?;
        Ok(Self { operand, shape: operand.array()?, index, epsilon: f64::from(epsilon.0) })
    }
    /// The numbers of the features, each repeated over its elements.
    fn spread(&self, numbers: Value<'b>) -> Result<Value<'b>> {
        ops::spread(numbers, &[self.index], &self.shape)
    }
    /// Sums over the elements of each feature.
    fn sum(&self, value: Value<'b>) -> Result<Value<'b>> {
        ops::sum(value, &ops::others(self.shape.rank(), &[self.index]))
    }
    fn mean(&self, value: Value<'b>) -> Result<Value<'b>> {
        let others = ops::others(self.shape.rank(), &[self.index]);
        let count: i64 = others.iter().filter_map(|&d| self.shape.dim(d)).product();
        let sum = self.sum(value)?;
        let count = crate::operand::number(sum, crate::operand::Number::Whole(count))?;
        Ok(sum / count)
    }
    fn normalized(&self, centered: Value<'b>, variance: Value<'b>) -> Result<Value<'b>> {
        Ok(centered * self.spread((variance + self.epsilon).rsqrt())?)
    }
}

fn written_out<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    match &node.op {
        Op::BatchNormTraining(op) => {
            training(node, &Features::of(node, op.feature_index, op.epsilon)?)
        }
        Op::BatchNormInference(op) => {
            inference(node, &Features::of(node, op.feature_index, op.epsilon)?)
        }
        Op::BatchNormGrad(op) => gradient(node, &Features::of(node, op.feature_index, op.epsilon)?),
        _ => Err(node.refused("normalises nothing")),
    }
}
fn training<'b>(node: &Node<'b>, all: &Features<'b>) -> Result<Value<'b>> {
    let mean = all.mean(all.operand)?;
    let centered = all.operand - all.spread(mean)?;
    let variance = all.mean(centered * centered)?;
    let scale = all.spread(node.operand(1)?)?;
    let result = all.normalized(centered, variance)? * scale + all.spread(node.operand(2)?)?;
    Ok(result.builder().tuple(&[result, mean, variance]))
}
fn inference<'b>(node: &Node<'b>, all: &Features<'b>) -> Result<Value<'b>> {
    let centered = all.operand - all.spread(node.operand(3)?)?;
    let scale = all.spread(node.operand(1)?)?;
    Ok(all.normalized(centered, node.operand(4)?)? * scale + all.spread(node.operand(2)?)?)
}
/// The gradients by operand, scale and offset, as those of training at these statistics.
fn gradient<'b>(node: &Node<'b>, all: &Features<'b>) -> Result<Value<'b>> {
    let (variance, c) = (node.operand(3)?, node.operand(4)?);
    let normal = all.normalized(all.operand - all.spread(node.operand(2)?)?, variance)?;
    let by_scale = all.sum(c * normal)?;
    let along = normal * all.spread(all.mean(c * normal)?)?;
    let centered = c - all.spread(all.mean(c)?)? - along;
    let by_operand = all.normalized(centered, variance)? * all.spread(node.operand(1)?)?;
    Ok(c.builder().tuple(&[by_operand, by_scale, all.sum(c)?]))
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    rewrite::push(node, tangents, written_out)
}
pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    rewrite::pull(node, cotangent, written_out)
}
