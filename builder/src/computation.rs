//! Computations traced from closures.
use crate::annotations::Caller;
use crate::state::Open;
use crate::{Builder, Code, Error, IntoShape, Result, Value, edits};
use hlo::diag::quantity;
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Op, Opcode, Shape};
use smol_str::SmolStr;

/// A finished computation of its builder, for ops that call one.
///
/// Most ops take closures; a computation of its own is for what is called from several places, and
/// for [`Builder::call`].
#[derive(Debug, Clone, Copy)]
#[must_use = "a computation that nothing calls has no effect"]
pub struct Computation<'b> {
    builder: &'b Builder,
    id: Option<ComputationId>,
}

/// A computation traced from a closure, not filed yet.
pub(crate) struct Traced {
    pub(crate) open: Open,
    pub(crate) root: InstructionId,
}

impl Traced {
    /// Returns the shape of the closure's result.
    pub(crate) fn result(&self) -> &Shape {
        &self.open.instructions[self.root].shape
    }
}

impl Builder {
    /// Traces a computation with parameters of these shapes from a closure.
    ///
    /// Equal computations of one name are kept once.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let square = b.computation("square", &["f32[]"], |p| p[0] * p[0]);
    /// let x = b.parameter(0, "f32[]", "x");
    /// let y = b.call(square, &[x]);
    /// assert!(b.build(y).is_ok());
    /// ```
    #[track_caller]
    pub fn computation<'b, S: IntoShape + Copy>(
        &'b self,
        name: &str,
        parameters: &[S],
        body: impl FnOnce(&[Value<'b>]) -> Value<'b>,
    ) -> Computation<'b> {
        let id = self.record_or(None, |b| {
            let shapes: Result<Vec<Shape>> = parameters.iter().map(|s| s.into_shape()).collect();
            b.trace(name, &shapes?, body).map(Some)
        });
        Computation { builder: self, id }
    }

    /// Runs a closure on the parameters of a new computation. Instructions record the lines of a
    /// closure of the user, and the line of the call for a closure of the library.
    pub(crate) fn trace<'b>(
        &'b self,
        name: &str,
        parameters: &[Shape],
        body: impl FnOnce(&[Value<'b>]) -> Value<'b>,
    ) -> Result<ComputationId> {
        let Traced { open, root } = self.trace_open(name, parameters, body, false)?;
        Ok(self.state.borrow_mut().file(open, root))
    }
    /// As [`Builder::trace`], of a computation that is not filed yet. One that `captures` may use
    /// values from outside; they become further parameters.
    pub(crate) fn trace_open<'b>(
        &'b self,
        name: &str,
        parameters: &[Shape],
        body: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        captures: bool,
    ) -> Result<Traced> {
        let call = self.open_computation(name, captures);
        let root = self.open_parameters(parameters).and_then(|p| self.root_of(body(&p)));
        let open = {
            let mut state = self.state.borrow_mut();
            state.call = call;
            state.open.pop().ok_or(Code::Invalid {})?
        };
        Ok(Traced { open, root: root? })
    }
    /// Opens a computation; returns the call that it is made for.
    fn open_computation(&self, name: &str, captures: bool) -> Option<(Caller, usize)> {
        let mut state = self.state.borrow_mut();
        state.enter(SmolStr::new(name));
        state.innermost().captures = captures.then(Vec::new);
        state.call
    }
    /// Makes the parameters of the innermost computation, whose body is traced next.
    fn open_parameters(&self, parameters: &[Shape]) -> Result<Vec<Value<'_>>> {
        let parameters: Result<Vec<Value<'_>>> = (parameters.iter().zip(0i64..))
            .map(|(shape, number)| self.make_parameter(number, shape.clone(), ""))
            .collect();
        let parameters = parameters?;
        let mut state = self.state.borrow_mut();
        state.call = state.call.filter(|(_, depth)| *depth > 1);
        Ok(parameters)
    }
    fn root_of<'b>(&'b self, value: Value<'b>) -> Result<InstructionId> {
        self.adopt(value)?.id().ok_or(Code::Invalid {}.into())
    }
    /// Returns the computation that applies `combine` to two scalars of this type.
    pub(crate) fn combiner<'b>(
        &'b self,
        name: &str,
        ty: hlo::ElementType,
        combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    ) -> Result<ComputationId> {
        let scalar = Shape::scalar(ty);
        self.trace(name, &[scalar.clone(), scalar], |p| match p {
            [a, b] => combine(*a, *b),
            _ => Value::invalid(self),
        })
    }
    /// As [`Computation::inline`], keeping the lines that the instructions were asked for on.
    /// Elements of tuples that are made in it are taken as they are, so that they depend on nothing
    /// but themselves.
    pub(crate) fn inlined<'b>(
        &'b self,
        id: ComputationId,
        arguments: &[Value<'b>],
    ) -> Result<Value<'b>> {
        let (computation, callers, call) = {
            let state = self.state.borrow();
            let computation = state.finished.get(id).ok_or(Code::Invalid {})?.clone();
            (computation, state.callers.get(id.index()).cloned(), state.call)
        };
        let copied = self.copied(&computation, arguments, callers.as_deref());
        self.state.borrow_mut().call = call;
        copied
    }
    /// Returns the result of copies of the instructions, which note these lines, or that of the
    /// call.
    fn copied<'b>(
        &'b self,
        computation: &hlo::ir::Computation,
        arguments: &[Value<'b>],
        lines: Option<&[Caller]>,
    ) -> Result<Value<'b>> {
        let mut copies: Vec<Value<'b>> = Vec::with_capacity(computation.instructions.len());
        for (id, instruction) in computation.instructions.iter() {
            let operands: Vec<Value<'b>> =
                instruction.operands.iter().map(|id| copies[id.index()]).collect();
            if let Some(&line) = lines.and_then(|lines| lines.get(id.index())) {
                self.state.borrow_mut().call = Some((line, 1));
            }
            let op = &instruction.op;
            copies.push(if let Op::Parameter(p) = op {
                let number = usize::try_from(p.number).ok();
                number.and_then(|n| arguments.get(n)).copied().ok_or(Code::Invalid {})?
            } else if let Op::GetTupleElement(element) = op
                && lines.is_some()
                && operands[0].opcode()? == Opcode::Tuple
            {
                let index = usize::try_from(element.index).ok();
                let elements = operands[0].operands()?;
                index.and_then(|i| elements.get(i)).copied().ok_or(Code::Invalid {})?
            } else {
                let copy = self.emit(op.clone(), &operands, Some(instruction.shape.clone()))?;
                edits::carry(copy, instruction)?;
                copy
            });
        }
        copies.get(computation.root.index()).copied().ok_or(Code::Invalid {}.into())
    }
    /// Returns the shapes a finished computation takes and gives.
    pub(crate) fn signature(&self, id: ComputationId) -> Result<(Vec<Shape>, Shape)> {
        let state = self.state.borrow();
        let computation = state.finished.get(id).ok_or(Code::Invalid {})?;
        let program = computation.program_shape();
        Ok((program.parameters.into_iter().cloned().collect(), program.result.clone()))
    }
}

impl<'b> Computation<'b> {
    /// Returns the result of a call that failed.
    pub(crate) fn invalid(builder: &'b Builder) -> Self {
        Self { builder, id: None }
    }
    pub(crate) fn from_id(builder: &'b Builder, id: ComputationId) -> Self {
        Self { builder, id: Some(id) }
    }
    pub(crate) fn builder(self) -> &'b Builder {
        self.builder
    }
    /// Returns its id, for the builder that made it.
    pub(crate) fn id_in(self, builder: &Builder) -> Result<ComputationId> {
        if !std::ptr::eq(builder, self.builder) {
            let (found, here) = (self.builder.name().to_owned(), builder.name().to_owned());
            return Err(Error::from(Code::OtherBuilder { found, here })
                .with_help("a computation belongs to the builder that made it"));
        }
        self.id.ok_or_else(|| self.builder.failure())
    }
    /// Returns whether the call that made it succeeded.
    pub fn is_valid(self) -> bool {
        self.id.is_some()
    }
    /// Shapes of its parameters, and of its result: XLA's `GetProgramShape`.
    ///
    /// # Errors
    /// The first error if the call that made it failed.
    pub fn program_shape(self) -> Result<(Vec<Shape>, Shape)> {
        self.builder.signature(self.id.ok_or_else(|| self.builder.failure())?)
    }
    /// Copies its instructions to the caller, with these values as parameters.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let add = b.computation("add", &["f32[]", "f32[]"], |p| p[0] + p[1]);
    /// let x = b.parameter(0, "f32[4]", "x");
    /// let sum = x.reduce(b.constant(0f32), |a, c| add.inline(&[a, c]), &[0]);
    /// assert_eq!(sum.rank()?, 0);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn inline(self, arguments: &[Value<'b>]) -> Value<'b> {
        self.builder.record(|b| {
            let id = self.id_in(b)?;
            let computation = b.state.borrow().finished[id].clone();
            let expected = computation.parameters().len();
            if expected != arguments.len() {
                let found = arguments.len();
                let message = format!(
                    "`{}` takes {expected}, found {found}",
                    computation.name,
                    expected = quantity(expected, "value")
                );
                return Err(Error::argument(message));
            }
            b.copied(&computation, arguments, None)
        })
    }
}
