use super::*;
use crate::synthetic::Synthetic as _;
use experiment::result::{Bound, Contrast, MeanSe};
use sim::{Identification, mean_and_error};
use spec::Task;

/// Runs with this mean and a spread of about `spread`; the same users make all policies good or bad
/// in the same run.
fn runs(n: u64, mean: f64, spread: f64) -> Vec<f64> {
    (0..n).map(|run| mean + spread * ((run * 7 % 11) as f64 - 5.0) / 3.3).collect()
}

/// Curves that end with these values, and are `early` times them in the first half.
fn curves(ends: &[f64], early: f64) -> Vec<Vec<f64>> {
    ends.iter().map(|end| vec![early * end, *end]).collect()
}

/// Fills in the differences of every two policies.
fn paired(mut measured: Measurement) -> Measurement {
    let n = measured.result.policies.len();
    let label = |policy: usize| measured.result.policies[policy].label.clone();
    let mut pairs = Vec::new();
    for (first, second) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
        let difference = if let Some(n_checkpoints) = measured.runs.n_checkpoints() {
            let mut regret = MeanSe::default();
            for checkpoint in 0..n_checkpoints {
                let of = |policy| measured.regret(policy, checkpoint).unwrap();
                let sample: Vec<f64> = of(first).iter().zip(of(second)).map(|(a, b)| a - b).collect();
                let (mean, se) = mean_and_error(&sample);
                regret.mean.push(mean);
                regret.se.push(se);
            }
            let t = measured.result.policies[0].curves().unwrap().t.clone();
            Difference::Curves { t, regret, share_of_users: None }
        } else {
            let difference = |of: &dyn Fn(&Identification) -> f64| {
                let runs = |policy| measured.runs.answers(policy).unwrap();
                let sample: Vec<f64> =
                    runs(first).iter().zip(runs(second)).map(|(a, b)| of(a) - of(&b)).collect();
                let (mean, se) = mean_and_error(&sample);
                MeanAndError { mean, se }
            };
            let stops = measured.result.task == Task::Identify;
            Difference::Answers {
                stopping_time: stops.then(|| difference(&|run| run.steps as f64)),
                observations: difference(&|run| run.observations as f64),
                correct: difference(&|run| f64::from(u8::from(run.correct))),
                share_of_users: None,
            }
        };
        pairs.push(Contrast { a: label(first), b: label(second), difference });
    }
    measured.result.paired = pairs;
    measured
}

fn leaderboard(t: &[u64], policies: &[(&str, Vec<Vec<f64>>)]) -> Leaderboard {
    Leaderboard::of_runs(&paired(Measurement::synthetic(t, policies))).unwrap()
}

#[test]
fn the_leader_is_named_with_its_lead_and_since_when() {
    let (a, b, c) = (runs(40, 100.0, 5.0), runs(40, 160.0, 9.0), runs(40, 200.0, 7.0));
    let leaderboard =
        leaderboard(&[10, 1000], &[("b", curves(&b, 0.5)), ("c", curves(&c, 0.5)), ("a", curves(&a, 0.5))]);
    let order: Vec<&str> = leaderboard.places.iter().map(|place| place.label.as_str()).collect();
    assert_eq!((order, leaderboard.comparisons), (vec!["a", "b", "c"], 3));
    assert_eq!((leaderboard.leader().unwrap().label.as_str(), leaderboard.since()), ("a", Some(10)));
    let pair = leaderboard.pair("a", "b").unwrap();
    let sample: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
    let (mean, se) = mean_and_error(&sample);
    assert!((pair.difference - mean).abs() < 1e-9 && (pair.se.unwrap() - se).abs() < 1e-9);
    assert!(pair.told_apart && pair.runs_needed.is_none() && pair.p.unwrap() < 1e-12);
    let [sentence] = &leaderboard.sentences()[..] else { panic!("{leaderboard}") };
    assert!(sentence.starts_with("Best: a, regret "), "{sentence}");
    assert!(sentence.contains(" %) less than b, the next (z = "), "{sentence}");
    assert!(
        sentence.contains("; by chance in less than 1 of 1,000 experiments, all 3 comparisons counted)."),
        "{sentence}"
    );
    let since = "Of the recorded rounds, it is ahead of all others from round 10 on.";
    assert!(sentence.ends_with(since), "{sentence}");
}

/// The difference `b - a` at five checkpoints: ahead, behind, ahead again. Only the last stretch
/// counts.
#[test]
fn curves_that_cross_twice_count_from_the_last_crossing() {
    let a: Vec<Vec<f64>> =
        runs(30, 0.0, 1.0).iter().map(|e| vec![10.0 + e, 30.0 + e, 31.0 + e, 32.0 + e, 40.0 + e]).collect();
    let shift: Vec<f64> = (0..30).map(|run| f64::from(run % 5) / 10.0).collect();
    let b: Vec<Vec<f64>> = a
        .iter()
        .zip(&shift)
        .map(|(a, s)| vec![a[0] + 5.0 + s, a[1] - 5.0 - s, a[2] + s - 0.2, a[3] + 5.0 + s, a[4] + 5.0 + s])
        .collect();
    let t = [1, 2, 3, 4, 5];
    let leaderboard = leaderboard(&t, &[("a", a), ("b", b)]);
    assert_eq!(leaderboard.pair("a", "b").unwrap().since, Some(4));
    assert!(leaderboard.to_string().contains("it is ahead from round 4 on"), "{leaderboard}");
}

#[test]
fn policies_that_are_close_are_not_told_apart_and_more_runs_are_suggested() {
    let shifted: Vec<f64> = runs(50, 100.0, 5.0)
        .iter()
        .zip(0..)
        .map(|(value, run)| value + f64::from(run * 3 % 7) - 2.5)
        .collect();
    let leaderboard = leaderboard(
        &[10, 1000],
        &[
            ("a", curves(&runs(50, 100.0, 5.0), 0.5)),
            ("b", curves(&shifted, 0.5)),
            ("c", curves(&runs(50, 150.0, 9.0), 0.5)),
        ],
    );
    let pair = leaderboard.pair("a", "b").unwrap();
    assert!(!pair.told_apart && pair.since.is_none() && leaderboard.since().is_none());
    // With this number of runs, the difference would be about four standard errors.
    let needed = pair.runs_needed.unwrap();
    let then = pair.difference / (pair.se.unwrap() * (50.0 / needed as f64).sqrt());
    assert!((4.2..4.8).contains(&then), "{needed} {then}");
    let text = leaderboard.to_string();
    assert!(text.starts_with("Best on average: a, regret "), "{text}");
    assert!(
        text.contains(&format!(" (about {needed} runs would tell a difference of this size). ")),
        "{text}"
    );
    assert!(text.trim_end().ends_with(" It cannot be told apart from b."), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// One comparison is significant, the same one among many policies is not.
#[test]
fn p_values_are_corrected_for_the_number_of_comparisons() {
    let spread = |run: u64| (run * 7 % 11) as f64 - 5.0;
    let base: Vec<f64> = (0..44).map(|run| 100.0 + spread(run)).collect();
    let other: Vec<f64> = (0..44).map(|run| 102.0 + spread(run) + spread(run * 3 + 1) * 0.95).collect();
    let two = leaderboard(
        &[9],
        &[("a", base.iter().map(|r| vec![*r]).collect()), ("b", other.iter().map(|r| vec![*r]).collect())],
    );
    let alone = two.pair("a", "b").unwrap();
    assert!(alone.told_apart && alone.p.unwrap() > 1e-5, "{alone:?}");
    let labels: Vec<String> = (0..30).map(|index| format!("x{index}")).collect();
    let mut all: Vec<(&str, Vec<Vec<f64>>)> =
        vec![("a", base.iter().map(|r| vec![*r]).collect()), ("b", other.iter().map(|r| vec![*r]).collect())];
    for (label, index) in labels.iter().zip(1..) {
        let far = |(r, run): (&f64, u64)| vec![r + 50.0 + f64::from(index) / 100.0 * spread(run + 3)];
        all.push((label, base.iter().zip(0..).map(far).collect()));
    }
    let many = leaderboard(&[9], &all);
    let pair = many.pair("a", "b").unwrap();
    assert_eq!(many.comparisons, 496);
    assert!((pair.p.unwrap() / alone.p.unwrap() - 496.0).abs() < 1e-6);
    assert!(!pair.told_apart);
    // Few sentences for many policies.
    let sentences = many.sentences();
    assert_eq!(sentences.len(), 2, "{many}");
    assert!(sentences[1].starts_with("Of 30 further pairs of neighbours in this order, "), "{many}");
}

#[test]
fn one_run_and_few_runs_show_nothing() {
    let policies = [("a", vec![vec![1.0, 2.0]]), ("b", vec![vec![2.0, 30.0]])];
    let one = leaderboard(&[1, 9], &policies);
    let pair = one.pair("a", "b").unwrap();
    assert_eq!((pair.se, pair.z, pair.p, pair.told_apart, pair.runs_needed), (None, None, None, false, None));
    assert_eq!(one.places[0].se, None);
    assert_eq!(
        one.to_string(),
        "Best on average: a, regret 2.000 clicks after 9 rounds; 28.00 (93 %) less than b, the next (one run does not show whether this is more \
         than chance: at least 10 are needed).\n"
    );
    let few = leaderboard(
        &[9],
        &[
            ("a", runs(9, 1.0, 0.1).iter().map(|r| vec![*r]).collect()),
            ("b", runs(9, 99.0, 0.2).iter().map(|r| vec![*r]).collect()),
        ],
    );
    assert!(!few.pair("a", "b").unwrap().told_apart);
    assert!(few.to_string().contains("9 runs do not show"), "{few}");
    let enough = leaderboard(
        &[9],
        &[
            ("a", runs(10, 1.0, 0.1).iter().map(|r| vec![*r]).collect()),
            ("b", runs(10, 99.0, 0.2).iter().map(|r| vec![*r]).collect()),
        ],
    );
    assert!(enough.pair("a", "b").unwrap().told_apart);
}

#[test]
fn one_policy_has_its_value_and_no_rank() {
    let one = leaderboard(&[10, 1000], &[("a", curves(&runs(40, 100.0, 5.0), 0.5))]);
    let [sentence] = &one.sentences()[..] else { panic!("{one}") };
    assert!(sentence.starts_with("a: regret ") && sentence.contains(" after 1,000 rounds. "), "{sentence}");
    assert!(sentence.ends_with("No other policy to compare it with."), "{sentence}");
    // Beside the oracle, a single policy still has no rival.
    let mut measured = Measurement::synthetic(
        &[10],
        &[("best", vec![vec![0.0]; 40]), ("a", runs(40, 100.0, 5.0).iter().map(|end| vec![*end]).collect())],
    );
    measured.result.policies[0].policy = "oracle".to_owned();
    let beside = Leaderboard::of_runs(&paired(measured)).unwrap().sentences();
    assert!(beside.len() == 1 && beside[0].starts_with("a: regret "), "{beside:?}");
    assert_eq!(leaderboard(&[10], &[]).sentences(), Vec::<String>::new());
}

#[test]
fn the_oracle_competes_with_nobody_and_uniform_does() {
    let flat = |value: f64| (0..20).map(|_| vec![value]).collect::<Vec<_>>();
    let mut measured =
        paired(Measurement::synthetic(&[9], &[("best", flat(0.0)), ("lazy", flat(5.0)), ("a", flat(9.0))]));
    measured.result.policies[0].policy = "oracle".to_owned();
    measured.result.policies[1].policy = "uniform".to_owned();
    let leaderboard = Leaderboard::of(&measured.result);
    assert_eq!((leaderboard.places[0].label.as_str(), leaderboard.places[0].is_oracle), ("best", true));
    assert_eq!((leaderboard.comparisons, leaderboard.pairs.len()), (1, 1));
    let text = leaderboard.to_string();
    assert!(text.starts_with("No policy is ahead of lazy, which learns nothing. Best: lazy, "), "{text}");
    assert!(text.contains("the same in every run; by chance in less than 1 of 1,000 experiments)"), "{text}");
    // One policy has no rival.
    measured.result.policies.pop();
    let text = Leaderboard::of(&measured.result).to_string();
    assert!(text.starts_with("lazy: regret 5") && !text.contains("Best"), "{text}");
}

#[test]
fn policies_that_are_equal_in_every_run_need_no_number_of_runs() {
    let same = || runs(20, 7.0, 1.0).iter().map(|r| vec![*r]).collect::<Vec<_>>();
    let leaderboard = leaderboard(&[9], &[("a", same()), ("b", same())]);
    let pair = leaderboard.pair("a", "b").unwrap();
    assert_eq!((pair.difference, pair.told_apart, pair.runs_needed), (0.0, false, None));
    assert!(
        leaderboard.to_string().contains("equal to b in every run (which may be chance)"),
        "{leaderboard}"
    );
}

#[test]
fn a_median_far_from_the_mean_is_named() {
    let unlucky: Vec<Vec<f64>> = (0..21).map(|run| vec![if run % 7 == 0 { 900.0 } else { 10.0 }]).collect();
    let steady: Vec<Vec<f64>> = runs(21, 100.0, 3.0).iter().map(|r| vec![*r]).collect();
    let parted = leaderboard(&[9], &[("unlucky", unlucky), ("steady", steady.clone())]);
    assert!(parted.has_parted_medians());
    assert_eq!(parted.leader().unwrap().label, "steady");
    let text = parted.to_string();
    assert!(text.contains("By the median of the runs, unlucky is best: 10.0, steady "), "{text}");
    assert!(!leaderboard(&[9], &[("steady", steady.clone()), ("other", steady)]).has_parted_medians());
}

fn answers(n: u64, steps: impl Fn(u64) -> u64, correct: impl Fn(u64) -> bool) -> Vec<Identification> {
    let run =
        |run| Identification { steps: steps(run), observations: 2, answered: true, correct: correct(run) };
    (0..n).map(run).collect()
}

#[test]
fn stopping_times_are_compared_and_a_fast_policy_that_errs_is_exposed() {
    let fast = answers(60, |run| 100 + run % 5, |run| run % 3 > 0);
    let slow = answers(60, |run| 300 + run % 7, |_| true);
    let leaderboard = Leaderboard::of(
        &paired(Measurement::of_answers(Task::Identify, 1000, &[("slow", slow), ("fast", fast)])).result,
    );
    let text = leaderboard.to_string();
    assert!(text.starts_with("Fastest: fast, stops after 102"), "{text}");
    assert!(text.contains(" rounds, right in 66.7 % of the runs; "), "{text}");
    assert!(text.contains(" sooner than slow, the next") && !text.contains("recorded rounds"), "{text}");
    assert!(text.contains("\nfast is right less often than slow."), "{text}");
}

#[test]
fn a_policy_that_is_wrong_more_often_than_its_delta_is_not_the_fastest() {
    let said = |wrong: [u64; 2]| {
        let policy = |steps: u64, wrong: u64| answers(60, |run| steps + run % 5, |run| run >= wrong);
        let answers = [("a", policy(100, wrong[0])), ("b", policy(300, wrong[1]))];
        let mut measured = paired(Measurement::of_answers(Task::Identify, 10_000, &answers));
        measured.result.policies.iter_mut().for_each(|policy| policy.delta = Some(0.1));
        Leaderboard::of(&measured.result).to_string()
    };
    // With a share of a tenth, 15 or more of 60 have probability 6.7e-4, and 16 or more 2.0e-4. The
    // level for each of two policies is 5e-4.
    assert!(said([15, 1]).starts_with("Fastest: a, stops after 102"), "{}", said([15, 1]));
    let one = said([16, 1]);
    assert!(one.starts_with("b: stops after 302"), "{one}");
    assert!(one.contains("\na stops after 102"), "{one}");
    let expected = "% of the runs: it is wrong more often than its delta, 0.1, allows (by chance in less than 1 of 1,000";
    assert!(one.contains(expected) && !one.contains("Fastest"), "{one}");
    let both = said([20, 21]);
    assert!(both.starts_with("a stops after 102") && both.matches("not compared").count() == 2, "{both}");
}

#[test]
fn ties_and_runs_without_an_answer_have_no_winner() {
    let said = |policies: &[(&str, Vec<Identification>)]| {
        Leaderboard::of(&paired(Measurement::of_answers(Task::Identify, 1000, policies)).result).to_string()
    };
    let capped = |n| answers(n, |_| 1000, |_| false).into_iter();
    let capped = |n| capped(n).map(|run| Identification { answered: false, ..run }).collect::<Vec<_>>();
    let nobody = said(&[("a", capped(20)), ("b", capped(20))]);
    assert!(
        nobody.starts_with("No policy stopped within 1,000 rounds, so their stopping times are not known.\n"),
        "{nobody}"
    );
    let equal = said(&[("a", answers(3, |_| 70, |_| true)), ("b", answers(3, |_| 70, |_| true))]);
    assert!(equal.contains("; equal to b in every run (3 runs do not show"), "{equal}");
    let one = said(&[("a", answers(20, |run| 70 + run % 3, |_| true)), ("b", capped(20))]);
    assert!(
        one.contains("; at least 929") && one.contains("\n100 % of the runs of b ended without an answer: "),
        "{one}"
    );
    let partly = answers(20, |run| if run < 5 { 1000 } else { 300 + run }, |run| run >= 5);
    let partly: Vec<_> =
        partly.into_iter().map(|run| Identification { answered: run.steps < 1000, ..run }).collect();
    let two = said(&[("a", answers(20, |run| 70 + run % 3, |_| true)), ("b", capped(20)), ("c", partly)]);
    assert!(
        two.contains(
            "25.0 % of the runs of c, 100 % of the runs of b ended without an answer: their stopping"
        ),
        "{two}"
    );
}

#[test]
fn with_a_budget_the_share_of_wrong_answers_decides() {
    let good = answers(100, |_| 50, |run| run % 20 > 0);
    let bad = answers(100, |_| 50, |run| run % 2 > 0);
    let measured = paired(Measurement::of_answers(Task::Budget, 50, &[("bad", bad), ("good", good)]));
    let leaderboard = Leaderboard::of_runs(&measured).unwrap();
    let text = leaderboard.to_string();
    assert!(text.starts_with("Best: good, wrong in 5.0 ± 2.2 % of the runs after 50 rounds; "), "{text}");
    assert!(text.contains("45.0 ± 5.0 percentage points less often than bad, the next"), "{text}");
    assert!(leaderboard.places.iter().all(|place| place.median.is_none()));
}

#[test]
fn a_standing_as_json_has_its_numbers() {
    let flat = |value: f64| (0..20).map(|_| vec![value]).collect::<Vec<_>>();
    let json = serde_json::to_value(leaderboard(&[9], &[("a", flat(3.0)), ("b", flat(5.0))])).unwrap();
    assert_eq!((json["value"].as_str(), json["pairs"][0]["since"].as_u64()), (Some("regret"), Some(9)));
    assert_eq!(json["places"][1]["mean"].as_f64(), Some(5.0));
    assert!(json["pairs"][0].get("z").is_none());
}

#[test]
fn a_comparison_says_how_much_comes_from_the_users() {
    let (a, b) = (runs(40, 100.0, 5.0), runs(40, 160.0, 9.0));
    let mut measured =
        paired(Measurement::synthetic(&[10, 1000], &[("a", curves(&a, 0.5)), ("b", curves(&b, 0.5))]));
    let alone = Leaderboard::of_runs(&measured).unwrap();
    measured.result.runs_per_draw = Some(4);
    let Difference::Curves { share_of_users, .. } = &mut measured.result.paired[0].difference else {
        panic!()
    };
    *share_of_users = Some(MeanAndError { mean: 0.7312, se: 0.0345 });
    let leaderboard = Leaderboard::of_runs(&measured).unwrap();
    let said = "Of the variance of the difference between a and b over runs, 73.1 ± 3.5 % comes from the users that were drawn, the \
                rest from chance in their clicks and in the policies.";
    assert_eq!(leaderboard.sentences()[1], said);
    assert!(alone.sentences().iter().all(|sentence| !sentence.contains("users")));
    // Ten draws are ten independent differences, so chance explains as much more easily.
    assert_eq!((leaderboard.runs, leaderboard.fewest_runs, alone.fewest_runs), (40, 40, 10));
    assert!(leaderboard.pair("a", "b").unwrap().p > alone.pair("a", "b").unwrap().p);
}

#[test]
fn a_policy_has_earned_a_share_of_what_personal_lists_gain() {
    let flat = |regret: f64| curves(&[regret; 20], 0.5);
    let mut measured =
        paired(Measurement::synthetic(&[50, 100], &[("good", flat(20.0)), ("bad", flat(120.0))]));
    let (label, t, value) = (Bound::BEST_LIST.to_owned(), vec![50, 100], vec![40.0, 80.0]);
    measured.result.bounds.push(Bound { label, t, value });
    let sentences = Leaderboard::of(&measured.result).sentences();
    let [.., good, bad] = sentences.as_slice() else { panic!("{sentences:?}") };
    assert_eq!(good, "good has earned 75 % of what personal lists gain on one list for all users.");
    assert_eq!(bad, "bad has lost more than the best single list for all users would.");
}
