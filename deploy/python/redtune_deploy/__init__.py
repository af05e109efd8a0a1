"""Runs tuned reductions on NumPy arrays, through OpenCL.

    import numpy, redtune_deploy as rt
    store = rt.Store("redtune-out/configs")
    sums, answer = store.run(numpy.ones((64, 1024), numpy.float32), "sum", axes=[1])

The shared library is taken from $REDTUNE_DEPLOY_LIBRARY, else from the tree that this package is installed in, else
from the loader's path. Everything that goes wrong is an Error with the library's status and message.
"""
import ctypes
import json
import os
import pathlib
import threading
from dataclasses import dataclass

import numpy

__all__ = ["Answer", "Error", "Store", "version", "EXACT", "IN_RANGE", "NEAREST", "OTHER_DEVICE", "DEFAULT"]

EXACT, IN_RANGE, NEAREST, OTHER_DEVICE, DEFAULT = range(5)
GRADES = ("exact", "in_range", "nearest", "other_device", "default")
DTYPES = {"bool": numpy.bool_, "i8": numpy.int8, "u8": numpy.uint8, "i32": numpy.int32, "i64": numpy.int64,
          "f16": numpy.float16, "f32": numpy.float32, "f64": numpy.float64}


class Error(RuntimeError):
    """A status of redtune/deploy.h with its message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class _RawAnswer(ctypes.Structure):
    _fields_ = [("grade", ctypes.c_int), ("has_kernel", ctypes.c_int), ("seconds", ctypes.c_double),
                ("low_seconds", ctypes.c_double), ("high_seconds", ctypes.c_double),
                ("default_seconds", ctypes.c_double), ("distance", ctypes.c_double), ("regret", ctypes.c_double),
                ("regret_samples", ctypes.c_size_t), ("worst_regret", ctypes.c_double), ("run_to_run", ctypes.c_int),
                ("schedule", ctypes.c_char * 256), ("device", ctypes.c_char * 256), ("key", ctypes.c_char * 256), ("note", ctypes.c_char * 256)]


@dataclass(frozen=True)
class Answer:
    """What served, and how good it is; see redtune_answer in redtune/deploy.h."""
    grade: str
    has_kernel: bool
    seconds: float
    low_seconds: float
    high_seconds: float
    default_seconds: float
    distance: float
    regret: float  # NaN: not measured
    regret_samples: int
    worst_regret: float  # NaN: no schedule of a portfolio
    run_to_run: bool
    schedule: str
    device: str
    key: str
    note: str


def _answer(raw):
    values = {}
    for name, _ in _RawAnswer._fields_:
        value = getattr(raw, name)
        values[name] = value.decode(errors="replace") if isinstance(value, bytes) else value
    values["grade"] = GRADES[raw.grade]
    values["has_kernel"], values["run_to_run"] = bool(raw.has_kernel), bool(raw.run_to_run)
    return Answer(**values)


def _library_path():
    chosen = os.environ.get("REDTUNE_DEPLOY_LIBRARY")
    if chosen:
        return chosen
    # PREFIX/lib/python/redtune_deploy/__init__.py
    beside = pathlib.Path(__file__).resolve().parents[2] / "libredtune_deploy.so.0"
    return str(beside) if beside.exists() else "libredtune_deploy.so.0"


def _open_library():
    library = ctypes.CDLL(_library_path())
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    prototypes = {
        "redtune_version": (text, []), "redtune_error": (text, []),
        "redtune_store_open": (ctypes.c_int, [text, ctypes.POINTER(pointer)]), "redtune_store_close": (None, [pointer]),
        "redtune_store_size": (size, [pointer]), "redtune_store_problems": (text, [pointer]),
        "redtune_operator_parse": (ctypes.c_int, [text, ctypes.POINTER(pointer)]),
        "redtune_operator_free": (None, [pointer]), "redtune_operator_output_bytes": (size, [pointer]),
        "redtune_operator_output_dtype": (text, [pointer]),
        "redtune_operator_output_shape": (size, [pointer, ctypes.POINTER(ctypes.c_int64), size]),
        "redtune_find": (ctypes.c_int, [pointer, pointer, text, ctypes.c_int, ctypes.POINTER(_RawAnswer)]),
        "redtune_host_open": (ctypes.c_int, [text, ctypes.POINTER(pointer)]), "redtune_host_close": (None, [pointer]),
        "redtune_host_device": (text, [pointer]),
        "redtune_host_run": (ctypes.c_int, [pointer, pointer, pointer, ctypes.c_int, pointer, size, pointer, size,
                                            ctypes.POINTER(_RawAnswer)]),
    }
    for name, (result, arguments) in prototypes.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _open_library()


def _check(status):
    if status != 0:
        raise Error(status, _library.redtune_error().decode(errors="replace"))


def version():
    """Of the shared library."""
    return _library.redtune_version().decode()


class _Handle:
    """Owns what a function of the library made."""

    def __init__(self, close):
        self.value, self._close = ctypes.c_void_p(), close

    def __del__(self):
        if self.value:
            self._close(self.value)


def _dtype_name(dtype):
    for name, known in DTYPES.items():
        if dtype == known:
            return name
    raise Error(1, f"arrays of {dtype} are not supported; there are {', '.join(DTYPES)}")


class Store:
    """A config store and the device that it is used on. May be shared by threads."""

    def __init__(self, directory, device=None):
        self._store, self._host = _Handle(_library.redtune_store_close), _Handle(_library.redtune_host_close)
        _check(_library.redtune_store_open(os.fsencode(directory), ctypes.byref(self._store.value)))
        self._wanted_device, self._opening = device, threading.Lock()

    def __len__(self):
        return _library.redtune_store_size(self._store.value)

    @property
    def problems(self):
        """Files that were left out, a line each."""
        return _library.redtune_store_problems(self._store.value).decode(errors="replace").splitlines()

    @property
    def device(self):
        """The full name, as configs have it."""
        self._open_host()
        return _library.redtune_host_device(self._host.value).decode(errors="replace")

    def find(self, operator, device=None, lowest=DEFAULT):
        """The graded Answer for an operator (a dict as in operator files), without running anything."""
        op, raw = self._parse(operator), _RawAnswer()
        name = (self.device if device is None else device).encode()
        _check(_library.redtune_find(self._store.value, op.value, name, lowest, ctypes.byref(raw)))
        return _answer(raw)

    def run(self, array, op, axes=None, lowest=EXACT, **fields):
        """Reduces `array`; gives (result, Answer). `fields`: more of the operator, as out="f64", keepdims=True."""
        # Copied only when it has to be: kernels are tuned for dense arrays.
        array = numpy.ascontiguousarray(array) if array.ndim else numpy.asarray(array)
        operator = {"op": op, "shape": list(array.shape), "dtype": _dtype_name(array.dtype), **fields}
        if axes is not None:
            operator["axes"] = list(axes)
        parsed, raw = self._parse(operator), _RawAnswer()
        dtype = _library.redtune_operator_output_dtype(parsed.value).decode()
        if dtype not in DTYPES:
            raise Error(1, f"NumPy has no {dtype}; ask for another 'out'")
        rank = _library.redtune_operator_output_shape(parsed.value, None, 0)
        shape = (ctypes.c_int64 * max(1, rank))()
        _library.redtune_operator_output_shape(parsed.value, shape, rank)
        result = numpy.empty(tuple(shape[:rank]), DTYPES[dtype])
        self._open_host()
        _check(_library.redtune_host_run(self._host.value, self._store.value, parsed.value, lowest,
                                         array.ctypes.data, array.nbytes, result.ctypes.data, result.nbytes,
                                         ctypes.byref(raw)))
        return result, _answer(raw)

    def _open_host(self):
        with self._opening:
            if self._host.value:
                return
            name = None if self._wanted_device is None else self._wanted_device.encode()
            _check(_library.redtune_host_open(name, ctypes.byref(self._host.value)))

    @staticmethod
    def _parse(operator):
        op = _Handle(_library.redtune_operator_free)
        _check(_library.redtune_operator_parse(json.dumps(operator).encode(), ctypes.byref(op.value)))
        return op
