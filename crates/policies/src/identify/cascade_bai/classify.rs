//! Classification: accepts and rejects items by comparing their bounds with those of rivals.

use super::CascadeBai;
use super::items::Candidate;
use super::settings::Rival;

impl CascadeBai {
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
}
