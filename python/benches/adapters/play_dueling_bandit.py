"""dueling-bandit: `select_pair` and `update`."""

from __future__ import annotations

from dueling_bandit.agents import DoubleThompsonSamplingAgent
from game import ITEMS, TABLE, WINS, Row


def play(agent, rounds):
    shown = []
    for t in range(rounds):
        first, second = agent.select_pair()
        agent.update(first, second, first if WINS[t % TABLE][first][second] else second)
        shown.append((first, second))
    return shown


ROWS = [Row("duels", "DoubleThompsonSamplingAgent", "singly", lambda seed: DoubleThompsonSamplingAgent(ITEMS, seed), play)]
