"""Etalon: a reference backend for XLA's HLO."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._etalon import Event, Program, Source, __version__, explain

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

_Engine: TypeAlias = Literal["exact", "fast", "reference"]
_Array: TypeAlias = NDArray[Any]

class _Lowered(Protocol):
    """What `jax.jit(f).lower(...)` returns."""
    def compiler_ir(self, dialect: str | None = None) -> Any: ...
    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str: ...

class _Exported(Protocol):
    """What `jax.export.export(...)(...)` returns."""
    @property
    def mlir_module_serialized(self) -> bytes: ...

class _Compiler(Protocol):
    def compile(self, module: Module) -> Callable[[list[_Array]], Sequence[ArrayLike]]: ...

_Source: TypeAlias = str | bytes | bytearray | memoryview | PathLike[str] | _Lowered | _Exported | Module
_Backend: TypeAlias = Callable[[Module, list[_Array]], Sequence[ArrayLike]] | _Compiler | str | PathLike[str] | None
_Function: TypeAlias = Callable[..., Any] | Module | str | bytes | PathLike[str]

def load(
    source: _Source | Callable[..., Any],
    *arguments: Any,
    lenient: bool = False,
    module: int | None = None,
    function: str | None = None,
    shapes: Sequence[str] = (),
    **keywords: Any,
) -> Module: ...
def check(
    function: _Function,
    *arguments: Any,
    backend: _Backend = None,
    findings: int = 8,
    rounds: int = 1000,
    fuel: int = ...,
    **keywords: Any,
) -> Report: ...
def trace(
    function: _Function, *arguments: Any, values: bool = False, engine: _Engine = "exact", **keywords: Any
) -> Trace: ...
def check_nan(function: _Function, *arguments: Any, engine: _Engine = "exact", **keywords: Any) -> list[NotFinite]: ...
def conform(
    function: _Function | None = None,
    *arguments: Any,
    backend: str | PathLike[str] | None = None,
    suite: str = "smoke",
    **keywords: Any,
) -> Conformance: ...
def equal(first: _Source, second: _Source, *, seed: int = 0, draws: int = 8) -> Equality: ...
def fuzz(
    backend: str | PathLike[str] | None = None,
    *,
    count: int = 100,
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
) -> FuzzResult: ...
def reduce(
    function: _Function, *arguments: Any, backend: str | PathLike[str] | None = None, **keywords: Any
) -> Module: ...
def dtype(element_type: str) -> np.dtype[Any]: ...

class Module:
    def __init__(self, program: Program) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def parameters(self) -> list[tuple[str, str]]: ...
    @property
    def result(self) -> str: ...
    @property
    def replicas(self) -> int: ...
    @property
    def partitions(self) -> int: ...
    @property
    def devices(self) -> int: ...
    def print(self, style: Literal["default", "short", "full"] = "default") -> str: ...
    def proto(self) -> bytes: ...
    def stablehlo(self, *, chlo: Literal["keep", "expand"] = "keep", generic: bool = False) -> str: ...
    def graph(
        self,
        format: Literal["html", "svg", "dot", "model-explorer"] = "html",
        *,
        computation: str | None = None,
        devices: bool = False,
    ) -> str: ...
    def verify(self) -> Module: ...
    def arguments(self) -> list[list[Any]]: ...
    def run(
        self,
        *arguments: Any,
        engine: _Engine = "exact",
        devices: list[Sequence[Any]] | None = None,
        fuel: int | None = None,
        max_memory: int | None = None,
        time_limit: float | None = None,
        check_nan: bool = False,
        seed: int = 0,
        spill: str | PathLike[str] | None = None,
        spill_from: int | None = None,
        **named: Any,
    ) -> Any: ...
    __call__ = run
    def cost(self) -> dict[str, Any]: ...
    def plan(self, engine: _Engine = "exact") -> str: ...
    def diff(self, other: _Source) -> str: ...
    def equal(self, other: _Source) -> Equality: ...
    def _repr_html_(self) -> str: ...

class JaxBackend:
    def __init__(self, device: Any = None) -> None: ...
    def compile(self, module: Module) -> Callable[[list[_Array]], list[_Array]]: ...
    def __call__(self, module: Module, arguments: list[_Array]) -> list[_Array]: ...

@dataclass(frozen=True)
class Finding:
    path: str
    opcode: str
    shape: str
    source: Source | None
    expected: str | None
    found: str | None
    context: str
    text: str
    details: str
    module: Module
    arguments: list[Any]
    test: str

@dataclass(frozen=True)
class Report:
    verdict: str
    findings: list[Finding]
    checked: int
    not_checked: list[tuple[str, str]]
    summary: str
    data: dict[str, Any]
    @property
    def ok(self) -> bool: ...
    def raise_if_wrong(self) -> None: ...
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str: ...

@dataclass(frozen=True)
class Conformance:
    backend: str
    records: list[dict[str, Any]]
    summary: str
    @property
    def wrong(self) -> list[dict[str, Any]]: ...
    @property
    def ok(self) -> bool: ...
    def __bool__(self) -> bool: ...

@dataclass(frozen=True)
class Equality:
    answer: str
    probability: float | None
    data: dict[str, Any]
    def __bool__(self) -> bool: ...

@dataclass(frozen=True)
class FuzzResult:
    files: list[str]
    summary: str
    @property
    def ok(self) -> bool: ...
    def __bool__(self) -> bool: ...

@dataclass(frozen=True)
class Trace:
    result: Any
    events: list[Event]
    def values(self) -> dict[str, list[_Array]]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _repr_html_(self) -> str: ...

@dataclass(frozen=True)
class NotFinite:
    message: str
    instruction: str
    source: Source | None
    count: int
    text: str

class Error(Exception):
    errors: list[dict[str, Any]]
    code: str
    message: str
    help: str | None
    instruction: str | None
    source: Source | None
    def __init__(self, text: str, errors: list[dict[str, Any]] | None = None) -> None: ...

class InvalidModuleError(Error): ...
class RunError(Error): ...

class WrongResultError(Error, AssertionError):
    report: Report | None
    def __init__(
        self, text: str, errors: list[dict[str, Any]] | None = None, report: Report | None = None
    ) -> None: ...

class UnsupportedError(Error, NotImplementedError): ...
class InternalError(Error): ...
