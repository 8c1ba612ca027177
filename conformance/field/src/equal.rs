//! The comparison of two modules.
mod answer;
mod shown;
mod sought;

use self::shown::few_digits_unit;
use crate::arithmetic::{FewDigits, Field, Position, Roots, Rules};
use crate::compared::{COMPLEX_TOLERANCE, Found, Place, TOLERANCE, Unstable};
use crate::continuous::{Floats, agree_in_floats, choices};
use crate::coverage::{Coverage, Samples, Seen};
use crate::cut::{Cut, cut};
use crate::draw::{Draw, Pool, has_ties, held_exactly, is_generic, real, shifted};
use crate::fit::{
    Failure, devices, floats, has, has_complex, has_conversions, has_roots, has_values,
    have_other_literals, is_partition, same_signature,
};
use crate::kernels::has_few_digits;
use crate::lift::{Open, OpenKind, lift};
use crate::met::{Met, are_too_many};
use crate::rational::is_narrow;
use crate::run::{compile_error, run};
use crate::tower::PRIMES;
use crate::unknown::{calls_unknown, other_functions};
use collectives::spmd::Boundary;
use hlo::{ElementType, Literal, Module, Verified};
use interp::RunOptions;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest probability of a wrong answer with which modules are equal.
pub const CHANCE: f64 = 1e-6;

/// The elements of arguments that are few.
const FEW: u64 = 8;

/// The most draws for each one that is asked for, if draws say nothing, or an argument is small.
const MOST_DRAWS: u64 = 4;

/// The part of a real argument by which it is changed, to see whether results depend on its last digits.
const SHIFT: f64 = 1.0 / 1_073_741_824.0;

/// The runs that show on which last digits, and on which order of equal numbers, results depend.
const SHAKES: u32 = 3;

/// The draws of modules that choose.
const CHOICES: u32 = 48;

/// The degree beyond which another bound is tried.
const LARGE: f64 = 1e6;

/// How two modules are compared.
#[derive(Debug, Clone)]
pub struct Options {
    /// The first seed.
    pub seed: u64,
    /// How often arguments are drawn, and the oracles with them.
    pub seeds: u32,
    /// The limits of a run.
    pub limits: RunOptions,
    /// Arguments to compare the modules on, in place of those that are drawn: whether both have the
    /// same results on these in exact arithmetic.
    pub arguments: Option<Vec<Literal>>,
    /// Whether arguments are sought for which compared numbers are equal, and those that are a
    /// constant or between two as a whole.
    pub ties: bool,
    /// Whether what both modules compute alike is compared, too: without it, that becomes an argument
    /// first, see [`cut`].
    pub is_whole: bool,
    /// The time after which no further run begins. There is one draw at least.
    pub time: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            seeds: 12,
            limits: RunOptions::default(),
            arguments: None,
            ties: true,
            is_whole: false,
            time: None,
        }
    }
}

/// What is said of two modules.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Their results are equal in each draw, modulo primes and in real numbers.
    Equal(Evidence),
    /// Their results differ for some arguments, modulo primes and in real numbers.
    Different(Difference),
    /// Neither is known.
    Open(Open),
}

/// What an answer rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// How often arguments were drawn: more often if some say nothing.
    pub seeds: u32,
    /// The values that both modules compute alike, which were arguments: the rest of the evidence is of
    /// what remains.
    pub shared: usize,
    /// The number of elements of the results.
    pub elements: usize,
    /// The degree, as polynomials of the arguments, of the results and of what decides them; or
    /// more.
    pub degree: f64,
    /// Comparisons of floats that held, and that did not, in at least one run.
    pub comparisons: Coverage,
    /// Comparisons of floats that depend on arguments, and those of them that compared equal
    /// numbers.
    pub ties: Coverage,
    /// Comparisons of integers, and limits of indices, that depend on arguments, and those of them
    /// where an integer was below, at and above its limit.
    pub limits: Coverage,
    /// Branches of conditionals that were taken. Nothing is said of the others.
    pub branches: Coverage,
    /// Elements of results that are infinite or NaN in one of the modules only: a division by zero,
    /// a root of a negative number, an overflow. They are not compared.
    pub undefined: usize,
    /// Elements of results that no draw compares: they are infinite or NaN in one of the modules, or
    /// in both, for each.
    pub missed: usize,
    /// Draws for which a module did not end within the limit of steps. They are not compared.
    pub endless: u32,
    /// Those of them for which one module ends.
    pub uneven: u32,
    /// Draws for which the real numbers are too inaccurate to tell. They are not compared.
    pub unstable: u32,
    /// Whether exponentials are nested deeper than their laws are known.
    pub is_shallow: bool,
    /// Whether floats become whole numbers: where they do is tested by the draws.
    pub has_cuts: bool,
    /// Whether an argument has floats: others are tested with the values that were drawn.
    pub has_floats: bool,
    /// The time that was over before all runs.
    pub cut: Option<Duration>,
}

impl Evidence {
    /// Returns the probability that different polynomials of this degree agree in all draws. Oracles
    /// count as variables.
    pub fn probability(&self) -> f64 {
        // Arguments are squares of random residues.
        let once = (2.0 * self.degree.max(1.0) / f64::from(PRIMES[0])).min(1.0);
        once.powi(i32::try_from(self.compared()).unwrap_or(i32::MAX))
    }
    /// Returns the number of draws that were compared.
    pub fn compared(&self) -> u32 {
        self.seeds - self.endless - self.unstable
    }
}

/// The first difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The seed that shows it: the first one of a comparison with one draw.
    pub seed: u64,
    /// The array of the result, by number.
    pub output: usize,
    /// The index of the first element that differs, in row-major order.
    pub element: usize,
    /// The element of each module for the real arguments of the draw; of a complex number the real
    /// part. Equal if it is no float.
    pub values: [f64; 2],
    /// Whether the residues differ.
    pub in_field: bool,
    /// The real arguments of the draw.
    pub arguments: Vec<Literal>,
}

/// Compares two modules over finite fields. The second may be what each device runs of the first,
/// which is a program over global arrays.
///
/// # Errors
/// If they have other parameters or results, or one cannot run.
///
/// ```
/// let module = |root: &str| {
///     let text = format!("ENTRY e {{ x = f32[4] parameter(0) y = f32[4] parameter(1) {root} }}");
///     hlo::Module::parse(&text).unwrap().verify().unwrap()
/// };
/// let one = module("a = f32[4] add(x, y) ROOT r = f32[4] exponential(a)");
/// let two = module("a = f32[4] exponential(x) b = f32[4] exponential(y) ROOT r = f32[4] multiply(a, b)");
/// let answer = field::equal(&one, &two, &field::Options::default())?;
/// assert!(matches!(answer, field::Answer::Equal(_)));
/// # Ok::<(), field::Failure>(())
/// ```
pub fn equal(first: &Verified, second: &Verified, options: &Options) -> Result<Answer, Failure> {
    let is_whole = options.is_whole || options.arguments.is_some();
    if !is_whole && let Some(evidence) = equal_apart([first, second], options, |_| true) {
        return Ok(Answer::Equal(evidence));
    }
    equal_as_a_whole([first, second], options)
}

/// Compares what two modules do not compute alike, if it `fits`: returns the evidence that they are equal;
/// `None` if that is not known.
///
/// What is computed alike is an argument of what remains, see [`cut`].
pub fn equal_apart(
    modules: [&Verified; 2],
    options: &Options,
    fits: impl Fn([&Verified; 2]) -> bool,
) -> Option<Evidence> {
    let whole = modules.map(Verified::module);
    let devices = devices(whole).filter(|_| !is_partition(whole))?;
    let Cut { modules: [first, second], values } = cut(modules)?;
    let apart = [&first, &second];
    // Each combination is drawn.
    let has_choice = apart.into_iter().any(|module| choices(module.module()) > 0);
    let seeds = if has_choice { options.seeds.max(CHOICES) } else { options.seeds };
    let options = &Options { seeds, ..options.clone() };
    let answer = fits(apart).then(|| equal_as_a_whole(apart, options))?;
    let Ok(Answer::Equal(evidence)) = answer else { return None };
    let agree = |modules, floats| agree_in_floats(modules, floats, options.seed, &options.limits);
    let is_known = evidence.undefined == 0
        && evidence.missed == 0
        && agree(apart, Floats::Special)
        && (devices > 1 || agree(modules, Floats::Ordinary));
    let has_floats = has(whole[0], |ty| ty.is_float() || ty.is_complex());
    is_known.then_some(Evidence { shared: values, has_floats, ..evidence })
}

fn equal_as_a_whole([first, second]: [&Verified; 2], options: &Options) -> Result<Answer, Failure> {
    let start = Instant::now();
    let mut answer = compared([first, second], options, (FewDigits::Rounded, start))?;
    let modules = [first.module(), second.module()];
    let has_few = modules.into_iter().any(|module| has_values(module, has_few_digits));
    let is_partition = is_partition(modules);
    let lacks_law = is_open(&answer, OpenKind::LacksLaw);
    // A compiler folds literals of the module before. One module may round a constant of few digits
    // that the other computes with more.
    let others = [
        (false, FewDigits::Rounded, lacks_law && !is_partition),
        (true, FewDigits::Exact, has_few),
        (false, FewDigits::Exact, has_few && !is_partition),
    ];
    if matches!(answer, Answer::Equal(_)) {
        return Ok(answer);
    }
    for (is_forward, few_digits, _) in others.into_iter().filter(|(.., is_tried)| *is_tried) {
        let order = if is_forward { [first, second] } else { [second, first] };
        let other = compared(order, options, (few_digits, start))?;
        // With the time over, few draws are left that could show a difference.
        if matches!(&other, Answer::Equal(evidence) if evidence.cut.is_none()) {
            return Ok(other);
        }
        // Exact constants show no difference, but floats do, which round more often.
        if is_open(&other, OpenKind::FewDigits) {
            answer = other;
        }
    }
    Ok(answer)
}

fn is_open(answer: &Answer, kind: OpenKind) -> bool {
    matches!(answer, Answer::Open(open) if open.kind == kind)
}

/// Compares two modules of which the constants of few digits are rounded or exact.
fn compared(
    [first, second]: [&Verified; 2],
    options: &Options,
    (few_digits, start): (FewDigits, Instant),
) -> Result<Answer, Failure> {
    let modules = [first.module(), second.module()];
    let is_partitioned = is_partition(modules);
    if is_partitioned {
        // Its messages name the types of the modules, not those of the field.
        Boundary::of(first, second).map_err(Failure::Partition)?;
    } else {
        same_signature(modules)?;
    }
    let devices = if is_partitioned { Some(1) } else { devices(modules) };
    let Some(devices) = devices else {
        let reason = "one module runs on more devices than the other".to_owned();
        return Ok(Answer::Open(Open { reason, ..Open::default() }));
    };
    let constants = Pool::new(modules);
    let mut comparison = Comparison {
        start,
        verified: [first, second],
        modules,
        options,
        is_partitioned,
        devices,
        is_replicated: false,
        has_integers: has(modules[0], |ty| ty.is_integral() || ty == ElementType::Pred),
        evidence: Evidence {
            has_cuts: constants.has_cuts(),
            has_floats: has(modules[0], |ty| ty.is_float() || ty.is_complex()),
            ..Evidence::default()
        },
        constants,
        covered: [Seen::default(), Seen::default()],
        met: Vec::new(),
        unknown: None,
        lack: OpenKind::Other,
        few_digits_unit: few_digits_unit(modules),
        unconfirmed: None,
        special: 0,
        source: Source::Sought,
        few_digits,
        roots: if modules.into_iter().any(has_roots) { Roots::OfProducts } else { Roots::Unused },
        is_common: None,
    };
    let seeds = u64::from(options.seeds);
    // Of few numbers each draw says little.
    let has_few = floats(modules[0]) <= FEW && options.arguments.is_none();
    let least = if has_few { seeds.saturating_mul(MOST_DRAWS) } else { seeds };
    for draw in 0..seeds.saturating_mul(MOST_DRAWS) {
        let seed = options.seed.wrapping_add(draw);
        let is_enough = draw >= least && comparison.is_enough();
        if is_enough && comparison.has_numbers() || draw > 0 && comparison.is_over() {
            break;
        }
        if is_enough && has_ties(seed) {
            continue;
        }
        match comparison.draw(seed) {
            Ok(()) => {}
            Err(Stop::Answer(answer)) => return Ok(*answer),
            Err(Stop::Failure(failure)) => return Err(failure),
        }
    }
    match comparison.ties().and_then(|()| comparison.cells()) {
        Ok(()) => Ok(comparison.answer()),
        Err(Stop::Answer(answer)) => Ok(*answer),
        Err(Stop::Failure(failure)) => Err(failure),
    }
}

/// Why no further draw is needed.
enum Stop {
    Answer(Box<Answer>),
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl Stop {
    fn of(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
    fn open(reason: &str) -> Self {
        Self::of(Answer::Open(Open { reason: reason.to_owned(), ..Open::default() }))
    }
}

/// The runs of both modules on the arguments of a draw.
struct Runs {
    /// The arguments of the first device.
    held: Vec<Literal>,
    /// The results of both modules, in the parts that the devices of the second have.
    results: [Vec<Literal>; 2],
    /// The largest degree of what decides something.
    degree: f64,
    /// The degree of the product of all divisors.
    divisors: f64,
    is_shallow: bool,
    /// Whether the order of two numbers was not known.
    is_unsure: bool,
    /// Whether an earlier run has learned what roots and logarithms are.
    is_second: bool,
    /// The results of both modules in floats, on the real arguments; `None` if a module has none.
    floats: OnceCell<Option<[Literal; 2]>>,
}

/// What a draw says.
struct Drawn {
    runs: Runs,
    found: Found,
    /// The evidence with this draw, but for the degree, which is that of the draw.
    evidence: Evidence,
    met: Vec<Vec<Met>>,
}

/// Where arguments come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Drawn,
    /// Each is between two constants as a whole.
    Between,
    /// They are such that compared numbers are equal, or each is a constant as a whole.
    Sought,
}

/// Two modules that are compared, and what is known of them so far.
struct Comparison<'a> {
    start: Instant,
    verified: [&'a Verified; 2],
    modules: [&'a Module; 2],
    options: &'a Options,
    /// Whether the second module is what each device runs of the first.
    is_partitioned: bool,
    /// The devices of the first module. One stands for all if they exchange nothing.
    devices: usize,
    /// Whether all devices take the same arguments.
    is_replicated: bool,
    /// Whether an argument has integers.
    has_integers: bool,
    constants: Pool,
    evidence: Evidence,
    covered: [Seen; 2],
    /// Of each array of the results, what is known of its elements.
    met: Vec<Vec<Met>>,
    /// A difference of which the runs do not tell whether it is one.
    unknown: Option<Difference>,
    /// Elements of all draws without special floats that are infinite or NaN.
    special: usize,
    /// `FewDigits` if floats do not agree where the field finds no difference.
    lack: OpenKind,
    /// A unit in the last place of 1 in the type with the fewest digits; 0 if each float has those of
    /// f32.
    few_digits_unit: f64,
    /// A difference that floats do not show.
    unconfirmed: Option<Difference>,
    source: Source,
    /// What computed constants of few digits are.
    few_digits: FewDigits,
    /// The roots of the last draw.
    roots: Roots,
    /// Whether all divisors of a run count as a common one; `None` if that was not needed so far.
    is_common: Option<bool>,
}

impl Comparison<'_> {
    /// Runs both modules on arguments, with each kind of roots until results are equal. `None` if one
    /// does not end within the limit of steps.
    fn drawn(&mut self, seed: u64, given: &[Vec<Literal>]) -> Result<Option<Drawn>, Stop> {
        let mut best: Option<Drawn> = None;
        // With roots of another kind, if no law of the first says that results are equal.
        let first = self.roots;
        let all = [Roots::OfProducts, Roots::InPlane, Roots::WithLogarithms];
        let is_single = first == Roots::Unused || self.modules.into_iter().any(has_complex);
        let others = all.into_iter().filter(|roots| !is_single && *roots != first);
        for roots in [first].into_iter().chain(others) {
            self.roots = roots;
            let field = self.field(seed, 0);
            let Some(drawn) = self.drawn_on(&field, given)? else { return Ok(None) };
            if !drawn.found.unknown.iter().any(|place| place.in_field) {
                return Ok(Some(drawn));
            }
            best = best.or(Some(drawn));
        }
        self.roots = first;
        Ok(best)
    }
    /// Runs both modules on the arguments of a draw, and compares the results.
    fn drawn_on(
        &mut self,
        field: &Arc<Field>,
        given: &[Vec<Literal>],
    ) -> Result<Option<Drawn>, Stop> {
        let Some(mut runs) = self.runs(field, given)? else { return Ok(None) };
        let (mut evidence, mut met) = (self.evidence.clone(), self.met.clone());
        let mut found = self.judged(&runs, &mut met, &mut evidence);
        if found.is_any_in_field() && self.roots != Roots::Unused {
            // What was learned after it was needed is known in another run.
            for seen in &mut self.covered {
                seen.samples = seen.samples.take().map(|_| Samples::default());
            }
            let Some(again) = self.runs(field, given)? else { return Ok(None) };
            runs = Runs { is_second: true, ..again };
            (evidence, met) = (self.evidence.clone(), self.met.clone());
            found = self.judged(&runs, &mut met, &mut evidence);
        }
        evidence.undefined += found.undefined.len();
        Ok(Some(Drawn { runs, found, evidence, met }))
    }
    /// Compares the results of two runs on the arguments of a draw.
    fn judged(&self, runs: &Runs, met: &mut Vec<Vec<Met>>, evidence: &mut Evidence) -> Found {
        evidence.is_shallow |= runs.is_shallow;
        evidence.degree = runs.degree;
        self.compare(runs.results.each_ref(), Some(runs.divisors), met, evidence)
    }
    /// Adds what the arguments of a seed say.
    fn draw(&mut self, seed: u64) -> Result<(), Stop> {
        self.evidence.seeds += 1;
        self.source = Source::Drawn;
        let drawn = self.add(seed);
        self.source = Source::Sought;
        drawn
    }
    fn add(&mut self, seed: u64) -> Result<(), Stop> {
        let given = self.arguments(seed, &self.field(seed, 0));
        let mut drawn = self.drawn(seed, &given)?;
        if let Some(first) = &drawn
            && self.is_common.is_none()
            && first.evidence.degree > LARGE
        {
            self.is_common = Some(true);
            match self.drawn(seed, &given)? {
                Some(other) if other.evidence.degree < first.evidence.degree => drawn = Some(other),
                Some(_) | None => self.is_common = Some(false),
            }
        }
        let Some(Drawn { runs, mut found, mut evidence, met }) = drawn else {
            self.evidence.endless += 1;
            return Ok(());
        };
        evidence.degree = evidence.degree.max(self.evidence.degree);
        if found.is_any() && (runs.is_unsure || found.has_other_numbers()) {
            // Complex numbers have too few digits to tell what an undecided order changes.
            let is_lost = runs.is_unsure && self.modules.into_iter().any(has_complex);
            match self.unstable(seed, &given, &runs)?.filter(|_| !is_lost) {
                Some(unstable) => {
                    let steady = found.leave_out(&unstable);
                    found.unknown.extend(steady);
                    // Equal numbers in another order have other residues.
                    let is_ordered = |place: &Place| {
                        let of_array =
                            unstable.range((place.output, 0)..=(place.output, usize::MAX));
                        !runs.is_unsure || !of_array.into_iter().any(|(_, in_field)| *in_field)
                    };
                    found.unknown.retain(is_ordered);
                }
                // What floats show may be an order that they decide, too.
                None => {
                    let shown = self.confirmed(&runs, &found);
                    found = Found { unknown: shown.into_iter().collect(), ..Found::default() };
                }
            }
            if !found.is_any() {
                self.evidence.unstable += 1;
                return Ok(());
            }
        }
        self.evidence = evidence;
        if !found.is_any() {
            self.guard(&runs);
        }
        // What special arguments make finite says nothing of others.
        if !has_ties(seed) {
            self.met = met;
            self.special += found.special;
        }
        if !found.different.is_empty() && self.devices > 1 && !self.is_replicated {
            self.is_replicated = true;
            self.draw(seed)?;
            let reason = "the modules differ if the devices take other arguments each, which may take equal ones";
            return Err(Stop::open(reason));
        }
        self.conclude(seed, &runs, &found)
    }

    /// Stops if a draw shows a difference.
    fn conclude(&mut self, seed: u64, runs: &Runs, found: &Found) -> Result<(), Stop> {
        let at = |Place { output, element, values, in_field }: Place| {
            let shapes = self.modules[0].entry().program_shape().parameters;
            let held = shapes.iter().zip(&runs.held);
            let arguments = held.map(|(shape, value)| real(shape, value)).collect();
            Difference { seed, output, element, values, in_field, arguments }
        };
        if let Some(&first) = found.different.first() {
            // Floats seldom have arguments for which numbers are equal. Of unknown functions they say more
            // than the field, and of literals that a compiler has folded.
            let is_sought = self.source == Source::Sought && self.unconfirmed.is_none();
            let is_sought = is_sought
                && !have_other_literals(self.modules)
                && !self.modules.into_iter().any(calls_unknown);
            let found = if is_sought { Some(first) } else { self.confirmed(runs, found) };
            let Some(found) = found else {
                self.unconfirmed.get_or_insert_with(|| at(first));
                return Ok(());
            };
            if let Some(target) = other_functions(self.modules) {
                let reason = format!(
                    "the modules call `{target}`, an unknown function, in one of them only or with arrays of other sizes"
                );
                return Err(Stop::open(&reason));
            }
            return Err(Stop::of(Answer::Different(at(found))));
        }
        if self.unknown.is_none() {
            self.unknown = found.unknown.first().copied().map(at);
        }
        Ok(())
    }

    /// Runs both modules on the arguments of each device. `None` if one does not end within the
    /// limit of steps.
    fn runs(&mut self, field: &Arc<Field>, given: &[Vec<Literal>]) -> Result<Option<Runs>, Stop> {
        let held = &given[0];
        let (mut results, mut whole, mut boundary) = (Vec::new(), None, None);
        for (i, module) in self.modules.into_iter().enumerate() {
            let lifted = lift(module, field, self.covered[i].samples.is_some())
                .map_err(|open| Stop::of(Answer::Open(Open { module: Some(i), ..open })))?;
            let mut arguments = given.to_vec();
            let whole = whole.replace(Arc::clone(&lifted.module));
            if let Some(whole) = whole.filter(|_| self.is_partitioned) {
                let found = Boundary::of(&whole, &lifted.module).map_err(Failure::Partition)?;
                if found.open_results() > 0 {
                    return Err(Stop::open("the sharding of the results is not stated"));
                }
                arguments = found.arguments(held).map_err(Failure::Partition)?;
                boundary = Some(found);
            }
            match run(lifted, field, &arguments, &self.options.limits, &mut self.covered[i]) {
                Ok(result) => results.push(result),
                // For arguments for which a program does not end, or that are no sizes of its arrays, it
                // is no function.
                Err(error) if ["E0404", "E0408"].contains(&error.number()) => {}
                Err(error) => {
                    let error = compile_error(self.verified[i], given.len()).unwrap_or(error);
                    return Err(Failure::Run { module: i, error }.into());
                }
            }
            field.end_module();
        }
        let count = results.len();
        let (Some(second), Some(mut first)) = (results.pop(), results.pop()) else {
            self.evidence.uneven += u32::from(count == 1);
            return Ok(None);
        };
        if let Some(boundary) = boundary {
            first = boundary.results(&first[0], &second).map_err(Failure::Partition)?;
        }
        Ok(Some(Runs {
            held: given[0].clone(),
            results: [first, second],
            degree: field.decided(),
            divisors: field.divisors(),
            is_shallow: field.is_shallow(),
            is_unsure: field.is_unsure(),
            is_second: false,
            floats: OnceCell::new(),
        }))
    }

    /// Returns the arguments of each device of the first module.
    fn arguments(&self, seed: u64, field: &Field) -> Vec<Vec<Literal>> {
        match &self.options.arguments {
            Some(given) => vec![given.iter().map(held_exactly).collect(); self.devices],
            None => {
                let mut draw = Draw::new(seed, field, &self.constants);
                let mut arguments = || draw.arguments(self.modules[0]);
                match self.is_replicated {
                    true => vec![arguments(); self.devices],
                    false => (0..self.devices).map(|_| arguments()).collect(),
                }
            }
        }
    }

    /// Compares two results of each device, with the degree of the product of all divisors; without
    /// it a result with that of a shaken run, of which a part of the tolerance is too much.
    fn compare(
        &self,
        results: [&Vec<Literal>; 2],
        divisors: Option<f64>,
        met: &mut Vec<Vec<Met>>,
        evidence: &mut Evidence,
    ) -> Found {
        let has_complex = self.modules.into_iter().any(has_complex);
        let tolerance = if has_complex { COMPLEX_TOLERANCE } else { TOLERANCE };
        let tolerance = if divisors.is_none() { tolerance / 8.0 } else { tolerance };
        let divisors = divisors.unwrap_or(0.0);
        let shapes = self.modules[1].entry().result_shape().leaves();
        let [first, second] = results.map(|of| {
            let leaves = of.iter().flat_map(|value| value.leaves().into_iter().cloned());
            leaves.collect::<Vec<_>>()
        });
        let pairs = first.into_iter().zip(second).zip(shapes.iter().cycle());
        evidence.elements = 0;
        let mut all = Found::default();
        for (output, ((a, b), shape)) in pairs.enumerate() {
            let (Some(a), Some(b), Some(ty)) = (a.array(), b.array(), shape.element_type()) else {
                continue;
            };
            evidence.elements += a.len();
            if met.len() <= output {
                met.resize_with(output + 1, Vec::new);
            }
            let degree = all.compare((output, ty), [a, b], [tolerance, divisors], &mut met[output]);
            evidence.degree = evidence.degree.max(degree);
        }
        all
    }

    /// Returns the elements of the results that depend on the last digits of numbers, or on the order
    /// of numbers that these do not tell apart: a sum that cancels, or a chaotic iteration, makes
    /// them differ. Of each it says whether the residues do, too. `None` if not even the end of a
    /// module is sure.
    fn unstable(
        &mut self,
        seed: u64,
        given: &[Vec<Literal>],
        runs: &Runs,
    ) -> Result<Option<Unstable>, Stop> {
        let mut all = Unstable::new();
        if self.options.arguments.is_some() {
            return Ok(Some(all));
        }
        let parameters = self.modules[0].entry().program_shape().parameters;
        let shifted = given.iter().map(|all| {
            let each = parameters.iter().zip(all);
            each.map(|(shape, value)| shifted(shape, value, SHIFT)).collect()
        });
        let shifted: Vec<Vec<Literal>> = shifted.collect();
        for shake in 1..=SHAKES {
            let field = self.field(seed, shake);
            if runs.is_second {
                self.runs(&field, &shifted)?;
            }
            let Some(shaken) = self.runs(&field, &shifted)? else { return Ok(None) };
            for (a, b) in runs.results.iter().zip(&shaken.results) {
                let mut evidence = Evidence::default();
                let found = self.compare([a, b], None, &mut Vec::new(), &mut evidence);
                for place in found.places() {
                    *all.entry(place.at()).or_default() |= place.in_field;
                }
            }
        }
        Ok(Some(all))
    }
    /// Returns the field of a seed for the arguments of the modules, shaken or not.
    fn field(&self, seed: u64, shake: u32) -> Arc<Field> {
        let (is_common, has_integers) = (self.is_common == Some(true), self.has_integers);
        let few_digits = self.few_digits;
        let is_drawn = self.source == Source::Drawn && self.options.arguments.is_none();
        let may_be_equal = has(self.modules[0], |ty| ty.is_float() && is_narrow(ty))
            || self.has_integers && self.modules.into_iter().any(has_conversions);
        let position = match is_drawn && !has_ties(seed) {
            true if is_generic(seed) && !may_be_equal => Position::General,
            true => Position::Ordinary,
            false if self.source == Source::Between => Position::Ordinary,
            false => Position::Special,
        };
        let roots = self.roots;
        let rules = Rules { is_common, has_integers, position, few_digits, roots, shake };
        Arc::new(Field::new(seed, rules))
    }

    /// Returns whether enough elements of the draws without special floats are numbers.
    fn has_numbers(&self) -> bool {
        let draws = usize::try_from(self.options.seeds).unwrap_or(usize::MAX);
        self.special <= self.evidence.elements.saturating_mul(draws) / 8
            || self.options.arguments.is_some()
    }
    /// Returns whether no further draw is needed.
    fn is_enough(&self) -> bool {
        let seeds = self.options.seeds;
        // Integers are tested, not proved.
        let least = if self.has_integers { seeds.saturating_mul(2) } else { seeds };
        self.options.arguments.is_some()
            || self.evidence.compared() >= least
                && !self.met.iter().any(|met| are_too_many(met, seeds))
    }
}
