//! Ranges of elementwise ops.
#![expect(clippy::wildcard_enum_match_arm, reason = "ops without a rule are unsupported")]
use super::evaluate::{Evaluator, Leaves};
use super::functions;
use super::interval::Interval;
use super::modes::{Mode, Modes, largest, smallest_normal};
use super::range::is_whole;
use super::range::{Range, floats};
use super::site::Site;
use super::{Stop, candidates, complex, integers};
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Opcode, Unary};
use hlo::{ArrayShape, Class, ElementType, Literal, Op, Scalar};
use interp::num;
use rayon::prelude::*;

/// Returns whether [`evaluate`] has a rule for the op.
pub(super) fn is_elementwise(op: &Op) -> bool {
    // `stochastic-convert` has a rule of its own.
    op.opcode().is_elementwise() && op.opcode() != Opcode::StochasticConvert
}

/// Element `i` of an array, or the only one of a scalar.
pub(super) fn broadcast<T: Copy>(list: &[T], i: usize) -> T {
    if list.len() == 1 { list[0] } else { list[i] }
}

/// Returns the real numbers of a range of floats, with those of a scalar repeated.
fn parts(range: &Range) -> Vec<Interval> {
    range.intervals().collect()
}

/// Returns the range of an elementwise op: for all candidates of its operands, or else for the
/// ranges that enclose them.
pub(super) fn evaluate<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Range, Stop> {
    if let Op::Select(_) = &site.instruction().op {
        let range = selected(operands[0], operands[1], operands[2]);
        if operands[0].is_point() || !is_scalar(site) {
            return Ok(range);
        }
        let branches: [Leaves; 2] = [1, 2].map(|k| vec![operands[k].clone()]);
        let mut whole = ev.decisions.decided(vec![range], &branches.to_vec().into(), None);
        return whole.pop().ok_or_else(|| site.unsupported("no result"));
    }
    for_each_choice(operands, site.same_operands(), |chosen| combined(ev, site, chosen))
}

/// Returns whether the decision of a selection is one for all elements: a scalar, perhaps repeated.
fn is_scalar(site: Site<'_>) -> bool {
    let decision = &site.computation.instructions[site.instruction().operands[0]];
    let repeats = matches!(decision.op, Op::Broadcast(_));
    let scalar = if repeats {
        site.computation.instructions[decision.operands[0]].shape.array()
    } else {
        site.operand(0).array()
    };
    site.lanes.is_none() && scalar.is_some_and(|array| array.rank() == 0)
}

/// Returns the values of a function of ranges for all candidates of its operands, or else for the
/// ranges that enclose them. A value that is read twice, the `same`, is one value.
pub(super) fn for_each_choice<E>(
    operands: &[&Range],
    same: bool,
    mut function: impl FnMut(&[&Range]) -> Result<Range, E>,
) -> Result<Range, E> {
    let cause = operands.iter().find_map(|range| range.cause.clone());
    let chosen = match same {
        true => operands[0].each_value().into_iter().map(|x| vec![x; operands.len()]).collect(),
        false => candidates::combinations(operands).unwrap_or_default(),
    };
    if chosen.len() < 2 {
        return Ok(function(operands)?.because(cause));
    }
    let each = |chosen: &Vec<Range>| function(&chosen.iter().collect::<Vec<_>>());
    let ranges: Vec<Range> = chosen.iter().map(each).collect::<Result<_, _>>()?;
    Ok(Range::any_of(&ranges).because(cause))
}

/// Returns the range for one choice of candidates. An op computes in the class of its first
/// operand.
fn combined<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    operands: &[&Range],
) -> Result<Range, Stop> {
    let shape = site.shape()?;
    let op = &site.instruction().op;
    let from = site.operand(0).element_type().unwrap_or(shape.ty);
    let cause = operands.iter().find_map(|range| range.cause.clone());
    let result = match (op, from.class()) {
        (Op::Compare(compare), class) => {
            let order = compare.order(from);
            let decided = match class {
                Class::Float if site.same_operands() => operands[0]
                    .intervals()
                    .map(|x| with_itself(compare.direction, order, x))
                    .collect(),
                Class::Float => compared(compare.direction, order, operands[0], operands[1]),
                Class::Complex => complex::compared(compare.direction, operands[0], operands[1]),
                Class::Pred | Class::Signed | Class::Unsigned => {
                    integers::compared(compare.direction, order, from, operands[0], operands[1])
                }
            };
            let undecided = decided.iter().any(Option::is_none);
            let cause = cause.clone().or_else(|| undecided.then(|| site.cause()));
            booleans(&shape, &decided).because(cause)
        }
        (Op::Convert(_), _) => {
            let result = converted(ev, from, &shape, operands[0]);
            let jumps = is_whole(shape.ty) && !result.is_point();
            let cause = cause.clone().or_else(|| jumps.then(|| site.cause()));
            result.because(cause)
        }
        (_, Class::Pred | Class::Signed | Class::Unsigned) => {
            let divides = integers::divides_undefined(op, from, operands);
            if !divides && operands.iter().all(|range| range.is_point()) {
                let mut leaves = ev.stated(site, operands)?;
                return leaves.pop().ok_or_else(|| site.unsupported("no result"));
            }
            let cause = divides.then(|| site.cause());
            integers::evaluate(op, from, &shape, operands).because(cause)
        }
        (Op::Unary(unary), Class::Complex) => {
            // No formula is named for infinities and NaN.
            let range = complex::unary(ev, *unary, &shape, operands[0]);
            let special = operands[0].intervals().any(|x| x.is_point() && !x.is_finite());
            let open = special && range.intervals().any(Interval::is_any);
            range.because(open.then(|| site.cause()))
        }
        (Op::Binary(binary), Class::Complex) => {
            let range = complex::binary(ev, *binary, &shape, operands[0], operands[1]);
            let open = !range.is_point() && range.intervals().any(Interval::is_any);
            range.because(open.then(|| site.cause()))
        }
        (_, Class::Float) => real(ev, site, &shape, operands)?,
        (_, Class::Complex) => return Err(site.unsupported("this op")),
    };
    Ok(result.because(cause))
}

/// Returns the legal values of an op of floats, with a result of floats, complex numbers or
/// booleans.
fn real(
    ev: &Evaluator<'_>,
    site: Site<'_>,
    shape: &ArrayShape,
    operands: &[&Range],
) -> Result<Range, Stop> {
    Ok(match &site.instruction().op {
        Op::Unary(Unary::IsFinite) => {
            let finite = |x: Interval| match x.is_finite() {
                true => Some(true),
                false if x.is_point() => Some(false),
                false => None,
            };
            booleans(shape, &operands[0].intervals().map(finite).collect::<Vec<_>>())
        }
        Op::Unary(unary) => real_unary(ev, *unary, shape, operands[0]),
        Op::Binary(Binary::Complex) => complex::joined(shape, operands[0], operands[1]),
        Op::Binary(binary) => real_binary(ev, *binary, shape, operands, site.same_operands()),
        Op::Clamp(_) => {
            let [low, x, high] = [0, 1, 2].map(|i| parts(operands[i]));
            let clamped = x.iter().enumerate().map(|(i, &x)| {
                let above = functions::binary(Binary::Maximum, shape.ty, x, broadcast(&low, i));
                functions::binary(Binary::Minimum, shape.ty, above, broadcast(&high, i))
            });
            Range::of(shape, &clamped.collect::<Vec<_>>())
        }
        Op::ReducePrecision(reduced) => {
            let bits = |bits: i64| u32::try_from(bits).unwrap_or(u32::MAX);
            let (exponent, mantissa) = (bits(reduced.exponent_bits), bits(reduced.mantissa_bits));
            let round = |ty: ElementType, x: f64| {
                num::reduce_precision(ty, exponent, mantissa, Scalar::Float(x).round_to(ty))
                    .as_f64()
            };
            // An operand with excess precision may be rounded once, or first to its type.
            let rounded = |x: Interval| match x.is_nan() || x.is_any() {
                true => vec![x],
                false => [shape.ty, ElementType::F64]
                    .map(|ty| Interval::closed(round(ty, x.lo), round(ty, x.hi)))
                    .into_iter()
                    .flat_map(|y| {
                        std::iter::once(y).chain(beyond_precision(
                            shape.ty,
                            (exponent, mantissa),
                            x,
                            y,
                        ))
                    })
                    .collect(),
            };
            Range::of_sets(shape, &operands[0].intervals().map(rounded).collect::<Vec<_>>())
        }
        _ => return Err(site.unsupported("this op")),
    })
}

/// Returns what else `reduce-precision` may make of numbers `x` of fewer than 16 bits, which it rounds
/// to `y`, if they are not normal in both formats: backends flush or keep them, or round them as
/// numbers of their type or of a wider one, and a type without infinity has another number for it.
fn beyond_precision(
    ty: ElementType,
    (exponent, mantissa): (u32, u32),
    x: Interval,
    y: Interval,
) -> Vec<Interval> {
    if ty.bits() >= 16 {
        return Vec::new();
    }
    let span = f64::from(exponent.clamp(1, 11) - 1).exp2() - 2.0;
    let least = smallest_normal(ty).max((-span).exp2());
    let normal = x.lo >= least || x.hi <= -least || (x.is_point() && x.lo == 0.0);
    let of = |end: &dyn Fn(f64) -> f64| Interval::closed(end(x.lo), end(x.hi));
    let digits =
        |x: f64| num::reduce_precision(ElementType::F64, 11, mantissa, Scalar::Float(x)).as_f64();
    let unit = smallest_normal(ty) / f64::from(mantissa.min(52)).exp2();
    let small = [
        of(&|x| 0.0f64.copysign(x)),
        of(&|x| least.copysign(x)),
        of(&digits),
        of(&|x| (x / unit).round_ties_even() * unit),
        x,
    ];
    let small = small.into_iter().filter(|_| !normal);
    let fits = y.is_finite() && x.max_abs().max(y.max_abs()) < (span + 2.0).exp2();
    // The largest number of either format, or more.
    let most = (span + 1.0).exp2().min(x.max_abs());
    let large = [
        (x.hi > 0.0).then_some(Interval { lo: most, hi: f64::INFINITY }),
        (x.lo < 0.0).then_some(Interval { lo: f64::NEG_INFINITY, hi: -most }),
        Scalar::Float(f64::INFINITY).round_to(ty).as_f64().is_nan().then_some(Interval::NAN),
    ];
    small.chain(large.into_iter().flatten().filter(|_| !fits)).collect()
}

/// From so many elements on, threads share them.
const MANY: usize = 1 << 12;

/// Returns the values of a function of each element.
fn each<T: Send, R: Send>(
    elements: impl Iterator<Item = T>,
    function: impl Fn(T) -> R + Send + Sync,
) -> Vec<R> {
    let elements: Vec<T> = elements.collect();
    match elements.len() < MANY {
        true => elements.into_iter().map(function).collect(),
        false => elements.into_par_iter().map(function).collect(),
    }
}

pub(super) fn real_unary(ev: &Evaluator<'_>, op: Unary, shape: &ArrayShape, x: &Range) -> Range {
    let functions::Image { least, greatest, .. } = functions::image(op);
    let (modes, ty) = (ev.modes, shape.ty);
    // Also exact functions may round: the next integer may be beyond the numbers of a type.
    let stored = |y: Interval| {
        // The sign of a real number is exact, though that of a complex one is not.
        let near = if op == Unary::Sign { y } else { ev.inaccurate(op.opcode(), ty, y) };
        let near = match ty {
            ElementType::F64 => near.within(least, greatest),
            _ => near.cut_off(least, greatest),
        };
        modes.store_all(ty, near, false)
    };
    let function = |x: Interval| {
        let own: Vec<Interval> = functions::steps(op, x).into_iter().flat_map(stored).collect();
        let flushed = own.iter().filter_map(|&y| flushed_step(ev, op, ty, y)).collect::<Vec<_>>();
        own.into_iter().chain(flushed).chain(overflowing_logistic(ev, op, ty, x)).collect()
    };
    Range::of_sets(shape, &each(x.intervals(), function))
}

/// The factor by which steps of a function may be smaller than its value: `erf` and `tanh` as a
/// quotient of polynomials, whose first coefficients are 1/64 and 1/256.
const SMALLER_STEPS: f64 = 256.0;

/// Returns the zero that a function may be where the values of its steps are flushed, though its own
/// is a normal number.
fn flushed_step(ev: &Evaluator<'_>, op: Unary, ty: ElementType, y: Interval) -> Option<Interval> {
    let least = SMALLER_STEPS * ev.modes.flushed_below(ty);
    let has_steps = matches!(op.opcode().accuracy(), hlo::op::Accuracy::Ulp(_));
    let small = y.is_finite() && y.max_abs() < least && (y.lo > 0.0 || y.hi < 0.0);
    (has_steps && small).then(|| Interval::point(if y.lo > 0.0 { 0.0 } else { -0.0 }))
}

/// Returns `logistic` as StableHLO defines it, `1 / (1 + exp(-x))`, where it is computed in a narrow
/// type that the exponential is beyond.
fn overflowing_logistic(
    ev: &Evaluator<'_>,
    op: Unary,
    ty: ElementType,
    x: Interval,
) -> Vec<Interval> {
    let modes = ev.modes;
    let narrow = ty.bits() < 32 && modes.has(Mode::ElementFunctions);
    if op != Unary::Logistic || !narrow || !x.is_finite() || (-x.lo).exp() <= largest(ty) {
        return Vec::new();
    }
    let one = Interval::point(1.0);
    let exponential = Interval { lo: (-x.hi).exp(), hi: (-x.lo).exp() };
    let sums = modes.store_all(ty, exponential, false).into_iter().map(|e| one + e);
    let sums = sums.flat_map(|sum| modes.store_all(ty, sum, false));
    sums.flat_map(|sum| modes.store_all(ty, one / sum, false)).collect()
}

/// The error of a quotient by an approximate reciprocal in `f32`, in units in the last place, as GPUs
/// divide (PTX, `div.full.f32`).
const QUOTIENT: f64 = 2.0;

pub(super) fn real_binary(
    ev: &Evaluator<'_>,
    op: Binary,
    shape: &ArrayShape,
    operands: &[&Range],
    same: bool,
) -> Range {
    let (modes, ty) = (ev.modes, shape.ty);
    let product = op == Binary::Multiply;
    let picks = op == Binary::Maximum || op == Binary::Minimum;
    let inaccurate = |z: Interval| {
        let near = ev.inaccurate(op.opcode(), ty, z);
        // Whatever the accuracy, an even power is not negative.
        if op == Binary::Power && z.lo >= 0.0 { near.not_negative() } else { near }
    };
    let stored = |z: Interval| match picks {
        true => vec![z],
        false => modes.store_all(ty, inaccurate(z), product),
    };
    let itself = |x: Interval| functions::with_itself(op, ty, x).filter(|_| same);
    let pairs = operands[0].intervals().zip(operands[1].intervals());
    let function = |(x, y): (Interval, Interval)| {
        let values = itself(x).unwrap_or_else(|| functions::turns(op, ty, x, y));
        values.into_iter().flat_map(stored).collect::<Vec<_>>()
    };
    if op == Binary::Divide && modes.has(Mode::ReciprocalDivision) {
        // The reciprocal is rounded, and may itself be flushed: unrounded, it gives the quotient.
        let strict = modes.without(Mode::ExcessPrecision).without(Mode::FusedMultiplyAdd);
        let set = |(x, y): (Interval, Interval)| {
            let reciprocals = functions::turns(op, ty, Interval::point(1.0), y).into_iter();
            let each = reciprocals.map(|y| strict.store(ty, y, false)).flat_map(|reciprocal| {
                [Some(reciprocal), modes.flushed(ty, reciprocal)].into_iter().flatten()
            });
            let products: Vec<Interval> = match same {
                true => modes.times_own_reciprocal(ty, x),
                false => each.map(|y| functions::binary(Binary::Multiply, ty, x, y)).collect(),
            };
            let products = products.into_iter().flat_map(stored);
            // A quotient of a value with itself is computed from its own reciprocal, and that of a
            // power of two is exact.
            let is_exact = same || ty.bits() > 32 || is_power_of_two(y);
            let turns = if is_exact { Vec::new() } else { functions::turns(op, ty, x, y) };
            let near = turns.into_iter().map(|z| Modes::inaccurate(ElementType::F32, z, QUOTIENT));
            let near = near.flat_map(|z| modes.store_all(ty, z, product));
            function((x, y)).into_iter().chain(products).chain(near).collect()
        };
        return Range::of_sets(shape, &each(pairs, set));
    }
    Range::of_sets(shape, &each(pairs, function))
}

/// Returns whether it is one power of two.
fn is_power_of_two(x: Interval) -> bool {
    x.lo == x.hi && x.lo.is_normal() && x.lo.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1
}

/// Returns a range of booleans; `None` is undecided.
pub(super) fn booleans(shape: &ArrayShape, decided: &[Option<bool>]) -> Range {
    let shape = shape.with_type(ElementType::Pred);
    let ends = |undecided: bool| {
        let mut literal = Literal::zeros(shape.clone());
        for (slot, value) in literal.bytes_mut().iter_mut().zip(decided) {
            *slot = u8::from(value.unwrap_or(undecided));
        }
        literal
    };
    Range::new(ends(false), ends(true), None)
}

fn compared(
    direction: Direction,
    order: ComparisonType,
    x: &Range,
    y: &Range,
) -> Vec<Option<bool>> {
    let each = |(x, y): (Interval, Interval)| {
        if order == ComparisonType::TotalOrder && (x.has_open_sign() || y.has_open_sign()) {
            return None;
        }
        if x.is_point() && y.is_point() {
            let [x, y] = [x.lo, y.lo].map(Scalar::Float);
            return Some(num::compare(direction, order, ElementType::F64, x, y));
        }
        decided(direction, order, x, y)
    };
    x.intervals().zip(y.intervals()).map(each).collect()
}

/// Returns whether the relation holds between a number and itself: programs test for NaN so.
fn with_itself(direction: Direction, order: ComparisonType, x: Interval) -> Option<bool> {
    let equal = match direction {
        Direction::Eq | Direction::Le | Direction::Ge => true,
        Direction::Ne | Direction::Lt | Direction::Gt => false,
    };
    match (x.is_nan(), x.is_any()) {
        // A NaN of either sign has its place.
        _ if order == ComparisonType::TotalOrder => Some(equal),
        (true, _) => Some(direction == Direction::Ne),
        // It may be NaN, which is not below or above itself either.
        (false, true) => (!equal && direction != Direction::Ne).then_some(false),
        (false, false) => Some(equal),
    }
}

/// Returns whether the relation holds for all values of two intervals, or for none. In the total
/// order, the sign of a NaN is known.
pub(super) fn decided(
    direction: Direction,
    order: ComparisonType,
    x: Interval,
    y: Interval,
) -> Option<bool> {
    if x.is_any() || y.is_any() {
        return None;
    }
    // Ends of intervals that are not points are no legal values, or are rounded outwards.
    let [below, above, most, least] = if order == ComparisonType::TotalOrder {
        // Where an end is 0, both zeros may be legal.
        let low = |x: Interval| if x.lo == 0.0 && !x.is_point() { -0.0 } else { x.lo };
        let high = |x: Interval| if x.hi == 0.0 && !x.is_point() { 0.0 } else { x.hi };
        let (up, down) = (high(x).total_cmp(&low(y)), low(x).total_cmp(&high(y)));
        [up.is_lt(), down.is_gt(), up.is_le(), down.is_ge()]
    } else if x.is_nan() || y.is_nan() {
        return Some(direction == Direction::Ne);
    } else {
        [x.hi < y.lo, x.lo > y.hi, x.hi <= y.lo, x.lo >= y.hi]
    };
    match direction {
        Direction::Eq => (below || above).then_some(false),
        Direction::Ne => (below || above).then_some(true),
        Direction::Lt => {
            if below {
                Some(true)
            } else {
                least.then_some(false)
            }
        }
        Direction::Le => {
            if most {
                Some(true)
            } else {
                above.then_some(false)
            }
        }
        Direction::Gt => {
            if above {
                Some(true)
            } else {
                most.then_some(false)
            }
        }
        Direction::Ge => {
            if least {
                Some(true)
            } else {
                below.then_some(false)
            }
        }
    }
}

/// Returns the elements of either operand where the predicate says so; where it is open, of both.
pub(super) fn selected(decision: &Range, on_true: &Range, on_false: &Range) -> Range {
    let (always, maybe) = (decision.lo.bytes(), decision.hi.bytes());
    let chosen = |truths: &[u8]| on_true.where_else(on_false, |i| broadcast(truths, i) != 0);
    let range = chosen(always);
    let range = if decision.is_point() { range } else { Range::any_of(&[range, chosen(maybe)]) };
    range.because(decision.cause.clone())
}

/// Returns whether the ends of the range of a type are real numbers.
fn extremes_differ(ty: ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}

/// Returns whether every backend has NaNs of both signs in a type.
fn has_signed_nan(ty: ElementType) -> bool {
    matches!(ty, ElementType::Bf16 | ElementType::F16 | ElementType::F32 | ElementType::F64)
}

/// Returns the legal values of a conversion.
pub(super) fn converted(
    ev: &Evaluator<'_>,
    from: ElementType,
    shape: &ArrayShape,
    x: &Range,
) -> Range {
    let to = shape.ty;
    let part = to.component();
    // Ends of narrow floats are legal values, those of f64 are not.
    let ends = |x: Interval| {
        let wider = part == ElementType::F64 && from.component() != part;
        if wider && !x.is_point() && !x.is_any() { Interval::open(x.lo, x.hi) } else { x }
    };
    // A format of complex numbers has infinities.
    let store = |x: Interval| ev.modes.store(part, ends(x), false);
    let real_and_zero = |x: Interval| [store(x), Interval::point(0.0)];
    let each: Vec<Interval> = match (from.is_complex(), extremes_differ(from)) {
        (true, _) => {
            let step = if to.is_complex() { 1 } else { 2 };
            x.intervals().step_by(step).collect()
        }
        (false, true) => x.intervals().collect(),
        (false, false) => (0..x.lo.len()).map(|i| integers::as_interval(x.ends(i))).collect(),
    };
    match (to.is_complex(), to.is_float()) {
        (true, _) if from.is_complex() => {
            Range::of(shape, &each.into_iter().map(store).collect::<Vec<_>>())
        }
        (true, _) => {
            Range::of(shape, &each.into_iter().flat_map(real_and_zero).collect::<Vec<_>>())
        }
        (false, true) if has_signed_nan(from) && has_signed_nan(to) && from.bits() < to.bits() => {
            // To more digits: the sign of a NaN stays, too.
            let kept = |x: Interval| if x.is_nan() { x } else { store(x) };
            Range::given(shape, &each.into_iter().map(kept).collect::<Vec<_>>())
        }
        (false, true) if !extremes_differ(from) && to.bits() >= 32 => {
            // No backend keeps the bits of an integer that a wide float has not.
            let end = |x: Scalar| x.convert(from, to).as_f64();
            let each = (0..x.lo.len()).map(|i| x.ends(i));
            let each = each.map(|(lo, hi)| Interval::closed(end(lo), end(hi)));
            Range::of(shape, &each.collect::<Vec<_>>())
        }
        (false, true) => {
            let each = each.into_iter().map(|x| ev.modes.converted(part, ends(x)));
            Range::of_sets(shape, &each.collect::<Vec<_>>())
        }
        (false, false) if !extremes_differ(from) => integers::converted(from, shape, x),
        (false, false) if to == ElementType::Pred => {
            let zero = Interval::point(0.0);
            // Of a complex number the real part decides.
            let truths = each.iter().map(|&x| match x.is_point() {
                true => Some(x.lo != 0.0),
                false => decided(Direction::Ne, ComparisonType::Float, x, zero),
            });
            let truths: Vec<_> = truths.collect();
            booleans(shape, &truths)
        }
        (false, false) => integers::range(
            shape,
            each.iter().map(|&x| {
                let end = |x: f64| Scalar::Float(x).convert(ElementType::F64, to);
                // Out of its range, the integer is implementation-defined.
                if integers::holds(to, x) { (end(x.lo), end(x.hi)) } else { integers::any(to) }
            }),
        ),
    }
}

/// As [`magnitudes`], with 0 for what is not finite; the magnitude of a finite complex number may be
/// beyond `f64`.
pub(super) fn finite_magnitudes(range: &Range) -> Literal {
    let mut magnitudes = magnitudes(range);
    let parts: Vec<Interval> = range.intervals().collect();
    let all = super::range::floats_mut(&mut magnitudes);
    let width = parts.len() / all.len().max(1);
    for (i, x) in all.iter_mut().enumerate() {
        let of = parts.get(i * width..(i + 1) * width).unwrap_or_default();
        let overflows = width == 2 && of.iter().all(|x| x.is_finite());
        if !x.is_finite() && !overflows {
            *x = 0.0;
        }
    }
    magnitudes
}

/// Returns whether an element is not finite.
pub(super) fn has_specials(range: &Range) -> bool {
    floats(&range.lo).iter().any(|x| !x.is_finite())
}

/// Returns the elements that are not finite, with 0 for the others.
pub(super) fn specials(range: &Range) -> Literal {
    let mut specials = range.lo.clone();
    for x in super::range::floats_mut(&mut specials) {
        if x.is_finite() {
            *x = 0.0;
        }
    }
    specials
}

/// Returns the real numbers of both ends, for ops that look at them alone.
pub(super) fn magnitudes(range: &Range) -> Literal {
    let Some(shape) = range.shape() else { return range.lo.clone() };
    let shape = shape.with_type(ElementType::F64);
    if range.lo.array_shape().is_some_and(|shape| shape.ty.is_complex()) {
        let pairs: Vec<f64> = range.intervals().map(Interval::max_abs).collect();
        return super::range::array(&shape, pairs.chunks(2).map(|z| z[0].hypot(z[1])));
    }
    if floats(&range.lo).is_empty() {
        let ends = (0..range.lo.len()).map(|i| integers::as_interval(range.ends(i)));
        return super::range::array(&shape, ends.map(Interval::max_abs));
    }
    super::range::array(&shape, range.intervals().map(Interval::max_abs))
}
