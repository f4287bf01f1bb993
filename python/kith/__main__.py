"""The command: ``python -m kith`` is the program kith, which the package carries."""

import os
import sys

PROGRAM = os.path.join(os.path.dirname(__file__), "bin", "kith")


def main() -> None:
    """Becomes the program, with the arguments of this one."""
    os.execv(PROGRAM, ["kith", *sys.argv[1:]])


if __name__ == "__main__":
    main()
