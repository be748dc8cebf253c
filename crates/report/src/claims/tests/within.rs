//! Claims about ratios of regrets.

use super::*;

fn ratio(series_of: &[&str], by: &[&str], limits: Limits) -> Within {
    let by = series(by).into_iter().map(|by| Divisor::Series(by, None));
    Within { quotients: series(series_of).into_iter().zip(by).collect(), at: ComparedAt::Round(None), limits }
}

/// Two policies with runs that differ a hundredfold. In each run the first has about `factor` times
/// the regret of the second.
fn times(factor: f64, se: f64) -> Measurement {
    let small: Vec<f64> = (0..200).map(|run| if run % 2 == 0 { 1.0 } else { 99.0 }).collect();
    let noise = around(0.0, 50.0 * se, 200);
    let large = small.iter().zip(&noise).map(|(small, noise)| factor * small + noise);
    let flat = |regret: f64| vec![0.0, 0.0, 0.0, regret];
    Measurement::synthetic(
        &T,
        &[
            ("large", large.map(flat).collect()),
            ("small", small.iter().map(|&regret| flat(regret)).collect()),
        ],
    )
}

#[test]
fn a_ratio_is_within_its_limits_or_outside() {
    let with =
        |factor: f64, se: f64, limits| verdict(ratio(&["large"], &["small"], limits), times(factor, se));
    let twice = Limits::Between(1.8, 2.2);
    for (factor, expected) in [
        (2.0, Verdict::Reproduced),
        (1.85, Verdict::Reproduced),
        (2.15, Verdict::Reproduced),
        (2.19, Verdict::Undecided),
        (2.21, Verdict::Undecided),
        (2.3, Verdict::Contradicted),
        (1.7, Verdict::Contradicted),
        (4.0, Verdict::Contradicted),
    ] {
        assert_eq!(with(factor, 0.01, twice), expected, "{factor}");
    }
    assert_eq!(with(2.0, 0.2, twice), Verdict::Undecided);
    assert_eq!(with(4.0, 0.01, Limits::AtLeast(3.0)), Verdict::Reproduced);
    assert_eq!(with(2.0, 0.01, Limits::AtLeast(3.0)), Verdict::Contradicted);
    assert_eq!(with(2.0, 0.01, Limits::AtMost(3.0)), Verdict::Reproduced);
    assert_eq!(with(4.0, 0.01, Limits::AtMost(3.0)), Verdict::Contradicted);
    // The ratio is known exactly, although the runs differ a hundredfold.
    assert_eq!(with(2.0, 0.0, Limits::Between(1.999, 2.001)), Verdict::Reproduced);
    assert_eq!(with(f64::NAN, 0.1, twice), Verdict::Undecided);
}

#[test]
fn the_summary_of_a_ratio_has_its_confidence_interval() {
    let finding =
        judged(ratio(&["large"], &["small"], Limits::Between(1.8, 2.2)), 0.001, &alone(times(2.1, 0.01)));
    let finding = finding.unwrap();
    assert_eq!(finding.comparisons[0].what, "large / small");
    // 199 degrees of freedom: 1.972 standard errors. The mean of `large - 2.2 small` over the runs
    // is -5. Its two parts, the noise and -0.1 `small`, are fully correlated, so their errors 0.5
    // and 0.1 * 49 / sqrt(199) add up to 0.847.
    assert_eq!(
        finding.summary,
        "Within 1.8 to 2.2: LARGE / SMALL is 2.100 ± 0.010, |z| = 5.9 from its edge. 95 % confidence: 2.080 to 2.120."
    );
    let one = Measurement::synthetic(&T, &[("a", vec![vec![4.0; 4]]), ("b", vec![vec![2.0; 4]])]);
    let one = judged(ratio(&["a"], &["b"], Limits::AtMost(3.0)), 0.001, &alone(one)).unwrap();
    assert_eq!((one.verdict, &*one.comparisons[0].measured), (Verdict::Undecided, "2.000"));
    assert_eq!(one.summary, "1 run decides nothing: at least 10 are needed.");
}

/// A claim is about the ratio of the means, not the mean of the ratios, which a few runs with
/// little regret can raise.
#[test]
fn the_ratio_of_the_means_is_judged_not_the_mean_of_the_ratios() {
    let large = (0..200).map(|run| vec![if run % 2 == 0 { 10.0 } else { 190.0 }; 4]).collect();
    let small = (0..200).map(|run| vec![if run % 2 == 0 { 1.0 } else { 99.0 }; 4]).collect();
    let measured = Measurement::synthetic(&T, &[("large", large), ("small", small)]);
    // Means 100 and 50; the mean of the ratios is 5.96.
    assert_eq!(
        verdict(ratio(&["large"], &["small"], Limits::Between(1.8, 2.2)), measured),
        Verdict::Reproduced
    );
}

#[test]
fn a_regret_is_compared_with_itself_at_another_round() {
    let grows = |last: f64| {
        let runs =
            around(last, 0.01 * last, 100).into_iter().map(|last| vec![1.0, 5.0, 10.0, last]).collect();
        Measurement::synthetic(&T, &[("a", runs)])
    };
    let flat = || {
        let earlier = Divisor::Series(series(&["a"]).remove(0), Some(1000));
        all_by(&["a"], &earlier, ComparedAt::Round(None), Limits::AtMost(1.05))
    };
    assert_eq!(verdict(flat(), grows(10.1)), Verdict::Reproduced);
    assert_eq!(verdict(flat(), grows(19.0)), Verdict::Contradicted);
    let finding = judged(flat(), 0.001, &alone(grows(10.1))).unwrap();
    assert_eq!(finding.comparisons[0].what, "a, round 10,000 by round 1,000");
}

#[test]
fn each_series_is_divided_by_the_one_at_the_same_place() {
    let panel = variants(vec![("k1", times(2.0, 0.01)), ("k2", times(3.0, 0.01))]);
    let of = |numerators: &[&str], by: &[&str]| {
        judged(ratio(numerators, by, Limits::Between(1.8, 2.2)), 0.001, &panel).unwrap()
    };
    let finding = of(&["k1/large", "k2/large"], &["k1/small", "k2/small"]);
    assert_eq!(finding.verdict, Verdict::Contradicted);
    let says: Vec<Verdict> = finding.comparisons.iter().map(|one| one.says).collect();
    assert_eq!(says, [Verdict::Reproduced, Verdict::Contradicted]);
    let intervals = "95 % confidence, comparison by comparison: 1.980 to 2.020; 2.980 to 3.020.";
    assert!(finding.summary.ends_with(intervals), "{}", finding.summary);
    assert_eq!(of(&["k1/large"], &["k2/small"]).verdict, Verdict::Reproduced);
    let fewer = Measurement::synthetic(&T, &[("small", vec![vec![1.0; 4]; 7])]);
    let uneven = variants(vec![("k1", times(2.0, 0.01)), ("k2", fewer)]);
    let error = judged(ratio(&["k1/large"], &["k2/small"], Limits::AtMost(3.0)), 0.001, &uneven).unwrap_err();
    assert!(error.to_string().contains("different numbers of runs, 200 and 7"), "{error}");
}

/// At a limit, a claim is reproduced, and contradicted, with a probability of at most the level.
///
/// As for equal slopes: 1,000 claims at level 0.05, at most 86 with probability 1 - 1e-6. A wrong
/// test that compares the means alone reproduces about half.
#[test]
fn a_ratio_at_its_limit_is_rarely_reproduced() {
    const CLAIMS: usize = 1000;
    const AT_MOST: usize = 86;
    let mut normal = normals();
    for (limits, truth) in
        [(Limits::Between(1.8, 2.2), 2.2), (Limits::Between(1.8, 2.2), 1.8), (Limits::AtMost(1.05), 1.05)]
    {
        let (mut granted, mut refused, mut by_mean) = (0, 0, 0);
        for _ in 0..CLAIMS {
            let small: Vec<f64> = (0..30).map(|_| 10.0 + normal()).collect();
            let large = small.iter().map(|small| vec![truth * small + 0.5 * normal()]).collect();
            let small = small.iter().map(|&small| vec![small]).collect();
            let measured = Measurement::synthetic(&T[..1], &[("large", large), ("small", small)]);
            let finding = judged(ratio(&["large"], &["small"], limits), 0.05, &alone(measured)).unwrap();
            granted += usize::from(finding.verdict == Verdict::Reproduced);
            refused += usize::from(finding.verdict == Verdict::Contradicted);
            by_mean += usize::from(finding.comparisons[0].difference < 0.0);
        }
        assert!(granted <= AT_MOST && refused <= AT_MOST, "{granted} {refused}");
        assert!(granted > 20 && by_mean > 375, "{granted} {by_mean}");
    }
}
