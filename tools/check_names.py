"""Checks that the files that comments in the sources name exist: check_names.py

A comment names a file of the repository by the end of its path, or one that the build writes."""

import pathlib
import re
import subprocess
import sys

WRITTEN = {"law_bodies.h", "law_list.h"}  # by law_writer
OTHERS = {"cmocka.h"}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
NAME = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.(?:h|c|cu|cuh|cpp|inc|py|md))(?!\w)")


def faults(files):
    ends = set(WRITTEN | OTHERS)
    for path in files:
        parts = path.split("/")
        ends.update("/".join(parts[k:]) for k in range(len(parts)))
    for path in files:
        if pathlib.Path(path).suffix not in {".c", ".h", ".cpp", ".cu", ".cuh", ".inc"}:
            continue
        text = pathlib.Path(path).read_text(encoding="utf-8")
        for comment in COMMENT.finditer(text):
            for name in NAME.finditer(comment.group()):
                if name.group(1) not in ends:
                    line = text.count("\n", 0, comment.start() + name.start()) + 1
                    yield f"{path}:{line}: there is no file {name.group(1)}"


def main():
    listed = ["git", "ls-files"]
    files = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\n")
    found = list(faults([path for path in files if path]))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
