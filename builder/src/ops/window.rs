//! Moving windows: reduce-window, select-and-scatter.
use super::padding::{Padding, WindowOptions, window};
use super::reduce::scalars;
use super::shapes::inferred;
use crate::{Builder, Error, Operand, Result, Value};
use hlo::diag::quantity;
use hlo::op::value::{Text, Window};
use hlo::op::{CustomCall, ReduceWindow, SelectAndScatter};
use hlo::{ElementType, Op};

impl<'b> Value<'b> {
    /// Folds the elements under a moving window, padded by a rule: XLA's `ReduceWindow`.
    ///
    /// At each position of the window the accumulator starts as `init`; `combine` takes it and an
    /// element. Padding is skipped. The result has one element for each position. Where a dynamic
    /// dimension is padded by `Padding::Same` it is a custom call of
    /// `DynamicReduceWindowSamePadding`, as in XLA. (`ReduceWindow`, XLA operation semantics.)
    ///
    /// ```
    /// use builder::options::Padding;
    /// let b = builder::Builder::new("pool");
    /// let x = b.constant([1i32, 5, 2, 3, 9]);
    /// let top = x.reduce_window(i32::MIN, |a, c| a.max(c), &[2], &[2], Padding::Valid);
    /// assert_eq!(interp::run(&b.build(top)?, &[])?.to_string(), "s32[2]{0} {5, 3}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn reduce_window(
        self,
        init: impl Operand<'b>,
        combine: impl FnOnce(Self, Self) -> Self,
        window_dimensions: &[i64],
        window_strides: &[i64],
        padding: Padding,
    ) -> Self {
        self.record(|b| {
            let init = init.beside(self)?.value;
            let window = ruled(self, window_dimensions, window_strides, padding)?;
            fold(b, &[self], &[init], |p| combine(p[0], p[1]), window, padding)
        })
    }
    /// Folds the elements under a moving window of any strides, padding and holes: XLA's
    /// `ReduceWindowWithGeneralPadding`. As [`Value::reduce_window`]; holes are skipped as padding
    /// is.
    #[track_caller]
    pub fn reduce_window_with_general_padding(
        self,
        init: impl Operand<'b>,
        combine: impl FnOnce(Self, Self) -> Self,
        window_dimensions: &[i64],
        options: &WindowOptions,
    ) -> Self {
        self.record(|b| {
            let init = init.beside(self)?.value;
            let window = window(window_dimensions, options, &[])?;
            fold(b, &[self], &[init], |p| combine(p[0], p[1]), window, Padding::Valid)
        })
    }
    /// Selects one element in each position of a window, and scatters the value of `source` to it:
    /// XLA's `SelectAndScatter`, the gradient of a pooling layer.
    ///
    /// `select` takes the element chosen so far and the next, and says whether the former is kept.
    /// All elements of the result start as `init`; `scatter` takes what is there and the source's
    /// element. `source` has an element for each position. Where a dynamic dimension is padded by
    /// `Padding::Same` it is a custom call of `DynamicSelectAndScatterSamePadding`, as in XLA.
    /// (`SelectAndScatter`, XLA operation semantics.)
    ///
    /// ```
    /// use builder::options::Padding;
    /// let b = builder::Builder::new("pool_grad");
    /// let (x, dy) = (b.constant([1i32, 5, 2, 3]), b.constant([10i32, 20]));
    /// let dx = x.select_and_scatter(|a, c| a.ge(c), &[2], &[2], Padding::Valid, dy, 0, |a, c| a + c);
    /// assert_eq!(interp::run(&b.build(dx)?, &[])?.to_string(), "s32[4]{0} {0, 10, 0, 20}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::too_many_arguments, reason = "XLA's arguments, in XLA's order")]
    #[track_caller]
    pub fn select_and_scatter(
        self,
        select: impl FnOnce(Self, Self) -> Self,
        window_dimensions: &[i64],
        window_strides: &[i64],
        padding: Padding,
        source: Self,
        init: impl Operand<'b>,
        scatter: impl FnOnce(Self, Self) -> Self,
    ) -> Self {
        self.record(|b| {
            let init = init.beside(self)?.value;
            let window = ruled(self, window_dimensions, window_strides, padding)?;
            let op = selecting(self, window, select, scatter)?;
            let operands = [self, source, init];
            if !same_at_run_time(self, &op.window, padding)? {
                return b.emit(op, &operands, None);
            }
            let called_computations = vec![op.select, op.scatter];
            let shape = inferred(b, &Op::from(op.clone()), &operands, None)?;
            let target = Text("DynamicSelectAndScatterSamePadding".into());
            let call =
                CustomCall { window: op.window, called_computations, ..CustomCall::new(target) };
            b.emit(call, &operands, Some(shape))
        })
    }
    /// As [`Value::select_and_scatter`], padded by `(low, high)` of each dimension: XLA's
    /// `SelectAndScatterWithGeneralPadding`.
    #[expect(clippy::too_many_arguments, reason = "XLA's arguments, in XLA's order")]
    #[track_caller]
    pub fn select_and_scatter_with_general_padding(
        self,
        select: impl FnOnce(Self, Self) -> Self,
        window_dimensions: &[i64],
        window_strides: &[i64],
        padding: &[(i64, i64)],
        source: Self,
        init: impl Operand<'b>,
        scatter: impl FnOnce(Self, Self) -> Self,
    ) -> Self {
        self.record(|b| {
            let init = init.beside(self)?.value;
            let options = WindowOptions {
                strides: window_strides.to_vec(),
                padding: padding.to_vec(),
                ..WindowOptions::default()
            };
            let window = window(window_dimensions, &options, &[])?;
            b.emit(selecting(self, window, select, scatter)?, &[self, source, init], None)
        })
    }
}

impl Builder {
    /// As [`Value::reduce_window`], for several arrays: XLA's `ReduceWindow` of many.
    ///
    /// `combine` takes the accumulators, then an element of each array, and returns a tuple of new
    /// accumulators (for one array, the accumulator). The result is a tuple; for one array, the
    /// array.
    #[track_caller]
    pub fn reduce_window<'b>(
        &'b self,
        operands: &[Value<'b>],
        inits: &[Value<'b>],
        combine: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        window_dimensions: &[i64],
        window_strides: &[i64],
        padding: Padding,
    ) -> Value<'b> {
        self.record(|b| {
            let first = one_init_each(operands, inits)?;
            let window = ruled(first, window_dimensions, window_strides, padding)?;
            fold(b, operands, inits, combine, window, padding)
        })
    }
    /// As [`Value::reduce_window_with_general_padding`], for several arrays: XLA's
    /// `ReduceWindowWithGeneralPadding` of many.
    #[track_caller]
    pub fn reduce_window_with_general_padding<'b>(
        &'b self,
        operands: &[Value<'b>],
        inits: &[Value<'b>],
        combine: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        window_dimensions: &[i64],
        options: &WindowOptions,
    ) -> Value<'b> {
        self.record(|b| {
            let _ = one_init_each(operands, inits)?;
            let window = window(window_dimensions, options, &[])?;
            fold(b, operands, inits, combine, window, Padding::Valid)
        })
    }
}

/// Returns the first of the arrays, if there is one and an initial value for each.
fn one_init_each<'b>(operands: &[Value<'b>], inits: &[Value<'b>]) -> Result<Value<'b>> {
    let first = operands.first().filter(|_| operands.len() == inits.len());
    first.copied().ok_or_else(|| {
        let (arrays, inits) =
            (quantity(operands.len(), "array"), quantity(inits.len(), "initial value"));
        Error::argument(format!("{arrays} cannot be folded from {inits}"))
            .with_help("give one array or more, and an initial value for each")
    })
}

/// Returns the window over an array, padded by a rule.
fn ruled(over: Value<'_>, sizes: &[i64], strides: &[i64], padding: Padding) -> Result<Window> {
    let padding = padding.amounts(&over.dims()?, sizes, strides)?;
    let strides = strides.to_vec();
    window(sizes, &WindowOptions { strides, padding, ..WindowOptions::default() }, &[])
}

/// Returns whether the padding follows from sizes that are known only at run time.
fn same_at_run_time(over: Value<'_>, window: &Window, padding: Padding) -> Result<bool> {
    let shape = over.array()?;
    let moves = window
        .dims
        .iter()
        .map(|dim| (dim.size, dim.stride, dim.pad_low, dim.pad_high) != (1, 1, 0, 0));
    let moves_over_dynamic = moves.enumerate().any(|(d, moves)| moves && shape.is_dynamic(d));
    Ok(padding == Padding::Same && moves_over_dynamic)
}

/// Emits a reduce-window, or the custom call that XLA makes where `Padding::Same` depends on a
/// dynamic size.
fn fold<'b>(
    b: &'b Builder,
    operands: &[Value<'b>],
    inits: &[Value<'b>],
    combine: impl FnOnce(&[Value<'b>]) -> Value<'b>,
    window: Window,
    padding: Padding,
) -> Result<Value<'b>> {
    let scalars = scalars(inits)?;
    let to_apply = b.trace("reducer", &[scalars.clone(), scalars].concat(), combine)?;
    let op = ReduceWindow { window, to_apply };
    let all = [operands, inits].concat();
    let mut by_size = false;
    for &operand in operands {
        by_size |= same_at_run_time(operand, &op.window, padding)?;
    }
    if !by_size {
        return b.emit(op, &all, None);
    }
    let shape = inferred(b, &Op::from(op.clone()), &all, None)?;
    let call = CustomCall {
        window: op.window,
        called_computations: vec![op.to_apply],
        ..CustomCall::new(Text("DynamicReduceWindowSamePadding".into()))
    };
    b.emit(call, &all, Some(shape))
}

fn selecting<'b>(
    operand: Value<'b>,
    window: Window,
    select: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    scatter: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
) -> Result<SelectAndScatter> {
    let (b, ty): (_, ElementType) = (operand.builder(), operand.element_type()?);
    let select = b.combiner("select", ty, select)?;
    let scatter = b.combiner("scatter", ty, scatter)?;
    Ok(SelectAndScatter { window, select, scatter })
}
