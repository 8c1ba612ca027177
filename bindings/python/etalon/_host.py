"""The process of a PJRT plugin, which `etalon.check` starts."""

from etalon import _etalon

if __name__ == "__main__":
    _etalon.serve()
