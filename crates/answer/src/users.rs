//! Fits whose users can be simulated, the policies for them, and the experiment `spec.toml`.

use crate::Error;
use click_logs::fit::{Choice, Fit, Model, QueryFit, Users};
use click_logs::study::{FilteredLog, Study};
use click_models::DependentClick;
use contenders::Entrant;
use experiment::models::UserModel;
use experiment::spec::{quoted, title_fault};
use experiment::{Experiment, Instance, Instances};
use itertools::Itertools as _;
use policies::catalogue::Protocol;

/// The maximal number of queries in an experiment.
const QUERIES: usize = 1000;

/// The most lists of a query among which the best one is searched for every draw of its users. The
/// search then takes about a tenth of a millisecond.
const LISTS_OF_DRAWS: usize = 1_000_000;

/// Policies for users who show clicks and nothing else.
const ANY_LIST: &[&str] = &["top-rank", "batch-rank", "epsilon-greedy", "uniform"];
/// Policies for other models, which regret less on such users.
const READ_AS: Contenders =
    &[("dcm-ts", Some(Protocol::Dcm)), ("cascade-ts", Some(Protocol::Cascade)), ("top-rank", None)];

/// Policies of the decision, with the model whose feedback they assume.
type Contenders = &'static [(&'static str, Option<Protocol>)];

/// A fit whose users can be simulated.
#[derive(Debug, Clone, Copy)]
pub struct FittedUsers<'a> {
    fit: &'a Fit,
    model: &'static str,
    /// A first choice of policies.
    policies: &'static [&'static str],
    /// The policies that are compared with today's ranking.
    contenders: Contenders,
}

impl<'a> FittedUsers<'a> {
    /// The users of the chosen model; without a comparison, of the first fit with users that can be
    /// simulated.
    pub fn new(study: &'a Study) -> Option<Self> {
        study.simulated().and_then(Self::of_fit)
    }

    /// The fits for the answer: the best one first, then those that are not told apart from it.
    /// Users of a cascade are left out if a list has several clicks, which they never make; user
    /// browsing and the dependent click model, if their best lists take too long to find.
    pub(crate) fn for_answer(study: &'a Study) -> Vec<Self> {
        let Study { log: filtered, fits, comparison, .. } = study;
        let patterns =
            || filtered.sessions.queries().flat_map(|query| query.lists()).flat_map(|list| list.patterns());
        let clicks_twice = patterns().any(|pattern| pattern.clicks.count() > 1);
        let n_positions =
            |query: &QueryFit| filtered.counts.query(query.id).map_or(0, |query| query.n_positions());
        let able = |fit: &&Fit| match fit.model() {
            Model::Cascade => !clicks_twice,
            Model::Dcm => {
                fit.queries().iter().all(|query| n_positions(query) <= DependentClick::MAX_SEARCHED_POSITIONS)
            }
            Model::Ubm => fit.queries().iter().all(|query| {
                let n_positions = n_positions(query);
                let first = query.items.len().saturating_sub(n_positions) + 1;
                (first..=query.items.len())
                    .try_fold(1, usize::checked_mul)
                    .is_some_and(|n| n <= LISTS_OF_DRAWS)
            }),
            _ => true,
        };
        let fits: Vec<&Fit> = fits.iter().filter(able).filter(|fit| study.has_users(fit)).collect();
        let users_of =
            |model: Model| fits.iter().copied().find(|fit| fit.model() == model).and_then(Self::of_fit);
        match comparison.as_ref().and_then(|comparison| comparison.choice(|model| users_of(model).is_some()))
        {
            None => fits.iter().copied().find_map(Self::of_fit).into_iter().collect(),
            Some(Choice { best, alike, .. }) => {
                let others = alike.into_iter().filter(|&model| model != best);
                std::iter::once(best).chain(others).filter_map(users_of).collect()
            }
        }
    }

    /// The users of a fit; `None` for click-through rates, which have none.
    fn of_fit(fit: &'a Fit) -> Option<Self> {
        let (model, policies, contenders): (_, &[_], Contenders) = match fit.model() {
            Model::Pbm => (
                "pbm",
                &["pbm-ts", "pbm-pie", "bc-mp-ts", "batch-rank", "uniform"],
                &[("pbm-ts", None), ("pbm-pie", None)],
            ),
            Model::Cascade => (
                "cascade",
                &["cascade-kl-ucb", "cascade-ts", "batch-rank", "uniform"],
                &[("cascade-ts", None), ("cascade-kl-ucb", None)],
            ),
            Model::Dcm => (
                "dcm",
                &["dcm-kl-ucb", "dcm-ts", "batch-rank", "uniform"],
                &[("dcm-ts", None), ("dcm-kl-ucb", None)],
            ),
            Model::Dbn | Model::Sdbn => ("dbn", ANY_LIST, READ_AS),
            Model::Ccm => ("ccm", ANY_LIST, READ_AS),
            Model::Ubm => ("ubm", ANY_LIST, READ_AS),
            _ => return None,
        };
        Some(Self { fit, model, policies, contenders })
    }

    /// The name of the fit.
    pub(crate) fn model(self) -> &'static str {
        self.fit.model().name()
    }

    /// The policies that are compared with today's ranking.
    pub(crate) fn contenders(self) -> Vec<Entrant> {
        let entrant = |&(name, read_as): &(&str, Option<Protocol>)| {
            let spec = name.parse().ok()?;
            Some(Entrant { read_as, ..Entrant::new(name, spec) })
        };
        self.contenders.iter().filter_map(entrant).collect()
    }

    /// The fit.
    pub fn fit(self) -> &'a Fit {
        self.fit
    }

    /// The content of `spec.toml`, an experiment that `simulate` runs unchanged: one instance for
    /// each fitted query, at most 1,000, those with the most impressions. `log` names the log in a
    /// comment.
    ///
    /// # Errors
    ///
    /// Never for valid fits.
    pub fn spec(self, filtered: &FilteredLog, log: &str, seed: u64) -> Result<String, Error> {
        let Self { fit, model, policies, .. } = self;
        let queries = fit.queries();
        let impressions =
            |query: &QueryFit| filtered.counts.query(query.id).map_or(0, |query| query.impressions());
        let mut shown: Vec<&QueryFit> = queries.iter().collect();
        let mut top = vec![format!("Users as fitted to {} (model {model}).", quoted(log))];
        if queries.len() > QUERIES {
            shown.sort_by_key(|query| std::cmp::Reverse(impressions(query)));
            shown.truncate(QUERIES);
            shown.sort_by_key(|query| query.id);
            top.push(format!("The {QUERIES} of {} queries with the most impressions.", queries.len()));
        }
        top.push("Policies, horizon and runs are a beginning: change them as you like.".to_owned());
        let (mut users, mut comments) = (Vec::new(), Vec::new());
        for query in &shown {
            let n_positions = filtered.counts.query(query.id).map_or(1, |query| query.n_positions());
            let of_query = fit.users(query, n_positions).ok_or(Error::NoUsers)?;
            comments.push(comments_on(query, &of_query, filtered));
            let name = filtered.counts.names().name(query.id).into_owned();
            // A name that `simulate` would refuse is left out.
            users.push((Some(name).filter(|name| title_fault(name).is_none()), of_query));
        }
        let instances = match fit.model() {
            Model::Cascade => instances(users, |users| match users {
                Users::Cascade(model) => Some(model),
                _ => None,
            }),
            Model::Dcm => instances(users, |users| match users {
                Users::DependentClick(model) => Some(model),
                _ => None,
            }),
            Model::Dbn | Model::Sdbn => instances(users, |users| match users {
                Users::DynamicBayesian(model) => Some(model),
                _ => None,
            }),
            Model::Ccm => instances(users, |users| match users {
                Users::ClickChain(model) => Some(model),
                _ => None,
            }),
            Model::Ubm => instances(users, |users| match users {
                Users::UserBrowsing(model) => Some(model),
                _ => None,
            }),
            _ => instances(users, |users| match users {
                Users::PositionBased { model, .. } => Some(model),
                _ => None,
            }),
        };
        let builder = Experiment::builder(format!("fitted-{model}"), instances)
            .runs((shown.len() as u64 * 2).max(20))
            .seed(seed)
            .comments(top, comments);
        let builder = policies.iter().fold(builder, |builder, policy| builder.policy(policy));
        Ok(builder.build()?.to_toml())
    }
}

/// Instances with the names of their queries.
fn instances<M: UserModel>(
    users: Vec<(Option<String>, Users)>,
    model: impl Fn(Users) -> Option<M>,
) -> Instances {
    let instance = |(name, users)| Some(Instance::new(name, model(users)?));
    users.into_iter().filter_map(instance).collect::<Vec<_>>().into()
}

/// Comments on an instance: the names of its items in the log, and its positions if they are not
/// the log's first ones.
fn comments_on(query: &QueryFit, users: &Users, filtered: &FilteredLog) -> Vec<String> {
    let names = filtered.counts.names();
    let mut items = query.items.iter().map(|item| quoted(&names.name(item.item)));
    let mut comments = vec![format!("Items: {}.", items.join(", "))];
    if let Users::PositionBased { positions, .. } = users
        && positions.iter().enumerate().any(|(place, &position)| place != position)
    {
        let shown = positions.iter().map(|position| position + 1).join(", ");
        comments.push(format!("Positions of the log, counted from 1: {shown}."));
    }
    comments
}
