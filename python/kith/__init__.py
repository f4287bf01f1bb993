"""kith: interactions between pairs of particles.

On CPUs and GPUs: all-pairs forces, interaction matrices, neighbor pairs, lattice
collisions, sparse products, and N-body simulations. Arrays of NumPy, CuPy, PyTorch and
JAX go in and come out where they are.
"""

from kith import _kith
from kith._bodies import Bodies, formats, make, read
from kith._collisions import Batch, Groups, Promise
from kith._context import Context, Device, devices
from kith._derivative import forces_derivative
from kith._forces import Forces, Totals, forces
from kith._functions import collisions, matrix
from kith._law import Law, LawInfo, law, laws
from kith._megno import Megno, megno
from kith._neighbors import NeighborList
from kith._operator import scipy_linear_operator
from kith._orbits import orbits
from kith._pairs import Pairs, nearest, pairs
from kith._plot import plot
from kith._simulation import Energies, Integrator, Simulation, Summary, integrators
from kith._sparse import SparseMatrix
from kith._sum import sum
from kith._trajectory import Trajectory, open
from kith._update import update
from kith._view import View, view

FormatError = _kith.FormatError
Cancelled = _kith.Cancelled
__version__ = _kith.version

__all__ = [
    "Batch", "Bodies", "Cancelled", "Context", "Device", "Energies", "Forces", "FormatError", "Groups", "Integrator",
    "Law", "LawInfo", "Megno", "NeighborList", "Pairs", "Promise", "Simulation", "SparseMatrix", "Summary", "Totals",
    "Trajectory", "View", "collisions", "devices", "forces", "forces_derivative", "formats", "integrators", "law",
    "laws", "make", "matrix", "megno", "nearest", "open", "orbits", "pairs", "plot", "read", "scipy_linear_operator",
    "sum", "update", "view",
]
