//! The users whom the runs of an experiment meet: a tournament without contenders.

use super::posterior::Draws;
use super::{Instance, Member};
use click_models::{ClickModel, Yardsticks};
use sim::{Assignment, DrawUsers, Streams, Tournament};

/// Properties of the users that the runs meet.
#[derive(Debug)]
pub struct ValuesOfUsers {
    /// Expected clicks per round of a best list, or their value, for every run.
    pub optimal_clicks: Vec<f64>,
    /// The factor of the lower bound, mean over the drawn users; `None` if the users are known.
    pub lower_bound: Option<f64>,
    /// The loss in a round of lists that are not personal, for every run; empty for ordinary users.
    pub yardsticks: Vec<Yardsticks>,
}

/// A tournament without contenders.
pub(crate) fn without_contenders<M: ClickModel + Clone + Send + Sync + 'static, T: sim::Objective>(
    instances: &[Instance<M>],
    task: T,
    assignment: Assignment,
    seed: u64,
) -> Tournament<'_, M, T> {
    let posterior = instances.iter().find_map(|instance| instance.posterior.as_ref());
    Tournament {
        instances: instances.iter().map(|instance| instance.model.clone()).collect(),
        uncertainty: posterior
            .map(|_| Box::new(Draws { instances, streams: Streams::new(seed) }) as Box<dyn DrawUsers<M>>),
        runs_per_draw: posterior.map_or(1, |posterior| posterior.file.runs_per_draw),
        assignment,
        contenders: Vec::new(),
        task,
        streams: Streams::new(seed),
        runs: 0,
    }
}

/// The values of the users that the runs from the first on meet on these instances.
pub(super) fn values_of_users<M: Member>(
    instances: &[Instance<M>],
    assignment: Assignment,
    seed: u64,
    instances_of_runs: &[usize],
) -> ValuesOfUsers {
    let tournament = without_contenders(instances, sim::WithBudget { horizon: 1 }, assignment, seed);
    let (mut optimal_clicks, mut bounds) = (Vec::with_capacity(instances_of_runs.len()), 0.0);
    for (run, &instance) in (0..).zip(instances_of_runs) {
        let users = tournament.users(run, instance);
        let clicks = || users.expected_clicks(&users.optimal_action());
        optimal_clicks.push(if users.values().is_some() { users.optimal_reward() } else { clicks() });
        if tournament.uncertainty.is_some() {
            bounds += M::LOWER_BOUND.map_or(f64::INFINITY, |(_, factor)| factor(&users));
        }
    }
    let n_runs = optimal_clicks.len() as f64;
    let lower_bound = tournament.uncertainty.map(|_| bounds / n_runs);
    ValuesOfUsers { optimal_clicks, lower_bound, yardsticks: vec![] }
}
