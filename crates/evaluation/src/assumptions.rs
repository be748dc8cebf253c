//! Whether clicks depend on what a level or a model says that they do not: tests on the log.
//!
//! Sessions are compared in cells within which an assumption says that the features below tell
//! nothing about a click ([`FeatureScore`]). `x` of an item is its clicks over those expected at
//! the mean rates of its places, with three clicks more in both, from the *other half* of the
//! users: the click that is tested is not in it, and no click model is.
//!
//! | of | response | cells |
//! |---|---|---|
//! | `prefix` | the click | query, block of about 1,000 sessions, items down to the place, clicks above it |
//! | `position` | the click | query, block of about 200 sessions, place, item |
//! | a model | the click less its probability given the clicks above | as `position`, and the number of clicks above |
//!
//! Cells are also those of one half of the users: halves compared with each other would compare
//! clicks with an `x` that has clicks of the same lists in it. A model is fitted without prior.
//! Blocks follow users and loggers that change. `list` assumes
//! nothing. The standard error is that of independent sessions, or that of groups of users if it is
//! larger. The tests of all levels and models together fail with probability [`LEVEL`] if all
//! assumptions hold (Bonferroni).
//!
//! Reference: Craswell et al., *An experimental comparison of click position-bias models*, WSDM
//! 2008, names what a click may depend on. Deviations: none. Numerics: sums. Complexity: O(sessions
//! positions) for each test.

use crate::findings::Basis;
use crate::jackknife::{FEWEST_GROUPS, GROUPS};
use crate::level::Level;
use crate::models::{group_of, groups};
use click_logs::fit::{Cluster, FeatureScore, Fit, Prediction};
use click_models::Clicks;
use confidence::math::sqrt;
use documents::number::fixed;
use documents::remark;
use documents::remark::Remark;
use log_reader::{Id, ListSessions, QuerySessions, Session, Sessions};

/// The probability that a right assumption fails any test.
const LEVEL: f64 = 0.01;
/// Clicks that an item's `x` is pulled to the mean by.
const PRIOR: f64 = 3.0;
/// Sessions of a block: of `position` and models, and of `prefix`.
const BLOCK: usize = 200;
const PREFIX_BLOCK: usize = 1000;
/// Places of `prefix` that are tested, from the top.
const PREFIXES: usize = 3;
const FEATURES: usize = Dependence::Skipped as usize + 1;
const POSITION: Basis = Basis::Level(Level::Position);
const PREFIX: Basis = Basis::Level(Level::Prefix);

/// A dependence of clicks, beside that on their item and their position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// The sum of `x` of the items above.
    Above,
    /// `x` of the item just below.
    Below,
    /// The sum of `x` of the items below.
    AllBelow,
    /// The sum of `x` of the other items of the list.
    Whole,
    /// The sum of `x` of the items above that were not clicked.
    Skipped,
}

/// A tested assumption.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Assumption {
    /// The level or model that has it.
    #[serde(skip)]
    pub basis: Basis,
    /// The dependence that it excludes.
    pub on: Dependence,
    /// The score in standard errors, of about a standard normal distribution if it holds; 0 if the
    /// log cannot test it.
    pub z: f64,
}

/// The tested assumptions of levels and models.
#[derive(Debug, Clone, PartialEq)]
pub struct Assumptions {
    /// All tests.
    pub tests: Vec<Assumption>,
    /// The `z` of a failed test.
    fails_at: f64,
}

impl Assumption {
    /// Why the level or model may not answer.
    pub(crate) fn refusal(&self) -> Remark {
        let on = match self.on {
            Dependence::Above => "the items above it",
            Dependence::Below => "the item just below it",
            Dependence::AllBelow => "the items below it",
            Dependence::Whole => "the other items of the list",
            Dependence::Skipped => "the items above it that were not clicked",
        };
        let beyond = match self.basis {
            Basis::Model(_) => ", beyond what the model describes",
            Basis::Level(_) => "",
        };
        remark!("assumption-fails", format!("{on}{beyond}"), fixed(self.z.abs(), 1))
    }
}

impl Assumptions {
    /// Tests the levels, and the models of these fits without prior. Without users in enough groups
    /// nothing is tested.
    pub(crate) fn new(sessions: &Sessions, fits: &[Fit]) -> Self {
        let mut scores: Vec<Score> = Vec::new();
        let mut of = |basis, model, all: &[Dependence]| {
            scores.extend(all.iter().map(|&on| Score::new(basis, model, on)));
        };
        of(POSITION, None, &[Dependence::Above, Dependence::Below, Dependence::Whole]);
        for (place, fit) in fits.iter().enumerate() {
            let all = [Dependence::Skipped, Dependence::Below, Dependence::Whole];
            of(Basis::Model(fit.model()), Some(place), &all);
        }
        of(PREFIX, None, &[Dependence::Below, Dependence::AllBelow]);
        let n = scores.len() as f64;
        let fails_at = confidence::normal_quantile(1.0 - LEVEL / n);
        if groups(sessions).len() >= FEWEST_GROUPS {
            let rates = rates(sessions);
            for query in sessions.queries() {
                Query::new(&query, &rates).add(query.id(), fits, &mut scores);
            }
        }
        Self { tests: scores.into_iter().map(Score::tested).collect(), fails_at }
    }

    /// The tests of a level or model.
    pub fn of(&self, basis: Basis) -> impl Iterator<Item = &Assumption> {
        self.tests.iter().filter(move |test| test.basis == basis)
    }

    /// The test that a level or model fails most clearly.
    pub fn failed(&self, basis: Basis) -> Option<&Assumption> {
        let failed = self.of(basis).filter(|test| test.z.abs() > self.fails_at);
        failed.max_by(|a, b| a.z.abs().total_cmp(&b.z.abs()))
    }
}

struct Score {
    basis: Basis,
    /// The place of the model.
    model: Option<usize>,
    on: Dependence,
    sums: FeatureScore,
    /// By group of users.
    clusters: [Cluster; GROUPS],
}

/// An item of a session.
struct Row {
    list: usize,
    place: usize,
    clicks: Clicks,
    group: usize,
    /// By [`Dependence`]; NaN if there is nothing to depend on.
    features: [f64; FEATURES],
    /// The probability of the click by each model.
    predicted: Vec<f64>,
}

impl Row {
    fn click(&self) -> f64 {
        f64::from(u8::from(self.clicks.get(self.place)))
    }

    /// The clicks above it, as bits.
    fn above(&self) -> u64 {
        self.clicks.bits() & ((1 << self.place) - 1)
    }
}

impl Score {
    fn new(basis: Basis, model: Option<usize>, on: Dependence) -> Self {
        Self { basis, model, on, sums: FeatureScore::default(), clusters: [Cluster::default(); GROUPS] }
    }

    fn add(&mut self, cell: &[&Row]) {
        let numbers = cell.iter().map(|row| {
            let predicted = self.model.map_or(0.0, |model| row.predicted[model]);
            ([row.features[self.on as usize], row.click() - predicted], row.group)
        });
        let numbers: Vec<([f64; 2], usize)> =
            numbers.filter(|([feature, _], _)| feature.is_finite()).collect();
        if numbers.len() > 1 {
            self.sums.add(&numbers, &mut self.clusters);
        }
    }

    fn tested(mut self) -> Assumption {
        for cluster in self.clusters {
            self.sums.close(cluster);
        }
        let z = self.sums.errors().map_or(0.0, |errors| errors / sqrt(self.sums.overdispersion()));
        Assumption { basis: self.basis, on: self.on, z }
    }
}

/// The half of a group of users.
fn half(group: usize) -> usize {
    group % 2
}

/// The mean rate of clicks of each half at each place.
fn rates(sessions: &Sessions) -> [Vec<f64>; 2] {
    let mut sums: [Vec<[f64; 2]>; 2] = Default::default();
    for query in sessions.queries() {
        let lists: Vec<ListSessions<'_>> = query.lists().collect();
        for session in query.in_order() {
            let of_half = &mut sums[half(group_of(session))];
            let n = lists[session.list].items.len();
            of_half.resize(of_half.len().max(n), [0.0; 2]);
            for (place, [clicks, shown]) in of_half.iter_mut().enumerate().take(n) {
                *clicks += f64::from(u8::from(session.clicks.get(place)));
                *shown += 1.0;
            }
        }
    }
    sums.map(|of_half| of_half.iter().map(|[clicks, shown]| clicks / shown).collect())
}

/// The lists of a query, with the items' places among those of the query.
struct Query<'a> {
    lists: Vec<ListSessions<'a>>,
    items: Vec<Vec<usize>>,
    sessions: Vec<Session>,
    /// `x` of each item from each half of the users.
    x: [Vec<f64>; 2],
}

impl<'a> Query<'a> {
    fn new(query: &QuerySessions<'a>, rates: &[Vec<f64>; 2]) -> Self {
        let lists: Vec<ListSessions<'a>> = query.lists().collect();
        let mut ids: Vec<Id> = lists.iter().flat_map(|list| list.items).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let place = |id| ids.binary_search(id).unwrap_or_default();
        let items: Vec<Vec<usize>> =
            lists.iter().map(|list| list.items.iter().map(place).collect()).collect();
        let sessions: Vec<Session> = query.in_order().collect();
        let mut sums = [0; 2].map(|_| vec![[PRIOR; 2]; ids.len()]);
        for session in &sessions {
            let half = half(group_of(*session));
            for (place, &item) in items[session.list].iter().enumerate() {
                let [clicks, expected] = &mut sums[half][item];
                *clicks += f64::from(u8::from(session.clicks.get(place)));
                *expected += rates[half][place];
            }
        }
        let x = sums.map(|of_half| of_half.iter().map(|[clicks, expected]| clicks / expected).collect());
        Self { lists, items, sessions, x }
    }

    fn add(&self, query: Id, fits: &[Fit], scores: &mut [Score]) {
        for is_prefix in [false, true] {
            let (size, places, fits) =
                if is_prefix { (PREFIX_BLOCK, PREFIXES, &[][..]) } else { (BLOCK, usize::MAX, fits) };
            let cell = |row: &Row| {
                let items = &self.items[row.list][if is_prefix { 0 } else { row.place }..=row.place];
                (half(row.group), row.place, items)
            };
            let above = |row: &Row| if is_prefix { row.above() } else { row.above().count_ones().into() };
            for block in self.blocks(size) {
                let rows = block.iter().flat_map(|session| self.rows(query, *session, fits).take(places));
                let rows: Vec<Row> = rows.collect();
                let mut sorted: Vec<&Row> = rows.iter().collect();
                sorted.sort_by(|a, b| (cell(a), above(a)).cmp(&(cell(b), above(b))));
                for score in scores.iter_mut().filter(|score| (score.basis == PREFIX) == is_prefix) {
                    let any_above = score.basis == POSITION;
                    let is_one =
                        |a: &&Row, b: &&Row| cell(a) == cell(b) && (any_above || above(a) == above(b));
                    sorted.chunk_by(is_one).for_each(|cell| score.add(cell));
                }
            }
        }
    }

    /// Blocks of about as many sessions, in the order of the log.
    fn blocks(&self, size: usize) -> impl Iterator<Item = &[Session]> {
        let n = self.sessions.len();
        let blocks = (n / size).max(1);
        (0..blocks).map(move |block| &self.sessions[block * n / blocks..(block + 1) * n / blocks])
    }

    fn rows(&self, query: Id, session: Session, fits: &[Fit]) -> impl Iterator<Item = Row> {
        let Session { list, clicks, .. } = session;
        let (shown, group) = (&self.lists[list], group_of(session));
        let predicted = fits.iter().map(|fit| {
            let mut prediction = Prediction::default();
            fit.predict_at(query, shown.items, shown.positions, clicks, &mut prediction);
            prediction.conditional
        });
        let predicted: Vec<Vec<f64>> = predicted.collect();
        let (items, x) = (&self.items[list], &self.x[1 - half(group)]);
        let all: f64 = items.iter().map(|&item| x[item]).sum();
        let (mut above, mut skipped) = (0.0, 0.0);
        items.iter().enumerate().map(move |(place, &item)| {
            let mut features = [f64::NAN; FEATURES];
            if place > 0 {
                features[Dependence::Above as usize] = above;
                features[Dependence::Skipped as usize] = skipped;
            }
            if let Some(&below) = items.get(place + 1) {
                features[Dependence::Below as usize] = x[below];
                features[Dependence::AllBelow as usize] = all - above - x[item];
            }
            features[Dependence::Whole as usize] = all - x[item];
            above += x[item];
            skipped += if clicks.get(place) { 0.0 } else { x[item] };
            let predicted = predicted.iter().map(|of_model| of_model[place]).collect();
            Row { list, place, clicks, group, features, predicted }
        })
    }
}
