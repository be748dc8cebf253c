//! Whether the share of runs with a wrong answer, or without one, is small or large enough.
//!
//! Runs are independent, so their number `k` of `n` is binomial. A share of at most `p` is shown if so few would be seen with a probability
//! of at most the level were it `p`, and contradicted if as many would; the other way round for one of at least `p`. Both tests are exact.
//!
//! That not a single run is wrong is contradicted by one that is. No number of runs shows it, but `n` of them would have seen a share of `p`
//! with a probability of `1 - (1 - p)^n`: the claim says which share it has to be able to tell, and is reproduced if no run is wrong and
//! so few would be seen with a probability of at most the level were it that share.

use std::sync::Arc;

use super::{Basis, Comparison, Finding, Kind, Levels, Reading, Test, Verdict, number, verdict_of};
use crate::series::Series;
use confidence::Probability;
use experiment::result::{EndValue, Quantity};
use experiment::toml_reader::{Error, Field};
use statrs::distribution::{Binomial, DiscreteCDF as _};

pub(super) static KIND: Kind = Kind {
    name: "share",
    keys: "`series`; `quantity`: `\"wrong\"` or `\"capped\"`; `most` or `least`; with `most = 0` also `below`",
    holds: "at most, or at least, this share of the runs has a wrong answer, or none, by exact binomial tests; `most = 0`: not a single run, of enough that a share of `below` would have been seen",
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// At most, or at least, this share of the runs has an answer that is wrong, or none at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Whose.
    pub series: Vec<Series>,
    /// How large it may be.
    pub limit: ShareLimit,
}

/// How large a share of runs may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShareLimit {
    /// Not a single run, of enough to have seen one if it were as many as this share.
    Never {
        /// The share.
        below: f64,
    },
    /// No larger.
    Most(f64),
    /// No smaller.
    Least(f64),
}

/// What `below` is.
const BELOW: &str = "the share of runs that these have to be enough to see";

fn read(reading: &Reading<'_, '_>) -> Result<Share, Error> {
    reading.panel()?;
    if !matches!(reading.value, EndValue::Answer(Quantity::Wrong | Quantity::Capped)) {
        let place = reading.table.field("quantity");
        return Err(place.as_ref().unwrap_or(&reading.kind).error(
            "a share is one of runs with a wrong answer or with none: expected `quantity`, \"wrong\" or \"capped\"",
        ));
    }
    Ok(Share { series: reading.series("series")?, limit: read_limit(reading)? })
}

fn read_limit(reading: &Reading<'_, '_>) -> Result<ShareLimit, Error> {
    let table = reading.table;
    let share = |key: &str| -> Result<Option<f64>, Error> {
        let Some(field) = table.field(key) else { return Ok(None) };
        let share = field.get::<Probability>()?.get();
        if share < 1.0 && (share > 0.0 || key == "most") {
            return Ok(Some(share));
        }
        Err(field.error(format!("{} is no share that could be missed", field.describe())))
    };
    let (most, below) = (share("most")?, table.field("below"));
    if let (Some(field), false) = (&below, most == Some(0.0)) {
        return Err(field.error("`below` belongs to `most = 0`: leave it out"));
    }
    match (most, share("least")?) {
        (Some(0.0), None) => {
            let field = below.ok_or_else(|| table.missing("below", BELOW))?;
            let below = field.get::<Probability>()?.get();
            if below == 0.0 || below == 1.0 {
                return Err(
                    field.error(format!("{} is none or all of them: expected {BELOW}", field.describe()))
                );
            }
            Ok(ShareLimit::Never { below })
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

    fn is_of_means(&self) -> bool {
        false
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels, limit) = (basis.evidence()?, basis.levels, self.limit);
        let mut comparisons = Vec::new();
        for one in &self.series {
            let runs = evidence.runs(one)?;
            let sample = runs.measured.values(runs.policy, evidence.value);
            let (hits, count) =
                (sample.iter().filter(|value| **value > 0.0).count() as u64, sample.len() as u64);
            let share = hits as f64 / count as f64;
            let (sign, share_allowed, says) = match limit {
                ShareLimit::Never { below } => (1.0, 0.0, never(hits, count, below, levels)),
                ShareLimit::Most(most) => (1.0, most, at_most(hits, count, most, levels)),
                ShareLimit::Least(least) => (-1.0, least, at_least(hits, count, least, levels)),
            };
            comparisons.push(Comparison {
                what: one.to_string(),
                readers: (evidence.reader_name)(one),
                t: None,
                difference: sign * (share - share_allowed),
                se: None,
                statistic: None,
                says,
                leads_from: None,
                measured: format!("{} of {}", number::grouped(hits), number::grouped(count)),
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
    // Dozens of equal ones are one entry.
    let mut seen: Vec<String> = Vec::new();
    for one in comparisons {
        let equal = comparisons.iter().filter(|other| other.measured == one.measured).count();
        let entry = if equal > 2 {
            format!("{} in each of {equal} cases", one.measured)
        } else {
            format!("{} ({})", one.measured, one.readers)
        };
        if !seen.contains(&entry) {
            seen.push(entry);
        }
    }
    let seen = seen.join(", ");
    format!("{}, {stated} stated: {seen}.{power}", value.heading())
}

/// What `hits` of `count` say of "not a single one", if as many as `below` have to be told from none.
fn never(hits: u64, count: u64, below: f64, levels: Levels) -> Verdict {
    if hits > 0 {
        Verdict::Contradicted
    } else if binomial_up_to(0, count, below) <= levels.stated {
        Verdict::Reproduced
    } else {
        Verdict::Undecided
    }
}

/// What `hits` of `count` say of "a share of at most `most`".
fn at_most(hits: u64, count: u64, most: f64, levels: Levels) -> Verdict {
    decided(binomial_up_to(hits, count, most), binomial_up_to(count - hits, count, 1.0 - most), levels)
}

/// What `hits` of `count` say of "a share of at least `least`".
fn at_least(hits: u64, count: u64, least: f64, levels: Levels) -> Verdict {
    decided(binomial_up_to(count - hits, count, 1.0 - least), binomial_up_to(hits, count, least), levels)
}

/// What two tails say: how probable as few hits as stated are at the limit, and as many the other way round.
fn decided(stated: f64, opposite: f64, levels: Levels) -> Verdict {
    if stated <= levels.stated {
        Verdict::Reproduced
    } else if opposite <= levels.opposite {
        Verdict::Contradicted
    } else {
        Verdict::Undecided
    }
}

/// Probability of at most `hits` successes in `count` trials of probability `p`, strictly between 0 and 1: to 1e-7 below 0.3 for up to
/// 10,000,000 trials, and from 1,000,000 on less exact near one half, where no level decides.
fn binomial_up_to(hits: u64, count: u64, p: f64) -> f64 {
    Binomial::new(p, count).map_or(1.0, |distribution| distribution.cdf(hits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_probabilities_are_exact() {
        // (1 + 4) / 16, and one less the last term.
        assert!((binomial_up_to(1, 4, 0.5) - 5.0 / 16.0).abs() < 1e-14);
        assert!((binomial_up_to(3, 4, 0.5) - 15.0 / 16.0).abs() < 1e-14);
        assert!((binomial_up_to(0, 20, 0.1) - libm::pow(0.9, 20.0)).abs() < 1e-14);
        assert_eq!(binomial_up_to(4000, 4000, 0.1), 1.0);
        // Where terms far above the mean are skipped by nothing.
        assert!((binomial_up_to(2000, 4000, 0.5) - 0.506_307_8).abs() < 1e-6);
    }

    #[test]
    fn a_share_is_shown_refused_or_left_open() {
        let levels = Levels::of(1e-3, 1);
        // .9^66 = 9.6e-4, .9^65 = 1.06e-3.
        assert_eq!(at_most(0, 66, 0.1, levels), Verdict::Reproduced);
        assert_eq!(at_most(0, 65, 0.1, levels), Verdict::Undecided);
        assert_eq!(at_most(10, 20, 0.1, levels), Verdict::Contradicted);
        assert_eq!(at_most(2, 20, 0.1, levels), Verdict::Undecided);
        // Three of twenty are more than one in a hundred: 1.0e-3 exactly, so at the level 0.002.
        assert_eq!(at_least(3, 20, 0.01, Levels::of(2e-3, 1)), Verdict::Reproduced);
        assert_eq!(at_least(0, 2000, 0.01, levels), Verdict::Contradicted);
        // 7 of 20 are more than a tenth, 2.4e-3: not if it is one of three that could contradict.
        assert_eq!(at_most(7, 20, 0.1, Levels::of(3e-3, 1)), Verdict::Contradicted);
        assert_eq!(at_most(7, 20, 0.1, Levels::of(3e-3, 3)), Verdict::Undecided);
    }

    #[test]
    fn that_it_never_happens_needs_the_runs_that_could_contradict_it() {
        let never = |hits: u64, count: u64| never(hits, count, 0.1, Levels::of(1e-3, 28));
        assert_eq!(never(0, 1), Verdict::Undecided);
        assert_eq!(never(0, 65), Verdict::Undecided);
        assert_eq!(never(0, 66), Verdict::Reproduced);
        // One is enough, however few runs and however many cases there are.
        assert_eq!((never(1, 1), never(1, 9000)), (Verdict::Contradicted, Verdict::Contradicted));
    }
}
