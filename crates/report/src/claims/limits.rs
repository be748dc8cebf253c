//! Whether an estimate is within its limits: its excess over a limit is positive beyond the limit.

use super::levels::Sign;
use super::{Comparison, Finding, Levels, Verdict, verdict_of};
use crate::keys::{LEAST, MOST};
use crate::reading::KindReader;
use crate::student::{self, CONFIDENCE};
use documents::number;
use documents::toml_reader::{Error, Field};
use itertools::Itertools as _;

/// Limits of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limits {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// At least the first, at most the second.
    Between(f64, f64),
}

impl Limits {
    /// Reads `least`, `most`, or both.
    pub(super) fn read(reading: &KindReader<'_, '_>) -> Result<Self, Error> {
        match (reading.table.optional(LEAST.name)?, reading.table.optional(MOST.name)?) {
            (Some(least), Some(most)) if least < most => Ok(Self::Between(least, most)),
            (Some(_), Some(_)) => {
                let most: Field<'_> = reading.table.required(MOST.name)?;
                Err(most.error("`most` is not above `least`: expected a larger number"))
            }
            (Some(least), None) => Ok(Self::AtLeast(least)),
            (None, Some(most)) => Ok(Self::AtMost(most)),
            (None, None) => Err(reading.table.missing(LEAST.name, "a number, here or as `most`")),
        }
    }

    /// The excess over each limit: negative within it. `excess(sign, limit)` has to compute
    /// `sign * (estimate - limit)`.
    pub(super) fn beyond<T>(self, excess: impl Fn(f64, f64) -> T) -> Vec<T> {
        match self {
            Self::AtLeast(least) => vec![excess(-1.0, least)],
            Self::AtMost(most) => vec![excess(1.0, most)],
            Self::Between(least, most) => vec![excess(-1.0, least), excess(1.0, most)],
        }
    }

    pub(super) fn count(self) -> usize {
        self.beyond(|_, _| ()).len()
    }

    /// A description that follows "within" or "outside".
    fn words(self) -> String {
        match self {
            Self::AtLeast(least) => format!("the limit of at least {least}"),
            Self::AtMost(most) => format!("the limit of at most {most}"),
            Self::Between(least, most) => format!("{least} to {most}"),
        }
    }
}

/// Judges the excesses over the limits, each with its standard error. Reports the limit with the
/// largest statistic: the nearest one, or the one that is exceeded most.
pub(super) fn judge(beyond: &[(f64, f64)], freedom: u64, levels: Levels) -> Comparison {
    let signs = beyond.iter().map(|&(mean, se)| Sign::of(mean, se, freedom, levels)).collect_vec();
    let says = Verdict::of_all(signs.iter().map(|sign| sign.says));
    let further = |one: usize, other: usize| signs[other].statistic > signs[one].statistic;
    let nearest = (0..signs.len()).reduce(|one, other| if further(one, other) { other } else { one });
    let nearest = nearest.unwrap_or_default();
    Comparison { says, ..Comparison::of(beyond[nearest], freedom, levels) }
}

/// The confidence interval of an estimate; `None` if its error is unknown.
pub(super) fn interval(value: f64, se: f64, freedom: u64) -> Option<String> {
    let reach = student::reach(freedom).filter(|_| value.is_finite() && se.is_finite())? * se;
    Some(format!("{} to {}", number::beside(value - reach, se), number::beside(value + reach, se)))
}

/// The finding of these comparisons, summed up by the one that exceeds its limit most, and by their
/// intervals in their order, if they are known.
pub(super) fn finding(
    quantity: &'static str,
    comparisons: Vec<Comparison>,
    limits: Limits,
    intervals: Option<Vec<String>>,
) -> Finding {
    let (verdict, allowed) = (verdict_of(&comparisons), limits.words());
    let size = |one: &&Comparison| one.statistic.unwrap_or(one.difference);
    let widest = comparisons.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let mut summary = match widest {
        Some(one) if one.difference.is_nan() => {
            "A regret is 0 in every run: there is nothing to fit.".to_owned()
        }
        Some(one) if one.se.is_some() => {
            let word = match verdict {
                Verdict::Reproduced => "Within",
                Verdict::Contradicted => "Outside",
                _ => "Undecided whether within",
            };
            let z = one.statistic.map_or_else(|| "∞".to_owned(), |z| number::fixed(z.abs(), 1));
            let (measured, which) = (&one.measured, &one.readers);
            format!("{word} {allowed}: {which} is {measured}, |z| = {z} from its edge.")
        }
        // A single run decides nothing.
        _ => String::new(),
    };
    if let Some(intervals) = intervals {
        let each = if intervals.len() > 1 { ", comparison by comparison" } else { "" };
        summary = format!("{summary} {CONFIDENCE} confidence{each}: {}.", intervals.join("; "));
    }
    Finding { verdict, summary, quantity, comparisons }
}
