"""Where to compute: devices, contexts, and the streams of the caller's arrays."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any

import array_api_compat

from kith import _kith
from kith._arguments import described, integer, integer32
from kith._arrays import Taken
from kith._ranks import Messages, check_communicator

_KINDS = {"auto": 0, "cpu": 1, "cuda": 2}


@dataclass(frozen=True)
class Device:
    """A device that kith can compute on; `devices` lists them.

    Attributes
    ----------
    kind : str
        ``cpu`` or ``cuda``.
    index : int
        k of ``cuda:k``; 0 for the CPU.
    name : str
        As ``NVIDIA H200``; for the CPU the instruction set in use.
    architecture : str
        As ``sm_90``, or the name of the instruction set.
    multiprocessors : int
        Of the GPU; for the CPU the threads of a context.
    memory_bytes : int
        Memory of the GPU; 0 for the CPU.

    Examples
    --------
    >>> import kith
    >>> cpu = kith.devices()[-1]
    >>> str(cpu), cpu.multiprocessors >= 1
    ('cpu', True)
    """

    kind: str
    index: int
    name: str
    architecture: str
    multiprocessors: int
    memory_bytes: int

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"


class Bound:
    """What holds a device's memory or threads: it cannot be pickled, nor copied."""

    _instead = ""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a kith.{type(self).__name__} cannot be pickled or copied; {self._instead}")


class Context(Bound):
    """A device, a number of threads and a stream.

    Every function creates the context that it needs and keeps it for the next call from the same thread.
    Make one to separate calls that run at the same time, or to compute on a stream of yours. A pickle or
    a copy is another context of the same device and threads; one with a stream or a communicator cannot
    be pickled or copied.

    Parameters
    ----------
    device : str or Device
        ``auto`` (the first GPU, or the CPU without one), ``cpu``, ``cuda`` or ``cuda:k``, or several GPUs
        as ``cuda:0,1`` or ``cuda:all``, which share large direct sums and trees; arrays are on the first. Functions
        that are called with ``auto``, and no context, choose by the size of their arrays, if these are in
        host memory, and report the choice to the logger ``kith`` at level INFO.
    threads : int
        Threads of the CPU; 0: ``OMP_NUM_THREADS``, or as many as there are cores.
    stream : int or object, optional
        A ``cudaStream_t`` as a number, or a stream of CuPy (``.ptr``) or PyTorch
        (``.cuda_stream``). The context holds a reference to it.
    communicator : mpi4py.MPI.Intracomm, optional
        The processes of a job started by ``mpirun``, on CPUs unless `device` names a GPU for each: `forces` and
        `Simulation` divide their work among them. All of them make the same calls with the same arguments, in
        the same order, and get the same results, with the bits of one process. By default the processors of a
        machine are divided among its ranks. Start Python as ``mpirun -n 4 python -m mpi4py program.py``: an
        exception on one rank then ends all of them, and the others do not wait for it.

    Raises
    ------
    RuntimeError
        The device does not exist.
    TypeError
        The communicator is not one of mpi4py.

    Examples
    --------
    >>> import kith
    >>> kith.Context("cpu", threads=2).threads
    2
    """

    _instead = "its stream, or its communicator, is of this process"

    def __init__(self, device: str | Device = "auto", *, threads: int = 0, stream: Any = None,
                 communicator: Any = None):
        threads = integer32("threads", threads)
        messages = None
        if communicator is not None:
            check_communicator(communicator)
            messages = Messages(communicator)
            device = "cpu" if device == "auto" else device
            threads = threads or messages.threads()
        kind, index, peers = parse_devices(device)
        self._owned = (stream, communicator)
        self._peers = peers
        self._handle = _kith.create_context(kind, index, threads, stream_address(stream), peers)
        if messages is not None:
            _kith.join(self._handle, messages, messages.size, messages.rank)

    def __reduce_ex__(self, protocol):
        if self._owned != (None, None):
            return super().__reduce_ex__(protocol)
        return _remade, (self.device, self.threads)

    @property
    def device(self) -> str:
        """The device of the context.

        Returns
        -------
        str
            ``cpu`` or ``cuda:k``; of several GPUs ``cuda:0,1`` and the like.

        Examples
        --------
        >>> import kith
        >>> kith.Context("cpu").device
        'cpu'
        """
        kind, index = self._handle.device
        return "cpu" if kind == 1 else "cuda:" + ",".join(map(str, [index, *self._peers]))

    @property
    def threads(self) -> int:
        """The number of threads of the CPU.

        Returns
        -------
        int
            At least 1.

        Examples
        --------
        >>> import kith
        >>> kith.Context("cpu", threads=2).threads
        2
        """
        return self._handle.threads

    @property
    def isa(self) -> str:
        """The instruction set of the kernels of the CPU.

        Returns
        -------
        str
            As ``v4``.

        Examples
        --------
        >>> import kith
        >>> kith.Context("cpu").isa == kith.devices()[-1].architecture
        True
        """
        return self._handle.isa

    @property
    def stream(self) -> int:
        """The address of the CUDA stream.

        Returns
        -------
        int
            0 for the CPU.

        Examples
        --------
        >>> import kith
        >>> kith.Context("cpu").stream
        0
        """
        return self._handle.stream

    def synchronize(self) -> None:
        """Waits for all work of the context, and raises its deferred errors.

        Examples
        --------
        >>> import kith
        >>> kith.Context("cpu").synchronize()
        """
        self._handle.synchronize()

    def cancel(self) -> None:
        """Stops the call in progress in another thread, which raises `kith.Cancelled`.

        Later calls raise it too, until `clear_cancel`. Ctrl-C stops a call in the main thread by itself, with
        ``KeyboardInterrupt``.

        Examples
        --------
        >>> import kith
        >>> context = kith.Context("cpu")
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.01, context=context)
        >>> context.cancel()
        >>> try:
        ...     simulation.step()
        ... except kith.Cancelled:
        ...     print("cancelled")
        cancelled
        """
        self._handle.cancel()

    def clear_cancel(self) -> None:
        """Allows calls again after `cancel`; waits for a call in progress.

        Examples
        --------
        >>> import kith
        >>> context = kith.Context("cpu")
        >>> context.cancel()
        >>> context.clear_cancel()
        >>> kith.forces([[0.0, 0], [2.0, 0]], want="potential", context=context).potential.tolist()
        [-0.5, -0.5]
        """
        self._handle.clear_cancel()

    def __repr__(self) -> str:
        return f"kith.Context({self.device!r}, threads={self.threads})"


def _remade(device, threads) -> Context:
    return Context(device, threads=threads)


def check_context(context) -> None:
    if not isinstance(context, (Context, type(None))):
        raise TypeError(f"context is {described(context)}; it must be a kith.Context")


def parse_device(device) -> tuple:
    """DLPack's kind and index of ``cuda:1`` and the like."""
    kind, colon, index = str(device).partition(":")
    if kind in _KINDS and (not colon or (kind == "cuda" and index.isdecimal())):
        return _KINDS[kind], integer32("device", int(index or 0))
    wrong = ValueError if isinstance(device, str) else TypeError
    raise wrong(f"device is {described(device)}; it must be 'auto', 'cpu', 'cuda', 'cuda:k', 'cuda:all' or a "
                "kith.Device")


def parse_devices(device) -> tuple:
    """The same, and the further GPUs of ``cuda:0,1`` and ``cuda:all``."""
    name = str(device)
    if name == "cuda:all":
        gpus = [str(found["index"]) for found in _kith.devices() if found["kind"] == "cuda"]
        name = "cuda:" + ",".join(gpus or ["0"])
    first, *others = name.split(",")
    if others and first.startswith("cuda:") and all(gpu.isdecimal() for gpu in others):
        return *parse_device(first), [integer32("device", int(gpu)) for gpu in others]
    return *parse_device(name if str(device) == "cuda:all" else device), []


def stream_address(stream) -> int:
    """The address of a stream of CuPy, PyTorch, or the number itself; None is 0: no stream."""
    if stream is None:
        return 0
    for word in ("ptr", "cuda_stream"):
        if hasattr(stream, word):
            # 0 is CUDA's name of its default stream, here as in cudaStreamLegacy.
            return integer("stream", getattr(stream, word), 0) or 1
    return integer("stream", stream, 0)


class _Kept(threading.local):
    """Contexts of this thread, by device, threads and stream."""

    def __init__(self):
        self.contexts = {}


_kept = _Kept()


def _kept_context(device, threads, stream):
    key = (str(device), integer32("threads", threads), stream_address(stream))
    if key not in _kept.contexts:
        _kept.contexts[key] = Context(device, threads=threads, stream=stream)
    return _kept.contexts[key]


def _current_stream(taken: Taken):
    """The stream on which the caller's library works now; None if it does not report one."""
    if array_api_compat.is_cupy_namespace(taken.library):
        import cupy

        return cupy.cuda.get_current_stream()
    if array_api_compat.is_torch_namespace(taken.library):
        import torch

        return torch.cuda.current_stream(taken.device[1])
    return None


_log = logging.getLogger("kith")


@dataclass(frozen=True)
class Work:
    """What a call computes, for the choice of a device: see kith/choose.h."""

    kind: str
    units: float
    rows: float
    is_single: bool = False

    def device(self, threads: int) -> str:
        """The device that suits it."""
        device, reason = _kith.choose_device(_kith.works[self.kind], float(self.units), float(self.rows),
                                             self.is_single, integer32("threads", threads))
        if reason != "no GPU was found":
            _log.info("device %s: %s", device, reason)
        return device


PAIRS_OF_SOLVER = 2e4
"""The pairs that take as long as a body does by ``tree`` and ``fmm`` (docs/tree.md)."""


class Call:
    """A context for these arrays, and the arrays as it may read them.

    ``work`` is a device, or what chooses one, for arrays in host memory where the caller names none.
    """

    def __init__(self, arrays, context=None, device="auto", threads=0, work: Work | str | None = None):
        arrays = [taken for taken in arrays if taken is not None]
        on_device = bool(arrays) and not arrays[0].is_on_host
        check_context(context)
        if context is None and on_device:
            where = f"cuda:{arrays[0].device[1]}"
            shares = str(device) == "cuda:all" or str(device).startswith(f"{where},")
            if not shares and str(device) not in ("auto", "cuda", where):
                raise ValueError(f"device is {device!r} and the arrays are on {where}; copy them to "
                                 "host memory, or leave the device out")
            context = _kept_context(device if shares else where, threads, _current_stream(arrays[0]))
        self._chosen_for = None  # the threads of the CPU, if a device was chosen
        if context is None and isinstance(work, Work) and device == "auto":
            device, self._chosen_for = work.device(threads), threads
        elif context is None and work is not None and device == "auto":
            device = work
        self.context = context or _kept_context(device, threads, None)
        self.stream = (self.context.stream or 1) if on_device else None
        # JAX does not know of kith's stream.
        self._waits = on_device and array_api_compat.is_jax_namespace(arrays[0].library)

    @property
    def handle(self):
        return self.context._handle

    def show(self, taken):
        """An array as the extension module takes it."""
        return None if taken is None else taken.shown(self.stream)

    def run(self, function, *arguments):
        """Calls with the context; on the CPU what the GPU that was chosen does not support."""
        try:
            return function(self.handle, *arguments)
        except NotImplementedError as error:
            if self._chosen_for is None or self.context.device == "cpu":
                raise
            _log.info("device cpu: %s", error)
            self.context = _kept_context("cpu", self._chosen_for, None)
        return function(self.handle, *arguments)

    def done(self) -> None:
        """After the call: waits if the caller's library cannot."""
        if self._waits:
            self.context.synchronize()


def devices() -> list[Device]:
    """Returns the devices of this machine, with the one that ``auto`` selects first.

    Returns
    -------
    list of Device
        The CPU is the last.

    Examples
    --------
    >>> import kith
    >>> [str(device) for device in kith.devices()][-1]
    'cpu'
    """
    return [_described(found) for found in _kith.devices()]


def _described(found):
    if found["kind"] == "cuda":
        return Device("cuda", found["index"], found["name"], found["architecture"],
                      found["multiprocessors"], found["memory_bytes"])
    context = _kept_context("cpu", 0, None)
    name = next(row["description"] for row in _kith.isas() if row["name"] == context.isa)
    return Device("cpu", 0, name, context.isa, context.threads, 0)
