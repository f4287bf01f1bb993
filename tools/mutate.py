#!/usr/bin/env python3
"""Plants faults in the library, one at a time, and counts those that the tests notice.

A mutant is a source file in which one operator, comparison, constant or condition is another. The
changed object alone is compiled, in a build folder of its own, and the tests of its room are run
until one fails. What survives is printed, to be looked at: either a test is missing, or the mutant
is no fault (another order of loops, another threshold of when to use threads).

    tools/mutate.py BUILD-FOLDER [--seed S] [--mutants N] [--seconds S] [--room ROOM]... [--quick] [--list]
"""
import argparse
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

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
    "sparse": ["sparse", "sparse_arguments", "market", "sparse_vectors", "sparse_pairs",
               "properties"],
    "simulation": ["simulation", "checkpoint", "integrators", "diagnostics", "ensemble", "advance",
                   "physics", "properties"],
    "initial": ["random", "initial", "initial_orbits", "initial_samples"],
    "io": ["csv", "xyz", "npy", "tipsy", "gadget", "h5md", "formats", "trajectory", "run",
           "properties"],
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


def mutants_of(path):
    """(path, start, end, by) of each mutant in a file."""
    text = without_comments(path.read_text())
    body = text.find("{")  # declarations at the top are the compiler's to check
    for what, by in RULES:
        for match in re.finditer(what, text):
            if match.start() > body:
                yield path, match.start(), match.end(), by


def sources(rooms, quick):
    """Files of the rooms that are compiled here: C, and bodies that C files include. Headers and
    kernels, which are compiled many times, are not for the quick."""
    for room in rooms:
        for path in sorted(Path("src", room).iterdir()):
            slow = path.suffix == ".h" or "kernel" in path.name
            if path.suffix in (".c", ".h") and "cuda" not in path.name and not (quick and slow):
                yield path


def build(folder, targets, seconds):
    """Whether it compiles."""
    try:
        done = subprocess.run(["ninja", "-C", folder, *targets], capture_output=True,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def limit_processor_time(seconds):
    """A test that takes so much longer than it should has noticed. The clock on the wall would say
    that of every test on a busy machine."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def killed_by(folder, tests, seconds):
    """The first test that fails, or None."""
    for test in tests:
        program = Path(folder, "tests", "test_" + test).resolve()
        if not program.exists():
            continue
        environment = {"PATH": "/usr/bin:/bin", "KITH_PROGRAM": str(Path(folder, "kith").resolve()),
                       "XDG_CACHE_HOME": str(Path(folder, "cache").resolve()),
                       "KITH_TEST_SEED": "1", "KITH_TEST_QUICK": "1"}
        done = subprocess.run([program], cwd=folder, env=environment, capture_output=True,
                              preexec_fn=lambda: limit_processor_time(seconds), check=False)
        if done.returncode != 0:
            return test + (" (hangs)" if done.returncode in (-9, -24) else "")
    return None


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def try_mutant(mutant, folder, options):
    """'killed', 'survived' or 'does not compile', and by what test."""
    path, start, end, by = mutant
    text = path.read_text()
    tests = TESTS[path.parts[1]]
    targets = ["test_" + test for test in tests if Path(folder, "tests", "test_" + test).exists()]
    path.write_text(apply(text, start, end, by))
    try:
        if not build(folder, targets, options.build_seconds):
            return "does not compile", ""
        test = killed_by(folder, tests, options.test_seconds)
        return ("killed", test) if test else ("survived", "")
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a build folder with tests, whose sources are these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--build-seconds", type=float, default=1800)
    parser.add_argument("--test-seconds", type=int, default=60, help="of processor time")
    parser.add_argument("--room", action="append", choices=sorted(TESTS))
    parser.add_argument("--quick", action="store_true", help="without headers and kernels")
    parser.add_argument("--list", action="store_true", help="tell how many mutants there are")
    options = parser.parse_args()

    each = [m for path in sources(options.room or sorted(TESTS), options.quick) for m in mutants_of(path)]
    if options.list:
        print(f"{len(each)} mutants in {len({m[0] for m in each})} files")
        return 0
    chosen = random.Random(options.seed).sample(each, min(options.mutants, len(each)))
    begin, counts = time.monotonic(), {"killed": 0, "survived": 0, "does not compile": 0}
    for path, start, end, by in chosen:
        if time.monotonic() - begin > options.seconds:
            break
        text = path.read_text()
        what, test = try_mutant((path, start, end, by), options.folder, options)
        counts[what] += 1
        line = text[text.rfind("\n", 0, start) + 1:text.find("\n", end)].strip()
        print(f"{what}{' by ' + test if test else ''}: {path}:{line_of(text, start)}: "
              f"'{text[start:end].strip()}' -> '{by.strip()}' in: {line}", flush=True)
    tried = counts["killed"] + counts["survived"]
    print(f"{tried} mutants, {counts['killed']} killed ({100 * counts['killed'] / max(tried, 1):.0f} %), "
          f"{counts['survived']} survived; {counts['does not compile']} more do not compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
