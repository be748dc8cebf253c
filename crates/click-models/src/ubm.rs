//! The user browsing model (UBM): examination depends on the position and on the position of the
//! last click above.
//!
//! A position `l` that shows item `u` is clicked with probability
//! `attraction[u] examination[l][j]`: `j = 0` without a click above, `j = k + 1` if the last click
//! was at position `k < l`. The learner observes the clicks.
//!
//! Reference: Dupret, Piwowarski, *A user browsing model to predict search engine click data from
//! past observations*, SIGIR 2008, eq. (3). Deviations: examination is indexed by the position of
//! the last click instead of the distance to it, which is the same; ties and the values 0 and 1 are
//! allowed.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `attraction` | `alpha_u` | `n_items` | probability of a click, given examination |
//! | `examination` | `gamma_{r d}` | rows of 1, 2, .., `n_positions` | probability |
//!
//! Expected clicks are a forward pass over the distribution of the last click. No order of the
//! items is the best in general: the best list, the first one in lexicographic order, is found by
//! branch and bound (`best_list`) at construction. Instances are refused if this takes more than
//! 10,000,000 beginnings of lists: none with up to 10^6 lists, and few with ten positions whose
//! examination falls from the top and with the distance to the last click.
//!
//! Numerics: one uniform draw per position. Complexity: O(`n_positions`) per round,
//! O(`n_positions`^2) per expected reward.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, UserBrowsing};
//!
//! // Everybody examines the first position; the second one only after a click.
//! let users = UserBrowsing::from_values(&[0.5, 0.4], &[&[1.0], &[0.0, 1.0]])?;
//! // .5 + .5 * .4
//! assert!((users.optimal_reward() - 0.7).abs() < 1e-15);
//! # Ok::<(), click_models::Error>(())
//! ```

mod best_list;

use crate::model::shows_lists;
use crate::parameters::parameters;
use crate::{ClickModel, Clicks, ClicksOnly, Error, ItemId, ListClicks, ListShape, Ranking};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Users whose examination depends on their last click. The reward is the number of clicks.
///
/// Saved as its parameters and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(get(doc_template = "{}"))]
pub struct UserBrowsing {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Probability of a click on an examined item, one per item.
    attraction: Vec<Probability>,
    /// Probability that a position is examined: a row for every position, without a click above,
    /// and for a last click at each position above.
    examination: Vec<Vec<Probability>>,
    #[field(skip)]
    best: (Ranking, f64),
    /// Beginnings of lists that the search for the best list has tried, in place of time; at most
    /// [`MAX_BEGINNINGS`](Self::MAX_BEGINNINGS).
    beginnings: u64,
}

parameters! {
    #[serde(deny_unknown_fields)]
    UserBrowsing as users {
        attraction: Vec<Probability> = users.attraction,
        examination: Vec<Vec<Probability>> = users.examination,
    } by Self::new(attraction, examination)
}

impl UserBrowsing {
    /// A search that takes more beginnings of lists than this, about a second, is given up.
    pub const MAX_BEGINNINGS: u64 = best_list::MAX_BEGINNINGS;

    /// Users with these attraction probabilities, one per item, and these examination
    /// probabilities: a row for every position from the top down, which has the probability without
    /// a click above, and then one for a last click at each position above.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`], [`Error::NotATriangle`], and [`Error::SearchTooLong`].
    pub fn new(attraction: Vec<Probability>, examination: Vec<Vec<Probability>>) -> Result<Self, Error> {
        let shape = ListShape::new(attraction.len(), examination.len())?;
        for (position, row) in examination.iter().enumerate() {
            if row.len() != position + 1 {
                return Err(Error::NotATriangle { position, found: row.len() });
            }
        }
        let mut users =
            Self { shape, attraction, examination, best: (Ranking::default(), 0.0), beginnings: 0 };
        (users.best, users.beginnings) = best_list::best_list(&users)
            .ok_or(Error::SearchTooLong { n_items: shape.n_items(), n_positions: shape.n_positions() })?;
        Ok(users)
    }

    /// [`UserBrowsing::new`] from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`UserBrowsing::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(attraction: &[f64], examination: &[&[f64]]) -> Result<Self, Error> {
        let rows = examination.iter().map(|row| Error::probabilities("examination", row));
        Self::new(Error::probabilities("attraction", attraction)?, rows.collect::<Result<_, _>>()?)
    }

    /// Adds the clicks on an item at a position to `clicks`, and moves their users to its place in
    /// the distribution of the last click.
    #[inline]
    fn click(&self, position: usize, attraction: f64, last: &mut [f64], clicks: &mut f64) {
        let mut here = 0.0;
        for (probability, examined) in last.iter_mut().zip(&self.examination[position]) {
            let click = *probability * examined.get() * attraction;
            here += click;
            *probability -= click;
        }
        last[position + 1] = here;
        *clicks += here;
    }

    /// Expected clicks on these items, from the top down.
    fn clicks_on(&self, items: &[ItemId]) -> f64 {
        // The probability that the last click above was there; the first entry: that there was
        // none.
        let mut last = [0.0; ListShape::MAX_POSITIONS + 1];
        last[0] = 1.0;
        let mut clicks = 0.0;
        for (position, item) in items.iter().enumerate() {
            self.click(position, self.attraction[item.index()].get(), &mut last, &mut clicks);
        }
        clicks
    }
}

impl ClickModel for UserBrowsing {
    type Interaction = ClicksOnly;
    shows_lists!(|users| users.shape, users.best);

    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> ListClicks {
        let mut clicks = Clicks::new(action.len());
        let mut last_click = 0;
        for (position, item) in action.by_position() {
            let examined = self.examination[position][last_click].get();
            if rng.random::<f64>() < examined * self.attraction[item.index()].get() {
                clicks = clicks.with(position);
                last_click = position + 1;
            }
        }
        ListClicks { clicks }
    }

    fn expected_reward(&self, action: &Ranking) -> f64 {
        self.clicks_on(action.as_slice())
    }
}
