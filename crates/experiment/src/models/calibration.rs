//! Rank-one users that were drawn to a printed summary, for want of the data.

use crate::fields::read_size;
use crate::toml_reader::{Error, Field, Table};
use click_models::{RankOneModel, TableShape};
use confidence::Probability;
use serde::Serialize;
use sim::Streams;

/// A summary, and the seed of the draw. It stands for the users wherever they are written down, so that they are not taken for
/// measured ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibration {
    /// Rows.
    pub items: usize,
    /// Columns.
    pub positions: usize,
    /// Average of the rows.
    pub mu: f64,
    /// Largest probability.
    pub p_max: f64,
    /// What the rows are drawn from.
    pub seed: u64,
}

impl Calibration {
    /// The summary that a field gives, and users drawn to it.
    ///
    /// # Errors
    ///
    /// Anything that [`RankOneModel::calibrated`] refuses.
    pub(super) fn read(field: &Field<'_>) -> Result<(Self, RankOneModel), Error> {
        let table: Table<'_> = field.get()?;
        let (items, positions) = (read_size(&table, "items")?, read_size(&table, "positions")?);
        let (mu, p_max): (Probability, Probability) = (table.required("mu")?, table.required("p_max")?);
        let seed = table.required("seed")?;
        table.finish()?;
        let users = TableShape::new(items, positions).and_then(|shape| {
            RankOneModel::calibrated(shape, mu, p_max, &mut Streams::new(seed).instance(0))
        });
        let users = users.map_err(|error| field.error(error.to_string()))?;
        Ok((Self { items, positions, mu: mu.get(), p_max: p_max.get(), seed }, users))
    }

    /// As a spec says it.
    pub(crate) fn to_toml(self) -> String {
        let Self { items, positions, mu, p_max, seed } = self;
        format!(
            "{{ items = {items}, positions = {positions}, mu = {mu:?}, p_max = {p_max:?}, seed = {seed} }}"
        )
    }
}
