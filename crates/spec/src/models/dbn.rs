//! `dbn`: users scan a list from the top until a click satisfies them or they lose patience.

use super::context::read_attraction;
use super::fields::{at_fault, name_of, read_each, read_positions, word_or_default};
use super::keys::{ALSO_THETA, ATTRACTION, OF_ITEMS, POSITIONS, THETA};
use super::posterior::{Drawn, instances, scanned};
use super::{EvidenceOf, Instance, Instances, Member, Model, Parameter, evidence};
use crate::key::Key;
use crate::schema::probability;
use click_models::{DbnReward, DynamicBayesian, ListShape};
use documents::toml_reader::{Error, Table, all, schema};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "dbn",
    protocol: Protocol::ClicksOnly,
    sentence: "A user scans the list from the top, clicks what attracts, and leaves when a click satisfies or patience ends.",
    keys: &[ATTRACTION, ALSO_THETA, SATISFACTION, CONTINUATION, POSITIONS, REWARD],
    first_choices: &["top-rank", "rba-kl-ucb"],
    names_best_items: false,
    read: |tables, _| Ok(Instances::from_users(read_each(tables, read)?)),
    of_queries: None,
    of_posterior: Some(|file| instances(file, &DRAWN)),
};

const SATISFACTION: Key = Key::required(
    "satisfaction",
    OF_ITEMS,
    "The probability that a click on an item satisfies, after which the user leaves.",
    "[0.3, 0.6, 0.2, 0.5, 0.4]",
)
.called("Satisfaction by a click");

const CONTINUATION: Key = Key::required(
    "continuation",
    probability,
    "The probability of continuing to the next position when not satisfied.",
    "0.9",
)
.called("Going on unsatisfied");

const REWARD: Key = Key::optional(
    "reward",
    schema::<DbnReward>,
    "What counts: clicks, or satisfied users (satisfaction); \"clicks\" without the key.",
    "\"satisfaction\"",
)
.called("Reward");

/// Users drawn from a fit.
pub(super) static DRAWN: Drawn<DynamicBayesian> = Drawn {
    parameters: |fit, query, _| vec![query.attraction(), fit.satisfaction(query), fit.continuation(query, 1)],
    of_items: 2,
    clicks: |lists, items, out| {
        let continues = |item: usize| lists[2][0] * (1.0 - lists[0][item] * lists[1][item]);
        scanned(out, items.iter().map(|&item| (lists[0][item], continues(item))));
    },
    build: |lists, n_positions| {
        let [attraction, satisfaction] = [&lists[0], &lists[1]];
        DynamicBayesian::from_values(attraction, satisfaction, lists[2][0], n_positions, DbnReward::Clicks)
    },
};

impl Member for DynamicBayesian {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![
            ATTRACTION.with(users.attraction()),
            SATISFACTION.with(users.satisfaction()),
            CONTINUATION.with(users.continuation().get()),
            POSITIONS.with(users.shape().n_positions()),
            REWARD.with(&*name_of(users.reward())),
        ]
    }

    fn unit(&self) -> &'static str {
        match self.reward() {
            DbnReward::Clicks => "clicks",
            DbnReward::Satisfaction => "satisfied users",
        }
    }
}

fn read(table: &Table<'_>) -> Result<DynamicBayesian, Error> {
    let (attraction, satisfaction, continuation, positions, reward, ()) = all((
        read_attraction(table, None, &[ATTRACTION, THETA]),
        SATISFACTION.read::<Vec<_>>(table),
        CONTINUATION.read(table),
        read_positions(table),
        word_or_default(table, &REWARD),
        table.finish(),
    ))?;
    DynamicBayesian::new(attraction.value, satisfaction.value, continuation.value, positions.value, reward)
        .map_err(|error| match error {
            click_models::Error::OneForEachItem { .. } => satisfaction.field.error(error.to_string()),
            _ => at_fault(&error, &attraction.field, &positions.field),
        })
}
