"""Arrays of NumPy as values of Etalon, and back, in the same memory."""

from __future__ import annotations

import importlib

import numpy as np

from ._etalon import Value

_NUMPY = {
    "pred": "bool",
    **{f"{letter}{bits}": f"{kind}{bits}" for letter, kind in (("s", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}
# Types of the package ml_dtypes.
_ML_DTYPES = {
    "bf16": "bfloat16",
    **{f"{letter}{bits}": f"{kind}{bits}" for letter, kind in (("s", "int"), ("u", "uint")) for bits in (1, 2, 4)},
    "f8e5m2": "float8_e5m2",
    "f8e4m3": "float8_e4m3",
    "f8e3m4": "float8_e3m4",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
    "f6e3m2fn": "float6_e3m2fn",
    "f6e2m3fn": "float6_e2m3fn",
    "f4e2m1fn": "float4_e2m1fn",
}
_NAMES = {name: hlo for table in (_NUMPY, _ML_DTYPES) for hlo, name in table.items()}
# Integers of which NumPy's packages keep only the low bits of a byte.
_SMALL = {"s1": "int8", "s2": "int8", "s4": "int8", "u1": "uint8", "u2": "uint8", "u4": "uint8"}


def dtype(element_type: str) -> np.dtype:
    """Returns the type of NumPy's arrays for an element type of HLO: ``dtype("bf16")``."""
    if element_type in _NUMPY:
        return np.dtype(_NUMPY[element_type])
    if element_type not in _ML_DTYPES:
        raise ValueError(f"`{element_type}` is not an element type of HLO")
    try:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), _ML_DTYPES[element_type]))
    except (ImportError, AttributeError):
        help = "install or update it: pip install -U ml_dtypes"
        raise TypeError(f"arrays of {element_type} need {_ML_DTYPES[element_type]} of the package ml_dtypes; {help}") from None


def element_type(dtype: np.dtype) -> str | None:
    """Returns the element type of HLO for a type of NumPy's arrays; none if HLO has none."""
    return _NAMES.get(np.dtype(dtype).name)


def describe(shape) -> str:
    """Returns the text of a shape."""
    if shape is None:
        return "token[]"
    if isinstance(shape, list):
        return f"({', '.join(map(describe, shape))})"
    name, dims = shape
    return f"{name}[{','.join(map(str, dims))}]"


def to_value(array, shape, where: str) -> Value:
    """Returns an argument as a value of this shape."""
    if shape is None:
        return Value.token()
    if isinstance(shape, list):
        if not isinstance(array, (tuple, list)) or len(array) != len(shape):
            raise TypeError(f"{where} must be a tuple of {len(shape)} values, as {describe(shape)}")
        parts = enumerate(zip(array, shape))
        return Value.tuple([to_value(part, of, f"{where}[{i}]") for i, (part, of) in parts])
    expected, _ = shape
    found = np.asarray(array) if hasattr(array, "dtype") else _converted(array, shape, where)
    name = element_type(found.dtype)
    if name != expected:
        found_type = f"{name or found.dtype}[{','.join(map(str, found.shape))}]"
        convert = f"etalon.dtype({expected!r})" if expected in _ML_DTYPES else f"np.{_NUMPY[expected]}"
        help = f"convert it: x.astype({convert})"
        raise TypeError(f"{where} has type {found_type}, but the parameter has {describe(shape)}; {help}")
    return array_value(found, expected)


def _converted(values, shape, where: str) -> np.ndarray:
    """Returns numbers and lists as an array of the parameter's type. Floats are rounded to it, integers must be exact."""
    expected, _ = shape
    is_integer = expected == "pred" or expected[0] in "su"
    try:
        given = np.asarray(values)
        kinds = "biufc" if is_integer or expected[0] == "c" else "biuf"
        if given.dtype.kind not in kinds:
            raise TypeError(f"found {given.dtype}")
        found = given.astype(dtype(expected))
        if is_integer and not (found.astype(given.dtype) == given).all():
            raise ValueError(f"{expected} cannot represent its numbers")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where} cannot be converted to {describe(shape)}: {error}") from None
    return found


def array_value(array: np.ndarray, name: str) -> Value:
    """Returns an array as a value in the same memory, if that is contiguous and aligned."""
    dims = list(array.shape)
    if name in _SMALL:
        array = array.astype(_SMALL[name])
    array = np.require(array, requirements=["C", "A"])
    return Value.array(name, dims, array, array.__array_interface__["data"][0], array.nbytes)


def values_of(arrays) -> list[Value]:
    """Returns arrays as values of their own types."""
    return [_own_value(np.asarray(array)) for array in arrays]


def _own_value(array: np.ndarray) -> Value:
    name = element_type(array.dtype)
    if name is None:
        raise TypeError(f"an array has type {array.dtype}, which HLO lacks")
    return array_value(array, name)


def from_value(value: Value):
    """Returns a value as an array in the same memory, as a tuple of those, or as none for a token."""
    elements = value.elements()
    if elements is not None:
        return tuple(map(from_value, elements))
    name = value.element_type
    if name is None:
        return None
    if 0 in value.dims:
        return np.empty(value.dims, dtype(name))
    memory = np.asarray(value)
    if name in _SMALL:
        memory = memory & np.uint8((1 << int(name[1:])) - 1)
    return memory.view(dtype(name)).reshape(value.dims)
