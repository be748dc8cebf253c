//! Models side by side: which predicted best, which of the others are as good for all that the log can tell, and which to take.
//!
//! Two models are *told apart* if their log-likelihoods differ by more than two standard errors of the difference
//! ([`Difference::is_told_apart`]). Of the models that are not told apart from the best one the simplest is taken, in the order of
//! [`Model::SIMPLEST_FIRST`], so that a choice does not hang on a margin that another seed of what is held out would turn round.
//!
//! Reference: the rule is that of one standard error in Breiman, Friedman, Olshen, Stone, *Classification and Regression Trees*, 1984,
//! section 3.4.3. Deviations: two standard errors, of the paired difference. Complexity: that of the predictions, and O(clusters) for
//! each two models.

use super::compare::{Score, clusters, scored};
use super::difference::Difference;
use super::{Fit, FitError, Model};
use crate::log::HeldOut;

/// Models, compared on what no fit has seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The best first.
    scores: Vec<Score>,
    /// Of each two of them, row less column.
    differences: Vec<Vec<Difference>>,
    by_session: bool,
    n_clusters: u64,
}

/// Which of some models to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The simplest of those alike.
    pub model: Model,
    /// The one that predicted best.
    pub best: Model,
    /// Those that are not told apart from the best, itself among them, the simplest first.
    pub alike: Vec<Model>,
}

impl Comparison {
    /// Compares fits, each of which is dropped before the next one is asked for.
    ///
    /// # Errors
    ///
    /// Those of the fits; [`FitError::NothingHeldOut`]; [`FitError::NoSessions`] where there are none and a model needs them.
    pub fn new(
        held_out: &HeldOut,
        fits: impl IntoIterator<Item = Result<Fit, FitError>>,
    ) -> Result<Self, FitError> {
        let clusters = clusters(held_out);
        let score = |fit: Result<Fit, FitError>| scored(&fit?, held_out);
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

    /// How well each model predicted, the best first.
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// By how much the model at the first place predicted better than that at the second.
    ///
    /// # Panics
    ///
    /// Where there is no such place among the [`scores`](Self::scores).
    pub fn difference(&self, first: usize, second: usize) -> Difference {
        self.differences[first][second]
    }

    /// Whether standard errors are clustered by session; else by cell, a (query, item, position).
    pub fn is_by_session(&self) -> bool {
        self.by_session
    }

    /// Sessions, or cells, that were held out.
    pub fn n_clusters(&self) -> u64 {
        self.n_clusters
    }

    /// Which of the models that pass to take; none if none of them was compared.
    pub fn choice(&self, passes: impl Fn(Model) -> bool) -> Option<Choice> {
        let mut candidates = (0..self.scores.len()).filter(|&place| passes(self.scores[place].model));
        let best = candidates.next()?;
        let rest = candidates.filter(|&place| !self.differences[best][place].is_told_apart());
        let mut alike: Vec<Model> =
            [best].into_iter().chain(rest).map(|place| self.scores[place].model).collect();
        alike.sort_by_key(|model| Model::SIMPLEST_FIRST.iter().position(|other| other == model));
        Some(Choice { model: alike[0], best: self.scores[best].model, alike })
    }
}
