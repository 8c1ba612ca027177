//! A run of a module over the field.
use crate::arithmetic::Field;
use crate::coverage::{Decided, Seen};
use crate::kernels::evaluate;
use crate::lift::{Lifted, target};
use collectives::{RunError, Session};
use hlo::{Array, Literal, Module, Verified};
use interp::{CompileOptions, DeviceGrid, Error, Hooks, RunOptions};
use num::index::count;
use std::sync::{Arc, Mutex, PoisonError};

/// The most steps of a run if there is no other limit, and those for each element of an array: a
/// loop that real numbers end may have no end for numbers of few digits.
const FUEL: (u64, u64) = (1_000_000, 2_000);

/// The elements that a call of a small function is worth.
const CALL: u64 = 16;

/// Returns the number of elements of all arrays of a module.
fn size(module: &Module) -> u64 {
    let all = module.instructions();
    let shapes = all.filter_map(|instruction| instruction.shape.array());
    let elements = shapes.map(|shape| u64::try_from(count(&shape.dims)).unwrap_or(u64::MAX));
    elements.fold(0, u64::saturating_add)
}

/// Returns why a module cannot be compiled, which names its own types.
pub(crate) fn compile_error(module: &Verified, devices: usize) -> Option<RunError> {
    let grid = grid(module.module(), devices);
    Session::compile_for(module.clone(), grid, &CompileOptions::default()).err()
}

fn grid(module: &Module, devices: usize) -> DeviceGrid {
    match devices {
        1 => DeviceGrid { replicas: 1, partitions: 1 },
        _ => DeviceGrid::of(&module.config),
    }
}

/// Compiles a module to run in floats. `None` if it does not compile; the run returns `None` if it ends
/// with an error.
pub(crate) fn in_floats<'a>(
    module: &Verified,
    limits: &'a RunOptions,
) -> Option<impl Fn(&[Literal]) -> Option<Literal> + 'a> {
    let grid = grid(module.module(), 1);
    let session = Session::compile_for(module.clone(), grid, &CompileOptions::default()).ok()?;
    let fuel = fuel(module.module());
    let limits = if limits.fuel.is_none() { limits.clone().fuel(fuel) } else { limits.clone() };
    Some(move |arguments: &[Literal]| {
        let arguments = [arguments.to_vec()];
        session.run_with(&arguments, &limits, |_| Hooks::new()).ok()?.results.pop()
    })
}

/// Returns the steps that a module may take.
fn fuel(module: &Module) -> u64 {
    FUEL.0.saturating_add(FUEL.1.saturating_mul(size(module)))
}

/// Runs a module over the field on the arguments of each device.
pub(crate) fn run(
    lifted: Lifted,
    field: &Arc<Field>,
    arguments: &[Vec<Literal>],
    limits: &RunOptions,
    covered: &mut Seen,
) -> Result<Vec<Literal>, RunError> {
    covered.expect(&lifted);
    let is_watched = covered.samples.is_some();
    let seen = Arc::new(Mutex::new(std::mem::take(covered)));
    let mut hooks = Hooks::new();
    for (number, watch) in lifted.watches {
        let seen = Arc::clone(&seen);
        hooks = hooks.custom_call(target(number), move |call| {
            let mut decided = Decided::new(Vec::new(), true);
            watch.note(call.operands, &mut decided);
            seen.lock().unwrap_or_else(PoisonError::into_inner).add(number, decided);
            Ok(call.operands[0].clone())
        });
    }
    for (number, stated) in lifted.calls.into_iter().enumerate() {
        let (field, seen) = (Arc::clone(field), Arc::clone(&seen));
        hooks = hooks.custom_call(target(number), move |call| {
            let mut decided = Decided::new(stated.ways(), is_watched);
            let result = evaluate(&field, &stated, call.operands, &mut decided);
            let sizes = call.operands.iter().filter_map(|value| value.array()).map(Array::len);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let work = u64::try_from(sizes.max().unwrap_or(0)).unwrap_or(u64::MAX);
            seen.work = seen.work.saturating_add(work.saturating_add(CALL));
            seen.add(number, decided);
            result.ok_or_else(|| {
                let name = stated.op.opcode().name();
                Error::unsupported(format!("`{name}` is not known over the field"))
            })
        });
    }
    let fuel = fuel(lifted.module.module());
    let grid = grid(lifted.module.module(), arguments.len());
    let session = Session::compile_for(lifted.module, grid, &CompileOptions::default())?;
    let limits = limits.clone();
    let limits = if limits.fuel.is_none() { limits.fuel(fuel) } else { limits };
    // Reducers of collectives have no device.
    let limits = limits.hooks(hooks.clone());
    let result = session.run_with(arguments, &limits, move |_| hooks.clone());
    *covered = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(result?.results)
}
