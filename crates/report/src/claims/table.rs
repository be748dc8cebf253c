//! Whether a printed table agrees with the instances.

use crate::keys::required;
use itertools::Itertools as _;
use spec::schema::{array, integer, names, titled};
use std::sync::Arc;

use super::{Basis, Comparison, Finding, JudgeError, Kind, KindReader, Sample, Test, Verdict};
use documents::number;
use documents::toml_reader::{Error, Field, choice};

pub(super) static KIND: Kind = Kind {
    name: "table",
    says: "every printed entry is the instance's value, rounded; exact",
    keys: &[
        required(
            "columns",
            || array(&titled(names(&Column::NAMES.map(|(name, _)| name)), "column"), 1..=u64::MAX),
            "of `n_items`, `min_theta`, `max_theta`",
        ),
        required("decimals", || integer(&(0..=12)), "the number of printed decimals"),
    ],
    relations: Vec::new,
    needs: &[],
    read,
};

/// These columns of a printed table agree with the instances, rounded to the printed number of
/// decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedTable {
    /// The columns.
    pub columns: Vec<Column>,
    /// Decimals of the printed numbers.
    pub decimals: u32,
}

/// A column of a printed table that the instances determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Number of items.
    Items,
    /// Smallest attraction.
    MinTheta,
    /// Largest attraction.
    MaxTheta,
}

impl Column {
    /// Every column, by its name in files.
    pub const NAMES: [(&'static str, Self); 3] =
        [("n_items", Self::Items), ("min_theta", Self::MinTheta), ("max_theta", Self::MaxTheta)];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Its value for these attractions.
    pub fn of(self, theta: &[f64]) -> f64 {
        match self {
            Self::Items => theta.len() as f64,
            Self::MinTheta => theta.iter().copied().fold(f64::INFINITY, f64::min),
            Self::MaxTheta => theta.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let Some(printed) = reading.printed else {
        return Err(reading
            .kind
            .error("the experiment has no printed table: expected `[printed]` in experiment.toml"));
    };
    let mut columns = Vec::new();
    for field in reading.table.required::<Vec<Field<'_>>>("columns")? {
        let column = choice(&field, &Column::NAMES, "column")?;
        if let Some(row) =
            printed.rows.iter().find(|row| row.printed.iter().all(|(key, _)| key != column.name()))
        {
            return Err(field.error(format!("the printed row of {:?} has no {:?}", row.name, column.name())));
        }
        columns.push(column);
    }
    let decimals: Field<'_> = reading.table.required("decimals")?;
    Ok(Arc::new(PrintedTable { columns, decimals: decimals.build()? }))
}

impl Test for PrintedTable {
    fn sample(&self) -> Sample {
        Sample::Exact
    }

    fn is_of_rows(&self) -> bool {
        true
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let Self { columns, decimals } = self;
        let unit = libm::pow(10.0, f64::from(*decimals));
        let mut comparisons = Vec::new();
        let entries = basis.rows.len() * columns.len();
        for (row, &column) in basis.rows.iter().cartesian_product(columns) {
            let name = column.name();
            let printed = row.printed.iter().find(|(key, _)| key == name).map(|(_, printed)| *printed);
            let lacks = || JudgeError::Lacks(format!("instance `{}` has no printed `{name}`", row.name));
            let printed = printed.ok_or_else(lacks)?;
            let value = column.of(&row.theta);
            if libm::round(value * unit) != libm::round(printed * unit) {
                let digits = if column == Column::Items { 0 } else { *decimals as usize };
                let what = format!("{} of {}", name.replace('_', " "), row.name);
                let [measured, stated] = [value, printed].map(|value| number::fixed(value, digits));
                comparisons.push(Comparison {
                    readers: what.clone(),
                    what,
                    difference: value - printed,
                    says: Verdict::Contradicted,
                    measured: format!("{measured}, printed {stated}"),
                    ..Comparison::default()
                });
            }
        }
        let verdict = if comparisons.is_empty() { Verdict::Reproduced } else { Verdict::Contradicted };
        let agreeing = entries - comparisons.len();
        let summary = match comparisons.len() {
            0 if entries == 1 => "The entry is as printed.".to_owned(),
            0 => format!("All {entries} entries are as printed."),
            1..=3 => {
                let differing = comparisons.iter().map(|one| format!("{} is {}", one.what, one.measured));
                format!("{agreeing} of {entries} entries as printed; {}.", differing.format("; "))
            }
            many => format!("{agreeing} of {entries} entries as printed, {many} are not."),
        };
        Ok(Finding { verdict, summary, quantity: "value", comparisons })
    }
}
