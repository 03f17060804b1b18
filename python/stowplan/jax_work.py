# SPDX-License-Identifier: Apache-2.0
"""What the operations of a program cost, and what a compiler computes inside of what.

Costs are in flops: those of the arithmetic, and a few for each byte that goes to memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from .jax_program import (
    Operation,
    Program,
    bodies_of,
    bytes_of,
    closed_body,
    elements_of,
    flatten,
    is_value,
)

# Flops that take as long as a byte of memory traffic. Low, as most traffic vanishes in fusions.
_FLOPS_OF_BYTE = 2.0
# How often the body of a loop runs if nobody knows.
_TRIPS = 100


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VIEWS = _words("reshape squeeze expand_dims bitcast_convert_type")
_SPREADS = _words("broadcast_in_dim iota")
_ELEMENTWISE = _words(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp concatenate
    conj convert_element_type copy cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge
    gt imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not
    or pad population_count pow real reduce_precision rem rev round rsqrt select_n
    shift_left shift_right_arithmetic shift_right_logical sign sin sinh slice sqrt square
    stop_gradient sub tan tanh transpose xor random_wrap random_unwrap pvary pcast
    sharding_constraint"""
)
# What may read a small operand for each element of a large result.
SPREADING = (_ELEMENTWISE - {"concatenate", "pad", "slice"}) | {"broadcast_in_dim"}
_REDUCTIONS = _words(
    """reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or argmax argmin cumsum
    cumprod cummax cummin cumlogsumexp"""
)
# Kernels of their own, which read from memory and write to memory.
_KERNELS = _words(
    """dot_general conv_general_dilated scan while cond sort top_k approx_top_k pallas_call
    shard_map fft ragged_dot ragged_dot_general triangular_solve cholesky custom_call
    ffi_call eigh qr lu svd checkpoint remat remat2 jit pjit dynamic_update_slice scatter
    scatter-add scatter_add select_and_scatter_add reduce_window_max reduce_window_sum
    reduce_window"""
)
_RANDOM = _words("threefry2x32 random_bits random_seed random_fold_in random_split")
_COLLECTIVES = _words(
    """psum psum2 psum_invariant pmax pmin ppermute all_gather all_gather_invariant all_to_all
    reduce_scatter pbroadcast psum_scatter"""
)

_CAN_REPEAT, _IS_ABSORBED, _IS_SPREAD, _ABSORBS, _IS_ORDERED = 1, 2, 4, 8, 16


def is_heavy(operation: Operation) -> bool:
    """Whether it is more than a pass over memory."""
    return operation.kind in _KERNELS or operation.kind in _COLLECTIVES


def _bytes(atoms: Sequence[Any]) -> int:
    return sum(bytes_of(atom.aval) for atom in atoms)


def cost_of(equation: Any) -> float:
    """In flops."""
    name = equation.primitive.name
    made = sum(elements_of(v.aval) for v in equation.outvars)
    written = _FLOPS_OF_BYTE * _bytes(equation.outvars)
    params = equation.params
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        return 2.0 * made * int(math.prod(shape[i] for i in contracted)) + written
    if name == "conv_general_dilated":
        kernel = equation.invars[1].aval
        outputs = kernel.shape[params["dimension_numbers"].rhs_spec[0]]
        return 2.0 * made * elements_of(kernel) / max(1, int(outputs)) + written
    if name == "scan":
        return int(params["length"]) * _cost_of_jaxpr(params["jaxpr"])
    if name == "while":
        return _TRIPS * _cost_of_jaxpr(params["body_jaxpr"])
    if name == "cond":
        return max((_cost_of_jaxpr(body) for body in params["branches"]), default=0.0)
    if name == "pallas_call":  # its body runs for each block
        return 50.0 * made + written
    bodies = list(bodies_of(equation))
    if bodies and name not in _REDUCTIONS and not name.startswith(("scatter", "reduce", "custom_")):
        return sum(map(_cost_of_jaxpr, bodies))
    if name in _VIEWS:
        return 0.0
    if name in _RANDOM:
        return 60.0 * made
    if name in ("sort", "top_k"):
        return 50.0 * made + written
    if name in _ELEMENTWISE or name in _SPREADS:
        return made + written
    read = sum(elements_of(v.aval) for v in equation.invars)
    return read + written + _FLOPS_OF_BYTE * _bytes(equation.invars)


def _cost_of_jaxpr(jaxpr: Any) -> float:
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    return sum(cost_of(equation) for equation in inner.eqns)


def flags_of(operation: Operation, program: Program, is_tpu: bool) -> int:
    """What a compiler may do with it, as the core takes it."""
    kind = operation.kind
    flags = 0
    if not operation.is_pure:
        return _IS_ORDERED
    flags |= _CAN_REPEAT
    if operation.run is not None:
        return flags
    if kind in _VIEWS or kind in _SPREADS or kind in _ELEMENTWISE:
        flags |= _IS_ABSORBED | _ABSORBS
    if kind in _REDUCTIONS or (is_tpu and kind in ("dot_general", "conv_general_dilated")):
        flags |= _ABSORBS
    read = sum(bytes_of(program.avals[v]) for v in operation.reads if is_value(v))
    made = sum(bytes_of(program.avals[v]) for v in operation.makes)
    # A compiler for TPUs computes most of what has one large operand again for each reader.
    least = 0.8 * read if is_tpu else 2 * read
    if kind in _VIEWS or (flags & _IS_ABSORBED and made >= least):
        flags |= _IS_SPREAD
    return flags


@dataclass(frozen=True, slots=True)
class Model:
    """How programs are weighed. A compiler for TPUs computes more inside of matrix products."""

    is_tpu: bool = False

    def graph(self, program: Program) -> Any:
        """The program as numbers, in the core."""
        held = {*program.inputs, *program.constants}
        results = sorted({atom for atom in program.results if is_value(atom)})
        returned = set(results)
        sizes = [
            0 if value in held or value in returned else bytes_of(aval)
            for value, aval in enumerate(program.avals)
        ]
        return _core.operation_graph(sizes, results, self.rows(program))

    def rows(self, program: Program) -> list[tuple[float, int, int, list[int], list[int]]]:
        return [
            (
                self.cost(operation),
                self.inner(operation),
                flags_of(operation, program, self.is_tpu),
                sorted({atom for atom in operation.reads if is_value(atom)}),
                list(operation.makes),
            )
            for operation in program.operations
        ]

    def cost(self, operation: Operation) -> float:
        return operation.cost if operation.run is not None else cost_of(operation.equation)

    def inner(self, operation: Operation) -> int:
        """Bytes that an operation needs while it runs, besides what it reads and makes."""
        if operation.run is not None:
            return operation.inner
        if operation.kind not in _KERNELS or operation.kind == "pallas_call":
            return 0
        return max(
            (self.graph(flatten(closed_body(b))).peak() for b in bodies_of(operation.equation)),
            default=0,
        )
