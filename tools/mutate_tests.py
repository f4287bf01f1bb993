"""The tests that are to notice a fault in a room, by the folders that they are in.

They are those of the room's own folder, tests/ROOM; those that check all rooms; and, as a fault may show in the
results of others alone, the quick ones of the rooms that include its headers.
"""
import re
from pathlib import Path

# Tests that let memory and files fail, in every room.
FAULTS = ["memory_faults", "memory_again", "write_faults"]

# Seconds that a test of another room takes at most.
QUICK = 1.0


def rooms():
    return sorted(path.name for path in Path("src").iterdir() if path.is_dir())


def own_tests(room):
    """Names of the tests in the folder of a room, without test_."""
    return [path.stem.removeprefix("test_") for path in sorted(Path("tests", room).glob("test_*.c"))]


def everywhere():
    """Names of the tests that check all rooms: random calls, faults, damaged files."""
    return ["properties", *FAULTS, *(f"corpus_{path.name}" for path in sorted(Path("tests/corpus").iterdir()))]


def users_of(room):
    """The rooms whose files include headers of this one."""
    include = re.compile(rf'^#include "{room}/', re.M)
    files = (path for path in Path("src").glob("*/*") if path.suffix in (".c", ".h"))
    return sorted({path.parts[1] for path in files if include.search(path.read_text())} - {room})


def tests_of(room):
    """The tests of a room, and those of others that serve it if they are quick."""
    own = own_tests(room) + everywhere()
    others = [test for user in users_of(room) for test in own_tests(user)]
    return own, others


def run_program():
    """Tests that run the program, which is linked with the mutant for them: those that include program.h, or a header
    of the tests that does."""
    tests = sorted(Path("tests").glob("*/*.[ch]"))
    names = {"program.h"}
    while True:
        include = re.compile(rf'^#include "(?:{"|".join(map(re.escape, sorted(names)))})"', re.M)
        found = {path.name for path in tests if include.search(path.read_text())}
        if found <= names:
            return {name.removesuffix(".c").removeprefix("test_") for name in names if name.startswith("test_")}
        names |= found
