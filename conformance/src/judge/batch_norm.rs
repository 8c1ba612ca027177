//! Ranges of batch normalization.
//!
//! The formulas of `interp::spec::batch_norm`, each widened by u times the sizes of what it adds,
//! once for each operation and each term of a sum. The sizes are those before anything cancels: the
//! mean may be subtracted last, and the variance may be the mean of the squares minus the square of
//! the mean.
use super::Stop;
use super::evaluate::{Evaluator, Leaves, arrays};
use super::functions;
use super::interval::Interval;
use super::modes::{Mode, Modes, least_subnormal};
use super::precision::computed_in;
use super::range::Range;
use super::site::Site;
use super::sums::leaf_shape;
use crate::error_model::roundoff;
use hlo::op::Unary;
use hlo::{ArrayShape, ElementType, Op};

/// Operations on the way to an element, in units of roundoff: a root may have four.
const OPERATIONS: f64 = 16.0;

/// The features of an array: all elements at one index of a dimension.
struct Features {
    x: Vec<Interval>,
    count: usize,
    /// The product of the sizes of the dimensions after that of the features.
    inner: usize,
    /// Elements of each feature.
    size: f64,
    unit: f64,
    /// The error below the normal numbers.
    least: f64,
}

impl Features {
    fn of(modes: Modes, ty: ElementType, shape: &ArrayShape, dim: i64, x: &Range) -> Self {
        let size = |d: usize| usize::try_from(shape.dims[d]).unwrap_or(0);
        let dim = usize::try_from(dim).unwrap_or(0);
        let count = size(dim).max(1);
        let x: Vec<Interval> = x.intervals().collect();
        let each = f64::from(u32::try_from(x.len() / count).unwrap_or(u32::MAX));
        let inner = (dim + 1..shape.rank()).map(size).product();
        let orders = modes.has(Mode::SummationOrder);
        let ty = computed_in(modes, ty);
        let (unit, least) = if orders { (roundoff(ty), least_subnormal(ty)) } else { (0.0, 0.0) };
        let least = least.max(modes.flushed_below(ty));
        Self { x, count, inner, size: each, unit, least }
    }
    /// Returns the feature of an element.
    fn at(&self, i: usize) -> usize {
        i / self.inner.max(1) % self.count
    }
    /// Returns the sum of the terms of each feature, of which each is at most the second number.
    fn sums(&self, term: impl Fn(usize) -> (Interval, f64)) -> Vec<(Interval, f64)> {
        let mut sums = vec![(Interval::point(0.0), 0.0); self.count];
        for i in 0..self.x.len() {
            let (value, size) = term(i);
            let sum = &mut sums[self.at(i)];
            *sum = (sum.0 + value, sum.1 + size);
        }
        sums
    }
    /// Returns a value after as many operations on numbers of this size, the last of which may be
    /// scaled.
    fn rounded(&self, x: Interval, operations: f64, size: f64, scale: f64) -> Interval {
        x.widened(operations * (self.unit * size + self.least * scale.max(1.0)))
    }
    /// Returns the inverse of the deviation.
    fn root(variance: Interval, epsilon: f64) -> Interval {
        functions::unary(Unary::Rsqrt, variance + Interval::point(epsilon))
    }
    /// Returns the normalized elements.
    fn normalized(
        &self,
        epsilon: f64,
        [scale, offset, mean, variance]: [&[Interval]; 4],
    ) -> Vec<Interval> {
        let each = |i: usize| {
            let (x, f) = (self.x[i], self.at(i));
            let factor = Self::root(variance[f], epsilon) * scale[f];
            let y = (x - mean[f]) * factor + offset[f];
            let steep = factor.max_abs();
            if !steep.is_finite() {
                // The order of operations decides what an infinite factor gives.
                return Interval::ANY;
            }
            let size = (x.max_abs() + mean[f].max_abs()) * steep + offset[f].max_abs();
            self.rounded(y, OPERATIONS, size, steep)
        };
        (0..self.x.len()).map(each).collect()
    }
}

pub(super) fn batch_norm<'m>(
    ev: &Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let ranges = arrays(site, operands)?;
    let shape = leaf_shape(site, 0)?;
    if !shape.ty.is_float() || shape.dims.contains(&0) {
        return Err(site.unsupported("these elements"));
    }
    let lists: Vec<Vec<Interval>> =
        ranges.iter().map(|range| range.intervals().collect()).collect();
    let features = |dim: i64| Features::of(ev.modes, shape.ty, &shape, dim, ranges[0]);
    let results = if let Op::BatchNormTraining(op) = &site.instruction().op {
        let [_, scale, offset] = lists.as_slice() else { return Err(site.unsupported("this op")) };
        trained(&features(op.feature_index), f64::from(op.epsilon.0), scale, offset)
    } else if let Op::BatchNormInference(op) = &site.instruction().op {
        let [_, scale, offset, mean, variance] = lists.as_slice() else {
            return Err(site.unsupported("this op"));
        };
        let parts = [scale, offset, mean, variance].map(Vec::as_slice);
        vec![features(op.feature_index).normalized(f64::from(op.epsilon.0), parts)]
    } else if let Op::BatchNormGrad(op) = &site.instruction().op {
        gradients(&features(op.feature_index), f64::from(op.epsilon.0), &lists)
    } else {
        return Err(site.unsupported("this op"));
    };
    let cause = ranges.iter().find_map(|range| range.cause.clone());
    let stored = |(leaf, parts): (usize, Vec<Interval>)| {
        let store = |x| ev.modes.store(shape.ty, x, false);
        let parts: Vec<Interval> = parts.into_iter().map(store).collect();
        Ok(Range::of(&leaf_shape(site, leaf)?, &parts).because(cause.clone()))
    };
    results.into_iter().enumerate().map(stored).collect()
}

/// Returns the normalized elements, the means and the variances.
fn trained(
    of: &Features,
    epsilon: f64,
    scale: &[Interval],
    offset: &[Interval],
) -> Vec<Vec<Interval>> {
    let (n, operations) = (Interval::point(of.size), of.size + OPERATIONS);
    let sums = of.sums(|i| (of.x[i], of.x[i].max_abs()));
    let center: Vec<Interval> = sums.iter().map(|&(sum, _)| sum / n).collect();
    let means = sums.iter().zip(&center);
    let means = means.map(|(&(_, size), &x)| of.rounded(x, operations, size / of.size, 1.0));
    let squares = of.sums(|i| {
        let deviation = of.x[i] - center[of.at(i)];
        ((deviation * deviation).not_negative(), of.x[i].max_abs() * of.x[i].max_abs())
    });
    let variance =
        |&(sum, size): &(Interval, f64)| of.rounded(sum / n, operations, size / of.size, 1.0);
    let (means, variances) =
        (means.collect::<Vec<_>>(), squares.iter().map(variance).collect::<Vec<_>>());
    vec![of.normalized(epsilon, [scale, offset, &means, &variances]), means, variances]
}

/// Returns the gradients of the elements, of the scale and of the offset.
fn gradients(of: &Features, epsilon: f64, lists: &[Vec<Interval>]) -> Vec<Vec<Interval>> {
    let [_, scale, mean, variance, g] = lists else { return Vec::new() };
    let (n, operations) = (Interval::point(of.size), of.size + OPERATIONS);
    let root = |f: usize| Features::root(variance[f], epsilon);
    let far = |i: usize| of.x[i].max_abs() + mean[of.at(i)].max_abs();
    let sums = of.sums(|i| (g[i], g[i].max_abs()));
    let products = of.sums(|i| (g[i] * (of.x[i] - mean[of.at(i)]), g[i].max_abs() * far(i)));
    let each = |i: usize| {
        let f = of.at(i);
        let total = variance[f] + Interval::point(epsilon);
        let slope = products[f].0 / total;
        let steep = products[f].1 / total.lo.abs().min(total.hi.abs());
        let rest = n * g[i] - sums[f].0 - (of.x[i] - mean[f]) * slope;
        let size = of.size * g[i].max_abs() + sums[f].1 + far(i) * steep;
        let factor = scale[f] * root(f) / n;
        if !(factor.is_finite() && rest.is_finite()) {
            return Interval::ANY;
        }
        of.rounded(factor * rest, operations, factor.max_abs() * size, factor.max_abs() * of.size)
    };
    let elements = (0..of.x.len()).map(each).collect();
    let scales = products.iter().enumerate().map(|(f, &(product, size))| {
        let root = root(f);
        if !root.is_finite() {
            return Interval::ANY;
        }
        of.rounded(product * root, operations, size * root.max_abs(), root.max_abs())
    });
    let offsets = sums.iter().map(|&(sum, size)| of.rounded(sum, operations, size, 1.0));
    vec![elements, scales.collect(), offsets.collect()]
}
