//! Identifiability: which parameters of a position-based model a log does not determine.
//!
//! Items and positions are the two sides of a graph; an impression is an edge. Within a connected
//! part attraction and examination are determined up to one factor. Between parts the log compares
//! nothing. So examination relative to the first position is determined only for the positions of
//! its part, and attraction only for its items; the rest depends on the prior. Items without a
//! click, and items clicked at every impression, have no maximum of the likelihood inside (0, 1),
//! and also depend on the prior.
//!
//! A cell without a click connects less than a cell with clicks: it only bounds the product from
//! above. Consider the parts connected by clicked cells. An item of one part that was skipped at a
//! position of another bounds the examination of the other part, on the scale of the first. Unless
//! every part is bounded by every other, directly or through others, the likelihood grows as the
//! scales move apart, until a parameter is 0 or 1.
//!
//! Reference, deviations: none. Numerics: integers. Complexity: linear in the cells, and cubic in
//! the positions.

use super::Scope;
use super::connected_columns::ConnectedColumns;
use super::linear::Cholesky;
use log_reader::{Cell, Counts, Id};
use std::collections::{BTreeMap, BTreeSet};

/// Clicks that compare positions without comparisons, so that a matrix is not singular.
const NEXT_TO_NOTHING: f64 = 1e-6;

/// Items and positions connected by impressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its positions, from 0.
    pub positions: Vec<usize>,
    /// Number of items (per query).
    pub items: usize,
    /// Number of impressions.
    pub impressions: u64,
}

/// Parameters that depend on few data, or on the prior only.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifiability {
    /// The query; `None` for all queries with one examination.
    pub query: Option<Id>,
    /// The connected parts, sorted by first position. With one part all ratios are determined.
    pub components: Vec<Component>,
    /// (query, item) pairs without a click.
    pub never_clicked: Vec<(Id, Id)>,
    /// (query, item) pairs clicked at every impression.
    pub always_clicked: Vec<(Id, Id)>,
    /// (query, item) pairs with few impressions, and their number.
    pub few_impressions: Vec<(Id, Id, u64)>,
    /// Positions with few clicks, and their number; examination is estimated from them.
    pub few_clicks: Vec<(usize, u64)>,
    /// Positions that few clicks compare with the first, and their number. An item shown at several
    /// positions compares them in any order of lists. The number of clicks is the reciprocal of the
    /// variance of the logarithm of examination, given these clicks. Without them, examination is
    /// determined only if lists are in random order: otherwise better items at a position look like
    /// more examination.
    pub few_comparisons: Vec<(usize, f64)>,
    /// Whether the log bounds the ratio of the examinations of any two positions from both sides.
    /// `false` if a position has no click.
    pub scales_are_bounded: bool,
    /// The limit of "few".
    pub few: u64,
}

impl Identifiability {
    /// Whether all parameters have a maximum of the likelihood, on one scale.
    pub fn is_identified(&self) -> bool {
        self.components.len() == 1
            && self.scales_are_bounded
            && self.never_clicked.is_empty()
            && self.always_clicked.is_empty()
    }
}

/// Identifiability of a position-based model from counts: a report for every query, or one for all
/// queries that share examination. The report lists items with fewer impressions than `few`, and
/// positions with fewer clicks.
///
/// # Examples
///
/// Two items, each shown at a position where the other was not:
///
/// ```
/// use click_logs::fit::{Scope, identifiability};
/// use log_reader::{Format, Reader};
///
/// let log = "item,position,click,impressions\na,1,30,100\nb,2,10,100\n";
/// let format = Format::delimited("item=item,position=position,click=click,impressions=impressions")?;
/// let counts = Reader::new(format).read("log.csv", log.as_bytes())?.counts;
/// let report = &identifiability(&counts, Scope::Query, 20)[0];
/// assert_eq!(report.components.len(), 2);
/// assert_eq!(report.few_clicks, [(1, 10)]);
/// # Ok::<(), log_reader::Error>(())
/// ```
pub fn identifiability(counts: &Counts, scope: Scope, few: u64) -> Vec<Identifiability> {
    let mut reports = Vec::new();
    // Click-through rates of positions approximate the ratios of examination.
    let rate = |(clicks, impressions): (u64, u64)| (clicks as f64 + 0.5) / (impressions as f64 + 1.0);
    let rates: Vec<f64> = counts.by_position().into_iter().map(rate).collect();
    let mut open = CellData::new(rates.len());
    for query in counts.queries() {
        let cells: Vec<_> = query.cells().collect();
        for item in cells.chunk_by(|a, b| a.item == b.item) {
            open.compare(item, &rates);
            let (mut clicks, mut impressions) = (0, 0);
            let clicked = item.iter().find(|cell| cell.clicks > 0).map(|cell| cell.position);
            for cell in item {
                if let Some(clicked) = clicked {
                    if cell.clicks > 0 {
                        open.clicked.join(clicked, cell.position);
                    } else {
                        open.skipped.insert((clicked, cell.position));
                    }
                }
                open.parts.join(item[0].position, cell.position);
                open.positions[cell.position].0 += cell.clicks;
                open.positions[cell.position].1 += cell.impressions;
                clicks += cell.clicks;
                impressions += cell.impressions;
            }
            open.items.push((query.id(), item[0].item, item[0].position, (clicks, impressions)));
        }
        if scope == Scope::Query {
            let all = std::mem::replace(&mut open, CellData::new(rates.len()));
            reports.push(all.report(Some(query.id()), few));
        }
    }
    if scope == Scope::Site {
        reports.push(open.report(None, few));
    }
    reports
}

struct CellData {
    /// Positions connected by impressions.
    parts: ConnectedColumns,
    /// Positions connected by clicks.
    clicked: ConnectedColumns,
    /// Pairs of positions: an item was clicked at the first, and shown but never clicked at the
    /// second.
    skipped: BTreeSet<(usize, usize)>,
    /// Clicks and impressions by position.
    positions: Vec<(u64, u64)>,
    /// Query, item, a position where it was shown, and its clicks and impressions.
    items: Vec<(Id, Id, usize, (u64, u64))>,
    /// Information of clicks on the same items about logarithms of examination; one row per
    /// position.
    compared: Vec<f64>,
}

impl CellData {
    fn new(n_positions: usize) -> Self {
        Self {
            parts: ConnectedColumns::new(n_positions),
            clicked: ConnectedColumns::new(n_positions),
            skipped: BTreeSet::new(),
            positions: vec![(0, 0); n_positions],
            items: Vec::new(),
            compared: vec![0.0; n_positions * n_positions],
        }
    }

    /// Adds the comparisons of an item. Its clicks are distributed over positions in proportion to
    /// impressions and examination, for any attraction.
    fn compare(&mut self, item: &[Cell], rates: &[f64]) {
        let n = self.positions.len();
        let clicks: u64 = item.iter().map(|cell| cell.clicks).sum();
        if clicks == 0 || item.len() < 2 {
            return;
        }
        let expected = |cell: &Cell| cell.impressions as f64 * rates[cell.position];
        let all: f64 = item.iter().map(expected).sum();
        for a in item {
            let share = expected(a) / all;
            self.compared[a.position * n + a.position] += clicks as f64 * share;
            for b in item {
                self.compared[a.position * n + b.position] -= clicks as f64 * share * expected(b) / all;
            }
        }
    }

    /// Number of clicks that compare each position with the first one shown.
    fn comparisons(&self, shown: &[usize]) -> Vec<(usize, f64)> {
        let n = self.positions.len();
        let Some((_, rest)) = shown.split_first() else { return Vec::new() };
        let entry = |a: usize, b: usize| {
            // A negligible number of clicks compares all positions, so that an inverse exists.
            self.compared[a * n + b] + if a == b { NEXT_TO_NOTHING } else { 0.0 }
        };
        let matrix = rest.iter().flat_map(|&a| rest.iter().map(move |&b| entry(a, b))).collect();
        let variances = Cholesky::new(rest.len(), matrix).map(|factor| factor.inverse_diagonal());
        let clicks = |place: usize| variances.as_ref().map_or(0.0, |variances| 1.0 / variances[place]);
        rest.iter().enumerate().map(|(place, &position)| (position, clicks(place))).collect()
    }

    /// Whether every part connected by clicks leads to every other, along items that were skipped
    /// there.
    fn scales_are_bounded(&mut self, shown: &[usize]) -> bool {
        if shown.iter().any(|&l| self.positions[l].0 == 0) {
            return false;
        }
        let clicked = &mut self.clicked;
        let steps: BTreeSet<(usize, usize)> =
            self.skipped.iter().map(|&(from, to)| (clicked.first(from), clicked.first(to))).collect();
        let parts: BTreeSet<usize> = shown.iter().map(|&l| clicked.first(l)).collect();
        if parts.len() <= 1 {
            return true;
        }
        // Reachable from one part, and with reversed steps.
        [false, true].into_iter().all(|back| {
            let mut reached: BTreeSet<usize> = parts.first().copied().into_iter().collect();
            for _ in 0..parts.len() {
                for &(from, to) in &steps {
                    let (from, to) = if back { (to, from) } else { (from, to) };
                    if reached.contains(&from) {
                        reached.insert(to);
                    }
                }
            }
            reached == parts
        })
    }

    fn report(mut self, query: Option<Id>, few: u64) -> Identifiability {
        let mut components: BTreeMap<usize, Component> = BTreeMap::new();
        let shown: Vec<usize> = (0..self.positions.len()).filter(|&l| self.positions[l].1 > 0).collect();
        for &position in &shown {
            let empty = || Component { positions: Vec::new(), items: 0, impressions: 0 };
            let component = components.entry(self.parts.first(position)).or_insert_with(empty);
            component.positions.push(position);
            component.impressions += self.positions[position].1;
        }
        for &(_, _, position, _) in &self.items {
            if let Some(component) = components.get_mut(&self.parts.first(position)) {
                component.items += 1;
            }
        }
        let scales_are_bounded = self.scales_are_bounded(&shown);
        let comparisons = self.comparisons(&shown).into_iter();
        let few_comparisons = comparisons.filter(|&(_, clicks)| clicks < few as f64).collect();
        let clicks_at = shown.iter().map(|&position| (position, self.positions[position].0));
        let pairs = |keep: fn((u64, u64)) -> bool| {
            let kept = self.items.iter().filter(|item| keep(item.3));
            kept.map(|&(query, item, ..)| (query, item)).collect()
        };
        Identifiability {
            query,
            few_comparisons,
            scales_are_bounded,
            components: components.into_values().collect(),
            never_clicked: pairs(|(clicks, _)| clicks == 0),
            always_clicked: pairs(|(clicks, impressions)| clicks == impressions),
            few_impressions: self
                .items
                .iter()
                .filter(|item| item.3.1 < few)
                .map(|&(query, item, _, (_, impressions))| (query, item, impressions))
                .collect(),
            few_clicks: clicks_at.filter(|&(_, clicks)| clicks < few).collect(),
            few,
        }
    }
}
