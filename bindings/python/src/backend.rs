//! A backend that is a callable of Python.
use crate::interrupt::Caller;
use crate::program::Program;
use crate::value::Value;
use conformance::backend::{Backend, BackendError, Capabilities, Code, LoadedModule};
use hlo::{Literal, Shape, Verified};
use interp::DeviceGrid;
use pyo3::exceptions::{PyException, PyNotImplementedError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A backend of the package: `compile(program, is_whole)` returns a callable of values.
pub(crate) struct PythonBackend {
    pub(crate) name: String,
    pub(crate) adapter: Arc<Py<PyAny>>,
    pub(crate) caller: Arc<Caller>,
    /// The module of the search, which the backend may run in a way of its own.
    pub(crate) whole: Arc<Verified>,
}

/// What a call of Python gave: a value, or the error of the backend.
type Outcome<T> = Result<T, BackendError>;

/// Why a backend has no result.
fn refused(py: Python<'_>, error: &PyErr, other: impl FnOnce(String) -> Code) -> BackendError {
    let text = error.value(py).to_string();
    if error.is_instance_of::<PyNotImplementedError>(py) {
        return Code::Unsupported { message: text }.into();
    }
    let name =
        error.get_type(py).name().map_or_else(|_| "error".to_owned(), |name| name.to_string());
    other(format!("{name}: {text}")).into()
}

/// Splits the errors of the backend from those that end the search, such as Ctrl-C.
fn split<T>(
    py: Python<'_>,
    result: PyResult<T>,
    other: impl FnOnce(String) -> Code,
) -> PyResult<Outcome<T>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) if error.is_instance_of::<PyException>(py) => {
            Ok(Err(refused(py, &error, other)))
        }
        Err(error) => Err(error),
    }
}

fn ended() -> BackendError {
    Code::Failed { message: "interrupted".to_owned() }.into()
}

impl Backend for PythonBackend {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { devices: Some(1), isolated: false }
    }
    fn interrupt(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(self.caller.flag()))
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        _grid: DeviceGrid,
    ) -> Outcome<Box<dyn LoadedModule>> {
        let is_whole = Arc::ptr_eq(module, &self.whole);
        let (adapter, verified) = (Arc::clone(&self.adapter), Arc::clone(module));
        let compiled = self.caller.call(move |py| {
            let program = Program::of_verified(verified);
            let compiled = adapter.call_method1(py, "compile", (program, is_whole));
            split(py, compiled, |message| Code::Rejected { message })
        });
        let callable = Arc::new(compiled.unwrap_or_else(|| Err(ended()))?);
        let shape = module.module().entry().result_shape().clone();
        Ok(Box::new(PythonModule { callable, caller: Arc::clone(&self.caller), shape }))
    }
}

struct PythonModule {
    callable: Arc<Py<PyAny>>,
    caller: Arc<Caller>,
    shape: Shape,
}

impl LoadedModule for PythonModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Outcome<Vec<Literal>> {
        let (callable, arguments) = (Arc::clone(&self.callable), arguments.to_vec());
        let executed = self.caller.call(move |py| {
            let call = || {
                let one = arguments.into_iter().next().unwrap_or_default();
                let values: Vec<Value> = one.into_iter().map(Value).collect();
                let results = callable.call1(py, (values,))?;
                let results: Vec<PyRef<'_, Value>> = results.extract(py)?;
                // The memory is Python's, which may change it after the call.
                Ok(results.iter().map(|value| value.0.copied()).collect())
            };
            split(py, call(), |message| Code::Failed { message })
        });
        let leaves: Vec<Literal> = executed.unwrap_or_else(|| Err(ended()))?;
        let result = assembled(&self.shape, leaves);
        Ok(vec![result.map_err(|message| BackendError::from(Code::Failed { message }))?])
    }
}

/// Returns the result of this shape from its arrays.
fn assembled(shape: &Shape, leaves: Vec<Literal>) -> Result<Literal, String> {
    let count = shape.leaves().into_iter().filter(|leaf| leaf.array().is_some()).count();
    if leaves.len() != count {
        return Err(format!(
            "the backend returned {} arrays, the module has {count}",
            leaves.len()
        ));
    }
    build(shape, &mut leaves.into_iter())
}

fn build(shape: &Shape, leaves: &mut impl Iterator<Item = Literal>) -> Result<Literal, String> {
    match shape {
        Shape::Array(expected) => {
            let leaf = leaves.next().ok_or("an array is missing")?;
            let found = leaf.array_shape().ok_or("not an array")?;
            if found.ty != expected.ty || found.dims != expected.dims {
                return Err(format!("the backend returned {found:#}, the module has {expected:#}"));
            }
            Ok(leaf.with_shape(expected.clone()))
        }
        Shape::Tuple(parts) => {
            let parts: Result<Vec<_>, _> = parts.iter().map(|part| build(part, leaves)).collect();
            parts.map(Literal::tuple)
        }
        Shape::Token => Ok(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => Err(format!("{shape} has no value")),
    }
}
