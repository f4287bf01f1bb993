#!/usr/bin/env python3
"""Draws docs/images/architecture.svg: the modules of src/ in the order that tools/check_rooms.py has.

    python3 tools/make_architecture.py            writes the picture
    python3 tools/make_architecture.py --check    exit status 1 if the picture is not the one it would write
"""

import sys
from pathlib import Path

from check_rooms import LINES

picture = Path(__file__).resolve().parents[1] / "docs/images/architecture.svg"

CONTENTS = {
    "cli/": "the program: one file per command",
    "python/": "the Python package",
    "include/kith/": "the public C API: one header per capability",
    "run": "runs with files: frames, checkpoints, resume",
    "view": "live view and scenes",
    "simulation": "integrators, thermostats, diagnostics, ensembles",
    "orbits": "orbital elements",
    "initial": "initial conditions",
    "io": "one file per format",
    "forces": "the table of solvers; sums over all pairs",
    "tree": "octree, multipoles: Barnes–Hut, fast multipoles",
    "mesh": "Ewald summation, PME",
    "sums": "sums of formulas",
    "matrix": "stored or reduced",
    "pairs": "within a cutoff",
    "lattice": "at one lattice site",
    "sparse": "of a sparse matrix",
    "law": "the value of a pair: built-in laws and formulas",
    "cells": "hashed cell lists",
    "sort": "space-filling curves, radix sort, scan",
    "ranks": "processes of one job",
    "particles": "positions and named columns",
    "device": "contexts, memory, copies, threads, streams; the CPU and CUDA",
    "core": "status, allocation, vectors and instruction sets, clocks",
}
WIDTH, LEFT, GAP, HEIGHT, STEP = 900, 30, 14, 44, 56
YELLOW, GRAY, GREEN, ORANGE, BLUE = "#fdf3d8", "#f4f4f4", "#e2f0df", "#fbe6d9", "#dcebf8"
BASE = {"law", "cells", "sort", "ranks", "particles"}
NOTE = ("A module includes only modules on lines below its own. src/backends.c names the functions of each module "
        "for each device.")


def color_of(name):
    if name.endswith("/"):
        return GRAY if name.startswith("include") else YELLOW
    return BLUE if name in ("device", "core") else ORANGE if name in BASE else GREEN


def boxes(names, y):
    """The boxes of one line, each as wide as its text needs and a share of what is left."""
    needs = [max(7.2 * len(CONTENTS[name]), 9 * (len(name) + 4)) + 16 for name in names]
    left = WIDTH - 2 * LEFT - GAP * (len(names) - 1) - sum(needs)
    if left < 0:
        sys.exit(f"make_architecture.py: the texts of {', '.join(names)} need {-left:.0f} more than a line has")
    x = LEFT
    for name, need in zip(names, needs):
        width = need + left / len(names)
        title = name if name.endswith("/") else f"src/{name}"
        yield (f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{HEIGHT}" rx="6" fill="{color_of(name)}" '
               'stroke="#333" stroke-width="1.2"/>')
        yield f'<text x="{x + width / 2:.0f}" y="{y + 19}" text-anchor="middle" font-weight="600">{title}</text>'
        yield (f'<text x="{x + width / 2:.0f}" y="{y + 36}" text-anchor="middle" font-size="12" '
               f'fill="#444">{CONTENTS[name]}</text>')
        x += width + GAP


def make():
    lines = [["cli/", "python/"], ["include/kith/"], *LINES]
    height = 20 + STEP * len(lines) + 30
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="15">',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for number, names in enumerate(lines):
        drawn += boxes(names, 20 + STEP * number)
    drawn.append(f'<text x="{WIDTH / 2:.0f}" y="{height - 18}" text-anchor="middle" font-size="12" '
                 f'fill="#444">{NOTE}</text>')
    return "\n".join([*drawn, "</svg>", ""])


def main():
    made = make()
    if sys.argv[1:] == ["--check"]:
        if picture.read_text(encoding="utf-8") != made:
            sys.exit("docs/images/architecture.svg is not what tools/make_architecture.py draws: run it")
    else:
        picture.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
