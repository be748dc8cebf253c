//! Logs of known users, and the truth about them.

use crate::users::{ITEMS, Kind, POSITIONS, Period};
use click_models::{Clicks, ItemId, Ranking};
use itertools::Itertools as _;
use rand::RngExt as _;
use rand_distr::StandardNormal;
use sim::SimRng;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Queries of a log, lists of each, and noise of the ranker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub name: &'static str,
    pub n_queries: usize,
    pub n_lists: usize,
}

pub(crate) const SIZES: [Size; 5] = [
    Size { name: "1x10000", n_queries: 1, n_lists: 10_000 },
    Size { name: "4x200", n_queries: 4, n_lists: 200 },
    Size { name: "4x1000", n_queries: 4, n_lists: 1_000 },
    Size { name: "4x3000", n_queries: 4, n_lists: 3_000 },
    Size { name: "20x200", n_queries: 20, n_lists: 200 },
];

/// Standard deviation of the noise that a ranker adds to its scores, for each list.
pub(crate) const NOISES: [f64; 3] = [0.1, 0.5, 2.0];

/// A query and its users.
pub(crate) struct Query {
    periods: [Period; 2],
    /// How often each list was shown in each period.
    shown: [BTreeMap<Vec<usize>, u32>; 2],
}

/// The periods over which the truth is a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    WholeLog,
    LastHalf,
}

impl Span {
    fn periods(self) -> Range<usize> {
        match self {
            Self::WholeLog => 0..2,
            Self::LastHalf => 1..2,
        }
    }
}

/// A log in the format `sessions`, its queries by number.
pub(crate) struct GeneratedLog {
    pub text: String,
    pub queries: Vec<Query>,
}

impl GeneratedLog {
    /// Queries take turns. The second period is the second half of the log.
    pub(crate) fn new(
        kind: &Kind,
        size: Size,
        noise: f64,
        rng: &mut SimRng,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let query = |_| Ok(Query { periods: kind.draw(rng)?, shown: Default::default() });
        let mut queries = (0..size.n_queries).map(query).collect::<Result<Vec<_>, click_models::Error>>()?;
        let mut text = "query\turls\tclicked_mask\n".to_owned();
        for number in 0..size.n_lists {
            let half = 2 * number / size.n_lists;
            for (query_number, query) in queries.iter_mut().enumerate() {
                let Period { users, scores } = &query.periods[half];
                let scores: Vec<f64> =
                    scores.iter().map(|score| score + noise * rng.sample::<f64, _>(StandardNormal)).collect();
                let mut items: Vec<usize> = (0..ITEMS).collect();
                items.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
                items.truncate(POSITIONS);
                let clicks = users.clicks_on(&ranking(&items), rng);
                let urls = items.iter().map(|&item| name(query_number, item)).join(",");
                let mask: String = (0..POSITIONS).map(|at| if clicks.get(at) { '1' } else { '0' }).collect();
                writeln!(text, "{query_number}\t{urls}\t{mask}")?;
                *query.shown[half].entry(items).or_default() += 1;
            }
        }
        Ok(Self { text, queries })
    }

    /// The query with this name.
    pub(crate) fn query(&self, name: &str) -> Option<&Query> {
        self.queries.get(name.parse::<usize>().ok()?)
    }
}

/// Items of different queries have different names.
fn name(query: usize, item: usize) -> String {
    (1000 * (query + 1) + item).to_string()
}

pub(crate) fn ranking(items: &[usize]) -> Ranking {
    items.iter().copied().map(ItemId::from_index).collect()
}

/// The list of items with these names.
pub(crate) fn list(names: &[String]) -> Result<Ranking, std::num::ParseIntError> {
    let item = |name: &String| Ok(ItemId::from_index(name.parse::<usize>()? % 1000));
    names.iter().map(item).collect()
}

impl Query {
    /// Expected clicks on a list.
    pub(crate) fn expects(&self, list: &Ranking, span: Span) -> f64 {
        let periods = &self.periods[span.periods()];
        periods.iter().map(|period| period.users.expects(list)).sum::<f64>() / periods.len() as f64
    }

    /// Draws the clicks of a user.
    pub(crate) fn clicks_on(&self, list: &Ranking, span: Span, rng: &mut SimRng) -> Clicks {
        let period = &self.periods[rng.random_range(span.periods())];
        period.users.clicks_on(list, rng)
    }

    /// Expected clicks of the lists that were shown.
    pub(crate) fn today(&self, span: Span) -> f64 {
        let (mut clicks, mut n_lists) = (0.0, 0.0);
        for period in span.periods() {
            for (list, &times) in &self.shown[period] {
                clicks += f64::from(times) * self.periods[period].users.expects(&ranking(list));
                n_lists += f64::from(times);
            }
        }
        clicks / n_lists
    }

    /// The items that the log shows: an answer knows no others.
    pub(crate) fn items(&self) -> Vec<usize> {
        let shown = self.shown.iter().flat_map(BTreeMap::keys).flatten();
        shown.copied().sorted_unstable().dedup().collect()
    }

    /// Expected clicks of the best list of these items.
    pub(crate) fn best(&self, span: Span) -> f64 {
        let lists = self.items().into_iter().permutations(POSITIONS);
        lists.map(|items| self.expects(&ranking(&items), span)).fold(0.0, f64::max)
    }
}
