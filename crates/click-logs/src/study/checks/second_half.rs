//! The second half of the log against a fit of the first.
//!
//! Only queries that both halves show are predicted, so a log that is sorted by query has nothing
//! to compare. Lists that only the second half shows are predicted from their items.
//!
//! The standard error of the difference is that of the mean residual of a session, once for the
//! sessions of the second half, and once for as many as the fit has. The variance of a residual is
//! the larger one of its mean square and of what the fit says with independent clicks: a half
//! without clicks has equal residuals, and few sessions may.
//!
//! Deviations: none. Numerics: sums. Complexity: a fit to half of the sessions, without errors, and
//! predictions of the others.

use crate::fit::{Fit, FitError, Model, Options, Prediction, compare, fit_values};
use click_models::Clicks;
use confidence::math::sqrt;
use log_reader::{Counts, Part, Sessions};
use serde::Serialize;

/// A change that matters.
const CHANGE: f64 = 0.05;
/// In standard errors: honest small logs exceed two in one of twenty, and there are other checks.
const ERRORS: f64 = 2.5;

/// Clicks of the second half of the log, per 1,000 lists, beside their prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondHalf {
    /// The model that is fitted to the first half.
    pub model: Model,
    /// Sessions of the second half that are predicted.
    pub sessions: u64,
    /// Predicted clicks.
    pub predicted: f64,
    /// Observed clicks.
    pub observed: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Mean log-likelihood of an impression under the model, in nats, given the clicks above.
    pub log_likelihood: f64,
    /// The same under click-through rates of items in the first half.
    pub log_likelihood_of_rates: f64,
}

impl SecondHalf {
    pub(super) fn new(whole: &Fit, sessions: &Sessions, options: &Options) -> Result<Option<Self>, FitError> {
        let Some([first, second]) = sessions.halves() else { return Ok(None) };
        let second = second.sessions.restricted(&|query| first.sessions.query(query).is_some());
        if second.is_empty() {
            return Ok(None);
        }
        // Sampling moves the predictions further.
        let options = Options { em: options.em_of_priors(), ..*options };
        let fit = fit_values(whole.model(), Some(whole), &first.counts, &first.sessions, &options)?;
        let rates = fit_values(Model::CtrDocument, None, &first.counts, &first.sessions, &options)?;
        let (mut predicted, mut clicks, mut squares, mut variance) = (0.0, 0.0, 0.0, 0.0);
        let mut prediction = Prediction::default();
        for query in second.queries() {
            for list in query.lists() {
                let (items, positions) = (list.items, list.positions);
                fit.predict_at(query.id(), items, positions, Clicks::new(items.len()), &mut prediction);
                let expected: f64 = prediction.marginal.iter().sum();
                let of_list: f64 = prediction.marginal.iter().map(|p| p * (1.0 - p)).sum();
                for pattern in list.patterns {
                    let (times, observed) = (pattern.sessions as f64, f64::from(pattern.clicks.count()));
                    predicted += times * expected;
                    clicks += times * observed;
                    squares += times * (observed - expected) * (observed - expected);
                    variance += times * of_list;
                }
            }
        }
        let [n_first, n_second] = [first.sessions.n_sessions() as f64, second.n_sessions() as f64];
        let variance = squares.max(variance) / n_second;
        // Sessions are compared without counts.
        let second = Part { counts: Counts::default(), sessions: second };
        Ok(Some(Self {
            model: whole.model(),
            sessions: second.sessions.n_sessions(),
            predicted: 1000.0 * predicted / n_second,
            observed: 1000.0 * clicks / n_second,
            standard_error: 1000.0 * sqrt(variance * (1.0 / n_first + 1.0 / n_second)),
            log_likelihood: compare(&fit, &second)?.log_likelihood,
            log_likelihood_of_rates: compare(&rates, &second)?.log_likelihood,
        }))
    }

    /// Clicks above the prediction, relative to it.
    pub fn change(&self) -> f64 {
        self.observed / self.predicted - 1.0
    }

    /// Whether the change is not chance, and matters.
    pub fn is_changed(&self) -> bool {
        let surely = (self.observed - self.predicted).abs() > ERRORS * self.standard_error;
        surely && self.change().abs() > CHANGE
    }
}
