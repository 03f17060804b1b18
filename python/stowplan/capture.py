# SPDX-License-Identifier: Apache-2.0
"""capture: all modules that JAX compiles inside a `with` block."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from . import arguments, compile_hook
from .errors import Error
from .jax_inputs import Extracted, extract_from
from .progress import Progress
from .sizes import format_size
from .tables import Rows, html_table, more_than

if TYPE_CHECKING:
    from .analysis import Analysis


@dataclass(frozen=True)
class Captured:
    """A module that was compiled. `analyze` takes it as it takes a Compiled."""

    extracted: Extracted
    seconds: float  # that the compile took; few if the compilation cache had it

    @property
    def name(self) -> str:
        return self.extracted.name

    @functools.cached_property
    def analysis(self) -> Analysis:
        """Its plan, ready for questions."""
        from .inputs import analyze

        return analyze(self)

    # The plan does not travel; it is made again where it is needed.
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "analysis"}

    def __repr__(self) -> str:
        return f"<stowplan.Captured {self.name}, compiled in {self.seconds:.2f} s>"


class _Shown:
    """A module as shown in a notebook."""

    def __init__(self, module: Captured) -> None:
        analysis = module.analysis
        self.name = module.name
        self.size = format_size(analysis.total_bytes)
        self.peak = format_size(analysis.peak.bytes) if analysis.has_peak else ""
        self.seconds = f"{module.seconds:.2f}"


class Capture(Sequence[Captured]):
    """Modules in the order in which they finished compiling. Also by name: `modules["jit_step"]`.

    Programs that JAX compiled earlier and still holds are not compiled again, so they are missing.
    """

    def __init__(self, progress: bool | None = None) -> None:
        self._modules: list[Captured] = []
        self._unread: list[str] = []
        self._progress = Progress(progress)

    # As a context.

    def __enter__(self) -> Capture:
        compile_hook.add_listener(self)
        return self

    def __exit__(self, *_error: object) -> None:
        compile_hook.remove_listener(self)
        self._progress.clear()

    # As a listener.

    def begin(self, name: str) -> None:
        """JAX starts to compile."""
        self._progress.show(f"{len(self._modules)} compiled; {name} ...")

    def end(self, name: str, executable: Any, device: Any, seconds: float) -> None:
        """JAX has compiled."""
        try:
            self._modules.append(Captured(extract_from(executable, device=device), seconds))
        except Error as error:  # the user's program goes on
            self._unread.append(f"{name}: {error}")
        self._progress.show(f"{len(self._modules)} compiled; {name} took {seconds:.1f} s")

    # As a sequence.

    @property
    def unread(self) -> list[str]:
        """Modules that were compiled but that the back end does not provide, and why."""
        return list(self._unread)

    @overload
    def __getitem__(self, key: int | str) -> Captured: ...
    @overload
    def __getitem__(self, key: slice) -> list[Captured]: ...
    def __getitem__(self, key: int | str | slice) -> Captured | list[Captured]:
        if not isinstance(key, str):
            return self._modules[key]
        for module in self._modules:
            if key in (module.name, module.name.removeprefix("jit_")):
                return module
        hint = arguments.nearest(key, (module.name for module in self._modules))
        raise KeyError(f"no module {key!r} was compiled; {hint}".rstrip("; "))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Captured]:
        return iter(self._modules)

    def __repr__(self) -> str:
        return f"<stowplan.Capture of {self._count()}>"

    def _count(self) -> str:
        return "1 module" if len(self) == 1 else f"{len(self)} modules"

    # A terminal does not travel.
    def __reduce__(self) -> tuple[Any, ...]:
        return _capture_of, (self._modules, self._unread)

    def _by_size(self) -> list[Captured]:
        """Largest first."""
        return sorted(self, key=lambda module: -module.analysis.total_bytes)

    def _repr_html_(self) -> str:
        rows = [_Shown(module) for module in self._by_size()]
        table = html_table(rows[: Rows.SHOWN], ("name", "size", "peak", "seconds"))
        return table + more_than(Rows.SHOWN, len(rows))

    def __str__(self) -> str:
        """A table, largest first."""
        rows = self._by_size()
        sizes = [format_size(module.analysis.total_bytes) for module in rows]
        width = max(map(len, sizes), default=0)
        lines = [self._count()]
        lines += [
            f"  {size:>{width}}  {module.name}" for size, module in zip(sizes, rows, strict=True)
        ]
        return "\n".join(lines)


def _capture_of(modules: list[Captured], unread: list[str]) -> Capture:
    """What came from another process."""
    made = Capture(False)
    made._modules.extend(modules)
    made._unread.extend(unread)
    return made


def capture(*, progress: bool | None = None) -> Capture:
    """All modules that JAX compiles inside a `with` block, whatever triggers it: `jax.jit`,
    `Lowered.compile` or single operations, in any thread, including those from the compilation
    cache.

        with stowplan.capture() as modules:
            train_step(state, batch)
        print(modules["train_step"].analysis)

    `progress` shows a line while JAX compiles; by default only on terminals.
    """
    return Capture(progress)
