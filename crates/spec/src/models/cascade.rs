//! `cascade`: users scan a list from the top and click the first item that attracts them.

use super::context::{self, CONTEXT, ItemCount};
use super::fields::{at_fault, required_list, required_positions};
use super::keys::{ATTRACTION, POSITIONS};
use super::posterior::{Drawn, instances, scanned};
use super::tournament::{EnterError, TournamentSettings, for_regret, tournament};
use super::{EvidenceOf, Instance, LowerBound, Member, Model, Parameter, evidence};
use crate::bound::Bound;
use crate::key::Key;
use crate::schema::{integer, list, number, of_keys, probability};
use crate::task::Task;
use click_models::bounds::{cascade_bai_lower_bound, cascade_characteristic_time};
use click_models::{CascadeModel, ListShape};
use confidence::{Probability, bernoulli_kl};
use contenders::{AnyTournament, Entrant, recommending_contenders, stopping_contenders};
use documents::toml_reader::{Error, Field, Table, all};
use policies::catalogue::{PolicySpec, Protocol};
use sim::{UntilStopped, WithBudget};
use std::ops::RangeInclusive;

pub(super) static MODEL: Model = Model {
    name: "cascade",
    protocol: Protocol::Cascade,
    sentence: "A user scans the list from the top and clicks the first item that attracts.",
    parameters: &[("attraction", "Attraction"), ("positions", "Positions"), ("weights", "Weights")],
    keys: &[
        ATTRACTION,
        Key::required(
            "two-values",
            || of_keys(TWO_VALUES),
            "The attraction of many items that have one of two values.",
            "{ items = 1000, best = 0.2, others = 0.1 }",
        )
        .in_place_of(&["attraction"]),
        CONTEXT.in_place_of(&["attraction"]),
        POSITIONS,
        Key::optional(
            "weights",
            || list(&number(0, 1_000_000_000), "position"),
            "The value of a click at each position, which must not rise from position to position; without it a click is worth 1.",
            "[1.0, 0.8, 0.5]",
        ),
    ],
    first_choices: &["cascade-ts", "cascade-kl-ucb"],
    names_best_items: true,
    read: |tables, _| context::instances(tables, read),
    of_queries: None,
    of_posterior: Some(|file| instances(file, DRAWN)),
};

/// Users drawn from a fit.
pub(super) const DRAWN: Drawn<CascadeModel> = Drawn {
    parameters: |_, query, _| vec![query.attraction()],
    of_items: 1,
    clicks: |lists, items, out| {
        scanned(out, items.iter().map(|&item| (lists[0][item], 1.0 - lists[0][item])));
    },
    build: |lists, n_positions| CascadeModel::from_values(&lists[0], n_positions),
};

/// The keys of `two-values`.
const TWO_VALUES: &[Key] = &[
    Key::required(
        "items",
        || integer(&(*TWO_VALUED_ITEMS.start()..=*TWO_VALUED_ITEMS.end())),
        "The number of items.",
        "1000",
    ),
    Key::required(
        "best",
        probability,
        "The attraction of the best items, as many as there are positions.",
        "0.2",
    ),
    Key::required("others", probability, "The attraction of all other items.", "0.1"),
];

impl Member for CascadeModel {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const LOWER_BOUND: Option<LowerBound<Self>> = Some(("lower bound (cascade model)", Self::lower_bound));
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        let weights = users.weights().map(|weights| {
            ("weights", Parameter::Numbers(weights.iter().map(|weight| weight.get()).collect()))
        });
        let mut values = vec![
            ("attraction", Parameter::of(users.attraction())),
            ("positions", Parameter::Count(users.shape().n_positions())),
        ];
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

    fn tournament<'a>(
        instances: &'a [Instance<Self>],
        settings: &TournamentSettings<'_>,
    ) -> Result<Box<dyn AnyTournament + 'a>, EnterError> {
        let &TournamentSettings { policies, horizon, .. } = settings;
        match settings.task {
            Task::Regret => for_regret(instances, settings),
            Task::Identify => {
                let task = UntilStopped { max_steps: horizon };
                tournament(
                    instances,
                    stopping_contenders(policies, &settings.live.delay)?,
                    task,
                    settings,
                    None,
                )
            }
            Task::Budget => {
                let contenders = recommending_contenders(policies, horizon)?;
                tournament(instances, contenders, WithBudget { horizon }, settings, None)
            }
        }
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
    let of_list = match given {
        None => required_list(table, "attraction", "item"),
        Some(given) => given.attraction(table, &["attraction", "two-values"]),
    };
    let attraction = match (table.field("two-values"), table.field("attraction")) {
        (None, _) => of_list.map(|list| (list.field, Attraction::List(list.value))),
        (Some(field), _) if given.is_some() => of_list.map(|list| (field, Attraction::List(list.value))),
        (Some(field), None) => read_two_values(&field).map(|two_values| (field, two_values)),
        (Some(_), Some(list)) => {
            Err(list.error("`two-values` already gives the attraction: expected one or the other"))
        }
    };
    let weights = table.field("weights").map(|field| Ok((field.get::<Vec<f64>>()?, field))).transpose();
    let ((field, given), positions, weights, ()) =
        all((attraction, required_positions(table), weights, table.finish()))?;
    let n_positions = positions.value;
    let fault = |error: click_models::Error| at_fault(&error, &field, &positions.field);
    let probabilities = match given {
        Attraction::List(probabilities) => probabilities,
        Attraction::TwoValues { n_items, best, others } => {
            // Checked before the list is built, which may have millions of numbers.
            ListShape::new(n_items, n_positions).map_err(fault)?;
            (0..n_items).map(|item| if item < n_positions { best } else { others }).collect()
        }
    };
    let users = CascadeModel::new(probabilities, n_positions).map_err(fault)?;
    match weights {
        None => Ok(users),
        Some((numbers, field)) => {
            users.with_weights(&numbers).map_err(|error| at_fault(&error, &field, &field))
        }
    }
}

/// The attraction of items as a file gives it.
enum Attraction {
    /// Item by item.
    List(Vec<Probability>),
    /// The attraction of the best items, as many as there are positions, and of all others.
    TwoValues { n_items: usize, best: Probability, others: Probability },
}

/// Valid numbers of items given by two values: up to about as many as a file could list one by one.
const TWO_VALUED_ITEMS: RangeInclusive<u64> = 1..=1 << 24;

/// Reads `two-values`, which saves a file from listing hundreds of equal numbers: the number of
/// items, the attraction of the best items (as many as there are positions), and the attraction of
/// all others.
fn read_two_values(field: &Field<'_>) -> Result<Attraction, Error> {
    let table: Table<'_> = field.get()?;
    let items = table.required::<Field<'_>>("items").and_then(|items| items.integer_in(&TWO_VALUED_ITEMS));
    let (items, best, others, ()) =
        all((items, table.required("best"), table.required("others"), table.finish()))?;
    Ok(Attraction::TwoValues { n_items: usize::try_from(items).unwrap_or(usize::MAX), best, others })
}
