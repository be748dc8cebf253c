"""A simulated site: 20 searches of 12 items each, whose users look from the top and click once.

usage: site.py log SESSIONS        prints the log of today's ranking, a row for each position
       site.py visit ADDRESS LISTS sends today's lists to a service in a launch, and clicks
       site.py best ADDRESS        prints the items that the service knows as best, as a ranking

Users come back, and their clicks are those of the list that the service answers with.
"""

import http.client
import itertools
import json
import os
import random
import sys
import time
import urllib.parse

POSITIONS, USERS = 5, 3_000
shop = random.Random(7)
QUERIES = [f"search {number}" for number in range(20)]
# Attraction of each item; today's ranking knows it badly.
ITEMS = {query: {f"item {n}": shop.betavariate(1, 9) for n in range(12)} for query in QUERIES}
TODAY = {
    query: sorted(items, key=lambda item: items[item] + shop.gauss(0, 0.3), reverse=True)
    for query, items in ITEMS.items()
}


def clicks(query, items, users):
    """The position of the first item that attracts, counted from 1."""
    attracts = (place for place, item in enumerate(items, 1) if users.random() < ITEMS[query][item])
    return list(itertools.islice(attracts, 1))


def log(sessions):
    users = random.Random(1)
    print("query,session,user,position,item,click")
    for session in range(int(sessions)):
        query, user = users.choice(QUERIES), users.randrange(USERS)
        items = TODAY[query][:]
        # Now and then an editor moves an item up.
        place = users.randrange(1, len(items))
        items[place - 1 : place + 1] = reversed(items[place - 1 : place + 1])
        clicked = clicks(query, items[:POSITIONS], users)
        for position, item in enumerate(items[:POSITIONS], 1):
            print(f"{query},{session},u{user},{position},{item},{int(position in clicked)}")


def connect(address):
    """A connection to a service, once it takes requests."""
    for _ in range(100):
        connection = http.client.HTTPConnection(address, timeout=30)
        try:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return connection
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"{address}: no service takes requests")


def visit(address, lists):
    users, connection = random.Random(), connect(address)

    def post(path, body):
        connection.request("POST", path, json.dumps(body))
        answer = json.load(connection.getresponse())
        refused = [entry for entry in answer if "error" in entry]
        if refused:
            sys.exit(f"{path}: {answer if isinstance(answer, dict) else refused[0]}")
        return answer

    shown, clicked = {"policy": 0, "baseline": 0}, {"policy": 0, "baseline": 0}
    for _ in range(int(lists) // 100):
        asks = []
        for query in users.choices(QUERIES, k=100):
            user = f"u{users.randrange(USERS)}"
            asks.append({"id": os.urandom(8).hex(), "query": query, "user": user, "baseline": TODAY[query]})
        answers = []
        for ask, answer in zip(asks, post("/v1/decide/batch", asks)):
            found = clicks(ask["query"], [slot["item"] for slot in answer["items"]], users)
            shown[answer["side"]] += 1
            clicked[answer["side"]] += len(found)
            answers.append({"id": ask["id"], "clicks": found, "close": True})
        post("/v1/clicks/batch", answers)
    for side, number in shown.items():
        print(f"{side}: {number} lists, {clicked[side] / max(number, 1):.3f} clicks a list")


def best(address):
    connection = connect(address)
    print("query,item,position")
    for query in QUERIES:
        connection.request("GET", f"/v1/items?query={urllib.parse.quote(query)}")
        rows = json.load(connection.getresponse())["items"]
        rows.sort(key=lambda row: row["interval"][0], reverse=True)
        for position, row in enumerate(rows[:POSITIONS], 1):
            print(f"{query},{row['item']},{position}")


{"log": log, "visit": visit, "best": best}[sys.argv[1]](*sys.argv[2:])
