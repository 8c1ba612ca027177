"""Functions of JAX as modules: their program, their arguments as its parameters, and their own results."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable

import numpy as np

from . import _arrays
from ._errors import Error
from ._module import Module, load


@dataclasses.dataclass
class Call:
    """A module with arguments, and the run by JAX, if it is a function of JAX."""

    module: Module
    arguments: list
    original: Callable[[], list] | None = None
    record: Callable[[list[int]], dict] | None = None
    """Runs the function, and returns what each of these callbacks returned, if it was called once. `original` is that run, then."""
    assemble: Callable[[Any], Any] = lambda result: result


def call_of(function, arguments, keywords, platform: str | None = None) -> Call:
    """Returns a module with arguments for a module, a text, a path or a function of JAX, lowered for JAX's default platform or another."""
    if isinstance(function, (str, bytes, Module)) or hasattr(function, "__fspath__"):
        if keywords:
            raise TypeError(f"a module takes no keyword arguments: {', '.join(keywords)}")
        return Call(load(function), list(arguments))
    if not callable(function):
        raise TypeError(f"{type(function).__name__} is neither a function nor a module")
    return _lowered(function, arguments, keywords, platform)


def lowered(function, arguments, keywords, platform: str | None = None):
    """Returns what JAX lowers a function to, for arguments, and for its default platform or another."""
    try:
        import jax
    except ImportError:
        raise Error("functions need JAX; install it: pip install jax, or pass a module") from None
    function = function if hasattr(function, "lower") else jax.jit(function)
    if platform is None or not hasattr(function, "trace"):
        return function.lower(*arguments, **keywords)
    # JAX registers its platforms then.
    jax.devices()
    return function.trace(*arguments, **keywords).lower(lowering_platforms=(platform,))


def _lowered(function, arguments, keywords, platform) -> Call:
    program = lowered(function, arguments, keywords, platform)
    import jax

    given = jax.tree.structure((arguments, keywords))
    if given != program.in_tree:
        bind = "bind them: jax.jit(functools.partial(f, n=3))"
        raise Error(f"the function has static arguments, or arguments that JAX resolves itself; {bind}")
    leaves = [_array(jax, leaf) for leaf in jax.tree.leaves((arguments, keywords))]
    module = load(program)
    # Ordered effects have a token each, before the arguments.
    tokens = [None for _, shape in module._parameters if shape is None]
    parameters = tokens + [leaf for leaf, is_kept in zip(leaves, _kept(program, len(leaves))) if is_kept]
    if len(parameters) != len(module.parameters):
        help = "pass them as arguments instead of closing over them"
        raise Error(
            f"the program has {len(module.parameters)} parameters for {len(parameters)} arguments: "
            f"JAX added some, such as constants of the function; {help}"
        )

    recorded: list[list] = []

    def original() -> list:
        if recorded:
            return recorded[0]
        # The run of a function that takes its arguments over would destroy the caller's.
        own = jax.tree.map(lambda x: x.copy() if isinstance(x, jax.Array) else x, (arguments, keywords))
        results = program.compile()(*own[0], **own[1])
        return [np.asarray(_array(jax, leaf)) for leaf in jax.tree.leaves(results)]

    def record(numbers: list[int]) -> dict:
        with _watched(program, numbers) as calls:
            recorded.append(original())
        return {number: _arrays.values_of(of[0]) for number, of in calls.items() if len(of) == 1}

    def assemble(result):
        leaves = [leaf for leaf in (result if isinstance(result, tuple) else [result]) if leaf is not None]
        return jax.tree.unflatten(program.out_tree, leaves)

    typed = [_typed(jax, x, shape) for x, (_, shape) in zip(parameters, module._parameters)]
    return Call(module, typed, original, record, assemble)


def _kept(lowered, count: int) -> list[bool]:
    """Returns which arguments are parameters: JAX leaves out those that are not used."""
    kept = getattr(lowered._lowering, "compile_args", {}).get("kept_var_idx")
    return [kept is None or i in kept for i in range(count)]


@contextlib.contextmanager
def _watched(program, numbers: list[int]):
    """Records the arrays that callbacks of a program return while it runs."""
    from ._jax import _Registered

    # Those of the platform `etalon` are in no list.
    lowering = program._lowering
    functions = lowering.compile_args.get("host_callbacks") or _Registered._functions
    before = {number: functions[number] for number in numbers}
    calls: dict[int, list] = {number: [] for number in numbers}

    def watched(number):
        def call(*arguments):
            results = before[number](*arguments)
            # Tokens are none.
            calls[number].append([np.array(x) for x in results if isinstance(x, (np.ndarray, np.generic))])
            return results

        return call

    # What JAX has compiled before calls the functions of then.
    compiled, lowering._executable = getattr(lowering, "_executable", None), None
    for number in before:
        functions[number] = watched(number)
    try:
        yield calls
    finally:
        lowering._executable = compiled
        for number, function in before.items():
            functions[number] = function


def _array(jax, leaf):
    """Returns the numbers of a random key, and anything else as it is."""
    is_key = hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended)
    return jax.random.key_data(leaf) if is_key else leaf


def _typed(jax, leaf, shape):
    """Returns an argument as JAX sees it: without 64 bits, unless they are enabled."""
    from ._arrays import dtype

    array = np.asarray(leaf)
    if not isinstance(shape, tuple):
        return array
    wide = jax.dtypes.canonicalize_dtype(array.dtype) == dtype(shape[0])
    return array.astype(dtype(shape[0]), copy=False) if wide else array
