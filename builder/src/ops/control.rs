//! Calls, loops and branches.
use crate::capture::Packing;
use crate::computation::Traced;
use crate::{Builder, Code, Computation, Error, Result, Value, edits};
use hlo::ir::{ComputationId, Instruction};
use hlo::op::{Call, Conditional, OptBarrier, While};
use hlo::{ElementType, Shape};

/// The names of the library's composites start with it.
const LIBRARY: &str = "etalon.";

/// Returns the name of the function of the library that an instruction calls.
pub(crate) fn library_name(instruction: &Instruction) -> Option<&str> {
    let attributes = instruction.common.as_ref()?.frontend_attributes.as_ref()?;
    let mut names = attributes.0.iter().filter(|(key, _)| key == "composite.name");
    names.find_map(|(_, name)| name.strip_prefix(LIBRARY))
}

/// The op that a composite call represents; see [`Builder::composite_call`].
#[derive(Debug, Clone, Default)]
pub struct Composite {
    /// The op of a higher level that the computation spells out: `"my.gelu"`.
    pub name: String,
    /// Its attributes, as a dictionary of MLIR; `{}` if it is empty.
    pub attributes: String,
    /// Its version.
    pub version: u32,
}

impl Builder {
    /// Returns the result of a computation: XLA's `Call`.
    ///
    /// The computation sees its parameters only, whatever it was made of: it may be called from
    /// anywhere.
    #[track_caller]
    pub fn call<'b>(&'b self, computation: Computation<'b>, operands: &[Value<'b>]) -> Value<'b> {
        self.record(|b| {
            let to_apply = computation.id_in(b)?;
            b.emit(Call { to_apply, is_composite: false }, operands, None)
        })
    }
    /// Returns the result of a computation that spells out an op of a higher level: XLA's
    /// `CompositeCall`.
    ///
    /// A backend that knows the op may run its own code instead. Name, attributes and version are
    /// kept as `composite.name`, `composite.attributes` and `composite.version` among the frontend
    /// attributes.
    ///
    /// ```
    /// use builder::{Builder, Composite};
    /// let b = Builder::new("m");
    /// let square = b.computation("square", &["f32[]"], |p| p[0] * p[0]);
    /// let op = Composite { name: "my.square".into(), ..Composite::default() };
    /// let module = b.build(b.composite_call(square, &[b.constant(3f32)], &op))?;
    /// assert!(module.module().to_string().contains("composite.name=\"my.square\""));
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// Names that begin with `etalon.` are those of the builder's own functions, whose derivatives
    /// are known by name.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the name is empty.
    #[track_caller]
    pub fn composite_call<'b>(
        &'b self,
        computation: Computation<'b>,
        operands: &[Value<'b>],
        op: &Composite,
    ) -> Value<'b> {
        self.record(|b| {
            let Composite { name, attributes, version } = op;
            if name.is_empty() {
                return Err(Error::argument("a composite call has no name")
                    .with_help("set `Composite::name` to the op it stands for"));
            }
            let attributes = if attributes.is_empty() { "{}" } else { attributes };
            let to_apply = computation.id_in(b)?;
            let call = b.emit(Call { to_apply, is_composite: true }, operands, None)?;
            edits::amend(call, |common| {
                edits::set_frontend_attribute(common, "composite.attributes", attributes);
                edits::set_frontend_attribute(common, "composite.name", name);
                edits::set_frontend_attribute(common, "composite.version", &version.to_string());
            })?;
            Ok(call)
        })
    }
    /// Returns the result of a function of the library as a composite call, by whose name `grad`
    /// finds the derivative: that of the function, not of the instructions that compute it. Called
    /// inside [`Builder::record`].
    pub(crate) fn library<'b>(
        &'b self,
        name: &str,
        operands: &[Value<'b>],
        body: impl FnOnce(&[Value<'b>]) -> Result<Value<'b>>,
    ) -> Value<'b> {
        self.record(|b| {
            let shapes =
                operands.iter().map(|operand| operand.shape()).collect::<Result<Vec<_>>>()?;
            let to_apply = b.trace(name, &shapes, |p| b.record(|_| body(p)))?;
            let op = Composite { name: format!("{LIBRARY}{name}"), ..Composite::default() };
            Ok(b.composite_call(Computation::from_id(b, to_apply), operands, &op))
        })
    }
}

/// Returns the error of a closure whose result has the wrong shape.
#[cold]
fn misfit(message: String, help: &str) -> Error {
    Error::from(Code::Closure { message }).with_help(help)
}

impl<'b> Value<'b> {
    /// Repeats `body` on the state, which starts as `self`, while `condition` is true: XLA's
    /// `While`.
    ///
    /// Both closures take the state, an array or a tuple; `body` returns one of the same shape.
    /// They may use values from outside, which the loop passes on unchanged. A computation made
    /// before is used with [`Computation::inline`]. (While, XLA operation semantics.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let limit = b.parameter(0, "s32[]", "limit");
    /// let n = b.constant(1i32).while_loop(|n| n.lt(limit), |n| n * 2);
    /// assert_eq!(interp::run(&b.build(n)?, &["s32[] 1000".parse()?])?.to_string(), "s32[] 1024");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn while_loop(
        self,
        condition: impl FnOnce(Self) -> Self,
        body: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.record(|b| {
            let state = [self.shape()?];
            let body = b.trace_open("body", &state, |p| body(p[0]), true)?;
            if !body.result().compatible(&state[0]) {
                let message = format!(
                    "the loop's body returns {:#}, its state is {:#}",
                    body.result(),
                    state[0]
                );
                let help = "a loop's state keeps its shape: convert or reshape the body's result";
                return Err(misfit(message, help));
            }
            let condition = b.trace_open("condition", &state, |p| condition(p[0]), true)?;
            if !condition.result().is_scalar(ElementType::Pred) {
                let message = format!(
                    "the loop's condition returns {:#}, expected pred[]",
                    condition.result()
                );
                return Err(misfit(message, "compare something: `|state| state.lt(10)`"));
            }
            let [state] = state;
            let packing = Packing::new(b, state, &[&body, &condition]);
            let init = packing.pack(self)?;
            let body = packing.file(body, true);
            let condition = packing.file(condition, false);
            packing.unpack(b.emit(While { condition, body }, &[init], None)?)
        })
    }
    /// Applies `on_true` to `true_operand` if this scalar `pred` is true, otherwise `on_false` to
    /// `false_operand`: XLA's `Conditional` of two computations.
    ///
    /// Only one of the closures' computations runs. Both give the same shape. They may use values
    /// from outside, which become parameters after the operands'.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[]", "x"), b.parameter(1, "f32[]", "y"));
    /// let module = b.build(x.gt(0).conditional(x, |x| x * y, x, |x| -x))?;
    /// let arguments = ["f32[] 3".parse()?, "f32[] 5".parse()?];
    /// assert_eq!(interp::run(&module, &arguments)?.to_string(), "f32[] 15");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "cond")]
    #[track_caller]
    pub fn conditional(
        self,
        true_operand: Self,
        on_true: impl FnOnce(Self) -> Self,
        false_operand: Self,
        on_false: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.record(|b| {
            choice(self, &two(b, (true_operand, on_true), (false_operand, on_false))?, true)
        })
    }
    /// Chooses between closures by this scalar `s32`: XLA's `Conditional` with a branch index.
    ///
    /// The first [`case`](Cases::case) is for 0, the next for 1; [`otherwise`](Cases::otherwise) is
    /// the last branch, which numbers without a case lead to, negative ones too. Only one of them
    /// runs. They may use values from outside, which become parameters after the operands'.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (n, x) = (b.parameter(0, "s32[]", "n"), b.parameter(1, "f32[]", "x"));
    /// let y = n.switch().case(x, |x| x + 1).case(x, |x| x * 10).otherwise(x, |x| -x);
    /// let module = b.build(y)?;
    /// let arguments = ["s32[] 1".parse()?, "f32[] 4".parse()?];
    /// assert_eq!(interp::run(&module, &arguments)?.to_string(), "f32[] 40");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn switch(self) -> Cases<'b> {
        Cases { index: self, branches: Vec::new() }
    }
    /// As [`Value::switch`], between existing computations, each with the operand at its position.
    ///
    /// # Errors
    /// Kept by the builder: `E0202` if there are not as many operands as computations.
    #[track_caller]
    pub fn switch_computations(self, branches: &[Computation<'b>], operands: &[Self]) -> Self {
        self.record(|b| {
            let branches: Result<Vec<_>> = branches.iter().map(|c| c.id_in(b)).collect();
            let operands = [&[self], operands].concat();
            b.emit(Conditional { branches: branches?, on_pred: false }, &operands, None)
        })
    }
    /// Returns the value, as a barrier that compilers do not move instructions across: XLA's
    /// `OptimizationBarrier`. Of any shape, tuples too.
    #[track_caller]
    pub fn optimization_barrier(self) -> Self {
        self.record(|b| b.emit(OptBarrier {}, &[self], None))
    }
}

/// A conditional that is being built; see [`Value::switch`].
#[must_use = "a choice ends with `otherwise`"]
#[derive(Debug, Clone)]
pub struct Cases<'b> {
    index: Value<'b>,
    /// Nothing for one that could not be made.
    branches: Vec<Option<Branch<'b>>>,
}

impl<'b> Cases<'b> {
    /// Adds the branch of the next index: the closure, on this operand.
    #[track_caller]
    pub fn case(mut self, operand: Value<'b>, body: impl FnOnce(Value<'b>) -> Value<'b>) -> Self {
        let b = self.index.builder();
        let branch = b.record_or(None, |b| branch(b, "branch", operand, body).map(Some));
        self.branches.push(branch);
        self
    }
    /// Adds the branch of all other indices, and returns the result of the conditional.
    #[track_caller]
    pub fn otherwise(
        self,
        operand: Value<'b>,
        body: impl FnOnce(Value<'b>) -> Value<'b>,
    ) -> Value<'b> {
        let Cases { index, branches } = self;
        index.record(|b| {
            let last = branch(b, "branch", operand, body)?;
            let branches: Option<Vec<_>> = branches.into_iter().collect();
            let mut branches = branches.ok_or(Code::Invalid {})?;
            branches.push(last);
            choice(index, &branches, false)
        })
    }
}

/// A finished branch and its operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Branch<'b> {
    pub(crate) computation: ComputationId,
    pub(crate) operand: Value<'b>,
}

fn branch<'b>(
    b: &'b Builder,
    name: &str,
    operand: Value<'b>,
    body: impl FnOnce(Value<'b>) -> Value<'b>,
) -> Result<Branch<'b>> {
    let operand = b.adopt(operand)?;
    let shape = operand.shape()?;
    let traced: Traced = b.trace_open(name, std::slice::from_ref(&shape), |p| body(p[0]), true)?;
    let packing = Packing::new(b, shape, &[&traced]);
    Ok(Branch { operand: packing.pack(operand)?, computation: packing.file(traced, false) })
}

/// Traces the branches of a conditional on a `pred`.
pub(crate) fn two<'b>(
    b: &'b Builder,
    (true_operand, on_true): (Value<'b>, impl FnOnce(Value<'b>) -> Value<'b>),
    (false_operand, on_false): (Value<'b>, impl FnOnce(Value<'b>) -> Value<'b>),
) -> Result<[Branch<'b>; 2]> {
    let on_true = branch(b, "true_computation", true_operand, on_true)?;
    Ok([on_true, branch(b, "false_computation", false_operand, on_false)?])
}

/// Returns the conditional of branches that give one shape.
pub(crate) fn choice<'b>(
    selector: Value<'b>,
    branches: &[Branch<'b>],
    on_pred: bool,
) -> Result<Value<'b>> {
    let b = selector.builder();
    let mut first: Option<Shape> = None;
    for branch in branches {
        let given = b.signature(branch.computation)?.1;
        let first = first.get_or_insert_with(|| given.clone());
        if !given.compatible(first) {
            let message = format!("one branch returns {first:#}, another {given:#}");
            return Err(misfit(message, "all branches return the same shape"));
        }
    }
    let operands = branches.iter().map(|branch| branch.operand);
    let operands: Vec<_> = std::iter::once(selector).chain(operands).collect();
    let branches = branches.iter().map(|branch| branch.computation).collect();
    b.emit(Conditional { branches, on_pred }, &operands, None)
}

/// Selects between tuples: a conditional whose branches return their operand.
pub(crate) fn select_tuple<'b>(
    pred: Value<'b>,
    on_true: Value<'b>,
    on_false: Value<'b>,
) -> Result<Value<'b>> {
    let shape: Shape = pred.shape()?;
    if !shape.is_scalar(ElementType::Pred) {
        let message = format!("a scalar pred selects tuples, found {shape:#}");
        return Err(Error::argument(message));
    }
    Ok(pred.conditional(on_true, |x| x, on_false, |x| x))
}
