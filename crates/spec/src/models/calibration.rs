//! Rank-one users drawn to match a printed summary, for a paper with unpublished data.

use crate::fields::LONGEST_LIST;
use click_models::{RankOneModel, TableShape};
use confidence::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim::Streams;

/// A summary of rank-one users, and the seed of the draw. Files and pages show it instead of the
/// users' parameters, so that these are not mistaken for measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The number of rows.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 50)]
    pub items: usize,
    /// The number of columns.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 10)]
    pub positions: usize,
    /// The mean probability of the rows.
    #[schemars(range(min = 0, max = 1), example = 0.13)]
    pub mu: f64,
    /// The largest probability.
    #[schemars(range(min = 0, max = 1), example = 0.85)]
    pub p_max: f64,
    /// The seed of the draw.
    #[schemars(example = 1)]
    pub seed: u64,
}

impl Calibration {
    /// Draws users to match the summary.
    ///
    /// # Errors
    ///
    /// [`RankOneModel::calibrated`] refuses it.
    pub(super) fn users(&self) -> Result<RankOneModel, String> {
        let probability = |value| Probability::new(value).map_err(|error| error.to_string());
        let (mu, p_max) = (probability(self.mu)?, probability(self.p_max)?);
        let shape = TableShape::new(self.items, self.positions);
        let mut stream = Streams::new(self.seed).instance(0);
        let users = shape.and_then(|shape| RankOneModel::calibrated(shape, mu, p_max, &mut stream));
        users.map_err(|error| error.to_string())
    }
}
