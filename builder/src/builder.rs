//! The builder, which makes instructions and keeps the first error.
use crate::annotations::Caller;
use crate::error::error_in_call;
use crate::state::{IntoShape, State, legal};
use crate::{Code, Error, IntoLiteral, Result, Value};
use hlo::ir::Instruction;
use hlo::literal::ConstantValue;
use hlo::op::{Broadcast, Constant, Parameter};
use hlo::{Literal, Op, Shape, Verified};
use smallvec::SmallVec;
use smol_str::{SmolStr, ToSmolStr, format_smolstr};
use std::cell::RefCell;
use std::panic::Location;

/// Makes one module, instruction by instruction.
///
/// Values are made by methods of the builder (`parameter`, `constant`, `iota`) and of other values
/// (`x.tanh()`, `x + y`). The first error is kept with the line it was made on; what follows from
/// it is ignored, and [`Builder::build`] returns it.
///
/// ```
/// use builder::Builder;
/// let b = Builder::new("axpy");
/// let x = b.parameter(0, "f32[4]", "x");
/// let y = b.parameter(1, "f32[4]", "y");
/// let module = b.build(2.0 * x + y)?;
/// let args = ["f32[4] {1, 2, 3, 4}".parse()?, "f32[4] {10, 20, 30, 40}".parse()?];
/// assert_eq!(interp::run(&module, &args)?.to_string(), "f32[4]{0} {12, 24, 36, 48}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Builder {
    name: SmolStr,
    pub(crate) state: RefCell<State>,
}

impl Builder {
    /// Returns a builder of a module of this name; its entry computation is called `main`.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), state: RefCell::new(State::new("main".into())) }
    }
    /// Returns the module's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs one call by the user: records its line, keeps its error, and returns an invalid value
    /// if it fails. Calls inside `make` count as part of the call by the user.
    ///
    /// A function of your own that uses it reports errors as the functions of this crate do:
    ///
    /// ```
    /// use builder::{Builder, Error, Value};
    /// #[track_caller]
    /// fn mean(x: Value<'_>) -> Value<'_> {
    ///     x.builder().record(|_| match x.rank()? {
    ///         0 => Err(Error::argument("a scalar has no mean")),
    ///         rank => Ok(x.mean(&(0..rank as i64).collect::<Vec<_>>())),
    ///     })
    /// }
    /// let b = Builder::new("m");
    /// let error = b.build(mean(b.constant(1f32))).unwrap_err();
    /// assert!(error.to_string().contains("a scalar has no mean"));
    /// ```
    #[track_caller]
    pub fn record<'b>(&'b self, make: impl FnOnce(&'b Self) -> Result<Value<'b>>) -> Value<'b> {
        self.record_or(Value::invalid(self), make)
    }
    /// As [`Builder::record`], for a call that returns something other than a value.
    #[track_caller]
    pub fn record_or<'b, T>(&'b self, otherwise: T, make: impl FnOnce(&'b Self) -> Result<T>) -> T {
        let here = Location::caller();
        self.enter_call(here);
        let made = make(self);
        let caller = self.leave_call(here);
        match made {
            Ok(value) => value,
            Err(error) => {
                self.keep(&error.at(caller));
                otherwise
            }
        }
    }
    /// Records the line of a call, unless it is within another call: the outermost has the user's
    /// line.
    fn enter_call(&self, here: Caller) {
        let mut state = self.state.borrow_mut();
        let (caller, depth) = state.call.unwrap_or((here, 0));
        state.call = Some((caller, depth + 1));
    }
    /// Returns the line of the outermost call.
    fn leave_call(&self, here: Caller) -> Caller {
        let mut state = self.state.borrow_mut();
        let (caller, depth) = state.call.unwrap_or((here, 1));
        state.call = (depth > 1).then_some((caller, depth - 1));
        caller
    }
    /// Keeps the first error.
    fn keep(&self, error: &Error) {
        let mut state = self.state.borrow_mut();
        if state.error.is_none() {
            state.error = Some(error.clone());
            let dies = state.dies;
            drop(state);
            assert!(!dies, "{error}");
        }
    }
    /// Keeps a mistake, unless there is an earlier one: XLA's `ReportError`.
    #[track_caller]
    pub fn report_error(&self, error: Error) {
        self.record_or((), |_| Err(error));
    }
    /// Returns the first error.
    pub fn first_error(&self) -> Option<Error> {
        self.state.borrow().error.clone()
    }
    /// Returns why a value is invalid: the first error.
    pub(crate) fn failure(&self) -> Error {
        self.first_error().unwrap_or_else(|| Code::Invalid {}.into())
    }
    /// Returns the first error, if there was one.
    ///
    /// # Errors
    /// The first error.
    pub fn status(&self) -> Result<()> {
        self.first_error().map_or(Ok(()), Err)
    }

    /// Makes an instruction of any op from values of the innermost computation. `stated` is the
    /// shape of an op whose shape does not follow from its operands.
    ///
    /// # Errors
    /// Operands of other computations, and every broken rule of the op.
    pub fn emit<'b>(
        &'b self,
        op: impl Into<Op>,
        operands: &[Value<'b>],
        stated: Option<Shape>,
    ) -> Result<Value<'b>> {
        let op = op.into();
        let name = op.opcode().name();
        self.emit_named(op, operands, stated, name.into())
    }
    pub(crate) fn emit_named<'b>(
        &'b self,
        mut op: Op,
        operands: &[Value<'b>],
        stated: Option<Shape>,
        name: SmolStr,
    ) -> Result<Value<'b>> {
        if let Some((size, shape)) = stated.as_ref().and_then(negative_size) {
            return Err(Error::argument(format!("the size {size} of {shape:#} is negative"))
                .with_help("write every size out: 0 or more"));
        }
        let mut ids = SmallVec::new();
        for &operand in operands {
            ids.extend(self.adopt(operand)?.id());
        }
        let mut state = self.state.borrow_mut();
        let open = state.open.last().ok_or(Code::Invalid {})?;
        let shapes: Vec<&Shape> = ids.iter().map(|&id| &open.instructions[id].shape).collect();
        let shape = shape_of(&mut op, &shapes, stated, &state)
            .map_err(|error| error_in_call(&error, &call_text(&op, &shapes)))?;
        let caller = state.call.map_or(Location::caller(), |(caller, _)| caller);
        let common = state.annotations.common(op.opcode(), &shape, caller);
        let open = state.innermost();
        let id = open.push(Instruction { op, shape, operands: ids, common }, name, caller);
        Ok(Value::new(self, open.mark, id))
    }
    pub(crate) fn same_builder(&self, value: Value<'_>) -> Result<()> {
        if !std::ptr::eq(self, value.builder()) {
            let (found, here) = (value.builder().name.to_string(), self.name.to_string());
            return Err(Error::from(Code::OtherBuilder { found, here }).with_help(
                "each builder makes one module: pass data between modules as arguments",
            ));
        }
        Ok(())
    }
    /// Fails unless the value is one of the innermost computation.
    ///
    /// # Errors
    /// `E0803` for a value of another builder, `E0804` for one of another computation, the first
    /// error for an invalid one.
    pub fn owns(&self, value: Value<'_>) -> Result<()> {
        self.same_builder(value)?;
        let Some(mark) = value.mark() else { return Err(self.failure()) };
        let mut state = self.state.borrow_mut();
        let innermost = state.innermost();
        if innermost.mark == mark {
            return Ok(());
        }
        let here = innermost.name.to_string();
        let found = state.name_of(mark);
        Err(Error::from(Code::OtherComputation { found, here }).with_help(
            "a computation uses only its parameters: pass the value as an operand or as part of a loop's state",
        ))
    }

    /// Returns a value from the caller: number, shape and name.
    #[track_caller]
    pub fn parameter(&self, number: i64, shape: impl IntoShape, name: &str) -> Value<'_> {
        self.record(|b| b.make_parameter(number, shape.into_shape()?, name))
    }
    pub(crate) fn make_parameter(
        &self,
        number: i64,
        shape: Shape,
        name: &str,
    ) -> Result<Value<'_>> {
        let taken = (self.state.borrow_mut().innermost().instructions.iter())
            .any(|(_, i)| matches!(&i.op, Op::Parameter(p) if p.number == number));
        if taken {
            return Err(Error::argument(format!("parameter {number} exists already"))
                .with_help("parameters are numbered from 0, each number once"));
        }
        let name = if name.is_empty() { format_smolstr!("p{number}") } else { name.into() };
        self.emit_named(Op::Parameter(Parameter { number }), &[], Some(shape), name)
    }
    /// Returns the next parameter: as [`Builder::parameter`], numbered by itself.
    #[track_caller]
    pub fn input(&self, name: &str, shape: impl IntoShape) -> Value<'_> {
        self.record(|b| {
            let number = b.state.borrow_mut().innermost().parameter_count();
            b.make_parameter(number, shape.into_shape()?, name)
        })
    }
    /// Returns a constant: a number, a slice, nested arrays or vectors, an `ndarray`, a
    /// [`Literal`].
    ///
    /// An array whose elements are all the same becomes a broadcast scalar, as XLA's
    /// `ConstantLiteral` does it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// assert_eq!(b.constant([[1.0f32, 2.0], [3.0, 4.0]]).shape()?.to_string(), "f32[2,2]{1,0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn constant(&self, value: impl IntoLiteral) -> Value<'_> {
        self.record(|b| b.make_constant(value.into_literal()?))
    }
    pub(crate) fn make_constant(&self, literal: Literal) -> Result<Value<'_>> {
        let constant = |literal: Literal| {
            let shape = literal.shape();
            let value = Box::new(ConstantValue::Literal(literal));
            self.emit(Op::Constant(Constant { value }), &[], Some(shape))
        };
        let Some(scalar) = repeated(&literal) else { return constant(literal) };
        let scalar = constant(scalar)?;
        self.emit(Op::Broadcast(Broadcast { dimensions: vec![] }), &[scalar], Some(literal.shape()))
    }

    /// Returns the module whose result is `root`.
    ///
    /// # Errors
    /// The first error that was made on the way; a module that breaks a rule that only whole
    /// modules can be asked.
    #[track_caller]
    pub fn build(&self, root: Value<'_>) -> Result<Verified> {
        let caller = Location::caller();
        self.status()?;
        self.module(root, |_| {}).map_err(|error| error.at(caller))
    }
    /// Returns the module whose result is the last value made: XLA's `Build` without a root.
    ///
    /// # Errors
    /// As [`Builder::build`]; `E0805` if nothing was made.
    #[track_caller]
    pub fn build_last(&self) -> Result<Verified> {
        let caller = Location::caller();
        self.status()?;
        let last = self.last().map_err(|error| error.at(caller))?;
        self.module(last, |_| {}).map_err(|error| error.at(caller))
    }
    /// Returns the module; `change` is applied to its entry computation before verification.
    pub(crate) fn module(
        &self,
        root: Value<'_>,
        change: impl FnOnce(&mut hlo::ir::Computation),
    ) -> Result<Verified> {
        self.owns(root)?;
        let state = self.state.borrow();
        let (open, id) = (state.open.last().cloned(), root.id());
        let (open, id) = open.zip(id).ok_or(Code::Invalid {})?;
        let mut config = state.config.clone();
        crate::alias::share(&state, id, &mut config);
        let entry = state.pruned(open, id);
        crate::build::module(&state, legal(self.name.clone()), entry, config, change)
    }
}

/// Returns the shape of the instruction, which is checked.
fn shape_of(
    op: &mut Op,
    operands: &[&Shape],
    stated: Option<Shape>,
    state: &State,
) -> Result<Shape, hlo::Error> {
    if let hlo::op::Arity::Fixed(expected) = op.opcode().arity()
        && expected != operands.len()
    {
        return op.shape(operands, stated.as_ref(), state);
    }
    op.complete_attributes(operands, stated.as_ref())?;
    let shape = match stated {
        Some(stated) => stated,
        None => op.shape(operands, None, state)?,
    };
    op.check_shape(operands, &shape, state)?;
    Ok(shape)
}

/// Returns a size below 0, of an array in the shape, and the array's shape.
fn negative_size(shape: &Shape) -> Option<(i64, &Shape)> {
    let sizes = match shape {
        Shape::Tuple(elements) => return elements.iter().find_map(negative_size),
        Shape::Array(array) => &array.dims,
        Shape::Buffer(array) => &array.dims,
        Shape::Token | Shape::Opaque => return None,
    };
    sizes.iter().find(|size| **size < 0).map(|&size| (size, shape))
}

/// Returns the text of a call: `add(f32[2], f32[3])`
fn call_text(op: &Op, operands: &[&Shape]) -> String {
    let shown: Vec<String> = operands.iter().take(6).map(|shape| format!("{shape:#}")).collect();
    let more = if operands.len() > shown.len() { ", ..." } else { "" };
    format!("`{}({}{more})`", op.opcode().to_smolstr(), shown.join(", "))
}

/// Returns the scalar that all elements of an array are, if there is more than one.
fn repeated(literal: &Literal) -> Option<Literal> {
    let shape = literal.array_shape()?;
    let width = shape.ty.storage_bytes();
    let mut elements = literal.bytes().chunks_exact(width);
    let first = elements.next()?;
    if literal.len() < 2 || shape.dynamic.is_some() || elements.any(|other| other != first) {
        return None;
    }
    Literal::from_bytes(hlo::ArrayShape::new(shape.ty, hlo::Dims::new()), first)
}
