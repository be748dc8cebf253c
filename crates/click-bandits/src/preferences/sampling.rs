//! The sampling error of an estimated matrix, for its report.
//!
//! Reference: [`interleaving::certainty`].

use super::page::{Numbering, all_others};
use anyhow::Result;
use documents::number;
use interleaving::{Certainty, Preferences};
use report::html::Html;
use serde::Serialize;

/// The maximal probability that a statement is wrong.
const MISS: f64 = 0.05;
/// The maximal number of pairs in the table of a page.
const MAX_ROWS: usize = 10_000;

/// The sampling error of an estimated matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Sampling {
    comparisons_per_pair: u64,
    /// The maximal probability that a statement is wrong: all intervals of pairs at once, the
    /// Condorcet winner, the Borda winners.
    miss: f64,
    /// The maximal probability that a wrong Condorcet winner is named this clearly, if one is
    /// named.
    condorcet_miss: Option<f64>,
    /// The item that beats all others in the estimate.
    leader: Option<Leader>,
    /// Items that may be Copeland winners: no other item beats more for certain.
    copeland_winners: Vec<usize>,
    /// Items that may be Borda winners: no other item has a larger score for certain.
    borda_winners: Vec<usize>,
    n_told_apart: usize,
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Leader {
    item: usize,
    n_told: usize,
}

/// The probability that the first item of a pair is preferred: estimate and interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Pair {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) estimate: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

pub(super) fn pairs(preferences: &Preferences) -> Result<Vec<Pair>> {
    let certainty = preferences.certainty(MISS)?;
    let n_rankers = preferences.n_rankers();
    let pairs = (0..n_rankers).flat_map(|first| (first + 1..n_rankers).map(move |second| (first, second)));
    let pair = |(first, second)| {
        let interval = certainty.interval(first, second);
        let estimate = preferences.probability(first, second);
        Pair { first, second, estimate, lower: interval.lower, upper: interval.upper }
    };
    Ok(pairs.map(pair).collect())
}

impl Sampling {
    /// The sampling error of an estimate.
    pub(super) fn of(preferences: &Preferences) -> Result<Self> {
        let certainty = preferences.certainty(MISS)?;
        let tally = preferences.tally(0, 1);
        let pairs = pairs(preferences)?;
        Ok(Self {
            comparisons_per_pair: tally.first + tally.second + tally.ties,
            miss: MISS,
            condorcet_miss: certainty.condorcet_winner().map(|winner| winner.miss),
            leader: leader(preferences, &certainty),
            copeland_winners: certainty.copeland_winners(),
            borda_winners: certainty.borda_winners(),
            n_told_apart: certainty.n_told_apart(),
            pairs,
        })
    }

    /// The Condorcet winner, if the comparisons are sufficient.
    pub(super) fn condorcet_winner(&self) -> Option<usize> {
        self.condorcet_miss.and(self.leader).map(|leader| leader.item)
    }

    pub(super) fn condorcet(&self, numbering: &Numbering, n_others: usize) -> String {
        let (comparisons, others) =
            (number::counted(self.comparisons_per_pair, "comparison"), all_others(n_others));
        match (self.leader, self.condorcet_miss) {
            (Some(leader), Some(miss)) => format!(
                "{}, which beats {others}; so clearly a wrong one is named with probability {} at most",
                numbering.name(leader.item),
                probability(miss)
            ),
            (Some(leader), None) => format!(
                "not told by {comparisons} a pair: {} beats {others} in the estimate, {} of them clearly",
                numbering.name(leader.item),
                leader.n_told
            ),
            (None, _) => {
                format!("not told by {comparisons} a pair: no item beats all others in the estimate")
            }
        }
    }

    pub(super) fn copeland(&self, numbering: &Numbering) -> String {
        certainty_of_winner(&self.copeland_winners, numbering, self.miss)
    }

    pub(super) fn borda(&self, numbering: &Numbering) -> String {
        certainty_of_winner(&self.borda_winners, numbering, self.miss)
    }

    pub(super) fn error(&self) -> String {
        let widest = self.pairs.iter().map(|pair| pair.upper - pair.lower).fold(0.0, f64::max);
        format!(
            "{} of {} are told apart by {}; every preference lies in its interval, all of them at once with \
             probability {} (the widest is {} wide). It is about who wins comparisons: with probabilistic and balanced interleaving \
             that need not be even between rankers that users cannot tell apart; with team draft it is",
            number::grouped(self.n_told_apart as u64),
            number::counted(self.pairs.len() as u64, "pair"),
            number::counted(self.comparisons_per_pair, "comparison"),
            1.0 - self.miss,
            number::significant(widest, 2)
        )
    }

    /// Writes a table of the pairs, the least certain first.
    pub(super) fn table(&self, html: &mut Html, numbering: &Numbering) {
        let mut pairs: Vec<&Pair> = self.pairs.iter().collect();
        let clear = |pair: &Pair| (pair.lower - 0.5).max(0.5 - pair.upper);
        pairs.sort_by(|one, other| clear(one).total_cmp(&clear(other)));
        let shown = pairs.len().min(MAX_ROWS);
        html.open("details", "").element("summary", "", "Intervals of the pairs, those not told apart first");
        if shown < pairs.len() {
            let all = number::grouped(pairs.len() as u64);
            let text = format!("The first {} of {all}; `counts.csv` has all.", number::grouped(shown as u64));
            html.note(&text);
        }
        let row = |pair: &&Pair| {
            let [first, second] = [pair.first, pair.second].map(|row| numbering.name(row));
            let numbers = [pair.estimate, pair.lower, pair.upper].map(|value| number::fixed(value, 4));
            let apart = if pair.lower > 0.5 || pair.upper < 0.5 { "yes" } else { "no" };
            [&[first, second][..], &numbers, &[apart.to_owned()]].concat()
        };
        let heads = ["First", "Second", "#Preference for the first", "#From", "#To", "Told apart"];
        html.texts(&heads, pairs[..shown].iter().map(row));
        html.close("details");
    }
}

/// The item that beats all others in the estimate.
fn leader(preferences: &Preferences, certainty: &Certainty) -> Option<Leader> {
    let rankers = 0..preferences.n_rankers();
    let others = |item| rankers.clone().filter(move |&other| other != item);
    let item =
        rankers.clone().find(|&item| others(item).all(|other| preferences.probability(item, other) > 0.5))?;
    Some(Leader { item, n_told: others(item).filter(|&other| certainty.beats(item, other)).count() })
}

/// The certainty of a winner, by the items that may be winners.
fn certainty_of_winner(possible: &[usize], numbering: &Numbering, miss: f64) -> String {
    match possible {
        [_] => format!("told, wrongly with probability {miss} at most"),
        _ => format!("not told apart: {}", numbering.listed(possible)),
    }
}

/// An upper bound on a probability, which may be very small, in words.
fn probability(value: f64) -> String {
    match value {
        ..1e-12 => "1e-12".to_owned(),
        ..1e-4 => format!("{value:.0e}"),
        _ => number::significant(value, 2),
    }
}
