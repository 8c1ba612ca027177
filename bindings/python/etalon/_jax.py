"""Registers Etalon with JAX: the plugin, lowerings, callbacks and functions of the XLA FFI.

JAX calls `initialize` through the entry point `jax_plugins` when it looks for backends.
"""

import collections
import collections.abc
import ctypes
import dataclasses
import importlib.util
import inspect
import itertools
import os
import secrets
import traceback

PLATFORM = "etalon"
TARGET = "etalon_python_callback"

# `PJRT_Buffer_Type`: names of numpy or ml_dtypes by number.
_TYPES = (
    None, "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "bfloat16", "complex64", "complex128",
    "float8_e5m2", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float8_e4m3fnuz",
    "int4", "uint4", "token", "int2", "uint2", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu",
    "float4_e2m1fn", "int1", "uint1", "float6_e2m3fn", "float6_e3m2fn",
)


class _Array(ctypes.Structure):
    data: int | None
    type: int
    rank: int
    dims: ctypes._Pointer
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_uint64,
    ctypes.POINTER(_Array), ctypes.c_size_t,
    ctypes.POINTER(_Array), ctypes.c_size_t,
    ctypes.c_void_p, ctypes.c_size_t,
)


def library_path():
    """Returns the path of the shared library with the plugin."""
    path = os.environ.get("ETALON_JAX_PLUGIN")
    if path:
        return path
    spec = importlib.util.find_spec("etalon._etalon")
    if spec is None or spec.origin is None:
        raise ImportError(
            "the package `etalon` has no extension module; set ETALON_JAX_PLUGIN to the path of the plugin"
        )
    return spec.origin


def initialize():
    """Registers the platform `etalon`. JAX calls it once."""
    from jax._src import xla_bridge

    path = library_path()
    xla_bridge.register_plugin(PLATFORM, priority=_priority(), library_path=path, options=None)
    library = ctypes.CDLL(path)
    _register_lowerings()
    _register_callbacks(library)
    _register_foreign_functions(library)


def _priority():
    # Without JAX_PLATFORMS, programs stay on the CPU, whose priority is 0.
    return -100


class _Lowerings(collections.abc.Mapping):
    """Those lowerings for the CPU that Etalon needs: LAPACK calls, which it knows, and callbacks.

    The others work around what a CPU lacks. It is a view, since JAX registers some lowerings when a module is imported later.
    """

    _names = ("debug_callback", "debug_print", "check", "threefry2x32")

    def __init__(self, of_cpu):
        from jax._src import core
        from jax._src.lax import linalg

        self._of_cpu = of_cpu
        self._linalg = {x for x in vars(linalg).values() if isinstance(x, core.Primitive)}

    def _is_needed(self, primitive):
        return primitive in self._linalg or primitive.name in self._names

    def __getitem__(self, primitive):
        if not self._is_needed(primitive):
            raise KeyError(primitive)
        return self._of_cpu[primitive]

    def __iter__(self):
        return (primitive for primitive in self._of_cpu if self._is_needed(primitive))

    def __len__(self):
        return sum(1 for _ in self)


def _register_lowerings():
    from jax._src.interpreters import mlir

    lowerings = mlir._platform_specific_lowerings
    lowerings[PLATFORM] = collections.ChainMap(lowerings[PLATFORM], _Lowerings(lowerings["cpu"]))
    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)
    _register_whole(mlir)


def _register_whole(mlir):
    """Lowers functions of `custom_partitioning` as they are: programs run on whole arrays, so that none is partitioned.

    On other platforms a partitioner calls back for what each device computes.
    """
    from jax._src import core
    from jax._src.custom_partitioning import custom_partitioning_p

    def whole(*operands, call, **_rules):
        return core.jaxpr_as_fun(call)(*operands)

    lowering = mlir.lower_fun(whole, multiple_results=True)
    mlir.register_lowering(custom_partitioning_p, lowering, platform=PLATFORM)


# Callbacks


class _Registered:
    """A callback with its number. Its function is kept as long as this lives, or a compiled program may call it."""

    # Numbers differ between processes: a cached program never calls the function of another one.
    _numbers = itertools.count(secrets.randbits(62))
    _functions: dict[int, collections.abc.Callable] = {}
    _retired: collections.deque[int] = collections.deque()
    users = None  # the function of the plugin that counts programs

    def __init__(self, function):
        self._sweep()
        self.number = next(self._numbers)
        self._functions[self.number] = function

    def __del__(self):
        # Programs that run may still call it: they run on another thread than this.
        self._retired.append(self.number)

    @classmethod
    def _sweep(cls):
        for _ in range(len(cls._retired)):
            try:
                number = cls._retired.popleft()
            except IndexError:
                return
            if cls.users is not None and cls.users(number) > 0:
                cls._retired.append(number)
            else:
                cls._functions.pop(number, None)


def _view(array):
    """Returns a numpy array in the memory of an operand or result; None for a token."""
    import ml_dtypes
    import numpy as np

    name = _TYPES[array.type]
    if name == "token":
        return None
    dtype = np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name, None) or name)
    shape = tuple(array.dims[i] for i in range(array.rank))
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size == 0:
        return np.zeros(shape, dtype)
    memory = (ctypes.c_uint8 * size).from_address(array.data)
    return np.frombuffer(memory, dtype=np.uint8).view(dtype).reshape(shape)


def _call(number, operands, operand_count, results, result_count, message, capacity):
    import numpy as np

    try:
        function = _Registered._functions.get(number)
        if function is None:
            raise RuntimeError("the Python function of this program does not exist any more")
        arguments = [_view(operands[i]) for i in range(operand_count)]
        # The function may keep its arguments, whose memory is Etalon's.
        arguments = [None if x is None else np.array(x) for x in arguments]
        values = function(*arguments)
        for i in range(result_count):
            place = _view(results[i])
            if place is not None:
                place[...] = np.asarray(values[i])
        return 0
    except BaseException:
        text = traceback.format_exc().encode()[-capacity:]
        ctypes.memmove(message, text, len(text))
        return len(text)


_call_c = _Callback(_call)


def _register_callbacks(library):
    from jax._src import callback

    library.etalon_register_python_callback.argtypes = [_Callback]
    library.etalon_register_python_callback.restype = None
    library.etalon_register_python_callback(_call_c)
    library.etalon_python_callback_users.argtypes = [ctypes.c_uint64]
    library.etalon_python_callback_users.restype = ctypes.c_size_t
    _Registered.users = library.etalon_python_callback_users
    original = callback.emit_python_callback

    def emit_python_callback(ctx, *args, **kwargs):
        if tuple(ctx.module_context.platforms) != (PLATFORM,):
            return original(ctx, *args, **kwargs)
        return _emit(ctx, *args, **kwargs)

    callback.emit_python_callback = emit_python_callback


def _checked(function, result_avals):
    """Returns the function with its results as arrays of the promised shapes."""
    import numpy as np
    from jax._src import dtypes

    canonicalize = getattr(dtypes, "canonicalize_value", None)

    def call(*args):
        values = function(*args)
        if len(values) != len(result_avals):
            raise RuntimeError(
                "Mismatched number of outputs from callback. "
                f"Expected: {len(result_avals)}, Actual: {len(values)}"
            )
        arrays = []
        for i, (value, aval) in enumerate(zip(values, result_avals)):
            array = np.asarray(value)
            if canonicalize is not None:
                array = np.asarray(canonicalize(array))
            else:
                array = array.astype(dtypes.canonicalize_dtype(array.dtype))
            if array.shape != aval.shape:
                raise RuntimeError(
                    f"Incorrect output shape for return value #{i}: "
                    f"Expected: {aval.shape}, Actual: {array.shape}"
                )
            if array.dtype != aval.dtype:
                raise RuntimeError(
                    f"Incorrect output dtype for return value #{i}: "
                    f"Expected: {aval.dtype}, Actual: {array.dtype}"
                )
            arrays.append(array)
        return tuple(arrays)

    return call


def _emit(
    ctx, callback, token, operands, operand_avals, result_avals, *,
    has_side_effect, returns_token=True, partitioned=False, sharding=None,
):
    """Emits the custom call of a callback; returns the results, the token and what keeps the function alive."""
    import numpy as np
    from jax._src import core, ffi
    from jax._src.interpreters import mlir

    del returns_token, partitioned
    function = _checked(callback, result_avals)
    if token:
        inner = function

        def function(_token, *args):
            return (None, *inner(*args))

        operands = [token, *operands]
        ctx = dataclasses.replace(
            ctx,
            avals_in=[core.abstract_token, *ctx.avals_in],
            avals_out=[core.abstract_token, *ctx.avals_out],
        )
        sharding = _with_token(sharding, len(result_avals))
    registered = _Registered(function)
    ctx.module_context.add_keepalive(registered)
    lower = ffi.build_ffi_lowering_function(TARGET, has_side_effect=has_side_effect)
    result = lower(ctx, *operands, index=np.uint64(registered.number))
    if sharding is not None:
        # Before JAX 0.10 the function has no context.
        first = next(iter(inspect.signature(mlir.set_sharding).parameters))
        context = (ctx.module_context,) if first == "ctx" else ()
        mlir.set_sharding(*context, result, sharding)
    results = result.results
    if token:
        token, *results = results
    return results, token, registered


def _with_token(sharding, count):
    """Returns the shardings of `count` results, with one for the token before them. JAX has one also for no result."""
    from jax._src import sharding_impls

    lists = getattr(sharding_impls, "SdyArrayList", None)
    if lists is None or not isinstance(sharding, lists) or not sharding.shardings:
        return sharding
    first = sharding.shardings[0]
    return lists((dataclasses.replace(first, dim_shardings=()), *sharding.shardings[:count]))


# Functions of the XLA FFI


def _register_foreign_functions(library):
    """Hands the functions of `jax.ffi.register_ffi_target(..., platform="etalon")` to the plugin."""
    try:
        from jax._src.lib import xla_client
    except ImportError:
        return
    register = getattr(xla_client, "register_custom_call_handler", None)
    if register is None or not hasattr(library, "etalon_register_ffi_handler"):
        return
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype = ctypes.c_char_p
    get_name.argtypes = [ctypes.py_object]
    library.etalon_register_ffi_handler.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    library.etalon_register_ffi_handler.restype = ctypes.c_int

    def handler(name, function, _platform, api_version=1, _traits=None):
        if api_version != 1:
            raise NotImplementedError(f"{name}: only the typed FFI (api_version=1) is supported on etalon")
        if isinstance(function, dict):
            function = function["execute"]
        name = name if isinstance(name, bytes) else name.encode()
        library.etalon_register_ffi_handler(name, get_pointer(function, get_name(function)))

    register(PLATFORM, handler)
