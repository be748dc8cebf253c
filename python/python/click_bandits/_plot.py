"""Figures of results: on matplotlib, which only the methods `plot` import, and for notebooks."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any

from ._native import Fitted, Simulation


def _axes() -> Any:
    """New axes, with room for their labels."""
    # By name: stubs are checked where it is not installed.
    return import_module("matplotlib.pyplot").subplots(layout="constrained")[1]


def plot(result: Simulation, ax: Any = None) -> Any:
    """The axes with the regret of all policies: means, and bands from the 10 % to the 90 % quantile."""
    if result.checkpoints is None:
        raise ValueError("runs end with an answer: there is no regret over rounds")
    ax = ax or _axes()
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


# Items of a figure.
_MOST = 20


def _attractions(fitted: Fitted, model: str) -> tuple[list[tuple[str, float, float, float]], str]:
    """Name, attraction and interval of the items with the most impressions, the best one first; and how many of all."""
    table = fitted.parameters
    columns = [table[name] for name in ("model", "kind", "query", "item", "estimate", "lower", "upper", "impressions")]
    rows = [row for row in zip(*columns) if row[0] == model and row[1] == "attraction" and row[4] == row[4]]
    part = f", {_MOST} of {len(rows)} items" if len(rows) > _MOST else ""
    rows = sorted(rows, key=lambda row: -int(row[7]))[:_MOST]
    several = len({row[2] for row in rows}) > 1
    known = []
    for row in rows:
        value, lower, upper = (float(number) for number in row[4:7])
        name = f"{row[3]} ({row[2]})" if several else str(row[3])
        # Without intervals, the estimate alone.
        known.append((name, value, lower if lower == lower else value, upper if upper == upper else value))
    return sorted(known, key=lambda row: -row[1]), part


def plot_fit(fitted: Fitted, ax: Any, model: str) -> Any:
    """The axes with attractions and their intervals."""
    rows, part = _attractions(fitted, model)
    ax = ax or _axes()
    values = [row[1] for row in rows]
    errors = [[row[1] - row[2] for row in rows], [row[3] - row[1] for row in rows]]
    ax.errorbar(values, range(len(rows)), xerr=errors, fmt="o")
    ax.set_yticks(range(len(rows)), [row[0] for row in rows])
    ax.invert_yaxis()
    ax.set_xlabel(f"attraction, {model}{part}")
    return ax


def html_of_fit(fitted: Fitted, model: str | None) -> str:
    """A sentence and a picture of attractions."""
    rows, part = _attractions(fitted, model) if model else ([], "")
    most = max([row[3] for row in rows], default=0) or 1
    lines = []
    for place, (name, value, lower, upper) in enumerate(rows):
        y = 18 * place + 14
        shown = name if len(name) <= 28 else name[:27] + "\N{HORIZONTAL ELLIPSIS}"
        low, middle, high = (200 + 260 * end / most for end in (lower, value, upper))
        lines.append(
            f'<text x="190" y="{y + 4}" text-anchor="end">{escape(shown)}</text>'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="currentColor"/>'
            f'<circle cx="{middle:.1f}" cy="{y}" r="3"/><text x="475" y="{y + 4}">{value:.3g}</text>'
        )
    y = 18 * len(rows) + 8
    lines.append(f'<path d="M200 {y}h260" stroke="currentColor"/><text x="197" y="{y + 14}">0</text><text x="445" y="{y + 14}">{most:.3g}</text>')
    size = f'viewBox="0 0 530 {y + 18}" width="530" font-size="12" fill="currentColor"'
    picture = f"<p>Attractions of {model}, with intervals{part}:</p><svg {size}>{''.join(lines)}</svg>" if rows else ""
    return f"<p>{escape(repr(fitted))}</p>{picture}"
