use super::*;

/// Clicks that today's lists lose per 1,000 lists.
const LOSS: f64 = 2.0;

/// Three runs with this regret at each checkpoint, with the same loss of today's lists.
fn runs(regret: [f64; 3]) -> Vec<Run> {
    let of_today = ROUNDS.map(|round| LOSS / 1000.0 * round as f64).to_vec();
    vec![Run { of_today, of_policy: regret.to_vec() }; 3]
}

const SURE: OfDraws<'_> = OfDraws { loss: LOSS, gain: &[LOSS; 3] };
const ROUNDS: [u64; 3] = [1, 10, HORIZON];

fn gains() -> Gains {
    let runs = vec![runs([1.0, 2.0, 12.0]), runs([0.0, 1.0, 23.0])];
    Gains { policy: "p".to_owned(), rounds: ROUNDS.to_vec(), runs }
}

#[test]
fn today_is_passed_where_the_gain_stays_positive() {
    let first = gains().of_query(0, SURE);
    assert_eq!((first.passed.median, first.share_passed, first.gained.mean), (Some(HORIZON), 1.0, 8.0));
    assert_eq!((first.passed.upper, first.gained.lower), (Some(HORIZON), 8.0));
    let second = gains().of_query(1, SURE);
    assert_eq!((second.passed.median, second.share_passed, second.gained.mean), (None, 0.0, -3.0));
    assert_eq!(gains().passed(&[1.0, 2.0, 3.0]), Some(1));
    assert_eq!(gains().passed(&[1.0, -2.0, 3.0]), Some(HORIZON));
}

#[test]
fn if_no_list_is_recommended_the_lower_end_is_the_cost_of_learning() {
    let played = gains().of_query(0, OfDraws { gain: &[0.0], ..SURE });
    assert_eq!((played.gained.lower, played.gained.mean, played.gained.upper), (-12.0, 8.0, 8.0));
    assert_eq!((played.passed.median, played.passed.upper), (Some(HORIZON), None));
}

#[test]
fn the_gain_is_the_loss_of_all_draws_less_the_regret() {
    let mut gains = gains();
    for run in &mut gains.runs[0] {
        run.of_today.iter_mut().for_each(|regret| *regret *= 3.0);
    }
    let mean = gains.of_query(0, SURE).gained.mean;
    assert!((mean - 8.0).abs() < 1e-12, "{mean}");
}

#[test]
fn gains_of_all_queries_are_read_where_their_share_of_the_lists_ends() {
    assert_eq!(gains().interpolated(&[-1.0, -2.0, 8.0], 0.5), -0.5);
    assert_eq!(gains().interpolated(&[-1.0, -2.0, 8.0], 5.5), -1.5);
    let all = gains().of_all(&[1.0, 0.0], &[SURE; 2]);
    assert_eq!((all.passed.median, all.gained.mean), (Some(HORIZON), 8.0));
    let half = gains().of_all(&[0.5, 0.5], &[SURE; 2]).gained.mean;
    let expected = [[-1.98, 8.0], [-0.98, -3.0]].map(|[a, b]| a + (b - a) * 4990.0 / 9990.0);
    assert!((half - expected.iter().sum::<f64>()).abs() < 1e-12, "{half}");
}
