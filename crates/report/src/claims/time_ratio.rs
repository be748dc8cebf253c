//! Whether the ratio of the times that two policies need to recommend the best item is within
//! limits.
//!
//! For a single run the area between the curves of accuracy is `sum w (accuracy of the second -
//! accuracy of the first)`; the weight of a horizon is the logarithmic space around it
//! (trapezoids). The mean over runs is the logarithm of the ratio, and its standard error comes
//! from the runs.

use crate::keys::{LEAST, MOST, any_text, has_a_limit, required};
use confidence::math::ln;
use std::sync::Arc;

use super::evidence::same_length;
use super::levels::freedom_of;
use super::{
    Basis, Comparison, Evidence, Finding, JudgeError, Kind, KindReader, Limits, Test, limits, mean_and_error,
};
use crate::reading::check_paired;
use crate::series::Series;
use crate::student;
use documents::number;
use documents::toml_reader::Error;
use experiment::result::EndValue;

pub(super) static KIND: Kind = Kind {
    name: "time-ratio",
    says: "of dueling users, variants with a horizon each: the first needs at least `least` and at most `most` times the rounds of the second to recommend the best item, on average over the levels of accuracy",
    keys: &[
        required("policy", any_text, "a label that all variants have"),
        required("by", any_text, "another one"),
        LEAST,
        MOST,
    ],
    relations: || vec![has_a_limit()],
    needs: &[],
    read,
};

/// The ratio of the times that two policies need to recommend the best item is within limits, on
/// average over the levels of accuracy.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeRatio {
    /// The labels of the two policies, which all variants have.
    pub policies: [String; 2],
    /// The limits of the ratio.
    pub limits: Limits,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let panel = reading.panel()?;
    if !panel.has_duels() || panel.variants.len() < 2 {
        return Err(reading.kind.error(format!(
            "{} compares the accuracy of several variants, of dueling users, with a horizon each",
            reading.kind.describe()
        )));
    }
    check_paired(&reading.kind, panel, &panel.series())?;
    let policies = [reading.label("policy")?, reading.label("by")?];
    Ok(Arc::new(TimeRatio { policies, limits: Limits::read(reading)? }))
}

impl Test for TimeRatio {
    fn tests(&self) -> usize {
        self.limits.count()
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let Self { policies, limits } = self;
        let evidence = Evidence { value: EndValue::Accuracy, ..*evidence };
        let mut horizons: Vec<(f64, [Vec<f64>; 2])> = Vec::new();
        let [first, second] = [&policies[0], &policies[1]].map(|policy| evidence.runs_of_variants(policy));
        for ((_, one), (_, other)) in first?.iter().zip(&second?) {
            let horizon = one.round(None)?;
            horizons.push((ln(horizon as f64), [one.values(horizon)?, other.values(horizon)?]));
        }
        horizons.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n_runs = same_length(horizons.iter().flat_map(|(_, both)| both))?;
        let mut sample = vec![0.0; n_runs];
        for (index, (middle, [one, other])) in horizons.iter().enumerate() {
            let before = index.checked_sub(1).map_or(*middle, |index| horizons[index].0);
            let after = horizons.get(index + 1).map_or(*middle, |(after, _)| *after);
            let weight = (after - before) / 2.0;
            for ((sum, one), other) in sample.iter_mut().zip(one).zip(other) {
                *sum += weight * (other - one);
            }
        }
        let (mean, se) = mean_and_error(&sample);
        let beyond = limits.beyond(|sign, limit| (sign * (mean - ln(limit)), se));
        let name = |label: &String| (evidence.reader_name)(&Series { variant: None, policy: label.clone() });
        let ratio = libm::exp(mean);
        let comparison = Comparison {
            what: format!("{} / {}", policies[0], policies[1]),
            readers: format!("{} / {}", name(&policies[0]), name(&policies[1])),
            measured: number::with_error(ratio, ratio * se),
            ..limits::judge(&beyond, freedom_of(&sample), levels)
        };
        let interval = interval(mean, se, freedom_of(&sample)).map(|interval| vec![interval]);
        Ok(limits::finding("ratio of times", vec![comparison], *limits, interval))
    }
}

/// The confidence interval of the ratio, from the interval of its logarithm.
fn interval(mean: f64, se: f64, freedom: u64) -> Option<String> {
    let reach = student::reach(freedom)? * se;
    let [low, high] = [mean - reach, mean + reach].map(libm::exp);
    Some(format!("{} to {}", number::significant(low, 3), number::significant(high, 3)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Levels, Verdict};
    use crate::series::VariantRuns;
    use crate::synthetic::Synthetic as _;
    use experiment::{Measurement, Runs};
    use sim::Curve;

    /// Variants given by a horizon and the numbers of runs (of 100) in which the policies a and b
    /// are right at the end.
    fn variants(horizons: &[(u64, usize, usize)]) -> Vec<VariantRuns> {
        let variant = |&(horizon, a, b): &(u64, usize, usize)| {
            let regrets = vec![vec![1.0]; 100];
            let mut measured = Measurement::synthetic(&[horizon], &[("a", regrets.clone()), ("b", regrets)]);
            let curve = |accurate| Curve { regret: vec![1.0], clicks: vec![9.0], accurate: vec![accurate] };
            measured.runs =
                Runs::in_memory(&[a, b].map(|right| (0..100).map(|run| curve(run < right)).collect()));
            VariantRuns { name: Some(horizon.to_string()), title: String::new(), size: None, measured }
        };
        horizons.iter().map(variant).collect()
    }

    fn judged(horizons: &[(u64, usize, usize)], limits: Limits) -> Finding {
        let variants = variants(horizons);
        let reader_name = |series: &Series| series.policy.clone();
        let evidence = Evidence { variants: &variants, value: EndValue::Accuracy, reader_name: &reader_name };
        let test = TimeRatio { policies: ["a".to_owned(), "b".to_owned()], limits };
        let levels = Levels::of(1e-3, test.tests());
        test.judge(&Basis { evidence: Some(&evidence), rows: &[], levels }).unwrap()
    }

    #[test]
    fn a_curve_that_is_shifted_by_a_decade_has_a_ratio_of_ten() {
        // At ten times the horizon b has the accuracy that a has, so b needs ten times as long at
        // every level.
        let horizons = [(10, 0, 0), (100, 40, 0), (1000, 90, 40), (10_000, 100, 90), (100_000, 100, 100)];
        let finding = judged(&horizons, Limits::Between(0.05, 0.2));
        assert_eq!(finding.verdict, Verdict::Reproduced);
        let ratio: f64 = finding.comparisons[0].measured.split(' ').next().unwrap().parse().unwrap();
        // The weights of a run depend on the horizons at which it is right, but the mean ratio is
        // 0.1.
        assert!((ratio - 0.1).abs() < 1e-3, "{}", finding.comparisons[0].measured);
        assert_eq!(judged(&horizons, Limits::AtLeast(0.5)).verdict, Verdict::Contradicted);
        // The order of variants does not matter.
        let turned: Vec<_> = horizons.into_iter().rev().collect();
        assert_eq!(judged(&turned, Limits::AtLeast(0.5)), judged(&horizons, Limits::AtLeast(0.5)));
    }
}
