//! The queries of an answer: a sample of the log's, with their lists by the items of the fit.
//!
//! Queries are drawn with probabilities in proportion to their lists (systematic sampling; Hansen,
//! Hurwitz 1943): a query with more lists than the others have on average is certain, and all
//! others stand for an equal share of the rest.

use click_logs::fit::{Fit, Prediction, QueryFit, SessionVariance};
use click_logs::study::{FilteredLog, are_kept_apart};
use click_models::{Clicks, ItemId, Ranking};
use itertools::Itertools as _;
use log_reader::{Id, ListSessions, Positions};
use policies::Logged;
use rand::RngExt as _;
use sim::{SimRng, Streams};
use spec::experiment::title_fault;
use spec::models::{LogLists, OwnClicks};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The stream that draws queries, and the one that draws how they stand for others.
const STREAMS: [u64; 2] = [u64::MAX - 2, u64::MAX - 3];

/// A sample of queries, in the order of the fit.
#[derive(Debug)]
pub(crate) struct LoggedQueries {
    pub(crate) queries: Vec<LoggedQuery>,
    /// Queries of the log with lists that can be simulated.
    pub(crate) n_queries: u64,
    /// Lists of the whole log.
    pub(crate) lists_of_log: u64,
    /// Lists that are left out.
    pub(crate) left_out: u64,
    /// Clicks per 1,000 lists of all queries, not only of the sample: those that the users of the
    /// fit make, and those that were observed.
    pub(crate) clicks_of_all: [f64; 2],
    /// Today: 0 for the whole log, or the number of a part, from 1.
    pub(crate) today: usize,
}

/// A query with its lists.
#[derive(Debug)]
pub(crate) struct LoggedQuery {
    id: Id,
    pub(crate) name: String,
    /// How many lists it stands for.
    pub(crate) stands_for: f64,
    /// Whether it also stands for others.
    is_drawn: bool,
    /// The names of its items.
    items: Vec<String>,
    /// The variance of the clicks of sessions with the same list.
    pub(crate) variance: f64,
    pub(crate) lists: Lists,
    /// The lists of each part of the log that may be today.
    parts: Vec<PartLists>,
}

/// How often each list is in a part of the log; of all of it, and false, if most of the part's are
/// left out, as where lists have become shorter: the others would not be those of today.
type PartLists = (BTreeMap<(Vec<usize>, Positions), u64>, bool);

/// The lists of one query.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// The items of each list by their index, with their positions: how often it was shown, and its
    /// clicks.
    counted: BTreeMap<(Vec<usize>, Positions), [u64; 2]>,
    left_out: u64,
}

impl Lists {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.counted.values().map(|[shown, _]| shown).sum()
    }

    pub(crate) fn clicks(&self) -> u64 {
        self.counted.values().map(|[_, clicks]| clicks).sum()
    }

    /// Clicks that the users of a fit make on all of them.
    fn fitted_clicks(&self, fit: &Fit, query: &QueryFit) -> f64 {
        let of_list = |((list, positions), [shown, _]): (&(Vec<usize>, Positions), &[u64; 2])| {
            *shown as f64 * predicted(fit, query, list.iter().copied(), *positions)
        };
        self.counted.iter().map(of_list).sum()
    }

    /// The lists from a place of the log on.
    fn since(&self, start: u32, fit: &Fit, query: &QueryFit, filtered: &FilteredLog) -> PartLists {
        let Some(of_query) = filtered.sessions.query(query.id) else { return PartLists::default() };
        let n_positions = n_positions(fit, query, filtered).unwrap_or(0);
        let keys: Vec<_> = of_query.lists().map(|list| key(query, n_positions, &list)).collect();
        let (mut shown, mut left_out) = (BTreeMap::new(), 0_u64);
        for session in of_query.in_order().filter(|session| session.place >= start) {
            match &keys[session.list] {
                Some(key) => *shown.entry(key.clone()).or_default() += 1,
                None => left_out += 1,
            }
        }
        let are_own = shown.values().sum::<u64>() > left_out;
        if !are_own {
            shown = self.counted.iter().map(|(key, [shown, _])| (key.clone(), *shown)).collect();
        }
        (shown, are_own)
    }

    /// How often an item was shown at most two positions from a position.
    fn shown_near(&self, item: usize, position: usize) -> u64 {
        let near = |list: &Vec<usize>| {
            let from = position.saturating_sub(NEAR);
            list.iter().skip(from).take(position + NEAR + 1 - from).any(|other| *other == item)
        };
        self.counted.iter().filter(|((list, _), _)| near(list)).map(|(_, [shown, _])| shown).sum()
    }
}

/// Positions at most this far away are near, and an item that was shown near its position this
/// often is known there.
const NEAR: usize = 2;
const SHOWN: u64 = 20;
const BY_CHANCE: f64 = 1e-4;

impl LoggedQueries {
    /// A sample of `n` queries; `None` if no query has a list, or none was asked for.
    pub(crate) fn new(
        fit: &Fit,
        filtered: &FilteredLog,
        n: usize,
        streams: Streams,
        parts: &[f64],
    ) -> Option<Self> {
        let lists_of_log = filtered.sessions.queries().map(|query| query.n_sessions()).sum();
        let able: Vec<(&QueryFit, Lists)> =
            fit.queries().iter().filter_map(|query| Some((query, lists(fit, query, filtered)?))).collect();
        let sizes: Vec<u64> = able.iter().map(|(_, lists)| lists.count()).collect();
        let drawn = sample(&sizes, n, &mut streams.subset(STREAMS[0], 0));
        if drawn.is_empty() {
            return None;
        }
        let of_all = 1000.0 / sizes.iter().sum::<u64>() as f64;
        let fitted: f64 = able.iter().map(|(query, lists)| lists.fitted_clicks(fit, query)).sum();
        let observed: u64 = able.iter().map(|(_, lists)| lists.clicks()).sum();
        let clicks_of_all = [of_all * fitted, of_all * observed as f64];
        let (n_queries, left_out) = (able.len() as u64, able.iter().map(|(_, lists)| lists.left_out).sum());
        let (names, variances) = (filtered.counts.names(), SessionVariance::new(&filtered.sessions));
        let mut queries = Vec::with_capacity(drawn.len());
        let mut drawn = drawn.into_iter().peekable();
        for (place, (query, lists)) in able.into_iter().enumerate() {
            if let Some((_, stands_for)) = drawn.next_if(|(next, _)| *next == place) {
                let items = query.items.iter().map(|item| names.name(item.item).into_owned()).collect();
                let is_drawn = stands_for > lists.count() as f64;
                let (id, name) = (query.id, names.name(query.id).into_owned());
                let variance = filtered.sessions.query(query.id).map_or(0.0, |of| variances.of(&of));
                let starts = parts.iter().map(|share| filtered.sessions.start_of_last(*share).0);
                let parts = starts.map(|start| lists.since(start, fit, query, filtered)).collect();
                queries.push(LoggedQuery { id, name, stands_for, is_drawn, items, variance, lists, parts });
            }
        }
        Some(Self { queries, n_queries, lists_of_log, left_out, clicks_of_all, today: 0 })
    }

    /// Whether these are also the lists of another fit, by the items of that fit.
    pub(crate) fn are_those_of(&self, fit: &Fit, filtered: &FilteredLog) -> bool {
        self.queries.iter().all(|query| {
            let found = fit.query(query.id).and_then(|of_fit| lists(fit, of_fit, filtered));
            found.is_some_and(|found| found.counted == query.lists.counted)
        })
    }

    /// The names of the queries.
    pub(crate) fn names(&self) -> Vec<String> {
        self.queries.iter().map(|query| query.name.clone()).collect()
    }

    /// The share of each query in what it stands for.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let all: f64 = self.queries.iter().map(|query| query.stands_for).sum();
        self.queries.iter().map(|query| query.stands_for / all).collect()
    }

    /// Shares as uncertain as the sample leaves them: those who stand for others are drawn again
    /// with replacement, and differ as much as samples of as many queries do (Efron 1979).
    pub(crate) fn drawn_shares(&self, streams: Streams, draw: u64) -> Vec<f64> {
        let mut shares = self.shares();
        let drawn: Vec<usize> = (0..shares.len()).filter(|&place| self.queries[place].is_drawn).collect();
        if drawn.is_empty() {
            return shares;
        }
        let mut rng = streams.subset(STREAMS[1], draw);
        let mut times = vec![0.0; shares.len()];
        for _ in &drawn {
            times[drawn[rng.random_range(0..drawn.len())]] += 1.0;
        }
        let others = self.n_queries as f64 - (shares.len() - drawn.len()) as f64;
        let spread = (1.0 - drawn.len() as f64 / others).max(0.0).sqrt();
        for place in drawn {
            shares[place] *= 1.0 + spread * (times[place] - 1.0);
        }
        shares
    }

    /// The places of the `n` queries with the most lists, in order.
    pub(crate) fn largest(&self, n: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.queries.len()).collect();
        // The first of equally many.
        places.sort_by_key(|&place| std::cmp::Reverse(self.queries[place].lists.count()));
        places.truncate(n);
        places.sort_unstable();
        places
    }

    /// The file with the lists of some of the queries.
    pub(crate) fn csv(&self, places: impl Iterator<Item = usize>) -> Vec<u8> {
        let mut csv = "instance,query,lists,items,clicks".to_owned();
        csv += if self.today > 0 { ",of-log\n" } else { "\n" };
        let mut table = csv::Writer::from_writer(Vec::new());
        for (instance, place) in places.enumerate() {
            let LoggedQuery { name, lists, parts, .. } = &self.queries[place];
            let name = if title_fault(name).is_none() { name } else { "" };
            for (key @ (list, _), [shown, clicks]) in &lists.counted {
                let part = self.today.checked_sub(1).map(|part| parts[part].0.get(key).copied().unwrap_or(0));
                let row = [
                    &*instance.to_string(),
                    name,
                    &part.unwrap_or(*shown).to_string(),
                    &list.iter().join(" "),
                    &clicks.to_string(),
                    &shown.to_string(),
                ];
                // Writing to memory cannot fail.
                let _ = table.write_record(&row[..row.len() - usize::from(part.is_none())]);
            }
        }
        let _ = write!(csv, "{}", String::from_utf8_lossy(&table.into_inner().unwrap_or_default()));
        csv.into_bytes()
    }
}

impl LoggedQuery {
    /// Its lists, for draws of users with this variance of lists around their predictions, where
    /// repeated sessions have this overdispersion.
    pub(crate) fn in_log(&self, own_variance: f64, copies: f64) -> LogLists {
        let items = |list: &Vec<usize>| -> Vec<ItemId> {
            list.iter().map(|&item| ItemId::from_index(item)).collect()
        };
        let lists = self.lists.counted.iter().map(|((list, _), counts)| (items(list), *counts));
        let of_part = |(part, _): &PartLists| {
            let lists = part.iter().map(|((list, _), shown)| (items(list).into_iter().collect(), *shown));
            Logged::new(lists.collect()).ok()
        };
        let parts = self.parts.iter().filter_map(of_part).collect();
        let own = OwnClicks::new(lists, own_variance, copies * self.variance);
        LogLists { own, parts, others: Vec::new() }
    }

    /// The index of an item of this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.items.iter().position(|item| item == name)
    }

    /// The names of a list's items from the log's first position on.
    pub(crate) fn items(&self, list: &Ranking) -> Vec<String> {
        list.iter().map(|item| self.items[item.index()].clone()).collect()
    }

    /// Whether today's ranking keeps some of a list's items apart.
    pub(crate) fn keeps_apart(&self, list: &Ranking, filtered: &FilteredLog) -> bool {
        let names = filtered.counts.names();
        let items: Vec<Id> = self.items(list).iter().filter_map(|name| names.find(name)).collect();
        filtered.sessions.query(self.id).is_some_and(|query| are_kept_apart(&query, &items))
    }

    /// The names of a list's items that have left: by chance, an item shown as often as before
    /// would be missing for so long at the end with a probability below [`BY_CHANCE`]. None in a
    /// log without times.
    pub(crate) fn gone(&self, list: &Ranking, filtered: &FilteredLog) -> Vec<String> {
        let (names, query) = (filtered.counts.names(), filtered.sessions.query(self.id));
        let Some(query) = query.filter(|_| filtered.sessions.times().is_some()) else { return vec![] };
        let sessions: Vec<usize> = query.in_order().map(|session| session.list).collect();
        let is_gone = |name: &String| {
            let Some(item) = names.find(name) else { return false };
            let has: Vec<bool> = query.lists().map(|list| list.items.contains(&item)).collect();
            let end = sessions.iter().rposition(|&list| has[list]).map_or(0, |last| last + 1);
            let shown = sessions.iter().filter(|&&list| has[list]).count() as f64;
            let missing = (sessions.len() - end) as f64;
            libm::pow(1.0 - shown / (end as f64 + 1.0), missing) < BY_CHANCE
        };
        self.items(list).into_iter().filter(is_gone).collect()
    }

    /// The share of a list's items that the log shows often enough near their positions.
    pub(crate) fn known_share(&self, list: &Ranking) -> f64 {
        let is_known = |(position, item): (usize, usize)| self.lists.shown_near(item, position) >= SHOWN;
        let known = list.iter().map(ItemId::index).enumerate().filter(|&place| is_known(place)).count();
        known as f64 / list.len().max(1) as f64
    }

    /// Clicks that the users of a fit make on 1,000 of its lists.
    pub(crate) fn fitted_clicks(&self, fit: &Fit) -> f64 {
        let of_all = fit.query(self.id).map_or(0.0, |query| self.lists.fitted_clicks(fit, query));
        1000.0 * of_all / self.lists.count() as f64
    }

    /// Clicks that the users of a fit make on 1,000 lists of these items beyond those on its own.
    pub(crate) fn fitted_gain(&self, fit: &Fit, list: &Ranking) -> f64 {
        let items = list.iter().map(ItemId::index);
        1000.0 * fit.query(self.id).map_or(0.0, |query| predicted(fit, query, items, query.positions))
            - self.fitted_clicks(fit)
    }

    /// How many lists it has in the whole log (0), or in a part of it, from 1, if that has its own.
    pub(crate) fn lists_of(&self, part: usize) -> Option<u64> {
        let Some(part) = part.checked_sub(1) else { return Some(self.lists.count()) };
        self.parts[part].1.then(|| self.parts[part].0.values().sum())
    }

    /// Observed clicks per 1,000 lists.
    pub(crate) fn observed(&self) -> f64 {
        1000.0 * self.lists.clicks() as f64 / self.lists.count() as f64
    }
}

/// Clicks that the users of a fit make on a list of items of a query, by their places, that stand
/// at these positions.
fn predicted(fit: &Fit, query: &QueryFit, list: impl Iterator<Item = usize>, positions: Positions) -> f64 {
    let list: Vec<Id> = list.map(|item| query.items[item].item).collect();
    let mut prediction = Prediction::default();
    fit.predict_at(query.id, &list, positions, Clicks::new(list.len()), &mut prediction);
    prediction.marginal.iter().sum()
}

/// Draws `n` of the queries with these numbers of lists, in order, and how many lists each stands
/// for.
fn sample(sizes: &[u64], n: usize, rng: &mut SimRng) -> Vec<(usize, f64)> {
    if n >= sizes.len() {
        return sizes.iter().enumerate().map(|(place, &size)| (place, size as f64)).collect();
    }
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|&place| std::cmp::Reverse(sizes[place]));
    let mut rest: u64 = sizes.iter().sum();
    let mut certain = 0;
    while certain < n && u128::from(sizes[by_size[certain]]) * (n - certain) as u128 >= u128::from(rest) {
        rest -= sizes[by_size[certain]];
        certain += 1;
    }
    let (certain, others) = by_size.split_at(certain);
    let mut drawn: Vec<(usize, f64)> = certain.iter().map(|&place| (place, sizes[place] as f64)).collect();
    let n_drawn = n - certain.len();
    let step = rest as f64 / n_drawn as f64;
    let mut next = rng.random::<f64>() * step;
    let mut end = 0.0;
    // In the order of size, so that large and small ones have their share.
    for &place in others {
        end += sizes[place] as f64;
        if next < end && drawn.len() < n {
            drawn.push((place, step));
            next += step;
        }
    }
    drawn.sort_unstable_by_key(|(place, _)| *place);
    drawn
}

/// The length of the lists of a query; `None` if it has no users.
fn n_positions(fit: &Fit, query: &QueryFit, filtered: &FilteredLog) -> Option<usize> {
    let n_positions = filtered.counts.query(query.id)?.n_positions().min(query.items.len());
    fit.users(query, n_positions).map(|_| n_positions)
}

/// A list by the items of its query, with its positions; `None` if it cannot be shown to users.
fn key(query: &QueryFit, n_positions: usize, list: &ListSessions<'_>) -> Option<(Vec<usize>, Positions)> {
    let index = |&id| query.items.binary_search_by_key(&id, |item| item.item).ok();
    let items: Option<Vec<usize>> = list.items.get(..n_positions)?.iter().map(index).collect();
    let shown_at = list.positions.iter().take(n_positions).collect();
    items.filter(|items| items.iter().all_unique()).map(|items| (items, shown_at))
}

/// The lists of a query; `None` if none can be shown to its users.
fn lists(fit: &Fit, query: &QueryFit, filtered: &FilteredLog) -> Option<Lists> {
    let n_positions = n_positions(fit, query, filtered)?;
    let mut found = Lists::default();
    for list in filtered.sessions.query(query.id)?.lists() {
        let sessions: u64 = list.patterns.iter().map(|pattern| pattern.sessions).sum();
        match key(query, n_positions, &list) {
            None => found.left_out += sessions,
            Some(key) => {
                let [shown, clicks] = found.counted.entry(key).or_default();
                *shown += sessions;
                for pattern in list.patterns {
                    let of_list = (0..n_positions).filter(|&position| pattern.clicks.get(position)).count();
                    *clicks += of_list as u64 * pattern.sessions;
                }
            }
        }
    }
    (!found.counted.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests;
