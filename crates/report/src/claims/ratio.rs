//! Whether the ratio of two regrets is within limits.
//!
//! A claim that the ratio `a / b` of two mean regrets is at most `r` is judged on `a - r b`, one number for each run. The mean of this
//! number is negative if and only if the claim holds. So the test needs no assumption about the correlation of `a` and `b`, and does not
//! divide by a random number. Ratio, standard error (delta method) and confidence interval are for readers.

use crate::schema::{Keys, round, series};
use anyhow::bail;
use std::sync::Arc;

use super::levels::difference;
use super::reading::{check_paired, check_round, variants_of};
use super::{
    Basis, Comparison, Finding, Kind, Levels, Limits, Reading, Test, freedom_of, mean_and_error, within,
};
use crate::sample::ratio_of_means;
use crate::series::Series;
use experiment::number;
use experiment::result::EndValue;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "ratio",
    keys: "`series` and `by`: as many of each; `t`; `by-t`: the checkpoint of `by`, `t` by default; `least`, `most`, or both",
    holds: "the regret of each of `series` divided by that of the one at its place in `by` is at least `least` and at most `most`",
    schema: || {
        let keys = Keys::required([("series", series(1)), ("by", series(1))]);
        keys.optional([("t", round()), ("by-t", round())]).with_limits()
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Ratios of regrets are within limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The numerators.
    pub series: Vec<Series>,
    /// The denominators, one for each of `series`.
    pub by: Vec<Series>,
    /// Checkpoint of the numerators; the last one if absent.
    pub t: Option<u64>,
    /// Checkpoint of the denominators; the checkpoint of the numerators if absent.
    pub by_t: Option<u64>,
    /// The limits of the ratios.
    pub limits: Limits,
}

fn read(reading: &Reading<'_, '_>) -> Result<Ratio, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    let (series, by) = (reading.series("series")?, reading.series("by")?);
    let field: Field<'_> = table.required("by")?;
    if series.len() != by.len() {
        let (above, below) = (series.len(), by.len());
        return Err(
            field.error(format!("{above} series by {below}: expected as many, the first by the first"))
        );
    }
    let all = [series.as_slice(), by.as_slice()].concat();
    check_paired(&field, panel, &all)?;
    let by_round = table.field("by-t");
    let t = reading.round(if by_round.is_some() { &series } else { &all })?;
    let by_t = by_round.as_ref().map(Field::get).transpose()?;
    if let (Some(field), Some(round)) = (&by_round, by_t) {
        check_round(field, round, &variants_of(panel, &by))?;
    }
    if (by_t.is_none() || by_t == t)
        && let Some((same, _)) = series.iter().zip(&by).find(|(series, by)| series == by)
    {
        return Err(field.error(format!("\"{same}\" by itself at the same round is 1")));
    }
    Ok(Ratio { series, by, t, by_t, limits: reading.limits()? })
}

impl Test for Ratio {
    fn tests(&self) -> usize {
        self.series.len() * self.limits.count()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let name = evidence.reader_name;
        let (mut comparisons, mut intervals) = (Vec::new(), Vec::new());
        for (series, by) in self.series.iter().zip(&self.by) {
            let (above, below) = (evidence.runs(series)?, evidence.runs(by)?);
            let t = above.rounds()[above.checkpoint(self.t)?];
            let by_t = below.rounds()[below.checkpoint(self.by_t.or(self.t))?];
            let (above, below) = (above.regret(t)?, below.regret(by_t)?);
            if above.len() != below.len() {
                bail!("the two have different numbers of runs, {} and {}", above.len(), below.len());
            }
            let (value, se) = ratio_of_means(&above, &below);
            let (what, readers) = if series == by {
                let rounds = format!(", round {} by round {}", number::grouped(t), number::grouped(by_t));
                (format!("{series}{rounds}"), format!("{}{rounds}", name(series)))
            } else {
                (format!("{series} / {by}"), format!("{} / {}", name(series), name(by)))
            };
            intervals.push(within::interval(value, se, freedom_of(&above)));
            comparisons.push(Comparison {
                what,
                readers,
                t: Some(t),
                measured: number::with_error(value, se),
                ..inside(&above, &below, self.limits, levels)
            });
        }
        let quantity = match evidence.value {
            EndValue::Regret => "ratio of regrets",
            EndValue::Accuracy | EndValue::Answer(_) => "ratio of means",
        };
        let finding = within::finding(quantity, comparisons, &self.limits.words());
        Ok(within::with_intervals(finding, intervals.into_iter().collect()))
    }
}

/// Whether the ratio of the means of two samples is within the limits.
fn inside(above: &[f64], below: &[f64], limits: Limits, levels: Levels) -> Comparison {
    let beyond = limits.beyond(|sign, limit| {
        let beyond: Vec<f64> =
            above.iter().zip(below).map(|(above, below)| sign * difference(*above, limit * below)).collect();
        mean_and_error(&beyond)
    });
    within::judge(&beyond, freedom_of(above), levels)
}
