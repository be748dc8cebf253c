//! The value of lists under a posterior distribution: today's lists, the best ones, and the best
//! one that is surely better than today's.

use super::posterior::Posterior;
use super::{Instance, Member};
use click_models::{ClickModel, Interaction, Ranking};
use itertools::Itertools as _;
use policies::Logged;
use sim::SimRng;

/// The probability with which the list that is found has to be better than today's lists. Several
/// lists are looked at, so each of them has to be better with the probability
/// `1 - (1 - SURE) / candidates` (Bonferroni).
pub const SURE: f64 = 0.95;
/// Draws whose best lists are looked at as candidates.
const CANDIDATES: usize = 20;
/// The most frequent lists of the log that are looked at as candidates.
const FREQUENT: usize = 5;
/// Candidates are also the best lists for users this many standard deviations below the means.
const PESSIMISM: [f64; 3] = [0.5, 1.0, 2.0];

/// Expected clicks per list on an instance, in each of a number of draws from the posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The name of the instance.
    pub name: Option<String>,
    /// How often the log shows its lists.
    pub n_lists: u64,
    /// Values of the log's lists, with their frequencies.
    pub today: Vec<f64>,
    /// Values of the best list for the drawn users, which nobody knows.
    pub best: Vec<f64>,
    /// Values of [`Evidence::fitted_list`].
    pub fitted: Vec<f64>,
    /// The best list for users with the mean parameters.
    pub fitted_list: Ranking,
    /// The list with the most expected clicks among those that are better than today's lists with a
    /// probability of [`SURE`], and its expected clicks. `None` if none was found.
    pub sure: Option<(Ranking, Vec<f64>)>,
}

/// The evidence on an instance from this number of draws; `None` if its users are not drawn.
pub(crate) type EvidenceOf<M> = fn(&Instance<M>, &Logged, usize, &mut SimRng) -> Option<Evidence>;

/// The evidence on an instance; `None` if its users are not drawn from a posterior.
pub(super) fn of_lists<M>(
    instance: &Instance<M>,
    logged: &Logged,
    n_draws: usize,
    rng: &mut SimRng,
) -> Option<Evidence>
where
    M: Member + ClickModel<Interaction: Interaction<Action = Ranking>>,
{
    let posterior = instance.posterior.as_deref()?;
    let draws: Vec<M> = (0..n_draws).filter_map(|_| posterior.draw(rng)).collect();
    let values =
        |list: &Ranking| -> Vec<f64> { draws.iter().map(|users| users.expected_clicks(list)).collect() };
    let today: Vec<f64> = draws.iter().map(|users| logged.mean(|list| users.expected_clicks(list))).collect();
    let fitted_list = instance.model.optimal_action();
    let candidates = candidates(instance, posterior, logged, &draws);
    let level = 1.0 - (1.0 - SURE) / candidates.len() as f64;
    let better = |values: &[f64]| {
        let n_better = values.iter().zip(&today).filter(|(value, today)| value > today).count();
        n_better as f64 >= level * draws.len() as f64
    };
    let sure = candidates.into_iter().map(|list| (values(&list), list)).filter(|(values, _)| better(values));
    // The first of equal ones.
    let sure = sure.reduce(|best, other| if sum(&other.0) > sum(&best.0) { other } else { best });
    Some(Evidence {
        name: instance.name.clone(),
        n_lists: logged.count(),
        best: draws.iter().map(|users| users.expected_clicks(&users.optimal_action())).collect(),
        fitted: values(&fitted_list),
        fitted_list,
        sure: sure.map(|(values, list)| (list, values)),
        today,
    })
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// The lists that are shown most often.
fn most_frequent(logged: &Logged) -> impl Iterator<Item = Ranking> {
    let mut lists: Vec<(&Ranking, u64)> = logged.lists().collect();
    lists.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    lists.into_iter().take(FREQUENT).map(|(list, _)| list.clone())
}

/// Lists that may be better than today's, each once.
fn candidates<M>(
    instance: &Instance<M>,
    posterior: &Posterior<M>,
    logged: &Logged,
    draws: &[M],
) -> Vec<Ranking>
where
    M: Member + ClickModel<Interaction: Interaction<Action = Ranking>>,
{
    let pessimistic = PESSIMISM.iter().filter_map(|&deviations| posterior.below_the_mean(deviations));
    std::iter::once(instance.model.optimal_action())
        .chain(pessimistic.map(|users| users.optimal_action()))
        .chain(draws.iter().take(CANDIDATES).map(ClickModel::optimal_action))
        .chain(most_frequent(logged))
        .unique()
        .collect()
}
