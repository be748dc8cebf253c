//! Whether the ratio of a mean over runs to the number that a paper prints is within limits.
//!
//! The printed number is taken as exact, so a limit `r` is judged on `mean - r printed`. If the paper prints a standard error, the page
//! also shows the z of the difference.

use crate::schema::{Keys, series};
use std::sync::Arc;

use super::levels::difference;
use super::{
    Basis, Comparison, Finding, Kind, Limits, Reading, Test, freedom_of, mean_and_error, number, within,
};
use crate::series::Series;
use experiment::result::EndValue;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "printed",
    keys: "`series`, each with a number in the panel's `printed`; `least`, `most`, or both",
    holds: "the regret at the end (or the stopping time, or the share of wrong answers) of each of `series` divided by that number is at least `least` and at most `most`",
    schema: || Keys::required([("series", series(1))]).with_limits(),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Every final mean, divided by the printed number, is within limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// The series and their printed numbers.
    pub printed: Vec<(Series, f64)>,
    /// The limits of the ratios.
    pub limits: Limits,
}

fn read(reading: &Reading<'_, '_>) -> Result<Printed, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    if reading.value != EndValue::of_task(panel.task())
        && let Some(quantity) = table.field("quantity")
    {
        return Err(quantity.error("the panel's printed numbers are of another quantity: leave it out"));
    }
    let mut printed = Vec::new();
    for series in reading.series("series")? {
        let Some(number) = panel.printed.iter().find(|printed| printed.series == series) else {
            let field: Field<'_> = table.required("series")?;
            return Err(field.error(format!("\"{series}\" has no number in the panel's `printed`")));
        };
        if number.value <= 0.0 {
            let field: Field<'_> = table.required("series")?;
            return Err(
                field.error(format!("the printed number of \"{series}\" is not above 0, so it has no ratio"))
            );
        }
        printed.push((series, number.value));
    }
    Ok(Printed { printed, limits: reading.limits()? })
}

impl Test for Printed {
    fn tests(&self) -> usize {
        self.printed.len() * self.limits.count()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels, limits) = (basis.evidence()?, basis.levels, self.limits);
        let (mut comparisons, mut intervals) = (Vec::new(), Vec::new());
        for (series, value) in &self.printed {
            let runs = evidence.runs(series)?;
            let t = runs.rounds()[runs.checkpoint(None)?];
            let ratios: Vec<f64> = runs.regret(t)?.iter().map(|measured| measured / value).collect();
            let (mean, se) = mean_and_error(&ratios);
            let beyond = limits.beyond(|sign, limit| {
                mean_and_error(
                    &ratios.iter().map(|ratio| sign * difference(*ratio, limit)).collect::<Vec<_>>(),
                )
            });
            intervals.push(within::interval(mean, se, freedom_of(&ratios)));
            comparisons.push(Comparison {
                what: format!("{series} / printed"),
                readers: format!("{} / printed", (evidence.reader_name)(series)),
                t: Some(t),
                measured: number::with_error(mean, se),
                ..within::judge(&beyond, freedom_of(&ratios), levels)
            });
        }
        let quantity = match evidence.value {
            EndValue::Regret | EndValue::Accuracy => "regret by the printed one",
            EndValue::Answer(_) => "mean by the printed one",
        };
        let finding = within::finding(quantity, comparisons, &limits.words());
        Ok(within::with_intervals(finding, intervals.into_iter().collect()))
    }
}
