"""Exceptions. Their text shows the line with a caret; their attributes are those of the first error."""

from __future__ import annotations


class Error(Exception):
    """An error of Etalon.

    ``code`` is its number, ``message`` what was found and expected, ``help`` what to do, ``instruction`` the instruction as
    ``computation/name``, ``source`` the place in the program that the module was made from. ``errors`` has these of each error.
    """

    def __init__(self, text: str, errors: list[dict] | None = None):
        super().__init__(text)
        self.errors = errors or []
        first = self.errors[0] if self.errors else {}
        self.code = first.get("code", "")
        self.message = first.get("message", text)
        self.help = first.get("help")
        self.instruction = first.get("instruction")
        self.source = first.get("source")

    def __reduce__(self):
        # The native places of errors stay behind.
        kept = [{**error, "source": error.get("source") and str(error["source"])} for error in self.errors]
        return type(self), (str(self), kept)


class InvalidModuleError(Error):
    """The text of a module is malformed, or the module breaks rules of HLO; ``errors`` has all of them."""


class RunError(Error):
    """A run has no result: wrong arguments, a limit, a deadlock, a NaN with ``check_nan``."""


class WrongResultError(Error, AssertionError):
    """A backend computes something wrong; ``report`` says what."""

    def __init__(self, text: str, errors: list[dict] | None = None, report=None):
        super().__init__(text, errors)
        self.report = report


class UnsupportedError(Error, NotImplementedError):
    """Etalon does not implement something that the module needs."""


class InternalError(Error):
    """A bug of Etalon; please report it with the module."""


# Tracebacks show the names that users write.
for _class in (Error, InvalidModuleError, RunError, WrongResultError, UnsupportedError, InternalError):
    _class.__module__ = "etalon"
del _class
