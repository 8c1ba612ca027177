"""What the command `etalon` does, as functions: each runs it as a process of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from . import _arrays
from .__main__ import HOST
from ._check import FINE
from ._errors import Error, InternalError, RunError, UnsupportedError
from ._functions import call_of
from ._module import Module, load

_KINDS = {1: RunError, 2: ValueError, 3: UnsupportedError, 4: InternalError}


def run(*words, folder: str, wrong: bool = False) -> tuple[int, str, str]:
    """Runs the command in a folder; returns its exit code and what it wrote to stdout and stderr. Raises what it reports as an
    error; with ``wrong``, the exit code 1 is a result."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    line = [*HOST, *map(str, words)]
    with subprocess.Popen(line, cwd=folder, text=True, stdin=nothing, stdout=pipe, stderr=pipe) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            # Ctrl-C ends the command, too.
            process.kill()
            raise
    code = process.returncode
    if code == 0 or (code == 1 and wrong):
        return code, out, err
    raise _KINDS.get(code, Error)(err.strip() or f"the command ended with exit code {code}")


def backend_words(backend) -> list[str]:
    """Returns the options of the command for a backend."""
    if backend is None:
        return ["--backend-server", _adapter()]
    if isinstance(backend, os.PathLike):
        return ["--backend", os.path.abspath(backend)]
    if not isinstance(backend, str):
        raise TypeError(f"backend={backend!r}: only `check` takes functions; pass the name of an engine or platform, or the path of a plugin")
    name = backend.split(":")[0]
    if name in ("exact", "fast", "reference", "planted", "variant"):
        return ["--backend", backend]
    if os.path.exists(backend):
        return ["--backend", os.path.abspath(backend)]
    return ["--backend-server", f"{_adapter()} --platform {backend}"]


def _adapter() -> str:
    return f"{sys.executable} -m etalon.adapters.jax"


def _write(module: Module, folder: str, name: str = "") -> str:
    """Writes a module with all its constants into a folder; returns the name of the file, by which reports call it."""
    name = name or "".join(c if c.isalnum() or c in "-_." else "_" for c in module.name[:60]).lstrip("-.") or "module"
    with open(os.path.join(folder, name + ".hlo"), "w") as file:
        file.write(module.print("full"))
    return name + ".hlo"


def _inputs(call, folder: str) -> list[str]:
    """Writes the arguments of a call; returns the options that read them. Without any, random ones are drawn."""
    if not call.module.parameters:
        return []
    if not call.arguments:
        return ["--random", "1"]
    values = call.module._values(call.arguments)[0]
    if any(isinstance(shape, (list, type(None))) for _, shape in call.module._parameters):
        raise TypeError("arguments must be arrays: tuples and tokens cannot be passed to the command")
    path = os.path.join(folder, "arguments.npz")
    arrays: dict[str, Any] = {f"in{i}": _plain(_arrays.from_value(value)) for i, value in enumerate(values)}
    np.savez(path, **arrays)
    return ["--input", path]


def _plain(array: np.ndarray) -> np.ndarray:
    """Returns an array in a type of NumPy itself, with the same bits."""
    return array if array.dtype.kind in "biufc" else array.view(f"u{array.dtype.itemsize}")


def equal(first, second, *, seed: int = 0, draws: int = 8) -> Equality:
    """Tells whether two modules are the same function of every float argument, in exact arithmetic (docs/equal.md)."""
    with tempfile.TemporaryDirectory(prefix="etalon-") as folder:
        paths = [_write(load(one), folder, name) for one, name in ((first, "first"), (second, "second"))]
        words = ["equal", *paths, "--json", "--seed", seed, "--seeds", draws]
        _, out, _ = run(*words, folder=folder, wrong=True)
    data = json.loads(out)
    return Equality(data["answer"], data.get("probability"), data)


@dataclasses.dataclass(frozen=True)
class Equality:
    """What :func:`equal` found."""

    answer: str
    """``equal``, ``different``, or why there is no answer."""
    probability: float | None
    """The probability that different modules would have given this answer."""
    data: dict
    """Everything, as `etalon equal --json` prints it."""

    def __bool__(self) -> bool:
        return self.answer == "equal"


def cost(module: Module) -> dict[str, Any]:
    """Returns operations, bytes and the peak of memory, of all and of each instruction, as `etalon cost --json` does."""
    with tempfile.TemporaryDirectory(prefix="etalon-") as folder:
        return json.loads(run("cost", "--json", _write(module, folder), folder=folder)[1])


def plan(module: Module, engine: str) -> str:
    """Returns the steps that a module is compiled to, as `etalon plan` prints them."""
    with tempfile.TemporaryDirectory(prefix="etalon-") as folder:
        return run("plan", "--engine", engine, _write(module, folder), folder=folder)[1]


@dataclasses.dataclass(frozen=True)
class Conformance:
    """What :func:`conform` found."""

    backend: str
    records: list[dict]
    """The verdict of each case: ``name``, ``verdict``, ``reason``, and more, as `etalon conform --json` writes them."""
    summary: str

    @property
    def wrong(self) -> list[dict]:
        """The records of what the backend got wrong."""
        return [record for record in self.records if record["verdict"] not in FINE]

    @property
    def ok(self) -> bool:
        """Whether no case is wrong."""
        return not self.wrong

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.summary

    __repr__ = __str__


def conform(function=None, *arguments, backend=None, suite: str = "smoke", **keywords) -> Conformance:
    """Compares the results of a backend with Etalon's: of a function of JAX or a module with its arguments, or random ones if there
    are none; or else of the cases of a suite, ``smoke`` or ``full``.

    ``backend`` is the default one of JAX, the name of a platform of JAX or of an engine of Etalon, or the path of a PJRT plugin.
    :func:`check` finds the instruction that causes a difference.
    """
    with tempfile.TemporaryDirectory(prefix="etalon-") as folder:
        if function is None:
            what = ["--suite", suite]
        else:
            call = call_of(function, arguments, keywords)
            what = [_write(call.module, folder), *_inputs(call, folder)]
        path = os.path.join(folder, "results.json")
        _, out, err = run("conform", *backend_words(backend), *what, "--json", path, "--quiet", folder=folder, wrong=True)
        with open(path) as file:
            data = json.load(file)
    return Conformance(data["backend"], data["records"], (out or err).strip())


@dataclasses.dataclass(frozen=True)
class FuzzResult:
    """What :func:`fuzz` found."""

    files: list[str]
    """The modules that the backend got wrong, with their arguments and right results, as files for `etalon test`."""
    summary: str

    @property
    def ok(self) -> bool:
        """Whether no module is wrong."""
        return not self.files

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.summary

    __repr__ = __str__


def fuzz(backend=None, *, count: int = 100, seed: int = 0, folder=None) -> FuzzResult:
    """Runs ``count`` random modules on a backend and on Etalon, and keeps those that differ in ``folder``, or in a temporary one."""
    folder = tempfile.mkdtemp(prefix="etalon-fuzz-") if folder is None else os.path.abspath(folder)
    before = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    words = ["fuzz", *backend_words(backend), "--count", count, "--seed", seed, "--output", folder, "--quiet"]
    _, out, err = run(*words, folder=os.getcwd(), wrong=True)
    found = sorted(set(os.listdir(folder)) - before) if os.path.isdir(folder) else []
    return FuzzResult([os.path.join(folder, name) for name in found], (out or err).strip())


def reduce(function, *arguments, backend=None, **keywords) -> Module:
    """Returns the smallest module that a backend still gets wrong, of a function of JAX or a module with its arguments, or random
    ones if there are none. Its text has arguments and the right result, as a file for `etalon test`."""
    call = call_of(function, arguments, keywords)
    with tempfile.TemporaryDirectory(prefix="etalon-") as folder:
        smallest = os.path.join(folder, "smallest.hlo")
        words = ["reduce", _write(call.module, folder), *backend_words(backend), *_inputs(call, folder)]
        run(*words, "--output", smallest, "--quiet", folder=folder)
        with open(smallest) as file:
            return load(file.read())
