//! [`ByNeed`]: the undecided items of `cascade-kl` in the order by need, without computing what has
//! not changed.
//!
//! The data of an item stand at its *place*, its index among the undecided items, in one array for
//! each number: so the progress of all items is computed in vector registers. The numbers of an
//! item change with its observations only. The smoothed means are kept in two parts, the largest
//! and the others, of which the boundary needs the smallest and the largest. In most rounds no mean
//! changes sides.

use super::LANES;
use super::need::{LEAST_SHARE, Need, equally_far, smoothed_mean};
use super::packed::{Key, Packing};
use crate::exact::{float, number};
use crate::identify::candidates::Candidates;
use click_models::ItemId;
use confidence::math::{ln, ln_1p};

/// The place of an item that is not undecided.
const NOWHERE: u32 = u32::MAX;

/// The undecided items, and what their order depends on.
#[derive(Debug, Clone)]
pub(super) struct ByNeed {
    /// Whether the undecided items are others, or in another order, than those of the arrays.
    is_stale: bool,
    /// The place of every item.
    places: Vec<u32>,
    // By place: observations, and the fields of `Need`.
    observations: Vec<f64>,
    base: Vec<f64>,
    clicks: Vec<f64>,
    failures: Vec<f64>,
    ln_mean: Vec<f64>,
    means: Split,
    boundary: Boundary,
    /// By place, in this round.
    progress: Vec<f64>,
    packing: Packing,
    words: Vec<u64>,
}

impl ByNeed {
    pub(super) fn new(n_items: usize) -> Self {
        let empty = || Vec::with_capacity(n_items);
        Self {
            is_stale: true,
            places: vec![NOWHERE; n_items],
            observations: empty(),
            base: empty(),
            clicks: empty(),
            failures: empty(),
            ln_mean: empty(),
            means: Split::new(n_items),
            boundary: Boundary::default(),
            progress: empty(),
            packing: Packing::new(n_items),
            words: Vec::with_capacity(n_items),
        }
    }

    /// The undecided items are others, or in another order.
    pub(super) fn set_stale(&mut self) {
        self.is_stale = true;
    }

    /// Takes over the counts of these items.
    #[inline]
    pub(super) fn refresh(&mut self, candidates: &Candidates, items: &[ItemId]) {
        if self.is_stale {
            return;
        }
        for some in items.chunks(LANES) {
            let (mut n, mut means) = ([1.0; LANES], [0.5; LANES]);
            for ((n, mean), &item) in n.iter_mut().zip(&mut means).zip(some) {
                let observations = candidates.observations(item);
                (*n, *mean) = (float(observations), smoothed_mean(observations, candidates.clicks(item)));
            }
            let needs = Need::of_several(n, means);
            for (lane, &item) in some.iter().enumerate() {
                let place = self.places.get(item.index()).copied().unwrap_or(NOWHERE) as usize;
                if place < self.base.len() {
                    self.set(place, n[lane], needs[lane]);
                    self.means.set(place, means[lane]);
                }
            }
        }
    }

    #[inline]
    fn set(&mut self, place: usize, n: f64, need: Need) {
        self.observations[place] = n;
        self.base[place] = need.base;
        self.clicks[place] = need.clicks;
        self.failures[place] = need.failures;
        self.ln_mean[place] = need.ln_mean;
    }

    #[cold]
    fn rebuild(&mut self, candidates: &Candidates) {
        let size = candidates.in_question.len();
        self.is_stale = false;
        self.places.fill(NOWHERE);
        let Self { observations, base, clicks, failures, ln_mean, progress, .. } = self;
        for numbers in [observations, base, clicks, failures, ln_mean, progress] {
            numbers.resize(size, 0.0);
        }
        for (place, &item) in candidates.in_question.iter().enumerate() {
            let (n, clicks) = (candidates.observations(item), candidates.clicks(item));
            self.places[item.index()] = number(place);
            self.set(place, float(n), Need::new(n, clicks));
        }
        let mean = |&item: &ItemId| smoothed_mean(candidates.observations(item), candidates.clicks(item));
        self.means.fill(candidates.in_question.iter().map(mean), candidates.n_open());
        self.packing = Packing::new(size);
    }

    /// Places of the items of a list; `open_observations` are those of the undecided items.
    #[inline]
    pub(super) fn first(
        &mut self,
        candidates: &Candidates,
        open_observations: u64,
    ) -> impl Iterator<Item = usize> {
        if self.is_stale {
            self.rebuild(candidates);
        }
        let (click, failure) = self.boundary.logarithms(self.means.edge());
        let Self { observations, base, clicks, failures, ln_mean, progress, packing, words, .. } = self;
        let size = base.len();
        let least = LEAST_SHARE * float(open_observations) / float(size as u64);
        let is_fed = |n: f64| n >= least;
        let by_need = |n: f64, progress: f64| -> Key { (is_fed(n), if is_fed(n) { progress } else { n }) };
        words.resize(size, 0);
        // Slices of one length: the loop has no checks, and runs in vector registers.
        let (observations, progress, words_now) =
            (&observations[..size], &mut progress[..size], &mut words[..size]);
        let (base, clicks, failures) = (&base[..size], &clicks[..size], &failures[..size]);
        for place in 0..size {
            progress[place] = base[place] - clicks[place] * click - failures[place] * failure;
            words_now[place] = packing.pack(by_need(observations[place], progress[place]), place);
        }
        let by_need = |place: usize| by_need(observations[place], progress[place]);
        packing.keep_smallest(words, candidates.n_best, by_need);
        let by_depth =
            |place: usize| -> Key { (is_fed(observations[place]), ln_mean[place] + progress[place]) };
        for word in &mut *words {
            let place = packing.place(*word);
            *word = packing.pack(by_depth(place), place);
        }
        packing.sort(words, by_depth);
        words.iter().map(|&word| packing.place(word))
    }
}

/// The smoothed means of the undecided items, in two parts.
#[derive(Debug, Clone)]
struct Split {
    /// The largest, as many as are still to be found, then the others, each part unordered.
    means: Vec<f64>,
    n_largest: usize,
    /// Where the mean of a place stands, and the place of every mean.
    slots: Vec<u32>,
    owners: Vec<u32>,
}

impl Split {
    fn new(n_items: usize) -> Self {
        let (slots, owners) = (Vec::with_capacity(n_items), Vec::with_capacity(n_items));
        Self { means: Vec::with_capacity(n_items), n_largest: 0, slots, owners }
    }

    fn fill(&mut self, means: impl Iterator<Item = f64>, n_largest: usize) {
        let Self { means: kept, slots, owners, .. } = self;
        slots.clear();
        owners.clear();
        kept.clear();
        kept.extend(means);
        slots.extend(0..number(kept.len()));
        owners.extend(0..number(kept.len()));
        self.n_largest = n_largest;
    }

    fn set(&mut self, place: usize, mean: f64) {
        self.means[self.slots[place] as usize] = mean;
    }

    /// The smallest of the largest means, and the largest of the others.
    #[inline]
    fn edge(&mut self) -> (f64, f64) {
        loop {
            let (largest, others) = self.means.split_at(self.n_largest);
            let last_in = extreme(largest, 1.0, f64::min);
            let first_out = extreme(others, 0.0, f64::max);
            if last_in >= first_out {
                return (last_in, first_out);
            }
            let find = |means: &[f64], mean| means.iter().position(|&other| other == mean).unwrap_or(0);
            let (a, b) = (find(largest, last_in), self.n_largest + find(others, first_out));
            self.means.swap(a, b);
            self.owners.swap(a, b);
            for slot in [a, b] {
                self.slots[self.owners[slot] as usize] = number(slot);
            }
        }
    }
}

/// The smallest or the largest number, in lanes.
#[inline]
fn extreme(numbers: &[f64], start: f64, better: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [start; 8];
    let chunks = numbers.chunks_exact(8);
    let rest = chunks.remainder().iter().copied().fold(start, &better);
    for chunk in chunks {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane = better(*lane, number);
        }
    }
    lanes.into_iter().fold(rest, better)
}

/// The boundary between two means, kept while they stay.
#[derive(Debug, Clone, Copy, Default)]
struct Boundary {
    edge: (f64, f64),
    logarithms: (f64, f64),
}

impl Boundary {
    /// The logarithms of the boundary and of one minus it.
    #[inline]
    fn logarithms(&mut self, edge: (f64, f64)) -> (f64, f64) {
        // Smoothed means are not 0, so the default is no edge.
        if edge != self.edge {
            let boundary = equally_far(edge.0, edge.1);
            *self = Self { edge, logarithms: (ln(boundary), ln_1p(-boundary)) };
        }
        self.logarithms
    }
}
