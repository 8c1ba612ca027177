"""Assertions for tests of a backend.

>>> from etalon.testing import assert_right
>>> def test_loss():
...     assert_right(loss, params, batch)
"""

from __future__ import annotations

from ._check import Report, check

__all__ = ["assert_right"]


def assert_right(function, *arguments, backend=None, **keywords) -> Report:
    """Asserts that a backend computes a function of JAX, or a module, right: that :func:`etalon.check` finds nothing.

    Raises :class:`etalon.WrongResultError`, an ``AssertionError``, with the whole report; returns the report.
    """
    __tracebackhide__ = True
    report = check(function, *arguments, backend=backend, **keywords)
    report.raise_if_wrong()
    return report
