//! Ranges of arrays that are smaller than their bounds: both ends are arrays of the dynamic sizes.
#![expect(clippy::wildcard_enum_match_arm, reason = "ops without a rule are unsupported")]
use super::Stop;
use super::alone::alone;
use super::elementwise::{self, is_elementwise};
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::fold::{lanes_of, picked, reshaped};
use super::moved::data_operands;
use super::range::Range;
use super::site::Site;
use hlo::op::{DynamicRule, SetDimensionSize};
use hlo::{ArrayShape, Dims, IndexSpace, Literal, Op, Scalar, Shape};

/// Returns whether the instruction reads or returns an array with dynamic dimensions, or a size.
pub(super) fn has_sizes(site: Site<'_>) -> bool {
    if matches!(site.instruction().op, Op::GetDimensionSize(_)) {
        return true;
    }
    // What returns values of its operands as they are, such as a tuple.
    let hands_on = match &site.instruction().op {
        Op::CustomCall(op) => interp::is_annotation(&op.custom_call_target.0),
        Op::Fusion(_) => true,
        op => op.opcode().carries_values(),
    };
    let operands = 0..site.instruction().operands.len();
    !hands_on
        && (is_dynamic(&site.instruction().shape)
            || operands.map(|i| site.operand(i)).any(is_dynamic))
}

/// Returns whether a shape has dynamic dimensions.
pub(super) fn is_dynamic(shape: &Shape) -> bool {
    shape.leaves().iter().any(|leaf| leaf.array().is_some_and(|array| array.dynamic.is_some()))
}

/// Returns the legal values where the sizes are known.
pub(super) fn evaluate<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let ranges = arrays(site, operands)?;
    let op = &site.instruction().op;
    if let Op::GetDimensionSize(get) = op {
        let dimension = get.dimensions.first().and_then(|&d| usize::try_from(d).ok());
        let size = dimension.and_then(|d| ranges[0].lo.sizes().get(d));
        let size = size.and_then(|&size| i32::try_from(size).ok());
        let size = size.ok_or_else(|| site.unsupported("this size"))?;
        return Ok(vec![Range::point(Literal::from_slice(&[], &[size]))]);
    }
    if let Op::SetDimensionSize(set) = op {
        return with_size(site, set, &ranges);
    }
    if let (Op::Select(_), true) = (op, ranges[0].lo.sizes().is_empty()) {
        return Ok(vec![whole(site, &ranges)]);
    }
    if is_elementwise(op) {
        let sizes = sizes(site, &ranges)?;
        let cut = |range: &&Range| match range.lo.sizes().len() == sizes.len() {
            true => range.map(&|end| end.clone().with_sizes(&sizes).to_static()),
            false => (*range).clone(),
        };
        let cut: Vec<Range> = ranges.iter().map(cut).collect();
        let range = elementwise::evaluate(ev, site, &cut.iter().collect::<Vec<_>>())?;
        // The elements are in the order of the smaller array.
        return Ok(vec![range.map(&|end| resized(end, &sizes))]);
    }
    if let Some(count) = data_operands(op) {
        if has_other_size(op, ranges[0], site.operand(0)) {
            return Ok(unknown(site, Some(site.cause())));
        }
        // What is read beyond the sizes is any value.
        let whole = |(i, range): (usize, &&Range)| match site.operand(i).array() {
            Some(bounds) if i < count && range.lo.sizes() != bounds.dims.as_slice() => {
                let sizes = range.lo.sizes();
                within(site, range, &bounds.dims).map(&|end| end.clone().with_sizes(sizes))
            }
            Some(_) | None => (*range).clone(),
        };
        let whole: Vec<Range> = ranges.iter().enumerate().map(whole).collect();
        return ev.moved(site, &whole.iter().collect::<Vec<_>>());
    }
    match op {
        Op::CustomCall(call) if call.custom_call_target.0 == "PadToStatic" => padded(site, &ranges),
        Op::CustomCall(call) if call.custom_call_target.0 == "SliceToDynamic" => {
            sliced(site, &ranges)
        }
        op if op.opcode().dynamic_rule() == DynamicRule::Trim => trimmed(ev, site, &ranges),
        _ => Err(site.unsupported("dynamic shapes")),
    }
}

/// Returns whether the size of a slice is open: it ends behind the elements that count, where a limit
/// is not legal, and a dimension that is not taken whole may have its own size or what is left.
fn has_other_size(op: &Op, range: &Range, bounds: &Shape) -> bool {
    let (Op::Slice(slice), Some(bounds)) = (op, bounds.array()) else { return false };
    let mut each = slice.ranges.0.iter().zip(range.lo.sizes()).zip(&bounds.dims);
    each.any(|((taken, size), bound)| {
        let is_whole = (taken.start, taken.limit, taken.stride) == (0, *bound, 1);
        !is_whole && taken.limit > *size
    })
}

/// Returns the legal values of a selection of one of two arrays.
fn whole(site: Site<'_>, ranges: &[&Range]) -> Range {
    let (selector, first, second) = (ranges[0], ranges[1], ranges[2]);
    match selector.ends(0) {
        (Scalar::Pred(true), _) => first.clone(),
        (_, Scalar::Pred(false)) => second.clone(),
        _ => {
            let cause = selector.cause.clone().or_else(|| Some(site.cause()));
            Range::any_of(&[first.clone(), second.clone()]).because(cause)
        }
    }
}

/// Returns an array with another size, where nothing is known of what was beyond the old one.
fn with_size(site: Site<'_>, op: &SetDimensionSize, operands: &[&Range]) -> Result<Leaves, Stop> {
    let dimension = op.dimensions.first().and_then(|&d| usize::try_from(d).ok()).unwrap_or(0);
    let bounds = site.shape()?;
    let size = operands[1].is_point().then(|| operands[1].lo.get(0).as_i64()).flatten();
    let size = size.filter(|size| (0..=bounds.dims[dimension]).contains(size));
    let size = size.ok_or_else(|| site.unsupported("a size that is not known"))?;
    let mut sizes = Dims::from_slice(operands[0].lo.sizes());
    sizes[dimension] = size;
    Ok(vec![within(site, operands[0], &sizes)])
}

/// Returns an array of these sizes, where nothing is known of what is beyond those of the range.
fn within(site: Site<'_>, range: &Range, sizes: &Dims) -> Range {
    let Some(own) = range.shape().cloned() else { return range.clone() };
    let shape = ArrayShape::new(own.ty, sizes.clone());
    let inside = |index: &[i64]| index.iter().zip(&own.dims).all(|(at, size)| at < size);
    let indices: Vec<Dims> = shape.dims.indices().collect();
    let any = || Range::any(&shape).because(Some(site.cause()));
    if range.lo.is_empty() {
        return any();
    }
    let at = indices.iter().map(|index| if inside(index) { own.dims.position(index) } else { 0 });
    let known = reshaped(&picked(range, lanes_of(&shape), at), &shape);
    let all = indices.iter().all(|index| inside(index));
    let whole = if all { known } else { known.where_else(&any(), |at| inside(&indices[at])) };
    whole.because(range.cause.clone())
}

/// Returns the legal values of an op of which the operands are cut to their sizes: those of the
/// same op of arrays that are as large.
fn trimmed<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    let shape = |(i, range): (usize, &&Range)| {
        let ty = site.operand(i).element_type()?;
        Some(Shape::from(range.shape()?.with_type(ty)))
    };
    let shapes: Option<Vec<Shape>> = operands.iter().enumerate().map(shape).collect();
    let shapes = shapes.ok_or_else(|| site.unsupported("a tuple"))?;
    let instruction = site.instruction();
    let given: Vec<&Shape> = shapes.iter().collect();
    let shape = instruction.op.shape(&given, Some(&instruction.shape), ev.module);
    let shape = shape.map_err(|_| site.unsupported("operands of these dynamic sizes"))?;
    let (module, id) = alone(ev.module, site, &shapes, shape);
    let arguments = operands.iter().map(|&range| vec![range.clone()]).collect();
    ev.in_module(&module, None, |inner| inner.call(id, arguments, None))
}

/// Returns an array within its bounds, where nothing is known of what is beyond its sizes, and the
/// sizes.
fn padded(site: Site<'_>, operands: &[&Range]) -> Result<Leaves, Stop> {
    let bounds = site.operand(0).array().ok_or_else(|| site.unsupported("a tuple"))?;
    let whole = within(site, operands[0], &bounds.dims);
    let size = |&size: &i64| {
        let size = i32::try_from(size).map_err(|_| site.unsupported("this size"))?;
        Ok(Range::point(Literal::from_slice(&[], &[size])))
    };
    let sizes: Vec<Range> = operands[0].lo.sizes().iter().map(size).collect::<Result<_, Stop>>()?;
    Ok(std::iter::once(whole).chain(sizes).collect())
}

/// Returns an array cut to sizes that are operands.
fn sliced(site: Site<'_>, operands: &[&Range]) -> Result<Leaves, Stop> {
    let sizes =
        operands[1..].iter().map(|range| range.is_point().then(|| range.lo.get(0).as_i64()));
    let sizes: Option<Dims> = sizes.map(Option::flatten).collect();
    let sizes = sizes.ok_or_else(|| site.unsupported("a size that is not known"))?;
    let cut = |end: &Literal| end.clone().with_sizes(&sizes).to_static();
    let fits = operands[0].shape().is_some_and(|shape| {
        let mut each = shape.dims.iter().zip(&sizes);
        shape.rank() == sizes.len() && each.all(|(bound, size)| (0..=*bound).contains(size))
    });
    let result = fits.then(|| operands[0].map(&cut));
    Ok(vec![result.ok_or_else(|| site.unsupported("these sizes"))?])
}

/// Returns the sizes to which all operands of an elementwise op are cut.
fn sizes(site: Site<'_>, operands: &[&Range]) -> Result<Dims, Stop> {
    let bounds = site.shape()?.dims;
    let arrays =
        || operands.iter().map(|range| range.lo.sizes()).filter(|s| s.len() == bounds.len());
    let least = |d: usize| arrays().map(|sizes| sizes[d]).min().unwrap_or(bounds[d]);
    let least: Dims = (0..bounds.len()).map(least).collect();
    // Operands of one element are broadcast.
    let is_one = |(&size, &least): (&i64, &i64)| least == 1 && size > 1;
    match arrays().any(|sizes| sizes.iter().zip(&least).any(is_one)) {
        true => Err(site.unsupported("operands of different dynamic sizes")),
        false => Ok(least),
    }
}

/// Returns the first elements of an array as one of these sizes.
fn resized(array: &Literal, sizes: &[i64]) -> Literal {
    let Some(shape) = array.array_shape() else { return array.clone() };
    let shape = ArrayShape::new(shape.ty, sizes);
    let mut result = Literal::zeros(shape);
    let length = result.bytes().len();
    result.bytes_mut().copy_from_slice(&array.bytes()[..length]);
    result
}
