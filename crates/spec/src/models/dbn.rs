//! `dbn`: users scan a list from the top until a click satisfies them or they lose patience.

use super::fields::{
    Part, at_field, choice_or_default, name_of, read_each, required_list, required_positions,
};
use super::keys::{ATTRACTION, OF_ITEMS, POSITIONS};
use super::posterior::{Drawn, instances, scanned};
use super::{EvidenceOf, Instance, Instances, Member, Model, Parameter, evidence};
use crate::key::Key;
use crate::schema::{names, probability};
use click_models::{DbnReward, DynamicBayesian, ListShape};
use confidence::Probability;
use documents::toml_reader::{Error, Table, all};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "dbn",
    protocol: Protocol::ClicksOnly,
    sentence: "A user scans the list from the top, clicks what attracts, and leaves when a click satisfies or patience ends.",
    parameters: &[
        ("attraction", "Attraction"),
        ("satisfaction", "Satisfaction by a click"),
        ("continuation", "Going on unsatisfied"),
        ("reward", "Reward"),
    ],
    keys: &[
        ATTRACTION,
        Key::required(
            "satisfaction",
            OF_ITEMS,
            "The probability that a click on an item satisfies, after which the user leaves.",
            "[0.3, 0.6, 0.2, 0.5, 0.4]",
        ),
        Key::required(
            "continuation",
            probability,
            "The probability of continuing to the next position when not satisfied.",
            "0.9",
        ),
        POSITIONS,
        Key::optional(
            "reward",
            || names(&["clicks", "satisfaction"]),
            "What counts: clicks, or satisfied users (satisfaction); \"clicks\" without the key.",
            "\"satisfaction\"",
        ),
    ],
    first_choices: &["top-rank", "rba-kl-ucb"],
    names_best_items: false,
    read: |tables, _| Ok(Instances::from_users(read_each(tables, read)?)),
    of_queries: None,
    of_posterior: Some(|file| instances(file, DRAWN)),
};

/// Users drawn from a fit.
pub(super) const DRAWN: Drawn<DynamicBayesian> = Drawn {
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

/// Rewards by their names in files.
const REWARDS: [(&str, DbnReward); 2] =
    [("clicks", DbnReward::Clicks), ("satisfaction", DbnReward::Satisfaction)];

impl Member for DynamicBayesian {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![
            ("attraction", Parameter::of(users.attraction())),
            ("satisfaction", Parameter::of(users.satisfaction())),
            ("continuation", Parameter::Number(users.continuation().get())),
            ("positions", Parameter::Count(users.shape().n_positions())),
            ("reward", Parameter::Name(name_of(&REWARDS, users.reward()).to_owned())),
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
    let going_on = "the probability of continuing to the next position when not satisfied";
    let (attraction, satisfaction, continuation, positions, reward, ()) = all((
        required_list(table, "attraction", "item"),
        required_list(table, "satisfaction", "item"),
        Part::<Probability>::required(table, "continuation", going_on),
        required_positions(table),
        choice_or_default(table, "reward", &REWARDS),
        table.finish(),
    ))?;
    DynamicBayesian::new(attraction.value, satisfaction.value, continuation.value, positions.value, reward)
        .map_err(|error| at_field(&error, &attraction.field, &positions.field, &satisfaction.field))
}
