//! Which model fits: on sessions, or impressions, that no fit has seen.
//!
//! With `p` the probability that a model gave to what then happened (a click, or none), given the clicks above it, the
//! *log-likelihood* is the mean of `ln p` over impressions. *Perplexity* at a rank is `exp(-mean ln p)` over the impressions
//! at this rank with `p` given the list alone, *conditional perplexity* the same with `p` given the clicks above: 1 for who
//! knows, 2 for who tosses a coin. Of all ranks: the mean over ranks, each the same weight.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 5. Deviations: the log-likelihood is
//! for each impression, where the book has it for each session.
//!
//! | here | meaning |
//! |---|---|
//! | [`Score::log_likelihood`] | nats an impression |
//! | [`Score::perplexity`], [`Score::conditional_perplexity`] | numbers from 1 on; below 2 if a model is of use |
//!
//! Numerics: probabilities are within 1e-6 and 1 - 1e-6. Complexity: that of the predictions.

use super::predict::Prediction;
use super::{Fit, FitError, Model};
use crate::log::HeldOut;
use confidence::math::ln;

/// How well a model foretold what no fit has seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The model.
    pub model: Model,
    /// Impressions that it was asked about.
    pub impressions: u64,
    /// Mean log-likelihood of an impression, given the clicks above it, in nats.
    pub log_likelihood: f64,
    /// Given the list alone; mean over ranks.
    pub perplexity: f64,
    /// The same by rank, from the top; NaN for a rank that was not shown.
    pub perplexity_by_rank: Vec<f64>,
    /// Given the clicks above; mean over ranks.
    pub conditional_perplexity: f64,
    /// The same by rank.
    pub conditional_by_rank: Vec<f64>,
}

/// Sums by rank.
#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    impressions: u64,
    conditional: f64,
    marginal: f64,
}

#[derive(Debug, Default)]
struct Sums(Vec<Rank>);

impl Sums {
    fn add(&mut self, position: usize, clicked: bool, times: u64, [conditional, marginal]: [f64; 2]) {
        if self.0.len() <= position {
            self.0.resize(position + 1, Rank::default());
        }
        let of = |p: f64| times as f64 * ln(if clicked { p } else { 1.0 - p });
        let rank = &mut self.0[position];
        rank.impressions += times;
        rank.conditional += of(conditional);
        rank.marginal += of(marginal);
    }

    fn score(&self, model: Model) -> Result<Score, FitError> {
        let impressions: u64 = self.0.iter().map(|rank| rank.impressions).sum();
        if impressions == 0 {
            return Err(FitError::NothingHeldOut);
        }
        let by_rank = |of: fn(&Rank) -> f64| -> Vec<f64> {
            self.0.iter().map(|rank| libm::exp(-of(rank) / rank.impressions as f64)).collect()
        };
        let mean = |numbers: &[f64]| {
            let shown = numbers.iter().filter(|number| !number.is_nan());
            shown.clone().sum::<f64>() / shown.count() as f64
        };
        let perplexity_by_rank = by_rank(|rank| rank.marginal);
        let conditional_by_rank = by_rank(|rank| rank.conditional);
        Ok(Score {
            model,
            impressions,
            log_likelihood: self.0.iter().map(|rank| rank.conditional).sum::<f64>() / impressions as f64,
            perplexity: mean(&perplexity_by_rank),
            perplexity_by_rank,
            conditional_perplexity: mean(&conditional_by_rank),
            conditional_by_rank,
        })
    }
}

/// Scores a model on the sessions held out, or on the counts where there are no sessions.
///
/// # Errors
///
/// [`FitError::NothingHeldOut`]; [`FitError::NoSessions`] where there are none and the model needs them.
pub fn compare(fit: &Fit, held_out: &HeldOut) -> Result<Score, FitError> {
    let mut sums = Sums::default();
    if held_out.sessions.is_empty() {
        for query in held_out.counts.queries() {
            for cell in query.cells() {
                let p = fit.click_probability(query.id(), cell.item, cell.position);
                let p = p.ok_or(FitError::NoSessions(fit.model()))?;
                for (clicked, times) in [(true, cell.clicks), (false, cell.impressions - cell.clicks)] {
                    sums.add(cell.position, clicked, times, [p, p]);
                }
            }
        }
    } else {
        let mut prediction = Prediction::default();
        for query in held_out.sessions.queries() {
            for list in query.lists() {
                for pattern in list.patterns() {
                    fit.predict(query.id(), list.items(), pattern.clicks, &mut prediction);
                    for position in 0..list.items().len() {
                        let p = [prediction.conditional[position], prediction.marginal[position]];
                        sums.add(position, pattern.clicks.get(position), pattern.sessions, p);
                    }
                }
            }
        }
    }
    sums.score(fit.model())
}
