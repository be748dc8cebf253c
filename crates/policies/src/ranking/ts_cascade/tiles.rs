//! The arms of largest score, found in tiles of similar arms.
//!
//! A score is `mean + Z max(deviation sqrt(ln(t + 1)), floor ln(t + 1))`. It grows with the mean,
//! and with deviation and floor if `Z` is positive, or falls with them. So the largest mean of a
//! tile, with its largest or least deviation and floor, bounds all its scores. Rounding keeps the
//! order of numbers, so the bound also holds for computed scores. Tiles whose bound is below the
//! last winner's score are skipped; ties do not depend on the order in which arms are visited. So
//! the winners are those of comparing all arms.
//!
//! Arms sorted into tiles by mean, then by floor, anew after as many changes as arms.

use crate::exact::number;
use crate::live::present_items;
use crate::sort::sort_unstable;
use crate::top_l::{Ties, TopL};
use click_models::{ItemId, ItemSet};

/// Up to this number of arms there is one tile.
const MOST_COMPARED: usize = 128;
/// Up to the arms of this number of tiles comparing the available arms is faster.
const FEW_TILES: usize = 8;

/// The terms of a score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arm {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) floor: f64,
}

/// The common part of all scores of a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// `Z`.
    pub(super) shared: f64,
    /// `ln(t + 1)` and its root.
    pub(super) log: f64,
    pub(super) root_of_log: f64,
}

impl Round {
    fn score(self, mean: f64, deviation: f64, floor: f64) -> f64 {
        mean + self.shared * (deviation * self.root_of_log).max(floor * self.log)
    }
}

/// Bounds of the arms of a tile: the largest mean, least and largest deviation and floor.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    mean: f64,
    deviation: [f64; 2],
    floor: [f64; 2],
}

impl Bounds {
    fn of(arms: &[Arm]) -> Self {
        let (mut mean, mut deviation, mut floor) =
            (f64::NEG_INFINITY, [f64::INFINITY, 0.0], [f64::INFINITY, 0.0]);
        for arm in arms {
            mean = mean.max(arm.mean);
            deviation = [deviation[0].min(arm.deviation), deviation[1].max(arm.deviation)];
            floor = [floor[0].min(arm.floor), floor[1].max(arm.floor)];
        }
        Self { mean, deviation, floor }
    }

    fn score(&self, round: Round) -> f64 {
        let end = usize::from(round.shared > 0.0);
        round.score(self.mean, self.deviation[end], self.floor[end])
    }
}

#[derive(Debug, Clone)]
pub(super) struct Tiles {
    /// The number of arms in a tile; the last one may have fewer.
    size: usize,
    /// Tile by tile.
    arms: Vec<Arm>,
    items: Vec<u32>,
    /// The place of every item.
    place: Vec<u32>,
    bounds: Vec<Bounds>,
    /// Whether an arm of the tile changed since its bounds were computed.
    changed: Vec<bool>,
    /// Changes since arms were sorted.
    changes: usize,
    /// Buffers: the largest possible score of every tile, and arms while they are sorted.
    reach: Vec<f64>,
    sorted: Vec<(Arm, u32)>,
}

impl Tiles {
    pub(super) fn new(arms: impl Iterator<Item = Arm>) -> Self {
        let arms: Vec<Arm> = arms.collect();
        let (n_arms, items) = (arms.len(), (0..).take(arms.len()));
        let size = if n_arms <= MOST_COMPARED { n_arms } else { n_arms.isqrt() };
        let n_tiles = n_arms.div_ceil(size);
        let mut tiles = Self {
            size,
            bounds: arms.chunks(size).map(Bounds::of).collect(),
            changed: vec![false; n_tiles],
            reach: Vec::with_capacity(n_tiles),
            sorted: Vec::with_capacity(n_arms),
            items: items.clone().collect(),
            place: items.collect(),
            changes: 0,
            arms,
        };
        tiles.sort();
        tiles
    }

    #[inline]
    pub(super) fn set(&mut self, item: usize, arm: Arm) {
        let place = self.place[item] as usize;
        self.arms[place] = arm;
        self.changed[place / self.size] = true;
        self.changes += 1;
    }

    /// Adds an arm, to the last tile if it has room.
    pub(super) fn push(&mut self, arm: Arm) {
        self.items.push(number(self.place.len()));
        self.place.push(number(self.arms.len()));
        self.arms.push(arm);
        if self.arms.len() > MOST_COMPARED.max(4 * self.size * self.size) {
            *self = Self::new(Self::in_order(&self.arms, &self.place));
        } else if self.arms.len() > self.size * self.bounds.len() {
            self.bounds.push(Bounds::of(&[arm]));
            self.changed.push(false);
        } else if let Some(last) = self.changed.last_mut() {
            *last = true;
        }
        self.sorted.reserve(self.arms.len());
        self.reach.reserve(self.bounds.len());
    }

    /// Arms by item.
    fn in_order<'a>(arms: &'a [Arm], place: &'a [u32]) -> impl Iterator<Item = Arm> + 'a {
        place.iter().map(|&place| arms[place as usize])
    }

    /// Offers the arms of largest score, and others, among those of `available` that are present.
    #[inline]
    pub(super) fn select_among(
        &mut self,
        (available, absent): (&ItemSet, &ItemSet),
        round: Round,
        ties: Ties,
        top: &mut TopL,
    ) {
        let n_arms = self.arms.len();
        if absent.is_empty() && available.is_all(n_arms) {
            self.select(|_| true, round, ties, top);
        } else if available.len() < FEW_TILES * self.size {
            top.clear();
            for item in present_items(available, absent, n_arms) {
                let Arm { mean, deviation, floor } = self.arms[self.place[item.index()] as usize];
                top.offer(item.number(), round.score(mean, deviation, floor), ties);
            }
        } else {
            let is_offered = |item| available.contains(item) && !absent.contains(item);
            self.select(is_offered, round, ties, top);
        }
    }

    /// Offers the offered arms of largest score, and others.
    #[inline]
    pub(super) fn select(
        &mut self,
        is_offered: impl Fn(ItemId) -> bool,
        round: Round,
        ties: Ties,
        top: &mut TopL,
    ) {
        top.clear();
        if self.bounds.len() == 1 {
            return self.offer(0, is_offered, round, ties, top);
        }
        if self.changes > self.arms.len() {
            self.sort();
        }
        for (tile, arms) in self.arms.chunks(self.size).enumerate() {
            if std::mem::take(&mut self.changed[tile]) {
                self.bounds[tile] = Bounds::of(arms);
            }
        }
        let Self { reach, bounds, .. } = self;
        reach.clear();
        reach.extend(bounds.iter().map(|bounds| bounds.score(round)));
        loop {
            let (mut best, mut most) = (0, f64::NEG_INFINITY);
            for (tile, &reach) in self.reach.iter().enumerate() {
                if reach > most {
                    (best, most) = (tile, reach);
                }
            }
            // A tile whose bound is the last winner's score may have an equal that goes before it.
            if most == f64::NEG_INFINITY || most < top.threshold() {
                return;
            }
            self.reach[best] = f64::NEG_INFINITY;
            self.offer(best, &is_offered, round, ties, top);
        }
    }

    #[inline]
    fn offer(
        &self,
        tile: usize,
        is_offered: impl Fn(ItemId) -> bool,
        round: Round,
        ties: Ties,
        top: &mut TopL,
    ) {
        let start = tile * self.size;
        let end = self.arms.len().min(start.saturating_add(self.size));
        for (&item, arm) in self.items[start..end].iter().zip(&self.arms[start..end]) {
            let score = round.score(arm.mean, arm.deviation, arm.floor);
            if score >= top.threshold() && is_offered(ItemId::new(item)) {
                top.offer(item, score, ties);
            }
        }
    }

    /// Sorts the arms into tiles.
    #[inline(never)]
    fn sort(&mut self) {
        let n_strips = self.bounds.len().isqrt();
        if n_strips < 2 {
            return;
        }
        let Self { arms, items, sorted, .. } = self;
        sorted.clear();
        sorted.extend(arms.iter().copied().zip(items.iter().copied()));
        sort_unstable(sorted, &|(one, _), (other, _)| other.mean.total_cmp(&one.mean));
        for strip in sorted.chunks_mut(self.bounds.len().div_ceil(n_strips) * self.size) {
            sort_unstable(strip, &|(one, _), (other, _)| other.floor.total_cmp(&one.floor));
        }
        for (place, &(arm, item)) in (0_u32..).zip(&*sorted) {
            (arms[place as usize], items[place as usize]) = (arm, item);
            self.place[item as usize] = place;
        }
        for (bounds, arms) in self.bounds.iter_mut().zip(self.arms.chunks(self.size)) {
            *bounds = Bounds::of(arms);
        }
        self.changed.fill(false);
        self.changes = 0;
    }
}
