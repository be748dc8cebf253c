//! By how much one model predicted better than another, and how sure that is.
//!
//! Both models are asked about the same impressions, so that what is hard to predict for both cancels. Impressions of one session depend
//! on each other, and so do errors of a fit in one cell; what varies independently is the *cluster*, a session, or a cell where there are
//! no sessions. With `d` the difference of the log-likelihoods of a cluster, `m` its impressions and `R = sum d / sum m`, the standard
//! error of `R` is `sqrt(G / (G - 1) sum (d - R m)^2) / sum m` for `G` clusters. It is that of the held-out clusters as a sample, for
//! these two fits: that fits to another part of the log would be others is not in it.
//!
//! Reference: Cochran, *Sampling Techniques*, 3rd edition, 1977, section 6.4 (the variance of a ratio). Deviations: none. Numerics: two
//! passes. Complexity: O(clusters that differ).

/// Clusters that are alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    /// How many.
    pub(super) times: u64,
    /// Impressions of each.
    pub(super) impressions: u64,
}

/// By how much one model predicted better than another what no fit has seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Of the log-likelihoods of an impression, in nats; positive if the first model is the better one.
    pub mean: f64,
    /// The standard error; none with a single session, or cell.
    pub standard_error: Option<f64>,
}

impl Difference {
    /// Differences of more standard errors are taken for real.
    pub const TOLD_APART_AT: f64 = 2.0;

    /// The difference from log-likelihoods of clusters, each by two models.
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
        Self { mean, standard_error: (n_clusters > 1.0).then_some(standard_error) }
    }

    /// Whether it is larger than [`TOLD_APART_AT`](Self::TOLD_APART_AT) standard errors.
    pub fn is_told_apart(&self) -> bool {
        self.standard_error.is_some_and(|error| self.mean.abs() > Self::TOLD_APART_AT * error)
    }
}
