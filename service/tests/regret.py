"""Simulates cascade users through the client of docs/service.md, and prints the regret of each query.

usage: regret.py DOCUMENT QUERIES ROUNDS SEED ADDRESS..
Every request goes to one of the servers at random.
"""

import json
import random
import re
import sys
from pathlib import Path

ATTRACTION = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2, "e": 0.1}
POSITIONS = 3


def reward(items):
    unclicked = 1.0
    for item in items:
        unclicked *= 1.0 - ATTRACTION[item]
    return 1.0 - unclicked


def main(document, queries, rounds, seed, *addresses):
    client = {}
    exec(re.search(r"```python\n(.*?)```", Path(document).read_text(), re.DOTALL).group(1), client)
    servers = [client["Lists"](address) for address in addresses]
    users = random.Random(int(seed))
    best = reward(sorted(ATTRACTION, key=ATTRACTION.get)[-POSITIONS:])
    regret = [0.0] * int(queries)
    for number in range(int(rounds)):
        ids = [f"{query}-{number}" for query in range(int(queries))]
        asks = [{"id": id, "query": f"q{query}"} for query, id in enumerate(ids)]
        answers = []
        for query, decision in enumerate(users.choice(servers).post("/v1/decide/batch", asks)):
            items = [slot["item"] for slot in decision["items"]]
            regret[query] += best - reward(items)
            clicked = [place for place, item in enumerate(items, 1) if users.random() < ATTRACTION[item]]
            answers.append({"id": ids[query], "clicks": clicked[:1], "close": True})
        users.choice(servers).post("/v1/clicks/batch", answers)
    print(json.dumps(regret))


main(*sys.argv[1:])
