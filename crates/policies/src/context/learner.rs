//! The posterior of a hybrid policy: shared coefficients, those of items, and those of cells.

use super::answer::Answer;
use super::normal::{Change, Normal, dot};
use super::own::Independent;
use super::products::Products;
use super::scale::FeatureScale;
use super::unlearned::{Blocks, LARGE, Unlearned};
use crate::Error;
use crate::checked::checked;
use crate::sampling::Sampler;
use crate::top_l::{Ties, TopL};
use click_models::{Clicks, Context, ContextKnown, ItemId, ItemSet, ListShape, LogOdds, Ranking};
use confidence::NonNegative;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Prior of the shared coefficients: precision of the first one and of all others.
const SHARED_PRECISION: [f64; 2] = [0.09, 4.0];
/// Prior standard deviations: of an item's intercept, of its slopes, of a cell. Those of the kind
/// that are estimated begin here.
const USUAL: [f64; 3] = [0.5, 0.2, 0.3];
/// How many coefficients the usual deviation is worth: intercepts, slopes (by feature), cells.
const WORTH: [f64; 3] = [5.0, 5.0, 20.0];
/// The most coefficients of cells.
const MOST_CELLS: usize = 1 << 24;
/// From one in this number of items on, those that were never learned from are thinned.
const FEW: usize = 8;
/// Lists before the first estimate of the deviations; each next one follows a quarter more lists.
const FIRST_ESTIMATE: u64 = 100;

/// Settings of a hybrid policy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HybridSettings {
    /// Factor of the standard deviation of draws.
    pub alpha: NonNegative,
    /// Whether products of user and item features have coefficients that all items share.
    pub interactions: bool,
    /// The standard deviations of items' own coefficients and of cells.
    pub deviations: Deviations,
}

/// The standard deviations of the coefficients of items and cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deviations {
    /// Estimated from the answers.
    #[default]
    Estimated,
    /// .5, .2 and .3 for an item's intercept and slopes, and for cells.
    Fixed,
}

impl Default for HybridSettings {
    fn default() -> Self {
        let alpha = NonNegative::new(0.5).expect("positive");
        Self { alpha, interactions: true, deviations: Deviations::default() }
    }
}

/// Posterior of the log-odds of an item's attraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean of the log-odds.
    pub mean: f64,
    /// Variance by the shared coefficients.
    pub shared_variance: f64,
    /// Variance by the coefficients of the item and of its cell.
    pub own_variance: f64,
}

/// The posterior of the log-odds of attraction, `beta' phi + delta_i' (1, x) + e_gi`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct Learner {
    settings: HybridSettings,
    n_positions: usize,
    n_segments: u32,
    products: Products,
    /// `beta`: of the products, or one coefficient without interactions.
    pub(super) shared: Normal,
    /// The first coefficient of every item's `delta`.
    intercepts: Independent,
    /// The others, item by item.
    slopes: Independent,
    /// `e`, segment by segment; none for a single segment. Segments may have room for more items.
    cells: Independent,
    /// Lists learned from so far.
    lists: u64,
    next_estimate: u64,
    /// Items of a large catalogue that were learned from, and the features of all; empty in small
    /// ones.
    #[serde(skip)]
    learned: ItemSet,
    #[serde(skip)]
    blocks: Blocks,
    #[serde(skip)]
    buffers: Buffers,
}

#[derive(Debug, Clone, Default)]
struct Buffers {
    draw: Vec<f64>,
    squares: Vec<f64>,
    phis: Vec<f64>,
    answers: Vec<(usize, f64, bool)>,
    top: TopL,
}

impl Learner {
    pub(super) fn new(
        shape: ListShape,
        known: ContextKnown<'_>,
        settings: HybridSettings,
    ) -> Result<Self, Error> {
        let n_items = shape.n_items();
        if known.n_items() != n_items {
            return Err(Error::FeaturesOfOtherItems { found: known.n_items(), n_items });
        }
        let n_segments = known.n_segments();
        let products = Products::new(if settings.interactions {
            known
        } else {
            ContextKnown::new(n_items, &[])?.with_user_features(known.n_user_features())
        })?;
        let n_shared = if settings.interactions { products.len() } else { 1 };
        let n_slopes = n_items * known.n_user_features();
        let [first, others] = SHARED_PRECISION;
        let precision = std::iter::once(first).chain(std::iter::repeat(others));
        let learner = Self {
            settings,
            n_positions: shape.n_positions(),
            n_segments,
            products,
            shared: Normal::new(vec![0.0; n_shared], precision),
            intercepts: Independent::new(n_items, USUAL[0]),
            slopes: Independent::new(n_slopes, USUAL[1]),
            cells: Independent::new(n_cells(n_segments, n_items)?, USUAL[2]),
            lists: 0,
            next_estimate: FIRST_ESTIMATE,
            learned: ItemSet::default(),
            blocks: Blocks::default(),
            buffers: Buffers::default(),
        };
        Ok(learner.prepared())
    }

    /// Makes everything that follows from the rest.
    fn prepared(mut self) -> Self {
        let n_items = self.products.n_items;
        (self.learned, self.blocks) = Default::default();
        if n_items >= LARGE {
            let items = (0..n_items).map(|item| self.products.item(item));
            self.blocks = Blocks::new(self.n_item_features(), items);
            self.learned.grow(n_items);
            for item in (0..n_items).filter(|&item| self.intercepts.is_learned(item)) {
                self.learned.insert(ItemId::from_index(item));
            }
        }
        let n_user_features = self.products.user.len() - 1;
        self.buffers = Buffers {
            draw: vec![0.0; self.shared.len()],
            squares: vec![0.0; n_user_features],
            phis: Vec::with_capacity(self.n_positions * self.shared.len()),
            answers: Vec::with_capacity(self.n_positions),
            top: TopL::new(self.n_positions),
        };
        self
    }

    /// Numbers of items and positions.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.products.n_items, self.n_positions]
    }

    /// Intercepts, slopes and cells.
    pub(super) fn own(&self) -> [&Independent; 3] {
        [&self.intercepts, &self.slopes, &self.cells]
    }

    /// Standardises features by a scale, those of items now.
    pub(super) fn standardising(self, scale: FeatureScale) -> Result<Self, Error> {
        let products = self.products.standardising(scale)?;
        Ok(Self { products, ..self }.prepared())
    }

    /// The sizes and features of users and items, with the features of items as they are kept.
    pub(super) fn known(&self) -> ContextKnown<'_> {
        self.products.known().with_segments(self.n_segments)
    }

    pub(super) fn scale(&self) -> &FeatureScale {
        self.products.scale()
    }

    pub(super) fn set_scale(&mut self, scale: FeatureScale) {
        self.products.set_scale(scale);
    }

    pub(super) fn interactions(&self) -> bool {
        self.settings.interactions
    }

    /// The same posterior, with settings and lists of another.
    pub(super) fn continued_by(&self, other: &Self) -> Self {
        let &Self { settings, n_positions, .. } = other;
        Self { settings, n_positions, ..self.clone() }.prepared()
    }

    /// Coefficients of the log-odds, of which `shared` is `beta`, and `own` gives those of items
    /// and cells.
    pub(super) fn coefficients(
        &self,
        shared: &[f64],
        mut own: impl FnMut(&Independent) -> Vec<f64>,
    ) -> LogOdds {
        let cells = own(&self.cells);
        let mut log_odds = LogOdds {
            mean: shared[0],
            item: own(&self.intercepts),
            item_slope: own(&self.slopes),
            segment: self.of_cells(&cells).collect(),
            ..LogOdds::default()
        };
        if self.settings.interactions {
            let mut rows = shared.chunks_exact(self.products.width()).map(|row| row.split_at(1));
            log_odds.main = rows.next().map_or(vec![], |(_, main)| main.to_vec());
            // Products of a user's feature with 1 are a slope that all items share.
            let (by_user, rows): (Vec<f64>, Vec<&[f64]>) = rows.map(|(first, row)| (first[0], row)).unzip();
            log_odds.interaction = rows.concat();
            for (slope, shared) in log_odds.item_slope.iter_mut().zip(by_user.iter().cycle()) {
                *slope += shared;
            }
        }
        log_odds
    }

    fn set_user(&mut self, context: &Context) {
        self.products.set_user(context);
        let features = &self.products.user[1..];
        for (square, feature) in self.buffers.squares.iter_mut().zip(features) {
            *square = feature * feature;
        }
    }

    /// The first coefficient of the user's cells; `None` for a segment that was not announced.
    fn cells_of(&self, context: &Context) -> Option<usize> {
        let is_known = !self.cells.means.is_empty() && context.segment < self.n_segments;
        is_known.then(|| context.segment as usize * self.room())
    }

    /// The items of each segment that there are cells for.
    fn room(&self) -> usize {
        self.cells.len() / self.n_segments.max(1) as usize
    }

    /// The cells of the items that there are, segment by segment.
    pub(super) fn of_cells<'a>(&'a self, of_all: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let n_items = self.products.n_items;
        of_all.chunks_exact(self.room().max(1)).flat_map(move |row| &row[..n_items]).copied()
    }

    /// Number of features of every item that the policy uses.
    pub(super) fn n_item_features(&self) -> usize {
        self.products.width() - 1
    }

    fn used<'a>(&self, features: &'a [f64]) -> Result<&'a [f64], Error> {
        let expected = self.n_item_features();
        let is_number = features.iter().all(|feature| feature.is_finite());
        match features {
            _ if is_number && features.len() == expected => Ok(features),
            // Without interactions the features of items have no coefficients.
            _ if is_number && !self.settings.interactions => Ok(&[]),
            _ => Err(Error::FeaturesOfItem { found: features.to_vec(), expected }),
        }
    }

    /// Returns whether an item has these features, which are not used without interactions.
    pub(super) fn has_features(&self, item: ItemId, features: &[f64]) -> bool {
        let is_known = item.index() < self.products.n_items;
        is_known
            && self.used(features).is_ok_and(|features| self.products.has_features(item.index(), features))
    }

    /// The features of an item as they are kept.
    pub(super) fn features(&self, item: ItemId) -> &[f64] {
        self.products.item(item.index())
    }

    /// Adds an item that nothing is known of.
    pub(super) fn add_item(&mut self, features: &[f64]) -> Result<ItemId, Error> {
        let (features, item) = (self.used(features)?, self.products.n_items);
        n_cells(self.n_segments, item + 1)?;
        self.products.push_item(features);
        self.intercepts.extend(1);
        self.slopes.extend(self.products.user.len() - 1);
        let (room, segments) = (self.room(), self.n_segments as usize);
        if segments > 1 && item >= room {
            self.cells.widen(segments, (2 * room).min(MOST_CELLS / segments));
        }
        if item + 1 == LARGE {
            *self = self.clone().prepared();
        } else if item + 1 > LARGE {
            self.learned.grow(item + 1);
            self.blocks.push(self.products.item(item));
        }
        Ok(ItemId::from_index(item))
    }

    /// Another item, of which nothing is known, gets the number of this one.
    pub(super) fn replace_item(&mut self, item: ItemId, features: &[f64]) -> Result<(), Error> {
        let (features, item) = (self.used(features)?, item.index());
        if item < self.products.n_items {
            self.products.set_item(item, features);
            if self.learned.size() > 0 {
                self.learned.remove(ItemId::from_index(item));
                self.blocks.set(item, self.products.item(item));
            }
            self.intercepts.forget(item);
            let n_slopes = self.products.user.len() - 1;
            (item * n_slopes..(item + 1) * n_slopes).for_each(|place| self.slopes.forget(place));
            let cells = (item..self.cells.len()).step_by(self.room().max(1));
            cells.for_each(|place| self.cells.forget(place));
        }
        Ok(())
    }

    /// Mean, variance by the item, and variance by its cell.
    #[inline]
    fn own_part(&self, item: usize, cells: Option<usize>) -> (f64, f64, f64) {
        let features = &self.products.user[1..];
        let slopes = item * features.len()..(item + 1) * features.len();
        let mean = self.intercepts.means[item] + dot(&self.slopes.means[slopes.clone()], features);
        let variance =
            self.intercepts.variances[item] + dot(&self.slopes.variances[slopes], &self.buffers.squares);
        match cells {
            Some(first) => {
                (mean + self.cells.means[first + item], variance, self.cells.variances[first + item])
            }
            None => (mean, variance, 0.0),
        }
    }

    /// The largest draws for a user among these items, or all, best first.
    pub(super) fn choose<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        among: Option<&ItemSet>,
        rng: &mut R,
    ) -> &[(f64, u32)] {
        self.set_user(context);
        let (alpha, cells) = (self.settings.alpha.get(), self.cells_of(context));
        if self.settings.interactions {
            self.shared.draw(alpha, rng, &mut self.buffers.draw);
            self.products.contract(&self.buffers.draw);
        }
        let ties = Ties::draw(rng);
        self.buffers.top.clear();
        let n_items = self.products.n_items;
        let n_among = among.map_or(n_items, ItemSet::len).min(n_items);
        let n_unlearned = self.learned.size() - self.learned.len();
        let deviation = alpha * self.variance_before(cells).sqrt();
        // Fewer are drawn faster than all features are read.
        if FEW * n_unlearned.min(n_among) >= n_items && deviation > 0.0 {
            let is_among = |item: ItemId| among.is_none_or(|among| among.contains(item));
            let learned = std::mem::take(&mut self.learned);
            self.draw(learned.iter().filter(|&item| is_among(item)), cells, ties, rng);
            let Self { products, blocks, buffers, settings, .. } = self;
            let user = Unlearned {
                weights: if settings.interactions { &products.of_user } else { &[0.0] },
                deviation,
                n_offered: n_unlearned * n_among / n_items,
                is_offered: |item| {
                    let item = ItemId::from_index(item);
                    is_among(item) && !learned.contains(item)
                },
                sum: |item| if settings.interactions { products.sum(item) } else { 0.0 },
            };
            blocks.offer(&user, &mut buffers.top, ties, rng);
            self.learned = learned;
        } else if let Some(among) = among {
            self.draw(among.iter().take_while(|item| item.index() < n_items), cells, ties, rng);
        } else {
            self.draw((0..n_items).map(ItemId::from_index), cells, ties, rng);
        }
        &self.buffers.top.best
    }

    /// The variance of the own part of an item that was never learned from.
    fn variance_before(&self, cells: Option<usize>) -> f64 {
        let [intercept, slope, cell] = self.own().map(|own| own.deviation * own.deviation);
        let squares: f64 = self.buffers.squares.iter().sum();
        intercept + slope * squares + cells.map_or(0.0, |_| cell)
    }

    /// Offers a draw of each of these items.
    fn draw<R: Rng + ?Sized>(
        &mut self,
        items: impl Iterator<Item = ItemId>,
        cells: Option<usize>,
        ties: Ties,
        rng: &mut R,
    ) {
        let (alpha, sampler) = (self.settings.alpha.get(), Sampler::new());
        for item in items {
            let (item, number) = (item.index(), item.number());
            let (mean, of_item, of_cell) = self.own_part(item, cells);
            // Without interactions all items share the same coefficient.
            let shared = if self.settings.interactions { self.products.sum(item) } else { 0.0 };
            let drawn = shared + mean + alpha * (of_item + of_cell).sqrt() * sampler.normal(rng);
            self.buffers.top.offer(number, drawn, ties);
        }
    }

    /// Learns from a list that was shown to a user. `examined` has the probability of examining a
    /// position; `clicks` has as many positions as were observed.
    pub(super) fn learn(
        &mut self,
        context: &Context,
        list: &Ranking,
        clicks: Clicks,
        examined: impl Fn(usize) -> f64,
    ) {
        self.set_user(context);
        let cells = self.cells_of(context);
        let mut answers = std::mem::take(&mut self.buffers.answers);
        let mut phis = std::mem::take(&mut self.buffers.phis);
        answers.clear();
        phis.clear();
        for (position, item) in list.by_position().take(clicks.len()) {
            let (item, examined) = (item.index(), examined(position));
            if item < self.products.n_items && examined > 0.0 {
                answers.push((item, examined, clicks.get(position)));
                self.learned.insert(ItemId::from_index(item));
                if self.settings.interactions { self.products.push(item, &mut phis) } else { phis.push(1.0) }
            }
        }
        let mut shared = std::mem::take(&mut self.shared);
        shared.learn(&phis, |answer, mean, variance| {
            let (item, examined, click) = answers[answer];
            self.learn_answer(item, cells, mean, variance, examined, click)
        });
        (self.shared, self.buffers.answers, self.buffers.phis) = (shared, answers, phis);
        self.lists += 1;
        if self.settings.deviations == Deviations::Estimated && self.lists >= self.next_estimate {
            self.next_estimate = self.lists + self.lists / 4 + 1;
            self.estimate();
        }
    }

    /// Learns the coefficients of an item and its cell, given the mean and variance by the shared
    /// ones, and returns the change of these.
    ///
    /// The variances of the other parts are in the information of each: otherwise each part would
    /// learn the same click as if it were alone.
    fn learn_answer(
        &mut self,
        item: usize,
        cells: Option<usize>,
        shared_mean: f64,
        shared_variance: f64,
        examined: f64,
        click: bool,
    ) -> Change {
        let (mean, of_item, of_cell) = self.own_part(item, cells);
        let variance = shared_variance + of_item + of_cell;
        let Answer { step, information } = Answer::new(shared_mean + mean, variance, examined, click);
        let noise = 1.0 / information;
        let by_item = 1.0 / (noise + shared_variance + of_cell);
        self.intercepts.learn(item, 1.0, step, by_item);
        let features = &self.products.user[1..];
        for (place, &feature) in (item * features.len()..).zip(features) {
            self.slopes.learn(place, feature, step, by_item);
        }
        if let Some(first) = cells {
            self.cells.learn(first + item, 1.0, step, 1.0 / (noise + shared_variance + of_item));
        }
        Change { step, weight: 1.0 / (noise + of_item + of_cell) }
    }

    /// Estimates the deviations of the coefficients of items and cells.
    pub(super) fn estimate(&mut self) {
        let n_features = (self.products.user.len() - 1) as f64;
        self.intercepts.estimate(WORTH[0], USUAL[0]);
        if n_features > 0.0 {
            self.slopes.estimate(WORTH[1] * n_features, USUAL[1]);
        }
        if self.cells.len() > 0 {
            self.cells.estimate(WORTH[2], USUAL[2]);
        }
    }

    /// The posterior of every item's log-odds for a user.
    pub(super) fn scores(&mut self, context: &Context) -> Vec<Score> {
        self.set_user(context);
        let cells = self.cells_of(context);
        let score = |item| {
            let mut phi = vec![];
            if self.settings.interactions {
                self.products.push(item, &mut phi);
            } else {
                phi.push(1.0);
            }
            let (mean, of_item, of_cell) = self.own_part(item, cells);
            let mean = mean + dot(&self.shared.mean, &phi);
            self.shared.solve_transposed(&mut phi);
            Score { mean, shared_variance: dot(&phi, &phi), own_variance: of_item + of_cell }
        };
        (0..self.products.n_items).map(score).collect()
    }
}

/// Numbers of cells: none for one segment.
fn n_cells(n_segments: u32, n_items: usize) -> Result<usize, Error> {
    match n_items.checked_mul(n_segments as usize) {
        _ if n_segments <= 1 => Ok(0),
        Some(n_cells) if n_cells <= MOST_CELLS => Ok(n_cells),
        _ => Err(Error::TooManyCells { n_segments, n_items }),
    }
}

checked!(Learner, |self| {
    let n_items = self.products.n_items;
    ListShape::new(n_items, self.n_positions)?;
    let n_shared = if self.settings.interactions { self.products.len() } else { 1 };
    let sizes = [self.shared.len(), self.intercepts.len(), self.slopes.len()];
    let n_slopes = n_items * (self.products.user.len() - 1);
    let (least, segments) = (n_cells(self.n_segments, n_items)?, self.n_segments.max(1) as usize);
    let has_room = (least..=if least == 0 { 0 } else { MOST_CELLS }).contains(&self.cells.len());
    if sizes != [n_shared, n_items, n_slopes] || !has_room || !self.cells.len().is_multiple_of(segments) {
        return Err(Error::SavedSizes);
    }
    match [self.lists, self.next_estimate].into_iter().find(|&n| n > crate::error::MAX_COUNT * 2) {
        Some(lists) => Err(Error::TooManyRounds(lists)),
        None => Ok(self.prepared()),
    }
});

#[cfg(test)]
mod tests;
