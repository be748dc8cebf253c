//! UCB on an observed prefix: the items of largest mean plus radius, from the top position down.
//!
//! At round `t` an item with `n` observed displays and mean `mu` has the index `mu + sqrt(scale ln t / n)`; an item that
//! was never observed comes first. RSF-UCB is `scale = 2/3`.
//!
//! Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-UCB. Deviations: none (the paper writes `mu_i`, `N_i` in
//! the index of arm k; `N` counts observed displays only).
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `mean` | `mu^_k` | `n_items` | probability |
//! | `width` | `sqrt(2 / (3 N_k))` | `n_items` | per root of a nat |
//!
//! Numerics: an index is a pure function of the counts. Complexity: O(`n_items`) a round.
//!
//! # Examples
//!
//! Item 0 with 5 clicks in 10 displays has the index `1/2 + sqrt(ln t / 15)`, and item 1 with none in 1 has `sqrt(2 ln t / 3)`: they
//! cross at `t = 2.2`.
//!
//! ```
//! use click_models::{Clicks, ItemId, ListShape, PrefixFeedback, Ranking};
//! use policies::{Decision, PrefixUcb, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! // One display of one item at the only position.
//! let one = |item, clicked| {
//!     let action: Ranking = [ItemId::new(item)].into_iter().collect();
//!     let clicks = if clicked { Clicks::new(1).with(0) } else { Clicks::new(1) };
//!     (Decision { action, note: () }, PrefixFeedback { clicks })
//! };
//! let mut policy = PrefixUcb::rsf(ListShape::new(2, 1)?);
//! for display in 0..10 {
//!     let (decision, feedback) = one(0, display < 5);
//!     policy.update(&decision, &feedback);
//! }
//! for _ in 0..1 {
//!     let (decision, feedback) = one(1, false);
//!     policy.update(&decision, &feedback);
//! }
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let shown: Vec<usize> = (1..=3)
//!     .map(|_round| {
//!         policy.select(&mut rng, &mut decision);
//!         decision.action[0].index()
//!     })
//!     .collect();
//! assert_eq!(shown, [0, 0, 1]);
//! # Ok::<(), click_models::Error>(())
//! ```

use super::counts::{PrefixCounts, show};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{ListShape, ObservedPrefix, Ranking};
use confidence::{NonNegative, Rate};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// UCB on an observed prefix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PrefixUcb {
    scale: NonNegative,
    counts: PrefixCounts,
    #[serde(skip)]
    mean: Vec<f64>,
    #[serde(skip)]
    width: Vec<f64>,
    #[serde(skip)]
    top: TopL,
}

#[derive(Deserialize)]
struct Saved {
    scale: NonNegative,
    counts: PrefixCounts,
}

impl PrefixUcb {
    /// RSF-UCB: the radius `sqrt(2 ln t / (3 n))`.
    #[expect(clippy::missing_panics_doc, reason = "2/3 is not negative")]
    pub fn rsf(shape: ListShape) -> Self {
        let scale = NonNegative::new(2.0 / 3.0).expect("a positive constant");
        Self::from(Saved { scale, counts: PrefixCounts::new(shape) })
    }
}

impl From<Saved> for PrefixUcb {
    fn from(Saved { scale, counts }: Saved) -> Self {
        let (mean, width) = (0..counts.n_items()).map(|item| mean_and_width(&counts, scale, item)).unzip();
        Self { scale, mean, width, top: TopL::new(counts.n_positions()), counts }
    }
}

#[inline]
fn mean_and_width(counts: &PrefixCounts, scale: NonNegative, item: usize) -> (f64, f64) {
    if counts.shows(item) == 0 {
        return (f64::INFINITY, 0.0);
    }
    let shows = counts.shows(item) as f64;
    (counts.clicks(item) as f64 / shows, (scale.get() / shows).sqrt())
}

impl Select<Ranking> for PrefixUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let root_of_log = Rate::LOG.level(self.counts.next_round()).sqrt();
        let ties = Ties::draw(rng);
        self.top.clear();
        for (item, (mean, width)) in (0_u32..).zip(self.mean.iter().zip(&self.width)) {
            self.top.offer(item, mean + width * root_of_log, ties);
        }
        show(self.top.best(), &mut out.action);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { scale, counts, mean, width, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            (mean[item], width[item]) = mean_and_width(counts, *scale, item);
        });
    }
}
