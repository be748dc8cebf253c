//! `ccm`: users scan a list from the top, and continue with a probability that depends on the click
//! and on the item's relevance.

use super::context::read_attraction;
use super::fields::{at_fault, read_each, read_positions};
use super::keys::{ALSO_THETA, ATTRACTION, POSITIONS, THETA};
use super::posterior::{Drawn, instances, scanned};
use super::{EvidenceOf, Instance, Instances, Member, Model, Parameter, evidence};
use crate::key::Key;
use crate::schema::{array, probability};
use click_models::{ClickChain, ListShape};
use confidence::Probability;
use documents::toml_reader::{Error, Table, all};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "ccm",
    protocol: Protocol::ClicksOnly,
    sentence: "A user scans the list from the top, clicks what attracts, and leaves more or less often after a relevant item.",
    keys: &[ATTRACTION, ALSO_THETA, CONTINUATION, POSITIONS],
    first_choices: &["top-rank", "rba-kl-ucb"],
    names_best_items: false,
    read: |tables, _| Ok(Instances::from_users(read_each(tables, read)?)),
    of_queries: None,
    of_posterior: Some(|file| instances(file, &DRAWN)),
};

const CONTINUATION: Key = Key::required(
    "continuation",
    || array(&probability(), 3..=3),
    "The probabilities of continuation: after no click, after a click on an irrelevant item, after a click on a relevant one.",
    "[0.95, 0.8, 0.4]",
)
.called("Going on: no click, irrelevant, relevant");

/// Users drawn from a fit.
pub(super) static DRAWN: Drawn<ClickChain> = Drawn {
    parameters: |fit, query, _| vec![query.attraction(), fit.continuation(query, 3)],
    of_items: 1,
    clicks: |lists, items, out| {
        let continues = |a: f64| (1.0 - a) * lists[1][0] + a * ((1.0 - a) * lists[1][1] + a * lists[1][2]);
        scanned(out, items.iter().map(|&item| (lists[0][item], continues(lists[0][item]))));
    },
    build: |lists, n_positions| {
        let continuation = [lists[1][0], lists[1][1], lists[1][2]];
        ClickChain::from_values(&lists[0], continuation, n_positions)
    },
};

impl Member for ClickChain {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        vec![
            ATTRACTION.with(users.attraction()),
            CONTINUATION.with(&users.continuation()[..]),
            POSITIONS.with(users.shape().n_positions()),
        ]
    }
}

fn read(table: &Table<'_>) -> Result<ClickChain, Error> {
    let three = CONTINUATION.read::<Vec<Probability>>(table).and_then(|list| {
        let three = <[Probability; 3]>::try_from(list.value);
        three.map_err(|_| list.field.error(format!("expected {}", CONTINUATION.words())))
    });
    let (attraction, three, positions, ()) = all((
        read_attraction(table, None, &[ATTRACTION, THETA]),
        three,
        read_positions(table),
        table.finish(),
    ))?;
    ClickChain::new(attraction.value, three, positions.value)
        .map_err(|error| at_fault(&error, &attraction.field, &positions.field))
}
