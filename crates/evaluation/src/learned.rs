//! The best lists of a model: what it would earn to put them into production.
//!
//! A ranking made from a log looks better on the same log than it is. So lists are learned from ten
//! groups of users and valued on the other ten, both ways, and the answer is the mean of both.
//! Lists are learned with prior, as [`fit`](click_logs::fit::fit()) does, and valued without.
//!
//! Reference: `docs/evaluation.md`. Complexity: four fits of each model, and of each
//! without each group.

use crate::jackknife::GROUPS;
use crate::models::{Numbers, part, without_prior};
use crate::new_lists::{ListsOf, NewLists};
use click_logs::fit::{Fit, FitError, Model, Options, fit_values};
use log_reader::{Counts, Id, Sessions};
use std::collections::BTreeMap;

/// The earnings of the learned lists of each model, without a group of users: `None` if no query
/// has a value both ways.
pub(crate) fn numbers<E: From<FitError>>(
    models: &[Model],
    sessions: &Sessions,
    values: &[f64],
    without: Option<usize>,
    mut before: impl FnMut(Model) -> Result<(), E>,
) -> Result<Vec<Option<Numbers>>, E> {
    let half = |second| move |group| Some(group) != without && (group >= GROUPS / 2) == second;
    let halves = [false, true].map(|second| part(sessions, &half(second)));
    let [Some(first), Some(second)] = &halves else { return Ok(vec![None; models.len()]) };
    let mut found = Vec::with_capacity(models.len());
    for &model in models {
        before(model)?;
        let mut both = [None; 2];
        for (numbers, (learn, value)) in both.iter_mut().zip([(first, second), (second, first)]) {
            let learned = fit_values(model, None, &learn.counts, &learn.sessions, &Options::default())?;
            let fit = fit_values(model, None, &value.counts, &value.sessions, &without_prior())?;
            let lists = best_lists(&learned, &learn.counts);
            *numbers = NewLists::new(lists, &value.sessions, values, false).valued(&fit, without);
        }
        let mean = |[a, b]: [Numbers; 2]| std::array::from_fn(|place| f64::midpoint(a[place], b[place]));
        found.push(both[0].zip(both[1]).map(|(a, b)| mean([a, b])));
    }
    Ok(found)
}

/// The lists that a model learns from all users, by their names: what to put into production, and
/// the kin of those that are valued, which know half of the users.
pub(crate) fn of_all(model: Model, sessions: &Sessions) -> Result<BTreeMap<String, Vec<String>>, FitError> {
    let (counts, names) = (sessions.counts(), sessions.names());
    let fit = fit_values(model, None, &counts, sessions, &Options::default())?;
    let name = |id: Id| names.name(id).into_owned();
    let named = |lists: ListsOf| lists.into_iter().flat_map(|(_, items)| items).flatten().map(name).collect();
    Ok(best_lists(&fit, &counts).into_iter().map(|(query, lists)| (name(query), named(lists))).collect())
}

/// The best list of each query with users.
fn best_lists(fit: &Fit, counts: &Counts) -> BTreeMap<Id, ListsOf> {
    let of_query = |query: &click_logs::fit::QueryFit| {
        let n_positions = counts.query(query.id)?.n_positions();
        let users = fit.users(query, n_positions)?;
        let items = users.best_list().iter().map(|item| Some(query.items[item.index()].item));
        Some((query.id, vec![(1.0, items.collect())]))
    };
    fit.queries().iter().filter_map(of_query).collect()
}
