# SPDX-License-Identifier: Apache-2.0
"""What the order of a program's instructions costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


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

    @property
    def saved(self) -> int:
        """The bytes of main memory that the best order saves."""
        return self.given_bytes - self.bytes

    def __str__(self) -> str:
        return self._page.removesuffix("\n")


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
