//! `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`: `y = (x - mean) * scale / sqrt(variance + epsilon) + offset`
//!
//! Each index of dimension `feature_index` is a feature, with a scale, an offset, a mean and a variance of its own; a sum
//! below runs over all N elements of a feature, that is over all other dimensions. `r` stands for
//! `1 / sqrt(variance + epsilon)`. `epsilon` is an f32 whatever the element type, which may be any float.
//!
//! - training: `mean = sum of x / N`, `variance = sum of (x - mean)^2 / N`, and y. The result is (y, mean, variance).
//! - inference: y alone, with the mean and variance given.
//! - gradient: with g the gradient of y, and the mean and variance given, the result is those of operand, scale, offset:
//!   `scale * r / N * (N g - sum of g - (x - mean) * sum of g (x - mean) / (variance + epsilon))`,
//!   `sum of g (x - mean) * r`, `sum of g`.
//!
//! Edges: a feature without elements has NaN for mean and variance, and gradients 0 of scale and offset. Where
//! `variance + epsilon` is 0, r is infinite, and an element that is the mean gives NaN; in inference, where XLA:CPU forms
//! `x * scale * r` and `mean * scale * r` apart, so do 0 and every element on the mean's side of it. Where it is
//! negative, all is NaN. NaN and infinities spread over their feature.
//!
//! XLA:CPU has `sum of x^2 / N - mean^2` for the variance, which loses digits where the mean is large, may even be negative, and
//! overflows early; ours is the definition. All is computed in f64 (twice that for f64), mean and variance inside of y
//! too, and each element is rounded once.
use super::{array_shapes, build};
use crate::Result;
use crate::index::{count, to_i64, to_usize};
use crate::num::complex_of::Field;
use crate::num::double_double::{DoubleDouble, Real};
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};
use hlo::{ArrayShape, ElementType, Literal, Scalar, Shape};

/// Which elements belong to which feature.
struct Features {
    /// Elements of one feature that lie side by side.
    run: usize,
    count: usize,
    /// How often the features take turns.
    turns: usize,
}

impl Features {
    fn of(shape: &ArrayShape, feature_index: i64) -> Self {
        let f = to_usize(feature_index);
        Self {
            run: count(&shape.dims[f + 1..]),
            count: to_usize(shape.dims[f]),
            turns: count(&shape.dims[..f]),
        }
    }
    /// The feature of element `i`.
    fn feature(&self, i: usize) -> usize {
        i / self.run % self.count
    }
    /// The elements of a feature.
    fn elements(&self, feature: usize) -> impl Iterator<Item = usize> {
        let (run, features) = (self.run, self.count);
        (0..self.turns).flat_map(move |turn| {
            let start = (turn * features + feature) * run;
            start..start + run
        })
    }
    /// N
    fn size<R: Real>(&self) -> R {
        Scalar::Signed(to_i64(self.turns * self.run)).as_f64().into()
    }
    /// The sum of `term` over the elements of a feature.
    fn sum<R: Real + Field>(&self, feature: usize, term: impl Fn(usize) -> R) -> R {
        self.elements(feature).fold(R::ZERO, |sum, i| sum + term(i))
    }
    /// A number for each feature.
    fn each<R>(&self, number: impl Fn(usize) -> R) -> Vec<R> {
        (0..self.count).map(number).collect()
    }
}

fn read<R: Field>(array: &Literal) -> Vec<R> {
    (0..array.len()).map(|i| R::of(array.get(i))).collect()
}
fn write<R: Field>(shape: &ArrayShape, numbers: &[R]) -> Literal {
    build(shape, |i| numbers[i].element())
}
/// `1 / sqrt(variance + epsilon)`
fn inverse_root<R: Real>(variance: R, epsilon: f32) -> R {
    R::from(1.0) / (variance + f64::from(epsilon).into()).sqrt()
}
/// Whether elements of this type need more than f64.
fn needs_twice(operand: &Literal) -> bool {
    operand.array_shape().is_some_and(|shape| shape.ty == ElementType::F64)
}

#[expect(clippy::unnecessary_wraps, reason = "the caller expects an error, as of other ops")]
pub(super) fn training(
    op: &BatchNormTraining,
    operands: &[&Literal],
    shape: &Shape,
) -> Result<Literal> {
    Ok(match needs_twice(operands[0]) {
        true => train::<DoubleDouble>(op, operands, shape),
        false => train::<f64>(op, operands, shape),
    })
}

fn train<R: Real + Field>(op: &BatchNormTraining, operands: &[&Literal], shape: &Shape) -> Literal {
    let shapes = array_shapes(shape);
    let features = Features::of(shapes[0], op.feature_index);
    let (x, scale, offset) =
        (read::<R>(operands[0]), read::<R>(operands[1]), read::<R>(operands[2]));
    let mean = features.each(|f| features.sum(f, |i| x[i]) / features.size());
    let variance = features.each(|f| {
        let square = |i: usize| (x[i] - mean[f]) * (x[i] - mean[f]);
        features.sum(f, square) / features.size()
    });
    let root = features.each(|f| inverse_root(variance[f], op.epsilon.0));
    let y = build(shapes[0], |i| {
        let f = features.feature(i);
        ((x[i] - mean[f]) * root[f] * scale[f] + offset[f]).element()
    });
    Literal::tuple(vec![y, write(shapes[1], &mean), write(shapes[2], &variance)])
}

#[expect(clippy::unnecessary_wraps, reason = "the caller expects an error, as of other ops")]
pub(super) fn inference(
    op: &BatchNormInference,
    operands: &[&Literal],
    shape: &ArrayShape,
) -> Result<Literal> {
    Ok(match needs_twice(operands[0]) {
        true => infer::<DoubleDouble>(op, operands, shape),
        false => infer::<f64>(op, operands, shape),
    })
}

fn infer<R: Real + Field>(
    op: &BatchNormInference,
    operands: &[&Literal],
    shape: &ArrayShape,
) -> Literal {
    let features = Features::of(shape, op.feature_index);
    let [scale, offset, mean, variance] = [1, 2, 3, 4].map(|i| read::<R>(operands[i]));
    let factor = features.each(|f| scale[f] * inverse_root(variance[f], op.epsilon.0));
    build(shape, |i| {
        let (x, f) = (R::of(operands[0].get(i)), features.feature(i));
        let y = if factor[f].rounded().is_infinite() {
            // The same in numbers, but XLA:CPU's order decides what comes of infinities.
            x * factor[f] + (offset[f] - mean[f] * factor[f])
        } else {
            (x - mean[f]) * factor[f] + offset[f]
        };
        y.element()
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the caller expects an error, as of other ops")]
pub(super) fn grad(op: &BatchNormGrad, operands: &[&Literal], shape: &Shape) -> Result<Literal> {
    Ok(match needs_twice(operands[0]) {
        true => gradient::<DoubleDouble>(op, operands, shape),
        false => gradient::<f64>(op, operands, shape),
    })
}

fn gradient<R: Real + Field>(op: &BatchNormGrad, operands: &[&Literal], shape: &Shape) -> Literal {
    let shapes = array_shapes(shape);
    let features = Features::of(shapes[0], op.feature_index);
    let [x, scale, mean, variance, g] = [0, 1, 2, 3, 4].map(|i| read::<R>(operands[i]));
    let epsilon = R::from(f64::from(op.epsilon.0));
    let n = features.size::<R>();
    let root = features.each(|f| inverse_root(variance[f], op.epsilon.0));
    let of_offset = features.each(|f| features.sum(f, |i| g[i]));
    let products = features.each(|f| features.sum(f, |i| g[i] * (x[i] - mean[f])));
    let of_scale = features.each(|f| products[f] * root[f]);
    let factor = features.each(|f| scale[f] * root[f] / n);
    let slope = features.each(|f| products[f] / (variance[f] + epsilon));
    let of_operand = build(shapes[0], |i| {
        let f = features.feature(i);
        let rest = n * g[i] - of_offset[f] - (x[i] - mean[f]) * slope[f];
        (factor[f] * rest).element()
    });
    Literal::tuple(vec![of_operand, write(shapes[1], &of_scale), write(shapes[2], &of_offset)])
}
