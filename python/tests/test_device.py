"""device="auto" chooses by the size of the arrays in host memory; a GPU is pretended."""

import contextlib
import logging

import numpy
import pytest
from refusals import refused

import kith
from kith import _context, _kith


@pytest.fixture
def asked(monkeypatch):
    """What the library was asked, which chooses the CPU as if there were a GPU."""
    found = []

    def choose(kind, units, rows, is_single, threads):
        found.append((next(name for name in _kith.works if _kith.works[name] == kind), units, rows, is_single, threads))
        return "cpu", "for the test"

    monkeypatch.setattr(_context._kith, "choose_device", choose)
    return found


def test_calls_tell_their_size(asked):
    x = numpy.random.default_rng(1).normal(size=(20, 3))
    kith.forces(x, threads=2)
    kith.forces(x.astype("float32"), targets=x[:5].astype("float32"))
    kith.matrix(x)
    kith.matrix.reduce("sum", x, columns=x[:5])
    kith.pairs(x, 0.5)
    kith.collisions([[0, 0], [1, 0]])
    kith.Simulation(x, dt=0.1)
    kith.Simulation(x, dt=0.1, systems=4)
    kith.sum(x, "r", targets=x[:5])
    kith.sum(x.astype("float32"), "r", cutoff=1.0)
    kith.forces(x, cutoff=1.5, cell=[4.0, 4.0, 4.0])
    kith.Simulation(x, dt=0.1, cutoff=1.5)
    with contextlib.suppress(NotImplementedError):  # of a build without FFTW
        kith.forces(x, solver="pme", cell=[4.0, 4.0, 4.0])
    with contextlib.suppress(NotImplementedError):
        kith.Simulation(x, dt=0.1, solver="pme", cell=[4.0, 4.0, 4.0])
    kith.forces(x, solver="ewald", cell=[4.0, 4.0, 4.0])
    assert asked == [
        ("forces", 400, 20, False, 2), ("forces", 100, 25, True, 0), ("matrix", 400, 20, False, 0),
        ("product", 100, 25, False, 0), ("pairs", 20, 20, False, 0), ("collisions", 2, 2, False, 0),
        ("steps", 400, 0, False, 0), ("steps", 100, 0, False, 0), ("sums", 100, 25, False, 0),
        ("near", 20, 20, True, 0), ("near", 20, 20, False, 0), ("near_steps", 20, 0, False, 0),
        ("images", 20, 20, False, 0), ("images_steps", 20, 0, False, 0),
    ]


def test_a_device_or_a_context_that_is_named_is_not_chosen(asked):
    x = [[0.0, 0, 0], [1.0, 0, 0]]
    kith.forces(x, device="cpu")
    kith.forces(x, context=kith.Context("cpu"))
    kith.matrix(numpy.zeros((3, 7)), law="distance")
    kith.sum(x, "r", method="reference")
    assert asked == []


@pytest.mark.parametrize("method", ["tensor", "tile-p", "tile-p2"])
def test_no_device_is_chosen_for_methods_of_gpus(method, asked):
    with contextlib.suppress(NotImplementedError):  # without a GPU
        kith.forces(numpy.eye(3, dtype="float32"), method=method, want="acceleration")
    assert asked == []


def test_what_the_chosen_gpu_does_not_support_is_computed_on_the_cpu(caplog):
    call = _context.Call((), work=_context.Work("forces", 4, 2))
    cpu, devices = call.context, []

    class Gpu:
        device = kith.devices()[-1].__class__("cuda", 0, "a GPU", "sm_90", 1, 1)
        _handle = None

    def computes(handle, what):
        devices.append("cpu" if handle else "cuda")
        if not handle:
            raise NotImplementedError("no GPU has it")
        return what

    call.context = Gpu()
    with caplog.at_level(logging.INFO, logger="kith"):
        assert call.run(computes, 5) == 5
    assert devices == ["cuda", "cpu"] and call.context is cpu
    assert [record.getMessage() for record in caplog.records] == ["device cpu: no GPU has it"]
    named = _context.Call((), device="cpu")
    named.context = Gpu()
    with pytest.raises(NotImplementedError):
        named.run(computes, 5)


def test_the_choice_is_logged_where_there_is_one(asked, caplog):
    with caplog.at_level(logging.INFO, logger="kith"):
        kith.forces([[0.0, 0], [1.0, 0]])
    assert [record.getMessage() for record in caplog.records] == ["device cpu: for the test"]


def test_small_problems_are_for_the_cpu_and_the_same_every_time():
    for kind, number in _kith.works.items():
        device, reason = _kith.choose_device(number, 36.0, 6.0, False, 1)
        assert device == "cpu" and reason, kind
        assert _kith.choose_device(number, 36.0, 6.0, False, 1) == (device, reason)
    with refused(ValueError, "threads -1"):
        _kith.choose_device(0, 36.0, 6.0, False, -1)
