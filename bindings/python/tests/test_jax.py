"""Functions of JAX: loading, comparison, lines of the program."""

import functools
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import etalon

jax = pytest.importorskip("jax")
jnp = jax.numpy


def model(x, w):
    h = jnp.tanh(x @ w)
    g = jnp.exp(h) - 1  # the line of the planted error
    return g.sum(), h


def line_of(text):
    lines, start = inspect.getsourcelines(model)
    return start + next(i for i, line in enumerate(lines) if text in line)


@pytest.fixture
def arguments():
    keys = jax.random.split(jax.random.key(0))
    return jax.random.normal(keys[0], (3, 4)), jax.random.normal(keys[1], (4, 5))


def test_a_lowered_function_is_loaded(arguments):
    module = etalon.load(jax.jit(model).lower(*arguments))
    assert module.parameters == [("x", "f32[3,4]"), ("w", "f32[4,5]")] or len(module.parameters) == 2
    total, h = module.run(*arguments)
    assert np.allclose(total, model(*arguments)[0], rtol=1e-5)
    assert h.shape == (3, 5)


def test_the_default_backend_is_right(arguments):
    report = etalon.check(model, *arguments)
    assert report.ok and bool(report), report
    assert report.verdict in ("agrees", "within bound")
    assert report.checked > 5
    assert "0 wrong" in str(report)


def test_a_gradient_with_a_loop_is_checked(arguments):
    def loss(w, x):
        step = lambda c, _: (jnp.tanh(c @ w[:, :4]) + 0.1 * c, c.sum())
        c, sums = jax.lax.scan(step, x, None, length=3)
        return c.sum() + sums.sum()

    x, w = arguments
    report = etalon.check(jax.jit(jax.grad(loss)), w, x)
    assert report.ok, report


def planted(module, arguments):
    """The default backend with a mistake: its exponential is an expm1."""
    wrong = module.print("full").replace(" exponential(", " exponential-minus-one(")
    return etalon.JaxBackend()(etalon.load(wrong), arguments)


def test_a_planted_error_is_found_at_its_line(arguments):
    report = etalon.check(model, *arguments, backend=planted)
    assert not report.ok
    (finding,) = report.findings
    assert finding.opcode == "exponential"
    assert finding.source.file == __file__
    assert finding.source.line == line_of("planted error")
    assert finding.source.function == "model"
    assert finding.context == "alone"
    assert "g = jnp.exp(h) - 1" in finding.text and "^ exp: found" in finding.text, finding.text
    # The finding is a program of its own.
    right = finding.module.run(*finding.arguments)
    wrong = planted(finding.module, finding.arguments)
    assert not np.allclose(right[0], wrong[0])
    assert finding.test.count("// in:") == 1 and "// out:" in finding.test


def test_an_error_in_a_loop_is_found_at_its_line():
    def loop(x):
        return jax.lax.fori_loop(0, 4, lambda _, c: jnp.exp(c * 0.1), x)

    report = etalon.check(loop, jnp.ones(3), backend=planted)
    (finding,) = report.findings
    assert "while" in finding.path and "round 1" in finding.path, finding.path
    assert finding.source.line == inspect.getsourcelines(loop)[1] + 1


def test_a_backend_that_fails_is_reported(arguments):
    def failing(module, arguments):
        if " tanh(" in module.text:
            raise ValueError("no tanh today")
        return etalon.JaxBackend()(module, arguments)

    report = etalon.check(model, *arguments, backend=failing)
    assert not report.ok
    assert any(f.opcode == "tanh" and "no tanh today" in f.found for f in report.findings), report

    def unsupported(module, arguments):
        raise NotImplementedError("nothing")

    report = etalon.check(model, *arguments, backend=unsupported)
    assert report.verdict == "unsupported" and not report.findings


def test_wrong_results_of_a_backend_are_reported(arguments):
    report = etalon.check(model, *arguments, backend=lambda module, arguments: [])
    assert not report.ok and "returned 0 arrays" in str(report)
    report = etalon.check(model, *arguments, backend=lambda module, arguments: [object()])
    assert not report.ok


def test_engines_are_backends(arguments):
    assert etalon.check(model, *arguments, backend="fast").ok
    with pytest.raises(Exception, match="nowhere"):
        etalon.check(model, *arguments, backend="nowhere")


def test_arguments_of_functions(arguments):
    x, _ = arguments
    unused = jax.jit(lambda x, y, *, scale: x * scale)
    assert etalon.check(unused, x, 3.0, scale=2.0).ok
    static = jax.jit(lambda x, n: x * n, static_argnums=1)
    with pytest.raises(etalon.Error, match="static arguments"):
        etalon.check(static, x, 3)
    assert etalon.check(jax.jit(functools.partial(lambda n, x: x * n, 3)), x).ok
    assert etalon.check(lambda key: jax.random.normal(key, (4,)), jax.random.key(1)).ok
    assert etalon.check(lambda t: {"a": t["a"] + t["b"][0]}, {"a": x, "b": (x, 1)}).ok


def test_a_trace_has_lines(arguments):
    trace = etalon.trace(model, *arguments)
    total, h = trace.result
    assert h.shape == (3, 5)
    exp = next(event for event in trace.events if event.opcode == "exponential")
    assert exp.source.line == line_of("planted error")


def test_nan_has_a_line():
    def bad(x):
        return jnp.sqrt(x) + jnp.log(x)

    found = etalon.check_nan(bad, jnp.array([1.0, 0.0, -1.0]))
    assert {f.source.line for f in found} == {inspect.getsourcelines(bad)[1] + 1}
    assert any("`sqrt` computes NaN" in f.message for f in found), found
    assert "return jnp.sqrt(x) + jnp.log(x)" in found[0].text


def test_types_of_64_bits_and_narrow_ones():
    with jax.enable_x64(True):
        assert etalon.check(lambda x: jnp.sin(x) * 2, np.linspace(0, 1, 5)).ok
    for dtype in (jnp.bfloat16, jnp.float8_e4m3fn, jnp.int4):
        x = jnp.arange(4).astype(dtype)
        report = etalon.check(lambda x: (x.astype(jnp.float32) * 2).astype(x.dtype), x)
        assert report.ok, report


def test_jax_is_not_needed():
    script = """
import sys
sys.modules["jax"] = None
import etalon
assert etalon.load("ENTRY e { ROOT c = s32[] constant(7) }").run() == 7
try:
    etalon.check(lambda x: x, 1)
except etalon.Error as error:
    assert "install it: pip install jax" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


ON_DEVICES = """
import jax, jax.numpy as jnp
x = jnp.arange(4.0)
assert jax.jit(lambda x: x)(x).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
mesh = jax.make_mesh((2,), ("a",))
replicated = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
x = jax.device_put(x, replicated)
compiled = jax.jit(lambda x: x * 2).lower(x).compile()
assert compiled.output_shardings.is_fully_replicated, compiled.output_shardings
assert compiled(x).tolist() == [0, 2, 4, 6]
try:
    jax.jit(lambda x: x, compiler_options={"speed": "high"})(x)
except jax.errors.JaxRuntimeError as error:
    assert "No such compile option: 'speed'" in str(error), error
else:
    raise AssertionError("an unknown option is accepted")
"""


# Regions without arguments in each other, over some of the axes: each device has its own numbers.
NESTED = """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P
jax.set_mesh(jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(AxisType.Auto,) * 3))
index = jax.lax.axis_index
def manual(axis, f, *x):
    specs = (P(axis),) * len(x)
    return jax.shard_map(f, in_specs=specs, out_specs=P(axis), axis_names={axis}, check_vma=False)(*x)
def inner():
    return (100 * index("a") + 10 * index("b") + index("c"))[None]
def middle():
    return manual("c", inner)[None]
def outer():
    return manual("b", middle)[None]
numbers = [[[0, 1], [10, 11]], [[100, 101], [110, 111]]]
assert jax.jit(lambda: manual("a", outer))().tolist() == numbers
def sums(x):
    y = manual("b", lambda x: x + jax.lax.psum(index("a") + 10 * index("b"), "a"), x)
    return y + 100 * index("a")
x = jnp.arange(4)
assert jax.jit(lambda x: manual("a", sums, x))(x).tolist() == [1, 22, 103, 124]
"""


DONATED = """
import jax, jax.numpy as jnp, numpy as np
add = jax.jit(lambda x, y: x + y, donate_argnums=0)
y = jnp.ones(5000)
x = y * 2
address = x.unsafe_buffer_pointer()
z = add(x, y)
assert x.is_deleted() and z.unsafe_buffer_pointer() == address and z.tolist() == [3] * 5000
# An array that NumPy holds is copied, not changed.
view = np.asarray(z)
assert add(z, y).tolist() == [4] * 5000 and view.tolist() == [3] * 5000
own = np.full(5000, 2, np.float32)
assert add(jnp.asarray(own), y).tolist() == [3] * 5000 and own.tolist() == [2] * 5000
"""


WHOLE = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.shard_alike import shard_alike
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"))
rows, columns = NamedSharding(mesh, P("x", None)), NamedSharding(mesh, P(None, "y"))
calls = []

@custom_partitioning
def product(a, b):
    return jnp.sin(a) @ b, a.sum()

def partition(*arguments):
    calls.append(arguments)

product.def_partition(partition, sharding_rule="i j, j k -> i k, ")
a, b = np.arange(32, dtype=np.float32).reshape(8, 4), np.ones((4, 8), np.float32)
on_rows = jax.device_put(a, rows)
for out in (None, (columns, None)):
    result, total = jax.jit(product, out_shardings=out)(on_rows, b)
    assert np.allclose(result, np.sin(a) @ b, atol=1e-6) and total == a.sum() and not calls
    assert result.sharding.is_equivalent_to(out[0] if out else rows, 2), result.sharding
# A value that no argument divides is divided as another one.
def alike(x):
    same, y = shard_alike(x, jnp.arange(32.0).reshape(8, 4))
    return same, y * 2
x, y = jax.jit(alike)(on_rows)
assert all(value.sharding.is_equivalent_to(rows, 2) for value in (x, y)), y.sharding
assert np.array_equal(x, a) and np.array_equal(y, a * 2)
"""


@pytest.mark.parametrize("script, devices", [(ON_DEVICES, 2), (NESTED, 8), (DONATED, 1), (WHOLE, 8)])
def test_programs_run_on_the_platform(script, devices):
    variables = dict(os.environ, JAX_PLATFORMS="etalon", ETALON_DEVICE_COUNT=str(devices))
    run = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_waiting_for_a_donated_array_is_an_error():
    device = jax.devices("etalon")[0]
    x = jax.device_put(np.arange(4, dtype=np.float32), device)
    jax.jit(lambda x: x * 2, donate_argnums=0)(x)
    with pytest.raises(RuntimeError):
        jax.device_put(x, device).block_until_ready()


def test_a_wrong_backend_is_an_assertion_that_pytest_shows(arguments):
    from etalon.testing import assert_right

    assert assert_right(model, *arguments).ok
    with pytest.raises(AssertionError, match="the backend computes main/exp") as caught:
        assert_right(model, *arguments, backend=planted)
    assert isinstance(caught.value, etalon.WrongResultError) and not caught.value.report.ok
    assert "jnp.exp(h) - 1" in str(caught.value) and "\n" in str(caught.value)
    assert "main/exp" in caught.value.report._repr_html_()
    etalon.check(model, *arguments).raise_if_wrong()


def test_a_function_is_loaded_with_its_arguments(arguments):
    module = etalon.load(model, *arguments)
    assert [shape for _, shape in module.parameters] == ["f32[3,4]", "f32[4,5]"]
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arguments]
    assert etalon.load(jax.jit(model), *shapes).result == module.result


def test_a_healthy_function_is_no_error(arguments):
    assert str(etalon.check(model, *arguments)).startswith("no error: ")


def test_jax_is_a_backend_of_the_command(arguments):
    result = etalon.conform(model, *arguments, backend="cpu")
    assert result.ok and result.records[0]["verdict"] in ("agrees", "within_bound"), result


def test_callbacks_run_in_traces(capfd):
    def f(x):
        jax.debug.print("x is {}", x)
        y = jax.pure_callback(lambda x: np.asarray(x) - 1, jax.ShapeDtypeStruct((2,), np.float32), x)
        return jnp.log(y)

    x = np.array([1, 2], np.float32)
    trace = etalon.trace(f, x)
    assert trace.result.tolist() == [-np.inf, 0]
    (found,) = etalon.check_nan(f, x)
    assert "`log` computes -inf at [0]" in found.message
    assert capfd.readouterr().out.count("x is [1. 2.]") == 2


def test_prints_are_left_out_of_a_comparison():
    def f(x):
        def body(c, y):
            jax.debug.print("c is {}", c)
            return jnp.sin(c) + y, c

        jax.debug.callback(lambda x: None, x)
        return jax.lax.scan(body, 0.0, x)[0]

    report = etalon.check(f, np.array([1, 2, 3], np.float32))
    assert report.ok and report.checked >= 3, report
    left_out = [path for path, reason in report.not_checked if "callback" in reason]
    assert len(left_out) == 2, report.not_checked


def test_errors_beside_prints_are_found(arguments):
    def f(x, w):
        jax.debug.print("w is {}", w)
        return model(x, w)

    (finding,) = etalon.check(f, *arguments, backend=planted).findings
    assert finding.opcode == "exponential" and finding.source.line == line_of("planted error")


def doubled(x):
    return jax.pure_callback(lambda x: np.asarray(x) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_values_of_callbacks_are_arguments_of_a_comparison(capfd):
    from jax.experimental import io_callback

    counts = iter(range(1, 100))

    def f(x, w):
        count = io_callback(lambda: np.float32(next(counts)), jax.ShapeDtypeStruct((), np.float32), ordered=True)
        jax.debug.print("count is {}", count, ordered=True)
        return model(jax.jit(doubled)(x), w)[0] * count, w

    x, w = np.ones((3, 4), np.float32), np.full((4, 5), 0.1, np.float32)
    f(x, w)
    for number, backend in enumerate((None, "fast", "cpu", planted), 2):
        report = etalon.check(f, x, w, backend=backend)
        assert len(report.not_checked) == 3 and all("callback" in reason for _, reason in report.not_checked), report
        assert [one.opcode for one in report.findings] == (["exponential"] if backend is planted else []), report
        assert report.ok == (backend is not planted) and report.checked > 6, report
        # Each comparison runs the function once.
        assert capfd.readouterr().out.splitlines()[-1] == f"count is {number}.0"


def test_callbacks_that_may_run_more_than_once_are_named():
    report = etalon.check(lambda x: jax.lax.fori_loop(0, 3, lambda _, c: jnp.sin(doubled(c)), x), np.ones(2, np.float32))
    ((path, reason),) = report.not_checked
    assert not report.ok and report.verdict == "no reference", report
    assert path.endswith("/pure_callback") and "may run more than once" in reason and path in str(report), report


def test_ordered_callbacks_run_in_traces(capfd):
    def f(x):
        jax.debug.print("x is {}", x, ordered=True)
        return x + 1

    assert etalon.trace(f, np.float32(1)).result == 2
    assert capfd.readouterr().out.count("x is 1.0") == 1


def test_an_exported_function_is_loaded():
    from jax import export

    sizes = jax.ShapeDtypeStruct(export.symbolic_shape("n, 2"), np.float32)
    exported = export.export(jax.jit(lambda x: x * 2))(sizes)
    with pytest.raises(etalon.UnsupportedError, match=r"state the shape of each argument with `shapes=\[...\]`, in order") as caught:
        etalon.load(exported)
    assert "--" not in caught.value.help
    assert etalon.load(exported, shapes=["f32[1,2]"]).run([[1, 2]]).tolist() == [[2, 4]]
