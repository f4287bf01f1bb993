"""The curves of a table of kith tune as pictures: tiles by loop and by size, split's shapes, time against bodies.

    kith tune --device cuda -o table.csv
    python bench/tune_curves.py table.csv FOLDER

Draws forces-unroll.png, forces-block.png, forces-split.png, forces-time.png and matrix-block.png in FOLDER, those that
the table has rows for, in single precision.
"""

import argparse
import csv
import pathlib

import matplotlib
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

SPLIT = ((1, 32), (2, 32), (4, 32), (8, 32), (4, 64), (4, 128), (4, 256), (0, 0))
SIZES = (1024, 4096, 16384, 65536, 262144)
FORCES, MATRIX = "Gflop/s (20 flop an interaction, float)", "Gbyte/s written"


def rows_of(path):
    """The table's rows in single precision, numbers as numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["precision"] == "single"]
    texts = {"device", "capability", "method", "precision"}
    rows = [{key: text if key in texts else float(text) for key, text in row.items()} for row in rows]
    return [row | {"gpu": row["device"].startswith("cuda")} for row in rows]


def curve(rows, across, up, **wanted):
    """The points of the rows that agree in all that is wanted, from left to right."""
    return sorted((row[across], row[up]) for row in rows if all(row[key] == value for key, value in wanted.items()))


def draw(path, title, across, up, curves, logarithmic=False):
    curves = {name: points for name, points in curves.items() if len(points) > 1}
    if not curves:
        return
    drawing, axes = pyplot.subplots(figsize=(12, 8), layout="constrained")
    for name, points in curves.items():
        axes.plot(*zip(*points), marker="o", label=name)
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log") if logarithmic else axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    drawing.savefig(path)
    pyplot.close(drawing)


def by_block(rows, capability, **more):
    return {f"{tile}, N = {n}": curve(rows, "block", "rate", capability=capability, method=method, count=n, **only)
            for tile, method, only in (("p", "tile-p", more), ("p²", "tile-p2", {})) for n in SIZES}


def by_time(rows):
    """Times with the power of N that the last four grow with, where overheads no longer count."""
    every = {(row["gpu"], row["threads"], row["method"]) for row in rows if row["method"] in ("split", "symmetric")}
    curves = {}
    for gpu, threads, method in sorted(every):
        points = curve(rows, "count", "seconds", capability="forces", gpu=gpu, threads=threads, method=method,
                       bodies_per_thread=0, threads_per_body=0)
        if len(points) > 1:
            power = numpy.polyfit(*numpy.log(points[-4:]).T, 1)[0]
            curves[f"{'GPU' if gpu else f'CPU × {threads:.0f}'}, {method}: $N^{{{power:.2f}}}$"] = points
    return curves


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("folder", type=pathlib.Path)
    chosen = parser.parse_args()
    rows = rows_of(chosen.table)
    usual = {"capability": "forces", "gpu": True, "bodies_per_thread": 0, "threads_per_body": 0}
    methods = {method: curve(rows, "count", "rate", method=method, **usual) for method in ("split", "symmetric")}
    draw(chosen.folder / "forces-unroll.png", "Forces by tiles of p = 256 threads, loops unrolled U times", "bodies N",
         FORCES, {f"U = {unroll}": curve(rows, "count", "rate", capability="forces", method="tile-p", block=256,
                                         unroll=unroll) for unroll in (1, 2, 4, 8, 16, 32)} | methods)
    draw(chosen.folder / "forces-block.png", "Forces by tiles of p and p² threads", "side of the tile p", FORCES,
         by_block(rows, "forces", unroll=16))
    draw(chosen.folder / "forces-split.png", "Forces by split: bodies a thread × threads a body", "bodies N", FORCES,
         {f"{bodies} × {threads}" if bodies else "its own choice":
          curve(rows, "count", "rate", method="split", capability="forces", gpu=True, bodies_per_thread=bodies,
                threads_per_body=threads)
          for bodies, threads in SPLIT})
    draw(chosen.folder / "forces-time.png", "Time of all forces, float", "bodies N", "seconds", by_time(rows), True)
    draw(chosen.folder / "matrix-block.png", "Matrix by tiles", "side of the tile p", MATRIX, by_block(rows, "matrix"))


if __name__ == "__main__":
    main()
