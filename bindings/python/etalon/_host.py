"""The command `etalon` as a process that the package starts, such as that of a PJRT plugin."""

from etalon.__main__ import main

if __name__ == "__main__":
    main()
