"""PyTorch/XLA on Etalon: `register()`, or `PJRT_DEVICE=ETALON` in the environment.

PyTorch/XLA imports this module through the entry point `torch_xla.plugins`.
"""

from __future__ import annotations

import importlib.util
import os

DEVICE = "ETALON"
_NEEDED = "PyTorch/XLA 2.9 is needed: pip install torch==2.9.0 torch_xla==2.9.0"

# What the next client is created with.
_options: dict[str, str | int | float | bool] = {}


def __getattr__(name: str):
    # When it is asked for: PyTorch/XLA, which has the base class, is being imported where `register` imports it.
    if name != "Plugin":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from torch_xla.experimental import plugins

    from ._jax import library_path

    class Plugin(plugins.DevicePlugin):
        """Tells PyTorch/XLA where the plugin is, and its options."""

        def library_path(self) -> str:
            return library_path()

        def configure_single_process(self) -> None:
            """One process is what there is."""

        def client_create_options(self) -> dict:
            return dict(_options)

    globals()[name] = Plugin
    return Plugin


def register(devices: int = 1, **options: str | int | float | bool) -> None:
    """Makes Etalon the device of PyTorch/XLA in this process: `torch_xla.device()` is then Etalon's.

    ``options`` are those of the client, such as ``engine="fast"``, ``check_nan=True`` or ``time_limit=10``; docs/jax.md lists them.
    """
    if importlib.util.find_spec("torch_xla") is None:
        raise ImportError(_NEEDED)
    before = os.environ.setdefault("PJRT_DEVICE", DEVICE)
    import torch_xla
    from torch_xla.experimental import plugins

    if torch_xla._XLAC._xla_runtime_is_initialized():
        raise RuntimeError(
            f"PyTorch/XLA already runs on {before}: call etalon.torch_xla.register before anything asks for a device"
        )
    os.environ["PJRT_DEVICE"] = DEVICE
    _options.clear()
    _options.update(options, device_count=devices)
    plugins.use_dynamic_plugins()
    if DEVICE not in plugins._plugin_registry:
        plugins.register_plugin(DEVICE, __getattr__("Plugin")())
