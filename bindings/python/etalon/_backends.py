"""Backends for `check`: JAX's default one, and callables."""

from __future__ import annotations

import os
from typing import Callable

import numpy as np

from . import _arrays
from ._etalon import Program, Value
from ._module import Module


class JaxBackend:
    """The default backend of JAX, or a device of another one."""

    def __init__(self, device=None):
        import jax
        from jax.extend import backend

        devices = jax.devices(device) if isinstance(device, str) else [device] if device is not None else jax.devices()
        self._device = devices[0]
        self._client = self._device.client
        self._version = jax.__version__
        self._options = backend.get_compile_options(num_replicas=1, num_partitions=1)

    def __repr__(self) -> str:
        return f"<{self._client.platform}, JAX {self._version}>"

    def compile(self, module: Module) -> Callable[[list], list]:
        """Returns a function that runs a module on arrays."""
        from jaxlib import _jax

        try:
            text = _stablehlo(_jax, module.proto())
        except Exception as error:
            raise NotImplementedError(f"the module has no StableHLO: {error}") from error
        devices = _jax.DeviceList((self._device,))
        try:
            loaded = self._client.compile_and_load(text, devices, self._options)
        except Exception as error:
            raise _refused(error) from error
        return lambda arguments: self._execute(loaded, arguments)

    def _execute(self, loaded, arguments):
        import jax

        # Arrays of 64 bits keep them.
        with _x64(jax):
            inputs = [jax.device_put(x, self._device) for x in arguments]
        try:
            outputs = loaded.execute_sharded(inputs).disassemble_into_single_device_arrays()
            return [np.asarray(one[0]) for one in outputs]
        except Exception as error:
            raise _refused(error) from error

    def __call__(self, module: Module, arguments: list) -> list:
        """Runs a module on arrays; a backend of your own may do that and change something."""
        return self.compile(module)(arguments)


def _stablehlo(_jax, proto: bytes):
    if hasattr(_jax.mlir, "hlo_to_stablehlo"):
        return _jax.mlir.hlo_to_stablehlo(proto)
    from jaxlib import xla_client

    return _jax.mlir.xla_computation_to_mlir_module(xla_client.XlaComputation(proto))


def _x64(jax):
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


def _refused(error: Exception) -> Exception:
    return NotImplementedError(str(error)) if "UNIMPLEMENTED" in str(error) else error


class Adapter:
    """A backend as the native part calls it: on programs and values."""

    def __init__(self, backend, original=None):
        self._compile = getattr(backend, "compile", None)
        self._backend = backend
        self._original = original

    def compile(self, program: Program, is_whole: bool):
        """Returns a function of values; that of the whole module is JAX's own, if it is known."""
        if is_whole and self._original is not None:
            return lambda values: _arrays.values_of(self._original())
        module = Module(program)
        if self._compile is not None:
            run = self._compile(module)
        else:
            run = lambda arguments: self._backend(module, arguments)

        def execute(values: list[Value]) -> list[Value]:
            results = run([_arrays.from_value(value) for value in values])
            results = results if isinstance(results, (list, tuple)) else [results]
            return _arrays.values_of(leaf for result in results for leaf in _leaves(result))

        return execute


def _leaves(result):
    if isinstance(result, (list, tuple)):
        return [leaf for part in result for leaf in _leaves(part)]
    return [] if result is None else [result]


def _platform(name: str) -> JaxBackend:
    try:
        return JaxBackend(name)
    except RuntimeError as error:
        kinds = "a platform of JAX, an engine of Etalon (exact, fast, reference), or the path of a plugin"
        raise ValueError(f"backend={name!r} is not {kinds}: {error}") from error


def native(backend, original):
    """Returns a backend as the native part takes it: a name of an engine, the path of a plugin, or an adapter."""
    if backend is None:
        # The function's own run is the default backend's.
        return Adapter(JaxBackend(), original)
    if isinstance(backend, os.PathLike):
        return os.fspath(backend)
    if isinstance(backend, str):
        is_named = backend in ("exact", "fast", "reference") or os.path.isfile(backend)
        return backend if is_named else Adapter(_platform(backend))
    if not callable(backend) and not hasattr(backend, "compile"):
        raise TypeError(f"{type(backend).__name__} is no backend: pass a function of a module and its arguments")
    return Adapter(backend)
