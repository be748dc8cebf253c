//! Elimination on rank-one users by whole sweeps: the same distribution as the round loop, and
//! hundreds of times faster.
//!
//! Within a stage, an elimination needs only the clicks of every row and every column, and the
//! cells that it plays do not depend on clicks. So instead of single rounds, `m` sweeps are drawn
//! at once. The numbers of times that the sweeps use each random column are multinomial. Given
//! these numbers, the clicks of a row are a sum of binomials, one per column, independent of those
//! of the other rows, since no two plays share a round. Columns with the same probability are
//! merged. A stretch ends at the end of the stage or at the last sweep before a checkpoint; the
//! remaining rounds up to the checkpoint are played one by one. So curves have the exact
//! distribution at every checkpoint.
//!
//! Reference: none needed. Deviations: the users differ from those of the other contenders of a
//! replication, so pairing does not reduce the variance of differences to them. Numerics: see
//! `binomial`. Complexity: O(K + L) binomials for every pair of a stretch and a distinct
//! probability (`UCB1Elim`: one per arm), independently of the number of rounds.

use crate::binomial::{binomial, multinomial};
use crate::contender::plays_curves;
use crate::run::{Rounds, on_streams};
use crate::session::{EarlyEnd, Player};
use crate::state::Progress;
use crate::{Curve, Entry, Restarts, Saver, Schedule, SimRng};
use click_models::{Cell, CellClick, ClickModel, RankOneModel, TableShape};
use policies::{Rank1Elim, Ucb1Elim, Update};

/// Fewer sweeps than this are played round by round.
const FEWEST_SWEEPS: u64 = 4;

/// The totals of rounds that were played at once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stretch {
    /// Number of rounds; 0 if no sweep could be played.
    pub rounds: u64,
    /// Their expected regret.
    pub regret: f64,
    /// Their clicks.
    pub clicks: u64,
}

/// A policy whose plays within a stage are sweeps that do not depend on clicks.
pub trait InSweeps: Update<Cell, CellClick> {
    /// Plays whole sweeps up to the end of the stage, but at most `most_rounds` rounds, and learns
    /// from them.
    fn play_sweeps(
        &mut self,
        model: &RankOneModel,
        most_rounds: u64,
        environment: &mut SimRng,
        randomness: &mut SimRng,
    ) -> Stretch;
}

/// [`play`](crate::play) by whole sweeps as far as possible.
///
/// # Panics
///
/// If the policy plays a cell that the model does not have.
pub fn play_in_stages<P: InSweeps>(
    model: &RankOneModel,
    policy: &mut P,
    schedule: &Schedule,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> Curve {
    on_streams(environment, randomness, schedule, &mut Stages::<P, Restarts>(Rounds::new(model, policy)))
}

/// A policy that plays stretches of whole sweeps, or else single rounds.
struct Stages<'a, P: InSweeps, S>(Rounds<'a, RankOneModel, P, S>);

impl<P: InSweeps, S: Saver<P>> Player for Stages<'_, P, S> {
    fn advance(&mut self, progress: &mut Progress, last: u64) -> Result<(), EarlyEnd> {
        let Rounds { model, policy, .. } = &mut self.0;
        let Progress { environment, randomness, .. } = progress;
        let stretch = policy.play_sweeps(model, last - progress.rounds, environment, randomness);
        if stretch.rounds > 0 {
            progress.rounds += stretch.rounds;
            progress.regret += stretch.regret;
            progress.clicks += stretch.clicks as f64;
            return Ok(());
        }
        self.0.advance(progress, progress.rounds + 1)
    }

    fn write(&self) -> Result<Vec<u8>, String> {
        self.0.write()
    }
}

/// The loop of eliminations, by whole sweeps.
#[derive(Debug, Clone, Copy)]
pub struct BySweeps;

impl<F> Entry<F, Restarts, BySweeps> {
    /// Enters the elimination that `build` constructs from the [`TableShape`] under the name
    /// `label`, simulated by whole sweeps.
    pub fn sweeps(label: impl Into<String>, build: F) -> Self {
        Self::played_by(BySweeps, label, build)
    }
}

plays_curves!(BySweeps as Stages, [] RankOneModel, TableShape, [InSweeps],
    |entry, replication| replication.told.known(),
    |policy| Stages::<P, S>(Rounds::new(replication.users, policy)));

/// The random partners of a sweep: rows (or columns), grouped by probability.
#[derive(Debug)]
struct Partners {
    /// One representative of each group.
    examples: Vec<u32>,
    weights: Vec<u64>,
}

impl Partners {
    fn new(left: &[u32], weights: &[u32], probability: impl Fn(u32) -> f64) -> Self {
        let mut members: Vec<(u32, u32)> = left.iter().copied().zip(weights.iter().copied()).collect();
        members.sort_by(|a, b| probability(a.0).total_cmp(&probability(b.0)));
        let mut partners = Self { examples: vec![], weights: vec![] };
        for (member, weight) in members {
            let is_known =
                partners.examples.last().is_some_and(|&last| probability(last) == probability(member));
            if !is_known {
                partners.examples.push(member);
                partners.weights.push(0);
            }
            *partners.weights.last_mut().expect("one has been pushed") += u64::from(weight);
        }
        partners
    }
}

/// Clicks of all members of one side in `sweeps` sweeps on shared random partners, and the regret
/// of these sweeps.
fn side(
    sweeps: u64,
    left: &[u32],
    partners: &Partners,
    model: &RankOneModel,
    cell: impl Fn(u32, u32) -> Cell,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> (Vec<u64>, f64) {
    let mut counts = vec![];
    multinomial(sweeps, &partners.weights, randomness, &mut counts);
    let mut regret = 0.0;
    let mut clicks = Vec::with_capacity(left.len());
    for &member in left {
        let mut sum = 0;
        for (&partner, &count) in partners.examples.iter().zip(&counts) {
            let cell = cell(member, partner);
            regret += count as f64 * model.gap(&cell);
            sum += binomial(count, model.expected_reward(&cell), environment);
        }
        clicks.push(sum);
    }
    (clicks, regret)
}

/// Returns whether the model has all these rows, columns or cells. A policy from the state of
/// another replication may have others; its rounds are played one by one, and the first one with a
/// cell that the model does not have ends the replication.
fn all_below(numbers: &[u32], size: usize) -> bool {
    numbers.iter().all(|&number| (number as usize) < size)
}

impl InSweeps for Rank1Elim {
    fn play_sweeps(
        &mut self,
        model: &RankOneModel,
        most_rounds: u64,
        environment: &mut SimRng,
        randomness: &mut SimRng,
    ) -> Stretch {
        let before_the_end = self.whole_sweeps(randomness);
        let (rows, columns) = (self.remaining_rows(), self.remaining_columns());
        let length = (rows.len() + columns.len()) as u64;
        let sweeps = before_the_end.min(most_rounds / length);
        // The items are looked at only if there is something to play: a stage's last rounds come
        // here one by one.
        let are_known = || all_below(rows, model.rows().len()) && all_below(columns, model.columns().len());
        if sweeps < FEWEST_SWEEPS || !are_known() {
            return Stretch::default();
        }
        let row_partners = Partners::new(rows, self.row_weights(), |row| model.rows()[row as usize].get());
        let column_partners =
            Partners::new(columns, self.column_weights(), |column| model.columns()[column as usize].get());
        let on_columns = |row, column| Cell::new(row, column);
        let (row_clicks, row_regret) =
            side(sweeps, rows, &column_partners, model, on_columns, environment, randomness);
        let on_rows = |column, row| Cell::new(row, column);
        let (column_clicks, column_regret) =
            side(sweeps, columns, &row_partners, model, on_rows, environment, randomness);
        self.add_sweeps(sweeps, &row_clicks, &column_clicks);
        Stretch {
            rounds: sweeps * length,
            regret: row_regret + column_regret,
            clicks: row_clicks.iter().chain(&column_clicks).sum(),
        }
    }
}

impl InSweeps for Ucb1Elim {
    fn play_sweeps(
        &mut self,
        model: &RankOneModel,
        most_rounds: u64,
        environment: &mut SimRng,
        _randomness: &mut SimRng,
    ) -> Stretch {
        let before_the_end = self.whole_sweeps();
        let length = self.remaining_cells().len() as u64;
        let sweeps = before_the_end.min(most_rounds / length);
        if sweeps < FEWEST_SWEEPS || !all_below(self.remaining_cells(), model.shape().n_cells()) {
            return Stretch::default();
        }
        let mut regret = 0.0;
        let clicks: Vec<u64> = self
            .remaining_cells()
            .iter()
            .map(|&number| {
                let cell = model.shape().cell(number as usize);
                regret += sweeps as f64 * model.gap(&cell);
                binomial(sweeps, model.expected_reward(&cell), environment)
            })
            .collect();
        self.add_sweeps(sweeps, &clicks);
        Stretch { rounds: sweeps * length, regret, clicks: clicks.iter().sum() }
    }
}

#[cfg(test)]
mod tests;
