use super::super::{climbs, finite_differences, test_sessions};
use super::*;
use confidence::math::ln;

/// Sessions of one query.
fn of_query<const N: usize>(lists: impl IntoIterator<Item = ([u64; N], [bool; N])>) -> Sessions {
    test_sessions::of_lists(lists.into_iter().map(|(items, clicks)| (1, items.to_vec(), clicks.to_vec())))
}

fn problems(sessions: &Sessions, options: &Options) -> [(Problem, bool); 3] {
    let dcm = Fitting::new(Certain::LastClick, sessions, options, Purpose::default());
    [
        (dcm.problem(0..2, Leaving::Position, &[0.4]), false),
        (dcm.problem(1..2, Leaving::Position, &[0.4, 0.3, 0.2, 0.1]), false),
        (dcm.problem(0..1, Leaving::Item, &[0.4]), true),
    ]
}

#[test]
fn em_climbs_and_its_acceleration_gets_there_too() {
    let sessions = test_sessions::random(1, 500);
    for strength in [0.0, 2.0] {
        let options = Options { prior_strength: Some(strength), ..Options::default() };
        for (problem, _) in problems(&sessions, &options) {
            let start = vec![0.3; problem.clicks.len() + problem.left.len()];
            let em = super::super::EmOptions { tolerance: 1e-13, max_iterations: 2_000_000 };
            let [mut plain, mut fast] = [0; 2].map(|_| start.clone());
            assert!(climbs::plain(&problem, &mut plain, &em).converged);
            assert!(climbs::accelerated(&problem, &mut fast, &em).converged);
            for (plain, fast) in plain.iter().zip(&fast) {
                assert!((plain - fast).abs() < 1e-8, "{plain} {fast}");
            }
        }
    }
}

/// At the maximum the derivative is 0, and variances are those of the matrix of second derivatives.
#[test]
fn variances_are_those_of_finite_differences() {
    let sessions = test_sessions::random(2, 2000);
    for (problem, leave_by_item) in problems(&sessions, &Options::default()) {
        let n = problem.clicks.len() + problem.left.len();
        let mut at = vec![0.3; n];
        let em = super::super::EmOptions { tolerance: 1e-13, ..Default::default() };
        squarem::maximise(&problem, &mut at, &em);
        let dense = finite_differences::variances(&problem, &at);
        for (ours, dense) in problem.variances(&at, leave_by_item).iter().zip(&dense) {
            assert!((ours / dense - 1.0).abs() < 1e-3, "{ours} {dense}");
        }
    }
}

#[test]
fn estimates_of_small_logs_are_the_hand_computed_maxima() {
    let sessions = of_query([
        ([1, 2, 3], [true, true, false]),
        ([1, 2, 3], [true, false, false]),
        ([1, 2, 3], [false; 3]),
        ([2, 1, 3], [false, true, false]),
    ]);
    let options = Options { prior_strength: Some(0.0), exit: Exit::LastClick, ..Options::default() };
    let attraction =
        |fit: &Fit| -> Vec<f64> { fit.queries()[0].items.iter().map(|i| i.attraction.value).collect() };
    // Item 1: clicked 3 of 4; item 2: 1 of 3 (shown twice above or at a last click, once without);
    // item 3: once, without.
    let dcm = by_position(&sessions, &options, Purpose::default());
    assert_eq!(attraction(&dcm), [0.75, 1.0 / 3.0, 0.0]);
    // Two clicks at the first position, one of them the last; two at the second, both.
    let leave: Vec<f64> = dcm.positions(&dcm.queries()[0]).iter().map(|leave| leave.value).collect();
    assert_eq!(leave[..2], [0.5, 1.0]);
    let sdbn = by_item(&sessions, &options, Purpose::default());
    assert_eq!(attraction(&sdbn), [0.75, 1.0 / 3.0, 0.0]);
    let satisfaction: Vec<f64> = sdbn.satisfaction(sdbn.queries()[0].id).iter().map(|s| s.value).collect();
    assert!((satisfaction[0] - 2.0 / 3.0).abs() < 1e-15 && satisfaction[1] == 1.0);
    // Down to the first click: item 1 clicked 3 of 4, item 2 0 of 2, item 3 0 of 1.
    let cascade = cascade(&sessions, &options, Purpose::default());
    assert_eq!(attraction(&cascade), [0.75, 0.0, 0.0]);
    // Below first clicks: 5 impressions, 1 click.
    let below_first_click = cascade.below_first_click.unwrap();
    assert_eq!(below_first_click, 1.5 / 6.0);
    // Two items, one click, hidden exit: v + (1 - v)(1 - b) with b = 1/2 from the session without a
    // click above it.
    let sessions = of_query([
        ([1, 2], [true, false]),
        ([1, 2], [true, false]),
        ([1, 2], [true, true]),
        ([2, 1], [false, false]),
        ([2, 1], [true, false]),
    ]);
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    let dcm = by_position(&sessions, &options, Purpose::default());
    let b = dcm.queries()[0].items[1].attraction.value;
    let a = dcm.queries()[0].items[0].attraction.value;
    let v = dcm.positions(&dcm.queries()[0])[0].value;
    // The hand-computed likelihood, at the maximum and beside it.
    let likelihood = |a: f64, b: f64, v: f64| {
        let passed = v + (1.0 - v) * (1.0 - b);
        let last = v + (1.0 - v) * (1.0 - a);
        3.0 * ln(a) + 2.0 * ln(passed) + ln((1.0 - v) * b) + ln((1.0 - b) * (1.0 - a)) + ln(b) + ln(last)
    };
    let best = likelihood(a, b, v);
    for d in [-1e-3, 1e-3] {
        assert!(
            likelihood(a + d, b, v) < best
                && likelihood(a, b + d, v) < best
                && likelihood(a, b, v + d) < best
        );
    }
}
