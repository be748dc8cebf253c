use super::counts::{PbmCounts, place};
use super::index_test::{IndexTest, index, threshold};
use crate::checked::with_state;
use crate::live::{LiveState, OnTable, on_table};
use crate::setup::{restored, setup};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, SelectAmong, Update};
use click_models::{ItemId, ItemSet, PbmKnown, Ranking, RenderedClicks};
use confidence::{MultiPositionThreshold, Rate};
use rand::Rng;

with_state! {
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
pub struct PbmKlUcb {
    rate: Rate,
    counts: PbmCounts,
} live derived {
    /// Whether an item has displays where users look.
    is_seen: Vec<bool> = (0..counts.n_items()).map(|item| counts.weighted_shows(item) > 0.0).collect(),
    /// Tests whether an index reaches the smallest of the best.
    test: IndexTest = IndexTest::new(&counts),
    threshold: MultiPositionThreshold = threshold(&counts),
    top: TopL = TopL::new(counts.n_positions()),
    /// The items of the last round.
    winners: Vec<u32> = Vec::with_capacity(counts.n_positions()),
}
}

impl PbmKlUcb {
    /// A fresh policy; `rate` is the paper's delta.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::over(rate, PbmCounts::new(known), LiveState::default())
    }

    /// Finds those of largest index among the items that are available, by default all.
    #[inline]
    fn search(&mut self, level: f64, ties: Ties, available: Option<&ItemSet>) {
        let Self { counts, live, is_seen, test, threshold, top, winners, .. } = self;
        let (n_items, mut all, mut some);
        n_items = is_seen.len();
        let items: &mut dyn Iterator<Item = ItemId> = match available {
            None => {
                all = (0..n_items).map(ItemId::from_index);
                &mut all
            }
            Some(available) => {
                some = live.items(available, n_items);
                &mut some
            }
        };
        let is_offered = |item: u32| {
            let item = ItemId::new(item);
            available.is_none_or(|set| set.contains(item) && !live.absent.contains(item))
        };
        let score = |item: u32| {
            if is_seen[item as usize] { index(counts, item as usize, level) } else { f64::INFINITY }
        };
        top.clear();
        for &item in winners.iter().filter(|&&item| is_offered(item)) {
            top.offer(item, score(item), ties);
        }
        let mut reached = top.threshold();
        threshold.set(reached);
        for item in items {
            if winners.contains(&item.number())
                || is_seen[item.index()] && test.excludes(counts, item.index(), threshold, level)
            {
                continue;
            }
            top.offer(item.number(), score(item.number()), ties);
            if top.threshold() > reached {
                reached = top.threshold();
                threshold.set(reached);
            }
        }
        winners.clear();
        winners.extend(top.best.iter().map(|&(_, item)| item));
    }
}

restored!(PbmKlUcb, |State { rate, counts, live }| {
    let live = LiveState::restore(live, counts.n_items())?;
    Ok(Self::over(rate, counts, live))
});

setup!(PbmKlUcb, &["/rate", "/counts/examination"], |policy| policy.counts.sizes());

impl Select<Ranking> for PbmKlUcb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let level = self.rate.level(self.counts.rounds.next());
        self.search(level, Ties::draw(rng), None);
        place(&self.top.best, &self.counts.order, &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.rounds.repeat()
    }
}

impl SelectAmong<Ranking> for PbmKlUcb {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let level = self.rate.level(self.counts.rounds.next());
        self.top.limit(self.live.terms.as_deref());
        self.search(level, Ties::draw(rng), Some(available));
        self.top.limit(None);
        place(&self.top.best, &self.counts.order, &mut out.action);
    }

    fn pass_round(&mut self) {
        self.counts.rounds.next();
    }
}

impl OnTable for PbmKlUcb {
    on_table!(PbmCounts, |policy| policy.counts);

    #[inline]
    fn changed(&mut self, item: usize) {
        self.is_seen[item] = self.counts.weighted_shows(item) > 0.0;
        self.test.forget(item);
    }

    fn pushed(&mut self) {
        self.is_seen.push(false);
        self.test.push(self.counts.n_positions());
    }

    fn index(&self, item: usize) -> Option<f64> {
        let level = self.rate.level(self.counts.rounds.coming());
        Some(if self.is_seen[item] { index(&self.counts, item, level) } else { f64::INFINITY })
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmKlUcb {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, is_seen, test, .. } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            is_seen[item] = counts.weighted_shows(item) > 0.0;
            test.forget(item);
        });
    }
}
