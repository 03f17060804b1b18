# SPDX-License-Identifier: Apache-2.0
"""Live ranges, one by one and as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from .tables import LiveRange, Rows

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


def need_numpy() -> None:
    """Raises a helpful ImportError if NumPy is missing."""
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise ImportError("arrays need NumPy: pip install 'stowplan[numpy]'") from error


class LiveRanges(Rows[LiveRange]):
    """When values are alive. The arrays are views with one number per row: nothing is copied."""

    def __init__(self, plan: _core.Plan) -> None:
        super().__init__(plan.range_count, lambda row: LiveRange(*plan.range(row)), LiveRange)
        self._plan = plan

    @property
    def values(self) -> NDArray[numpy.int64]:
        """Rows of `Analysis.values`."""
        need_numpy()
        return self._plan.range_rows

    @property
    def starts(self) -> NDArray[numpy.int64]:
        need_numpy()
        return self._plan.range_starts

    @property
    def ends(self) -> NDArray[numpy.int64]:
        """Inclusive, as XLA prints them."""
        need_numpy()
        return self._plan.range_ends
