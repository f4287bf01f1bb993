"""The parts of a page of the book that are tested: its blocks of code, and the remarks before them.

A remark is an HTML comment, which readers do not see:

    <!-- run first: kith make six -o six.csv -->    commands before the next block
    <!-- not run: needs a GPU -->                   the next block is shown only, for that reason
    <!-- given: double *x; int64_t n; -->           the next block is C that finds these declared
    <!-- file: src/io/dat.c -->                     the next block is that file
    <!-- change: src/io/formats.c -->               the next block is a diff of that file
    <!-- compile only: src/io/formats.c -->         of the section, nothing else is affected
    <!-- from: examples/heat.c -->                  the next block is in that file, word for word
    <!-- written by: tools/make_performance.py -->  the tables that follow are not edited by hand
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

REMARKS = ("run first", "not run", "given", "file", "change", "compile only", "from", "written by")


@dataclass
class Block:
    page: Path
    line: int
    language: str
    code: str
    remarks: dict = field(default_factory=dict)

    def __str__(self):
        return f"{self.page}:{self.line}"


def remark_of(comment, where):
    name, _, text = comment.partition(":")
    if name.strip() not in REMARKS:
        raise ValueError(f"{where}: the remark '{name.strip()}' is unknown")
    return name.strip(), text.strip()


def blocks_of(path):
    """The fenced blocks of a page of Markdown, in order."""
    blocks, remarks, fence, code = [], {}, None, []
    text = Path(path).read_text(encoding="utf-8")
    # A comment of several lines becomes one, and as many empty lines as keep the count.
    text = re.sub(r"<!--.*?-->", lambda m: m[0].replace("\n", "\v") + "\n" * m[0].count("\n"), text, flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            if line.strip() == fence:
                blocks[-1].code = "\n".join(code) + "\n"
                fence, code = None, []
            else:
                code.append(line)
        elif opened := re.match(r"\s*(`{3,})([\w{}-]*)", line):
            fence = opened[1]
            blocks.append(Block(Path(path), number, opened[2], "", remarks))
            remarks = {}
        elif comment := re.match(r"\s*<!--(.*)-->\s*$", line):
            name, text = remark_of(comment[1].replace("\v", "\n"), f"{path}:{number}")
            remarks[name] = text
    if fence:
        raise ValueError(f"{path}: the last block has no end")
    return blocks
