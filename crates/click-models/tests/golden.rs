//! Reference values computed with at least 60 digits.

use crate::support::{all_lists, assert_close, cases, counts, list, number, numbers};
use click_models::estimation::{
    Pooled, fisher_information, pooled_variance, pooled_variance_ratio, pooled_variance_ratio_limit,
};
use click_models::{
    CascadeModel, ClickModel, DcmReward, DependentClick, ListShape, PositionBased, RandomSemiBandit, Ranking,
    bounds,
};

#[test]
fn pbm_lower_bound_matches_the_golden_values() {
    for case in cases("pbm_lower_bound.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (theta, kappa) = (numbers(&input["theta_sorted"]), numbers(&input["kappa"]));
        assert_close(
            bounds::pbm_lower_bound(&theta, &kappa),
            number(&output["theorem6"]),
            1e-12,
            "Theorem 6",
        );
        let terms = bounds::pbm_lower_bound_terms(&theta, &kappa).unwrap();
        let wanted = numbers(&output["terms"]);
        assert_eq!(terms.len(), wanted.len());
        for (term, wanted) in terms.iter().zip(wanted) {
            assert_close(term.cost, wanted, 1e-12, "a term of Theorem 6");
        }
        let positions: Vec<_> = terms.iter().map(|term| term.position.unwrap() as u64).collect();
        assert_eq!(positions, counts(&output["argmin_position_0based"]));
        let cost = bounds::pbm_last_position_cost(&theta, &kappa);
        assert_close(cost, number(&output["relaxed_position_L"]), 1e-12, "exploring at the last position");
        let classic = bounds::multiple_play_lower_bound(&theta, kappa.len());
        assert_close(classic, number(&output["anantharam_eq3"]), 1e-12, "equation (3)");
        let factor = bounds::pbm_ucb_examination_factor(&kappa);
        assert_close(factor, number(&output["C_kappa_theorem9"]), 1e-12, "C(kappa)");
        let users = PositionBased::from_values(&theta, &kappa).unwrap();
        assert_eq!(users.lower_bound(), bounds::pbm_lower_bound(&theta, &kappa));
    }
}

#[test]
fn semi_bandit_lower_bound_matches_the_golden_values() {
    for case in cases("rsf_lower_bound.json") {
        let theta = numbers(&case["inputs"]["theta_sorted"]);
        let n_positions = usize::try_from(case["inputs"]["L"].as_u64().unwrap()).unwrap();
        let bound = bounds::semi_bandit_lower_bound(&theta, n_positions);
        assert_close(bound, number(&case["output"]), 1e-12, "Theorem 4");
        let users = RandomSemiBandit::from_values(&theta, &vec![0.5; n_positions]).unwrap();
        assert_eq!(users.lower_bound(), bound);
    }
}

#[test]
fn pooled_estimator_matches_the_golden_values() {
    for case in cases("pbm_pooled_estimator.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let seen = Pooled::new(&counts(&input["N"]), &counts(&input["S"]), &numbers(&input["kappa"]));
        assert_eq!(seen.shows, output["N_k"].as_u64().unwrap());
        assert_eq!(seen.clicks, output["S_k"].as_u64().unwrap());
        assert_close(seen.examined, number(&output["N_tilde"]), 1e-12, "examined displays");
        match seen.attraction() {
            None => assert!(output["theta_hat"].is_null()),
            Some(estimate) => assert_close(estimate, number(&output["theta_hat"]), 1e-12, "estimate"),
        }
    }
}

#[test]
fn fisher_information_and_variance_match_the_golden_values() {
    for case in cases("pbm_fisher_variance.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (shows, kappa) = (counts(&input["N"]), numbers(&input["kappa"]));
        let theta = number(&input["theta"]);
        let information = fisher_information(&shows, &kappa, theta);
        assert_close(information, number(&output["fisher_information"]), 1e-12, "Fisher information");
        let variance = pooled_variance(&shows, &kappa, theta).unwrap();
        assert_close(variance, number(&output["estimator_variance"]), 1e-12, "variance");
        let ratio = pooled_variance_ratio(&shows, &kappa, theta).unwrap();
        assert_close(ratio, number(&output["product"]), 1e-12, "ratio");
        assert!((1.0..=pooled_variance_ratio_limit(theta)).contains(&ratio));
    }
}

/// Rewards, gaps and the best lists of a model, against a case of `expected_reward.json`.
fn check_rewards<M>(model: &M, shape: ListShape, case: &serde_json::Value)
where
    M: ClickModel<Interaction: click_models::Interaction<Action = Ranking>>,
{
    let output = &case["output"];
    let optimal = number(&output["optimal_value"]);
    assert_close(model.optimal_reward(), optimal, 1e-12, "optimal reward");
    let actions = case["inputs"]["actions_0based"].as_array().unwrap();
    for ((action, reward), gap) in
        actions.iter().zip(numbers(&output["rewards"])).zip(numbers(&output["gaps"]))
    {
        assert_close(model.expected_reward(&list(action)), reward, 1e-12, "expected reward");
        // A gap is a difference of rewards: relative to them.
        assert!((model.gap(&list(action)) - gap).abs() <= 1e-12 * optimal, "gap of {action}");
    }
    let lists = all_lists(shape.n_items(), shape.n_positions());
    let optimal_lists: Vec<_> = lists.iter().filter(|list| model.gap(list) <= 1e-12 * optimal).collect();
    assert_eq!(optimal_lists.len() as u64, output["n_optimal_lists"].as_u64().unwrap());
    for wanted in output["optimal_lists_0based"].as_array().unwrap() {
        assert!(optimal_lists.contains(&&list(wanted)));
    }
    assert!(optimal_lists.contains(&&model.optimal_action()));
    // If all lists are equally good, there are no gaps to compare.
    let gaps: Vec<f64> =
        lists.iter().map(|list| model.gap(list)).filter(|&gap| gap > 1e-12 * optimal).collect();
    for (key, found) in [
        ("min_positive_gap", gaps.iter().copied().min_by(f64::total_cmp)),
        ("max_gap", gaps.iter().copied().max_by(f64::total_cmp)),
    ] {
        let wanted = &output[key];
        match found {
            None => assert!(wanted.is_null(), "{key}"),
            Some(gap) => assert!((gap - number(wanted)).abs() <= 1e-12 * optimal, "{key}: {gap}"),
        }
    }
}

#[test]
fn rewards_match_the_golden_values() {
    for case in cases("expected_reward.json") {
        let inputs = &case["inputs"];
        let theta = numbers(&inputs["theta"]);
        let n_positions = usize::try_from(inputs["L"].as_u64().unwrap()).unwrap();
        let dcm = |reward| DependentClick::from_values(&theta, &numbers(&inputs["leave"]), reward).unwrap();
        match inputs["model"].as_str().unwrap() {
            "pbm" => {
                let kappa = numbers(&inputs["kappa"]);
                let users = PositionBased::from_values(&theta, &kappa).unwrap();
                check_rewards(&users, users.shape(), &case);
                // The random semi-bandit has the same mean number of clicks.
                let readers = RandomSemiBandit::from_values(&theta, &kappa).unwrap();
                check_rewards(&readers, readers.shape(), &case);
            }
            "cascade" => {
                let users = CascadeModel::from_values(&theta, n_positions).unwrap();
                check_rewards(&users, users.shape(), &case);
                // Dependent clicks in which users always leave after the first click.
                for reward in [DcmReward::Satisfaction, DcmReward::Clicks] {
                    let leave = vec![1.0; n_positions];
                    let users = DependentClick::from_values(&theta, &leave, reward).unwrap();
                    check_rewards(&users, users.shape(), &case);
                }
            }
            "dcm_satisfied" => {
                let users = dcm(DcmReward::Satisfaction);
                check_rewards(&users, users.shape(), &case);
            }
            "dcm_clicks" => {
                let users = dcm(DcmReward::Clicks);
                check_rewards(&users, users.shape(), &case);
            }
            "dcm_leave_any_clicks" => {
                let readers = RandomSemiBandit::leaving(&theta, &numbers(&inputs["leave"])).unwrap();
                check_rewards(&readers, readers.shape(), &case);
            }
            other => panic!("unknown model {other}"),
        }
    }
}
