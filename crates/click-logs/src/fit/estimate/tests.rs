use super::*;

#[test]
fn normal_quantiles_are_the_tabulated_ones() {
    for (level, z) in
        [(0.95, 1.959_963_984_540_054), (0.5, 0.674_489_750_196_081_7), (0.999, 3.290_526_731_491_895)]
    {
        assert!((normal_quantile(level) - z).abs() < 1e-12, "{level}");
    }
}

#[test]
fn a_share_has_the_hand_computed_error_and_interval() {
    // 20 of 100: standard error sqrt(.2 * .8 / 100) = .04.
    let share = Estimate::share(20.0, 100.0, 1.0);
    assert!((share.standard_error.unwrap() - 0.04).abs() < 1e-15);
    // 100 d(.2, p) = 1/2 at both ends.
    let (low, high) = share.interval.unwrap();
    for end in [low, high] {
        let divergence = 0.2 * ln(0.2 / end) + 0.8 * ln(0.8 / (1.0 - end));
        assert!((100.0 * divergence - 0.5).abs() < 1e-10, "{share:?}");
    }
    assert!(share.covers(0.2) && !share.covers(0.3));
    assert_eq!(Estimate::share(0.0, 10.0, 1.0).interval, None);
}

#[test]
fn hidden_events_leave_the_edges_open() {
    // No prior, and a parabola of standard deviation .1: the interval is cut at 0.
    let open = Estimate::hidden(0.1, 0.01, [0.0, 0.0], 0.0, 2.0).interval.unwrap();
    assert!(open.0 == 0.0 && (open.1 - 0.3).abs() < 1e-8, "{open:?}");
    // 10 certain failures and the parabola that makes .1 the maximum.
    let (variance, slope) = (1.0 / (10.0 / 0.81 + 100.0), 10.0 / 0.9);
    let (low, high) = Estimate::hidden(0.1, variance, [0.0, 10.0], 0.0, 2.0).interval.unwrap();
    let fall = 10.0 * ln((1.0 - high) / 0.9) + slope * (high - 0.1) - 50.0 * (high - 0.1) * (high - 0.1);
    assert!(low == 0.0 && (fall + 2.0).abs() < 1e-6, "{low} {high} {fall}");
    // Nothing but the prior; the same counts as certain events.
    let prior = [0.2, 0.8];
    let variance = 1.0 / curvature(0.2, 0.8, 0.2);
    assert_eq!(Estimate::hidden(0.2, variance, prior, 1.0, 2.0).interval, None);
    assert!(Estimate::hidden(0.2, variance, prior, 0.5, 2.0).interval.is_some());
}
