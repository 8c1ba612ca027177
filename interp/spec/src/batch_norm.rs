//! `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`: normalization by the mean and
//! variance of a feature
//!
//! `y = (x - mean) * scale / sqrt(variance + epsilon) + offset`
//!
//! Each index of dimension `feature_index` is a feature, with a scale, an offset, a mean and a
//! variance of its own. Sums run over the N elements of a feature: over all other dimensions. `r`
//! stands for `1 / sqrt(variance + epsilon)`. `epsilon` is an f32 whatever the element type.
//!
//! | op | operands | result |
//! |---|---|---|
//! | training | x, scale, offset | y, `mean = sum of x / N`, `variance = sum of (x - mean)^2 / N` |
//! | inference | x, scale, offset, mean, variance | y |
//! | grad | x, scale, mean, variance, g | the gradients of x, scale and offset, where g is that of y |
//!
//! - The gradient of the offset is `sum of g`, that of the scale `sum of g (x - mean) * r`, and
//!   that of x `scale * r / N * (N g - sum of g - (x - mean) * sum of g (x - mean) / (variance +
//!   epsilon))`.
//! - A feature without elements has NaN for mean and variance, and gradients 0 of scale and offset.
//! - Where `variance + epsilon` is 0, r is infinite, and an element that is the mean gives NaN. In
//!   inference, where XLA:CPU computes `x * scale * r` and `mean * scale * r` separately, every
//!   element on the mean's side of 0 does too. Where it is negative the whole feature is NaN. NaN
//!   and infinities affect all elements of their feature.
//! - All is computed in [`Real`] and rounded once: f64, or twice its precision for f64.
//!
//! XLA:CPU computes the variance as `sum of x^2 / N - mean^2`, which cancels where the mean is
//! large, and may be negative.
//!
//! Source: StableHLO, `batch_norm_training`, `batch_norm_inference`, `batch_norm_grad`.
use super::{Operand, build, indices, set};
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar, Shape};
use num::clock::Stop;
use num::complex_of::Field;
use num::double_double::{DoubleDouble, Real};
use num::index::{others, to_i64, to_usize};

pub(super) fn training(
    op: &BatchNormTraining,
    operands: [&Operand<'_>; 3],
    shape: &Shape,
) -> Literal {
    if is_f64(operands[0]) {
        train::<DoubleDouble>(op, operands, shape)
    } else {
        train::<f64>(op, operands, shape)
    }
}

fn train<R: Real + Field>(
    op: &BatchNormTraining,
    [x, scale, offset]: [&Operand<'_>; 3],
    shape: &Shape,
) -> Literal {
    let BatchNormTraining { epsilon, feature_index } = op;
    let features = Features::of(x, *feature_index);
    let (scale, offset) = (numbers::<R>(scale), numbers::<R>(offset));
    let mean = features.sums(|i, _| read::<R>(x, i)).over(features.size());
    let deviation = |i: &[i64], f: usize| read::<R>(x, i) - mean.0[f];
    let variance = features.sums(|i, f| deviation(i, f) * deviation(i, f)).over(features.size());
    let root = variance.inverse_roots(epsilon.0);
    let [y, mean_shape, variance_shape] = shapes(shape);
    let y = build(y, |i| {
        let f = features.of_index(i);
        (deviation(i, f) * root.0[f] * scale.0[f] + offset.0[f]).element()
    });
    Literal::tuple(vec![y, mean.array(mean_shape), variance.array(variance_shape)])
}

pub(super) fn inference(
    op: &BatchNormInference,
    operands: [&Operand<'_>; 5],
    shape: &ArrayShape,
) -> Literal {
    if is_f64(operands[0]) {
        infer::<DoubleDouble>(op, operands, shape)
    } else {
        infer::<f64>(op, operands, shape)
    }
}

fn infer<R: Real + Field>(
    op: &BatchNormInference,
    [x, scale, offset, mean, variance]: [&Operand<'_>; 5],
    shape: &ArrayShape,
) -> Literal {
    let BatchNormInference { epsilon, feature_index } = op;
    let features = Features::of(x, *feature_index);
    let [scale, offset, mean, variance] = [scale, offset, mean, variance].map(numbers::<R>);
    let root = variance.inverse_roots(epsilon.0);
    build(shape, |i| {
        let (x, f) = (read::<R>(x, i), features.of_index(i));
        let (factor, mean, offset) = (scale.0[f] * root.0[f], mean.0[f], offset.0[f]);
        let y = if factor.rounded().is_infinite() {
            // Equal in exact arithmetic; XLA:CPU's order decides what an infinite factor gives.
            x * factor + (offset - mean * factor)
        } else {
            (x - mean) * factor + offset
        };
        y.element()
    })
}

pub(super) fn grad(op: &BatchNormGrad, operands: [&Operand<'_>; 5], shape: &Shape) -> Literal {
    if is_f64(operands[0]) {
        gradients::<DoubleDouble>(op, operands, shape)
    } else {
        gradients::<f64>(op, operands, shape)
    }
}

fn gradients<R: Real + Field>(
    op: &BatchNormGrad,
    [x, scale, mean, variance, g]: [&Operand<'_>; 5],
    shape: &Shape,
) -> Literal {
    let BatchNormGrad { epsilon, feature_index } = op;
    let features = Features::of(x, *feature_index);
    let [scale, mean, variance] = [scale, mean, variance].map(numbers::<R>);
    let root = variance.inverse_roots(epsilon.0);
    let epsilon = R::from(f64::from(epsilon.0));
    let n = features.size::<R>();
    let deviation = |i: &[i64], f: usize| read::<R>(x, i) - mean.0[f];
    let sum = features.sums(|i, _| read::<R>(g, i));
    let product = features.sums(|i, f| read::<R>(g, i) * deviation(i, f));
    let [of_x, of_scale, of_offset] = shapes(shape);
    let of_x = build(of_x, |i| {
        let f = features.of_index(i);
        let slope = product.0[f] / (variance.0[f] + epsilon);
        let rest = n * read::<R>(g, i) - sum.0[f] - deviation(i, f) * slope;
        (scale.0[f] * root.0[f] / n * rest).element()
    });
    let of_scale = build(of_scale, |i| {
        let f = to_usize(i[0]);
        (product.0[f] * root.0[f]).element()
    });
    Literal::tuple(vec![of_x, of_scale, sum.array(of_offset)])
}

/// The features of an array.
struct Features {
    /// The dimension of features, and how many there are.
    dim: i64,
    count: i64,
    /// The other dimensions, and their sizes.
    others: Dims,
    sizes: Dims,
}

impl Features {
    fn of(x: &Operand<'_>, feature_index: i64) -> Self {
        let others = others(x.rank(), &[feature_index]);
        let sizes = others.iter().map(|&dim| x.size(dim)).collect();
        Self { dim: feature_index, count: x.size(feature_index), others, sizes }
    }
    /// Returns the feature of the element at `index`.
    fn of_index(&self, index: &[i64]) -> usize {
        to_usize(index[to_usize(self.dim)])
    }
    /// Returns N, the number of elements of a feature.
    fn size<R: Real>(&self) -> R {
        Scalar::Signed(to_i64(num::index::count(&self.sizes))).as_f64().into()
    }
    /// Returns the sum of `term` over the elements of each feature.
    fn sums<R: Real + Field>(&self, term: impl Fn(&[i64], usize) -> R) -> FeatureValues<R> {
        let stop = Stop::current();
        let sum = |feature: i64| {
            if stop.is_set() {
                return R::ZERO;
            }
            let mut index = Dims::from_elem(feature, self.others.len() + 1);
            indices(&self.sizes).fold(R::ZERO, |sum, others| {
                set(&mut index, &self.others, &others);
                sum + term(&index, to_usize(feature))
            })
        };
        FeatureValues((0..self.count).map(sum).collect())
    }
}

/// A number for each feature.
struct FeatureValues<R>(Vec<R>);

impl<R: Real + Field> FeatureValues<R> {
    fn over(self, divisor: R) -> Self {
        Self(self.0.into_iter().map(|x| x / divisor).collect())
    }
    /// Returns `1 / sqrt(variance + epsilon)`.
    fn inverse_roots(&self, epsilon: f32) -> Self {
        let root = |&variance: &R| R::from(1.0) / (variance + f64::from(epsilon).into()).sqrt();
        Self(self.0.iter().map(root).collect())
    }
    fn array(&self, shape: &ArrayShape) -> Literal {
        build(shape, |index| self.0[to_usize(index[0])].element())
    }
}

fn numbers<R: Real + Field>(array: &Operand<'_>) -> FeatureValues<R> {
    let stop = Stop::current();
    // All features have a number, also when the run is to stop.
    let number = |i| if stop.is_set() { R::ZERO } else { read(array, &[i]) };
    FeatureValues((0..array.size(0)).map(number).collect())
}
fn read<R: Field>(array: &Operand<'_>, index: &[i64]) -> R {
    R::of(array.at(index))
}
fn is_f64(array: &Operand<'_>) -> bool {
    array.shape.ty == ElementType::F64
}
fn shapes(shape: &Shape) -> [&ArrayShape; 3] {
    let shapes: Vec<&ArrayShape> = shape.leaves().into_iter().filter_map(Shape::array).collect();
    shapes.try_into().expect("verified: three arrays")
}
