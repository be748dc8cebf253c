"""Names of items, and of the segments and features of users."""

from __future__ import annotations

import difflib
import json
import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

# A segment without an effect.
NO_SEGMENT = 2**32 - 1


def plain(given: Any) -> Any:
    """Arrays, series and frames as lists of Python's own values, numbers of numpy as those of Python."""
    if hasattr(given, "tolist"):
        return given.tolist()
    return np.asarray(given).tolist() if hasattr(given, "__array__") else given


def of(given: Any) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """The names of all items, and their places."""
    numbers: dict[Any, int] = {}
    for place, name in enumerate(map(plain, plain(given))):
        try:
            first = numbers.setdefault(name, place)
        except TypeError as error:
            raise TypeError(f"items[{place}]: {error}: a name is hashable") from None
        if first != place:
            raise ValueError(f"items[{place}] is {name!r}, as items[{first}]: names differ")
    # Files and the service have one name for 1 and "1".
    digits = {str(name): name for name in numbers if type(name) is int}
    for name, place in numbers.items():
        if isinstance(name, str) and name in digits:
            raise ValueError(f"items[{place}] is {name!r}, and there is {digits[name]!r}: give all items one type")
    return tuple(numbers), numbers


def _place(numbers: dict[Any, int], name: Any) -> int | None:
    try:
        return numbers.get(name)
    except TypeError:
        # A value without a hash is no name.
        return None


def number(numbers: dict[Any, int], what: str, name: Any) -> int:
    """The place of an item."""
    name = plain(name)
    place = _place(numbers, name)
    if place is None:
        texts = [known for known in numbers if isinstance(known, str)] if isinstance(name, str) else []
        near = "".join(f"; did you mean `{near}`?" for near in difflib.get_close_matches(str(name), texts, 1))
        raise ValueError(f"{what} is {name!r}, which is no item of the policy{near}")
    return place


def lists(numbers: dict[Any, int], what: str, given: Any, width: int) -> tuple[list[int], bool]:
    """The places of the items of lists, one after the other, and whether it is a single list."""
    rows = list(plain(given))
    single = bool(rows) and _place(numbers, rows[0]) is not None
    places: list[int] = []
    for row, names in [(what, rows)] if single else [(f"{what}[{row}]", names) for row, names in enumerate(rows)]:
        start = len(places)
        for position, name in enumerate(names):
            place = number(numbers, f"{row}[{position}]", name)
            if place in places[start:]:
                raise ValueError(f"{row}[{position}] is {name!r}, which is there twice")
            places.append(place)
        if len(places) - start != width:
            raise ValueError(f"{row}: expected {width} items, got {len(places) - start}")
    return places, single


def to_json(names: tuple[Any, ...]) -> str:
    """Names as JSON."""
    for name in names:
        is_float, is_int = type(name) is float and math.isfinite(name), type(name) is int and -(2**63) <= name < 2**63
        if not (is_float or is_int or type(name) in (str, bool)):
            raise ValueError(f"item {name!r} is no str, bool, finite float or int of 64 bits, which JSON keeps: use pickle")
    return json.dumps(names)


def from_json(text: str) -> tuple[Any, ...]:
    """Names from JSON."""
    names = json.loads(text)
    for name in names:
        if name is None or isinstance(name, (list, dict)):
            raise ValueError(f"{json.dumps(name)} is no name of an item")
    return tuple(names)


def actions(items: tuple[Any, ...], numbers: Any) -> Any:
    """Numbers of items as their names: int64 if all are ints, otherwise objects; None for -1."""
    named = np.empty(len(items) + 1, dtype=object)
    for place, item in enumerate(items):
        named[place] = item
    named = named[numbers]
    if all(type(item) is int and abs(item) < 2**63 for item in items) and (numbers >= 0).all():
        named = named.astype(np.int64)
    named.flags.writeable = False
    return named


# Options of the command in sentences of the library, as these have them, and what Python has in their place. Whole phrases, since
# names and files of users may look like options.
_SPELT = {
    "`fit --context`": "`fit(.., segment=..)`",
    "a fit with --context": "a fit with context",
    "`fit --parameters json`": "`Fitted.save`",
    "`--columns ..,time=..`": '`columns={"time": ..}`',
    "`--columns ..,stratum=COLUMN`": '`columns={"stratum": ..}`',
    "`evaluate --ranking learned`": '`evaluate(.., "learned")`',
    "`--columns ..,stratum=device`": '`columns={"stratum": ..}`',
    "(time=.. in --columns)": '(columns={"time": ..})',
    "in logs with --columns and in counts": "in logs with columns and in counts",
    "and for test --depth": "and for test depth",
    "give a log, or --mean and --sd": "give mean and sd",
    "leave out `--positions`": "leave out `positions`",
    "`session=COLUMN` makes": '`columns={"session": ..}` makes',
    "--today all takes all": 'today="all" takes all',
    "--today .1 takes": "today=.1 takes",
    "expected one without `--prior 0`": "expected one without `prior=0`",
    "again (`--fresh`)": "again (`fresh`)",
    "--baseline NAME chooses": 'baseline="NAME" chooses',
    "`--max-sessions-per-user` leaves": "`max_sessions_per_user` leaves",
    "are one list, `session=COLUMN`": 'are one list, `columns={"session": ..}`',
}


def spelt(text: str) -> str:
    """A sentence that names options of the command, with the arguments of Python."""
    for option, argument in _SPELT.items():
        text = text.replace(option, argument)
    return text


def answered(text: str, items: bool, queries: bool) -> Any:
    """An answer from its JSON, whose items and queries are ints where those of the log are."""

    def typed(name: Any) -> Any:
        if isinstance(name, list):
            return [typed(one) for one in name]
        return int(name) if isinstance(name, str) and name.removeprefix("-").isdecimal() else name

    def named(fields: dict[str, Any]) -> dict[str, Any]:
        for key, are_ints in (("query", queries), ("items", items), ("gone", items), ("list_for_all", items)):
            if are_ints and key in fields:
                fields[key] = typed(fields[key])
        return fields

    return json.loads(text, object_hook=named)


def segments(argument: str, given: Any, names: list[str]) -> Any:
    """Numbers in place of names; of segments that the log did not have, that of no segment."""
    if getattr(getattr(given, "dtype", None), "kind", "") in ("i", "u"):
        return given
    several = [given] if isinstance(given, str) else plain(given)
    if not isinstance(several, (list, tuple)) or not any(isinstance(name, str) for name in several):
        return given
    if not names:
        raise TypeError(f"{argument}: expected integers: the policy has no names of segments")
    unknown = list(dict.fromkeys(name for name in several if name not in names))
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        warnings.warn(f"{argument}: {unknown[0]!r}{more}: the log had no such segment, and it has no effect", stacklevel=1)
    numbers = [names.index(name) if name in names else NO_SEGMENT for name in several]
    return numbers[0] if isinstance(given, str) else numbers


def features(argument: str, given: Any, names: list[str]) -> Any:
    """The features of a user, or of each of several, in their order in place of by name."""
    if not isinstance(given, Mapping):
        return given
    if not names:
        raise TypeError(f"{argument}: expected numbers: the policy has no names of features")
    for name in given:
        if name not in names:
            near = "".join(f"; did you mean {near!r}?" for near in difflib.get_close_matches(str(name), names, 1))
            raise ValueError(f"{argument}: no feature {name!r}{near}: expected {', '.join(names)}")
    for name in names:
        if name not in given:
            raise ValueError(f"{argument}: feature {name!r} is missing")
    return np.stack([np.asarray(given[name]) for name in names], axis=-1)
