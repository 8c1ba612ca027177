"""Writes derivatives.txt: derivatives of JAX in f64, at points that f32 holds. `pip install jax==0.10.2`, then
`python derivatives.py > derivatives.txt`. A line: function, points, value, derivative by each argument (`-` where JAX has
none)."""
import itertools
import jax
import jax.numpy as jnp
import jax.scipy.special as s
from jax import lax, nn

jax.config.update("jax_enable_x64", True)
INF = float("inf")
REAL = [-INF, -100.5, -20.5, -8.0, -3.0, -2.5, -2.0, -1.5, -1.0, -0.75, -0.5, -(2.0**-60), -0.0, 0.0, 2.0**-60, 0.25, 0.5,
        0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 8.5, 20.5, 100.0, 2.0**33, INF]
UNIT = [-1.0, -1 + 2.0**-24, -0.75, -0.5, -0.0, 0.0, 2.0**-60, 0.25, 0.5, 0.75, 0.9375, 1 - 2.0**-24, 1.0]
SHAPE = [0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 30.0, 100.5]
PLACE = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 8.0, 30.0, 100.0]
FUNCTIONS = {
    # Of large numbers JAX's derivative is a difference of nearly equal ones.
    "bessel_i0e": (lax.bessel_i0e, [[x for x in REAL if abs(x) != 2.0**33]]),
    "bessel_i1e": (lax.bessel_i1e, [[x for x in REAL if abs(x) != 2.0**33]]),
    # The derivative is JAX's polygamma, which is wrong below -16.
    "digamma": (lax.digamma, [[x for x in REAL if x > -16]]),
    "erf": (lax.erf, [REAL]),
    "erf_inv": (lax.erf_inv, [UNIT]),
    "erfc": (lax.erfc, [REAL]),
    "lgamma": (lax.lgamma, [REAL]),
    "igamma": (lax.igamma, [SHAPE, PLACE]),
    "igammac": (lax.igammac, [SHAPE, PLACE]),
    "polygamma": (lax.polygamma, [[1.0, 2.0, 3.0], [-2.5, -1.5, -0.5, 0.25, 0.5, 1.0, 2.0, 8.5, 100.0]]),
    "regularized_incomplete_beta": (lax.betainc, [[0.5, 1.0, 2.5], [0.5, 1.0, 3.0], [0.0, 0.25, 0.5, 0.75, 1.0]]),
    "zeta": (s.zeta, [[1.5, 2.0, 2.5, 3.0, 8.0, 20.0], [0.25, 0.5, 1.0, 1.5, 2.0, 8.0, 100.0]]),
    "atan": (jnp.arctan, [REAL]),
    "reciprocal": (jnp.reciprocal, [REAL]),
    "square": (jnp.square, [REAL]),
    "elu": (nn.elu, [REAL]),
    "gelu": (lambda x: nn.gelu(x, approximate=False), [REAL]),
    "gelu_tanh": (nn.gelu, [REAL]),
    "hard_sigmoid": (nn.hard_sigmoid, [REAL]),
    "hard_swish": (nn.hard_swish, [REAL]),
    "leaky_relu": (nn.leaky_relu, [REAL]),
    "log_sigmoid": (nn.log_sigmoid, [REAL]),
    "mish": (nn.mish, [REAL]),
    "relu": (nn.relu, [REAL]),
    "relu6": (nn.relu6, [REAL]),
    "selu": (nn.selu, [REAL]),
    "sigmoid": (nn.sigmoid, [REAL]),
    "silu": (nn.silu, [REAL]),
    "soft_sign": (nn.soft_sign, [REAL]),
    "softplus": (nn.softplus, [REAL]),
}


def main():
    for name, (f, points) in FUNCTIONS.items():
        for x in itertools.product(*points):
            x = [jnp.float64(v) for v in x]
            slopes = []
            for i in range(len(x)):
                try:
                    slopes.append(float(jax.grad(f, i)(*x)))
                except ValueError:
                    slopes.append("-")
            print(name, *[float(v) for v in x], float(f(*x)), *slopes)


main()
