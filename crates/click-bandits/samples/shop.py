"""A synthetic click log: `python3 shop.py > shop.csv`; `python3 shop.py truth` prints true rates.

A shop answers three queries with lists of three of six products. It orders them by an old score
with noise, and the most attractive products have low scores. A visitor examines positions 1, 2, 3
with the probabilities below, and clicks an examined product with the probability of its attraction.
"""

import random
import sys

VISITS = 700
DAYS = 14
EXAMINATION = [0.95, 0.7, 0.5]
QUERIES = ["lamp", "rug", "chair"]
ATTRACTION = [0.15, 0.2, 0.1, 0.3, 0.6, 0.5]  # of product 1 to 6 of a query, in the order of the score
NOISE = 2  # standard deviation, in ranks

draw = random.Random(2)


def todays_list():
    ranks = [draw.gauss(rank, NOISE) for rank in range(len(ATTRACTION))]
    return sorted(range(len(ATTRACTION)), key=ranks.__getitem__)[: len(EXAMINATION)]


def clicks(products):
    return sum(examination * ATTRACTION[product] for product, examination in zip(products, EXAMINATION))


if sys.argv[1:] == ["truth"]:
    best = sorted(range(len(ATTRACTION)), key=ATTRACTION.__getitem__, reverse=True)
    today = sum(clicks(todays_list()) for _ in range(100_000)) / 100_000
    print(f"clicks per 1,000 lists: today {1000 * today:.0f}, best {1000 * clicks(best):,.0f}")
else:
    print("day,visit,query,product,position,click")
    for visit in range(VISITS):
        day = visit * DAYS // VISITS + 1
        query = QUERIES[int(draw.random() * len(QUERIES))]
        for position, (product, examination) in enumerate(zip(todays_list(), EXAMINATION), 1):
            click = int(draw.random() < examination * ATTRACTION[product])
            print(f"2026-03-{day:02},{visit + 1},{query},{query}-{product + 1},{position},{click}")
