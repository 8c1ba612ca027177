//! How far the results of two modules of one meaning may be apart, whatever each of them is.
use super::evaluate::Evaluator;
use super::interval::Interval;
use super::modes::{contains, largest, round};
use super::range::{Range, extremes, is_whole};
use super::verdict::{Elements, of_other_size, parts, same};
use super::{JudgeOptions, ranges, split, tiers};
use crate::results::{Element, Verdict};
use hlo::{ElementType, IndexSpace, Literal, Verified};

/// The judgement on two results.
#[derive(Debug)]
pub(crate) struct Apart {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// The element that is too far apart: its value in the first module is the actual one.
    pub(crate) worst: Option<Element>,
}

impl Apart {
    fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into(), worst: None }
    }
}

/// Judges two results of one backend: those of two modules that are the same function, of the same
/// arguments. Returns [`Verdict::Agrees`], [`Verdict::WithinBound`], [`Verdict::Undefined`] or
/// [`Verdict::Differs`], with the element that is too far apart.
///
/// Both are between the least and the greatest legal value of an element in either module, so that
/// they are apart by this distance at most. No expected result is needed.
pub(crate) fn apart(
    options: &JudgeOptions,
    modules: [&Verified; 2],
    arguments: &[Vec<Literal>],
    results: [&[Literal]; 2],
) -> Apart {
    let [first, second] = results;
    let alike = |(a, b): (&Literal, &Literal)| a.shape().compatible(&b.shape());
    if first.len() != second.len() || !first.iter().zip(second).all(alike) {
        return Apart::new(Verdict::Differs, "the results have other shapes");
    }
    let leaves = |results: &[Literal]| match results {
        [only] => only.clone(),
        each => Literal::tuple(each.to_vec()),
    };
    let all = results.map(leaves);
    let equal = |(a, b): (&Literal, &Literal)| (0..a.len()).all(|i| same(a.get(i), b.get(i)));
    if all[0].leaves().into_iter().zip(all[1].leaves()).all(equal) {
        return Apart::new(Verdict::Agrees, "");
    }
    let arguments = match arguments {
        [one] => &vec![one.clone(); first.len()],
        each => each,
    };
    let mut best = Apart::new(Verdict::Differs, "");
    let programs = modules.map(|verified| split(options, verified));
    for modes in tiers(options) {
        let [x, y] = [0, 1].map(|i| {
            let (verified, parts) = (modules[i], programs[i].as_ref());
            let mut evaluator = Evaluator::of_program(verified, parts, modes, &options.accuracies);
            ranges(&mut evaluator, arguments, &all[0])
        });
        best = compare(&x, &y, &all, first.len());
        if best.verdict == Verdict::WithinBound {
            break;
        }
    }
    best
}

/// Compares the elements of two results.
fn compare(x: &[Range], y: &[Range], all: &[Literal; 2], devices: usize) -> Apart {
    let mut verdict = Verdict::WithinBound;
    let leaves = all[0].leaves().into_iter().zip(all[1].leaves());
    let count = all[0].leaves().len();
    for (leaf, ((first, second), (x, y))) in leaves.zip(x.iter().zip(y)).enumerate() {
        let Some(shape) = first.array_shape().filter(|_| first.bytes() != second.bytes()) else {
            continue;
        };
        if first.len() != second.len() {
            return Apart::new(Verdict::Differs, format!("array {leaf} has other sizes"));
        }
        let [wide_x, wide_y] = [x, y].map(|range| of_other_size(range, first));
        let elements = [wide_x.as_ref().unwrap_or(x), wide_y.as_ref().unwrap_or(y)]
            .map(|range| Elements::of(range, shape.ty));
        for at in 0..first.len() {
            let values = [first.get(at), second.get(at)];
            if same(values[0], values[1]) {
                continue;
            }
            let parts = values.map(parts);
            let bounds = elements[0].intervals_at(at).into_iter().zip(elements[1].intervals_at(at));
            for ((a, b), (x, y)) in parts[0].iter().zip(&parts[1]).zip(bounds) {
                let is_open = is_whole(shape.ty)
                    && elements.iter().any(|own| Some(own.range.ends(at)) == extremes(shape.ty));
                let reach = if is_open { None } else { reach(shape.ty, x.hull(y), [*a, *b]) };
                match reach {
                    None => verdict = Verdict::Undefined,
                    Some(reach) if (a - b).abs() <= reach || a.to_bits() == b.to_bits() => {}
                    Some(reach) => {
                        let device = if devices > 1 {
                            format!("d{}_", leaf * devices / count)
                        } else {
                            String::new()
                        };
                        let own = leaf % (count / devices.max(1)).max(1);
                        let index: Vec<String> =
                            shape.dims.index_of(at).iter().map(ToString::to_string).collect();
                        let [a, b] = values.map(|x| Literal::scalar(shape.ty, x));
                        let apart = if reach < 0.0 { 0.0 } else { reach };
                        let place = format!("{device}out{own}[{}]", index.join(","));
                        let reason = format!(
                            "{place} is {a}, and {b} in the twin: at most {apart:e} apart are legal"
                        );
                        let [actual, expected] = [a, b].map(|value| value.to_string());
                        let worst = Element { place, actual, expected, inputs: Vec::new() };
                        let verdict = Verdict::Differs;
                        return Apart { verdict, reason, worst: Some(worst) };
                    }
                }
            }
        }
    }
    Apart::new(verdict, "")
}

/// Returns how far two values of an interval may be apart; `None` if nothing is known, and less than
/// 0 if they must have the same bits, or one of them is not legal.
fn reach(ty: ElementType, x: Interval, values: [f64; 2]) -> Option<f64> {
    if x.is_any() {
        return None;
    }
    let part = ty.component();
    if !part.is_float() {
        return Some(x.hi - x.lo);
    }
    if x.is_nan() || x.is_point() {
        return Some(-1.0);
    }
    if values.iter().any(|value| !value.is_finite()) {
        let legal = values
            .iter()
            .all(|&value| value.is_finite() || contains(part, x, value) != Some(false));
        return Some(if legal { f64::INFINITY } else { -1.0 });
    }
    let most = largest(part);
    let end = |end: f64| {
        let rounded = if part == ElementType::F64 { end } else { round(part, end) };
        if rounded.is_nan() { end.clamp(-most, most) } else { rounded }
    };
    Some(end(x.hi) - end(x.lo))
}
