"""The package: its program, its names, and what they say about themselves."""

import inspect
import subprocess
import sys

import kith


def test_the_command_comes_with_the_package():
    said = subprocess.run([sys.executable, "-m", "kith", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"kith {kith.__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "kith", "fly"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "fly" in wrong.stderr


def test_every_name_tells_what_it_is():
    for name in kith.__all__:
        assert inspect.getdoc(getattr(kith, name)), name


def test_every_argument_is_described():
    for name in ("forces", "pairs", "NeighborList", "Simulation", "SparseMatrix", "Context"):
        described = inspect.getdoc(getattr(kith, name))
        for parameter in inspect.signature(getattr(kith, name)).parameters:
            assert parameter in described, (name, parameter)


def test_devices_end_with_the_cpu():
    cpu = kith.devices()[-1]
    assert str(cpu) == "cpu" and cpu.multiprocessors >= 1
    context = kith.Context(cpu, threads=1)
    assert context.device == "cpu" and context.isa == cpu.architecture
    context.synchronize()


def test_a_cancelled_context_says_so():
    context = kith.Context("cpu")
    simulation = kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.1, context=context)
    context.cancel()
    try:
        simulation.step()
        raise AssertionError("it went on")
    except kith.Cancelled:
        pass
    context.clear_cancel()
    simulation.step()
