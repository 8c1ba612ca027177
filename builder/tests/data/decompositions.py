"""Writes decompositions.txt: `jax.vjp` in f64 of decompositions of the matrices below, for cotangents whose elements are
sin(1), sin(2), ... in the order of the results. `pip install jax==0.10.2`, then `python decompositions.py >
decompositions.txt`. A line: name, rows, columns, the cotangent of the matrix."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)


def matrix(m, n):
    return jnp.array([[np.cos(1.7 * i * i + 2.3 * j + i * j) for j in range(n)] for i in range(m)])


def eigh(a):
    v, w = lax.linalg.eigh(a, symmetrize_input=True)
    return v * v, w  # The signs of the vectors are free.


def svd(a):
    u, d, vt = jnp.linalg.svd(a, full_matrices=False)
    return u * u, d, (vt * vt).T


FUNCTIONS = [
    ("lu", lambda a: (lax.linalg.lu(a)[0],), [(3, 3), (4, 2), (2, 4)]),
    ("qr", lambda a: lax.linalg.qr(a, full_matrices=False), [(3, 3), (4, 2), (2, 4)]),
    ("qr_full", lambda a: lax.linalg.qr(a, full_matrices=True), [(4, 2), (2, 4)]),
    ("eigh", eigh, [(3, 3)]),
    ("svd", svd, [(3, 3), (4, 2), (2, 4)]),
    ("singular_values", lambda a: (jnp.linalg.svd(a, compute_uv=False),), [(3, 3), (4, 2)]),
    ("det", lambda a: (jnp.linalg.det(a),), [(3, 3)]),
    ("inv", lambda a: (jnp.linalg.inv(a),), [(3, 3)]),
]


def main():
    for name, f, shapes in FUNCTIONS:
        for m, n in shapes:
            results, pull = jax.vjp(f, matrix(m, n))
            count, cotangents = 0, []
            for result in results:
                numbers = np.sin(np.arange(count + 1, count + 1 + result.size, dtype=np.float64))
                cotangents.append(jnp.array(numbers.reshape(result.shape)))
                count += result.size
            cotangent = pull(type(results)(cotangents))[0]
            print(name, m, n, *[float(x) for x in cotangent.ravel()])


main()
