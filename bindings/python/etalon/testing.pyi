"""Assertions for tests of a backend."""

from typing import Any

from . import Report, _Backend, _Function

__all__ = ["assert_right"]

def assert_right(function: _Function, *arguments: Any, backend: _Backend = None, **keywords: Any) -> Report: ...
