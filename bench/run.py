"""Measures this machine: kith's own figures by kith bench, then kith compared with other programs.

    python bench/run.py [CAPABILITY...] [--quick] [--json FILE] [--page FILE]
    python bench/run.py --compare A.json B.json

The comparisons are of the Python package kith with the programs of bench/requirements.txt, in turns, in one process;
those that are not installed are left out. ./dev bench installs them, builds what is in C, and runs this.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys

import report
import turns

CAPABILITIES = ("forces", "matrix", "pairs", "collisions", "sparse")
COMPARED = ("forces", "pairs", "collisions", "sparse")


def own_figures(program, capability, asked):
    """What kith bench CAPABILITY --json prints."""
    command = [program, "bench", capability, "--json", "--quiet"]
    command += ["--quick"] if asked.quick else []
    command += ["--seconds", str(asked.seconds)] if asked.seconds else []
    command += ["--device", asked.device] if asked.device else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: {' '.join(command)} failed with exit code {done.returncode}")
    return json.loads(done.stdout)


def print_row(where, row):
    what = ", ".join(f"{value}" if isinstance(value, str) else f"{key} {value}" for key, value in where.items())
    print(f"  {what:44} {row['program']:16} {row['precision']:8} {1e6 * row['seconds']:13.2f} "
          f"{row['time_ratio_to_kith']:8.2f}", flush=True)


def compared(capability, asked):
    """The rows of kith and the other programs."""
    module = importlib.import_module(capability)
    contestants = module.contestants(asked.threads)
    sizes = asked.number or (module.QUICK if asked.quick else module.SIZES)
    seconds = asked.seconds or (0.01 if asked.quick else 0.5)
    rows = []
    print(f"\n{capability}: {', '.join(f'{one.name} {one.version}'.strip() for one in contestants)}; "
          f"threads of kith: {asked.threads}, seed {asked.seed}")
    print(f"  {'':44} {'program':16} {'':8} {'us/call':>13} {'of kith':>8}")
    for where, work, name in module.works(sizes, asked.seed):
        taking_part = [one for one in contestants if name is None or name in getattr(one, "takes", (name,))]
        for row in turns.measure(taking_part, work, seconds):
            rows.append(where | {"threads": asked.threads if row["program"] == "kith" else 1} | row)
            print_row(where, row)
    return {"rows": rows}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capability", nargs="*", metavar="CAPABILITY", help=", ".join(CAPABILITIES) + " (default: all)")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="print two reports side by side")
    parser.add_argument("--quick", action="store_true", help="few and small sizes, a fraction of the time")
    parser.add_argument("--seconds", type=float, help="of each row")
    parser.add_argument("-n", "--number", type=lambda text: [int(word) for word in text.split(",")], metavar="N,...",
                        help="sizes of the comparisons")
    parser.add_argument("--threads", type=int, default=1, help="of kith and of the programs that have threads")
    parser.add_argument("--device", help="of kith's own figures; other programs are measured on the CPU")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kith", default=os.environ.get("KITH_PROGRAM", "build/kith"), metavar="PROGRAM")
    parser.add_argument("--json", metavar="FILE", help="write the report")
    parser.add_argument("--page", metavar="FILE", help="write a page of it, with matplotlib")
    asked = parser.parse_args()
    for name in asked.capability:
        if name not in CAPABILITIES:
            parser.error(f"unknown capability '{name}'; give {', '.join(CAPABILITIES)}")
    return asked


def main():
    asked = arguments()
    if asked.compare:
        return report.compare(*asked.compare)
    chosen = asked.capability or CAPABILITIES
    whole = {"quick": asked.quick, "capabilities": {}, "peers": {}}
    for name in chosen:
        print(f"kith bench {name}", file=sys.stderr)
        figures = own_figures(asked.kith, name, asked)
        whole["machine"] = figures.pop("machine")
        whole["capabilities"][name] = figures
        if name in COMPARED:
            whole["peers"][name] = compared(name, asked)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(whole, file, indent=1)
    if asked.page:
        import page

        page.write(whole, asked.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
