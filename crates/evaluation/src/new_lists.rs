//! New lists and the traffic of their queries, to value with fits.

use crate::jackknife::GROUPS;
use crate::models::{Numbers, group_of};
use crate::ranking::{Key, Ranking};
use click_logs::fit::{Fit, Prediction};
use click_models::Clicks;
use log_reader::{Id, ListSessions, Positions, QuerySessions, Sessions};
use std::collections::BTreeMap;

/// The new lists of the queries of a log.
#[derive(Debug)]
pub(crate) struct NewLists {
    queries: Vec<NewQuery>,
}

#[derive(Debug)]
struct NewQuery {
    id: Id,
    lists: ListsOf,
    traffic: Traffic,
}

/// Lists with their probabilities; items that the log does not have are `None`.
pub(crate) type ListsOf = Vec<(f64, Vec<Option<Id>>)>;

/// Lists of a query that the log shows.
#[derive(Debug)]
struct Traffic {
    lists: [u64; GROUPS],
    /// Their earnings, in the value of clicks down to the end of the new lists.
    earned: [f64; GROUPS],
    /// The positions at which they stand, down to the end of the new lists.
    positions: Positions,
    /// The values of clicks there, and how many reach each of them, by group.
    values: Vec<f64>,
    reach: Vec<[u64; GROUPS]>,
}

/// The positions at which any of these lists has an item.
fn positions<'a>(lists: impl Iterator<Item = ListSessions<'a>>) -> Positions {
    lists.flat_map(|list| list.positions.iter()).collect()
}

impl Traffic {
    /// `positions` are those that are compared, with the values of clicks there.
    fn new(query: QuerySessions<'_>, positions: Positions, values: Vec<f64>) -> Self {
        let mut reach = vec![[0; GROUPS]; positions.len()];
        // Clicks are counted, and valued once: a sum of values would depend on the order of the
        // log.
        let mut clicks = vec![[0_u64; GROUPS]; positions.len()];
        let mut lists = [0; GROUPS];
        let ranks = |list: ListSessions<'_>| -> Vec<usize> {
            let all = list.positions.iter().take_while(|position| *position < positions.end());
            all.map(|position| positions.rank(position)).collect()
        };
        let ranks: Vec<Vec<usize>> = query.lists().map(ranks).collect();
        for session in query.in_order() {
            let group = group_of(session);
            lists[group] += 1;
            for (place, &rank) in ranks[session.list].iter().enumerate() {
                reach[rank][group] += 1;
                clicks[rank][group] += u64::from(session.clicks.get(place));
            }
        }
        let earned = std::array::from_fn(|group| {
            clicks.iter().zip(&values).map(|(clicks, value)| value * clicks[group] as f64).sum()
        });
        Self { lists, earned, positions, values, reach }
    }
}

impl NewLists {
    /// The lists of a ranking of queries; `None` for personal ones, since a log in memory has no
    /// names of sessions.
    pub(crate) fn of_ranking(ranking: &Ranking, sessions: &Sessions, values: &[f64]) -> Option<Self> {
        if ranking.key == Key::Session {
            return None;
        }
        let names = sessions.names();
        let mut by_query: BTreeMap<Id, ListsOf> = BTreeMap::new();
        for list in &ranking.lists {
            if let Some(query) = names.find(ranking.names.name(list.name)) {
                let items = ranking.items(list).map(|item| names.find(item)).collect();
                by_query.entry(query).or_default().push((list.probability, items));
            }
        }
        Some(Self::new(by_query, sessions, values, true))
    }

    /// These lists, by query. Their items stand one after another at the positions of the log, or
    /// else of the query; there are none where the query has none.
    pub(crate) fn new(
        lists: BTreeMap<Id, ListsOf>,
        sessions: &Sessions,
        values: &[f64],
        are_at_those_of_log: bool,
    ) -> Self {
        let of_log = positions(sessions.queries().flat_map(|query| query.lists()));
        let queries = lists.into_iter().filter_map(|(id, mut lists)| {
            let query = sessions.query(id)?;
            let of_query = positions(query.lists());
            let all = if are_at_those_of_log { of_log } else { of_query };
            let n_positions = lists.first().map_or(0, |(_, items)| items.len());
            let compared = all.iter().take(n_positions).filter(|&position| of_query.contains(position));
            let compared: Positions = compared.collect();
            for (_, items) in &mut lists {
                *items = compared.iter().map(|position| items[all.rank(position)]).collect();
            }
            let values = compared.iter().map(|position| values[of_log.rank(position)]).collect();
            Some(NewQuery { id, lists, traffic: Traffic::new(query, compared, values) })
        });
        Self { queries: queries.collect() }
    }

    /// The earnings of the lists by a fit, those of what was shown on the same queries, and the
    /// share of the lists; without a group of users. `None` if no query has a value.
    pub(crate) fn valued(&self, fit: &Fit, without: Option<usize>) -> Option<Numbers> {
        let kept: Vec<usize> = (0..GROUPS).filter(|&group| Some(group) != without).collect();
        let (mut value, mut earned, mut lists, mut all) = (0.0, 0.0, 0, 0);
        let mut prediction = Prediction::default();
        for query in &self.queries {
            let Traffic { lists: of_groups, earned: earned_by, values, reach, .. } = &query.traffic;
            let n: u64 = kept.iter().map(|&group| of_groups[group]).sum();
            all += n;
            let Some(clicks) = query.clicks(fit, &mut prediction) else { continue };
            for (position, click) in clicks.iter().enumerate() {
                let reached: u64 = kept.iter().map(|&group| reach[position][group]).sum();
                value += values[position] * reached as f64 * click;
            }
            earned += kept.iter().map(|&group| earned_by[group]).sum::<f64>();
            lists += n;
        }
        let n = lists as f64;
        (lists > 0).then(|| [value / n, earned / n, n / all as f64])
    }
}

impl NewQuery {
    /// The probability of a click at each position; `None` if an item has no attraction.
    fn clicks(&self, fit: &Fit, prediction: &mut Prediction) -> Option<Vec<f64>> {
        let of_query = fit.query(self.id)?;
        let is_known = |item: Id| {
            let place = of_query.items.binary_search_by_key(&item, |known| known.item);
            place.is_ok_and(|place| !of_query.items[place].attraction.value.is_nan())
        };
        let positions = self.traffic.positions;
        let mut clicks = vec![0.0; positions.len()];
        for (probability, items) in &self.lists {
            let items: Option<Vec<Id>> =
                items.iter().map(|item| item.filter(|&item| is_known(item))).collect();
            fit.predict_at(self.id, &items?, positions, Clicks::new(clicks.len()), prediction);
            for (sum, click) in clicks.iter_mut().zip(&prediction.marginal) {
                *sum += probability * click;
            }
        }
        Some(clicks)
    }
}
