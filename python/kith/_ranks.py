"""Messages between the ranks of a job, by mpi4py."""

from __future__ import annotations

import os
import sys
from typing import Any

from kith._arguments import described


def check_communicator(communicator) -> None:
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(communicator, mpi.Intracomm):
        raise TypeError(f"communicator is {described(communicator)}; it must be an mpi4py.MPI.Intracomm, "
                        "as MPI.COMM_WORLD")


class Messages:
    """What kith needs of a message library: the functions of include/kith/ranks.h.

    They use a duplicate of the communicator, so that messages of the caller are not mistaken for theirs.
    """

    def __init__(self, communicator: Any):
        self._mpi = sys.modules["mpi4py.MPI"]
        self._communicator = communicator.Dup()
        self._posted: tuple[list, list] = ([], [])
        self.size, self.rank = communicator.Get_size(), communicator.Get_rank()

    def threads(self) -> int:
        """The processors of this machine that its ranks may use, for each of them alike."""
        machine = self._communicator.Split_type(self._mpi.COMM_TYPE_SHARED)
        processors = set().union(*machine.allgather(os.sched_getaffinity(0)))
        ranks = machine.Get_size()
        machine.Free()
        return max(1, len(processors) // ranks)

    def post_send(self, batch, to, tag, data) -> None:
        self._posted[batch].append(self._communicator.Isend([data, self._mpi.BYTE], to, tag))

    def post_receive(self, batch, source, tag, data) -> None:
        self._posted[batch].append(self._communicator.Irecv([data, self._mpi.BYTE], source, tag))

    def post_maximum(self, batch, values) -> None:
        mpi = self._mpi
        self._posted[batch].append(self._communicator.Iallreduce(mpi.IN_PLACE, [values, mpi.INT64_T], mpi.MAX))

    def progress(self) -> None:
        self._communicator.Iprobe()

    def wait(self, batch) -> None:
        """Ranks that wait yield to others on the same processor."""
        while not self._mpi.Request.Testall(self._posted[batch]):
            os.sched_yield()
        self._posted[batch].clear()

    def broadcast(self, data) -> None:
        self._posted[0].append(self._communicator.Ibcast([data, self._mpi.BYTE]))
        self.wait(0)

    def gather(self, data, element_bytes, first) -> None:
        first = first.cast("q").tolist()
        counts = [end - start for start, end in zip(first, first[1:])]
        element = self._mpi.BYTE.Create_contiguous(element_bytes).Commit()
        self._posted[0].append(self._communicator.Iallgatherv(self._mpi.IN_PLACE, [data, counts, first[:-1], element]))
        self.wait(0)
        element.Free()

    def add(self, values) -> None:
        mpi = self._mpi
        self._posted[0].append(self._communicator.Iallreduce(mpi.IN_PLACE, [values, mpi.UINT64_T], mpi.SUM))
        self.wait(0)

    def abort(self) -> None:
        """Ends all ranks: one of them cannot continue, and the others would wait for it."""
        self._communicator.Abort(1)
