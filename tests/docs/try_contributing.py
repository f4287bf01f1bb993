"""Tries the worked examples of docs/contributing.md: each section's files and changes are applied to a
copy of the sources, what they touch is compiled, and the section's commands and tests are run.

    try_contributing.py BUILD-FOLDER

Nothing else is compiled again: an object is taken from the build folder unless a file that it was made
of has changed. A change of the table of laws writes the laws' bodies again. Of kernels that are compiled once for each instruction set only one is, the least.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from page import blocks_of
from run_pages import check_output, run

root = Path(__file__).resolve().parents[2]
page = root / "docs/contributing.md"
FOLDERS = ("src", "include", "cli", "tests", "bench", "examples")


def sections(path):
    """The blocks of each section of the page that has some to try, by its heading."""
    lines = path.read_text(encoding="utf-8").split("\n")
    found = {}
    for block in blocks_of(path):
        heading = next((line[3:] for line in reversed(lines[: block.line]) if line.startswith("## ")), "")
        found.setdefault(heading, []).append(block)
    return {name: blocks for name, blocks in found.items() if name.startswith(("A ", "An "))}


def apply(block, tree):
    """Writes a file, or changes it: what a diff's hunk takes away must stand there exactly once."""
    if "file" in block.remarks:
        path = tree / block.remarks["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.code, encoding="utf-8")
        return path
    path = tree / block.remarks["change"]
    text = path.read_text(encoding="utf-8")
    for hunk in re.split(r"^@@.*\n", block.code, flags=re.M):
        lines = hunk.split("\n")[:-1]
        if not lines:
            continue
        before = "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
        after = "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
        if text.count(before) != 1:
            sys.exit(f"{block}: {block.remarks['change']} has these lines {text.count(before)} times:\n{before}")
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return path


class Build:
    """What the build folder knows: commands, what objects were made of, how programs are linked."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.generated = self.folder / "generated"
        every = [c for c in json.loads(self.ninja("-t", "compdb")) if self.is_object(c)]
        self.writer = [c for c in every if "/law_writer.dir/" in c["output"]]
        self.objects = [c for c in every if c not in self.writer]
        for command in self.objects:
            isa = re.search(r"-DKITH_ISA_NAME=(\w+)", command["command"])
            command["isa"] = isa and isa[1]
        # Tests compile kernels for sets of their own, which no program has.
        self.least_isa = [c["isa"] for c in self.objects if c["isa"] and not c["output"].startswith("tests/")][-1]
        self.made_of = {}
        for paragraph in self.ninja("-t", "deps").split("\n\n"):
            output, _, files = paragraph.partition(":")
            self.made_of[output] = {os.path.realpath(self.folder / f.strip()) for f in files.split("\n")[1:]}

    def is_object(self, command):
        return command["file"].endswith(".c") and "/src/" in command["file"] and command["output"].endswith(".o")

    def ninja(self, *arguments):
        return subprocess.run(
            ["ninja", "-C", self.folder, *arguments], check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def link_command(self, target):
        return self.ninja("-t", "commands", target).strip().split("\n")[-1]

    def touched(self, changed):
        """The commands of the library's objects that these files go into."""
        files = {os.path.realpath(root / name) for name in changed}
        if self.writes_laws(changed):
            files |= {os.path.realpath(file) for file in self.generated.rglob("*.h")}
        return [
            c
            for c in self.objects
            if files & self.made_of.get(c["output"], set()) and c["isa"] in (None, self.least_isa)
        ]

    def writes_laws(self, changed):
        return any(os.path.relpath(c["file"], root) in changed for c in self.writer)

    def write_laws(self, tree):
        """Makes law_writer of the tree's sources, and runs it for headers in the tree."""
        words = []
        for number, command in enumerate(self.writer):
            target = f"{tree}/law_writer_{number}.o"
            file = tree / os.path.relpath(os.path.realpath(command["file"]), root)
            text = command["command"].replace(command["output"], target).replace(command["file"], str(file))
            subprocess.run(moved(text, self, tree), shell=True, cwd=self.folder, check=True)
            words.append(target)
        program = f"{tree}/law_writer"
        subprocess.run(["cc", *words, "-lm", "-o", program], check=True)
        folder = tree / "generated/law"
        folder.mkdir(parents=True)
        subprocess.run([program, folder], check=True)

    def like(self, name):
        """Commands of a file of the same kind in the same room, for a file that is new."""
        room, is_kernel = Path(name).parent, name.endswith("_kernel.c")
        for command in self.objects:
            of = Path(command["file"])
            if "-DREAL=" not in command["command"] and bool(command["isa"]) == is_kernel and (
                is_kernel or of.parent.name == room.name or not (root / room).exists()
            ):
                if not is_kernel:
                    return [command]
                return [c for c in self.objects if c["file"] == command["file"]]
        sys.exit(f"{name}: no file of the build is like it")


def moved(command, build, tree):
    """A command of the build with the tree's files instead of the project's, and quick to do."""
    if (tree / "generated").exists():
        command = command.replace(str(build.generated), f"{tree}/generated")
    for folder in FOLDERS:
        command = command.replace(f"{root}/{folder}", f"{tree}/{folder}")
    return command.replace("-O3", "-O1")


def compile_all(build, jobs, tree):
    """jobs: (command of the build, file). Gives the new objects, by the names of the old ones."""
    made = {}

    def compile_one(job):
        number, (command, file) = job
        target = f"{tree}/{number}.o"
        text = command["command"].replace(command["output"], target).replace(command["file"], str(tree / file))
        subprocess.run(moved(text, build, tree), shell=True, cwd=build.folder, check=True)
        made[target] = command["output"] if str(root / file) == command["file"] else None

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(compile_one, enumerate(jobs)))
    return made


def link(build, target, made, tree, instead=None):
    """Links a program of the build with new objects; `instead` replaces its own object by another."""
    words = shlex.split(build.link_command(target))
    output = words[words.index("-o") + 1]
    old = {name: new for new, name in made.items() if name}
    linked = [old.pop(word, word) for word in words]
    rest = [new for new, name in made.items() if name is None or name in old]
    program = f"{tree}/bin/{Path(instead[1]).stem if instead else Path(output).name}"
    Path(program).parent.mkdir(exist_ok=True)
    if instead:
        linked = [instead[1] if word.endswith(instead[0]) else word for word in linked]
    archive = next(k for k, word in enumerate(linked) if word.endswith("libkith.a"))
    linked[archive:archive] = rest
    text = " ".join(word if word in ("&&", ":") else shlex.quote(word) for word in linked)
    subprocess.run(text.replace(f"-o {output}", f"-o {program}"), shell=True, cwd=build.folder, check=True)
    return program


def try_section(name, blocks, build, tree):
    for folder in FOLDERS:
        shutil.copytree(root / folder, tree / folder, ignore=shutil.ignore_patterns("docs", "corpus"))
    shutil.copy(root / "CMakeLists.txt", tree)
    changed, new, tests = [], [], []
    for block in blocks:
        file = block.remarks.get("file") or block.remarks.get("change")
        if not file:
            continue
        is_new = not (root / file).exists()
        apply(block, tree)
        if Path(file).name.startswith("test_"):
            tests.append(file)
        elif is_new and file.endswith(".c"):
            new.append(file)
        elif not is_new and not file.endswith(".txt"):
            changed.append(file)
    only = {file for block in blocks for file in block.remarks.get("compile only", "").split()}
    touched = [c for c in build.touched(changed) if not only or os.path.relpath(c["file"], root) in only]
    if build.writes_laws(changed):
        build.write_laws(tree)
    jobs = [(c, os.path.relpath(c["file"], root)) for c in touched]
    jobs += [(command, file) for file in new for command in build.like(file)]
    made = compile_all(build, jobs, tree)
    environment = {
        **os.environ,
        "PATH": f"{tree}/bin:{os.environ['PATH']}",
        "KITH_ISA": build.least_isa,
        "KITH_TUNING": "off",
    }
    for test in tests:
        run_test(build, test, made, tree, environment)
    commands = [block for block in blocks if block.language in ("sh", "text")]
    if commands:
        link(build, "kith", made, tree)
    printed = None
    for block in commands:
        if block.language == "text":
            check_output(commands[commands.index(block) - 1], block, printed)
        else:
            printed = run(block, ["sh", "-euc", block.code], tree, environment)
    print(f"{name}: {len(jobs)} objects compiled, {len(tests)} tests and {len(commands)} blocks run", flush=True)


def run_test(build, test, made, tree, environment):
    """Compiles and links a new test as test_core is, and runs it."""
    like = next(c for c in json.loads(build.ninja("-t", "compdb")) if c["file"].endswith("tests/core/test_core.c"))
    target = f"{tree}/{Path(test).stem}.o"
    text = like["command"].replace(like["output"], target).replace(like["file"], str(tree / test))
    subprocess.run(moved(text, build, tree), shell=True, cwd=build.folder, check=True)
    program = link(build, "test_core", made, tree, ("test_core.c.o", target))
    subprocess.run([program], env=environment, check=True, cwd=tree)


def main():
    build = Build(sys.argv[1])
    only = sys.argv[2:]
    for name, blocks in sections(page).items():
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as tree:
            try_section(name, blocks, build, Path(tree))


if __name__ == "__main__":
    main()
