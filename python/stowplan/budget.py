# SPDX-License-Identifier: Apache-2.0
"""budget: makes the compilation of a program that takes too much memory an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import compile_hook
from .capture import Captured
from .errors import Error
from .footprint import MAIN, Footprint, check_figure, footprint_of
from .jax_inputs import extract_from
from .sizes import format_size, parse_size

if TYPE_CHECKING:
    from .analysis import Analysis
    from .tables import Row, Table


class BudgetExceeded(Error):
    """A module takes more memory than allowed."""

    def __init__(self, footprint: Footprint, limit: int, analysis: Analysis | None = None) -> None:
        self.footprint = footprint
        self.limit = limit
        self.analysis = analysis  # None: the error comes from another process
        table = peak_of(analysis)
        self.causes: tuple[Row, ...] = causes_of(table)
        super().__init__(_message(footprint, limit, table, self.causes))

    @property
    def module(self) -> str:
        return self.footprint.module

    @property
    def bytes(self) -> int:
        return self.footprint.bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.footprint, self.limit, str(self))


def _again(footprint: Footprint, limit: int, message: str) -> BudgetExceeded:
    error = BudgetExceeded(footprint, limit)
    error.args = (message,)
    return error


_MOST_CAUSES = 5


def peak_of(analysis: Analysis | None) -> Table | None:
    """What fills the peak of the memory that the budget limits; None: not known."""
    if analysis is None or not analysis.has_peak:
        return None
    if all(space.color != MAIN for space in analysis.spaces):
        return None
    return analysis.peak_by("source", space=MAIN)


def causes_of(table: Table | None) -> tuple[Row, ...]:
    """Source lines, largest first."""
    if table is None:
        return ()
    rows = [row for row in table.rows if row.own > 0]
    return tuple(sorted(rows, key=lambda row: -row.own)[:_MOST_CAUSES])


def _share(part: int, whole: int) -> str:
    """A share in percent, as on the command line: a tiny one is not shown as zero."""
    return "<0.1%" if 0 < part * 1000 < whole else f"{part / whole:.1%}"


def _message(footprint: Footprint, limit: int, table: Table | None, causes: tuple[Row, ...]) -> str:
    lines = [
        f"{footprint.module} takes {format_size(footprint.bytes)}, the budget is "
        f"{format_size(limit)}: {format_size(footprint.bytes - limit)} too much",
        f"  {footprint}",
    ]
    if table is not None and causes:
        lines.append(f"what fills the peak of {format_size(table.bytes)}, by source line:")
        sizes = [format_size(row.own) for row in causes]
        width = max(map(len, sizes))
        lines += [
            f"  {size:>{width}}  {_share(row.own, table.bytes):>6}  {row.name}"
            for size, row in zip(sizes, causes, strict=True)
        ]
    return "\n".join(lines)


class Budget:
    """The context of `budget`; `checked` has what was compiled, and how much it takes."""

    def __init__(self, limit: int, of: str) -> None:
        self.limit = limit
        self.of = of
        self.checked: list[Footprint] = []
        self.unread: list[str] = []  # modules that could not be checked, and why

    def __repr__(self) -> str:
        count = "1 program" if len(self.checked) == 1 else f"{len(self.checked)} programs"
        return f"<stowplan.Budget of {format_size(self.limit)}, {count} checked>"

    @property
    def largest(self) -> Footprint | None:
        return max(self.checked, key=lambda footprint: footprint.bytes, default=None)

    def check(self, x: Any) -> Footprint:
        """Checks one program, given as anything that `analyze` takes. May raise BudgetExceeded."""
        from .inputs import analyze

        analysis = analyze(x)
        footprint = footprint_of(analysis, self.of)
        is_too_much = footprint.bytes > self.limit
        self.checked.append(footprint)
        if is_too_much:
            raise BudgetExceeded(footprint, self.limit, analysis)
        return footprint

    def __enter__(self) -> Budget:
        compile_hook.add_listener(self)
        return self

    def __exit__(self, *_error: object) -> None:
        compile_hook.remove_listener(self)

    def begin(self, name: str) -> None:
        """JAX starts to compile."""

    def end(self, name: str, executable: Any, device: Any, seconds: float) -> None:
        """JAX has compiled. An error raised here fails the compile, so nothing is executed."""
        try:
            self.check(Captured(extract_from(executable, device=device), seconds))
        except BudgetExceeded:
            raise
        except Error as error:  # the user's program goes on
            self.unread.append(f"{name}: {error}")


def budget(limit: int | float | str, *, of: str = "footprint") -> Budget:
    """Inside the `with` block, compiling a program that takes more than `limit` raises
    BudgetExceeded, which shows what fills its peak. The program is then not executed.

        with stowplan.budget("14GiB"):
            train_step(state, batch)

    `of` says what counts: "footprint", everything that XLA allocates in the main memory for one
    program, or "peak", the most that is ever live at once in it. Each program is checked by itself.
    Programs that JAX compiled earlier are not checked.
    """
    return Budget(parse_size(limit), check_figure(of))
