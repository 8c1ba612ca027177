"""Modules: reading, verifying, running."""

from __future__ import annotations

import difflib
import html
import numbers
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _etalon


def load(
    source: Any,
    *arguments: Any,
    lenient: bool = False,
    module: int | None = None,
    function: str | None = None,
    shapes: Sequence[str] = (),
    **keywords: Any,
) -> "Module":
    """Reads a module.

    ``source`` is the text of a module, the path of a file, its bytes, what ``jax.jit(f).lower(...)`` or
    ``jax.export.export(f)(...)`` returns, or a function of JAX, followed by the arguments that it is lowered for; those may be
    ``jax.ShapeDtypeStruct``. HLO text, ``HloModuleProto`` and the files of ``--xla_dump_to``, StableHLO text and bytecode are recognized by content, also compressed by
    gzip. ``lenient`` keeps unknown attributes of HLO text, with a warning, instead of refusing them. ``module`` is the number of the
    module in a text of several, from 1; ``function`` names the function of a StableHLO program that runs, in place of ``main``.
    ``shapes`` has the shapes of all arguments of a program with unknown sizes, such as ``f32[2,3]``, or the value of one that gives
    sizes, ``s64[1] {2}``.
    """
    is_function = callable(source) and not isinstance(source, Module)
    if (arguments or keywords) and not is_function:
        given = f"{len(arguments)} more" if arguments else ", ".join(keywords)
        raise TypeError(f"only a function takes arguments, found {type(source).__name__} and {given}")
    if isinstance(source, Module):
        return source
    if is_function:
        from ._functions import lowered

        source = lowered(source, arguments, keywords)
    name = "text"
    if hasattr(source, "compiler_ir"):
        name, content = "lowered program", source.as_text(debug_info=True).encode()
    elif hasattr(source, "mlir_module_serialized"):
        name, content = "exported program", source.mlir_module_serialized
    elif isinstance(source, (bytes, bytearray, memoryview)):
        name, content = "bytes", bytes(source)
    elif isinstance(source, os.PathLike) or _is_path(source):
        return Module(_etalon.Program.open(os.fspath(source), lenient, module, function, list(shapes)))
    elif isinstance(source, str):
        content = source.encode()
    else:
        raise TypeError(f"a module cannot be read from {type(source).__name__}: pass text, a path, a function with its arguments, jax.jit(f).lower(x), or what jax.export.export returns")
    return Module(_etalon.Program.load(name, content, lenient, module, function, list(shapes)))


def _is_path(source) -> bool:
    return isinstance(source, str) and not any(c in source for c in "\n{(") and bool(source.strip())


class Module:
    """A module of HLO. :func:`load` reads one."""

    def __init__(self, program: _etalon.Program):
        self._program = program
        self._parameters = program.parameters()

    @property
    def name(self) -> str:
        """The name of the module."""
        return self._program.name

    @property
    def text(self) -> str:
        """The module as HLO text; large constants are elided."""
        return self._program.text

    @property
    def warnings(self) -> list[str]:
        """What was remarkable in the text."""
        return self._program.warnings

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Name and shape of each parameter."""
        return [(name, _arrays.describe(shape)) for name, shape in self._parameters]

    @property
    def result(self) -> str:
        """The shape of the result."""
        return _arrays.describe(self._program.result())

    @property
    def replicas(self) -> int:
        """The number of replicas in the header."""
        return self._program.grid[0]

    @property
    def partitions(self) -> int:
        """The number of partitions in the header."""
        return self._program.grid[1]

    @property
    def devices(self) -> int:
        """The number of devices that run it."""
        return self.replicas * self.partitions

    def print(self, style: str = "default") -> str:
        """Returns the module as HLO text: ``default`` as XLA prints it, ``short`` to read, ``full`` with all constants."""
        return self._program.print(style)

    def proto(self) -> bytes:
        """Returns the module as an ``HloModuleProto``."""
        return self._program.proto()

    def stablehlo(self, *, chlo: str = "keep", generic: bool = False) -> str:
        """Returns the module as a StableHLO program. Functions that StableHLO lacks, such as ``erf``, are ops of CHLO, or with
        ``chlo="expand"`` ops that compute the same. With ``generic`` each op has the generic form."""
        return self._program.stablehlo(chlo, generic)

    def graph(self, format: str = "html", *, computation: str | None = None, devices: bool = False) -> str:
        """Returns a picture of the module: ``html``, a page for a browser; ``svg``, of the entry or of ``computation``; ``dot`` for
        Graphviz; ``model-explorer`` for Google's Model Explorer. With ``devices`` it is the communication between devices, as
        ``svg`` or ``dot``."""
        return self._program.graph(format, computation, devices)

    def verify(self) -> "Module":
        """Checks every rule of HLO; returns the module. Raises :class:`InvalidModuleError` with every broken one."""
        self._program.verify()
        return self

    def arguments(self) -> list[list]:
        """Returns the arguments that the file of the module has, as an ``HloSnapshot``: those of each device, or of all."""
        return [[_arrays.from_value(value) for value in values] for values in self._program.arguments()]

    def run(
        self,
        *arguments,
        engine: str = "exact",
        devices: list | None = None,
        fuel: int | None = None,
        max_memory: int | None = None,
        time_limit: float | None = None,
        check_nan: bool = False,
        seed: int = 0,
        spill: str | os.PathLike | None = None,
        spill_from: int | None = None,
        **named,
    ):
        """Runs the module.

        ``arguments`` are arrays, one for each parameter, in order or by its name; numbers and lists get the parameter's type,
        arrays must have it. They are not copied, and must not change during the run. The result is an array, or a tuple of arrays.

        A module for several devices takes the same arguments on each, or a list of arguments for each as ``devices``; it
        returns a list with the result of each device.

        ``engine`` is ``exact``, ``fast`` or ``reference``. ``fuel`` limits the steps, ``max_memory`` the bytes, ``time_limit``
        the seconds. ``check_nan`` stops at the first NaN or infinity that is computed from finite operands. ``seed`` is that of
        ``rng``. ``spill`` is a directory: arrays of ``spill_from`` bytes or more, by default a GiB, are in files without names
        in it. The arguments stay where they are.
        """
        options = run_options(engine, fuel, max_memory, time_limit, check_nan, seed, spill, spill_from)
        ordered = self._ordered(arguments, named) if named else arguments
        results = self._program.run(self._values(ordered, devices), options)
        return self._results(results, devices)

    __call__ = run

    def cost(self) -> dict[str, Any]:
        """Returns what a run costs: ``flops``, ``bytes``, ``peak_bytes``, and those of each of the ``instructions``."""
        from . import _command

        return _command.cost(self)

    def plan(self, engine: str = "exact") -> str:
        """Returns the steps that the module is compiled to, with the memory of each."""
        from . import _command

        return _command.plan(self, engine)

    def diff(self, other) -> str:
        """Returns the lines of the module's short text that differ in ``other``, as ``diff -u`` shows them; nothing if they are the
        same. :func:`equal` tells whether they are the same function."""
        second = load(other)
        old, new = (one.print("short").splitlines(keepends=True) for one in (self, second))
        return "".join(difflib.unified_diff(old, new, self.name, second.name))

    def equal(self, other):
        """Tells whether the module is the same function as ``other``: :func:`equal`."""
        from . import _command

        return _command.equal(self, other)

    def _ordered(self, arguments, named) -> list:
        """Returns all arguments in the order of the parameters."""
        names = [name for name, _ in self._parameters]
        for name in named:
            if name not in names:
                near = difflib.get_close_matches(name, [*names, *_OPTIONS], 1)
                help = f"did you mean `{near[0]}`?" if near else f"the parameters are {', '.join(names) or 'none'}"
                raise TypeError(f"there is no parameter `{name}`; {help}")
            if names.index(name) < len(arguments):
                raise TypeError(f"parameter `{name}` is given twice: in order, and by its name")
        missing = [name for name in names[len(arguments) :] if name not in named]
        if missing:
            raise TypeError(f"no argument is given for parameter {', '.join(f'`{name}`' for name in missing)}")
        return [*arguments, *(named[name] for name in names[len(arguments) :])]

    def _values(self, arguments, devices=None) -> list[list[_etalon.Value]]:
        if devices is not None and arguments:
            raise TypeError("pass the arguments of each device in `devices`, or those of all before it, not both")
        lists = [arguments] if devices is None else devices
        return [self._list(one, "" if devices is None else f" of device {k}") for k, one in enumerate(lists)]

    def _list(self, arguments, of: str) -> list[_etalon.Value]:
        if len(arguments) != len(self._parameters):
            shapes = ", ".join(f"{name}: {shape}" for name, shape in self.parameters)
            count = len(self._parameters)
            parameters = "1 parameter" if count == 1 else f"{count} parameters"
            given = "1 argument is" if len(arguments) == 1 else f"{len(arguments)} arguments are"
            raise TypeError(f"the module has {parameters} ({shapes}), but {given} given{of}")
        each = enumerate(zip(arguments, self._parameters))
        return [_arrays.to_value(x, shape, f"argument {i} (`{name}`){of}") for i, (x, (name, shape)) in each]

    def _results(self, results, devices=None):
        found = [_arrays.from_value(value) for value in results]
        return found[0] if self.devices == 1 and devices is None else found

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """The module in a notebook: its picture, if it is small, above its text."""
        text = self.print("short")
        lines = text.splitlines()
        shown = "\n".join(lines[:200] + ([f"... {len(lines) - 200} more lines"] if len(lines) > 200 else []))
        picture = self.graph("svg") if len(lines) <= 60 else ""
        return f"<p><b>{html.escape(repr(self))}</b></p>{picture}<details><summary>HLO</summary><pre>{html.escape(shown)}</pre></details>"

    def __repr__(self) -> str:
        parameters = ", ".join(shape for _, shape in self.parameters)
        return f"<etalon.Module {self.name}: ({parameters}) -> {self.result}>"


def run_options(
    engine: str = "exact",
    fuel: int | None = None,
    max_memory: int | None = None,
    time_limit: float | None = None,
    check_nan: bool = False,
    seed: int = 0,
    spill: str | os.PathLike | None = None,
    spill_from: int | None = None,
) -> dict:
    """Returns the options of a run as the native part takes them."""
    options = locals()
    for name in ("fuel", "max_memory", "seed", "spill_from"):
        value = options[name]
        if value is None and name != "seed":
            continue
        if not isinstance(value, numbers.Integral) or not 0 <= int(value) < 1 << 64:
            raise TypeError(f"{name}={value!r} is not an integer from 0 to 2**64 - 1")
    if not isinstance(time_limit, (numbers.Real, type(None))):
        raise TypeError(f"time_limit={time_limit!r} is not a number of seconds")
    if not isinstance(check_nan, (bool, np.bool_)):
        raise TypeError(f"check_nan={check_nan!r} is neither True nor False")
    if not isinstance(engine, str):
        raise TypeError(f"engine={engine!r} is not the name of an engine: exact, fast or reference")
    return options


# Named so that a mistyped one is found.
_OPTIONS = tuple(run_options()) + ("devices",)
