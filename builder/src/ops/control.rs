//! Calls, loops and branches.
use crate::{Builder, Code, Computation, Error, Result, Value};
use hlo::op::{Call, Conditional, While};
use hlo::{ElementType, Shape};

impl Builder {
    /// The result of a computation: XLA's `Call`.
    #[track_caller]
    pub fn call<'b>(&'b self, computation: Computation<'b>, operands: &[Value<'b>]) -> Value<'b> {
        self.record(|b| {
            let to_apply = computation.id_in(b)?;
            b.emit(Call { to_apply, is_composite: false }, operands, None)
        })
    }
}

impl<'b> Value<'b> {
    /// Repeats `body` on the state, which starts as `self`, while `condition` gives true: XLA's `While`.
    ///
    /// Both closures are given the state, an array or a tuple; `body` gives one of the same shape. (While, XLA operation
    /// semantics.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let n = b.constant(1i32).while_loop(|n| n.lt(1000), |n| n * 2);
    /// let module = b.build(n)?;
    /// let result = interp::Interpreter::new(&module).run(&[])?;
    /// assert_eq!(result.to_string(), "s32[] 1024");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn while_loop(
        self,
        condition: impl FnOnce(Self) -> Self,
        body: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.builder().record(|b| {
            let state = [self.shape()?];
            let body = b.trace("body", &state, |p| body(p[0]))?;
            let given = b.signature(body)?.1;
            if !given.compatible(&state[0]) {
                let message =
                    format!("the loop's body gives {given:#}, its state is {:#}", state[0]);
                return Err(Error::from(Code::Closure { message }).with_help(
                    "a loop's state keeps its shape: convert or reshape what the body gives",
                ));
            }
            let condition = b.trace("condition", &state, |p| condition(p[0]))?;
            let truth = b.signature(condition)?.1;
            if !truth.is_scalar(ElementType::Pred) {
                let message = format!("the loop's condition gives {truth:#}, wanted pred[]");
                return Err(Error::from(Code::Closure { message })
                    .with_help("compare something: `|state| state.lt(10)`"));
            }
            b.emit(While { condition, body }, &[self], None)
        })
    }
    /// What `on_true` gives of `true_operand` where this scalar `pred` is true, else what `on_false` gives of
    /// `false_operand`: XLA's `Conditional` of two computations.
    ///
    /// Only one of the closures' computations runs. Both give the same shape.
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn conditional(
        self,
        true_operand: Self,
        on_true: impl FnOnce(Self) -> Self,
        false_operand: Self,
        on_false: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.builder().record(|b| {
            let shapes = [true_operand.shape()?, false_operand.shape()?];
            let on_true = b.trace("true_computation", &shapes[..1], |p| on_true(p[0]))?;
            let on_false = b.trace("false_computation", &shapes[1..], |p| on_false(p[0]))?;
            let (left, right) = (b.signature(on_true)?.1, b.signature(on_false)?.1);
            if !left.compatible(&right) {
                let message = format!("one branch gives {left:#}, the other {right:#}");
                let error = Error::from(Code::Closure { message });
                return Err(error.with_help("both branches give one shape"));
            }
            let branches = vec![on_true, on_false];
            b.emit(
                Conditional { branches, on_pred: true },
                &[self, true_operand, false_operand],
                None,
            )
        })
    }
    /// What the closure of this scalar `s32`'s number gives; the last one's if there is none of that number: XLA's
    /// `Conditional` with a branch index.
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn switch(self, branches: &[Computation<'b>], operands: &[Self]) -> Self {
        self.builder().record(|b| {
            let branches: Result<Vec<_>> = branches.iter().map(|c| c.id_in(b)).collect();
            let operands = [&[self], operands].concat();
            b.emit(Conditional { branches: branches?, on_pred: false }, &operands, None)
        })
    }
}

/// `select` on tuples: a conditional whose branches hand their operand through.
pub(crate) fn select_tuple<'b>(
    pred: Value<'b>,
    on_true: Value<'b>,
    on_false: Value<'b>,
) -> Result<Value<'b>> {
    let shape: Shape = pred.shape()?;
    if !shape.is_scalar(ElementType::Pred) {
        let message = format!("tuples are selected by a scalar pred, this is {shape:#}");
        return Err(Error::argument(message));
    }
    Ok(pred.conditional(on_true, |x| x, on_false, |x| x))
}
