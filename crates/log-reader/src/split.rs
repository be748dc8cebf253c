//! Splits counts: one impression in `one_in` is held out.
//!
//! It is better to hold out whole sessions, if there are any. A line of a file of counts has many
//! impressions; here every impression, click or skip, is drawn independently. The same counts and
//! the same seed give the same parts, whatever else the file contains.
//!
//! Reference, deviations: none. Numerics: integers. Complexity: O(impressions / 64).

use crate::counts::Counts;
use crate::hold_out::HoldOut;
use crate::names::Renaming;
use crate::table::{LineCounts, Table};
use std::sync::Arc;

impl Counts {
    /// Splits counts into those without one impression in `one_in`, at least 2, and these
    /// impressions.
    pub fn split(&self, one_in: u64, seed: u64) -> [Self; 2] {
        let hold_out = HoldOut::new(one_in, seed);
        let names = self.names();
        let mut tables = [Table::default(), Table::default()];
        for query in self.queries() {
            // The identifier of a text depends on other names in the file, its name does not.
            let name = names.name(query.id());
            for cell in query.cells() {
                let position = u8::try_from(cell.position).unwrap_or(u8::MAX);
                let (clicks, impressions) = (cell.clicks, cell.impressions);
                let shown = LineCounts { query: query.id(), item: cell.item, clicks, impressions, position };
                let parts = hold_out.of_cell(&name, &names.name(cell.item), position).cut(&shown);
                for (table, part) in tables.iter_mut().zip(parts) {
                    if part.impressions > 0 {
                        table.add(&part);
                    }
                }
            }
        }
        let names = Arc::new(names.clone());
        tables.map(|mut table| {
            table.finish(&Renaming::none());
            Counts::from_tables(Arc::clone(&names), vec![table])
        })
    }
}
