//! Claims about runs that end with an answer.

use super::*;
use crate::claims::fit::Fit;
use crate::claims::share::{Share, ShareLimit};
use crate::claims::within::Divisor;
use experiment::result::Quantity;
use sim::Identification;
use spec::Task;

/// Runs of these lengths. The last `wrong` runs have a wrong answer, the `capped` runs before them
/// have none, all others a right one.
fn runs(steps: &[u64], wrong: usize, capped: usize) -> Vec<Identification> {
    let from_the_end = |run: usize| steps.len() - 1 - run;
    let one = |(run, &steps): (usize, &u64)| Identification {
        steps,
        observations: 2 * steps,
        answered: !(wrong..wrong + capped).contains(&from_the_end(run)),
        correct: from_the_end(run) >= wrong + capped,
    };
    steps.iter().enumerate().map(one).collect()
}

fn judged_as(value: EndValue, test: impl Test, variants: &[VariantRuns]) -> Finding {
    let reader_name = |series: &Series| series.to_string().to_uppercase();
    let evidence = Evidence { variants, value, reader_name: &reader_name };
    judge(&Claim { value, ..claim(Arc::new(test)) }, Some(&evidence), &[]).unwrap()
}

#[test]
fn stopping_times_are_compared_run_by_run_even_with_different_maximal_lengths() {
    // Lengths vary by thousands. The second policy needs 9 or 11 more steps.
    let short: Vec<u64> = (0..100).map(|run| 5_000 + 37 * ((run * run) % 97)).collect();
    let long: Vec<u64> = (0_u64..).zip(&short).map(|(run, steps)| steps + 9 + 2 * (run % 2)).collect();
    let measure = |label, steps: &[u64], most| {
        Measurement::of_answers(Task::Identify, most, &[(label, runs(steps, 0, 0))])
    };
    let all = variants(vec![("a", measure("short", &short, 10_000)), ("b", measure("long", &long, 20_000))]);
    let value = EndValue::Answer(Quantity::StoppingTime);
    let finding = judged_as(value, ordered(&["a/short"], &["b/long"], None), &all);
    assert_eq!((finding.verdict, finding.quantity), (Verdict::Reproduced, "difference of stopping times"));
    let one = &finding.comparisons[0];
    assert_eq!((one.difference, one.t, one.leads_from), (-10.0, None, None));
    assert_eq!(
        judged_as(value, ordered(&["b/long"], &["a/short"], None), &all).verdict,
        Verdict::Contradicted
    );
    let twice = EndValue::Answer(Quantity::Observations);
    let finding = judged_as(twice, ordered(&["a/short"], &["b/long"], None), &all);
    assert_eq!((finding.comparisons[0].difference, finding.quantity), (-20.0, "difference of observations"));
}

#[test]
fn wrong_and_missing_answers_are_counted_separately() {
    let measured = Measurement::of_answers(Task::Identify, 100, &[("a", runs(&[100; 50], 3, 20))]);
    let answers = measured.result.policies[0].answers().unwrap();
    assert_eq!((answers.correct, answers.stopped), (0.54, Some(0.6)));
    let at_the_end = |quantity| measured.result.at_the_end("a", EndValue::Answer(quantity)).unwrap().0;
    assert!((at_the_end(Quantity::Wrong) - 0.06).abs() < 1e-12);
    assert!((at_the_end(Quantity::Capped) - 0.4).abs() < 1e-12);
    let share = |quantity, limit| {
        let test = Share { series: series(&["a"]), limit };
        judged_as(EndValue::Answer(quantity), test, &alone(measured.clone()))
    };
    let never = share(Quantity::Wrong, ShareLimit::Never { below: 0.1 });
    assert_eq!(
        (never.verdict, &*never.summary),
        (Verdict::Contradicted, "Wrong answers, none stated: 3 of 50 (A).")
    );
    assert_eq!(share(Quantity::Wrong, ShareLimit::Most(0.1)).verdict, Verdict::Undecided);
    assert_eq!(share(Quantity::Wrong, ShareLimit::Most(0.5)).verdict, Verdict::Reproduced);
    assert_eq!(share(Quantity::Capped, ShareLimit::Least(0.1)).verdict, Verdict::Reproduced);
    assert_eq!(share(Quantity::Capped, ShareLimit::Least(0.9)).verdict, Verdict::Contradicted);
}

#[test]
fn never_wrong_is_reproduced_only_by_enough_runs_to_detect_the_share() {
    let never = |n: usize, wrong: usize| {
        let measured = Measurement::of_answers(Task::Identify, 100, &[("a", runs(&vec![100; n], wrong, 0))]);
        let test = Share { series: series(&["a"]), limit: ShareLimit::Never { below: 0.1 } };
        let finding = judged_as(EndValue::Answer(Quantity::Wrong), test, &alone(measured));
        (finding.verdict, finding.summary)
    };
    let few = "Wrong answers, none stated: 0 of 1 (A). So few runs can miss a share of 10.0 %.";
    assert_eq!(never(1, 0), (Verdict::Undecided, few.to_owned()));
    assert_eq!(never(20, 0).0, Verdict::Undecided);
    let many = "Wrong answers, none stated: 0 of 66 (A). These runs would have seen a share of 10.0 %.";
    assert_eq!(never(66, 0), (Verdict::Reproduced, many.to_owned()));
    assert_eq!(never(1, 1).0, Verdict::Contradicted);
}

#[test]
fn with_a_budget_policies_are_compared_by_the_share_of_wrong_answers() {
    let measured = Measurement::of_answers(
        Task::Budget,
        9,
        &[("a", runs(&[9; 400], 4, 0)), ("b", runs(&[9; 400], 80, 0))],
    );
    assert_eq!(measured.result.policies[0].answers().unwrap().stopped, None);
    let value = measured.result.outcome();
    assert_eq!(value, EndValue::Answer(Quantity::Wrong));
    let finding = judged_as(value, ordered(&["a"], &["b"], None), &alone(measured));
    assert_eq!(finding.verdict, Verdict::Reproduced);
    assert!((finding.comparisons[0].difference + 76.0 / 400.0).abs() < 1e-12);
}

/// Variants of sizes 1 to 6 with ten runs each. The stopping time depends on the size and varies by
/// a few rounds from run to run.
fn sized(time: impl Fn(u64) -> u64) -> Vec<VariantRuns> {
    let measure = |size: u64| {
        let steps: Vec<u64> = (0..10).map(|run| time(size) + (run * run + 3 * size) % 7).collect();
        Measurement::of_answers(Task::Identify, 1_000_000, &[("a", runs(&steps, 0, 0))])
    };
    let one = |size: u64| VariantRuns {
        name: Some(format!("k{size}")),
        title: format!("K = {size}"),
        size: Some(size as f64),
        measured: measure(size),
    };
    (1..=6).map(one).collect()
}

#[test]
fn a_fit_is_judged_by_the_explained_variance_and_the_sign_of_the_slope() {
    let value = EndValue::Answer(Quantity::StoppingTime);
    let verdict = |variants: &[VariantRuns], power: f64| {
        let fit = Fit { policy: "a".to_owned(), power, r_squared: 0.97 };
        judged_as(value, fit, variants)
    };
    let line = sized(|size| 1000 + 300 * size);
    let finding = verdict(&line, 1.0);
    assert_eq!((finding.verdict, finding.comparisons.len()), (Verdict::Reproduced, 2));
    assert!(finding.summary.starts_with("R² = 1.0"), "{}", finding.summary);
    assert!(finding.summary.contains("at least 0.970 stated; stopping time = 300"), "{}", finding.summary);
    // A line does not fit an exponential well enough, and a falling line has the wrong sign.
    assert_eq!(verdict(&sized(|size| 10 * (1_u64 << (2 * size))), 1.0).verdict, Verdict::Contradicted);
    let falling = verdict(&sized(|size| 9000 - 300 * size), 1.0);
    assert_eq!((falling.verdict, falling.comparisons[0].says), (Verdict::Contradicted, Verdict::Reproduced));
    assert_eq!(verdict(&sized(|size| 50 + 7 * size * size), 2.0).verdict, Verdict::Reproduced);
    // Points without a trend are not reproduced: the error of the slope comes from the residuals.
    assert_ne!(verdict(&sized(|size| 5000 + 30 * (size % 3)), 1.0).verdict, Verdict::Reproduced);
}

#[test]
fn means_are_compared_with_printed_numbers() {
    // Ten runs of about 4,000 steps, and 1,000 printed: the ratio is known to a thousandth.
    let steps: Vec<u64> = (0..10).map(|run| 4_000 + (run * run) % 7 - 3).collect();
    let measured = Measurement::of_answers(Task::Identify, 9_000, &[("a", runs(&steps, 0, 0))]);
    let value = EndValue::Answer(Quantity::StoppingTime);
    let judged = |printed: f64, limits: Limits| {
        let test = all_by(&["a"], &Divisor::Printed(printed), ComparedAt::Round(None), limits);
        judged_as(value, test, &alone(measured.clone()))
    };
    let finding = judged(1_000.0, Limits::Between(3.5, 4.5));
    assert_eq!((finding.verdict, finding.quantity), (Verdict::Reproduced, "mean by the printed one"));
    // The steps are 4,000 - 3 + (0, 1, 4, 2, 2, 4, 1, 0, 1, 4): on average 3,998.9, so the ratio is
    // 3.9989; 3.5 of them, the nearer limit, are 498.9 steps less.
    assert!((finding.comparisons[0].difference + 498.9).abs() < 1e-9, "{finding:?}");
    assert_eq!(judged(4_000.0, Limits::Between(0.9, 1.1)).verdict, Verdict::Reproduced);
    assert_eq!(judged(1_000.0, Limits::Between(0.9, 1.1)).verdict, Verdict::Contradicted);
    assert_eq!(judged(3_999.0, Limits::AtMost(1.0)).verdict, Verdict::Undecided);
    assert_eq!(judged(3_000.0, Limits::AtLeast(1.5)).verdict, Verdict::Contradicted);
}
