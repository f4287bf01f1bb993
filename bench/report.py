"""Reports of bench/run.py and of kith bench --json: their figures in one form, and two of them compared."""

import json
import math
import sys
from dataclasses import dataclass

IDENTITY = ("program", "what", "variant", "system", "kind", "matrix", "precision", "threads", "systems", "vectors")
SIZES = ("bodies", "particles", "points", "beads", "rows", "nonzeros")


@dataclass(frozen=True)
class Figure:
    """A rate; `series` is what was measured, at a size."""

    capability: str
    series: str
    size: int
    unit: str
    rate: float

    @property
    def key(self):
        return self.capability, self.series, self.size, self.unit


def _figure(capability, row):
    size = next((row[name] for name in SIZES if name in row), 0)
    series = " ".join(f"{row[name]} threads" if name == "threads" else f"{row[name]}" for name in IDENTITY if name in row)
    series = series.replace(" 1 threads", " 1 thread")
    for name, value in row.items():
        if name.endswith("_per_second") and name != "gbytes_per_second":
            return Figure(capability, series, size, name.removesuffix("_per_second") + "/s", value)
    return Figure(capability, series, size, "calls/s", 1 / row["seconds"])


def figures_of(report):
    """All figures of a report, of one capability's too."""
    capabilities = report.get("capabilities", {report.get("capability", ""): report})
    peers = report.get("peers", {})
    rows = [(name, row) for name, part in capabilities.items() for row in part.get("rows", [])]
    rows += [(name + ", other programs", row) for name, part in peers.items() for row in part["rows"]]
    figures = [_figure(name, row) for name, row in rows if row.get("seconds")]
    return [figure for figure in figures if math.isfinite(figure.rate) and figure.rate > 0]


def read(path):
    """The report of a file; ends with a message if it is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        figures = figures_of(report)
    except OSError as error:
        sys.exit(f"bench: {path}: cannot be read: {error.strerror}")
    except (ValueError, AttributeError, TypeError, KeyError):
        figures = []
    if not figures:
        sys.exit(f"bench: {path} has no figures; give a file of kith bench --json or of bench/run.py --json")
    return report, figures


def printable(text):
    """Control characters and what changes the direction of text, escaped: names come from files."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def machine_of(report):
    machine = report.get("machine", {})
    return ", ".join(str(machine[key]) for key in ("processor", "gpu", "system") if machine.get(key))


def compare(first, second):
    """Prints the figures of two files side by side."""
    (a, of_a), (b, of_b) = read(first), read(second)
    if bool(a.get("quick")) != bool(b.get("quick")):
        sys.exit(f"bench: one of {first} and {second} is of --quick; measure both in one way")
    others = {figure.key: figure for figure in of_b}
    both = [(figure, others[figure.key]) for figure in of_a if figure.key in others]
    if not both:
        sys.exit(f"bench: {first} and {second} have no figure in common; measure the same capabilities and sizes")
    for letter, path, report in (("A", first, a), ("B", second, b)):
        print(printable(f"{letter}  {path}: {machine_of(report)}"))
    capability = None
    for one, other in both:
        if one.capability != capability:
            capability = one.capability
            print(printable(f"\n{capability:60} {'A':>10} {'B':>10} {'B/A':>7}"))
        what = f"{one.series}, {one.size}, {one.unit}"
        print(printable(f"  {what[:58]:58} {one.rate:10.4g} {other.rate:10.4g} {other.rate / one.rate:7.2f}"))
    mean = math.exp(sum(math.log(other.rate / one.rate) for one, other in both) / len(both))
    print(f"\nB is {mean:.2f} times as fast as A (geometric mean of {len(both)} figures)")
    if len(of_a) + len(of_b) > 2 * len(both):
        print(f"{len(of_a) - len(both)} figures of A and {len(of_b) - len(both)} of B have no counterpart")
