# SPDX-License-Identifier: Apache-2.0
"""Stowplan: where the memory of a compiled program goes, and what to do about it.

    import stowplan

    r = stowplan.analyze(compiled)      # a JAX Compiled, a dump, a module, a report
    print(r)                            # one page
    r.peak_by("source")                 # what fills the peak

Importing it loads only the C++ core; NumPy and JAX are imported when they are needed.
"""

from . import _core
from .advice import Advice, AdviceList, Donation
from .analysis import Analysis, Arrays, Peak, Space
from .budget import Budget, BudgetExceeded, budget
from .capture import Capture, Captured, capture
from .checks import CheckResult, Finding, check
from .differences import Cause, DiffResult, SpaceDiff, diff
from .errors import ArgumentError, Diagnostic, Error, MissingFileError, ParseError
from .fitting import Fit, FitLine, FitObstacle, FitPoint, FitRepeat
from .footprint import Footprint
from .inputs import analyze
from .jax_fit import fit
from .jax_fitted import DoesNotFit, FittedStep, StepCurve, StepPoint, StepReport, StepTrial
from .jax_lines import StepLine
from .max_batch import BatchSample, MaxBatch, max_batch
from .moments import Curve, Moment, Share
from .oom import (
    OomBuffer,
    OomCause,
    OomFigure,
    OomFix,
    OomIncident,
    OomReport,
    OomSize,
    explain_oom,
)
from .order import Order, Recompiled
from .packing import PackResult, pack
from .plans import Heap, PlanResult, assign
from .ranges import LiveRanges
from .reconcile import Figure, Reconciliation
from .repack import Recomputed, Repacked, RepackReport, repack
from .repack_jit import RepackedFunction, repack_jit
from .sizes import format_size, parse_size
from .sweep import Outcome, Summary, SweepResult, summary, sweep
from .sweep_task import WorkerDied
from .tables import Allocation, LiveRange, Row, Rows, Table, Value
from .why import Why, Whys

__version__: str = _core.version()

__all__ = [
    "Advice",
    "AdviceList",
    "Allocation",
    "Analysis",
    "ArgumentError",
    "Arrays",
    "BatchSample",
    "Budget",
    "BudgetExceeded",
    "Capture",
    "Captured",
    "Cause",
    "CheckResult",
    "Curve",
    "Diagnostic",
    "DiffResult",
    "DoesNotFit",
    "Donation",
    "Error",
    "Figure",
    "Finding",
    "Fit",
    "FitLine",
    "FitObstacle",
    "FitPoint",
    "FitRepeat",
    "FittedStep",
    "Footprint",
    "Heap",
    "LiveRange",
    "LiveRanges",
    "MaxBatch",
    "MissingFileError",
    "Moment",
    "OomBuffer",
    "OomCause",
    "OomFigure",
    "OomFix",
    "OomIncident",
    "OomReport",
    "OomSize",
    "Order",
    "Outcome",
    "PackResult",
    "ParseError",
    "Peak",
    "PlanResult",
    "Recompiled",
    "Recomputed",
    "Reconciliation",
    "RepackReport",
    "Repacked",
    "RepackedFunction",
    "Row",
    "Rows",
    "Share",
    "Space",
    "SpaceDiff",
    "StepCurve",
    "StepLine",
    "StepPoint",
    "StepReport",
    "StepTrial",
    "Summary",
    "SweepResult",
    "Table",
    "Value",
    "Why",
    "Whys",
    "WorkerDied",
    "analyze",
    "assign",
    "budget",
    "capture",
    "check",
    "diff",
    "explain_oom",
    "fit",
    "format_size",
    "max_batch",
    "pack",
    "parse_size",
    "repack",
    "repack_jit",
    "summary",
    "sweep",
]
