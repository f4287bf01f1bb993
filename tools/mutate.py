#!/usr/bin/env python3
"""Plants faults in the library, one at a time, and counts those that the tests notice.

A mutant is a source file in which one operator, comparison, constant or condition is another. What
is made of that file alone is compiled, and the tests of its room (mutate_tests.py) are linked with it
and run until one fails. What survives is printed, to be inspected: either a test is missing, or the mutant is no
fault. Lines on which every change but a gross one gives the same results by design are left out
(mutate_unseen.py), and counted.

    tools/mutate.py BUILD-FOLDER... [--seed S] [--mutants N] [--skip K] [--seconds S] [--jobs J] [--room ROOM]...
                    [--again FILE] [--quick] [--slow S] [--list]

What survives in one folder is tried in the next, by the tests that the former does not have: sanitizers see
numbers outside of an array, and without them the tests are built that let memory and files fail.
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
from mutate_tests import FAULTS, QUICK, rooms as all_rooms, run_program, tests_of
from mutate_unseen import is_room, why_unseen

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


def mutants_of(path, unseen):
    """(path, start, end, by) of each mutant in a file; unseen counts those that are left out, by reason."""
    text = without_comments(path.read_text())
    body = text.find("{")  # declarations at the top are the compiler's to check
    for what, by in RULES:
        for match in re.finditer(what, text):
            if match.start() <= body or is_room(text, match.start()):
                continue
            reason = why_unseen(path, text, match.start())
            if reason:
                unseen[reason] = unseen.get(reason, 0) + 1
            else:
                yield path, match.start(), match.end(), by


def sources(rooms, quick):
    """Files of the rooms that are compiled here: C, and bodies that C files include. Headers and
    kernels, which are compiled many times, are not for the quick."""
    for room in rooms:
        for path in sorted(Path("src", room).iterdir()):
            slow = path.suffix == ".h" or "kernel" in path.name
            if path.suffix in (".c", ".h") and "cuda" not in path.name and not (quick and slow):
                yield path


def program_of(test):
    """The program of a test, and its arguments."""
    if test.startswith("corpus_"):
        name = test.removeprefix("corpus_")
        return f"fuzz/replay_{name}", [str(Path("tests/corpus", name).resolve())]
    return f"tests/test_{test}", []


def fails(program, test, workshop, options, kith=None):
    """Whether a test fails: None, or its name and how. A test that takes so much processor time has
    noticed; the clock on the wall would say that of every test on a busy machine, and is for those that
    wait for ever."""
    build = workshop.build.folder
    place = workshop.folder / "files" / test  # what tests write has one name in all mutants
    place.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": "/usr/bin:/bin", "KITH_PROGRAM": kith or str(build / "kith"),
                   "XDG_CACHE_HOME": str(place / "cache"), "OMP_WAIT_POLICY": "passive",
                   "KITH_TEST_SEED": "1", "KITH_TEST_QUICK": "1",
                   "KITH_TEST_MEMORY_FAULTS": str(build / "tests/faults/libmemory_faults.so"),
                   "KITH_TEST_SYSTEM_FAULTS": str(build / "tests/faults/libsystem_faults.so"),
                   "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=8192"}
    if test in FAULTS:  # as tests/faults/CMakeLists.txt says
        environment |= {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    command = ["sh", "-c", f'ulimit -t {options.test_seconds}; exec "$0" "$@"', program, *program_of(test)[1]]
    try:
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=20 * options.test_seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"{test} (waits)"
    if done.returncode in (0, 77):
        return None
    return test + (" (hangs)" if done.returncode in (-9, -24, 137, 152) else "")


def good_tests(rooms, workshop, options, but):
    """The tests of each room that pass as things are, the quickest first, without those that another
    folder has; slow ones are left to the next folder, or to none."""
    of_room = {room: tests_of(room) for room in rooms}
    names = sorted({test for lists in of_room.values() for tests in lists for test in tests} - but)
    built = [name for name in names if (workshop.build.folder / program_of(name)[0]).exists()]

    def timed(name):
        begin = time.monotonic()
        failed = fails(str(workshop.build.folder / program_of(name)[0]), name, workshop, options)
        return failed, time.monotonic() - begin

    with ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(built, pool.map(timed, built)))
    bad = [failed for failed, _ in results.values() if failed]
    slow = [name for name, (failed, seconds) in results.items() if not failed and seconds > options.slow]
    for names, why in (bad, "they fail without a mutant"), (slow, f"they take more than {options.slow} s"):
        if names:
            print(f"left out in {workshop.build.folder.name}, as {why}: {', '.join(names)}", flush=True)
    good = {name: seconds for name, (failed, seconds) in results.items() if not failed and name not in slow}
    quick = {name for name, seconds in good.items() if seconds <= QUICK}
    return {room: sorted({*own} & {*good} | {*others} & quick, key=lambda name: (good[name], name))
            for room, (own, others) in of_room.items()}


def try_mutant(mutant, tests, workshop, options):
    """'killed', 'survived' or 'does not compile', and by what test."""
    path, start, end, by = mutant
    if not workshop.compile(path, apply(path.read_text(), start, end, by), options.build_seconds):
        return "does not compile", ""
    kith, with_program = None, run_program()
    for test in tests:
        program = workshop.link(program_of(test)[0])
        if test in with_program:
            kith = kith or workshop.link("kith")
        if not program or (test in with_program and not kith):
            return "does not compile", ""
        killed = fails(program, test, workshop, options, kith)
        Path(program).unlink()
        if killed:
            return "killed", killed
    return "survived", ""


def try_in_all(mutant, benches, options):
    """The same with each folder's tests, until one notices."""
    what = "survived", ""
    for tests, workshops in benches:
        workshop = workshops.get()
        try:
            what = try_mutant(mutant, tests[mutant[0].parts[1]], workshop, options)
        finally:
            workshops.put(workshop)
        if what[0] != "survived":
            break
    return what


def told(mutant):
    """A mutant in words: the file, the line's number, what is what instead, the line."""
    path, start, end, by = mutant
    text = path.read_text()
    line = text[text.rfind("\n", 0, start) + 1:text.find("\n", end)].strip()
    return str(path), line_of(text, start), f"'{text[start:end].strip()}' -> '{by.strip()}' in: {line}"


def survivors_in(file):
    """(path, change) of those that an earlier run reported to survive; lines may have moved since."""
    found = re.findall(r"^survived: (\S+?):\d+: (.*)$", Path(file).read_text(), flags=re.M)
    return set(found)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def options_of_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+",
                        help="folders of these sources in which everything is built by Ninja")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="how many of the seed's were tried before")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at once")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none after this time")
    parser.add_argument("--build-seconds", type=float, default=1800)
    parser.add_argument("--test-seconds", type=int, default=60, help="of processor time")
    parser.add_argument("--slow", type=float, default=25,
                        help="leave tests that take more seconds than this out")
    parser.add_argument("--room", action="append", choices=all_rooms())
    parser.add_argument("--again", metavar="FILE", help="only what survived in this output of a former run")
    parser.add_argument("--quick", action="store_true", help="without headers and kernels")
    parser.add_argument("--list", action="store_true", help="print the number of mutants")
    return parser.parse_args()


def choose(options, rooms, build):
    """The mutants to try, and how many are left out for what reason."""
    unseen = {}
    each = [m for path in sources(rooms, options.quick) for m in mutants_of(path, unseen)]
    if options.list:
        return each, unseen
    each = [m for m in each if build.compiled(m[0])]
    if options.again:
        before = survivors_in(options.again)
        each = [m for m in each if (told(m)[0], told(m)[2]) in before]
    chosen = random.Random(options.seed).sample(each, min(options.skip + options.mutants, len(each)))
    return chosen[options.skip:], unseen


def prepare(builds, rooms, options):
    """For each folder the tests of each room, and places to work in."""
    benches, known = [], set()
    for build in builds:
        workshops = queue.SimpleQueue()
        for job in range(options.jobs):
            workshops.put(Workshop(build, build.folder / "mutants" / str(job)))
        tests = good_tests(rooms, Workshop(build, build.folder / "mutants" / "none"), options, known)
        known |= {test for room in rooms for test in tests[room]}
        benches.append((tests, workshops))
    return benches


def main():
    options = options_of_line()
    rooms = options.room or all_rooms()
    builds = [Build(folder) for folder in options.folder]
    chosen, unseen = choose(options, rooms, builds[0])
    if options.list:
        print(f"{len(chosen)} mutants in {len({m[0] for m in chosen})} files; left out:")
        for reason, count in sorted(unseen.items()):
            print(f"{count:6d} {reason}")
        return 0
    benches = prepare(builds, rooms, options)
    begin, counts = time.monotonic(), {"killed": 0, "survived": 0, "does not compile": 0}

    def attempt(mutant):
        if time.monotonic() - begin > options.seconds:
            return
        what, test = try_in_all(mutant, benches, options)
        counts[what] += 1
        path, line, change = told(mutant)
        print(f"{what}{' by ' + test if test else ''}: {path}:{line}: {change}", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(attempt, chosen))
    tried = counts["killed"] + counts["survived"]
    print(f"{tried} mutants, {counts['killed']} killed ({100 * counts['killed'] / max(tried, 1):.0f} %), "
          f"{counts['survived']} survived; {counts['does not compile']} more do not compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
