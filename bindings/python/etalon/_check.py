"""Comparison with another backend, traces, and the search for NaN."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import shutil
import tempfile
from typing import Any

from . import _arrays, _backends, _etalon
from .__main__ import HOST
from ._errors import WrongResultError
from ._functions import call_of
from ._module import Module, run_options

FINE = ("agrees", "within_bound", "not_tested", "undefined", "skipped", "unsupported")
"""The verdicts that are no error."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """An instruction that the backend computes wrong from its own operands."""

    path: str
    """The way to it: ``main/while.3 round 2/body/add.7``."""
    opcode: str
    shape: str
    source: Any
    """The line of the program: ``file``, ``line``, ``column``, ``function``, ``op_name``; none if it is unknown."""
    expected: str | None
    """The value of the worst element."""
    found: str | None
    context: str
    """``alone`` if it is wrong in a module of its own, ``in_module`` if only beside other instructions."""
    text: str
    """The finding with its line and a caret."""
    details: str
    module: Module
    """The instruction alone."""
    arguments: list
    """Its operands, as the backend computed them."""
    test: str
    """The instruction alone with its operands and its right result, as a file for `etalon test`."""

    def __str__(self) -> str:
        return f"{self.text}\n{self.details}".rstrip()


@dataclasses.dataclass(frozen=True)
class Report:
    """What :func:`check` found."""

    verdict: str
    """The verdict on the result: ``agrees``, ``within bound``, ``undefined``, ``differs``, or why there is none."""
    findings: list[Finding]
    """The instructions that are wrong by themselves, in the order of the program: the first is where the first error is made."""
    checked: int
    """The number of instructions of the entry that were checked."""
    not_checked: list[tuple[str, str]]
    """Those that were not, with the reason."""
    summary: str
    data: dict
    """Everything, as `etalon blame --json` prints it."""

    @property
    def ok(self) -> bool:
        """Whether the result and every instruction that was checked are right."""
        return not self.findings and self.verdict.replace(" ", "_") in FINE

    def raise_if_wrong(self) -> None:
        """Raises :class:`WrongResultError` with the whole report if :attr:`ok` is false."""
        __tracebackhide__ = True
        if not self.ok:
            raise WrongResultError(f"{self._headline()}\n\n{self}", report=self)

    def _headline(self) -> str:
        if self.findings:
            first = self.findings[0]
            more = f", and {len(self.findings) - 1} more" if len(self.findings) > 1 else ""
            return f"the backend computes {first.path} wrong{more}"
        return "no error" if self.ok else f"the result of the backend: {self.verdict}"

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.findings), self.summary.rstrip()])

    def _repr_html_(self) -> str:
        color = "#1a7f37" if self.ok else "#cf222e"
        return f'<p style="color: {color}"><b>{html.escape(self._headline())}</b></p><pre>{html.escape(str(self))}</pre>'

    __repr__ = __str__


def check(function, *arguments, backend=None, findings: int = 8, rounds: int = 1000, fuel: int = 1 << 32, **keywords) -> Report:
    """Runs a function of JAX on a backend and on Etalon, and tells which instructions the backend computes wrong.

    ``function`` is a function, jitted or not, or a module with its arguments. ``backend`` is the default backend of JAX, or

    - a function of a :class:`Module` and a list of arrays, which returns a list of arrays;
    - the name of a platform of JAX (``cuda``) or of an engine of Etalon (``fast``), or the path of a PJRT plugin.

    Each instruction is judged on the operands that the backend computed, so an error is found where it is made. At most
    ``findings`` are reported; of each loop at most ``rounds`` rounds are checked. An exception of a backend is a result, too:
    ``NotImplementedError`` says that it does not support the module.
    """
    call = call_of(function, arguments, keywords)
    if call.module.devices > 1:
        raise NotImplementedError("`check` runs programs of one device; this one has several")
    values = call.module._values(call.arguments)[0]
    other = _backends.native(backend, call.original)
    limits = {"findings": findings, "rounds": rounds, "fuel": fuel}
    found, footer, parts = _etalon.check(call.module._program, values, other, [*HOST, "pjrt-host"], limits, call.record)
    data = json.loads(found)
    return Report(
        verdict=data["verdict"].replace("_", " "),
        findings=[_finding(one, part) for one, part in zip(data["findings"], parts)],
        checked=data["checked"],
        not_checked=[tuple(pair) for pair in data["not_checked"]],
        summary=footer,
        data=data,
    )


def _write(path, text: str) -> None:
    """Writes a file as a whole: after an error the old one is there. What is no file, such as a pipe, is written to."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(path, "w") as file:
            file.write(text)
        return
    descriptor, temporary = tempfile.mkstemp(prefix=".etalon-", dir=os.path.dirname(target))
    try:
        with open(descriptor, "w") as file:
            file.write(text)
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        else:
            os.umask(mask := os.umask(0))
            os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _finding(data: dict, parts: dict) -> Finding:
    worst = ((data.get("judgement") or {}).get("measures") or {}).get("worst") or {}
    return Finding(
        path=data["path"],
        opcode=data["opcode"],
        shape=data["shape"],
        source=parts["source"],
        expected=worst.get("expected"),
        found=worst.get("actual") or data.get("failure"),
        context=data["context"],
        text=parts["drawn"],
        details=parts["details"],
        module=Module(parts["program"]),
        arguments=[_arrays.from_value(value) for value in parts["arguments"]],
        test=parts["test"],
    )


@dataclasses.dataclass(frozen=True)
class Trace:
    """A run, instruction by instruction."""

    result: Any
    events: list
    """An event for each instruction, in the order in which they end: ``name``, ``computation``, ``opcode``, ``shape``,
    ``op_name``, ``source``, ``depth``, ``start``, ``seconds``, ``own_seconds`` (without what it calls), ``bytes``."""

    def values(self) -> dict[str, list]:
        """Returns the arrays of each instruction, ``computation/name``; those of the last time, if it ran more than once."""
        if self.events and not any(event.outputs for event in self.events):
            raise ValueError("the trace has no values: record it with values=True")
        return {f"{e.computation}/{e.name}": [_arrays.from_value(value) for value in e.outputs] for e in self.events}

    def save(self, path) -> None:
        """Writes a file for Perfetto or `chrome://tracing`."""
        events = [
            {
                "name": event.name,
                "cat": event.opcode,
                "ph": "X",
                "ts": event.start * 1e6,
                "dur": event.seconds * 1e6,
                "pid": 0,
                "tid": 0,
                "args": {"shape": event.shape, "op_name": event.op_name, "source": str(event.source or "")},
            }
            for event in self.events
        ]
        _write(path, json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))

    def __str__(self) -> str:
        longest = sorted(self.events, key=lambda event: -event.own_seconds)[:20]
        lines = [f"{e.own_seconds * 1e3:10.3f} ms  {e.opcode:<20} {e.computation}/{e.name}  {e.source or ''}".rstrip() for e in longest]
        count = "1 instruction" if len(self.events) == 1 else f"{len(self.events)} instructions"
        return "\n".join([f"{count}; those that took longest:", *lines])

    def _repr_html_(self) -> str:
        total = sum(event.own_seconds for event in self.events) or 1.0
        longest = sorted(self.events, key=lambda event: -event.own_seconds)[:20]
        names = ("ms", "%", "op", "shape", "instruction", "source")
        rows = [
            (f"{e.own_seconds * 1e3:.3f}", f"{e.own_seconds / total:.1%}", e.opcode, e.shape, f"{e.computation}/{e.name}", str(e.source or ""))
            for e in longest
        ]
        cells = lambda row, tag: "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
        return f"<p><b>{len(self.events)} instructions, {total * 1e3:.3f} ms</b></p><table><tr>{cells(names, 'th')}</tr>{body}</table>"

    __repr__ = __str__


def trace(function, *arguments, values: bool = False, engine: str = "exact", **keywords) -> Trace:
    """Runs a function of JAX, or a module, on Etalon, and records every instruction; with ``values``, what it computed, too."""
    # As JAX runs it on Etalon, with callbacks.
    call = call_of(function, arguments, keywords, platform="etalon")
    lists = call.module._values(call.arguments)
    results, events = _etalon.trace(call.module._program, lists, run_options(engine), values)
    return Trace(call.assemble(call.module._results(results)), events)


@dataclasses.dataclass(frozen=True)
class NotFinite:
    """An instruction that computed a NaN or an infinity from finite operands."""

    message: str
    instruction: str
    source: Any
    count: int
    """How often it did."""
    text: str
    """The finding with its line and a caret."""

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def check_nan(function, *arguments, engine: str = "exact", **keywords) -> list[NotFinite]:
    """Runs a function of JAX, or a module, on Etalon, and returns the instructions that compute a NaN or an infinity from finite
    operands, in the order of the run."""
    # As JAX runs it on Etalon, with callbacks.
    call = call_of(function, arguments, keywords, platform="etalon")
    lists = call.module._values(call.arguments)
    _, found = _etalon.check_nan(call.module._program, lists, run_options(engine))
    return [
        NotFinite(part["message"], part["instruction"], part["source"], part["count"], part["drawn"]) for part in found
    ]
