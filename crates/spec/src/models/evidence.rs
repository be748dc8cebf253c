//! The value of lists under a posterior distribution with a transfer: of today's lists, of the best
//! ones, and of lists that can be recommended.
//!
//! A list that is chosen and valued on the same data looks better than it is. So draws from one
//! part of the log value the list that is best in another part.

use super::posterior::shared;
use super::{Instance, Member};
use click_models::{ClickModel, Interaction, Ranking};
use policies::Logged;
use sim::Streams;

/// Expected clicks per list on an instance, in each of a number of draws from the posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Values of the log's lists, with their frequencies.
    pub today: Vec<f64>,
    /// Values of the best list for the drawn users, which nobody knows.
    pub best: Vec<f64>,
    /// The best list by the mean parameters of each part of the log.
    pub choices: Vec<Ranking>,
    /// Values of the choice of the next part of the log.
    pub chosen: Vec<f64>,
    /// Values of [`Evidence::recommended`].
    pub of_recommended: Vec<f64>,
    /// Values of the best list that the log shows, by the mean parameters.
    pub best_shown: Vec<f64>,
    /// The best list by the mean parameters of all parts.
    pub recommended: Ranking,
}

impl Evidence {
    /// Adds the draws of other users. The lists stay.
    pub fn add(&mut self, other: Self) {
        self.today.extend(other.today);
        self.best.extend(other.best);
        self.chosen.extend(other.chosen);
        self.of_recommended.extend(other.of_recommended);
        self.best_shown.extend(other.best_shown);
    }
}

/// The evidence on an instance from this number of draws; `None` if its users are not drawn. The
/// streams, and the number of the instance. Lists of evidence on other users take the place of its
/// own.
pub(crate) type EvidenceOf<M> =
    fn(&Instance<M>, &Logged, usize, (Streams, u64), Option<&Evidence>) -> Option<Evidence>;

/// The evidence on an instance; `None` if its users are not drawn from a posterior with a transfer.
pub(super) fn of_lists<M>(
    instance: &Instance<M>,
    logged: &Logged,
    n_draws: usize,
    (streams, number): (Streams, u64),
    others: Option<&Evidence>,
) -> Option<Evidence>
where
    M: Member + ClickModel<Interaction: Interaction<Action = Ranking>>,
{
    let posterior = instance.posterior.as_deref()?;
    let own_choices = || {
        let of_parts = posterior.of_parts().into_iter();
        of_parts.map(|users| users.as_ref().unwrap_or(&instance.model).optimal_action()).collect()
    };
    let choices: Vec<Ranking> = others.map_or_else(own_choices, |others| others.choices.clone());
    let recommended = others.map(|others| &others.recommended);
    let of_mean = |list: &Ranking| instance.model.expected_clicks(list);
    let (shown, _) =
        logged.lists().map(|(list, _)| (list, of_mean(list))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut own = streams.subset(u64::MAX, number);
    let mut evidence = Evidence {
        today: Vec::with_capacity(n_draws),
        best: Vec::with_capacity(n_draws),
        choices,
        chosen: Vec::with_capacity(n_draws),
        of_recommended: Vec::with_capacity(n_draws),
        best_shown: Vec::with_capacity(n_draws),
        recommended: recommended.cloned().unwrap_or_else(|| instance.model.optimal_action()),
    };
    for draw in 0..n_draws as u64 {
        let parameters = posterior.parameters(draw, &mut shared(streams, draw), &mut own);
        let users = posterior.users(&parameters)?;
        evidence.today.push(posterior.today(&parameters)?);
        evidence.best.push(users.expected_clicks(&users.optimal_action()));
        let other = &evidence.choices[(posterior.part(draw) + 1) % evidence.choices.len()];
        evidence.chosen.push(users.expected_clicks(other));
        evidence.of_recommended.push(users.expected_clicks(&evidence.recommended));
        evidence.best_shown.push(users.expected_clicks(shown));
    }
    Some(evidence)
}
