"""Where to compute: devices, contexts, and the streams of the caller's arrays."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import array_api_compat

from kith import _kith
from kith._arrays import Taken

_KINDS = {"auto": 0, "cpu": 1, "cuda": 2}


@dataclass(frozen=True)
class Device:
    """A device that kith can compute on.

    Attributes
    ----------
    kind : str
        ``cpu`` or ``cuda``.
    index : int
        k of ``cuda:k``; 0 on the CPU.
    name : str
        As ``NVIDIA H200``; of a CPU the instruction set in use.
    architecture : str
        As ``sm_90``, or the instruction set's name.
    multiprocessors : int
        That compute side by side; of a CPU the threads of a context.
    memory_bytes : int
        Of its own; 0 on the CPU.
    """

    kind: str
    index: int
    name: str
    architecture: str
    multiprocessors: int
    memory_bytes: int

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"


class Context:
    """A device, a number of threads and a stream.

    Every function makes the context that it needs and keeps it for the next call of the same thread.
    Make one yourself to keep apart what runs at the same time, or to compute on a stream of yours.

    Parameters
    ----------
    device : str or Device
        ``auto`` (the first GPU, or the CPU where there is none), ``cpu``, ``cuda`` or ``cuda:k``.
    threads : int
        Of the CPU; 0: ``OMP_NUM_THREADS``, or as many as there are cores.
    stream : int or object, optional
        A ``cudaStream_t`` as a number, or a stream of CuPy (``.ptr``) or PyTorch
        (``.cuda_stream``). It is kept alive.

    Raises
    ------
    RuntimeError
        There is no such device.

    Examples
    --------
    >>> import kith
    >>> kith.Context("cpu", threads=2).threads
    2
    """

    def __init__(self, device="auto", *, threads: int = 0, stream=None):
        kind, index = parse_device(device)
        self._stream_owner = stream
        self._handle = _kith.create_context(kind, index, threads, stream_address(stream))

    @property
    def device(self) -> str:
        """``cpu`` or ``cuda:k``."""
        kind, index = self._handle.device
        return "cpu" if kind == 1 else f"cuda:{index}"

    @property
    def threads(self) -> int:
        """Threads of the CPU."""
        return self._handle.threads

    @property
    def isa(self) -> str:
        """The instruction set of the CPU's kernels, as ``v4``."""
        return self._handle.isa

    @property
    def stream(self) -> int:
        """The address of the CUDA stream; 0 on the CPU."""
        return self._handle.stream

    def synchronize(self) -> None:
        """Waits for all that was started, and raises what went wrong in it."""
        self._handle.synchronize()

    def cancel(self) -> None:
        """Makes the call under way in another thread stop at its next step with `kith.Cancelled`."""
        self._handle.cancel()

    def clear_cancel(self) -> None:
        """Lets calls go through again."""
        self._handle.clear_cancel()

    def __repr__(self) -> str:
        return f"kith.Context({self.device!r}, threads={self.threads})"


def parse_device(device) -> tuple:
    """DLPack's kind and index of ``cuda:1`` and the like."""
    kind, colon, index = str(device).partition(":")
    if kind not in _KINDS or (colon and not (kind == "cuda" and index.isdigit())):
        raise ValueError(f"device is {device!r}; give 'auto', 'cpu', 'cuda' or 'cuda:k'")
    return _KINDS[kind], int(index or 0)


def stream_address(stream) -> int:
    """The address of a stream of CuPy, PyTorch, or the number itself; None is 0: no stream."""
    if stream is None:
        return 0
    for word in ("ptr", "cuda_stream"):
        if hasattr(stream, word):
            # 0 is CUDA's name of its default stream, here as in cudaStreamLegacy.
            return int(getattr(stream, word)) or 1
    return int(stream)


class _Kept(threading.local):
    """Contexts of this thread, by device, threads and stream."""

    def __init__(self):
        self.contexts = {}


_kept = _Kept()


def _kept_context(device, threads, stream):
    key = (str(device), threads, stream_address(stream))
    if key not in _kept.contexts:
        _kept.contexts[key] = Context(device, threads=threads, stream=stream)
    return _kept.contexts[key]


def _current_stream(taken: Taken):
    """The stream on which the caller's library works now; None where it has none to tell."""
    if array_api_compat.is_cupy_namespace(taken.library):
        import cupy

        return cupy.cuda.get_current_stream()
    if array_api_compat.is_torch_namespace(taken.library):
        import torch

        return torch.cuda.current_stream(taken.place[1])
    return None


class Call:
    """A context for these arrays, and the arrays as it may read them."""

    def __init__(self, arrays, context=None, device="auto", threads=0):
        arrays = [taken for taken in arrays if taken is not None]
        on_device = bool(arrays) and not arrays[0].is_on_host
        if context is None and on_device:
            place = f"cuda:{arrays[0].place[1]}"
            if str(device) not in ("auto", "cuda", place):
                raise ValueError(f"device is {device!r} and the arrays are on {place}; bring them to "
                                 "host memory, or leave the device out")
            context = _kept_context(place, threads, _current_stream(arrays[0]))
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

    def done(self) -> None:
        """After the call: waits where the caller's library could not."""
        if self._waits:
            self.context.synchronize()


def devices() -> list[Device]:
    """The devices of this machine, the one that ``auto`` stands for first.

    Returns
    -------
    list of Device

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
