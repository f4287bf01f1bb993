#!/usr/bin/env python3
"""Makes docs/performance.md, and the tables at the end of docs/tree.md, of the measurements in bench/results.

    python3 tools/make_performance.py            writes the pages
    python3 tools/make_performance.py --check    exit status 1 if a page is not the one it would write

A measurement is a table in a file of its own, as bench/results/schema.json describes it. index.json has the machines
and the order of the tables.
"""

import json
import re
import sys
from decimal import Decimal
from pathlib import Path

root = Path(__file__).resolve().parents[1]
results = root / "bench/results"
page = root / "docs/performance.md"

TYPES = {"string": str, "number": Decimal, "array": list, "object": dict, "null": type(None)}
MARK = "<!-- written by: tools/make_performance.py -->"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

HEAD = """# Performance

This page is generated from `bench/results` by `tools/make_performance.py`. `kith bench` measures your
machine; `./dev bench` adds the other programs (where a command below has `--peers`). Programs named `bench_…` are in
`bench/`. Commands are those of the day.

{machines}

An interaction is one of the N² ordered pairs (i, j) of N bodies. Times are of whole calls unless stated; processor time is given
where other programs used the machine. [Trees](tree.md) and [tiles](gpu-tiling.md) have their own figures. Where runs "differ by a,
at most b", a is the median over the rows.
"""


def read(path):
    """The file's JSON; numbers keep the digits that they are written with."""
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal, parse_int=Decimal)


def check(value, schema, where):
    """Ends with a message if `value` is not what `schema` describes (the part of JSON Schema used here)."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not isinstance(value, tuple(TYPES[name] for name in types)):
        sys.exit(f"{where}: must be {' or '.join(types)}")
    if isinstance(value, dict):
        for name in schema["required"]:
            if name not in value:
                sys.exit(f"{where}: has no '{name}'")
        for name, member in value.items():
            if name not in schema["properties"]:
                sys.exit(f"{where}: unknown member '{name}'")
            check(member, schema["properties"][name], f"{where}: {name}")
    if isinstance(value, list):
        for number, item in enumerate(value):
            check(item, schema["items"], f"{where}[{number}]")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        sys.exit(f"{where}: '{value}' does not match {schema['pattern']}")


def number(value):
    """12345 as 12 345, 1E+6 as 10⁶, 4.8E-15 as 4.8·10⁻¹⁵."""
    _, digits, exponent = value.as_tuple()
    if value == 10 ** (len(str(int(value))) - 1) and value >= 10**6:
        return f"10{str(len(str(int(value))) - 1).translate(SUPERSCRIPTS)}"
    if value != 0 and abs(value) < Decimal("1e-4"):
        power = value.adjusted()
        return f"{value.scaleb(-power)}·10{str(power).translate(SUPERSCRIPTS)}"
    text = f"{value:f}"
    if exponent >= 0 and value >= 10**4:
        text = f"{int(value):,}".replace(",", "\u00a0")
    return text


def unbroken(text):
    """A number of groups of digits stays on one line."""
    return re.sub(r"(?<=\d) (?=\d{3})", "\u00a0", text)


def cell(value):
    if value is None:
        return ""
    return number(value) if isinstance(value, Decimal) else unbroken(value)


def table_of(measurement, machines):
    """A section of the page: what was measured, on what, when and how, and the table."""
    for name in measurement["hardware"].split(", "):
        if name not in machines:
            sys.exit(f"{measurement['title']}: unknown machine '{name}'")
    facts = [
        measurement["hardware"].upper(),
        measurement["precision"],
        measurement["date"],
        measurement["statistic"],
        "spread: " + (measurement["spread"] or "not recorded"),
    ]
    if "software" in measurement:
        facts.append("compared with " + measurement["software"])
    lines = ["### " + measurement["title"], ""]
    if "text" in measurement:
        lines += [measurement["text"], ""]
    command = measurement["command"]
    if command.startswith("kith bench"):
        ran, comma, rest = command.partition("; ")
        command = f"`{ran}`{comma}{rest}"
    lines += ["*" + "; ".join(facts) + "; command:* " + command, ""]
    columns = measurement["columns"]
    lines += ["|" + "|".join(map(unbroken, columns)) + "|", "|" + "---|" * len(columns)]
    for row in measurement["rows"]:
        if len(row) != len(columns):
            sys.exit(f"{measurement['title']}: a row has {len(row)} cells, there are {len(columns)} columns")
        lines.append("|" + "|".join(cell(value) for value in row) + "|")
    return "\n".join(lines) + "\n"


def make():
    """The texts of the page and of the pages that end with tables: a section with a `page` is below its mark."""
    schema = read(results / "schema.json")
    index = read(results / "index.json")
    machines = index["machines"]
    made = {page: [HEAD.format(machines="\n".join(f"- **{name.upper()}**: {what}." for name, what in machines.items()))]}
    listed = set()
    for section in index["sections"]:
        path = page
        if "page" in section:
            path = page.with_name(f"{section['page']}.md")
            made.setdefault(path, [path.read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n"])
        made[path].append(f"## {section['title']}\n")
        for name in section["tables"]:
            measurement = read(results / f"{name}.json")
            check(measurement, schema, f"{name}.json")
            made[path].append(table_of(measurement, machines))
            listed.add(name)
    unlisted = {path.stem for path in results.glob("*.json")} - listed - {"index", "schema"}
    if unlisted:
        sys.exit(f"index.json does not list {', '.join(sorted(unlisted))}")
    return {path: "\n".join(parts) for path, parts in made.items()}


def main():
    for path, made in make().items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(made, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != made:
            sys.exit(f"docs/{path.name} is not what tools/make_performance.py makes of bench/results: run it")


if __name__ == "__main__":
    main()
