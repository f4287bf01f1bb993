"""A page of a report: a chart of each capability by matplotlib, and the tables, in one HTML file."""

import base64
import html
import io

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from report import figures_of, machine_of, printable

MOST_CURVES = 12


def chart(title, figures):
    """Rates against sizes as a PNG, embedded; the curves with most points first."""
    series = {}
    for figure in figures:
        series.setdefault(figure.series, []).append((figure.size, figure.rate))
    drawing, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for name, points in sorted(series.items(), key=lambda item: -len(item[1]))[:MOST_CURVES]:
        axes.plot(*zip(*sorted(points)), marker="o", label=printable(name))
    axes.set(xscale="log", yscale="log", title=title, xlabel="size", ylabel=figures[0].unit)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    png = io.BytesIO()
    drawing.savefig(png, format="png", dpi=110)
    pyplot.close(drawing)
    return f'<img alt="{html.escape(title)}" src="data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}">'


def table(figures):
    rows = "".join(f"<tr><td>{html.escape(printable(figure.series))}<td>{figure.size}<td>{figure.rate:.4g}"
                   f"<td>{html.escape(figure.unit)}" for figure in figures)
    return f"<table><tr><th>measured<th>size<th>rate<th>unit{rows}</table>"


def write(report, path):
    """Writes the page; what is in it depends on nothing else."""
    parts = ["<!doctype html><meta charset=utf-8><title>kith: benchmarks</title>",
             "<style>body{font:15px sans-serif;max-width:70em;margin:2em auto}td,th{padding:0 1em;text-align:left}</style>",
             f"<h1>kith: benchmarks</h1><p>{html.escape(printable(machine_of(report)))}"]
    groups = {}
    for figure in figures_of(report):
        groups.setdefault((figure.capability, figure.unit), []).append(figure)
    for (capability, unit), figures in groups.items():
        parts += [f"<h2>{html.escape(capability)}, {html.escape(unit)}</h2>", chart(f"{capability}: {unit}", figures),
                  f"<details><summary>{len(figures)} figures</summary>{table(figures)}</details>"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")
