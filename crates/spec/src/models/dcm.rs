//! `dcm`: users scan a list from the top, click what attracts them, and may leave after a click.

use super::context::{self, CONTEXT, ItemCount};
use super::fields::{at_fault, choice_or_default, name_of, required_list};
use super::keys::{ATTRACTION, OF_POSITIONS};
use super::posterior::{Drawn, instances, scanned};
use super::{EvidenceOf, Instance, LowerBound, Member, Model, Parameter, evidence};
use crate::key::Key;
use crate::schema::names;
use click_models::{DcmReward, DependentClick, ListShape};
use documents::toml_reader::{Error, Table, all};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "dcm",
    protocol: Protocol::Dcm,
    sentence: "A user scans the list from the top, clicks what attracts, and may leave after a click.",
    parameters: &[("attraction", "Attraction"), ("leave", "Leave after a click"), ("reward", "Reward")],
    keys: &[
        ATTRACTION,
        CONTEXT.in_place_of(&["attraction"]),
        Key::required(
            "leave",
            OF_POSITIONS,
            "The probability that a user leaves after a click at a position.",
            "[0.6, 0.4, 0.2]",
        ),
        Key::optional(
            "reward",
            || names(&["satisfaction", "clicks"]),
            "What counts: users who leave after a click (satisfaction), or clicks; \"satisfaction\" without the key.",
            "\"clicks\"",
        ),
    ],
    first_choices: &["dcm-ts", "dcm-kl-ucb"],
    names_best_items: false,
    read: |tables, _| context::instances(tables, read),
    of_queries: None,
    of_posterior: Some(|file| instances(file, DRAWN)),
};

/// Users drawn from a fit.
pub(super) const DRAWN: Drawn<DependentClick> = Drawn {
    parameters: |fit, query, n| {
        vec![query.attraction(), fit.positions_of(query, n, fit.typical_leave(query))]
    },
    of_items: 1,
    clicks: |lists, items, out| {
        let position = |(&item, leave): (&usize, &f64)| (lists[0][item], 1.0 - lists[0][item] * leave);
        scanned(out, items.iter().zip(&lists[1]).map(position));
    },
    // A log shows clicks, not satisfaction.
    build: |lists, _| DependentClick::from_values(&lists[0], &lists[1], DcmReward::Clicks),
};

/// Rewards by their names in files.
const REWARDS: [(&str, DcmReward); 2] =
    [("satisfaction", DcmReward::Satisfaction), ("clicks", DcmReward::Clicks)];

impl Member for DependentClick {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const LOWER_BOUND: Option<LowerBound<Self>> = Some(("lower bound (dependent clicks)", Self::lower_bound));
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![
            ("attraction", Parameter::of(users.attraction())),
            ("leave", Parameter::of(users.leave())),
            ("reward", Parameter::Name(name_of(&REWARDS, users.reward()).to_owned())),
        ]
    }

    fn unit(&self) -> &'static str {
        match self.reward() {
            DcmReward::Clicks => "clicks",
            DcmReward::Satisfaction => "satisfied users",
        }
    }
}

fn read(table: &Table<'_>, given: Option<&ItemCount<'_>>) -> Result<DependentClick, Error> {
    let attraction = match given {
        None => required_list(table, "attraction", "item"),
        Some(given) => given.attraction(table, &["attraction"]),
    };
    let (attraction, leave, reward, ()) = all((
        attraction,
        required_list(table, "leave", "position"),
        choice_or_default(table, "reward", &REWARDS),
        table.finish(),
    ))?;
    DependentClick::new(attraction.value, leave.value, reward)
        .map_err(|error| at_fault(&error, &attraction.field, &leave.field))
}
