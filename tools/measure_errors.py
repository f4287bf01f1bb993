#!/usr/bin/env python3
"""Measures the tables of docs/numerics.md: errors of kith's results, and whether bits stay.

    python3 tools/measure_errors.py build/kith [FOLDER]

Needs NumPy, and a processor with an 80-bit long double, which is what results are compared with.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

LAWS = ["gravity", "coulomb", "power:3", "power:2.3", "yukawa:0.5", "lennard-jones:1,0.02", "morse:1,2,0.5",
        "gaussian:0.5", "multiquadric:0.1", "thin-plate", "distance", "expr:m_i*m_j*exp(-r)/r"]
SOFTENING = 1 / 128  # exact in single precision too
ulp = {"double": 2.0**-53, "single": 2.0**-24}


class Kith:
    def __init__(self, program, folder):
        self.program, self.folder = str(Path(program).resolve()), Path(folder)

    def run(self, *arguments, isa=None):
        environment = {**os.environ, "KITH_TUNING": "off"}
        if isa:
            environment["KITH_ISA"] = isa
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def array(self, *arguments, isa=None):
        self.run(*arguments, "-o", "out.npy", "--device", "cpu", isa=isa)
        return numpy.load(self.folder / "out.npy").astype(numpy.float64)

    def sets(self):
        return json.loads(self.run("info", "--json"))["instruction_sets"]


def write_points(path, x):
    numpy.savetxt(path, x, delimiter=",", header="x,y,z", comments="", fmt="%.17g")


def points_of(n):
    """Random points of the unit cube that a float holds exactly."""
    return numpy.random.default_rng(3).random((n, 3)).astype(numpy.float32).astype(numpy.float64)


def exact_gravity(x, targets):
    """Accelerations at the first points, in long double."""
    x = x.astype(numpy.longdouble)
    a = numpy.zeros((targets, 3), numpy.longdouble)
    for i in range(targets):
        d = x - x[i]
        s2 = (d * d).sum(1) + numpy.longdouble(SOFTENING) ** 2
        a[i] = (d / (s2 * numpy.sqrt(s2))[:, None]).sum(0)
    return a


def relative(value, exact):
    return float(numpy.sqrt(((value - exact) ** 2).sum() / (exact**2).sum()))


def table(header, rows):
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def number(x):
    return f"{x:.1e}".replace("e-0", "e-")


def measure_forces(kith):
    rows = []
    for n in (256, 4096, 32768):
        x = points_of(n)
        write_points(kith.folder / "x.csv", x)
        exact = exact_gravity(x, min(n, 1024))
        for isa in kith.sets():
            errors = [relative(kith.array("forces", "x.csv", "--softening", SOFTENING, "--precision", p, isa=isa)
                               [: len(exact), :3], exact) for p in ("single", "double")]
            rows.append([str(n), isa, *map(number, errors)])
        reference = kith.array("forces", "x.csv", "--softening", SOFTENING, "--method", "reference")
        rows.append([str(n), "reference", "", number(relative(reference[: len(exact), :3], exact))])
    table(["bodies", "instruction set", "single", "double"], rows)


def measure_laws(kith):
    write_points(kith.folder / "x.csv", points_of(2000))
    rows = []
    for law in LAWS:
        cells = [f"`{law}`"]
        force = kith.array("forces", "x.csv", "--law", law, "--softening", SOFTENING, "--method", "reference")[:, :3]
        values = kith.array("matrix", "x.csv", "--law", law, "--method", "reference")
        off = ~numpy.eye(len(values), dtype=bool)
        size = numpy.abs(values[off])
        for p in ("single", "double"):
            got = kith.array("forces", "x.csv", "--law", law, "--softening", SOFTENING, "--precision", p)[:, :3]
            cells.append(number(relative(got, force)))
            got = kith.array("matrix", "x.csv", "--law", law, "--precision", p)
            worst = numpy.abs(got - values)[off] / numpy.where(size > 0, size, 1)
            cells.append(f"{numpy.median(worst) / ulp[p]:.1f}, {numpy.quantile(worst, 0.99) / ulp[p]:.0f}")
        rows.append(cells)
    table(["law", "force, single", "value, single", "force, double", "value, double"], rows)


def measure_sparse(kith):
    rng = numpy.random.default_rng(5)
    n, each = 20000, 20
    row, column = numpy.repeat(numpy.arange(n), each), rng.integers(0, n, n * each)
    value, x = rng.standard_normal(n * each), rng.standard_normal(n)
    with open(kith.folder / "A.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {n * each}\n")
        file.writelines(f"{i + 1} {j + 1} {v:.17g}\n" for i, j, v in zip(row, column, value))
    numpy.save(kith.folder / "b.npy", x)
    terms = value.astype(numpy.longdouble) * x[column]
    exact, size = terms.reshape(n, each).sum(1), numpy.abs(terms).reshape(n, each).sum(1)
    rows = []
    for form in ("coo", "csr", "ell", "hybrid", "sell", "bsr"):
        y = kith.array("multiply", "A.mtx", "-x", "b.npy", "--storage", form)
        rows.append([f"`{form}`", f"{float((numpy.abs(y - exact) / size).max() / ulp['double']):.1f}"])
    table(["format", "largest error of a row of 20 entries, units of 2⁻⁵³ Σ\\|a x\\|"], rows)


def measure_bits(kith):
    write_points(kith.folder / "x.csv", points_of(3000))
    kith.run("make", "lattice-walk", "-n", "3000", "-o", "walk.npy")
    kith.run("make", "plummer", "-n", "300", "-o", "p.csv")
    jobs = [["forces", "x.csv"], ["forces", "x.csv", "--precision", "single"], ["forces", "x.csv", "--law", "yukawa:1"],
            ["matrix", "x.csv", "--law", "gaussian:0.1", "--reduce", "sum"],
            ["matrix", "x.csv", "--law", "distance", "--histogram", "50,0,2"],
            ["pairs", "x.csv", "--cutoff", "0.1", "--vectors"],
            ["multiply", "A.mtx", "-x", "b.npy"],
            ["run", "p.csv", "--dt", "0.01", "--until", "1", "--softening", "0.05"]]
    rows = []
    for job in jobs:
        seen = set()
        for threads in (1, 1, 2, 3, 7):
            out = kith.folder / ("o.h5" if job[0] == "run" else "o.npy")
            kith.run(*job, "--threads", threads, "--device", "cpu", "-o", out)
            if job[0] == "run":
                kith.run("convert", out, kith.folder / "o.csv")
                out = kith.folder / "o.csv"
            seen.add(hashlib.sha256(out.read_bytes()).hexdigest())
        rows.append([f"`kith {' '.join(job)}`", "the same" if len(seen) == 1 else f"{len(seen)} different results"])
    table(["on 1, 1, 2, 3 and 7 threads", "bits"], rows)


def main():
    with tempfile.TemporaryDirectory() as folder:
        kith = Kith(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else folder)
        for measure in (measure_forces, measure_laws, measure_sparse, measure_bits):
            measure(kith)


if __name__ == "__main__":
    main()
