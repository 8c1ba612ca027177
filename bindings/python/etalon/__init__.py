"""Etalon: a reference backend for XLA's HLO.

>>> import etalon, numpy as np
>>> module = etalon.load("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
>>> module.run(np.array([1, 2], np.float32))
array([2., 4.], dtype=float32)
"""

import importlib

_PLACES = {
    "_arrays": ["dtype"],
    "_backends": ["JaxBackend"],
    "_command": ["Conformance", "Equality", "FuzzResult", "conform", "equal", "fuzz", "reduce"],
    "_check": ["Finding", "NotFinite", "Report", "Trace", "check", "check_nan", "trace"],
    "_errors": ["Error", "InternalError", "InvalidModuleError", "RunError", "UnsupportedError", "WrongResultError"],
    "_etalon": ["Event", "Source", "__version__", "explain"],
    "_module": ["Module", "load"],
}
_PLACE = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Conformance",
    "Equality",
    "Error",
    "Event",
    "Finding",
    "FuzzResult",
    "InternalError",
    "InvalidModuleError",
    "JaxBackend",
    "Module",
    "NotFinite",
    "Report",
    "RunError",
    "Source",
    "Trace",
    "UnsupportedError",
    "WrongResultError",
    "__version__",
    "check",
    "check_nan",
    "conform",
    "dtype",
    "equal",
    "explain",
    "fuzz",
    "load",
    "reduce",
    "trace",
]


def __getattr__(name: str):
    # At the first use: `python -m etalon.adapters.NAME` needs nothing native.
    if name in _PLACES or name in ("testing", "torch_xla"):
        return importlib.import_module(f".{name}", __name__)
    if name not in _PLACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_PLACE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
