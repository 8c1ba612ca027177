//! Values in the memory of NumPy, in both directions without copies.
use crate::error::misuse;
use hlo::{ArrayShape, Dims, ElementType, Literal};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A literal that Python holds.
#[pyclass(frozen, module = "etalon._etalon")]
pub(crate) struct Value(pub(crate) Literal);

/// The memory of an array of Python, which lives as long as its owner.
struct Foreign {
    address: usize,
    bytes: usize,
    _owner: Py<PyAny>,
}

impl AsRef<[u8]> for Foreign {
    #[expect(unsafe_code, reason = "NumPy states the address of its memory as a number")]
    fn as_ref(&self) -> &[u8] {
        let start = std::ptr::with_exposed_provenance(self.address);
        // SAFETY: `Value::array` is called by the package alone, with the address and the size of a contiguous array that the
        // owner keeps alive. It is not empty. Runs only read it.
        unsafe { std::slice::from_raw_parts(start, self.bytes) }
    }
}

#[pymethods]
impl Value {
    /// Returns an array in the memory of `owner`, which is contiguous, aligned and row-major.
    #[staticmethod]
    fn array(
        element_type: &str,
        dims: Vec<i64>,
        owner: Py<PyAny>,
        address: usize,
        bytes: usize,
    ) -> PyResult<Self> {
        let ty = ElementType::from_name(element_type)
            .ok_or_else(|| misuse(format!("`{element_type}` is not an element type")))?;
        let shape = ArrayShape::new(ty, Dims::from_vec(dims));
        let literal = match bytes {
            0 if shape.byte_count() == Some(0) => Some(Literal::zeros(shape)),
            0 => None,
            _ => Literal::from_owner(shape, Foreign { address, bytes, _owner: owner }),
        };
        let wrong =
            || misuse("the array's memory does not have the size or the alignment of its shape");
        literal.map(Self).ok_or_else(wrong)
    }
    /// Returns a tuple.
    #[staticmethod]
    fn tuple(elements: Vec<PyRef<'_, Self>>) -> Self {
        Self(Literal::tuple(elements.into_iter().map(|element| element.0.clone()).collect()))
    }
    /// Returns a token.
    #[staticmethod]
    fn token() -> Self {
        Self(Literal::token())
    }
    /// The name of the element type; none for a tuple or a token.
    #[getter]
    fn element_type(&self) -> Option<&'static str> {
        self.0.array_shape().map(|shape| shape.ty.name())
    }
    /// The sizes of an array.
    #[getter]
    fn dims(&self) -> Vec<i64> {
        self.0.array_shape().map_or_else(Vec::new, |_| self.0.sizes().to_vec())
    }
    /// The elements of a tuple; none for an array or a token.
    fn elements(&self) -> Option<Vec<Self>> {
        Some(self.0.elements()?.iter().cloned().map(Self).collect())
    }
    /// The memory of an array as bytes, by the protocol of NumPy. The array of NumPy keeps this value alive.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = self.0.bytes();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("shape", (bytes.len(),))?;
        interface.set_item("data", (bytes.as_ptr().expose_provenance(), false))?;
        Ok(interface)
    }
}

/// Returns a result that shares memory with nothing else, so that Python may write to it.
pub(crate) fn owned(literal: Literal) -> Literal {
    match literal.into_elements() {
        Ok(elements) => Literal::tuple(elements.into_iter().map(owned).collect()),
        Err(array) if array.array_shape().is_none() => array,
        Err(array) if array.dynamic_sizes().is_some() => array.to_static(),
        Err(mut array) => match array.is_unique() {
            true => array,
            false => array.copied(),
        },
    }
}

/// Returns the values of each device for a run.
pub(crate) fn literals(devices: Vec<Vec<PyRef<'_, Value>>>) -> Vec<Vec<Literal>> {
    let list =
        |values: Vec<PyRef<'_, Value>>| values.into_iter().map(|value| value.0.clone()).collect();
    devices.into_iter().map(list).collect()
}
