//! `semi-bandit`: users look at a random number of positions, which the feedback shows.

use super::fields::read_each;
use super::keys::{ALSO_ATTRACTION, THETA, VALUES};
use super::pbm::{ALSO_EXAMINATION, KAPPA, read, theta_kappa};
use super::{Instance, Instances, LowerBound, Member, Model, Parameter, WithValues};
use click_models::{ListShape, RandomSemiBandit};
use documents::toml_reader::Table;
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "semi-bandit",
    protocol: Protocol::SemiBandit,
    sentence: "A user looks at a random number of positions from the top, and shows of each whether it attracts.",
    keys: &[THETA, ALSO_ATTRACTION, KAPPA, ALSO_EXAMINATION, VALUES],
    first_choices: &["rsf-ts", "rsf-kl-ucb"],
    names_best_items: false,
    read: |tables, _| {
        let read = |table: &Table<'_>| read(table, None, RandomSemiBandit::new);
        Ok(Instances::from_users(read_each(tables, read)?))
    },
    // Users scan the positions of a log in the order of its fitted examination, which may rise
    // between neighbours by chance. A file states the order itself.
    of_queries: Some(|queries| {
        let is_fitted = !queries.found_in_log.is_empty();
        let users = queries.each(|attraction, mut examination| {
            if is_fitted {
                examination.sort_by(|a, b| b.get().total_cmp(&a.get()));
            }
            RandomSemiBandit::new(attraction, examination)
        })?;
        Ok(Instances::named(users))
    }),
    of_posterior: None,
};

impl Member for RandomSemiBandit {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const LOWER_BOUND: Option<LowerBound<Self>> =
        Some(("lower bound (RSF paper, Theorem 4)", Self::lower_bound));
    const WITH_VALUES: Option<WithValues<Self>> = Some(Self::with_values);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        theta_kappa(instance.model.attraction(), instance.model.examination())
    }
}
