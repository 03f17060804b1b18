# SPDX-License-Identifier: Apache-2.0
"""What the order of a program's instructions costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .sizes import format_size

if TYPE_CHECKING:
    from .jax_inputs import Recompile

# Options of XLA that change the order of instructions, by target.
FLAGS = {"cpu": ({"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},)}


@dataclass(frozen=True, slots=True)
class Recompiled:
    """What the compiler itself says of the program with other options."""

    options: dict[str, str]  # compiler_options of jax.stages.Lowered.compile
    before: dict[str, int] | None  # the fields of memory_analysis(); None: it has none
    after: dict[str, int] | None  # None: it was not compiled
    error: str | None = None  # why not

    @property
    def saved(self) -> int | None:
        """The bytes of temporaries that these options save; negative: they cost more."""
        if self.before is None or self.after is None:
            return None
        return self.before["temp_size_in_bytes"] - self.after["temp_size_in_bytes"]

    def __str__(self) -> str:
        what = f"compiled with {self.options}: "
        if self.error is not None:
            return what + self.error.splitlines()[0]
        if self.before is None or self.after is None:
            return what + "memory_analysis() is not known"
        before, after = (x["temp_size_in_bytes"] for x in (self.before, self.after))
        return f"{what}temporaries take {format_size(after)} instead of {format_size(before)}"


def tried_flags(
    recompile: Recompile, target: str | None, before: dict[str, int] | None
) -> tuple[Recompiled, ...]:
    """Compiles with each of the options that there are for this target."""
    from .jax_inputs import memory_figures

    tried = []
    for options in FLAGS.get(target or "", ()):
        try:
            after = memory_figures(recompile(dict(options)))
            tried.append(Recompiled(dict(options), before, after))
        except Exception as error:  # XlaRuntimeError: older releases do not have the option
            tried.append(Recompiled(dict(options), before, None, str(error)))
    return tuple(tried)


@dataclass(frozen=True, slots=True)
class Order:
    """The best order that was found, against the program's own. Prints as the page of
    `stowplan order`.

    A load is what is in use at once: temporaries, the result, and arguments that are overwritten.
    """

    given_bytes: int  # main memory, planned in the program's own order
    bytes: int  # the same in the best order
    given_load: int
    load: int
    bound: int  # no order has a lower load
    is_optimal: bool  # the load meets the bound
    witness: str | None  # this instruction has the bound as its load in every order
    overlap: int  # bytes that the work between starts and dones touches
    lost_overlap: int  # what of it is elsewhere in the best order
    interrupted: bool  # Ctrl-C ended the search
    _page: str = field(repr=False)
    tried: tuple[Recompiled, ...] = ()  # options of XLA, with `try_flags`

    @property
    def saved(self) -> int:
        """The bytes of main memory that the best order saves."""
        return self.given_bytes - self.bytes

    def __str__(self) -> str:
        return "\n".join([self._page.removesuffix("\n"), *map(str, self.tried)])


def order_of(text: str, page: str, interrupted: bool) -> Order:
    """From the JSON and the page of the command line."""
    document = json.loads(text)
    return Order(
        document["given_bytes"],
        document["bytes"],
        document["given_load"],
        document["load"],
        document["bound"],
        document["status"] == "optimal",
        document.get("witness"),
        document["overlap"],
        document["lost_overlap"],
        interrupted,
        page,
    )
