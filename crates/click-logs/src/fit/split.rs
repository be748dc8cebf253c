//! Splits counts: one impression in `one_in` is held out.
//!
//! It is better to hold out while reading a log ([`Reader::hold_out`](crate::Reader::hold_out)),
//! since sessions then stay whole. A line of a file of counts has many impressions; here every
//! impression, click or skip, is drawn independently. The same counts and the same seed give the
//! same parts, whatever else the file contains.
//!
//! Reference, deviations: none. Numerics: integers. Complexity: O(impressions / 64).

use super::FitError;
use crate::counts::Counts;
use crate::hold_out::HoldOut;
use crate::names::Renaming;
use crate::table::{Shown, Table};
use std::sync::Arc;

/// Splits counts into those without one impression in `one_in`, and these impressions.
///
/// # Errors
///
/// [`FitError::Split`] if `one_in` is below 2: nothing would be left.
pub fn split(counts: &Counts, one_in: u64, seed: u64) -> Result<[Counts; 2], FitError> {
    if one_in < 2 {
        return Err(FitError::Split(one_in));
    }
    let hold_out = HoldOut::new(one_in, seed);
    let names = counts.names();
    let mut tables = [Table::default(), Table::default()];
    for query in counts.queries() {
        // The identifier of a text depends on other names in the file, its name does not.
        let name = names.name(query.id());
        for cell in query.cells() {
            let position = u8::try_from(cell.position).unwrap_or(u8::MAX);
            let (clicks, impressions) = (cell.clicks, cell.impressions);
            let shown = Shown { query: query.id(), item: cell.item, clicks, impressions, position };
            let parts = hold_out.of_cell(&name, &names.name(cell.item), position).cut(&shown);
            for (table, part) in tables.iter_mut().zip(parts) {
                if part.impressions > 0 {
                    table.add(&part);
                }
            }
        }
    }
    let names = Arc::new(names.clone());
    Ok(tables.map(|mut table| {
        table.finish(&Renaming::none());
        Counts::from_tables(Arc::clone(&names), vec![table])
    }))
}
