//! Convolutions that a backend computes by a transform, of Winograd or Fourier.
use super::Stop;
use super::evaluate::Evaluator;
use super::interval::Interval;
use super::modes::{Mode, largest};
use super::products::{Dot, marked};
use super::range::{Range, array, floats};
use super::site::Site;
use hlo::op::Convolution;
use hlo::op::value::WindowDim;
use hlo::{Dims, ElementType, IndexSpace, Literal, Op};
use std::collections::HashMap;

/// The error of a transformed convolution in units of that of a sum of its largest terms: a margin
/// over the growth of Winograd's F(4, 3) in two dimensions.
const GROWTH: f64 = 8.0;

/// Returns the convolution if a backend may compute it by a transform, of Winograd or Fourier. That
/// is of use only where windows overlap.
pub(super) fn transformed<'m>(ev: &Evaluator<'_>, site: Site<'m>) -> Option<&'m Convolution> {
    let Op::Convolution(op) = &site.instruction().op else { return None };
    let ty = site.instruction().shape.element_type();
    let wide = ty.is_some_and(|ty| ty == ElementType::F16 || ty.bits() >= 32);
    let overlaps = |dim: &WindowDim| (dim.size - 1) * dim.rhs_dilation >= dim.stride;
    let window = op.window.dims.iter().any(|dim| dim.size > 1 && overlaps(dim));
    (ev.modes.has(Mode::TransformedConvolution) && wide && window).then_some(op)
}

/// An infinity, as a transform of one may give.
const INFINITY: Interval = Interval::point(f64::INFINITY);
/// The most by which the terms of a transform are larger than what is transformed.
const LARGER: f64 = 256.0;

/// Returns the values of a convolution where a transform adds something that is not finite, or may
/// become so: to all of an image and an output feature. `dot` adds the products of two arrays.
pub(super) fn with_specials<'m>(
    ev: &mut Evaluator<'m>,
    (site, op): (Site<'m>, &Convolution),
    dot: &Dot<'_, 'm>,
    [input, kernel]: [&Range; 2],
    range: Range,
) -> Result<Range, Stop> {
    let shape = site.shape()?;
    let is_double = shape.ty == ElementType::F64;
    let most = largest(if is_double { shape.ty } else { ElementType::F32 });
    let special = |x: Interval| !x.is_finite() || x.max_abs() > most / LARGER;
    if ![input, kernel].iter().any(|range| range.intervals().any(special)) {
        return Ok(range);
    }
    let in_input = dot(ev, &marked(input, special), &marked(kernel, |_| true))?;
    let in_kernel = dot(ev, &marked(input, |_| true), &marked(kernel, special))?;
    let all = [in_input, in_kernel].map(|counts| largest_of_outputs(op, &counts));
    let special = floats(&all[0]).iter().zip(floats(&all[1])).map(|(x, y)| x + y > 0.0);
    let each = |(x, special): (Interval, bool)| match special {
        true => vec![x, Interval::NAN, INFINITY, -INFINITY],
        false => vec![x],
    };
    let sets: Vec<Vec<Interval>> = range.intervals().zip(special).map(each).collect();
    Ok(Range::of_sets(&shape, &sets).because(Some(site.cause())))
}

/// Returns the input with the largest element of its image and feature group in place of each: a
/// transform adds elements of different places.
pub(super) fn largest_of_images(op: &Convolution, input: &Literal) -> Literal {
    let dims = &op.dim_labels;
    let features = input.array_shape().map_or(1, |shape| dim(&shape.dims, dims.lhs_feature));
    let group = (features / op.feature_group_count.max(1)).max(1);
    let image = |index: &Dims| [dim(index, dims.lhs_batch), dim(index, dims.lhs_feature) / group];
    largest_of_each(input, image, 1.0)
}

/// Returns the sums of magnitudes with the largest of an image and output feature in place of each,
/// times [`GROWTH`].
pub(super) fn largest_of_outputs(op: &Convolution, sums: &Literal) -> Literal {
    let dims = &op.dim_labels;
    let output = |index: &Dims| [dim(index, dims.out_batch), dim(index, dims.out_feature)];
    largest_of_each(sums, output, GROWTH)
}

pub(super) fn dim(index: &Dims, at: i64) -> i64 {
    usize::try_from(at).ok().and_then(|at| index.get(at)).copied().unwrap_or(0)
}

/// Returns an array whose elements are the largest of those of the same key, some times.
fn largest_of_each(numbers: &Literal, key: impl Fn(&Dims) -> [i64; 2], times: f64) -> Literal {
    let Some(shape) = numbers.array_shape() else { return numbers.clone() };
    let keys: Vec<[i64; 2]> = shape.dims.indices().map(|index| key(&index)).collect();
    let mut largest: HashMap<[i64; 2], f64> = HashMap::new();
    for (&key, &x) in keys.iter().zip(floats(numbers)) {
        let most = largest.entry(key).or_insert(0.0);
        *most = most.max(x);
    }
    array(shape, keys.iter().map(|key| largest[key] * times))
}
