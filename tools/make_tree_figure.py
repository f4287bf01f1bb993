#!/usr/bin/env python3
"""Draws docs/images/tree-cost.svg of bench/results/trees-cpu.json and trees-gpu.json: errors against seconds.

    python3 tools/make_tree_figure.py            writes the picture
    python3 tools/make_tree_figure.py --check    exit status 1 if the picture is not the one it would write
"""

import json
import math
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]
picture = root / "docs/images/tree-cost.svg"

WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND = 420, 380, 74, 40, 84, 60
SECONDS, ERRORS = (-4, 2), (-16, -2)  # powers of ten of the axes
COLORS = {("cpu", "single"): "#1f5fa8", ("cpu", "double"): "#7fb2e5",
          ("gpu", "single"): "#b3541e", ("gpu", "double"): "#e8a87c"}
DASHES = {"fmm": "", "tree": ' stroke-dasharray="6 4"', "direct": ""}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rows():
    """(device, N, precision, solver, seconds, error) of every measurement."""
    for device in ("cpu", "gpu"):
        table = json.loads((root / f"bench/results/trees-{device}.json").read_text(encoding="utf-8"))
        at = {name: table["columns"].index(name) for name in ("N", "precision", "solver", "seconds", "rms error")}
        for row in table["rows"]:
            yield (device, *(row[at[name]] for name in at))


def place(panel, seconds, error):
    """The point of a panel, in the picture."""
    def part(value, limits):
        return (math.log10(value) - limits[0]) / (limits[1] - limits[0])
    return LEFT + panel * (WIDTH + GAP) + WIDTH * part(seconds, SECONDS), TOP + HEIGHT * (1 - part(error, ERRORS))


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{more}>{words}</text>'


def mark(solver, x, y, color):
    if solver == "direct":
        return f'<path d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z" fill="{color}"/>'
    if solver == "tree":
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{color}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>'


def axes(panel, n):
    parts = []
    x0, y0 = place(panel, 10.0 ** SECONDS[0], 10.0 ** ERRORS[0])
    x1, y1 = place(panel, 10.0 ** SECONDS[1], 10.0 ** ERRORS[1])
    for power in range(SECONDS[0], SECONDS[1] + 1):
        x = place(panel, 10.0**power, 1e-2)[0]
        parts.append(f'<path d="M{x:.1f} {y0:.1f}V{y1:.1f}" stroke="#ddd"/>')
        parts.append(text(x, y0 + 18, "10" + str(power).translate(SUPERSCRIPTS)))
    for power in range(ERRORS[0], ERRORS[1] + 1, 2):
        y = place(panel, 1, 10.0**power)[1]
        parts.append(f'<path d="M{x0:.1f} {y:.1f}H{x1:.1f}" stroke="#ddd"/>')
        parts.append(text(x0 - 6, y + 4, "10" + str(power).translate(SUPERSCRIPTS), "end"))
    parts.append(f'<path d="M{x0:.1f} {y0:.1f}V{y1:.1f}H{x1:.1f}V{y0:.1f}z" fill="none" stroke="#333"/>')
    parts.append(text((x0 + x1) / 2, y0 + 36, "seconds"))
    exponent = str(round(math.log10(n))).translate(SUPERSCRIPTS)
    parts.append(text((x0 + x1) / 2, y1 - 12, f"Plummer model, 10{exponent} bodies"))
    if panel == 0:
        parts.append(text(18, (y0 + y1) / 2, "rms error", more=f' transform="rotate(-90 18 {(y0 + y1) / 2:.0f})"'))
    return parts


def curves(panel, n, measured):
    parts = []
    for (device, precision), color in COLORS.items():
        for solver, dash in DASHES.items():
            points = sorted((seconds, error) for where, of, digits, by, seconds, error in measured
                            if (where, of, digits, by) == (device, n, precision, solver))
            places = [place(panel, *point) for point in points]
            if len(places) > 1:
                line = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
                parts.append(f'<path d="M{line}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
            parts += [mark(solver, x, y, color) for x, y in places]
    return parts


def legend():
    parts, y = [], TOP + HEIGHT + 62
    names = {"cpu": "one CPU core", "gpu": "H200"}
    for k, ((device, precision), color) in enumerate(COLORS.items()):
        x = LEFT + 210 * k
        parts += [f'<rect x="{x}" y="{y - 9}" width="14" height="10" fill="{color}"/>',
                  text(x + 20, y, f"{names[device]}, {precision}", "start")]
    for k, (solver, dash) in enumerate(DASHES.items()):
        x = LEFT + 210 * k
        if solver != "direct":
            parts.append(f'<path d="M{x - 8} {y + 20}h30" stroke="#333" stroke-width="2"{dash}/>')
        parts += [mark(solver, x + 7, y + 20, "#333"), text(x + 30, y + 24, solver, "start")]
    return parts


def make():
    measured = list(rows())
    sizes = sorted(set.intersection(*({n for of, n, *_ in measured if of == device} for device in ("cpu", "gpu"))))
    width = LEFT + len(sizes) * WIDTH + (len(sizes) - 1) * GAP + 30
    height = TOP + HEIGHT + 40 + LEGEND
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="13">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for panel, n in enumerate(sizes):
        parts += axes(panel, n) + curves(panel, n, measured)
    return "\n".join([*parts, *legend(), "</svg>"]) + "\n"


def main():
    made = make()
    if sys.argv[1:] == ["--check"]:
        if picture.read_text(encoding="utf-8") != made:
            sys.exit("docs/images/tree-cost.svg is not what tools/make_tree_figure.py draws: run it")
    else:
        picture.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
