"""Measures the peers beside this package, in turn and in one environment, and writes the generated
block of COMPARISON.md.

    python3.11 benches/peers.py PACKAGE [--pyclick DIR] [--program FILE] [--scale S] [--print]

PACKAGE is a wheel of this package, or a directory that contains it installed. PyClick is on no
registry: DIR is a checkout of https://github.com/markovi/PyClick. FILE is the program `log_speed`
of the crate `measurements`, which counts. The environment is made under `target/peers` at the first
run. A package that does not install there, or whose games do not run, is listed with the reason.
`--scale` multiplies the sizes of logs, `--print` leaves the page as it is.

CPU time, medians of five in turn. Games are those of `packages.py`. Lists for users with features:
1,000 items, 12 positions, D products of features; one call chooses for a user who was not seen
before. Vowpal Wabbit gets all items in that call, as text or parsed once
(`--cb_explore_adf -q UI`). Fits are without intervals, comparison and reference models, on one
thread. PyClick counts with a Beta(1, 1) prior; this package maximises the likelihood with a prior of
the same strength (`prior=2`) and with the one that it estimates by default.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import venv
from typing import Any, Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent / "target" / "peers"
PAGE = HERE.parent / "COMPARISON.md"
BEGIN, END = "<!-- peers.py begins -->\n", "<!-- peers.py ends -->\n"
PINNED = ("numpy==1.23.5", "scipy==1.10.1", "pandas==1.5.3")
"""The newest with `np.float`, which duelpy uses, and `btdtri`, which SMPyBandits uses."""
PEERS = {
    "obp": "obp==0.5.7",
    "mabwiser": "mabwiser==2.7.4",
    "SMPyBandits": "SMPyBandits==0.9.7",
    "duelpy": "duelpy==1.0.0",
    "vowpalwabbit": "vowpalwabbit==9.11.9",
    "polars": "polars",
    "duckdb": "duckdb",
}
GAMES = ("click_bandits", "obp", "mabwiser", "smpybandits", "duelpy")
TURNS = 5
QUERIES, SHOWN, KNOWN = 100, 10, 20
"""Queries, results of a page, and documents of a query."""


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of this process and of those that it started, and the result."""

    def spent() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    start = spent()
    result = work()
    return spent() - start, result


def in_turn(ways: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, Any]]:
    """The median time of every way, and its first result."""
    turns = [{name: cpu(way) for name, way in ways.items()} for _ in range(TURNS)]
    return {name: (statistics.median(turn[name][0] for turn in turns), turns[0][name][1]) for name in ways}


def rounded(rate: float) -> str:
    return f"{float(f'{rate:.3g}'):,.0f}"


# What runs in the environment, one part a process.


def hybrid(_: argparse.Namespace) -> list[str]:
    """Lists for users with features, beside Vowpal Wabbit."""
    import numpy as np
    from click_bandits import Policy
    from vowpalwabbit import Workspace

    lines = ["| D | Vowpal Wabbit, items as text | Vowpal Wabbit, items parsed once | click-bandits, `hybrid-ts` |", "|---|---|---|---|"]
    rng = np.random.default_rng(1)
    for d, (of_users, of_items) in {20: (3, 4), 100: (9, 9), 400: (19, 19)}.items():
        items, users = rng.normal(size=(1000, of_items)), rng.normal(size=(1000, of_users))
        policy = Policy(
            "hybrid-ts", "cascade", items=1000, positions=12, item_features=items, user_features=of_users, seed=1
        )
        first = np.eye(12, dtype=bool)[rng.integers(0, 12, 100)]
        for _turn in range(5):
            policy.update_batch(policy.select_batch(100, features=users[:100]), first)

        def text(namespace: str, numbers: Any) -> str:
            return f"|{namespace} " + " ".join(f"{namespace}{i}:{number:.4f}" for i, number in enumerate(numbers))

        asked = ["shared " + text("U", user) for user in users[:20]]
        actions = [text("I", item) for item in items]
        peer = Workspace("--cb_explore_adf -q UI --epsilon 0.05 --quiet")
        for user in asked:
            peer.learn([user, "0:-1:0.05 " + actions[0], *actions[1:]])
        parsed = [peer.example(action) for action in actions]

        def once() -> None:
            for user in asked:
                peer.predict([peer.example(user), *parsed])

        ways = {
            "text": lambda: [peer.predict([user, *actions]) for user in asked],
            "once": once,
            "ours": lambda: policy.select_batch(1000, features=users),
        }
        times = in_turn(ways)
        rates = [len(asked) / times["text"][0], len(asked) / times["once"][0], 1000 / times["ours"][0]]
        lines.append(f"| {d} | {' | '.join(map(rounded, rates))} |")
    return lines


def log(n: int) -> tuple[dict[str, Any], Any]:
    """Sessions of users of the dependent click model, as columns and by session; the truth."""
    import numpy as np

    truth = 0.02 + 0.02 * np.arange(KNOWN)
    rng = np.random.default_rng(1)
    query = rng.integers(0, QUERIES, n)
    item = rng.permuted(np.tile(np.arange(KNOWN), (n, 1)), axis=1)[:, :SHOWN]
    is_attractive = rng.random((n, SHOWN)) < truth[item]
    stops = is_attractive & (rng.random((n, SHOWN)) < 0.4)
    click = (is_attractive & ~(np.cumsum(stops, axis=1) - stops > 0)).astype(np.int64)
    columns = {"query": query.repeat(SHOWN), "item": item.ravel(), "position": np.tile(np.arange(1, SHOWN + 1), n)}
    columns |= {"click": click.ravel(), "session": np.arange(n).repeat(SHOWN)}
    return columns, truth


def fits(given: argparse.Namespace) -> list[str]:
    """DCM and SDBN, beside PyClick if there is a checkout."""
    import numpy as np
    from click_bandits import fit

    lines = ["| model | sessions | PyClick | click-bandits, `prior=2` | click-bandits, estimated prior |", "|---|---|---|---|---|"]
    for n in (int(2_000 * given.scale), int(20_000 * given.scale)):
        columns, truth = log(n)
        for name in ("dcm", "sdbn"):

            def fitted(**prior: float) -> Any:
                return fit(columns, model=name, intervals=False, held_out=0, threads=1, **prior)

            ways: dict[str, Callable[[], Any]] = {"prior=2": lambda: fitted(prior=2.0), "estimated": fitted}
            if given.pyclick:
                ways = {"PyClick": pyclick(columns, name), **ways}
            cells = {"PyClick": "-"}
            for way, (seconds, result) in in_turn(ways).items():
                if way == "PyClick":
                    estimates = [[int(item), value] for (_, item), value in result().items()]
                else:
                    rows = [row for row in result.parameters if row["kind"] == "attraction"]
                    estimates = [[int(row["item"]), row["estimate"]] for row in rows]
                error = float(np.mean([abs(truth[item] - estimate) for item, estimate in estimates]))
                cells[way] = f"{seconds:.4f} s, {error:.3f}"
            lines.append(f"| {name} | {n:,} | {cells['PyClick']} | {cells['prior=2']} | {cells['estimated']} |")
    return lines


def pyclick(columns: dict[str, Any], name: str) -> Callable[[], Any]:
    """Trains PyClick's model on its own sessions; the result returns attraction by document."""
    module = importlib.import_module(f"pyclick.click_models.{name.upper()}")
    result = importlib.import_module("pyclick.search_session.SearchResult").SearchResult
    session = importlib.import_module("pyclick.search_session.SearchSession").SearchSession
    sessions, documents = [], set()
    rows = list(zip(columns["query"].tolist(), columns["item"].tolist(), columns["click"].tolist()))
    for start in range(0, len(rows), SHOWN):
        one = session(rows[start][0])
        one.web_results = [result(item, click) for _, item, click in rows[start : start + SHOWN]]
        documents |= {(query, item) for query, item, _ in rows[start : start + SHOWN]}
        sessions.append(one)
    theirs = getattr(module, name.upper())

    def trained() -> Any:
        model = theirs()
        model.train(sessions)
        attraction = model.params[theirs.param_names.attr]
        return lambda: {document: attraction.get(*document).value() for document in documents}

    return trained


def counts(given: argparse.Namespace) -> list[str]:
    """Displays and clicks of every query, item and position of a file of CSV."""
    import duckdb
    import numpy as np
    import polars

    rng, n = np.random.default_rng(2), int(2_000_000 * given.scale)
    lines = ["| rows | cells | click-bandits | polars | duckdb |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log.csv")
        query, item = rng.zipf(1.2, n) % 50_000, rng.integers(0, 20, n)
        columns = {"query": query, "item": item, "position": 1 + (query + item) % 10, "click": rng.integers(0, 2, n), "impressions": 1}
        polars.DataFrame(columns).write_csv(path)
        keys = ["query", "item", "position"]

        def by_polars() -> int:
            scan = polars.scan_csv(path).group_by(keys)
            return scan.agg(polars.col("click").sum(), polars.col("impressions").sum()).collect().height

        def by_duckdb() -> int:
            found = duckdb.sql(f"select {', '.join(keys)}, sum(click), sum(impressions) from '{path}' group by all")
            return int(found.aggregate("count(*)").fetchall()[0][0])

        ways: dict[str, Callable[[], Any]] = {"polars": by_polars, "duckdb": by_duckdb}
        if given.program:
            count = [given.program, "count", "delimited", path]
            ways["ours"] = lambda: subprocess.run(count, check=True, capture_output=True)
        times = in_turn(ways)
        ours = f"{times['ours'][0]:.2f} s" if "ours" in times else "-"
        cells = [f"{n:,}", f"{times['polars'][1]:,}", ours, *(f"{times[name][0]:.2f} s" for name in ("polars", "duckdb"))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


PARTS: dict[str, tuple[str, Callable[[argparse.Namespace], list[str]]]] = {
    "hybrid": ("Lists for users with features, selections per CPU-second:", hybrid),
    "fits": ("Fits of sessions of ten results: CPU time, and mean error of the attraction of a document:", fits),
    "counts": ("Counting a CSV file into displays and clicks of a query, item and position, CPU time:", counts),
}


# What starts them.


def environment(package: pathlib.Path) -> tuple[pathlib.Path, dict[str, str], list[str]]:
    """The interpreter, its variables, and what did not install."""
    python, said = ROOT / "bin" / "python", ROOT / "missing.json"
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if not said.exists():
        venv.create(ROOT, clear=True, with_pip=True)
        subprocess.run([*pip, *PINNED], check=True)
        missing = []
        for name, requirement in PEERS.items():
            done = subprocess.run([*pip, requirement, *PINNED], capture_output=True, text=True)
            if done.returncode:
                lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["no reason given"]
                missing.append(f"{name} does not install: `{lines[-1].strip().split(': for help')[0][:60]}`")
        said.write_text(json.dumps(missing))
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    paths = [str(HERE / "adapters")]
    if package.suffix == ".whl":
        subprocess.run([*pip, "--no-deps", "--force-reinstall", str(package)], check=True)
    else:
        paths.append(str(package))
    variables = {**os.environ, **threads, "PYTHONWARNINGS": "ignore", "POLARS_MAX_THREADS": "1", "PYTHONPATH": ":".join(paths)}
    return python, variables, json.loads(said.read_text())


class Player:
    """A process that plays the rows of an adapter, see `adapters/one_row.py`."""

    def __init__(self, python: pathlib.Path, variables: dict[str, str], peer: str) -> None:
        command = [str(python), str(HERE / "adapters" / "one_row.py"), f"play_{peer}"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        pipes["stderr"] = self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, text=True, env=variables, **pipes)
        self.peer, self.rates = peer, {}
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            errors = self.errors.read().strip().splitlines() or ["no reason given"]
            raise RuntimeError(f"{peer} does not run: `{errors[-1][:160]}`")
        self.rows: list[dict[str, str]] = json.loads(line)

    def ask(self, row: int) -> float:
        self.process.stdin.write(f"{row} speed\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["rate"]


def games(python: pathlib.Path, variables: dict[str, str], missing: list[str]) -> list[str]:
    players = []
    for peer in GAMES:
        try:
            players.append(Player(python, variables, peer))
        except RuntimeError as error:
            if not any(said.lower().startswith(f"{peer} does not install") for said in missing):
                missing.append(str(error))
    rates: dict[tuple[str, str, str, str], list[float]] = {}
    for _ in range(TURNS):
        for player in players:
            for number, row in enumerate(player.rows):
                key = (row["task"], player.peer.replace("_", "-"), row["policy"], row["how"])
                rates.setdefault(key, []).append(player.ask(number))
    lines = ["| game | package | policy | called | rounds per CPU-second |", "|---|---|---|---|---|"]
    medians = {key: statistics.median(all_rates) for key, all_rates in rates.items()}
    for key in sorted(medians, key=lambda key: (key[0], -medians[key])):
        lines.append(f"| {' | '.join(key)} | {rounded(medians[key])} |")
    for player in players:
        player.process.stdin.close()
        player.process.wait()
    return lines + ["", *ratios(medians)]


def ratios(medians: dict[tuple[str, str, str, str], float]) -> list[str]:
    """The lead of single calls of Thompson sampling in every game."""
    said = []
    for game in ("arms", "lists", "duels"):
        rows = {key: rate for key, rate in medians.items() if key[0] == game and "singly" in key[3]}
        thompson = {key: rate for key, rate in rows.items() if any(word in key[2].lower() for word in ("ts", "thompson"))}
        ours = [rate for key, rate in thompson.items() if key[1] == "click-bandits" and key[2] != "pbm-ts"]
        theirs = [rate for key, rate in thompson.items() if key[1] != "click-bandits"]
        if ours and theirs:
            low, high = ours[0] / max(theirs), ours[0] / min(theirs)
            said.append(f"{game} {rounded(low)} to {rounded(high)}")
    return [textwrap.fill(f"Thompson sampling, singly, over that of the others: {'; '.join(said)}.", 100)] if said else []


def block(given: argparse.Namespace) -> str:
    python, variables, missing = environment(given.package.resolve())
    if given.pyclick:
        variables["PYTHONPATH"] += f":{given.pyclick.resolve()}"
    else:
        missing.append("PyClick is on no registry; no checkout was given")
    if not given.program:
        missing.append("the program `log_speed` was not given, so this project does not count")
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    text = [f"{datetime.date.today():%d %B %Y}, commit {commit}, {platform.machine()}, load {os.getloadavg()[0]:.1f};"]
    text += ["CPU time, medians of five in turn, written by `benches/peers.py`.", "", "The games:", ""]
    text += games(python, variables, missing)
    for part, (title, _) in PARTS.items():
        command = [str(python), __file__, *sys.argv[1:], "--part", part]
        done = subprocess.run(command, capture_output=True, text=True, env=variables)
        if done.returncode:
            errors = done.stderr.strip().splitlines() or ["no reason given"]
            missing.append(f"the part {part} does not run: `{errors[-1][:160]}`")
        else:
            text += ["", title, "", done.stdout.strip()]
    if missing:
        text += ["", "Not measured:", "", *(f"- {one}" for one in missing)]
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--pyclick", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        print("\n".join(PARTS[given.part][1](given)))
        return
    written = block(given)
    print(written)
    if not given.print:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + written + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
