//! The probability of a wrong verdict, with many comparisons and with few runs.

use super::*;
use crate::claims::fit::Fit;
use crate::claims::growth::Growth;
use crate::claims::share::{Share, ShareLimit};
use crate::claims::time_ratio::TimeRatio;
use crate::claims::within::Divisor;

/// Policies `low0` to `low{m - 1}` with these mean regrets over 30 runs, and `high` with mean zero,
/// all with normal noise. One checkpoint.
fn noisy(means: &[f64], normal: &mut impl FnMut() -> f64) -> Measurement {
    let labels: Vec<String> = (0..means.len()).map(|number| format!("low{number}")).collect();
    let mut policies: Vec<(&str, Vec<Vec<f64>>)> = vec![("high", vec![vec![0.0]; 30])];
    for (label, mean) in labels.iter().zip(means) {
        policies.push((label, (0..30).map(|_| vec![mean + normal()]).collect()));
    }
    Measurement::synthetic(&T[..1], &policies)
}

/// The verdict on "each of the policies is below `high`" at level 0.05.
fn below_high(measured: Measurement, policies: usize) -> Verdict {
    let labels: Vec<String> = (0..policies).map(|number| format!("low{number}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    judged(ordered(&labels, &["high"], None), 0.05, &alone(measured)).unwrap().verdict
}

const CLAIMS: u32 = 500;
/// A number of `CLAIMS` claims, each with probability .05, is below with probability below 1e-6,
/// and above with the same.
const AT_THE_LEVEL: std::ops::RangeInclusive<u32> = 6..=51;

/// A claim that is only just true is contradicted with a probability of at most the level, whatever
/// the number of comparisons.
///
/// 500 claims at level 0.05 with 30 comparisons each, all exactly at the limit. At most 25 are
/// expected to be contradicted, with standard deviation 4.9; at most 51 with probability 1 - 1e-6.
/// Without a correction a claim is contradicted with probability 1 - .95^30 = .79: 395 of 500, and
/// 51 or fewer with probability below 1e-200.
#[test]
fn a_true_claim_of_many_comparisons_is_rarely_contradicted() {
    let mut normal = normals();
    let mut contradicted = 0;
    for _ in 0..CLAIMS {
        let verdict = below_high(noisy(&[0.0; 30], &mut normal), 30);
        contradicted += u32::from(verdict == Verdict::Contradicted);
    }
    // The correction is not too conservative: for independent comparisons it is nearly exact.
    assert!(AT_THE_LEVEL.contains(&contradicted), "{contradicted}");
}

/// A claim with a single false comparison is reproduced with a probability of at most the level,
/// and this needs no correction: the other comparisons, which hold by far, do not make it less
/// likely. The numbers are those of the test above. With a correction, .8 of 500 claims are
/// expected to be reproduced, and 6 or more with probability 2e-4.
#[test]
fn a_claim_with_one_comparison_at_the_edge_is_reproduced_at_the_level() {
    let mut normal = normals();
    let mut reproduced = 0;
    for _ in 0..CLAIMS {
        let mut means = [-5.0; 30];
        means[7] = 0.0;
        reproduced += u32::from(below_high(noisy(&means, &mut normal), 30) == Verdict::Reproduced);
    }
    assert!(AT_THE_LEVEL.contains(&reproduced), "{reproduced}");
}

#[test]
fn every_kind_of_claim_counts_its_comparisons() {
    let three = ["a", "b", "c"];
    let limits = Limits::Between(0.9, 1.1);
    let last = ComparedAt::Round(None);
    let ratio = all_by(&three, &Divisor::Series(series(&["d"]).remove(0), Some(10)), last, limits);
    let growth = Growth { series: series(&three), sizes: vec![1.0, 2.0, 3.0], t: None, limits };
    let printed = |limits| all_by(&three, &Divisor::Printed(1.0), last, limits);
    let fit = Fit { policy: "a".to_owned(), power: 1.0, r_squared: 0.9 };
    let all: [(Arc<dyn Test>, usize); 12] = [
        (Arc::new(ordered(&three, &["d", "e"], None)), 6),
        (Arc::new(all_by(&three, &Divisor::Optimum, last, Limits::AtMost(0.1))), 3),
        (Arc::new(all_by(&three, &Divisor::Bound, last, Limits::AtMost(1.0))), 3),
        (Arc::new(parallel(0.1)), 2),
        // Three pairs with two sides each.
        (Arc::new(same(&three, 0.1)), 6),
        (Arc::new(ratio), 6),
        (Arc::new(printed(limits)), 6),
        (Arc::new(printed(Limits::AtMost(1.0))), 3),
        (Arc::new(growth), 2),
        (Arc::new(fit), 2),
        (Arc::new(Share { series: series(&three), limit: ShareLimit::Most(0.1) }), 3),
        (Arc::new(TimeRatio { policies: ["a".to_owned(), "b".to_owned()], limits }), 2),
    ];
    for (test, tests) in all {
        assert_eq!(test.tests(), tests, "{test:?}");
        assert_eq!(Levels::of(0.001, tests), Levels { stated: 0.001, opposite: 0.001 / tests as f64 });
    }
}

#[test]
fn the_threshold_of_a_contradiction_grows_with_the_number_of_comparisons() {
    // With 199 degrees of freedom: 3.13 standard errors at 0.001, 3.64 at a fifth of it.
    let measured = || runs(200, [-3.3; 4], 1.0);
    let found = |lower: &[&str]| judged(ordered(lower, &["bad"], None), 0.001, &alone(measured())).unwrap();
    let alone = found(&["good"]);
    assert_eq!(alone.verdict, Verdict::Contradicted);
    assert_eq!(alone.summary, "Significantly the other way round: |z| = 3.3, needed 3.13.");
    let one_of_two = found(&["good", "even"]);
    assert_eq!(one_of_two.comparisons[0].says, Verdict::Undecided, "3.3 is below 3.34");
    assert!(one_of_two.comparisons[1].statistic.unwrap() > 3.34, "{one_of_two:?}");
    assert_eq!(one_of_two.verdict, Verdict::Contradicted);
    assert_eq!(
        one_of_two.summary,
        "1 of 2 comparisons significantly the other way round (|z| needed: 3.34), 0 as stated (needed: 3.13)."
    );
}

/// Two runs that are close to each other may have any statistic, so no decision is made on fewer
/// runs than the sign test needs.
#[test]
fn few_runs_decide_nothing_however_large_the_statistic() {
    assert_eq!((fewest_runs(0.001), fewest_runs(0.05), fewest_runs(0.5)), (10, 5, 1));
    let found = |n: usize, difference: f64| {
        judged(ordered(&["good"], &["bad"], None), 0.001, &alone(runs(n, [difference; 4], 1e-3))).unwrap()
    };
    for difference in [10.0, -10.0] {
        for n in [2, 4, 8] {
            let finding = found(n, difference);
            assert!(finding.comparisons[0].statistic.unwrap().abs() > 9_000.0);
            assert_eq!(
                (finding.verdict, finding.comparisons[0].says),
                (Verdict::Undecided, Verdict::Undecided)
            );
            assert_eq!(finding.comparisons[0].leads_from, None);
            assert_eq!(finding.summary, format!("{n} runs decide nothing: at least 10 are needed."));
        }
        assert_ne!(found(12, difference).verdict, Verdict::Undecided);
    }
}
