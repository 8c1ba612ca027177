//! The entry point: a verified module, options, arguments in, result out.
use crate::context::Context;
use crate::error::Code;
use crate::hooks::Hooks;
use crate::kernel::dynamic;
use crate::machine::{Machine, Step};
use crate::{Error, Result};
use hlo::{ArrayShape, Literal, Module, Shape, Verified};

/// Which implementation of the ops runs a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The specification itself, one page of `spec/` per op: slow and plain.
    Reference,
    /// The optimized kernels, checked against `spec/`: the same bits where an op is exact.
    #[default]
    Exact,
}

/// How a module is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Options {
    /// Which implementation of the ops runs.
    pub engine: Engine,
    /// Steps after which the run stops with [`Code::OutOfFuel`]: one for each instruction, one for each call of a scalar
    /// computation by an op like `reduce`, and about one for each multiplication of `dot`, `convolution`, `fft` and linear
    /// algebra. No limit if absent.
    pub fuel: Option<u64>,
    /// Bytes all live values together may take. No limit if absent.
    pub max_memory: Option<usize>,
    /// Stops with [`Code::NotFinite`] at the first instruction that makes a NaN or an infinity out of finite operands.
    pub check_nan: bool,
    /// Where the numbers of `rng` come from: the same seed gives the same numbers, on every machine.
    pub seed: u64,
    /// The order of everything that a machine of several devices may do in any order, drawn from this number: which devices go
    /// first, and in which order the values of a group are folded, with each sum rounded. If absent devices go together,
    /// and values are folded in group order and sums rounded once.
    pub order: Option<u64>,
}

impl Options {
    /// Runs on this engine.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }
    /// Stops after `steps` steps.
    #[must_use]
    pub fn fuel(mut self, steps: u64) -> Self {
        self.fuel = Some(steps);
        self
    }
    /// Refuses to hold more than `bytes` bytes of values.
    #[must_use]
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = Some(bytes);
        self
    }
    /// Stops at the first NaN or infinity that is made out of finite operands.
    #[must_use]
    pub fn check_nan(mut self, on: bool) -> Self {
        self.check_nan = on;
        self
    }
    /// Takes devices and their values in another order.
    #[must_use]
    pub fn order(mut self, seed: u64) -> Self {
        self.order = Some(seed);
        self
    }
    /// Draws other random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// Runs a verified module.
///
/// ```
/// let text = "HloModule m\nENTRY e { ROOT c = s32[] constant(7) }";
/// let verified = hlo::Module::parse(text).unwrap().verify().unwrap();
/// let result = interp::Interpreter::new(&verified).run(&[]).unwrap();
/// assert_eq!(result.to_string(), "s32[] 7");
/// ```
#[derive(Debug, Clone)]
pub struct Interpreter<'m> {
    verified: &'m Verified,
    options: Options,
    hooks: Hooks,
}

impl<'m> Interpreter<'m> {
    /// An interpreter without limits.
    pub fn new(verified: &'m Verified) -> Self {
        Self::with_options(verified, Options::default())
    }
    /// An interpreter with options.
    pub fn with_options(verified: &'m Verified, options: Options) -> Self {
        Self { verified, options, hooks: Hooks::new() }
    }
    /// The same, with what the program may reach outside of itself.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// The result of the entry computation on `arguments`, one for each parameter.
    ///
    /// # Errors
    /// `E0401` if the arguments do not fit; `E04xx` if the run does not end with a result.
    pub fn run(&self, arguments: &[Literal]) -> Result<Literal> {
        match self.start(arguments)?.resume()? {
            Step::Done(result) => Ok(result),
            Step::Wait(_) => Err(Error::internal("a device that is alone waits for nobody")),
        }
    }

    /// A machine that has not taken its first step.
    ///
    /// # Errors
    /// `E0401` if the arguments do not fit.
    pub fn start(&self, arguments: &[Literal]) -> Result<Machine<'m>> {
        let module = self.verified.module();
        let arguments = admitted(module, arguments)?;
        let context = Context::new(module, self.options, self.hooks.clone());
        Machine::new(context, module.entry, arguments)
    }
}

/// The arguments of a module, checked against its parameters.
pub(crate) fn admitted(module: &Module, arguments: &[Literal]) -> Result<Vec<Literal>> {
    let wanted = module.entry().program_shape().parameters;
    if wanted.len() != arguments.len() {
        let message =
            format!("the module takes {} arguments, {} are given", wanted.len(), arguments.len());
        return Err(Code::Invalid { message }.into());
    }
    let mut fitted = Vec::with_capacity(arguments.len());
    for (i, (argument, wanted)) in arguments.iter().zip(wanted).enumerate() {
        let found = argument.shape();
        if !dynamic::fits(&found, wanted) {
            let message = format!("argument {i} has shape {found}, the parameter {wanted}");
            return Err(Code::Invalid { message }.into());
        }
        fitted.push(dynamic::admitted(argument, wanted));
    }
    Ok(fitted)
}

/// The same value under the layouts of `shape`.
pub(crate) fn with_layouts(value: &Literal, shape: &Shape) -> Literal {
    fitted(value.clone(), shape)
}

/// The same value under the layouts of `shape`; nothing is copied where they are its own.
pub(crate) fn fitted(value: Literal, shape: &Shape) -> Literal {
    if fits(&value, shape) {
        return value;
    }
    match (shape, value.elements()) {
        (Shape::Array(array), _) => value.with_shape(static_shape(array)),
        (Shape::Tuple(shapes), Some(elements)) => {
            let elements = elements.iter().zip(shapes).map(|(e, s)| with_layouts(e, s));
            Literal::tuple(elements.collect())
        }
        _ => value,
    }
}

fn fits(value: &Literal, shape: &Shape) -> bool {
    match (shape, value.elements()) {
        (Shape::Array(array), _) => value.array_shape().is_some_and(|found| {
            array.dynamic.is_none() && found.dims == array.dims && found.layout == array.layout
        }),
        (Shape::Tuple(shapes), Some(elements)) => {
            elements.iter().zip(shapes).all(|(e, s)| fits(e, s))
        }
        _ => true,
    }
}

/// The shape of the data: a dynamic dimension takes its bound.
pub(crate) fn static_shape(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { dynamic: None, ..shape.clone() }
}

/// Refuses a shape whose elements cannot be counted or addressed.
pub(crate) fn checked_bytes(shape: &ArrayShape) -> Result<usize> {
    let bytes = shape.byte_count().filter(|&b| isize::try_from(b).is_ok());
    bytes.ok_or_else(|| {
        let message = format!("{shape} has more elements than memory has addresses");
        Error::from(Code::OutOfMemory { message })
    })
}
