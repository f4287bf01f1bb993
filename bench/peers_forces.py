"""Times other programs' all-pairs gravity for kith bench forces --peers.

kith starts this script and asks; each request is a line, each answer too:

    peer NAME                   version V | missing | error WHY
    bodies N SOFTENING DT       ok, after N more lines: m x y z vx vy vz
    time NAME THREADS CALLS     seconds S: what CALLS evaluations of all forces took | error WHY
"""

import importlib.metadata
import os
import sys
import time


class Rebound:
    """A call is a leapfrog step: one evaluation of all forces, in one thread, in a loop in C."""

    def __init__(self):
        import rebound

        self.module = rebound
        self.simulation = None

    def use(self, bodies, softening, dt):
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


class Pytreegrav:
    """A call is Accel(method="bruteforce"), compiled by numba before it is timed."""

    def __init__(self):
        import numba
        import numpy
        import pytreegrav

        self.numba, self.numpy, self.module = numba, numpy, pytreegrav
        for count in 8, 1024:  # it has other code for 1000 bodies and more
            random = numpy.random.default_rng(1).random((count, 7))
            self.use(random, 0.01, 0)
            for threads in 1, 2:
                self.seconds(threads, 1)

    def use(self, bodies, softening, dt):
        columns = self.numpy.array(bodies)
        self.mass = self.numpy.ascontiguousarray(columns[:, 0])
        self.position = self.numpy.ascontiguousarray(columns[:, 1:4])
        # The radius of its spline kernel whose potential at the centre is Plummer's.
        self.radius = self.numpy.full(len(columns), 2.8 * softening)

    def seconds(self, threads, calls):
        self.numba.set_num_threads(min(threads, self.numba.config.NUMBA_NUM_THREADS))
        start = time.perf_counter()
        for _ in range(calls):
            self.module.Accel(
                self.position, self.mass, self.radius, method="bruteforce", parallel=threads > 1
            )
        seconds = time.perf_counter() - start
        if threads > 1:
            time.sleep(0.02)  # idle threads spin for some time, in the way of what comes next
        return seconds


class Conversation:
    kinds = {"rebound": Rebound, "pytreegrav": Pytreegrav}

    def __init__(self, requests):
        self.requests = requests
        self.peers = {}
        self.bodies = None  # and softening and step
        self.users = set()  # the peers that have them already

    def peer(self, name):
        if name not in self.peers:
            try:
                self.peers[name] = self.kinds[name]()
            except ModuleNotFoundError:
                return "missing"
        return f"version {importlib.metadata.version(name)}"

    def read_bodies(self, count, softening, dt):
        rows = [[float(word) for word in self.requests.readline().split()] for _ in range(int(count))]
        self.bodies = rows, float(softening), float(dt)
        self.users = set()
        return "ok"

    def time(self, name, threads, calls):
        if name not in self.users:
            self.peers[name].use(*self.bodies)
            self.users.add(name)
        return f"seconds {self.peers[name].seconds(int(threads), int(calls))!r}"

    def answer(self, line):
        request, *words = line.split()
        return {"peer": self.peer, "bodies": self.read_bodies, "time": self.time}[request](*words)


def main():
    # What the peers print must not get among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    conversation = Conversation(sys.stdin)
    for line in iter(sys.stdin.readline, ""):
        try:
            answer = conversation.answer(line)
        except Exception as error:
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)


main()
