"""Programs of JAX libraries on Etalon, beside JAX on the CPU in the same process.

    pip install etalon-hlo jax numpyro diffrax optimistix lineax equinox blackjax flax optax dm-haiku jaxopt
    python libraries.py [NAME ...] [--engine fast] [--json FILE]

`--plugin target/release/libetalon_pjrt_plugin.so` takes that library, and the Python files beside this one.

Each program runs on both; its results are compared (with the tolerance of f32 sums in any order), and the median time of steady
runs is printed with the ratio. A name selects the programs that contain it.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time

PROGRAMS = {}


def program(function):
    """Adds a program: a function that returns another one and its arguments."""
    PROGRAMS[function.__name__] = function
    return function


def solve(solver, ts=8.0, controller=True):
    """Returns a solution of the Lotka-Volterra equations."""
    import diffrax

    def field(t, y, args):
        import jax.numpy as jnp

        a, b, c, d = args
        return jnp.stack([a * y[0] - b * y[0] * y[1], -c * y[1] + d * y[0] * y[1]])

    def run(y0, args):
        import jax.numpy as jnp

        steps = diffrax.PIDController(rtol=1e-4, atol=1e-5) if controller else diffrax.ConstantStepSize()
        term = diffrax.ODETerm(field)
        at = diffrax.SaveAt(ts=jnp.linspace(0.0, ts, 16))
        return diffrax.diffeqsolve(term, solver, 0.0, ts, 0.1, y0, args=args, saveat=at, stepsize_controller=steps).ys

    return run


def lotka():
    import jax.numpy as jnp

    return jnp.array([1.0, 0.8]), jnp.array([1.1, 0.4, 0.4, 0.1])


@program
def diffrax_tsit5():
    import diffrax

    return solve(diffrax.Tsit5()), lotka()


@program
def diffrax_gradient_of_dopri5():
    import diffrax
    import jax

    run = solve(diffrax.Dopri5())
    return jax.grad(lambda y, a: (run(y, a) ** 2).sum(), argnums=1), lotka()


@program
def diffrax_256_systems():
    import diffrax
    import jax
    import jax.numpy as jnp

    y, a = lotka()
    return jax.vmap(solve(diffrax.Tsit5()), in_axes=(0, None)), (y * jnp.linspace(0.5, 1.5, 256)[:, None], a)


@program
def diffrax_kvaerno5():
    import diffrax

    return solve(diffrax.Kvaerno5()), lotka()


@program
def diffrax_euler_with_noise():
    import diffrax
    import jax
    import jax.numpy as jnp

    def run(y0, key):
        path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(), key=key)
        terms = diffrax.MultiTerm(
            diffrax.ODETerm(lambda t, y, a: -y), diffrax.ControlTerm(lambda t, y, a: 0.1 * y, path)
        )
        at = diffrax.SaveAt(ts=jnp.linspace(0.0, 1.0, 9))
        return diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.025, y0, saveat=at).ys

    return run, (jnp.float32(1.0), jax.random.key(3))


@program
def diffrax_interpolation():
    import diffrax
    import jax
    import jax.numpy as jnp

    ts = jnp.linspace(0.0, 1.0, 64)

    def run(ys, at):
        coefficients = diffrax.backward_hermite_coefficients(ts, ys)
        return jax.vmap(diffrax.CubicInterpolation(ts, coefficients).evaluate)(at)

    return run, (jnp.sin(9 * ts)[:, None] * jnp.ones(4), jnp.linspace(0.0, 1.0, 200))


@program
def diffrax_step_of_a_neural_ode():
    import diffrax
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    net = eqx.nn.MLP(2, 2, 64, 2, activation=jax.nn.softplus, key=jax.random.key(0))
    params, static = eqx.partition(net, eqx.is_array)
    optimizer = optax.adam(3e-3)
    ts = jnp.linspace(0.0, 1.0, 10)

    def predict(params, y0):
        model = eqx.combine(params, static)
        term = diffrax.ODETerm(lambda t, y, a: model(y))
        at = diffrax.SaveAt(ts=ts)
        control = diffrax.PIDController(rtol=1e-3, atol=1e-6)
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.1, y0, saveat=at, stepsize_controller=control).ys

    def loss(params, ys):
        return ((jax.vmap(predict, (None, 0))(params, ys[:, 0]) - ys) ** 2).mean()

    def step(params, state, ys):
        value, grads = jax.value_and_grad(loss)(params, ys)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    ys = jnp.sin(ts[None, :, None] * 3 + jnp.linspace(0, 2, 32)[:, None, None] + jnp.array([0.0, 1.0]))
    return step, (params, optimizer.init(params), ys)


@program
def optimistix_newton():
    import jax.numpy as jnp
    import optimistix as optx

    solver = optx.Newton(rtol=1e-5, atol=1e-5)

    def run(y0, a):
        f = lambda y, args: jnp.tanh(args @ y) + 2 * y - 1.0
        return optx.root_find(f, solver, y0, args=a).value

    return run, (jnp.zeros(8), jnp.cos(jnp.arange(64.0)).reshape(8, 8))


@program
def optimistix_levenberg_marquardt():
    import jax.numpy as jnp
    import optimistix as optx

    solver = optx.LevenbergMarquardt(rtol=1e-5, atol=1e-5)
    xs = jnp.linspace(0.0, 1.0, 50)

    def run(y0, ys):
        f = lambda p, args: p[0] * jnp.exp(-p[1] * xs) + p[2] - args
        return optx.least_squares(f, solver, y0, args=ys).value

    return run, (jnp.array([1.0, 1.0, 0.0]), 2 * jnp.exp(-3 * xs) + 0.5)


@program
def lineax_cg():
    import jax.numpy as jnp
    import lineax as lx

    m = jnp.cos(jnp.arange(400.0) * 1.7).reshape(20, 20)
    a = m @ m.T + 20 * jnp.eye(20)

    def run(a, b):
        operator = lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)
        return lx.linear_solve(operator, b, lx.CG(rtol=1e-5, atol=1e-5)).value

    return run, (a, jnp.arange(20.0))


def regression(optimizer, steps=20):
    import jax
    import jax.numpy as jnp
    import optax

    x = jnp.cos(jnp.arange(64 * 32.0)).reshape(64, 32)
    y = jnp.sin(x.sum(1, keepdims=True))

    def loss(p):
        hidden = jnp.tanh(x @ p["a"] + p["c"])
        return ((hidden @ p["b"] - y) ** 2).mean()

    def run(p):
        def step(carry, _):
            p, state = carry
            value, grads = jax.value_and_grad(loss)(p)
            updates, state = optimizer.update(grads, state, p)
            return (optax.apply_updates(p, updates), state), value

        (p, _), values = jax.lax.scan(step, (p, optimizer.init(p)), None, length=steps)
        return p, values

    p = {
        "a": 0.1 * jnp.sin(jnp.arange(32 * 64.0)).reshape(32, 64),
        "b": 0.1 * jnp.cos(jnp.arange(64.0)).reshape(64, 1),
        "c": jnp.zeros(64),
    }
    return run, (p,)


@program
def optax_adam():
    import optax

    return regression(optax.adam(1e-2))


@program
def optax_sgd_nesterov():
    import optax

    return regression(optax.sgd(1e-2, momentum=0.9, nesterov=True))


@program
def optax_lion():
    import optax

    return regression(optax.lion(1e-3))


@program
def optax_adafactor():
    import optax

    return regression(optax.adafactor(1e-2))


def applied(model, x, gradient):
    """Returns a flax model on `x`, or the gradient of the mean of its squares by the parameters."""
    import jax

    variables = model.init(jax.random.key(0), x)
    if gradient:
        return jax.grad(lambda v, x: (model.apply(v, x) ** 2).mean()), (variables, x)
    return model.apply, (variables, x)


def flax_lstm(gradient):
    import flax.linen as nn
    import jax.numpy as jnp

    model = nn.RNN(nn.OptimizedLSTMCell(128))
    x = jnp.cos(jnp.arange(8 * 50 * 64.0)).reshape(8, 50, 64)
    return applied(model, x, gradient)


@program
def flax_lstm_forward():
    return flax_lstm(False)


@program
def flax_lstm_gradient():
    return flax_lstm(True)


def transformer(gradient):
    import flax.linen as nn
    import jax.numpy as jnp

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(h, h)
            h = nn.LayerNorm()(x)
            return x + nn.Dense(128)(nn.gelu(nn.Dense(512)(h)))

    x = jnp.cos(jnp.arange(2 * 64 * 128.0)).reshape(2, 64, 128)
    model = Block()
    return applied(model, x, gradient)


@program
def flax_transformer_block():
    return transformer(False)


@program
def flax_transformer_block_gradient():
    return transformer(True)


@program
def flax_batch_norm_gradient():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp

    model = nn.BatchNorm(use_running_average=False)
    x = jnp.cos(jnp.arange(32 * 16 * 16 * 8.0)).reshape(32, 16, 16, 8)
    variables = model.init(jax.random.key(0), x)

    def loss(p, x):
        out, _ = model.apply({"params": p, "batch_stats": variables["batch_stats"]}, x, mutable=["batch_stats"])
        return (out**3).mean()

    return jax.grad(loss), (variables["params"], x)


@program
def flax_convolutions():
    import flax.linen as nn
    import jax.numpy as jnp

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for features in (16, 32):
                x = nn.relu(nn.Conv(features, (3, 3))(x))
                x = nn.max_pool(x, (2, 2), (2, 2))
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    model = Net()
    x = jnp.cos(jnp.arange(16 * 28 * 28.0)).reshape(16, 28, 28, 1)
    return applied(model, x, True)


@program
def equinox_gru_gradient():
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    cell = eqx.nn.GRUCell(16, 64, key=jax.random.key(0))
    params, static = eqx.partition(cell, eqx.is_array)

    def loss(params, xs):
        cell = eqx.combine(params, static)

        def one(x):
            return jax.lax.scan(lambda h, v: (cell(v, h), None), jnp.zeros(64), x)[0]

        return (jax.vmap(one)(xs) ** 2).mean()

    return jax.grad(loss), (params, jnp.cos(jnp.arange(32 * 40 * 16.0)).reshape(32, 40, 16))


@program
def equinox_step_of_an_mlp():
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    net = eqx.nn.MLP(8, 1, 32, 2, key=jax.random.key(0))
    params, static = eqx.partition(net, eqx.is_array)
    optimizer = optax.adamw(1e-3)

    def step(params, state, x, y):
        def loss(params):
            return ((jax.vmap(eqx.combine(params, static))(x) - y) ** 2).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    x = jnp.cos(jnp.arange(64 * 8.0)).reshape(64, 8)
    return step, (params, optimizer.init(params), x, jnp.sin(x.sum(1, keepdims=True)))


@program
def haiku_lstm_gradient():
    import haiku as hk
    import jax
    import jax.numpy as jnp

    def forward(x):
        core = hk.LSTM(64)
        out, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
        return (out**2).mean()

    model = hk.without_apply_rng(hk.transform(forward))
    x = jnp.cos(jnp.arange(40 * 8 * 32.0)).reshape(40, 8, 32)
    params = model.init(jax.random.key(0), x)
    return jax.grad(model.apply), (params, x)


def density(x):
    import jax.numpy as jnp

    return -0.5 * jnp.sum(x**2) - jnp.sum(jnp.log1p(jnp.exp(x))) + jnp.sum(x[1:] * x[:-1]) * 0.1


@program
def blackjax_nuts():
    import blackjax
    import jax
    import jax.numpy as jnp

    kernel = blackjax.nuts(density, 0.3, jnp.ones(6))

    def run(key, x):
        step = lambda state, key: (kernel.step(key, state)[0],) * 2
        return jax.lax.scan(step, kernel.init(x), jax.random.split(key, 30))[1].position.mean(0)

    return run, (jax.random.key(1), jnp.zeros(6))


@program
def blackjax_hmc_64_chains():
    import blackjax
    import jax
    import jax.numpy as jnp

    kernel = blackjax.hmc(density, 0.2, jnp.ones(6), 8)

    def one(key, x):
        step = lambda state, key: (kernel.step(key, state)[0], None)
        return jax.lax.scan(step, kernel.init(x), jax.random.split(key, 5))[0].position

    return jax.vmap(one), (jax.random.split(jax.random.key(1), 64), jnp.zeros((64, 6)))


def schools(groups, y=None):
    import numpyro
    import numpyro.distributions as dist

    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("groups", 8):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
    with numpyro.plate("data", 200):
        numpyro.sample("y", dist.Normal(theta[groups], 1.0), obs=y)


def schools_data():
    import jax.numpy as jnp

    return jnp.arange(200) % 8, jnp.sin(jnp.arange(200.0))


@program
def numpyro_log_density():
    import jax
    import jax.numpy as jnp
    from numpyro.infer.util import potential_energy

    groups, y = schools_data()
    params = {"mu": jnp.float32(0.3), "tau": jnp.float32(0.1), "theta": jnp.linspace(-1, 1, 8)}

    def run(params, groups, y):
        return jax.value_and_grad(lambda p: potential_energy(schools, (groups,), {"y": y}, p))(params)

    return run, (params, groups, y)


@program
def numpyro_nuts():
    import jax
    import jax.numpy as jnp
    from numpyro.infer.hmc import hmc
    from numpyro.infer.util import potential_energy

    groups, y = schools_data()
    potential = lambda p: potential_energy(schools, (groups,), {"y": y}, p)
    params = {"mu": jnp.float32(0.3), "tau": jnp.float32(0.1), "theta": jnp.linspace(-1, 1, 8)}

    def run(key, params):
        init, sample = hmc(potential, algo="NUTS")
        state = init(params, num_warmup=0, step_size=0.1, adapt_step_size=False, rng_key=key)
        state, _ = jax.lax.scan(lambda s, _: (sample(s), None), state, None, length=10)
        return state.potential_energy

    return run, (jax.random.key(2), params)


@program
def loss_of_ppo():
    import jax
    import jax.numpy as jnp

    def net(p, x):
        h = jnp.tanh(x @ p["a"])
        return jax.nn.log_softmax(h @ p["pi"]), (h @ p["v"])[..., 0]

    def loss(p, x, actions, rewards, old):
        logits, values = net(p, x)

        def back(carry, step):
            reward, value, following = step
            delta = reward + 0.99 * following - value
            carry = delta + 0.99 * 0.95 * carry
            return carry, carry

        following = jnp.concatenate([values[1:], values[-1:]])
        _, gae = jax.lax.scan(back, jnp.zeros(values.shape[1]), (rewards, values, following), reverse=True)
        gae = jax.lax.stop_gradient(gae)
        ratio = jnp.exp(jnp.take_along_axis(logits, actions[..., None], -1)[..., 0] - old)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        entropy = -(jnp.exp(logits) * logits).sum(-1).mean()
        return -jnp.minimum(ratio * gae, clipped * gae).mean() + 0.5 * ((values - gae) ** 2).mean() - 0.01 * entropy

    t, n = 128, 16
    x = jnp.cos(jnp.arange(t * n * 8.0)).reshape(t, n, 8)
    p = {
        "a": 0.3 * jnp.sin(jnp.arange(8 * 64.0)).reshape(8, 64),
        "pi": 0.1 * jnp.cos(jnp.arange(64 * 4.0)).reshape(64, 4),
        "v": 0.1 * jnp.cos(jnp.arange(64.0)).reshape(64, 1),
    }
    actions = jnp.arange(t * n).reshape(t, n) % 4
    return jax.grad(loss), (p, x, actions, jnp.sin(jnp.arange(t * n * 1.0)).reshape(t, n), -jnp.ones((t, n)))


@program
def marginal_likelihood_of_a_gaussian_process():
    import jax
    import jax.numpy as jnp

    def loss(p, x, y):
        scale, noise = jnp.exp(p["scale"]), jnp.exp(p["noise"])
        k = jnp.exp(-0.5 * (x[:, None] - x[None]) ** 2 / scale**2) + (noise + 1e-3) * jnp.eye(len(x))
        c = jnp.linalg.cholesky(k)
        a = jax.scipy.linalg.solve_triangular(c, y, lower=True)
        return 0.5 * (a**2).sum() + jnp.log(jnp.diag(c)).sum()

    x = jnp.linspace(0, 1, 64)
    return jax.value_and_grad(loss), ({"scale": jnp.float32(-1.0), "noise": jnp.float32(-2.0)}, x, jnp.sin(6 * x))


@program
def jaxopt_lbfgs():
    import jax.numpy as jnp
    import jaxopt

    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def run(x):
        return jaxopt.LBFGS(rosenbrock, maxiter=20, implicit_diff=False, jit=True).run(x).state.value

    return run, (jnp.zeros(10),)


def seconds(compiled, args, least):
    """Returns the median time of a run, of about `least` seconds of runs."""
    import jax

    times = []
    end = time.perf_counter() + least
    while time.perf_counter() < end or len(times) < 10:
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*args))
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def first(function, args, device):
    """Returns the compiled function, the arguments on the device, the first result and its time."""
    import jax

    args = jax.device_put(args, device)
    begin = time.perf_counter()
    with jax.default_device(device):
        compiled = jax.jit(function)
        result = jax.block_until_ready(compiled(*args))
    return compiled, args, result, time.perf_counter() - begin


def differs(a, b):
    """Returns whether two results differ by more than sums in another order may."""
    import jax
    import numpy as np

    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        x, y = np.asarray(x), np.asarray(y)
        close = np.allclose(x, y, rtol=2e-3, atol=2e-3 * max(1e-3, float(np.abs(y).max(initial=0))), equal_nan=True)
        if not close:
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of programs")
    parser.add_argument("--plugin", help="the PJRT plugin, by default that of the installed package")
    parser.add_argument("--engine", default="fast", help="`fast` (default) or `exact`")
    parser.add_argument("--seconds", type=float, default=0.4, help="how long each program runs on each platform")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    os.environ["JAX_PLATFORMS"] = "cpu,etalon"
    os.environ["ETALON_ENGINE"] = options.engine
    if options.plugin:
        os.environ["ETALON_JAX_PLUGIN"] = os.path.abspath(options.plugin)
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import jax

    if options.plugin:
        from etalon import _jax

        _jax.initialize()

    cpu, etalon = jax.devices("cpu")[0], jax.devices("etalon")[0]
    figures = {}
    for name, make in PROGRAMS.items():
        if options.names and not any(part in name for part in options.names):
            continue
        try:
            function, args = make()
            on_cpu, cpu_args, expected, cpu_first = first(function, args, cpu)
            on_etalon, etalon_args, found, etalon_first = first(function, args, etalon)
            times = [[], []]
            for _ in range(3):
                times[0].append(seconds(on_cpu, cpu_args, options.seconds / 3))
                times[1].append(seconds(on_etalon, etalon_args, options.seconds / 3))
            a, b = min(times[0]), min(times[1])
        except Exception as error:  # noqa: BLE001 - a program that fails is a row
            print(f"{name:45} failed: {type(error).__name__}: {str(error)[:150]}", flush=True)
            continue
        figures[name] = {"cpu": a, "etalon": b, "cpu_first": cpu_first, "etalon_first": etalon_first}
        note = "  DIFFERS" if differs(found, expected) else ""
        print(
            f"{name:45} {a * 1e3:8.3f} {b * 1e3:8.3f} ms  {b / a:5.2f}   first {cpu_first:5.2f} {etalon_first:5.2f} s{note}",
            flush=True,
        )
    if figures:
        logs = [math.log(row["etalon"] / row["cpu"]) for row in figures.values()]
        above = sum(log > math.log(1.5) for log in logs)
        print(f"{len(figures)} programs: geometric mean {math.exp(sum(logs) / len(logs)):.2f}, {above} above 1.5")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
