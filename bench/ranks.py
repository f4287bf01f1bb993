"""Strong and weak scaling of kith over MPI processes, and the share of time in exchange.

    python3 bench/ranks.py --program build/kith --ranks 1,2,4,8 [--json scaling.json] [--plot scaling.png]

Each row is a few leapfrog steps of kith run, one thread a rank: of a Plummer model by the solvers
direct, fmm and tree, and of a Lennard-Jones liquid in a box by the solver cutoff. Strong scaling
keeps the number of bodies; weak scaling keeps the work of a rank, so that bodies grow with the
ranks, of the solver direct with their square root. The time is the median of some runs, as kith
reports it, without files; the share is the part of a run that rank 0 waited for others, which is
exchange and imbalance.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BODIES = {"direct": 32768, "fmm": 200000, "tree": 100000, "cutoff": 108000}
OPTIONS = {
    "direct": ["--softening", "0.01", "--dt", "0.001"],
    "fmm": ["--softening", "0.01", "--dt", "0.001", "--solver", "fmm", "--error", "1e-4"],
    "tree": ["--softening", "0.01", "--dt", "0.001", "--solver", "tree", "--error", "1e-3"],
    "cutoff": ["--law", "lennard-jones", "--cutoff", "2.5", "--dt", "0.004"],
}
STEPS = {"direct": 3, "fmm": 3, "tree": 3, "cutoff": 60}
# Open MPI: as root, in a container, and with more ranks than cores; MPICH reads none of these.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def bodies_of(solver, scaling, count, ranks):
    """How many bodies a job has whose single process would have count; of crystals whole cubes."""
    wanted = count if scaling == "strong" else count * (ranks**0.5 if solver == "direct" else ranks)
    return 4 * round((wanted / 4) ** (1 / 3)) ** 3 if solver == "cutoff" else round(wanted)


def work_of(row):
    return row["bodies"] ** (2 if row["solver"] == "direct" else 1)


def make(program, solver, count, folder):
    path = folder / f"{solver}-{count}.{'xyz' if solver == 'cutoff' else 'csv'}"
    if not path.exists():
        kind = ["fcc", "--density", "0.8442", "--temperature", "1.44"] if solver == "cutoff" else ["plummer"]
        subprocess.run([program, "make", *kind, "-n", str(count), "-o", path], check=True, capture_output=True)
    return path


def run(arguments, ranks, path, solver):
    """The seconds of one job, and the part of its time that rank 0 waited for the others."""
    until = STEPS[solver] * float(OPTIONS[solver][OPTIONS[solver].index("--dt") + 1])
    command = [arguments.program, "run", path, *OPTIONS[solver], "--until", repr(until)]
    command += ["--threads", "1", "--json", "--quiet"]
    if ranks > 1:
        command = [*arguments.mpirun.split(), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **os.environ})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    result = json.loads(done.stdout)
    return result["seconds"], result.get("exchange_share", 0.0)


def measure(arguments, solver, scaling, folder):
    rows = []
    for ranks in arguments.ranks:
        count = bodies_of(solver, scaling, arguments.bodies or BODIES[solver], ranks)
        path = make(arguments.program, solver, count, folder)
        runs = sorted(run(arguments, ranks, path, solver) for _ in range(arguments.repeat))
        row = {
            "solver": solver,
            "scaling": scaling,
            "ranks": ranks,
            "bodies": count,
            "seconds": statistics.median(each[0] for each in runs),
            "fastest": runs[0][0],
            "slowest": runs[-1][0],
            "exchange": statistics.median(each[1] for each in runs),
        }
        rows.append(row)
        # What the first row's ranks would take for this row's work, if they were one.
        alone = rows[0]["seconds"] * rows[0]["ranks"] * work_of(row) / work_of(rows[0])
        row["speedup"] = alone / row["seconds"]
        row["efficiency"] = row["speedup"] / ranks
        print_row(row)
    return rows


def print_row(row):
    print(
        f"{row['solver']:8} {row['scaling']:7} {row['ranks']:5} {row['bodies']:10} {row['seconds']:10.4g}"
        f" {row['fastest']:10.4g} {row['slowest']:10.4g} {row['speedup']:8.2f} {100 * row['efficiency']:9.0f} %"
        f" {100 * row['exchange']:7.1f} %",
        flush=True,
    )


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axis, scaling in zip(axes, ("strong", "weak")):
        for solver in BODIES:
            of_solver = [row for row in rows if row["solver"] == solver and row["scaling"] == scaling]
            if of_solver:
                ranks = [row["ranks"] for row in of_solver]
                axis.plot(ranks, [100 * row["efficiency"] for row in of_solver], marker="o", label=solver)
        axis.set(xscale="log", xlabel="ranks", title=f"{scaling} scaling", ylim=(0, 110))
    axes[0].set_ylabel("parallel efficiency (%)")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/kith", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--mpirun", default="mpirun", help="with options of its own, as --bind-to core")
    parser.add_argument("--ranks", default=[1, 2], type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--solvers", default=list(BODIES), type=lambda text: text.split(","))
    parser.add_argument("--scaling", default=["strong", "weak"], type=lambda text: text.split(","))
    parser.add_argument("--bodies", type=int, help="of one rank; default: as suits each solver")
    parser.add_argument("--repeat", default=3, type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    for solver in arguments.solvers:
        if solver not in BODIES:
            parser.error(f"--solvers has '{solver}'; give some of {','.join(BODIES)}")
    print("solver   scaling ranks     bodies  seconds    fastest    slowest   speedup efficiency exchange")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for solver in arguments.solvers:
            for scaling in arguments.scaling:
                rows += measure(arguments, solver, scaling, Path(folder))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
