//! `cascade`: users scan a list from the top and click the first item that attracts them.

use super::context::{self, CONTEXT, ItemCount, read_attraction};
use super::fields::{at_fault, read_positions};
use super::keys::{ALSO_THETA, ATTRACTION, POSITIONS, THETA, VALUES};
use super::posterior::{Drawn, instances, scanned};
use super::{EvidenceOf, Instance, LowerBound, Member, Model, Parameter, WithValues, evidence};
use crate::bound::Bound;
use crate::fields::LONGEST_LIST;
use crate::key::{Key, Part};
use crate::schema::{list, number};
use click_models::bounds::{cascade_bai_lower_bound, cascade_characteristic_time};
use click_models::{CascadeModel, ListShape};
use confidence::bernoulli_kl;
use contenders::Entrant;
use documents::toml_reader::{Error, Table, all, schema};
use policies::catalogue::{PolicySpec, Protocol};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) static MODEL: Model = Model {
    name: "cascade",
    protocol: Protocol::Cascade,
    sentence: "A user scans the list from the top and clicks the first item that attracts.",
    keys: &[
        ATTRACTION,
        ALSO_THETA,
        TWO_VALUES,
        CONTEXT.in_place_of(&[ATTRACTION.name]),
        POSITIONS,
        WEIGHTS,
        VALUES,
    ],
    first_choices: &["cascade-ts", "cascade-kl-ucb"],
    names_best_items: true,
    read: |tables, _| context::instances(tables, read),
    of_queries: None,
    of_posterior: Some(|file| instances(file, &DRAWN)),
};

const TWO_VALUES: Key = Key::required(
    "two-values",
    schema::<TwoValues>,
    "The attraction of many items that have one of two values.",
    "{ items = 1000, best = 0.2, others = 0.1 }",
)
.in_place_of(&[ATTRACTION.name]);

const WEIGHTS: Key = Key::optional(
    "weights",
    || list(&number(0, 1_000_000_000), "position"),
    "The value of a click at each position, which must not rise from position to position; without it a click is worth 1.",
    "[1.0, 0.8, 0.5]",
)
.called("Weights");

/// Users drawn from a fit.
pub(super) static DRAWN: Drawn<CascadeModel> = Drawn {
    parameters: |_, query, _| vec![query.attraction()],
    of_items: 1,
    clicks: |lists, items, out| {
        scanned(out, items.iter().map(|&item| (lists[0][item], 1.0 - lists[0][item])));
    },
    build: |lists, n_positions| CascadeModel::from_values(&lists[0], n_positions),
};

/// The attraction of many items, which saves a file from listing hundreds of equal numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TwoValues {
    /// The number of items.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 1000)]
    items: usize,
    /// The attraction of the best items, as many as there are positions.
    #[schemars(range(min = 0, max = 1), example = 0.2)]
    best: f64,
    /// The attraction of all other items.
    #[schemars(range(min = 0, max = 1), example = 0.1)]
    others: f64,
}

impl Member for CascadeModel {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const LOWER_BOUND: Option<LowerBound<Self>> = Some(("lower bound (cascade model)", Self::lower_bound));
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);
    const WITH_VALUES: Option<WithValues<Self>> = Some(Self::with_values);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        let weights = users.weights().map(|weights| {
            WEIGHTS.with(Parameter::Numbers(weights.iter().map(|weight| weight.get()).collect()))
        });
        let mut values =
            vec![ATTRACTION.with(users.attraction()), POSITIONS.with(users.shape().n_positions())];
        values.extend(weights);
        values
    }

    fn unit(&self) -> &'static str {
        if self.weights().is_some() { "reward" } else { "clicks" }
    }

    /// Lower bounds on the mean stopping time, mean over the instances: two for every error
    /// probability `delta` of the experiment's policies that read cascade feedback, by Theorem 4.8
    /// and by the characteristic time, `T* d(1 - delta, delta)`.
    fn bounds_of_stopping(instances: &[Instance<Self>], policies: &[Entrant]) -> Vec<Bound> {
        let mut risks: Vec<f64> = Vec::new();
        for spec in policies.iter().map(|entry| &entry.spec) {
            // It does not hold with a tolerance, nor for policies that observe every item shown.
            if let PolicySpec::CascadeBai { delta, .. }
            | PolicySpec::CascadeKl { delta, .. }
            | PolicySpec::KlLucb { delta, .. } = spec
                && spec.epsilon_of_answer() == 0.0
                && !risks.contains(&delta.get())
            {
                risks.push(delta.get());
            }
        }
        let weights = |users: &Self| -> Vec<f64> {
            users.attraction().iter().map(|probability| probability.get()).collect()
        };
        let bound = |label: String, value: f64| Bound { label, t: Vec::new(), value: vec![value] };
        let of_theorem = |&delta: &f64| {
            let factor =
                |users: &Self| cascade_bai_lower_bound(&weights(users), users.shape().n_positions(), delta);
            bound(
                format!("lower bound (CascadeBAI paper, Theorem 4.8, delta = {delta})"),
                super::list::mean(instances, factor),
            )
        };
        let mut bounds: Vec<Bound> = risks.iter().map(of_theorem).collect();
        // The bound by the characteristic time does not hold for larger error probabilities. The
        // time itself does not depend on them.
        let small: Vec<f64> = risks.into_iter().filter(|&delta| delta < 0.5).collect();
        let in_time =
            instances.iter().all(|instance| n_different(&weights(&instance.model)) <= MOST_DIFFERENT);
        if !small.is_empty() && in_time {
            let time_on =
                |users: &Self| cascade_characteristic_time(&weights(users), users.shape().n_positions());
            let time = super::list::mean(instances, time_on);
            bounds.extend(small.into_iter().map(|delta| {
                let label = format!("lower bound (characteristic time, delta = {delta})");
                bound(label, time * bernoulli_kl(1.0 - delta, delta))
            }));
        }
        bounds.retain(|bound| bound.value[0].is_finite());
        bounds
    }
}

/// With more different weights, the characteristic time takes longer than seconds and is left out.
const MOST_DIFFERENT: usize = 128;

fn n_different(weights: &[f64]) -> usize {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    sorted.len()
}

fn read(table: &Table<'_>, given: Option<&ItemCount<'_>>) -> Result<CascadeModel, Error> {
    let two_values = table.field(TWO_VALUES.name).filter(|_| given.is_none());
    let attraction = match &two_values {
        None => read_attraction(table, given, &[ATTRACTION, THETA, TWO_VALUES]),
        Some(field) => Key::one_of(&[TWO_VALUES, ATTRACTION, THETA], table)
            .map(|_| Part { value: vec![], field: field.clone() }),
    };
    let two_values = two_values.map(|field| field.build::<TwoValues>()).transpose();
    let weights = table.field(WEIGHTS.name).map(|field| Ok((field.get::<Vec<f64>>()?, field))).transpose();
    let (attraction, two_values, positions, weights, ()) =
        all((attraction, two_values, read_positions(table), weights, table.finish()))?;
    let n_positions = positions.value;
    let fault = |error: click_models::Error| at_fault(&error, &attraction.field, &positions.field);
    let users = match two_values {
        None => CascadeModel::new(attraction.value, n_positions),
        Some(TwoValues { items, best, others }) => {
            // Checked before the list is built, which may have millions of numbers.
            ListShape::new(items, n_positions).map_err(fault)?;
            let list: Vec<f64> =
                (0..items).map(|item| if item < n_positions { best } else { others }).collect();
            CascadeModel::from_values(&list, n_positions)
        }
    };
    let users = users.map_err(fault)?;
    match weights {
        None => Ok(users),
        Some((numbers, field)) => {
            users.with_weights(&numbers).map_err(|error| at_fault(&error, &field, &field))
        }
    }
}
