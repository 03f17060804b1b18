# SPDX-License-Identifier: Apache-2.0
"""What decides on GPUs whether a fusion of several outputs may write over an operand: the hero of each output, which is a
transposition that is done in tiles, a reduction, or the output itself (src/assign/gpu_fusion.cc).

Each program has a value `p` that nothing but one fusion reads, and that fusion two outputs: `p * 2`, which could take
p's place, and one whose hero the name tells. Where that is a tiled transposition of something else, XLA lets nobody
write over p. Programs come in pairs on both sides of a threshold.
"""

import jax.numpy as jnp
from jax import lax

from programs import Program, S, bf16, collection, f16, f32, i8, i32

PROGRAMS, program = collection()


def add(name, fn, *args, donate=()):
    PROGRAMS[name] = lambda: Program(fn, args, donate)


def alone(x):
    """A value that no fusion makes, and that dies where it is read."""
    return lax.sort(x, dimension=-1)


def add_transposition(name, dtype, shape, permutation):
    """The result beside `p * 2`, both read p; and the same one behind the other."""
    result = S([shape[k] for k in permutation], dtype)

    def siblings(x, q):
        p = alone(x)
        return p * 2, p + q.transpose(permutation)

    def chain(x, q):
        double = alone(x) * 2
        return double, double + q.transpose(permutation)

    add(f"{name}_siblings", siblings, result, S(shape, dtype))
    add(f"{name}_chain", chain, result, S(shape, dtype))


# Narrow elements are moved several at a time, if enough of them lie side by side: 20 of 16 bits, 40 of 8, by twos and
# fours. The last dimension is too short to be moved in tiles otherwise.
for name, dtype, shape in (
    ("packed_f16", f16, (64, 16, 4)),
    ("packed_bf16", bf16, (64, 16, 4)),
    ("packed_i8", i8, (64, 16, 4)),
    ("packed_f32_is_wide", f32, (64, 16, 4)),
    ("packed_f16_of_20", f16, (64, 5, 4)),
    ("packed_f16_of_16", f16, (64, 4, 4)),
    ("packed_f16_of_21", f16, (64, 7, 3)),
    ("packed_i8_of_40", i8, (64, 10, 4)),
    ("packed_i8_of_36", i8, (64, 9, 4)),
    ("packed_f16_to_20", f16, (20, 16, 4)),
    ("packed_f16_to_16", f16, (16, 16, 4)),
    ("packed_f16_to_63", f16, (63, 16, 4)),
    ("packed_f16_to_65", f16, (65, 16, 4)),
    ("packed_f16_to_66", f16, (66, 16, 4)),
    ("packed_f16_long", f16, (512, 512, 4)),
):
    add_transposition(name, dtype, shape, (2, 1, 0))

# The last dimension moves: both at least 16, or both at least 8 and 8192 together.
for name, dtype, shape in (
    ("moved_16_16", f32, (16, 16)),
    ("moved_16_15", f32, (16, 15)),
    ("moved_64_64", f32, (64, 64)),
    ("moved_8_1024", f32, (8, 1024)),
    ("moved_8_1023", f32, (8, 1023)),
    ("moved_7_4096", f32, (7, 4096)),
    ("moved_1024_8", f32, (1024, 8)),
    ("moved_f16_17_17", f16, (17, 17)),
    ("moved_i8_64_64", i8, (64, 64)),
):
    add_transposition(name, dtype, shape, (1, 0))
add_transposition("moved_in_batches", f32, (5, 32, 48), (0, 2, 1))
add_transposition("moved_around", f32, (32, 5, 48), (2, 1, 0))
add_transposition("moved_with_ones", f32, (64, 1, 64), (2, 1, 0))
add_transposition("moved_merged", f32, (8, 4, 2, 16), (2, 3, 0, 1))
add_transposition("moved_four", f32, (17, 5, 18, 6), (3, 2, 1, 0))

# It stays: a row of at most 64 bits, and rows of 128 together.
for name, dtype, shape in (
    ("stays_f32_2", f32, (64, 32, 2)),
    ("stays_f32_4", f32, (64, 32, 4)),
    ("stays_f16_2", f16, (64, 32, 2)),
    ("stays_f16_4", f16, (64, 32, 4)),
    ("stays_f16_8", f16, (64, 32, 8)),
    ("stays_i8_8", i8, (64, 32, 8)),
    ("stays_i8_2_of_8", i8, (8, 64, 2)),
    ("stays_i8_2_of_4", i8, (4, 64, 2)),
):
    add_transposition(name, dtype, shape, (1, 0, 2))


# Elements of four bits. XLA makes them wider before it transposes them.
def four_bits(x, q):
    p = alone(x)
    return p * 2, p + q.astype(jnp.int4).T.astype(i8)


add("four_bits_64", four_bits, S((64, 64), i8), S((64, 64), i8))
add("four_bits_96", four_bits, S((96, 96), i8), S((96, 96), i8))

# How far a hero is looked for, and what may stand behind it.
SQUARE = S((64, 64))
CUBE = S((32, 32, 32))


def add_hero(name, outputs, *args):
    add(f"hero_{name}", lambda x, *rest: outputs(alone(x), *rest), *args)


add_hero("behind_elementwise", lambda p, q: (p * 2, jnp.exp(p - jnp.sin(q.T))), SQUARE, SQUARE)
add_hero("behind_reshape", lambda p, q: (p * 2, (p + q.T).reshape(16, 256) * 3), SQUARE, SQUARE)
add_hero("behind_select", lambda p, q: (p * 2, jnp.where(p > 0, p, q.T)), SQUARE, SQUARE)
add_hero("behind_clamp", lambda p, q, r: (p * 2, lax.clamp(q.T, p, r)), SQUARE, SQUARE, SQUARE)
add_hero("behind_convert", lambda p, q: (p * 2, (p + q.T).astype(i32)), SQUARE, SQUARE)
add_hero("behind_broadcast", lambda p, q, v: (p * 2, p + q.T * v), SQUARE, SQUARE, S((64,)))
add_hero("twice_the_same", lambda p, q: (p * 2, (p + q.T) * (q.T - p)), SQUARE, SQUARE)
add_hero("two_in_one", lambda p, q, r: (p * 2, p + q.T + r.T), SQUARE, SQUARE, SQUARE)
add_hero("two_alike", lambda p, q, r: (p * 2, p + q.T, p * r.T), SQUARE, SQUARE, SQUARE)
add_hero("two_others", lambda p, q, r: (p * 2, p + q.transpose(2, 1, 0), p * r.transpose(0, 2, 1)), CUBE, CUBE, CUBE)
add_hero("as_it_is", lambda p, q: (p * 2, q.T, p + q), SQUARE, SQUARE)
add_hero("of_p_itself", lambda p: (p * 2, p.T), SQUARE)
add_hero("with_reduction", lambda p, q: (p * 2, p + q.T, p.sum(1)), SQUARE, SQUARE)
add_hero("with_column_reduction", lambda p, q: (p * 2, p + q.T, p.sum(0)), SQUARE, SQUARE)
add_hero("with_other_shape", lambda p, q: (p * 2, p + q.T, (p * 3).reshape(8, 512)), SQUARE, SQUARE)
add_hero("concatenated", lambda p, q, r: (p * 2, p + jnp.concatenate([q, r])), SQUARE, S((32, 64)), S((32, 64)))
add_hero("concatenated_five",
         lambda p, *parts: (p * 2, p + jnp.concatenate(parts)), S((65, 64)), *[S((13, 64))] * 5)
add_hero("scattered", lambda p, i, u: (p * 2, p.at[i].add(u)), SQUARE, S((7,), i32), S((7, 64)))

# The result twice: the second is a copy, which is fused.
add_hero("copied", lambda p: (lambda y: (y, y))(p * 2 + 1), SQUARE)
add_hero("copied_and_other", lambda p: (lambda y: (y, y, p - 1))(p * 2 + 1), SQUARE)
add_hero("copied_transposition", lambda p, q: (lambda y: (y, y, p * 2))(p + q.T), SQUARE, SQUARE)


# A reduction of p beside `p * 2`: each is read once, if the reduction decides how the loop goes. XLA has limits for that,
# and does not fuse the two beyond them.
def add_reduction(name, shape, axes, behind=lambda r: r):
    add_hero(f"reduced_{name}", lambda p: (p * 2, behind(p.sum(axes))), S(shape))


for columns in (8, 16, 20, 31, 32, 33, 1000):
    add_reduction(f"row_{columns}", (512, columns), 1)
for rows, columns in ((16, 64), (31, 64), (32, 64), (48, 16), (48, 64), (100, 4), (100, 16), (200, 2), (200, 8), (300, 2)):
    add_reduction(f"column_{rows}_{columns}", (rows, columns), 0)
add_reduction("all", (64, 64), (0, 1))
add_reduction("middle", (16, 64, 32), 1)
add_reduction("around", (16, 64, 32), (0, 2))
add_reduction("row_behind", (64, 16384), 1, jnp.exp)
add_reduction("row_long_behind", (64, 16385), 1, jnp.exp)
add_reduction("batch_8_behind", (8, 64, 64), (0, 2), jnp.exp)
add_reduction("batch_9_behind", (9, 64, 64), (0, 2), jnp.exp)
add_reduction("column_behind", (4096, 64), 0, jnp.exp)
add_reduction("column_long_behind", (4097, 64), 0, jnp.exp)
add_hero("reduced_twice", lambda p: (p * 2, p.sum(1), p.max(1)), SQUARE)
add_hero("reduced_both_ways", lambda p: (p * 2, p.sum(1), p.sum(0)), S((64, 128)))
add_hero("reduced_with_part", lambda p: (p * 2, p.sum(1), p[:32] * 3), SQUARE)
