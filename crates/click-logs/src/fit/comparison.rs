//! Comparison of models: the best one, the models that predict as well within the error, and the
//! choice among them.
//!
//! Two models are *told apart* if their log-likelihoods differ by more than two standard errors of
//! the difference ([`Difference::is_told_apart`]), and if the better one makes the held-out data at
//! least [`Comparison::LEAST_RATIO`] times as probable. The choice is the simplest of the models
//! that are not told apart from the best one, in the order of [`super::models`]. So the choice does
//! not depend on a margin that another hold-out seed would reverse.
//!
//! Standard errors treat fits as given, and are next to nothing where two differ alike in every
//! session: dependent clicks were ahead of a right cascade by 0.1 nats in all. If a fit is right,
//! another one makes the data `x` times as probable with a probability of at most `1 / x`.
//!
//! Reference: the one-standard-error rule of Breiman, Friedman, Olshen, Stone, *Classification and
//! Regression Trees*, 1984, section 3.4.3; Wasserman, Ramdas, Balakrishnan, *Universal inference*,
//! PNAS 117, 2020 (the ratio). Deviations: two standard errors, of the paired difference.
//! Complexity: that of the predictions, and O(clusters) for each pair of models.

use super::compare::{Score, clusters, scored};
use super::difference::Difference;
use super::models::simplicity;
use super::{Fit, FitError, Model};
use confidence::math::ln;
use log_reader::Part;
use serde::{Deserialize, Serialize};

/// Models compared on held-out data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The score of each model, best first.
    pub scores: Vec<Score>,
    /// Differences of each pair of models, row minus column.
    differences: Vec<Vec<Difference>>,
    /// Whether standard errors are clustered by session; otherwise by cell, a (query, item,
    /// position).
    pub by_session: bool,
    /// Number of held-out sessions or cells.
    pub n_clusters: u64,
}

/// The choice among some models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The simplest of the models that are not told apart from the best.
    pub model: Model,
    /// The model that predicted best.
    pub best: Model,
    /// The models that are not told apart from the best, including it, simplest first.
    pub alike: Vec<Model>,
}

impl Comparison {
    /// The ratio that a right fit loses by with a probability of 2.5 %, as by two standard errors.
    pub const LEAST_RATIO: f64 = 40.0;

    /// Compares fits. Each fit is dropped before the next one is requested.
    ///
    /// # Errors
    ///
    /// Errors of the fits; [`FitError::NothingHeldOut`]; [`FitError::NoSessions`] if a model needs
    /// sessions and there are none.
    pub fn new(
        held_out: &Part,
        fits: impl IntoIterator<Item = Result<Fit, FitError>>,
    ) -> Result<Self, FitError> {
        let clusters = clusters(held_out);
        let score = |fit: Result<Fit, FitError>| scored(&fit?, held_out, |id| id);
        let mut scored = fits.into_iter().map(score).collect::<Result<Vec<_>, _>>()?;
        scored.sort_by(|(a, _), (b, _)| b.log_likelihood.total_cmp(&a.log_likelihood));
        let row = |(_, first): &(Score, Vec<f64>)| {
            scored.iter().map(|(_, second)| Difference::of(&clusters, first, second)).collect()
        };
        Ok(Self {
            differences: scored.iter().map(row).collect(),
            scores: scored.into_iter().map(|(score, _)| score).collect(),
            by_session: !held_out.sessions.is_empty(),
            n_clusters: clusters.iter().map(|cluster| cluster.times).sum(),
        })
    }

    /// How much better the model at index `first` of [`scores`](Self::scores) predicted than
    /// the model at index `second`.
    ///
    /// # Panics
    ///
    /// If an index is out of range.
    pub fn difference(&self, first: usize, second: usize) -> Difference {
        self.differences[first][second]
    }

    /// The choice among the models for which `passes` is true; `None` if none of them was compared.
    pub fn choice(&self, passes: &dyn Fn(Model) -> bool) -> Option<Choice> {
        let mut candidates = (0..self.scores.len()).filter(|&place| passes(self.scores[place].model));
        let best = candidates.next()?;
        let least = ln(Self::LEAST_RATIO) / self.scores[best].impressions as f64;
        let is_apart = |of: Difference| of.is_told_apart() && of.mean.abs() >= least;
        let rest = candidates.filter(|&place| !is_apart(self.differences[best][place]));
        let mut alike: Vec<Model> =
            [best].into_iter().chain(rest).map(|place| self.scores[place].model).collect();
        alike.sort_by_key(|&model| simplicity(model));
        Some(Choice { model: alike[0], best: self.scores[best].model, alike })
    }
}
