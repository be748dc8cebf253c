use super::*;

#[test]
fn an_empty_sample_has_no_summary_and_a_single_value_no_spread() {
    assert_eq!(Summary::of(&[]), None);
    let alone = Summary::of(&[3.0]).expect("one value");
    assert!(alone.standard_error.is_nan(), "{alone:?}");
    let known = Summary { standard_error: 0.0, ..alone };
    assert_eq!(known, Summary { mean: 3.0, standard_error: 0.0, min: 3.0, max: 3.0, q10: 3.0, q90: 3.0 });
}

#[test]
fn quantiles_do_not_depend_on_the_order_of_a_sample() {
    let summary = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).expect("five values");
    assert_eq!((summary.min, summary.max), (1.0, 5.0));
    assert!((summary.q10 - 1.4).abs() < 1e-15 && (summary.q90 - 4.6).abs() < 1e-15);
}
