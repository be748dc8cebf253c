//! PIE and PBM-PIE with every item compared and tested in every round.

use super::all_items::{draw_equals, offer};
use click_models::{Clicks, ItemId, ListShape, PbmFeedback, PbmKnown, PrefixFeedback, Ranking};
use confidence::math::ln;
use confidence::{
    KlUcbThreshold, MultiPositionThreshold, kl_ucb_entropy, kl_ucb_upper, multi_position_entropy,
    multi_position_upper,
};
use policies::{Decision, Select, Update};
use rand::{Rng, RngExt};

/// A policy that makes the library's choices, ties included.
#[derive(Debug, Clone)]
pub struct AllCandidates {
    n_positions: usize,
    /// Position at which it explores.
    explored: usize,
    /// Examination of every position, in decreasing order; `None` for PIE, which reads a prefix.
    examination: Option<Vec<f64>>,
    round: u64,
    /// Item by item; for PBM-PIE every position.
    shows: Vec<u64>,
    clicks: Vec<u64>,
    failures: Vec<f64>,
    means: Vec<f64>,
    /// Computed when an item is first tested after its counts changed.
    entropies: Vec<Option<f64>>,
    threshold: MultiPositionThreshold,
    best: Vec<(f64, u32)>,
    candidates: Vec<ItemId>,
}

impl AllCandidates {
    /// A fresh PIE that explores at this position.
    pub fn prefix(shape: ListShape, explored: usize) -> Self {
        Self { explored, ..Self::new(shape, None) }
    }

    /// A fresh PBM-PIE that explores at the last position; positions are in decreasing order of
    /// examination.
    pub fn position_based(known: PbmKnown<'_>) -> Self {
        let examination = known.examination().iter().map(|examined| examined.get()).collect();
        Self::new(known.shape(), Some(examination))
    }

    fn new(shape: ListShape, examination: Option<Vec<f64>>) -> Self {
        let (n_items, n_positions) = (shape.n_items(), shape.n_positions());
        let cells = n_items * examination.as_ref().map_or(1, Vec::len);
        let threshold = MultiPositionThreshold::new(examination.as_deref().unwrap_or(&[1.0]));
        Self {
            n_positions,
            explored: n_positions - 1,
            examination,
            round: 0,
            shows: vec![0; cells],
            clicks: vec![0; cells],
            failures: vec![0.0; cells],
            means: vec![f64::INFINITY; n_items],
            entropies: vec![None; n_items],
            threshold: threshold.expect("few positions"),
            best: Vec::with_capacity(n_positions),
            candidates: Vec::with_capacity(n_items),
        }
    }

    /// Counts a round whose list another policy chose.
    pub fn skip_round(&mut self) {
        self.round += 1;
    }

    fn cells(&self, item: usize) -> std::ops::Range<usize> {
        let columns = self.shows.len() / self.means.len();
        item * columns..(item + 1) * columns
    }

    fn entropy(&mut self, item: usize) -> f64 {
        if let Some(entropy) = self.entropies[item] {
            return entropy;
        }
        let cells = self.cells(item);
        let (clicks, failures) = (&self.clicks[cells.clone()], &self.failures[cells]);
        let entropy = match &self.examination {
            None => kl_ucb_entropy(clicks[0] as f64, failures[0]),
            Some(examination) => {
                let counts = clicks.iter().zip(failures).zip(examination);
                counts
                    .map(|((&clicks, &failed), &kappa)| multi_position_entropy(clicks as f64, failed, kappa))
                    .sum()
            }
        };
        *self.entropies[item].insert(entropy)
    }

    #[inline]
    fn reaches(&mut self, item: usize, q: f64, prefix: &KlUcbThreshold, level: f64) -> bool {
        if self.means[item] == f64::INFINITY {
            return true;
        }
        let entropy = self.entropy(item);
        let cells = self.cells(item);
        let (shows, clicks) = (&self.shows[cells.clone()], &self.clicks[cells.clone()]);
        let (failures, total) = (&self.failures[cells], clicks.iter().sum::<u64>() as f64);
        match &self.examination {
            None => {
                !prefix.excludes(entropy, total, failures[0], level)
                    && (prefix.includes(entropy, total, failures[0], level)
                        || kl_ucb_upper(self.means[item], shows[0] as f64, level) >= q)
            }
            Some(examination) => {
                !self.threshold.excludes(entropy, total, failures, level)
                    && (self.threshold.includes(entropy, total, failures, level)
                        || multi_position_upper(clicks, shows, examination, level) >= q)
            }
        }
    }

    fn learn(&mut self, list: &Ranking, observed: Clicks) {
        for (position, item) in list.by_position().take(observed.len()) {
            let item = item.index();
            let cells = self.cells(item);
            let cell = cells.start + position % cells.len();
            self.shows[cell] += 1;
            self.clicks[cell] += u64::from(observed.get(position));
            self.failures[cell] = (self.shows[cell] - self.clicks[cell]) as f64;
            let clicks = self.clicks[cells.clone()].iter().sum::<u64>() as f64;
            let shows = self.shows[cells].iter();
            self.means[item] = match &self.examination {
                None => clicks / shows.sum::<u64>() as f64,
                Some(examination) => {
                    clicks / shows.zip(examination).map(|(&shows, kappa)| shows as f64 * kappa).sum::<f64>()
                }
            };
            self.entropies[item] = None;
        }
    }
}

impl Select<Ranking> for AllCandidates {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.round += 1;
        if self.examination.is_some() && self.round <= self.means.len() as u64 {
            let shift = usize::try_from(self.round - 1).expect("fewer rounds than items");
            for (position, item) in out.action.positions_mut(self.n_positions).iter_mut().enumerate() {
                *item = ItemId::from_index((shift + position) % self.means.len());
            }
            return;
        }
        let level = ln(self.round as f64);
        let key = rng.next_u64();
        self.best.clear();
        for (item, &mean) in (0_u32..).zip(&self.means) {
            offer(&mut self.best, self.n_positions, (mean, item), key);
        }
        draw_equals(&mut self.best, (0_u32..).zip(self.means.iter().copied()), key);
        let list = out.action.positions_mut(self.n_positions);
        for (place, &(_, item)) in list.iter_mut().zip(&self.best) {
            *place = ItemId::new(item);
        }
        if rng.next_u64() >> 63 == 1 {
            return;
        }
        let (q, _) = self.best[self.n_positions - 1];
        let prefix = KlUcbThreshold::new(q);
        self.threshold.set(q);
        self.candidates.clear();
        for item in 0..self.means.len() {
            let id = ItemId::from_index(item);
            if !out.action.contains(id) && self.reaches(item, q, &prefix, level) {
                self.candidates.push(id);
            }
        }
        if !self.candidates.is_empty() {
            let drawn = self.candidates[rng.random_range(0..self.candidates.len())];
            let below = &mut out.action.positions_mut(self.n_positions)[self.explored..];
            below.rotate_right(1);
            below[0] = drawn;
        }
    }
}

impl Update<Ranking, PrefixFeedback> for AllCandidates {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PrefixFeedback) {
        self.learn(&decision.action, feedback.clicks);
    }
}

impl Update<Ranking, PbmFeedback> for AllCandidates {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        self.learn(&decision.action, feedback.clicks);
    }
}
