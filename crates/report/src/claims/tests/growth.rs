//! Claims about the power of a number with which a regret grows.

use super::*;
use crate::claims::growth::Growth;

const SIZES: [f64; 5] = [4.0, 8.0, 16.0, 32.0, 64.0];

fn growth(names: &[&str], sizes: &[f64], limits: Limits) -> Growth {
    let labels: Vec<String> = names.iter().map(|name| format!("{name}/a")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    Growth { series: series(&labels), sizes: sizes.to_vec(), t: None, limits }
}

/// One variant for each sample of final regrets.
fn panel(samples: Vec<Vec<f64>>) -> Vec<VariantRuns> {
    let one = |(name, sample): (&'static str, Vec<f64>)| {
        let runs = sample.into_iter().map(|regret| vec![regret]).collect();
        (name, Measurement::synthetic(&T[3..], &[("a", runs)]))
    };
    variants(NAMES.into_iter().zip(samples).map(one).collect())
}

const NAMES: [&str; 5] = ["k1", "k2", "k3", "k4", "k5"];

/// Judges samples at the five sizes.
fn at_sizes(samples: Vec<Vec<f64>>, limits: Limits, level: f64) -> Finding {
    judged(growth(&NAMES, &SIZES, limits), level, &panel(samples)).unwrap()
}

/// `size^exponent`, with this relative error of the mean of 100 runs, in uncorrelated patterns.
fn power(exponent: f64, error: f64) -> Vec<Vec<f64>> {
    let one = |(place, size): (usize, f64)| {
        let mean = libm::exp2(exponent * libm::log2(size));
        let sign = |run: usize| if (run >> place).is_multiple_of(2) { 1.0 } else { -1.0 };
        (0..128).map(|run| mean * (1.0 + error * 127_f64.sqrt() * sign(run))).collect()
    };
    SIZES.into_iter().enumerate().map(one).collect()
}

/// Sizes 1, 2, 4 and regrets 1, 4, 8 are, in units of ln 2, the points (0, 0), (1, 2), (2, 3). The
/// line has slope 3/2. Its residuals are -1/6, 1/3 and -1/6, with a sum of squares of 1/6, so the
/// error of the slope is sqrt(1/6 / 1 / 2) = 0.289 with one degree of freedom.
#[test]
fn the_exponent_is_the_slope_of_the_least_squares_line() {
    let samples = [1.0, 4.0, 8.0].map(|regret| vec![regret; 50]).to_vec();
    let test = growth(&NAMES[..3], &[1.0, 2.0, 4.0], Limits::AtMost(100.0));
    let finding = judged(test, 0.01, &panel(samples)).unwrap();
    let one = &finding.comparisons[0];
    assert_eq!(one.what, "k1/a to k3/a");
    assert!((one.difference - (1.5 - 100.0)).abs() < 1e-12, "{}", one.difference);
    assert!((one.se.unwrap() - (1.0_f64 / 12.0).sqrt()).abs() < 1e-12, "{:?}", one.se);
    // 12.71 standard errors.
    assert_eq!(one.measured, "1.50 ± 0.29");
    assert!(finding.summary.ends_with(" 95 % confidence: −2.17 to 5.17."), "{}", finding.summary);
    assert_eq!(one.says, Verdict::Reproduced);
}

#[test]
fn an_exponent_is_judged_against_its_limits() {
    let of =
        |exponent: f64, error: f64, limits: Limits| at_sizes(power(exponent, error), limits, 0.001).verdict;
    let (square, cube) = (Limits::Between(1.75, 2.25), Limits::Between(2.75, 3.25));
    assert_eq!(of(2.0, 0.01, square), Verdict::Reproduced);
    assert_eq!(of(3.0, 0.01, cube), Verdict::Reproduced);
    assert_eq!(of(3.0, 0.01, square), Verdict::Contradicted);
    assert_eq!(of(2.0, 0.01, cube), Verdict::Contradicted);
    assert_eq!(of(2.5, 0.01, square), Verdict::Contradicted);
    assert_eq!(of(2.24, 0.01, square), Verdict::Undecided);
    assert_eq!(of(2.0, 0.3, square), Verdict::Undecided);
    assert_eq!(of(2.0, 0.01, Limits::AtMost(2.5)), Verdict::Reproduced);
    assert_eq!(of(2.0, 0.01, Limits::AtLeast(2.5)), Verdict::Contradicted);
    // Zero regret is not a power of the size.
    let none = at_sizes(vec![vec![0.0; 50]; 5], square, 0.001);
    assert_eq!(none.verdict, Verdict::Undecided);
    assert_eq!(none.summary, "A regret is 0 in every run: there is nothing to fit.");
    // A single run.
    let one = power(2.0, 0.0).into_iter().map(|sample| sample[..1].to_vec()).collect();
    let one = at_sizes(one, square, 0.001);
    assert_eq!(
        (one.verdict, one.summary.as_str()),
        (Verdict::Undecided, "1 run decides nothing: at least 10 are needed.")
    );
}

/// A regret that first doubles when the size doubles, and later grows eightfold, is not a power of
/// the size. The runs have no spread, so a wrong test that uses the errors of the runs alone would
/// reproduce the exponent of the line, 2.
#[test]
fn points_that_are_not_on_a_line_leave_the_exponent_undecided() {
    let bent = [0.0, 1.0, 3.0, 5.0, 8.0].map(|power| vec![libm::exp2(power); 1000]);
    let finding = at_sizes(bent.to_vec(), Limits::Between(1.75, 2.25), 0.001);
    assert_eq!(finding.verdict, Verdict::Undecided);
    assert!(
        finding.comparisons[0].measured.starts_with("2.00 ± 0.20"),
        "{}",
        finding.comparisons[0].measured
    );
}

#[test]
fn noise_that_all_sizes_share_does_not_count() {
    let shared = |size: f64| -> Vec<f64> { around(size * size, 0.05 * size * size, 400) };
    let finding = at_sizes(SIZES.map(shared).to_vec(), Limits::Between(1.99, 2.01), 0.05);
    assert_eq!(finding.verdict, Verdict::Reproduced, "{}", finding.summary);
    assert!(finding.comparisons[0].se.unwrap() < 1e-9);
    let uneven = vec![vec![1.0; 4], vec![2.0; 4], vec![3.0; 5]];
    let error = judged(growth(&NAMES[..3], &[1.0, 2.0, 4.0], Limits::AtMost(3.0)), 0.05, &panel(uneven));
    assert!(error.unwrap_err().to_string().contains("different numbers of runs"));
}

/// At a limit, a claim is reproduced, and contradicted, with a probability of at most the level.
///
/// As for equal slopes: 4,000 claims at level 0.05, at most 266 with probability 1 - 1e-6. A wrong
/// test that uses the estimate alone reproduces about half. For a true power the errors of the runs
/// count twice, and there are only 3 degrees of freedom, so far fewer than the level are
/// reproduced.
#[test]
fn a_power_at_its_limit_is_rarely_reproduced() {
    const CLAIMS: usize = 4000;
    const AT_MOST: usize = 266;
    let mut normal = normals();
    for truth in [2.25, 1.75] {
        let (mut granted, mut refused, mut by_estimate) = (0, 0, 0);
        for _ in 0..CLAIMS {
            let sample = |size: f64| -> Vec<f64> {
                let mean = libm::exp2(truth * libm::log2(size));
                (0..20).map(|_| mean * (1.0 + 0.1 * normal())).collect()
            };
            let finding = at_sizes(SIZES.map(sample).to_vec(), Limits::Between(1.75, 2.25), 0.05);
            granted += usize::from(finding.verdict == Verdict::Reproduced);
            refused += usize::from(finding.verdict == Verdict::Contradicted);
            by_estimate += usize::from(finding.comparisons[0].difference < 0.0);
        }
        assert!(granted <= AT_MOST && refused <= AT_MOST, "{granted} {refused}");
        assert!(granted > 0 && by_estimate > 1500, "{granted} {by_estimate}");
    }
}
