#!/usr/bin/env python3
"""Plants faults in the library, one at a time, and counts those that the tests notice.

A mutant is a source file in which one operator, comparison, constant or condition is another. What
is made of that file alone is compiled, and the tests of its room are linked with it and run until
one fails. What survives is printed, to be looked at: either a test is missing, or the mutant is no
fault (another order of loops, another threshold of when to use threads).

    tools/mutate.py BUILD-FOLDER [--seed S] [--mutants N] [--skip K] [--seconds S] [--jobs J] [--room ROOM]...
                    [--quick] [--list]
"""
import argparse
import queue
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutate_build import Build, Workshop

# A room's tests, the quickest first. Formulas are compiled from texts that the library carries, so
# tests that compile them come last.
TESTS = {
    "core": ["core", "team", "simd", "simd_math", "tuning", "properties"],
    "forces": ["ring", "forces", "forces_arguments", "forces_columns", "systems", "forces_range",
               "forces_methods", "combine", "edge_numbers", "properties", "forces_kernels",
               "advance", "forces_jerk", "forces_laws"],
    "law": ["law", "formula", "forces", "matrix", "properties", "forces_laws", "law_compiled"],
    "matrix": ["matrix", "edge_numbers", "properties", "matrix_cli"],
    "pairs": ["pairs_edges", "properties", "edge_numbers", "pairs", "sparse_pairs"],
    "collisions": ["thread_maps", "collisions", "collisions_lists", "properties"],
    "sparse": ["sparse", "sparse_dense", "sparse_arguments", "market", "sparse_vectors", "sparse_pairs",
               "properties"],
    "simulation": ["simulation", "checkpoint", "integrators", "diagnostics", "ensemble", "advance",
                   "physics", "properties"],
    "initial": ["random", "initial", "initial_orbits", "initial_samples"],
    "io": ["csv", "xyz", "npy", "tipsy", "gadget", "h5md", "formats", "trajectory", "h5md_tables",
           "run", "run_resume", "properties"],
    "run": ["run", "run_resume", "run_ensemble", "run_laws"],
    "cpu": ["combine", "forces", "properties"],
}

# (what, by what): each place in a file is one mutant.
RULES = [
    (r"(?<=[\w\)\]]) \+ (?=[\w\(])", " - "),
    (r"(?<=[\w\)\]]) - (?=[\w\(])", " + "),
    (r"(?<=[\w\)\]]) \* (?=[\w\(])", " / "),
    (r"(?<=[\w\)\]]) / (?=[\w\(])", " * "),
    (r"(?<=[\w\)\]]) % (?=[\w\(])", " / "),
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r"\+\+(?=[;\)])", "--"),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r"(?<![\w\.])0(?=[;,\)\]])", "1"),
    (r"(?<![\w\.])1(?=[;,\)\]])", "2"),
    (r"(?<![\w\.])2(?=[;,\)\] ])", "3"),
    (r"\bif \((?!!)", "if (!("),
    (r"\breturn KITH_OK;", "return KITH_INTERNAL_ERROR;"),
    (r" \? (?=[\w\(])", " ? 0 * "),
    (r"(?<== )(?=[a-z_]+\[)", "-"),
]


def without_comments(text):
    """The text with comments, strings and preprocessor lines blanked, offset for offset."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', blank, text)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def apply(text, start, end, by):
    """One mutant; an inverted condition needs its closing parenthesis."""
    if by != "if (!(":
        return text[:start] + by + text[end:]
    depth = 1
    for at in range(end, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[:start] + by + text[end:at] + ")" + text[at:]
    return text


def is_room(text, at):
    """Whether a number is the length of an array that is declared: more of it is no fault."""
    before = text[text.rfind("\n", 0, at) + 1:at]
    return re.fullmatch(r"\s*(?:\w+ )+\*?\w+\[", before) is not None


def mutants_of(path):
    """(path, start, end, by) of each mutant in a file."""
    text = without_comments(path.read_text())
    body = text.find("{")  # declarations at the top are the compiler's to check
    for what, by in RULES:
        for match in re.finditer(what, text):
            if match.start() > body and not is_room(text, match.start()):
                yield path, match.start(), match.end(), by


def sources(rooms, quick):
    """Files of the rooms that are compiled here: C, and bodies that C files include. Headers and
    kernels, which are compiled many times, are not for the quick."""
    for room in rooms:
        for path in sorted(Path("src", room).iterdir()):
            slow = path.suffix == ".h" or "kernel" in path.name
            if path.suffix in (".c", ".h") and "cuda" not in path.name and not (quick and slow):
                yield path


def fails(program, test, workshop, options):
    """Whether a test fails: None, or its name and how. A test that takes so much processor time has
    noticed; the clock on the wall would say that of every test on a busy machine, and is for those that
    wait for ever."""
    environment = {"PATH": "/usr/bin:/bin", "KITH_PROGRAM": str(workshop.build.folder / "kith"),
                   "XDG_CACHE_HOME": str(workshop.folder / "cache"), "OMP_WAIT_POLICY": "passive",
                   "KITH_TEST_SEED": "1", "KITH_TEST_QUICK": "1"}
    command = ["sh", "-c", f'ulimit -t {options.test_seconds}; exec "$0"', program]
    try:
        done = subprocess.run(command, cwd=workshop.build.folder, env=environment, capture_output=True,
                              timeout=20 * options.test_seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"{test} (waits)"
    if done.returncode == 0:
        return None
    return test + (" (hangs)" if done.returncode in (-9, -24, 137, 152) else "")


def good_tests(rooms, workshop, options):
    """The tests of each room that pass as things are."""
    names = sorted({test for room in rooms for test in TESTS[room]})
    built = [name for name in names if (workshop.build.folder / "tests" / f"test_{name}").exists()]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: fails(str(workshop.build.folder / "tests" / f"test_{name}"), name,
                                                   workshop, options), built))
    bad = [result for result in results if result]
    if bad:
        print(f"left out, as they fail without a mutant: {', '.join(bad)}", flush=True)
    good = [name for name, result in zip(built, results) if not result]
    return {room: [test for test in TESTS[room] if test in good] for room in rooms}


def try_mutant(mutant, tests, workshop, options):
    """'killed', 'survived' or 'does not compile', and by what test."""
    path, start, end, by = mutant
    if not workshop.compile(path, apply(path.read_text(), start, end, by), options.build_seconds):
        return "does not compile", ""
    for test in tests:
        program = workshop.link(f"tests/test_{test}")
        if not program:
            return "does not compile", ""
        killed = fails(program, test, workshop, options)
        Path(program).unlink()
        if killed:
            return "killed", killed
    return "survived", ""


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def options_of_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a folder of these sources in which everything is built by Ninja")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="so many of the seed's, tried before")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at once")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after so long")
    parser.add_argument("--build-seconds", type=float, default=1800)
    parser.add_argument("--test-seconds", type=int, default=60, help="of processor time")
    parser.add_argument("--room", action="append", choices=sorted(TESTS))
    parser.add_argument("--quick", action="store_true", help="without headers and kernels")
    parser.add_argument("--list", action="store_true", help="tell how many mutants there are")
    return parser.parse_args()


def main():
    options = options_of_line()
    rooms = options.room or sorted(TESTS)
    each = [m for path in sources(rooms, options.quick) for m in mutants_of(path)]
    if options.list:
        print(f"{len(each)} mutants in {len({m[0] for m in each})} files")
        return 0
    build = Build(options.folder)
    each = [m for m in each if build.compiled(m[0])]
    chosen = random.Random(options.seed).sample(each, min(options.skip + options.mutants, len(each)))
    chosen = chosen[options.skip:]
    workshops = queue.SimpleQueue()
    for job in range(options.jobs):
        workshops.put(Workshop(build, build.folder / "mutants" / str(job)))
    tests = good_tests(rooms, Workshop(build, build.folder / "mutants" / "none"), options)
    begin, counts = time.monotonic(), {"killed": 0, "survived": 0, "does not compile": 0}

    def attempt(mutant):
        path, start, end, by = mutant
        if time.monotonic() - begin > options.seconds:
            return
        workshop = workshops.get()
        try:
            what, test = try_mutant(mutant, tests[path.parts[1]], workshop, options)
        finally:
            workshops.put(workshop)
        counts[what] += 1
        text = path.read_text()
        line = text[text.rfind("\n", 0, start) + 1:text.find("\n", end)].strip()
        print(f"{what}{' by ' + test if test else ''}: {path}:{line_of(text, start)}: "
              f"'{text[start:end].strip()}' -> '{by.strip()}' in: {line}", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(attempt, chosen))
    tried = counts["killed"] + counts["survived"]
    print(f"{tried} mutants, {counts['killed']} killed ({100 * counts['killed'] / max(tried, 1):.0f} %), "
          f"{counts['survived']} survived; {counts['does not compile']} more do not compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
