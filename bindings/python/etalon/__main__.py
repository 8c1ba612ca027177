"""The command `etalon`, also as `python -m etalon`."""

import os
import signal
import sys

from . import _etalon

# What starts it as a process of its own. As a file: `-m` would import modules of the current folder.
HOST = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "_host.py")]


def main() -> None:
    """Runs the command with the arguments of the process, and ends the process with its exit code."""
    # The handler of Python sets a flag, at which native code does not look: Ctrl-C ends the process, unless it is ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Files that are opened must not get the numbers of closed streams.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    _etalon.command(sys.argv[1:], HOST)


if __name__ == "__main__":
    main()
