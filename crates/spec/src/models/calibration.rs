//! Rank-one users drawn to match a printed summary, for a paper with unpublished data.

use crate::fields::read_size;
use click_models::{RankOneModel, TableShape};
use confidence::Probability;
use documents::toml_reader::{Error, Field, Table, all};
use serde::Serialize;
use sim::Streams;

/// A summary of rank-one users, and the seed of the draw. Files and pages show it instead of the
/// users' parameters, so that these are not mistaken for measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibration {
    /// Number of rows.
    pub items: usize,
    /// Number of columns.
    pub positions: usize,
    /// Mean probability of the rows.
    pub mu: f64,
    /// Largest probability.
    pub p_max: f64,
    /// Seed of the draw.
    pub seed: u64,
}

impl Calibration {
    /// Reads a summary, and draws users to match it.
    ///
    /// # Errors
    ///
    /// The field is not a summary, or [`RankOneModel::calibrated`] refuses it.
    pub(super) fn read(field: &Field<'_>) -> Result<(Self, RankOneModel), Error> {
        let table: Table<'_> = field.get()?;
        let (items, positions, mu, p_max, seed, ()) = all((
            read_size(&table, "items"),
            read_size(&table, "positions"),
            table.required::<Probability>("mu"),
            table.required::<Probability>("p_max"),
            table.required("seed"),
            table.finish(),
        ))?;
        let users = TableShape::new(items, positions).and_then(|shape| {
            RankOneModel::calibrated(shape, mu, p_max, &mut Streams::new(seed).instance(0))
        });
        let users = users.map_err(|error| field.error(error.to_string()))?;
        Ok((Self { items, positions, mu: mu.get(), p_max: p_max.get(), seed }, users))
    }
}
