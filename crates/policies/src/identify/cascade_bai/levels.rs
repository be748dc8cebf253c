//! Classification: accepts and rejects items by comparing their bounds with those of rivals.
//! Between the bounds there are levels: while all undecided items respect them, nothing is decided.

use super::CascadeBai;
use super::items::{Candidate, Item, ItemState};
use super::settings::{Rival, Settings, ShowOrder};
use crate::exact::float;
use click_models::ItemId;
use num_traits::ToPrimitive as _;

/// As long as every undecided item respects these levels, no item is accepted or rejected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    /// No lower bound is above.
    above_lower: f64,
    /// No upper bound is below.
    below_upper: f64,
    /// No mean of the k + 1 items of largest mean is below.
    floor: f64,
    /// No mean of the items from the k-th on is above.
    ceiling: f64,
    /// No item has more observations.
    n: u64,
    /// Whether an item may violate the levels.
    pub(super) are_broken: bool,
}

impl Levels {
    pub(super) const NONE: Self = Self {
        above_lower: f64::NEG_INFINITY,
        below_upper: f64::INFINITY,
        floor: f64::NEG_INFINITY,
        ceiling: f64::INFINITY,
        n: u64::MAX,
        are_broken: true,
    };

    /// The counts up to which an item respects the levels; `None` if it violates them now.
    ///
    /// After `s` more observations, `c` of them clicked, a mean `m` has fallen by at most `m s / n`
    /// and risen by at most `(1 - m) c / n`. The radius `C` has shrunk by at most `C s / (2 n)`,
    /// since its square times `n` grows.
    fn quiet(&self, item: Item, state: ItemState, radius: f64) -> Option<(u64, u64)> {
        let (n, mean) = (float(item.n), item.mean());
        let below_upper_level = self.above_lower - (mean - radius);
        let above_lower_level = mean + radius - self.below_upper;
        let above_floor = if state.is_high { mean - self.floor } else { f64::INFINITY };
        let below_ceiling = if state.is_low { self.ceiling - mean } else { f64::INFINITY };
        let respects = |room: f64| room >= 0.0;
        let is_quiet = [below_upper_level, above_lower_level, above_floor, below_ceiling].map(respects);
        if item.n > self.n || is_quiet != [true; 4] {
            return None;
        }
        if item.n == 0 {
            return Some((0, 0));
        }
        // Half of the distance is for the mean, half for the radius. 0 / 0 is no bound.
        let observations = (above_floor / mean)
            .min(above_lower_level / (mean + radius / 2.0))
            .min(below_upper_level / radius);
        let clicks = below_ceiling.min(below_upper_level / 2.0) / (1.0 - mean);
        let quiet_n = item.n.saturating_add(whole(n * observations)).min(self.n);
        Some((quiet_n, item.s.saturating_add(whole(n * clicks))))
    }
}

/// The whole part of a number. Large numbers saturate; negative ones and NaN give 0.
fn whole(number: f64) -> u64 {
    // The larger of NaN and 0 is 0.
    number.max(0.0).to_u64().unwrap_or(u64::MAX)
}

impl CascadeBai {
    /// Sets the first levels: nothing is decided until two intervals fit between 0 and 1.
    pub(super) fn begin_quietly(&mut self) {
        let needed = 1.0 + self.settings.epsilon.get() + self.slack();
        let overlap = |n: u64| 2.0 * self.radii.radius(n) >= needed;
        // The radius falls as n grows.
        let (mut quiet, mut loud) = (0, 1);
        while loud < 1 << 60 && overlap(loud) {
            quiet = loud;
            loud *= 2;
        }
        while loud - quiet > 1 {
            let middle = quiet.midpoint(loud);
            if overlap(middle) { quiet = middle } else { loud = middle }
        }
        self.levels = Levels { n: quiet, ..Levels::NONE };
        for item in &mut self.items {
            (item.quiet_n, item.quiet_s) = (quiet, u64::MAX);
        }
        let most = self.queue.items().iter().map(|item| self.items[item.index()].n).max();
        self.most_observed = most.unwrap_or(0);
        self.levels.are_broken = self.most_observed > quiet;
    }

    /// Recomputes the counts up to which an item respects the levels; `false` if it may not.
    #[cold]
    pub(super) fn watch(&mut self, id: ItemId) -> bool {
        let (item, state) = (self.items[id.index()], self.states[id.index()]);
        let quiet = self.levels.quiet(item, state, self.radii.radius(item.n));
        if let Some((n, s)) = quiet {
            let item = &mut self.items[id.index()];
            (item.quiet_n, item.quiet_s) = (n, s);
        }
        quiet.is_some()
    }

    /// Accepts and rejects all items that the bounds allow, then sets the levels.
    #[cold]
    pub(super) fn classify(&mut self) {
        let mut rivals = self.line_up();
        if self.sort_out(rivals) {
            if self.is_done() {
                return;
            }
            rivals = self.line_up();
        }
        self.set_levels(rivals);
    }

    /// Lists the undecided items as candidates: the k of largest mean, the k-th of them last, then
    /// the next one, then the others. Returns the upper and the lower bound to beat, see [`Rival`].
    fn line_up(&mut self) -> (f64, f64) {
        let Self { candidates, items, rank, queue, settings, radii, .. } = self;
        candidates.clear();
        for &item in queue.items() {
            let counts = items[item.index()];
            let radius = radii.remembered(counts.n);
            candidates.push(Candidate { mean: counts.mean(), radius, rank: rank[item.index()], item });
        }
        let n_open = settings.n_best - self.accepted.len();
        let mut rank_of = |place: usize, score: fn(&Candidate) -> f64| {
            let largest_first =
                |a: &Candidate, b: &Candidate| score(b).total_cmp(&score(a)).then(a.rank.cmp(&b.rank));
            *candidates.select_nth_unstable_by(place, largest_first).1
        };
        let bounds = match settings.rival {
            Rival::OfMean => None,
            Rival::OfBound => Some((
                rank_of(n_open, Candidate::upper).upper(),
                rank_of(n_open - 1, Candidate::lower).lower(),
            )),
        };
        let first_out = rank_of(n_open, |candidate| candidate.mean);
        // Leaves the candidates from the (k+1)-th on in place.
        let last_in = rank_of(n_open - 1, |candidate| candidate.mean);
        bounds.unwrap_or((first_out.upper(), last_in.lower()))
    }

    /// Accepts and rejects candidates. Returns whether any was decided.
    fn sort_out(&mut self, (upper_to_beat, lower_to_beat): (f64, f64)) -> bool {
        let epsilon = self.settings.epsilon.get();
        let is_worse = |candidate: &Candidate| candidate.upper() < lower_to_beat - epsilon;
        let is_better = |candidate: &Candidate| candidate.lower() > upper_to_beat - epsilon;
        if !self.candidates.iter().any(|candidate| is_worse(candidate) || is_better(candidate)) {
            return false;
        }
        self.candidates.sort_unstable_by(|a, b| b.lower().total_cmp(&a.lower()).then(a.rank.cmp(&b.rank)));
        let Self { candidates, items, states, accepted, rejected, queue, .. } = self;
        for candidate in candidates.iter() {
            let set = match (is_worse(candidate), is_better(candidate)) {
                (true, _) => &mut *rejected,
                (false, true) => &mut *accepted,
                (false, false) => continue,
            };
            set.push(candidate.item);
            states[candidate.item.index()].is_in_question = false;
        }
        queue.retain(|item| states[item.index()].is_in_question);
        self.by_mean.retain(|item| states[item.index()].is_in_question);
        self.most_observed = queue.items().iter().map(|item| items[item.index()].n).max().unwrap_or(0);
        true
    }

    /// Checks whether the bounds to beat still respect the levels. `BatchRacing` always classifies.
    pub(super) fn compare_rivals(&mut self) {
        if self.settings.rival == Rival::OfBound {
            self.levels.are_broken = true;
            return;
        }
        let rank = self.settings.n_best - self.accepted.len();
        let Settings { epsilon, .. } = self.settings;
        let (first_out, last_in) = (self.by_mean.item(rank), self.by_mean.item(rank - 1));
        let upper = self.mean(first_out) + self.radii.remembered(self.items[first_out.index()].n);
        let lower = self.mean(last_in) - self.radii.remembered(self.items[last_in.index()].n);
        let is_above = upper - epsilon.get() >= self.levels.above_lower + self.slack();
        let is_below = lower - epsilon.get() <= self.levels.below_upper - self.slack();
        self.levels.are_broken |= !(is_above && is_below);
    }

    /// Sets levels half-way between the bounds, and up to which counts every item respects them.
    pub(super) fn set_levels(&mut self, (upper_to_beat, lower_to_beat): (f64, f64)) {
        let n_open = self.settings.n_best - self.accepted.len();
        let epsilon = self.settings.epsilon.get() - self.slack();
        let max_lower = self.candidates.iter().map(Candidate::lower).fold(f64::NEG_INFINITY, f64::max);
        let min_upper = self.candidates.iter().map(Candidate::upper).fold(f64::INFINITY, f64::min);
        self.levels = if self.settings.order == ShowOrder::LeastObserved {
            // The item at rank k + 1 later has a mean not below those of the k + 1 items that are
            // ahead now, and a radius not below that of the most observed item.
            let radius = self.radii.radius(self.most_observed);
            let (first_out, last_in) = (self.candidates[n_open].mean, self.candidates[n_open - 1].mean);
            let room_above = first_out + radius - epsilon - max_lower;
            let room_below = min_upper - (last_in - radius - epsilon);
            // In s observations a radius shrinks by at most the share s / (2 n).
            let n = float(self.most_observed) * room_above.min(room_below) / (2.0 * radius);
            Levels {
                above_lower: max_lower + room_above / 2.0,
                below_upper: min_upper - room_below / 2.0,
                floor: first_out - room_above / 4.0,
                ceiling: last_in + room_below / 4.0,
                n: self.most_observed.saturating_add(whole(n)),
                are_broken: !(room_above > 0.0 && room_below > 0.0),
            }
        } else {
            let room_above = (upper_to_beat - epsilon - max_lower).min(1.0);
            let room_below = (min_upper - (lower_to_beat - epsilon)).min(1.0);
            Levels {
                above_lower: max_lower + room_above / 2.0,
                below_upper: min_upper - room_below / 2.0,
                are_broken: !(room_above > 0.0 && room_below > 0.0),
                ..Levels::NONE
            }
        };
        for (place, candidate) in self.candidates.iter().enumerate() {
            let state =
                ItemState { is_in_question: true, is_high: place <= n_open, is_low: place + 1 >= n_open };
            self.states[candidate.item.index()] = state;
            let item = &mut self.items[candidate.item.index()];
            match self.levels.quiet(*item, state, candidate.radius) {
                Some((n, s)) => (item.quiet_n, item.quiet_s) = (n, s),
                None => self.levels.are_broken = true,
            }
        }
    }

    /// An upper bound of the rounding in a comparison of sums of means and radii.
    fn slack(&self) -> f64 {
        1e-12 * (1.0 + self.settings.radius_scale.get() + self.settings.epsilon.get())
    }
}
