//! The key `arms`: selects items of a preference matrix.

use super::{RANDOM, SUBSETS};
use crate::fields::read_size;
use documents::toml_reader::{Error, Field, Table, all, collect};
use serde::Serialize;

/// The maximal number of matrix entries of all subsets together; each takes 16 bytes.
const MAX_ENTRIES: usize = 1 << 27;

/// The selected items of a matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Arms {
    /// All items.
    All,
    /// The items with these indices.
    Listed(Vec<usize>),
    /// Random subsets.
    Random {
        /// Number of items of a subset.
        random: usize,
        /// Number of subsets.
        subsets: usize,
    },
}

pub(super) fn read_arms(field: &Field<'_>, n_items: usize) -> Result<Arms, Error> {
    if field.is_array() {
        let items: Vec<Field<'_>> = field.get()?;
        let index = |item: &Field<'_>| {
            let index = item.integer_in(&(0..=n_items as u64 - 1))?;
            Ok(usize::try_from(index).unwrap_or(usize::MAX))
        };
        return Ok(Arms::Listed(collect(items.iter().map(index))?));
    }
    if !field.is_table() {
        return Err(field.error(format!(
            "{} found: expected items, [0, 3], or {{ random = 16, subsets = 100 }}",
            field.describe()
        )));
    }
    let table: Table<'_> = field.get()?;
    let (random, subsets, ()) =
        all((read_size(&table, RANDOM.name), read_size(&table, SUBSETS.name), table.finish()))?;
    if random < 2 || random > n_items {
        return Err(table
            .required::<Field<'_>>(RANDOM.name)?
            .error(format!("{random} of {n_items} items: expected an integer from 2 to {n_items}")));
    }
    if random.saturating_mul(random).saturating_mul(subsets) > MAX_ENTRIES {
        return Err(table.required::<Field<'_>>(SUBSETS.name)?.error(format!(
            "{subsets} matrices of {random} x {random} take more than 2 GiB: reduce `subsets`"
        )));
    }
    Ok(Arms::Random { random, subsets })
}
