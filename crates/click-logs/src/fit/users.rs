//! Users of a fitted model for simulations: every parameter is a probability, with defaults for
//! unknown parameters.
//!
//! Users have the positions of the log, in its order. The first one need not be the most examined
//! one; examination relative to it then exceeds 1, and is scaled for users of a position-based
//! model so that the most examined position is always examined.

use super::models::row;
use super::{Fit, QueryFit};
use click_models::{Action, ClickModel, Ranking};
use log_reader::Counts;
use std::any::Any;

/// Users of a query: a click model. Items are in the order of the fit, positions in that of the
/// log. Users of a dependent click model have satisfaction as the reward, others clicks.
#[derive(Debug)]
pub struct Users {
    model: Box<dyn Any>,
    best: Ranking,
}

impl Users {
    pub(super) fn new<M: Any + ClickModel>(model: M) -> Self
    where
        Action<M>: Into<Ranking>,
    {
        let best = model.optimal_action().into();
        Self { model: Box::new(model), best }
    }

    /// A list with the largest mean reward.
    pub fn best_list(&self) -> &Ranking {
        &self.best
    }

    /// The click model; `None` if it has another type.
    pub fn model<M: Any>(self) -> Option<M> {
        self.model.downcast().ok().map(|model| *model)
    }
}

impl QueryFit {
    /// The log's positions, from 0, of the first `n_positions` of users: a log may leave gaps.
    pub fn first_positions(&self, n_positions: usize) -> impl Iterator<Item = usize> {
        self.positions.iter().take(n_positions.min(self.items.len()))
    }
}

impl Fit {
    /// Users of a query who see the first `n_positions` of its positions. There are at most as many
    /// positions as the query has, and as items, since a list shows an item at most once. `None`
    /// for click-through rates, if there is no position, and for a user browsing model with more
    /// lists than [`UserBrowsing`](click_models::UserBrowsing) takes.
    ///
    /// An item without data is the query's typical one. A position without data is never examined
    /// by users of a position-based or user browsing model; users of a dependent click model leave
    /// after a click at it as at any other position.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_logs::fit::{Model, Options, fit};
    /// use click_logs::{Format, Reader};
    /// use click_models::PositionBased;
    ///
    /// let log = "query,item,position,clicks,impressions\nq,a,1,100,1000\nq,a,2,200,1000\nq,b,1,50,1000\nq,b,2,100,1000\n";
    /// let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
    /// let options = Options { prior_strength: Some(0.0), ..Options::default() };
    /// let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
    /// // The second position is examined twice as often as the first.
    /// let model: PositionBased = pbm.users(&pbm.queries()[0], 2).and_then(|users| users.model()).unwrap();
    /// assert!((model.attraction()[0].get() - 0.2).abs() < 1e-9 && (model.examination()[0].get() - 0.5).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn users(&self, query: &QueryFit, n_positions: usize) -> Option<Users> {
        let users = row(self.model()).users.users()?;
        users(self, query, n_positions.min(query.items.len()))
    }

    /// The number of queries without [`users`](Self::users) of their positions in `counts`.
    pub fn queries_without_users(&self, counts: &Counts) -> usize {
        let has_users = |query: &&QueryFit| {
            counts.query(query.id).is_some_and(|counts| self.users(query, counts.n_positions()).is_some())
        };
        self.queries().iter().filter(|query| !has_users(query)).count()
    }
}

/// Continuation; 1 where it is unknown.
pub(super) fn continuation<const N: usize>(fit: &Fit, query: &QueryFit) -> [f64; N] {
    let known = fit.continuation(query);
    std::array::from_fn(|place| {
        known.get(place).map_or(1.0, |estimate| known_or(estimate.value, 1.0).clamp(0.0, 1.0))
    })
}

/// Attraction, one per item, scaled so that the most examined position is always examined.
pub(super) fn attraction(query: &QueryFit, scale: f64) -> Vec<f64> {
    let of_item = |value: f64| (known_or(value, query.typical) * scale).clamp(0.0, 1.0);
    query.items.iter().map(|item| of_item(item.attraction.value)).collect()
}

pub(super) fn known_or(value: f64, otherwise: f64) -> f64 {
    if value.is_nan() { otherwise } else { value }
}
