//! Score tests within strata: whether a response depends on a feature among rows that are alike.
//!
//! Within a stratum of `m` rows, `z` and `y` less their means have the sums `S_zz`, `S_zy` and
//! `S_yy`. If rows could change their responses within a stratum, `U = sum S_zy` would have mean 0
//! and variance `V = sum S_zz S_yy / (m - 1)`: no model of responses is needed.
//!
//! Rows of one cluster may depend on each other, or be the same rows twice. The sums of `z (y - b
//! z)` by cluster, with the slope `b = U / sum S_zz`, have a sum of squares that is `V` if they do
//! not. Without the slope, a strong dependence would count as dispersion; where a group has few
//! clusters, a slope would fit these, so that a chance of the clusters would count as dependence.
//!
//! Reference: Cox, Hinkley, *Theoretical statistics*, 1974, chapter 6. Deviations: none. Numerics:
//! sums. Complexity: O(rows).

use statrs::distribution::{ChiSquared, ContinuousCDF as _};

/// Variances below this are rounding errors.
const NO_VARIANCE: f64 = 1e-9;

/// The score of one feature over some strata.
#[derive(Debug, Clone, Copy, Default)]
pub struct FeatureScore {
    /// `U`.
    pub sum: f64,
    /// `V`.
    pub variance: f64,
    s_zz: f64,
    /// `S_yy` of the strata whose features differ.
    s_yy: f64,
    /// Sums over clusters of squares and products of their sums of `z y` and `z^2`.
    clusters: [f64; 3],
}

/// Sums of a cluster: of `z y`, and of `z^2`.
pub type Cluster = [f64; 2];

impl FeatureScore {
    /// Adds a stratum with the feature and the response of each row, and the number of its cluster.
    pub fn add(&mut self, rows: &[([f64; 2], usize)], clusters: &mut [Cluster]) {
        let n = rows.len() as f64;
        let [mean_z, mean_y] = rows.iter().fold([0.0; 2], |[z, y], (row, _)| [z + row[0], y + row[1]]);
        let [mean_z, mean_y] = [mean_z / n, mean_y / n];
        let (mut s_zz, mut s_yy) = (0.0, 0.0);
        for (row, cluster) in rows {
            let [z, y] = [row[0] - mean_z, row[1] - mean_y];
            s_zz += z * z;
            s_yy += y * y;
            self.sum += z * y;
            let [product, square] = &mut clusters[*cluster];
            (*product, *square) = (*product + z * y, *square + z * z);
        }
        let variance = s_zz * s_yy / (n - 1.0).max(1.0);
        self.variance += variance;
        self.s_zz += s_zz;
        self.s_yy += if variance > 0.0 { s_yy } else { 0.0 };
    }

    /// Adds a cluster of which no more rows follow.
    pub fn close(&mut self, [product, square]: Cluster) {
        self.clusters[0] += product * product;
        self.clusters[1] += product * square;
        self.clusters[2] += square * square;
    }

    /// `sum (y - b z) z` of the clusters, squared and summed; with `b = 0` if clusters are few.
    fn dispersion(&self, are_few: bool) -> f64 {
        let slope = if self.s_zz > 0.0 && !are_few { self.sum / self.s_zz } else { 0.0 };
        self.clusters[0] - 2.0 * slope * self.clusters[1] + slope * slope * self.clusters[2]
    }

    /// How many times the variance of independent rows the clusters have; at least 1.
    pub fn overdispersion(&self) -> f64 {
        if self.variance > NO_VARIANCE { (self.dispersion(false) / self.variance).max(1.0) } else { 1.0 }
    }

    /// `U` in standard errors of independent rows; `None` if nothing varies.
    pub fn errors(&self) -> Option<f64> {
        (self.variance > NO_VARIANCE).then(|| self.sum / confidence::math::sqrt(self.variance))
    }
}

/// The chi-square statistic of the scores of several groups, with one overdispersion for all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChiSquare {
    statistic: f64,
    freedom: u32,
    dispersion: f64,
    variance: f64,
    /// Sum of squares of responses in strata whose features differ.
    pub(crate) s_yy: f64,
}

impl ChiSquare {
    /// A group counts if its strata have at least this sum of squares of responses.
    const LEAST: f64 = 3.0;

    /// Adds a group, whose clusters may be too few for a slope.
    pub(crate) fn add(&mut self, score: &FeatureScore, are_few: bool) {
        self.dispersion += score.dispersion(are_few);
        self.variance += score.variance;
        self.s_yy += score.s_yy;
        if let Some(errors) = score.errors().filter(|_| score.s_yy >= Self::LEAST) {
            self.statistic += errors * errors;
            self.freedom += 1;
        }
    }

    /// Statistic, degrees of freedom, overdispersion, which is at least `least`, and the
    /// probability of a larger statistic; `None` without a group that counts.
    pub(crate) fn test(&self, least: f64) -> Option<(f64, u32, f64, f64)> {
        let Self { statistic, freedom, dispersion, variance, .. } = *self;
        let chi_square = ChiSquared::new(f64::from(freedom)).ok()?;
        let overdispersion = (dispersion / variance).max(least);
        Some((statistic, freedom, overdispersion, chi_square.sf(statistic / overdispersion)))
    }
}
