"""Checks that the rooms of src/ only look down, and that tests are in rooms: check_rooms.py [SRC]

A room includes headers of its own and of rooms on lines below. The order is this script's only data. A test of
C is in the folder of its room, tests/ROOM, and what tests of several rooms use in tests/testing."""

import pathlib
import re
import sys

ORDER = """
run
view
simulation
io
initial
orbits forces
tree
mesh
sums
matrix pairs lattice sparse
cells
sort
law
ranks
particles
device
core
"""

LINES = [line.split() for line in ORDER.split("\n") if line]
HEIGHT = {room: -k for k, line in enumerate(LINES) for room in line}


def faults(src: pathlib.Path):
    for path in sorted(src.rglob("*.*")):
        room = path.relative_to(src).parts[0]
        if path.parent == src or path.suffix not in {".c", ".h", ".cu", ".cuh", ".inc"}:
            continue  # src/backends.c binds devices and rooms
        if room not in HEIGHT:
            yield f"{path}: the room {room} is not in the order of {sys.argv[0]}"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.lstrip().startswith("#"):
                continue
            for other in re.findall(r'"([^"/]+)/[^"]+\.(?:h|cuh|c|inc)"', line):
                if other not in {room, "kith"} and HEIGHT.get(other, 1) >= HEIGHT[room]:
                    yield f"{path}:{number}: {room} includes {other}, which is not below it"


def tests_without_a_room(tests: pathlib.Path):
    for path in sorted(tests.glob("*.[ch]")):
        yield f"{path}: belongs in {tests}/ROOM, or in {tests}/testing if tests of several rooms use it"


def main():
    src = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    found = [*faults(src), *tests_without_a_room(src.parent / "tests")]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
