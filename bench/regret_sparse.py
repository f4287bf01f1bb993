"""How much slower kith's choice of a sparse format and kernel is than the best of all, on matrices nothing was tuned with.

    python bench/regret_sparse.py [--device cuda] [--single] [--seed S] [--seconds S] [--json FILE]

Makes matrices of PyAMG's gallery, random graphs, power laws, bands with arrows and finite-element blocks with fresh
random numbers, multiplies each with a vector in every format and kernel that takes it, in turns, and prints the time of
what kith chose over the best time. The exit status is 1 if a choice takes more than 1.2 times as long as the best.
"""

import argparse
import json
import random
import sys
import time

import kith
import numpy
import scipy.sparse
from pyamg import gallery

MOST = 1.2
FORMATS = ("coo", "csr", "ell", "hybrid", "sell", "bsr", "dia")
KERNELS = ("auto", "row-thread", "row-vector", "element", "merge")


def power_law(random_numbers, rows, exponent, columns=None):
    """Rows whose lengths follow a power law, entries at random places."""
    longest = rows // 4
    lengths = numpy.minimum((random_numbers.random(rows) ** (-1 / (exponent - 1))).astype(int), longest)
    row = numpy.repeat(numpy.arange(rows), lengths)
    column = random_numbers.integers(0, columns or rows, len(row))
    return scipy.sparse.coo_array((random_numbers.random(len(row)), (row, column)), shape=(rows, columns or rows))


def uniform(random_numbers, rows, columns, per_row):
    """Entries per row, in random columns."""
    row = numpy.repeat(numpy.arange(rows), per_row)
    column = random_numbers.integers(0, columns, len(row))
    return scipy.sparse.coo_array((random_numbers.random(len(row)), (row, column)), shape=(rows, columns))


def small_world(random_numbers, rows, near, far):
    """A ring of neighbors with shortcuts (Watts & Strogatz 1998)."""
    i = numpy.repeat(numpy.arange(rows), near)
    j = (i + numpy.tile(numpy.arange(1, near + 1), rows)) % rows
    j = numpy.where(random_numbers.random(len(j)) < far, random_numbers.integers(0, rows, len(j)), j)
    half = scipy.sparse.coo_array((random_numbers.random(len(i)), (i, j)), shape=(rows, rows))
    return half + half.T


def band_with_arrow(random_numbers, rows, width, spikes):
    """A band of random occupancy, with some dense rows and columns."""
    diagonals = sorted(random_numbers.choice(numpy.arange(-width, width + 1), width, replace=False))
    band = scipy.sparse.diags_array([random_numbers.random(rows) for _ in diagonals], offsets=diagonals,
                                    shape=(rows, rows)).tocoo()
    dense = random_numbers.integers(0, rows, spikes)
    row = numpy.concatenate([band.row, *(numpy.full(rows // 2, d) for d in dense)])
    column = numpy.concatenate([band.col, *(random_numbers.integers(0, rows, rows // 2) for d in dense)])
    return scipy.sparse.coo_array((random_numbers.random(len(row)), (row, column)), shape=(rows, rows))


def blocks(random_numbers, nodes, size, per_node):
    """Dense blocks of unknowns at neighboring nodes, numbered at random within a window."""
    i = numpy.repeat(numpy.arange(nodes), per_node)
    j = numpy.clip(i + random_numbers.integers(-40, 41, len(i)), 0, nodes - 1)
    graph = scipy.sparse.coo_array((numpy.ones(len(i)), (i, j)), shape=(nodes, nodes))
    return scipy.sparse.kron(graph, random_numbers.random((size, size)), format="coo")


def shuffled(random_numbers, matrix):
    """The same with rows and columns renumbered at random."""
    order = random_numbers.permutation(matrix.shape[0])
    return matrix.tocsr()[order][:, order]


def stencil(points, shape):
    """A stencil of random weights on a grid."""
    return gallery.stencil_grid(points, shape, format="csr")


def matrices(seed):
    """(name, matrix) of each, with new random sizes."""
    draw = numpy.random.default_rng(seed)

    def size(low, high):
        return int(low * (high / low) ** draw.random())

    yield "poisson 1D", gallery.poisson((size(10000, 1000000),), format="csr")
    yield "poisson 2D", gallery.poisson((size(100, 1200),) * 2, format="csr")
    yield "poisson 3D", gallery.poisson((size(20, 90),) * 3, format="csr")
    yield "poisson 2D shuffled", shuffled(draw, gallery.poisson((size(100, 600),) * 2, format="csr"))
    yield "nine points", stencil(draw.random((3, 3)), (size(100, 900),) * 2)
    yield "27 points", stencil(draw.random((3, 3, 3)), (size(20, 70),) * 3)
    yield "25 points", stencil(draw.random((5, 5)), (size(60, 500),) * 2)
    yield "elasticity 2D", gallery.linear_elasticity((size(50, 300),) * 2)[0]
    yield "elasticity 2D shuffled", shuffled(draw, gallery.linear_elasticity((size(50, 200),) * 2)[0])
    yield "anisotropic", gallery.stencil_grid(gallery.diffusion_stencil_2d(1e-3, draw.random()), (size(100, 800),) * 2,
                                              format="csr")
    yield "random SPD", gallery.sprand(size(2000, 60000), size(2000, 60000), 0.002)
    for rows, per_row in ((2000, 3), (50000, 8), (200000, 4), (20000, 60), (1000, 300)):
        rows = size(rows, 3 * rows)
        yield f"uniform {per_row} a row", uniform(draw, rows, rows, per_row)
    for exponent in (1.7, 2.1, 2.6, 3.5):
        yield f"power law {exponent}", power_law(draw, size(20000, 200000), exponent)
    yield "power law tall", power_law(draw, size(100000, 300000), 2.4, 500)
    yield "power law wide", power_law(draw, size(500, 3000), 1.6, 400000)
    for near, far in ((4, 0.01), (8, 0.3)):
        yield f"small world {far}", small_world(draw, size(20000, 200000), near, far)
    for width, spikes in ((5, 0), (5, 3), (21, 1), (61, 10)):
        yield f"band of {width} with {spikes} dense", band_with_arrow(draw, size(10000, 100000), width, spikes)
    for block, per_node in ((2, 8), (3, 12), (4, 5), (5, 6), (6, 20)):
        yield f"blocks of {block}", blocks(draw, size(2000, 15000), block, per_node)
    yield "diagonal", scipy.sparse.diags_array(draw.random(size(10000, 1000000)))
    yield "permutation", shuffled(draw, scipy.sparse.diags_array(draw.random(size(10000, 1000000))))
    yield "tall", uniform(draw, size(100000, 500000), 50, 4)
    yield "wide", uniform(draw, 50, size(100000, 500000), 4000)
    yield "few rows filled", uniform(draw, size(100, 400), 20000, 2000)
    yield "almost empty", uniform(draw, 40, 300000, 3).T.tocoo()
    yield "tiny", uniform(draw, size(20, 200), 100, 5)


class Product:
    """A matrix in one format, multiplied again and again."""

    def __init__(self, matrix, device, **choice):
        self.matrix = kith.SparseMatrix(matrix, device=device, **choice)
        self.choice = (self.matrix.info["format"], self.matrix.info["kernel"])
        self.best = float("inf")
        arrays = numpy
        self.wait = lambda: None
        if device.startswith("cuda"):
            import cupy as arrays
            self.wait = arrays.cuda.get_current_stream().synchronize
        self.x = arrays.ones(matrix.shape[1], self.matrix.dtype)
        self.y = arrays.zeros(matrix.shape[0], self.matrix.dtype)
        self.time(1)
        once = self.time(1)
        self.calls = max(1, min(1000, int(2e-3 / max(once, 1e-7))))

    def time(self, calls):
        start = time.perf_counter()
        for _ in range(calls):
            self.matrix.multiply(self.x, out=self.y)
        self.wait()
        return (time.perf_counter() - start) / calls

    def round(self):
        self.best = min(self.best, self.time(self.calls))


def products(matrix, device):
    """What kith chooses, and each other format and kernel that takes the matrix."""
    chosen = Product(matrix, device)
    others = {}
    for name in FORMATS:
        for kernel in KERNELS:
            try:
                product = Product(matrix, device, format=name, kernel=kernel)
            except (NotImplementedError, MemoryError):
                continue
            others.setdefault(product.choice, product)
    return chosen, others


def measure(matrix, device, seconds):
    """The choice, the best, and the ratio of their times: minima of many rounds."""
    chosen, others = products(matrix, device)
    end = time.perf_counter() + seconds * (1 + len(others))
    turn = [chosen, *others.values()]
    while time.perf_counter() < end:
        random.shuffle(turn)
        for product in turn:
            product.round()
    same = others.get(chosen.choice)
    taken = min(chosen.best, same.best) if same else chosen.best
    best = min(others.values(), key=lambda product: product.best)
    return chosen.choice, best.choice, taken / min(taken, best.best), taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--seconds", type=float, default=0.1, help="of each format and kernel of a matrix")
    parser.add_argument("--json")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    rows = []
    for name, made in matrices(asked.seed):
        matrix = scipy.sparse.csr_array(made)
        matrix.sum_duplicates()
        matrix = matrix.astype(numpy.float32 if asked.single else numpy.float64)
        choice, best, ratio, seconds = measure(matrix, asked.device, asked.seconds)
        rows.append({"matrix": name, "rows": matrix.shape[0], "columns": matrix.shape[1], "nonzeros": matrix.nnz,
                     "chosen": " ".join(choice), "best": " ".join(best), "ratio": ratio, "seconds": seconds})
        print(f"{name:28} {matrix.shape[0]:8} x {matrix.shape[1]:<8} {matrix.nnz:9} {1e6 * seconds:9.1f} us "
              f"{ratio:5.2f}  {' '.join(choice):20} {'' if ratio <= MOST else 'best: ' + ' '.join(best)}", flush=True)
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump({"seed": asked.seed, "device": asked.device, "single": asked.single, "rows": rows}, file, indent=1)
    worse = sum(row["ratio"] > MOST for row in rows)
    print(f"{len(rows)} matrices, {worse} where the choice takes more than {MOST} times the best; "
          f"worst {max(row['ratio'] for row in rows):.2f}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
