//! The click chain model (CCM): whether the user scans on depends on the click and on the item.
//!
//! A user who examines a position that shows item `u` clicks with probability `attraction[u]`. The
//! user then examines the next position with probability `continuation[0]` after no click, and with
//! `continuation[1] (1 - attraction[u]) + continuation[2] attraction[u]` after a click. The learner
//! observes the clicks, but not where the user stopped.
//!
//! Reference: Guo, Liu, Kannan, Minka, Taylor, Wang, Faloutsos, *Click chain model in web search*,
//! WWW 2009. Deviations: ties and the values 0 and 1 are allowed; the relevance `r_u` is a number,
//! not a distribution.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `attraction` | `r_u` | `n_items` | probability of a click, given examination |
//! | `continuation` | `alpha_1, alpha_2, alpha_3` | 3 | probability |
//!
//! The best list is exact (`chain`): an examined item earns `a_u` clicks, and the user continues
//! with probability `(1 - a_u) alpha_1 + a_u (alpha_2 (1 - a_u) + alpha_3 a_u)`. Numerics: two
//! uniform draws per position. Complexity: O(`n_positions`) per round.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickChain, ClickModel};
//!
//! // No user continues after a click on the first item; all do after one on an item that never attracts.
//! let users = ClickChain::from_values(&[1.0, 0.5], [1.0, 1.0, 0.0], 2)?;
//! // The second item first: .5 + (.5 + .5 * .5) * 1
//! assert!((users.optimal_reward() - 1.25).abs() < 1e-15);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::chain::Chain;
use crate::model::shows_lists;
use crate::parameters::parameters;
use crate::{ClickModel, Clicks, ClicksOnly, Error, ListClicks, ListShape, Ranking};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Users who continue depending on what they clicked on. The reward is the number of clicks.
///
/// Saved as its parameters and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct ClickChain {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Probability of a click on an examined item, one per item.
    #[field]
    attraction: Vec<Probability>,
    /// Probability that the user examines the next position: after no click, after a click on an
    /// item that never attracts, after one on an item that always attracts.
    #[field(copy)]
    continuation: [Probability; 3],
    chain: Chain,
    best: (Ranking, f64),
}

parameters! {
    #[serde(deny_unknown_fields)]
    ClickChain as users {
        attraction: Vec<Probability> = users.attraction,
        continuation: [Probability; 3] = users.continuation,
        n_positions: usize = users.shape.n_positions(),
    } by Self::new(attraction, continuation, n_positions)
}

impl ClickChain {
    /// Users with these attraction probabilities, one per item, these continuation probabilities
    /// (after no click, after a click on an item that never attracts, after one on an item that
    /// always attracts), and lists of `n_positions`.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`].
    pub fn new(
        attraction: Vec<Probability>,
        continuation: [Probability; 3],
        n_positions: usize,
    ) -> Result<Self, Error> {
        let shape = ListShape::new(attraction.len(), n_positions)?;
        let [skip, _, _] = continuation.map(Probability::get);
        let rewards: Vec<f64> = attraction.iter().map(|attraction| attraction.get()).collect();
        let goes_on = |&a: &f64| (1.0 - a) * skip + a * after_click(continuation, a);
        let chain = Chain { continuations: rewards.iter().map(goes_on).collect(), rewards };
        let best = chain.best_list(shape);
        Ok(Self { shape, attraction, continuation, chain, best })
    }

    /// [`ClickChain::new`] from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`ClickChain::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(
        attraction: &[f64],
        continuation: [f64; 3],
        n_positions: usize,
    ) -> Result<Self, Error> {
        let checked = Error::probabilities("continuation", &continuation)?;
        Self::new(
            Error::probabilities("attraction", attraction)?,
            [checked[0], checked[1], checked[2]],
            n_positions,
        )
    }
}

/// Probability of continuing after a click on an item with this attraction.
fn after_click(continuation: [Probability; 3], attraction: f64) -> f64 {
    continuation[1].get() * (1.0 - attraction) + continuation[2].get() * attraction
}

impl ClickModel for ClickChain {
    type Interaction = ClicksOnly;
    shows_lists!(|users| users.shape, users.best);

    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> ListClicks {
        let mut clicks = Clicks::new(action.len());
        let mut is_there = true;
        for (position, item) in action.by_position() {
            // Draw even after the user has left, so that every policy meets the same user in the
            // next round.
            let (click, patience) = (rng.random::<f64>(), rng.random::<f64>());
            let attraction = self.attraction[item.index()].get();
            let is_click = click < attraction;
            if is_there && is_click {
                clicks = clicks.with(position);
            }
            let goes_on = if is_click {
                after_click(self.continuation, attraction)
            } else {
                self.continuation[0].get()
            };
            is_there = is_there && patience < goes_on;
        }
        ListClicks { clicks }
    }

    #[inline]
    fn expected_reward(&self, action: &Ranking) -> f64 {
        self.chain.value(action)
    }
}
