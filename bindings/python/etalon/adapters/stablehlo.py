"""StableHLO's reference interpreter, as jaxlib has it.

Needs `pip install jaxlib`. Several devices run as `interpreter.run_parallel` runs them.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxlib import version
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

from . import _jaxlib
from ._server import NUMPY, Program, Request, Tensor, Unsupported, captured, is_refusal, ml_dtype, narrow_bits, serve, signature, values

# The ops of CHLO become others, also some that are deprecated.
_PASSES = "chlo-legalize-to-stablehlo,stablehlo-legalize-deprecated-ops{fail-on-unused=false}"
# The interpreter ends its process at what it lacks.
_ERROR = re.compile(r"LLVM ERROR: (.*)")


class Interpreter:
    """The interpreter, in a process of its own for each execution."""

    name = f"StableHLO {stablehlo.get_current_version()} interpreter (jaxlib {version.__version__})"
    formats = ("mlir",)
    # It has a thread for each processor, and waits without end for those that it has not.
    devices = len(os.sched_getaffinity(0))

    def __init__(self) -> None:
        stablehlo.register_stablehlo_passes()
        self._context = _jaxlib.context()
        stablehlo.register_interpreter_dialect(self._context)

    def compile(self, request: Request) -> Program:
        with self._context, ir.Location.unknown():
            module = ir.Module.parse(request.read("mlir"))
            inputs, results = signature(ir, module)
            module = ir.Module.parse(_wrapped(module, inputs, results, request))
            try:
                passmanager.PassManager.parse(f"builtin.module(func.func({_PASSES}))").run(module.operation)
            except ir.MLIRError as error:
                raise Unsupported(str(error)) if is_refusal(str(error)) else error

        def execute(arguments: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
            given = [part for of_one in arguments for array, type in zip(of_one, inputs) for part in _enter(array, type)]
            found = iter(_in_a_fork(lambda: self._evaluate(module, given)))
            return [[_leave([next(found) for _ in _outside(type)[0]], type) for type in results] for _ in arguments]

        return execute

    def _evaluate(self, module: ir.Module, arguments: list[Any]) -> list[np.ndarray]:
        with self._context, ir.Location.unknown():
            types = signature(ir, module)[0]
            elements = [ir.Type.parse(type.element) for type in types]
            given = [ir.DenseElementsAttr.get(array, type=e, shape=list(t.dims)) for array, e, t in zip(arguments, elements, types)]
            return [np.array(ir.DenseElementsAttr(found)) for found in stablehlo.eval_module(module, given)]


def _outside(type: Tensor) -> tuple[list[Tensor], str | None]:
    """Returns the types of NumPy that stand for a value outside of the program, and the op that makes it of them."""
    element = type.element
    if element.startswith("complex"):
        return [type.of(element[len("complex<") : -1])] * 2, "complex"
    if element in NUMPY:
        return [type], None
    if re.match(r"f[46]E", element):
        return [type.of("f32")], "convert"
    if narrow_bits(element):
        return [type.of("ui8" if element.startswith("u") else "i8")], "convert"
    return [type.of("ui16" if element == "bf16" else "ui8")], "bitcast_convert"


def _enter(array: np.ndarray, type: Tensor) -> list[np.ndarray]:
    array, (parts, op) = values(array, type.element), _outside(type)
    if op == "complex":
        return [np.ascontiguousarray(array.real), np.ascontiguousarray(array.imag)]
    return [array.view(ml_dtype(type.element)).astype(np.float32) if op and parts[0].element == "f32" else array]


def _leave(parts: list[np.ndarray], type: Tensor) -> np.ndarray:
    parts = [part.reshape(type.dims) for part in parts]
    outside, op = _outside(type)
    if op == "complex":
        found = np.empty(type.dims, NUMPY[type.element])
        found.real, found.imag = parts
        return found
    return parts[0].astype(ml_dtype(type.element)).view(np.uint8) if op and outside[0].element == "f32" else parts[0]


# A value in a text, and its type.
_Value = tuple[str, Tensor]


def _names(values: list[_Value]) -> str:
    return ", ".join(name for name, _ in values)


def _types(values: list[_Value]) -> str:
    return ", ".join(str(type) for _, type in values)


def _wrapped(module: ir.Module, inputs: list[Tensor], results: list[Tensor], request: Request) -> str:
    """Returns the text of a module whose `main` takes and returns types of NumPy, and calls the given one for each device."""
    for operation in module.body.operations:
        if operation.operation.name == "func.func" and ir.StringAttr(operation.attributes["sym_name"]).value == "main":
            operation.attributes["sym_name"] = ir.StringAttr.get("main__")
            operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
    devices, lines = request.devices, list[str]()
    parameters, given, returned = list[_Value](), list[_Value](), list[_Value]()

    def define(name: str, op: str, operands: list[_Value], type: Tensor) -> _Value:
        lines.append(f'{name} = "stablehlo.{op}"({_names(operands)}) : ({_types(operands)}) -> {type}')
        return name, type

    for i, type in enumerate(inputs * devices):
        outside, op = _outside(type)
        parts = [(f"%a{i}_{part}", of_part) for part, of_part in enumerate(outside)]
        parameters += parts
        given.append(define(f"%b{i}", op, parts, type) if op else parts[0])
    found = [(f"%r{i}", type) for i, type in enumerate(results * devices)]
    grid = ", ".join(["[" + ", ".join(["@main__"] * request.partitions) + "]"] * request.replicas)
    left = ", ".join(name for name, _ in found) + " = " if found else ""
    # For one device too: without it the interpreter has no collective ops.
    call = f'"interpreter.run_parallel"({_names(given)}) {{programs = [{grid}]}}'
    lines.append(f"{left}{call} : ({_types(given)}) -> ({_types(found)})")
    for i, (name, type) in enumerate(found):
        outside, op = _outside(type)
        ops = ("real", "imag") if op == "complex" else (op,)
        returned += [define(f"%s{i}_{op}", op, [(name, type)], part) if op else (name, type) for op, part in zip(ops, outside)]
    lines.append(f"func.return {_names(returned)}{' : ' if returned else ''}{_types(returned)}")
    head = f"func.func public @main({', '.join(f'{name}: {type}' for name, type in parameters)}) -> ({_types(returned)})"
    inner = str(module)
    return inner[: inner.rindex("}")] + head + " {\n" + "\n".join(lines) + "\n}\n}"


def _in_a_fork(run: Callable[[], list[np.ndarray]]) -> list[np.ndarray]:
    """Returns the arrays of a function, which runs in a copy of this process; ends as that does if the reason is unknown."""
    with tempfile.NamedTemporaryFile() as file, captured() as said:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                np.savez(file, *run())
                file.flush()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = said().strip()
        if status == 0:
            with np.load(file.name) as found:
                return [found[name] for name in found.files]
    error = _ERROR.search(text)
    if error and is_refusal(error[1]):
        raise Unsupported(error[1])
    if status > 0:
        raise RuntimeError(text)
    print(text, file=sys.stderr, flush=True)
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    raise RuntimeError(f"the interpreter ended with signal {-status}")


if __name__ == "__main__":
    serve(Interpreter())
