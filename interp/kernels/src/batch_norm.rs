//! `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`:
//! `y = (x - mean) * scale / sqrt(variance + epsilon) + offset`
//!
//! Each index of dimension `feature_index` is a feature, with a scale, an offset, a mean and a
//! variance of its own; a sum below runs over all N elements of a feature, that is over all other
//! dimensions. `r` stands for `1 / sqrt(variance + epsilon)`. `epsilon` is an f32 whatever the
//! element type, which may be any float.
//!
//! - training: `mean = sum of x / N`, `variance = sum of (x - mean)^2 / N`, and y. The result is
//!   (y, mean, variance).
//! - inference: y alone, with the mean and variance given.
//! - gradient: with g the gradient of y, and the mean and variance given, the result is those of
//!   operand, scale, offset: `scale * r / N * (N g - sum of g - (x - mean) * sum of g (x - mean) /
//!   (variance + epsilon))`, `sum of g (x - mean) * r`, `sum of g`.
//!
//! Edges: a feature without elements has NaN for mean and variance, and gradients 0 of scale and
//! offset. Where `variance + epsilon` is 0, r is infinite, and an element that is the mean gives
//! NaN; in inference, where XLA:CPU forms `x * scale * r` and `mean * scale * r` apart, so do 0 and
//! every element on the mean's side of it. Where it is negative, all is NaN. NaN and infinities
//! spread over their feature.
//!
//! XLA:CPU has `sum of x^2 / N - mean^2` for the variance, which loses digits where the mean is
//! large, may even be negative, and overflows early; ours is the definition. All is computed in f64
//! (twice that for f64), mean and variance inside of y too, and each element is rounded once.
use crate::Kernel;
use crate::conversion::{numbers, store_numbers};
use crate::function::writes_with;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};
use hlo::{Array, ArrayShape, ElementType, Scalar};
use num::array::PART;
use num::clock::Stop;
use num::complex_of::Field;
use num::double_double::{DoubleDouble, Real};
use num::index::{count, saturating_count, to_i64, to_usize};
use num::scalar_program::ScalarPrograms;

/// The assignment of elements to features.
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
    /// Returns the feature of element `i`.
    fn feature(&self, i: usize) -> usize {
        i / self.run % self.count
    }
    /// Returns the elements of a feature.
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
    /// Returns the sum of `term` over the elements of a feature.
    fn sum<R: Real + Field>(&self, feature: usize, term: impl Fn(usize) -> R) -> R {
        let stop = Stop::current();
        let mut elements = self.elements(feature);
        let mut sum = R::ZERO;
        for _ in (0..self.turns * self.run).step_by(PART).take_while(|_| !stop.is_set()) {
            sum = elements.by_ref().take(PART).fold(sum, |sum, i| sum + term(i));
        }
        sum
    }
    /// Returns a number for each feature.
    fn each<R>(&self, number: impl Fn(usize) -> R) -> Vec<R> {
        (0..self.count).map(number).collect()
    }
}

/// `1 / sqrt(variance + epsilon)`
fn inverse_root<R: Real>(variance: R, epsilon: f32) -> R {
    R::from(1.0) / (variance + f64::from(epsilon).into()).sqrt()
}
/// Returns the bytes of the numbers that elements are read as: some for each of `arrays` operands,
/// and some for each feature.
fn scratch(operand: &ArrayShape, feature_index: i64, arrays: usize) -> usize {
    let features = to_usize(operand.dims[to_usize(feature_index)]).saturating_mul(8);
    let numbers = saturating_count(&operand.dims).saturating_mul(arrays).saturating_add(features);
    let wide = operand.ty == ElementType::F64;
    numbers.saturating_mul(if wide { size_of::<DoubleDouble>() } else { size_of::<f64>() })
}

/// Ops, with the number of arrays that each reads as numbers, and the function that computes it in
/// the numbers that elements need.
macro_rules! ops {
    ($($op:ident $arrays:literal $function:ident;)*) => {$(
        impl ArrayOp for $op {
            fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
                let (op, operand) = (self.clone(), site.operands[0]);
                let function = match operand.ty == ElementType::F64 {
                    true => $function::<DoubleDouble>,
                    false => $function::<f64>,
                };
                let scratch = scratch(operand, op.feature_index, $arrays);
                Some(writes_with(scratch, move |_, inputs, outputs| {
                    function(&op, inputs, outputs);
                    Ok(())
                }))
            }
            fn cost(&self, site: &Site<'_>) -> Cost {
                per_feature(site)
            }
            needs_whole_operands!();
        }
    )*};
}
ops! {
    BatchNormTraining 1 train;
    BatchNormInference 1 infer;
    BatchNormGrad 2 differentiate;
}

/// Returns the cost of the function of `spec`: a few numbers for each feature.
fn per_feature(site: &Site<'_>) -> Cost {
    let features = site.operands[1..].iter().map(|operand| saturating_count(&operand.dims));
    let bytes = features.max().unwrap_or(0).saturating_mul(10 * size_of::<DoubleDouble>());
    Cost { steps: 0, scratch: bytes }
}

fn train<R: Real + Field>(op: &BatchNormTraining, operands: &[&Array], outputs: &mut [Array]) {
    let BatchNormTraining { epsilon, feature_index } = op;
    let features = Features::of(operands[0].shape(), *feature_index);
    let [x, scale, offset] = [0, 1, 2].map(|i| numbers::<R>(operands[i]));
    let mean = features.each(|f| features.sum(f, |i| x[i]) / features.size());
    let variance = features.each(|f| {
        let square = |i: usize| (x[i] - mean[f]) * (x[i] - mean[f]);
        features.sum(f, square) / features.size()
    });
    let root = features.each(|f| inverse_root(variance[f], epsilon.0));
    store_numbers(&mut outputs[0], |i| {
        let f = features.feature(i);
        (x[i] - mean[f]) * root[f] * scale[f] + offset[f]
    });
    store_numbers(&mut outputs[1], |f| mean[f]);
    store_numbers(&mut outputs[2], |f| variance[f]);
}

fn infer<R: Real + Field>(op: &BatchNormInference, operands: &[&Array], outputs: &mut [Array]) {
    let BatchNormInference { epsilon, feature_index } = op;
    let features = Features::of(operands[0].shape(), *feature_index);
    let [x, scale, offset, mean, variance] = [0, 1, 2, 3, 4].map(|i| numbers::<R>(operands[i]));
    let factor = features.each(|f| scale[f] * inverse_root(variance[f], epsilon.0));
    store_numbers(&mut outputs[0], |i| {
        let (x, f) = (x[i], features.feature(i));
        if factor[f].rounded().is_infinite() {
            // The same in numbers, but XLA:CPU's order decides what comes of infinities.
            x * factor[f] + (offset[f] - mean[f] * factor[f])
        } else {
            (x - mean[f]) * factor[f] + offset[f]
        }
    });
}

fn differentiate<R: Real + Field>(op: &BatchNormGrad, operands: &[&Array], outputs: &mut [Array]) {
    let BatchNormGrad { epsilon, feature_index } = op;
    let features = Features::of(operands[0].shape(), *feature_index);
    let [x, scale, mean, variance, g] = [0, 1, 2, 3, 4].map(|i| numbers::<R>(operands[i]));
    let n = features.size::<R>();
    let root = features.each(|f| inverse_root(variance[f], epsilon.0));
    let of_offset = features.each(|f| features.sum(f, |i| g[i]));
    let products = features.each(|f| features.sum(f, |i| g[i] * (x[i] - mean[f])));
    let of_scale = features.each(|f| products[f] * root[f]);
    let factor = features.each(|f| scale[f] * root[f] / n);
    let slope = features.each(|f| products[f] / (variance[f] + R::from(f64::from(epsilon.0))));
    store_numbers(&mut outputs[0], |i| {
        let f = features.feature(i);
        let rest = n * g[i] - of_offset[f] - (x[i] - mean[f]) * slope[f];
        factor[f] * rest
    });
    store_numbers(&mut outputs[1], |f| of_scale[f]);
    store_numbers(&mut outputs[2], |f| of_offset[f]);
}
