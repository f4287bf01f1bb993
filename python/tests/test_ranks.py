"""Ranks of a job by mpi4py, started by a real mpirun."""

import os
import subprocess
import sys

import numpy
import pytest

import kith

pytest.importorskip("mpi4py.MPI", exc_type=(ImportError, RuntimeError))

# Open MPI: as root, in a container, and with more ranks than cores; MPICH reads none of these.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}

COMPUTE = """
import numpy, kith
def compute(context, seed):
    random = numpy.random.default_rng(seed)
    positions, masses = random.normal(size=(3001, 3)), random.uniform(0.5, 1, 3001)
    results = {}
    for solver in "direct", "tree", "fmm":
        forces = kith.forces(positions, masses=masses, softening=0.05, solver=solver, want="both",
                             context=context)
        results[solver], results["potential " + solver] = forces.acceleration, forces.potential
    simulation = kith.Simulation(positions[:301], masses=masses[:301], softening=0.05, dt=0.001, context=context)
    simulation.step(5)
    results["simulation"] = simulation.bodies().positions
    return results
"""

SAVE = COMPUTE + """
import sys
from mpi4py import MPI
numpy.savez(f"{sys.argv[1]}/{MPI.COMM_WORLD.rank}.npz",
            **compute(kith.Context(communicator=MPI.COMM_WORLD, threads=1), int(sys.argv[2])))
"""

RAISE = """
import numpy, kith
from mpi4py import MPI
context = kith.Context(communicator=MPI.COMM_WORLD, threads=1)
if MPI.COMM_WORLD.rank == 1:
    {mistake}
for turn in range(1000):
    kith.forces(numpy.random.default_rng(turn).normal(size=(3000, 3)), context=context)
"""


def mpirun(ranks, program, *arguments):
    return subprocess.run(["mpirun", "-n", str(ranks), sys.executable, "-m", "mpi4py", "-c", program, *arguments],
                          env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_rank_has_the_bits_of_one_process(ranks, tmp_path):
    seed = numpy.random.SeedSequence(int(os.environ.get("KITH_TEST_SEED", "1")) + ranks).generate_state(1)[0]
    names = {}
    exec(COMPUTE, names)
    expected = names["compute"](kith.Context("cpu", threads=2), seed)
    ran = mpirun(ranks, SAVE, str(tmp_path), str(seed))
    assert ran.returncode == 0, ran.stderr
    for rank in range(ranks):
        found = numpy.load(tmp_path / f"{rank}.npz")
        for name, values in expected.items():
            assert numpy.array_equal(found[name], values), (rank, name)


@pytest.mark.parametrize("mistake", ["raise RuntimeError", "kith._ranks.Messages.wait = None"])
def test_an_exception_on_one_rank_ends_all(mistake):
    assert mpirun(2, RAISE.format(mistake=mistake)).returncode == 1


def test_ranks_divide_the_processors_of_their_machine():
    program = ("import kith, os; from mpi4py import MPI; threads = kith.Context(communicator=MPI.COMM_WORLD).threads; "
               "assert threads == max(1, len(os.sched_getaffinity(0)) // 2), threads")
    ran = mpirun(2, program)
    assert ran.returncode == 0, ran.stderr
