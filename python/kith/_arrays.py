"""Arrays of any library in, results in the caller's library out.

Arrays are taken by DLPack or the buffer protocol, where they are: nothing is copied unless a number
type has to be converted, and then only where no number can change by more than a rounding of the
kind NumPy does without asking.
"""

from __future__ import annotations

import functools
import math

import array_api_compat
import numpy

from kith import _kith
from kith._arguments import check_constant, described

HOST = (1, 0)
"""DLPack's name of host memory."""

_NUMPY = array_api_compat.array_namespace(numpy.empty(0))
_HOST_KINDS = (1, 3)  # cudaHostAlloc's memory is the host's too
_CHECKED_FROM = 1 << 26  # bytes; asking the system takes 20 µs and more
_REALS = {"float64", "float32"}
_WHOLE = {"int64", "int32"}


class Taken:
    """An array in the form that the library takes.

    Attributes
    ----------
    array : object
        Of the caller's library, or NumPy's.
    dtype : str
        The name of the number type, as ``float32``.
    device : tuple of int
        DLPack's kind and index of the device.
    """

    __slots__ = ("name", "array", "dtype", "library", "device", "is_loose")

    def __init__(self, name, array, library, device, is_loose=False):
        self.name, self.array, self.library, self.device = name, array, library, device
        self.dtype = _name_of(array.dtype)
        self.is_loose = is_loose  # a list or a number: it has no type and no device of its own

    @property
    def is_on_host(self) -> bool:
        return self.device[0] in _HOST_KINDS

    @property
    def shape(self) -> tuple:
        return tuple(self.array.shape)

    def astype(self, dtype: str) -> Taken:
        """The same numbers as ``dtype``; the array itself if it has that already."""
        if self.dtype == dtype and _is_native(self.array):
            return self
        if self.is_loose and dtype == "float32" and _is_floating(self):
            _check_range(self)
        converted = self.library.astype(self.array, getattr(self.library, dtype))
        return Taken(self.name, converted, self.library, self.device, self.is_loose)

    def shown(self, stream=None):
        """What the extension module is given: the array, or a capsule that the stream may read."""
        return self.array if self.is_on_host else self.array.__dlpack__(stream=stream)


@functools.lru_cache(maxsize=64)
def _name_of(dtype) -> str:
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def _is_native(array) -> bool:
    return not isinstance(array, numpy.ndarray) or array.dtype.isnative


def take(name: str, value, ndim=None) -> Taken | None:
    """Takes an array-like; None stays None.

    Raises
    ------
    TypeError
        It holds no real numbers, or masked ones.
    ValueError
        It has another number of dimensions.
    """
    if value is None:
        return None
    taken = _take(name, value)
    if ndim is not None and len(taken.shape) not in ndim:
        wanted = " or ".join(map(str, ndim))
        axes = len(taken.shape)
        raise ValueError(f"{name} has {axes} {'axis' if axes == 1 else 'axes'}, shape {tuple(taken.shape)}; "
                         f"give an array of {wanted} axes")
    return taken


def needed(name: str, value, ndim=None) -> Taken:
    """Takes an array-like that is required: None is a TypeError."""
    if value is None:
        raise TypeError(f"{name} is None; give an array")
    return take(name, value, ndim)


def host_array(name: str, value, ndim=None) -> numpy.ndarray:
    """A small array-like as the host reads it; copied off a GPU."""
    taken = needed(name, value, ndim)
    if taken.is_on_host:
        return numpy.asarray(taken.array)
    return taken.array.get() if hasattr(taken.array, "get") else numpy.asarray(taken.array.tolist())


def _take(name, value):
    if isinstance(value, Taken):
        return value
    if not isinstance(value, numpy.ndarray) and array_api_compat.is_array_api_obj(value):
        return _take_foreign(name, value)
    if not isinstance(value, numpy.ndarray) and hasattr(value, "__dlpack_device__"):
        if value.__dlpack_device__()[0] in _HOST_KINDS:
            value = numpy.from_dlpack(value)
        else:
            raise TypeError(f"{name} is {type(value).__name__}, a library of arrays on a device that "
                            "kith does not know; give an array of CuPy, PyTorch or JAX")
    return _take_numpy(name, value)


def _take_foreign(name, value):
    library = array_api_compat.array_namespace(value)
    if array_api_compat.is_torch_array(value):
        check_constant(name, value)
        value = value.detach()
        if str(value.layout) != "torch.strided":
            raise TypeError(f"{name} is a sparse tensor; give a dense one")
    try:
        kind, index = value.__dlpack_device__()
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"{name} is on a device that kith does not support: {error}") from None
    taken = Taken(name, value, library, (int(kind), int(index)))
    if taken.dtype.startswith("complex"):
        raise TypeError(f"{name} has dtype {taken.dtype}; give real numbers")
    return taken


def _take_numpy(name, value):
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value):
        raise TypeError(f"{name} is masked; fill it or leave the masked rows out")
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is {described(value)}; give an array")
    if hasattr(value, "positions"):  # kith.Bodies, atoms of ASE
        raise TypeError(f"{name} is {type(value).__name__}; give its arrays, positions and others")
    try:
        array = numpy.asarray(value)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths; they must have the same length") from None
    except TypeError:
        raise TypeError(f"{name} is {described(value)}; it must be an array of real numbers") from None
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise TypeError(f"{name} has dtype {array.dtype}; give real numbers of at most 64 bits")
    # DLPack counts strides in whole elements.
    if not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        array = array.copy()
    return Taken(name, array, _NUMPY, HOST,
                 not hasattr(value, "dtype") and not isinstance(value, memoryview))


def on_one_device(arrays) -> tuple:
    """The arrays, with lists and numbers moved to the device of the others.

    Raises
    ------
    ValueError
        They are on several devices: kith does not copy arrays between devices by itself.
    """
    firm = [taken for taken in arrays if taken is not None and not taken.is_loose]
    for other in firm[1:]:
        if other.device != firm[0].device and not (other.is_on_host and firm[0].is_on_host):
            raise ValueError(f"{other.name} is {_where(other)} and {firm[0].name} {_where(firm[0])}; "
                             "move them to one device")
    if not firm or firm[0].is_on_host:
        return tuple(arrays)
    return tuple(taken if taken is None or not taken.is_loose else _moved(taken, firm[0])
                 for taken in arrays)


def _moved(taken, to):
    array = to.library.asarray(taken.array, device=array_api_compat.device(to.array))
    return Taken(taken.name, array, to.library, to.device, True)


def _where(taken) -> str:
    return "in host memory" if taken.is_on_host else f"on device {taken.device[1]}"


def reals(*arrays) -> tuple:
    """The arrays as float32 or float64, of one type on one device.

    They are double if one is, or if none is floating; numbers of half precision become single.
    Lists and whole numbers follow the others.
    """
    arrays = on_one_device(arrays)
    floating = {taken.dtype for taken in arrays
                if taken is not None and not taken.is_loose and _is_floating(taken)}
    dtype = "float32" if floating and "float64" not in floating else "float64"
    return tuple(as_dtype(taken, dtype) for taken in arrays)


def _is_floating(taken):
    return "float" in taken.dtype


def _check_range(taken):
    """Refuses numbers of a list that are out of the range of single precision."""
    size = taken.library.abs(taken.array)
    if taken.library.any((size > float(numpy.finfo("float32").max)) & taken.library.isfinite(size)):
        raise ValueError(f"{taken.name} has numbers beyond the range of float32, which the other arrays are of; give "
                         "those in float64")


def as_dtype(taken: Taken | None, dtype: str) -> Taken | None:
    return None if taken is None else taken.astype(dtype)


def whole(taken: Taken | None) -> Taken | None:
    """Whole numbers as int32 or int64, whichever holds the type; no reals."""
    if taken is None:
        return None
    dtype = taken.dtype
    if dtype in ("bool", "int8", "int16", "uint8", "uint16"):
        return taken.astype("int32")
    if dtype in ("uint32", "uint64"):
        if dtype == "uint64" and taken.array.size and int(taken.array.max()) >= 1 << 63:
            raise ValueError(f"{taken.name} has numbers of 2^63 and more; kith counts in int64")
        return taken.astype("int64")
    if dtype not in _WHOLE:
        raise TypeError(f"{taken.name} has dtype {dtype}; give whole numbers, as "
                        f"{taken.name}.astype('int64')")
    return taken.astype(dtype)


class Made:
    """A new array of the caller's library, on the same device, for a result.

    Attributes
    ----------
    array : object
        What the caller receives.
    """

    def __init__(self, like: Taken, shape, dtype: str):
        library = like.library
        self._is_jax = library is not _NUMPY and array_api_compat.is_jax_namespace(library)
        self._is_on_host, self._device = like.is_on_host, like.device
        if library is _NUMPY:
            self.array = numpy.empty(tuple(shape), dtype=dtype)
            return
        self.array = library.empty(tuple(shape), dtype=getattr(library, dtype),
                                   device=array_api_compat.device(like.array))

    def shown(self, stream=None):
        """What the extension module writes to."""
        if self._is_jax:
            # JAX hands out no array for writing; this one nobody has seen yet.
            self.array.block_until_ready()
            return _kith.view_at(self.array.unsafe_buffer_pointer(), str(self.array.dtype), *self._device,
                                 tuple(self.array.shape), self.array)
        return self.array if self._is_on_host else self.array.__dlpack__(stream=stream)


class Given:
    """An array of the caller's for a result; remedy: what to do instead of giving one of JAX."""

    def __init__(self, name, value, like: Taken, shape, dtype: str, remedy: str | None = None):
        taken = take(name, value)
        shape = tuple(shape)
        if taken.shape != shape or taken.dtype != dtype or not _is_native(taken.array):
            raise ValueError(f"{name} is {taken.shape} of {taken.dtype}; give {shape} of {dtype}")
        if taken.library is not _NUMPY and array_api_compat.is_jax_array(value):
            raise TypeError(f"{name} is an array of JAX, which cannot be written; "
                            f"{remedy or 'leave ' + name.partition('[')[0] + ' out'}")
        if isinstance(taken.array, numpy.ndarray):
            if not taken.array.flags.writeable:
                raise ValueError(f"{name} is read-only; give an array that can be written")
            if taken.array is not value:
                raise TypeError(f"{name} is {type(value).__name__}; give an array that can be written in place")
        on_one_device([like, taken])
        self.array, self._taken = value, taken

    def shown(self, stream=None):
        return self._taken.shown(stream)


def check_memory(name: str, shape, dtype: str) -> None:
    """MemoryError for an array of the host that needs more than there is: NumPy gets it, and who writes is killed."""
    needs = math.prod(shape) * numpy.dtype(dtype).itemsize
    if needs < _CHECKED_FROM:
        return
    available = _kith.memory_available()
    if needs > available:
        raise MemoryError(f"{name}: {' x '.join(map(str, shape))} of {dtype} need {needs} bytes and {available} are "
                          "available; request less, or free memory")


def result(name, out, like: Taken, shape, dtype: str):
    """The caller's array for a result, or a new one."""
    if out is None and like.is_on_host:
        check_memory(name, shape, dtype)
    return Made(like, shape, dtype) if out is None else Given(name, out, like, shape, dtype)


def from_view(view, like: Taken):
    """An array of the caller's library on memory that the library allocated, without a copy."""
    if like.is_on_host:
        array = numpy.asarray(view)
        return array if isinstance(like.array, numpy.ndarray) else _from_host(array, like)
    return like.library.from_dlpack(view)


def _from_host(array, like):
    if array_api_compat.is_torch_namespace(like.library):
        import torch

        return torch.from_numpy(array)
    return like.library.asarray(array)
