//! Whether an estimate is inside its limits.
//!
//! By how much it is beyond each limit has to be below zero, significantly, for every limit; that it *is* beyond one contradicts.

use super::{Comparison, Finding, Levels, Sign, Verdict, freedom_of, mean_and_error, number, verdict_of};
use crate::student::{self, CONFIDENCE};

/// How far an estimate may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limits {
    /// Not below this.
    AtLeast(f64),
    /// Not above this.
    AtMost(f64),
    /// Neither below the first nor above the second.
    Between(f64, f64),
}

impl Limits {
    /// How far an estimate is beyond each limit: negative inside. `excess` is told the sign and the limit, and makes of them what
    /// sign times (estimate - limit) is.
    pub(super) fn beyond<T>(self, excess: impl Fn(f64, f64) -> T) -> Vec<T> {
        match self {
            Self::AtLeast(least) => vec![excess(-1.0, least)],
            Self::AtMost(most) => vec![excess(1.0, most)],
            Self::Between(least, most) => vec![excess(-1.0, least), excess(1.0, most)],
        }
    }

    /// How many there are.
    pub(super) fn count(self) -> usize {
        self.beyond(|_, _| ()).len()
    }

    /// After "within" and "outside".
    pub(super) fn words(self) -> String {
        match self {
            Self::AtLeast(least) => format!("the limit of at least {least}"),
            Self::AtMost(most) => format!("the limit of at most {most}"),
            Self::Between(least, most) => format!("{least} to {most}"),
        }
    }
}

/// What the amounts beyond the limits, each with its standard error, say together. Reported is the limit that is nearest, or
/// furthest behind.
pub(super) fn judge(beyond: &[(f64, f64)], freedom: u64, levels: Levels) -> Comparison {
    let sign = |&(mean, se): &(f64, f64)| Sign::of(mean, se, freedom, levels);
    let signs: Vec<Sign> = beyond.iter().map(sign).collect();
    let any = |verdict: Verdict| signs.iter().any(|sign| sign.says == verdict);
    let says = match (any(Verdict::Contradicted), any(Verdict::Undecided)) {
        (true, _) => Verdict::Contradicted,
        (false, true) => Verdict::Undecided,
        (false, false) => Verdict::Reproduced,
    };
    let nearest = (0..signs.len())
        .reduce(|one, other| if signs[other].statistic > signs[one].statistic { other } else { one });
    let nearest = nearest.unwrap_or_default();
    let ((mean, se), statistic) = (beyond[nearest], signs[nearest].statistic);
    Comparison {
        what: String::new(),
        readers: String::new(),
        t: None,
        difference: mean,
        se: (freedom > 0).then_some(se),
        statistic: Some(statistic).filter(|statistic| statistic.is_finite()),
        says,
        leads_from: None,
        measured: String::new(),
    }
}

/// Whether a difference is, in both directions, below the margin times a scale of the same runs.
///
/// Sameness is shown within a margin. With the slopes `a` and `b` of a run and the scale `m` (the bound's slope, or `(a + b) / 2`), the
/// differences `a - b - margin m` and `b - a - margin m` both have to have a mean below zero: one sample each, so that nothing is assumed
/// of how the two slopes and their mean vary together.
pub(super) fn judge_margin(differences: &[f64], scales: &[f64], margin: f64, levels: Levels) -> Comparison {
    let beyond = [1.0, -1.0].map(|sign: f64| {
        let beyond: Vec<f64> = differences
            .iter()
            .zip(scales)
            .map(|(difference, scale)| sign * difference - margin * scale)
            .collect();
        mean_and_error(&beyond)
    });
    judge(&beyond, freedom_of(differences), levels)
}

/// A share for readers.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", number::significant(100.0 * share, 2))
}

/// The confidence interval of an estimate; none if its error is unknown.
pub(super) fn interval(value: f64, se: f64, freedom: u64) -> Option<String> {
    let reach = student::reach(freedom).filter(|_| value.is_finite() && se.is_finite())? * se;
    Some(format!("{} to {}", number::beside(value - reach, se), number::beside(value + reach, se)))
}

/// A finding that also says the intervals of its comparisons, in their order: a table has no room for them.
pub(super) fn with_intervals(mut finding: Finding, intervals: Option<Vec<String>>) -> Finding {
    if let Some(intervals) = intervals {
        let of_each = if intervals.len() > 1 { ", comparison by comparison" } else { "" };
        finding.summary =
            format!("{} {CONFIDENCE} confidence{of_each}: {}.", finding.summary, intervals.join("; "));
    }
    finding
}

/// The comparisons with a sentence on those that come nearest to a limit, or are furthest beyond.
pub(super) fn finding(quantity: &'static str, comparisons: Vec<Comparison>, allowed: &str) -> Finding {
    let verdict = verdict_of(&comparisons);
    let size = |one: &&Comparison| one.statistic.unwrap_or(one.difference);
    let widest = comparisons.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let summary = match widest {
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
        // Of one run, which decides nothing.
        _ => String::new(),
    };
    Finding { verdict, summary, quantity, comparisons }
}
