//! A line of the table of a policy in live use.

use crate::Handle;
use confidence::{kl_ucb_lower, kl_ucb_upper};
use policies::Tally;

/// Displays and clicks of an item that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The item.
    pub item: Handle,
    /// The position, from 0, if the policy counts positions apart; otherwise 0.
    pub kind: usize,
    /// Displays and clicks.
    pub tally: Tally,
}

impl Entry {
    /// Bounds of the probability of a click on an observed display: it lies between them with a
    /// probability of at least 0.95, by the Chernoff bound, at a number of displays that does not
    /// depend on the clicks. From 0 to 1 without displays.
    ///
    /// They are the values `q` with `n d(clicks / n, q) <= ln 40`, `d` the divergence of Bernoulli
    /// distributions and `n` the displays: [`kl_ucb_lower`] and [`kl_ucb_upper`].
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::ItemId;
    /// use live::{Entry, Handle};
    /// use policies::Tally;
    ///
    /// let item = Handle { slot: ItemId::new(0), generation: 0 };
    /// let [low, high] = Entry { item, kind: 0, tally: Tally { shows: 200, clicks: 20 } }.interval();
    /// assert!((low - 0.0522).abs() < 0.001 && (high - 0.1672).abs() < 0.001);
    /// ```
    pub fn interval(&self) -> [f64; 2] {
        interval(self.tally)
    }
}

/// The bounds of [`Entry::interval`] for these displays and clicks.
pub fn interval(Tally { shows, clicks }: Tally) -> [f64; 2] {
    /// `ln(2 / 0.05)`: each bound fails with a probability of at most 0.025.
    const LEVEL: f64 = 3.688_879_454_113_936_3;
    let mean = clicks as f64 / shows.max(1) as f64;
    [kl_ucb_lower(mean, shows as f64, LEVEL), kl_ucb_upper(mean, shows as f64, LEVEL)]
}
