//! Callbacks into Python: `pure_callback`, `io_callback` and `debug.print` of JAX.
//!
//! The Python side of the plugin lowers them to the custom call [`TARGET`] with the number of the function, and registers one C
//! function that calls it.
#![expect(unsafe_code, reason = "calls a function of the host")]
use hlo::ir::Instruction;
use hlo::{ArrayShape, Literal, Module, Op};
use interp::{Call, Code, Error, Hooks};
use pjrt::buffer_type::{TOKEN, buffer_type};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError, RwLock};

/// The custom call that calls Python.
pub(crate) const TARGET: &str = "etalon_python_callback";

/// An operand or a result of a callback.
#[repr(C)]
#[derive(Debug)]
pub struct HostArray {
    data: *mut c_void,
    ty: c_int,
    rank: usize,
    dims: *const i64,
}

/// The function that calls Python: the number of the callback; the operands, which it reads; the results, which it writes; a place
/// for a message in UTF-8. It returns the length of the message, 0 for success.
pub type PythonCallback = unsafe extern "C" fn(
    number: u64,
    operands: *const HostArray,
    operand_count: usize,
    results: *const HostArray,
    result_count: usize,
    message: *mut u8,
    capacity: usize,
) -> usize;

/// The longest message of an exception, in bytes.
const MESSAGE: usize = 1 << 14;

static FUNCTION: RwLock<Option<PythonCallback>> = RwLock::new(None);

/// Registers the function that calls Python; null for none.
#[unsafe(no_mangle)]
pub extern "C" fn etalon_register_python_callback(function: Option<PythonCallback>) {
    *FUNCTION.write().unwrap_or_else(PoisonError::into_inner) = function;
}

/// Returns hooks with which programs call Python.
#[must_use]
pub fn with_python_callbacks(hooks: Hooks) -> Hooks {
    hooks.custom_call(TARGET, run)
}

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Returns how many callbacks this thread has run.
pub(crate) fn calls() -> u64 {
    CALLS.get()
}

/// How many compiled programs call each callback.
static USERS: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

/// Returns how many compiled programs call a callback. Python forgets a function when no program, not even one that is running, may call
/// it again.
#[unsafe(no_mangle)]
pub extern "C" fn etalon_python_callback_users(number: u64) -> usize {
    let users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    users.get(&number).copied().unwrap_or(0)
}

/// The callbacks of a program, which count it as long as this lives.
pub(crate) struct Uses(Vec<u64>);

impl Uses {
    /// Counts the callbacks of a module.
    pub(crate) fn of(module: &Module) -> Self {
        let mut numbers = Vec::new();
        for (_, computation) in module.computations.iter() {
            for (_, instruction) in computation.instructions.iter() {
                numbers.extend(callback_number(instruction));
            }
        }
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        for &number in &numbers {
            *users.entry(number).or_default() += 1;
        }
        Self(numbers)
    }
}
impl Drop for Uses {
    fn drop(&mut self) {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        for number in &self.0 {
            let left = users.get_mut(number).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if left == 0 {
                users.remove(number);
            }
        }
    }
}

/// Returns the number of the function that a callback into Python calls, of `TARGET` or of a target of XLA; none if the
/// instruction is no callback.
#[must_use]
pub fn callback_number(instruction: &Instruction) -> Option<u64> {
    let Op::CustomCall(call) = &instruction.op else { return None };
    let config = instruction.common.as_deref()?.backend_config.as_ref()?;
    number(&config.0).filter(|_| call.custom_call_target.0.contains("_python_"))
}

fn array(shape: Option<&ArrayShape>, data: *mut c_void) -> HostArray {
    match shape {
        Some(shape) => HostArray {
            data,
            ty: buffer_type(shape.ty),
            rank: shape.rank(),
            dims: shape.dims.as_ptr(),
        },
        None => {
            HostArray { data: std::ptr::null_mut(), ty: TOKEN, rank: 0, dims: std::ptr::null() }
        }
    }
}

fn failed(message: impl Into<String>) -> Error {
    Code::CustomCallFailed { target: TARGET.into(), message: message.into() }.into()
}

/// Runs a callback.
fn run(call: &Call<'_>) -> Result<Literal, Error> {
    CALLS.set(CALLS.get() + 1);
    let function = *FUNCTION.read().unwrap_or_else(PoisonError::into_inner);
    let help = "install the Python package `etalon`, which registers callbacks";
    let function = function.ok_or_else(|| failed("Python is not registered").with_help(help))?;
    let config = call.backend_config.map_or("", |config| config.0.as_str());
    let number = number(config).ok_or_else(|| failed("the number of the callback is missing"))?;
    let operands: Vec<HostArray> = (call.operands.iter())
        .map(|literal| array(literal.array_shape(), literal.bytes().as_ptr().cast_mut().cast()))
        .collect();
    let mut values: Vec<Literal> = (call.shape.leaves().into_iter())
        .map(|leaf| leaf.array().map_or_else(Literal::token, |shape| Literal::zeros(shape.clone())))
        .collect();
    let data: Vec<*mut u8> =
        values.iter_mut().map(|value| value.bytes_mut().as_mut_ptr()).collect();
    let results =
        values.iter().zip(data).map(|(value, data)| array(value.array_shape(), data.cast()));
    let results: Vec<HostArray> = results.collect();
    let mut message = vec![0u8; MESSAGE];
    // SAFETY: the arrays live until the call returns, and the results are written by nobody else.
    let length = unsafe {
        function(
            number,
            operands.as_ptr(),
            operands.len(),
            results.as_ptr(),
            results.len(),
            message.as_mut_ptr(),
            message.len(),
        )
    };
    if length > 0 {
        message.truncate(length);
        return Err(failed(String::from_utf8_lossy(&message)));
    }
    Ok(if call.shape.tuple().is_some() { Literal::tuple(values) } else { values.swap_remove(0) })
}

/// Returns the number in `{index = 5 : ui64}`.
fn number(config: &str) -> Option<u64> {
    let (_, rest) = config.split_once("index")?;
    let digits = rest.trim_start().strip_prefix('=')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{buffer, client, compile, launch, value};
    use std::thread::{ThreadId, current};

    static CALLED_ON: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

    unsafe extern "C" fn seven(
        _: u64,
        _: *const HostArray,
        _: usize,
        results: *const HostArray,
        _: usize,
        _: *mut u8,
        _: usize,
    ) -> usize {
        CALLED_ON.lock().unwrap().push(current().id());
        // SAFETY: the program has one result, of s32.
        unsafe { (*results).data.cast::<i32>().write(7) };
        0
    }

    #[test]
    fn what_called_python_last_runs_on_another_thread() {
        let text = "HloModule m
            other { x = s32[] parameter(0) ROOT n = s32[] negate(x) }
            python { x = s32[] parameter(0)
              ROOT r = s32[] custom-call(x), custom_call_target=\"etalon_python_callback\", backend_config=\"{index = 1 : ui64}\" }
            ENTRY e { x = s32[] parameter(0) ROOT r = s32[] conditional(x, x, x), branch_computations={other, python} }";
        etalon_register_python_callback(Some(seven));
        let (client, devices) = client(1);
        let program = compile(client, text, 1);
        let run = |number: i32| {
            value(launch(program, devices[0], buffer(client, devices[0], &[number], &[])))
        };
        for _ in 0..20 {
            for (number, result) in [(0, 0), (0, 0), (1, 7), (1, 7)] {
                assert_eq!(run(number), Ok(format!("s32[] {result}")));
            }
        }
        let threads = CALLED_ON.lock().unwrap();
        let others = threads.iter().skip(1).step_by(2);
        assert_eq!(threads.len(), 40);
        assert!(others.into_iter().all(|&id| id != current().id()));
    }

    #[test]
    fn the_number_of_a_callback_is_in_its_configuration() {
        assert_eq!(number("{index = 5 : ui64}"), Some(5));
        assert_eq!(number("{index = 18446744073709551615 : ui64}"), Some(u64::MAX));
        assert_eq!(number("{other = 5 : ui64}"), None);
    }
}
