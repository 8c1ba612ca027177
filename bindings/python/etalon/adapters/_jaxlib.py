"""MLIR as jaxlib has it."""

from __future__ import annotations

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, stablehlo


def context() -> ir.Context:
    """Returns a context with the dialects of the programs that Etalon writes, without threads: a fork would lose them."""
    registry, context = ir.DialectRegistry(), ir.Context()
    context.enable_multithreading(False)
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    context.load_all_available_dialects()
    return context
