//! Whether the share of runs with a wrong answer, or without an answer, is within a limit ("Shares"
//! in `xtask/experiments/README.md`).
//!
//! Runs are independent, so the number of such runs among `n` is binomial. If shares differ from
//! instance to instance, the number varies less (Hoeffding 1956), and the tests stay on the safe
//! side.

use crate::keys::{inside_unit, optional, required, series};
use itertools::Itertools as _;
use serde_json::{Value, json};
use std::sync::Arc;

use super::{
    Basis, Comparison, Finding, JudgeError, Kind, KindReader, Levels, Sample, Test, Verdict, verdict_of,
};
use crate::series::Series;
use documents::number;
use documents::toml_reader::{Error, Field};
use experiment::result::{EndValue, Quantity};
use statrs::distribution::{Binomial, DiscreteCDF as _};

pub(super) static KIND: Kind = Kind {
    name: "share",
    says: "at most, or at least, this share of the runs has a wrong answer, or none, by exact binomial tests (`quantity`: `\"wrong\"` or `\"capped\"`); `most = 0`: not a single run, of enough that a share of `below` would have been seen",
    keys: &[
        required("series", || series(1), "series"),
        optional("most", most, "the largest share, below 1"),
        optional("least", inside_unit, "in place of `most`: the smallest share"),
        optional("below", inside_unit, "with `most = 0`: the share that the runs have to detect"),
    ],
    relations: || {
        vec![
            json!({ "oneOf": [{ "required": ["most"] }, { "required": ["least"] }] }),
            json!({
                "if": { "properties": { "most": { "const": 0 } }, "required": ["most"] },
                "then": { "required": ["below"] },
                "else": { "properties": { "below": false } },
            }),
        ]
    },
    needs: &[],
    read,
};

/// The share of runs with a wrong answer, or without an answer, is within a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The series.
    pub series: Vec<Series>,
    /// The limit.
    pub limit: ShareLimit,
}

/// A limit of a share of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShareLimit {
    /// Not a single run.
    Never {
        /// The share that the number of runs has to be able to detect.
        below: f64,
    },
    /// At most this share.
    Most(f64),
    /// At least this share.
    Least(f64),
}

fn most() -> Value {
    json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1, "title": "a share of at least 0 and below 1" })
}

/// The meaning of `below`, for messages.
const BELOW: &str = "the share of runs that the number of runs has to be able to detect";

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    reading.panel()?;
    if !matches!(reading.value, EndValue::Answer(Quantity::Wrong | Quantity::Capped)) {
        let place = reading.table.field("quantity");
        return Err(place.as_ref().unwrap_or(&reading.kind).error(
            "a share is that of runs with a wrong answer or without one: expected `quantity`, \"wrong\" or \"capped\"",
        ));
    }
    Ok(Arc::new(Share { series: reading.series("series")?, limit: read_limit(reading)? }))
}

fn read_limit(reading: &KindReader<'_, '_>) -> Result<ShareLimit, Error> {
    let table = reading.table;
    let (most, below) = (table.optional("most")?, table.field("below"));
    if let (Some(field), false) = (&below, most == Some(0.0)) {
        return Err(field.error("`below` belongs to `most = 0`: leave it out"));
    }
    match (most, table.optional("least")?) {
        (Some(0.0), None) => {
            let field = below.ok_or_else(|| table.missing("below", BELOW))?;
            Ok(ShareLimit::Never { below: field.get()? })
        }
        (Some(most), None) => Ok(ShareLimit::Most(most)),
        (None, Some(least)) => Ok(ShareLimit::Least(least)),
        (Some(_), Some(_)) => {
            let least: Field<'_> = table.required("least")?;
            Err(least.error("expected `most` or `least`, not both"))
        }
        (None, None) => Err(table.missing("most", "a share, here or as `least`")),
    }
}

impl Test for Share {
    fn tests(&self) -> usize {
        self.series.len()
    }

    fn sample(&self) -> Sample {
        Sample::Runs
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let (evidence, levels, limit) = (basis.evidence()?, basis.levels, self.limit);
        let mut comparisons = Vec::new();
        for one in &self.series {
            let runs = evidence.runs(one)?;
            let sample = runs.measured.values(runs.policy, evidence.value)?;
            // Whole blocks: then the share is that of all instances.
            let whole = runs.measured.result.whole_blocks(&sample);
            let (hits, count) =
                (whole.iter().filter(|value| **value > 0.0).count() as u64, whole.len() as u64);
            let share = hits as f64 / count as f64;
            let (sign, share_allowed) = match limit {
                ShareLimit::Never { .. } => (1.0, 0.0),
                ShareLimit::Most(most) => (1.0, most),
                ShareLimit::Least(least) => (-1.0, least),
            };
            comparisons.push(Comparison {
                what: one.to_string(),
                readers: (evidence.reader_name)(one),
                difference: sign * (share - share_allowed),
                says: says(limit, hits, count, levels),
                measured: format!("{} of {}", number::grouped(hits), number::grouped(count)),
                ..Comparison::default()
            });
        }
        let verdict = verdict_of(&comparisons);
        Ok(Finding {
            verdict,
            summary: summary(evidence.value, limit, verdict, &comparisons),
            quantity: evidence.value.words(),
            comparisons,
        })
    }
}

fn summary(value: EndValue, limit: ShareLimit, verdict: Verdict, comparisons: &[Comparison]) -> String {
    let percent = |share: f64| format!("{} %", number::significant(100.0 * share, 3));
    let stated = match limit {
        ShareLimit::Never { .. } => "none".to_owned(),
        ShareLimit::Most(most) => format!("at most {}", percent(most)),
        ShareLimit::Least(least) => format!("at least {}", percent(least)),
    };
    let power = match (limit, verdict) {
        (ShareLimit::Never { below }, Verdict::Reproduced) => {
            format!(" These runs would have seen a share of {}.", percent(below))
        }
        (ShareLimit::Never { below }, Verdict::Undecided) => {
            format!(" So few runs can miss a share of {}.", percent(below))
        }
        _ => String::new(),
    };
    // More than two equal numbers become one entry.
    let entry = |one: &Comparison| {
        let equal = comparisons.iter().filter(|other| other.measured == one.measured).count();
        if equal > 2 {
            format!("{} in each of {equal} cases", one.measured)
        } else {
            format!("{} ({})", one.measured, one.readers)
        }
    };
    let entries = comparisons.iter().map(entry).unique().join(", ");
    format!("{}, {stated} stated: {entries}.{power}", value.heading())
}

/// Judges a limit by `hits` of `count` runs, from the probabilities of both tails at the limit.
fn says(limit: ShareLimit, hits: u64, count: u64, levels: Levels) -> Verdict {
    let up_to_hits = |share: f64| binomial_up_to(hits, count, share);
    let from_hits = |share: f64| binomial_up_to(count - hits, count, 1.0 - share);
    match limit {
        ShareLimit::Never { .. } if hits > 0 => Verdict::Contradicted,
        // That there is no such run contradicts nothing.
        ShareLimit::Never { below } => levels.verdict(up_to_hits(below), 1.0),
        ShareLimit::Most(most) => levels.verdict(up_to_hits(most), from_hits(most)),
        ShareLimit::Least(least) => levels.verdict(from_hits(least), up_to_hits(least)),
    }
}

/// The probability of at most `hits` successes in `count` trials of probability `p`, strictly
/// between 0 and 1. Probabilities below 0.3 are accurate to 1e-7 for up to 10,000,000 trials. From
/// 1,000,000 trials on those near one half are less accurate, but no level is that large.
pub(crate) fn binomial_up_to(hits: u64, count: u64, p: f64) -> f64 {
    Binomial::new(p, count).map_or(1.0, |distribution| distribution.cdf(hits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_probabilities_are_exact() {
        // (1 + 4) / 16, and 1 minus the last term.
        assert!((binomial_up_to(1, 4, 0.5) - 5.0 / 16.0).abs() < 1e-14);
        assert!((binomial_up_to(3, 4, 0.5) - 15.0 / 16.0).abs() < 1e-14);
        assert!((binomial_up_to(0, 20, 0.1) - libm::pow(0.9, 20.0)).abs() < 1e-14);
        assert_eq!(binomial_up_to(4000, 4000, 0.1), 1.0);
        // At the mean of many trials.
        assert!((binomial_up_to(2000, 4000, 0.5) - 0.506_307_8).abs() < 1e-6);
    }

    #[test]
    fn exact_tails_decide_a_share_or_leave_it_open() {
        let levels = Levels::of(1e-3, 1);
        let at_most = |hits, count, most, levels| says(ShareLimit::Most(most), hits, count, levels);
        let at_least = |hits, count, least, levels| says(ShareLimit::Least(least), hits, count, levels);
        // .9^66 = 9.6e-4, .9^65 = 1.06e-3.
        assert_eq!(at_most(0, 66, 0.1, levels), Verdict::Reproduced);
        assert_eq!(at_most(0, 65, 0.1, levels), Verdict::Undecided);
        assert_eq!(at_most(10, 20, 0.1, levels), Verdict::Contradicted);
        assert_eq!(at_most(2, 20, 0.1, levels), Verdict::Undecided);
        // With a true share of 0.01, three or more of twenty have probability 1.0e-3, which is
        // below the level 0.002.
        assert_eq!(at_least(3, 20, 0.01, Levels::of(2e-3, 1)), Verdict::Reproduced);
        assert_eq!(at_least(0, 2000, 0.01, levels), Verdict::Contradicted);
        // With a true share of 0.1, seven or more of twenty have probability 2.4e-3: below 0.003,
        // but not below a third of it.
        assert_eq!(at_most(7, 20, 0.1, Levels::of(3e-3, 1)), Verdict::Contradicted);
        assert_eq!(at_most(7, 20, 0.1, Levels::of(3e-3, 3)), Verdict::Undecided);
    }

    #[test]
    fn never_is_reproduced_only_by_enough_runs_to_detect_the_share() {
        let limit = ShareLimit::Never { below: 0.1 };
        let never = |hits: u64, count: u64| says(limit, hits, count, Levels::of(1e-3, 28));
        assert_eq!(never(0, 1), Verdict::Undecided);
        assert_eq!(never(0, 65), Verdict::Undecided);
        assert_eq!(never(0, 66), Verdict::Reproduced);
        // One hit is enough, however many runs and cases there are.
        assert_eq!((never(1, 1), never(1, 9000)), (Verdict::Contradicted, Verdict::Contradicted));
    }
}
