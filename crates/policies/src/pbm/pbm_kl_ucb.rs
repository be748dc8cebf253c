use super::counts::{PbmCounts, place};
use super::index_test::{IndexTest, index, threshold};
use crate::setup::Setup;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{PbmKnown, Ranking, RenderedClicks};
use confidence::{MultiPositionThreshold, Rate};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// PBM-KL-UCB: shows the items of largest multi-position KL index.
///
/// At round `t` item `k` has the index of equation (7),
///
/// ```text
/// U_k = max { q in [theta_min, 1] : sum_l N_{k,l} d(S_{k,l} / N_{k,l}, kappa_l q) <= delta },      delta = (1 + epsilon) ln t
/// ```
///
/// and the policy shows the L largest indices, the largest at the position of largest examination.
/// An item that was never shown where users look comes first.
///
/// Reference for the index: Lagree, Vernade, Cappe 2016, equation (7) and Proposition 10, with a
/// positive `epsilon` (here 0 by default). The policy is ours: the paper uses the index in PBM-PIE
/// only, and names "PBM-KLUCB" as future work.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts` | `S_{k,l}`, `N_{k,l}` | `n_items` x `n_positions` | clicks, displays |
/// | `rate` | delta | - | nats |
///
/// Numerics: the last round's winners are solved for, and the smallest of their indices is a
/// threshold. Another item is solved for only if its index may reach it (`confidence::threshold`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PbmKlUcb {
    rate: Rate,
    counts: PbmCounts,
    /// Whether an item has displays where users look.
    #[serde(skip)]
    is_seen: Vec<bool>,
    /// Tests whether an index reaches the smallest of the best.
    #[serde(skip)]
    test: IndexTest,
    #[serde(skip)]
    threshold: MultiPositionThreshold,
    #[serde(skip)]
    top: TopL,
    /// The items of the last round.
    #[serde(skip)]
    winners: Vec<u32>,
}

#[derive(Deserialize)]
struct Saved {
    rate: Rate,
    counts: PbmCounts,
}

impl PbmKlUcb {
    /// A fresh policy; `rate` is the paper's delta.
    ///
    /// # Panics
    ///
    /// If `known` does not have one examination probability per position.
    /// [`ClickModel::known`](click_models::ClickModel::known) always has.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::from(Saved { rate, counts: PbmCounts::new(known) })
    }
}

impl From<Saved> for PbmKlUcb {
    fn from(Saved { rate, counts }: Saved) -> Self {
        Self {
            rate,
            is_seen: (0..counts.n_items()).map(|item| counts.weighted_shows(item) > 0.0).collect(),
            test: IndexTest::new(&counts),
            threshold: threshold(&counts),
            top: TopL::new(counts.n_positions()),
            winners: Vec::with_capacity(counts.n_positions()),
            counts,
        }
    }
}

impl PbmKlUcb {
    /// Finds the items of largest index.
    #[inline]
    fn search(&mut self, level: f64, ties: Ties) {
        let Self { counts, is_seen, test, threshold, top, winners, .. } = self;
        let score = |item: u32| {
            if is_seen[item as usize] { index(counts, item as usize, level) } else { f64::INFINITY }
        };
        top.clear();
        for &item in &*winners {
            top.offer(item, score(item), ties);
        }
        let mut reached = top.threshold();
        threshold.set(reached);
        for (item, &is_seen) in (0_u32..).zip(&*is_seen) {
            if winners.contains(&item) || is_seen && test.excludes(counts, item as usize, threshold, level) {
                continue;
            }
            top.offer(item, score(item), ties);
            if top.threshold() > reached {
                reached = top.threshold();
                threshold.set(reached);
            }
        }
        winners.clear();
        winners.extend(top.best().iter().map(|&(_, item)| item));
    }
}

impl Setup for PbmKlUcb {
    const SETTINGS: &'static [&'static str] = &["/rate", "/counts/examination"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PbmKlUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let level = self.rate.level(self.counts.next_round());
        self.search(level, Ties::draw(rng));
        place(self.top.best(), self.counts.order(), &mut out.action);
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmKlUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, is_seen, test, .. } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            is_seen[item] = counts.weighted_shows(item) > 0.0;
            test.forget(item);
        });
    }
}
