"""Curves on matplotlib, which only `Simulation.plot` imports."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._native import Simulation


def plot(result: Simulation, ax: Any = None) -> Any:
    """The axes with the regret of all policies: means, and bands from the 10 % to the 90 % quantile."""
    if result.checkpoints is None:
        raise ValueError("runs end with an answer: there is no regret over rounds")
    if ax is None:
        # By name: stubs are checked where it is not installed.
        ax = import_module("matplotlib.pyplot").subplots()[1]
    summary = result.summary()
    statistic, policies, rounds = summary["statistic"], summary["policy"], summary["t"]
    for policy in result.policies:
        rows = (statistic == "regret") & (policies == policy)
        (line,) = ax.plot(rounds[rows], summary["mean"][rows], label=policy)
        ax.fill_between(rounds[rows], summary["q10"][rows], summary["q90"][rows], color=line.get_color(), alpha=0.2, lw=0)
    ax.set_xlabel("round")
    ax.set_ylabel("cumulative regret")
    ax.set_title(f"{result.name}: {result.runs} runs, bands from 10 % to 90 %")
    ax.legend()
    return ax
