# SPDX-License-Identifier: Apache-2.0
"""Which machine and which XLA a program of JAX was compiled for, in Stowplan's names."""

from __future__ import annotations

import importlib
import re
from typing import Any

# Releases that changed how plans are made or written. `release_of` finds the last one that is not
# newer.
JAXLIB_RELEASES = (
    "0.4.35",
    "0.5.0",
    "0.6.0",
    "0.7.2",
    "0.8.2",
    "0.9.0",
    "0.10.0",
    "0.10.2",
    "0.11.2",
    "0.12.0",
)
LIBTPU_RELEASES = ("0.0.2", "0.0.8", "0.0.13", "0.0.23.1", "0.0.32.1", "0.0.51")

# Device kinds as PJRT says them, without "TPU", blanks and "v".
_TPUS = {
    "2": "tpu-v2",
    "3": "tpu-v3",
    "4": "tpu-v4",
    "5": "tpu-v5p",
    "5p": "tpu-v5p",
    "5e": "tpu-v5e",
    "5lite": "tpu-v5e",
    "5litepod": "tpu-v5e",
    "6e": "tpu-v6e",
    "6lite": "tpu-v6e",
    "7": "tpu-v7x",
    "7x": "tpu-v7x",
}
_GPU_PLATFORMS = ("gpu", "cuda", "rocm")


def _numbers(version: str) -> tuple[int, ...]:
    """Of "0.10.2.dev20260401+cuda": (0, 10, 2)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def release_of(version: str, releases: tuple[str, ...]) -> str | None:
    """The last of `releases` that is not newer than `version`; the first, if all are."""
    wanted = _numbers(version)
    if not wanted:
        return None
    older = [release for release in releases if _numbers(release) <= wanted]
    return older[-1] if older else releases[0]


def target_of(platform: str, kind: str) -> str | None:
    """Of a device's platform and kind: "cpu", "gpu", "tpu-v5e", ...; None: not known."""
    platform = platform.lower()
    if platform == "cpu":
        return "cpu"
    if platform in _GPU_PLATFORMS:
        return "gpu"
    if platform == "tpu" or kind.upper().startswith("TPU"):
        return _TPUS.get(re.sub(r"^TPU|[\s_-]|v", "", kind, flags=re.IGNORECASE))
    return None


def _installed(*packages: str) -> str | None:
    import importlib.metadata  # a third of the time that Stowplan takes to import

    for package in packages:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def xla_version_of(target: str | None) -> str | None:
    """The name of the XLA that compiles for `target` in this process; None: not known."""
    if target is not None and target.startswith("tpu"):
        version = _installed("libtpu", "libtpu-nightly")
        release = release_of(version, LIBTPU_RELEASES) if version else None
        return f"libtpu-{release}" if release else None
    version = _installed("jaxlib")
    release = release_of(version, JAXLIB_RELEASES) if version else None
    return f"jaxlib-{release}" if release else None


def device_of(compiled: Any, executable: Any) -> Any:
    """A device that the program is for; None: not known."""
    try:
        return executable.local_devices()[0]
    except (AttributeError, IndexError, RuntimeError):
        pass  # compiled ahead of time, or for other hosts
    jax = importlib.import_module("jax")
    for field in ("input_shardings", "output_shardings"):
        for sharding in jax.tree_util.tree_leaves(getattr(compiled, field, None)):
            for device in getattr(sharding, "device_set", ()):
                return device
    return None
