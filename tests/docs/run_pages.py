"""Does what the pages say: runs their commands, in order, a page in an empty folder.

    run_pages.py PAGE...

A block of sh must succeed, and what it prints be the block of text that follows it, where there is one
("..." stands for anything); a block of python likewise. A block of C must compile: by itself, or as a
part of a function. A page of docs/howto whose commands are run leaves a picture. The environment says where
kith is: KITH_PROGRAM; `build` and `examples` in the folder are those of the project.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from page import blocks_of

root = Path(__file__).resolve().parents[2]
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def environment():
    program = Path(os.environ["KITH_PROGRAM"]).resolve()
    path = f"{program.parent}:{program.parent / 'examples'}:{os.environ['PATH']}"
    return program.parent, {**os.environ, "PATH": path, "KITH_TUNING": "off"}


def run(block, command, folder, env):
    """What a command of the block prints; ends with a sentence if it fails."""
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{block}: exit {done.returncode}\n{block.code}{done.stdout}{done.stderr}")
    return done.stdout


def check_excerpt(block, name):
    def words(text):
        return " ".join(text.split())

    if words(block.code) not in words((root / name).read_text(encoding="utf-8")):
        sys.exit(f"{block}: these lines are not in {name}")


def check_c(block, folder, env):
    """Compiles a block without warnings; one with things given is the inside of a function."""
    code = block.code
    if "given" in block.remarks:
        lines = code.split("\n")
        includes = [line for line in lines if line.startswith("#include")]
        rest = "\n".join(line for line in lines if not line.startswith("#include"))
        heads = ["#include <kith/kith.h>", "#include <stdio.h>", *includes]
        code = (
            "\n".join(heads)
            + f"\nint part(void);\nint part(void)\n{{\n{block.remarks['given']}\n{rest}\nreturn 0;\n}}\n"
        )
    path = folder / "block.c"
    path.write_text(code, encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsyntax-only"]
    run(block, ["cc", *flags, f"-I{root}/include", path], folder, env)


def check_output(before, expected, printed):
    if not doctest.OutputChecker().check_output(expected.code, printed, LIKE):
        sys.exit(f"{before}: prints\n{printed}\nand not, as {expected} has it,\n{expected.code}")


def check_picture(path, folder):
    """A PNG of more than a frame was drawn."""
    pictures = [picture.read_bytes() for picture in folder.glob("*.png")]
    if not any(picture.startswith(b"\x89PNG") and len(picture) > 4000 for picture in pictures):
        sys.exit(f"{path}: its commands draw no picture")


def check_links(path):
    """Every file that the page links to is there. (Sphinx checks the book's own pages and sections.)"""
    for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
        if ":" not in target and not (path.parent / target).exists():
            sys.exit(f"{path}: links to {target}, which does not exist")


def run_page(path, folder, build, env):
    """The number of blocks that were run."""
    check_links(Path(path))
    (folder / "build").symlink_to(build)
    (folder / "examples").symlink_to(root / "examples")
    count = 0
    before = printed = None
    for block in blocks_of(path):
        if "run first" in block.remarks:
            run(block, ["sh", "-euc", block.remarks["run first"]], folder, env)
        if "from" in block.remarks:
            check_excerpt(block, block.remarks["from"])
        elif block.language == "c" and "not run" not in block.remarks:
            check_c(block, folder, env)
        if block.language == "text" and printed is not None:
            check_output(before, block, printed)
        printed = None
        if "not run" in block.remarks or block.language not in ("sh", "python"):
            continue
        command = ["sh", "-euc"] if block.language == "sh" else [sys.executable, "-c"]
        printed = run(block, [*command, block.code], folder, env)
        before = block
        count += 1
    if count and Path(path).parent.name == "howto":
        check_picture(path, folder)
    return count


def main():
    build, env = environment()
    for name in sys.argv[1:]:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            env["XDG_CACHE_HOME"] = env.get("XDG_CACHE_HOME", folder)
            count = run_page(name, Path(folder), build, env)
        print(f"{name}: {count} blocks run, {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
