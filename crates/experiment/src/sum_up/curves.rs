//! Sums up runs with regret and clicks at checkpoints.

use super::SumUp;
use crate::draws::DrawsOfRuns;
use crate::journal::JournalError;
use crate::result::{
    Bound, Curves, Difference, MeanAndError, MeanSe, Optimum, PolicyResult, PolicySummary, ResultFile,
    Spreads,
};
use crate::runs::{Quantity, Runs};
use click_models::Yardsticks;

/// Bytes of the regrets that are in memory at once: those of all policies at some checkpoints.
const BLOCK: usize = 1 << 27;

pub(super) fn result(sum_up: &SumUp<'_>, runs: &Runs) -> Result<(ResultFile, Vec<Spreads>), JournalError> {
    let experiment = sum_up.experiment;
    let checkpoints = experiment.checkpoints();
    let draws = sum_up.draws(runs);
    let last = checkpoints.len().saturating_sub(1);
    let end = |policy| Ok(draws.mean_and_error(&runs.column(policy, Quantity::Regret, last)?).mean);
    let pairs =
        sum_up.pairs_of_curves(&(0..runs.n_policies()).map(end).collect::<Result<Vec<_>, JournalError>>()?);
    let mut spreads = vec![Spreads::default(); runs.n_policies()];
    let mut differences = vec![(MeanSe::default(), None); pairs.len()];
    let column = (runs.n_policies() * runs.n_runs() * size_of::<f64>()).max(1);
    for first in (0..checkpoints.len()).step_by((BLOCK / column).max(1)) {
        let block = first..(first + (BLOCK / column).max(1)).min(checkpoints.len());
        let mut regrets = Vec::new();
        for (policy, spreads) in spreads.iter_mut().enumerate() {
            let columns = |quantity| runs.columns(policy, quantity, block.clone());
            let regret = columns(Quantity::Regret)?;
            spreads.regret.add_all(&regret, &draws);
            spreads.clicks.add_all(&columns(Quantity::Clicks)?, &draws);
            if runs.has_accuracy(policy) {
                spreads.accuracy.get_or_insert_default().add_all(&columns(Quantity::Accuracy)?, &draws);
            }
            regrets.push(regret);
        }
        for (&(a, b), (differences, of_users)) in pairs.iter().zip(&mut differences) {
            for (a, b) in regrets[a].iter().zip(&regrets[b]) {
                let sample: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
                differences.add(&sample, &draws);
                // The share at the last checkpoint is the one that stays.
                *of_users = draws.share_of_users(&sample);
            }
        }
    }
    let policy = |((label, policy), spreads): (&(&str, &str), &Spreads)| PolicyResult {
        label: (*label).to_owned(),
        policy: (*policy).to_owned(),
        delta: None,
        summary: PolicySummary::Curves(Curves {
            t: checkpoints.to_vec(),
            regret: spreads.regret.clone(),
            clicks: MeanSe { mean: spreads.clicks.mean.clone(), se: spreads.clicks.se.clone() },
            accuracy: spreads.accuracy.as_ref().map_or_else(Vec::new, |accuracy| accuracy.mean.clone()),
        }),
    };
    let difference =
        |(regret, of_users)| Difference::Curves { t: checkpoints.to_vec(), regret, share_of_users: of_users };
    let users =
        experiment.instances().values_of_users(experiment.assignment(), experiment.seed(), runs.instances());
    let result = ResultFile {
        policies: sum_up.names.iter().zip(&spreads).map(policy).collect(),
        paired: sum_up.paired(pairs.into_iter().zip(differences.into_iter().map(difference))),
        bounds: [experiment.bounds(users.lower_bound), yardsticks(checkpoints, &users.yardsticks, &draws)]
            .concat(),
        // The best list is another one in every round if items or attractions change.
        optimum: (!experiment.live().users_change())
            .then(|| optimum(checkpoints, &users.optimal_clicks, &draws)),
        ..sum_up.head()
    };
    Ok((result, spreads))
}

/// The clicks of the best lists. `optimal_clicks` has the expected clicks per round for every run.
fn optimum(checkpoints: &[u64], optimal_clicks: &[f64], draws: &DrawsOfRuns) -> Optimum {
    let mut clicks = MeanSe::default();
    for &checkpoint in checkpoints {
        let sample: Vec<f64> = optimal_clicks.iter().map(|clicks| clicks * checkpoint as f64).collect();
        clicks.add(&sample, draws);
    }
    Optimum { t: checkpoints.to_vec(), clicks }
}

impl MeanSe {
    /// Adds the next checkpoint, with the values of all runs.
    fn add(&mut self, sample: &[f64], draws: &DrawsOfRuns) {
        let MeanAndError { mean, se } = draws.mean_and_error(sample);
        self.mean.push(mean);
        self.se.push(se);
    }
}

/// The loss of lists that are not personal, on users who differ. `yardsticks` are those of every
/// run; the list of a segment is left out if all users are of one.
fn yardsticks(checkpoints: &[u64], yardsticks: &[Yardsticks], draws: &DrawsOfRuns) -> Vec<Bound> {
    let lost = |label: &str, of_run: fn(&Yardsticks) -> f64| {
        let sample: Vec<f64> = yardsticks.iter().map(of_run).collect();
        let each = draws.mean_and_error(&sample).mean;
        let value = checkpoints.iter().map(|&t| each * t as f64).collect();
        Bound { label: label.to_owned(), t: checkpoints.to_vec(), value }
    };
    if yardsticks.is_empty() {
        return vec![];
    }
    let have_segments = yardsticks.iter().any(|run| run.best_list != run.best_list_of_segment);
    let of_segment = have_segments.then(|| lost(Bound::BEST_OF_SEGMENT, |run| run.best_list_of_segment));
    std::iter::once(lost(Bound::BEST_LIST, |run| run.best_list)).chain(of_segment).collect()
}
