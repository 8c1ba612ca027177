//! Normalization of batches, by its formulas.
use crate::arithmetic::Field;
use crate::element::{Element, write};
use crate::kernels::Operands;
use hlo::op::{BatchNormGrad, BatchNormInference, BatchNormTraining};
use hlo::{ArrayShape, ElementType, Literal, Shape};
use num::index::{to_i64, to_usize};
use spec::indices;

/// Mean and variance of each feature.
struct Statistics {
    mean: Vec<Element>,
    variance: Vec<Element>,
    /// The number of elements of a feature.
    size: Element,
}

/// Returns the feature of each element, and the number of features.
fn features(shape: &ArrayShape, dim: i64) -> (Vec<usize>, usize) {
    let of = indices(&shape.dims).map(|index| to_usize(index[to_usize(dim)])).collect();
    (of, to_usize(shape.dims[to_usize(dim)]))
}

/// Returns the sum of the elements of each feature.
fn sums(of: &[usize], features: usize, x: &[Element]) -> Vec<Element> {
    let mut sums = vec![Element::ZERO; features];
    for (&feature, &x) in of.iter().zip(x) {
        sums[feature] = Field::sum(sums[feature], x);
    }
    sums
}

fn statistics(field: &Field, of: &[usize], features: usize, x: &[Element]) -> Statistics {
    let per_feature = x.len() / features.max(1);
    let size = Element::integer(to_i64(per_feature));
    let mean = |all: Vec<Element>| -> Vec<Element> {
        all.into_iter().map(|sum| field.quotient(sum, size)).collect()
    };
    let means = mean(sums(of, features, x));
    let squares: Vec<Element> = (of.iter().zip(x))
        .map(|(&feature, &x)| {
            let distance = Field::difference(x, means[feature]);
            field.product(distance, distance)
        })
        .collect();
    let variance = mean(sums(of, features, &squares));
    Statistics { mean: means, variance, size }
}

/// Returns the inverse of the standard deviation.
fn scale_of(field: &Field, variance: Element, (epsilon, ty): (f32, ElementType)) -> Element {
    let epsilon = field.literal(f64::from(epsilon), ElementType::F32);
    let epsilon = field.rounded_constant(epsilon, ty);
    let sum = Field::sum(variance, epsilon);
    field.quotient(Element::ONE, field.root(sum))
}

fn normalized(field: &Field, x: Element, mean: Element, scale: Element) -> Element {
    field.product(Field::difference(x, mean), scale)
}

pub(crate) fn training(field: &Field, op: &BatchNormTraining, with: &Operands<'_>) -> Literal {
    let (x, scale, offset) = (with.elements(0), with.elements(1), with.elements(2));
    let (of, count) = features(with.shape(0), op.feature_index);
    let found = statistics(field, &of, count, &x);
    let roots =
        found.variance.iter().map(|&v| scale_of(field, v, (op.epsilon.0, with.shape(0).ty)));
    let roots: Vec<Element> = roots.collect();
    let results = of.iter().zip(&x).map(|(&f, &x)| {
        let value = normalized(field, x, found.mean[f], roots[f]);
        Field::sum(field.product(value, scale[f]), offset[f])
    });
    parts(with, [results.collect(), found.mean.clone(), found.variance.clone()])
}

pub(crate) fn inference(field: &Field, op: &BatchNormInference, with: &Operands<'_>) -> Literal {
    let x = with.elements(0);
    let [scale, offset, mean, variance] = [1, 2, 3, 4].map(|i| with.elements(i));
    let (of, _) = features(with.shape(0), op.feature_index);
    with.written(of.iter().zip(&x).map(|(&f, &x)| {
        let root = scale_of(field, variance[f], (op.epsilon.0, with.shape(0).ty));
        let value = normalized(field, x, mean[f], root);
        Field::sum(field.product(value, scale[f]), offset[f])
    }))
}

pub(crate) fn gradient(field: &Field, op: &BatchNormGrad, with: &Operands<'_>) -> Literal {
    let [x, scale, mean, variance, grad] = [0, 1, 2, 3, 4].map(|i| with.elements(i));
    let (of, count) = features(with.shape(0), op.feature_index);
    let size = statistics(field, &of, count, &x).size;
    let roots: Vec<Element> =
        variance.iter().map(|&v| scale_of(field, v, (op.epsilon.0, with.shape(0).ty))).collect();
    let values: Vec<Element> =
        (of.iter().zip(&x)).map(|(&f, &x)| normalized(field, x, mean[f], roots[f])).collect();
    let weighted: Vec<Element> =
        values.iter().zip(&grad).map(|(&value, &g)| field.product(value, g)).collect();
    let grad_scale = sums(&of, count, &weighted);
    let grad_offset = sums(&of, count, &grad);
    let results = (0..x.len()).map(|i| {
        let f = of[i];
        let mean_part = Field::sum(grad_offset[f], field.product(values[i], grad_scale[f]));
        let rest = Field::difference(grad[i], field.quotient(mean_part, size));
        field.product(field.product(scale[f], roots[f]), rest)
    });
    parts(with, [results.collect(), grad_scale.clone(), grad_offset.clone()])
}

/// Returns a tuple of arrays of floats.
fn parts<const N: usize>(with: &Operands<'_>, parts: [Vec<Element>; N]) -> Literal {
    let shapes = with.stated.shape.leaves();
    let arrays = shapes.into_iter().filter_map(Shape::array).zip(parts);
    Literal::tuple(arrays.map(|(shape, all)| Literal::from(write(shape, all))).collect())
}
