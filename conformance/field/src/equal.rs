//! The comparison of two modules.
use crate::arithmetic::Field;
use crate::element::{Element, Kind, read, write};
use crate::kernels::{evaluate, is_float};
use crate::lift::{Lifted, Open, lift, target};
use crate::tower::PRIMES;
use hlo::{Array, ArrayShape, Class, ElementType, Literal, Module, Scalar, Shape, Verified};
use interp::{CompileOptions, Error, Executable, Hooks, RunOptions};
use num::index::count;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How two modules are compared.
#[derive(Debug, Clone)]
pub struct Options {
    /// The first seed.
    pub seed: u64,
    /// How often arguments are drawn, and the oracles with them.
    pub seeds: u32,
    /// The limits of a run.
    pub limits: RunOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, seeds: 8, limits: RunOptions::default() }
    }
}

/// What is said of two modules.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Their results are equal for every float argument, in exact arithmetic.
    Equal(Evidence),
    /// Their results differ for some arguments, in exact arithmetic.
    Different(Difference),
    /// A module has an instruction without a meaning over the field.
    Open {
        /// 0 for the first module, 1 for the second.
        module: usize,
        /// The instruction.
        open: Open,
    },
}

/// What an answer rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// How often arguments were drawn.
    pub seeds: u32,
    /// The number of elements of the results.
    pub elements: usize,
    /// The degree of the results as polynomials of the arguments, or more.
    pub degree: f64,
    /// Comparisons of floats that held, and that did not, in at least one run.
    pub comparisons: Coverage,
    /// Whether exponentials are nested deeper than their laws are known.
    pub is_shallow: bool,
}

impl Evidence {
    /// Returns the probability that different polynomials of this degree agree in all draws, modulo
    /// the smallest prime. Oracles count as variables.
    pub fn probability(&self) -> f64 {
        let once = (self.degree.max(1.0) / f64::from(PRIMES[2])).min(1.0);
        once.powi(i32::try_from(self.seeds).unwrap_or(i32::MAX))
    }
}

/// How many comparisons of floats had both values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Comparisons that were true and false.
    pub both: usize,
    /// All comparisons.
    pub all: usize,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The draw at which the results differ.
    pub seed: u64,
    /// The array of the result, by number.
    pub output: usize,
    /// The index of the first element that differs, in row-major order.
    pub element: usize,
    /// Whether exponentials are nested deeper than their laws are known: then it may be none.
    pub is_shallow: bool,
}

/// Why two modules cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Parameters or results have other shapes.
    #[error("the modules have different {what}: {first} and {second}")]
    Signature {
        /// `parameters` or `results`.
        what: &'static str,
        /// Those of the first module.
        first: String,
        /// Those of the second module.
        second: String,
    },
    /// A module cannot run over the field.
    #[error("module {module} cannot run over the field: {error}")]
    Run {
        /// 1 for the first module, 2 for the second.
        module: usize,
        /// The error of the run.
        error: Error,
    },
}

/// Compares two modules over finite fields.
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
    let modules = [first.module(), second.module()];
    same_signature(modules)?;
    let mut evidence = Evidence { seeds: options.seeds, ..Evidence::default() };
    let mut covered = [BTreeMap::new(), BTreeMap::new()];
    for draw in 0..u64::from(options.seeds) {
        let seed = options.seed.wrapping_add(draw);
        let field = Arc::new(Field::new(seed));
        let arguments = Draw::new(seed, draw).arguments(modules);
        let mut results = Vec::new();
        for (i, module) in modules.into_iter().enumerate() {
            let lifted = match lift(module, &field) {
                Ok(lifted) => lifted,
                Err(open) => return Ok(Answer::Open { module: i, open }),
            };
            let run = run(lifted, &field, &arguments, options, &mut covered[i]);
            results.push(run.map_err(|error| Failure::Run { module: i + 1, error })?);
        }
        evidence.is_shallow |= field.is_shallow();
        let shapes: Vec<Shape> =
            modules[0].entry().result_shape().leaves().into_iter().cloned().collect();
        let leaves = results[0].leaves().into_iter().zip(results[1].leaves());
        evidence.elements = 0;
        for (output, ((a, b), shape)) in leaves.zip(&shapes).enumerate() {
            let (Some(a), Some(b)) = (a.array(), b.array()) else { continue };
            evidence.elements += a.len();
            if let Some(element) = first_difference(a, b, is_float(shape), &mut evidence) {
                let is_shallow = evidence.is_shallow;
                return Ok(Answer::Different(Difference { seed, output, element, is_shallow }));
            }
        }
    }
    let all = covered.iter().flat_map(BTreeMap::values);
    let both = all.clone().filter(|(no, yes)| *no && *yes).count();
    evidence.comparisons = Coverage { both, all: all.count() };
    Ok(Answer::Equal(evidence))
}

fn same_signature(modules: [&Module; 2]) -> Result<(), Failure> {
    let [a, b] = modules.map(|module| module.entry().program_shape());
    let written = |shapes: &[&Shape]| {
        let all: Vec<String> = shapes.iter().map(|shape| format!("{shape:#}")).collect();
        format!("({})", all.join(", "))
    };
    let [first, second] = [&a, &b].map(|shape| written(&shape.parameters));
    if first != second {
        return Err(Failure::Signature { what: "parameters", first, second });
    }
    let [first, second] = modules.map(|module| format!("{:#}", module.entry().result_shape()));
    match first == second {
        true => Ok(()),
        false => Err(Failure::Signature { what: "results", first, second }),
    }
}

/// Whether a comparison was false, and whether it was true.
type Seen = BTreeMap<usize, (bool, bool)>;

fn run(
    lifted: Lifted,
    field: &Arc<Field>,
    arguments: &[Literal],
    options: &Options,
    covered: &mut Seen,
) -> interp::Result<Literal> {
    let seen = Arc::new(Mutex::new(std::mem::take(covered)));
    let mut hooks = Hooks::new();
    for (number, stated) in lifted.calls.into_iter().enumerate() {
        let (field, seen) = (Arc::clone(field), Arc::clone(&seen));
        hooks = hooks.custom_call(target(number), move |call| {
            let mut holds = (false, false);
            let mut count = |value: bool| if value { holds.1 = true } else { holds.0 = true };
            let result = evaluate(&field, &stated, call.operands, &mut count);
            if holds != (false, false) {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                let known = seen.entry(number).or_default();
                *known = (known.0 | holds.0, known.1 | holds.1);
            }
            result.ok_or_else(|| {
                let name = stated.op.opcode().name();
                Error::unsupported(format!("`{name}` is not known over the field"))
            })
        });
    }
    let executable = Executable::compile(lifted.module, &CompileOptions::default())?;
    let result = executable.execute(arguments, &options.limits.clone().hooks(hooks));
    *covered = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    result
}

fn first_difference(
    a: &Array,
    b: &Array,
    is_float: bool,
    evidence: &mut Evidence,
) -> Option<usize> {
    if !is_float {
        return (0..a.len()).find(|&i| a.get(i) != b.get(i));
    }
    let (a, b) = (read(a), read(b));
    let degrees = a.iter().chain(&b).map(|x| f64::from(x.degree));
    evidence.degree = degrees.fold(evidence.degree, f64::max);
    a.iter().zip(&b).position(|(x, y)| !x.is(y))
}

/// The arguments of one run.
struct Draw {
    random: fastrand::Rng,
    /// Floats are zero, or equal to each other, one time in ten each.
    has_ties: bool,
    /// The range of integers.
    integers: (i64, i64),
}

impl Draw {
    /// Every second draw has equal elements and zeros; integers are small, within and beyond the
    /// sizes of arrays, and of any size by turns.
    fn new(seed: u64, draw: u64) -> Self {
        let integers = match draw % 5 {
            0 => (0, 3),
            1 => (-3, 12),
            2 => (0, 0),
            3 => (i64::MIN, i64::MAX),
            _ => (-1, 40),
        };
        Self { random: fastrand::Rng::with_seed(seed), has_ties: draw % 2 == 1, integers }
    }
    fn arguments(&mut self, modules: [&Module; 2]) -> Vec<Literal> {
        let parameters = modules[0].entry().program_shape().parameters;
        parameters.iter().map(|shape| self.value(shape)).collect()
    }
    fn value(&mut self, shape: &Shape) -> Literal {
        match shape {
            Shape::Array(array) => self.array(array),
            Shape::Buffer(array) => self.array(array),
            Shape::Tuple(parts) => Literal::tuple(parts.iter().map(|p| self.value(p)).collect()),
            Shape::Token | Shape::Opaque => Literal::token(),
        }
    }
    fn array(&mut self, shape: &ArrayShape) -> Literal {
        if shape.ty.is_float() {
            let mut last = Element::ONE;
            let elements = (0..count(&shape.dims)).map(|_| {
                last = match self.random.u8(0..10) {
                    0 if self.has_ties => Element::ZERO,
                    1 if self.has_ties => last,
                    _ => self.element(),
                };
                last
            });
            let elements: Vec<Element> = elements.collect();
            return Literal::from(write(shape, elements));
        }
        let mut result = Array::zeros(shape.clone());
        for i in 0..result.len() {
            result.set(i, self.whole(shape.ty));
        }
        Literal::from(result)
    }
    fn element(&mut self) -> Element {
        let residues = std::array::from_fn(|level| self.random.u32(0..PRIMES[level]));
        Element { residues, kind: Kind::Finite, degree: 1.0, ..Element::ZERO }
    }
    fn whole(&mut self, ty: ElementType) -> Scalar {
        let (low, high) = self.integers;
        let x = self.random.i64(low..=high);
        match ty.class() {
            Class::Pred => Scalar::Pred(self.random.bool()),
            Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
                Scalar::Signed(x).convert(ElementType::S64, ty)
            }
        }
    }
}
