//! Scores of models on held-out sessions or impressions.
//!
//! Let `p` be the probability that a model gives to the observed outcome of an impression (a click
//! or none), given the clicks above it. The *log-likelihood* is the mean of `ln p` over
//! impressions. *Perplexity* at a rank is `exp(-mean ln p)` over the impressions at this rank, with
//! `p` given the list alone. *Conditional perplexity* is the same with `p` given the clicks above.
//! A perfect prediction has perplexity 1, a coin toss 2. The perplexity of all ranks is the
//! unweighted mean over ranks.
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 5.
//! Deviations: the log-likelihood is for each impression, where the book has it for each session.
//!
//! | here | meaning |
//! |---|---|
//! | [`Score::log_likelihood`] | nats an impression |
//! | [`Score::perplexity`], [`Score::conditional_perplexity`] | numbers of at least 1; below 2 if a model is better than a coin toss |
//!
//! Numerics: probabilities are within 1e-6 and 1 - 1e-6. Complexity: that of the predictions.

use super::difference::Cluster;
use super::predict::Prediction;
use super::{Fit, FitError, Model};
use confidence::math::ln;
use log_reader::{Id, ListSessions, Names, Part};
use serde::{Deserialize, Serialize};

/// How well a model predicted held-out data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The model.
    pub model: Model,
    /// Number of impressions predicted.
    pub impressions: u64,
    /// Number of them by rank, from the top.
    pub impressions_by_rank: Vec<u64>,
    /// Mean log-likelihood of an impression, given the clicks above it, in nats.
    pub log_likelihood: f64,
    /// Perplexity given the list alone; mean over ranks.
    pub perplexity: f64,
    /// Perplexity given the list alone by rank, from the top; NaN for a rank that was not shown.
    pub perplexity_by_rank: Vec<f64>,
    /// Perplexity given the clicks above; mean over ranks.
    pub conditional_perplexity: f64,
    /// Perplexity given the clicks above by rank; NaN for a rank that was not shown.
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
    /// Adds impressions, and returns their log-likelihood given the clicks above.
    fn add(&mut self, position: usize, clicked: bool, times: u64, [conditional, marginal]: [f64; 2]) -> f64 {
        if self.0.len() <= position {
            self.0.resize(position + 1, Rank::default());
        }
        let log_probability = |p: f64| times as f64 * ln(if clicked { p } else { 1.0 - p });
        let rank = &mut self.0[position];
        rank.impressions += times;
        let log_likelihood = log_probability(conditional);
        rank.conditional += log_likelihood;
        rank.marginal += log_probability(marginal);
        log_likelihood
    }

    fn score(&self, model: Model) -> Result<Score, FitError> {
        let impressions: u64 = self.0.iter().map(|rank| rank.impressions).sum();
        if impressions == 0 {
            return Err(FitError::NothingHeldOut);
        }
        let by_rank = |log_likelihood: fn(&Rank) -> f64| -> Vec<f64> {
            let perplexity = |rank: &Rank| libm::exp(-log_likelihood(rank) / rank.impressions as f64);
            self.0.iter().map(perplexity).collect()
        };
        let mean = |numbers: &[f64]| {
            let known = numbers.iter().filter(|number| !number.is_nan());
            known.clone().sum::<f64>() / known.count() as f64
        };
        let perplexity_by_rank = by_rank(|rank| rank.marginal);
        let conditional_by_rank = by_rank(|rank| rank.conditional);
        Ok(Score {
            model,
            impressions,
            impressions_by_rank: self.0.iter().map(|rank| rank.impressions).collect(),
            log_likelihood: self.0.iter().map(|rank| rank.conditional).sum::<f64>() / impressions as f64,
            perplexity: mean(&perplexity_by_rank),
            perplexity_by_rank,
            conditional_perplexity: mean(&conditional_by_rank),
            conditional_by_rank,
        })
    }
}

/// Scores a model on held-out sessions, or on held-out counts if there are no sessions.
///
/// # Errors
///
/// [`FitError::NothingHeldOut`]; [`FitError::NoSessions`] if the model needs sessions and there are
/// none.
pub fn compare(fit: &Fit, held_out: &Part) -> Result<Score, FitError> {
    Ok(scored(fit, held_out, |id| id)?.0)
}

/// [`compare`] on another log, whose queries and items are those of the same names. `names` are
/// those of the fit.
///
/// # Errors
///
/// As [`compare`].
pub fn score(fit: &Fit, names: &Names, log: &Part) -> Result<Score, FitError> {
    Ok(scored(fit, log, |id| names.same(id, log.counts.names()))?.0)
}

/// The score, and the log-likelihood of every cluster in the order of [`clusters`], given the
/// clicks above: of one session of the cluster, or of a whole cell. `same` is the fit's identifier.
pub(super) fn scored(
    fit: &Fit,
    held_out: &Part,
    same: impl Fn(Id) -> Id,
) -> Result<(Score, Vec<f64>), FitError> {
    let mut sums = Sums::default();
    let mut by_cluster = Vec::new();
    if held_out.sessions.is_empty() {
        for query in held_out.counts.queries() {
            let id = same(query.id());
            for cell in query.cells() {
                let p = fit.click_probability(id, same(cell.item), cell.position);
                let p = p.ok_or(FitError::NoSessions(fit.model()))?;
                let parts = [(true, cell.clicks), (false, cell.impressions - cell.clicks)];
                let of_cell = parts.map(|(clicked, times)| sums.add(cell.position, clicked, times, [p, p]));
                by_cluster.push(of_cell.iter().sum());
            }
        }
    } else {
        let mut prediction = Prediction::default();
        for query in held_out.sessions.queries() {
            let id = same(query.id());
            for list in query.lists() {
                let items: Vec<Id> = list.items.iter().map(|&item| same(item)).collect();
                let positions = list.positions;
                for pattern in list.patterns {
                    fit.predict_at(id, &items, positions, pattern.clicks, &mut prediction);
                    let add = |(place, position): (usize, usize)| {
                        let p = [prediction.conditional[place], prediction.marginal[place]];
                        sums.add(position, pattern.clicks.get(place), pattern.sessions, p)
                    };
                    let of_all: f64 = positions.iter().enumerate().map(add).sum();
                    by_cluster.push(of_all / pattern.sessions as f64);
                }
            }
        }
    }
    Ok((sums.score(fit.model())?, by_cluster))
}

/// The clusters of the held-out data: the impressions of a session, or of a cell if there are no
/// sessions.
pub(super) fn clusters(held_out: &Part) -> Vec<Cluster> {
    if held_out.sessions.is_empty() {
        let cells = held_out.counts.queries().flat_map(|query| query.cells());
        return cells.map(|cell| Cluster { times: 1, impressions: cell.impressions }).collect();
    }
    let lists = held_out.sessions.queries().flat_map(|query| query.lists());
    let of_list = |list: ListSessions<'_>| {
        let impressions = list.items.len() as u64;
        let patterns = list.patterns.iter();
        patterns.map(|pattern| Cluster { times: pattern.sessions, impressions }).collect::<Vec<_>>()
    };
    lists.flat_map(of_list).collect()
}
