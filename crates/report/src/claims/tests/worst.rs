//! Claims about the worst of all runs.

use super::*;
use crate::claims::worst::Worst;

fn worst(lower: &[&str], upper: &[&str], factor: f64) -> Worst {
    Worst { lower: series(lower), upper: series(upper), t: None, factor }
}

/// Runs with these regrets at the end; one policy for each list.
fn ending(policies: &[(&str, Vec<f64>)]) -> Measurement {
    let runs = |ends: &Vec<f64>| ends.iter().map(|&end| vec![end]).collect();
    let policies: Vec<(&str, Vec<Vec<f64>>)> =
        policies.iter().map(|(label, ends)| (*label, runs(ends))).collect();
    Measurement::synthetic(&T[3..], &policies)
}

/// 100 runs from 1 to 100, and 100 runs from 1 to 80 of which the last has this regret.
fn measured(last: f64) -> Measurement {
    let wide: Vec<f64> = (1..=100).map(f64::from).collect();
    let mut narrow: Vec<f64> = wide.iter().map(|regret| 0.8 * regret).collect();
    narrow[99] = last;
    ending(&[("wide", wide), ("narrow", narrow)])
}

#[test]
fn a_worst_run_is_judged_by_the_runs_above_it() {
    let with =
        |lower: &str, upper: &str, factor, last| verdict(worst(&[lower], &[upper], factor), measured(last));
    // 20 runs above 80; 10 above 90; 9 above 91.
    assert_eq!(with("narrow", "wide", 1.0, 80.0), Verdict::Reproduced);
    assert_eq!(with("narrow", "wide", 1.0, 90.0), Verdict::Reproduced);
    assert_eq!(with("narrow", "wide", 1.0, 91.0), Verdict::Undecided);
    // A single run above all of the other: neither reproduced nor contradicted, whatever its size.
    assert_eq!(with("narrow", "wide", 1.0, 1e9), Verdict::Undecided);
    // The claim the other way round is false.
    assert_eq!(with("wide", "narrow", 1.0, 80.0), Verdict::Contradicted);
    // The factor multiplies `upper`: 1.5 × 80 is above all, with the 16 runs whose 1.5-fold is
    // above 100.
    assert_eq!(with("wide", "narrow", 1.5, 80.0), Verdict::Reproduced);
    assert_eq!(with("narrow", "wide", 0.5, 80.0), Verdict::Contradicted);
    // Nine runs are too few, whatever they are.
    let few = ending(&[("low", vec![1.0; 9]), ("high", vec![5.0; 9])]);
    assert_eq!(verdict(worst(&["low"], &["high"], 1.0), few), Verdict::Undecided);
}

#[test]
fn the_summary_has_the_worst_runs_and_what_they_cannot_show() {
    let of = |test: Worst, last| judged(test, 0.001, &alone(measured(last))).unwrap();
    let finding = of(worst(&["narrow"], &["wide"], 2.0), 80.0);
    assert_eq!(finding.comparisons[0].what, "worst run of narrow − 2 × worst run of wide");
    assert_eq!((finding.comparisons[0].difference, finding.comparisons[0].t), (-120.0, Some(10_000)));
    // 1 - .001^(1/100) = .0667; runs from 41 to 100 are above 80 if doubled.
    assert_eq!(
        finding.summary,
        "Worst of 100 runs, NARROW against 2 × WIDE: 80.00 against 200.0; 60 runs of the other above it, needed 10. \
         These runs would have seen what happens in 6.7 % of all runs."
    );
    assert_eq!(
        of(worst(&["narrow"], &["wide"], 1.0), 1000.0).summary,
        "Worst of 100 runs, NARROW against WIDE: 1,000 against 100.0; 0 runs of the other above it, needed 10."
    );
    assert_eq!(
        of(worst(&["wide"], &["narrow"], 1.0), 80.0).summary,
        "Worst of 100 runs, WIDE against NARROW: 100.0 against 80.00; 20 runs above every run of the other, needed 10."
    );
}

#[test]
fn every_worst_run_has_to_be_below_every_other() {
    let ends = |scale: f64| (1..=100).map(|run| scale * f64::from(run)).collect::<Vec<f64>>();
    let panel = alone(ending(&[("one", ends(1.0)), ("two", ends(2.0)), ("three", ends(3.0))]));
    let of =
        |lower: &[&str], upper: &[&str]| judged(worst(lower, upper, 1.0), 0.001, &panel).unwrap().verdict;
    assert_eq!(of(&["one", "two"], &["three"]), Verdict::Reproduced);
    assert_eq!(of(&["one"], &["two", "three"]), Verdict::Reproduced);
    assert_eq!(of(&["one", "three"], &["two"]), Verdict::Contradicted);
    let uneven = variants(vec![("a", ending(&[("p", ends(1.0))])), ("b", ending(&[("p", vec![1.0; 7])]))]);
    let error = judged(worst(&["a/p"], &["b/p"], 1.0), 0.001, &uneven).unwrap_err();
    assert!(error.to_string().contains("different numbers of runs, 100 and 7"), "{error}");
}

/// A claim on two policies with the same distribution is reproduced, and contradicted, with a
/// probability of at most the level.
///
/// 4,000 claims at level 1/16, each of 40 runs whose users make both policies' regrets large or
/// small together: two thirds of their variance is common. At most 250 are expected, with standard
/// deviation 15.3; at most 323 with probability 1 - 1e-6. A wrong test that compares the worst runs
/// alone grants about half.
#[test]
fn equal_tails_are_rarely_told_apart() {
    const CLAIMS: usize = 4000;
    const AT_MOST: usize = 323;
    let mut normal = normals();
    let (mut granted, mut refused, mut by_worst) = (0, 0, 0);
    for _ in 0..CLAIMS {
        let users: Vec<f64> = (0..40).map(|_| libm::exp(normal())).collect();
        let mut one = || users.iter().map(|user| user * libm::exp(0.7 * normal())).collect::<Vec<f64>>();
        let (a, b) = (one(), one());
        let finding =
            judged(worst(&["a"], &["b"], 1.0), 1.0 / 16.0, &alone(ending(&[("a", a), ("b", b)]))).unwrap();
        granted += usize::from(finding.verdict == Verdict::Reproduced);
        refused += usize::from(finding.verdict == Verdict::Contradicted);
        by_worst += usize::from(finding.comparisons[0].difference < 0.0);
    }
    assert!(granted <= AT_MOST && refused <= AT_MOST, "{granted} {refused}");
    // The test is not too conservative, and the wrong test is caught.
    assert!(granted > 100 && refused > 100 && by_worst > 1800, "{granted} {refused} {by_worst}");
}
