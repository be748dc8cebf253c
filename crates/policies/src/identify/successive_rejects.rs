use super::candidates::{Candidates, Verdict};
use crate::checked::with_state;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::{Decision, Select};
use click_models::{Clicks, ItemId, ListShape, Ranking};
use rand::Rng;

with_state! {
/// Successive accepts and rejects: finds the K most attractive items in a number of rounds.
///
/// A round shows the undecided items, the least observed first, at most K of them. One item is
/// decided after round `ceil(T C_j / C_{L-1})`, for `j` from 1 to `L - 1`. With `k` items still to
/// be found and means `m_(1) >= m_(2) >= ..` of the `n = L + 1 - j` undecided items:
///
/// ```text
/// accept the first if m_(1) - m_(k+1) > m_(k) - m_(n), and reject the last otherwise;
/// C_1 = 1,    C_j = C_{j-1} + 1 / (L + 2 - j).
/// ```
///
/// So K items are accepted, or L - K rejected, when the budget of `T` rounds is spent.
///
/// Reference: none, the policy is ours. The decisions and the shares of the budget are those of SAR
/// for bandits that pull one arm at a time (Bubeck, Wang, Viswanathan, *Multiple identifications in
/// multi-armed bandits*, ICML 2013). Users decide how many observations a round brings, so the
/// budget is shared out by rounds. How fast the probability of an error falls with the budget is
/// measured, not proven; on most instances [`CascadeKl`](crate::CascadeKl) is wrong less often
/// (`docs/cascade-bai.md`).
///
/// Ties follow the order in which items were shown, which is random at the start. Late feedback
/// counts as a round, and as observations of items that are still undecided.
///
/// | here | above | shape | unit |
/// |---|---|---|---|
/// | `candidates` | items, counts | at most `n_items` (L) | items, observations, clicks |
/// | `candidates.n_best`, `.n_open` | K, k | - | items |
/// | `horizon` | T | - | rounds |
/// | `share` | `C_j` | - | - |
///
/// Memory: O(L).
pub struct SuccessiveRejects {
    horizon: u64,
    rounds: u64,
    #[serde(rename = "counts")]
    candidates: Candidates,
} derived {
    /// Budget before the next decision, and the whole, in units of the first phase.
    share: f64 = until(candidates.in_question.len(), &candidates),
    total: f64 = until(2, &candidates),
    /// Buffer of a decision: the items, best first.
    ranked: Vec<(f64, usize, ItemId)> = Vec::with_capacity(candidates.n_items()),
} with #[serde(deny_unknown_fields)]
}

impl SuccessiveRejects {
    /// A fresh policy for `horizon` rounds that identifies as many items as a list has positions.
    pub fn new(shape: ListShape, horizon: u64) -> Self {
        Self::assemble(State { horizon, rounds: 0, candidates: Candidates::new(shape) })
    }

    #[inline]
    fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.candidates.is_done() {
            return;
        }
        self.candidates.record(shown, seen, Candidates::requeue);
        self.rounds += 1;
        while !self.candidates.is_done()
            && float(self.rounds) >= float(self.horizon) * (self.share / self.total)
        {
            self.decide();
            self.share += phase(self.candidates.in_question.len());
        }
    }

    /// Accepts the best or rejects the worst.
    #[cold]
    fn decide(&mut self) {
        let Self { candidates, ranked, .. } = self;
        let n_open = candidates.n_open();
        let in_question = candidates.in_question.iter().enumerate();
        ranked.clear();
        ranked.extend(in_question.map(|(place, &item)| (candidates.mean(item), place, item)));
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (best, worst) = (ranked[0], ranked[ranked.len() - 1]);
        let verdict = if best.0 - ranked[n_open].0 > ranked[n_open - 1].0 - worst.0 {
            (best.2, Verdict::Accept)
        } else {
            (worst.2, Verdict::Reject)
        };
        candidates.decide(std::iter::once(verdict));
    }
}

/// Length of all phases before this number of undecided items is left.
fn until(n_left: usize, candidates: &Candidates) -> f64 {
    (n_left..candidates.n_items()).rev().fold(1.0, |share, left| share + phase(left))
}

/// Length of a phase with this number of undecided items, relative to the first phase.
fn phase(n_left: usize) -> f64 {
    1.0 / float(n_left as u64 + 1)
}

restored!(SuccessiveRejects, |saved| {
    check_counts(saved.rounds, &[], &[])?;
    Ok(Self::assemble(saved))
});

identifies!(SuccessiveRejects);
setup!(SuccessiveRejects, &["/horizon"], |policy| policy.candidates.sizes());

impl Select<Ranking> for SuccessiveRejects {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.candidates.begin(rng);
        self.candidates.show(self.candidates.in_question.iter().copied(), &mut out.action);
    }
}
