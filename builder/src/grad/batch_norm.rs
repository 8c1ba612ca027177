//! Derivatives of batch normalization, rewritten as sums and products.
use super::node::Node;
use super::ops;
use super::rewrite::Rewrite;
use crate::arguments::others;
use crate::{Result, Value};
use hlo::ArrayShape;
use hlo::op::value::Float;
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};

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
    /// Returns the numbers of the features, each repeated over its elements.
    fn spread(&self, numbers: Value<'b>) -> Result<Value<'b>> {
        ops::spread(numbers, &[self.index], &self.shape)
    }
    /// Sums over the elements of each feature.
    fn sum(&self, value: Value<'b>) -> Value<'b> {
        value.reduce_sum(&others(self.shape.rank(), &[self.index]))
    }
    fn mean(&self, value: Value<'b>) -> Value<'b> {
        let others = others(self.shape.rank(), &[self.index]);
        let count: i64 = others.iter().filter_map(|&d| self.shape.dim(d)).product();
        let sum = self.sum(value);
        sum / sum.scalar_like(count)
    }
    fn normalized(&self, centered: Value<'b>, variance: Value<'b>) -> Result<Value<'b>> {
        Ok(centered * self.spread((variance + self.epsilon).rsqrt())?)
    }
}

impl Rewrite for BatchNormTraining {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        let all = Features::of(node, self.feature_index, self.epsilon)?;
        let mean = all.mean(all.operand);
        let centered = all.operand - all.spread(mean)?;
        let variance = all.mean(centered * centered);
        let scale = all.spread(node.operand(1)?)?;
        let result = all.normalized(centered, variance)? * scale + all.spread(node.operand(2)?)?;
        Ok(result.builder().tuple(&[result, mean, variance]))
    }
}
impl Rewrite for BatchNormInference {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        let all = Features::of(node, self.feature_index, self.epsilon)?;
        let centered = all.operand - all.spread(node.operand(3)?)?;
        let scale = all.spread(node.operand(1)?)?;
        Ok(all.normalized(centered, node.operand(4)?)? * scale + all.spread(node.operand(2)?)?)
    }
}
/// The gradients by operand, scale and offset, as those of training at these statistics.
impl Rewrite for BatchNormGrad {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        let all = Features::of(node, self.feature_index, self.epsilon)?;
        let (variance, c) = (node.operand(3)?, node.operand(4)?);
        let normal = all.normalized(all.operand - all.spread(node.operand(2)?)?, variance)?;
        let by_scale = all.sum(c * normal);
        let along = normal * all.spread(all.mean(c * normal))?;
        let centered = c - all.spread(all.mean(c))? - along;
        let by_operand = all.normalized(centered, variance)? * all.spread(node.operand(1)?)?;
        Ok(c.builder().tuple(&[by_operand, by_scale, all.sum(c)]))
    }
}
