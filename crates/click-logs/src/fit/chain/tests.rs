use super::super::squarem::Em as _;
use super::super::{climbs, finite_differences, test_sessions};
use super::*;
use crate::fit::EmOptions;
use confidence::math::ln;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A DBN with satisfaction by item, one with a single satisfaction, and a click chain.
fn problems(sessions: &Sessions, options: &Options) -> [Problem; 3] {
    let dbn = Fitting::new(Kind::Dbn, sessions, options, Purpose::default());
    let n_rows = dbn.scanned.rows.items.len();
    let ccm = Fitting::new(Kind::Ccm, sessions, options, Purpose::default());
    let prior = |n_satisfactions| Prior { n_satisfactions, satisfaction_mean: 0.4, ..Prior::default() };
    [dbn.problem(0..2, &prior(n_rows)), dbn.problem(0..2, &prior(1)), ccm.problem(0..2, &prior(0))]
}

/// The log-likelihood by enumeration of where every user stopped, and why.
fn enumerated(problem: &Problem, fitting: &Fitting<'_>, at: &[f64]) -> f64 {
    let split = problem.split(at);
    let mut sum = 0.0;
    for query in 0..fitting.scanned.queries.len() {
        for (rows, list) in fitting.scanned.lists(query) {
            for pattern in list.patterns {
                let mut all = 0.0;
                // `end` is the last examined position.
                for end in 0..rows.len() {
                    let mut path = 1.0;
                    for (position, &row) in rows.iter().enumerate() {
                        let (a, clicked) = (split.attraction[row], pattern.clicks.get(position));
                        if position > end {
                            path *= if clicked { 0.0 } else { 1.0 };
                            continue;
                        }
                        path *= if clicked { a } else { 1.0 - a };
                        // Hidden causes of continuation: satisfaction, or which of the two
                        // probabilities holds.
                        let causes: Vec<(f64, f64)> = match (problem.kind, clicked) {
                            (_, false) => vec![(1.0, split.continuation[0])],
                            (Kind::Dbn, true) => {
                                let s = split.satisfaction[problem.of_satisfaction(row)];
                                vec![(s, 0.0), (1.0 - s, split.continuation[0])]
                            }
                            (Kind::Ccm, true) => {
                                vec![(1.0 - a, split.continuation[1]), (a, split.continuation[2])]
                            }
                        };
                        let on: f64 = causes.iter().map(|(weight, on)| weight * on).sum();
                        path *= if position < end {
                            on
                        } else if position + 1 < rows.len() {
                            1.0 - on
                        } else {
                            1.0
                        };
                    }
                    all += path;
                }
                sum += pattern.sessions as f64 * ln(all);
            }
        }
    }
    sum
}

#[test]
fn the_likelihood_is_the_sum_over_hidden_paths() {
    let sessions = test_sessions::random(3, 200);
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for (problem, kind) in problems(&sessions, &options).iter().zip([Kind::Dbn, Kind::Dbn, Kind::Ccm]) {
        let fitting = Fitting::new(kind, &sessions, &options, Purpose::default());
        for _ in 0..5 {
            let at: Vec<f64> = (0..start(problem).len()).map(|_| rng.random_range(0.05..0.95)).collect();
            let (found, expected) = (problem.log_likelihood(&at), enumerated(problem, &fitting, &at));
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
            // Users who never stop without a click are others.
            let mut wrong = at.clone();
            let continuation = at.len() - problem.prior.len();
            wrong[continuation] = 1.0 - 1e-12;
            assert!((problem.log_likelihood(&wrong) / expected - 1.0).abs() > 1e-6);
        }
    }
}

#[test]
fn probabilities_of_hidden_positions_are_those_of_enumeration() {
    let (rows, attraction, after_click, on) = ([0, 1, 2, 3], [0.3, 0.5, 0.2, 0.6], [0.4, 0.7, 0.1, 0.5], 0.8);
    for last in [None, Some(0), Some(1), Some(2)] {
        let mut weights = [0.0; 4];
        let first = last.map_or(1, |last| last + 1);
        weights[..first].fill(1.0);
        examined_below(&rows, last, [&attraction, &after_click], on, &mut weights);
        // The probability of examining down to `end` and no further, with no click below `last`.
        let path = |end: usize| -> f64 {
            let step = |position: usize| if Some(position) == last { after_click[position] } else { on };
            let skipped = |position: usize| last.is_some_and(|last| position <= last);
            let skips = (0..=end).filter(|&of| !skipped(of)).map(|of| 1.0 - attraction[of]);
            let start = last.unwrap_or(0);
            let goes = (start..end).map(step).product::<f64>();
            skips.product::<f64>() * goes * if end < 3 { 1.0 - step(end) } else { 1.0 }
        };
        let ends: Vec<f64> = (last.unwrap_or(0)..4).map(path).collect();
        let all: f64 = ends.iter().sum();
        for position in first..4 {
            let from: f64 = ends[position - last.unwrap_or(0)..].iter().sum();
            assert!((weights[position] - from / all).abs() < 1e-12, "{last:?} {position} {weights:?}");
        }
    }
}

#[test]
fn em_climbs_and_its_acceleration_gets_there_too() {
    let sessions = test_sessions::random(1, 500);
    for strength in [0.5, 2.0] {
        let options = Options { prior_strength: Some(strength), ..Options::default() };
        for problem in problems(&sessions, &options) {
            let em = EmOptions { tolerance: 1e-12, max_iterations: 2_000_000 };
            let [mut plain, mut fast] = [0; 2].map(|_| start(&problem));
            assert!(climbs::plain(&problem, &mut plain, &em).converged);
            assert!(climbs::accelerated(&problem, &mut fast, &em).converged);
            for (plain, fast) in plain.iter().zip(&fast) {
                assert!((plain - fast).abs() < 1e-6, "{plain} {fast}");
            }
        }
    }
}

/// At the maximum the derivative is 0, and variances are those of the matrix of second derivatives.
#[test]
fn variances_are_those_of_finite_differences() {
    let sessions = test_sessions::random(2, 2000);
    let options = Options { prior_strength: Some(5.0), ..Options::default() };
    let [dbn, _, ccm] = problems(&sessions, &options);
    for problem in [dbn, ccm] {
        let mut at = start(&problem);
        let em = EmOptions { tolerance: 1e-12, ..Default::default() };
        squarem::maximise(&problem, &mut at, &em);
        let dense = finite_differences::variances(&problem, &at);
        for (ours, dense) in problem.variances(&at).iter().zip(&dense) {
            assert!((ours / dense - 1.0).abs() < 1e-3, "{ours} {dense}");
        }
    }
}

/// Clicks at the last position only, and everywhere: nothing was hidden, so nothing is known about
/// stopping after the last position.
#[test]
fn continuation_without_data_has_no_interval() {
    let sessions = test_sessions::of_lists([true, false].map(|click| (1, vec![1], vec![click])));
    for prior_strength in [Some(0.0), None, Some(5.0)] {
        let options = Options { prior_strength, ..Options::default() };
        for fit in
            [dbn(&sessions, &options, Purpose::default()), ccm(&sessions, &options, Purpose::default())]
        {
            for continuation in fit.continuation.site.iter().chain(fit.continuation(&fit.queries()[0])) {
                assert_eq!(continuation.interval, None, "{continuation:?}");
            }
        }
    }
}

/// Users of a click chain whose list of four, of four items, ends with a click on a good one: the
/// third probability is 0 or near it.
fn leaving(seed: u64, attraction: [f64; 4], continuation: [f64; 3], n: usize) -> Sessions {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    test_sessions::of_lists((0..n).map(|_| {
        let first = rng.random_range(0..4_u64);
        let items: Vec<u64> = (0..4).map(|place| (first + place) % 4).collect();
        let mut examines = true;
        let mut look = |&item: &u64| {
            let a = attraction[usize::try_from(item).unwrap()];
            let clicked = examines && rng.random::<f64>() < a;
            let [skip, bad, good] = continuation;
            let on = if clicked { bad * (1.0 - a) + good * a } else { skip };
            examines &= rng.random::<f64>() < on;
            clicked
        };
        let clicks = items.iter().map(&mut look).collect();
        (0, items, clicks)
    }))
}

/// One step length for both probabilities stopped beside the maximum: it lost 3.1 and .09 nats in
/// the two logs of `click_chains_are_fitted_on_the_bounds`. Where items are alike, the matrix of
/// the two probabilities is singular.
#[test]
fn the_maximum_is_found_on_the_bounds_and_where_items_are_alike() {
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    let mut on_bounds = 0;
    for seed in 0..8 {
        let [alike, unlike] = [[0.5; 4], [0.7, 0.5, 0.3, 0.15]];
        for (attraction, continuation) in [
            (unlike, [0.8, 0.6, 0.0]),
            (unlike, [0.7, 0.0, 0.9]),
            (unlike, [0.8, 1.0, 0.3]),
            (alike, [0.6, 0.9, 0.9]),
        ] {
            let sessions = leaving(seed, attraction, continuation, 300);
            for kind in [Kind::Dbn, Kind::Ccm] {
                let fitting = Fitting::new(kind, &sessions, &options, Purpose::default());
                let n_satisfactions = if kind == Kind::Dbn { 4 } else { 0 };
                let problem = fitting.problem(0..1, &Prior { n_satisfactions, ..Prior::default() });
                let mut at = start(&problem);
                let convergence = squarem::maximise(&problem, &mut at, &options.em);
                assert!(convergence.converged, "{convergence:?}");
                finite_differences::assert_highest(&problem, &at);
                let bounds = at[4..].iter().filter(|&&p| !(1e-6..=1.0 - 1e-6).contains(&p));
                on_bounds += bounds.count();
            }
        }
    }
    assert!(on_bounds >= 20, "{on_bounds}");
}
