//! Ops that apply a computation to many elements: `reduce`, `reduce_window`, `map`,
//! `select_and_scatter`.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::diag::quantity;
use hlo::op::value::{Window, WindowDim};
use hlo::op::{Map, Reduce, ReduceWindow, SelectAndScatter};

/// Converts `stablehlo.reduce`: its operands are the arrays, then an initial value for each.
pub(crate) fn reduce<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dimensions = scope.required(op, "dimensions")?;
    let to_apply = scope.applied(op, 0)?;
    let id = scope.emit(op, Reduce { dimensions, to_apply }, &operands)?;
    scope.bind_all(op, id)
}

/// Converts `stablehlo.map`.
pub(crate) fn map<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dimensions = scope.required(op, "dimensions")?;
    let to_apply = scope.applied(op, 0)?;
    let id = scope.emit(op, Map { dimensions, to_apply }, &operands)?;
    scope.bind(op, id)
}

/// Converts `stablehlo.reduce_window`.
pub(crate) fn reduce_window<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let sizes: Vec<i64> = scope.required(op, "window_dimensions")?;
    let window = window(scope, op, &sizes, ["base_dilations", "window_dilations"])?;
    let to_apply = scope.applied(op, 0)?;
    let id = scope.emit(op, ReduceWindow { window, to_apply }, &operands)?;
    scope.bind_all(op, id)
}

/// Converts `stablehlo.select_and_scatter`.
pub(crate) fn select_and_scatter<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands: [_; 3] = scope.exactly(op)?;
    let rank = scope.array(op, operands[0])?.rank();
    let sizes = scope.optional(op, "window_dimensions")?.unwrap_or_else(|| vec![1; rank]);
    let window = window(scope, op, &sizes, ["", ""])?;
    let (select, scatter) = (scope.applied(op, 0)?, scope.applied(op, 1)?);
    let id = scope.emit(op, SelectAndScatter { window, select, scatter }, &operands)?;
    scope.bind(op, id)
}

/// Sets a property of a dimension.
type Set = fn(&mut WindowDim, i64);

/// Returns a window of these sizes with the strides, dilations and padding of the op, which may be
/// absent.
pub(super) fn window(
    scope: &Scope<'_, '_>,
    op: &Op,
    sizes: &[i64],
    [base_dilation, window_dilation]: [&str; 2],
) -> Result<Window> {
    let mut dims: Vec<_> = sizes.iter().copied().map(WindowDim::new).collect();
    let lists: [(&str, Set); 4] = [
        ("window_strides", |dim, n| dim.stride = n),
        (base_dilation, |dim, n| dim.lhs_dilation = n),
        (window_dilation, |dim, n| dim.rhs_dilation = n),
        ("window_reversal", |dim, n| dim.reversal = n != 0),
    ];
    for (name, set) in lists {
        let values = scope.list(op, name)?;
        check_rank(scope, op, name, values.len(), dims.len())?;
        dims.iter_mut().zip(values).for_each(|(dim, n)| set(dim, n));
    }
    let padding = scope.list(op, "padding")?;
    pad(scope, op, &mut dims, &padding)?;
    Ok(Window { dims })
}
/// Sets the low and the high padding of each dimension.
pub(super) fn pad(
    scope: &Scope<'_, '_>,
    op: &Op,
    dims: &mut [WindowDim],
    padding: &[i64],
) -> Result<()> {
    check_rank(scope, op, "padding", padding.len(), 2 * dims.len())?;
    for (dim, pad) in dims.iter_mut().zip(padding.chunks_exact(2)) {
        (dim.pad_low, dim.pad_high) = (pad[0], pad[1]);
    }
    Ok(())
}
fn check_rank(
    scope: &Scope<'_, '_>,
    op: &Op,
    name: &str,
    found: usize,
    expected: usize,
) -> Result<()> {
    if found == 0 || found == expected {
        return Ok(());
    }
    let message = format!(
        "`{name}` of `{}` has {found}, expected {expected}",
        op.name,
        found = quantity(found, "entry")
    );
    Err(scope.malformed(op, message))
}
