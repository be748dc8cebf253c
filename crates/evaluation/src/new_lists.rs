//! New lists and the traffic of their queries, to value with fits.

use crate::jackknife::GROUPS;
use crate::models::{Numbers, group_of};
use crate::ranking::{Key, Ranking};
use click_logs::fit::{Fit, Prediction};
use click_logs::{Id, ListSessions, Positions, QuerySessions, Sessions};
use click_models::Clicks;
use std::collections::BTreeMap;

/// The new lists of the queries of a log.
#[derive(Debug)]
pub(crate) struct NewLists {
    queries: Vec<NewQuery>,
    values: Vec<f64>,
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
    /// How many reach each position, by group.
    reach: Vec<[u64; GROUPS]>,
}

impl Traffic {
    /// `shown` are the positions of the log: a list is valued at its places among them.
    fn new(query: QuerySessions<'_>, n_positions: usize, values: &[f64], shown: Positions) -> Self {
        let mut reach = vec![[0; GROUPS]; n_positions];
        // Clicks are counted, and valued once: a sum of values would depend on the order of the
        // log.
        let mut clicks = vec![[0_u64; GROUPS]; n_positions];
        let mut lists = [0; GROUPS];
        let ranks = |list: ListSessions<'_>| -> Vec<usize> {
            let all = list.positions().iter().map(|position| shown.rank(position));
            all.take_while(|rank| *rank < n_positions).collect()
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
            clicks.iter().zip(values).map(|(clicks, value)| value * clicks[group] as f64).sum()
        });
        Self { lists, earned, reach }
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
            if let Some(query) = names.find(&list.name) {
                let items = list.items.iter().map(|item| names.find(item)).collect();
                by_query.entry(query).or_default().push((list.probability, items));
            }
        }
        Some(Self::new(by_query, sessions, values))
    }

    /// These lists, by query.
    pub(crate) fn new(lists: BTreeMap<Id, ListsOf>, sessions: &Sessions, values: &[f64]) -> Self {
        let of_lists = sessions.queries().flat_map(|query| query.lists());
        let shown: Positions = of_lists.flat_map(|list| list.positions().iter()).collect();
        let queries = lists.into_iter().filter_map(|(id, lists)| {
            let n_positions = lists.first().map_or(0, |(_, items)| items.len());
            let traffic = Traffic::new(sessions.query(id)?, n_positions, values, shown);
            Some(NewQuery { id, lists, traffic })
        });
        Self { queries: queries.collect(), values: values.to_vec() }
    }

    /// The earnings of the lists by a fit, those of what was shown on the same queries, and the
    /// share of the lists; without a group of users. `None` if no query has a value.
    pub(crate) fn valued(&self, fit: &Fit, without: Option<usize>) -> Option<Numbers> {
        let kept: Vec<usize> = (0..GROUPS).filter(|&group| Some(group) != without).collect();
        let (mut value, mut earned, mut lists, mut all) = (0.0, 0.0, 0, 0);
        let mut prediction = Prediction::default();
        for query in &self.queries {
            let Traffic { lists: of_groups, earned: earned_by, reach } = &query.traffic;
            let n: u64 = kept.iter().map(|&group| of_groups[group]).sum();
            all += n;
            let Some(clicks) = query.clicks(fit, &mut prediction) else { continue };
            for (position, click) in clicks.iter().enumerate() {
                let reached: u64 = kept.iter().map(|&group| reach[position][group]).sum();
                value += self.values[position] * reached as f64 * click;
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
        let mut clicks = vec![0.0; self.lists.first()?.1.len()];
        for (probability, items) in &self.lists {
            let items: Option<Vec<Id>> =
                items.iter().map(|item| item.filter(|&item| is_known(item))).collect();
            let items = items?;
            fit.predict(self.id, &items, Clicks::new(items.len()), prediction);
            for (sum, click) in clicks.iter_mut().zip(&prediction.marginal) {
                *sum += probability * click;
            }
        }
        Some(clicks)
    }
}
