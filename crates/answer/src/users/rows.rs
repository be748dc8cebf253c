//! The policies for fitted users: a row for each click model.

use click_logs::fit::{Fit, Model, Users};
use click_logs::study::FilteredLog;
use click_models::{CascadeModel, ClickChain, DependentClick, DynamicBayesian, PositionBased, UserBrowsing};
use experiment::models::UserModel;
use experiment::{Instance, Instances};
use policies::catalogue::Protocol;

/// The most lists of a query among which the best one is searched for every draw of its users. The
/// search then takes about a tenth of a millisecond.
const LISTS_OF_DRAWS: usize = 1_000_000;

/// A row of [`ROWS`].
#[derive(Debug)]
pub(super) struct Row {
    /// The fits that have users of the model.
    pub(super) fits: &'static [Model],
    /// A first choice of policies.
    pub(super) policies: &'static [&'static str],
    /// The policies that are compared with today's ranking, with the model whose feedback they
    /// assume.
    pub(super) contenders: &'static [(&'static str, Option<Protocol>)],
    /// Whether the answer can simulate the users of a fit.
    pub(super) is_answered: fn(&FilteredLog, &Fit) -> bool,
    /// The users of queries with their names as those of an experiment.
    pub(super) instances: fn(Vec<(Option<String>, Users)>) -> Instances,
}

impl Row {
    /// Users who show clicks and nothing else. Some policies for other models regret less on them
    /// than those for any list.
    const fn of_clicks<M: UserModel>(fits: &'static [Model]) -> Self {
        Self {
            fits,
            policies: &["top-rank", "batch-rank", "epsilon-greedy", "uniform"],
            contenders: &[
                ("dcm-ts", Some(Protocol::Dcm)),
                ("cascade-ts", Some(Protocol::Cascade)),
                ("top-rank", None),
            ],
            is_answered: |_, _| true,
            instances: instances::<M>,
        }
    }
}

pub(super) static ROWS: [Row; 6] = [
    Row {
        policies: &["pbm-ts", "pbm-pie", "bc-mp-ts", "batch-rank", "uniform"],
        contenders: &[("pbm-ts", None), ("pbm-pie", None)],
        ..Row::of_clicks::<PositionBased>(&[Model::Pbm])
    },
    Row {
        policies: &["cascade-kl-ucb", "cascade-ts", "batch-rank", "uniform"],
        contenders: &[("cascade-ts", None), ("cascade-kl-ucb", None)],
        // These users never make several clicks on a list.
        is_answered: |filtered, _| {
            let lists = filtered.sessions.queries().flat_map(|query| query.lists());
            lists.flat_map(|list| list.patterns()).all(|pattern| pattern.clicks.count() <= 1)
        },
        ..Row::of_clicks::<CascadeModel>(&[Model::Cascade])
    },
    Row {
        policies: &["dcm-kl-ucb", "dcm-ts", "batch-rank", "uniform"],
        contenders: &[("dcm-ts", None), ("dcm-kl-ucb", None)],
        is_answered: |filtered, fit| {
            sizes(filtered, fit).all(|(_, n_positions)| n_positions <= DependentClick::MAX_SEARCHED_POSITIONS)
        },
        ..Row::of_clicks::<DependentClick>(&[Model::Dcm])
    },
    Row::of_clicks::<DynamicBayesian>(&[Model::Dbn, Model::Sdbn]),
    Row::of_clicks::<ClickChain>(&[Model::Ccm]),
    Row {
        is_answered: |filtered, fit| {
            sizes(filtered, fit).all(|(n_items, n_positions)| {
                let first = n_items.saturating_sub(n_positions) + 1;
                (first..=n_items).try_fold(1, usize::checked_mul).is_some_and(|n| n <= LISTS_OF_DRAWS)
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
