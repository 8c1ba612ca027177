"""IREE: compiles StableHLO for the processor, or for its virtual machine `vmvx`.

Needs `pip install iree-base-compiler iree-base-runtime`.
"""

from __future__ import annotations

import argparse
import re

import numpy as np
from iree import runtime  # type: ignore
from iree.compiler import ir, version  # type: ignore
from iree.compiler.api import Output, Session, Source  # type: ignore

from ._server import NUMPY, Program, Request, Tensor, Unsupported, captured, is_refusal, narrow_bits, serve, signature, storage, values

_FLAGS = (
    # `auto` does not recognize portable artifacts and programs with CHLO alone.
    "--iree-input-type=stablehlo_xla",
    "--iree-hal-target-device=local",
    "--iree-llvmcpu-target-cpu=host",
    # Other types would be another program.
    "--iree-input-demote-f64-to-f32=false",
    "--iree-input-demote-i64-to-i32=false",
)
# What IREE's compiler says, beside that, where it lacks an op, a type or a function.
_REFUSAL = re.compile(r"expected to be legal|integral number of total bytes|got 'complex<|undefined symbol")
_HAL = {
    "i1": "BOOL_8",
    "bf16": "BFLOAT_16",
    "complex<f32>": "COMPLEX_64",
    "complex<f64>": "COMPLEX_128",
    "f8E4M3FN": "FLOAT_8_E4M3_FN",
    "f8E4M3FNUZ": "FLOAT_8_E4M3_FNUZ",
    "f8E5M2": "FLOAT_8_E5M2",
    "f8E5M2FNUZ": "FLOAT_8_E5M2_FNUZ",
    "f8E8M0FNU": "FLOAT_8_E8M0_FNU",
    "i4": "INT_4",
    "ui4": "INT_4",
    **{f"f{bits}": f"FLOAT_{bits}" for bits in (16, 32, 64)},
    # IREE's programs have integers without a sign.
    **{f"{u}i{bits}": f"INT_{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)},
}


def _element_type(element: str) -> runtime.HalElementType:
    if element not in _HAL:
        raise Unsupported(f"IREE's runtime has no arrays of {element}")
    return getattr(runtime.HalElementType, _HAL[element])


class Iree:
    """IREE's compiler and runtime in this process."""

    formats = ("mlir",)
    devices = 1

    def __init__(self, target: str, flags: list[str]):
        self.name = f"IREE {version.VERSION} {target}"
        self._session = Session()
        self._session.set_flags(*_FLAGS, f"--iree-hal-local-target-device-backends={target}", *flags)
        self._instance = runtime.VmInstance()
        self._device = runtime.get_device("local-sync")

    def compile(self, request: Request) -> Program:
        text = request.read("mlir")
        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            inputs, results = signature(ir, ir.Module.parse(text.decode()))
        for type in inputs + results:
            _element_type(type.element)
        module = runtime.VmModule.copy_buffer(self._instance, self._bytecode(text))
        hal = runtime.create_hal_module(self._instance, self._device)
        context = runtime.VmContext(self._instance, [hal, module])
        function = module.lookup_function("main")

        def execute(arguments: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
            given, found = runtime.VmVariantList(len(inputs)), runtime.VmVariantList(len(results))
            for array, type in zip(arguments[0], inputs):
                given.push_ref(self._view(array, type))
            context.invoke(function, given, found)
            views = (found.get_as_object(i, runtime.HalBufferView) for i in range(found.size))
            return [[_array(view, type) for view, type in zip(views, results)]]

        return execute

    def _bytecode(self, text: bytes) -> bytes:
        with captured() as diagnostics:
            invocation = self._session.invocation()
            invocation.enable_console_diagnostics()
            # The compiler reads texts to a zero.
            source = Source.wrap_buffer(self._session, text + b"\0")
            is_compiled = invocation.parse_source(source) and invocation.execute()
            output = Output.open_membuffer()
            if is_compiled:
                invocation.output_vm_bytecode(output)
                return bytes(output.map_memory())
            said = diagnostics()
        errors = [match[1] for match in re.finditer(r"error: (.*)", said)] or [said.strip() or "no reason given"]
        refusal = next((error for error in errors if is_refusal(error) or _REFUSAL.search(error)), None)
        raise Unsupported(refusal) if refusal else RuntimeError(errors[0])

    def _view(self, array: np.ndarray, type: Tensor) -> runtime.HalBufferView:
        array = values(array, type.element)
        if narrow_bits(type.element):
            nibbles = np.append(array.reshape(-1).view(np.uint8) & 15, np.zeros(array.size % 2, np.uint8))
            array = nibbles[::2] | nibbles[1::2] << 4
        kind = _element_type(type.element)
        view = self._device.allocator.allocate_buffer_copy(
            memory_type=runtime.MemoryType.DEVICE_LOCAL,
            allowed_usage=runtime.BufferUsage.DEFAULT | runtime.BufferUsage.MAPPING,
            device=self._device,
            # Arrays without elements have no memory.
            buffer=array if array.size else np.zeros(1, array.dtype),
            element_type=kind,
        )
        return runtime.HalBufferView(view.get_buffer(), list(type.dims), kind)


def _array(view: runtime.HalBufferView, type: Tensor) -> np.ndarray:
    kind, size = storage(type.element), int(np.prod(view.shape))
    if list(view.shape) != list(type.dims):
        raise ValueError(f"IREE returned an array of shape {view.shape} for {type}")
    if size == 0:
        return np.empty(type.dims, kind)
    if narrow_bits(type.element):
        packed = view.get_buffer().map().asarray([(size + 1) // 2], np.dtype(np.uint8))
        nibbles = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)[:size]
        return values(nibbles, type.element).reshape(type.dims)
    # A copy: the memory is that of the result.
    stored = np.dtype(np.uint8) if type.element == "i1" else kind
    return np.array(view.get_buffer().map().asarray(list(type.dims), stored)).view(kind)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m etalon.adapters.iree", description="IREE as a server of etalon")
    parser.add_argument("--target", choices=("llvm-cpu", "vmvx"), default="llvm-cpu", help="the target of the compiler")
    parser.add_argument("--flag", action="append", default=[], help="a flag of iree-compile; repeatable")
    options = parser.parse_args()
    serve(Iree(options.target, options.flag))


if __name__ == "__main__":
    main()
