//! Users of a fitted model for simulations: every parameter is a probability, with defaults for
//! unknown parameters.
//!
//! Users have the positions of the log, in its order. The first one need not be the most examined
//! one; examination relative to it then exceeds 1, and is scaled for users of a position-based
//! model so that the most examined position is always examined.

use super::fitted::{Fit, QueryFit};
use click_models::{Action, ClickModel, Ranking};
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
