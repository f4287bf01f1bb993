"""All-pairs gravity of kith, REBOUND, pytreegrav and the plain loop in C."""

import importlib.metadata
import os
import subprocess
import sys

import kith
import numpy
from turns import Contestant, made

SIZES, QUICK = (1000, 4000, 16384), (256, 1000)
SOFTENING = 0.01


class Kith(Contestant):
    """kith.forces in one context, the arrays used again."""

    name, version = "kith", kith.__version__

    def __init__(self, dtype, threads):
        self.dtype, self.precision = dtype, "single" if dtype == "float32" else "double"
        self.context = kith.Context(device="cpu", threads=threads)

    def prepare(self, work):
        positions, masses = work
        self.positions, self.masses = positions.astype(self.dtype), masses.astype(self.dtype)
        self.out = numpy.empty_like(self.positions)

    def call(self):
        kith.forces(self.positions, self.masses, softening=SOFTENING, want="acceleration", solver="direct",
                    out=(self.out, None), context=self.context)


class Rebound(Contestant):
    """A call is a leapfrog step: one evaluation of all forces, in one thread, in a loop in C."""

    name = "rebound"

    def __init__(self):
        import rebound

        self.module, self.version = rebound, importlib.metadata.version("rebound")

    def prepare(self, work):
        self.simulation = self.module.Simulation()
        self.simulation.G, self.simulation.integrator, self.simulation.gravity = 1, "leapfrog", "basic"
        self.simulation.softening, self.simulation.dt = SOFTENING, 1e-5
        for (x, y, z), m in zip(*work):
            self.simulation.add(m=m, x=x, y=y, z=z)

    def seconds(self, calls):
        import time

        simulation, before = self.simulation, self.simulation.steps_done
        # Half a step short, so that rounding cannot add a step.
        until = simulation.t + (calls - 0.5) * simulation.dt
        start = time.perf_counter()
        simulation.integrate(until, exact_finish_time=0)
        taken = time.perf_counter() - start
        if simulation.steps_done - before != calls:
            raise RuntimeError(f"{simulation.steps_done - before} steps were done instead of {calls}")
        return taken


class Pytreegrav(Contestant):
    """Accel(method="bruteforce"), compiled by numba before it is timed."""

    name = "pytreegrav"

    def __init__(self):
        import pytreegrav

        self.module, self.version = pytreegrav, importlib.metadata.version("pytreegrav")

    def prepare(self, work):
        self.positions, self.masses = work
        # The radius of its spline kernel whose potential at the center is Plummer's.
        self.radii = numpy.full(len(self.masses), 2.8 * SOFTENING)

    def call(self):
        self.module.Accel(self.positions, self.masses, self.radii, method="bruteforce", parallel=False)


class PlainLoop(Contestant):
    """The program bench_plain_forces: bodies on its input, then a line of calls each, answered by seconds."""

    name = "plain C loop"

    def __init__(self):
        self.program = os.path.join(os.environ.get("KITH_BENCH_PROGRAMS", "build/bench"), "bench_plain_forces")
        if not os.access(self.program, os.X_OK):
            raise ImportError(f"there is no {self.program}: cmake --build build --target bench_programs")
        self.running = None

    def prepare(self, work):
        self.close()
        positions, masses = work
        self.running = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.running.stdin.write(f"{len(masses)} {SOFTENING!r}\n")
        for (x, y, z), m in zip(positions.tolist(), masses.tolist()):
            self.running.stdin.write(f"{m!r} {x!r} {y!r} {z!r}\n")

    def seconds(self, calls):
        self.running.stdin.write(f"{calls}\n")
        self.running.stdin.flush()
        answer = self.running.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.program} ended without an answer")
        return float(answer)

    def close(self):
        if self.running:
            self.running.communicate()
            self.running = None

    def __del__(self):
        if getattr(self, "running", None):
            self.running.communicate()


def contestants(threads):
    """kith first, in double precision: the others' times are divided by its."""
    def complain(text):
        print(f"bench: {text}", file=sys.stderr)

    return [Kith("float64", threads), Kith("float32", threads), *made([Rebound, Pytreegrav, PlainLoop], complain)]


def works(sizes, seed):
    """(row, work, contestants' names or None) of each size."""
    for n in sizes:
        draw = numpy.random.default_rng(seed)
        yield {"bodies": n}, (draw.random((n, 3)), draw.random(n) / n), None
