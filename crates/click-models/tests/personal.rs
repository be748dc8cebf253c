//! Users who differ.

use click_models::{CascadeModel, ClickModel as _, Context, Error, ItemId, Personal, Ranking};

/// `oracle/context`, `worlds`.
#[test]
fn a_small_world_has_the_gaps_of_the_exact_case() {
    let attraction = [
        [0.544, 0.059, 0.41, 0.294],
        [0.413, 0.043, 0.05, 0.122],
        [0.588, 0.195, 0.362, 0.591],
        [0.429, 0.142, 0.266, 0.08],
    ];
    let user = |(segment, attraction): (u32, &[f64; 4])| {
        let users = CascadeModel::from_values(attraction, 2).expect("valid");
        (Context { segment, features: vec![] }, users)
    };
    let users = Personal::new([0, 1, 0, 1].into_iter().zip(&attraction).map(user).collect()).expect("valid");
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    for (user, optimum) in [0.73096, 0.484_614, 0.831_492, 0.580_886].into_iter().enumerate() {
        close(users.user(user).optimal_reward(), optimum);
    }
    close(users.yardsticks().best_list, 0.034_153);
    close(users.yardsticks().best_list_of_segment, 0.023_79);
    let probe: Ranking = [2, 1].map(ItemId::new).into_iter().collect();
    for (user, gap) in [0.286_15, 0.393_764, 0.345_082, 0.210_658].into_iter().enumerate() {
        close(users.user(user).gap(&probe), gap);
    }
}

#[test]
fn users_of_other_sizes_are_refused() {
    let user = |n_items: usize, n_features: usize| {
        let users = CascadeModel::from_values(&vec![0.5; n_items], 1).expect("valid");
        (Context { segment: 0, features: vec![0.0; n_features] }, users)
    };
    assert_eq!(Personal::<CascadeModel>::new(vec![]).expect_err("nobody"), Error::NoUsers);
    assert!(Personal::new(vec![user(2, 1), user(3, 1)]).is_err());
    assert!(Personal::new(vec![user(2, 1), user(2, 0)]).is_err());
}
