//! `dcm`: users scan a list from the top, click what attracts them, and may leave after a click.

use super::context::{self, CONTEXT, ItemCount, read_attraction};
use super::fields::{at_fault, name_of, word_or_default};
use super::keys::{ALSO_THETA, ATTRACTION, OF_POSITIONS, THETA, VALUES};
use super::posterior::{Drawn, instances, scanned};
use super::{EvidenceOf, Instance, LowerBound, Member, Model, Parameter, WithValues, evidence};
use crate::key::Key;
use click_models::{DcmReward, DependentClick, ListShape};
use documents::toml_reader::{Error, Table, all, schema};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "dcm",
    protocol: Protocol::Dcm,
    sentence: "A user scans the list from the top, clicks what attracts, and may leave after a click.",
    keys: &[ATTRACTION, ALSO_THETA, CONTEXT.in_place_of(&[ATTRACTION.name]), LEAVE, REWARD, VALUES],
    first_choices: &["dcm-ts", "dcm-kl-ucb"],
    names_best_items: false,
    read: |tables, _| context::instances(tables, read),
    of_queries: None,
    of_posterior: Some(|file| instances(file, &DRAWN)),
};

const LEAVE: Key = Key::required(
    "leave",
    OF_POSITIONS,
    "The probability that a user leaves after a click at a position.",
    "[0.4, 0.4, 0.4]",
)
.called("Leave after a click");

const REWARD: Key = Key::optional(
    "reward",
    schema::<DcmReward>,
    "What counts: users who leave after a click (satisfaction), or clicks; \"satisfaction\" without the key.",
    "\"clicks\"",
)
.called("Reward");

/// Users drawn from a fit.
pub(super) static DRAWN: Drawn<DependentClick> = Drawn {
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

impl Member for DependentClick {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const LOWER_BOUND: Option<LowerBound<Self>> = Some(("lower bound (dependent clicks)", Self::lower_bound));
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);
    const WITH_VALUES: Option<WithValues<Self>> = Some(Self::with_values);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![
            ATTRACTION.with(users.attraction()),
            LEAVE.with(users.leave()),
            REWARD.with(&*name_of(users.reward())),
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
    let (attraction, leave, reward, ()) = all((
        read_attraction(table, given, &[ATTRACTION, THETA]),
        LEAVE.read::<Vec<_>>(table),
        word_or_default(table, &REWARD),
        table.finish(),
    ))?;
    let named = (table.field(REWARD.name), table.field(VALUES.name));
    if let ((Some(field), Some(_)), DcmReward::Satisfaction) = (named, reward) {
        return Err(field.error("with `values` the reward is that of clicks: leave out `reward`"));
    }
    DependentClick::new(attraction.value, leave.value, reward)
        .map_err(|error| at_fault(&error, &attraction.field, &leave.field))
}
