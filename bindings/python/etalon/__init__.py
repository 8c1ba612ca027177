"""Etalon: a reference backend for XLA's HLO.

>>> import etalon, numpy as np
>>> module = etalon.load("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
>>> module.run(np.array([1, 2], np.float32))
array([2., 4.], dtype=float32)
"""

from ._arrays import dtype
from ._backends import JaxBackend
from ._check import Finding, NotFinite, Report, Trace, check, check_nan, trace
from ._errors import Error, InternalError, InvalidModuleError, RunError, UnsupportedError
from ._etalon import Event, Source, __version__, explain
from ._module import Module, load

__all__ = [
    "Error",
    "Event",
    "Finding",
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
    "__version__",
    "check",
    "check_nan",
    "dtype",
    "explain",
    "load",
    "trace",
]
