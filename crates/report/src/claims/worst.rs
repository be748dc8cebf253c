//! Whether the worst run of one policy is better than the worst run of another ("Worst runs" in
//! `xtask/experiments/README.md`): Rosenbaum's test of two tails (1954), with the null hypothesis
//! of the sign test.
//!
//! No number of runs excludes a catastrophe that happens in none of them. `n` runs miss an event
//! that has probability `p` in a run with probability `(1 - p)^n`; the summary of a reproduced
//! claim gives the largest `p` of which this is above the level.

use crate::keys::{FACTOR, ROUND, required, series};
use itertools::Itertools as _;
use std::sync::Arc;

use super::evidence::same_length;
use super::levels::{coin, fewest_runs};
use super::{
    Basis, Comparison, Finding, JudgeError, Kind, KindReader, Levels, Sample, Test, Verdict, verdict_of,
};
use crate::series::Series;
use confidence::math::ln;
use documents::number;
use documents::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "worst",
    says: "the regret of the worst run of each of `lower` is below `factor` times that of the worst run of each of `upper`, by the number of runs of `upper` that are above every run of `lower`",
    keys: &[
        required("lower", || series(1), "series"),
        required("upper", || series(1), "series"),
        ROUND,
        FACTOR,
    ],
    relations: Vec::new,
    needs: &[],
    read,
};

/// The largest regret of all runs of each of `lower` is below `factor` times that of each of
/// `upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// The series with the better worst run.
    pub lower: Vec<Series>,
    /// The series with the other worst run.
    pub upper: Vec<Series>,
    /// Checkpoint; the last one if absent.
    pub t: Option<u64>,
    /// The factor of `upper`.
    pub factor: f64,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    reading.check_regret()?;
    let [lower, upper] = reading.lower_and_upper()?;
    let t = reading.round(&[&lower[..], &upper].concat())?;
    Ok(Arc::new(Worst { lower, upper, t, factor: reading.factor()? }))
}

impl Test for Worst {
    fn tests(&self) -> usize {
        self.lower.len() * self.upper.len()
    }

    fn sample(&self) -> Sample {
        Sample::Runs
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let name = evidence.reader_name;
        let mut comparisons = Vec::new();
        let mut counts = Vec::new();
        for (low, high) in self.lower.iter().cartesian_product(&self.upper) {
            let (below, above) = (evidence.runs(low)?, evidence.runs(high)?);
            let t = below.round(self.t)?;
            let (below, mut above) = (below.values_of_runs(t)?, above.values_of_runs(t)?);
            let n_runs = same_length([&below, &above])?;
            for regret in &mut above {
                *regret *= self.factor;
            }
            let tails = Tails::of(&below, &above);
            let times = if self.factor == 1.0 { String::new() } else { format!("{} × ", self.factor) };
            let digits = |regret: f64| number::significant(regret, 4);
            comparisons.push(Comparison {
                what: format!("worst run of {low} − {times}worst run of {high}"),
                readers: format!("{} against {times}{}", name(low), name(high)),
                t: Some(t),
                difference: tails.below - tails.above,
                says: tails.says(levels),
                measured: format!("{} against {}", digits(tails.below), digits(tails.above)),
                ..Comparison::default()
            });
            counts.push((tails, n_runs as u64));
        }
        let verdict = verdict_of(&comparisons);
        let summary = summary(verdict, &comparisons, &counts, levels);
        Ok(Finding { verdict, summary, quantity: "regret of the worst run", comparisons })
    }
}

/// The upper tails of two samples of the same runs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tails {
    /// The largest value of the sample that is stated to be below.
    below: f64,
    /// The largest value of the sample that is stated to be above.
    above: f64,
    /// The number of values of the sample above that exceed every value of the sample below.
    ahead: u64,
    /// The number of values of the sample below that exceed every value of the sample above.
    behind: u64,
}

impl Tails {
    fn of(below: &[f64], above: &[f64]) -> Self {
        // A value that is no number exceeds nothing and is exceeded by nothing.
        let largest = |sample: &[f64]| sample.iter().copied().max_by(f64::total_cmp).unwrap_or(f64::NAN);
        let beyond = |sample: &[f64], limit: f64| {
            let no_number = sample.iter().any(|value| value.is_nan());
            if no_number { 0 } else { sample.iter().filter(|value| **value > limit).count() as u64 }
        };
        let largest = [largest(below), largest(above)];
        let [ahead, behind] = [beyond(above, largest[0]), beyond(below, largest[1])];
        Self { below: largest[0], above: largest[1], ahead, behind }
    }

    fn says(self, levels: Levels) -> Verdict {
        levels.verdict(coin(self.ahead), coin(self.behind))
    }
}

/// Sums up the comparison with the fewest runs ahead.
fn summary(verdict: Verdict, comparisons: &[Comparison], counts: &[(Tails, u64)], levels: Levels) -> String {
    let nearest = comparisons.iter().zip(counts).min_by(|(_, (a, _)), (_, (b, _))| {
        (a.ahead, b.behind).cmp(&(b.ahead, a.behind)).then(b.below.total_cmp(&a.below))
    });
    let Some((comparison, &(tails, runs))) = nearest else { return String::new() };
    let [ahead, behind] = [tails.ahead, tails.behind].map(|count| number::counted(count, "run"));
    let [stated, opposite] = [levels.stated, levels.opposite].map(fewest_runs);
    let Comparison { readers, measured, .. } = comparison;
    let found = match verdict {
        Verdict::Contradicted => format!("{behind} above every run of the other, needed {opposite}"),
        _ => format!("{ahead} of the other above it, needed {stated}"),
    };
    let power = if verdict == Verdict::Reproduced {
        // (1 - p)^runs = level.
        let seen = -libm::expm1(ln(levels.stated) / runs as f64);
        let share = number::significant(100.0 * seen, 2);
        format!(" These runs would have seen what happens in {share} % of all runs.")
    } else {
        String::new()
    };
    format!("Worst of {}, {readers}: {measured}; {found}.{power}", number::counted(runs, "run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_counted_from_the_largest_value_of_the_other() {
        let tails = Tails::of(&[1.0, 4.0, 2.0], &[5.0, 4.0, 9.0]);
        assert_eq!(tails, Tails { below: 4.0, above: 9.0, ahead: 2, behind: 0 });
        assert_eq!(Tails::of(&[1.0, 9.0], &[5.0, 5.0]).behind, 1);
        // Neither is ahead of an equal value.
        let equal = Tails::of(&[3.0, 1.0], &[3.0, 2.0]);
        assert_eq!((equal.ahead, equal.behind), (0, 0));
    }

    #[test]
    fn ten_runs_ahead_decide_at_the_usual_level_and_more_with_several_comparisons_the_other_way() {
        let with = |ahead, behind, tests| {
            Tails { below: 1.0, above: 1.0, ahead, behind }.says(Levels::of(1e-3, tests))
        };
        assert_eq!((with(9, 0, 1), with(10, 0, 1)), (Verdict::Undecided, Verdict::Reproduced));
        assert_eq!((with(0, 9, 1), with(0, 10, 1)), (Verdict::Undecided, Verdict::Contradicted));
        // Each comparison has to hold at the level itself; four share the level the other way
        // round.
        assert_eq!((with(10, 0, 4), with(0, 10, 4)), (Verdict::Reproduced, Verdict::Undecided));
        assert_eq!(with(0, 12, 4), Verdict::Contradicted);
    }

    #[test]
    fn a_value_that_is_no_number_decides_nothing() {
        let many = [2.0; 20];
        let mut broken = many;
        broken[3] = f64::NAN;
        for (below, above) in [(&broken, &many), (&many, &broken)] {
            let tails = Tails::of(below, above);
            assert_eq!((tails.ahead, tails.behind), (0, 0));
        }
    }
}
