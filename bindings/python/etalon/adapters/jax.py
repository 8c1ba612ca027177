"""JAX: XLA, or the plugin of a vendor, on the devices of a platform.

Needs `pip install jax`, and the plugin of the platform.
"""

from __future__ import annotations

import argparse

import numpy as np

import jax
from jax.extend import backend
from jaxlib import _jax
from jaxlib.mlir import ir

from . import _jaxlib
from ._server import Program, Request, Tensor, Unsupported, is_refusal, serve, signature, stored, typed


def _linear_algebra() -> None:
    """Looks up the functions of LAPACK, which JAX does when it lowers a call of one."""
    try:
        from jaxlib import lapack

        lapack._lapack.initialize()
    except (ImportError, AttributeError):
        pass


class Jax:
    """The client of a platform of JAX."""

    formats = ("mlir",)

    def __init__(self, platform: str | None):
        jax.config.update("jax_enable_x64", True)
        self._devices = jax.devices(platform)
        self._client = self._devices[0].client
        self._context = _jaxlib.context()
        _linear_algebra()
        version = " ".join(self._client.platform_version.split())
        self.name = f"JAX {jax.__version__} {self._client.platform} ({self._devices[0].device_kind}; {version})"
        self.devices = len(self._devices)

    def compile(self, request: Request) -> Program:
        text = request.read("mlir").decode()
        with self._context, ir.Location.unknown():
            inputs, results = signature(ir, ir.Module.parse(text))
        devices = self._devices[: request.devices]
        options = backend.get_compile_options(
            num_replicas=request.replicas,
            num_partitions=request.partitions,
            device_assignment=np.arange(len(devices)).reshape(request.replicas, request.partitions),
        )
        try:
            loaded = self._client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
        except Exception as error:
            raise _refused(error) from error
        # Each device has its own array, which JAX would call replicated.
        mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

        def argument(i: int, type: Tensor, arguments: list[list[np.ndarray]]) -> jax.Array:
            parts = [jax.device_put(typed(of_one[i], type.element), device) for of_one, device in zip(arguments, devices)]
            return jax.make_array_from_single_device_arrays(type.dims, sharding, parts)

        def execute(arguments: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
            given = [argument(i, type, arguments) for i, type in enumerate(inputs)]
            try:
                found = loaded.execute_sharded(given).disassemble_into_single_device_arrays()
                return [[stored(of_all[device]) for of_all in found] for device in range(len(devices))]
            except Exception as error:
                raise _refused(error) from error

        return execute


def _refused(error: Exception) -> Exception:
    return Unsupported(str(error)) if is_refusal(str(error)) else error


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m etalon.adapters.jax", description="JAX as a server of etalon")
    parser.add_argument("--platform", help="cpu, gpu, tpu, or that of a plugin; JAX's default one without it")
    parser.add_argument("--devices", type=int, default=1, help="the number of devices of the platform cpu")
    options = parser.parse_args()
    jax.config.update("jax_num_cpu_devices", options.devices)
    if options.platform == "cpu":
        jax.config.update("jax_platforms", "cpu")
    serve(Jax(options.platform))


if __name__ == "__main__":
    main()
