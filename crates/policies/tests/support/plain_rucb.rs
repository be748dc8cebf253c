//! RUCB straight from the paper: both matrices anew in every step. Choices that the paper leaves
//! open are made as in `policies::Rucb`.

#![allow(dead_code, reason = "tests and benches each use their part")]

use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::math::ln;
use policies::{Decision, Select, Update};
use rand::Rng;

/// The plain version.
#[derive(Debug, Clone)]
pub(crate) struct PlainRucb {
    pub(crate) alpha: f64,
    pub(crate) unseen: f64,
    pub(crate) t: u64,
    /// `wins[i][j]`: how often `i` beat `j`.
    pub(crate) wins: Vec<Vec<f64>>,
}

impl PlainRucb {
    pub(crate) fn new(shape: DuelShape, alpha: f64) -> Self {
        Self { alpha, unseen: 2.0, t: 0, wins: vec![vec![0.0; shape.n_items()]; shape.n_items()] }
    }

    /// Lines 3 and 4.
    pub(crate) fn upper(&self, t: u64) -> Vec<Vec<f64>> {
        let level = self.alpha * ln(t as f64);
        let bound = |i: usize, j: usize| {
            let duels = self.wins[i][j] + self.wins[j][i];
            if i == j {
                0.5
            } else if duels == 0.0 {
                self.unseen
            } else {
                self.wins[i][j] / duels + (level / duels).sqrt()
            }
        };
        let items = 0..self.wins.len();
        items.clone().map(|i| items.clone().map(|j| bound(i, j)).collect()).collect()
    }

    /// Line 5.
    pub(crate) fn champions(upper: &[Vec<f64>]) -> Vec<usize> {
        (0..upper.len()).filter(|&c| upper[c].iter().all(|&u| u >= 0.5)).collect()
    }

    /// Line 6.
    pub(crate) fn rivals(upper: &[Vec<f64>], champion: usize) -> Vec<usize> {
        let best = upper.iter().map(|row| row[champion]).fold(f64::NEG_INFINITY, f64::max);
        (0..upper.len()).filter(|&j| upper[j][champion] == best).collect()
    }

    /// The result, ties included.
    pub(crate) fn returned(&self) -> Vec<usize> {
        let k = self.wins.len();
        let beaten = |c: usize| (0..k).filter(|&j| self.wins[c][j] > self.wins[j][c]).count();
        let most = (0..k).map(beaten).max();
        (0..k).filter(|&c| Some(beaten(c)) == most).collect()
    }
}

/// The candidate at the drawn place.
fn draw(candidates: &[usize], draw: u64) -> usize {
    candidates[usize::try_from((u128::from(draw) * candidates.len() as u128) >> 64).expect("a place")]
}

impl Select<Pair> for PlainRucb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        self.t += 1;
        let (first_draw, second_draw) = (rng.next_u64(), rng.next_u64());
        let upper = self.upper(self.t);
        let mut champions = Self::champions(&upper);
        if champions.is_empty() {
            champions = (0..upper.len()).collect();
        }
        let champion = draw(&champions, first_draw);
        let rival = draw(&Self::rivals(&upper, champion), second_draw);
        out.action = Pair::new(ItemId::from_index(champion), ItemId::from_index(rival));
    }
}

impl Update<Pair, DuelOutcome> for PlainRucb {
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Pair { first, second } = decision.action;
        if first != second {
            let (winner, loser) = if feedback.first_won() { (first, second) } else { (second, first) };
            self.wins[winner.index()][loser.index()] += 1.0;
        }
    }
}
