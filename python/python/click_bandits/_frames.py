"""Tables of other libraries, as the extension module reads them, and its own in notebooks."""

from __future__ import annotations

import html as _html
import warnings
from typing import Any

import numpy as np


def _is(log: Any, library: str, method: str) -> bool:
    return type(log).__module__.split(".")[0] == library and hasattr(log, method)


def resolved(of: str, log: Any) -> tuple[Any, list[str] | None]:
    """A table for what stands for one, and the names of its columns if they can be chosen; otherwise
    its Arrow stream tells them."""
    if isinstance(log, (list, tuple)) and all(isinstance(row, dict) for row in log):
        keys = dict.fromkeys(key for row in log for key in row)
        log = {key: [row.get(key) for row in log] for key in keys}
    elif isinstance(log, np.ndarray) and log.dtype.names:
        log = {name: log[name] for name in log.dtype.names}
    if isinstance(log, dict):
        return log, [name for name in log if isinstance(name, str)]
    if _is(log, "polars", "collect"):
        return log, log.collect_schema().names()
    if _is(log, "pyarrow", "scanner"):
        return log, list(log.schema.names)
    if _is(log, "pandas", "columns") or _is(log, "polars", "columns"):
        return log, [name for name in log.columns if isinstance(name, str)]
    # A column is no table.
    if hasattr(log, "__arrow_c_stream__") and not hasattr(log, "to_frame"):
        return log, None
    # A scanner of pyarrow, and a connection of DuckDB that has executed a statement.
    for call in ("to_reader", "to_arrow_reader", "fetch_record_batch"):
        if hasattr(log, call):
            # DuckDB warns of a connection, and proposes what only a query has.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return getattr(log, call)(), None
    calls = [call for call in ("compute", "toArrow", "to_frame", "to_arrow", "to_pandas", "collect") if hasattr(log, call)]
    help = f"; give what its method {calls[0]}() returns" if calls else ""
    raise TypeError(
        f"{of}: expected a path, a list of paths, a table (a data frame, or __arrow_c_stream__), or a dict of arrays, "
        f"got {type(log).__name__}{help}"
    )


def by_name(of: str, table: Any) -> Any:
    """A table that gives its columns by name, with their values."""
    try:
        table = resolved(of, table)[0]
    except TypeError:
        return table
    if _is(table, "polars", "collect"):
        return table.collect()
    # A relation of DuckDB, a dataset of pyarrow, a stream of it.
    for call in ("fetchnumpy", "to_table", "read_all"):
        if hasattr(table, call):
            return getattr(table, call)()
    return table


def chosen(log: Any, names: list[str]) -> Any:
    """These columns of a table, as an Arrow stream; None if it has none."""
    if _is(log, "polars", "collect"):
        return log.select(names).collect()
    if _is(log, "pyarrow", "scanner"):
        return log.scanner(columns=names).to_reader()
    return log[names] if hasattr(log, "__arrow_c_stream__") else None


def html(table: Any, most: int = 10) -> str:
    """The first rows of a table, with the digits that a reader needs."""

    def cell(tag: str, value: Any) -> str:
        text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        return f"<{tag}>{_html.escape(text, quote=False)}</{tag}>"

    head = "".join(cell("th", name) for name in table.columns)
    rows = ("".join(cell("td", value) for value in row.values()) for row in table.head(most))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = f"<p>{most} of {len(table)} rows</p>" if len(table) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
