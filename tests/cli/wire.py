# SPDX-License-Identifier: Apache-2.0
"""The wire format of protocol buffers, as far as a module needs it."""



def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return n, at


def fields(data):
    """(number, value, the field's bytes) of a message; values are numbers or bytes."""
    at = 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            width = 8 if key & 7 == 1 else 4
            value, at = data[at:at + width], at + width
        yield key >> 3, value, data[begin:at]


def without(data, number):
    return b"".join(raw for n, _, raw in fields(data) if n != number)


def change(data, number, how):
    """The message with how(value) in place of each of these fields; None drops it."""
    out = b""
    for n, value, raw in fields(data):
        if n != number:
            out += raw
        elif (new := how(value)) is not None:
            out += field(n, new)
    return out


SHAPE = field(2, 11) + field(3, 4) + field(5, field(1, 0))  # f32[4]{0}


def instruction(name, opcode, number, operands=(), called=(), parameter=None):
    out = field(1, name) + field(2, opcode) + field(3, SHAPE) + field(35, number)
    out += b"".join(field(36, o) for o in operands) + b"".join(field(38, c) for c in called)
    return out + (field(9, parameter) if parameter is not None else b"")


def module(computations, schedule):
    """computations: {id: (name, [(instruction id, bytes)])}; the last one is the entry."""
    out = field(1, "m")
    for number, (name, instructions) in computations.items():
        body = b"".join(field(2, row) for _, row in instructions)
        out += field(3, field(1, name) + body + field(5, number) + field(6, instructions[-1][0]))
    entry = list(computations)[-1]
    out += field(2, computations[entry][0]) + field(6, entry)
    rows = b"".join(field(1, field(1, c) + field(2, b"".join(field(1, i) for i in order)))
                    for c, order in schedule.items())
    return field(1, out + field(7, rows))
