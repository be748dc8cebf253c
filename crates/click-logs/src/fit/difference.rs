//! Difference in prediction between two models, and its standard error.
//!
//! Both models predict the same impressions, so difficulties common to both cancel. Impressions of
//! a session are dependent, and so are errors of a fit in a cell. The independent unit is the
//! *cluster*: a session, or a cell if there are no sessions. With `d` the difference of the
//! log-likelihoods of a cluster, `m` its impressions and `R = sum d / sum m`, the standard error of
//! `R` for `G` clusters is `sqrt(G / (G - 1) sum (d - R m)^2) / sum m`. It treats the held-out
//! clusters as a sample, and the two fits as given: how much fits to another part of the log would
//! differ is not in it.
//!
//! Reference: Cochran, *Sampling Techniques*, 3rd edition, 1977, section 6.4 (the variance of a
//! ratio). Deviations: none. Numerics: two passes. Complexity: O(clusters that differ).

use documents::number::is_rounding;
use serde::{Deserialize, Serialize};

/// Equal clusters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    /// Number of clusters.
    pub(super) times: u64,
    /// Impressions of each cluster.
    pub(super) impressions: u64,
}

/// Difference in prediction between two models on the same data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Difference of the log-likelihoods per impression, in nats, or of the squared errors per
    /// session ([`Transfers`](super::Transfers)); positive if the first model is better.
    pub mean: f64,
    /// The standard error; `None` with a single session, cell, query or list, and if there is a
    /// difference that is the same in all of them: then nothing tells it.
    pub standard_error: Option<f64>,
}

impl Difference {
    /// Two models are told apart by a difference of more standard errors.
    pub const TOLD_APART_AT: f64 = 2.0;

    /// The difference from the log-likelihoods of clusters under each model.
    pub(super) fn of(clusters: &[Cluster], first: &[f64], second: &[f64]) -> Self {
        let differences =
            || clusters.iter().zip(first.iter().zip(second)).map(|(cluster, (a, b))| (cluster, a - b));
        let impressions: f64 =
            clusters.iter().map(|cluster| (cluster.times * cluster.impressions) as f64).sum();
        let mean = differences().map(|(cluster, d)| cluster.times as f64 * d).sum::<f64>() / impressions;
        let square = |(cluster, d): (&Cluster, f64)| {
            let residual = d - mean * cluster.impressions as f64;
            cluster.times as f64 * residual * residual
        };
        let squares: f64 = differences().map(square).sum();
        let n_clusters = clusters.iter().map(|cluster| cluster.times).sum::<u64>() as f64;
        let standard_error = (squares * n_clusters / (n_clusters - 1.0)).sqrt() / impressions;
        let is_told = n_clusters > 1.0 && (mean == 0.0 || !is_rounding(standard_error, mean));
        Self { mean, standard_error: is_told.then_some(standard_error) }
    }

    /// Whether the difference exceeds [`TOLD_APART_AT`](Self::TOLD_APART_AT) standard errors.
    pub fn is_told_apart(&self) -> bool {
        self.standard_error.is_some_and(|error| self.mean.abs() > Self::TOLD_APART_AT * error)
    }
}
