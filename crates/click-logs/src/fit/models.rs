//! The fitted models: one row and one file for each.
//!
//! The file of a model has its estimator or names the one that it shares, its predictions and its
//! users. The names and parameters of all models are in [`documents::parameters`].

mod cascade;
mod ccm;
mod ctr_document;
mod ctr_global;
mod ctr_rank;
mod dbn;
mod dcm;
mod pbm;
mod sdbn;
mod ubm;

use super::Purpose;
use super::fitted::{Fit, QueryFit};
use super::options::Options;
use super::predict::{List, Prediction, inside};
use super::users::Users;
use click_models::Clicks;
use documents::parameters::Model;
use log_reader::{Counts, Id, Positions, Sessions};

/// A fitted model.
pub(crate) struct Row {
    pub(crate) model: Model,
    /// Fits the model.
    pub(super) fit: fn(&Counts, &Sessions, &Options, Purpose<'_>) -> Fit,
    predicts: Predicts,
    pub(crate) users: Option<OfQuery>,
}

/// Users of a query who see its first positions.
type OfQuery = fn(&Fit, &QueryFit, usize) -> Option<Users>;

/// How a model predicts clicks.
enum Predicts {
    /// The probability of a click on an item at a position, whatever the rest of the list.
    Alone(fn(&Fit, Option<&QueryFit>, Id, usize) -> f64),
    /// The probabilities of all clicks on a list.
    Lists(fn(&List<'_>, &mut Prediction)),
}

/// From the simplest model on, by its parameters: one rate; a rate per position; a rate per item;
/// attraction per item; then with three numbers for the site, a number per position (first the PBM,
/// which needs no sessions), a number per pair of positions, and a second number per item, without
/// and with a number for the site.
static SIMPLEST_FIRST: [&Row; 10] = [
    &ctr_global::ROW,
    &ctr_rank::ROW,
    &ctr_document::ROW,
    &cascade::ROW,
    &ccm::ROW,
    &pbm::ROW,
    &dcm::ROW,
    &ubm::ROW,
    &sdbn::ROW,
    &dbn::ROW,
];

/// The place of a model among all, from the simplest on.
pub(super) fn simplicity(model: Model) -> usize {
    SIMPLEST_FIRST.iter().position(|row| row.model == model).unwrap_or(0)
}

pub(crate) fn row(model: Model) -> &'static Row {
    SIMPLEST_FIRST[simplicity(model)]
}

impl Fit {
    /// The probability of a click on an item at a position, for models in which it does not depend
    /// on the rest of the list.
    pub fn click_probability(&self, query: Id, item: Id, position: usize) -> Option<f64> {
        match row(self.model()).predicts {
            Predicts::Alone(click) => Some(inside(click(self, self.query(query), item, position))),
            Predicts::Lists(_) => None,
        }
    }

    /// Probabilities of clicks on a list without gaps, which begins at the first position. `clicks`
    /// are the observed clicks; every conditional probability depends on those above its position.
    pub fn predict(&self, query: Id, items: &[Id], clicks: Clicks, out: &mut Prediction) {
        self.predict_at(query, items, Positions::first(items.len()), clicks, out);
    }

    /// The same of a list whose items stand at these positions, as many as there are items.
    pub fn predict_at(
        &self,
        query: Id,
        items: &[Id],
        positions: Positions,
        clicks: Clicks,
        out: &mut Prediction,
    ) {
        out.conditional.clear();
        out.marginal.clear();
        let known = self.query(query);
        match row(self.model()).predicts {
            Predicts::Alone(click) => {
                let probability = |(position, &item)| inside(click(self, known, item, position));
                out.conditional.extend(positions.iter().zip(items).map(probability));
                out.marginal.extend_from_slice(&out.conditional);
            }
            Predicts::Lists(predict) => predict(&List { fit: self, known, items, clicks }, out),
        }
    }

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
    /// use log_reader::{Format, Reader};
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
        let users = row(self.model()).users?;
        users(self, query, n_positions.min(query.items.len()))
    }

    /// The number of queries whose best list is not found soon enough for [`users`](Self::users).
    pub(crate) fn n_not_found(&self, counts: &Counts) -> usize {
        if self.model() == Model::Ubm { ubm::n_not_found(self, counts, ubm::MOST_TRIED) } else { 0 }
    }
}

#[cfg(test)]
mod tests;
