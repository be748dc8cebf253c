//! How many runs a claim needs: the power of its test for effects of the size that was measured.
//!
//! A comparison has the statistic `z` after `n` runs, which grows with the square root of the runs.
//! It is significant with probability [`POWER`] if its expected value is the critical value plus
//! the normal quantile of the power, so after `n ((critical + quantile) / z)^2` runs. *Reproduced*
//! requires this of every comparison, *contradicted* of one. The power is that of each comparison
//! on its own.

use super::{Finding, Levels, Verdict, fewest_runs};
use crate::student;
use num_traits::ToPrimitive as _;

/// The probability with which a check should come to the verdict again.
pub(crate) const POWER: f64 = 0.99;
/// The normal quantile of [`POWER`].
const QUANTILE: f64 = 2.326_347_874;

/// From how many runs on a check comes to this verdict again with probability [`POWER`], if effects
/// and spread are as measured in `runs` runs. `None` if the claim is undecided, or its comparisons
/// are exact.
pub(crate) fn runs_needed(finding: &Finding, level: f64, levels: Levels, runs: u64) -> Option<u64> {
    let decided = finding.comparisons.iter().filter(|one| one.says == finding.verdict);
    let statistics: Vec<f64> = decided
        .filter(|comparison| comparison.se.is_some())
        .filter_map(|one| one.statistic)
        .map(f64::abs)
        .collect();
    let (level_of_one, statistic) = match finding.verdict {
        Verdict::Reproduced => (levels.stated, statistics.iter().copied().reduce(f64::min)?),
        Verdict::Contradicted => (levels.opposite, statistics.iter().copied().reduce(f64::max)?),
        _ => return None,
    };
    let needed = observations_needed(level_of_one, fewest_runs(level), QUANTILE, statistic, runs)?;
    libm::ceil(needed).to_u64()
}

/// From how many observations on a one-sided test at this level is significant with the power of a
/// normal quantile, if it has this statistic after some; at least the fewest.
pub(crate) fn observations_needed(
    level: f64,
    fewest: u64,
    quantile: f64,
    statistic: f64,
    observations: u64,
) -> Option<f64> {
    let mut needed = observations.max(fewest) as f64;
    // The critical value depends on the observations, but hardly.
    for _ in 0..5 {
        let critical = student::critical(level, needed.to_u64()?.max(fewest) - 1);
        let share = (critical + quantile) / statistic;
        needed = (observations as f64 * share * share).max(fewest as f64);
    }
    Some(needed)
}

#[cfg(test)]
mod tests {
    use super::super::Comparison;
    use super::*;

    fn comparison(says: Verdict, statistic: f64) -> Comparison {
        Comparison { se: Some(1.0), statistic: Some(statistic), says, ..Comparison::default() }
    }

    fn finding(verdict: Verdict, comparisons: Vec<Comparison>) -> Finding {
        Finding { verdict, summary: String::new(), quantity: "", comparisons }
    }

    #[test]
    fn the_weakest_comparison_decides_what_is_reproduced() {
        let found = finding(
            Verdict::Reproduced,
            vec![comparison(Verdict::Reproduced, -9.1), comparison(Verdict::Reproduced, -40.0)],
        );
        // ((3.09 + 2.33) / 9.1)^2 of 3,000 runs, with Student's critical value at a thousand.
        let needed = runs_needed(&found, 0.001, Levels::of(0.001, 2), 3000).unwrap();
        assert!((1064..=1074).contains(&needed), "{needed}");
        // A statistic that large would do with one run, but ten are needed at this level.
        let clear = finding(Verdict::Reproduced, vec![comparison(Verdict::Reproduced, -900.0)]);
        assert_eq!(runs_needed(&clear, 0.001, Levels::of(0.001, 1), 3000), Some(10));
    }

    #[test]
    fn the_strongest_comparison_decides_what_is_contradicted() {
        let found = finding(
            Verdict::Contradicted,
            vec![
                comparison(Verdict::Contradicted, 5.0),
                comparison(Verdict::Contradicted, 20.0),
                comparison(Verdict::Reproduced, -3.5),
            ],
        );
        let needed = runs_needed(&found, 0.001, Levels::of(0.001, 3), 1000).unwrap();
        // ((3.49 + 2.33) / 20)^2 of 1,000 runs, with Student's critical value at eighty.
        assert!((80..=100).contains(&needed), "{needed}");
    }

    #[test]
    fn open_claims_and_exact_comparisons_need_no_number() {
        let open = finding(Verdict::Undecided, vec![comparison(Verdict::Undecided, 1.0)]);
        assert_eq!(runs_needed(&open, 0.001, Levels::of(0.001, 1), 100), None);
        let exact = Comparison { se: None, statistic: None, ..comparison(Verdict::Reproduced, -1.0) };
        let exact = finding(Verdict::Reproduced, vec![exact]);
        assert_eq!(runs_needed(&exact, 0.001, Levels::of(0.001, 1), 100), None);
    }

    /// Simulated checks with the number of runs that the formula gives come to the verdict in about
    /// 99 of 100 cases.
    #[test]
    fn the_power_is_as_stated() {
        use super::super::levels::Sign;
        use super::super::mean_and_error;
        use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

        let levels = Levels::of(0.001, 1);
        // Mean -0.5 and spread 1 give a statistic of -10 in 400 runs.
        let found = finding(Verdict::Reproduced, vec![comparison(Verdict::Reproduced, -10.0)]);
        let runs = runs_needed(&found, 0.001, levels, 400).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut check = || {
            // The sum of twelve uniform numbers of sixteen bits is nearly normal, with variance 1.
            let mut four = || {
                let bits: u64 = rng.random();
                (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48)
            };
            let mut normal = || ((four() + four() + four()) as f64 + 6.0) / 65_536.0 - 6.0;
            let sample: Vec<f64> = (0..runs).map(|_| normal() - 0.5).collect();
            let (mean, se) = mean_and_error(&sample);
            Sign::of(mean, se, runs - 1, levels).says == Verdict::Reproduced
        };
        let hits = (0..4000).filter(|_| check()).count();
        // Six standard deviations, and the approximation of the formula.
        assert!((3915..=3998).contains(&hits), "{hits} of 4,000 checks with {runs} runs");
    }
}
