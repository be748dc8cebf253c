//! The value of lists under a posterior distribution with a transfer: of today's lists, of the best
//! ones, and of lists that can be recommended.
//!
//! A list that is chosen and valued on the same data looks better than it is. So draws from one
//! part of the log value the list that is best in another part.

use super::own_clicks::LogLists;
use super::posterior::shared;
use super::transfer::Today;
use super::{Instance, Member};
use click_models::{ClickModel, Interaction, Ranking};
use sim::Streams;

/// The number of the stream that draws deviations of lists.
const DEVIATIONS: u64 = u64::MAX - 4;
/// The number of the stream that draws which lists a part of the log shows.
const SAMPLES: u64 = u64::MAX - 5;

/// Expected clicks per list on an instance, in each of a number of draws from the posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Values of the log's lists, with their frequencies: those of the whole log, then those of
    /// each part ([`LogLists::parts`]).
    pub today: Vec<Vec<f64>>,
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
    /// Values of [`LogLists::others`].
    pub others: Vec<Vec<f64>>,
    /// The best list by the mean parameters of all parts.
    pub recommended: Ranking,
}

impl Evidence {
    /// Gains over the lists of the log or of a part of it: of the recommended list, and in every
    /// second pair of draws of the choice of the other part of the log, which their users are not
    /// from.
    pub fn gains(&self, part: usize) -> Vec<f64> {
        let of_draw = |(draw, today): (usize, &f64)| {
            let is_chosen = (draw / self.choices.len()).is_multiple_of(2);
            let value = if is_chosen { self.chosen[draw] } else { self.of_recommended[draw] };
            value - today
        };
        self.today[part].iter().enumerate().map(of_draw).collect()
    }

    /// Adds the draws of other users. The lists stay.
    pub fn add(&mut self, other: Self) {
        self.today.iter_mut().zip(other.today).for_each(|(today, other)| today.extend(other));
        self.best.extend(other.best);
        self.chosen.extend(other.chosen);
        self.of_recommended.extend(other.of_recommended);
        self.best_shown.extend(other.best_shown);
        self.others.iter_mut().zip(other.others).for_each(|(some, other)| some.extend(other));
    }
}

/// The evidence on an instance from this number of draws; `None` if its users are not drawn. The
/// streams, and the number of the instance. Lists of evidence on other users take the place of its
/// own.
pub(crate) type EvidenceOf<M> =
    fn(&Instance<M>, &LogLists, usize, (Streams, u64), Option<&Evidence>) -> Option<Evidence>;

/// The evidence on an instance; `None` if its users are not drawn from a posterior with a transfer.
pub(super) fn of_lists<M>(
    instance: &Instance<M>,
    lists: &LogLists,
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
    let shown = lists.own.lists().map(|list| (of_mean(&list), list)).max_by(|a, b| a.0.total_cmp(&b.0))?.1;
    let parts: Vec<Today> = lists.parts.iter().map(|logged| Today::new(logged, 0)).collect();
    let mut own = streams.subset(u64::MAX, number);
    // So that draws of users do not depend on it.
    let [mut deviating, mut sampled] = [DEVIATIONS, SAMPLES].map(|stream| streams.subset(stream, number));
    let mut evidence = Evidence {
        today: vec![Vec::with_capacity(n_draws); 1 + parts.len()],
        best: Vec::with_capacity(n_draws),
        choices,
        chosen: Vec::with_capacity(n_draws),
        of_recommended: Vec::with_capacity(n_draws),
        best_shown: Vec::with_capacity(n_draws),
        others: vec![Vec::with_capacity(n_draws); lists.others.len()],
        recommended: recommended.cloned().unwrap_or_else(|| instance.model.optimal_action()),
    };
    for draw in 0..n_draws as u64 {
        let parameters = posterior.parameters(draw, &mut shared(streams, draw), &mut own);
        let users = posterior.users(&parameters)?;
        let today = posterior.today(&parameters)?;
        evidence.today[0].push(today);
        for (part, values) in parts.iter().zip(&mut evidence.today[1..]) {
            values.push(posterior.sampled(part, &parameters, &mut sampled));
        }
        let best = users.optimal_action();
        let other = &evidence.choices[(posterior.part(draw) + 1) % evidence.choices.len()];
        // A list has one deviation in a draw.
        let mut deviations: Vec<(&Ranking, f64)> = Vec::new();
        let mut value = |list| {
            let predicted = users.expected_clicks(list);
            if !lists.own.is_needed() {
                return predicted;
            }
            let known = deviations.iter().find(|(known, _)| *known == list).map(|(_, deviation)| *deviation);
            let deviation = known.unwrap_or_else(|| lists.own.draw(list, predicted - today, &mut deviating));
            deviations.push((list, deviation));
            (predicted + deviation).max(0.0)
        };
        let [of_recommended, chosen, best_shown] = [&evidence.recommended, other, &shown].map(&mut value);
        evidence.best.push(value(&best).max(of_recommended).max(chosen).max(best_shown));
        for (list, values) in lists.others.iter().zip(&mut evidence.others) {
            values.push(value(list));
        }
        evidence.chosen.push(chosen);
        evidence.of_recommended.push(of_recommended);
        evidence.best_shown.push(best_shown);
    }
    Some(evidence)
}
