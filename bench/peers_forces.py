"""Times other programs' all-pairs gravity for kith bench forces --peers; see conversation.py.

What to work on is

    bodies N SOFTENING DT       and N more lines: m x y z vx vy vz
"""

import sys
import time

from conversation import Peer, converse


class Rebound(Peer):
    """A call is a leapfrog step: one evaluation of all forces, in one thread, in a loop in C."""

    def __init__(self):
        import rebound

        self.module = rebound
        self.simulation = None

    def use(self, given):
        bodies, softening, dt = given
        self.simulation = self.module.Simulation()
        self.simulation.G = 1
        self.simulation.integrator = "leapfrog"
        self.simulation.gravity = "basic"
        self.simulation.softening = softening
        self.simulation.dt = dt
        for m, x, y, z, vx, vy, vz in bodies:
            self.simulation.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)

    def seconds(self, threads, calls):
        simulation = self.simulation
        before = simulation.steps_done
        # Half a step short, so that rounding cannot add a step.
        until = simulation.t + (calls - 0.5) * simulation.dt
        start = time.perf_counter()
        simulation.integrate(until, exact_finish_time=0)
        seconds = time.perf_counter() - start
        done = simulation.steps_done - before
        if done != calls:
            raise RuntimeError(f"{done} steps were done instead of {calls}")
        return seconds


class Pytreegrav(Peer):
    """A call is Accel(method="bruteforce"), compiled by numba before it is timed."""

    def __init__(self):
        import numba
        import numpy
        import pytreegrav

        self.numba, self.numpy, self.module = numba, numpy, pytreegrav
        for count in 8, 1024:  # it has other code for 1000 bodies and more
            random = numpy.random.default_rng(1).random((count, 7))
            self.use((random, 0.01, 0))
            for threads in 1, 2:
                self.seconds(threads, 1)

    def use(self, given):
        bodies, softening, _ = given
        columns = self.numpy.array(bodies)
        self.mass = self.numpy.ascontiguousarray(columns[:, 0])
        self.position = self.numpy.ascontiguousarray(columns[:, 1:4])
        # The radius of its spline kernel whose potential at the centre is Plummer's.
        self.radius = self.numpy.full(len(columns), 2.8 * softening)

    def call(self, threads):
        self.module.Accel(
            self.position, self.mass, self.radius, method="bruteforce", parallel=threads > 1
        )

    def seconds(self, threads, calls):
        self.numba.set_num_threads(min(threads, self.numba.config.NUMBA_NUM_THREADS))
        seconds = super().seconds(threads, calls)
        if threads > 1:
            time.sleep(0.02)  # idle threads spin for some time, in the way of what comes next
        return seconds


def read_bodies(count, softening, dt):
    rows = [[float(word) for word in sys.stdin.readline().split()] for _ in range(int(count))]
    return rows, float(softening), float(dt)


converse({"rebound": Rebound, "pytreegrav": Pytreegrav}, "bodies", read_bodies)
