use super::levels::{Sign, fewest_runs};
use super::order::{ComparedAt, Order};
use super::table::{Column, PrintedTable};
use super::within::{Divisor, Within};
use super::*;
use crate::series::{Series, VariantRuns};
use crate::synthetic::Synthetic as _;
use confidence::math::ln;
use experiment::Measurement;
use experiment::result::MeanSe;

mod answers;
mod growth;
mod instances;
mod levels;
mod within;
mod worst;

/// Rounds of the synthetic results.
const T: [u64; 4] = [10, 100, 1000, 10_000];

/// Two patterns of plus and minus one, uncorrelated over any multiple of four runs.
fn pattern(run: usize) -> [f64; 2] {
    [run, run / 2].map(|number| if number.is_multiple_of(2) { 1.0 } else { -1.0 })
}

/// Runs of three policies. Their regrets vary so much from run to run that only differences run by
/// run distinguish them. The standard error of these differences is `se`. The means of `bad` minus
/// `good` are `difference`, those of `even` minus `good` are 0, 1, 1, 1.
fn runs(n: usize, difference: [f64; 4], se: f64) -> Measurement {
    let size = se * ((n - 1) as f64).sqrt();
    let mut regrets = [Vec::new(), Vec::new(), Vec::new()];
    for run in 0..n {
        let [first, second] = pattern(run).map(|sign| size * sign);
        let common = 900.0 * ((run * run) % 7) as f64;
        let good = [5.0, 50.0, 100.0, 150.0].map(|regret| regret + common);
        let noise = 0.5 * first + 0.75_f64.sqrt() * second;
        let even = [0, 1, 2, 3].map(|at| good[at] + if at == 0 { 0.0 } else { 1.0 } + noise);
        let bad = [0, 1, 2, 3].map(|at| good[at] + difference[at] + first);
        for (all, one) in regrets.iter_mut().zip([bad, good, even]) {
            all.push(one.to_vec());
        }
    }
    let [bad, good, even] = regrets;
    Measurement::synthetic(&T, &[("bad", bad), ("good", good), ("even", even)])
}

fn measured() -> Measurement {
    runs(200, [-9.0, 4.0, 6.0, 10.0], 1.0)
}

fn series(labels: &[&str]) -> Vec<Series> {
    let one = |label: &&str| match label.split_once('/') {
        Some((variant, policy)) => Series { variant: Some(variant.to_owned()), policy: policy.to_owned() },
        None => Series { variant: None, policy: (*label).to_owned() },
    };
    labels.iter().map(one).collect()
}

fn claim(test: Arc<dyn Test>) -> Claim {
    Claim {
        name: "a-claim".to_owned(),
        panel: Some("panel".to_owned()),
        says: "something".to_owned(),
        place: "section 1".to_owned(),
        level: 0.001,
        test,
        value: EndValue::Regret,
        known: Verdict::Reproduced,
        full: None,
        evidence: "seen".to_owned(),
        remark: None,
    }
}

/// Judges a test at a level by the variants of a panel.
fn judged(test: impl Test, level: f64, variants: &[VariantRuns]) -> Result<Finding, JudgeError> {
    judged_by(Arc::new(test), level, variants)
}

fn judged_by(test: Arc<dyn Test>, level: f64, variants: &[VariantRuns]) -> Result<Finding, JudgeError> {
    let reader_name = |series: &Series| series.to_string().to_uppercase();
    let evidence = Evidence { variants, value: EndValue::Regret, reader_name: &reader_name };
    judge(&Claim { level, ..claim(test) }, Some(&evidence), &[])
}

fn alone(measured: Measurement) -> Vec<VariantRuns> {
    vec![VariantRuns { name: None, title: String::new(), size: None, measured }]
}

fn variants(all: Vec<(&str, Measurement)>) -> Vec<VariantRuns> {
    let one = |(name, measured): (&str, Measurement)| VariantRuns {
        name: Some(name.to_owned()),
        title: name.to_owned(),
        size: None,
        measured,
    };
    all.into_iter().map(one).collect()
}

fn ordered(lower: &[&str], upper: &[&str], t: Option<u64>) -> Order {
    Order { lower: series(lower), upper: series(upper), at: ComparedAt::Round(t), factor: 1.0 }
}

fn found(lower: &[&str], upper: &[&str], t: Option<u64>) -> Finding {
    judged(ordered(lower, upper, t), 0.001, &alone(measured())).unwrap()
}

fn verdict(test: impl Test, measured: Measurement) -> Verdict {
    judged(test, 0.001, &alone(measured)).unwrap().verdict
}

#[test]
fn an_order_is_judged_on_differences_run_by_run() {
    // Unpaired, 10 with a standard error of more than 100 would decide nothing.
    let finding = found(&["good"], &["bad"], None);
    assert_eq!(finding.verdict, Verdict::Reproduced);
    let one = &finding.comparisons[0];
    assert!((one.difference + 10.0).abs() < 1e-9 && (one.statistic.unwrap() + 10.0).abs() < 1e-9);
    assert_eq!((&*one.what, &*one.readers), ("good − bad", "GOOD − BAD"));
    assert_eq!(found(&["bad"], &["good"], None).verdict, Verdict::Contradicted);
    assert_eq!(found(&["good"], &["even"], None).verdict, Verdict::Undecided);
    assert_eq!(found(&["even"], &["good"], None).verdict, Verdict::Undecided);
}

#[test]
fn a_claim_is_reproduced_by_all_comparisons_and_contradicted_by_one() {
    assert_eq!(found(&["good", "even"], &["bad"], None).verdict, Verdict::Reproduced);
    assert_eq!(found(&["good"], &["bad", "even"], None).verdict, Verdict::Undecided);
    // One contradicted comparison outweighs an undecided and a reproduced one.
    assert_eq!(found(&["good", "bad"], &["even"], None).verdict, Verdict::Contradicted);
}

#[test]
fn the_lead_begins_at_the_first_checkpoint_of_lasting_significance() {
    let early = found(&["good"], &["bad"], Some(10));
    assert_eq!(early.verdict, Verdict::Contradicted);
    // z = -4 at round 100 is beyond 3.13, z = +9 at round 10 is in the other direction.
    assert_eq!(early.comparisons[0].leads_from, Some(100));
    let even = found(&["even"], &["bad"], None);
    // z = -3 at round 100 falls short.
    assert_eq!(even.comparisons[0].leads_from, Some(1000));
    assert_eq!(found(&["good"], &["even"], None).comparisons[0].leads_from, None);
}

#[test]
fn a_gap_restarts_the_lead() {
    let measured = runs(200, [9.0, 9.0, 0.5, 9.0], 1.0);
    let finding = judged(ordered(&["good"], &["bad"], None), 0.001, &alone(measured)).unwrap();
    assert_eq!(finding.comparisons[0].leads_from, Some(10_000));
}

#[test]
fn equal_runs_are_judged_by_the_sign_test_and_a_single_run_decides_nothing() {
    let test = || ordered(&["good"], &["bad"], None);
    let one = judged(test(), 0.001, &alone(runs(1, [10.0; 4], 0.0))).unwrap();
    assert_eq!(one.verdict, Verdict::Undecided);
    assert_eq!(one.summary, "1 run decides nothing: at least 10 are needed.");
    assert_eq!((&*one.comparisons[0].measured, one.comparisons[0].se), ("−10.00", None));
    assert_eq!(verdict(test(), runs(200, [10.0; 4], 0.0)), Verdict::Reproduced);
    // Two equal runs count as two tosses of a coin. The probability of ten heads is 1/1024.
    assert_eq!(verdict(test(), runs(2, [10.0; 4], 0.0)), Verdict::Undecided);
    assert_eq!(verdict(test(), runs(9, [10.0; 4], 0.0)), Verdict::Undecided);
    assert_eq!(verdict(test(), runs(10, [10.0; 4], 0.0)), Verdict::Reproduced);
    assert_eq!(verdict(test(), runs(200, [0.0; 4], 0.0)), Verdict::Undecided);
    assert_eq!(verdict(test(), runs(200, [f64::NAN; 4], 1.0)), Verdict::Undecided);
}

#[test]
fn few_runs_need_more_than_the_normal_quantile() {
    let test = || ordered(&["good"], &["bad"], None);
    assert_eq!(verdict(test(), runs(200, [3.3; 4], 1.0)), Verdict::Reproduced);
    assert_eq!(verdict(test(), runs(20, [3.3; 4], 1.0)), Verdict::Undecided);
}

#[test]
fn an_order_may_have_a_factor() {
    let steady =
        |regret: f64| (0..100).map(|run| vec![regret * (1.0 + 0.1 * pattern(run)[0]); 4]).collect::<Vec<_>>();
    let measured = || Measurement::synthetic(&T, &[("low", steady(10.0)), ("high", steady(30.0))]);
    let test = |factor: f64| Order {
        lower: series(&["low"]),
        upper: series(&["high"]),
        at: ComparedAt::Round(None),
        factor,
    };
    assert_eq!(verdict(test(0.4), measured()), Verdict::Reproduced);
    assert_eq!(verdict(test(0.3), measured()), Verdict::Contradicted);
    let finding = judged(test(0.4), 0.001, &alone(measured())).unwrap();
    assert_eq!(finding.comparisons[0].what, "low − 0.4 × high");
}

#[test]
fn variants_are_compared_run_by_run() {
    let (first, second) = (measured(), runs(200, [-9.0, 4.0, 6.0, 14.0], 1.0));
    let panel = variants(vec![("a", first), ("b", second)]);
    let of = |lower: &str, upper: &str| judged(ordered(&[lower], &[upper], None), 0.001, &panel).unwrap();
    // Both have the same noise: the difference of 4 is exact.
    let finding = of("a/bad", "b/bad");
    assert_eq!(finding.verdict, Verdict::Reproduced);
    assert!(
        (finding.comparisons[0].difference + 4.0).abs() < 1e-9 && finding.comparisons[0].se.unwrap() < 1e-9
    );
    assert_eq!(of("b/bad", "a/bad").verdict, Verdict::Contradicted);
    assert_eq!(of("a/good", "b/good").verdict, Verdict::Undecided);
    let shorter = variants(vec![("a", measured()), ("b", runs(100, [1.0; 4], 1.0))]);
    let error = judged(ordered(&["a/bad"], &["b/bad"], None), 0.001, &shorter).unwrap_err();
    assert!(error.to_string().contains("different numbers of runs, 200 and 100"), "{error}");
}

/// Each of these series divided by the same.
fn all_by(labels: &[&str], by: &Divisor, at: ComparedAt, limits: Limits) -> Within {
    let quotients = series(labels).into_iter().map(|series| (series, by.clone())).collect();
    Within { quotients, at, limits }
}

#[test]
fn a_regret_is_compared_with_the_clicks_of_a_best_list() {
    let with = |least: f64, regret: f64, se: f64| {
        let mut measured = Measurement::synthetic(
            &T,
            &[("good", around(regret, se, 100).into_iter().map(|last| vec![0.0, 0.0, 0.0, last]).collect())],
        );
        measured.result.optimum.as_mut().unwrap().clicks =
            MeanSe { mean: vec![2.0, 20.0, 200.0, 2000.0], se: vec![0.0; 4] };
        let test = all_by(&["good"], &Divisor::Optimum, ComparedAt::Round(None), Limits::AtMost(1.0 - least));
        verdict(test, measured)
    };
    // The optimum is 2000 clicks: 90 % of it leaves 200 for regret.
    assert_eq!(with(0.9, 150.0, 5.0), Verdict::Reproduced);
    assert_eq!(with(0.9, 150.0, 50.0), Verdict::Undecided);
    assert_eq!(with(0.9, 250.0, 5.0), Verdict::Contradicted);
    assert_eq!(with(0.95, 150.0, 5.0), Verdict::Contradicted);
}

/// Runs whose regret is zero up to round 1000 and then has these slopes; one policy for each list.
fn sloping(slopes: &[(&str, Vec<f64>)]) -> Measurement {
    let ten = ln(10.0);
    let runs = |slopes: &Vec<f64>| slopes.iter().map(|slope| vec![0.0, 0.0, 0.0, slope * ten]).collect();
    let policies: Vec<(&str, Vec<Vec<f64>>)> =
        slopes.iter().map(|(label, slopes)| (*label, runs(slopes))).collect();
    Measurement::synthetic(&T, &policies).with_bound("bound", 2.0).with_bound("other", 4.0)
}

/// Slopes with this mean and this standard error of it.
fn around(mean: f64, se: f64, n: usize) -> Vec<f64> {
    (0..n).map(|run| mean + se * ((n - 1) as f64).sqrt() * pattern(run)[0]).collect()
}

const SLOPE: ComparedAt = ComparedAt::Slope(1000, 10_000);

/// The slope within a margin of the bound's.
fn parallel(margin: f64) -> Within {
    let limits = Limits::Between(1.0 - margin, 1.0 + margin);
    all_by(&["a"], &Divisor::Bound, SLOPE, limits)
}

/// Every two slopes at most `margin` times their mean apart.
fn same(labels: &[&str], margin: f64) -> Within {
    let series = series(labels);
    let mut quotients = Vec::new();
    for (place, one) in series.iter().enumerate() {
        quotients.extend(
            series[place + 1..].iter().map(|other| (one.clone(), Divisor::Series(other.clone(), None))),
        );
    }
    let (low, high) = (1.0 - margin / 2.0, 1.0 + margin / 2.0);
    Within { quotients, at: SLOPE, limits: Limits::Between(low / high, high / low) }
}

#[test]
fn slopes_are_ordered_as_they_grow() {
    let measured = || sloping(&[("a", around(2.0, 0.1, 100)), ("b", around(3.0, 0.1, 100))]);
    let test = |lower: &str, upper: &str, factor: f64| Order {
        lower: series(&[lower]),
        upper: series(&[upper]),
        at: ComparedAt::Slope(1000, 10_000),
        factor,
    };
    let finding = judged(test("a", "b", 1.0), 0.001, &alone(measured())).unwrap();
    assert_eq!(finding.verdict, Verdict::Reproduced);
    assert!((finding.comparisons[0].difference + 1.0).abs() < 1e-9);
    assert_eq!(finding.comparisons[0].leads_from, None);
    assert_eq!(verdict(test("b", "a", 1.0), measured()), Verdict::Contradicted);
    assert_eq!(verdict(test("a", "b", 0.5), measured()), Verdict::Contradicted);
}

#[test]
fn a_regret_is_compared_with_the_bound() {
    let below = |t: Option<u64>| all_by(&["a"], &Divisor::Bound, ComparedAt::Round(t), Limits::AtMost(1.0));
    // The bound at round 10,000 is 2 ln 10,000 = 18.42.
    let with = |slope: f64, t: Option<u64>| verdict(below(t), sloping(&[("a", around(slope, 0.1, 100))]));
    assert_eq!(with(7.0, None), Verdict::Reproduced);
    assert_eq!(with(9.0, None), Verdict::Contradicted);
    assert_eq!(with(8.0, None), Verdict::Undecided);
    assert_eq!(verdict(below(Some(1000)), sloping(&[("a", vec![1.0])])), Verdict::Undecided);
    // All runs are zero at round 1000, which is below the bound.
    assert_eq!(with(9.0, Some(1000)), Verdict::Reproduced);
    let unbounded = judged(below(None), 0.001, &alone(measured_alone())).unwrap_err();
    assert!(unbounded.to_string().ends_with("the result lacks the bound"), "{unbounded}");
}

/// Runs on instances without a bound.
fn measured_alone() -> Measurement {
    Measurement::synthetic(&T, &[("a", vec![vec![1.0; 4]; 20])])
}

#[test]
fn a_slope_is_compared_with_that_of_the_bound_within_a_margin() {
    // The bound's slope is 2: a tenth of it is 0.2.
    let with = |slope: f64, se: f64| verdict(parallel(0.1), sloping(&[("a", around(slope, se, 100))]));
    assert_eq!(with(2.0, 0.01), Verdict::Reproduced);
    assert_eq!(with(2.15, 0.01), Verdict::Reproduced);
    assert_eq!(with(1.85, 0.01), Verdict::Reproduced);
    assert_eq!(with(2.25, 0.01), Verdict::Contradicted);
    assert_eq!(with(1.75, 0.01), Verdict::Contradicted);
    // Near the margin, and with an error larger than the margin.
    assert_eq!(with(2.19, 0.01), Verdict::Undecided);
    assert_eq!(with(2.21, 0.01), Verdict::Undecided);
    assert_eq!(with(2.0, 0.2), Verdict::Undecided);
    // Without variation, and a single run.
    assert_eq!(with(2.1, 0.0), Verdict::Reproduced);
    assert_eq!(with(2.3, 0.0), Verdict::Contradicted);
    assert_eq!(verdict(parallel(0.1), sloping(&[("a", vec![2.0])])), Verdict::Undecided);
    let finding = judged(parallel(0.1), 0.001, &alone(sloping(&[("a", around(2.1, 0.01, 100))]))).unwrap();
    assert_eq!(finding.comparisons[0].measured, "1.0500 ± 0.0050");
    assert_eq!(
        finding.summary,
        "Within 0.9 to 1.1: A / bound is 1.0500 ± 0.0050, |z| = 10.0 from its edge. 95 % confidence: 1.0401 to 1.0599."
    );
}

#[test]
fn slopes_are_the_same_within_a_margin_of_their_mean() {
    // Differences vary ten times less than the slopes.
    let pair = |difference: f64, se: f64| {
        let a: Vec<f64> = (0..200_u32).map(|run| 2.0 + f64::from((run * run) % 7) * 0.1).collect();
        let noise = around(difference, se, 200);
        let b = a.iter().zip(&noise).map(|(a, noise)| a + noise).collect();
        sloping(&[("a", a), ("b", b)])
    };
    let with = |difference: f64, se: f64| verdict(same(&["a", "b"], 0.1), pair(difference, se));
    for sign in [1.0, -1.0] {
        assert_eq!(with(sign * 0.1, 0.01), Verdict::Reproduced);
        assert_eq!(with(sign * 0.4, 0.01), Verdict::Contradicted);
        assert_eq!(with(sign * 0.22, 0.01), Verdict::Undecided);
        assert_eq!(with(sign * 0.1, 0.3), Verdict::Undecided);
    }
    // The order of the series does not matter, and a single distant pair decides.
    assert_eq!(verdict(same(&["b", "a"], 0.1), pair(0.1, 0.01)), Verdict::Reproduced);
    let three = sloping(&[
        ("a", around(2.0, 0.01, 100)),
        ("b", around(2.05, 0.01, 100)),
        ("c", around(2.6, 0.01, 100)),
    ]);
    let finding = judged(same(&["a", "b", "c"], 0.1), 0.001, &alone(three)).unwrap();
    assert_eq!((finding.verdict, finding.comparisons.len()), (Verdict::Contradicted, 3));
    assert_eq!(finding.comparisons[0].says, Verdict::Reproduced);
    // Without variation, and a single run.
    let exact = |b: f64| sloping(&[("a", vec![2.0; 50]), ("b", vec![b; 50])]);
    assert_eq!(verdict(same(&["a", "b"], 0.1), exact(2.1)), Verdict::Reproduced);
    assert_eq!(verdict(same(&["a", "b"], 0.1), exact(2.4)), Verdict::Contradicted);
    assert_eq!(verdict(same(&["a", "b"], 0.1), exact(2.0)), Verdict::Reproduced);
    let one = sloping(&[("a", vec![2.0]), ("b", vec![2.0])]);
    assert_eq!(verdict(same(&["a", "b"], 0.1), one), Verdict::Undecided);
}

/// At the margin, a claim of equal slopes is reproduced, and contradicted, with a probability of at
/// most the level.
///
/// 1,000 claims at level 0.05, each of 30 runs with normal noise. At most 50 are expected to be
/// reproduced, with standard deviation 6.9; at most 86 with probability 1 - 1e-6. Power: 40
/// standard errors within the margin almost all are reproduced. A wrong test that compares the mean
/// alone, without its error, reproduces about 500.
#[test]
fn equal_slopes_are_rarely_reproduced_at_the_margin() {
    const CLAIMS: usize = 1000;
    const AT_MOST: usize = 86;
    let mut normal = normals();
    let mut count = |truth: f64, test: &dyn Fn() -> Arc<dyn Test>, paired: bool| {
        let (mut granted, mut refused, mut by_mean) = (0, 0, 0);
        for _ in 0..CLAIMS {
            let a: Vec<f64> = (0..30).map(|_| 2.0 + 0.3 * normal()).collect();
            let measured = if paired {
                // Both slopes have the same noise. The second is larger by the share `truth` of
                // their mean.
                let b = a.iter().map(|a| a * (2.0 + truth) / (2.0 - truth) + 0.1 * normal()).collect();
                sloping(&[("a", b), ("b", a)])
            } else {
                sloping(&[("a", a.iter().map(|a| a * (1.0 + truth)).collect())])
            };
            let finding = judged_by(test(), 0.05, &alone(measured)).unwrap();
            granted += usize::from(finding.verdict == Verdict::Reproduced);
            refused += usize::from(finding.verdict == Verdict::Contradicted);
            by_mean += usize::from(finding.comparisons[0].difference < 0.0);
        }
        (granted, refused, by_mean)
    };
    let same = || -> Arc<dyn Test> { Arc::new(same(&["a", "b"], 0.1)) };
    let parallel = || -> Arc<dyn Test> { Arc::new(parallel(0.1)) };
    for margin in [0.1, -0.1] {
        for (test, paired) in [(&parallel as &dyn Fn() -> Arc<dyn Test>, false), (&same, true)] {
            let (granted, refused, by_mean) = count(margin, test, paired);
            assert!(granted <= AT_MOST && refused <= AT_MOST, "{granted} {refused}");
            // The test is not too conservative, and the wrong test is caught.
            assert!(granted > 20 && by_mean > 375, "{granted} {by_mean}");
        }
    }
    assert!(count(0.0, &same, true).0 > CLAIMS * 95 / 100);
}

/// Approximately normal numbers with a fixed seed: sums of twelve uniform numbers of sixteen bits.
fn normals() -> impl FnMut() -> f64 {
    let mut state = 2016_u64;
    move || {
        let mut sum = 0;
        for _ in 0..3 {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            sum += (mixed & 0xffff) + (mixed >> 16 & 0xffff) + (mixed >> 32 & 0xffff) + (mixed >> 48);
        }
        // Each number is the middle of its interval.
        (sum as f64 + 6.0) / 65_536.0 - 6.0
    }
}

#[test]
fn an_error_names_the_policy_or_checkpoint_that_the_result_lacks() {
    let error = |test: Order| format!("{:#}", judged(test, 0.001, &alone(measured())).unwrap_err());
    assert!(error(ordered(&["nobody"], &["bad"], None)).contains("`nobody`"));
    assert!(error(ordered(&["a/good"], &["bad"], None)).contains("`a/good`"));
    assert!(error(ordered(&["good"], &["bad"], Some(11))).contains("round 11 is not a checkpoint"));
    let near = all_by(&["nobody"], &Divisor::Optimum, ComparedAt::Round(None), Limits::AtMost(0.1));
    let error = judged(near, 0.001, &alone(measured())).unwrap_err();
    assert!(error.to_string().contains("`nobody`"));
    assert!(judge(&claim(Arc::new(ordered(&["good"], &["bad"], None))), None, &[]).is_err());
}

fn rows() -> Vec<PrintedRow> {
    let row = |name: &str, theta: &[f64], printed: [f64; 3]| PrintedRow {
        name: name.to_owned(),
        theta: theta.to_vec(),
        printed: ["n_items", "min_theta", "max_theta"].map(str::to_owned).into_iter().zip(printed).collect(),
    };
    vec![
        row("first", &[0.0163, 0.0773], [2.0, 0.016, 0.077]),
        row("second", &[0.0174, 0.0687], [2.0, 0.023, 0.069]),
    ]
}

#[test]
fn a_table_is_compared_entry_by_entry() {
    let judged = |columns: &[Column]| {
        let test = PrintedTable { columns: columns.to_vec(), decimals: 3 };
        judge(&claim(Arc::new(test)), None, &rows()).unwrap()
    };
    assert_eq!(judged(&[Column::Items, Column::MaxTheta]).verdict, Verdict::Reproduced);
    let finding = judged(&[Column::Items, Column::MinTheta, Column::MaxTheta]);
    assert_eq!(finding.verdict, Verdict::Contradicted);
    assert_eq!(finding.comparisons.len(), 1);
    assert_eq!(finding.comparisons[0].what, "min theta of second");
    assert_eq!(finding.comparisons[0].measured, "0.017, printed 0.023");
    assert_eq!(finding.summary, "5 of 6 entries as printed; min theta of second is 0.017, printed 0.023.");
}

#[test]
fn a_check_fails_on_the_opposite_verdict_and_at_full_scale_on_an_undecided_claim() {
    use Verdict::{Contradicted, NotTestable, Reproduced, Undecided};
    let fails = |found, known, quick| Agreement::of(found, known).fails(quick);
    for quick in [true, false] {
        for same in [Reproduced, Contradicted, Undecided, NotTestable] {
            assert!(!fails(same, same, quick));
        }
        assert!(fails(Reproduced, Contradicted, quick) && fails(Contradicted, Reproduced, quick));
        assert!(fails(NotTestable, Reproduced, quick));
        // For given data no verdict was known.
        for found in [Reproduced, Contradicted, Undecided] {
            assert!(!fails(found, NotTestable, quick));
        }
        assert!(!fails(Reproduced, Undecided, quick) && !fails(Contradicted, Undecided, quick));
        assert_eq!(fails(Undecided, Reproduced, quick), !quick);
    }
}
