"""Uses what is public: test_types.py checks it by mypy --strict, and runs it."""

# ruff: noqa: F841

import numpy

import kith


def use() -> None:
    bodies = kith.make("plummer", 1000, seed=7)
    acceleration, potential = kith.forces(bodies.positions, bodies.masses, softening=0.02, error=1e-4)
    simulation = kith.Simulation(bodies, dt=0.1, softening=0.02, solver="fmm", theta=0.5, order=4)
    summary: kith.Summary = simulation.run(1.0, output="plummer.h5", every=10)
    simulation.run(2.0)
    energies: list[float] = [frame.energies.total_energy for frame in simulation.frames(until=3.0, every=10)]
    last: kith.Bodies = kith.read("plummer.h5", frame=-1)

    law: kith.Law = kith.law("yukawa:2.5", k=332.06)
    value, force = law.evaluate([2, 0, 0])
    V = kith.matrix(bodies.positions, law=law, softening=0.1, diagonal="keep")
    rows = kith.matrix.reduce("sum", bodies.positions, law="distance", symmetric=True)
    counts = kith.matrix.histogram(bodies.positions, bins=10, low=0, high=2, law="distance")
    product = kith.matrix.multiply(numpy.ones(1000), bodies.positions, law="distance", threads=1)
    seconds: float = kith.matrix.write("V.npy", bodies.positions, memory=1 << 20)
    operator = kith.scipy_linear_operator("distance", bodies.positions, diagonal=1.0)

    near: kith.Pairs = kith.nearest(bodies.positions, 4, quantities="ijd")
    i, j, d = kith.pairs(bodies.positions, 0.1, quantities="ijd")
    neighbors = kith.NeighborList(0.1, full_list=True)
    found = neighbors.compute(bodies.positions, numpy.eye(3), False)

    A: kith.SparseMatrix = kith.SparseMatrix(numpy.eye(3), format="csr", tune=True)
    B = kith.SparseMatrix.from_pairs(near, law="gravity", laplacian=True)
    y = (2.0 * A.T) @ numpy.ones(3)

    collisions: int = kith.collisions([[0, 0], [0, 0]], method="sort")
    contacts: int = kith.collisions.contacts([[0, 0], [0, 1], [1, 1], [1, 0]], sequence="HPPH")
    batch: kith.Batch = kith.collisions.batch([[0, 0], [0, 0]], offsets=[0, 2])
