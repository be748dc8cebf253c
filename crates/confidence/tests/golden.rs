//! Golden vectors: 60-digit values against every implementation of a function.

use crate::bisection::{kl_ucb_upper_bisection, multi_position_upper_bisection};
use confidence::{
    Rate, bernoulli_kl, hoeffding_radius, kl_ucb_lower, kl_ucb_upper, lil_radius, lil_radius_scaled,
    multi_position_lower, multi_position_minimum, multi_position_upper, pbm_ucb_radius, rsf_ucb_radius,
    ucb1_radius,
};
use serde_json::Value;

/// The cases of one file.
fn cases(text: &str) -> Vec<(Value, Value)> {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    cases.into_iter().map(|case| (case["inputs"].clone(), case["output"].clone())).collect()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "inf" => f64::INFINITY,
        other => other.as_f64().unwrap(),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn counts(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn assert_relative(got: f64, want: f64, tolerance: f64, case: &Value) {
    // The vectors were computed with 60 digits, too few for 1 - 1e-300: d(1e-300, 5e-324) is
    // 5.266e-299, not 5.366e-299.
    let negligible = (got - want).abs() < 1e-290;
    let close = got == want || ((got - want) / want).abs() <= tolerance;
    assert!(negligible || close, "{got} instead of {want} for {case}");
}

fn assert_absolute(got: f64, want: f64, tolerance: f64, case: &Value) {
    assert!((got - want).abs() <= tolerance, "{got} instead of {want} for {case}");
}

#[test]
fn bernoulli_divergence_matches_the_golden_values() {
    for (inputs, output) in cases(include_str!("data/bernoulli_kl.json")) {
        // Tighter than the textbook formula could be: nothing cancels here.
        assert_relative(
            bernoulli_kl(number(&inputs["p"]), number(&inputs["q"])),
            number(&output),
            4e-15,
            &inputs,
        );
    }
}

#[test]
fn kl_ucb_indices_match_the_golden_values() {
    for (inputs, output) in cases(include_str!("data/kl_ucb_upper.json")) {
        let [p, n, level] = ["p", "n", "delta"].map(|name| number(&inputs[name]));
        for index in [kl_ucb_upper, kl_ucb_upper_bisection] {
            assert_absolute(index(p, n, level), number(&output), 1e-14, &inputs);
        }
    }
    for (inputs, output) in cases(include_str!("data/kl_ucb_lower.json")) {
        let [p, n, level] = ["p", "n", "delta"].map(|name| number(&inputs[name]));
        assert_absolute(kl_ucb_lower(p, n, level), number(&output), 1e-14, &inputs);
    }
}

#[test]
fn multi_position_indices_match_the_golden_values() {
    for (inputs, output) in cases(include_str!("data/multi_position_kl_index.json")) {
        let (clicks, shows) = (counts(&inputs["S"]), counts(&inputs["N"]));
        let (kappa, level) = (numbers(&inputs["kappa"]), number(&inputs["delta"]));
        for index in [multi_position_upper, multi_position_upper_bisection] {
            assert_absolute(index(&clicks, &shows, &kappa, level), number(&output["U"]), 1e-8, &inputs);
        }
        let lower = multi_position_lower(&clicks, &shows, &kappa, level);
        assert_absolute(lower, number(&output["lower"]), 1e-8, &inputs);
        let minimum = multi_position_minimum(&clicks, &shows, &kappa);
        assert_eq!(minimum.is_none(), output["theta_min"].is_null(), "{inputs}");
        if let Some(minimum) = minimum {
            assert_absolute(minimum.theta, number(&output["theta_min"]), 1e-14, &inputs);
            // The feasible minimum is 0 up to the square of a rounding error.
            assert_absolute(minimum.divergence, number(&output["phi_min"]), 1e-12, &inputs);
            let margin = number(&output["margin_delta_minus_phi_min"]);
            if margin.abs() > 1e-12 * minimum.divergence.max(1.0) {
                assert_eq!(minimum.divergence <= level, output["feasible"].as_bool().unwrap(), "{inputs}");
            }
        }
    }
}

#[test]
fn radii_match_the_golden_values() {
    for (inputs, output) in cases(include_str!("data/hoeffding_radius.json")) {
        let got = hoeffding_radius(number(&inputs["n"]), number(&inputs["delta"]));
        assert_relative(got, number(&output), 1e-15, &inputs);
    }
    for (inputs, output) in cases(include_str!("data/lil_radius.json")) {
        let (n, rho) = (inputs["T"].as_u64().unwrap(), number(&output["rho"]));
        assert_relative(lil_radius(n, rho), number(&output["radius"]), 2e-15, &inputs);
        assert_relative(lil_radius_scaled(n, rho, 2.0), number(&output["radius_sigma_half"]), 2e-15, &inputs);
    }
    for (inputs, output) in cases(include_str!("data/pbm_ucb.json")) {
        let (clicks, shows) = (numbers(&inputs["S"]), numbers(&inputs["N"]));
        let kappa = numbers(&inputs["kappa"]);
        let n: f64 = shows.iter().sum();
        let weighted: f64 = shows.iter().zip(&kappa).map(|(n, kappa)| n * kappa).sum();
        let radius = pbm_ucb_radius(n, weighted, number(&inputs["delta"]));
        let index =
            if radius.is_infinite() { radius } else { clicks.iter().sum::<f64>() / weighted + radius };
        assert_relative(index, number(&output), 4e-15, &inputs);
    }
    for (text, radius) in [
        (include_str!("data/rsf_ucb_index.json"), rsf_ucb_radius as fn(f64, f64) -> f64),
        (include_str!("data/ucb1_index.json"), ucb1_radius),
    ] {
        for (inputs, output) in cases(text) {
            let (s, n) = (number(&inputs["s"]), number(&inputs["n"]));
            let radius = radius(n, Rate::LOG.level(inputs["t"].as_u64().unwrap()));
            let index = if radius.is_infinite() { radius } else { s / n + radius };
            assert_relative(index, number(&output), 1e-15, &inputs);
        }
    }
}
