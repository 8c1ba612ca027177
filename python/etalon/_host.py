"""The process of a PJRT plugin, which `etalon.check` starts."""

from . import _etalon

if __name__ == "__main__":
    _etalon.serve()
