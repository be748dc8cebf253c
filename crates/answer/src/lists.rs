//! The log's lists as `logged.csv`: those of the queries with the most lists, by the items of the
//! fitted users.

use click_logs::fit::{Fit, QueryFit};
use click_logs::study::FilteredLog;
use click_models::Ranking;
use experiment::spec::title_fault;
use itertools::Itertools as _;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Queries with their lists, in the order of the fit.
#[derive(Debug)]
pub(crate) struct LoggedQueries {
    /// The names of the queries.
    pub(crate) names: Vec<String>,
    /// How many lists each of them has.
    pub(crate) lists: Vec<u64>,
    /// The clicks on these lists.
    pub(crate) clicks: Vec<u64>,
    /// The names of the items of each query.
    items: Vec<Vec<String>>,
    /// Lists of the whole log.
    pub(crate) lists_of_log: u64,
    /// Lists of these queries that are left out.
    pub(crate) left_out: u64,
    /// The file.
    pub(crate) csv: String,
}

/// The lists of one query: the items of each by index, how often it was shown, and its clicks.
struct Lists {
    counted: BTreeMap<Vec<usize>, u64>,
    clicks: u64,
    left_out: u64,
}

impl Lists {
    fn count(&self) -> u64 {
        self.counted.values().sum()
    }
}

impl LoggedQueries {
    /// The `n_queries` queries with the most lists; `None` if no query has a list, or none was
    /// asked for.
    pub(crate) fn new(fit: &Fit, filtered: &FilteredLog, n_queries: usize) -> Option<Self> {
        let lists_of_log = filtered.sessions.queries().map(|query| query.n_sessions()).sum();
        let mut found: Vec<(&QueryFit, Lists)> =
            fit.queries().iter().filter_map(|query| Some((query, lists(fit, query, filtered)?))).collect();
        // The first of equally many.
        found.sort_by_key(|(_, lists)| std::cmp::Reverse(lists.count()));
        found.truncate(n_queries);
        found.sort_by_key(|(query, _)| query.id);
        if found.is_empty() {
            return None;
        }
        let names = filtered.counts.names();
        let mut csv = "instance,query,lists,items\n".to_owned();
        let mut table = csv::Writer::from_writer(Vec::new());
        for (instance, (query, lists)) in found.iter().enumerate() {
            let name = names.name(query.id);
            let name = if title_fault(&name).is_none() { &*name } else { "" };
            for (list, count) in &lists.counted {
                let row = [&*instance.to_string(), name, &count.to_string(), &list.iter().join(" ")];
                // Writing to memory cannot fail.
                let _ = table.write_record(row);
            }
        }
        let _ = write!(csv, "{}", String::from_utf8_lossy(&table.into_inner().unwrap_or_default()));
        let name = |query: &QueryFit| names.name(query.id).into_owned();
        Some(Self {
            names: found.iter().map(|(query, _)| name(query)).collect(),
            lists: found.iter().map(|(_, lists)| lists.count()).collect(),
            clicks: found.iter().map(|(_, lists)| lists.clicks).collect(),
            items: found
                .iter()
                .map(|(query, _)| query.items.iter().map(|item| names.name(item.item).into_owned()).collect())
                .collect(),
            lists_of_log,
            left_out: found.iter().map(|(_, lists)| lists.left_out).sum(),
            csv,
        })
    }

    /// The names of a list's items from the log's first position on.
    pub(crate) fn items(&self, query: usize, list: &Ranking) -> Vec<String> {
        list.iter().map(|item| self.items[query][item.index()].clone()).collect()
    }
}

/// The lists of a query; `None` if none can be shown to its users.
fn lists(fit: &Fit, query: &QueryFit, filtered: &FilteredLog) -> Option<Lists> {
    let n_positions = filtered.counts.query(query.id)?.n_positions().min(query.items.len());
    fit.users(query, n_positions)?;
    let mut found = Lists { counted: BTreeMap::new(), clicks: 0, left_out: 0 };
    for list in filtered.sessions.query(query.id)?.lists() {
        let index = |&id| query.items.binary_search_by_key(&id, |item| item.item).ok();
        let shown = list.items().get(..n_positions);
        let items: Option<Vec<usize>> = shown.and_then(|shown| shown.iter().map(index).collect());
        let sessions: u64 = list.patterns().iter().map(|pattern| pattern.sessions).sum();
        let is_a_list = |items: &Vec<usize>| items.iter().all_unique();
        match items.filter(is_a_list) {
            None => found.left_out += sessions,
            Some(items) => {
                *found.counted.entry(items).or_default() += sessions;
                for pattern in list.patterns() {
                    let clicks = (0..n_positions).filter(|&position| pattern.clicks.get(position)).count();
                    found.clicks += clicks as u64 * pattern.sessions;
                }
            }
        }
    }
    (!found.counted.is_empty()).then_some(found)
}
