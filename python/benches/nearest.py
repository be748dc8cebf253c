"""Measures the nearest peers, which are on no registry, beside this package: PyClick's fits, and the
policies of ranking_bandits in the game of lists of `packages.py`.

    git clone https://github.com/markovi/PyClick
    git clone https://github.com/gaudel/ranking_bandits
    pip install numpy==1.23.5 scipy==1.10.1           # the newest with `np.float`, which ranking_bandits uses
    python3.11 benches/nearest.py PYCLICK RANKING_BANDITS

CPU time, medians of five in turn. Fits are without intervals, comparison and reference models, on one
thread. PyClick gets its sessions as objects, this package the same sessions as a dict of arrays;
making either is not timed. PyClick counts with a Beta(1, 1) prior under the assumption that the last
click ends a session. This package maximises the likelihood, with a prior of the same strength
(`prior=2`) and with the one that it estimates by default. The mean error of the attraction of the
2,000 documents, whose truth the users are drawn from, tells what the estimates are worth.
"""

from __future__ import annotations

import pathlib
import random
import statistics
import sys
import time
from typing import Any, Callable

import numpy as np

sys.path += [str(pathlib.Path(__file__).parent / "adapters"), *sys.argv[1:3]]

from bandits_to_rank.opponents.pbm_ts import PBM_TS
from bandits_to_rank.opponents.pbm_ucb import PBM_UCB
from click_bandits import fit
from game import CLICKS, EXAMINATION, ITEMS, TABLE, worth
from play_click_bandits import make, one_list
from pyclick.click_models.DCM import DCM
from pyclick.click_models.SDBN import SDBN
from pyclick.search_session.SearchResult import SearchResult
from pyclick.search_session.SearchSession import SearchSession

QUERIES, SHOWN, KNOWN = 100, 10, 20
"""Queries, results of a page, and documents of a query."""
TRUTH = 0.02 + 0.02 * np.arange(KNOWN)
"""The attraction of the documents of a query."""
PEER_ROUNDS = 300
"""Rounds in a measurement of ranking_bandits."""


def log(n: int) -> tuple[dict[str, np.ndarray], list[SearchSession]]:
    """Sessions of users of the dependent click model, for this package and for PyClick."""
    rng = np.random.default_rng(1)
    query = rng.integers(0, QUERIES, n)
    item = rng.permuted(np.tile(np.arange(KNOWN), (n, 1)), axis=1)[:, :SHOWN]
    is_attractive = rng.random((n, SHOWN)) < TRUTH[item]
    stops = is_attractive & (rng.random((n, SHOWN)) < 0.4)
    stopped_before = np.cumsum(stops, axis=1) - stops > 0
    click = (is_attractive & ~stopped_before).astype(np.int64)
    position = np.tile(np.arange(1, SHOWN + 1), n)
    columns = {"query": query.repeat(SHOWN), "item": item.ravel(), "position": position, "click": click.ravel()}
    columns["session"] = np.arange(n).repeat(SHOWN)
    sessions = []
    for one, shown, clicked in zip(query.tolist(), item.tolist(), click.tolist()):
        session = SearchSession(one)
        session.web_results = [SearchResult(*result) for result in zip(shown, clicked)]
        sessions.append(session)
    return columns, sessions


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def fits(n: int) -> None:
    columns, sessions = log(n)
    for name, theirs in (("dcm", DCM), ("sdbn", SDBN)):

        def trained() -> Any:
            model = theirs()
            model.train(sessions)
            return model

        def fitted(**prior: float) -> Any:
            return fit(columns, model=name, intervals=False, held_out=0, threads=1, **prior)

        ways = (trained, lambda: fitted(prior=2.0), fitted)
        turns = [[cpu(way) for way in ways] for _ in range(5)]
        seconds = [statistics.median(times) for times in zip(*([time for time, _ in turn] for turn in turns))]
        model, *results = (result for _, result in turns[0])
        attraction = model.params[theirs.param_names.attr]
        rows = [[row for row in result.parameters if row["kind"] == "attraction"] for result in results]
        documents = [(int(row["query"]), int(row["item"])) for row in rows[0]]
        estimates = [[attraction.get(*document).value() for document in documents]]
        estimates += [[row["estimate"] for row in of_fit] for of_fit in rows]
        cells = [f"{time:.4f} s, {error(documents, of_way):.3f}" for time, of_way in zip(seconds, estimates)]
        cells.append(f"{seconds[0] / seconds[1]:.1f}, {seconds[0] / seconds[2]:.1f}")
        print(f"| {name} | {n:,} | {' | '.join(cells)} |", flush=True)


def error(documents: list[tuple[int, int]], estimates: list[float]) -> float:
    """Mean absolute error of attraction."""
    return float(np.mean([abs(TRUTH[item] - estimate) for (_, item), estimate in zip(documents, estimates)]))


def play(policy: Any, rounds: int) -> list[list[int]]:
    shown = []
    for t in range(rounds):
        items, _ = policy.choose_next_arm()
        clicks = CLICKS[t % TABLE]
        policy.update(items, np.array([clicks[item][place] for place, item in enumerate(items)]))
        shown.append(items.tolist())
    return shown


def games() -> None:
    """Rounds per CPU-second, and what the lists of rounds 1,501 to 2,000 are worth."""
    known = {"nb_arms": ITEMS, "discount_factor": EXAMINATION}
    for name, peer in (("pbm-ucb", lambda: PBM_UCB(epsilon=0, **known)), ("pbm-ts", lambda: PBM_TS(**known))):
        ours, row = make(name, examination=EXAMINATION), []
        for fresh, played, rounds in ((peer, play, PEER_ROUNDS), (lambda: ours(1), one_list, 50_000)):
            random.seed(1)
            np.random.seed(1)
            learned = fresh()
            played(learned, 1500)
            value = worth("lists", played(learned, 500))
            rate = statistics.median(rounds / cpu(lambda: played(learned, rounds))[0] for _ in range(5))
            row += [f"{float(f'{rate:.3g}'):,.0f}", f"{value:.2f}"]
        print(f"| {name} | {' | '.join(row)} |", flush=True)


def main() -> None:
    print("| model | sessions | PyClick: time, error | `prior=2` | default | ratios of time |\n|" + "---|" * 6)
    for n in (2_000, 20_000):
        fits(n)
    print("\n| policy | ranking_bandits, rounds per CPU-second | worth | click-bandits, singly | worth |\n|" + "---|" * 5)
    games()


if __name__ == "__main__":
    main()
