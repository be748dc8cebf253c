//! Strata of a query: whether one list for all of its users loses against a list for each stratum.
//!
//! One list for all is the best of those that are recommended for a stratum, by its mean value over
//! all strata, of which each has its share of the lists. A list with an item that a stratum never
//! saw cannot be valued there, and is left out.

use crate::Interval;
use crate::lists::LoggedQuery;
use click_models::{ItemId, Ranking};
use log_reader::Columns;
use serde::Serialize;
use spec::models::Evidence;

/// The strata of a query.
#[derive(Debug, Clone, Serialize)]
pub struct Strata {
    /// Name of the query.
    pub query: String,
    /// The queries within its strata, by their places among those of the answer.
    pub strata: Vec<usize>,
    /// Number of its strata in the log; the answer may have a sample of them.
    pub in_log: usize,
    /// The best list for all, from the top; empty if none can be valued in every stratum.
    pub list_for_all: Vec<String>,
    /// Clicks per 1,000 lists that a list for each stratum gains over one for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_of_each: Option<Interval>,
}

/// The name of a query, of which this is the name within its strata.
pub(crate) fn without(name: &str, n_columns: usize) -> Option<&str> {
    name.rsplitn(n_columns + 1, Columns::WITHIN).nth(n_columns)
}

/// The places of the queries with several strata in the answer, by the name of the query.
pub(crate) fn grouped(queries: &[LoggedQuery], n_columns: usize) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, query) in queries.iter().enumerate().filter(|_| n_columns > 0) {
        let Some(name) = without(&query.name, n_columns) else { continue };
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, places)) => places.push(place),
            None => groups.push((name.to_owned(), vec![place])),
        }
    }
    groups.retain(|(_, places)| places.len() > 1);
    groups
}

/// The lists that may be those for all, each by the items of every stratum.
pub(crate) fn candidates(queries: &[&LoggedQuery], evidence: &[&Evidence]) -> Vec<Vec<Ranking>> {
    let shortest = evidence.iter().map(|evidence| evidence.recommended.len()).min().unwrap_or(0);
    let lists = queries.iter().zip(evidence).map(|(query, evidence)| query.items(&evidence.recommended));
    let in_all = |names: Vec<String>| -> Option<Vec<Ranking>> {
        let in_query = |query: &&LoggedQuery| -> Option<Ranking> {
            names.iter().map(|name| query.find(name).map(ItemId::from_index)).collect()
        };
        (names.len() == shortest).then(|| queries.iter().map(in_query).collect())?
    };
    lists.filter_map(in_all).collect()
}

impl Strata {
    /// `others` has the draws of each stratum with the values of its candidates.
    pub(crate) fn new(
        (query, in_log): (String, usize),
        strata: Vec<usize>,
        queries: &[&LoggedQuery],
        others: &[Evidence],
        candidates: &[Vec<Ranking>],
    ) -> Self {
        let lists: Vec<f64> = queries.iter().map(|query| query.lists.count() as f64).collect();
        let all: f64 = lists.iter().sum();
        let n_draws = others.iter().map(|evidence| evidence.chosen.len()).min().unwrap_or(0);
        let together = |value: &dyn Fn(&Evidence, usize) -> f64| -> Vec<f64> {
            let of_draw = |draw| -> f64 {
                others.iter().zip(&lists).map(|(of, lists)| lists / all * 1000.0 * value(of, draw)).sum()
            };
            (0..n_draws).map(of_draw).collect()
        };
        let each = together(&|of, draw| of.gains(0)[draw] + of.today[0][draw]);
        let of_candidates: Vec<Vec<f64>> =
            (0..candidates.len()).map(|list| together(&|of, draw| of.others[list][draw])).collect();
        let sum = |draws: &Vec<f64>| draws.iter().sum::<f64>();
        let best =
            (0..candidates.len()).max_by(|&a, &b| sum(&of_candidates[a]).total_cmp(&sum(&of_candidates[b])));
        let gain = best.map(|best| -> Vec<f64> {
            each.iter().zip(&of_candidates[best]).map(|(each, one)| each - one).collect()
        });
        Self {
            query,
            strata,
            in_log,
            list_for_all: best.map_or_else(Vec::new, |best| queries[0].items(&candidates[best][0])),
            gain_of_each: gain.map(|gain| Interval::of_draws(&gain)),
        }
    }

    /// Whether one list for all loses.
    pub fn sentence(&self) -> String {
        let (query, n, all) = (&self.query, self.strata.len(), self.in_log);
        let sampled = if n < all { format!(" of {all} strata in the sample") } else { " strata".to_owned() };
        let of = format!("{query} in {n}{sampled}");
        let Some(gain) = self.gain_of_each else {
            let why = "no list has only items that every stratum saw, so one list for all cannot be valued";
            return format!("{of}: {why}.");
        };
        let found = if gain.lower > 0.0 {
            "one list for all loses; a list for each stratum gains"
        } else {
            "the log does not show that one list for all loses; the difference that a list for each stratum makes is"
        };
        format!("{of}: {found} {gain} clicks per 1,000 lists.")
    }
}
