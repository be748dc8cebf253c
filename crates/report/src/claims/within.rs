//! Whether a regret is within limits, as a multiple of another regret, of a bound, of the number that a paper prints, or of the clicks of
//! a best list. With `slope`, its growth with `ln t` is.
//!
//! A claim that the ratio `a / b` of two means is at most `r` is judged on `a - r b`, one number for each run. The mean of this number is
//! negative if and only if the claim holds. So the test needs no assumption about the correlation of `a` and `b`, and does not divide by a
//! random number. Ratio, standard error (delta method) and confidence interval are for readers. A bound, a printed number and the clicks of
//! a best list are taken as exact.
//!
//! That two slopes are equal can only be shown within limits, of which both are tested (Schuirmann's two one-sided tests).

use crate::schema::{Keys, any_text, round, series, slope};
use anyhow::{Context as _, bail, ensure};
use confidence::math::ln;
use experiment::schema::choice;
use serde_json::json;
use std::sync::Arc;

use super::evidence::SeriesRuns;
use super::levels::difference;
use super::order::ComparedAt;
use super::reading::{check_paired, check_round, variants_of};
use super::{
    Basis, Comparison, Finding, Kind, Levels, Limits, Reading, Test, bound_at, freedom_of, limits,
    mean_and_error,
};
use crate::sample::ratio_of_means;
use crate::series::Series;
use experiment::number;
use experiment::result::EndValue;
use experiment::toml_reader::{Error, Field, one_of};

/// What a regret can be divided by, other than series.
const NAMES: [(&str, &str); 3] = [
    ("bound", "a lower bound"),
    ("printed", "the numbers that the paper prints, from the panel's `printed`"),
    ("optimum", "the expected clicks of a best list"),
];

/// The keys that do not go with a value of `by`; of no `by`, and of a list of series.
const UNUSED: [(&str, &[&str]); 5] = [
    ("", &["by-t", "bound"]),
    ("series", &["bound"]),
    ("bound", &["by-t"]),
    ("printed", &["t", "by-t", "slope", "bound"]),
    ("optimum", &["by-t", "slope", "bound"]),
];

pub(super) static KIND: Kind = Kind {
    name: "within",
    keys: "`series`; `by`: as many series, or `\"bound\"`, `\"printed\"` or `\"optimum\"`, absent for every two of `series`; `t`; `by-t`: the checkpoint of `by`, `t` by default; or `slope = [t1, t2]`; `bound`: its label, the first by default; `least`, `most`, or both",
    holds: "the regret (with `slope`, its slope) of each of `series` divided by that of the one at its place in `by`, by the bound's, by the number printed, or by the expected clicks of a best list up to `t`, is at least `least` and at most `most`",
    schema: || {
        let by = json!({ "oneOf": [series(1), choice(&NAMES)] });
        let keys = Keys::required([("series", series(1))]).optional([
            ("by", by),
            ("t", round()),
            ("by-t", round()),
            ("slope", slope()),
            ("bound", any_text()),
        ]);
        let every_two = json!({ "if": { "not": { "required": ["by"] } }, "then": { "properties": { "series": series(2) } } });
        let keys = keys.with_limits().with(every_two).with(json!({ "not": { "required": ["slope", "t"] } }));
        UNUSED.iter().fold(
            keys.with(json!({ "not": { "required": ["slope", "by-t"] } })),
            |keys, (by, unused)| {
                let is = match *by {
                    "" => json!({ "not": { "required": ["by"] } }),
                    "series" => json!({ "required": ["by"], "properties": { "by": { "type": "array" } } }),
                    _ => json!({ "required": ["by"], "properties": { "by": { "const": by } } }),
                };
                let unused: Vec<_> = unused.iter().map(|key| json!({ "required": [key] })).collect();
                keys.with(json!({ "if": is, "then": { "not": { "anyOf": unused } } }))
            },
        )
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Regrets, or their slopes, divided by something are within limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// The series and what each is divided by.
    pub quotients: Vec<(Series, Divisor)>,
    /// The quantity that is divided.
    pub at: ComparedAt,
    /// The limits of the ratios.
    pub limits: Limits,
}

/// What a regret is divided by.
#[derive(Debug, Clone, PartialEq)]
pub enum Divisor {
    /// That of a series, at another checkpoint if it is given.
    Series(Series, Option<u64>),
    /// A bound by its label; the first one if absent.
    Bound(Option<String>),
    /// The number that the paper prints.
    Printed(f64),
    /// The expected clicks of a best list.
    Optimum,
}

fn read(reading: &Reading<'_, '_>) -> Result<Within, Error> {
    let table = reading.table;
    let series = reading.series("series")?;
    let by: Option<Field<'_>> = table.field("by");
    let is_list = by.as_ref().is_none_or(|by| by.get::<Vec<Field<'_>>>().is_ok());
    let name = match &by {
        None => String::new(),
        Some(_) if is_list => "series".to_owned(),
        Some(by) => one_of(by, &NAMES.map(|(name, _)| name), "divisor")?,
    };
    let unused = UNUSED.iter().find(|(by, _)| *by == name).map_or(&[][..], |(_, unused)| unused);
    if let Some(field) = unused.iter().find_map(|key| table.field(key)) {
        return Err(field.error("does not go with this `by`: leave it out"));
    }
    let (at, quotients) = if is_list {
        read_pairs(reading, by.as_ref(), &series)?
    } else if name == "printed" {
        (ComparedAt::Round(None), printed_numbers(reading, series)?)
    } else {
        reading.panel_with_regret()?;
        let divisor = if name == "bound" {
            Divisor::Bound(reading.bound(&series)?)
        } else {
            check_optimum(reading, &series)?;
            Divisor::Optimum
        };
        let at = reading.compared_at(&series)?;
        (at, series.into_iter().map(|one| (one, divisor.clone())).collect())
    };
    Ok(Within { quotients, at, limits: reading.limits()? })
}

/// Reads series that are divided by those of `by`, or without it every two of `series`.
fn read_pairs(
    reading: &Reading<'_, '_>,
    by: Option<&Field<'_>>,
    series: &[Series],
) -> Result<(ComparedAt, Vec<(Series, Divisor)>), Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    let listed: Field<'_> = table.required("series")?;
    let field = by.unwrap_or(&listed);
    let others = if by.is_some() { reading.series("by")? } else { Vec::new() };
    let mut pairs: Vec<(&Series, &Series)> = series.iter().zip(&others).collect();
    if by.is_none() {
        if series.len() < 2 {
            return Err(field.error("a single series: expected at least two, to compare, or `by`"));
        }
        for (place, one) in series.iter().enumerate() {
            pairs.extend(series[place + 1..].iter().map(|other| (one, other)));
        }
    } else if series.len() != others.len() {
        let (above, below) = (series.len(), others.len());
        return Err(
            field.error(format!("{above} series by {below}: expected as many, the first by the first"))
        );
    }
    let all = [series, &others].concat();
    check_paired(field, panel, &all)?;
    let by_round = table.field("by-t");
    let at = reading.compared_at(if by_round.is_some() { series } else { &all })?;
    let by_t: Option<u64> = by_round.as_ref().map(Field::get).transpose()?;
    if let (Some(field), Some(round)) = (&by_round, by_t) {
        if let ComparedAt::Slope(..) = at {
            return Err(field.error("`slope` already gives the rounds: leave it out"));
        }
        check_round(field, round, &variants_of(panel, &others))?;
    }
    if (by_t.is_none() || at == ComparedAt::Round(by_t))
        && let Some((same, _)) = pairs.iter().find(|(one, other)| one == other)
    {
        return Err(field.error(format!("\"{same}\" by itself at the same round is 1")));
    }
    let divided = |(one, other): (&Series, &Series)| (one.clone(), Divisor::Series(other.clone(), by_t));
    Ok((at, pairs.into_iter().map(divided).collect()))
}

/// Divides these series by their printed numbers.
fn printed_numbers(reading: &Reading<'_, '_>, series: Vec<Series>) -> Result<Vec<(Series, Divisor)>, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    if reading.value != EndValue::of_task(panel.task())
        && let Some(quantity) = table.field("quantity")
    {
        return Err(quantity.error("the panel's printed numbers are of another quantity: leave it out"));
    }
    let listed: Field<'_> = table.required("series")?;
    let divided = |one: Series| match panel.printed.iter().find(|printed| printed.series == one) {
        None => Err(listed.error(format!("\"{one}\" has no number in the panel's `printed`"))),
        Some(number) if number.value <= 0.0 => {
            Err(listed.error(format!("the printed number of \"{one}\" is not above 0, so it has no ratio")))
        }
        Some(number) => Ok((one, Divisor::Printed(number.value))),
    };
    series.into_iter().map(divided).collect()
}

/// Refuses users whose reward is not clicks.
fn check_optimum(reading: &Reading<'_, '_>, series: &[Series]) -> Result<(), Error> {
    for variant in variants_of(reading.panel()?, series) {
        let unit = variant.experiment.instances().unit();
        if unit != "clicks" {
            let fault = format!("the reward of these users is {unit}, and the test needs clicks");
            return Err(reading.kind.error(fault));
        }
    }
    Ok(())
}

impl Test for Within {
    fn tests(&self) -> usize {
        self.quotients.len() * self.limits.count()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let name = evidence.reader_name;
        let (mut comparisons, mut intervals) = (Vec::new(), Vec::new());
        for (series, by) in &self.quotients {
            let runs = evidence.runs(series)?;
            let (above, t) = values(&runs, self.at)?;
            let constant = |value: f64| vec![value; above.len()];
            let (below, what, readers) = match by {
                Divisor::Series(other, by_t) => {
                    let at = by_t.map_or(self.at, |by_t| ComparedAt::Round(Some(by_t)));
                    let (below, by_t) = values(&evidence.runs(other)?, at)?;
                    if series == other {
                        let rounds =
                            format!(", round {} by round {}", number::grouped(t), number::grouped(by_t));
                        (below, format!("{series}{rounds}"), format!("{}{rounds}", name(series)))
                    } else {
                        (below, format!("{series} / {other}"), format!("{} / {}", name(series), name(other)))
                    }
                }
                Divisor::Bound(label) => (
                    constant(of_bound(&runs, label.as_deref(), self.at)?),
                    of(series, "bound"),
                    of(&name(series), "bound"),
                ),
                Divisor::Printed(value) => {
                    (constant(*value), of(series, "printed"), of(&name(series), "printed"))
                }
                Divisor::Optimum => {
                    (constant(of_optimum(&runs, t)?), of(series, "optimum"), of(&name(series), "optimum"))
                }
            };
            if above.len() != below.len() {
                bail!("the two have different numbers of runs, {} and {}", above.len(), below.len());
            }
            let (value, se) = ratio_of_means(&above, &below);
            intervals.push(limits::interval(value, se, freedom_of(&above)));
            comparisons.push(Comparison {
                what,
                readers,
                t: Some(t),
                measured: number::with_error(value, se),
                ..inside(&above, &below, self.limits, levels)
            });
        }
        let finding = limits::finding(self.quantity(evidence.value), comparisons, &self.limits.words());
        Ok(limits::with_intervals(finding, intervals.into_iter().collect()))
    }
}

impl Within {
    /// A description of the ratios.
    fn quantity(&self, value: EndValue) -> &'static str {
        let is_slope = matches!(self.at, ComparedAt::Slope(..));
        match (self.quotients.first().map(|(_, by)| by), value) {
            (Some(Divisor::Bound(_)), _) if is_slope => "slope by the bound's slope",
            (Some(Divisor::Bound(_)), _) => "regret by the bound",
            (Some(Divisor::Optimum), _) => "regret by the clicks of a best list",
            (Some(Divisor::Printed(_)), EndValue::Answer(_)) => "mean by the printed one",
            (Some(Divisor::Printed(_)), _) => "regret by the printed one",
            (_, EndValue::Regret) if is_slope => "ratio of slopes",
            (_, EndValue::Regret) => "ratio of regrets",
            (_, EndValue::Accuracy | EndValue::Answer(_)) => "ratio of means",
        }
    }
}

fn of(series: &impl std::fmt::Display, by: &str) -> String {
    format!("{series} / {by}")
}

/// The observations of a series, and the last round that they are about.
fn values(runs: &SeriesRuns<'_>, at: ComparedAt) -> anyhow::Result<(Vec<f64>, u64)> {
    Ok(match at {
        ComparedAt::Round(t) => {
            let t = runs.rounds()[runs.checkpoint(t)?];
            (runs.regret(t)?, t)
        }
        ComparedAt::Slope(from, to) => (runs.slope((from, to))?, to),
    })
}

/// The value or the slope of a bound.
fn of_bound(runs: &SeriesRuns<'_>, label: Option<&str>, at: ComparedAt) -> anyhow::Result<f64> {
    let bound = runs.bound(label)?;
    match at {
        ComparedAt::Round(t) => bound_at(bound, runs.rounds()[runs.checkpoint(t)?]),
        ComparedAt::Slope(from, to) => {
            let slope = (bound_at(bound, to)? - bound_at(bound, from)?) / ln(to as f64 / from as f64);
            ensure!(slope > 0.0, "the bound {:?} does not rise from round {from} to round {to}", bound.label);
            Ok(slope)
        }
    }
}

/// The expected clicks of a best list in the rounds 1 to `t`.
fn of_optimum(runs: &SeriesRuns<'_>, t: u64) -> anyhow::Result<f64> {
    let best = runs.measured.result.optimum.as_ref().context("the result has no optimum")?;
    let at = best.t.iter().position(|&round| round == t).context("the optimum lacks a checkpoint")?;
    // Each block of runs takes every instance once, so all blocks have the same optimum, unless users are drawn.
    ensure!(
        // A single run has no error, and decides nothing.
        best.clicks.se[at].max(0.0) <= 1e-9 * best.clicks.mean[at],
        "the clicks of a best list differ from run to run: the test needs users that are known"
    );
    Ok(best.clicks.mean[at])
}

/// Whether the ratio of the means of two samples is within the limits.
fn inside(above: &[f64], below: &[f64], limits: Limits, levels: Levels) -> Comparison {
    let beyond = limits.beyond(|sign, limit| {
        let beyond: Vec<f64> =
            above.iter().zip(below).map(|(above, below)| sign * difference(*above, limit * below)).collect();
        mean_and_error(&beyond)
    });
    limits::judge(&beyond, freedom_of(above), levels)
}
