"""XLA's own interpreter, `HloEvaluator`, as jaxlib had it up to 0.4.13.

Needs `pip install jaxlib==0.4.13 'numpy<2' 'scipy<1.12' ml_dtypes`, in Python 3.10 or 3.11.
"""

from __future__ import annotations

import numpy as np
from jaxlib import version, xla_client

from ._server import Program, Request, Unsupported, is_refusal, serve, stored

_xla = xla_client._xla


class Evaluator:
    """The client of the platform `interpreter`."""

    name = f"XLA's interpreter (jaxlib {version.__version__})"
    formats = ("hlo",)
    devices = 1

    def __init__(self) -> None:
        self._client = _xla.get_interpreter_client()

    def compile(self, request: Request) -> Program:
        try:
            module = _xla.hlo_module_from_text(request.read("hlo").decode())
            computation = _xla.XlaComputation(module.as_serialized_hlo_module_proto())
            program = _xla.mlir.xla_computation_to_mlir_module(computation)
        except Exception as error:
            # It is of 2023: what it does not read, it does not have.
            raise Unsupported(str(error)) from error
        shapes = computation.program_shape().parameter_shapes()
        leaves = [leaf for shape in shapes for leaf in (shape.tuple_shapes() if shape.is_tuple() else [shape])]
        try:
            loaded = self._client.compile(program, xla_client.CompileOptions())
        except Exception as error:
            raise Unsupported(str(error)) if is_refusal(str(error)) else error

        def execute(arguments: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
            given = [array.view(leaf.numpy_dtype()) for array, leaf in zip(arguments[0], leaves)]
            found = loaded.execute([self._client.buffer_from_pyval(array) for array in given])
            # Without JAX its arrays have no other way to NumPy.
            return [[stored(array._single_device_array_to_np_array()) for array in found]]

        return execute


if __name__ == "__main__":
    serve(Evaluator())
