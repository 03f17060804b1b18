# SPDX-License-Identifier: Apache-2.0
"""capture: all modules that JAX compiles inside of a `with` block."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from . import compile_hook
from .errors import Error
from .jax_inputs import Extracted, extract_from
from .progress import Progress
from .sizes import format_size

if TYPE_CHECKING:
    from .analysis import Analysis


@dataclass(frozen=True)
class Captured:
    """A module that was compiled. `analyze` takes it as it takes a Compiled."""

    extracted: Extracted
    seconds: float  # that the compile took; little, if the compilation cache had it

    @property
    def name(self) -> str:
        return self.extracted.name

    @functools.cached_property
    def analysis(self) -> Analysis:
        """Its plan, ready for questions."""
        from .inputs import analyze

        return analyze(self)

    def __repr__(self) -> str:
        return f"<stowplan.Captured {self.name}, compiled in {self.seconds:.2f} s>"


class Capture(Sequence[Captured]):
    """Modules in the order in which their compiles ended. Also by name: `modules["jit_step"]`.

    What JAX has compiled before and still holds is not compiled again, so it is not seen.
    """

    def __init__(self, progress: bool | None = None) -> None:
        self._modules: list[Captured] = []
        self._unread: list[str] = []
        self._progress = Progress(progress)

    # As a context.

    def __enter__(self) -> Capture:
        compile_hook.add_listener(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        compile_hook.remove_listener(self)
        self._progress.clear()

    # As a listener.

    def begin(self, name: str) -> None:
        """JAX compiles."""
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
        """Modules that were compiled, but that their back end does not give, and why."""
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
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Captured]:
        return iter(self._modules)

    def __repr__(self) -> str:
        return f"<stowplan.Capture of {self._count()}>"

    def _count(self) -> str:
        return "1 module" if len(self) == 1 else f"{len(self)} modules"

    def __str__(self) -> str:
        """A table, largest first."""
        rows = sorted(self, key=lambda module: -module.analysis.total_bytes)
        sizes = [format_size(module.analysis.total_bytes) for module in rows]
        width = max(map(len, sizes), default=0)
        lines = [self._count()]
        lines += [
            f"  {size:>{width}}  {module.name}" for size, module in zip(sizes, rows, strict=True)
        ]
        return "\n".join(lines)


def capture(*, progress: bool | None = None) -> Capture:
    """All modules that JAX compiles inside of a `with` block, whoever asks for it: `jax.jit`,
    `Lowered.compile`, single operations; in all threads; those of the compilation cache too.

        with stowplan.capture() as modules:
            train_step(state, batch)
        print(modules["train_step"].analysis)

    `progress` shows a line while JAX compiles; without, it does on terminals.
    """
    return Capture(progress)
