"""Pictures of strong and weak scaling over MPI processes: kith bench ranks, drawn.

    python3 bench/ranks.py --program build/kith --ranks 8 --json scaling.json --plot scaling.png
    python3 bench/ranks.py --read scaling.json --plot scaling.png

The first form runs mpirun; the second draws what kith bench ranks --json has printed. Solid lines are
the parallel efficiency, dotted ones the share of the time in exchange.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

# Open MPI: as root, in a container, and with more ranks than cores; MPICH reads none of these.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def measure(arguments):
    command = [*arguments.mpirun.split(), "-n", str(arguments.ranks), arguments.program, "bench", "ranks", "--json"]
    command += arguments.options.split()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**ENVIRONMENT, **os.environ})
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axis, scaling in zip(axes, ("strong", "weak")):
        for solver in dict.fromkeys(row["solver"] for row in rows):
            of_solver = [row for row in rows if row["solver"] == solver and row["scaling"] == scaling]
            ranks = [row["ranks"] for row in of_solver]
            (line,) = axis.plot(ranks, [100 * row["efficiency"] for row in of_solver], marker="o", label=solver)
            share = [100 * row["exchange_share"] for row in of_solver]
            axis.plot(ranks, share, linestyle=":", color=line.get_color())
        axis.set(xscale="log", xlabel="ranks", title=f"{scaling} scaling", ylim=(0, 110))
    axes[0].set_ylabel("efficiency, share in exchange (dotted) (%)")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/kith", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--mpirun", default="mpirun", help="with options of its own, as --bind-to core")
    parser.add_argument("--ranks", default=2, type=int, help="the largest number")
    parser.add_argument("--options", default="", help='of kith bench ranks, as "cutoff -n 500000"')
    parser.add_argument("--read", type=Path, help="draw this file, and run nothing")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    text = arguments.read.read_text() if arguments.read else measure(arguments)
    if arguments.json:
        arguments.json.write_text(text)
    if arguments.plot:
        plot(json.loads(text)["rows"], arguments.plot)
    if not arguments.json and not arguments.plot:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
