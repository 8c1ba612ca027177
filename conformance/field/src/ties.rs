//! Arguments for which numbers that are compared are equal: comparisons with `>` and `>=` differ for
//! no other.
//!
//! One argument is moved along a direction, half of its rows. What is compared depends on the
//! number of steps. If two steps change a difference twice as much as one, it is affine, and the
//! number of steps that makes it zero is a quotient: of residues, and of real numbers. Of integers it
//! is the number that makes the difference -1, 0 or 1.
use crate::coverage::{Gap, Key, Samples};
use crate::element::{Element, read, write};
use crate::tower::{self, PRIMES};
use crate::watch;
use hlo::{Array, Literal};
use num::index::{count, to_usize};
use std::collections::BTreeSet;

/// The most places of which one argument is searched, and the most arguments that are moved.
const MOST_PLACES: usize = 24;
const MOST_ARGUMENTS: usize = 12;

/// The most arguments that are tried for a place of floats, and for one of integers: of large modules
/// fewer.
const MOST_TRIES: [[usize; 2]; 2] = [[1, 3], [3, 6]];

/// The runs with which more arguments are tried.
const MANY: usize = 32;

/// The size of a step of real numbers: a larger one may lead where other elements decide.
const STEP: f64 = 1.0 / 64.0;

/// A place where one of both modules compares numbers.
pub(crate) type Place = (usize, Key);

/// What both modules compare in a run.
pub(crate) type Both = [Samples; 2];

/// An argument that is moved.
struct Direction {
    argument: usize,
    seed: u64,
}

/// How far an argument is moved: by a number of steps, of residues and of real numbers, or of
/// integers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Steps {
    Number(Element),
    Whole(i64),
}

/// Two modules that are run.
pub(crate) trait Search {
    /// Why the search ends early.
    type Stop;
    /// Runs both, and returns what they compare; `None` if one does not end.
    fn run(&mut self, arguments: Vec<Literal>) -> Result<Option<Both>, Self::Stop>;
    /// Returns the places where no run has compared equal numbers.
    fn open(&mut self) -> Vec<Place>;
    /// Returns whether all places are known: those of integers are not before a run.
    fn is_known(&self) -> bool;
    /// Notes places that depend on an argument.
    fn depends(&mut self, places: &BTreeSet<Place>);
}

/// Runs two modules on arguments near to some, such that numbers are equal where the modules
/// compare them. `movable` are the numbers of arguments that may be changed. There are at most so many runs, and the first one.
pub(crate) fn search<S: Search>(
    seed: u64,
    held: &[Literal],
    movable: &[usize],
    most: usize,
    modules: &mut S,
) -> Result<(), S::Stop> {
    let has =
        |is_whole: bool| movable.iter().any(|&argument| is_integral(held, argument) == is_whole);
    let is_needless =
        (modules.open().is_empty() || !has(false)) && (modules.is_known() || !has(true));
    if is_needless {
        return Ok(());
    }
    let Some(start) = modules.run(held.to_vec())? else { return Ok(()) };
    let mut places = modules.open();
    let is_whole = |(module, key): &Place| match start[*module].get(key)?.1.first()?.1 {
        Gap::Number(..) => Some(false),
        Gap::Whole(_) => Some(true),
    };
    places.retain(|place| is_whole(place).is_some_and(has));
    let places: Vec<Place> = spread(&places, MOST_PLACES).copied().collect();
    let directions: Vec<Direction> =
        movable.iter().map(|&argument| Direction { argument, seed }).collect();
    let is_small = most >= MANY;
    let (mut runs, mut tried) = (0, vec![0; places.len()]);
    for direction in spread(&directions, MOST_ARGUMENTS) {
        let is_integral = is_integral(held, direction.argument);
        let open = modules.open();
        let mut wanted = places.iter().zip(&tried).filter(|(place, tried)| {
            is_whole(place) == Some(is_integral)
                && (open.contains(place) || is_small && **tried == 0)
        });
        if wanted.next().is_none() {
            continue;
        }
        let mut at = |modules: &mut S, steps: Steps| match direction.moved(held, steps) {
            Some(arguments) if runs < most => {
                runs += 1;
                modules.run(arguments)
            }
            Some(_) | None => Ok(None),
        };
        let of = |count: i64| match is_integral {
            true => Steps::Whole(count),
            false => Steps::Number(Element::integer(count)),
        };
        let Some(once) = at(modules, of(1))? else { continue };
        let changed: BTreeSet<Place> = places
            .iter()
            .copied()
            .filter(|place| !changes(&start, &once, *place).is_empty())
            .collect();
        modules.depends(&changed);
        if changed.is_empty() {
            continue;
        }
        let Some(twice) = at(modules, of(2))? else { continue };
        for (place, tried) in places.iter().zip(&mut tried) {
            let all: Vec<Vec<Steps>> = changes(&start, &once, *place)
                .into_iter()
                .filter_map(|(number, gaps)| {
                    let last = find(&twice, *place, number)?;
                    Some(solved([gaps[0], gaps[1], last])).filter(|steps| !steps.is_empty())
                })
                .collect();
            let tries = MOST_TRIES[usize::from(is_small)][usize::from(is_integral)];
            let mut steps: Vec<Steps> = Vec::new();
            for each in spread(&all, if is_integral { 2 } else { tries }).flatten() {
                if !steps.contains(each) {
                    steps.push(*each);
                }
            }
            for steps in steps {
                // Where equal numbers are is not always where the result depends on them.
                let again = is_small && !is_integral;
                if *tried < tries && (again || modules.open().contains(place)) {
                    at(modules, steps)?;
                    *tried += usize::from(is_integral || !modules.open().contains(place));
                }
            }
        }
    }
    Ok(())
}

/// Returns at most so many of a list, from all parts of it.
fn spread<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    let (count, most) = (all.len(), most.min(all.len()));
    (0..most).map(move |i| &all[(i + 1) * count / most - 1])
}

fn find(of: &Both, (module, key): Place, number: u64) -> Option<Gap> {
    let (_, samples) = of[module].get(&key)?;
    let at = samples.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    Some(samples[at].1)
}

/// Returns the differences of a place that are others in another run, of both.
fn changes(start: &Both, other: &Both, place: Place) -> Vec<(u64, [Gap; 2])> {
    let samples = start[place.0].get(&place.1).map_or(&[][..], |(_, samples)| samples);
    let both = samples
        .iter()
        .filter_map(|(number, gap)| Some((*number, [*gap, find(other, place, *number)?])));
    both.filter(|(_, gaps)| match gaps {
        [Gap::Number(a, _), Gap::Number(b, _)] => a.residues[0] != b.residues[0],
        [Gap::Whole(a), Gap::Whole(b)] => a != b,
        _ => false,
    })
    .collect()
}

/// Returns the steps after which a difference is zero, from the difference after none, one and two.
fn solved(gaps: [Gap; 3]) -> Vec<Steps> {
    match gaps {
        [Gap::Number(a, size), Gap::Number(b, _), Gap::Number(c, _)] => {
            root([a, b, c], size).into_iter().map(Steps::Number).collect()
        }
        [Gap::Whole(a), Gap::Whole(b), Gap::Whole(c)] if c - b == b - a && a != b => {
            let slope = b - a;
            let to =
                |target: i128| [(target - a).div_euclid(slope), -(a - target).div_euclid(slope)];
            let mut all: Vec<i128> = [0, 1, -1].into_iter().flat_map(to).collect();
            all.dedup();
            all.into_iter().filter_map(|t| i64::try_from(t).ok()).map(Steps::Whole).collect()
        }
        _ => Vec::new(),
    }
}

fn root([a, b, c]: [Element; 3], size: f64) -> Option<Element> {
    let minus = |x: Element, y: Element| tower::add(x.residues, tower::negate(y.residues));
    let (slope, next) = (minus(b, a), minus(c, b));
    let is_deep = a.is_deep && b.is_deep && c.is_deep;
    let is_affine = slope[0] == next[0] && (!is_deep || slope == next);
    let has_slope = slope[0] != 0 && (!is_deep || slope[1] != 0);
    if [a, b, c].iter().any(|x| x.plane()[1] != 0) {
        return None;
    }
    let (real, after) = (b.real - a.real, c.real - b.real);
    // Sums may have cancelled: what is left has fewer digits.
    let is_steady = (real - after).abs() <= size.max(1.0) * 1e-8 + real.abs() * 1e-3;
    let steps = -2.0 * a.real / (real + after);
    if !is_affine || !has_slope || !is_steady || !steps.is_finite() || steps.abs() > 1e9 {
        return None;
    }
    let residues = tower::multiply(tower::negate(a.residues), tower::invert(slope));
    Some(Element::constant(residues, steps))
}

fn is_integral(held: &[Literal], argument: usize) -> bool {
    held[argument].array().is_some_and(|array| array.shape().ty.is_integral())
}

impl Direction {
    /// Returns the arguments with this one moved; `None` if an integer would be too large.
    fn moved(&self, held: &[Literal], steps: Steps) -> Option<Vec<Literal>> {
        let mut all = held.to_vec();
        let array = held[self.argument].array()?;
        let mut random = fastrand::Rng::with_seed(self.seed ^ 0x5eed);
        let dims = &array.shape().dims;
        // The rows: along the first dimension with more than one.
        let along = dims.iter().position(|&size| size > 1);
        let rows = along.map_or(1, |dim| to_usize(dims[dim]));
        let outer = along.map_or(1, |dim| count(&dims[..dim]));
        let row_size = array.len() / rows.max(1) / outer.max(1);
        let mut is_moved: Vec<bool> = (0..rows).map(|_| random.bool()).collect();
        if !is_moved.contains(&true) {
            is_moved.fill(true);
        }
        let is_moved = |i: usize| is_moved[i / row_size.max(1) % rows.max(1)];
        let moved: Array = match steps {
            Steps::Number(steps) => {
                let elements = read(array).into_iter().enumerate().map(|(i, x)| {
                    let residues = PRIMES.map(|prime| random.u32(0..prime));
                    let real = (random.f64() * 2.0 - 1.0) * STEP * x.real.abs().max(1.0);
                    match is_moved(i) && x.is_finite() {
                        true => along_line(x, residues, real, steps),
                        false => x,
                    }
                });
                write(array.shape(), elements)
            }
            Steps::Whole(by) => {
                let mut moved = array.clone();
                for i in (0..array.len()).filter(|&i| is_moved(i)) {
                    moved.set(i, watch::moved(array.get(i), by, array.shape().ty)?);
                }
                moved
            }
        };
        all[self.argument] = Literal::from(moved);
        Some(all)
    }
}

fn along_line(x: Element, residues: tower::Residues, real: f64, steps: Element) -> Element {
    let residues = tower::add(x.residues, tower::multiply(residues, steps.residues));
    let moved = Element { degree: 1.0, ..Element::constant(residues, 0.0) };
    moved.with_real(x.real + real * steps.real)
}
