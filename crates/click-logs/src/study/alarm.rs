//! Whether the lists alone decide the clicks: a test that is free of click models.
//!
//! Users look from the top. Given the items down to a place and the clicks above it, a click at the
//! place then does not depend on what stands below. It does if today's ranker shows other lists to
//! other users, since what stands below tells who they are, or if an item looks better beside a
//! worse one. No test can tell the two apart: given the list, any distribution of clicks can come
//! from either.
//!
//! Strata are a query, a block of its sessions in their order, the length of the list, the items
//! down to the place, and the clicks above it ([`strata`](crate::fit::strata)). Blocks have about
//! [`BLOCK`] sessions, which follow a ranker, users or a level of clicks that change; or they are
//! [`SPANS`] of them, which compare the hours and the days of a ranker that follows these. With
//! `h` the height of an item in the list, from the bottom, and `l` the first principal component of
//! the heights in all lists of the query, there are four features:
//!
//! | feature | value | groups |
//! |---|---|---|
//! | `below` | `S`, the sum of `h l` of the items below | a query |
//! | `below-by-item` | `S` | a query, a place and its item |
//! | `below-times-item` | `S l` of the item | one |
//! | `neighbour` | logarithm of the click rate of the item just below | one |
//!
//! The first finds two rankers, the next two personal ones, the last neighbours that change an
//! item. Click rates are those of the other blocks, odd for even ones: clicks of the same sessions
//! may depend on each other. Clusters are the sessions with one list; within spans, those of a
//! [`PARTS`]th of them, since a day may have both its own lists and its own clicks. Sessions that
//! are written twice would count as two within a block, so the overdispersion is at least what
//! their share makes it.
//!
//! Reference: none. Deviations: none. Numerics: power iteration, [`STEPS`] steps. Complexity:
//! O(sessions log sessions), O(lists positions) for each step.

use crate::fit::FeatureScore;
use crate::fit::strata::{ChiSquare, Cluster};
use click_models::Clicks;
use confidence::math::{ln, sqrt};
use log_reader::{Id, ListSessions, QuerySessions, Session, Sessions};
use serde::Serialize;

/// Places that are tested, from the top.
const PLACES: usize = 2;
/// Sessions of a block.
pub(super) const BLOCK: usize = 25;
/// Spans of a query's sessions, and parts whose sessions may depend on each other, as those of a
/// day may: a part is a day or more of a log of 20 days.
const SPANS: usize = 4;
const PARTS: usize = 20;
const STEPS: usize = 30;
/// The probability of an alarm where the lists alone decide.
const LEVEL: f64 = 0.01;
/// Compared clicks with which an alarm is hardly missed: of generated logs whose ranking depends on
/// the user, with more of them 132 of 135 alarmed, with fewer 61 of 75 (30 November 2026, blocks
/// alone).
const ENOUGH: f64 = 500.0;

/// The names of the features.
const BELOW: usize = 0;
const BY_ITEM: usize = 1;
const TIMES_ITEM: usize = 2;
const NEIGHBOUR: usize = 3;
const NAMES: [&str; 4] = ["below", "below-by-item", "below-times-item", "neighbour"];

/// Whether clicks depend on what stands below them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListsAlone {
    /// The probability of statistics as large as these, if they do not.
    pub p: f64,
    /// About the number of clicks that are compared: their sum of squares.
    pub clicks: f64,
    /// The statistics that can be computed.
    pub statistics: Vec<BelowStatistic>,
}

/// The parts of a query's sessions within which they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// About 25 sessions, one after another.
    Blocks,
    /// A quarter of the sessions.
    Spans,
}

/// A chi-square statistic of a feature of what stands below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BelowStatistic {
    /// The sessions that are compared.
    pub within: Within,
    /// Its feature.
    pub feature: &'static str,
    /// The statistic, if sessions were independent.
    pub chi_square: f64,
    /// Degrees of freedom.
    pub freedom: u32,
    /// How many times their variance the sessions have; the statistic is divided by it.
    pub overdispersion: f64,
    /// The probability of a larger statistic.
    pub p: f64,
}

impl ListsAlone {
    /// The test of a log whose repeated sessions have this [overdispersion]. `None` if no list can
    /// be compared with one that differs below.
    ///
    /// [overdispersion]: super::Repeats::overdispersion
    pub fn new(sessions: &Sessions, overdispersion: f64) -> Option<Self> {
        let (mut statistics, clicks) = statistics(sessions, overdispersion, Within::Blocks);
        statistics.extend(self::statistics(sessions, overdispersion, Within::Spans).0);
        let share_of_level = |within| if within == Within::Blocks { 2.0 / 3.0 } else { 1.0 / 3.0 };
        let least = statistics.iter().map(|one| one.p / share_of_level(one.within)).reduce(f64::min)?;
        Some(Self { p: (NAMES.len() as f64 * least).min(1.0), clicks, statistics })
    }

    /// Whether the log denies that lists alone decide clicks.
    pub fn is_denied(&self) -> bool {
        self.p < LEVEL
    }

    /// Whether the log has so few clicks that an alarm may be missed.
    pub fn is_weak(&self) -> bool {
        self.clicks < ENOUGH
    }
}

/// The statistics of a log within such parts, and the clicks that are compared.
fn statistics(sessions: &Sessions, overdispersion: f64, within: Within) -> (Vec<BelowStatistic>, f64) {
    let mut all = [ChiSquare::default(); NAMES.len()];
    let mut of_log = [FeatureScore::default(); NAMES.len()];
    for query in sessions.queries() {
        if let Some(query) = Query::new(&query, within) {
            query.add(&mut all, &mut of_log);
        }
    }
    for feature in [TIMES_ITEM, NEIGHBOUR] {
        all[feature].add(&of_log[feature], within == Within::Spans);
    }
    let statistic = |(feature, of): (&'static str, ChiSquare)| {
        let (chi_square, freedom, overdispersion, p) = of.test(overdispersion)?;
        Some(BelowStatistic { within, feature, chi_square, freedom, overdispersion, p })
    };
    (NAMES.into_iter().zip(all).filter_map(statistic).collect(), all[BELOW].s_yy)
}

/// A list that is tested, by the items of its query.
struct Tested {
    items: Vec<usize>,
    sessions: f64,
}

/// A session that is compared.
#[derive(Clone, Copy)]
struct Row {
    /// Its number in the order of its query.
    number: usize,
    list: usize,
    clicks: Clicks,
}

/// The lists and sessions of a query.
struct Query {
    within: Within,
    n_items: usize,
    n_positions: usize,
    lists: Vec<Tested>,
    /// List of each session, in their order, and its clicks.
    sessions: Vec<(u32, Clicks)>,
}

impl Query {
    /// `None` if no two lists can be compared.
    fn new(query: &QuerySessions<'_>, within: Within) -> Option<Self> {
        // Places below a gap are not known to be looked at in their order.
        let is_whole =
            |list: &ListSessions<'_>| list.items.len() > 1 && list.positions.end() == list.positions.len();
        let mut ids: Vec<Id> = query.lists().filter(is_whole).flat_map(|list| list.items).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let (mut lists, mut numbers) = (Vec::<Tested>::new(), Vec::new());
        for list in query.lists() {
            numbers.push(is_whole(&list).then_some(u32::try_from(lists.len()).ok()?));
            if is_whole(&list) {
                let item = |id| ids.binary_search(id).unwrap_or_default();
                let items: Vec<usize> = list.items.iter().map(item).collect();
                let sessions = list.patterns.iter().map(|pattern| pattern.sessions as f64).sum();
                lists.push(Tested { items, sessions });
            }
        }
        let whole = |session: Session| Some((numbers[session.list]?, session.clicks));
        let sessions: Vec<(u32, Clicks)> = query.in_order().filter_map(whole).collect();
        if lists.len() < 2 || sessions.len() < 2 {
            return None;
        }
        let n_positions = lists.iter().map(|list| list.items.len()).max().unwrap_or(0);
        Some(Self { within, n_items: ids.len(), n_positions, lists, sessions })
    }

    /// The heights of a list's items.
    fn heights<'a>(&self, list: &'a Tested) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let n_positions = self.n_positions;
        list.items.iter().enumerate().map(move |(place, &item)| (item, (n_positions - place) as f64))
    }

    /// The block of a session.
    fn block(&self, number: usize) -> usize {
        let n_blocks = match self.within {
            Within::Blocks => (self.sessions.len() / BLOCK).max(1),
            Within::Spans => SPANS,
        };
        number * n_blocks / self.sessions.len()
    }

    /// The cluster of a session, with the number of the item whose groups it is for.
    fn cluster(&self, row: &Row, item: usize) -> usize {
        match self.within {
            Within::Blocks => row.list,
            Within::Spans => item * PARTS + row.number * PARTS / self.sessions.len(),
        }
    }

    /// Logarithms of the click rates of the items, for even and for odd blocks.
    fn rates(&self) -> [Vec<f64>; 2] {
        let mut sums = [(); 2].map(|()| vec![[1.0, 5.0]; self.n_items]);
        for (number, (list, clicks)) in self.sessions.iter().enumerate() {
            for (place, &item) in self.lists[*list as usize].items.iter().enumerate() {
                let [clicked, shown] = &mut sums[usize::from(self.block(number).is_multiple_of(2))][item];
                *clicked += f64::from(u8::from(clicks.get(place)));
                *shown += 1.0;
            }
        }
        sums.map(|items| items.into_iter().map(|[clicked, shown]| ln(clicked / shown)).collect())
    }

    /// The first principal component of the heights.
    fn loadings(&self) -> Vec<f64> {
        let all: f64 = self.lists.iter().map(|list| list.sessions).sum();
        let (mut means, mut squares) = (vec![0.0; self.n_items], vec![0.0; self.n_items]);
        for list in &self.lists {
            for (item, height) in self.heights(list) {
                means[item] += list.sessions * height / all;
                squares[item] += list.sessions * height * height;
            }
        }
        let start = |(item, square): (usize, f64)| {
            (item + 1) as f64 * sqrt((square - all * means[item] * means[item] + 1e-9).max(0.0))
        };
        let mut loadings: Vec<f64> = squares.into_iter().enumerate().map(start).collect();
        for _ in 0..STEPS {
            let mean: f64 = means.iter().zip(&loadings).map(|(mean, loading)| mean * loading).sum();
            let (mut next, mut sum) = (vec![0.0; self.n_items], 0.0);
            for list in &self.lists {
                let product: f64 = self.heights(list).map(|(item, height)| height * loadings[item]).sum();
                let weight = list.sessions * (product - mean);
                sum += weight;
                self.heights(list).for_each(|(item, height)| next[item] += weight * height);
            }
            next.iter_mut().zip(&means).for_each(|(next, mean)| *next -= sum * mean);
            let length = sqrt(next.iter().map(|loading| loading * loading).sum());
            if length == 0.0 {
                loadings = next;
                break;
            }
            loadings = next.into_iter().map(|loading| loading / length).collect();
        }
        loadings
    }

    /// The features of each list at a place; 0 for lists that end there.
    fn values(&self, loadings: &[f64], rates: &[f64], place: usize) -> Vec<[f64; NAMES.len()]> {
        let of_list = |list: &Tested| {
            let (Some(&item), Some(&next)) = (list.items.get(place), list.items.get(place + 1)) else {
                return [0.0; NAMES.len()];
            };
            let below = self.heights(list).skip(place + 1);
            let below: f64 = below.map(|(item, height)| height * loadings[item]).sum();
            let mut values = [below; NAMES.len()];
            values[TIMES_ITEM] *= loadings[item];
            values[NEIGHBOUR] = rates[next];
            values
        };
        self.lists.iter().map(of_list).collect()
    }

    /// Adds the scores of the groups of this query to those of the log, and its strata to the
    /// scores of the features with one group.
    fn add(&self, all: &mut [ChiSquare; NAMES.len()], of_log: &mut [FeatureScore; NAMES.len()]) {
        let (loadings, rates) = (self.loadings(), self.rates());
        let mut below = FeatureScore::default();
        let n_clusters = if self.within == Within::Blocks { self.lists.len() } else { self.n_items * PARTS };
        let mut clusters = NAMES.map(|_| vec![Cluster::default(); n_clusters]);
        for place in 0..PLACES {
            let values = rates.each_ref().map(|rates| self.values(&loadings, rates, place));
            let mut by_item = vec![FeatureScore::default(); self.n_items];
            self.for_each_stratum(place, |parity, stratum| {
                let values = &values[parity];
                let item = self.lists[stratum[0].list].items[place];
                for feature in 0..NAMES.len() {
                    let numbers = |row: &Row| {
                        let cluster = self.cluster(row, if feature == BY_ITEM { item } else { 0 });
                        let click = f64::from(u8::from(row.clicks.get(place)));
                        ([values[row.list][feature], click], cluster)
                    };
                    let numbers: Vec<([f64; 2], usize)> = stratum.iter().map(numbers).collect();
                    let score = match feature {
                        BELOW => &mut below,
                        BY_ITEM => &mut by_item[item],
                        feature => &mut of_log[feature],
                    };
                    score.add(&numbers, &mut clusters[feature]);
                }
            });
            for (number, cluster) in clusters[BY_ITEM].iter_mut().map(std::mem::take).enumerate() {
                let item = match self.within {
                    Within::Blocks => self.lists[number].items.get(place).copied(),
                    Within::Spans => Some(number / PARTS),
                };
                if let Some(item) = item {
                    by_item[item].close(cluster);
                }
            }
            for score in &by_item {
                all[BY_ITEM].add(score, self.within == Within::Spans);
            }
        }
        for feature in [BELOW, TIMES_ITEM, NEIGHBOUR] {
            let score = if feature == BELOW { &mut below } else { &mut of_log[feature] };
            for &cluster in &clusters[feature] {
                score.close(cluster);
            }
        }
        all[BELOW].add(&below, self.within == Within::Spans);
    }

    /// Calls `each` for the strata of a place, after the parity of their block: the sessions of a
    /// block whose lists have an item below the place, with lists of one length, the same items
    /// down to it and the same clicks above it.
    fn for_each_stratum(&self, place: usize, mut each: impl FnMut(usize, &[Row])) {
        let above = |clicks: Clicks| clicks.bits() & ((1 << place) - 1);
        let key = |row: &Row| {
            let items = &self.lists[row.list].items;
            (items.len(), &items[..=place], above(row.clicks))
        };
        let goes_on = |row: &Row| self.lists[row.list].items.len() > place + 1;
        let rows = self.sessions.iter().enumerate().map(|(number, &(list, clicks))| Row {
            number,
            list: list as usize,
            clicks,
        });
        let rows: Vec<Row> = rows.filter(goes_on).collect();
        for block in rows.chunk_by(|a, b| self.block(a.number) == self.block(b.number)) {
            let mut rows = block.to_vec();
            rows.sort_unstable_by(|a, b| {
                let rest = |row: &Row| (row.list, row.clicks.get(place), row.number);
                key(a).cmp(&key(b)).then_with(|| rest(a).cmp(&rest(b)))
            });
            let parity = self.block(block[0].number) % 2;
            rows.chunk_by(|a, b| key(a) == key(b)).for_each(|rows| each(parity, rows));
        }
    }
}
