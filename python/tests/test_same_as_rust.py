"""The package makes the choices of the Rust library, and its users click as those of the library.

The library's test of value stability keeps, for every policy with several parameters, the choices
of rounds 1, 2, 3, 10 and 1000 and the bits of the regret, with seed 1 for the policy and seed 2 for
the users. The same games are played here.
"""

import pathlib
import struct
from collections import defaultdict

import pytest
from click_bandits import Policy, models, policies
from every_policy import answer_of, arguments

DATA = pathlib.Path(__file__).parents[2] / "crates" / "policies" / "tests" / "data" / "value_stability.txt"
ROWS = {row["name"]: row for row in policies()}


def in_line(n):
    rows = [[0.5] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            rows[i][j] = 0.55 + 0.4 * (j - i) / n
            rows[j][i] = 1.0 - rows[i][j]
    return rows


USERS = {
    "lists": [
        lambda: models.PositionBased([0.45, 0.35, 0.25, 0.15, 0.05], [0.9, 0.6, 0.3], seed=2),
        lambda: models.RandomSemiBandit([0.6, 0.58, 0.55, 0.45, 0.45, 0.4], [1.0, 0.8, 0.6], seed=2),
        lambda: models.Cascade([0.3, 0.25, 0.2, 0.15, 0.1, 0.05], 3, seed=2),
        lambda: models.DependentClick([0.5, 0.4, 0.3, 0.2, 0.1], [0.5, 0.9, 0.2], seed=2),
    ],
    "cells": [lambda: models.RankOne([0.75] + [0.25] * 11, [0.75] + [0.25] * 15, seed=2)],
    "pairs": [lambda: models.Dueling(in_line(20), seed=2)],
}
HORIZON = {"lists": 100, "cells": 5000, "pairs": 40_000}
ROUNDS = {"lists": 1000, "cells": 60_000, "pairs": 60_000}


def expected(section):
    """The lines of each policy: one for each of the users that it plays, in their order."""
    if not DATA.exists():
        pytest.skip("the library's choices are in the repository only")
    lines, title = defaultdict(list), None
    for line in DATA.read_text().splitlines():
        if line.startswith("# "):
            title = line[2:]
        elif title == section:
            policy, choices = line.split(": ", 1)
            # The package has no users who differ.
            if not policy.endswith(" for users who differ"):
                lines[policy].append(choices)
    assert lines
    return lines


# Not the same games: lists shorter than the positions, which these users refuse, and pairs of an
# item with itself, for which the package tosses a coin of its own.
OTHERS = {"batrac(pulls=one)", "beat-the-mean(gamma=0.3)"}


def number(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def line_of(spec, users, section):
    name, _, rest = spec.partition("(")
    parameters = {key: number(value) for key, value in (part.split("=") for part in rest.rstrip(")").split(",") if part)}
    known = {**arguments(ROWS[name], "", users), "horizon": HORIZON[section]}
    policy = Policy(name, **known, **parameters, seed=1)
    regret, choices = 0.0, []
    for i in range(1, ROUNDS[section] + 1):
        decision = policy.select()
        policy.update(decision, *answer_of(users, decision))
        regret += users.regret(decision)
        if i in (1, 2, 3, 10, 1000):
            choices.append(str(list(decision.action)))
    return f"{' '.join(choices)} {struct.pack('>d', regret).hex()}"


@pytest.mark.parametrize("section", list(USERS))
def test_choices_are_those_of_the_library(section):
    for spec, lines in expected(section).items():
        if spec in OTHERS:
            continue
        plays = ROWS[spec.partition("(")[0]]["plays"]
        played = [make for make in USERS[section] if make().known()["model"] in plays]
        assert [line_of(spec, make(), section) for make in played] == lines, spec
