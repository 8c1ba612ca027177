"""A backend as a server: the requests of `etalon conform --backend-server`, and arrays in files.

The protocol is that of docs/backends.md. Nothing here imports the rest of the package, whose native part an environment may lack.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

# Takes the arguments of each device as they are stored, and returns the results of each device.
Program = Callable[[list[list[np.ndarray]]], list[list[np.ndarray]]]


class Unsupported(Exception):
    """What a backend cannot do: neither its failure nor that of the module."""


_REFUSAL = re.compile(r"unsupported|(?:not(?: yet)?|only) (?:supported|implemented)|unimplemented|unhandled|failed to legalize", re.I)


def is_refusal(message: str) -> bool:
    """Returns whether a message of a compiler says that it does not implement something."""
    return bool(_REFUSAL.search(message))


class Request(NamedTuple):
    """A module to compile: its files by format, and the number of devices."""

    files: dict[str, str]
    replicas: int
    partitions: int

    @property
    def devices(self) -> int:
        return self.replicas * self.partitions

    def read(self, format: str) -> bytes:
        with open(self.files[format], "rb") as file:
            return file.read()


class Backend(Protocol):
    """What `serve` offers.

    A backend whose functions are less accurate than those of XLA has a table `accuracies` of the most errors that it states, in units in the last
    place: `{"tanh": 4, "exponential.f16": 2}`.
    """

    @property
    def name(self) -> str: ...

    @property
    def formats(self) -> Sequence[str]:
        """The forms of a module that it reads: `hlo`, `pb`, `mlir`, `mlirbc`."""

    @property
    def devices(self) -> int | None:
        """The number of devices; none for any number."""

    def compile(self, request: Request) -> Program:
        """Returns a program, or raises what it cannot do as `Unsupported`."""


def serve(backend: Backend) -> None:
    """Answers requests until standard input ends."""
    # Libraries may write to standard output.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    programs: dict[int, tuple[Program, int]] = {}
    for line in sys.stdin:
        reply = _answer(backend, programs, json.loads(line))
        if reply is not None:
            print(json.dumps(reply), file=replies, flush=True)


def _answer(backend: Backend, programs: dict[int, tuple[Program, int]], request: dict[str, Any]) -> dict[str, Any] | None:
    kind, number = request["request"], request.get("program", 0)
    try:
        if kind == "hello":
            count = {} if backend.devices is None else {"devices": backend.devices}
            stated = {"accuracies": accuracies} if (accuracies := getattr(backend, "accuracies", {})) else {}
            return {"reply": "hello", "name": backend.name, "formats": list(backend.formats), **count, **stated}
        if kind == "compile":
            files = {name: request[name] for name in backend.formats if name in request}
            module = Request(files, request["replicas"], request["partitions"])
            programs[number] = backend.compile(module), module.devices
        elif kind == "execute":
            program, devices = programs[number]
            write(request["outputs"], program(read(request["inputs"], devices)))
        elif kind == "destroy":
            programs.pop(number, None)
            return None
        else:
            return {"reply": "failed", "message": f"this adapter knows no request `{kind}`"}
    except Unsupported as error:
        return {"reply": "unsupported", "message": str(error)}
    except Exception as error:
        traceback.print_exc()
        return {"reply": "failed", "message": f"{type(error).__name__}: {error}"}
    return {"reply": "ok"}


def read(path: str, devices: int) -> list[list[np.ndarray]]:
    """Reads the arguments of each device: `d0_in0`, .., or `in0`, .. for all of them."""
    found: list[dict[int, np.ndarray]] = [{} for _ in range(devices)]
    with np.load(path) as file:
        for name in file.files:
            match = re.fullmatch(r"(?:d(\d+)_)?in(\d+)", name)
            if match:
                for device in range(devices) if match[1] is None else [int(match[1])]:
                    found[device][int(match[2])] = file[name]
    return [[arrays[i] for i in range(len(arrays))] for arrays in found]


def write(path: str, results: list[list[np.ndarray]]) -> None:
    """Writes the results of each device, of one without its number."""
    prefixes = [f"d{device}_" for device in range(len(results))] if len(results) > 1 else [""]
    arrays: dict[str, Any] = {f"{prefix}out{i}": array for prefix, of_one in zip(prefixes, results) for i, array in enumerate(of_one)}
    with open(path, "wb") as file:
        np.savez(file, **arrays)


class Tensor(NamedTuple):
    """A type of MLIR: `tensor<2x3xf32>`."""

    dims: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.dims)}{self.element}>"

    def of(self, element: str) -> Tensor:
        return self._replace(element=element)


def tensor(text: str) -> Tensor:
    """Returns a type of static shape."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)([a-zA-Z]\w*|complex<\w+>)>", text)
    if not match:
        raise Unsupported(f"an argument or result of type {text}")
    return Tensor(tuple(int(size) for size in match[1].split("x")[:-1]), match[2])


def signature(ir: Any, module: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Returns the types of the arguments and results of `main`; `ir` is the Python interface of MLIR that parsed the module."""
    for operation in module.body.operations:
        attributes = operation.attributes
        if operation.operation.name == "func.func" and ir.StringAttr(attributes["sym_name"]).value == "main":
            function = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
            inputs, results = function.inputs, function.results
            return [tensor(str(type)) for type in inputs], [tensor(str(type)) for type in results]
    raise ValueError("the program has no function `main`")


NUMPY = {
    "i1": np.dtype(np.bool_),
    **{f"{u}i{bits}": np.dtype(f"{'u' if u else ''}int{bits}") for u in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}


def narrow_bits(element: str) -> int | None:
    """Returns the bits of an integer type of less than a byte."""
    match = re.fullmatch(r"u?i([24])", element)
    return int(match[1]) if match else None


def storage(element: str) -> np.dtype:
    """Returns the type of NumPy's arrays in files for an element type of MLIR."""
    if element in NUMPY:
        return NUMPY[element]
    if narrow_bits(element):
        return np.dtype(np.uint8 if element.startswith("u") else np.int8)
    return np.dtype(np.uint16 if element == "bf16" else np.uint8)


def values(array: np.ndarray, element: str) -> np.ndarray:
    """Returns an array of a file with the bits of its elements alone, and the signs of integers, in each byte."""
    kind = storage(element)
    array = np.ascontiguousarray(array).view(kind).reshape(array.shape)
    match = re.match(r"(?:u?i|f)([246])(?:E|$)", element)
    if not match:
        return array
    low = array & kind.type((1 << int(match[1])) - 1)
    sign = kind.type(1 << (int(match[1]) - 1))
    return (low ^ sign) - sign if kind.kind == "i" else low


def ml_dtype(element: str) -> np.dtype:
    """Returns the type of the package ml_dtypes for an element type of MLIR that NumPy lacks."""
    import ml_dtypes

    name = re.sub(r"^(u?)i", r"\1int", element)
    name = "bfloat16" if element == "bf16" else re.sub(r"^f(\d+)e", r"float\1_e", name.lower())
    if not hasattr(ml_dtypes, name):
        raise Unsupported(f"arrays of {element}: ml_dtypes {ml_dtypes.__version__} has no {name}")
    return np.dtype(getattr(ml_dtypes, name))


def typed(array: np.ndarray, element: str) -> np.ndarray:
    """Returns an array of a file as one of NumPy's or ml_dtypes' type."""
    array = values(array, element)
    if element in NUMPY:
        return array
    kind = ml_dtype(element)
    return array.astype(kind) if narrow_bits(element) else array.view(kind)


def stored(array: Any) -> np.ndarray:
    """Returns an array as files have it."""
    array = np.asarray(array)
    if array.dtype.isbuiltin == 1:
        return array
    if "int" in array.dtype.name:
        return array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)
    return array.view(f"u{array.dtype.itemsize}")


@contextmanager
def captured() -> Iterator[Any]:
    """Sends what is written to stderr, by libraries too, to a file; yields a function that returns it."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        os.dup2(file.fileno(), 2)

        def text() -> str:
            file.seek(0)
            return file.read().decode(errors="replace")

        try:
            yield text
        finally:
            os.dup2(kept, 2)
            os.close(kept)
