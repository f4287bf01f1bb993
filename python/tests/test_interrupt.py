"""Ctrl-C in the middle of long calls; every one of these would take half a minute or more."""

import signal
import threading
import time

import numpy
import pytest
from refusals import refused

import kith

many = 400_000

calls = {
    "forces": lambda x, beads: kith.forces(x),
    "forces by a law": lambda x, beads: kith.forces(x, law="lennard-jones"),
    "forces by the reference": lambda x, beads: kith.forces(x, method="reference"),
    "reduce": lambda x, beads: kith.matrix.reduce("sum", x),
    "multiply": lambda x, beads: kith.matrix.multiply(x[:, 0].copy(), x),
    "histogram": lambda x, beads: kith.matrix.histogram(x, bins=10, low=-1, high=0),
    "pairs": lambda x, beads: kith.pairs(x, 1e-3, method="brute-force"),
    "nearest": lambda x, beads: kith.nearest(x, 500),
    "sum": lambda x, beads: kith.sum(x, {"density": "exp(-r2)"}),
    "collisions": lambda x, beads: kith.collisions(beads, method="reference"),
    "promise": lambda x, beads: kith.collisions.launch(beads, method="reference").fetch(),
    "create": lambda x, beads: kith.Simulation(x, dt=1e-3),
}


@pytest.mark.parametrize("name", calls)
def test_ctrl_c_ends_a_call(name, numbers, interrupted):
    x, beads = numbers.uniform(size=(many, 3)), numpy.arange(3 * many, dtype=numpy.int64).reshape(-1, 3)
    interrupted(lambda: calls[name](x, beads))
    assert kith.forces(x[:10]).acceleration.shape == (10, 3)  # the context goes on


def signals_heard_in(call):
    """How many signals, one every 0.1 s, are handled during a call: one, after it, if it hears none."""
    heard = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    call()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    return len(heard)


def test_making_bodies_hears_signals(interrupted):
    assert signals_heard_in(lambda: kith.make("hernquist", 4_000_000)) > 1
    interrupted(lambda: kith.make("hernquist", 30_000_000))


@pytest.mark.parametrize("name", ["bodies.csv", "bodies.xyz"])
def test_reading_and_writing_text_hears_signals(name, interrupted, tmp_path):
    bodies, path = kith.make("lattice", 4_000_000), tmp_path / name
    assert signals_heard_in(lambda: bodies.write(path)) > 1
    assert signals_heard_in(lambda: kith.read(path)) > 1
    before = path.stat()
    interrupted(lambda: bodies.write(path))
    assert path.stat().st_ino == before.st_ino and path.stat().st_size == before.st_size
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_step_is_as_if_it_had_not_begun(numbers, interrupted):
    x = numbers.uniform(size=(30_000, 3))
    simulation, other = (kith.Simulation(x, dt=1e-3, softening=0.1) for _ in range(2))
    interrupted(lambda: simulation.step(10_000))
    other.step(simulation.steps)
    assert numpy.array_equal(simulation.positions, other.positions)
    simulation.step()
    other.step()
    assert numpy.array_equal(simulation.positions, other.positions)


def test_a_call_in_another_thread_is_cancelled_by_its_context(numbers):
    context, raised = kith.Context("cpu"), []

    def compute():
        try:
            kith.forces(numbers.uniform(size=(many, 3)), context=context)
        except kith.Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=compute)
    thread.start()
    time.sleep(0.5)
    context.cancel()
    context.clear_cancel()  # waits for the call
    thread.join()
    assert raised
    assert kith.forces(numbers.uniform(size=(10, 3)), context=context).acceleration.shape == (10, 3)


def test_a_signal_handler_may_compute_with_a_context_of_its_own(numbers):
    x, context, own = numbers.uniform(size=(30_000, 3)), kith.Context("cpu"), kith.Context("cpu", threads=1)
    found = []

    def handle(number, frame):
        found.append(kith.forces(x[:5], context=own).acceleration)
        with refused(RuntimeError, "Context"):
            kith.forces(x[:5], context=context)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    reference = kith.forces(x, method="reference", context=context).acceleration
    signal.signal(signal.SIGALRM, before)
    assert len(found) == 1 and numpy.isfinite(reference).all()
