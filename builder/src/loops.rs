//! Loops over lists of values, and elements of tuples.
use crate::arguments::size;
use crate::ops::movement::elements;
use crate::{Builder, Code, Error, Result, Value};
use hlo::ElementType;
use hlo::diag::quantity;

impl Builder {
    /// Repeats `body` on a list of values while `condition` is true: XLA's `WhileLoopHelper`.
    ///
    /// Both closures take the values; `body` returns as many, of the same shapes. The loop's state
    /// is their tuple.
    ///
    /// ```
    /// let b = builder::Builder::new("gcd");
    /// let start = [b.constant(48i32), b.constant(36i32)];
    /// let end = b.while_loop_helper(&start, |v| v[1].ne(0), |v| vec![v[1], v[0].rem(v[1])]);
    /// assert_eq!(interp::run(&b.build(end[0])?, &[])?.to_string(), "s32[] 12");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0806` if the closures return something else.
    #[track_caller]
    pub fn while_loop_helper<'b>(
        &'b self,
        initial: &[Value<'b>],
        condition: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        body: impl FnOnce(&[Value<'b>]) -> Vec<Value<'b>>,
    ) -> Vec<Value<'b>> {
        self.record_or(vec![Value::invalid(self); initial.len()], |b| {
            let state = b.tuple(initial);
            state.shape()?;
            let mut given = initial.len();
            let end = state.while_loop(
                |state| self.record(|_| Ok(condition(&elements(state)?))),
                |state| {
                    self.record(|_| {
                        let next = body(&elements(state)?);
                        given = next.len();
                        Ok(self.tuple(&next))
                    })
                },
            );
            if given != initial.len() {
                let message = format!(
                    "the loop's body returns {given}, its state has {}",
                    initial.len(),
                    given = quantity(given, "value")
                );
                return Err(Error::from(Code::Closure { message })
                    .with_help("return every value of the state, also those that do not change"));
            }
            elements(end)
        })
    }
    /// Runs `body` for every index from 0 to before `count`: XLA's `ForEachIndex`.
    ///
    /// The closure takes the index, a scalar of type `ty`, and the values; it returns as many, of
    /// the same shapes.
    ///
    /// ```
    /// let b = builder::Builder::new("powers");
    /// let start = [b.constant(1i32)];
    /// let end = b.for_each_index(5, hlo::ElementType::S32, &start, |_, v| vec![v[0] * 3]);
    /// assert_eq!(interp::run(&b.build(end[0])?, &[])?.to_string(), "s32[] 243");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if `ty` does not count; `E0807` if it does not hold `count`; as
    /// [`Builder::while_loop_helper`].
    #[track_caller]
    pub fn for_each_index<'b>(
        &'b self,
        count: i64,
        ty: ElementType,
        initial: &[Value<'b>],
        body: impl FnOnce(Value<'b>, &[Value<'b>]) -> Vec<Value<'b>>,
    ) -> Vec<Value<'b>> {
        self.record_or(vec![Value::invalid(self); initial.len()], |b| {
            if !ty.is_integral() {
                return Err(Error::argument(format!("an index is an integer, not {ty}")));
            }
            // Refused here, where the caller can be told, and not inside the closure.
            let _ = b.constant_r0_with_type(ty, count);
            let state = [&[b.constant_r0_with_type(ty, 0)], initial].concat();
            let end = b.while_loop_helper(
                &state,
                |v| v[0].lt(count),
                |v| {
                    let next = body(v[0], &v[1..]);
                    [vec![v[0] + 1], next].concat()
                },
            );
            Ok(end.into_iter().skip(1).collect())
        })
    }
}

impl Value<'_> {
    /// Returns the elements of a tuple: XLA's `DisassembleTuple`. [`Builder::tuple`] puts them
    /// together.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let pair = b.tuple(&[b.constant(1i32), b.constant(2.5f32)]);
    /// assert_eq!(pair.disassemble_tuple()[1].shape()?.to_string(), "f32[]");
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder, and nothing is given: `E0801` if it is no tuple.
    #[track_caller]
    pub fn disassemble_tuple(self) -> Vec<Self> {
        self.builder().record_or(Vec::new(), |_| elements(self))
    }
}

/// Returns a list of values as an array of known length.
pub(crate) fn exactly<'b, const N: usize>(values: Vec<Value<'b>>) -> Result<[Value<'b>; N]> {
    values.try_into().map_err(|values: Vec<Value<'b>>| {
        let message = format!("{} values are given, expected {}", size(values.len()), N);
        Error::argument(message)
    })
}
