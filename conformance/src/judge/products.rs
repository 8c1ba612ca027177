//! Ranges of dot products and convolutions: sums of products.
use super::alone::alone;
use super::elementwise::{self, finite_magnitudes};
use super::evaluate::{Evaluator, Leaves, arrays};
use super::interval::Interval;
use super::modes::{Mode, Modes};
use super::precision::ProductPrecision;
use super::range::{Range, array, extremes, floats, floats_mut, is_whole, wide};
use super::runner::Form;
use super::site::Site;
use super::squares::squares;
use super::sum::{Signs, Sum, Terms, quantum};
use super::sums::{all_points, terms};
use super::transformed::{self, dim, largest_of_images, largest_of_outputs, transformed};
use super::{Stop, candidates, integers};
use hlo::op::RaggedMode;
use hlo::{ArrayShape, Dims, ElementType, IndexSpace, Literal, Op, Scalar, Shape};
use std::collections::HashMap;

/// Fails if there is no bound.
fn check(site: Site<'_>, operands: &[&Range], complex: bool) -> Result<(), Stop> {
    if !all_points(&operands[2..]) {
        return Err(site.unsupported("sizes that are not exactly known"));
    }
    if operands[..2].iter().any(|range| integral(range)) {
        return Err(site.unsupported("products of integers and floats"));
    }
    let types = |range: &Range| range.shape().map(|shape| shape.ty);
    if complex && types(operands[0]) != types(operands[1]) {
        return Err(site.unsupported("products of complex and real numbers"));
    }
    Ok(())
}

fn integral(range: &Range) -> bool {
    range.shape().is_some_and(|shape| is_whole(shape.ty))
}

/// Dot products and convolutions: sums of products of two operands.
pub(super) fn products<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    if let Some(chosen) = choices(site, &operands) {
        // Of a single product, each choice of its factors.
        let each = |chosen: &Vec<Range>| of_arrays(ev, site, &chosen.iter().collect::<Vec<_>>());
        let results: Vec<Leaves> = chosen.iter().map(each).collect::<Result<_, _>>()?;
        return Ok(super::control::any_of(&results));
    }
    let whole = in_groups(site, &operands);
    if let Some(whole) = &whole {
        // CHLO names no value for what is in no group of a batch dimension: 0 here, a plain product
        // in StableHLO's expansion.
        let [a, b, _] = operands.as_slice() else { return Err(site.unsupported("this op")) };
        let results = [of_arrays(ev, site, &operands)?, of_arrays(ev, site, &[a, b, whole])?];
        return Ok(super::control::any_of(&results));
    }
    let results = match (&site.instruction().op, operands.as_slice()) {
        (Op::ScaledDot(_), [a, b, scales @ ..]) if !all_points(&operands) => {
            // The factors are scaled first; then all scales are 1.
            let factors = [(a, scales[0]), (b, scales[1])].map(|(x, scale)| times(x, scale));
            let ones = [scales[0], scales[1]].map(ones);
            of_arrays(ev, site, &[&factors[0], &factors[1], &ones[0], &ones[1]])?
        }
        _ => of_arrays(ev, site, &operands)?,
    };
    Ok(match masked(ev, site, &operands, &results)? {
        Some(masked) => super::control::any_of(&[results, masked]),
        None => results,
    })
}

/// Returns the results of a `ragged-dot` that reads the left operand as 0 outside of a group and adds
/// the products of all groups, as StableHLO's expansion of CHLO and XLA's of HLO do: NaN where a zero
/// meets an infinity or NaN of another group. None if there are none.
fn masked<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
    results: &Leaves,
) -> Result<Option<Leaves>, Stop> {
    let (Op::RaggedDot(op), [lhs, rhs, sizes], [result]) =
        (&site.instruction().op, operands, results.as_slice())
    else {
        return Ok(None);
    };
    let (Some(shape), Some(counts)) = (lhs.shape(), sizes.shape()) else { return Ok(None) };
    if op.mode() == RaggedMode::Batch || floats(&rhs.lo).iter().all(|x| x.is_finite()) {
        return Ok(None);
    }
    let ragged = op.lhs_ragged_dims.first().and_then(|&dim| usize::try_from(dim).ok());
    let size = |of: i64| Scalar::Signed(of).convert(ElementType::S64, counts.ty);
    let (whole, none) = (size(ragged.map_or(0, |dim| shape.dims[dim])), size(0));
    let groups = counts.dims.last().map_or(0, |&count| usize::try_from(count).unwrap_or(0));
    let zeros = Range::point(Literal::zeros(shape.clone()));
    let mut masked = result.clone();
    for group in 0..groups {
        // All rows are in this group.
        let whole_at = |i: usize| if i % groups == group { whole } else { none };
        let ends = (0..sizes.lo.len()).map(|i| (whole_at(i), whole_at(i)));
        let products = of_arrays(ev, site, &[&zeros, rhs, &integers::range(counts, ends)])?;
        let Some(products) = products.first() else { return Ok(None) };
        for ends in [&mut masked.lo, &mut masked.hi] {
            for (end, product) in floats_mut(ends).iter_mut().zip(floats(&products.lo)) {
                *end = if product.is_nan() { Interval::NAN.lo } else { *end };
            }
        }
    }
    Ok(Some(vec![masked]))
}

/// Returns sizes of groups of a batch dimension with which each index is in one.
fn in_groups(site: Site<'_>, operands: &[&Range]) -> Option<Range> {
    let Op::RaggedDot(op) = &site.instruction().op else { return None };
    let [.., sizes] = operands else { return None };
    let shape = sizes.shape().filter(|_| op.mode() == RaggedMode::Batch && sizes.is_point())?;
    let (_, most) = extremes(shape.ty)?;
    Some(integers::range(shape, std::iter::repeat_n((most, most), sizes.lo.len())))
}

/// Returns the legal values of products that are integers.
fn integers_of<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    match [0, 1].map(|i| site.operand(i).element_type()) {
        [Some(a), Some(b)] if a.is_float() && b.is_float() => {
            converted_products(ev, site, operands, [a, b])
        }
        _ => ev.stated(site, operands),
    }
}

/// Returns the integers of products of floats: of a converted sum, or, as StableHLO's `dot_general`
/// with operands that are promoted to the type of the result, a sum of converted factors.
fn converted_products<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
    types: [ElementType; 2],
) -> Result<Leaves, Stop> {
    let shape = site.shape()?;
    let shapes: Vec<Shape> = (0..operands.len()).map(|i| site.operand(i).clone()).collect();
    let [lhs, rhs] = types;
    let float = if lhs.bits() < rhs.bits() { rhs } else { lhs };
    let (module, id) = alone(ev.module, site, &shapes, shape.with_type(float).into());
    let arguments = operands.iter().map(|&range| vec![range.clone()]).collect();
    let sums = ev.in_module(&module, None, |inner| inner.call(id, arguments, None))?;
    let mut results: Leaves =
        sums.iter().map(|sum| elementwise::converted(ev, float, &shape, sum)).collect();
    let mut factors: Vec<Leaves> = operands.iter().map(|&range| vec![range.clone()]).collect();
    let mut shapes = shapes;
    for (i, ty) in types.into_iter().enumerate() {
        let Some(array) = shapes[i].array().map(|array| array.with_type(shape.ty)) else {
            continue;
        };
        factors[i] = vec![elementwise::converted(ev, ty, &array, operands[i])];
        shapes[i] = array.into();
    }
    let (module, id) = alone(ev.module, site, &shapes, shape.clone().into());
    results.extend(ev.in_module(&module, None, |inner| inner.call(id, factors, None))?);
    let any = Range::any_of(&results);
    let cause = (!any.is_point()).then(|| site.cause());
    Ok(vec![any.because(cause)])
}

/// Returns the choices of the operands' candidates, if there are some and each element of the
/// result is one product.
fn choices(site: Site<'_>, operands: &[&Range]) -> Option<Vec<Vec<Range>>> {
    let open = operands.iter().any(|range| range.candidates().len() > 1);
    if !open || terms(site) > 1.0 || matches!(site.instruction().op, Op::ScaledDot(_)) {
        return None;
    }
    candidates::combinations(operands)
}

/// Returns the products of elements and the scales of their blocks.
fn times(factor: &Range, scale: &Range) -> Range {
    let (Some(shape), Some(blocks)) = (factor.shape(), scale.shape()) else {
        return factor.clone();
    };
    let scales: Vec<Interval> = scale.intervals().collect();
    let block = |position: usize| {
        let index = shape.dims.index_of(position);
        let sizes = index.iter().zip(&shape.dims).zip(&blocks.dims);
        // A scalar has no sizes, and the only position.
        sizes.fold(0, |at, ((i, size), blocks)| at * blocks + i / (size / blocks))
    };
    let scaled = factor
        .intervals()
        .enumerate()
        .map(|(position, x)| x * scales[usize::try_from(block(position)).unwrap_or(0)]);
    Range::of(shape, &scaled.collect::<Vec<_>>())
        .because(factor.cause.clone().or_else(|| scale.cause.clone()))
}

/// As many scales that are 1.
fn ones(scale: &Range) -> Range {
    scale.map(&|end| {
        end.array_shape().map_or_else(|| end.clone(), |shape| array(shape, vec![1.0; end.len()]))
    })
}

fn of_arrays<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    let shape = site.shape()?;
    if is_whole(shape.ty) {
        return integers_of(ev, site, operands);
    }
    // After the factors, a `ragged-dot` has the sizes of the groups, and a `scaled-dot` the scales
    // of the factors.
    let [a, b, rest @ ..] = operands else { return Err(site.unsupported("this op")) };
    let complex = shape.ty.is_complex();
    check(site, operands, complex)?;
    let precision = ProductPrecision::of(&site.instruction().op);
    let types = [0, 1].map(|i| site.operand(i).element_type());
    let factor = |i: usize, range: &Range| {
        types[i].map_or_else(|| range.clone(), |ty| precision.factor(ev.modes, i, ty, range))
    };
    let factors = [factor(0, a), factor(1, b)];
    let [a, b] = &factors;
    let scaled = precision.scaled;
    let with_rest = |a: Literal, b: Literal, absolute: bool| -> Vec<Literal> {
        let rest = rest.iter().map(|range| match absolute && !integral(range) {
            true => finite_magnitudes(range),
            false => range.lo.clone(),
        });
        [a, b].into_iter().chain(rest).collect()
    };
    let [large_a, large_b] = [a, b].map(finite_magnitudes);
    let real = |ev: &mut Evaluator<'m>, a: &Literal, b: &Literal| {
        ev.runner.run(ev.module, &site.key(Form::Real), &with_rest(a.clone(), b.clone(), true))
    };
    let center =
        ev.runner.run(ev.module, &site.key(Form::Wide), &with_rest(a.mids(), b.mids(), false))?;
    let sum = real(ev, &large_a, &large_b)?;
    let exact = all_points(operands) && a.is_point() && b.is_point();
    let errors = if exact { None } else { Some(distances(ev, &real, [a, b])?) };
    let invalid = zeros_times_infinities(ev, &real, [a, b])?;
    let step = if complex { 2 } else { 1 };
    let wide = shape.with_type(wide(shape.ty));
    let spread =
        |x: &Literal| array(&wide, floats(x).iter().flat_map(|&x| std::iter::repeat_n(x, step)));
    let radius = errors.map(|errors| spread(&errors));
    let end = |sign: f64| end_of(&center, radius.as_ref(), &wide, sign);
    let scales = rest.iter().filter(|range| !integral(range)).map(|range| quantum(range));
    let quantum = [a, b].into_iter().map(quantum).chain(scales).sum();
    let [each, most] = roundings(ev, site, &real, &factors, scaled)?;
    let cause = operands.iter().find_map(|range| range.cause.clone());
    let (lo, hi) = (end(-1.0), end(1.0));
    let terms = known_terms(site, &factors, quantum, complex || scaled);
    let range = |ev: &Evaluator<'m>, modes: Modes, sum: &Literal, roundings, terms| {
        let accumulator = precision.accumulator(modes, shape.ty);
        let sum = Sum {
            lo: lo.clone(),
            hi: hi.clone(),
            magnitudes: spread(sum),
            specials: None,
            roundings,
            products: true,
            accumulator,
            unit: precision.unit(modes, types, accumulator),
            terms,
        };
        sum.range(ev, site, &shape)
    };
    let mut either = range(ev, ev.modes, &sum, each, terms);
    if let Some(op) = transformed(ev, site) {
        let largest = real(ev, &largest_of_images(op, &large_a), &large_b)?;
        let sum = largest_of_outputs(op, &largest);
        // A transform adds in f32 or f64.
        let modes = ev.modes.without(Mode::ElementAccumulation);
        let terms = vec![Terms { signs: Signs::ANY, quantum: None }];
        either = either.hull(&range(ev, modes, &sum, most, terms));
        if !complex {
            either = transformed::with_specials(ev, (site, op), &real, [a, b], either)?;
        }
    }
    let range = either.because(cause);
    let padded = special_padding(ev, site, &real, [a, b])?;
    Ok(vec![with_specials(site, &shape, range, [&invalid, &padded])])
}

/// A function that adds the products of two arrays.
pub(super) type Dot<'a, 'm> =
    dyn Fn(&mut Evaluator<'m>, &Literal, &Literal) -> Result<Literal, Stop> + 'a;

/// Returns the roundings that each element may see, and those of a transform. `dot` adds the products of
/// two arrays.
fn roundings<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    dot: &Dot<'_, 'm>,
    [a, b]: &[Range; 2],
    scaled: bool,
) -> Result<[Vec<f64>; 2], Stop> {
    let complex = site.shape()?.ty.is_complex();
    // A part of a complex product is the sum of two products. A factor may be rounded after it is
    // scaled.
    let (parts, more) = match (complex, scaled) {
        (true, _) => (2.0, 2.0),
        (false, true) => (1.0, 2.0),
        (false, false) => (1.0, 0.0),
    };
    let roundings = |terms: f64| if terms > 0.0 { parts * terms + more } else { 0.0 };
    let most = vec![roundings(terms(site))];
    let has_zeros = [a, b].iter().any(|range| range.intervals().any(Interval::is_zero));
    if !has_zeros || scaled {
        return Ok([most.clone(), most]);
    }
    let counts = dot(ev, &marked(a, nonzero), &marked(b, nonzero))?;
    let each = floats(&counts).iter().map(|&terms| roundings(terms));
    let each = each.flat_map(|x| std::iter::repeat_n(x, if complex { 2 } else { 1 }));
    Ok([each.collect(), most])
}

/// Returns what is known of the products of each element, or of all of them.
fn known_terms(
    site: Site<'_>,
    [a, b]: &[Range; 2],
    quantum: Option<i32>,
    any_sign: bool,
) -> Vec<Terms> {
    if any_sign {
        return vec![Terms { signs: Signs::ANY, quantum }];
    }
    let signs = Terms::of([a]).signs.times(Terms::of([b]).signs);
    let Some(squares) = squares(site) else { return vec![Terms { signs, quantum }] };
    // A sum of squares is not negative, in any order.
    let signs = |square: bool| if square { Signs::NOT_NEGATIVE } else { signs };
    squares.into_iter().map(|square| Terms { signs: signs(square), quantum }).collect()
}

/// Returns the products where some elements have unknown terms, and some others may have terms that
/// are NaN.
fn with_specials(
    site: Site<'_>,
    shape: &ArrayShape,
    range: Range,
    [unknown, maybe]: [&[bool]; 2],
) -> Range {
    let (step, product) = match shape.ty.is_complex() {
        // Formulas of complex products differ in what they make of infinities.
        true => (2, Interval::ANY),
        false => (1, Interval::NAN),
    };
    let where_special = |range: &Range, special: &[bool], value: Interval| {
        let each = |(i, x): (usize, Interval)| if special[i / step] { value } else { x };
        Range::of(shape, &range.intervals().enumerate().map(each).collect::<Vec<_>>())
            .because(range.cause.clone().or_else(|| Some(site.cause())))
    };
    let range = match unknown.contains(&true) {
        true => where_special(&range, unknown, Interval::ANY),
        false => range,
    };
    if !maybe.contains(&true) {
        return range;
    }
    let other = where_special(&range, maybe, product);
    Range::any_of(&[range, other]).because(Some(site.cause()))
}

/// Returns for each element whether StableHLO multiplies a 0 of the padding, or of a hole, by a
/// factor of the kernel that is not finite, which is NaN: XLA has no such products. `dot` adds the
/// products of two arrays.
fn special_padding<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    dot: &Dot<'_, 'm>,
    [input, kernel]: [&Range; 2],
) -> Result<Vec<bool>, Stop> {
    let Op::Convolution(op) = &site.instruction().op else { return Ok(Vec::new()) };
    let (Some(shape), Some(special)) = (input.shape(), indicator(kernel, |x| !x.is_finite()))
    else {
        return Ok(Vec::new());
    };
    let shape = shape.with_type(ElementType::F64);
    let ones = array(&shape, vec![1.0; shape.element_count().unwrap_or(0)]);
    let inside = dot(ev, &ones, &special)?;
    let (Some(factors), Some(outputs)) = (special.array_shape(), inside.array_shape()) else {
        return Ok(Vec::new());
    };
    let mut all: HashMap<i64, f64> = HashMap::new();
    for (index, &x) in factors.dims.indices().zip(floats(&special)) {
        *all.entry(dim(&index, op.dim_labels.rhs_output_feature)).or_insert(0.0) += x;
    }
    let feature = |index: Dims| all.get(&dim(&index, op.dim_labels.out_feature)).copied();
    let outputs = outputs.dims.indices().zip(floats(&inside));
    Ok(outputs.map(|(index, &inside)| feature(index).is_some_and(|all| inside < all)).collect())
}

/// Returns the distance of the ends of each element from its middle. `dot` adds the products of two
/// arrays.
fn distances<'m>(
    ev: &mut Evaluator<'m>,
    dot: &Dot<'_, 'm>,
    [a, b]: [&Range; 2],
) -> Result<Literal, Stop> {
    // |a| eb + ea (|b| + eb), of which the magnitudes of b are the latter factor.
    let mut one = dot(ev, &finite_magnitudes(a), &radii(b))?;
    let other = dot(ev, &radii(a), &finite_magnitudes(b))?;
    floats_mut(&mut one).iter_mut().zip(floats(&other)).for_each(|(x, y)| *x += y);
    Ok(one)
}

/// Returns for each element whether a factor that may be read as 0 is multiplied by an infinity,
/// which is NaN; nothing if none is. `dot` adds the products of two arrays.
fn zeros_times_infinities<'m>(
    ev: &mut Evaluator<'m>,
    dot: &Dot<'_, 'm>,
    [a, b]: [&Range; 2],
) -> Result<Vec<bool>, Stop> {
    let mut found = Vec::new();
    let zero: Property = may_be_zero;
    for [of_a, of_b] in [[zero, is_infinite], [is_infinite, zero]] {
        let (Some(x), Some(y)) = (indicator(a, of_a), indicator(b, of_b)) else { continue };
        let counts = dot(ev, &x, &y)?;
        found.resize(counts.len(), false);
        found.iter_mut().zip(floats(&counts)).for_each(|(found, &count)| *found |= count > 0.0);
    }
    Ok(found)
}

/// A property of the values of an element.
pub(super) type Property = fn(Interval) -> bool;

fn may_be_zero(x: Interval) -> bool {
    !x.is_point() && !x.is_any() && x.lo <= 0.0 && x.hi >= 0.0
}
fn is_infinite(x: Interval) -> bool {
    !x.is_nan() && !x.is_any() && !x.is_finite()
}

/// Returns whether a value is not certainly 0.
pub(super) fn nonzero(x: Interval) -> bool {
    !x.is_zero()
}

/// Returns an array that is 1 where a part of a number has a property, and else 0.
pub(super) fn marked(range: &Range, property: impl Fn(Interval) -> bool) -> Literal {
    let Some(shape) = range.shape() else { return range.lo.clone() };
    let step = if shape.ty.is_complex() { 2 } else { 1 };
    let parts: Vec<bool> = range.intervals().map(property).collect();
    let numbers = parts.chunks(step).map(|z| f64::from(u8::from(z.contains(&true))));
    array(&shape.with_type(ElementType::F64), numbers)
}

/// As [`marked`]; `None` if it is 0 everywhere.
fn indicator(range: &Range, property: Property) -> Option<Literal> {
    range.intervals().any(property).then(|| marked(range, property))
}

/// Returns an end of the sums around these, as far as the radius, in the type `wide`.
fn end_of(center: &Literal, radius: Option<&Literal>, wide: &ArrayShape, sign: f64) -> Literal {
    // Formulas of complex products differ in what they make of infinities.
    let open = |c: f64| wide.ty.is_complex() && !c.is_finite();
    let moved = |(&c, &r): (&f64, &f64)| match r.is_finite() && !open(c) {
        true if r > 0.0 => sign.mul_add(r, c),
        true => c,
        false => sign * f64::INFINITY,
    };
    let known = |&c: &f64| if open(c) { sign * f64::INFINITY } else { c };
    match radius {
        Some(radius) => array(wide, floats(center).iter().zip(floats(radius)).map(moved)),
        None if wide.ty.is_complex() => array(wide, floats(center).iter().map(known)),
        None => center.clone(),
    }
}

/// Returns the distance of the ends from the middle of each number.
pub(super) fn radii(range: &Range) -> Literal {
    let Some(shape) = range.shape() else { return range.lo.clone() };
    let complex = shape.ty.is_complex();
    let shape = shape.with_type(ElementType::F64);
    let radii: Vec<f64> = range.intervals().map(Interval::radius).collect();
    match complex {
        true => array(&shape, radii.chunks(2).map(|z| z[0].hypot(z[1]))),
        false => array(&shape, radii),
    }
}
