//! Whether a regret is within limits, as a multiple of another regret, of a bound, of the number
//! that a paper prints, or of the clicks of a best list. With `slope`, its growth with `ln t` is.
//!
//! The difference `a - r b`, one number for each run, needs no assumption about the correlation of
//! `a` and `b`. Ratio, standard error (delta method) and confidence interval are for readers.

use crate::keys::{LEAST, MOST, ROUND, SLOPE, has_a_limit, not_both, optional, required, round, series};
use confidence::math::ln;
use itertools::Itertools as _;
use serde_json::json;
use spec::schema::{names, titled};
use std::sync::Arc;

use super::evidence::{SeriesRuns, bound_at, same_length};
use super::levels::{difference, freedom_of};
use super::order::ComparedAt;
use super::{
    Basis, Comparison, Finding, JudgeError, Kind, KindReader, Levels, Limits, Test, limits, mean_and_error,
};
use crate::reading::{check_paired, checkpoint, variants_of};
use crate::series::Series;
use documents::number;
use documents::toml_reader::{Error, Field, one_of};
use experiment::result::EndValue;

/// The keys that do not go with a value of `by`: with none, with a list of series, or with a word.
const UNUSED: [(&str, &[&str]); 5] = [
    ("", &["by-t"]),
    ("series", &[]),
    ("bound", &["by-t"]),
    ("printed", &["t", "by-t", "slope"]),
    ("optimum", &["by-t", "slope"]),
];

/// The words that `by` may be.
const WORDS: [&str; 3] = ["bound", "printed", "optimum"];

pub(super) static KIND: Kind = Kind {
    name: "within",
    says: "the regret (with `slope`, its slope) of each of `series` divided by that of the one at its place in `by`, by the bound's, by the number printed, or by the expected clicks of a best list up to `t`, is at least `least` and at most `most`",
    keys: &[
        required("series", || series(1), "series"),
        optional(
            "by",
            || json!({ "oneOf": [series(1), titled(names(&WORDS), "divisor")] }),
            "as many series, or `\"bound\"`, `\"printed\"` or `\"optimum\"`; every two of `series` by default",
        ),
        ROUND,
        optional("by-t", round, "the checkpoint of `by`, `t` by default"),
        SLOPE,
        LEAST,
        MOST,
    ],
    relations: || {
        let every_two = json!({
            "if": { "not": { "required": ["by"] } },
            "then": { "properties": { "series": series(2) } },
        });
        let unused = UNUSED.iter().filter(|(_, keys)| !keys.is_empty()).map(|(by, keys)| {
            let is_it = match *by {
                "" => json!({ "not": { "required": ["by"] } }),
                _ => json!({ "required": ["by"], "properties": { "by": { "const": by } } }),
            };
            let unused = keys.iter().map(|key| json!({ "required": [key] })).collect_vec();
            json!({ "if": is_it, "then": { "not": { "anyOf": unused } } })
        });
        let apart = [has_a_limit(), every_two, not_both("slope", "t"), not_both("slope", "by-t")];
        apart.into_iter().chain(unused).collect()
    },
    needs: &[],
    read,
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

/// The divisor of a regret.
#[derive(Debug, Clone, PartialEq)]
pub enum Divisor {
    /// That of a series, at another checkpoint if it is given.
    Series(Series, Option<u64>),
    /// The first bound of the instances.
    Bound,
    /// The number that the paper prints.
    Printed(f64),
    /// The expected clicks of a best list.
    Optimum,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let table = reading.table;
    let series = reading.series("series")?;
    let by: Option<Field<'_>> = table.field("by");
    let is_list = by.as_ref().is_none_or(|by| by.get::<Vec<Field<'_>>>().is_ok());
    let name = match &by {
        None => String::new(),
        Some(_) if is_list => "series".to_owned(),
        Some(by) => one_of(by, &WORDS, "divisor")?,
    };
    let unused = UNUSED.iter().find(|(by, _)| *by == name).map_or(&[][..], |(_, unused)| unused);
    if let Some(field) = unused.iter().find_map(|key| table.field(key)) {
        return Err(field.error("does not go with this `by`: leave it out"));
    }
    let (at, quotients) = match name.as_str() {
        "" | "series" => read_pairs(reading, by.as_ref(), &series)?,
        "printed" => (ComparedAt::Round(None), printed_numbers(reading, series)?),
        _ => {
            reading.check_regret()?;
            check_users(reading, &series, name == "bound")?;
            let divisor = if name == "bound" { Divisor::Bound } else { Divisor::Optimum };
            let at = ComparedAt::read(reading, &series)?;
            (at, series.into_iter().map(|one| (one, divisor.clone())).collect())
        }
    };
    Ok(Arc::new(Within { quotients, at, limits: Limits::read(reading)? }))
}

/// Reads series that are divided by those of `by`, or without it every two of `series`.
fn read_pairs(
    reading: &KindReader<'_, '_>,
    by: Option<&Field<'_>>,
    series: &[Series],
) -> Result<(ComparedAt, Vec<(Series, Divisor)>), Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    let listed: Field<'_> = table.required("series")?;
    let field = by.unwrap_or(&listed);
    let others = if by.is_some() { reading.series("by")? } else { Vec::new() };
    let pairs: Vec<(&Series, &Series)> = match by {
        None if series.len() < 2 => {
            return Err(field.error("a single series: expected at least two, to compare, or `by`"));
        }
        None => series.iter().tuple_combinations().collect(),
        Some(_) if series.len() != others.len() => {
            let (above, below) = (series.len(), others.len());
            let fault = format!("{above} series by {below}: expected as many, the first by the first");
            return Err(field.error(fault));
        }
        Some(_) => series.iter().zip(&others).collect(),
    };
    let all = [series, &others].concat();
    check_paired(field, panel, &all)?;
    let by_round = table.field("by-t");
    let at = ComparedAt::read(reading, if by_round.is_some() { series } else { &all })?;
    let by_t = match &by_round {
        Some(field) if matches!(at, ComparedAt::Slope(..)) => {
            return Err(field.error("`slope` already gives the rounds: leave it out"));
        }
        Some(field) => Some(checkpoint(field, panel, &others)?),
        None => None,
    };
    if (by_t.is_none() || at == ComparedAt::Round(by_t))
        && let Some((same, _)) = pairs.iter().find(|(one, other)| one == other)
    {
        return Err(field.error(format!("\"{same}\" by itself at the same round is 1")));
    }
    let divided = |(one, other): (&Series, &Series)| (one.clone(), Divisor::Series(other.clone(), by_t));
    Ok((at, pairs.into_iter().map(divided).collect()))
}

/// Divides these series by their printed numbers.
fn printed_numbers(
    reading: &KindReader<'_, '_>,
    series: Vec<Series>,
) -> Result<Vec<(Series, Divisor)>, Error> {
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

/// Refuses users without a lower bound, or, for an optimum, users whose reward is not clicks.
fn check_users(reading: &KindReader<'_, '_>, series: &[Series], needs_bound: bool) -> Result<(), Error> {
    for variant in variants_of(reading.panel()?, series) {
        let instances = variant.experiment.instances();
        let unit = instances.unit();
        if needs_bound && instances.lower_bound().is_none() {
            return Err(reading.kind.error("the panel's instances have no lower bound to compare with"));
        }
        if !needs_bound && unit != "clicks" {
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

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let name = evidence.reader_name;
        let (mut comparisons, mut intervals) = (Vec::new(), Vec::new());
        for (series, by) in &self.quotients {
            let runs = evidence.runs(series)?;
            let (above, t) = runs.compared(self.at)?;
            let constant = |value: f64| vec![value; above.len()];
            let by_word = |word: &str| [format!("{series} / {word}"), format!("{} / {word}", name(series))];
            let (below, [what, readers]) = match by {
                Divisor::Series(other, by_t) => {
                    let at = by_t.map_or(self.at, |by_t| ComparedAt::Round(Some(by_t)));
                    let (below, by_t) = evidence.runs(other)?.compared(at)?;
                    let [t, by_t] = [t, by_t].map(number::grouped);
                    let names = if series == other {
                        [series.to_string(), name(series)]
                            .map(|one| format!("{one}, round {t} by round {by_t}"))
                    } else {
                        [format!("{series} / {other}"), format!("{} / {}", name(series), name(other))]
                    };
                    (below, names)
                }
                Divisor::Bound => (constant(of_bound(&runs, self.at)?), by_word("bound")),
                Divisor::Printed(value) => (constant(*value), by_word("printed")),
                Divisor::Optimum => (constant(of_optimum(&runs, t)?), by_word("optimum")),
            };
            same_length([&above, &below])?;
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
        let quantity = self.quantity(evidence.value);
        Ok(limits::finding(quantity, comparisons, self.limits, intervals.into_iter().collect()))
    }
}

impl Within {
    /// A description of the ratios.
    fn quantity(&self, value: EndValue) -> &'static str {
        let is_slope = matches!(self.at, ComparedAt::Slope(..));
        match (self.quotients.first().map(|(_, by)| by), value) {
            (Some(Divisor::Bound), _) if is_slope => "slope by the bound's slope",
            (Some(Divisor::Bound), _) => "regret by the bound",
            (Some(Divisor::Optimum), _) => "regret by the clicks of a best list",
            (Some(Divisor::Printed(_)), EndValue::Answer(_)) => "mean by the printed one",
            (Some(Divisor::Printed(_)), _) => "regret by the printed one",
            (_, EndValue::Regret) if is_slope => "ratio of slopes",
            (_, EndValue::Regret) => "ratio of regrets",
            (_, EndValue::Accuracy | EndValue::Answer(_)) => "ratio of means",
        }
    }
}

/// The value or the slope of a bound.
fn of_bound(runs: &SeriesRuns<'_>, at: ComparedAt) -> Result<f64, JudgeError> {
    let bound = runs.bound()?;
    match at {
        ComparedAt::Round(t) => bound_at(bound, runs.round(t)?),
        ComparedAt::Slope(from, to) => {
            let slope = (bound_at(bound, to)? - bound_at(bound, from)?) / ln(to as f64 / from as f64);
            if slope > 0.0 {
                return Ok(slope);
            }
            let label = &bound.label;
            let fault = format!("the bound {label:?} does not rise from round {from} to round {to}");
            Err(JudgeError::Lacks(fault))
        }
    }
}

/// The expected clicks of a best list in the rounds 1 to `t`.
fn of_optimum(runs: &SeriesRuns<'_>, t: u64) -> Result<f64, JudgeError> {
    let lacks = |what: &str| JudgeError::Lacks(what.to_owned());
    let best = runs.measured.result.optimum.as_ref().ok_or_else(|| lacks("the result has no optimum"))?;
    let index = best.t.iter().position(|&round| round == t);
    let index = index.ok_or_else(|| lacks("the optimum lacks a checkpoint"))?;
    // Each block of runs takes every instance once, so all blocks have the same optimum, unless
    // users are drawn. A single run has no error, and decides nothing.
    if best.clicks.se[index].max(0.0) <= 1e-9 * best.clicks.mean[index] {
        return Ok(best.clicks.mean[index]);
    }
    Err(lacks("the clicks of a best list differ from run to run: the test needs users that are known"))
}

/// Returns whether the ratio of the means of two samples is within the limits.
fn inside(above: &[f64], below: &[f64], limits: Limits, levels: Levels) -> Comparison {
    let beyond = limits.beyond(|sign, limit| {
        let beyond: Vec<f64> =
            above.iter().zip(below).map(|(above, below)| sign * difference(*above, limit * below)).collect();
        mean_and_error(&beyond)
    });
    limits::judge(&beyond, freedom_of(above), levels)
}

/// The ratio of the means of two samples of the same runs, and its standard error by the delta
/// method: the standard error of the mean of `above - ratio * below`, divided by the mean of
/// `below`.
pub(crate) fn ratio_of_means(above: &[f64], below: &[f64]) -> (f64, f64) {
    let (mean, _) = mean_and_error(below);
    let ratio = mean_and_error(above).0 / mean;
    let left: Vec<f64> = above.iter().zip(below).map(|(above, below)| above - ratio * below).collect();
    (ratio, mean_and_error(&left).1 / mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_ratio_is_that_of_the_residuals() {
        // Means 3 and 2, ratio 1.5. The residuals 0.5, -1 and 0.5 have the standard deviation
        // sqrt(.75); the error divides it by sqrt(3) and 2.
        let (ratio, error) = ratio_of_means(&[2.0, 2.0, 5.0], &[1.0, 2.0, 3.0]);
        assert_eq!(ratio, 1.5);
        assert!((error - 0.25).abs() < 1e-15, "{error}");
        // Samples that are proportional run by run have a ratio without error.
        assert_eq!(ratio_of_means(&[2.0, 20.0], &[1.0, 10.0]), (2.0, 0.0));
        assert!(ratio_of_means(&[1.0], &[0.0]).0.is_infinite() && ratio_of_means(&[], &[]).0.is_nan());
    }
}
