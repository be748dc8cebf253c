//! The policies for fitted users: a row for each click model.

use crate::decision::DRAWS;
use click_logs::fit::{Fit, Model, Users};
use click_logs::study::FilteredLog;
use click_models::{CascadeModel, ClickChain, DependentClick, DynamicBayesian, PositionBased, UserBrowsing};
use documents::number::grouped;
use policies::catalogue::Protocol;
use spec::models::UserModel;
use spec::{Instance, Instances};

/// The most lists of a query among which the best one is searched for every draw of its users. The
/// search then takes about a tenth of a millisecond.
const LISTS_OF_DRAWS: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct Row {
    /// The fits that have users of the model.
    pub(super) fits: &'static [Model],
    /// The policies that are compared with today's ranking, with the model whose feedback they
    /// assume.
    pub(super) contenders: &'static [(&'static str, Option<Protocol>)],
    /// Others, to compare them with.
    pub(super) others: &'static [&'static str],
    /// Why the answer cannot simulate the users of a fit; `None` if it can.
    pub(super) why_not: fn(&FilteredLog, &Fit) -> Option<String>,
    /// The users of queries with their names as those of an experiment.
    pub(super) instances: fn(Vec<(Option<String>, Users)>) -> Instances,
}

impl Row {
    /// Users who show clicks and nothing else. Some policies for other models regret less on them
    /// than those for any list.
    const fn of_clicks<M: UserModel>(fits: &'static [Model]) -> Self {
        Self {
            fits,
            contenders: &[
                ("dcm-ts", Some(Protocol::Dcm)),
                ("cascade-ts", Some(Protocol::Cascade)),
                ("top-rank", None),
            ],
            others: &["batch-rank", "epsilon-greedy", "uniform"],
            why_not: |_, _| None,
            instances: instances::<M>,
        }
    }
}

pub(super) static ROWS: [Row; 6] = [
    Row {
        contenders: &[("pbm-ts", None), ("pbm-pie", None)],
        others: &["bc-mp-ts", "batch-rank", "uniform"],
        ..Row::of_clicks::<PositionBased>(&[Model::Pbm])
    },
    Row {
        contenders: &[("cascade-ts", None), ("cascade-kl-ucb", None)],
        others: &["batch-rank", "uniform"],
        why_not: |filtered, _| {
            let lists = filtered.sessions.queries().flat_map(|query| query.lists());
            let several = lists.flat_map(|list| list.patterns).any(|pattern| pattern.clicks.count() > 1);
            several.then(|| "never click twice on a list, as users of this log do".to_owned())
        },
        ..Row::of_clicks::<CascadeModel>(&[Model::Cascade])
    },
    Row {
        contenders: &[("dcm-ts", None), ("dcm-kl-ucb", None)],
        others: &["batch-rank", "uniform"],
        why_not: |filtered, fit| {
            let most = DependentClick::MAX_SEARCHED_POSITIONS;
            let is_long = sizes(filtered, fit).any(|(_, n_positions)| n_positions > most);
            is_long.then(|| format!("have no best list of more than {most} positions"))
        },
        ..Row::of_clicks::<DependentClick>(&[Model::Dcm])
    },
    Row::of_clicks::<DynamicBayesian>(&[Model::Dbn, Model::Sdbn]),
    Row::of_clicks::<ClickChain>(&[Model::Ccm]),
    Row {
        why_not: |filtered, fit| {
            let most = LISTS_OF_DRAWS;
            let are_many = |(n_items, n_positions): (usize, usize)| {
                let first = n_items.saturating_sub(n_positions) + 1;
                (first..=n_items).try_fold(1, usize::checked_mul).is_none_or(|n| n > most)
            };
            let are_many = sizes(filtered, fit).any(are_many);
            are_many.then(|| {
                format!(
                    "are drawn {DRAWS} times, and the best of more than {} lists of a query takes too long to find",
                    grouped(most as u64)
                )
            })
        },
        ..Row::of_clicks::<UserBrowsing>(&[Model::Ubm])
    },
];

/// The numbers of items and positions of each query.
fn sizes(filtered: &FilteredLog, fit: &Fit) -> impl Iterator<Item = (usize, usize)> {
    let n_positions = |id| filtered.counts.query(id).map_or(0, |query| query.n_positions());
    fit.queries().iter().map(move |query| (query.items.len(), n_positions(query.id)))
}

fn instances<M: UserModel>(users: Vec<(Option<String>, Users)>) -> Instances {
    let instance = |(name, users): (_, Users)| Some(Instance::new(name, users.model::<M>()?));
    users.into_iter().filter_map(instance).collect::<Vec<_>>().into()
}
